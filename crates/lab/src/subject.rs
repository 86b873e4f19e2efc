//! What a plan is carried out on.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use block::{Bytes, Nanos, Seed};
use drive::Counters;
use engine::{Job, LiveProgress, Measurement, Observer, Record};
use stats::Enough;
use trial::TrialDevice;
use workload::{Spare, Workload};

use crate::cost::Place;
use crate::health::HealthReading;
use crate::plan::{Cell, Construction, PURGE_LEFT_OUT, Site};
use crate::{DriveRecord, LabError, PurgeMethod, Thermometer};

/// A point of a step, to be measured so many times.
pub struct MeasureTask<'a> {
    /// The step's place in the plan.
    pub step: usize,
    /// The step's name.
    pub name: &'a str,
    /// What is run at the same time: a cell, or one for each job.
    pub cells: &'a [Cell],
    /// The seed of the step.
    pub seed: Seed,
    /// Whether the target, even if simulated, keeps the state that the first repeat leaves.
    pub keeps_state: bool,
    /// The numbers of the repeats that are still to be measured, unless fewer are enough.
    pub repeats: Vec<u32>,
    /// When fewer are enough; none if all are wanted.
    pub enough: Option<Enough>,
    /// The IOPS of each cell in the repeats that the store has already.
    pub known: Vec<Vec<f64>>,
    /// Who hears of the requests of each cell, if anybody does.
    pub observers: Vec<Option<&'a dyn Observer>>,
}

impl<'a> MeasureTask<'a> {
    /// What is run in this repeat.
    pub fn jobs(&self, repeat: u32) -> Vec<Job<'a>> {
        let job = |(place, cell): (usize, &'a Cell)| Job {
            name: cell.job().unwrap_or_default(),
            workload: &cell.workload,
            seed: self.seed.split(&cell.key()).number(u64::from(repeat)),
            observer: self.observers.get(place).copied().flatten(),
        };
        self.cells.iter().enumerate().map(job).collect()
    }

    /// What a drive draws in this repeat as it happens.
    pub fn luck(&self, repeat: u32) -> Seed {
        let key = self.cells.first().map(Cell::key).unwrap_or_default();
        self.seed.split("luck").split(&key).number(u64::from(repeat))
    }

    /// Whether no further repeat is needed after those in `measured`, each with the IOPS of its cells: the figures of all
    /// cells are precise enough.
    pub fn is_enough(&self, measured: &[Vec<f64>]) -> bool {
        let Some(enough) = self.enough else { return false };
        let of = |cell: usize| measured.iter().map(move |together| together[cell]);
        let all = |cell: usize| self.known[cell].iter().copied().chain(of(cell)).collect::<Vec<f64>>();
        (0..self.cells.len()).all(|cell| enough.judge(&all(cell)).is_end())
    }

    /// The error of this task, with its place in the plan.
    pub fn failed(&self, error: LabError) -> LabError {
        error.at(self.name, &self.cells.first().map(Cell::place).unwrap_or_default())
    }
}

/// What a task gives: for each repeat the measurements of its cells, in their order.
pub type Repeats = Vec<(u32, Vec<Measurement>)>;

/// The IOPS of each cell in a repeat.
pub(crate) fn iops(together: &[Measurement]) -> Vec<f64> {
    together.iter().map(Measurement::iops).collect()
}

/// Measurements of a task that are finished.
pub struct Part<'a> {
    pub measured: Repeats,
    /// What is to be said of the state in which they were begun.
    pub finding: Option<&'a str>,
    /// Whether no more of the task will follow.
    pub is_last: bool,
    /// Whether somebody asked for the end before the last of them was as long as it was to be.
    pub is_cut_off: bool,
    /// Why nothing of it counts that was to follow, if that is why nothing will.
    pub failure: Option<LabError>,
}

