//! A plan on a simulated drive, in virtual time.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use block::{Bytes, Nanos, Request, Seed, Tag};
use drive::preset::Preset;
use drive::{Counters, Device, Drive};
use engine::{
    Consumption, Job, Measurement, Record, VirtualError, run_virtual, run_virtual_recorded, run_virtual_together,
};
use trial::TrialDevice;
use workload::{Spare, Workload};

use crate::cost::Place;
use crate::counted::counted;
use crate::health::{HealthReading, of_simulated};
use crate::subject::{Keep, LiveCallback, MeasureTask, Repeats, Share, Subject, needs_root};
use crate::{DriveRecord, LabError};

/// Who meters a simulated drive.
const METER: &str = "the simulated drive's power model";

/// A simulated drive and the clones that measurements run on.
pub struct Simulated {
    /// What the drive was made from.
    preset: Preset,
    drive: Device,
    /// Clones that have been used and can be used again, which saves building them anew.
    clones: Mutex<Vec<Device>>,
    /// Where measurements note what they submit, if anyone wants to know.
    record: Option<Arc<Record>>,
    /// What the drive used while it last rested, in watts; none where it has not.
    idle_watts: Option<f64>,
    /// How it is attached where it is a stage.
    stage: StageTerms,
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
            preset,
            clones: Mutex::new(Vec::new()),
            record: None,
            idle_watts: None,
            stage: StageTerms::default(),
        }
    }

    /// Measures jobs side by side on a clone of the drive.
    fn measure_clone(&self, jobs: &[Job]) -> Result<Vec<Measurement>, LabError> {
        let used = self.clones().pop();
        let mut clone = match used {
            Some(mut clone) => {
                clone.clone_from(&self.drive);
                clone
            }
            None => self.drive.clone(),
        };
        let measured = match &self.record {
            None => run_virtual_together(&mut clone, jobs),
            Some(record) => run_virtual_recorded(&mut clone, jobs, record),
        };
        self.clones().push(clone);
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

    fn repeats(&self, task: &MeasureTask) -> Result<Repeats, LabError> {
        let mut measured = Repeats::new();
        for &repeat in &task.repeats {
            measured.push((repeat, self.measure_clone(&task.jobs(repeat))?));
            if task.is_enough(&measured) {
                break;
            }
        }
        Ok(measured)
    }

    /// What the drive has done since it was made.
    pub(crate) fn counters(&self) -> Counters {
        self.drive.counters()
    }

    fn clones(&self) -> std::sync::MutexGuard<'_, Vec<Device>> {
        self.clones.lock().expect("nothing panics while it holds the clones")
    }
}

impl Subject for Simulated {
    fn capacity(&self) -> Bytes {
        self.drive.shape().capacity
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
        match workload.verify.stamps {
            true => Err(VirtualError::HoldsNoData.into()),
            false => Ok(()),
        }
    }

    fn changed(&self, changes: &str) -> Result<Box<dyn Subject + Send>, LabError> {
        Ok(Box::new(Self::new(self.preset.clone().changed(changes)?)))
    }

    fn record_to(&mut self, record: Arc<Record>) {
        self.record = Some(record);
    }

    fn purge(&mut self) -> Result<Option<String>, LabError> {
        self.drive.purge();
        Ok(None)
    }

    fn health(&self) -> HealthReading {
        let (counters, state) = (self.drive.counters(), self.drive.health());
        HealthReading::Health(Box::new(of_simulated(&self.preset.title, &counters, &state)))
    }

    fn check_stage(&self) -> Result<(), LabError> {
        needs_root("a simulated drive")
    }

    fn stage(&mut self) -> Result<TrialDevice, LabError> {
        self.idle(Nanos::ZERO);
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
        self.idle_watts = rest(&mut self.drive, time).or(self.idle_watts);
    }

    fn meter_rest(&mut self, time: Nanos) {
        self.idle_watts = rest(&mut self.drive.clone(), time);
    }

    fn run(&mut self, workload: &Workload, seed: Seed, share: &Share) -> Result<Measurement, LabError> {
        let measured = run_virtual(&mut counted(&mut self.drive, workload, share), workload, seed)?;
        Ok(self.metered(measured))
    }

    fn measure(&mut self, tasks: &[MeasureTask], keep: &Keep, _: &LiveCallback) -> Result<(), LabError> {
        // Written data still on its way to flash would be part of every clone's start.
        self.idle(Nanos::ZERO);
        // Every processor takes the next task in order, so that the plan is seen to go forward.
        let next = AtomicUsize::new(0);
        let work = |_: rayon::BroadcastContext| -> Result<(), LabError> {
            while let index = next.fetch_add(1, Ordering::Relaxed)
                && let Some(task) = tasks.get(index)
            {
                let measured = self.repeats(task).map_err(|error| task.failed(error));
                let kept = measured.and_then(|measured| keep(index, measured, None));
                if kept.is_err() {
                    next.store(tasks.len(), Ordering::Relaxed);
                    return kept;
                }
            }
            Ok(())
        };
        rayon::broadcast(work).into_iter().collect()
    }

    fn place(&self) -> Place {
        Place { capacity: self.capacity(), ..Place::simulated(&self.preset) }
    }
}

/// Leaves a drive alone for so long; the power that it used, in watts, if it keeps account of that.
fn rest(drive: &mut Device, time: Nanos) -> Option<f64> {
    let before = drive.counters().energy_nj;
    drive.submit(drive.now() + time, Tag(0), Request::FLUSH);
    drive.complete(Nanos::MAX);
    let nanojoules = drive.counters().energy_nj - before;
    (time > Nanos::ZERO && nanojoules > 0).then(|| nanojoules as f64 / 1e9 / time.as_secs_f64())
}
