//! Drives that users have today, beside what their makers promise.
//!
//! Every figure that is expected here is in the `[rated]` table of the drive's file, with its source, or is named
//! beside the test.

use assay_drive::preset::{Preset, Rated, Spec};
use assay_drive::{Device, Drive};
use block::{Bytes, Lba, Nanos, Op, Request, Tag};

pub fn preset(name: &str) -> Preset {
    Preset::find(name).unwrap_or_else(|error| panic!("{error}"))
}

/// Keeps `depth` requests in flight until `count` are done; bytes a second.
pub fn run(drive: &mut Device, depth: u64, count: u64, mut next: impl FnMut(u64) -> Request) -> f64 {
    let (began, mut bytes) = (drive.now(), Bytes::ZERO);
    for index in 0..count + depth {
        if index >= depth {
            drive.complete(Nanos::MAX).expect("a request in flight");
        }
        if index < count {
            let request = next(index);
            bytes += request.bytes();
            drive.submit(drive.now(), Tag(index as u32), request);
        }
    }
    bytes.get() as f64 / drive.now().since(began).as_secs_f64()
}

/// Requests of 128 KiB one after the other from `from` on, of data that does not compress; MB/s.
pub fn in_order(drive: &mut Device, op: Op, from: Bytes, bytes: Bytes) -> f64 {
    in_order_of(drive, op, from, bytes, 100)
}

/// The same of data of which `entropy` percent are left when it is compressed.
pub fn in_order_of(drive: &mut Device, op: Op, from: Bytes, bytes: Bytes, entropy: u8) -> f64 {
    let size = Bytes::from_kib(128);
    let first = from.div(size);
    let next = |index: u64| Request { entropy, ..Request::new(op, Lba::at(size.times(first + index)), 256) };
    run(drive, 32, bytes.div(size), next) / 1e6
}

/// Requests of 4 KiB anywhere in the first `span`, of data that does not compress; requests a second.
pub fn scattered(drive: &mut Device, op: Op, span: Bytes, depth: u64, count: u64) -> f64 {
    scattered_of(drive, op, span, depth, count, 100)
}

/// The same of data of which `entropy` percent are left when it is compressed.
pub fn scattered_of(drive: &mut Device, op: Op, span: Bytes, depth: u64, count: u64, entropy: u8) -> f64 {
    let (pages, mut random) = (span.div(Bytes::from_kib(4)), testkit::Random::new(42));
    let next = |_| Request { entropy, ..Request::new(op, Lba::new(random.below(pages) * 8), 8) };
    run(drive, depth, count, next) / 4096.0
}

/// Asserts that `measured` is within `tolerance` of what is promised.
pub fn near(what: &str, measured: f64, promised: f64, tolerance: f64) {
    let off = measured / promised - 1.0;
    println!("{what}: {measured:.0}, rated {promised:.0}, {:+.1} %", off * 100.0);
    assert!(off.abs() <= tolerance, "{what}: {measured:.0}, rated {promised:.0}");
}

/// Lets the drive be for less than it takes to fall asleep, until nothing waits for flash any more.
pub fn settle(drive: &mut Device) {
    drive.submit(drive.now() + Nanos::from_millis(90), Tag(0), Request::FLUSH);
    drive.complete(Nanos::MAX).expect("a flush in flight");
}

