//! What is told of a simulated drive while it is filled, conditioned and measured.

use std::sync::Mutex;

use crate::support;
use assay_lab::plan::{self, PlanLength};
use assay_lab::{Progress, Session, Silent, Simulated, Tracker, Watch, recall};
use block::{Bytes, Nanos, Seed};
use drive::Counters;
use drive::preset::Preset;
use engine::{Clock, CurveWindow, LiveProgress};
use store::Store;

const PLAN: &str = r#"
name = "p"
repeats = 2
[[step]]
name = "fill"
do = "fill"
[[step]]
name = "wear"
title = "Random writes until steady"
do = "condition"
rw = "randwrite"
iodepth = 32
round = "2s"
at-least = "20%"
at-most = "12s"
[[step]]
name = "read"
title = "Reads"
runtime = "100ms"
job = [{ name = "one", rw = "randread" }, { name = "two", rw = "randread" }]
[[step]]
name = "write"
title = "Writes"
rw = "randwrite"
runtime = "100ms"
sweep.iodepth = [1, 4]
"#;

#[derive(Default)]
struct Heard {
    live: Vec<LiveProgress>,
    judged: Vec<(u32, Option<CurveWindow>)>,
    did: Vec<Counters>,
    steps: Vec<String>,
}

#[derive(Default)]
struct Listener(Mutex<Heard>);

impl Watch for Listener {
    fn begin(&self, _: Nanos) {}
    fn step(&self, title: &str) {
        self.0.lock().unwrap().steps.push(title.to_owned());
    }
    fn advance(&self, _: Nanos) {}
    fn live(&self, now: LiveProgress) {
        self.0.lock().unwrap().live.push(now);
    }
    fn judged(&self, rounds: u32, window: Option<CurveWindow>) {
        self.0.lock().unwrap().judged.push((rounds, window));
    }
    fn did(&self, counters: Counters) {
        self.0.lock().unwrap().did.push(counters);
    }
}

/// The digest of all that is measured while `watch` hears of it.
fn measured(watch: &dyn Watch) -> String {
    let plan = plan::parse(PLAN, PlanLength::Full).unwrap();
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut store = Store::open(&directory.path().join("store.sqlite")).unwrap();
    let target = "x25-m?capacity.user=64MiB&spare=50%&channels=2";
    let run = support::begin(&mut store, &plan, &format!("sim:{target}"), None);
    let store = Mutex::new(store);
    let mut subject = Simulated::new(Preset::find(target).unwrap());
    Session::new(&store, run, &plan, Seed::new(1), watch).unwrap().carry_out(&mut subject, false).unwrap();
    format!("{:?}", recall(&store.into_inner().unwrap(), run).unwrap().steps)
}

#[test]
fn a_conditioning_is_told_as_one_with_each_round_judged_and_measures_the_same() {
    let listener = Listener::default();
    assert_eq!(measured(&listener), measured(&Silent), "who listens changes nothing");
    let heard = listener.0.into_inner().unwrap();
    assert!(heard.live.iter().all(|now| now.clock == Clock::Virtual));
    let rounds: Vec<u32> = heard.judged.iter().map(|(rounds, _)| *rounds).collect();
    assert_eq!(rounds, (1..=rounds.len() as u32).collect::<Vec<_>>());
    assert!(rounds.len() >= 4, "{rounds:?}");
    for (rounds, window) in &heard.judged {
        assert_eq!(window.is_some(), *rounds >= 5, "the rule judges five rounds");
        let Some(window) = window else { continue };
        assert!(window.begin < window.end && window.found.mean > 0.0, "{window:?}");
    }
    // The fill comes first, unless its end was set without simulating its time; the conditioning begins where time does anew.
    let begun = (1..heard.live.len()).rfind(|at| heard.live[*at].elapsed < heard.live[at - 1].elapsed).unwrap_or(0);
    let conditioning = &heard.live[begun..];
    assert!(conditioning.len() >= rounds.len(), "each round is told once at least");
    assert!(conditioning.is_sorted_by_key(|now| (now.elapsed, now.requests)));
    let last = conditioning.last().unwrap();
    assert!(last.elapsed >= Nanos::from_secs(2 * rounds.len() as u64), "{last:?} after {} rounds", rounds.len());
}

#[test]
fn a_drive_s_counters_have_all_that_was_done_to_it_once() {
    let listener = Listener::default();
    measured(&listener);
    let heard = listener.0.into_inner().unwrap();
    let written = |did: &Counters| did.host_written;
    assert!(written(&heard.did[0]) >= Bytes::from_mib(64), "the fill is done by the drive itself: {:?}", heard.did[0]);
    assert!(heard.did.is_sorted_by_key(written));
    // Jobs side by side have one drive: it reads what they have read together.
    let last = heard.did.last().unwrap();
    assert!(last.requests[0] > 0 && last.host_read == Bytes::from_kib(4).times(last.requests[0]), "{last:?}");
}

#[test]
fn each_step_is_told_once_in_the_plan_s_order() {
    let listener = Listener::default();
    measured(&listener);
    let mut steps = listener.0.into_inner().unwrap().steps;
    // Two cells of a step follow one another.
    steps.dedup();
    let place = |title: &str| steps.iter().position(|step| step == title).unwrap();
    assert!(place("Random writes until steady") < place("Reads") && place("Reads") < place("Writes"), "{steps:?}");
    assert_eq!(steps.iter().filter(|step| *step == "Writes").count(), 1, "each is told once: {steps:?}");
}

#[test]
fn a_curve_shows_the_conditioning_and_its_window_after_it_has_ended() {
    let progress = Progress::default();
    let tracker = Tracker::new(&progress, Vec::new());
    measured(&tracker);
    let curve = progress.look(|snapshot| snapshot.curve.clone());
    assert_eq!((curve.step.as_str(), curve.clock), ("Random writes until steady", Clock::Virtual));
    assert!(curve.rounds >= 4 && curve.points.len() >= curve.rounds as usize, "{curve:?}");
    assert!(curve.end() >= 2.0 * f64::from(curve.rounds), "{curve:?}");
}
