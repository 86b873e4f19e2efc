//! What a whole drive promises that wears out, as a host sees it.

use assay_drive::preset::Preset;
use assay_drive::smart::Smart;
use assay_drive::{Device, Drive};
use block::{Bytes, Lba, Nanos, Op, Request, Tag};

/// A small drive whose blocks stand few erases: 160 MiB of flash, 64 MiB for the user.
const TINY: &str = "x25-m?capacity.user=64MiB&spare=150%&rated_erases=12&reserve=2%&spread_max=2&least_worn_first=true";

fn build(name: &str) -> Device {
    Preset::find(name).unwrap_or_else(|error| panic!("{error}")).build()
}

/// Writes `count` requests of 1 to 24 sectors all over the drive, eight at a time; the time of the last completion.
fn scatter(drive: &mut Device, count: u64) -> Nanos {
    let sectors = drive.shape().capacity.sectors() - 24;
    let mut random = testkit::Random::new(5);
    for index in 0..count {
        let request = Request::new(Op::Write, Lba::new(random.below(sectors)), 1 + random.below(24) as u32);
        if index >= 8 {
            drive.complete(Nanos::MAX).expect("a request is completed, if only by being turned down");
        }
        drive.submit(drive.now(), Tag(index as u32), request);
    }
    (0..8).for_each(|_| _ = drive.complete(Nanos::MAX).expect("the last eight"));
    assert_eq!(drive.complete(Nanos::MAX), None);
    drive.now()
}

#[test]
fn a_worn_out_drive_answers_writes_keeps_its_data_and_says_so() {
    let mut drive = build(TINY);
    scatter(&mut drive, 40_000);
    let young = drive.health().wear.unwrap();
    assert!(!young.read_only && young.erases_mean > 0, "{young:?}");
    assert_eq!(drive.counters().host_rejected, Bytes::ZERO);
    scatter(&mut drive, 300_000);
    let old = drive.health().wear.unwrap();
    assert!(old.read_only && old.erases_mean >= 10, "{old:?}");
    let counters = drive.counters();
    assert!(counters.host_rejected > Bytes::ZERO && counters.host_rejected < counters.host_written);
    // All that is left now is turned down, whatever its size, and flash does nothing.
    scatter(&mut drive, 1_000);
    let after = drive.counters() - counters;
    assert_eq!(after.host_rejected, after.host_written);
    assert_eq!((after.pages_programmed, after.blocks_erased), (0, 0));
    drive.submit(drive.now(), Tag(0), Request::FLUSH);
    drive.submit(drive.now(), Tag(1), Request::new(Op::Read, Lba::new(0), 8));
    assert!(drive.complete(Nanos::MAX).is_some() && drive.complete(Nanos::MAX).is_some());
    let smart = Smart::of(&Preset::find(TINY).unwrap().identity(), &drive.counters(), &drive.health());
    let smart = serde_json::to_string(&smart).unwrap();
    assert!(smart.contains("\"passed\":false"), "{smart}");
}

#[test]
fn one_file_makes_one_story_of_wear() {
    let told = || {
        let mut drive = build(&format!("{TINY}&factory_bad=2%&early_failures=2000000"));
        let end = scatter(&mut drive, 60_000);
        (end, drive.counters(), drive.health())
    };
    let (first, second) = (told(), told());
    assert_eq!(first, second);
    let wear = first.2.wear.unwrap();
    assert!(wear.factory_bad > 0 && wear.retired > 0, "{wear:?}");
}

#[test]
fn a_table_of_wear_costs_no_time_until_blocks_move_for_it() {
    let [plain, wearing] =
        ["x25-m?capacity.user=64MiB&gc.policy=greedy&start=4&spare=150%", "&rated_erases=3000&reserve=2%"]
            .map(str::to_owned);
    let told = |name: &str| {
        let mut drive = build(name);
        (scatter(&mut drive, 40_000), drive.counters())
    };
    assert_eq!(told(&plain), told(&format!("{plain}{wearing}")));
}

#[test]
fn drives_that_cannot_be_made_are_refused() {
    for (change, words) in [
        ("spare=30%&rated_erases=0&reserve=2%", "rated for 1 to 16 million erases"),
        ("capacity.user=64MiB&spare=130%&rated_erases=10&reserve=2%&factory_bad=45%", "without factory defects"),
        ("rated_erases=10", "missing field `reserve`"),
    ] {
        let said = Preset::find(&format!("x25-m?{change}")).unwrap_err().to_string();
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn an_array_is_as_worn_as_its_drives_together() {
    let member =
        "drive.capacity.user=64MiB&drive.spare=150%&drive.rated_erases=1000&drive.reserve=2%&drive.factory_bad=2%";
    let mut rig = build(&format!("toms-x25e-16?drives=2&level=raid0&count=1&{member}"));
    let Device::Rig(inside) = &rig else { panic!("a rig") };
    let [one, other] = [0, 1].map(|index| inside.drives()[index].health().wear.unwrap());
    let both = rig.health().wear.unwrap();
    assert_eq!((both.factory_bad, both.reserve), (one.factory_bad + other.factory_bad, 2 * one.reserve));
    scatter(&mut rig, 60_000);
    assert!(rig.health().wear.unwrap().erases_max > 0);
}
