//! A plan on a simulated drive, in virtual time.

mod measured;
mod room;
mod states;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard};

use block::{Bytes, Lba, Nanos, Seed};
use drive::preset::Preset;
use drive::{Counters, Device, Drive};
use engine::{
    Consumption, Ending, Job, Measurement, OnError, RealError, Record, VirtualError, run_virtual_recorded,
    run_virtual_together,
};
use trial::TrialDevice;
use workload::{Spare, Stop, Workload};

use self::measured::Measured;
use self::room::Room;
use crate::conditioning::{self, Conditioning};
use crate::cost::Place;
use crate::counted::counted;
use crate::health::{HealthReading, of_simulated};
use crate::plan::Construction;
use crate::subject::{Keep, LiveCallback, MeasureTask, Share, Subject, needs_root};
use crate::{DriveRecord, LabError};

/// Who meters a simulated drive.
const METER: &str = "the simulated drive's power model";

/// The states that a drive was brought into beside its own, by their numbers.
type States = BTreeMap<u32, Arc<Device>>;

/// A simulated drive and the clones that measurements run on.
pub struct Simulated {
    /// What the drive was made from.
    preset: Preset,
    drive: Device,
    /// Whether it has come to rest for the next measurement.
    is_at_rest: bool,
    /// Clones that have been used and can be used again, which saves building them anew.
    clones: Arc<Mutex<Vec<Device>>>,
    /// For how many there is memory.
    room: Arc<Room>,
    /// What the clones did and went through in measurements.
    measured: Arc<Mutex<Measured>>,
    /// The states that repeats are measured in beside the drive's own, as far as they were made, while that stays as it is.
    states: States,
    /// How random writes brought it into its state; none where they had no part in that.
    conditioning: Option<Conditioning>,
    /// Where measurements note what they submit, if anyone wants to know.
    record: Option<Arc<Record>>,
    /// What the drive used while it last rested, in watts; none where it has not.
    idle_watts: Option<f64>,
    /// The drive as the last task left it that was to keep its state.
    left: Mutex<Option<Device>>,
    /// How it is attached where it is a stage.
    stage: StageTerms,
    /// What ends a workload before its time.
    ending: Ending,
}

/// How a drive is attached where it is a stage.
struct StageTerms {
    /// Set from outside when trials are to end early.
    stop: Arc<AtomicBool>,
    /// How many of its seconds pass in each of the machine's.
    speed: f64,
}

impl Default for StageTerms {
    fn default() -> Self {
        Self { stop: Arc::default(), speed: 1.0 }
    }
}

impl Simulated {
    /// A new drive, which the plan's steps will change.
    pub fn new(preset: Preset) -> Self {
        Self {
            drive: preset.build_in_host(),
            room: Arc::new(Room::here(preset.memory(), preset.memory_of_clone())),
            preset,
            is_at_rest: false,
            clones: Arc::default(),
            measured: Arc::default(),
            states: States::new(),
            conditioning: None,
            record: None,
            idle_watts: None,
            left: Mutex::default(),
            stage: StageTerms::default(),
            ending: OnError::Stop.into(),
        }
    }

    /// The same where a request that the drive ends with an error means this.
    pub fn on_error(mut self, on_error: OnError) -> Self {
        self.ending.on_error = on_error;
        self
    }

    /// The same where whatever is run ends soon after `stop` is set.
    pub fn stop_when(mut self, stop: Arc<AtomicBool>) -> Self {
        self.ending.stop = Some(stop);
        self
    }

    /// The same with no more memory than this, whatever the machine has.
    pub fn within(self, memory: Bytes) -> Self {
        let room = Room::of(Some(memory), self.preset.memory(), self.preset.memory_of_clone());
        Self { room: Arc::new(room), ..self }
    }

    /// The same in a state that was [taken](Self::into_state) of such a drive before.
    pub fn in_state(self, drive: Device) -> Self {
        Self { drive, ..self }
    }

