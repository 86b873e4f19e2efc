//! The options by which power and energy are metered.

use std::path::Path;

use block::{Nanos, parse_duration};
use host::power::{MeterSource, PowerMeter};
use lab::{Environment, Metered};
use store::{Run, RunId, Store};

use crate::failure::Failure;
use crate::target::OpenedTarget;

/// The options by which power and energy are metered.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct PowerOptions {
    /// Meter power: scpi://HOST:PORT?volts=5, scpi:/dev/ttyUSB0?volts=5&baud=9600, rapl, hwmon, battery,
    /// csv:FILE?time=COLUMN&power=COLUMN; several are summed
    #[arg(long, value_name = "METER")]
    pub power: Vec<MeterSource>,

    /// Measure idle power for this long before the run, such as 10s
    #[arg(long = "power-baseline", visible_alias = "power_baseline", value_name = "TIME", value_parser = parse_duration)]
    pub power_baseline: Option<Nanos>,
}

/// Meters that are ready, and for how long they are to be read at rest.
pub struct Metering {
    meter: Option<PowerMeter>,
    sources: Vec<String>,
    baseline: Option<Nanos>,
    /// What was used at rest in an earlier part of the run, in watts.
    rested: Option<f64>,
}

impl PowerOptions {
    /// Whether a meter is named.
    pub fn is_given(&self) -> bool {
        !self.power.is_empty() || self.power_baseline.is_some()
    }

    /// Those for a run that goes on: the meters that the command line names, and for how long the run has them read at
    /// rest.
    /// A store alone chooses no meter, for that would have root read a file or talk to a machine of its writer's; so a
    /// doubt where the run had one and none is named.
    pub fn or_of(&self, run: &Run) -> (Self, Option<String>) {
        // An environment that cannot be read any more was written by another version.
        let begun: Environment = serde_json::from_str(&run.environment).unwrap_or_default();
        if self.power.is_empty() && !begun.power.is_empty() {
            let doubt = "The run measured power and continues without a meter, so later measurements have no energy: name the meters again with --power when a run is resumed.";
            return (self.clone(), Some(doubt.to_owned()));
        }
        let baseline = begun.power_baseline.and_then(|text| parse_duration(&text).ok());
        (Self { power: self.power.clone(), power_baseline: self.power_baseline.or(baseline) }, None)
    }

    /// Opens the meters for `target`, before anything is done to that.
    ///
    /// # Errors
    /// If one is not there, or makes no sense beside the target.
    pub fn open(&self, target: &str) -> Result<Metering, Failure> {
        let (is_simulated, wanted) = (target.starts_with("sim:"), !self.power.is_empty());
        if is_simulated && wanted {
            return Err(Failure::usage(
                "--power is for files and devices; a simulated drive has a power model of its own if its file gives one: leave --power out",
            ));
        }
        if !is_simulated && !wanted && self.power_baseline.is_some() {
            return Err(Failure::usage(
                "--power-baseline needs a meter; name it with --power. `assay doctor` lists the meters",
            ));
        }
        let meter = wanted.then(|| PowerMeter::open(&self.power, Path::new("/"))).transpose();
        let meter = meter.map_err(|error| Failure::usage(format!("--power: {error}")))?;
        let sources = self.power.iter().map(ToString::to_string).collect();
        Ok(Metering { meter, sources, baseline: self.power_baseline, rested: None })
    }
}

impl Metering {
    /// The same with the power at rest that the run has metered already; its steps that rest are not done again.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn going_on(mut self, store: &Store, run: RunId) -> Result<Self, Failure> {
        if self.meter.is_some() {
            let stored = store.measured(run)?;
            self.rested = stored.iter().rev().find_map(|stored| stored.measurement.energy.as_ref()?.idle_watts);
        }
        Ok(self)
    }

    /// The target with these meters.
    pub fn of(self, mut opened: OpenedTarget) -> OpenedTarget {
        opened.environment.power = self.sources;
        opened.environment.power_baseline = self.baseline.map(|time| time.to_string());
        opened.rest = self.baseline;
        if let Some(meter) = self.meter {
            opened.subject = Box::new(Metered::new(opened.subject, meter, self.rested));
        }
        opened
    }
}
