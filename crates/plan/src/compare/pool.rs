//! Runs of the same as one.

use measurement::RunId;

use super::shared::{counterpart, places};
use super::{CompareError, check_one};
use crate::{Outcome, PointOutcome, Repeat};

/// These runs of the same as one, in which each run counts as one repeat: what varies between runs is then in the interval.
///
/// A point that one of them does not share has no repeats.
///
/// # Errors
/// If one is given twice or is not finished, or shares no point with the first.
pub fn pooled(outcomes: Vec<Outcome>) -> Result<Outcome, CompareError> {
    for (place, outcome) in outcomes.iter().enumerate() {
        check_one(outcome, &outcomes[..place])?;
    }
    let mut all = outcomes.into_iter();
    let mut base = all.next().ok_or(CompareError::Alone)?;
    let others: Vec<Outcome> = all.collect();
    let mut joined: Vec<(usize, usize, Vec<Repeat>, Vec<usize>)> = Vec::new();
    for place in places(&base) {
        let found: Result<Vec<&PointOutcome>, _> = others.iter().map(|other| counterpart(other, &place)).collect();
        let (repeats, runs) = match found {
            Ok(found) => {
                let all = || std::iter::once(place.measured).chain(found.iter().copied());
                let repeats = all().flat_map(|point| point.repeats.iter().cloned()).collect();
                (repeats, all().map(|point| point.repeats.len()).collect())
            }
            Err(_) => (Vec::new(), Vec::new()),
        };
        joined.push((place.step, place.point, repeats, runs));
    }
    if !others.is_empty() && joined.iter().all(|(_, _, repeats, _)| repeats.is_empty()) {
        let why = "they are pooled as runs of the same".to_owned();
        return Err(CompareError::NothingShared { base: base.run.id, other: others[0].run.id, why });
    }
    if !others.is_empty() {
        for (step, point, repeats, runs) in joined {
            let point = &mut base.steps[step].points[point];
            (point.repeats, point.runs) = (repeats, runs);
        }
    }
    base.pooled = others.iter().map(|other| other.run.id).collect();
    Ok(base)
}

/// One figure of each run, where several are pooled: the mean of its repeats.
pub(super) fn by_run(samples: Vec<f64>, runs: &[usize]) -> Vec<f64> {
    if runs.len() < 2 || runs.iter().sum::<usize>() != samples.len() {
        return samples;
    }
    let mut rest = &samples[..];
    let mean = |count: &usize| {
        let (own, others) = rest.split_at(*count);
        rest = others;
        (*count > 0).then(|| own.iter().sum::<f64>() / *count as f64)
    };
    runs.iter().filter_map(mean).collect()
}

impl Outcome {
    /// The runs that it has the repeats of, its own first.
    pub fn runs(&self) -> impl Iterator<Item = RunId> + '_ {
        std::iter::once(self.run.id).chain(self.pooled.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_run_is_one_repeat() {
        let samples = vec![1.0, 3.0, 10.0, 20.0, 5.0];
        assert_eq!(by_run(samples.clone(), &[2, 2, 1]), [2.0, 15.0, 5.0]);
        assert_eq!(by_run(samples.clone(), &[]), samples, "one run's repeats stand for themselves");
        assert_eq!(by_run(samples.clone(), &[2, 2]), samples, "where a repeat does not give the figure");
    }
}
