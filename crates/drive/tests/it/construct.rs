//! A drive that was brought into a state without time is the drive that was written.

use assay_drive::flash::FlashDrive;
use assay_drive::preset::{Preset, Spec};
use assay_drive::{Counters, Device, Drive};
use block::{Bytes, Lba, Nanos, Op, Request, SECTOR, Tag};
use testkit::Random;

use crate::support;

/// The flash drives of today and before, with less of everything that tells their kinds.
const KINDS: [&str; 13] = [
    "x25-m?cache=4KiB",
    "x25-m?cache=4KiB&lookup=8KiB&hmb=16KiB&flush_journal=true",
    "x25-m?gc.policy=fifo",
    "x25-m?gc.policy=cost-benefit&gc.at_once=2&map.cache=4KiB",
    "x25-e-32?gc.policy=choices&gc.choices=4",
    "vertex3-240?queue_depth=8",
    "ssd-320?gc.policy=greedy&gc.start=4",
    "p4500-1tb?factory_bad=3%",
    "p4500-1tb?gc.policy=superblocks&factory_bad=3%",
    "990-pro?slc.fixed=2MB&slc.dynamic=8MB",
    "870-qvo?slc.fixed=1MB&slc.dynamic=5MB&planes=2&multi_plane=true&geometry.program=16KiB",
    "sata-tlc?slc.fixed=2MB&slc.dynamic=4MB&factory_bad=2%",
    "990-pro?slc.fixed=1MB&slc.dynamic=3MB&thermal.ambient=25 C&thermal.resistance=30 K/W&thermal.heat_capacity=2 J/K&\
     thermal.warm=60 C&thermal.warm_pace=200%&thermal.hot=75 C&thermal.hot_pace=400%&thermal.hysteresis=2 C",
];

/// What is drawn, or depends on how much was written, while a drive works, by the line of its file, and the change that does
/// without: a drive that is written without time draws nothing.
const DRAWN: [(&str, &str); 5] = [
    ("[variation]", "&dies=0%&blocks=0%&word_lines=0%&programs=0%&erases=0%&variation.reads=0%"),
    ("[errors]", "&noise=0%"),
    ("[suspend]", "&exponential=false"),
    ("[journal]", "&journal.length=0s"),
    ("jitter =", "&jitter=0%"),
];

/// A small drive of a kind, of any size and shape; none where no such drive can be made.
fn small(kind: &str, numbers: &mut Random) -> Option<FlashDrive> {
    let sectors = 80_000 + numbers.below(160_000);
    let channels = 1 + numbers.below(4);
    let block = [64, 128, 192, 256][numbers.place(4)];
    let spare = 25 + numbers.below(40);
    let user = sectors * 512;
    let text = Preset::find(kind).ok()?.text;
    let exact: String = DRAWN.iter().filter(|(line, _)| text.contains(line)).map(|(_, change)| *change).collect();
    let changes = format!(
        "{kind}&capacity.user={user}B&capacity.spare={spare}%&channels={channels}&dies_per_channel=2&pages_per_block={block}{exact}"
    );
    match Preset::find(&changes).ok()?.spec {
        Spec::Flash(spec) => Some(FlashDrive::new(spec)),
        _ => None,
    }
}

/// Small drives of every kind, several of each, with numbers that belong to each.
fn drives() -> Vec<(String, FlashDrive, Random)> {
    let mut all = Vec::new();
    for kind in KINDS {
        let before = all.len();
        for seed in 0..12 {
            let mut numbers = Random::new(seed);
            let found = small(kind, &mut numbers).filter(|_| all.len() < before + 3);
            all.extend(found.map(|drive| (format!("{kind}, seed = {seed}"), drive, numbers)));
        }
        assert!(
            all.len() >= before + 2,
            "{kind}: {} of twelve can be made: {:?}",
            all.len() - before,
            Preset::find(kind).err()
        );
    }
    all
}

/// Writes as a host does that keeps four requests in flight, and has all of it in flash at the end.
fn write(drive: &mut FlashDrive, requests: impl IntoIterator<Item = Request>) {
    ask(drive, Nanos::ZERO, Request::FLUSH);
    keep_four(drive, requests);
    ask(drive, Nanos::ZERO, Request::FLUSH);
}