    /// The drive at rest, in the state that it is in.
    pub fn into_state(mut self) -> Device {
        conditioning::rest(&mut self.drive, Nanos::ZERO);
        self.drive
    }

    /// A clone of `drive` that is to be changed and takes up to so much memory, in that which another had before, if there is such.
    ///
    /// # Errors
    /// If there is no memory for it.
    fn clone_into(used: Option<Device>, drive: &Device, memory: impl FnOnce() -> Bytes) -> Result<Device, LabError> {
        match used {
            Some(mut clone) => {
                clone.clone_from(drive);
                Ok(clone)
            }
            None => {
                room::check(memory())?;
                Ok(drive.clone())
            }
        }
    }

    /// Does a repeat of a task on a clone of `drive`.
    fn measure_clone(&self, drive: &Device, task: &MeasureTask, repeat: u32) -> Result<Vec<Measurement>, LabError> {
        let jobs = task.jobs(repeat);
        let writes = jobs.iter().any(|job| job.workload.changes_data());
        let _writing = writes.then(|| self.room.write());
        let mut clone = if writes {
            let used = self.clones().pop();
            Self::clone_into(used, drive, || drive.memory().min(self.room.clone_memory()))?
        } else {
            drive.clone()
        };
        clone.draw_from(task.luck(repeat));
        let measured = match &self.record {
            None => run_virtual_together(&mut clone, &jobs, self.ending.clone()),
            Some(record) => run_virtual_recorded(&mut clone, &jobs, self.ending.clone(), record),
        };
        // A state in which the run ends is not gone on with, and is told of all the same.
        if task.keeps_state && repeat == 0 && measured.is_ok() {
            *self.left() = Some(clone);
        } else {
            self.measured().add(drive, &clone);
            if writes {
                self.clones().push(clone);
            }
        }
        Ok(measured?.into_iter().map(|measurement| self.metered(measurement)).collect())
    }

    /// The measurement with the drive's own account of its energy, if it keeps one.
    fn metered(&self, mut measurement: Measurement) -> Measurement {
        let used = measurement.drive.map(|drive| drive.energy_nj).filter(|nanojoules| *nanojoules > 0);
        measurement.energy = used.map(|nanojoules| Consumption {
            meter: METER.to_owned(),
            joules: Some(nanojoules as f64 / 1e9),
            idle_watts: self.idle_watts,
            ..Consumption::default()
        });
        measurement
    }

    /// Whether somebody has asked for the end.
    fn is_stopped(&self) -> bool {
        self.ending.is_asked_for()
    }

    /// How many processors measure and make states.
    fn processors(&self) -> usize {
        if self.room.is_narrow() { 1 } else { rayon::current_num_threads() }
    }

    /// What the drive has done since it was made.
    pub(crate) fn counters(&self) -> Counters {
        self.drive.counters()
    }

    /// The same with its clones: measurements are made on them, and are a part of what it was asked to do all the same.
    fn counters_of_all(&self) -> Counters {
        self.drive.counters() + self.measured().counters
    }

    fn measured(&self) -> MutexGuard<'_, Measured> {
        self.measured.lock().expect("nothing panics while it holds the sum")
    }

    /// The drive, to be changed: other states than its own are of no use then.
    fn change(&mut self) -> &mut Device {
        self.states.clear();
        &mut self.drive
    }

    /// Makes the drive ready to be cloned: written data still on its way to flash would be part of every clone's start.
    fn come_to_rest(&mut self) {
        conditioning::rest(&mut self.drive, Nanos::ZERO);
        self.drive.lend();
    }

    /// A copy of it, at rest as it is itself then, that counts what is done with it and knows no other states yet.
    fn copied(&mut self) -> Self {
        self.come_to_rest();
        Self {
            preset: self.preset.clone(),
            drive: self.drive.clone(),
            is_at_rest: true,
            clones: Arc::clone(&self.clones),
            room: Arc::clone(&self.room),
            measured: Arc::clone(&self.measured),
            states: States::new(),
            conditioning: self.conditioning.clone(),
            record: self.record.clone(),
            idle_watts: self.idle_watts,
            left: Mutex::default(),
            stage: StageTerms::default(),
            ending: self.ending.clone(),
        }
    }

    /// Takes note that a workload has written so much, drawn from `seed`.
    fn note(&mut self, workload: &Workload, seed: Seed, written: Bytes) {
        let capacity = self.capacity();
        self.conditioning = Conditioning::after(self.conditioning.take(), workload, seed, written, capacity);
    }

    fn left(&self) -> MutexGuard<'_, Option<Device>> {
        self.left.lock().expect("nothing panics while it holds a drive")
    }

    fn clones(&self) -> MutexGuard<'_, Vec<Device>> {
        self.clones.lock().expect("nothing panics while it holds the clones")
    }
}

