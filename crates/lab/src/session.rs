//! Carrying out a plan, step by step, keeping each cell as it is finished.

mod conditioning;
mod measuring;
mod rounds;
mod trials;

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use block::{Bytes, Nanos, Seed};
use engine::{Clock, Measurement, Progress};
use store::{RunId, Store};
use trial::Trial;
use workload::{Pattern, Spare, Stop, Workload};

use crate::LabError;
use crate::clocks::Clocks;
use crate::fit::fits;
use crate::plan::{Action, Cell, Limit, Plan, Point, Step};
use crate::subject::{Subject, fill};
use crate::variants::{Lineage, Variants, swept};
use crate::wear::{Wear, wears};

/// Who wants to know how far a plan has come.
pub trait Watch: Sync {
    /// The plan begins; in all it takes about this long.
    fn begin(&self, whole: Nanos);
    /// This is what is done now.
    fn step(&self, title: &str);
    /// Work that was expected to take this long has been done.
    fn advance(&self, done: Nanos);
    /// A measurement in real time has come so far, since it began.
    fn live(&self, _: Progress) {}
    /// A repeat of a cell was measured and is in the store.
    fn kept(&self, _step: &str, _cell: &str, _measurement: &Measurement) {}
    /// A go of a trial is over and in the store.
    fn tried(&self, _step: &str, _cell: &str, _trial: &Trial) {}
    /// There is a doubt about a cell, a step or the whole, and it is in the store.
    fn found(&self, _step: Option<&str>, _cell: Option<&str>, _finding: &str) {}
}

/// Wants to know nothing.
#[derive(Clone, Copy, Debug)]
pub struct Silent;

impl Watch for Silent {
    fn begin(&self, _: Nanos) {}
    fn step(&self, _: &str) {}
    fn advance(&self, _: Nanos) {}
}

/// What is said of a cell whose last repeat ended before its time.
const INTERRUPTED: &str = "The run was interrupted: the last of these measurements is shorter than requested.";

/// A plan being carried out for a run of the store.
pub struct Session<'a> {
    store: &'a Mutex<Store>,
    run: RunId,
    plan: &'a Plan,
    seed: Seed,
    watch: &'a dyn Watch,
    /// What the store has already: step, cell, repeat.
    have: HashSet<(String, String, u32)>,
    /// The IOPS of those whose precision decides how often they are measured, by step and cell.
    known: HashMap<(String, String), Vec<f64>>,
    /// Whether the clones have been made that measurements run on.
    has_cloned: AtomicBool,
}

