//! Measuring the figures of one drive, changed by name.

use std::collections::BTreeSet;

use block::Seed;
use drive::preset::{DriveName, Preset, changed_name};
use rayon::prelude::*;

use super::{CalibrateError, Objective};
use crate::Silent;
use crate::plan::MethodPart;
use crate::replicate::{Answer, Measured, PublishedFigure, Review, Tally, Use, carry_out, complete};

/// The figures of a review that come of one drive, and how they are measured.
#[derive(Clone, Debug)]
pub struct CalibrationBench {
    review: Review,
    /// What stands before the name of one of the drive's parameters on each part's target.
    prefixes: Vec<&'static str>,
    seed: Seed,
}

impl CalibrationBench {
    /// Those figures of `review` for which `keep` holds and that parts on `drive` give.
    pub fn of(
        review: &Review,
        drive: &str,
        seed: Seed,
        keep: impl Fn(&PublishedFigure) -> bool,
    ) -> Result<Self, CalibrateError> {
        let mut review = review.clone();
        let parts = std::mem::take(&mut review.method.parts);
        let targets: BTreeSet<&str> = parts.iter().map(|part| part.target.as_str()).collect();
        let on = |part: &MethodPart| Some((part.clone(), prefix(&part.target, drive)?));
        let (own, prefixes): (Vec<MethodPart>, Vec<&str>) = parts.iter().filter_map(on).unzip();
        if own.is_empty() {
            let targets = targets.into_iter().collect::<Vec<_>>().join(", ");
            return Err(CalibrateError::NoPart { review: review.published.review, drive: drive.to_owned(), targets });
        }
        review.method.parts = own;
        let possible = possible(&review);
        let kept =
            |figure: &PublishedFigure| possible.contains(&figure.id) && figure.unmeasured.is_none() && keep(figure);
        for series in review.published.groups.iter_mut().flat_map(|group| &mut group.series) {
            series.figures.retain(kept);
        }
        let needed = needed(&review);
        for part in &mut review.method.parts {
            part.yields.retain(|yielded| needed.contains(&yielded.id));
        }
        Ok(Self { review, prefixes, seed })
    }

    /// Measures the drive with `changes`, all parts side by side.
    fn measure(&self, changes: &str) -> Result<Vec<Answer>, CalibrateError> {
        let seed = self.seed.split(&self.review.method.name);
        let parts = self.review.method.parts.par_iter().zip(&self.prefixes);
        let measured: Vec<Measured> = parts
            .map(|(part, prefix)| {
                let preset = Preset::find(&changed(&part.target, prefix, changes))?;
                Ok(carry_out(part, &preset, seed, &|_| true, &Silent)?.figures)
            })
            .collect::<Result<_, CalibrateError>>()?;
        let mut measured: Measured = measured.into_iter().flatten().collect();
        complete(&self.review, &mut measured);
        let answer =
            |figure: &PublishedFigure| Answer { figure: figure.clone(), measured: measured.get(&figure.id).copied() };
        Ok(self.review.published.figures().map(answer).collect())
    }
}

/// Measures every figure once with each of `changes`, side by side.
pub fn measure_all(bench: &CalibrationBench, changes: [&str; 2]) -> Result<[Vec<Answer>; 2], CalibrateError> {
    let (first, last) = rayon::join(|| bench.measure(changes[0]), || bench.measure(changes[1]));
    Ok([first?, last?])
}

/// The figures of one drive that parameters may be fitted to, and nothing else that was published.
#[derive(Clone, Debug)]
pub struct FitFigures(CalibrationBench);