impl Subject for Simulated {
    fn capacity(&self) -> Bytes {
        self.drive.shape().capacity
    }

    fn writable(&self) -> Bytes {
        self.preset.writable()
    }

    fn block(&self) -> Bytes {
        self.drive.shape().block
    }

    fn spare(&self) -> Option<Spare> {
        self.preset.spare().and_then(Spare::from_millionths)
    }

    fn drive_record(&self) -> Option<DriveRecord> {
        Some(DriveRecord::of(&self.preset))
    }

    fn check(&self, workload: &Workload) -> Result<(), LabError> {
        workload.span(self.capacity())?;
        let unit = self.block();
        match workload.unfit(unit) {
            _ if workload.verify.stamps => Err(VirtualError::HoldsNoData.into()),
            Some(found) => Err(RealError::NoWholeBlocks { found, unit }.into()),
            None => Ok(()),
        }
    }

    fn changed(&self, changes: &str) -> Result<Box<dyn Subject + Send>, LabError> {
        let changed = Self::new(self.preset.clone().changed(changes)?);
        Ok(Box::new(Self { ending: self.ending.clone(), ..changed }))
    }

    fn record_to(&mut self, record: Arc<Record>) {
        self.record = Some(record);
    }

    fn purge(&mut self) -> Result<Option<String>, LabError> {
        self.change().purge();
        self.conditioning = None;
        Ok(None)
    }

    fn counters(&self) -> Option<Counters> {
        Some(self.counters_of_all())
    }

    fn health(&self) -> HealthReading {
        let (counters, state) = (self.counters_of_all(), self.measured().health(self.drive.health()));
        HealthReading::Health(Box::new(of_simulated(&self.preset.title, &counters, &state)))
    }

    fn check_stage(&self) -> Result<(), LabError> {
        needs_root("a simulated drive")
    }

    fn stage(&mut self) -> Result<TrialDevice, LabError> {
        conditioning::rest(&mut self.drive, Nanos::ZERO);
        // The host to which it is attached is a real one.
        Ok(TrialDevice::over_drive(
            self.drive.clone().out_of_host(&self.preset),
            &self.preset.name,
            self.stage.speed,
            Arc::clone(&self.stage.stop),
        )?)
    }

    fn stage_with(&mut self, stop: Arc<AtomicBool>, speed: f64) {
        self.stage = StageTerms { stop, speed };
    }

    fn idle(&mut self, time: Nanos) {
        self.idle_watts = rest(self.change(), time).or(self.idle_watts);
        self.conditioning.iter_mut().for_each(|conditioning| conditioning.rest(time));
    }

    fn meter_rest(&mut self, time: Nanos) {
        self.idle_watts = rest(&mut self.drive.clone(), time);
    }

    fn check_states(&self) -> Result<(), LabError> {
        self.room.check()
    }

