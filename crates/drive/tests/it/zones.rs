//! Drives with zones: states and write pointers beside a small model of the standard, counts and times.

use assay_drive::preset::Preset;
use assay_drive::{Device, Drive};
use block::{Bytes, Lba, Nanos, Op, Request, Status, Tag, Zone, ZoneAction, ZoneState};
use testkit::Random;

/// A small ZNS drive: 48 MiB zones of two blocks a die, of which 40 MiB can be written.
const ZNS: &str = "zn540-1tb?host=none&channels=2&dies_per_channel=2&pages_per_block=1536&zones.size=48MiB&\
                   zones.zone_capacity=40MiB&max_open=3&max_active=5&capacity.user=480MiB&capacity.spare=0%";
/// A small host-managed disk: zones of 1 MiB, two of them conventional.
const SMR: &str =
    "hc620-14tb?platters.capacity=64MiB&platters.heads=1&platters.zones=1&zones.size=1MiB&conventional=2&max_open=3";

pub fn build(name: &str) -> Device {
    Preset::find(name).unwrap_or_else(|error| panic!("{error}")).build()
}

/// Does one request and waits for it; how it ended, and how long it took.
fn ask(drive: &mut Device, op: Op, lba: u64, sectors: u64) -> (Status, Nanos) {
    let now = drive.now();
    drive.submit(now, Tag(1), Request::new(op, Lba::new(lba), sectors as u32));
    let done = drive.complete(Nanos::MAX).expect("it is answered");
    (done.status, done.at - now)
}

fn status(drive: &mut Device, op: Op, lba: u64, sectors: u64) -> Status {
    ask(drive, op, lba, sectors).0
}

/// A zone of the model, which was written from the standard alone: what it says of one command to one zone.
#[derive(Clone, Copy)]
pub struct Model {
    pub state: ZoneState,
    pub written: u64,
    /// When it was opened by a write, in commands.
    opened: u64,
}

/// What the standards say of all zones of a drive.
pub struct Standard {
    pub zones: Vec<Model>,
    pub size: u64,
    pub capacity: u64,
    max_open: usize,
    max_active: usize,
    is_disk: bool,
    /// Sectors of which a disk writes no part in zones that are written in order.
    physical: u64,
    turn: u64,
}

impl Standard {
    pub fn of(drive: &Device, is_disk: bool) -> Self {
        let (report, limits) = (drive.zones(), drive.zone_limits().expect("it has zones"));
        let first = report[0];
        let model = |zone: &Zone| Model { state: zone.state, written: 0, opened: 0 };
        Self {
            size: first.end.get() - first.start.get(),
            capacity: first.writable.get() - first.start.get(),
            zones: report.iter().map(model).collect(),
            max_open: limits.open.map_or(usize::MAX, |most| most as usize),
            max_active: limits.active.map_or(usize::MAX, |most| most as usize),
            is_disk,
            physical: 8,
            turn: 0,
        }
    }

    fn count(&self, is: impl Fn(ZoneState) -> bool) -> usize {
        self.zones.iter().filter(|zone| is(zone.state)).count()
    }

    /// Makes room for one more open zone; what ends the command if there is none.
    fn make_room(&mut self, zone: usize) -> Status {
        use ZoneState::{Closed, Empty, ExplicitlyOpen, ImplicitlyOpen};
        let state = self.zones[zone].state;
        let open = |state| matches!(state, ImplicitlyOpen | ExplicitlyOpen);
        if state == Empty && self.count(|state| open(state) || state == Closed) >= self.max_active {
            return Status::TooManyActiveZones;
        }
        if !open(state) && self.count(open) >= self.max_open {
            let implicit = (0..self.zones.len()).filter(|index| self.zones[*index].state == ImplicitlyOpen);
            let Some(oldest) = implicit.min_by_key(|index| self.zones[*index].opened) else {
                return Status::TooManyOpenZones;
            };
            let is_blank = self.is_disk && self.zones[oldest].written == 0;
            self.zones[oldest].state = if is_blank { Empty } else { Closed };
        }
        Status::Success
    }

