//! What holds for drives with zones of any size and limits, whatever they are asked: beside a model of the standards.

use std::collections::BTreeMap;

use assay_drive::{Device, Drive};
use block::{Lba, Nanos, Op, Request, Status, Tag, ZoneAction, ZoneState};
use proptest::prelude::*;
use testkit::Random;

use crate::zones::{Standard, build};

/// Sectors of a page.
const PAGE: u64 = 8;

/// What a drive with zones is made of.
#[derive(Clone, Debug)]
struct Parts {
    count: u64,
    /// Of a zone, in pages.
    capacity: u64,
    unused: u64,
    max_open: u32,
    max_active: u32,
    /// Of flash: channels, dies of each, pages of a flash page, flash pages of a block.
    flash: (u32, u32, u64, u64),
    conventional: u64,
}

fn any_parts() -> impl Strategy<Value = Parts> {
    let zones = (3..9_u64, 1..200_u64, 0..30_u64, 1..6_u32, 1..8_u32);
    (zones, (1..4_u32, 1..3_u32, 1..4_u64, 1..5_u64), 0..3_u64).prop_map(|(zones, flash, conventional)| {
        let (count, capacity, unused, max_open, max_active) = zones;
        let max_open = max_open.min(max_active);
        let (channels, dies, program, block) = flash;
        let flash = (channels, dies, 8 * program, block);
        Parts { count, capacity, unused, max_open, max_active, flash, conventional }
    })
}

impl Parts {
    fn flash(&self) -> String {
        let Self { count, capacity, unused, max_open, max_active, flash: (channels, dies, program, block), .. } = self;
        format!(
            "zn540-1tb?host=none&channels={channels}&dies_per_channel={dies}&pages_per_block={}&geometry.program={}KiB\
             &zones.size={}KiB&zones.zone_capacity={}KiB&max_open={max_open}&max_active={max_active}\
             &capacity.user={}KiB&capacity.spare=0%&keeps_page=false&errors.spread=0%",
            program * block,
            program * 4,
            (capacity + unused) * 4,
            capacity * 4,
            capacity * count * 4
        )
    }

    fn disk(&self) -> String {
        let Self { count, capacity, max_open, max_active, conventional, .. } = self;
        // A surface has so many tracks at least.
        let size = (capacity + 4_096) * 4;
        format!(
            "hc620-14tb?platters.capacity={}KiB&platters.heads=1&platters.zones=1&zones.size={size}KiB&conventional={conventional}\
             &max_open={max_open}&max_active={max_active}",
            count * size
        )
    }
}

/// A command to one of the zones, most of them such as the zone allows.
fn any_command(random: &mut Random, standard: &Standard, odd: u64) -> Request {
    let zone = random.place(standard.zones.len());
    let (model, start) = (standard.zones[zone], zone as u64 * standard.size);
    let whole = |random: &mut Random, below: u64| random.below(below.div_ceil(odd)) * odd;
    let piece = match random.below(4) {
        0 => standard.capacity.saturating_sub(model.written).max(odd),
        _ => odd + whole(random, standard.capacity / 2 + 1),
    };
    let place = if random.below(12) == 0 { whole(random, standard.size) } else { model.written };
    let elsewhere = if random.below(12) == 0 { whole(random, standard.size) } else { 0 };
    let last = standard.size * standard.zones.len() as u64;
    let (op, lba, sectors) = match random.below(24) {
        0..=8 => (Op::Write, start + place, piece),
        9..=11 => (Op::Append, start + elsewhere, piece),
        12..=15 => (Op::Read, start + whole(random, standard.size), odd + whole(random, 6 * PAGE)),
        16 => (Op::Flush, 0, 0),
        17..=18 => (Op::Zone(ZoneAction::Open), start + elsewhere, 0),
        19 => (Op::Zone(ZoneAction::Close), start + elsewhere, 0),
        20 => (Op::Zone(ZoneAction::Finish), start + elsewhere, 0),
        _ => (Op::Zone(ZoneAction::Reset), start + elsewhere, 0),
    };
    let (lba, sectors) = if lba + sectors > last { (lba.min(last - odd), odd) } else { (lba, sectors) };
    Request { durable: random.below(4) == 0, ..Request::new(op, Lba::new(lba), sectors as u32) }
}

