//! Flash that is hard to read: retries, refresh and what it costs others, and pages that nothing corrects at the end of
//! life. By count, by the clock and by property.

use assay_drive::flash::FlashDrive;
use assay_drive::{Counters, Drive};
use block::{Bytes, Nanos, Request, Seed, Status, Tag};
use proptest::prelude::*;

use crate::support::exact::{self, BLOCK, FLASH_PAGE, SENSE, carried, filled, lone, pages, read};

/// Data of a thousand hours takes the same number of retries everywhere: eight times as many errors as can be corrected, each
/// retry has half as many.
const OLD: &str = r#"
[errors]
source = "test"
fresh = "0.1%"
correctable = "0.2%"
retained = "1550%"
retained_for = "1000 h"
steps = 6
gain = "200%"
step = "15 us"
soft = "600 us"
soft_gain = "200%"
refresh = 3
"#;

const RETRIES: u64 = 3;

fn hours(hours: u64) -> Nanos {
    Nanos::from_secs(3_600 * hours)
}

/// A filled drive with these changes that was left alone for a thousand hours.
fn old(changes: &str, errors: &str) -> FlashDrive {
    let mut drive = filled(changes, errors);
    exact::takes(&mut drive, hours(1_000), Request::FLUSH);
    drive
}

/// What a request takes that comes when a move is over.
fn soon(drive: &mut FlashDrive, request: Request) -> Nanos {
    let at = drive.now() + Nanos::from_millis(5);
    exact::takes(drive, at, request)
}

fn without_refresh() -> String {
    OLD.replace("refresh = 3\n", "")
}

/// What it takes to move a flash page of old data: its array reads with their retries, and its program.
fn move_takes(drive: &FlashDrive) -> Nanos {
    let (spec, senses) = (drive.spec(), FLASH_PAGE / SENSE);
    let sense = spec.nand.read + carried(spec, SENSE);
    let retry = sense + Nanos::from_micros(15);
    (sense + retry.times(RETRIES)).times(senses) + carried(spec, FLASH_PAGE) + spec.nand.program
}

#[test]
fn reads_in_order_of_old_data_refresh_all_of_it_once() {
    let mut drive = old("", OLD);
    let (before, all) = (drive.counters(), pages(&drive));
    // What was moved is read before it is a second old.
    let hard = (0..all).map(|page| soon(&mut drive, read(page))).max();
    // The first read of each flash page is hard, and has it moved: the others find it young.
    let done = drive.counters() - before;
    let (flash_pages, blocks) = (all / FLASH_PAGE, all / BLOCK);
    assert_eq!((done.blocks_refreshed, done.pages_refreshed, done.pages_moved), (blocks, all, all));
    assert_eq!(done.blocks_erased, blocks);
    // A hard read of the host's for each flash page, and the three that move it.
    assert_eq!(done.read_retries, flash_pages * (1 + FLASH_PAGE / SENSE) * RETRIES);
    assert_eq!(done.pages_read - done.pages_moved, all);
    let before = drive.counters();
    let young = (0..all).map(|page| soon(&mut drive, read(page))).max();
    assert_eq!((drive.counters() - before).pages_moved, 0, "all of it is young");
    assert!(young < hard, "{young:?} when all is young, {hard:?} before");
}

#[test]
fn a_hard_read_takes_its_retries_whether_or_not_its_block_is_refreshed() {
    for errors in [OLD, &without_refresh()] {
        let mut drive = old("", errors);
        let spec = *drive.spec();
        let again = spec.nand.read + carried(&spec, 1) + Nanos::from_micros(15);
        let took = lone(&mut drive, read(5));
        assert_eq!(took, exact::beside_sensing(&spec) + spec.nand.read + again.times(RETRIES));
    }
}

/// What a read, or a durable write, takes that comes with a hard read of another page, and what the hard read takes.
fn beside_hard_read(changes: &str, errors: &str, other: Request) -> (Nanos, Nanos) {
    let mut drive = old(changes, errors);
    let at = drive.now() + Nanos::from_millis(50);
    drive.submit(at, Tag(0), read(0));
    drive.submit(at, Tag(1), other);
    let mut took = [Nanos::ZERO; 2];
    while let Some(done) = drive.complete(Nanos::MAX) {
        took[done.tag.0 as usize] = done.at - at;
    }
    (took[0], took[1])
}

