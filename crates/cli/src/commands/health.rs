//! `assay health`: what a drive says of itself, now or before and after a run.

use std::path::Path;

use drive::Drive;
use lab::health::{HealthReading, HealthRecord, of_device, of_simulated};
use lab::{Environment, recall};
use store::Store;

use super::history::Which;
use crate::failure::Failure;
use crate::format::Format;
use crate::target;
use crate::terminal::{say, width};

/// What was asked on the command line.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// A run (a number of `assay runs`, or `last`) for its health before and after, or a target of `assay review` for
    /// its health now
    #[arg(value_name = "RUN|TARGET")]
    subject: String,

    /// Output format: text or JSON
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Prints the health of a drive.
pub fn run(arguments: &Arguments, open: impl FnOnce() -> Result<Store, Failure>) -> Result<(), Failure> {
    let record = match arguments.subject.parse::<Which>() {
        Ok(which) => {
            let store = open()?;
            recall(&store, which.find(&store)?.id)?.health
        }
        Err(_) => HealthRecord { before: None, after: Some(now(&arguments.subject)?) },
    };
    say(&match arguments.format {
        Format::Text => report::health::text(&record, width()),
        Format::Json => report::health::json(&record),
    })
}

/// Looks at a drive.
fn now(name: &str) -> Result<HealthReading, Failure> {
    if let Some(name) = name.strip_prefix("sim:") {
        let preset = target::preset(name)?;
        let drive = preset.build();
        return Ok(HealthReading::Health(Box::new(of_simulated(&preset.title, &drive.counters(), &drive.health()))));
    }
    let path = Path::new(name);
    if !path.exists() {
        return Err(Failure::usage(format!(
            "there is neither a run nor a target `{name}`; name a run of `assay runs`, a device, a file or sim:DRIVE"
        )));
    }
    Ok(of_device(&Environment::with_target(path)))
}
