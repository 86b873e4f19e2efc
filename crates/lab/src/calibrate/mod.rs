//! Fitting a drive's parameters to published figures.
//!
//! Only figures that are marked `fit` are seen while parameters are searched: [`FitFigures`] is made of a review, and
//! [`FitPoints`] of published latencies and rates, by dropping all others, and the search is given nothing else. Checked
//! figures are measured once before and once after, to be told.

mod bench;
mod family;
mod parameter;
mod record;
mod search;

use block::{Nanos, Seed};
use drive::preset::{Preset, PresetError};
use rayon::prelude::*;
use thiserror::Error;

pub use bench::FitFigures;
use bench::{CalibrationBench, measure_all};
pub use family::{FamilyDrive, FamilyRequest, FitPoints, calibrate_family};
pub use parameter::{Parameter, ParameterError, parse_list};
use search::minimise;

use crate::replicate::{Review, Tally, Use};
use crate::{LabError, Watch};

/// What is to be fitted to a review, and how hard to search.
#[derive(Clone, Debug)]
pub struct CalibrationRequest {
    /// The drive or rig, by name.
    pub drive: String,
    pub search: Search,
}

/// What a search may change, what it looks at, and how long it goes on.
#[derive(Clone, Debug)]
pub struct Search {
    /// What may be changed, and within which bounds; empty for every duration in the drive's file, from half to
    /// twice of what it is.
    pub parameters: Vec<Parameter>,
    /// Only figures whose names hold one of these; empty for all.
    pub only: Vec<String>,
    /// Random seed.
    pub seed: Seed,
    /// How many rounds of the global search; the local one after it takes up to twice as many.
    pub rounds: u32,
}

/// A drive fitted to a review.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// The drive or rig.
    pub drive: String,
    pub review: String,
    /// Random seed.
    pub seed: Seed,
    /// What was changed.
    pub parameters: Vec<Fitted>,
    /// How well the figures that were fitted to are met, before and after.
    pub fitted: [Tally; 2],
    /// How well the others are.
    pub checked: [Tally; 2],
    /// How often the drive was measured to find this.
    pub evaluations: usize,
    /// The drive's file with what was found, and the fit recorded in the `source` of each table.
    pub text: String,
}

/// A parameter that was fitted.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    /// What it is, and its bounds.
    pub parameter: Parameter,
    /// What it was; none where the drive's file does not say.
    pub before: Option<u64>,
    /// What it is now.
    pub value: u64,
    /// How the median error of the fitted figures changes with a tenth less and a tenth more; none where that
    /// makes no drive.
    pub sensitivity: [Option<f64>; 2],
}

impl Fitted {
    /// Whether the value lies on a bound, so that a better one may lie beyond.
    pub fn is_at_bound(&self) -> bool {
        // What rounding to whole units or the last step of the search leaves.
        let place = self.parameter.place(self.value);
        !(0.005..=0.995).contains(&place)
    }
}

/// Why a drive could not be fitted.
#[non_exhaustive]
#[derive(Debug, Error)]
pub enum CalibrateError {
    /// There is no such drive, or a parameter is none of its.
    #[error(transparent)]
    Preset(#[from] PresetError),
    /// A parameter cannot be read.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// The review does not measure the drive.
    #[error("no part of `{review}` measures `{drive}`; its parts run on {targets}")]
    NoPart {
        review: String,
        drive: String,
        /// What its parts run on.
        targets: String,
    },
    /// No figure may be fitted to.
    #[error("`{review}` has no figure of `{drive}` to fit to; mark figures with `use = \"fit\"`, or widen --only")]
    NothingToFit { review: String, drive: String },
    /// There is nothing to change.
    #[error("nothing to fit: the file of `{drive}` has no durations; name parameters with --parameters")]
    NoParameter { drive: String },
    /// Nothing was published of the latency and rates of a drive.
    #[error("no figures of a drive `{drive}`; {help}")]
    NoFigures { drive: String, help: String },
    /// The drive's name does not say which drive's figures it is to be fitted to.
    #[error(
        "the figures are of several drives, and none is named for {drive}; name one, and give the file with --on: {names}"
    )]
    SeveralDrives { drive: String, names: String },
    /// Two drives are to be fitted to the figures of one.
    #[error("{first} and {second} would both be fitted to the figures of {figures}; give one of them")]
    Twice { first: String, second: String, figures: String },
    /// The drive cannot be measured.
    #[error(transparent)]
    Lab(#[from] LabError),
}

/// Figures that a search is to meet, and nothing else that was published.
pub trait Objective: Sync {
    /// How far each figure is off with `changes`: logarithms of measured over published, each in what is wanted of it.
    ///
    /// # Errors
    /// If the changes make no drive, or it cannot be measured.
    fn residuals(&self, changes: &str) -> Result<Vec<f64>, CalibrateError>;

    /// The median error of the figures with `changes`.
    ///
    /// # Errors
    /// As above.
    fn median_error(&self, changes: &str) -> Result<f64, CalibrateError>;
}

