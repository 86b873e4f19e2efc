//! What varies, errs and is suspended in a whole flash drive: by count, by the clock and by property.

use assay_drive::flash::FlashDrive;
use assay_drive::preset::{Preset, Spec};
use assay_drive::{Counters, Drive, Specimen};
use block::{Bytes, Lba, Nanos, Op, Request, Tag};
use testkit::Random;

use crate::support;

const VARIATION: &str = r#"
[variation]
source = "test"
dies = "2%"
blocks = "3%"
word_lines = "5%"
programs = "2%"
erases = "10%"
reads = "4%"
"#;

const SUSPEND: &str = r#"
[suspend]
source = "test"
program_step = "100 us"
erase_step = "500 us"
latency = "10 us"
resume = "10 us"
limit = 8
"#;

const ERRORS: &str = r#"
[errors]
source = "test"
fresh = "0.05%"
correctable = "0.5%"
worn = "500%"
retained = "3000%"
retained_for = "1000 h"
disturbed = "200%"
by_page = ["70%", "100%", "130%"]
spread = "60%"
noise = "10%"
steps = 10
gain = "150%"
step = "15 us"
soft = "600 us"
soft_gain = "200%"
refresh = 1
"#;

const CHECKPOINT: &str = r#"
[checkpoint]
source = "test"
written = "4 MiB"
length = "3 ms"
length_deviation = "20%"
"#;

/// A TLC drive of 2 GB with these tables beside.
fn preset(tables: &[&str]) -> Preset {
    let whole = Preset::find("p4500-1tb").unwrap().text;
    let own =
        |part: &&str| !["variation]", "suspend]", "errors]", "journal]"].iter().any(|table| part.starts_with(table));
    let plain = whole.split("\n[").filter(own).collect::<Vec<_>>().join("\n[");
    let with = |text: String, from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    };
    let text =
        with(plain, "read_by_page = [\"86%\", \"128%\", \"86%\"]", "read_by_page = [\"75%\", \"95%\", \"130%\"]");
    let text = with(text, "jitter = \"10%\"\n", "");
    let text = with(text, "serves_reads = true\n", "");
    Preset::parse(&format!("{text}{}", tables.concat()))
        .unwrap()
        .changed(
            "geometry.channels=2&geometry.dies_per_channel=2&geometry.program=48KiB&geometry.sense=16KiB&\
         geometry.pages_per_block=384&capacity.user=2GiB&capacity.spare=25%",
        )
        .unwrap()
}

fn drive_of(tables: &[&str], specimen: u32) -> FlashDrive {
    let preset = preset(tables);
    let Spec::Flash(spec) = preset.spec else { panic!("it is flash") };
    FlashDrive::of(spec, Specimen::new("test", specimen))
}

fn drive(tables: &[&str]) -> FlashDrive {
    drive_of(tables, 1)
}

/// Does one request at `now` and waits for it; how long it takes.
fn wait(drive: &mut FlashDrive, now: Nanos, request: Request) -> Nanos {
    drive.submit(now, Tag(0), request);
    drive.complete(Nanos::MAX).expect("it completes").at - now
}

fn sectors(page: u64) -> Lba {
    Lba::new(page * 8)
}

/// Fills the drive in order; when that is over and it has come to rest.
fn fill(drive: &mut FlashDrive) -> Nanos {
    let mut now = drive.now();
    for page in (0..drive.shape().capacity.get() / 4096).step_by(16) {
        now += wait(drive, now, Request::new(Op::Write, sectors(page), 128));
    }
    now + Nanos::from_secs(1)
}

/// How long single reads at random take from `now` on, each after a rest, ascending.
fn lone_reads(drive: &mut FlashDrive, mut now: Nanos, count: usize) -> Vec<Nanos> {
    let mut random = Random::new(4);
    let pages = drive.shape().capacity.get() / 4096;
    let mut times: Vec<Nanos> = (0..count)
        .map(|_| {
            now = drive.now().max(now) + Nanos::from_millis(2);
            wait(drive, now, Request::new(Op::Read, sectors(random.below(pages)), 8))
        })
        .collect();
    times.sort_unstable();
    times
}

#[test]
fn lone_reads_take_a_time_for_each_page_type_and_with_variation_no_two_take_the_same() {
    let mut plain = drive(&[]);
    let now = fill(&mut plain);
    let mut times = lone_reads(&mut plain, now, 3_000);
    let (shortest, longest) = (times[0], times[2_999]);
    times.dedup();
    assert_eq!(times.len(), 3, "lower, middle, upper: {times:?}");
    assert!(longest > shortest);
    let mut varied = drive(&[VARIATION]);
    let now = fill(&mut varied);
    let mut times = lone_reads(&mut varied, now, 3_000);
    let (median, last) = (times[1_500], times[2_999]);
    times.dedup();
    assert!(times.len() > 2_500, "{} times", times.len());
    assert!(last.as_nanos() * 10 > median.as_nanos() * 12, "{median} in the median, {last} at most");
}