    pub fn answer(&mut self, op: Op, lba: u64, sectors: u64) -> Status {
        use ZoneState::{Closed, Conventional, Empty, ExplicitlyOpen, Full, ImplicitlyOpen};
        self.turn += 1;
        let (index, within) = ((lba / self.size) as usize, lba % self.size);
        let state = self.zones[index].state;
        match op {
            Op::Read if within + sectors > self.capacity => Status::ZoneBoundary,
            Op::Append if self.is_disk => Status::InvalidOpcode,
            Op::Append if state == Conventional || within != 0 => Status::InvalidField,
            Op::Append if state == Full => Status::ZoneIsFull,
            Op::Append => self.write(index, self.zones[index].written, sectors),
            Op::Write => self.write(index, within, sectors),
            Op::Zone(_) if state == Conventional || within != 0 => Status::InvalidField,
            Op::Zone(ZoneAction::Open) => match state {
                Full => Status::InvalidZoneTransition,
                ExplicitlyOpen => Status::Success,
                _ => {
                    let room = self.make_room(index);
                    if room == Status::Success {
                        self.zones[index].state = ExplicitlyOpen;
                    }
                    room
                }
            },
            Op::Zone(ZoneAction::Close) => match state {
                ImplicitlyOpen | ExplicitlyOpen => {
                    let is_blank = self.is_disk && self.zones[index].written == 0;
                    self.zones[index].state = if is_blank { Empty } else { Closed };
                    Status::Success
                }
                Closed => Status::Success,
                _ => Status::InvalidZoneTransition,
            },
            Op::Zone(ZoneAction::Finish) => {
                self.zones[index].state = Full;
                Status::Success
            }
            Op::Zone(ZoneAction::Reset) => {
                self.zones[index] = Model { state: Empty, written: 0, opened: 0 };
                Status::Success
            }
            _ => Status::Success,
        }
    }

    fn write(&mut self, index: usize, within: u64, sectors: u64) -> Status {
        use ZoneState::{Closed, Conventional, Empty, Full, ImplicitlyOpen};
        let Model { state, written, .. } = self.zones[index];
        if self.is_disk && state != Conventional && !(within + sectors).is_multiple_of(self.physical) {
            return Status::ZoneInvalidWrite;
        }
        if within + sectors > self.capacity {
            return Status::ZoneBoundary;
        }
        match state {
            Conventional => return Status::Success,
            Full => return Status::ZoneIsFull,
            _ if within != written => return Status::ZoneInvalidWrite,
            Empty | Closed => {
                let room = self.make_room(index);
                if room != Status::Success {
                    return room;
                }
                (self.zones[index].state, self.zones[index].opened) = (ImplicitlyOpen, self.turn);
            }
            _ => {}
        }
        self.zones[index].written += sectors;
        if self.zones[index].written == self.capacity {
            self.zones[index].state = Full;
        }
        Status::Success
    }

    /// A loss of power: what was open is closed, or empty without data.
    pub fn lose_power(&mut self) {
        for zone in &mut self.zones {
            if matches!(zone.state, ZoneState::ImplicitlyOpen | ZoneState::ExplicitlyOpen) {
                zone.state = if zone.written == 0 { ZoneState::Empty } else { ZoneState::Closed };
            }
        }
    }

    pub fn agrees_with(&self, report: &[Zone], seed: u64) {
        for (index, (model, zone)) in self.zones.iter().zip(report).enumerate() {
            assert_eq!(zone.state, model.state, "seed {seed}: zone {index} after {} commands", self.turn);
            let pointer = if model.state == ZoneState::Full { self.capacity } else { model.written };
            if model.state != ZoneState::Conventional {
                assert_eq!(zone.pointer.get() - zone.start.get(), pointer, "seed {seed}: zone {index}");
            }
        }
    }
}

