//! What a whole flash drive loses when its power is cut.

use std::collections::BTreeSet;

use assay_drive::flash::{FlashDrive, FlashSpec};
use assay_drive::preset::{Preset, Spec};
use assay_drive::{Drive, PowerLoss};
use block::{Bytes, Lba, Nanos, Op, Request, Seed, Tag};
use testkit::alike;

/// The X25-M's parts around 1 GiB.
fn drive(changes: &str) -> FlashDrive {
    let name = alike!("x25-m?").to_owned() + &changes.replacen('?', "&", 1);
    let Spec::Flash(spec) = Preset::find(&name).unwrap().spec else { panic!("it is flash") };
    let capacity = Bytes::from_gib(1);
    FlashDrive::new(FlashSpec { capacity, geometry: spec.geometry.with_spare(capacity, 120_000), ..spec })
}

/// Firmware that answers as soon as data has arrived, before flash has begun.
const QUICK: &str = "?controller.write=0us&controller.page_write=0us&nand.program=1050us";

/// Submits now and waits for the answer; when it came.
fn ask(drive: &mut FlashDrive, op: Op, first: u64, sectors: u32) -> Nanos {
    drive.submit(drive.now(), Tag(0), Request::new(op, Lba::new(first), sectors));
    drive.complete(Nanos::MAX).expect("one is in flight").at
}

/// Cuts the power now.
fn cut(drive: &mut FlashDrive) -> PowerLoss {
    drive.cut_power(drive.now())
}

fn sectors(lost: &PowerLoss) -> Vec<(u64, u64)> {
    lost.sectors.iter().map(|(from, until)| (from.get(), until.get())).collect()
}

#[test]
fn what_was_answered_but_not_programmed_is_lost_and_what_was_flushed_is_not() {
    let mut drive = drive(QUICK);
    ask(&mut drive, Op::Write, 0, 16);
    ask(&mut drive, Op::Flush, 0, 0);
    ask(&mut drive, Op::Write, 80, 16);
    let lost = cut(&mut drive);
    assert_eq!((sectors(&lost), lost.torn, lost.unanswered), (vec![(80, 96)], 0, 0), "on their way to flash");
    assert_eq!(cut(&mut drive), PowerLoss::default(), "it is lost once");
    assert_eq!(drive.counters().unsafe_shutdowns, 2);
    assert_eq!(drive.health().power_cycles, 3);
}

#[test]
fn of_pages_written_in_part_only_those_sectors_are_lost() {
    let mut drive = drive("");
    ask(&mut drive, Op::Write, 3, 2);
    ask(&mut drive, Op::Write, 14, 3);
    let long_after = drive.now() + Nanos::from_secs(1);
    drive.submit(long_after, Tag(0), Request::new(Op::Read, Lba::new(0), 8));
    drive.complete(Nanos::MAX);
    let lost = cut(&mut drive);
    assert_eq!((sectors(&lost), lost.torn), (vec![(3, 5), (14, 17)], 0), "they waited for the rest of their pages");
}

#[test]
fn a_whole_page_is_safe_as_soon_as_it_is_programmed() {
    // 95 us to the die, 1,050 us to program.
    for (micros, expected, torn) in [(50, vec![(8, 16)], 0), (200, vec![(8, 16)], 1), (1_200, vec![], 0)] {
        let mut drive = drive(QUICK);
        let written = ask(&mut drive, Op::Write, 8, 8);
        let lost = drive.cut_power(written + Nanos::from_micros(micros));
        assert_eq!((sectors(&lost), lost.torn), (expected, torn), "{micros} us after the answer");
    }
}

#[test]
fn the_older_copy_is_there_again_and_what_was_never_there_is_not() {
    let mut drive = drive("");
    ask(&mut drive, Op::Write, 0, 8);
    ask(&mut drive, Op::Flush, 0, 0);
    ask(&mut drive, Op::Write, 0, 8);
    ask(&mut drive, Op::Write, 8, 8);
    assert_eq!(sectors(&cut(&mut drive)), [(0, 16)]);
    let before = drive.counters().pages_read;
    ask(&mut drive, Op::Read, 0, 8);
    assert_eq!(drive.counters().pages_read - before, 1, "the older copy is read");
    ask(&mut drive, Op::Read, 8, 8);
    assert_eq!(drive.counters().pages_read - before, 1, "there is none to read");
}