fn keep_four(drive: &mut impl Drive, requests: impl IntoIterator<Item = Request>) {
    let mut in_flight = 0;
    for request in requests {
        drive.submit(drive.now(), Tag(0), request);
        in_flight += 1;
        if in_flight == 4 {
            drive.complete(Nanos::MAX).expect("four are in flight");
            in_flight -= 1;
        }
    }
    while drive.complete(Nanos::MAX).is_some() {}
}

fn ask(drive: &mut impl Drive, pause: Nanos, request: Request) {
    drive.submit(drive.now() + pause, Tag(0), request);
    drive.complete(Nanos::MAX).expect("it was asked");
}

fn in_order(first: u64, end: u64, sectors: u64) -> impl Iterator<Item = Request> {
    let part = move |at: u64| Request::new(Op::Write, Lba::new(at), sectors.min(end - at) as u32);
    (first..end).step_by(sectors as usize).map(part)
}

/// What does not depend on when it was done.
fn timeless(counters: Counters) -> Counters {
    let [reads, writes, trims, _] = counters.requests;
    Counters { requests: [reads, writes, trims, 0], energy_nj: 0, throttled: Nanos::ZERO, ..counters }
}

fn any_request(numbers: &mut Random, capacity: Bytes) -> Request {
    let op = match numbers.below(100) {
        0..30 => Op::Read,
        30..90 => Op::Write,
        90..99 => Op::Trim,
        _ => return Request::FLUSH,
    };
    let sectors = 1 + numbers.below(200);
    Request::new(op, Lba::new(numbers.below(capacity.sectors() - sectors)), sectors as u32)
}

/// What a host sees of a drive that has rested: when each of many requests is done, and what the drive did for them.
fn afterwards(drive: &mut FlashDrive, seed: u64) -> (Vec<(Nanos, Tag)>, Counters, u64) {
    ask(drive, Nanos::from_secs(3600), Request::FLUSH);
    let (began, before) = (drive.now(), drive.counters());
    let (completed, after) = support::story(drive, any_request, |_| Nanos::ZERO, seed, 2_500, 8);
    let completed = completed.into_iter().map(|(at, tag)| (at - began, tag)).collect();
    (completed, after - before, drive.digest())
}

/// Checks that both drives are the same to a host, now and afterwards.
fn assert_same(made: &mut FlashDrive, written: &mut FlashDrive, told: &str) {
    assert_eq!(made.digest(), written.digest(), "{told}: the digest");
    assert_eq!(timeless(made.counters()), timeless(written.counters()), "{told}: the counters");
    assert_eq!(made.health().wear, written.health().wear, "{told}: the wear");
    let (mine, theirs) = (afterwards(made, 5), afterwards(written, 5));
    assert!(mine.1.energy_nj.abs_diff(theirs.1.energy_nj) <= 1, "{told}: energy, but for rounding");
    assert_eq!(timeless(mine.1), timeless(theirs.1), "{told}: what the drive did afterwards");
    let first = mine.0.iter().zip(&theirs.0).position(|(mine, theirs)| mine != theirs);
    assert_eq!(first, None, "{told}: the first completion that differs");
    assert_eq!((mine.0.len(), mine.2), (theirs.0.len(), theirs.2), "{told}: the digest afterwards");
}

#[test]
fn a_drive_that_is_filled_directly_is_the_drive_that_was_written_in_order() {
    for (told, mut made, mut numbers) in drives() {
        let (mut written, sectors) = (made.clone(), made.shape().capacity.sectors());
        let block = [5, 8, 12, 24, 256, 2048][numbers.place(6)];
        assert!(made.can_write_untimed(Lba::new(0), Lba::new(sectors)), "{told}");
        made.fill_untimed(Lba::new(0), Lba::new(sectors), Bytes::new(block * 512), 100);
        write(&mut written, in_order(0, sectors, block));
        assert_same(&mut made, &mut written, &told);
    }
}

