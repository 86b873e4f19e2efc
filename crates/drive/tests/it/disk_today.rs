//! Disks that are sold today, beside what their makers promise, and what sets them apart: two arms, shingled tracks,
//! physical sectors of 4 KiB.

use assay_drive::Drive;
use assay_drive::disk::DiskDrive;
use assay_drive::preset::{Preset, Rated};
use block::{Nanos, Op, Request, Tag};
use testkit::Random;

use crate::disk::{ask, keep, random, read, spec, stream, uncached, write};
use crate::modern::near;

/// MB/s of requests of 128 KiB in order, 32 in flight, as many streams as there are arms, each at the outermost track of its own.
fn streams(name: &str, op: Op, count: u64) -> f64 {
    let spec = spec(name);
    let arms = u64::from(spec.actuators);
    let share = spec.platters.sectors / arms;
    let mut drive = DiskDrive::new(spec);
    let request = |index: u64| {
        let first = index % arms * share + index / arms * 256;
        if op == Op::Write { write(first, 256) } else { read(first, 256) }
    };
    keep(&mut drive, 32, count, request);
    ask(&mut drive, [Request::FLUSH]);
    count as f64 * 256.0 * 512.0 / drive.now().as_secs_f64() / 1e6
}

#[test]
fn disks_of_today_keep_their_makers_promises() {
    for name in ["archive-8tb", "exos-2x18", "nearline-7200"] {
        let Rated { sequential_read, sequential_write, random_read_iops, random_write_iops, random_depth, .. } =
            Preset::find(name).unwrap().rated;
        for (op, rated) in [(Op::Read, sequential_read), (Op::Write, sequential_write)] {
            if let Some(rated) = rated {
                near(
                    &format!("{name}, {op}s in order, MB/s"),
                    streams(name, op, 10_000),
                    rated.get() as f64 / 1e6,
                    0.15,
                );
            }
        }
        for (op, rated) in [(Op::Read, random_read_iops), (Op::Write, random_write_iops)] {
            if let Some(rated) = rated {
                let (rate, _) = random(&mut DiskDrive::new(spec(name)), op, random_depth.unwrap(), 20_000);
                near(&format!("{name}, random {op}s"), rate, rated as f64, 0.15);
            }
        }
    }
}

/// Source: the data sheet's average of reads and writes, recalled: 150 MB/s.
#[test]
fn the_archive_disk_streams_at_its_average_rate_over_all_its_addresses() {
    let spec = spec("archive-8tb");
    let sample = |index: u64| {
        let first = index * (spec.platters.sectors - 1_000_000) / 49 / 8 * 8;
        stream(&mut DiskDrive::new(spec), Op::Read, first, 2_048, 4, 100)
    };
    near("archive-8tb, MB/s on average", (0..50).map(sample).sum::<f64>() / 50.0 / 1e6, 150.0, 0.05);
}

#[test]
fn the_second_arm_doubles_streams_in_both_halves_and_nearly_doubles_random_reads() {
    let (two, one) = (spec("exos-2x18"), spec("exos-2x18?actuators=1"));
    let alone = stream(&mut DiskDrive::new(two), Op::Read, 0, 256, 32, 10_000) / 1e6;
    let both = streams("exos-2x18", Op::Read, 10_000);
    assert!((both / alone / 2.0 - 1.0).abs() < 0.03, "{both:.0} MB/s in both halves, {alone:.0} in one");
    for depth in [16, 32] {
        let [two, one] = [two, one].map(|spec| random(&mut DiskDrive::new(spec), Op::Read, depth, 20_000).0);
        assert!((1.5..2.0).contains(&(two / one)), "depth {depth}: {two:.0} a second, {one:.0} with one arm");
    }
    let [two, one] = [two, one].map(|spec| random(&mut DiskDrive::new(spec), Op::Read, 1, 5_000).0);
    assert!((two / one - 1.0).abs() < 0.03, "one at a time the second arm is of no use: {two:.1}, {one:.1} a second");
}

