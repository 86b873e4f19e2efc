//! What can be read for power or energy.

use std::time::Duration;

use super::PowerError;
use super::samples::MeterUnit;

/// What can be read for power or energy, time and again.
pub(super) trait Gauge: Send {
    /// How it names itself.
    fn name(&self) -> String;

    /// What its readings are of.
    fn unit(&self) -> MeterUnit;

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