impl<'a> Session<'a> {
    /// Will carry out what the store does not yet have of `run`.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn new(
        store: &'a Mutex<Store>,
        run: RunId,
        plan: &'a Plan,
        seed: Seed,
        watch: &'a dyn Watch,
    ) -> Result<Self, LabError> {
        // What was cut short is measured again, whole.
        let cut_short = lock(store).notes(run)?.into_iter().filter(|note| note.text == INTERRUPTED);
        for note in cut_short {
            lock(store).retract(run, &note.step.unwrap_or_default(), &note.cell.unwrap_or_default(), INTERRUPTED)?;
        }
        let have = lock(store).keys(run)?;
        let until = |step: &Step| step.action.measure().is_some_and(|measure| measure.repeats.until.is_some());
        let mut known: HashMap<(String, String), Vec<f64>> = HashMap::new();
        if !have.is_empty() && plan.steps.iter().any(until) {
            for stored in lock(store).measured(run)? {
                known.entry((stored.step, stored.key)).or_default().push(stored.measurement.iops());
            }
        }
        Ok(Self { store, run, plan, seed, watch, have, known, has_cloned: AtomicBool::new(false) })
    }

    /// Carries out the plan on `subject`, if all of it fits there.
    ///
    /// Steps that change the state of a simulated drive are done again when a run is resumed, because only
    /// their measurements were kept; on a real target its state was kept by the target.
    ///
    /// # Errors
    /// At the first failure. Every cell finished before it is in the store.
    pub fn carry_out(&self, subject: &mut dyn Subject, state_survives: bool) -> Result<(), LabError> {
        fits(self.plan, subject)?;
        self.watch.begin(self.whole_cost(subject));
        let resumed_at = if state_survives { self.last_state_change_done() } else { None };
        let mut whole = Lineage { subject, changes: "", written: Bytes::ZERO, survives: state_survives };
        let mut variants = Variants::default();
        let mut index = 0;
        while let Some(step) = self.plan.steps.get(index) {
            // Rounds that were cut off go on where they were.
            let goes_on = |last| index == last && matches!(step.action, Action::Rounds(_));
            let done_before = resumed_at.is_some_and(|last| index <= last && !goes_on(last));
            index += match &step.action {
                Action::Trial(trials) => {
                    self.trials(step, trials, whole.subject)?;
                    1
                }
                Action::Measure(_) => self.measure_group(index, whole.subject, &mut variants)?,
                action if done_before => {
                    self.watch.advance(self.cost(action, whole.subject));
                    1
                }
                _ => {
                    self.watch.step(&step.title);
                    self.change(step, &mut whole)?;
                    1
                }
            };
        }
        Ok(())
    }

    /// Carries out a step that changes the drive's state.
    fn change(&self, step: &Step, lineage: &mut Lineage) -> Result<(), LabError> {
        let whole_cost = self.cost(&step.action, lineage.subject);
        // Those with other parts are brought along side by side.
        let cost = if lineage.is_target() { whole_cost } else { shared(whole_cost, lineage.subject) };
        let at = |error: LabError| error.at(&step.name, lineage.changes);
        match &step.action {
            Action::Measure(_) | Action::Trial(_) => {}
            Action::Purge { method } => {
                lineage.written = Bytes::ZERO;
                if let Some(finding) = lineage.subject.purge_by(*method).map_err(at)? {
                    self.note(Some(&step.name), lineage.cell(), &finding)?;
                }
                self.watch.advance(cost);
            }
            Action::Idle { time } => {
                lineage.subject.idle(*time);
                self.watch.advance(cost);
            }
            Action::Fill { block, queue_depth } => {
                for workload in fill(*block, *queue_depth, lineage.subject) {
                    let since = Clocks::now();
                    // What is left at the end is a part of it, however small.
                    let part = lineage.subject.cost(&workload).as_nanos() as f64 / whole_cost.as_nanos().max(1) as f64;
                    let cost = Nanos::from_nanos((cost.as_nanos() as f64 * part) as u64);
                    let filled = self.run(lineage.subject, &workload, self.seed.split(&step.name), cost).map_err(at)?;
                    self.note_all(&step.name, lineage.changes, filled.target_findings())?;
                    self.note_disturbances(since, filled.clock, &step.name, lineage.changes)?;
                }
            }
            Action::Rounds(rounds) => {
                let written = self.rounds(&step.name, rounds, lineage, cost)?;
                if rounds.measure.cells.iter().any(|cell| wears(&cell.workload)) {
                    lineage.written += written;
                }
            }
            Action::Condition(condition) => {
                let done = self.condition(&step.name, condition, lineage, cost)?;
                if wears(&condition.workload) {
                    lineage.written += done;
                    let wear = Wear { written: lineage.written, capacity: lineage.subject.capacity() };
                    let noted = |finding: String| self.note(Some(&step.name), lineage.cell(), &finding);
                    wear.finding().map_or(Ok(()), noted)?;
                }
            }
            Action::Precondition(precondition) => {
                let known = lineage.subject.spare();
                if precondition.spare.or(known).is_none() {
                    self.note(Some(&step.name), lineage.cell(), &assumed(Spare::USUAL))?;
                }
                let workload = precondition.on(lineage.subject.capacity(), known);
                let done = self.run(lineage.subject, &workload, self.seed.split(&step.name), cost).map_err(at)?;
                lineage.written += done.write.bytes;
                self.note_all(&step.name, lineage.changes, done.target_findings())?;
                self.keep_series(&step.name, lineage, done)?;
            }
        }
        Ok(())
    }

    /// The last state-changing step that can be left out because a later measurement is in the store.
    fn last_state_change_done(&self) -> Option<usize> {
        let measured = |name: &str| self.have.iter().any(|(step, _, _)| step == name);
        self.plan.steps.iter().rposition(|step| measured(&step.name))
    }

    /// Runs a workload, telling the watcher of its progress.
    fn run(
        &self,
        subject: &mut dyn Subject,
        workload: &Workload,
        seed: Seed,
        cost: Nanos,
    ) -> Result<Measurement, LabError> {
        let told = Mutex::new(Nanos::ZERO);
        let tell = |share: f64| {
            let reached = Nanos::from_nanos((cost.as_nanos() as f64 * share) as u64);
            let mut told = told.lock().expect("nothing panics while it holds the progress");
            self.watch.advance(reached.since(*told));
            *told = reached.max(*told);
        };
        let measurement = subject.run(workload, seed, &tell)?;
        tell(1.0);
        Ok(measurement)
    }

    /// Keeps doubts about a cell.
    fn note_all(&self, step: &str, cell: &str, findings: Vec<String>) -> Result<(), LabError> {
        let cell = Some(cell).filter(|cell| !cell.is_empty());
        findings.iter().try_for_each(|finding| self.note(Some(step), cell, finding))
    }

    /// Keeps what happened to the machine since then, if this was measured by its clock.
    fn note_disturbances(&self, since: Clocks, clock: Clock, step: &str, cell: &str) -> Result<(), LabError> {
        if clock == Clock::Virtual {
            return Ok(());
        }
        let disturbances = since.disturbances(&Clocks::now());
        self.note_all(step, cell, disturbances.iter().map(ToString::to_string).collect())
    }

    fn note(&self, step: Option<&str>, cell: Option<&str>, text: &str) -> Result<(), LabError> {
        lock(self.store).note(self.run, step, cell, text)?;
        self.watch.found(step, cell, text);
        Ok(())
    }

    /// About how long all takes, for the progress bar alone.
    fn whole_cost(&self, subject: &dyn Subject) -> Nanos {
        let target: Nanos = self.plan.steps.iter().map(|step| self.cost(&step.action, subject)).sum();
        let again = swept(self.plan).into_iter().flat_map(|(_, last)| &self.plan.steps[..last]);
        let again = again.filter(|step| !matches!(step.action, Action::Measure(_)));
        let cloned = self.plan.steps.iter().any(|step| matches!(step.action, Action::Measure(_)));
        let cloning = if cloned { copying(subject).times(FIRST_CLONE) } else { Nanos::ZERO };
        target + cloning + again.map(|step| shared(self.cost(&step.action, subject), subject)).sum()
    }

    /// About how long a step takes, for the progress bar alone.
    fn cost(&self, action: &Action, subject: &dyn Subject) -> Nanos {
        match action {
            Action::Purge { .. } => match copying(subject) {
                Nanos::ZERO => Nanos::from_millis(200),
                copying => copying,
            },
            Action::Idle { time } => *time,
            Action::Fill { block, queue_depth } => {
                fill(*block, *queue_depth, subject).map(|workload| subject.cost(&workload)).sum()
            }
            Action::Measure(measure) => {
                measure.points().map(|cells| share(subject, cells, measure.repeats.least() as usize)).sum()
            }
            Action::Rounds(rounds) => {
                let once = |cell: &Cell| subject.cost(&cell.workload) + rounds.rest;
                let before = rounds.pre_writes.as_ref().map(|workload| subject.cost(workload));
                let round: Nanos = rounds.measure.cells.iter().map(once).chain(before).sum();
                round.times(u64::from(rounds.at_most))
            }
            Action::Condition(condition) => {
                let stop = match condition.at_least {
                    Limit::Time(time) => Stop::after(time),
                    Limit::Bytes(bytes) => Stop::after_bytes(bytes),
                    Limit::Percent(percent) => Stop::after_bytes(percent_of(subject.capacity(), percent)),
                };
                subject.cost(&Workload { stop, ..condition.workload.clone() })
            }
            Action::Trial(trials) => {
                let once = |point: &Point| trials.experiment.cost(&point.choices);
                trials.points.iter().map(once).sum::<Nanos>().times(u64::from(trials.repeats))
            }
            Action::Precondition(precondition) => subject.cost(&precondition.on(subject.capacity(), subject.spare())),
        }
    }
}

