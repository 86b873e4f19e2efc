//! Measuring repeats in states of their own, which differ by chance alone.
//!
//! Each is made of the drive's own state, so that they can be made side by side, and measured while others are made.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use block::Bytes;
use drive::Device;
use rayon::prelude::*;
use workload::Spare;

use super::{Simulated, States};
use crate::LabError;
use crate::conditioning::{Conditioning, ONE_STATE, STATES};
use crate::subject::{Keep, MeasureTask, Part, Repeats, Subject, iops};

/// The states of larger drives take too much memory to be kept from one step to the next, or to be there all at once.
const KEPT_MAX: Bytes = Bytes::from_gib(100);
/// So many of those are there at once, beside the drive's own.
const AT_ONCE: usize = 2;

/// How far a task has come over the states in which it is measured.
#[derive(Default)]
struct Course {
    /// The IOPS of its cells, by repeat.
    iops: BTreeMap<u32, Vec<f64>>,
    is_over: bool,
}

impl Course {
    fn known(&self) -> Vec<Vec<f64>> {
        self.iops.values().cloned().collect()
    }

    /// Whether no further repeat is to be made of `task`.
    fn judge(&mut self, task: &MeasureTask) -> bool {
        let is_all = task.repeats.iter().all(|repeat| self.iops.contains_key(repeat));
        self.is_over = is_all || task.is_enough(&self.known());
        self.is_over
    }
}

/// Where a repeat begins.
#[derive(Clone)]
struct Start {
    /// The state that was made for it; the drive's own if there is none.
    made: Option<Arc<Device>>,
    /// What is to be said of it.
    finding: Option<&'static str>,
}

impl Start {
    const OWN: Self = Self { made: None, finding: None };

    fn made(state: Device) -> Self {
        Self { made: Some(Arc::new(state)), finding: None }
    }
}

/// What is done in one state.
struct StateCourse {
    number: u32,
    is_begun: bool,
    /// None while it is not there.
    start: Option<Start>,
    /// The task that is measured next in it.
    next: usize,
    /// How many were measured.
    done: usize,
}

/// What is to be done next by whoever has nothing to do.
enum Turn {
    Make(usize),
    Measure(usize, usize, Start),
    Wait,
    Over,
}

/// What is made and measured in which order.
struct Agenda {
    states: Vec<StateCourse>,
    tasks: usize,
    at_once: usize,
    is_over: bool,
}

impl Agenda {
    /// What can be measured is, in the order of states and of tasks, so that the plan is seen to go forward; else a state is
    /// made, if there is room for it.
    fn turn(&mut self) -> Turn {
        let tasks = self.tasks;
        if self.is_over {
            return Turn::Over;
        }
        for (place, state) in self.states.iter_mut().enumerate().filter(|(_, state)| state.next < tasks) {
            if let Some(start) = &state.start {
                state.next += 1;
                return Turn::Measure(place, state.next - 1, start.clone());
            }
        }
        let unfinished = |state: &&StateCourse| state.number > 0 && state.is_begun && state.done < tasks;
        let there = self.states.iter().filter(unfinished).count();
        match self.states.iter().position(|state| !state.is_begun) {
            Some(place) if there < self.at_once => {
                self.states[place].is_begun = true;
                Turn::Make(place)
            }
            Some(_) => Turn::Wait,
            None if self.states.iter().any(|state| state.next < tasks) => Turn::Wait,
            None => Turn::Over,
        }
    }
}

/// Tasks that are measured in several states.
#[derive(Clone, Copy)]
struct Asked<'s> {
    conditioning: &'s Conditioning,
    spare: Spare,
    tasks: &'s [MeasureTask<'s>],
    courses: &'s [Mutex<Course>],
    keep: &'s Keep<'s>,
}

/// How some of those states are made and measured in.
struct StateRun<'s> {
    subject: &'s Simulated,
    asked: Asked<'s>,
    agenda: Mutex<Agenda>,
    changed: Condvar,
    /// States in which nothing is measured any more, in whose memory others are made.
    vacated: Mutex<Vec<Device>>,
}

