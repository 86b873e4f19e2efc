//! Power and energy: meters beside the supply of a real drive, asked about exactly the time of a measurement.
//!
//! A simulated drive keeps its own account; what it says and what meters say is the same [`Consumption`].

mod consumption;
mod error;
mod gauge;
mod line;
mod log;
mod logbook;
mod sampler;
mod samples;
mod scpi;
mod sensors;
mod source;

use std::path::Path;
use std::time::Instant;

pub use consumption::Consumption;
pub use error::PowerError;
pub use sensors::Sensors;
pub use source::MeterSource;

use gauge::Gauge;
use logbook::Logbook;
use sampler::Sampler;
use samples::Amount;
use scpi::Instrument;
use sensors::{Battery, Rapl, Sensor};
use source::MeterKind;

/// Meters that are read from when they are opened until this is dropped, and whose energy is added up: those of a
/// drive's
/// 5 V and 12 V, say.
pub struct PowerMeter {
    meters: Vec<Meter>,
}

enum Meter {
    Sampled(Sampler),
    Logged(Logbook),
}

impl PowerMeter {
    /// Opens every one of `sources`, and reads each once. The kernel's own are looked for in `root`, which is `/`.
    ///
    /// # Errors
    /// If one of them is not there, or is not as was described.
    pub fn open(sources: &[MeterSource], root: &Path) -> Result<Self, PowerError> {
        let origin = Instant::now();
        let open = |source: &MeterSource| match (&source.kind, gauge_of(&source.kind, root)?) {
            (_, Some(gauge)) => Sampler::begin(gauge, origin).map(Meter::Sampled),
            (MeterKind::Csv(log), None) => Logbook::open(log).map(Meter::Logged),
            (kind, None) => unreachable!("{kind:?} is read by a gauge"),
        };
        Ok(Self { meters: sources.iter().map(open).collect::<Result<_, _>>()? })
    }

    /// The names of all meters.
    pub fn name(&self) -> String {
        self.meters.iter().map(Meter::name).collect::<Vec<_>>().join(" + ")
    }

    /// What was consumed from one moment to another that is over; waits for the readings behind it.
    pub fn consumed(&self, from: Instant, to: Instant) -> Consumption {
        let mut consumption = Consumption { meter: self.name(), ..Consumption::default() };
        let mut amounts = Vec::new();
        for meter in &self.meters {
            match meter.energy(from, to) {
                Ok(amount) if amount.joules < 0.0 => consumption
                    .doubts
                    .push(format!("{} reports negative power, so no energy is given; swap its leads.", meter.name())),
                Ok(amount) => amounts.push(amount),
                Err(doubt) => consumption.doubts.push(doubt),
            }
        }
        if consumption.doubts.is_empty() {
            consumption.joules = Some(amounts.iter().map(|amount| amount.joules).sum());
            consumption.readings = amounts.iter().map(|amount| amount.readings).min();
        }
        consumption
    }

    /// Drops the readings that are needed only for times before `moment`.
    pub fn forget_before(&self, moment: Instant) {
        for meter in &self.meters {
            if let Meter::Sampled(sampler) = meter {
                sampler.forget_before(moment);
            }
        }
    }
}

impl Meter {
    fn name(&self) -> String {
        match self {
            Self::Sampled(sampler) => sampler.name.clone(),
            Self::Logged(book) => book.name(),
        }
    }

    fn energy(&self, from: Instant, to: Instant) -> Result<Amount, String> {
        match self {
            Self::Sampled(sampler) => sampler.energy(from, to),
            Self::Logged(book) => book.energy(from, to),
        }
    }
}

/// Opens what is read, sensors below `root`; none for a log, which is written by others.
///
/// # Errors
/// If it is not there, or not as it was described.
fn gauge_of(kind: &MeterKind, root: &Path) -> Result<Option<Box<dyn Gauge>>, PowerError> {
    Ok(Some(match kind {
        MeterKind::Scpi(scpi) => Box::new(Instrument::open(scpi)?),
        MeterKind::Rapl { zone, every } => Box::new(Rapl::open(root, zone.as_deref(), *every)?),
        MeterKind::Hwmon { chip, channel, every } => Box::new(Sensor::open(root, chip.as_deref(), *channel, *every)?),
        MeterKind::Battery { name, every } => Box::new(Battery::open(root, name.as_deref(), *every)?),
        MeterKind::Csv(_) => return Ok(None),
    }))
}
