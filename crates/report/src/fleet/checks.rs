//! What each drive of a fleet is held to: limits, and what its maker promises.

use drive::preset::{Rated, of_unchanged};
use plan::Outcome;
use plan::compare::{Compared, KeyPlace};
use plan::fleet::FleetDrive;
use plan::gate::{GateQuestion, GateRule, Limit, LimitError};

use crate::key::Scorecard;
use crate::number::percent;
use crate::parts::parts;
use crate::rated::{is_changed, rating};

/// What drives are held to; nothing by default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FleetChecks {
    pub limits: Vec<Limit>,
    pub rated: Option<RatedCheck>,
}

/// Whether drives do what their maker promises.
#[derive(Clone, Debug, PartialEq)]
pub struct RatedCheck {
    /// What is promised; none for what each drive's own file has, which real drives have not.
    pub rated: Option<Rated>,
    /// How far below it a figure may be, as a share.
    pub within: f64,
}

/// A run as a drive of a fleet, with its key figures and what came of the checks.
///
/// # Errors
/// If a limit names a point that the run does not measure.
pub fn drive(outcome: &Outcome, checks: &FleetChecks) -> Result<FleetDrive, LimitError> {
    let parts = parts(outcome);
    let scorecard = Scorecard::of(&parts);
    let mut questions = Vec::new();
    for limit in &checks.limits {
        questions.extend(limit.questions(outcome)?);
    }
    if let Some(check) = &checks.rated {
        let of = of_unchanged(check.rated.is_none() && is_changed(outcome));
        let own = || outcome.drive.as_ref().and_then(|drive| drive.rated());
        if let Some(rated) = check.rated.clone().or_else(own) {
            let promised = |(key, place): (&crate::key::KeyFigure, KeyPlace)| {
                Some(question(outcome, place, rating(&rated, key)?.value, check.within, of))
            };
            questions.extend(scorecard.first_places(&parts).into_iter().filter_map(promised));
        }
    }
    let is_checked = !checks.limits.is_empty() || checks.rated.is_some();
    Ok(FleetDrive::of(outcome, &scorecard.places(&parts), is_checked.then_some(questions)))
}

/// Whether a figure is what is promised, or not much less.
fn question(outcome: &Outcome, place: KeyPlace, promised: f64, within: f64, of: &str) -> GateQuestion {
    let Compared { unit, more_is_better, .. } = Compared::by(place.metric);
    let after = FleetDrive::side(outcome, &place).ok_or_else(|| "it was not measured".to_owned());
    GateQuestion {
        title: format!("{}, at least {} of the rating{of}", place.title, percent(1.0 - within)),
        step: place.step,
        cell: place.cell,
        unit,
        more_is_better,
        rule: GateRule::AtLeast(promised * (1.0 - within)),
        before: None,
        after,
        paired: false,
    }
}
