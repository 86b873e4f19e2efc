//! A real target whose power is metered.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use block::{Bytes, Nanos, Seed};
use engine::{Consumption, Measurement, Record};
use trial::TrialDevice;
use workload::{Spare, Workload};

use crate::cost::Place;
use crate::health::HealthReading;
use crate::subject::{Keep, LiveCallback, MeasureTask, Part, Share, Subject};
use crate::{LabError, PurgeMethod, Thermometer};
use host::power::PowerMeter;

/// A real target whose power is metered: each of its measurements tells what was consumed meanwhile. What fills it and
/// conditions it is not metered.
pub struct Metered {
    target: Box<dyn Subject>,
    meter: PowerMeter,
    /// What the last rest consumed.
    rest: Rest,
}

/// What a rest consumed.
struct Rest {
    /// Mean power, in watts; none where there was no rest, or it is not known.
    watts: Option<f64>,
    /// Why it is not known.
    doubts: Vec<String>,
}

impl Metered {
    /// A target all of whose energy goes through `meter`; what it uses at rest, in watts, may be known already.
    pub fn new(target: Box<dyn Subject>, meter: PowerMeter, idle_watts: Option<f64>) -> Self {
        Self { target, meter, rest: Rest { watts: idle_watts, doubts: Vec::new() } }
    }
}

impl Rest {
    /// Adds to `measurement` what was consumed meanwhile.
    fn complete(&self, measurement: &mut Measurement, meter: &PowerMeter) {
        let Some(began) = measurement.began else { return };
        let consumed = meter.consumed(began, began + measurement.elapsed.to_std());
        let doubts = consumed.doubts.iter().chain(&self.doubts).cloned().collect();
        measurement.energy = Some(Consumption { idle_watts: self.watts, doubts, ..consumed });
    }
}

impl Subject for Metered {
    fn capacity(&self) -> Bytes {
        self.target.capacity()
    }

    fn writable(&self) -> Bytes {
        self.target.writable()
    }

    fn block(&self) -> Bytes {
        self.target.block()
    }

    fn fill_spans(&self) -> Option<Vec<(Bytes, Bytes)>> {
        self.target.fill_spans()
    }

    fn check(&self, workload: &Workload) -> Result<(), LabError> {
        self.target.check(workload)
    }

    fn changed(&self, changes: &str) -> Result<Box<dyn Subject + Send>, LabError> {
        self.target.changed(changes)
    }

    fn record_to(&mut self, record: Arc<Record>) {
        self.target.record_to(record);
    }

    fn withdraw(&mut self) -> Result<(), LabError> {
        self.target.withdraw()
    }

    fn purge(&mut self) -> Result<Option<String>, LabError> {
        self.target.purge()
    }

    fn spare(&self) -> Option<Spare> {
        self.target.spare()
    }

    fn health(&self) -> HealthReading {
        self.target.health()
    }

    fn check_purge(&self, method: PurgeMethod) -> Result<(), LabError> {
        self.target.check_purge(method)
    }

    fn purge_by(&mut self, method: PurgeMethod) -> Result<Option<String>, LabError> {
        self.target.purge_by(method)
    }

    fn thermometer(&self) -> Option<Thermometer> {
        self.target.thermometer()
    }

    fn check_stage(&self) -> Result<(), LabError> {
        self.target.check_stage()
    }

    fn stage(&mut self) -> Result<TrialDevice, LabError> {
        self.target.stage()
    }

    fn leave_stage(&mut self) -> Result<(), LabError> {
        self.target.leave_stage()
    }

    fn stage_with(&mut self, stop: Arc<AtomicBool>, speed: f64) {
        self.target.stage_with(stop, speed);
    }

    fn idle(&mut self, time: Nanos) {
        let began = Instant::now();
        self.target.idle(time);
        let ended = Instant::now();
        let consumed = self.meter.consumed(began, ended);
        let watts = consumed.watts(Nanos::from_std(ended - began));
        let doubts = consumed.doubts.iter().map(|doubt| format!("Idle power unknown: {doubt}")).collect();
        self.rest = Rest { watts, doubts };
        self.meter.forget_before(ended);
    }

    fn run(&mut self, workload: &Workload, seed: Seed, share: &Share) -> Result<Measurement, LabError> {
        // Waiting for the reading behind each round would give the drive a rest between the rounds of a conditioning.
        let measurement = self.target.run(workload, seed, share)?;
        self.meter.forget_before(Instant::now());
        Ok(measurement)
    }

    fn measure(&mut self, tasks: &[MeasureTask], keep: &Keep, live: &LiveCallback) -> Result<(), LabError> {
        let Self { target, meter, rest } = self;
        let keep_metered = |index: usize, mut part: Part| {
            part.measured.iter_mut().flat_map(|(_, together)| together).for_each(|one| rest.complete(one, meter));
            meter.forget_before(Instant::now());
            keep(index, part)
        };
        target.measure(tasks, &keep_metered, live)
    }

    fn place(&self) -> Place {
        self.target.place()
    }
}
