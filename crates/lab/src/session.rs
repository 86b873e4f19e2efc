//! Carrying out a plan, step by step, keeping each cell as it is finished.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use block::{Bytes, Nanos, Seed};
use engine::Measurement;
use store::{RunId, Store};
use workload::{Pattern, Stop, Workload};

use crate::LabError;
use crate::fit::fits;
use crate::plan::{Action, Condition, Limit, Measure, Plan};
use crate::subject::{Job, Subject};
use crate::wear::Wear;

/// Who wants to know how far a plan has come.
pub trait Watch: Sync {
    /// The plan begins; in all it takes about this long.
    fn begin(&self, whole: Nanos);
    /// This is what is done now.
    fn step(&self, title: &str);
    /// Work that was expected to take this long has been done.
    fn advance(&self, done: Nanos);
}

/// A plan being carried out for a run of the store.
pub struct Session<'a> {
    store: &'a Mutex<Store>,
    run: RunId,
    plan: &'a Plan,
    seed: Seed,
    watch: &'a dyn Watch,
    /// What the store has already: step, cell, repeat.
    have: HashSet<(String, String, u32)>,
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
        let have = lock(store).keys(run)?;
        Ok(Self { store, run, plan, seed, watch, have })
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
        self.watch.begin(self.plan.steps.iter().map(|step| self.cost(&step.action, subject)).sum());
        let resumed_at = if state_survives { self.last_state_change_done() } else { None };
        let mut written = Bytes::ZERO;
        let mut index = 0;
        while index < self.plan.steps.len() {
            let step = &self.plan.steps[index];
            let cost = self.cost(&step.action, subject);
            let done_before = resumed_at.is_some_and(|last| index <= last);
            match &step.action {
                Action::Measure(_) => {
                    index += self.measure(index, subject)?;
                    continue;
                }
                _ if done_before => self.watch.advance(cost),
                Action::Purge => {
                    self.watch.step(&step.title);
                    written = Bytes::ZERO;
                    if let Some(finding) = subject.purge().map_err(|error| error.at(&step.name, ""))? {
                        self.note(Some(&step.name), None, &finding)?;
                    }
                    self.watch.advance(cost);
                }
                Action::Idle { time } => {
                    self.watch.step(&step.title);
                    subject.idle(*time);
                    self.watch.advance(cost);
                }
                Action::Fill { block, queue_depth } => {
                    self.watch.step(&step.title);
                    for workload in fill(*block, *queue_depth, subject) {
                        let cost = subject.cost(&workload);
                        self.run(subject, &workload, self.seed.split(&step.name), cost)
                            .map_err(|error| error.at(&step.name, ""))?;
                    }
                }
                Action::Condition(condition) => {
                    self.watch.step(&step.title);
                    let done = self.condition(&step.name, condition, subject, cost)?;
                    if condition.wears() {
                        written += done;
                        let wear = Wear { written, capacity: subject.capacity() };
                        wear.finding().map_or(Ok(()), |finding| self.note(Some(&step.name), None, &finding))?;
                    }
                }
            }
            index += 1;
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

    /// Measures this step and those right behind it that measure too; how many steps that is.
    ///
    /// They all see the same state, so that a simulated drive can be measured on all processors at once.
    fn measure(&self, first: usize, subject: &mut dyn Subject) -> Result<usize, LabError> {
        let steps: Vec<(usize, &Measure)> = self.plan.steps[first..]
            .iter()
            .enumerate()
            .map_while(|(offset, step)| match &step.action {
                Action::Measure(measure) => Some((first + offset, measure)),
                _ => None,
            })
            .collect();
        let mut jobs = Vec::new();
        for &(index, measure) in &steps {
            for cell in &measure.cells {
                let name = &self.plan.steps[index].name;
                if let Some(found) = cell.workload.unfit(subject.block()) {
                    self.note(Some(name), Some(&cell.key()), &unaligned(found, subject.block()))?;
                    continue;
                }
                cell.workload.span(subject.capacity()).map_err(|error| LabError::from(error).at(name, &cell.key()))?;
                let repeats = self.missing(index, &cell.key(), measure);
                if repeats.is_empty() {
                    self.watch.advance(share(subject, &cell.workload, measure.repeats as usize));
                } else {
                    jobs.push(Job { step: index, place: (name, cell.key()), workload: &cell.workload, repeats });
                }
            }
        }
        let costs: Vec<Nanos> = jobs.iter().map(|job| share(subject, job.workload, job.repeats.len())).collect();
        let title = |index: usize| &self.plan.steps[jobs[index].step].title;
        if !jobs.is_empty() {
            self.watch.step(title(0));
        }
        let furthest = AtomicUsize::new(0);
        subject.measure(&jobs, &|index, measured, finding| {
            let (step, key) = &jobs[index].place;
            if let Some(finding) = finding {
                self.note(Some(step), None, finding)?;
            }
            // What one repeat shows of the host, the others need not say again.
            let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
            let of_host = measured.iter().map(|(_, measurement)| measurement.host_findings(cores));
            for finding in of_host.into_iter().find(|findings| !findings.is_empty()).into_iter().flatten() {
                self.note(Some(step), Some(key), &finding)?;
            }
            lock(self.store).record_cell(self.run, step, key, &measured)?;
            self.watch.advance(costs[index]);
            let next = (index + 1).min(jobs.len() - 1);
            if furthest.fetch_max(next, Ordering::Relaxed) < next {
                self.watch.step(title(next));
            }
            Ok(())
        })?;
        Ok(steps.len())
    }

    /// The repeats of a cell that the store does not have, each with its seed.
    fn missing(&self, step: usize, key: &str, measure: &Measure) -> Vec<(u32, Seed)> {
        let name = &self.plan.steps[step].name;
        let seed = self.seed.split(name).split(key);
        (0..measure.repeats)
            .filter(|&repeat| !self.have.contains(&(name.clone(), key.to_owned(), repeat)))
            .map(|repeat| (repeat, seed.number(u64::from(repeat))))
            .collect()
    }

    /// Runs rounds until the drive is as wanted; keeps them as one measurement, and gives how much was written.
    fn condition(
        &self,
        name: &str,
        condition: &Condition,
        subject: &mut dyn Subject,
        cost: Nanos,
    ) -> Result<Bytes, LabError> {
        let seed = self.seed.split(name);
        let mut rounds: Vec<f64> = Vec::new();
        let mut whole: Option<Measurement> = None;
        let mut told = Nanos::ZERO;
        let steady = loop {
            let round = subject
                .run(&condition.workload, seed.number(rounds.len() as u64), &|_| {})
                .map_err(|error| error.at(name, &format!("round {}", rounds.len() + 1)))?;
            rounds.push(round.iops());
            match &mut whole {
                None => whole = Some(round),
                Some(whole) => whole.append(&round),
            }
            let so_far = whole.as_ref().expect("a round was just added");
            let reached = share_of(condition.at_least, so_far, subject.capacity());
            let share = Nanos::from_nanos((cost.as_nanos() as f64 * reached.min(1.0)) as u64);
            self.watch.advance(share.since(told));
            told = share.max(told);
            let steady = condition.steady.map(|rule| rule.judge(&rounds).is_some_and(|window| window.steady));
            if reached >= 1.0 && steady == Some(true) {
                break steady;
            }
            if share_of(condition.at_most, so_far, subject.capacity()) >= 1.0 {
                break steady;
            }
        };
        if steady == Some(false) {
            let rounds = rounds.len();
            self.note(Some(name), None, &format!("Steady state was not reached in {rounds} rounds; the figures after it are of a state that still changes."))?;
        }
        let whole = whole.expect("at least one round was run");
        let written = whole.write.bytes;
        if !self.have.contains(&(name.to_owned(), String::new(), 0)) {
            lock(self.store).record_cell(self.run, name, "", &[(0, whole)])?;
        }
        Ok(written)
    }

    fn note(&self, step: Option<&str>, cell: Option<&str>, text: &str) -> Result<(), LabError> {
        Ok(lock(self.store).note(self.run, step, cell, text)?)
    }

    /// About how long a step takes, for the progress bar alone.
    fn cost(&self, action: &Action, subject: &dyn Subject) -> Nanos {
        match action {
            Action::Purge => Nanos::from_millis(200),
            Action::Idle { time } => *time,
            Action::Fill { block, queue_depth } => {
                fill(*block, *queue_depth, subject).map(|workload| subject.cost(&workload)).sum()
            }
            Action::Measure(measure) => {
                measure.cells.iter().map(|cell| share(subject, &cell.workload, measure.repeats as usize)).sum()
            }
            Action::Condition(condition) => {
                let stop = match condition.at_least {
                    Limit::Time(time) => Stop::after(time),
                    Limit::Bytes(bytes) => Stop::after_bytes(bytes),
                    Limit::Percent(percent) => Stop::after_bytes(percent_of(subject.capacity(), percent)),
                };
                subject.cost(&Workload { stop, ..condition.workload.clone() })
            }
        }
    }
}

