//! A disk that is put behind writes in order goes on as one that was written.

use assay_drive::disk::{BackgroundSpec, DiskDrive, DiskSpec, VariationSpec};
use assay_drive::{Device, Drive};
use block::{Bytes, Lba, Nanos, Op, Request, Tag};
use testkit::Random;

use crate::disk;

fn device(name: &str) -> Device {
    // What comes by chance and by the clock would come at other requests.
    let (variation, background) = (VariationSpec::default(), BackgroundSpec::default());
    Device::Disk(DiskDrive::new(DiskSpec { variation, background, ..disk::spec(&format!("{name}?jitter=0%")) }))
}

fn ask(drive: &mut Device, at: Nanos, request: Request) -> Nanos {
    drive.submit(at, Tag(0), request);
    drive.complete(Nanos::MAX).expect("it is answered").at
}

/// When reads and writes around what was written are answered, one after the other and each after a pause, from `at` on.
fn after(drive: &mut Device, at: Nanos, (first, end): (u64, u64)) -> Vec<Nanos> {
    let mut random = Random::new(5);
    let can_overwrite = drive.zone_limits().is_none();
    (0..400)
        .map(|step| {
            let sectors = 8 * (1 + random.below(64));
            let lba = Lba::new((first + random.below(end - first - sectors)) / 8 * 8);
            let op = if can_overwrite && random.below(3) == 0 { Op::Write } else { Op::Read };
            ask(drive, at + Nanos::from_millis(100).times(step), Request::new(op, lba, sectors as u32))
        })
        .collect()
}

#[test]
fn a_filled_disk_is_as_one_that_was_written() {
    let mib = 2048;
    // From where, and how much: several bands of shingled tracks, two zones, what lies under both arms.
    let half = device("exos-2x18").shape().capacity.sectors() / 2 / 8 * 8;
    for (name, first, length) in [
        ("st320lt020", 0, 64 * mib),
        ("seagate-7200.11", 999 * mib, 64 * mib),
        ("nearline-7200", 0, 600 * mib),
        ("exos-2x18", half - 64 * mib, 128 * mib),
        ("archive-8tb", 0, 100 * mib),
        ("hc620-14tb", 524_288 * 600, 512 * mib),
    ] {
        let (mut made, mut written) = (device(name), device(name));
        let (from, end) = (Lba::new(first), Lba::new(first + length));
        // What was read before is forgotten where it is written over.
        for drive in [&mut made, &mut written] {
            ask(drive, Nanos::ZERO, Request::new(Op::Read, from, 64));
            assert!(drive.can_fill(from, end), "{name}");
        }
        made.fill(from, end, Bytes::from_mib(1), 100);
        for piece in 0..length / mib {
            let at = written.now();
            ask(&mut written, at, Request::new(Op::Write, Lba::new(first + piece * mib), mib as u32));
        }
        let at = written.now();
        let clean = ask(&mut written, at, Request::FLUSH);
        let (did, did_write) = (made.counters(), written.counters());
        assert_eq!((did.requests[1], did.host_written), (did_write.requests[1], did_write.host_written), "{name}");
        assert_eq!(made.zones(), written.zones(), "{name}");
        // Late enough for whatever a disk does when it is left alone.
        let at = clean + Nanos::from_secs(60);
        let around = (first, first + length);
        // The first way of an arm tells where it was left, and a read of what was in memory before whether it still is.
        let mut random = Random::new(9);
        for part in 0..24 {
            let lba = match part {
                0 => first,
                1..12 => first + length - 64,
                _ => first + random.below(length - 64),
            };
            let at = at + Nanos::from_micros(700).times(part);
            let [made, written] =
                [&made, &written].map(|drive| ask(&mut drive.clone(), at, Request::new(Op::Read, Lba::new(lba), 64)));
            assert_eq!(made, written, "{name}: {part}");
        }
        assert_eq!(after(&mut made, at, around), after(&mut written, at, around), "{name}");
        let (Device::Disk(made), Device::Disk(written)) = (&made, &written) else { panic!("{name} is a disk") };
        assert_eq!(made.bands_cleaned(), written.bands_cleaned(), "{name}");
    }
}

#[test]
fn what_cannot_be_written_in_order_is_not_filled() {
    let whole = |drive: &Device| Lba::at(drive.shape().capacity);
    let mut disk = device("nearline-7200");
    let end = whole(&disk);
    assert!(disk.can_fill(Lba::new(0), end));
    assert!(!disk.can_fill(Lba::new(1), end), "part of a physical sector");
    assert!(!disk.can_fill(Lba::new(8), Lba::new(8)) && !disk.can_fill(Lba::new(0), Lba::new(end.get() + 8)));
    disk.submit(Nanos::ZERO, Tag(0), Request::new(Op::Write, Lba::new(0), 8));
    assert!(!disk.can_fill(Lba::new(0), end), "a write is in flight");
    disk.complete(Nanos::MAX);
    assert!(!disk.can_fill(Lba::new(0), end), "a write is in the cache");
    let now = disk.now();
    ask(&mut disk, now, Request::FLUSH);
    assert!(disk.can_fill(Lba::new(0), end));

    let mut shingled = device("archive-8tb");
    let end = whole(&shingled);
    assert!(shingled.can_fill(Lba::new(0), end) && !shingled.can_fill(Lba::new(8), end), "not from a band's start");
    shingled.fill(Lba::new(0), Lba::new(800_000), Bytes::from_kib(512), 100);
    assert!(shingled.can_fill(Lba::new(800_000), end), "it goes on in its band");
    assert!(!shingled.can_fill(Lba::new(0), end), "what was written goes to the media cache");

    let mut zoned = device("hc620-14tb");
    let (first, end) = (Lba::new(524_288 * 600), Lba::new(524_288 * 602));
    zoned.fill(first, end, Bytes::from_kib(512), 100);
    assert!(!zoned.can_fill(first, end), "these zones are full");
    assert_eq!(zoned.shape().block, Bytes::from_kib(4), "a physical sector");
}