    fn construct(&mut self, workload: &Workload, seed: Seed) -> Result<Option<Construction>, LabError> {
        let capacity = self.capacity();
        let Some(construction) = Construction::of(workload, capacity) else { return Ok(None) };
        let construction = if self.drive.is_rotational() { construction.of_disks() } else { construction };
        if construction.is_random() {
            self.check_states()?;
        }
        let Construction { direct, rest } = &construction;
        let (start, _) = direct.span(capacity)?;
        let constructed = seed.split("constructed");
        let done = match rest {
            None => conditioning::construct(self.change(), direct, constructed),
            Some(_) if self.drive.can_write_untimed(Lba::at(start), Lba::at(start + direct.block)) => {
                let row = construction.row(capacity, constructed)?;
                self.change().write_untimed(row);
                true
            }
            // A disk has no flash blocks, for which the order counts.
            Some(_) if self.drive.is_rotational() => {
                let stop = Stop::after_bytes(construction.bytes());
                let random = Workload { sprandom: None, stop, ..direct.clone() };
                conditioning::construct(self.change(), &random, constructed)
            }
            Some(_) => false,
        };
        if !done {
            return Ok(None);
        }
        self.note(workload, seed, construction.bytes());
        Ok(Some(construction))
    }

    fn side_by_side(&self) -> usize {
        // A copy of a random state may come to take as much memory as the drive.
        if self.room.is_short() && self.drive.memory() > self.room.clone_memory() { 1 } else { self.processors() }
    }

    fn copy(&mut self) -> Option<Box<dyn Subject + Send>> {
        Some(Box::new(self.copied()))
    }

    fn fork(&mut self, times: usize) -> Option<Box<dyn Subject + Send>> {
        if self.processors() == 1 || !self.room.can_fork(self.drive.memory()) {
            return None;
        }
        let mut copy = self.copied();
        copy.states = std::mem::take(&mut self.states);
        (1..times).for_each(|_| self.come_to_rest());
        Some(Box::new(copy))
    }

    fn run(&mut self, workload: &Workload, seed: Seed, share: &Share) -> Result<Measurement, LabError> {
        let jobs = [Job { name: "", workload, seed, observer: None }];
        let ending = self.ending.clone();
        let measured = run_virtual_together(&mut counted(self.change(), workload, share), &jobs, ending)?;
        if self.is_stopped() {
            return Err(LabError::Interrupted);
        }
        let measured = measured.into_iter().next().expect("every job is measured");
        self.note(workload, seed, measured.write.bytes);
        Ok(self.metered(measured))
    }

    fn measure(&mut self, tasks: &[MeasureTask], keep: &Keep, _: &LiveCallback) -> Result<(), LabError> {
        if !std::mem::take(&mut self.is_at_rest) {
            self.come_to_rest();
        }
        let mut states = std::mem::take(&mut self.states);
        let done = self.measure_states(&mut states, tasks, keep);
        self.states = states;
        // What changes the drive next must not have to leave its state to clones that nobody uses.
        self.clones().retain_mut(Device::give_back);
        done
    }

    fn keep_state(&mut self, task: &MeasureTask) -> Result<Bytes, LabError> {
        // Where the store has its figures already, it was not measured again.
        if self.left().is_none() {
            self.measure_clone(&self.drive, task, 0)?;
        }
        let left = self.left().take().expect("it was measured");
        let written = left.counters().host_written - self.drive.counters().host_written;
        *self.change() = left;
        self.is_at_rest = false;
        let jobs = task.jobs(0);
        let writers: Vec<&Job> = jobs.iter().filter(|job| job.workload.changes_data()).collect();
        for job in &writers {
            self.note(job.workload, job.seed, Bytes::new(written.get() / writers.len() as u64));
        }
        Ok(written)
    }

    fn place(&self) -> Place {
        Place { capacity: self.capacity(), ..Place::simulated(&self.preset) }
    }
}

/// Leaves a drive alone for so long; the power that it used, in watts, if it keeps account of that.
fn rest(drive: &mut Device, time: Nanos) -> Option<f64> {
    let before = drive.counters().energy_nj;
    conditioning::rest(drive, time);
    let nanojoules = drive.counters().energy_nj - before;
    (time > Nanos::ZERO && nanojoules > 0).then(|| nanojoules as f64 / 1e9 / time.as_secs_f64())
}