#[test]
fn a_part_can_be_filled_and_another_after_it_and_what_is_filled_again() {
    for (told, mut made, mut numbers) in drives() {
        let (mut written, sectors) = (made.clone(), made.shape().capacity.sectors());
        for (round, entropy) in [(1, 100), (2, 30), (3, 100)] {
            let first = numbers.below(sectors / 2) / 64 * 64;
            let end = (first + 64 + numbers.below(sectors - first - 64) / 64 * 64).min(sectors);
            let block = 64 * (1 + numbers.below(20));
            made.fill_untimed(Lba::new(first), Lba::new(end), Bytes::new(block * 512), entropy);
            write(&mut written, in_order(first, end, block).map(|request| Request { entropy, ..request }));
            assert_eq!(made.digest(), written.digest(), "{told}: round {round}, {first} to {end} by {block}");
        }
        assert_same(&mut made, &mut written, &told);
    }
}

#[test]
fn writes_at_random_without_time_leave_what_they_leave_in_time() {
    for (told, mut made, mut numbers) in drives() {
        let (mut written, sectors) = (made.clone(), made.shape().capacity.sectors());
        let any = |_| Request::new(Op::Write, Lba::new(numbers.below(sectors / 64) * 64), 64);
        let requests: Vec<Request> = (0..sectors / 64 * 3).map(any).collect();
        made.write_untimed(requests.iter().copied());
        write(&mut written, requests);
        assert_same(&mut made, &mut written, &told);
    }
}

#[test]
fn a_drive_that_was_purged_or_trimmed_empty_lies_in_order_again() {
    for (told, mut made, _) in drives() {
        let (mut written, sectors) = (made.clone(), made.shape().capacity.sectors());
        let whole = sectors / 64 * 64;
        for purges in [true, false] {
            made.fill_untimed(Lba::new(0), Lba::new(whole), Bytes::from_kib(256), 100);
            write(&mut written, in_order(0, whole, 512));
            for drive in [&mut made, &mut written] {
                match purges {
                    true => drive.purge(),
                    false => ask(drive, Nanos::ZERO, Request::new(Op::Trim, Lba::new(0), sectors as u32)),
                }
            }
        }
        made.fill_untimed(Lba::new(64), Lba::new(whole), Bytes::from_kib(128), 100);
        write(&mut written, in_order(64, whole, 256));
        assert_same(&mut made, &mut written, &told);
    }
}

#[test]
fn a_clone_of_a_filled_drive_is_another_drive() {
    for (told, mut made, mut numbers) in drives().into_iter().step_by(3) {
        let sectors = made.shape().capacity.sectors();
        made.fill_untimed(Lba::new(0), Lba::new(sectors), Bytes::from_mib(1), 100);
        let mut used = made.clone();
        let seed = numbers.below(100);
        let told_first = afterwards(&mut used, seed);
        used.clone_from(&made);
        assert_eq!(afterwards(&mut used, seed), told_first, "{told}");
        let saved = postcard::to_allocvec(&made).unwrap();
        let mut read: FlashDrive = postcard::from_bytes(&saved).unwrap();
        assert_eq!(afterwards(&mut read, seed), told_first, "{told}: written and read");
        assert_eq!(afterwards(&mut made, seed), told_first, "{told}");
    }
}

#[test]
fn what_is_not_of_whole_pages_is_not_written_without_time() {
    let mut numbers = Random::new(1);
    let mut drive = small(KINDS[0], &mut numbers).unwrap();
    let sectors = drive.shape().capacity.sectors();
    let can = |drive: &FlashDrive, first, end| drive.can_write_untimed(Lba::new(first), Lba::new(end));
    assert!(can(&drive, 0, 8) && can(&drive, 8, sectors));
    assert!(!can(&drive, 0, 7) && !can(&drive, 1, 8) && !can(&drive, 8, sectors + 1) && !can(&drive, 8, 8));
    drive.submit(drive.now(), Tag(0), Request::new(Op::Write, Lba::new(0), 8));
    assert!(!can(&drive, 0, 8), "something is in flight");
}

