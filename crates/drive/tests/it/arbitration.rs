//! How reads and writes share the processors of a flash drive: by count, by the clock and by property.

use assay_drive::Drive;
use assay_drive::flash::FlashDrive;
use assay_drive::preset::Preset;
use block::{Bytes, Lba, Nanos, Op, Request, Tag};
use testkit::Random;

use crate::support;

const SMALL: &str = "x25-m?capacity.user=256MiB&capacity.spare=50%&controller.jitter=0%&variation.reads=0%";

fn arbitration(fields: &str) -> String {
    format!("\n[arbitration]\nsource = \"test\"\n{fields}\n")
}

/// A filled drive with these changes and tables.
fn filled(changes: &str, tables: &str) -> FlashDrive {
    let text = Preset::find(&format!("{SMALL}{changes}")).unwrap_or_else(|error| panic!("{error}")).text;
    support::filled(&Preset::parse(&format!("{text}{tables}")).unwrap_or_else(|error| panic!("{error}")))
}

fn at(page: u64) -> Lba {
    Lba::new(page * 8)
}

/// Of 32 commands at once, a read and a write in turn, how many reads are among the first 16 that complete.
fn reads_among_the_first(tables: &str) -> usize {
    // Processors limit it: a millisecond a command.
    let mut drive = filled("&controller.command=1ms&controller.write=0us&page_write=0us", tables);
    let now = drive.now();
    for tag in 0..32 {
        let op = if tag % 2 == 0 { Op::Read } else { Op::Write };
        drive.submit(now, Tag(tag), Request::new(op, at(u64::from(tag) * 31), 8));
    }
    let first: Vec<u32> = (0..16).map(|_| drive.complete(Nanos::MAX).expect("it completes").tag.0).collect();
    first.iter().filter(|&tag| tag % 2 == 0).count()
}

#[test]
fn reads_and_writes_that_wait_are_taken_by_their_weights() {
    assert_eq!(reads_among_the_first(""), 8, "in order of arrival");
    assert_eq!(reads_among_the_first(&arbitration("")), 8, "in turn");
    assert_eq!(reads_among_the_first(&arbitration("read_weight = 3")), 12);
    assert_eq!(reads_among_the_first(&arbitration("write_weight = 7")), 2, "the first, and one after seven writes");
}

/// How long a read takes in the mean that comes while writes at random wait for the map, and how many writes a second.
fn beside_writes(tables: &str) -> (Nanos, f64) {
    let mut drive = filled("&map.cache=16KiB&nand.read=500us&nand.program=20us&nand.erase=20us", tables);
    let pages = drive.shape().capacity.get() / 4096;
    let mut random = Random::new(9);
    let writes: Vec<Request> = (0..pages / 4).map(|_| Request::new(Op::Write, at(random.below(pages)), 8)).collect();
    drive.write_untimed(writes);
    let began = drive.now();
    let (mut waited, mut written, mut submitted) = (Nanos::ZERO, 0, [Nanos::ZERO; 6]);
    // Five writes and a read are always in flight.
    let mut ask = |drive: &mut FlashDrive, tag: u32, submitted: &mut [Nanos; 6]| {
        let op = if tag == 5 { Op::Read } else { Op::Write };
        submitted[tag as usize] = drive.now();
        drive.submit(drive.now(), Tag(tag), Request::new(op, at(random.below(pages)), 8));
    };
    (0..6).for_each(|tag| ask(&mut drive, tag, &mut submitted));
    let mut reads = 0;
    while reads < 2_000 {
        let done = drive.complete(Nanos::MAX).expect("some are in flight");
        if done.tag.0 == 5 {
            waited += done.at - submitted[5];
            reads += 1;
        } else {
            written += 1;
        }
        ask(&mut drive, done.tag.0, &mut submitted);
    }
    (Nanos::from_nanos(waited.as_nanos() / reads), f64::from(written) / (drive.now() - began).as_secs_f64())
}

#[test]
fn a_write_that_waits_for_the_map_holds_up_reads_unless_the_firmware_does_not_block() {
    let (blocking, slow) = beside_writes("");
    let (in_turn, _) = beside_writes(&arbitration("read_weight = 8"));
    let (free, quick) = beside_writes(&arbitration("read_weight = 8\nnon_blocking = true"));
    assert!(in_turn < blocking, "{blocking} behind all writes, {in_turn} behind one");
    assert!(free.as_nanos() * 2 < blocking.as_nanos(), "{blocking} behind all writes, {free} where none blocks");
    // Three times as many writes keep dies busy then.
    assert!(free.as_nanos() < in_turn.as_nanos() * 11 / 10, "{in_turn} where a write blocks, {free} where it does not");
    assert!(quick > slow * 2.0, "{slow} writes a second, {quick} where they do not block");
}