/// The store, whichever thread asks.
fn lock(store: &Mutex<Store>) -> std::sync::MutexGuard<'_, Store> {
    store.lock().expect("nothing panics while it holds the store")
}

/// How much longer the first clone of a drive takes than one that takes an old one's place. Source: measured on
/// simulated
/// drives of 80 and 500 GB; the memory is touched for the first time.
const FIRST_CLONE: u64 = 18;

/// About how long it takes to copy all that a subject keeps; zero where nothing is copied.
fn copying(subject: &dyn Subject) -> Nanos {
    subject.readying(&Workload { pattern: Pattern::RandWrite, ..Workload::default() })
}

/// What repeats of a point add to the time that all take, some of them side by side. The longest of several jobs says
/// how long all of them take.
fn share(subject: &dyn Subject, cells: &[Cell], repeats: usize) -> Nanos {
    let cost = |cell: &Cell| subject.cost(&cell.workload) + subject.readying(&cell.workload);
    let once = cells.iter().map(cost).max().unwrap_or_default();
    shared(once.times(repeats as u64), subject)
}

/// The time that work takes which is done side by side.
fn shared(one_by_one: Nanos, subject: &dyn Subject) -> Nanos {
    Nanos::from_nanos(one_by_one.as_nanos() / subject.side_by_side())
}

fn percent_of(whole: Bytes, percent: u32) -> Bytes {
    Bytes::new((u128::from(whole.get()) * u128::from(percent) / 100) as u64)
}

fn assumed(spare: Spare) -> String {
    format!(
        "The target's over-provisioning is unknown; {spare} was assumed, the usual minimum. If it has more, give the step `spare`: otherwise the drive does not reach its steady state."
    )
}

fn unaligned(found: Bytes, needed: Bytes) -> String {
    format!("Not measured: requests of {found} are not multiples of the target's {needed} blocks.")
}