/// Random commands to few zones end as the standard says, and leave the same states and write pointers.
#[test]
fn states_and_pointers_are_those_of_the_standard_whatever_is_asked() {
    for (name, is_disk) in [(ZNS, false), (SMR, true)] {
        for seed in 0..6 {
            let mut drive = build(name);
            let mut standard = Standard::of(&drive, is_disk);
            let mut random = Random::new(seed);
            let (mut failed, mut seen) = (0_u64, std::collections::BTreeSet::new());
            for _ in 0..4_000 {
                let zone = random.below(8.min(standard.zones.len() as u64));
                let model = standard.zones[zone as usize];
                let start = zone * standard.size;
                let piece = (1 + random.below(standard.capacity / 8 / 3)) * 8;
                let place = match random.below(10) {
                    0 => random.below(standard.size / 8) * 8,
                    _ => model.written,
                };
                let (op, lba, sectors) = match random.below(20) {
                    0..=9 => (Op::Write, start + place, piece),
                    10..=11 => (Op::Append, start + if random.below(9) == 0 { 8 } else { 0 }, piece),
                    12..=13 => (Op::Read, start + random.below(standard.size / 8) * 8, 8),
                    14..=15 => (Op::Zone(ZoneAction::Open), start, 0),
                    16 => (Op::Zone(ZoneAction::Close), start, 0),
                    17 => (Op::Zone(ZoneAction::Finish), start, 0),
                    _ => (Op::Zone(ZoneAction::Reset), start, 0),
                };
                let expected = standard.answer(op, lba, sectors);
                let found = status(&mut drive, op, lba, sectors);
                assert_eq!(found, expected, "seed {seed}: {op} at {lba} of {sectors} sectors, zone {zone}");
                failed += u64::from(found != Status::Success);
                seen.insert(found);
                standard.agrees_with(&drive.zones(), seed);
            }
            assert_eq!(drive.counters().failed, failed);
            assert!(seen.len() >= 6, "seed {seed}: {seen:?}");
        }
    }
}

#[test]
fn a_drive_without_zones_has_no_commands_for_them() {
    for name in ["x25-m?capacity.user=64MiB&spare=150%", "raptor-150", "solid-data-dram"] {
        let mut drive = build(name);
        assert!(drive.zones().is_empty() && drive.zone_limits().is_none());
        for op in [Op::Append, Op::Zone(ZoneAction::Reset)] {
            assert_eq!(status(&mut drive, op, 0, 8), Status::InvalidOpcode, "{name}: {op}");
        }
    }
}

#[test]
fn flash_programs_what_is_written_once_and_erases_what_is_reset() {
    let mut drive = build(ZNS);
    let zone = Bytes::from_mib(48).sectors();
    for piece in 0..160 {
        assert_eq!(status(&mut drive, Op::Write, piece * 512, 512), Status::Success);
    }
    let written = drive.counters();
    let pages = Bytes::from_mib(40).get() / 4096;
    // 10,240 pages are 426 flash pages of 24 and two thirds of one.
    assert_eq!(written.pages_programmed, pages.div_ceil(24) * 24);
    assert_eq!((written.pages_moved, written.blocks_erased, written.zone_resets), (0, 0, 0));
    assert_eq!(drive.zones()[0].state, ZoneState::Full);
    assert_eq!(status(&mut drive, Op::Zone(ZoneAction::Reset), 0, 0), Status::Success);
    let reset = drive.counters() - written;
    // 427 flash pages over four dies are 107 or 106 in each, of 64 in a block.
    assert_eq!((reset.blocks_erased, reset.zone_resets), (8, 1));
    assert_eq!(status(&mut drive, Op::Write, zone, 8), Status::Success);
    assert_eq!(status(&mut drive, Op::Zone(ZoneAction::Finish), zone, 0), Status::Success);
    assert_eq!(drive.counters().pages_programmed - written.pages_programmed, 24, "a flash page in part");
    assert_eq!(status(&mut drive, Op::Zone(ZoneAction::Reset), zone, 0), Status::Success);
    assert_eq!(drive.counters().blocks_erased, 9, "one block was written");
    assert_eq!(status(&mut drive, Op::Read, zone + 8, 8), Status::Success, "what was never written can be read");
    assert_eq!(status(&mut drive, Op::Write, 4, 8), Status::InvalidField, "no whole pages");
}

