//! Flash that is read in the background: by count and by the clock.

use assay_drive::flash::FlashDrive;
use assay_drive::preset::Preset;
use assay_drive::{Counters, Drive};
use block::{Lba, Nanos, Op, Request, Tag};
use testkit::Random;

use crate::support;

const ERRORS: &str = r#"
[errors]
source = "test"
fresh = "0.05%"
correctable = "0.5%"
retained = "1100%"
retained_for = "1000 h"
steps = 12
gain = "150%"
step = "15 us"
soft = "600 us"
soft_gain = "200%"
refresh = 1
"#;

const SMALL: &str =
    "x25-m?capacity.user=64MiB&capacity.spare=150%&map.cache=64MiB&controller.jitter=0%&variation.reads=0%";

fn preset(tables: &str) -> Preset {
    Preset::parse(&format!("{}{tables}", Preset::find(SMALL).unwrap().text)).unwrap_or_else(|error| panic!("{error}"))
}

fn patrol(field: &str) -> String {
    format!("\n[patrol]\nsource = \"test\"\n{field}\n")
}

/// A filled drive with these tables beside.
fn filled(tables: &str) -> FlashDrive {
    support::filled(&preset(tables))
}

/// One read at random in every so much time from now on; how long each takes, and the counters.
fn reads(drive: &mut FlashDrive, count: u64, every: Nanos) -> (Vec<Nanos>, Counters) {
    let (mut random, began) = (Random::new(4), drive.now());
    let pages = drive.shape().capacity.get() / 4096;
    let times = (1..=count).map(|turn| {
        let now = drive.now().max(began + every.times(turn));
        drive.submit(now, Tag(0), Request::new(Op::Read, Lba::new(random.below(pages) * 8), 8));
        drive.complete(Nanos::MAX).expect("it completes").at - now
    });
    (times.collect(), drive.counters())
}

#[test]
fn every_period_one_array_read_is_made_and_counted() {
    let (_, plain) = reads(&mut filled(""), 1_000, Nanos::from_millis(10));
    let (_, patrolled) = reads(&mut filled(&patrol("every = \"1 ms\"")), 1_000, Nanos::from_millis(10));
    // Ten turns from one read to the next, of which those at blocks without data are passed over.
    assert!((5_000..10_000).contains(&patrolled.patrol_reads), "{}", patrolled.patrol_reads);
    assert_eq!(patrolled.pages_read - plain.pages_read, patrolled.patrol_reads);
    assert_eq!((plain.patrol_reads, plain.pages_programmed), (0, patrolled.pages_programmed));
}

#[test]
fn in_the_time_given_all_data_is_read_once() {
    let mut drive = filled(&patrol("over = \"60 s\""));
    let pages = drive.shape().capacity.get() / 4096;
    let read = reads(&mut drive, 6_000, Nanos::from_millis(10)).1.patrol_reads;
    // All but the blocks that are open; a page is an array read.
    let open = u64::from(drive.spec().geometry.units() * drive.spec().geometry.pages_per_block);
    assert!(read <= pages && read + 2 * open >= pages, "{read} of {pages}");
    let again = reads(&mut drive, 6_000, Nanos::from_millis(10)).1.patrol_reads;
    assert!((again - read).abs_diff(read) < 10, "{read} in the first minute, {again} in two");
}

/// A host's read waits for one of patrol where it comes to the same die meanwhile: for as many as the dies are busy with them.
#[test]
fn host_reads_wait_for_patrol_reads_as_often_as_dies_are_busy_with_them() {
    let (plain, _) = reads(&mut filled(""), 4_000, Nanos::from_micros(1_003));
    let shortest = *plain.iter().min().unwrap();
    let mut drive = filled(&patrol("every = \"40 us\""));
    let (times, _) = reads(&mut drive, 4_000, Nanos::from_micros(1_003));
    let spec = drive.spec();
    let one = spec.nand.read + spec.nand.channel.time_for(spec.geometry.page);
    let waited = times.iter().filter(|&&time| time > shortest + Nanos::from_micros(1)).count();
    let data = 64.0 / 160.0;
    let busy = data * one.as_nanos() as f64 / 40_000.0 / f64::from(spec.geometry.dies());
    let share = waited as f64 / 4_000.0;
    assert!(share > busy * 0.7, "{share} of the reads waited, a die is busy for {busy} of the time");
    // Transfers of other dies on the channel are waited for as well.
    assert!(share < busy * 2.5 + 0.01, "{share} of the reads waited, a die is busy for {busy} of the time");
    let longest = *times.iter().max().unwrap();
    assert!(longest < shortest + one.times(3), "{longest} at most, {shortest} at least");
}

