//! Carrying out a plan, step by step, keeping each cell as it is finished.

mod conditioning;
mod measuring;
mod rounds;
mod trials;

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;

use block::{Bytes, Nanos, Seed};
use engine::{Clock, Measurement, Progress};
use store::{RunId, Store};
use trial::Trial;
use workload::{Spare, Stop, Workload};

use crate::LabError;
use crate::clocks::Clocks;
use crate::fit::fits;
use crate::outlook::{self, Outlook, Part, Spent};
use crate::plan::{Action, Cell, Limit, Plan, Point, Step};
use crate::subject::{Share, Subject, fill};
use crate::variants::{Lineage, Variants, swept};
use crate::wear::{Wear, wears};

/// Who wants to know how far a plan has come.
pub trait Watch: Sync {
    /// The plan begins; in all it takes about this long.
    fn begin(&self, whole: Nanos);
    /// This is what is done now.
    fn step(&self, title: &str);
    /// Work of so much has been done.
    fn advance(&self, done: Nanos);
    /// In all, the work that is done included, it is expected to be so much by now.
    fn expect(&self, _whole: Nanos) {}
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
const INTERRUPTED: &str = "The run was interrupted, so the last of these measurements is shorter than was asked.";

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
    /// How long the rest takes.
    outlook: Outlook<'a>,
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
        Ok(Self { store, run, plan, seed, watch, have, known, outlook: Outlook::new(watch) })
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
        self.look_ahead(subject);
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
                    self.trials(index, trials, whole.subject)?;
                    1
                }
                Action::Measure(_) => self.measure_group(index, whole.subject, &mut variants)?,
                _ if done_before => {
                    self.outlook.skip(index, &step.name);
                    1
                }
                _ => {
                    self.watch.step(&step.title);
                    self.change(index, &mut whole)?;
                    1
                }
            };
        }
        Ok(())
    }

    /// Carries out a step that changes the drive's state.
    fn change(&self, index: usize, lineage: &mut Lineage) -> Result<(), LabError> {
        let (step, since) = (&self.plan.steps[index], Spent::now());
        // Those with other parts are brought along side by side.
        let times = if lineage.is_target() { 1.0 } else { 1.0 / lineage.subject.side_by_side() as f64 };
        // Only of the target is it told how far it is meanwhile.
        let is_target = lineage.is_target();
        let reach = |share: f64| {
            if is_target {
                self.outlook.reach(index, share, since.passed());
            }
        };
        self.bring_about(step, lineage, &reach)?;
        self.outlook.done(index, &step.name, times, since.passed());
        Ok(())
    }

    /// Brings about the state that a step is for.
    fn bring_about(&self, step: &Step, lineage: &mut Lineage, reach: &Share) -> Result<(), LabError> {
        let at = |error: LabError| error.at(&step.name, lineage.changes);
        match &step.action {
            Action::Measure(_) | Action::Trial(_) => {}
            Action::Purge { method } => {
                lineage.written = Bytes::ZERO;
                if let Some(finding) = lineage.subject.purge_by(*method).map_err(at)? {
                    self.note(Some(&step.name), lineage.cell(), &finding)?;
                }
            }
            Action::Idle { time } => lineage.subject.idle(*time),
            Action::Fill { block, queue_depth } => {
                let whole = lineage.subject.capacity().get() as f64;
                for workload in fill(*block, *queue_depth, lineage.subject) {
                    let since = Clocks::now();
                    // What is left at the end is a part of it, however small.
                    let (before, part) =
                        (workload.offset.get() as f64, workload.stop.bytes.unwrap_or_default().get() as f64);
                    let told = |share: f64| reach((before + share * part) / whole);
                    let filled = lineage.subject.run(&workload, self.seed.split(&step.name), &told).map_err(at)?;
                    self.note_all(&step.name, lineage.changes, filled.target_findings())?;
                    self.note_disturbances(since, filled.clock, &step.name, lineage.changes)?;
                }
            }
            Action::Rounds(rounds) => {
                let written = self.rounds(&step.name, rounds, lineage, reach)?;
                if rounds.measure.cells.iter().any(|cell| wears(&cell.workload)) {
                    lineage.written += written;
                }
            }
            Action::Condition(condition) => {
                let done = self.condition(&step.name, condition, lineage, reach)?;
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
                let done = lineage.subject.run(&workload, self.seed.split(&step.name), reach).map_err(at)?;
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

    /// Says what is to be done and how long all of it takes.
    fn look_ahead(&self, subject: &mut dyn Subject) {
        let measures = self.plan.steps.iter().any(|step| matches!(step.action, Action::Measure(_)));
        let (took, copying) = if measures { subject.ready() } else { Default::default() };
        let side_by_side = subject.side_by_side() as f64;
        let swept = swept(self.plan);
        let parts = |(index, step): (usize, &Step)| match &step.action {
            Action::Measure(measure) => measure
                .points()
                .map(|cells| Part {
                    key: outlook::key(cells),
                    expected: measuring(subject, cells, copying),
                    times: f64::from(measure.repeats.least()) / side_by_side,
                })
                .collect(),
            Action::Trial(trials) => {
                let times = f64::from(trials.repeats);
                let part =
                    |point: &Point| Part { key: point.key(), expected: trials.experiment.cost(&point.choices), times };
                trials.points.iter().map(part).collect()
            }
            action => {
                let others = swept.iter().filter(|(_, last)| index < *last).count() as f64;
                let (key, expected) = (step.name.clone(), self.cost(action, subject));
                vec![Part { key, expected, times: 1.0 + others / side_by_side }]
            }
        };
        self.outlook.begin(self.plan.steps.iter().enumerate().map(parts).collect(), subject.is_simulated());
        self.outlook.spend(took);
    }

    /// About how long a step takes, for the progress bar alone.
    fn cost(&self, action: &Action, subject: &dyn Subject) -> Nanos {
        match action {
            Action::Purge { .. } => Nanos::from_millis(200),
            Action::Idle { .. } if subject.is_simulated() => Nanos::ZERO,
            Action::Idle { time } => *time,
            Action::Fill { block, queue_depth } => {
                fill(*block, *queue_depth, subject).map(|workload| subject.cost(&workload)).sum()
            }
            Action::Measure(_) | Action::Trial(_) => Nanos::ZERO,
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
            Action::Precondition(precondition) => subject.cost(&precondition.on(subject.capacity(), subject.spare())),
        }
    }
}

/// The store, whichever thread asks.
fn lock(store: &Mutex<Store>) -> std::sync::MutexGuard<'_, Store> {
    store.lock().expect("nothing panics while it holds the store")
}

/// About how long it takes to measure a point once, where bringing a clone back to its state takes `copying`. The longest of
/// several jobs says how long all of them take.
fn measuring(subject: &dyn Subject, cells: &[Cell], copying: Nanos) -> Nanos {
    let changes = cells.iter().any(|cell| cell.workload.changes_data());
    let longest = cells.iter().map(|cell| subject.cost(&cell.workload)).max().unwrap_or_default();
    longest + if changes { copying } else { Nanos::ZERO }
}

fn percent_of(whole: Bytes, percent: u32) -> Bytes {
    Bytes::new((u128::from(whole.get()) * u128::from(percent) / 100) as u64)
}

fn assumed(spare: Spare) -> String {
    format!(
        "How much flash the target has beyond its capacity is not known; {spare} of it was assumed, the least that is \
         usual. Give the step `spare` if it has more: a drive that has is not brought to its steady state by so little."
    )
}

fn unaligned(found: Bytes, needed: Bytes) -> String {
    format!(
        "Not measured: {found} requests are not whole blocks of the target, which takes multiples of {needed} here."
    )
}