#[test]
fn a_drive_with_a_capacitor_loses_nothing() {
    let mut drive = drive("?power.capacitor=true");
    ask(&mut drive, Op::Write, 3, 200);
    assert_eq!((drive.unsaved(drive.now()), cut(&mut drive).sectors), (vec![], vec![]));
    let before = drive.counters().pages_read;
    ask(&mut drive, Op::Read, 0, 8);
    assert_eq!(drive.counters().pages_read - before, 1, "the page that was written in part is in flash");
    assert_eq!(drive.counters().unsafe_shutdowns, 1);
}

#[test]
fn commands_in_flight_are_never_answered_and_the_next_waits_for_the_start() {
    let mut drive = drive("?power.boot=300ms");
    ask(&mut drive, Op::Write, 0, 8);
    let alone = drive.now() + Nanos::from_secs(1);
    drive.submit(alone, Tag(0), Request::new(Op::Read, Lba::new(0), 8));
    let latency = drive.complete(Nanos::MAX).unwrap().at - alone;
    let began = drive.now() + Nanos::from_secs(1);
    (0..50).for_each(|tag| drive.submit(began, Tag(tag), Request::new(Op::Read, Lba::new(0), 8)));
    let moment = began + Nanos::from_micros(50);
    let lost = drive.cut_power(moment);
    assert_eq!((lost.unanswered, lost.sectors.len()), (50, 0), "a queue of 32 and 18 that wait");
    assert_eq!((drive.next_event(), drive.complete(Nanos::MAX)), (None, None));
    let later = moment + Nanos::from_millis(100);
    drive.submit(later, Tag(99), Request::new(Op::Read, Lba::new(0), 8));
    let done = drive.complete(Nanos::MAX).unwrap();
    assert_eq!((done.tag, done.at), (Tag(99), moment + Nanos::from_millis(300) + latency));
}

#[test]
#[should_panic(expected = "which the drive has reached")]
fn a_power_cut_in_the_past_is_our_own_bug() {
    let mut drive = drive("");
    ask(&mut drive, Op::Write, 0, 8);
    drive.cut_power(Nanos::ZERO);
}

/// Writes, reads, trims and flushes at random, with power cuts between; all that was lost.
fn story(seed: u64) -> (Vec<PowerLoss>, u64, Nanos) {
    let mut drive = drive("?power.boot=1ms");
    let mut random = testkit::Random::new(Seed::new(seed).split("requests").get());
    let mut below = |limit: u64| random.below(limit);
    let (mut unflushed, mut all) = (BTreeSet::new(), Vec::new());
    for _ in 0..30_000 {
        match below(1_000) {
            0..600 => {
                let (first, count) = (below(40_000), 1 + below(60) as u32);
                ask(&mut drive, Op::Write, first, count);
                unflushed.extend(first..first + u64::from(count));
            }
            600..900 => _ = ask(&mut drive, Op::Read, below(40_000), 8),
            900..970 => _ = ask(&mut drive, Op::Trim, below(4_000) * 8, 8),
            970..990 => {
                ask(&mut drive, Op::Flush, 0, 0);
                unflushed.clear();
            }
            _ => {
                let moment = drive.now() + Nanos::from_micros(below(1_000));
                let foretold = drive.unsaved(moment);
                let lost = drive.cut_power(moment);
                assert_eq!(foretold, lost.sectors, "seed = {seed}");
                let runs = sectors(&lost);
                assert!(runs.iter().all(|(from, until)| from < until), "seed = {seed}: {runs:?}");
                assert!(runs.windows(2).all(|pair| pair[0].1 < pair[1].0), "seed = {seed}: {runs:?}");
                for sector in runs.iter().flat_map(|&(from, until)| from..until) {
                    assert!(unflushed.contains(&sector), "seed = {seed}: sector {sector} was flushed");
                }
                unflushed.clear();
                all.push(lost);
            }
        }
    }
    assert_eq!(drive.counters().unsafe_shutdowns, all.len() as u64);
    (all, drive.digest(), drive.now())
}

#[test]
fn nothing_that_was_flushed_is_ever_lost_and_one_seed_tells_one_story() {
    for seed in 0..4 {
        let told = story(seed);
        assert!(told.0.iter().filter(|lost| !lost.sectors.is_empty()).count() > 100, "seed = {seed}: cuts must cost");
        assert_eq!(told, story(seed), "seed {seed} gave two different runs");
    }
}