/// Fits a drive to the `fit` figures of `review`.
///
/// # Errors
/// If the drive, the parameters or the figures do not fit together, or the drive as it is cannot be measured.
pub fn calibrate(
    review: &Review,
    request: &CalibrationRequest,
    watch: &dyn Watch,
) -> Result<Calibration, CalibrateError> {
    let (preset, seed) = (Preset::find(&request.drive)?, request.search.seed);
    let fit = FitFigures::of(review, &request.drive, &request.search.only, seed)?;
    let found = request.search.carry_out(&fit, std::slice::from_ref(&preset), watch)?;
    watch.step("All figures, before and after");
    let all = CalibrationBench::of(review, &request.drive, seed, |_| true)?;
    let found_changes = found.changes();
    let [first, last] = measure_all(&all, ["", &found_changes])?;
    let tally = |answers: &[_], usage| Tally::of(answers.iter(), Some(usage));
    let fitted = [fit.tally(&first), fit.tally(&last)];
    let record = record::Record { review: &review.published.review, seed, fitted: fitted[1] };
    let text = record.write(&preset.text, &preset.clone().changed(&found_changes)?.text);
    Ok(Calibration {
        drive: request.drive.clone(),
        review: review.published.review.clone(),
        seed,
        parameters: found.fitted,
        fitted,
        checked: [tally(&first, Use::Check), tally(&last, Use::Check)],
        evaluations: found.evaluations,
        text,
    })
}

/// What a search found.
struct Found {
    fitted: Vec<Fitted>,
    evaluations: usize,
}

impl Found {
    /// The changes that give every parameter what was found.
    fn changes(&self) -> String {
        let (parameters, values): (Vec<_>, Vec<_>) =
            self.fitted.iter().map(|fitted| (fitted.parameter.clone(), fitted.value)).unzip();
        changes(&parameters, &values)
    }
}

impl Search {
    /// Searches the parameters' bounds for what meets `fit` best; `presets` are the drives that they are of, of which the
    /// first says what is not given. Sees nothing else that was published.
    fn carry_out(&self, fit: &dyn Objective, presets: &[Preset], watch: &dyn Watch) -> Result<Found, CalibrateError> {
        let first = &presets[0];
        let parameters = match self.parameters.is_empty() {
            true => Parameter::durations_of(&first.text),
            false => self.parameters.clone(),
        };
        if parameters.is_empty() {
            return Err(CalibrateError::NoParameter { drive: first.name.clone() });
        }
        let before: Vec<Option<u64>> = parameters.iter().map(|parameter| parameter.current(&first.text)).collect();
        // A parameter that is none of a drive's is told before anything is measured.
        let middle: Vec<u64> = parameters.iter().map(|parameter| parameter.value(0.5)).collect();
        for preset in presets {
            preset.clone().changed(&changes(&parameters, &middle))?;
        }
        let (values, evaluations) = self.minimised(fit, &parameters, &before, watch)?;
        watch.step("Sensitivity");
        let sensitivity = sensitivity(fit, &parameters, &values);
        let fitted = parameters.into_iter().zip(before).zip(values.into_iter().zip(sensitivity));
        let fitted = fitted
            .map(|((parameter, before), (value, sensitivity))| Fitted { parameter, before, value, sensitivity })
            .collect();
        Ok(Found { fitted, evaluations })
    }

    /// The values that meet `fit` best, and how often the drives were measured to find them.
    fn minimised(
        &self,
        fit: &dyn Objective,
        parameters: &[Parameter],
        before: &[Option<u64>],
        watch: &dyn Watch,
    ) -> Result<(Vec<u64>, usize), CalibrateError> {
        let values = |point: &[f64]| -> Vec<u64> {
            parameters.iter().zip(point).map(|(parameter, &place)| parameter.value(place)).collect()
        };
        let places = parameters.iter().zip(before);
        let start: Vec<f64> =
            places.map(|(parameter, &before)| before.map_or(0.5, |value| parameter.place(value))).collect();
        // A drive that cannot be measured at all is an error, told with its reason; one corner of the bounds is not.
        fit.residuals(&changes(parameters, &values(&start)))?;
        let limits = search::SearchLimits::of(parameters.len(), self.rounds);
        watch.begin(Nanos::from_secs(limits.evaluations as u64));
        let evaluate = |point: &[f64]| {
            let residuals = fit.residuals(&changes(parameters, &values(point))).ok();
            watch.advance(Nanos::from_secs(1));
            residuals
        };
        let best = minimise(&start, &limits, self.seed.split("calibrate"), &evaluate, &|told| watch.step(told));
        Ok((values(&best.point), best.evaluations))
    }
}

/// How the median error changes with a tenth less and a tenth more of each parameter.
fn sensitivity(fit: &dyn Objective, parameters: &[Parameter], values: &[u64]) -> Vec<[Option<f64>; 2]> {
    let median = |values: &[u64]| fit.median_error(&changes(parameters, values)).ok();
    let Some(here) = median(values) else { return vec![[None; 2]; values.len()] };
    let scaled = |index: usize, tenths: u64| {
        let mut values = values.to_vec();
        values[index] = (values[index] * tenths + 5) / 10;
        median(&values).map(|there| there - here)
    };
    (0..values.len()).into_par_iter().map(|index| [scaled(index, 9), scaled(index, 11)]).collect()
}

/// The changes that give `parameters` these values: `nand.read=21300ns&…`.
fn changes(parameters: &[Parameter], values: &[u64]) -> String {
    let change = |(parameter, &value): (&Parameter, &u64)| format!("{}={}", parameter.name, parameter.text(value));
    parameters.iter().zip(values).map(change).collect::<Vec<_>>().join("&")
}