#[test]
fn a_write_of_one_logical_sector_of_512_bytes_costs_a_turn_more_than_an_aligned_one() {
    for name in ["nearline-7200", "exos-2x18", "archive-8tb"] {
        let spec = uncached(spec(name));
        assert_eq!(spec.physical, 8, "{name}: 4 KiB");
        // A new shingled disk has everything but appended writes in its log, which is written in whole physical sectors.
        if spec.shingled.is_some() {
            continue;
        }
        let each = |shift: u64, sectors: u32| {
            let (mut drive, mut numbers) = (DiskDrive::new(spec), Random::new(3));
            let blocks = spec.platters.sectors / 8;
            let (rate, _) = keep(&mut drive, 1, 4_000, |_| write(numbers.below(blocks) * 8 + shift, sectors));
            (1.0 / rate, drive.rewrites())
        };
        let ((aligned, none), (part, all)) = (each(0, 8), each(3, 1));
        assert_eq!((none, all), (0, 4_000), "{name}");
        let turns = (part - aligned) / spec.platters.revolution.as_secs_f64();
        assert!((turns - 1.0).abs() < 0.03, "{name}: {turns:.3} turns more");
    }
}

/// The archive disk's first 8 GiB, written in order and then at random until its media cache keeps no more apart.
fn worn() -> (DiskDrive, f64, Random) {
    let (mut drive, mut numbers) = (DiskDrive::new(spec("archive-8tb")), Random::new(6));
    stream(&mut drive, Op::Write, 0, 2_048, 32, 8_192);
    let (burst, _) = keep(&mut drive, 32, 180_000, |_| write(numbers.below(2 << 20) * 8, 8));
    (drive, burst, numbers)
}

#[test]
fn random_writes_to_the_archive_disk_are_fast_until_its_media_cache_is_full() {
    let (mut drive, burst, mut numbers) = worn();
    assert_eq!(drive.bands_cleaned(), 0, "its map has room for 200,000");
    let (in_place, _) = random(&mut DiskDrive::new(spec("nearline-7200")), Op::Write, 32, 20_000);
    assert!(burst > 10.0 * in_place, "{burst:.0} a second into a log, {in_place:.0} of a faster disk in place");
    let mut next = |_: u64| write(numbers.below(2 << 20) * 8, 8);
    keep(&mut drive, 32, 30_000, &mut next);
    let (full, longest) = keep(&mut drive, 32, 30_000, &mut next);
    assert!(drive.bands_cleaned() > 30, "{} bands", drive.bands_cleaned());
    assert!(full < burst / 10.0, "{full:.0} a second when it is full, {burst:.0} before");
    assert!(longest > Nanos::from_millis(500), "{longest}: who comes while a band is brought home waits");
}

/// Writes that wait for the log go there together, so that reads have most of the arm.
#[test]
fn reads_beside_writes_to_the_log_have_most_of_the_arm() {
    let mixed = |writes: u64| {
        let (mut drive, mut numbers) = (DiskDrive::new(spec("archive-8tb")), Random::new(7));
        stream(&mut drive, Op::Write, 0, 2_048, 32, 8_192);
        let mut next = |_| {
            let (is_write, at) = (numbers.below(10) < writes, numbers.below(2 << 20) * 8);
            if is_write { write(at, 8) } else { read(at, 8) }
        };
        keep(&mut drive, 32, 6_000, &mut next).0
    };
    let (reads, both) = (mixed(0), mixed(3));
    assert!(both > reads, "{both:.0} a second of which three of ten are writes, {reads:.0} reads");
}

#[test]
fn the_archive_disk_recovers_while_it_is_idle() {
    let (mut drive, burst, mut numbers) = worn();
    keep(&mut drive, 32, 60_000, |_| write(numbers.below(2 << 20) * 8, 8));
    let (before, began) = (drive.bands_cleaned(), drive.now());
    // 8 GiB are 274 bands, of a few seconds each.
    drive.submit(began + Nanos::from_secs(3_600), Tag(0), Request::FLUSH);
    drive.complete(Nanos::MAX).unwrap();
    let cleaned = drive.bands_cleaned() - before;
    assert!(cleaned > 200, "{cleaned} bands in an hour");
    let (again, _) = keep(&mut drive, 32, 150_000, |_| write(numbers.below(2 << 20) * 8, 8));
    assert!(again > 0.8 * burst, "{again:.0} a second after the pause, {burst:.0} when it was new");
}

#[test]
fn the_parts_of_a_disk_that_is_shingled_can_be_changed_one_by_one() {
    assert!(Preset::find("archive-8tb?shingled.band=256MiB").is_ok());
    let said = Preset::find("nearline-7200?shingled.band=256MiB").unwrap_err().to_string();
    assert!(said.contains("missing field `media_cache`") && said.contains("add `&media_cache="), "{said}");
}
