//! Arrays and disks that are put behind random writes go on as those that were written.

use assay_drive::disk::{BackgroundSpec, DiskDrive, DiskSpec, VariationSpec};
use assay_drive::preset::Preset;
use assay_drive::{Device, Drive};
use block::{Bytes, Lba, Nanos, Op, Request, SECTOR, Seed, Tag};
use testkit::Random;

use crate::disk;

const MIB: Bytes = Bytes::from_mib(1);

/// Keeps `depth` random writes of so many sectors in flight until so many are done; how many are in a second.
fn overwrite(drive: &mut Device, block: u64, depth: u32, count: u64, seed: u64) -> f64 {
    let (mut random, blocks) = (Random::new(seed), drive.shape().capacity.sectors() / block);
    let mut next = || Request::new(Op::Write, Lba::new(random.below(blocks) * block), block as u32);
    let began = drive.now();
    (0..depth).for_each(|tag| drive.submit(began, Tag(tag), next()));
    for _ in 0..count {
        let done = drive.complete(Nanos::MAX).expect("some are in flight");
        drive.submit(done.at, done.tag, next());
    }
    let ends = drive.now();
    while drive.complete(Nanos::MAX).is_some() {}
    drive.submit(drive.now(), Tag(0), Request::FLUSH);
    drive.complete(Nanos::MAX);
    count as f64 / ends.since(began).as_secs_f64()
}

/// What the host asked for, and what members programmed for each byte.
fn asked(drive: &Device, before: &Device) -> (u64, Bytes, f64) {
    let did = drive.counters() - before.counters();
    let pages: u64 = members(drive).map(|member| member.counters().pages_programmed).sum();
    let pages = pages - members(before).map(|member| member.counters().pages_programmed).sum::<u64>();
    (did.requests[1], did.host_written, pages as f64)
}

fn members(drive: &Device) -> impl Iterator<Item = &Device> {
    let Device::Rig(rig) = drive else { panic!("an array") };
    rig.drives().iter()
}

#[test]
fn the_drives_of_an_array_are_written_at_random_without_time() {
    const WRITES: u64 = 150_000;
    let rig = |level: &str, drives: u32, stripe: &str| {
        let of = "drive.capacity.user=64MiB&drive.spare=40%&drive.channels=2";
        format!("toms-x25e-1?rig.array.level={level}&rig.array.drives={drives}&rig.array.stripe={stripe}&{of}")
    };
    for (level, drives) in [("raid0", 4), ("raid1", 2), ("raid10", 4), ("none", 1)] {
        let preset = Preset::find(&rig(level, drives, "64KiB")).unwrap_or_else(|error| panic!("{level}: {error}"));
        assert!(preset.overwrites_untimed(), "{level}, as it is told before it is built");
        let mut filled = preset.build();
        filled.fill(Lba::new(0), Lba::at(filled.shape().capacity), MIB, 100);
        assert!(filled.can_write_at_random(SECTOR.times(8)), "{level}");
        let (mut made, mut written) = (filled.clone(), filled.clone());
        made.write_at_random(WRITES, SECTOR.times(8), Seed::new(3));
        overwrite(&mut written, 8, 1, WRITES - 1, 4);
        let ((requests, bytes, programs), (_, _, other)) = (asked(&made, &filled), asked(&written, &filled));
        assert_eq!((requests, bytes), (WRITES, SECTOR.times(8 * WRITES)), "{level}");
        assert!((programs / other - 1.0).abs() < 0.02, "{level}: {programs} pages, {other} written");
        // Each member has its share.
        let each: Vec<u64> = members(&made).map(|member| member.counters().requests[1]).collect();
        assert!(each.iter().all(|share| share.abs_diff(each[0]) <= 1), "{level}: {each:?}");
        let [made, written] = [&mut made, &mut written].map(|drive| overwrite(drive, 8, 16, WRITES, 5));
        assert!((made / written - 1.0).abs() < 0.02, "{level}: {made:.0} a second, {written:.0} where it was written");
    }
    let parity = Preset::find(&rig("raid5", 4, "64KiB")).unwrap();
    assert!(!parity.overwrites_untimed() && !parity.build().can_write_at_random(SECTOR.times(8)));
    let stripes = Preset::find(&rig("raid0", 2, "6KiB")).unwrap().build();
    assert!(!stripes.can_write_at_random(SECTOR.times(8)), "a write of two members");
}