/// What a host sees of a drive and what the drive does in a state: of random writes the IOPS and the amplification, of reads in
/// order the bytes a second.
fn level(drive: &FlashDrive, block: u64, writes: u64, seed: u64) -> [f64; 3] {
    let (mut numbers, sectors) = (Random::new(seed), drive.shape().capacity.sectors());
    let timed = |requests: Vec<Request>| {
        let mut drive = drive.clone();
        // Its buffer is empty then, however it was filled.
        ask(&mut drive, Nanos::from_secs(60), Request::FLUSH);
        let (began, before) = (drive.now(), drive.counters());
        let count = requests.len() as f64;
        keep_four(&mut drive, requests);
        (count / (drive.now() - began).as_secs_f64(), (drive.counters() - before).write_amplification())
    };
    let any = |_| Request::new(Op::Write, Lba::new(numbers.below(sectors / block) * block), block as u32);
    let (iops, amplification) = timed((0..writes).map(any).collect());
    let reads = in_order(0, sectors, 128).map(|request| Request { op: Op::Read, ..request });
    [iops, amplification.unwrap(), timed(reads.collect()).0]
}

/// Checks that the mean figures of states made without time by so many writes of so many sectors are those of states that were
/// written, within 2 % and what chance adds to a mean over so many of each. They are measured by so many writes more.
fn compare(told: &str, drive: &FlashDrive, block: u64, writes: u64, measured: u64) {
    const SEEDS: u64 = 8;
    let told = format!("{told} after {writes} writes of {block} sectors");
    let blocks = drive.shape().capacity.sectors() / block;
    let levels = |seed: u64| {
        let (mut made, mut written, mut numbers) = (drive.clone(), drive.clone(), Random::new(seed));
        made.write_at_random(writes, SECTOR.times(block), block::Seed::new(seed));
        let any = |_| Request::new(Op::Write, Lba::new(numbers.below(blocks) * block), block as u32);
        let requests: Vec<Request> = (0..writes).map(any).collect();
        write(&mut written, requests);
        [level(&made, block, measured, 100 + seed), level(&written, block, measured, 200 + seed)]
    };
    let all: Vec<[[f64; 3]; 2]> = (0..SEEDS).map(levels).collect();
    for (index, name) in ["IOPS", "amplification", "reads in order"].into_iter().enumerate() {
        let [made, written] = [0, 1].map(|which| {
            let figures: Vec<f64> = all.iter().map(|both| both[which][index]).collect();
            let mean = figures.iter().sum::<f64>() / SEEDS as f64;
            let square = figures.iter().map(|figure| (figure - mean).powi(2)).sum::<f64>() / (SEEDS - 1) as f64;
            (mean, square / SEEDS as f64)
        });
        let off = (made.0 / written.0 - 1.0).abs();
        let chance = (made.1 + written.1).sqrt() / written.0;
        assert!(off < 0.02 + 3.0 * chance, "{told}: {name} {:.3} made, {:.3} written", made.0, written.0);
        assert!(chance < 0.02, "{told}: {name} scatters by {chance:.3}");
    }
}

/// Over policies, one-bit caches, compression, a map in flash and blocks that are bad: after all of the capacity, and three
/// times that.
#[test]
fn random_writes_without_names_leave_the_level_of_those_with() {
    let mut compared = 0;
    for (kind, spare) in KINDS.into_iter().zip([28, 40].into_iter().cycle()) {
        // Rows of so few blocks scatter by more than is compared; those of larger dies are below.
        if kind.contains("superblocks") {
            continue;
        }
        let kind = kind.split_once("&thermal").map_or(kind, |(kind, _)| kind);
        let changes =
            format!("capacity.user=48MiB&channels=2&dies_per_channel=2&pages_per_block=64&capacity.spare={spare}%");
        let Ok(preset) = Preset::find(&format!("{kind}&{changes}")) else { continue };
        let Spec::Flash(spec) = preset.spec else { panic!("{kind} is flash") };
        let mut drive = FlashDrive::new(spec);
        drive.fill_untimed(Lba::new(0), Lba::new(spec.capacity.sectors()), Bytes::from_mib(1), 100);
        // What keeps pages at their compressed size is written one by one.
        if spec.compression.is_some() {
            assert!(!drive.can_write_at_random(spec.geometry.page), "{kind}");
            continue;
        }
        let (page, pages) = (spec.geometry.page.sectors(), spec.capacity.div(spec.geometry.page));
        for times in [1, 3] {
            compare(&format!("{kind} with {spare} %"), &drive, page, times * pages, 2 * pages);
        }
        compared += 1;
    }
    assert!(compared >= 9, "only {compared} kinds can be made so small");
}

