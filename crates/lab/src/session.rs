//! Carrying out a plan, step by step, keeping each cell as it is finished.

mod rounds;

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use block::{Bytes, Nanos, Seed};
use engine::{Clock, Measurement, Progress};
use rayon::prelude::*;
use stats::REPEATS_LEAST;
use store::{RunId, Store};
use workload::{Pattern, Spare, Stop, Workload};

use crate::LabError;
use crate::clocks::Clocks;
use crate::fit::fits;
use crate::level;
use crate::plan::{Action, Cell, Condition, Limit, Measure, Plan, Step};
use crate::subject::{Repeats, Subject, Task};
use crate::thermometer::{Thermometer, Warmth};
use crate::variants::{Lineage, Variant, Variants, swept};
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
        Ok(Self { store, run, plan, seed, watch, have, known })
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
            Action::Measure(_) => {}
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

    /// Measures this step and those right behind it that measure too; how many steps that is.
    ///
    /// They all see the same state, so that a simulated drive can be measured on all processors at once. Drives with
    /// other parts come after the target, as many at a time as there are processors to bring them along.
    fn measure_group(
        &self,
        first: usize,
        target: &mut dyn Subject,
        variants: &mut Variants,
    ) -> Result<usize, LabError> {
        let measures = |step: &&Step| matches!(step.action, Action::Measure(_));
        let end = first + self.plan.steps[first..].iter().take_while(measures).count();
        self.measure(first..end, "", target)?;
        let swept = self.wanted_drives(first..end);
        for some in swept.chunks(target.side_by_side().max(1) as usize) {
            let some = some.iter().map(|changes| variants.take(changes, target)).collect::<Result<Vec<_>, _>>()?;
            let bring = |mut variant: Variant| self.bring_along(&mut variant, first).map(|()| variant);
            let brought = some.into_par_iter().map(bring).collect::<Result<Vec<_>, LabError>>()?;
            for mut variant in brought {
                self.measure(first..end, &variant.changes, variant.subject.as_mut())?;
                variant.next = end;
                variants.put_back(variant, &self.plan.steps[end..]);
            }
        }
        Ok(end - first)
    }

    /// The changes that make the drives on which cells of `steps` are still to be measured, in order.
    fn wanted_drives(&self, steps: Range<usize>) -> Vec<String> {
        let mut wanted: Vec<String> = Vec::new();
        for index in steps {
            let Action::Measure(measure) = &self.plan.steps[index].action else { continue };
            for point in measure.points().filter(|point| !self.missing(index, point, measure).is_empty()) {
                let changes = point[0].changes();
                if !changes.is_empty() && !wanted.contains(&changes) {
                    wanted.push(changes);
                }
            }
        }
        wanted
    }

    /// Does on a drive with other parts what the plan did before step number `until`.
    fn bring_along(&self, variant: &mut Variant, until: usize) -> Result<(), LabError> {
        let Variant { changes, subject, written, next } = variant;
        let mut lineage = Lineage { subject: subject.as_mut(), changes, written: *written, survives: false };
        for step in &self.plan.steps[*next..until] {
            if !matches!(step.action, Action::Measure(_)) {
                self.watch.step(&format!("{}, {}", step.title, lineage.changes));
                self.change(step, &mut lineage)?;
            }
        }
        (*written, *next) = (lineage.written, until);
        Ok(())
    }

    /// Measures the cells of `steps` that are of the drive with these `changes`, which `subject` is.
    fn measure(&self, steps: Range<usize>, changes: &str, subject: &mut dyn Subject) -> Result<(), LabError> {
        let mut tasks = Vec::new();
        for index in steps {
            let Action::Measure(measure) = &self.plan.steps[index].action else { continue };
            for cells in measure.points().filter(|point| point[0].changes() == changes) {
                let name = &self.plan.steps[index].name;
                if let Some(found) = cells.iter().find_map(|cell| cell.workload.unfit(subject.block())) {
                    let finding = unaligned(found, subject.block());
                    cells.iter().try_for_each(|cell| self.note(Some(name), Some(&cell.key()), &finding))?;
                    continue;
                }
                let repeats = self.missing(index, cells, measure);
                if repeats.is_empty() {
                    self.watch.advance(share(subject, cells, measure.repeats.least() as usize));
                } else {
                    tasks.push(self.task(index, cells, measure, repeats));
                }
            }
        }
        let expected = |task: &Task| match task.enough {
            Some(_) => task.repeats.len().min(REPEATS_LEAST),
            None => task.repeats.len(),
        };
        let costs: Vec<Nanos> = tasks.iter().map(|task| share(subject, task.cells, expected(task))).collect();
        let title = |index: usize| &self.plan.steps[tasks[index].step].title;
        if !tasks.is_empty() {
            self.watch.step(title(0));
        }
        let furthest = AtomicUsize::new(0);
        let kept = Mutex::new(None);
        let since = Mutex::new(Clocks::now());
        let thermometer = subject.thermometer();
        let degrees = || thermometer.as_ref().and_then(Thermometer::read);
        let warm = Mutex::new(degrees());
        let keep = |index: usize, measured: Repeats, finding: Option<&str>| {
            *kept.lock().expect("nothing panics while it holds a number") = Some(index);
            if let Some(finding) = finding {
                self.note(Some(tasks[index].name), None, finding)?;
            }
            if let Some(one) = measured.first().and_then(|(_, together)| together.first()) {
                let mut since = since.lock().expect("nothing panics while it holds the clocks");
                let cell = tasks[index].cells.first().map(Cell::key).unwrap_or_default();
                self.note_disturbances(*since, one.clock, tasks[index].name, &cell)?;
                *since = Clocks::now();
            }
            // What one repeat shows of the host, the others need not say again.
            let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
            let workers = tasks[index].cells.iter().map(|cell| cell.workload.workers).sum();
            let of_host =
                measured.iter().flat_map(|(_, together)| together).map(|one| one.host_findings(cores.min(workers)));
            for finding in of_host.into_iter().find(|findings| !findings.is_empty()).into_iter().flatten() {
                self.note(Some(tasks[index].name), tasks[index].cells.first().map(Cell::key).as_deref(), &finding)?;
            }
            for (_, together) in &measured {
                for (cell, one) in tasks[index].cells.iter().zip(together) {
                    self.note_all(tasks[index].name, &cell.key(), one.target_findings())?;
                }
            }
            let after = degrees();
            let before = std::mem::replace(&mut *warm.lock().expect("nothing panics while it holds a number"), after);
            self.note_levels(&tasks[index], &measured, Warmth { before, after })?;
            self.keep(&tasks[index], measured)?;
            self.watch.advance(costs[index]);
            let next = (index + 1).min(tasks.len() - 1);
            if furthest.fetch_max(next, Ordering::Relaxed) < next {
                self.watch.step(title(next));
            }
            Ok(())
        };
        let done = subject.measure(&tasks, &keep, &|progress| self.watch.live(progress));
        let last = kept.into_inner().expect("nothing panics while it holds a number");
        if let (Err(error), Some(last)) = (&done, last)
            && error.is_interruption()
        {
            for cell in tasks[last].cells {
                self.note(Some(tasks[last].name), Some(&cell.key()), INTERRUPTED)?;
            }
        }
        done
    }

    /// Keeps that a cell did not stay on its level.
    fn note_levels(&self, task: &Task, measured: &Repeats, warm: Warmth) -> Result<(), LabError> {
        for (index, cell) in task.cells.iter().enumerate() {
            let repeats: Vec<&Measurement> = measured.iter().filter_map(|(_, together)| together.get(index)).collect();
            self.note_all(task.name, &cell.key(), level::finding(&repeats, warm).into_iter().collect())?;
        }
        Ok(())
    }

    /// Keeps what was measured at a point, all jobs or none.
    fn keep(&self, task: &Task, measured: Repeats) -> Result<(), LabError> {
        let mut cells: Vec<(String, Vec<(u32, Measurement)>)> =
            task.cells.iter().map(|cell| (cell.key(), Vec::new())).collect();
        for (repeat, together) in measured {
            for ((_, repeats), one) in cells.iter_mut().zip(together) {
                repeats.push((repeat, one));
            }
        }
        Ok(lock(self.store).record_point(self.run, task.name, &cells)?)
    }

    /// The repeats of a point that the store does not have of all its cells.
    fn missing(&self, step: usize, cells: &[Cell], measure: &Measure) -> Vec<u32> {
        let name = &self.plan.steps[step].name;
        let keys: Vec<String> = cells.iter().map(Cell::key).collect();
        let has = |repeat, key: &String| self.have.contains(&(name.clone(), key.clone(), repeat));
        let missing: Vec<u32> =
            (0..measure.repeats.most).filter(|&repeat| !keys.iter().all(|key| has(repeat, key))).collect();
        let is_enough = || self.task(step, cells, measure, Vec::new()).is_enough(&Vec::new());
        if missing.is_empty() || is_enough() { Vec::new() } else { missing }
    }

    /// These repeats of a point.
    fn task<'c>(&'c self, step: usize, cells: &'c [Cell], measure: &Measure, repeats: Vec<u32>) -> Task<'c> {
        let name = &self.plan.steps[step].name;
        let known = |cell: &Cell| self.known.get(&(name.clone(), cell.key())).cloned().unwrap_or_default();
        let (enough, known) = (measure.repeats.enough(), cells.iter().map(known).collect());
        Task { step, name, cells, seed: self.seed.split(name), repeats, enough, known }
    }

    /// Runs rounds until the drive is as wanted; keeps them as one measurement, and gives how much was written.
    fn condition(
        &self,
        name: &str,
        condition: &Condition,
        lineage: &mut Lineage,
        cost: Nanos,
    ) -> Result<Bytes, LabError> {
        let seed = self.seed.split(name);
        let since = Clocks::now();
        let mut rounds: Vec<f64> = Vec::new();
        let mut intervals: Vec<Vec<f64>> = Vec::new();
        let mut whole: Option<Measurement> = None;
        let mut told = Nanos::ZERO;
        let steady = loop {
            let round = lineage
                .subject
                .run(&condition.workload, seed.number(rounds.len() as u64), &|_| {})
                .map_err(|error| error.at(name, &format!("round {}", rounds.len() + 1)))?;
            rounds.push(round.iops());
            intervals.push(level::intervals(&round));
            match &mut whole {
                None => whole = Some(round),
                Some(whole) => whole.append(&round),
            }
            let so_far = whole.as_ref().expect("a round was just added");
            let reached = share_of(condition.at_least, so_far, lineage.subject.capacity());
            let share = Nanos::from_nanos((cost.as_nanos() as f64 * reached.min(1.0)) as u64);
            self.watch.advance(share.since(told));
            told = share.max(told);
            let steady = condition.steady.map(|rule| rule.judge(&rounds).is_some_and(|window| window.steady));
            if reached >= 1.0 && steady == Some(true) {
                break steady;
            }
            let capacity = lineage.subject.capacity();
            if condition.at_most.iter().any(|most| share_of(*most, so_far, capacity) >= 1.0) {
                break steady;
            }
        };
        if steady == Some(false) {
            let rounds = rounds.len();
            self.note(Some(name), lineage.cell(), &format!("Steady state was not reached in {rounds} rounds; the figures after it are of a state that still changes."))?;
        }
        let whole = whole.expect("at least one round was run");
        self.note_all(name, lineage.changes, whole.target_findings())?;
        self.note_disturbances(since, whole.clock, name, lineage.changes)?;
        if let Some(rule) = condition.steady.filter(|_| steady == Some(true)) {
            let window = intervals[intervals.len() - rule.rounds..].concat();
            self.note_all(name, lineage.changes, level::window_finding(&window, rule.rounds).into_iter().collect())?;
        }
        self.note_all(name, lineage.changes, level::throttled(&whole).into_iter().collect())?;
        let written = whole.write.bytes;
        self.keep_series(name, lineage, whole)?;
        Ok(written)
    }

    /// Keeps what bringing the target itself into its state has given, unless the store has it already.
    fn keep_series(&self, name: &str, lineage: &Lineage, whole: Measurement) -> Result<(), LabError> {
        if lineage.is_target() && !self.have.contains(&(name.to_owned(), String::new(), 0)) {
            lock(self.store).record_cell(self.run, name, "", &[(0, whole)])?;
        }
        Ok(())
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
        Ok(lock(self.store).note(self.run, step, cell, text)?)
    }

    /// About how long all takes, for the progress bar alone.
    fn whole_cost(&self, subject: &dyn Subject) -> Nanos {
        let target: Nanos = self.plan.steps.iter().map(|step| self.cost(&step.action, subject)).sum();
        let again = swept(self.plan).into_iter().flat_map(|(_, last)| &self.plan.steps[..last]);
        let again = again.filter(|step| !matches!(step.action, Action::Measure(_)));
        target + again.map(|step| shared(self.cost(&step.action, subject), subject)).sum()
    }

    /// About how long a step takes, for the progress bar alone.
    fn cost(&self, action: &Action, subject: &dyn Subject) -> Nanos {
        match action {
            Action::Purge { .. } => Nanos::from_millis(200),
            Action::Idle { time } => *time,
            Action::Fill { block, queue_depth } => {
                fill(*block, *queue_depth, subject).map(|workload| subject.cost(&workload)).sum()
            }
            Action::Measure(measure) => {
                measure.points().map(|cells| share(subject, cells, measure.repeats.least() as usize)).sum()
            }
            Action::Rounds(rounds) => {
                let once = |cell: &Cell| subject.cost(&cell.workload) + rounds.rest;
                let round: Nanos = rounds.measure.cells.iter().map(once).sum();
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

/// What repeats of a point add to the time that all take, some of them side by side. The longest of several jobs says
/// how long all of them take.
fn share(subject: &dyn Subject, cells: &[Cell], repeats: usize) -> Nanos {
    let once = cells.iter().map(|cell| subject.cost(&cell.workload)).max().unwrap_or_default();
    shared(once.times(repeats as u64), subject)
}

/// The time that work takes which is done side by side.
fn shared(one_by_one: Nanos, subject: &dyn Subject) -> Nanos {
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
