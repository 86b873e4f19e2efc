use block::Endurance;
use drive::preset::Preset;

use super::*;
use crate::{PlanLength, catalog, parse};

/// A target of 100 GiB that moves 100 MB/s in order and a thousand random requests a second.
fn place() -> Place {
    let pace = Pace {
        read: block::Rate::from_megabytes_per_second(100),
        write: block::Rate::from_megabytes_per_second(100),
        random_reads: 1_000,
        random_writes: 1_000,
        latency: Nanos::from_micros(10),
        source: "a test".to_owned(),
    };
    Place::real(Bytes::from_gib(100), Bytes::from_gib(100), pace)
}

/// What a plan of one step writes and how long it takes.
fn cost(step: &str) -> (Bounds<Bytes>, Bounds<Nanos>) {
    let plan =
        parse(&format!("name = \"p\"\nrepeats = 3\n[[step]]\nname = \"it\"\n{step}"), PlanLength::Full, &[]).unwrap();
    let forecast = forecast(&plan, &place());
    (forecast.written(), forecast.time())
}

#[test]
fn what_the_plan_limits_is_exact_and_the_rest_is_estimated() {
    let gib = Bytes::from_gib;
    let (written, time) = cost("do = \"fill\"");
    assert_eq!(written, Bounds::exact(gib(100)));
    assert!(time.is_estimate && time.least.as_secs_f64() / 1073.7 > 0.99, "{time:?}");
    let (written, time) = cost("rw = \"randwrite\"\nbs = \"4k\"\niodepth = 32\nruntime = \"100s\"");
    assert_eq!(time, Bounds::exact(Nanos::from_secs(300)));
    assert_eq!(written, Bounds::estimated(Bytes::from_kib(4).times(300_000)));
    let (written, _) = cost("rw = \"write\"\nbs = \"1m\"\nio_size = \"2g\"");
    assert_eq!(written, Bounds::exact(gib(6)));
    let (written, time) = cost("rw = \"randread\"\nruntime = \"10s\"");
    assert_eq!((written, time), (Bounds::default(), Bounds::exact(Nanos::from_secs(30))));
    let (written, time) = cost("do = \"idle\"\ntime = \"1h\"");
    assert_eq!((written, time), (Bounds::default(), Bounds::exact(Nanos::from_secs(3600))));
}

#[test]
fn a_conditioning_lies_between_its_limits() {
    let wear = "do = \"condition\"\nrw = \"randwrite\"\nround = \"60s\"\nat-least = \"100%\"\nat-most = \"300%\"\n";
    let (written, _) = cost(wear);
    assert_eq!((written.least, written.most), (Bytes::from_gib(100), Bytes::from_gib(300)));
    assert!(!written.is_estimate);
    let (written, _) = cost(&format!("{wear}steady = false"));
    assert_eq!(written, Bounds::exact(Bytes::from_gib(300)), "nothing ends it before");
    let (written, time) =
        cost("do = \"condition\"\nrw = \"randwrite\"\nround = \"60s\"\nat-most = \"1h\"\nsteady = false");
    assert_eq!(time, Bounds::exact(Nanos::from_secs(3600)));
    assert!(written.is_estimate);
}

#[test]
fn a_mix_writes_its_share_and_jobs_write_together() {
    let (mixed, _) = cost("rw = \"randrw\"\nrwmixread = 75\niodepth = 32\nruntime = \"100s\"");
    assert_eq!(mixed.least, Bytes::from_kib(1).times(300_000));
    let job = |name: &str| format!("[[step.job]]\nname = \"{name}\"\nrw = \"write\"\nio_size = \"1g\"\n");
    let (together, time) = cost(&format!("{}{}", job("one"), job("two")));
    assert_eq!(together, Bounds::exact(Bytes::from_gib(6)));
    let (alone, of_one) = cost("rw = \"write\"\nio_size = \"1g\"");
    assert_eq!((alone.least, time.least), (Bytes::from_gib(3), of_one.least));
}

#[test]
fn the_share_of_the_endurance_is_of_what_is_written() {
    let plan = parse("name = \"p\"\n[[step]]\nname = \"f\"\ndo = \"fill\"\n", PlanLength::Full, &[]).unwrap();
    let endurance = Some(RatedEndurance::given(Endurance::new(Bytes::from_gib(10_000))));
    let known = forecast(&plan, &Place { endurance, ..place() });
    assert_eq!(known.share(), Some((0.01, 0.01)));
    assert_eq!(forecast(&plan, &place()).share(), None, "not known is not zero");
}

/// The forecast of the host's time and of the bytes is what the progress bar and the report then show.
#[test]
fn a_review_of_the_default_drive_is_foretold_in_its_rated_speed() {
    let preset = Preset::find("x25-m").unwrap();
    let plan = parse(&catalog::find("review").unwrap().text, PlanLength::Quick, &[]).unwrap();
    let place = Place {
        capacity: preset.capacity(),
        writable: preset.capacity(),
        pace: Pace::rated(&preset),
        is_simulated: true,
        is_disk: false,
        fills_untimed: false,
        overwrites_untimed: true,
        spare: None,
        endurance: RatedEndurance::of(&preset),
    };
    let forecast = forecast(&plan, &place);
    assert_eq!(forecast.pace.source, "the drive's rated speed");
    assert!(forecast.written().least > preset.capacity(), "filled, and then some");
    assert!(forecast.host_time.is_some_and(|time| time > Nanos::from_secs(1)), "{:?}", forecast.host_time);
    let (least, most) = forecast.share().unwrap();
    assert!(0.002 < least && least <= most && most < 0.05, "{least} to {most}");
}

/// Measurements run on copies of a drive, which are as large as its page map; a disk has none.
#[test]
fn copies_of_a_disk_take_no_time_however_much_it_holds() {
    let plan = parse(&catalog::find("review").unwrap().text, PlanLength::Full, &[]).unwrap();
    let time = |name: &str| forecast(&plan, &Place::simulated(&Preset::find(name).unwrap())).host_time.unwrap();
    assert!(time("nearline-16tb") < Nanos::from_secs(60), "{}", time("nearline-16tb"));
    assert!(time("990-pro") > time("nearline-16tb"));
}

/// Nothing of random writes, or of the order of a preconditioning, is simulated on a disk; nor on drives in stripes.
#[test]
fn preconditioning_of_disks_and_arrays_takes_no_hours() {
    let plan = parse("name = \"p\"\n[[step]]\nname = \"age\"\ndo = \"precondition\"\n", PlanLength::Full, &[]).unwrap();
    let forecast = |name: &str| forecast(&plan, &Place::simulated(&Preset::find(name).unwrap()));
    for name in ["nearline-16tb", "archive-8tb", "toms-x25e-16"] {
        let (whole, part) = (forecast(name), forecast(name).host_time.unwrap());
        assert!(part < Nanos::from_secs(15 * 60), "{name}: {part}");
        assert!(whole.written().least > Preset::find(name).unwrap().capacity(), "{name}: it is written all the same");
    }
}
