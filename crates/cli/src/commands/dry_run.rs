//! `assay review --dry-run`: what a review would do and cost, without doing any of it.

use clap::ValueEnum;
use lab::forecast::forecast;

use super::history::{say, width};
use super::review::Arguments;
use crate::failure::Failure;
use crate::target;

/// How the cost of a plan is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A table
    Text,
    /// One JSON document
    Json,
}

/// Prints what the review would cost. No store is opened, and the target is at most read.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let plan = arguments.plan()?;
    let surveyed = target::survey(arguments.target(), &arguments.real, arguments.rated_endurance)?;
    if let Some(subject) = &surveyed.subject {
        lab::fits(&plan.on(surveyed.place.capacity), subject.as_ref())?;
    }
    let forecast = forecast(&plan, &surveyed.place);
    say(&match arguments.format {
        Format::Text => report::forecast::text(&plan, &surveyed.identity, &forecast, width()),
        Format::Json => report::forecast::json(&plan, &surveyed.identity, &forecast),
    })
}
