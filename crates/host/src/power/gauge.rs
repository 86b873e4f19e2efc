//! What can be read for power or energy.

use std::path::Path;
use std::time::Duration;

use super::PowerError;
use super::samples::Unit;
use super::scpi::Instrument;
use super::sensors::{Battery, Rapl, Sensor};
use super::source::Kind;

/// What can be read for power or energy, time and again.
pub(super) trait Gauge: Send {
    /// How it names itself.
    fn name(&self) -> String;

    /// What its readings are of.
    fn unit(&self) -> Unit;

    /// The least time from one reading to the next.
    fn pause(&self) -> Duration;

    /// Reads it; an instrument measures meanwhile, which takes its time.
    ///
    /// # Errors
    /// If it cannot be read now.
    fn read(&mut self) -> Result<f64, PowerError>;

    /// Sets it up again after a reading has failed.
    ///
    /// # Errors
    /// If it is still not to be had.
    fn reopen(&mut self) -> Result<(), PowerError> {
        Ok(())
    }
}

/// Opens what is read, sensors below `root`; none for a log, which is written by others.
///
/// # Errors
/// If it is not there, or not as it was described.
pub(super) fn open(kind: &Kind, root: &Path) -> Result<Option<Box<dyn Gauge>>, PowerError> {
    Ok(Some(match kind {
        Kind::Scpi(scpi) => Box::new(Instrument::open(scpi)?),
        Kind::Rapl { zone, every } => Box::new(Rapl::open(root, zone.as_deref(), *every)?),
        Kind::Hwmon { chip, channel, every } => Box::new(Sensor::open(root, chip.as_deref(), *channel, *every)?),
        Kind::Battery { name, every } => Box::new(Battery::open(root, name.as_deref(), *every)?),
        Kind::Csv(_) => return Ok(None),
    }))
}
