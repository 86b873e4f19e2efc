//! Errors that a host sees: of a worn drive left alone, at the end of life, and what an array makes of them.

use assay_drive::preset::{Preset, Spec};
use assay_drive::rig::{Rig, RigSpec};
use assay_drive::smart::Smart;
use assay_drive::{Device, Drive};
use block::{Bytes, Lba, Nanos, Op, Request, Status, Tag, ZoneAction};

/// Flash of which some pages cannot be corrected after 1,000 h.
const ERRORS: &str = r#"
[errors]
source = "test"
fresh = "0.05%"
correctable = "0.5%"
retained = "900%"
retained_for = "1000 h"
spread = "60%"
noise = "1%"
steps = 2
gain = "150%"
step = "15 us"
soft = "600 us"
soft_gain = "110%"
"#;

const SMALL: &str = "x25-m?capacity.user=64MiB&capacity.spare=150%";

fn member() -> Preset {
    let preset = Preset::parse(&format!("{}{ERRORS}", Preset::find(SMALL).unwrap().text)).unwrap();
    Preset { name: "erring".into(), model: "erring".into(), ..preset }
}

fn request(drive: &mut impl Drive, now: Nanos, op: Op, page: u64) -> Status {
    drive.submit(now, Tag(3), Request::new(op, Lba::new(page * 8), 8));
    let done = drive.complete(Nanos::MAX).expect("it is answered");
    assert_eq!(done.tag, Tag(3));
    done.status
}

#[test]
fn drives_without_zones_refuse_their_commands_and_count_that() {
    for name in ["x25-m", "solid-data-dram", "raptor-150", "optane-p4800x", "ocz-core-64"] {
        let mut drive = Preset::find(name).unwrap().build();
        for op in [Op::Append, Op::Zone(ZoneAction::Reset)] {
            let now = drive.now();
            assert_eq!(request(&mut drive, now, op, 0), Status::InvalidOpcode, "{name}, {op}");
        }
        assert_eq!(drive.counters().failed, 2, "{name}");
    }
}

fn fill(drive: &mut impl Drive) {
    for page in 0..drive.shape().capacity.get() / 4096 {
        let now = drive.now();
        assert_eq!(request(drive, now, Op::Write, page), Status::Success);
    }
}

/// Fills a drive, leaves it alone for 1,000 h and reads some pages; how each ended.
fn left_alone(drive: &mut impl Drive) -> Vec<Status> {
    fill(drive);
    let pages = drive.shape().capacity.get() / 4096;
    let later = drive.now() + Nanos::from_secs(3_600 * 1_000);
    (0..2_000)
        .map(|turn| request(drive, later + Nanos::from_millis(10).times(turn), Op::Read, turn * 7 % pages))
        .collect()
}

/// An array of such drives.
fn array(level: &str, drives: u32) -> Device {
    let Spec::Rig(spec) = Preset::find(&format!("toms-x25e-16?level={level}&drives={drives}&count=1")).unwrap().spec
    else {
        panic!("a rig")
    };
    Device::Rig(Rig::new(RigSpec { member: Box::new(member()), ..spec }))
}

#[test]
fn a_worn_drive_left_alone_fails_reads_and_counts_them() {
    let mut drive = member().build();
    let statuses = left_alone(&mut drive);
    let failed = statuses.iter().filter(|status| **status == Status::UnrecoveredRead).count() as u64;
    assert!((10..1_000).contains(&failed), "{failed} of 2,000 reads failed");
    assert_eq!(statuses.iter().filter(|status| status.is_success()).count() as u64, 2_000 - failed);
    let counters = drive.counters();
    assert_eq!((counters.failed, counters.uncorrectable), (failed, failed), "a page each");
    let smart = Smart::of(&Preset::find("p5520-1920").unwrap().identity(), &counters, &drive.health());
    let smart = serde_json::to_value(&smart).unwrap();
    assert_eq!(smart["nvme_smart_health_information_log"]["media_errors"], failed);
    let smart = Smart::of(&Preset::find("samsung-830").unwrap().identity(), &counters, &drive.health());
    let table = serde_json::to_value(&smart).unwrap()["ata_smart_attributes"]["table"].clone();
    let told = table.as_array().unwrap().iter().find(|row| row["id"] == 187).expect("it keeps that");
    assert_eq!(told["raw"]["value"], failed);
    let mut again = member().build();
    assert_eq!(left_alone(&mut again), statuses, "the same drive has the same story");
}

