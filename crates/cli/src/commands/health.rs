//! `assay health`: what a drive says of itself, now or before and after a run, and its self-test on request.

use std::path::Path;

use drive::Drive;
use lab::health::self_test::{SelfTest, SelfTestEnd, SelfTestError, SelfTestOutcome, self_test};
use lab::health::{HealthReading, HealthRecord, attached, attached_at, of_attached, of_simulated, of_target};
use lab::{Environment, recall};
use store::Store;

use super::history::Which;
use crate::failure::Failure;
use crate::format::Format;
use crate::target;
use crate::terminal::{complain, say, width};

/// What was asked on the command line.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// A run (a number of `assay runs`, or `last`) for its health before and after, a target of `assay review` or
    /// an attached drive's socket for its health now
    #[arg(value_name = "RUN|TARGET")]
    subject: String,

    /// Have the drive test itself first and wait for the outcome: short (minutes) or long (hours). Reads only; needs root
    #[arg(long, value_name = "short|long")]
    self_test: Option<SelfTest>,

    /// Output format: text or JSON
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Prints the health of a drive, after its self-test where one is asked for.
pub fn run(arguments: &Arguments, open: impl FnOnce() -> Result<Store, Failure>) -> Result<(), Failure> {
    let (record, tested) = match (arguments.subject.parse::<Which>(), arguments.self_test) {
        (Ok(_), Some(_)) => {
            return Err(Failure::usage(
                "a run cannot test itself; name the drive: assay health DEVICE --self-test short",
            ));
        }
        (Ok(which), None) => {
            let store = open()?;
            (recall(&store, which.find(&store)?.id)?.health, None)
        }
        (Err(_), test) => {
            let tested = test.map(|test| tested(&arguments.subject, test)).transpose()?;
            (HealthRecord { before: None, after: Some(now(&arguments.subject)?) }, tested)
        }
    };
    say(&match arguments.format {
        Format::Text => report::health::text(&record, tested.as_ref(), width()),
        Format::Json => report::health::json(&record, tested.as_ref()),
    })?;
    match tested {
        Some(SelfTestEnd { device, outcome: SelfTestOutcome::Failed, words, .. }) => Err(Failure::failed(format!(
            "{device} failed its self-test ({words}): back up its data, and do not trust its figures"
        ))),
        Some(SelfTestEnd { device, outcome: SelfTestOutcome::Aborted, words, .. }) => {
            Err(Failure::failed(format!("the self-test of {device} did not come to its end ({words}); run it again")))
        }
        _ => Ok(()),
    }
}

/// Has a drive test itself, and says how far it is.
fn tested(name: &str, test: SelfTest) -> Result<SelfTestEnd, Failure> {
    if name.starts_with("sim:") {
        return Err(Failure::usage("a simulated drive has no self-test; name a device"));
    }
    let path = existing(name)?;
    let environment = Environment::with_target(path);
    if attached_at(path).or_else(|| attached(&environment)).is_some() {
        return Err(Failure::usage(format!(
            "{name} is an attached simulated drive, which has no self-test; `assay health {name}` shows its health"
        )));
    }
    let mut shown = None;
    let end = self_test(&environment, test, &mut |done| {
        if shown.replace(done) != Some(done) {
            complain(format_args!("Self-test ({}): {done} % done", test.name()));
        }
    });
    end.map_err(|error| match error {
        SelfTestError::NoDrive(_) | SelfTestError::Unsupported { .. } | SelfTestError::UnderWay { .. } => {
            Failure::usage(error)
        }
        error => Failure::failed(error),
    })
}

/// The path of a target that is there.
fn existing(name: &str) -> Result<&Path, Failure> {
    let path = Path::new(name);
    if path.exists() {
        return Ok(path);
    }
    Err(Failure::usage(format!(
        "there is neither a run nor a target `{name}`; name a run of `assay runs`, a device, a file or sim:DRIVE"
    )))
}

/// Looks at a drive.
fn now(name: &str) -> Result<HealthReading, Failure> {
    if let Some(name) = name.strip_prefix("sim:") {
        let preset = target::preset(name)?;
        let drive = preset.build();
        return Ok(HealthReading::Health(Box::new(of_simulated(&preset.title, &drive.counters(), &drive.health()))));
    }
    // A socket lies on a drive that is not the one behind it.
    let path = existing(name)?;
    Ok(attached_at(path).map_or_else(|| of_target(&Environment::with_target(path)), |entry| of_attached(&entry)))
}
