//! `assay review --dry-run`: what a review would do and cost, without doing any of it.

use lab::Checked;
use lab::forecast::forecast;

use super::many;
use super::review::Arguments;
use crate::failure::Failure;
use crate::format::Format;
use crate::target;
use crate::terminal::{say, width};

/// Prints what the review would cost. No store is opened, and the target is at most read.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let targets = many::targets(arguments)?;
    if targets.len() < 2 {
        return survey(arguments);
    }
    targets.into_iter().try_for_each(|target| {
        let mut one = arguments.clone();
        (one.targets, one.real) = (vec![target], arguments.real.consenting(None));
        survey(&one)
    })
}

/// Prints what the review of one target would cost.
fn survey(arguments: &Arguments) -> Result<(), Failure> {
    let plan = arguments.plan()?;
    let surveyed = target::survey(arguments.target(), &arguments.real, arguments.rated_endurance)?;
    if let Some(subject) = &surveyed.subject {
        Checked::new(&plan, subject.as_ref())?;
    }
    let forecast = forecast(&plan, &surveyed.place);
    say(&match arguments.format {
        Format::Text => report::forecast::text(&plan, &surveyed.identity, &forecast, width()),
        Format::Json => report::forecast::json(&plan, &surveyed.identity, &forecast),
    })
}