#[test]
fn an_array_makes_good_what_a_member_cannot_read_where_others_have_it() {
    for (level, drives) in [("raid1", 2), ("raid5", 5), ("raid10", 4)] {
        let mut array = array(level, drives);
        let statuses = left_alone(&mut array);
        let lost = statuses.iter().filter(|status| !status.is_success()).count() as u64;
        let counters = array.counters();
        assert!(counters.repaired > 10, "{level}: {counters:?}");
        assert!(lost * 4 < counters.repaired, "{level}: {lost} lost, {} repaired", counters.repaired);
        assert_eq!(counters.failed, lost);
        // What was repaired was written anew: it is young, and is read without a repair.
        let mut again = || {
            let before = array.counters().repaired;
            let now = array.now();
            for turn in 0..2_000 {
                request(&mut array, now + Nanos::from_millis(10).times(turn), Op::Read, turn * 7 % 16_384);
            }
            array.counters().repaired - before
        };
        assert!(again() < counters.repaired, "{level}");
    }
    let mut striped = array("raid0", 2);
    let lost = left_alone(&mut striped).iter().filter(|status| !status.is_success()).count() as u64;
    let counters = striped.counters();
    assert!(lost > 10 && counters.repaired == 0 && counters.failed == lost, "{counters:?}");
}

#[test]
fn at_the_end_of_life_writes_end_with_a_write_fault_and_reads_go_on() {
    let tiny = format!("{SMALL}&rated_erases=4&reserve=2%&spread_max=2");
    let mut drive = Preset::find(&tiny).unwrap().build();
    let status = |drive: &mut Device, op, page| {
        let now = drive.now();
        request(drive, now, op, page)
    };
    let ended = (0..2_000_000).find(|turn| status(&mut drive, Op::Write, turn * 7_919 % 16_384) == Status::WriteFault);
    assert!(ended.is_some_and(|turn| turn > 16_384), "after {ended:?} writes");
    assert!(drive.health().wear.unwrap().read_only);
    assert_eq!(status(&mut drive, Op::Write, 5), Status::WriteFault);
    assert_eq!(status(&mut drive, Op::Read, 5), Status::Success);
}

/// One of two drives that are alike is worn out before the other: the array goes on without it, and ends with the second.
#[test]
fn a_mirror_goes_on_without_the_member_that_takes_no_more() {
    let tiny = format!("{SMALL}&rated_erases=4&deviation=20%&reserve=2%&spread_max=2");
    let Spec::Rig(spec) = Preset::find("toms-x25e-16?level=raid1&drives=2&count=1").unwrap().spec else {
        panic!("a rig")
    };
    let member = Box::new(Preset::find(&tiny).unwrap());
    let mut rig = Rig::new(RigSpec { member, ..spec });
    let mut alone = None;
    for turn in 0..2_000_000_u64 {
        let now = rig.now();
        let status = request(&mut rig, now, Op::Write, turn * 7_919 % 16_384);
        let worn: Vec<bool> = rig.drives().iter().map(|drive| drive.health().wear.unwrap().read_only).collect();
        if alone.is_none() && worn.contains(&true) {
            alone = Some(turn);
            assert_eq!(status, Status::Success, "the other has it");
        }
        if !status.is_success() {
            assert!(worn == [true, true] && alone.is_some_and(|alone| alone + 16 < turn), "{worn:?} at {turn}");
            assert_eq!(status, Status::WriteFault);
            let now = rig.now();
            assert_eq!(request(&mut rig, now, Op::Read, 9), Status::Success);
            return;
        }
    }
    panic!("it never ended");
}

#[test]
fn bytes_that_an_array_asks_of_its_members_for_a_repair_are_those_of_the_others_and_one_write() {
    for (level, drives, reads) in [("raid1", 2, 1), ("raid5", 5, 4)] {
        let mut array = array(level, drives);
        let asked = |array: &Device| {
            let Device::Rig(rig) = array else { panic!("a rig") };
            rig.drives().iter().map(Drive::counters).reduce(|sum, more| sum + more).unwrap()
        };
        let mut filled = array.clone();
        fill(&mut filled);
        left_alone(&mut array);
        let (members, whole) = (asked(&array) - asked(&filled), array.counters());
        let (page, beyond) = (Bytes::from_kib(4), whole.repaired + whole.failed);
        assert!(whole.repaired > 10 && members.host_written == page.times(whole.repaired), "{level}: {members:?}");
        assert!(members.host_read >= page.times(2_000 + whole.repaired * reads), "{level}");
        assert!(members.host_read <= page.times(2_000 + beyond * reads), "{level}: {members:?}");
    }
}