/// So do those of dies with many pages, of which many become invalid at once.
#[test]
fn random_writes_to_large_dies_leave_the_level_of_those_with_names() {
    for (kind, spare) in [
        ("990-pro?slc.fixed=8MB&slc.dynamic=16MB", 28),
        ("ssd-320?gc.policy=cost-benefit", 40),
        ("ssd-320?gc.policy=superblocks", 40),
    ] {
        let changes = format!(
            "capacity.user=448MiB&channels=1&dies_per_channel=2&planes=1&pages_per_block=512&capacity.spare={spare}%"
        );
        let Spec::Flash(spec) = Preset::find(&format!("{kind}&{changes}")).unwrap().spec else { panic!("{kind}") };
        let mut drive = FlashDrive::new(spec);
        drive.fill_untimed(Lba::new(0), Lba::new(spec.capacity.sectors()), Bytes::from_mib(1), 100);
        let (page, pages) = (spec.geometry.page.sectors(), spec.capacity.div(spec.geometry.page));
        compare(&format!("{kind} with {spare} %"), &drive, page, 2 * pages, 2 * pages);
    }
}

/// So do those to a purged drive, and to one of which a part was written in order: few of its pages, most and nearly all.
#[test]
fn random_writes_to_a_drive_that_is_not_full_leave_the_level_of_those_with_names() {
    let small = "capacity.user=48MiB&channels=2&dies_per_channel=2&pages_per_block=64&capacity.spare=28%";
    let large = "capacity.user=448MiB&channels=1&dies_per_channel=2&planes=1&pages_per_block=512&capacity.spare=28%";
    for (kind, percent) in [
        (format!("x25-m?{small}"), 0),
        (format!("x25-m?map.cache=4KiB&{small}"), 30),
        (format!("990-pro?slc.fixed=2MB&slc.dynamic=4MB&{small}"), 95),
        (format!("990-pro?slc.fixed=8MB&slc.dynamic=16MB&{large}"), 0),
    ] {
        let Spec::Flash(spec) = Preset::find(&kind).unwrap().spec else { panic!("{kind}") };
        let mut drive = FlashDrive::new(spec);
        let (page, pages) = (spec.geometry.page.sectors(), spec.capacity.div(spec.geometry.page));
        drive.fill_untimed(Lba::new(0), Lba::new(pages * percent / 100 * page), Bytes::from_mib(1), 100);
        for quarters in [1, 4, 12] {
            compare(&kind, &drive, page, quarters * pages / 4, pages / 2);
        }
    }
}

/// And those of less than a page, for which the rest of it is read.
#[test]
fn random_writes_of_parts_of_pages_leave_the_level_of_those_with_names() {
    for (kind, block, is_full) in [
        ("p5316-15360?capacity.user=1GiB&channels=2&dies_per_channel=2&pages_per_block=64&capacity.spare=28%", 8, true),
        (
            "p5316-15360?capacity.user=1GiB&channels=2&dies_per_channel=2&pages_per_block=64&capacity.spare=28%",
            32,
            false,
        ),
        ("x25-m?capacity.user=48MiB&channels=2&dies_per_channel=2&pages_per_block=64&capacity.spare=28%", 2, true),
        (
            "990-pro?slc.fixed=2MB&slc.dynamic=4MB&capacity.user=48MiB&channels=2&dies_per_channel=2&pages_per_block=64&capacity.spare=28%",
            2,
            false,
        ),
    ] {
        let Spec::Flash(spec) = Preset::find(kind).unwrap_or_else(|error| panic!("{error}")).spec else {
            panic!("{kind}")
        };
        let mut drive = FlashDrive::new(spec);
        let pages = spec.capacity.div(spec.geometry.page);
        if is_full {
            drive.fill_untimed(Lba::new(0), Lba::new(spec.capacity.sectors()), Bytes::from_mib(1), 100);
        }
        for halves in [1, 4] {
            compare(kind, &drive, block, halves * pages / 2, pages);
        }
    }
}

