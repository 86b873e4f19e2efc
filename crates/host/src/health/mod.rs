//! How well a drive is: what it has done in its life and what remains of it, before a review and after.

mod attributes;
mod change;
mod parse;
mod rows;
pub mod self_test;
mod smartctl;

use std::collections::BTreeMap;

use block::Bytes;
use serde::{Deserialize, Serialize};

pub use self::parse::{of_nvme_cli, of_smartctl};
pub use self::rows::{HealthRow, rows};
pub use self::smartctl::of_device;

/// The state of a drive's health at one moment, real or simulated.
///
/// What a drive does not say, or says in a unit that nobody has explained, is none, never zero.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Health {
    /// Who said so: `smartctl 7.3 on /dev/sda (INTEL SSDSA2MH080G1GC)`, `simulated drive`.
    pub source: String,
    /// Data that the host has written in the drive's life.
    #[serde(rename = "host_written_bytes")]
    pub host_written: Option<Bytes>,
    /// Data that the host has read.
    #[serde(rename = "host_read_bytes")]
    pub host_read: Option<Bytes>,
    /// Data that was programmed into flash.
    #[serde(rename = "flash_written_bytes")]
    pub flash_written: Option<Bytes>,
    /// What was programmed into flash for each byte that the host wrote, over the drive's life.
    pub write_amplification: Option<f64>,
    /// How much of its rated life is used, in percent; may exceed 100.
    pub wear_percent: Option<f64>,
    /// Sectors or blocks that were replaced because they went bad.
    pub reallocated: Option<u64>,
    /// Sectors that could not be read and wait to be replaced.
    pub pending: Option<u64>,
    /// Sectors or requests whose data was lost.
    pub uncorrectable: Option<u64>,
    /// Entries of the drive's error log over its life. Commands that it does not know add to it too, so a rise alone is no fault.
    pub error_log_entries: Option<u64>,
    /// What is left of the reserve of blocks, in percent.
    pub spare_percent: Option<u64>,
    /// Below this much of it the drive warns.
    pub spare_threshold_percent: Option<u64>,
    /// The bits of an NVMe drive's critical warning.
    pub critical_warning: Option<u64>,
    /// How warm it is, in degrees Celsius.
    #[serde(rename = "temperature_celsius")]
    pub temperature: Option<i64>,
    /// How warm it may be at work, as it says itself.
    #[serde(rename = "temperature_limit_celsius")]
    pub temperature_limit: Option<i64>,
    /// How long it has been switched on, in hours.
    pub power_on_hours: Option<u64>,
    /// Whether it calls itself well.
    pub passed: Option<bool>,
    /// Whether something in it turns, so that it is to be kept cooler.
    pub rotates: Option<bool>,
    /// Where each figure comes from and what its unit was, by the name of the field.
    pub origins: BTreeMap<String, String>,
}

/// A look at a drive's health: what was seen, or why there is nothing to see.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HealthReading {
    /// What the drive says.
    Health(Box<Health>),
    /// Why it says nothing, and what would help.
    Missing(String),
}

impl HealthReading {
    /// What was seen.
    pub fn health(&self) -> Option<&Health> {
        match self {
            Self::Health(health) => Some(health),
            Self::Missing(_) => None,
        }
    }
}

/// A drive's health before a run and after it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HealthRecord {
    /// Before the first step; none for runs that did not look.
    pub before: Option<HealthReading>,
    /// After the last; none for runs that did not look, or have not ended.
    pub after: Option<HealthReading>,
}

impl HealthRecord {
    /// Doubts that follow: what got worse, and what is not well.
    pub fn findings(&self) -> Vec<String> {
        let health = |reading: &'_ Option<HealthReading>| reading.as_ref().and_then(HealthReading::health).cloned();
        match (health(&self.before), health(&self.after)) {
            (before, Some(after)) => change::findings(before.as_ref(), &after),
            _ => Vec::new(),
        }
    }

    /// What was programmed into flash during the run for each byte that the host wrote; none where either is not known.
    pub fn write_amplification(&self) -> Option<f64> {
        let [before, after] = [&self.before, &self.after].map(|reading| reading.as_ref()?.health());
        let grown = |of: fn(&Health) -> Option<Bytes>| of(after?)?.get().checked_sub(of(before?)?.get());
        let (host, flash) = (grown(|health| health.host_written)?, grown(|health| health.flash_written)?);
        (host > 0).then(|| flash as f64 / host as f64)
    }
}

impl Health {
    /// Notes a figure's origin.
    pub fn from(&mut self, field: &str, origin: impl Into<String>) {
        self.origins.insert(field.to_owned(), origin.into());
    }

    /// How warm it may be: as it says, or as data sheets usually have it.
    ///
    /// Source: guess, the upper end of the operating range in most data sheets, 70 °C for flash and 60 °C for disks.
    pub fn temperature_max(&self) -> i64 {
        self.temperature_limit.unwrap_or(if self.rotates == Some(true) { 60 } else { 70 })
    }
}

#[cfg(test)]
mod tests;