/// What takes the measurements of a task as they are finished, in whatever order tasks are.
pub type Keep<'a> = dyn Fn(usize, Part) -> Result<(), LabError> + Sync + 'a;

/// Hears how far a measurement in real time has come, a few times a second.
pub type LiveCallback<'a> = dyn Fn(LiveProgress) + Sync + 'a;

/// Hears what share of the work at hand has been done, from 0 to 1, and a few times a second also how far the workload has
/// come.
pub type Share<'a> = dyn Fn(f64, Option<LiveProgress>) + Sync + 'a;

/// Refuses to put `what` on a stage without the rights that this takes.
pub(crate) fn needs_root(what: &str) -> Result<(), LabError> {
    if rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let words = format!("attaching {what} as a block device and mounting file systems needs root; run it with sudo");
    Err(trial::TrialError::Lacks(words).into())
}

/// What a plan is carried out on: a simulated drive or a real target.
pub trait Subject: Send {
    /// How much of it there is to use.
    fn capacity(&self) -> Bytes;

    /// How much data that is once all of it is written.
    fn writable(&self) -> Bytes {
        self.capacity()
    }

    /// The smallest request that it takes, of which all others are multiples.
    fn block(&self) -> Bytes;

    /// Where it is written when it is filled, as offsets and lengths; none for all of it.
    fn fill_spans(&self) -> Option<Vec<(Bytes, Bytes)>> {
        None
    }

    /// What refers to the file or device that it is; none for a simulated drive.
    fn handle(&self) -> Option<&std::fs::File> {
        None
    }

    /// What a run keeps of it if it is a simulated drive.
    fn drive_record(&self) -> Option<DriveRecord> {
        None
    }

    /// What a simulated drive has done, its clones included; none of a real one.
    fn counters(&self) -> Option<Counters> {
        None
    }

    /// Takes note that a plan is through with it: what it holds now is what assay has left.
    fn settle(&mut self) {}

    /// How much flash it has beyond its capacity; none where that is not known.
    fn spare(&self) -> Option<Spare> {
        None
    }

    /// Whether a workload has its place here, as far as that can be said without running it.
    ///
    /// # Errors
    /// If its span, its alignment or the memory that it needs is not to be had.
    fn check(&self, workload: &Workload) -> Result<(), LabError>;

    /// Another, as new, with `changes` made to its parts: `drive.spare=12%&drive.gc.policy=fifo`.
    ///
    /// # Errors
    /// If it has no such parts, or the changes make no drive.
    fn changed(&self, changes: &str) -> Result<Box<dyn Subject + Send>, LabError>;

    /// From now on adds to `record` what is submitted in measurements, though not in what comes before them.
    fn record_to(&mut self, record: Arc<Record>);

    /// Takes back what opening it has changed, because nothing will be run.
    ///
    /// # Errors
    /// If it fails.
    fn withdraw(&mut self) -> Result<(), LabError> {
        Ok(())
    }

    /// Forgets all data; a finding if that could only be done in part.
    ///
    /// # Errors
    /// If it fails.
    fn purge(&mut self) -> Result<Option<String>, LabError>;

    /// Looks at its health, without changing anything.
    fn health(&self) -> HealthReading {
        HealthReading::Missing("this kind of target has no health data".to_owned())
    }

    /// Whether it can be purged by this method, without changing anything.
    ///
    /// # Errors
    /// If it cannot.
    fn check_purge(&self, _: PurgeMethod) -> Result<(), LabError> {
        Ok(())
    }

    /// Forgets all data by this method; what is to be said of the state that this leaves.
    ///
    /// # Errors
    /// If it fails.
    fn purge_by(&mut self, method: PurgeMethod) -> Result<Option<String>, LabError> {
        match method {
            PurgeMethod::None => Ok(Some(PURGE_LEFT_OUT.to_owned())),
            _ => self.purge(),
        }
    }

    /// What tells how warm it is while it is measured; none where nothing does.
    fn thermometer(&self) -> Option<Thermometer> {
        None
    }

