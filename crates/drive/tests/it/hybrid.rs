//! What drives that map blocks promise: writes in order are quick, writes anywhere else cost a block's copy.

use assay_drive::preset::Preset;
use assay_drive::{Counters, Device, Drive};
use block::{Bytes, Lba, Nanos, Op, Request, Seed, Tag};
use testkit::Random;

use crate::modern::{in_order, near, run, scattered};

/// Without anything that is drawn.
const EXACT: &str = "jitter=0%&operations=0%&flash.channel=40 MB/s&flash.program=560us";

/// A small drive: blocks of 16 dies and eight pages, which are 512 KiB.
fn drive(changes: &str) -> Device {
    let name = format!("ocz-core-64?flash.capacity=64MiB&dies_per_channel=2&pages_per_block=8&{changes}");
    Preset::find(&name).unwrap_or_else(|error| panic!("{error}")).build()
}

const ALL: Bytes = Bytes::from_mib(64);

fn lone(drive: &mut Device, request: Request) -> Nanos {
    // What flash does after the last command is over by then.
    let began = drive.now() + Nanos::from_secs(1);
    drive.submit(began, Tag(0), request);
    drive.complete(Nanos::MAX).expect("it was submitted").at - began
}

fn write(page: u64, sectors: u32) -> Request {
    Request::new(Op::Write, Lba::new(page * 8), sectors)
}

fn done(drive: &Device, before: Counters) -> (u64, u64) {
    let done = drive.counters() - before;
    (done.pages_moved, done.blocks_erased / 16)
}

/// One page written in each of many blocks costs each of them whole: 128 pages and two erases.
#[test]
fn random_writes_cost_a_copy_of_their_block() {
    let mut drive = drive(&format!("{EXACT}&scheme=bast&log_blocks=4"));
    in_order(&mut drive, Op::Write, Bytes::ZERO, ALL);
    let before = drive.counters();
    assert_eq!((before.pages_moved, before.blocks_erased), (0, 0), "a fresh drive takes writes in order as they come");
    (0..100).for_each(|block| {
        lone(&mut drive, write(block * 128 + 5, 8));
    });
    assert_eq!(done(&drive, before), (96 * 128, 96 * 2));
    let before = drive.counters();
    in_order(&mut drive, Op::Write, Bytes::ZERO, ALL);
    let (moved, erased) = done(&drive, before);
    assert_eq!(moved, 4 * 128, "those that were in log blocks yet");
    assert!((120..=140).contains(&erased), "128 blocks were switched: {erased}");
}

/// A full merge reads and programs a page of each die at a time, and erases the log block and the old one.
#[test]
fn a_write_that_merges_waits_for_all_of_it() {
    let mut drive = drive(&format!("{EXACT}&scheme=bast&log_blocks=1"));
    in_order(&mut drive, Op::Write, Bytes::ZERO, ALL);
    let first = lone(&mut drive, write(5, 8));
    let transfer = Nanos::from_nanos(4096 * 1_000 / 40);
    let sent = Nanos::from_nanos(7_000 + 13_654 + 500);
    let alone = Nanos::from_micros(60 + 560) + transfer + sent;
    assert!(first.as_nanos().abs_diff(alone.as_nanos()) < 1_000, "{first}, not {alone}");
    let merging = lone(&mut drive, write(128 + 5, 8));
    // The two dies of a channel share it: it carries 16 pages out and 16 in, while programs overlap but for the last.
    let least = transfer.times(32) + Nanos::from_micros(60 + 560 + 2 * 1_500) + transfer + Nanos::from_micros(560);
    let most = (transfer.times(4) + Nanos::from_micros(60 + 560)).times(9) + Nanos::from_micros(3_000);
    assert!((least..most).contains(&merging), "{merging}, between {least} and {most}");
}

#[test]
fn a_part_of_a_page_is_written_after_the_rest_was_read_and_trims_change_nothing() {
    let mut drive = drive(&format!("{EXACT}&scheme=fast"));
    in_order(&mut drive, Op::Write, Bytes::ZERO, ALL);
    let before = drive.counters();
    lone(&mut drive, write(77, 1));
    lone(&mut drive, Request::new(Op::Trim, Lba::new(0), 4_096));
    lone(&mut drive, Request::new(Op::Read, Lba::new(0), 8));
    let done = drive.counters() - before;
    assert_eq!((done.pages_read, done.pages_programmed), (2, 1));
    let plain = lone(&mut drive, Request::new(Op::Write, Lba::new(8 * 99), 8));
    let durable = Request { durable: true, ..Request::new(Op::Write, Lba::new(8 * 101), 8) };
    assert_eq!(lone(&mut drive, durable), plain, "every write is in flash when it is answered");
    assert_eq!(lone(&mut drive, Request::FLUSH), Nanos::from_micros(60 + 7));
}

/// The whole drive, as its file has it, against what its maker promises, and what random writes come to.
#[test]
fn writes_in_order_are_as_rated_and_random_ones_are_a_thousandth_of_that() {
    let preset = Preset::find("ocz-core-64?flash.capacity=4GiB").unwrap();
    let (mut drive, span) = (preset.build(), Bytes::from_gib(1));
    // Promised are rates up to these, which the largest requests reach. The drive takes one command at a time.
    let mut in_order = |op| {
        let next = |index: u64| Request::new(op, Lba::new(index * 8192), 8192);
        run(&mut drive, 1, span.div(Bytes::from_mib(4)), next) / 1e6
    };
    near("ocz-core-64, writes in order, MB/s", in_order(Op::Write), 93.0, 0.02);
    near("ocz-core-64, reads in order, MB/s", in_order(Op::Read), 143.0, 0.02);
    let reads = scattered(&mut drive, Op::Read, span, 1, 1_000);
    scattered(&mut drive, Op::Write, span, 1, 50);
    let writes = scattered(&mut drive, Op::Write, span, 1, 200);
    println!("{reads:.0} random reads and {writes:.1} writes a second");
    assert!(reads > 2_000.0 && writes < 22.7, "{reads} reads and {writes} writes a second");
}

#[test]
fn one_seed_tells_one_story_and_another_specimen_another() {
    let story = |number: u32, seed: u64| {
        let name = format!("ocz-core-64#{number}?flash.capacity=64MiB&pages_per_block=8");
        let mut drive = Preset::find(&name).unwrap().build();
        drive.draw_from(Seed::new(seed));
        let mut random = Random::new(3);
        for _ in 0..500 {
            lone(&mut drive, write(random.below(16_000), 8));
        }
        let Device::Hybrid(hybrid) = &drive else { panic!("it maps blocks") };
        (drive.now(), drive.counters(), hybrid.digest(), hybrid.merges())
    };
    let first = story(1, 1);
    assert_eq!(first, story(1, 1));
    assert!(first.0 != story(1, 2).0 && first.0 != story(2, 1).0);
    assert_eq!(first.2, story(2, 1).2, "what is decided is not drawn");
}

#[test]
fn what_makes_no_drive_is_explained() {
    for (change, words) in [
        ("scheme=superblock", "unknown variant"),
        ("log_blocks=0", "1 to 4,096 log blocks"),
        ("page=3KiB", "1, 2, 4 … or 64 KiB"),
        ("channels=0", "each is 1 to 1,024"),
        ("flash.capacity=64TiB", "use larger pages"),
    ] {
        let said = Preset::find(&format!("ocz-core-64?{change}")).unwrap_err().to_string();
        assert!(said.contains(words), "{change}: {said}");
    }
}