/// The promises of a fresh drive. Every drive is asked within what its cache of one bit a cell holds.
#[test]
fn fresh_drives_keep_their_makers_promises() {
    //           name             depth
    let table = [
        ("sata-tlc", 32),
        ("860-pro-1tb", 32),
        ("870-qvo", 32),
        ("970-pro", 256),
        ("980-pro-1tb", 256),
        ("980-1tb", 256),
        ("990-pro", 256),
        ("pcie5", 256),
        ("optane-p4800x", 16),
    ];
    for (name, depth) in table {
        let Preset { rated, .. } = preset(name);
        let Rated { sequential_read, sequential_write, random_read_iops, random_write_iops, .. } = rated;
        let mut drive = preset(name).build();
        let half = Bytes::from_gib(1);
        let rate = in_order(&mut drive, Op::Write, Bytes::ZERO, half);
        near(&format!("{name}, writes in order, MB/s"), rate, sequential_write.unwrap().get() as f64 / 1e6, 0.15);
        settle(&mut drive);
        let rate = in_order(&mut drive, Op::Read, Bytes::ZERO, half);
        near(&format!("{name}, reads in order, MB/s"), rate, sequential_read.unwrap().get() as f64 / 1e6, 0.15);
        let iops = scattered(&mut drive, Op::Read, half, depth, 150_000);
        // Rated up to 1,000,000; its file holds it to 780,809 with 256 in flight (published/qos.toml, a fit point).
        let reads = if name == "980-pro-1tb" { 780_809 } else { random_read_iops.unwrap() };
        near(&format!("{name}, random reads a second"), iops, reads as f64, 0.15);
        let iops = scattered(&mut drive, Op::Write, half, depth, 150_000);
        near(&format!("{name}, random writes a second"), iops, random_write_iops.unwrap() as f64, 0.15);
    }
}

/// The time of a lone request of 4 KiB somewhere that was written, in microseconds.
fn lone(drive: &mut Device, op: Op) -> f64 {
    settle(drive);
    1e6 / scattered(drive, op, Bytes::from_mib(64), 1, 500)
}

#[test]
fn lone_requests_take_what_is_published() {
    //   name             op         microseconds                                            tolerance
    for (name, op, published, tolerance) in [
        // kitguru.net, review of the 870 EVO 1TB, which quotes Samsung: 13,000 and 36,000 a second at depth 1.
        ("sata-tlc", Op::Read, 1e6 / 13_000.0, 0.10),
        ("sata-tlc", Op::Write, 1e6 / 36_000.0, 0.10),
        // Lenovo's manual of the P4500, page 3.
        ("p4500-1tb", Op::Read, 85.0, 0.10),
        ("p4500-1tb", Op::Write, 20.0, 0.20),
    ] {
        let mut drive = preset(name).build_in_host();
        in_order(&mut drive, Op::Write, Bytes::ZERO, Bytes::from_mib(64));
        near(&format!("{name}, a lone {op:?}, us"), lone(&mut drive, op), published, tolerance);
    }
}

/// Writes in order for longer than the cache holds, rests, and writes again. The caches are made smaller, by name,
/// and so is the drive: what counts is the rate after the cache, of which the size is no part.
#[test]
fn a_full_cache_slows_to_the_rate_of_its_flash_and_is_empty_again_after_a_rest() {
    //   name        in the cache  after it   where from
    for (name, quick, slow) in [
        // The file's `[rated]` table; 80 MB/s: as its source says.
        ("870-qvo", 530.0, 80.0),
        // 300 MB/s: a guess, as the file's `[nand]` table says.
        ("sata-tlc", 530.0, 300.0),
        // 1.4 and 1.6 GB/s: guesses, as the files' `[nand]` tables say.
        ("990-pro", 6_900.0, 1_400.0),
        ("pcie5", 9_500.0, 1_600.0),
    ] {
        let cache = Bytes::from_gib(1);
        let small = "capacity.user=8GiB&spare=60%&slc.fixed=256MiB&dynamic=768MiB&pages_per_block=256";
        let mut drive = preset(&format!("{name}?{small}")).build();
        let most = Bytes::from_mib(768);
        near(&format!("{name}, within the cache"), in_order(&mut drive, Op::Write, Bytes::ZERO, most), quick, 0.15);
        in_order(&mut drive, Op::Write, most, Bytes::from_mib(400));
        let beyond = cache + Bytes::from_mib(256);
        let rate = in_order(&mut drive, Op::Write, beyond, Bytes::from_gib(1));
        near(&format!("{name}, after the cache"), rate, slow, 0.15);
        // A minute of rest: what is in the cache moves at the slower rate, and more slowly for being read first.
        let rested = drive.now() + Nanos::from_secs(60);
        drive.submit(rested, Tag(0), Request::FLUSH);
        drive.complete(Nanos::MAX);
        let again = Bytes::from_gib(3);
        near(&format!("{name}, after a rest"), in_order(&mut drive, Op::Write, again, most), quick, 0.15);
    }
}

