//! What numbers of specimens promise: the same number is the same drive, and another is another.

use assay_drive::preset::Preset;
use assay_drive::{Device, Drive, WearSummary};
use block::{Lba, Nanos, Op, Request, Tag};

/// A small drive, two in a hundred of whose blocks are bad from the factory and the others last for a few erases.
const TINY: &str = "capacity.user=64MiB&spare=150%&rated_erases=12&wear.deviation=20%&factory_bad=2%&reserve=40%";

fn find(name: &str) -> Preset {
    Preset::find(name).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Wears the drive and says what is left of it.
fn worn(drive: &mut Device) -> WearSummary {
    let mut random = testkit::Random::new(5);
    for index in 0..40_000 {
        let request = Request::new(Op::Write, Lba::new(random.below(16_000) * 8), 8);
        drive.submit(drive.now(), Tag(index), request);
        drive.complete(Nanos::MAX).expect("it is answered");
    }
    drive.health().wear.expect("it keeps account")
}

fn factory_bad(drive: &Device) -> u32 {
    drive.health().wear.expect("it keeps account").factory_bad
}

#[test]
fn the_first_specimen_is_the_drive_without_a_number() {
    assert_eq!(find("x25-m#1"), find("x25-m"));
    assert_eq!(find("x25-m#1?spare=12%").name, "x25-m?spare=12%");
    let (plain, first) = (find(&format!("x25-m?{TINY}")), find(&format!("x25-m#1?{TINY}")));
    assert_eq!(worn(&mut plain.build()), worn(&mut first.build()));
}

#[test]
fn another_specimen_has_other_bad_blocks_and_wears_out_otherwise() {
    let summaries: Vec<WearSummary> =
        [1, 2, 3].map(|number| worn(&mut find(&format!("x25-m#{number}?{TINY}")).build())).into();
    assert_eq!(summaries[1], worn(&mut find(&format!("x25-m#2?{TINY}")).build()), "the same number, the same drive");
    for (one, other) in [(0, 1), (0, 2), (1, 2)] {
        assert_ne!(summaries[one], summaries[other]);
    }
    let mut bad: Vec<u32> = (1..=8).map(|number| factory_bad(&find(&format!("990-pro#{number}")).build())).collect();
    bad.sort_unstable();
    bad.dedup();
    assert!(bad.len() > 4, "{bad:?}");
}

#[test]
fn a_number_is_kept_by_changes_and_when_written_and_read() {
    let preset = find("x25-m#7?spare=12%").changed("nand.read=25us").unwrap();
    assert_eq!((preset.specimen, &*preset.name, &*preset.model), (7, "x25-m#7?spare=12%&nand.read=25us", "x25-m"));
    let read: Preset = serde_json::from_str(&serde_json::to_string(&preset).unwrap()).unwrap();
    assert_eq!(read, preset);
    assert_eq!(read.build().specimen().map(|specimen| specimen.number()), Some(7));
    assert!(preset.facts().contains(&("specimen", "7 of this model".to_owned())));
    assert!(find("x25-m").facts().iter().all(|(name, _)| *name != "specimen"));
    assert_ne!(find("x25-m#7").identity().serial, find("x25-m").identity().serial);
}

#[test]
fn the_drives_of_a_rig_are_different_specimens() {
    let numbers = |name: &str| -> Vec<u32> {
        let Device::Rig(rig) = find(name).build() else { panic!("{name} is a rig") };
        rig.drives().iter().map(|drive| drive.specimen().expect("it is flash").number()).collect()
    };
    assert_eq!(numbers("toms-x25e-16?drives=4"), [1, 2, 3, 4]);
    assert_eq!(numbers("toms-x25e-16#3?drives=4"), [9, 10, 11, 12]);
    assert_eq!(numbers("sata-3g-desktop?array.drive=x25-e-64#5"), [5]);
    let Device::Rig(rig) = find("toms-x25e-16?drives=4&array.drive=990-pro").build() else { panic!("it is a rig") };
    let own: Vec<u32> = rig.drives().iter().map(factory_bad).collect();
    let alone: Vec<u32> = (1..=4).map(|number| factory_bad(&find(&format!("990-pro#{number}")).build())).collect();
    assert_eq!(own, alone);
    assert!(own.iter().any(|bad| *bad != own[0]), "{own:?}");
}

#[test]
fn a_specimen_with_too_many_bad_blocks_is_refused() {
    // The most bad blocks with which the first has room, which is close for the others.
    let of = |percent| Preset::find(&format!("x25-m?{TINY}"))?.changed(&format!("factory_bad={percent}%"));
    let first = (2..80).map_while(|percent| of(percent).ok()).last().expect("two in a hundred leave room");
    let refused = (2..=40).find_map(|number| first.clone().numbered(number).err().map(|error| (number, error)));
    let (number, error) = refused.expect("one of forty has more bad blocks");
    assert!(error.to_string().contains(&format!("specimen {number} of the drive has too many bad blocks")), "{error}");
}
