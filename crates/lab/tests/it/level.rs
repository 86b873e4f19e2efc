//! Throttling and the end of a cache are found on simulated drives that have them, and on no others.

use std::sync::Mutex;

use crate::support;
use assay_lab::plan::{self, PlanLength};
use assay_lab::{Session, Silent, Simulated, recall};
use block::Seed;
use drive::preset::Preset;
use store::Store;

/// The findings of one measurement on a new drive.
fn findings(target: &str, measure: &str) -> Vec<String> {
    let text = format!("name = \"p\"\nrepeats = 1\n[[step]]\nname = \"it\"\n{measure}");
    let plan = plan::parse(&text, PlanLength::Full).unwrap();
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut store = Store::open(&folder.path().join("store.sqlite")).unwrap();
    let run = support::begin(&mut store, &plan, &format!("sim:{target}"), None);
    let store = Mutex::new(store);
    let mut subject = Simulated::new(Preset::find(target).unwrap());
    Session::new(&store, run, &plan, Seed::new(1), &Silent).unwrap().carry_out(&mut subject, false).unwrap();
    let outcome = recall(&store.into_inner().unwrap(), run).unwrap();
    outcome.findings.into_iter().map(|finding| finding.text).collect()
}

const FILL_UP: &str = "rw = \"write\"\nbs = \"128k\"\niodepth = 4\nruntime = \"45s\"\n";

#[test]
fn the_end_of_an_slc_cache_is_found() {
    let found = findings("sata-tlc?slc.fixed=2GiB&slc.dynamic=6GiB", FILL_UP);
    let [said] = &found[..] else { panic!("{found:?}") };
    // 8 GB at 530 MB/s take some 16 s, and a bit more as the cache is emptied meanwhile.
    let second: u32 = said.strip_prefix("Level shift at second ").unwrap().split(':').next().unwrap().parse().unwrap();
    assert!((14..=24).contains(&second), "{said}");
    assert!(said.contains("fewer IOPS") && said.contains("a write cache"), "{said}");
    assert!(said.contains("no thermal throttling"), "{said}");
}

/// A drive that would settle far above where it slows down.
const HOT: &str = "x25-m?thermal.ambient=25 C&thermal.resistance=30 K/W&thermal.heat_capacity=1 J/K&thermal.warm=45 C\
                   &thermal.warm_pace=200%&thermal.hot=75 C&thermal.hot_pace=400%&thermal.hysteresis=2 C";

const READ: &str = "rw = \"randread\"\nbs = \"4k\"\niodepth = 4\nruntime = \"60s\"\n";

#[test]
fn thermal_throttling_is_found_and_called_by_its_name() {
    let found = findings(HOT, "rw = \"write\"\nbs = \"128k\"\niodepth = 4\nruntime = \"60s\"\n");
    assert!(
        found.iter().any(|said| said.contains("fewer IOPS") && said.contains("thermal throttling, for")),
        "{found:?}"
    );
}

#[test]
fn a_steady_drive_raises_no_finding() {
    for (target, measure) in [("x25-m", READ), ("sata-tlc", READ), ("x25-m", FILL_UP)] {
        assert_eq!(findings(target, measure), [""; 0], "{target}, {measure}");
    }
}