/// A drive that was overwritten at random has the fixed part of its cache again after a rest.
#[test]
fn a_rest_gives_a_worn_drive_the_fixed_part_of_its_cache_back() {
    let small = "capacity.user=4GiB&spare=30%&slc.fixed=192MiB&dynamic=512MiB&pages_per_block=256";
    for name in ["990-pro", "sata-tlc"] {
        let mut drive = preset(&format!("{name}?{small}")).build();
        let all = drive.shape().capacity;
        drive.fill(Lba::new(0), Lba::at(all), Bytes::from_mib(1), 100);
        drive.write_at_random(1_500_000, Bytes::from_kib(4), block::Seed::new(1));
        let worn = scattered(&mut drive, Op::Write, all, 32, 20_000);
        drive.submit(drive.now() + Nanos::from_secs(120), Tag(0), Request::FLUSH);
        drive.complete(Nanos::MAX);
        let [rested, then] = [20_000, 200_000].map(|count| scattered(&mut drive, Op::Write, all, 32, count));
        println!("{name}: {worn:.0} writes a second, {rested:.0} after a rest, {then:.0} then");
        assert!(rested > worn * 4.0, "{name}: {worn:.0} writes a second, {rested:.0} after a rest");
        assert!(then < rested / 2.0, "{name}: {rested:.0} writes a second after a rest, {then:.0} then");
    }
}

/// Source: as the file's `[rated]` table has it. What it sustains of random writes takes a whole drive: `assay-lab` tests that.
#[test]
fn a_drive_for_servers_does_what_is_rated_empty_and_filled() {
    let name = "p4500-1tb?capacity.user=4GiB&pages_per_block=256";
    let Rated { sequential_write, sequential_read, random_read_iops, .. } = preset(name).rated;
    let mut drive = preset(name).build();
    let all = Bytes::from_gib(4);
    let rate = in_order(&mut drive, Op::Write, Bytes::ZERO, all);
    near("p4500-1tb, writes in order, MB/s", rate, sequential_write.unwrap().get() as f64 / 1e6, 0.15);
    settle(&mut drive);
    let rate = in_order(&mut drive, Op::Read, Bytes::ZERO, Bytes::from_gib(1));
    near("p4500-1tb, reads in order, MB/s", rate, sequential_read.unwrap().get() as f64 / 1e6, 0.15);
    let iops = scattered(&mut drive, Op::Read, all, 256, 150_000);
    near("p4500-1tb, random reads a second", iops, random_read_iops.unwrap() as f64, 0.15);
}

#[test]
fn lone_requests_of_a_flash_drive_do_not_all_take_the_same_time() {
    let has_host = |preset: &Preset| preset.host().unwrap().is_some();
    for preset in Preset::all().filter(|preset| matches!(preset.spec, Spec::Flash(_)) && preset.zones().is_none()) {
        let mut drive = preset.build_in_host();
        in_order(&mut drive, Op::Write, Bytes::ZERO, Bytes::from_mib(64));
        let mut spread = |op: Op| {
            let mut times: Vec<u64> = Vec::new();
            let mut random = testkit::Random::new(7);
            for _ in 0..1_000 {
                let (began, lba) = (drive.now() + Nanos::from_millis(5), Lba::new(random.below(16_384) * 8));
                drive.submit(began, Tag(0), Request::new(op, lba, 8));
                times.push(drive.complete(Nanos::MAX).expect("it was submitted").at.since(began).as_nanos());
            }
            times.sort_unstable();
            times[990] as f64 / times[500] as f64
        };
        let reads = spread(Op::Read);
        assert!(reads > 1.005, "{}: p99 of reads {reads:.4} of p50", preset.name);
        if has_host(&preset) {
            let writes = spread(Op::Write);
            assert!(writes > 1.005, "{}: p99 of writes {writes:.4} of p50", preset.name);
        }
    }
}