/// Who comes behind a hard read waits for the flash page that is moved for it, and only on its die.
#[test]
fn a_refresh_costs_those_behind_it_on_its_die_the_move_of_a_flash_page() {
    let moved = move_takes(&filled("", OLD));
    for other in [read(7 * BLOCK), exact::durable(7 * BLOCK)] {
        let (hard, with) = beside_hard_read("", OLD, other);
        let (hard_alone, without) = beside_hard_read("", &without_refresh(), other);
        assert_eq!(hard, hard_alone, "who finds it does not wait");
        assert_eq!(with - without, moved, "{other:?}");
    }
    // The second flash page is on the other die, on a channel of its own.
    let two = "channels=2";
    let other = read(FLASH_PAGE);
    assert_eq!(beside_hard_read(two, OLD, other), beside_hard_read(two, &without_refresh(), other));
    // Where reads go first, it waits for a step of the move at most.
    let first = "nand.reads_first=true";
    let (_, with) = beside_hard_read(first, OLD, read(7 * BLOCK));
    let (_, without) = beside_hard_read(first, &without_refresh(), read(7 * BLOCK));
    let spec = *filled("", OLD).spec();
    let step = spec.nand.read + carried(&spec, FLASH_PAGE).times(2) + spec.nand.program;
    assert!(with >= without && with < without + step, "{with} beside a refresh, {without} without, a step is {step}");
}

/// A hard read has one flash page of its block moved. The rest is moved beside the host's writes, a page now and then, so that the
/// block is erased long before the die has to collect.
#[test]
fn what_is_left_of_a_refresh_is_done_beside_writes_a_little_each() {
    let flash_page = |drive: &mut FlashDrive, page| {
        let at = drive.now() + Nanos::from_millis(50);
        exact::takes(drive, at, Request { sectors: FLASH_PAGE as u32 * 8, ..exact::durable(page) })
    };
    let mut drive = old("", OLD);
    let before = drive.counters();
    lone(&mut drive, read(0));
    let (mut writes, mut moved, mut took) = (0, vec![], vec![]);
    while drive.counters().blocks_erased == before.blocks_erased {
        let earlier = drive.counters().pages_moved;
        took.push(flash_page(&mut drive, (20 + writes / 8) * BLOCK + writes % 8 * FLASH_PAGE));
        moved.push(drive.counters().pages_moved - earlier);
        writes += 1;
    }
    let done = drive.counters() - before;
    assert_eq!((done.blocks_refreshed, done.pages_refreshed, done.pages_moved), (1, BLOCK, BLOCK));
    let free = drive.spec().geometry.blocks() as u64 - pages(&drive) / BLOCK;
    assert!(writes > 8 && writes < (free - 2) * BLOCK / FLASH_PAGE, "{writes} flash pages, {free} blocks are free");
    let (most, longest) = (*moved.iter().max().unwrap(), *took.iter().max().unwrap());
    assert!(most <= FLASH_PAGE, "{most} pages for one of the host's {FLASH_PAGE}");
    let spec = *drive.spec();
    assert!(longest < move_takes(&drive) + spec.nand.erase + spec.nand.program.times(2), "{longest}");
}

/// Reads at random of old data, 8 at a time: the refresh of all of it takes dies from the host, and is paid once.
#[test]
fn a_refresh_slows_the_host_down_until_all_is_young() {
    let rounds = |errors: &str| -> Vec<(f64, Counters)> {
        let mut drive = old("dies_per_channel=4", errors);
        let (all, mut random) = (pages(&drive), testkit::Random::new(7));
        (0..4)
            .map(|_| {
                let (began, before) = (drive.now(), drive.counters());
                for turn in 0..2_000 {
                    if turn >= 8 {
                        drive.complete(Nanos::MAX).expect("8 are in flight");
                    }
                    drive.submit(drive.now(), Tag(turn), read(random.below(all)));
                }
                while drive.complete(Nanos::MAX).is_some() {}
                ((drive.now() - began).as_secs_f64(), drive.counters() - before)
            })
            .collect()
    };
    let (with, without) = (rounds(OLD), rounds(&without_refresh()));
    let [(first, counted), .., (last, later)] = &with[..] else { panic!("four rounds") };
    let even = without[0].0;
    assert!(*first > 1.5 * even, "{first} s while it is refreshed, {even} without");
    assert!(*last < 0.5 * even, "{last} s when it is young, {even} without");
    assert!(counted.pages_refreshed > 3_000 && later.pages_refreshed < 100, "{counted:?}, then {later:?}");
    assert!((without[3].0 / even - 1.0).abs() < 0.05, "what is never refreshed stays as it is");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever the age and the threshold: blocks are refreshed if and only if reads take as many retries, what is refreshed is
    /// of what is moved, and pages stay where the host finds them.
    #[test]
    fn blocks_are_refreshed_from_the_threshold_on(
        age in 0..4_000_u64, from in 1..7_u64, seed in any::<u64>(), dies in 1..3_u32,
    ) {
        let aged = |errors: &str| {
            let mut drive = filled(&format!("dies_per_channel={dies}"), errors);
            let at = drive.now() + hours(age);
            exact::takes(&mut drive, at, read(5));
            drive
        };
        let each = aged(&without_refresh()).counters().read_retries;
        let mut drive = aged(&OLD.replace("refresh = 3", &format!("refresh = {from}")));
        let (all, mut random) = (pages(&drive), testkit::Random::new(seed));
        (0..200).for_each(|_| {
            lone(&mut drive, read(random.below(all)));
        });
        let hard = each >= from;
        let done = drive.counters();
        prop_assert_eq!(done.blocks_refreshed > 0, hard, "{} retries, refreshed from {}", each, from);
        prop_assert_eq!(done.pages_refreshed > 0, hard);
        prop_assert!(done.pages_refreshed <= done.pages_moved && done.blocks_refreshed * BLOCK >= done.pages_refreshed);
        prop_assert!(done.uncorrectable <= done.soft_decodes && done.failed <= done.uncorrectable);
        prop_assert_eq!(done.pages_programmed, done.pages_moved.next_multiple_of(FLASH_PAGE) + all);
    }
}