impl StateRun<'_> {
    fn agenda(&self) -> MutexGuard<'_, Agenda> {
        self.agenda.lock().expect("nothing panics while it holds the agenda")
    }

    fn turn(&self) -> Turn {
        let mut agenda = self.agenda();
        loop {
            match agenda.turn() {
                Turn::Wait => agenda = self.changed.wait(agenda).expect("nothing panics while it holds the agenda"),
                turn => return turn,
            }
        }
    }

    /// Does what is to be done until nothing is left for this processor.
    fn work(&self) -> Result<(), LabError> {
        let _end = Halt(self);
        loop {
            match self.turn() {
                Turn::Make(place) => {
                    let number = self.agenda().states[place].number;
                    let start = self.make(number)?;
                    self.agenda().states[place].start = Some(start);
                    self.changed.notify_all();
                }
                Turn::Measure(place, task, start) => {
                    let number = self.agenda().states[place].number;
                    self.measure(number, task, &start)?;
                    drop(start);
                    self.finish(place);
                }
                Turn::Over | Turn::Wait => return Ok(()),
            }
        }
    }

    fn make(&self, number: u32) -> Result<Start, LabError> {
        let own = &self.subject.drive;
        let used = self.vacated().pop();
        let mut drive = Simulated::clone_into(used, own, || self.subject.room.state_memory())?;
        if self.asked.conditioning.redraw(&mut drive, number, self.asked.spare).is_ok_and(|could| could) {
            drive.lend();
            return Ok(Start::made(drive));
        }
        Ok(Start { finding: Some(ONE_STATE), ..Start::OWN })
    }

    /// Measures the repeat of a task that belongs to a state, if it is wanted.
    fn measure(&self, repeat: u32, index: usize, start: &Start) -> Result<(), LabError> {
        let Asked { tasks, courses, keep, .. } = self.asked;
        let task = &tasks[index];
        let course = || courses[index].lock().expect("nothing panics while it holds a course");
        if !task.repeats.contains(&repeat) || course().is_over {
            return Ok(());
        }
        let Start { made, finding } = start;
        let drive = made.as_deref().unwrap_or(&self.subject.drive);
        let together = self.subject.measure_clone(drive, task, repeat);
        let mut course = course();
        let (measured, failure) = match together {
            Ok(together) => {
                course.iops.insert(repeat, iops(&together));
                (vec![(repeat, together)], None)
            }
            Err(_) if course.is_over => return Ok(()),
            Err(error) if error.counted_nothing() => (Vec::new(), Some(error)),
            Err(error) => return Err(task.failed(error)),
        };
        let is_left = |other: &u32| *other < STATES && !course.iops.contains_key(other);
        // What failed in one state at the same time has been told.
        let is_last = !course.is_over && (failure.is_some() || !task.repeats.iter().any(is_left) && course.judge(task));
        course.is_over |= is_last;
        let is_cut_off = self.subject.is_stopped();
        keep(index, Part { measured, finding: *finding, is_last, is_cut_off, failure })?;
        if is_cut_off { Err(task.failed(LabError::Interrupted)) } else { Ok(()) }
    }

    /// Notes that a task was measured in a state. What nobody needs any more is taken back.
    fn finish(&self, place: usize) {
        let mut agenda = self.agenda();
        let (tasks, is_last) = (agenda.tasks, place + 1 == agenda.states.len());
        let state = &mut agenda.states[place];
        state.done += 1;
        let is_needed = state.done < tasks || is_last || self.subject.keeps_states();
        // Before anybody makes another state, for which there is no room elsewhere.
        if !is_needed && let Some(state) = state.start.take().and_then(|start| start.made) {
            self.vacate(state);
        }
        drop(agenda);
        self.changed.notify_all();
    }

    /// Keeps the memory of a state in which nothing is measured any more.
    fn vacate(&self, state: Arc<Device>) {
        // As long as clones have it too, it is not to be had.
        self.subject.clones().retain_mut(Device::give_back);
        let state = Arc::try_unwrap(state).ok();
        self.vacated().extend(state.and_then(|mut state| state.give_back().then_some(state)));
    }

    fn vacated(&self) -> MutexGuard<'_, Vec<Device>> {
        self.vacated.lock().expect("nothing panics while it holds memory")
    }
}

/// Lets nobody wait for what will not come, where one of those who work fails. Who ends otherwise leaves nothing to be begun.
struct Halt<'h, 's>(&'h StateRun<'s>);

impl Drop for Halt<'_, '_> {
    fn drop(&mut self) {
        self.0.agenda().is_over = true;
        self.0.changed.notify_all();
    }
}

impl Simulated {
    /// Measures repeats in states of their own, as far as there are such; `states` are those that were made before, and those
    /// that are worth keeping.
    pub(super) fn measure_states(
        &mut self,
        states: &mut States,
        tasks: &[MeasureTask],
        keep: &Keep,
    ) -> Result<(), LabError> {
        let courses: Vec<Mutex<Course>> = tasks.iter().map(|_| Mutex::default()).collect();
        // Without spare flash, random writes leave a drive as any others do.
        let last = tasks.iter().flat_map(|task| &task.repeats).max().map_or(0, |most| *most).min(STATES - 1);
        let Some((conditioning, spare)) = self.conditioning.clone().zip(self.spare()).filter(|_| last > 0) else {
            return self.measure_in(&self.drive, tasks, &courses, None, keep);
        };
        if !conditioning.can_redraw(self.capacity(), spare) {
            return self.measure_in(&self.drive, tasks, &courses, Some(ONE_STATE), keep);
        }
        let is_wanted = |number: &u32| *number == last || tasks.iter().any(|task| task.repeats.contains(number));
        let numbers: Vec<u32> = (0..=last).filter(is_wanted).collect();
        let asked = Asked { conditioning: &conditioning, spare, tasks, courses: &courses, keep };
        self.measure_in_states(&numbers, states, asked)
    }

