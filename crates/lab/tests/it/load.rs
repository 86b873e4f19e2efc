//! Loads: arrival rates that are shares of what another step reached; and writing until the cache is full.

use std::sync::Mutex;

use assay_lab::plan::{self, Action, PlanLength};
use assay_lab::{Metric, Outcome, Session, Silent, Simulated, recall};
use block::Seed;
use drive::preset::Preset;
use store::Store;

use crate::support;

const BASE: &str = "\
name = \"p\"
repeats = 2
[workload]
runtime = \"200ms\"
[[step]]
name = \"fill\"
do = \"fill\"
[[step]]
name = \"depth\"
rw = \"randread\"
sweep.iodepth = [1, 8]
";

fn outcome(text: &str, drive: &str) -> Outcome {
    let read = plan::parse(text, PlanLength::Full);
    let plan = read.unwrap_or_else(|mistakes| panic!("{}", plan::render(&mistakes, "p", text, false)));
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut store = Store::open(&directory.path().join("store.sqlite")).unwrap();
    let run = support::begin(&mut store, &plan, drive, None);
    let store = Mutex::new(store);
    let mut subject = Simulated::new(Preset::find(drive.strip_prefix("sim:").unwrap()).unwrap());
    Session::new(&store, run, &plan, Seed::new(1), &Silent).unwrap().carry_out(&mut subject, false).unwrap();
    recall(&store.into_inner().unwrap(), run).unwrap()
}

#[test]
fn loads_are_shares_of_the_most_that_the_other_step_reached() {
    let text = format!(
        "{BASE}[[step]]\nname = \"load\"\nrw = \"randread\"\niodepth = 64\nload-of = \"depth\"\nsweep.load = [\"50%\", \"110%\"]\n"
    );
    let outcome = outcome(&text, "sim:x25-m?capacity.user=1GiB");
    let iops = |step: usize, point: usize| outcome.steps[step].points[point].figure(Metric::Iops).unwrap().mean;
    let most = iops(0, 0).max(iops(0, 1));
    let [half, over] = [0, 1].map(|point| outcome.steps[1].points[point].workload().unwrap().arrival.rate);
    assert!(
        (f64::from(half) / most - 0.5).abs() < 0.001 && (f64::from(over) / most - 1.1).abs() < 0.001,
        "{half} of {most}"
    );
    assert!((iops(1, 0) / f64::from(half) - 1.0).abs() < 0.02, "half of the load is served as it comes");
    assert_eq!(outcome.steps[1].points.iter().map(|point| point.key()).collect::<Vec<_>>(), ["load=50%", "load=110%"]);
    let latency = |point: usize| outcome.steps[1].points[point].figure(Metric::LatencyMean).unwrap().mean;
    assert!(latency(1) > latency(0));
}

/// Some ten reads of a disk in 100 ms, and as many that the plan asks for.
#[test]
fn a_run_tells_which_figures_rest_on_few_requests() {
    let text = "name = 'p'\nrepeats = 2\n[[step]]\nname = 'brief'\nrw = 'randread'\nruntime = '100ms'\n\
                [[step]]\nname = 'asked'\nrw = 'randread'\nnumber_ios = 10\n";
    let outcome = outcome(text, "sim:raptor-36");
    let found: Vec<&str> = outcome.findings.iter().map(|finding| finding.text.as_str()).collect();
    assert!(matches!(found[..], [one] if one.contains("Brief (") && !one.contains("Asked")), "{found:?}");
}

#[test]
fn a_load_says_of_what_it_is_a_share() {
    let wrong = |step: &str| {
        let found =
            plan::parse(&format!("{BASE}[[step]]\nname = \"load\"\nrw = \"randread\"\n{step}"), PlanLength::Full);
        found.unwrap_err().iter().map(|mistake| mistake.message.clone()).collect::<Vec<_>>().join("; ")
    };
    assert!(wrong("sweep.load = [\"50%\"]\n").contains("needs the step whose maximum IOPS"));
    assert!(wrong("load-of = \"depth\"\n").contains("no load is swept"));
    assert!(wrong("load-of = \"later\"\nsweep.load = [\"50%\"]\n").contains("there is no step `later`"));
    for load in ["0%", "1001%", "half", "1.5%"] {
        assert!(
            wrong(&format!("load-of = \"depth\"\nsweep.load = [\"{load}\"]\n")).contains("is not a load"),
            "{load}"
        );
    }
    assert!(wrong("load-of = \"depth\"\nsweep.load = [\"50%\", \"50 %\"]\n").contains("swept twice"));
    for fixed in ["rate_iops = 100", "rate = \"1m\"", "thinktime = \"1ms\""] {
        let said = wrong(&format!("{fixed}\nload-of = \"depth\"\nsweep.load = [\"50%\"]\n"));
        assert!(said.contains("`load` sweeps the arrival rate, and `"), "{fixed}: {said}");
    }
}

#[test]
fn a_write_cache_is_written_full_and_recovers_while_the_drive_is_idle() {
    let text = "name = \"p\"\n[[step]]\nname = \"cache\"\ndo = \"saturate\"\nbs = \"1m\"\niodepth = 4\nat-most = \"50%\"\n\
        burst = \"10%\"\nidle = [\"1ms\", \"60s\"]\n";
    let outcome = outcome(text, "sim:990-pro?capacity.user=32GiB&slc.dynamic=2GiB");
    let Action::Saturate(_) = &outcome.plan.steps[0].action else { panic!("it saturates") };
    let points = &outcome.steps[0].points;
    assert_eq!(points.iter().map(|point| point.key()).collect::<Vec<_>>(), ["", "idle=1ms", "idle=60s"]);
    let rates: Vec<f64> = points.iter().map(|point| point.figure(Metric::Bandwidth).unwrap().mean).collect();
    assert!(rates[2] > 1.2 * rates[1], "an idle minute brings cache back: {rates:?}");
}

/// Wherever the first writes end: what would be written over may be in the cache still.
#[test]
fn writes_after_an_idle_time_go_on_behind_those_before() {
    let text = "name = \"p\"\nrepeats = 1\n[[step]]\nname = \"cache\"\ndo = \"saturate\"\nbs = \"1m\"\nat-most = \"1s\"\n\
        burst = \"10%\"\nidle = [\"1ms\", \"2ms\"]\n\
        [[step]]\nname = \"read\"\nrw = \"read\"\nbs = \"1m\"\nnumber_ios = 1024\n";
    let outcome = outcome(text, "sim:x25-m?capacity.user=1GiB");
    let measured = |step: usize| outcome.steps[step].points.iter().map(|point| point.repeats[0].measurement().unwrap());
    let written: u64 = measured(0).map(|measured| measured.write.bytes.get()).sum();
    let found: u64 = measured(1).map(|measured| measured.drive.unwrap().pages_read * 4096).sum();
    assert!(found.abs_diff(written) < written / 50, "{found} B can be read, {written} B were written");
}