#[test]
fn the_same_specimen_tells_the_same_story_and_another_one_another() {
    let told = |specimen| {
        let mut drive = drive_of(&[VARIATION, SUSPEND, ERRORS, CHECKPOINT], specimen);
        let told = story(&mut drive, 6, 4_000, 16);
        (told, drive.digest())
    };
    let first = told(1);
    assert_eq!(first, told(1));
    let second = told(2);
    assert_eq!(first.1, second.1, "what is written where is not a matter of the specimen");
    assert_ne!(first.0.0, second.0.0);
}

fn any_request(numbers: &mut Random, capacity: Bytes) -> Request {
    let op = match numbers.below(100) {
        0..45 => Op::Read,
        45..95 => Op::Write,
        95..98 => Op::Trim,
        _ => return Request::FLUSH,
    };
    let sectors = 1 + numbers.below(200);
    Request::new(op, Lba::new(numbers.below(capacity.sectors() - sectors)), sectors as u32)
}

fn story(drive: &mut FlashDrive, seed: u64, requests: u32, depth: u32) -> (Vec<(Nanos, Tag)>, Counters) {
    support::story(drive, any_request, |_| Nanos::ZERO, seed, requests, depth)
}

/// Whatever is on: every request is completed once, in order of time, and a clone goes the same way.
#[test]
fn every_request_is_completed_with_any_of_the_mechanisms() {
    for tables in 0..16_u32 {
        let all = [VARIATION, SUSPEND, ERRORS, CHECKPOINT];
        let on: Vec<&str> = (0..4).filter(|table| tables >> table & 1 == 1).map(|table| all[table]).collect();
        let mut drive = drive(&on);
        let (completed, counters) = story(&mut drive, u64::from(tables), 3_000, 32);
        assert_eq!((completed.len(), counters.requests.iter().sum::<u64>()), (3_000, 3_000), "{on:?}");
        let mut clone = drive.clone();
        assert_eq!(story(&mut clone, 1, 500, 8), story(&mut drive, 1, 500, 8), "{on:?}");
    }
}

#[test]
fn reads_beside_writes_wait_for_a_step_and_not_for_a_program() {
    let longest = |tables: &[&str]| {
        let mut drive = drive(tables);
        let now = fill(&mut drive);
        let mut random = Random::new(8);
        let pages = drive.shape().capacity.get() / 4096;
        let mut times: Vec<Nanos> = (0..4_000)
            .map(|round| {
                let now = now + Nanos::from_millis(4).times(round);
                (0..24).for_each(|tag| {
                    drive.submit(now, Tag(tag), Request::new(Op::Write, sectors(random.below(pages)), 8));
                });
                let at = now + Nanos::from_micros(60 + random.below(400));
                while drive.complete(at).is_some() {}
                drive.submit(at, Tag(99), Request::new(Op::Read, sectors(random.below(pages)), 8));
                let mut took = Nanos::ZERO;
                while let Some(done) = drive.complete(Nanos::MAX) {
                    took = if done.tag == Tag(99) { done.at - at } else { took };
                }
                took
            })
            .collect();
        times.sort_unstable();
        times[3_960]
    };
    let (waiting, suspending) = (longest(&[]), longest(&[SUSPEND]));
    assert!(suspending < waiting, "99 % of reads: {suspending} with suspension, {waiting} without");
    assert!(suspending < Nanos::from_micros(420), "{suspending}: a step, the latency and other reads");
}

#[test]
fn old_data_takes_retries_until_it_has_been_moved() {
    let mut drive = drive(&[ERRORS]);
    let now = fill(&mut drive);
    let young = lone_reads(&mut drive, now, 2_000);
    let before = drive.counters();
    let later = now + Nanos::from_secs(3_600 * 2_000);
    let old = lone_reads(&mut drive, later, 2_000);
    let counted = drive.counters() - before;
    assert!(old[1_000] > young[1_000] + Nanos::from_micros(50), "{} when young, {} when old", young[1_000], old[1_000]);
    assert!(counted.read_retries > 2_000, "{}", counted.read_retries);
    assert!(counted.pages_moved > 0, "blocks that take many retries are moved");
    // Read until all of it has been moved: it is as young as it was.
    let mut now = later + Nanos::from_secs(60);
    for _ in 0..40 {
        lone_reads(&mut drive, now, 2_000);
        now = drive.now() + Nanos::from_secs(60);
    }
    let before = drive.counters();
    lone_reads(&mut drive, now, 2_000);
    let again = (drive.counters() - before).read_retries;
    assert!(again < counted.read_retries / 2, "{} retries, then {again}", counted.read_retries);
}