    /// Whether it can be made a block device that the kernel sees, without changing anything.
    ///
    /// # Errors
    /// If it cannot.
    fn check_stage(&self) -> Result<(), LabError> {
        Err(LabError::NoStage)
    }

    /// Makes it a block device that the kernel sees, until [`Subject::leave_stage`]: itself, or where a state can be cloned
    /// a clone of it, so that whatever is done there leaves this as it was.
    ///
    /// # Errors
    /// If it cannot be.
    fn stage(&mut self) -> Result<TrialDevice, LabError> {
        Err(LabError::NoStage)
    }

    /// Takes back what was lent as a stage, which must be gone.
    ///
    /// # Errors
    /// If somebody uses it.
    fn leave_stage(&mut self) -> Result<(), LabError> {
        Ok(())
    }

    /// From now on, what takes place on a stage ends soon after `stop` is set; a simulated drive has `speed` of its seconds
    /// there in each of the machine's.
    fn stage_with(&mut self, _stop: Arc<AtomicBool>, _speed: f64) {}

    /// Whether there is memory for random states of it, without making any.
    ///
    /// # Errors
    /// If there is not.
    fn check_states(&self) -> Result<(), LabError> {
        Ok(())
    }

    /// Puts it into the state that a workload leaves, as far as that is known without carrying it out. Whether it did, and
    /// what is left to run then.
    ///
    /// # Errors
    /// If the workload has no place here.
    fn construct(&mut self, _: &Workload, _: Seed) -> Result<Option<Construction>, LabError> {
        Ok(None)
    }

    /// Leaves it alone for so long.
    fn idle(&mut self, time: Nanos);

    /// Rests for so long before a plan begins, so that its power at rest is known; where a state can be cloned, that is
    /// left as it was.
    fn meter_rest(&mut self, time: Nanos) {
        self.idle(time);
    }

    /// On how many copies of it work can go on at once: one where one processor, or little memory, would have them wait for one
    /// another.
    fn side_by_side(&self) -> usize {
        1
    }

    /// A copy of it, on which what is done does not change it. None where it cannot be copied. What the copy does counts as
    /// done by this one.
    fn copy(&mut self) -> Option<Box<dyn Subject + Send>> {
        None
    }

    /// A [`copy`](Self::copy), on which its state can be measured so many times while it is changed itself; it is left as those
    /// measurements would leave it. None where it cannot be copied, or nothing is gained by that.
    fn fork(&mut self, _times: usize) -> Option<Box<dyn Subject + Send>> {
        None
    }

    /// Runs a workload, leaving the state that this brings about.
    ///
    /// # Errors
    /// If it fails or completes nothing.
    fn run(&mut self, workload: &Workload, seed: Seed, share: &Share) -> Result<Measurement, LabError>;

    /// Measures every task, handing over each as it is finished. Where a state can be cloned, every repeat
    /// starts from a clone of the state as it is, and that is left as it was.
    ///
    /// # Errors
    /// At the first failure; what was handed over before stays valid.
    fn measure(&mut self, tasks: &[MeasureTask], keep: &Keep, live: &LiveCallback) -> Result<(), LabError>;

    /// Brings it into the state that the first repeat of a task leaves which was to keep it, unless measuring has done so; how
    /// much was written for that.
    ///
    /// # Errors
    /// If it fails.
    fn keep_state(&mut self, _task: &MeasureTask) -> Result<Bytes, LabError> {
        Ok(Bytes::ZERO)
    }

    /// What the cost of a plan on it depends on.
    fn place(&self) -> Place;

    /// What the work of a step on it depends on.
    fn site(&self) -> Site {
        Site {
            capacity: self.capacity(),
            writable: self.writable(),
            block: Some(self.block()),
            spare: self.spare(),
            fill_spans: self.fill_spans(),
        }
    }
}