    /// Measures repeats in those of their states that have these numbers, and in the last of them further ones too.
    fn measure_in_states(&self, numbers: &[u32], states: &mut States, asked: Asked) -> Result<(), LabError> {
        let Asked { tasks, courses, keep, .. } = asked;
        let state = |&number: &u32| {
            let made = states.get(&number).map(|state| Start { made: Some(Arc::clone(state)), finding: None });
            let start = if number == 0 { Some(Start::OWN) } else { made };
            StateCourse { number, is_begun: start.is_some(), start, next: 0, done: 0 }
        };
        let agenda = Agenda {
            states: numbers.iter().map(state).collect(),
            tasks: tasks.len(),
            at_once: match self.keeps_states() {
                true => STATES as usize,
                false if self.room.is_short_of(self.drive.memory()) => 1,
                false => AT_ONCE,
            },
            is_over: false,
        };
        let (agenda, changed, vacated) = (Mutex::new(agenda), Condvar::new(), Mutex::default());
        let run = StateRun { subject: self, asked, agenda, changed, vacated };
        self.on_processors(|| run.work())?;
        let made = run.agenda.into_inner().expect("nothing panics while it holds the agenda").states;
        let further = made.last().filter(|last| last.number > 0).and_then(|last| last.start.clone());
        if self.keeps_states() {
            let made = made.into_iter().filter_map(|state| Some((state.number, state.start?.made?)));
            states.extend(made);
        }
        // The states are as many as repeats are made at least; further ones share the last.
        let Some(Start { made, finding }) = further else { return Ok(()) };
        self.measure_in(made.as_deref().unwrap_or(&self.drive), tasks, courses, finding, keep)
    }

    /// Measures on clones of `drive` the repeats of each task that were not yet; nothing more of one that has had enough.
    fn measure_in(
        &self,
        drive: &Device,
        tasks: &[MeasureTask],
        courses: &[Mutex<Course>],
        finding: Option<&str>,
        keep: &Keep,
    ) -> Result<(), LabError> {
        // Every processor takes the next task in order, so that the plan is seen to go forward.
        let next = AtomicUsize::new(0);
        self.on_processors(|| {
            while let index = next.fetch_add(1, Ordering::Relaxed)
                && let Some(task) = tasks.get(index)
            {
                let mut course = courses[index].lock().expect("nothing panics while it holds a course");
                let is_left = |repeat: &u32| !course.iops.contains_key(repeat);
                let repeats: Vec<u32> = task.repeats.iter().copied().filter(is_left).collect();
                if course.is_over || repeats.is_empty() {
                    continue;
                }
                let measured = self.repeats(drive, task, &repeats, &mut course).map_err(|error| task.failed(error));
                let kept = measured.and_then(|(measured, failure)| {
                    let is_cut_off = self.is_stopped();
                    keep(index, Part { measured, finding, is_last: true, is_cut_off, failure })?;
                    if is_cut_off { Err(task.failed(LabError::Interrupted)) } else { Ok(()) }
                });
                if kept.is_err() {
                    next.store(tasks.len(), Ordering::Relaxed);
                    return kept;
                }
            }
            Ok(())
        })
    }

    /// Measures these repeats of a task on clones of `drive`, until they and those before are enough; with them why nothing
    /// counts of those that are missing.
    fn repeats(
        &self,
        drive: &Device,
        task: &MeasureTask,
        repeats: &[u32],
        course: &mut Course,
    ) -> Result<(Repeats, Option<LabError>), LabError> {
        let mut measured = Repeats::new();
        for &repeat in repeats {
            let together = match self.measure_clone(drive, task, repeat) {
                Err(error) if error.counted_nothing() => {
                    course.is_over = true;
                    return Ok((measured, Some(error)));
                }
                together => together?,
            };
            course.iops.insert(repeat, iops(&together));
            measured.push((repeat, together));
            if course.judge(task) || self.is_stopped() {
                break;
            }
        }
        Ok((measured, None))
    }

    /// Has each processor do `work` that is to have a part in it.
    fn on_processors(&self, work: impl Fn() -> Result<(), LabError> + Sync) -> Result<(), LabError> {
        (0..self.processors()).into_par_iter().with_max_len(1).try_for_each(|_| work())
    }

    /// Whether states are kept from one step to the next.
    fn keeps_states(&self) -> bool {
        self.capacity() <= KEPT_MAX && !self.room.is_short()
    }
}