/// Asks for several commands at the same time; how each ended, in the order in which they were asked.
fn ask(drive: &mut Device, at: Nanos, commands: &[Request]) -> Vec<Status> {
    for (tag, command) in commands.iter().enumerate() {
        drive.submit(at, Tag(tag as u32), *command);
    }
    let ends: BTreeMap<u32, Status> =
        std::iter::from_fn(|| drive.complete(Nanos::MAX)).map(|done| (done.tag.0, done.status)).collect();
    assert_eq!(ends.len(), commands.len(), "each is answered once");
    ends.into_values().collect()
}

/// Random commands, several at a time, pauses and losses of power.
fn obeys(name: &str, is_disk: bool, seed: u64) {
    let mut drive = build(name);
    let mut standard = Standard::of(&drive, is_disk);
    let mut random = Random::new(seed);
    let mut failed = 0;
    for _ in 0..400 {
        let odd = if is_disk && random.below(4) == 0 { 1 } else { PAGE };
        let mut commands = Vec::new();
        let mut expected = Vec::new();
        for _ in 0..1 + random.below(6) {
            let command = any_command(&mut random, &standard, odd);
            expected.push(standard.answer(command.op, command.lba.get(), command.sectors.into()));
            commands.push(command);
        }
        let at = drive.now() + Nanos::from_micros(random.below(3) * random.below(5_000));
        let found = ask(&mut drive, at, &commands);
        assert_eq!(found, expected, "seed {seed}, {name}: {commands:?}");
        failed += found.iter().filter(|status| !status.is_success()).count() as u64;
        if random.below(40) == 0 {
            drive.cut_power(drive.now() + Nanos::from_micros(random.below(3_000)));
            standard.lose_power();
        }
        standard.agrees_with(&drive.zones(), seed);
        let limits = drive.zone_limits().expect("it has zones");
        let zones = drive.zones();
        let count = |is: fn(ZoneState) -> bool| zones.iter().filter(|zone| is(zone.state)).count() as u32;
        assert!(limits.open.is_none_or(|most| count(ZoneState::is_open) <= most), "{name}");
        assert!(limits.active.is_none_or(|most| count(ZoneState::is_active) <= most), "{name}");
    }
    assert_eq!(drive.counters().failed, failed, "seed {seed}, {name}");
}

/// Of which pages of a zone flash has data: those written up to the last whole flash page, and all if nothing will follow.
fn laid(standard: &Standard, zone: usize, program: u64) -> u64 {
    let model = standard.zones[zone];
    let written = model.written / PAGE;
    if model.state == ZoneState::Full { written } else { written - written % program }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Every command ends as the standard says, whatever else is in flight, with the same states and write pointers.
    #[test]
    fn commands_to_zones_end_as_the_standard_says(parts in any_parts(), seed in any::<u64>()) {
        obeys(&parts.flash(), false, seed);
        obeys(&parts.disk(), true, seed);
    }

    /// A read takes from flash the pages that were written since the zone was reset, and nothing for the others: what waits for
    /// its flash page is in the buffer, and what was never written is nowhere.
    #[test]
    fn reads_of_zones_find_what_was_written_and_nothing_that_was_reset(parts in any_parts(), seed in any::<u64>()) {
        let (mut drive, program) = (build(&parts.flash()), parts.flash.2);
        let mut standard = Standard::of(&drive, false);
        let mut random = Random::new(seed);
        let (mut there, mut absent) = (0, 0);
        for _ in 0..300 {
            let command = any_command(&mut random, &standard, PAGE);
            let expected = standard.answer(command.op, command.lba.get(), command.sectors.into());
            let rested = drive.now() + Nanos::from_secs(1);
            prop_assert_eq!(ask(&mut drive, rested, &[command]), [expected], "{:?}", command);
            let zone = random.place(standard.zones.len());
            let laid = laid(&standard, zone, program);
            // About its end, where a mistake would be.
            let page = match random.below(3) {
                0 => random.below(parts.capacity),
                _ => (laid + random.below(3)).saturating_sub(1).min(parts.capacity - 1),
            };
            let read = Request::new(Op::Read, Lba::new(zone as u64 * standard.size + page * PAGE), PAGE as u32);
            let before = drive.counters().pages_read;
            let rested = drive.now() + Nanos::from_secs(1);
            prop_assert_eq!(ask(&mut drive, rested, &[read]), [Status::Success]);
            let found = drive.counters().pages_read - before;
            prop_assert_eq!(found, u64::from(page < laid), "page {} of zone {}, of which {} are laid", page, zone, laid);
            *(if page < laid { &mut there } else { &mut absent }) += 1;
        }
        prop_assert!(there > 0 && absent > 0, "{} there, {} not", there, absent);
    }
}
