//! Every plan that is built in, in its short form, from the command line to its report.

use std::sync::Mutex;

use crate::support::{Place, guest};
use lab::plan::{Action, Axis, Plan, PlanLength, catalog, parse};
use lab::{Metric, Outcome, recall};
use store::{RunId, Store};
use testkit::soak;

/// A small drive that is soon written once.
const DRIVE: &str = "sim:x25-m?capacity.user=1GiB";
/// A small array, for the plan that counts drives.
const ARRAY: &str = "sim:toms-x25e-16?drive.capacity.user=64MiB";

/// What the report of a plan must have that is its own.
const TELLS: [(&str, &str); 6] = [
    ("snia-enterprise", "Steady-state determination"),
    ("snia-enterprise", "The measurement window"),
    ("snia-enterprise", "No conformance is claimed"),
    ("arrays", "× at 1"),
    ("access-time", "Mean of all"),
    ("boot", "Time, <span"),
];

/// The plans that try what stands above a drive, or the others.
fn plans(with_trials: bool) -> impl Iterator<Item = (&'static str, Plan)> + Send {
    let read = |(name, text): &(&'static str, &str)| (*name, parse(text, PlanLength::Full).expect("it is a plan"));
    catalog::builtin().iter().map(read).filter(move |(_, plan)| plan.has_trials() == with_trials)
}

/// What this machine lacks for a plan's trials.
fn lacks(plan: &Plan) -> Option<String> {
    let of = |action: &Action| match action {
        Action::Trial(trials) => trials.points.iter().find_map(|point| trials.experiment.unavailable(&point.choices)),
        _ => None,
    };
    // What boots is a kernel that has to be fetched, which scripts/tools tried too.
    if plan.name.starts_with("boot-")
        && let Some(lacking) = guest::lacking("guest-drives")
    {
        return Some(lacking);
    }
    let needed = ["/dev/fuse", "/dev/loop-control"].into_iter().find(|path| !std::path::Path::new(path).exists());
    needed.map(|path| format!("there is no {path}")).or_else(|| plan.steps.iter().find_map(|step| of(&step.action)))
}

/// Whether it varies parts of the drive, or of what is around it.
fn sweeps(plan: &Plan, parts_of: &str) -> bool {
    let axes = |action: &Action| match action {
        Action::Measure(measure) => measure.axes.clone(),
        _ => Vec::new(),
    };
    let of_these = |axis: &Axis| matches!(axis, Axis::Part(path) if path.starts_with(parts_of));
    plan.steps.iter().any(|step| axes(&step.action).iter().any(of_these))
}

/// Reviews `target` by this plan, each cell once; what came of it.
fn review(plan: &str, target: &[&str]) -> Outcome {
    let place = Place::new();
    let arguments = [&["review", "--quick", "--repeats", "1", "--out", "reports", "--plan", plan], target].concat();
    let said = place.succeeds(&arguments);
    let report = said.lines().last().and_then(|line| line.strip_prefix("Report: ")).expect("it ends with its report");
    let page = std::fs::read_to_string(report).unwrap();
    for (of, words) in TELLS.into_iter().filter(|(of, _)| *of == plan) {
        assert!(page.contains(words), "{of}: its report does not have `{words}`");
    }
    recall(&Store::open(&place.store()).unwrap(), RunId(1)).unwrap()
}

/// Each step that measures has a figure in each of its cells: how much a second, and how long a request takes.
fn has_figures(outcome: &Outcome) {
    let plan = &outcome.plan.name;
    assert!(!outcome.steps.is_empty(), "{plan} measures something");
    for step in &outcome.steps {
        let name = &outcome.plan.steps[step.index].name;
        for cell in step.points.iter().filter(|point| point.workload().is_some()) {
            let figure = |metric| cell.figure(metric).map_or(0.0, |figure| figure.mean);
            let (rate, latency) = (figure(Metric::Iops), figure(Metric::LatencyMean));
            assert!(rate > 0.0 && latency > 0.0, "{plan}: {name}: {:?}: {rate} IOPS, {latency} µs", cell.point);
        }
        for point in step.points.iter().filter(|point| point.workload().is_none()) {
            let key = point.key();
            let first = point.repeats.first().unwrap_or_else(|| panic!("{plan}: {name}: {key} was not tried"));
            let figures = first.figures();
            let figure = figures.first().unwrap_or_else(|| panic!("{plan}: {name}: {key} gave no figure"));
            assert!(figure.value > 0.0, "{plan}: {name}: {key}: {figure:?}");
        }
    }
}

/// Does the same with these plans, a few side by side.
fn each(
    plans: impl IntoIterator<Item = (&'static str, Plan), IntoIter: Send>,
    work: impl Fn(&'static str, &Plan) + Sync,
) {
    let left = Mutex::new(plans.into_iter());
    let next = || left.lock().expect("no work is done while it is held").next();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while let Some((name, plan)) = next() {
                    work(name, &plan);
                }
            });
        }
    });
}

#[test]
fn every_plan_gives_its_figures_on_a_simulated_drive() {
    each(plans(false), |name, plan| {
        let target = if sweeps(plan, "rig") { ARRAY } else { DRIVE };
        has_figures(&review(name, &[target]));
    });
}

/// Does the same with plans that try things and can be carried out here, one after another: they share the kernel.
fn some_with_trials(work: impl Fn(&'static str)) {
    for (name, plan) in soak::some(plans(true).collect(), 1) {
        match lacks(&plan) {
            Some(lacking) => println!("skipped: {name}: {lacking}"),
            None => work(name),
        }
    }
}

#[test]
fn every_plan_with_trials_gives_their_figures_on_an_attached_drive() {
    some_with_trials(|name| has_figures(&review(name, &[DRIVE])));
}

#[test]
fn every_plan_with_trials_gives_their_figures_on_a_file() {
    some_with_trials(|name| has_figures(&review(name, &["./new.bin", "--size", "1g"])));
}

#[test]
fn every_plan_gives_its_figures_on_a_file_unless_it_varies_what_a_file_has_not() {
    each(soak::some(plans(false).collect(), 2), |name, plan| {
        let target = ["./new.bin", "--size", "64m"];
        if sweeps(plan, "") {
            let said = Place::new().refuses(&[&["review", "--quick", "--plan", name], &target[..]].concat());
            assert!(said.contains("simulated"), "{name} says where it works:\n{said}");
        } else if name == "boot" {
            // Its requests go to places on a drive of 1 GiB, and come in the time in which they were recorded.
            let said = Place::new().refuses(&[&["review", "--quick", "--plan", name], &target[..]].concat());
            assert!(said.contains("at least 1 GiB"), "{said}");
        } else {
            has_figures(&review(name, &target));
        }
    });
}