/// The order of a preconditioning, too, is dealt out to members: each has its own writes, and of mirrors each has all.
#[test]
fn members_are_written_in_any_order_without_time() {
    for (level, drives) in [("raid0", 3), ("raid10", 4)] {
        let of = "drive.capacity.user=16MiB&drive.spare=40%&drive.channels=2";
        let of = format!("toms-x25e-1?rig.array.level={level}&rig.array.drives={drives}&rig.array.stripe=16KiB&{of}");
        let mut made = Preset::find(&of).unwrap_or_else(|error| panic!("{error}")).build();
        let (mut written, mut random) = (made.clone(), Random::new(8));
        let blocks = made.shape().capacity.sectors() / 8;
        let writes: Vec<Request> =
            (0..9_000).map(|_| Request::new(Op::Write, Lba::new(random.below(blocks) * 8), 8)).collect();
        assert!(
            made.can_write_untimed(Lba::new(0), Lba::new(8)) && !made.can_write_untimed(Lba::new(24), Lba::new(40))
        );
        made.write_untimed(writes.iter().copied());
        for &write in &writes {
            written.submit(written.now(), Tag(0), write);
            written.complete(Nanos::MAX);
        }
        written.submit(written.now(), Tag(0), Request::FLUSH);
        written.complete(Nanos::MAX);
        for (made, written) in members(&made).zip(members(&written)) {
            let (Device::Flash(made), Device::Flash(written)) = (made, written) else { panic!("of flash") };
            assert_eq!(made.digest(), written.digest(), "{level}");
        }
        let before = Preset::find(&of).unwrap().build();
        assert_eq!(asked(&made, &before), asked(&written, &before), "{level}");
    }
}

/// Disks in place go on as fast as those that were written, and one of shingled tracks, whose media cache is full then.
#[test]
fn a_disk_is_written_at_random_without_time() {
    let device = |name: &str| {
        let (variation, background) = (VariationSpec::default(), BackgroundSpec::default());
        Device::Disk(DiskDrive::new(DiskSpec { variation, background, ..disk::spec(name) }))
    };
    for (name, writes, measured) in [
        ("nearline-7200", 4_000, 4_000),
        ("exos-2x18", 4_000, 4_000),
        ("archive-8tb?shingled.extents=500&shingled.media_cache=64MiB", 9_000, 2_000),
    ] {
        let mut filled = device(name);
        filled.fill(Lba::new(0), Lba::at(filled.shape().capacity), MIB, 100);
        assert!(filled.can_write_at_random(SECTOR.times(8)) && !filled.can_write_at_random(SECTOR), "{name}");
        let (mut made, mut written) = (filled.clone(), filled);
        made.write_at_random(writes, SECTOR.times(8), Seed::new(3));
        assert_eq!((made.counters().requests[1] - written.counters().requests[1], made.now()), (writes, written.now()));
        overwrite(&mut written, 8, 1, writes - 1, 4);
        let [made, written] = [&mut made, &mut written].map(|drive| overwrite(drive, 8, 16, measured, 5));
        assert!((made / written - 1.0).abs() < 0.02, "{name}: {made:.1} a second, {written:.1} where it was written");
    }
    // Shingled bands that were never written are, then.
    let mut empty = device("archive-8tb?shingled.extents=500&shingled.media_cache=64MiB");
    let mut filled = empty.clone();
    filled.fill(Lba::new(0), Lba::at(filled.shape().capacity), MIB, 100);
    let writes = 100 * 8_000_000_000_000 / 30_000_000;
    for disk in [&mut empty, &mut filled] {
        disk.write_at_random(writes, SECTOR.times(8), Seed::new(3));
    }
    let [empty, filled] = [&mut empty, &mut filled].map(|drive| overwrite(drive, 8, 16, 1_000, 5));
    assert_eq!(empty, filled, "a second");
    let zoned = Preset::find("hc620-14tb").unwrap();
    assert!(!zoned.overwrites_untimed() && !zoned.build().can_write_at_random(SECTOR.times(8)));
}

/// Parity of part of a row is written again with the next part, of which a disk keeps no trace.
#[test]
fn disks_with_parity_are_filled_without_time() {
    for (of, end_row) in [("array.drives=4&array.stripe=64KiB", true), ("array.drives=3&array.stripe=8KiB", false)] {
        let name = format!("sata-3g-desktop?array.drive=raptor-150&array.level=raid5&{of}");
        let preset = Preset::find(&name).unwrap_or_else(|error| panic!("{error}"));
        let (mut made, mut written) = (preset.build(), preset.build());
        let end = if end_row { 3 * 128 * 400 } else { 3 * 128 * 400 + 8 };
        assert!(preset.fills_untimed() && made.can_fill(Lba::new(0), Lba::new(end)), "{name}");
        made.fill(Lba::new(0), Lba::new(end), SECTOR.times(96), 100);
        let mut at = 0;
        while at < end {
            let sectors = 96.min(end - at);
            written.submit(written.now(), Tag(0), Request::new(Op::Write, Lba::new(at), sectors as u32));
            written.complete(Nanos::MAX);
            at += sectors;
        }
        let [made_asked, written_asked] =
            [&made, &written].map(|drive| (drive.counters().requests[1], drive.counters().host_written));
        assert_eq!(made_asked, written_asked, "{name}");
        let [made, written] = [&mut made, &mut written].map(|drive| overwrite(drive, 8, 4, 1_000, 7));
        assert!((made / written - 1.0).abs() < 0.02, "{name}: {made:.1} a second, {written:.1} where it was written");
    }
    let flash = Preset::find("sata-3g-desktop?array.drive=x25-m&array.drives=3&array.level=raid5&array.stripe=8KiB");
    assert!(!flash.unwrap().fills_untimed(), "parity that is written again wears flash");
}
