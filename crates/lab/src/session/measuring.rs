//! Measuring the cells of steps that all see one state.

use std::ops::{Range, RangeInclusive};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use block::{Bytes, Nanos};
use drive::Counters;
use engine::Measurement;
use rayon::prelude::*;
use stats::REPEATS_LEAST;

use super::{FIRST_CLONE, INTERRUPTED, Session, is_sampled, sampled, states_weight, unaligned};
use crate::plan::{Cell, Measure, Work};
use crate::subject::{MeasureTask, Part, Repeats, Subject};
use crate::variants::{Lineage, Variant, Variants};
use crate::{LabError, Thermometer, Warmth, level};
use engine::Settling;
use host::Clocks;
use workload::SteadyGroup;

impl Session<'_> {
    /// Measures this step and those right behind it that measure too; how many steps that is.
    ///
    /// They all see the same state, so that a simulated drive can be measured on all processors at once. Drives with
    /// other parts come after the target, as many at a time as there are processors to bring them along.
    pub(super) fn measure_group(
        &self,
        first: usize,
        target: &mut Lineage,
        variants: &mut Variants,
    ) -> Result<usize, LabError> {
        self.load(first)?;
        let end = self.group_end(first);
        self.measure(first..end, target)?;
        let before: Vec<Work> = self.plan.steps[..first].iter().map(|step| step.work(&target.subject.site())).collect();
        // A group that a load parts sees the states of its first part.
        if before.last().is_none_or(|last| !is_sampled(last)) {
            self.watch.advance(states_weight(&target.place, &before));
        }
        let swept = self.wanted_drives(first..end);
        for some in swept.chunks(target.place.side_by_side().max(1) as usize) {
            let some =
                some.iter().map(|changes| variants.take(changes, target.subject)).collect::<Result<Vec<_>, _>>()?;
            let bring = |mut variant: Variant| self.bring_along(&mut variant, first).map(|()| variant);
            let brought = some.into_par_iter().map(bring).collect::<Result<Vec<_>, LabError>>()?;
            for mut variant in brought {
                self.measure(first..end, &mut variant.lineage())?;
                variant.next = end;
                variants.put_back(variant, &self.plan.steps[end..]);
            }
        }
        Ok(end - first)
    }

    /// Where the group ends that begins with this step: what a load is a share of is measured before.
    fn group_end(&self, first: usize) -> usize {
        let joins = |one: &Measure| one.load_of.is_none() && !one.keep_state;
        let is_ready = |index: &usize| sampled(&self.plan.steps[*index]).is_some_and(joins);
        (first + 1..self.plan.steps.len()).take_while(is_ready).last().map_or(first + 1, |last| last + 1)
    }

    /// How many groups these steps are, all of which measure.
    pub(super) fn groups(&self, steps: Range<usize>) -> usize {
        let next = |first: &usize| Some(self.group_end(*first)).filter(|end| *end < steps.end);
        std::iter::successors(Some(steps.start), next).count()
    }

    /// Settles what the loads of a step are, if it has any: shares of the most IOPS that the step which it names reached.
    fn load(&self, index: usize) -> Result<(), LabError> {
        let step = &self.plan.steps[index];
        let Some((measure, of)) = sampled(step).and_then(|measure| Some((measure, measure.load_of.as_ref()?))) else {
            return Ok(());
        };
        let reached = self.record.iops()?.into_iter().filter(|((name, _), _)| name == of);
        let means = reached.map(|(_, repeats)| repeats.iter().sum::<f64>() / repeats.len().max(1) as f64);
        let all = means.fold(0.0, f64::max);
        if all > 0.0 {
            let _ = self.loaded[index].set(measure.loaded(all));
        } else {
            self.note(
                Some(&step.name),
                None,
                &format!("Not measured: step `{of}`, of which loads are shares, has no IOPS."),
            )?;
        }
        Ok(())
    }

    /// What a step measures on clones, with its loads; none where it does not, or where it is not known what they are.
    fn sampled(&self, index: usize) -> Option<&Measure> {
        let measure = sampled(&self.plan.steps[index])?;
        if measure.load_of.is_some() { self.loaded[index].get() } else { Some(measure) }
    }

    /// The changes that make the drives on which cells of `steps` are still to be measured, in order.
    fn wanted_drives(&self, steps: Range<usize>) -> Vec<String> {
        let mut wanted: Vec<String> = Vec::new();
        for index in steps {
            let Some(measure) = self.sampled(index) else { continue };
            let ours =
                measure.points().enumerate().filter(|(at, _)| self.portion.has(index, *at)).map(|(_, point)| point);
            for point in ours.filter(|point| !self.missing(index, point, measure).is_empty()) {
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
        let next = variant.next;
        let mut lineage = variant.lineage();
        for index in next..until {
            let step = &self.plan.steps[index];
            if step.action.kind().passes().leaves_no_trace() {
                continue;
            }
            if self.is_undone(index, lineage.subject) {
                self.watch.advance(lineage.share(lineage.place.weight(&step.work(&lineage.subject.site()))));
                continue;
            }
            self.watch.step(&format!("{}, {}", step.title, lineage.changes));
            self.change(index, &mut lineage)?;
        }
        (variant.written, variant.next) = (lineage.written, until);
        Ok(())
    }

    /// Measures the cells of `steps` that are of this drive.
    fn measure(&self, steps: Range<usize>, lineage: &mut Lineage) -> Result<(), LabError> {
        let tasks = self.tasks(steps, lineage)?;
        let lineage_counters = lineage.subject.counters().filter(|_| lineage.is_target());
        let Lineage { subject, place, .. } = lineage;
        let expected = |task: &MeasureTask| match task.enough {
            Some(_) => task.repeats.len().min(REPEATS_LEAST),
            None => task.repeats.len(),
        };
        let weights: Vec<Nanos> = tasks.iter().map(|task| place.sample_weight(task.cells, expected(task))).collect();
        let title = |index: usize| &self.plan.steps[tasks[index].step].title;
        if !tasks.is_empty() {
            self.watch.step(title(0));
        }
        let cloning = place.copying().times(FIRST_CLONE);
        let furthest = AtomicUsize::new(0);
        // Tasks that are over before those ahead of them are told in their turn all the same.
        let tell = |tasks: RangeInclusive<usize>| tasks.for_each(|index| self.watch.step(title(index)));
        let over = Mutex::new(vec![0; tasks.len()]);
        let did = Mutex::new(lineage_counters);
        let cut_off = Mutex::new(Vec::new());
        let surroundings = Surroundings::of(*subject);
        let earlier: Vec<Mutex<Repeats>> = tasks.iter().map(|_| Mutex::default()).collect();
        let advanced: Vec<Mutex<Nanos>> = tasks.iter().map(|_| Mutex::default()).collect();
        let keep = |index: usize, part: Part| {
            let Part { measured, finding, is_last, is_cut_off, failure } = part;
            let repeats = measured.len();
            if is_cut_off {
                cut_off.lock().expect("nothing panics while it holds numbers").push(index);
            }
            let task = &tasks[index];
            finding.map_or(Ok(()), |finding| self.note(Some(task.name), None, finding))?;
            let warmth = self.note_findings(task, &measured, &surroundings)?;
            let mut all = earlier[index].lock().expect("nothing panics while it holds what was measured");
            all.extend(measured.iter().filter(|_| !is_last).cloned());
            if is_last {
                let mut all = all.iter().chain(&measured).collect::<Vec<_>>();
                // States are measured in side by side.
                all.sort_by_key(|(repeat, _)| *repeat);
                self.note_levels(task, &all, warmth)?;
            }
            let done = (all.len() + if is_last { measured.len() } else { 0 }).min(expected(task));
            let reached = Nanos::from_nanos(weights[index].as_nanos() / expected(task) as u64 * done as u64);
            let reached = if is_last { weights[index] } else { reached };
            self.did(&did, &measured);
            self.note_unmeasured(task, &measured, failure)?;
            self.keep(task, measured)?;
            let mut told = advanced[index].lock().expect("nothing panics while it holds the progress");
            self.watch.advance(reached.since(std::mem::replace(&mut *told, reached)));
            if !self.has_cloned.swap(true, Ordering::Relaxed) {
                self.watch.advance(cloning);
            }
            let mut over = over.lock().expect("nothing panics while it holds what is over");
            over[index] = if is_last { usize::MAX } else { over[index] + repeats };
            // Those of a simulated drive are measured side by side, in one state after another: it is at the first of those
            // that have come least far.
            let least = over.iter().copied().min().filter(|least| *least < usize::MAX);
            let current = least.and_then(|least| over.iter().position(|over| *over == least));
            if let Some(current) = current {
                match furthest.fetch_max(current, Ordering::Relaxed) {
                    told if told < current => tell(told + 1..=current),
                    _ => self.watch.back(title(current)),
                }
            }
            Ok(())
        };
        let done = subject.measure(&tasks, &keep, &|progress| self.watch.live(progress));
        if done.is_ok() && !tasks.is_empty() {
            tell(furthest.into_inner() + 1..=tasks.len() - 1);
        }
        let cut_off = cut_off.into_inner().expect("nothing panics while it holds numbers");
        for task in cut_off.into_iter().map(|index| &tasks[index]) {
            task.cells.iter().try_for_each(|cell| self.note(Some(task.name), Some(&cell.key()), INTERRUPTED))?;
        }
        done
    }

    /// Measures a step of one point, and has the target keep the state that it leaves; how much was written for that.
    pub(super) fn measure_and_keep(&self, index: usize, lineage: &mut Lineage) -> Result<Bytes, LabError> {
        self.load(index)?;
        self.measure(index..index + 1, lineage)?;
        let measure = self.sampled(index);
        let point = measure.and_then(|measure| Some((measure, measure.points().next()?)));
        let Some((measure, cells)) = point else { return Ok(Bytes::ZERO) };
        if cells.iter().any(|cell| cell.workload.unfit(lineage.subject.block()).is_some()) {
            return Ok(Bytes::ZERO);
        }
        lineage.subject.keep_state(&self.task(index, cells, measure, vec![0]))
    }

    /// Tells what a simulated drive has done with these repeats too. Jobs side by side have one drive.
    fn did(&self, did: &Mutex<Option<Counters>>, measured: &Repeats) {
        let mut did = did.lock().expect("nothing panics while it holds the sum");
        let drives = measured.iter().filter_map(|(_, together)| together.first()?.drive);
        *did = did.map(|did| drives.fold(did, |sum, one| sum + one));
        did.iter().for_each(|did| self.watch.did(*did));
    }

    /// What of `steps` is still to be measured on this drive.
    fn tasks(&self, steps: Range<usize>, lineage: &Lineage) -> Result<Vec<MeasureTask<'_>>, LabError> {
        let block = lineage.subject.block();
        let mut tasks = Vec::new();
        for index in steps {
            let Some(measure) = self.sampled(index) else { continue };
            for (at, cells) in measure.points().enumerate().filter(|(_, point)| point[0].changes() == lineage.changes) {
                let name = &self.plan.steps[index].name;
                if let Some(found) = cells.iter().find_map(|cell| cell.workload.unfit(block)) {
                    let finding = unaligned(found, block);
                    cells.iter().try_for_each(|cell| self.note(Some(name), Some(&cell.key()), &finding))?;
                    continue;
                }
                let is_ours = self.portion.has(index, at);
                let repeats = if is_ours { self.missing(index, cells, measure) } else { Vec::new() };
                if repeats.is_empty() {
                    self.watch.advance(lineage.place.sample_weight(cells, measure.repeats.least() as usize));
                } else {
                    tasks.push(self.task(index, cells, measure, repeats));
                }
            }
        }
        Ok(tasks)
    }

    /// Keeps all that is to be said of a point's repeats.
    fn note_findings(&self, task: &MeasureTask, measured: &Repeats, around: &Surroundings) -> Result<Warmth, LabError> {
        let first = task.cells.first().map(Cell::key).unwrap_or_default();
        let (since, warmth) = around.passed();
        if let Some(one) = measured.first().and_then(|(_, together)| together.first()) {
            self.note_disturbances(since, one.clock, task.name, &first)?;
        }
        // What one repeat shows of the host, the others need not say again.
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
        let workers = task.cells.iter().map(|cell| cell.workload.workers).sum();
        let all = || measured.iter().flat_map(|(_, together)| together);
        let mut of_host = all().map(|one| one.host_findings(cores.min(workers)));
        self.note_all(task.name, &first, of_host.find(|findings| !findings.is_empty()).unwrap_or_default())?;
        for (_, together) in measured {
            for (cell, one) in task.cells.iter().zip(together) {
                self.note_all(task.name, &cell.key(), one.target_findings())?;
            }
            let together: Vec<&Measurement> = together.iter().collect();
            for group in SteadyGroup::all(together.iter().map(|one| &one.workload)) {
                let unsteady = Settling::of_group(&group, &together).filter(|settling| !settling.is_attained());
                let first = task.cells[group.places[0]].key();
                self.note_all(task.name, &first, unsteady.map(|settling| settling.sentence()).into_iter().collect())?;
            }
        }
        Ok(warmth)
    }

    /// Keeps that a cell did not stay on its level.
    fn note_levels(
        &self,
        task: &MeasureTask,
        measured: &[&(u32, Vec<Measurement>)],
        warm: Warmth,
    ) -> Result<(), LabError> {
        for (index, cell) in task.cells.iter().enumerate() {
            let repeats: Vec<&Measurement> = measured.iter().filter_map(|(_, together)| together.get(index)).collect();
            self.note_all(task.name, &cell.key(), level::finding(&repeats, warm).into_iter().collect())?;
        }
        Ok(())
    }

    /// Keeps why a task, or a job of it, has no figures. The plan goes on, and fails at its end.
    fn note_unmeasured(
        &self,
        task: &MeasureTask,
        measured: &Repeats,
        failure: Option<LabError>,
    ) -> Result<(), LabError> {
        for (_, together) in measured {
            for (cell, one) in task.cells.iter().zip(together) {
                let why = one.why_unmeasured().map(|why| format!("Not measured: {why}."));
                self.note_all(task.name, &cell.key(), why.into_iter().collect())?;
            }
        }
        let Some(failure) = failure else { return Ok(()) };
        let finding = format!("Not measured: {failure}.");
        task.cells.iter().try_for_each(|cell| self.note(Some(task.name), Some(&cell.key()), &finding))?;
        self.unmeasured.lock().expect("nothing panics while it holds an error").get_or_insert(task.failed(failure));
        Ok(())
    }

    /// Keeps what was measured at a point, all jobs or none.
    fn keep(&self, task: &MeasureTask, measured: Repeats) -> Result<(), LabError> {
        let mut cells: Vec<(String, Vec<(u32, Measurement)>)> =
            task.cells.iter().map(|cell| (cell.key(), Vec::new())).collect();
        for (repeat, together) in measured {
            for ((_, repeats), one) in cells.iter_mut().zip(together) {
                repeats.push((repeat, one));
            }
        }
        self.record.keep_point(task.name, &cells)?;
        for (cell, repeats) in &cells {
            repeats.iter().for_each(|(_, one)| self.watch.kept(task.name, cell, one));
        }
        Ok(())
    }

    /// The repeats of a point that the store does not have of all its cells.
    fn missing(&self, step: usize, cells: &[Cell], measure: &Measure) -> Vec<u32> {
        let name = &self.plan.steps[step].name;
        let keys: Vec<String> = cells.iter().map(Cell::key).collect();
        let has = |repeat, key: &String| self.have.contains(&(name.clone(), key.clone(), repeat));
        let missing: Vec<u32> =
            (0..measure.repeats.most).filter(|&repeat| !keys.iter().all(|key| has(repeat, key))).collect();
        let is_enough = || self.task(step, cells, measure, Vec::new()).is_enough(&[]);
        if missing.is_empty() || is_enough() { Vec::new() } else { missing }
    }

    /// These repeats of a point.
    fn task<'c>(&'c self, step: usize, cells: &'c [Cell], measure: &Measure, repeats: Vec<u32>) -> MeasureTask<'c> {
        let name = &self.plan.steps[step].name;
        let known = |cell: &Cell| self.known.get(&(name.clone(), cell.key())).cloned().unwrap_or_default();
        let (enough, known) = (measure.repeats.enough(), cells.iter().map(known).collect());
        let observers = (0..cells.len()).map(|cell| self.observers.get(&(step, cell)).copied()).collect();
        let (seed, keeps_state) = (self.seed.split(name), measure.keep_state);
        MeasureTask { step, name, cells, seed, keeps_state, repeats, enough, known, observers }
    }
}

/// What is around a measurement and may tell on it: the machine's clocks and how warm the drive is.
struct Surroundings {
    thermometer: Option<Thermometer>,
    /// As it was when the last measurement ended.
    last: Mutex<(Clocks, Option<i64>)>,
}

impl Surroundings {
    fn of(subject: &dyn Subject) -> Self {
        let thermometer = subject.thermometer();
        let degrees = thermometer.as_ref().and_then(Thermometer::read);
        Self { thermometer, last: Mutex::new((Clocks::now(), degrees)) }
    }

    /// The clocks as they were when the measurement began that ends now, and how warm the drive was and is.
    fn passed(&self) -> (Clocks, Warmth) {
        let after = self.thermometer.as_ref().and_then(Thermometer::read);
        let mut last = self.last.lock().expect("nothing panics while it holds what is around");
        let (since, before) = std::mem::replace(&mut *last, (Clocks::now(), after));
        (since, Warmth { before, after })
    }
}