impl FitFigures {
    /// Those figures of `review` that are marked so, come of `drive` and, unless `only` is empty, have one of its
    /// words in their names.
    ///
    /// # Errors
    /// If there are none.
    pub fn of(review: &Review, drive: &str, only: &[String], seed: Seed) -> Result<Self, CalibrateError> {
        let is_asked = |id: &str| only.is_empty() || only.iter().any(|word| id.contains(word.as_str()));
        let fit = CalibrationBench::of(review, drive, seed, |figure| figure.usage == Use::Fit && is_asked(&figure.id))?;
        if fit.review.published.figures().next().is_none() {
            let review = review.published.review.clone();
            return Err(CalibrateError::NothingToFit { review, drive: drive.to_owned() });
        }
        Ok(Self(fit))
    }

    /// The names of the figures.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.0.review.published.figures().map(|figure| figure.id.as_str())
    }

    /// How well those of `answers` that were fitted to are met.
    pub(super) fn tally(&self, answers: &[Answer]) -> Tally {
        let ids: BTreeSet<&str> = self.ids().collect();
        Tally::of(answers.iter().filter(|answer| ids.contains(answer.figure.id.as_str())), Some(Use::Fit))
    }
}

impl Objective for FitFigures {
    /// A tolerance of 10 % weighs a figure ten times as much as one of 100 %. Where a bound holds it is 0.
    fn residuals(&self, changes: &str) -> Result<Vec<f64>, CalibrateError> {
        // Figures that must hold exactly are held to a hundredth, and far misses count for no more than e to the 9.
        let residual = |answer: &Answer| {
            let off = answer.error().map_or(9.0, |error| error.ln_1p().clamp(-9.0, 9.0));
            off / answer.figure.tolerance.max(0.01).ln_1p()
        };
        Ok(self.0.measure(changes)?.iter().map(residual).collect())
    }

    fn median_error(&self, changes: &str) -> Result<f64, CalibrateError> {
        Ok(Tally::of(self.0.measure(changes)?.iter(), None).median.unwrap_or(f64::INFINITY))
    }
}

/// What stands before a parameter of `drive` on `target`: nothing on the drive itself, `drive.` on a rig that holds
/// it; none where the target has nothing to do with it.
fn prefix(target: &str, drive: &str) -> Option<&'static str> {
    let base = |name: &str| DriveName::read(name).map_or(name, |name| name.base).to_owned();
    if base(target) == base(drive) {
        return Some("");
    }
    let rig: toml::Table = Preset::find(target).ok()?.text.parse().ok()?;
    let held = rig.get("array")?.get("drive")?.as_str()?;
    (base(held) == base(drive)).then_some("drive.")
}

/// `target` with more changes.
fn changed(target: &str, prefix: &str, changes: &str) -> String {
    let changes: Vec<String> =
        changes.split('&').filter(|change| !change.is_empty()).map(|change| format!("{prefix}{change}")).collect();
    if changes.is_empty() { target.to_owned() } else { changed_name(target, &changes.join("&")) }
}

/// The figures for which all that goes into them can be measured.
fn possible(review: &Review) -> BTreeSet<String> {
    // What can be summed and divided with every measurement at one can be with any.
    let yields = review.method.parts.iter().flat_map(|part| &part.yields);
    let mut measured: Measured = yields.map(|yielded| (yielded.id.clone(), 1.0)).collect();
    complete(review, &mut measured);
    measured.into_keys().collect()
}

/// The figures of `review` and all that goes into them.
fn needed(review: &Review) -> BTreeSet<String> {
    let all: BTreeSet<String> = possible(review);
    let mut needed = BTreeSet::new();
    let mut open: Vec<String> = review.published.figures().map(|figure| figure.id.clone()).collect();
    while let Some(id) = open.pop() {
        if let Some(start) = id.strip_suffix('*') {
            open.extend(all.iter().filter(|id| id.starts_with(start)).cloned());
        } else if needed.insert(id.clone()) {
            let totals = review.method.totals.iter().filter(|total| total.id == id);
            open.extend(totals.flat_map(|total| total.parts().cloned()));
            let figures = review.published.figures().filter(|figure| figure.id == id);
            open.extend(figures.flat_map(|figure| figure.ratio.iter().flatten().cloned()));
        }
    }
    needed
}