/// 128 KiB reads: without what varies, so that they can be reckoned.
#[test]
fn times_are_those_of_the_parts() {
    let plain = format!(
        "{ZNS}&jitter=0%&dies=0%&blocks=0%&word_lines=0%&programs=0%&erases=0%&variation.reads=0%&noise=0%&errors.spread=0%"
    );
    let preset = Preset::find(&plain).unwrap_or_else(|error| panic!("{error}"));
    let mut drive = preset.build();
    let (us, kib) = (Nanos::from_micros, 2);
    // Into the buffer: 6 us a command, and 1 us each page beside 128 KiB over the link of 3,400 MB/s.
    let (_, took) = ask(&mut drive, Op::Write, 0, 128 * kib);
    assert!((us(38)..us(48)).contains(&took), "{took}");
    for piece in 1..320 {
        ask(&mut drive, Op::Write, piece * 128 * kib, 128 * kib);
    }
    // Erased at once on four dies, two blocks each: 6 ms for each, after what was being programmed.
    let later = drive.now() + Nanos::from_secs(1);
    drive.submit(later, Tag(0), Request::new(Op::Read, Lba::new(0), 8));
    let read = drive.complete(Nanos::MAX).unwrap().at - later;
    // The first page of a word line is sensed in 86 % of 58 us; 8 us on the channel.
    assert!(
        (us(50 + 8 + 6)..us(50 + 8 + 6 + 12)).contains(&read),
        "{read}: sensing, channel, command, decoding and link"
    );
    let (_, reset) = ask(&mut drive, Op::Zone(ZoneAction::Reset), 0, 0);
    assert!((us(12_000)..us(12_050)).contains(&reset), "{reset}");
    let (_, nothing) = ask(&mut drive, Op::Zone(ZoneAction::Reset), 0, 0);
    assert!(nothing < us(20), "{nothing}");
}

/// A buffer that lost or gained slots would let writes be answered sooner or later, or never.
#[test]
fn finishing_and_resetting_leaves_the_buffer_as_large_as_it_was() {
    let burst = |drive: &mut Device| {
        let begin = drive.now() + Nanos::from_secs(5);
        for piece in 0..160 {
            drive.submit(begin, Tag(piece), Request::new(Op::Append, Lba::new(9 * 98_304), 512));
        }
        let mut last = begin;
        while let Some(done) = drive.complete(Nanos::MAX) {
            assert_eq!(done.status, Status::Success);
            last = last.max(done.at);
        }
        last - begin
    };
    let mut drive = build(&format!("{ZNS}&jitter=0%&dies=0%&blocks=0%&word_lines=0%&programs=0%&erases=0%"));
    let fresh = burst(&mut drive.clone());
    for turn in 0..400 {
        let zone = turn % 5 * 98_304;
        assert_eq!(status(&mut drive, Op::Append, zone, 8 * (1 + turn % 23)), Status::Success);
        if turn % 3 == 0 {
            assert_eq!(status(&mut drive, Op::Zone(ZoneAction::Finish), zone, 0), Status::Success);
        }
        assert_eq!(status(&mut drive, Op::Zone(ZoneAction::Reset), zone, 0), Status::Success);
    }
    assert_eq!(burst(&mut drive), fresh);
}

/// Sustained, a zone is written as fast as its dies program.
#[test]
fn a_zone_that_is_long_enough_is_written_at_the_speed_of_all_dies() {
    let mut drive = build(ZNS);
    for piece in 0..1_600_u64 {
        let (zone, within) = (piece / 160, piece % 160);
        assert_eq!(status(&mut drive, Op::Append, zone * 98_304, 512), Status::Success, "{within}");
    }
    // The buffer of 16 MiB holds what is not programmed yet.
    let rate = (400 - 16) as f64 * 1_048_576.0 / drive.now().as_secs_f64() / 1e6;
    let dies = 4.0 * 98_304.0 / (1_720e-6 + 98_304.0 / 533e6) / 1e6;
    assert!((0.9..1.05).contains(&(rate / dies)), "{rate} MB/s, {dies} of the dies");
}