#[test]
fn the_drive_of_a_host_is_written_without_time_too() {
    let preset = Preset::find(
        "990-pro?drive.capacity.user=96MiB&drive.capacity.spare=40%&drive.channels=2&drive.dies_per_channel=2&drive.pages_per_block=96&host=nvme-host",
    );
    let mut device = preset.unwrap_or_else(|error| panic!("{error}")).build_in_host();
    let (end, page) = (Lba::at(device.shape().capacity), Bytes::from_kib(4));
    device.fill(Lba::new(0), end, Bytes::from_mib(1), 100);
    let before = device.counters();
    assert!(device.can_write_at_random(page) && device.can_write_untimed(Lba::new(0), Lba::new(8)));
    device.write_at_random(50_000, page, block::Seed::new(1));
    let did = device.counters() - before;
    assert_eq!((did.requests[1], did.host_written), (50_000, page.times(50_000)));
    assert!(did.write_amplification().unwrap() >= 1.0 && did.blocks_erased > 0);
    device.write_untimed([Request::new(Op::Write, Lba::new(8), 8)]);
    assert_eq!((device.counters() - before).requests[1], 50_001);
}

/// Striped, mirrored, both and neither, over drives that fill each stripe in one go.
#[test]
fn drives_of_a_rig_are_filled_as_by_its_host() {
    let rig = |level: &str, drives: u32, stripe: &str| {
        let of = "drive.capacity.user=64MiB&drive.spare=60%&drive.channels=2";
        format!("toms-x25e-1?rig.array.level={level}&rig.array.drives={drives}&rig.array.stripe={stripe}&{of}")
    };
    for (level, drives, stripe) in [
        ("raid0", 4, "64KiB"),
        ("raid0", 3, "64KiB"),
        ("raid1", 2, "64KiB"),
        ("raid10", 4, "64KiB"),
        ("none", 1, "64KiB"),
        ("raid0", 2, "2KiB"),
        ("raid0", 2, "6KiB"),
    ] {
        let preset = Preset::find(&rig(level, drives, stripe)).unwrap_or_else(|error| panic!("{level}: {error}"));
        let (mut made, mut written) = (preset.build(), preset.build());
        let end = made.shape().capacity.sectors();
        assert!(preset.fills_untimed() && made.can_fill(Lba::new(0), Lba::new(end)), "{level}");
        made.fill(Lba::new(0), Lba::new(end), Bytes::from_kib(512), 100);
        keep_four(&mut written, in_order(0, end, 1024));
        ask(&mut written, Nanos::ZERO, Request::FLUSH);
        let asked = |device: &Device| (device.counters().requests[1], device.counters().host_written);
        assert_eq!(asked(&made), asked(&written), "{level}");
        let (Device::Rig(made), Device::Rig(written)) = (&made, &written) else { panic!("{level} is a rig") };
        for (made, written) in made.drives().iter().zip(written.drives()) {
            let (Device::Flash(made), Device::Flash(written)) = (made, written) else { panic!("of flash") };
            assert_eq!(made.digest(), written.digest(), "{level} of {drives}");
            assert_eq!(made.counters().pages_programmed, written.counters().pages_programmed, "{level} of {drives}");
        }
    }
    let parity = Preset::find(&rig("raid5", 4, "64KiB")).unwrap();
    assert!(!parity.fills_untimed(), "as it is told before it is built");
    let parity = parity.build();
    let end = Lba::at(parity.shape().capacity);
    assert!(!parity.can_fill(Lba::new(0), end), "parity is written more than once");
    assert!(
        !Preset::find("solid-data-dram").unwrap().build().can_fill(Lba::new(0), Lba::new(8)),
        "there is nothing to it"
    );
}