/// Flash that stands forty erases, after thirty of which it has fourteen times as many errors.
const WORN: &str = r#"
[errors]
source = "test"
fresh = "0.05%"
correctable = "0.2%"
worn = "1400%"
worn_erases = 30
spread = "30%"
steps = 2
gain = "140%"
step = "15 us"
soft = "600 us"
soft_gain = "120%"

[wear]
source = "test"
rated_erases = 40
reserve = "5%"
"#;

/// How many of so many pages fail, and what the reads that fail take.
fn failing(drive: &mut FlashDrive) -> (u64, Vec<Nanos>) {
    let (all, mut random, mut took) = (pages(drive), testkit::Random::new(9), Vec::new());
    for _ in 0..500 {
        let at = drive.now() + Nanos::from_millis(50);
        drive.submit(at, Tag(0), read(random.below(all)));
        let done = drive.complete(Nanos::MAX).expect("it is answered");
        match done.status {
            Status::Success => {}
            status => {
                assert_eq!(status, Status::UnrecoveredRead);
                took.push(done.at - at);
            }
        }
    }
    (took.len() as u64, took)
}

/// Erases alone bring it: no time passes that would be worth the name.
#[test]
fn towards_the_end_of_life_reads_fail_and_at_its_end_writes_do() {
    let mut drive = filled("", WORN);
    let spec = *drive.spec();
    let again = spec.nand.read + carried(&spec, 1) + Nanos::from_micros(15);
    let lost = exact::beside_sensing(&spec) + spec.nand.read + again.times(2) + Nanos::from_micros(600);
    let (mut rounds, mut counted) = (Vec::new(), 0);
    for round in 0..60 {
        let (failed, took) = failing(&mut drive);
        assert!(took.iter().all(|&took| took == lost), "all retries and soft decoding, {lost}: {took:?}");
        counted += failed;
        let counters = drive.counters();
        assert_eq!(counters.failed, counted, "the host was told of each");
        assert!(counters.uncorrectable >= counted, "pages that were moved besides: {counters:?}");
        let wear = drive.health().wear.expect("it wears out");
        rounds.push((wear.erases_mean, failed));
        if wear.read_only {
            break;
        }
        drive.write_at_random(pages(&drive), Bytes::from_kib(4), Seed::new(round));
    }
    let (young, old) = (rounds[0], *rounds.last().expect("there were some"));
    assert!(young.1 == 0 && old.1 > 100 && old.0 > 30, "failed of 500 by erases: {rounds:?}");
    for pair in rounds.windows(2) {
        assert!(pair[1].1 + 40 >= pair[0].1, "erases never heal: {rounds:?}");
    }
    assert!(drive.health().wear.expect("it wears out").read_only, "{rounds:?}");
    drive.submit(drive.now(), Tag(0), exact::write(3));
    assert_eq!(drive.complete(Nanos::MAX).expect("it is answered").status, Status::WriteFault);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Whatever the errors grow with: more erases never make fewer reads fail, and what fails was decoded in vain.
    #[test]
    fn erases_never_heal(times in 2..30_u64, spread in 0..50_u64, seed in any::<u64>()) {
        let errors = WORN.replace("1400%", &format!("{times}00%")).replace("30%", &format!("{spread}%"));
        let failed = |rounds: u64| {
            let mut drive = filled("", &errors);
            (0..rounds).for_each(|round| drive.write_at_random(pages(&drive), Bytes::from_kib(4), Seed::new(seed ^ round)));
            let (failed, _) = failing(&mut drive);
            let counters = drive.counters();
            assert_eq!(counters.failed, failed);
            assert!(failed <= counters.uncorrectable && counters.uncorrectable <= counters.soft_decodes, "{counters:?}");
            failed
        };
        let (young, old) = (failed(1), failed(10));
        prop_assert!(young <= old + 25, "{young} of 500 after one overwrite, {old} after ten");
    }
}