/// Data that nobody asks for grows old: patrol has it moved before the host finds it hard to read.
#[test]
fn what_patrol_finds_hard_to_read_is_moved_before_the_host_asks() {
    let left_alone = |tables: &str| {
        let mut drive = filled(tables);
        // Something is asked every hour, always of the same page.
        for hour in 1..=1_000 {
            drive.submit(Nanos::from_secs(3_600 * hour), Tag(0), Request::new(Op::Read, Lba::new(0), 8));
            drive.complete(Nanos::MAX).expect("it completes");
        }
        let before = drive.counters();
        let (_, after) = reads(&mut drive, 2_000, Nanos::from_millis(10));
        (after - before, before)
    };
    let (alone, _) = left_alone(ERRORS);
    let (patrolled, before) = left_alone(&format!("{ERRORS}{}", patrol("over = \"50 h\"")));
    assert!(before.pages_moved > 16_000 && before.patrol_reads > 17 * 16_000, "{before:?}");
    let (alone, patrolled) = (alone.read_retries, patrolled.read_retries);
    assert!(alone > 1_800 && patrolled * 5 < alone * 2, "{alone} retries without patrol, {patrolled} with it");
}

/// A drive that rests has time to move all of a block of which patrol finds a page hard to read, before the next turn.
#[test]
fn a_drive_that_rests_moves_what_patrol_finds_hard_to_read() {
    // A few pages of a block are hard to read.
    let errors = ERRORS.replace("refresh = 1", "refresh = 4\nspread = \"50%\"");
    let left_alone = |tables: &str| {
        let text = Preset::find(&format!("{SMALL}&gc.policy=greedy&gc.idle_after=1s")).unwrap().text;
        let preset = Preset::parse(&format!("{text}{errors}{tables}")).unwrap_or_else(|error| panic!("{error}"));
        let mut drive = support::filled(&preset);
        drive.submit(Nanos::from_secs(3_600 * 1_000), Tag(0), Request::new(Op::Read, Lba::new(0), 8));
        drive.complete(Nanos::MAX).expect("it completes");
        let rested = drive.counters();
        let (_, after) = reads(&mut drive, 2_000, Nanos::from_millis(10));
        ((after - rested).read_retries, rested)
    };
    let (alone, idle) = left_alone("");
    let (patrolled, rested) = left_alone(&patrol("over = \"50 h\""));
    assert!(rested.blocks_refreshed > 30 && rested.blocks_erased + 1 >= rested.blocks_refreshed, "{rested:?}");
    assert!(rested.pages_refreshed > 100 * rested.blocks_refreshed && idle.pages_refreshed < 10, "{rested:?}");
    assert!(patrolled < alone, "{alone} retries without patrol, {patrolled} with it");
}

#[test]
fn a_long_rest_with_patrol_is_over_at_once_and_the_same_drive_tells_the_same_story() {
    let story = || {
        let mut drive = filled(&format!("{ERRORS}{}", patrol("every = \"1 ms\"")));
        drive.submit(Nanos::from_secs(3_600 * 24 * 3_650), Tag(0), Request::new(Op::Read, Lba::new(0), 8));
        drive.complete(Nanos::MAX).expect("it completes");
        let told = reads(&mut drive, 2_000, Nanos::from_micros(300));
        (told, drive.digest())
    };
    assert_eq!(story(), story());
}

/// All data is hard to read, and patrol comes faster than dies can move it. A host's read behind the rest waits for one patrol
/// read of its die and what is moved for it, and not for all that was due.
#[test]
fn behind_a_long_rest_nothing_is_owed_of_it() {
    let after = |tables: &str| {
        let mut drive = filled(&format!("{ERRORS}{tables}"));
        let now = Nanos::from_secs(3_600 * 1_000);
        drive.submit(now, Tag(0), Request::new(Op::Read, Lba::new(0), 8));
        (drive.complete(Nanos::MAX).expect("it completes").at - now, drive)
    };
    let (alone, _) = after("");
    let (took, mut drive) = after(&patrol("every = \"10 us\""));
    let nand = drive.spec().nand;
    // Twelve retries at most, of reads that are alike, and an erase behind the last page of a block.
    let each = nand.read + nand.channel.time_for(drive.spec().geometry.page) + Nanos::from_micros(15);
    let one = each.times(2 * 13) + nand.program + nand.erase;
    assert!(took < alone + one, "{took} behind a rest, {alone} without patrol, {one} for a patrol read and its move");
    // It goes on from there.
    let before = drive.counters();
    let (_, after) = reads(&mut drive, 3_000, Nanos::from_millis(1));
    assert!((after - before).patrol_reads > 16_000, "{:?}", after - before);
}

#[test]
fn a_mistake_in_it_says_what_would_be_right() {
    for (fields, words) in [
        ("", "either the time from one patrol read"),
        ("every = \"1 ms\"\nover = \"10 h\"", "either the time from one patrol read"),
        ("every = \"100 ns\"", "three quarters of the dies' time"),
        ("over = \"1 ms\"", "three quarters of the dies' time"),
        ("often = \"1 ms\"", "unknown field `often`"),
    ] {
        let text = format!("{}{}", Preset::find(SMALL).unwrap().text, patrol(fields));
        let said = Preset::parse(&text).unwrap_err().to_string();
        assert!(said.contains(words), "{fields}: {said}");
    }
}