/// Writes that take a core long leave the others to reads where they may have only some.
#[test]
fn a_read_finds_a_core_that_writes_do_not_have() {
    let read_takes = |changes: &str, tables: &str, writes: u32| {
        let mut drive = filled(&format!("&controller.cores=4&page_write=2ms{changes}"), tables);
        // The writes go to other dies than the read's.
        let now = drive.now();
        (0..writes).for_each(|tag| drive.submit(now, Tag(tag), Request::new(Op::Write, at(u64::from(tag)), 8)));
        drive.submit(now, Tag(99), Request::new(Op::Read, at(5_004), 8));
        loop {
            let done = drive.complete(Nanos::MAX).expect("some are in flight");
            if done.tag == Tag(99) {
                return done.at - now;
            }
        }
    };
    for tables in ["", &arbitration("")] {
        let alone = read_takes("", tables, 0);
        assert!(read_takes("", tables, 8) > Nanos::from_millis(2));
        assert_eq!(read_takes("&write_cores=3", tables, 8), alone);
        assert_eq!(read_takes("&write_cores=1", tables, 8), alone);
    }
}

/// Whatever comes: every request is completed once, in order of time, and a clone and a drive that was saved go the same way.
#[test]
fn every_request_is_completed_with_arbitration() {
    let any_request = |numbers: &mut Random, capacity: Bytes| {
        let op = [Op::Read, Op::Read, Op::Write, Op::Write, Op::Trim][numbers.place(5)];
        if numbers.below(50) == 0 {
            return Request::FLUSH;
        }
        let sectors = 1 + numbers.below(100);
        Request::new(op, Lba::new(numbers.below(capacity.sectors() - sectors)), sectors as u32)
    };
    for (seed, (changes, fields)) in [
        ("", "read_weight = 4"),
        ("&map.cache=16KiB", "non_blocking = true"),
        ("&map.cache=16KiB&controller.cores=3&write_cores=2&queue_depth=8", "write_weight = 2\nnon_blocking = true"),
        ("&read_ahead=128KiB&read_streams=3", "read_weight = 2\n\n[patrol]\nsource = \"test\"\nevery = \"1 ms\""),
    ]
    .into_iter()
    .enumerate()
    {
        let mut drive = filled(changes, &arbitration(fields));
        let pause = |numbers: &mut Random| Nanos::from_micros(numbers.below(2_000));
        let story =
            |drive: &mut FlashDrive, requests| support::story(drive, any_request, pause, seed as u64, requests, 40);
        let before = drive.counters();
        let (completed, counters) = story(&mut drive, 3_000);
        let requests = (counters - before).requests.iter().sum::<u64>();
        assert_eq!((completed.len(), requests), (3_000, 3_000), "{fields}");
        let (mut clone, saved) = (drive.clone(), postcard::to_allocvec(&drive).unwrap());
        let (told, mut read) = (story(&mut drive, 500), postcard::from_bytes(&saved).unwrap());
        assert_eq!((story(&mut clone, 500), story(&mut read, 500)), (told.clone(), told), "{fields}");
        let now = drive.now();
        (0..40).for_each(|tag| drive.submit(now, Tag(tag), Request::new(Op::Write, at(u64::from(tag) * 100), 8)));
        assert_eq!(drive.cut_power(now).unanswered, 40, "{fields}");
        assert_eq!(drive.next_event(), None);
        story(&mut drive, 500);
        drive.purge();
        story(&mut drive, 500);
    }
}

#[test]
fn a_mistake_in_it_says_what_would_be_right() {
    let said = |name: &str, tables: &str| {
        let text = Preset::find(name).map(|preset| preset.text);
        let parsed = text.and_then(|text| Preset::parse(&format!("{text}{tables}")));
        parsed.err().map_or(String::new(), |error| error.to_string())
    };
    for (name, fields, words) in [
        ("x25-m", "read_weight = 0", "1 to 256 commands"),
        ("x25-m", "write_weight = 257", "1 to 256 commands"),
        ("970-pro", "non_blocking = true", "leave non_blocking out"),
        ("x25-m", "urgent_weight = 2", "unknown field `urgent_weight`"),
    ] {
        let said = said(name, &arbitration(fields));
        assert!(said.contains(words), "{fields}: {said}");
    }
    for cores in [0, 2] {
        assert!(said(&format!("x25-m?write_cores={cores}"), "").contains("1 to all of the cores"), "{cores}");
    }
}