#[test]
fn data_laid_down_late_is_as_young_as_any() {
    let retries = |wait: u64| {
        let mut drive = drive(&[ERRORS]);
        let begin = Nanos::from_secs(3_600 * wait);
        drive.submit(begin, Tag(0), Request::new(Op::Read, Lba::new(0), 8));
        while drive.complete(Nanos::MAX).is_some() {}
        let capacity = drive.shape().capacity;
        drive.fill_untimed(Lba::new(0), Lba::at(capacity), Bytes::from_kib(128), 100);
        let before = drive.counters();
        let now = drive.now();
        lone_reads(&mut drive, now, 2_000);
        (drive.counters() - before).read_retries
    };
    let (early, late) = (retries(0), retries(2_000));
    assert!(late.abs_diff(early) < 100, "{early} retries at once, {late} where the drive lay empty for 2,000 h first");
}

#[test]
fn a_drive_worn_and_left_alone_has_pages_that_nothing_corrects() {
    let tables = ERRORS.replace("steps = 10", "steps = 2").replace("soft_gain = \"200%\"", "soft_gain = \"110%\"");
    let mut drive = drive(&[&tables]);
    let now = fill(&mut drive);
    lone_reads(&mut drive, now + Nanos::from_secs(3_600 * 1_000), 2_000);
    let counters = drive.counters();
    assert!(counters.uncorrectable > 0 && counters.uncorrectable <= counters.soft_decodes, "{counters:?}");
}

#[test]
fn every_so_much_data_one_write_waits_for_the_checkpoint_of_the_map() {
    let mut drive = drive(&[CHECKPOINT]);
    let mut waited = 0;
    for page in 0..8_192 {
        let now = Nanos::from_millis(20).times(page + 1);
        waited += u32::from(wait(&mut drive, now, Request::new(Op::Write, sectors(page), 8)) > Nanos::from_millis(1));
    }
    assert_eq!(waited, 8, "32 MiB in steps of 4");
}

#[test]
fn what_is_still_in_the_buffer_is_read_from_there() {
    let read_back = |serves: bool| {
        let preset = preset(&[]);
        let preset = preset.changed(&format!("buffer.serves_reads={serves}")).unwrap();
        let Spec::Flash(spec) = preset.spec else { panic!("it is flash") };
        let mut drive = FlashDrive::new(spec);
        let mut now = fill(&mut drive);
        let mut longest = Nanos::ZERO;
        for page in (0..3_000).map(|page| page * 37 % 100_000) {
            now += wait(&mut drive, now, Request::new(Op::Write, sectors(page), 8));
            let took = wait(&mut drive, now, Request::new(Op::Read, sectors(page), 8));
            longest = longest.max(took);
            now += Nanos::from_millis(3);
        }
        longest
    };
    let (flash, buffer) = (read_back(false), read_back(true));
    assert!(
        buffer < Nanos::from_micros(100) && flash > buffer.times(4),
        "{buffer} from the buffer, {flash} from flash"
    );
}

#[test]
fn a_mistake_in_a_table_says_what_would_be_right() {
    let good = preset(&[]).text;
    for (table, from, to, words) in [
        (VARIATION, "dies = \"2%\"", "dies = \"200%\"", "variation.dies"),
        (VARIATION, "dies", "dice", "unknown field `dice`"),
        (SUSPEND, "limit = 8", "", "missing field `limit`"),
        (ERRORS, "fresh = \"0.05%\"", "fresh = \"5%\"", "fewer errors than can be corrected"),
        (ERRORS, "gain = \"150%\"", "gain = \"90%\"", "100% (as many)"),
        (ERRORS, "\"130%\"]", "\"130%\", \"1%\"]", "as many as nand.read_by_page"),
        (CHECKPOINT, "written = \"4 MiB\"", "", "one of the two"),
        (CHECKPOINT, "written = \"4 MiB\"", "every = \"1 ms\"", "shorter than that time"),
    ] {
        assert!(table.contains(from), "{from}");
        let said = Preset::parse(&format!("{good}{}", table.replacen(from, to, 1))).unwrap_err().to_string();
        assert!(said.contains(words), "{to}: {said}");
    }
    for (from, to, words) in [
        ("[\"75%\", \"95%\", \"130%\"]", "[\"75%\", \"95%\"]", "whose mean is 100%"),
        ("sense = \"16KiB\"", "sense = \"20KiB\"", "whole number of such reads"),
    ] {
        assert!(good.contains(from), "{from} in {good}");
        let said = Preset::parse(&good.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(said.contains(words), "{to}: {said}");
    }
}