#[test]
fn one_seed_tells_one_story_of_zones_and_a_saved_drive_goes_on() {
    let story = |drive: &mut Device| -> Vec<(Status, Nanos)> {
        let mut random = Random::new(9);
        (0..2_000)
            .map(|_| {
                let zone = random.below(10);
                match random.below(8) {
                    0 => ask(drive, Op::Zone(ZoneAction::Reset), zone * 98_304, 0),
                    1 => ask(drive, Op::Read, zone * 98_304 + random.below(1_000) * 8, 64),
                    _ => ask(drive, Op::Append, zone * 98_304, 8 + random.below(60) * 8),
                }
            })
            .collect()
    };
    let (mut one, mut other) = (build(ZNS), build(ZNS));
    assert_eq!(story(&mut one), story(&mut other));
    let mut again: Device = serde_json::from_str(&serde_json::to_string(&one).unwrap()).unwrap();
    assert_eq!((again.zones(), again.counters()), (one.zones(), one.counters()));
    assert_eq!(story(&mut again), story(&mut one.clone()));
    one.cut_power(one.now());
    assert!(one.zones().iter().all(|zone| !zone.state.is_open()), "a loss of power closes zones");
    one.purge();
    assert!(one.zones().iter().all(|zone| zone.state == ZoneState::Empty));
}

#[test]
fn a_constructed_fill_is_the_state_of_a_simulated_one() {
    let (mut made, mut written) = (build(ZNS), build(ZNS));
    let end = Lba::at(made.shape().capacity);
    assert!(made.can_fill(Lba::new(0), end) && !made.can_fill(Lba::new(8), end));
    made.fill(Lba::new(0), end, Bytes::from_kib(128), 100);
    let mut hosted = Preset::find(&ZNS.replace("?host=none&", "?")).unwrap().build_in_host();
    hosted.fill(Lba::new(0), end, Bytes::from_kib(128), 100);
    assert_eq!((hosted.zones(), hosted.counters().host_written), (made.zones(), made.counters().host_written));
    for zone in 0..12 {
        for piece in 0..320 {
            assert_eq!(status(&mut written, Op::Write, zone * 98_304 + piece * 256, 256), Status::Success);
        }
    }
    assert_eq!(made.zones(), written.zones());
    let (made, written) = (made.counters(), written.counters());
    assert_eq!((made.pages_programmed, made.host_written), (written.pages_programmed, written.host_written));
    assert_eq!(made.requests, written.requests);
}

#[test]
fn a_disk_writes_its_zones_as_fast_as_any_and_its_conventional_ones_in_any_order() {
    let mut disk = build(SMR);
    assert_eq!(status(&mut disk, Op::Write, 2_048 + 512, 8), Status::Success, "a conventional zone");
    assert_eq!(status(&mut disk, Op::Write, 2 * 2_048 + 512, 8), Status::ZoneInvalidWrite);
    assert_eq!(status(&mut disk, Op::Append, 2 * 2_048, 8), Status::InvalidOpcode);
    let mut plain =
        build("nearline-7200?platters.capacity=64MiB&platters.heads=1&platters.zones=1&outer=250MB/s&inner=125MB/s");
    let stream = |drive: &mut Device| {
        let begin = drive.now();
        for piece in 0..60 * 16 {
            assert_eq!(status(drive, Op::Write, 4 * 2_048 + piece * 128, 128), Status::Success);
        }
        drive.now() - begin
    };
    let (zoned, free) = (stream(&mut disk), stream(&mut plain));
    let ratio = zoned.as_secs_f64() / free.as_secs_f64();
    assert!((0.9..1.1).contains(&ratio), "{zoned} in zones, {free} without");
}

#[test]
fn a_mistake_in_a_table_of_zones_says_what_would_be_right() {
    for (change, words) in [
        ("zones.zone_capacity=3GiB", "takes no more data than it is long"),
        ("capacity.user=1TiB", "whole number of zones.zone_capacity"),
        ("max_open=0", "where there is no limit"),
        ("capacitor=false", "power.capacitor = true"),
        ("max_open=15", "zones.max_open is 15, zones.max_active 14"),
        ("max_active=13", "lower max_open to max_active at most"),
        ("max_active=400", "raise buffer.size"),
        ("conventional=3", "none is conventional"),
    ] {
        let said = Preset::find(&format!("zn540-1tb?{change}")).unwrap_err().to_string();
        assert!(said.contains(words), "{change}: {said}");
    }
    let said = Preset::find("toms-x25e-16?array.drive=zn540-1tb&drives=4").unwrap_err().to_string();
    assert!(said.contains("a zoned drive cannot be a member of an array"), "{said}");
}