/// The store, whichever thread asks.
fn lock(store: &Mutex<Store>) -> std::sync::MutexGuard<'_, Store> {
    store.lock().expect("nothing panics while it holds the store")
}

/// What repeats of a cell add to the time that all take, some of them side by side.
fn share(subject: &dyn Subject, workload: &Workload, repeats: usize) -> Nanos {
    let one_by_one = subject.cost(workload).times(repeats as u64);
    Nanos::from_nanos(one_by_one.as_nanos() / subject.side_by_side())
}

/// Writes all of `subject` once, in order: blocks of this size, then one request for what is left at the end. Less than
/// the target's own block is left out, because no request could reach it.
pub(crate) fn fill(block: Bytes, queue_depth: u32, subject: &dyn Subject) -> impl Iterator<Item = Workload> + use<> {
    let whole = subject.capacity().round_down(subject.block());
    let block = block.min(whole);
    let blocks = whole.round_down(block);
    let part = move |offset, length, block| Workload {
        pattern: Pattern::Write,
        block,
        queue_depth,
        offset,
        size: Some(length),
        stop: Stop::after_bytes(length),
        ..Workload::default()
    };
    let rest = whole - blocks;
    let tail = (rest > Bytes::ZERO).then(|| part(blocks, rest, rest));
    std::iter::once(part(Bytes::ZERO, blocks, block)).chain(tail)
}

fn percent_of(whole: Bytes, percent: u32) -> Bytes {
    Bytes::new((u128::from(whole.get()) * u128::from(percent) / 100) as u64)
}

/// What share of `limit` has been reached; 1 when it has.
fn share_of(limit: Limit, so_far: &Measurement, capacity: Bytes) -> f64 {
    let share = |done: u64, of: u64| if of == 0 { 1.0 } else { done as f64 / of as f64 };
    match limit {
        Limit::Time(time) => share(so_far.elapsed.as_nanos(), time.as_nanos()),
        Limit::Bytes(bytes) => share(so_far.bytes().get(), bytes.get()),
        Limit::Percent(percent) => share(so_far.bytes().get(), percent_of(capacity, percent).get()),
    }
}

fn unaligned(found: Bytes, needed: Bytes) -> String {
    format!(
        "Not measured: {found} requests are not whole blocks of the target, which takes multiples of {needed} here."
    )
}
