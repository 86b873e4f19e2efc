//! A comparison by step and cell, as tables have it.

use lab::Outcome;
use lab::compare::{Aspect, Comparison, Contrast};

use crate::figure::Reading;
use crate::part::{Part, parts};

/// A step that runs share, with the cells that they share.
pub(super) struct Shared<'c> {
    /// The step in each of the runs, the first one's first.
    pub(super) runs: Vec<Part<'c>>,
    /// What is compared in it.
    pub(super) contrasts: Vec<&'c Contrast>,
    /// The cells of the first run's step, whose places the contrasts name.
    cells: &'c [lab::CellOutcome],
}

/// The steps that runs share, in the order of the first run's plan.
pub(super) fn shared(comparison: &Comparison) -> Vec<Shared<'_>> {
    let base = &comparison.outcomes[0];
    let steps = 0..base.steps.len();
    steps.filter_map(|step| Shared::of(comparison, base, step)).collect()
}

impl<'c> Shared<'c> {
    fn of(comparison: &'c Comparison, base: &'c Outcome, step: usize) -> Option<Self> {
        let contrasts: Vec<&Contrast> = comparison.contrasts.iter().filter(|one| one.step == step).collect();
        if contrasts.is_empty() {
            return None;
        }
        let cells = &base.steps[step].cells[..];
        let plan = &base.plan.steps[base.steps[step].index];
        let part = |(other, outcome): (usize, &'c Outcome)| {
            let mut part = parts(outcome).into_iter().find(|part| part.step.name == plan.name)?;
            part.beside = None;
            part.readings.retain(|reading| {
                let is_of = |one: &&Contrast| other == 0 || one.other == other;
                let points = contrasts.iter().filter(|one| is_of(one)).map(|one| &cells[one.cell].point);
                points.into_iter().any(|point| *point == reading.cell.point)
            });
            Some(part)
        };
        // A run that lacks the step keeps its place with the first one's words and no cells.
        let empty = || {
            let mut part = part((0, base)).expect("the first run has the step, whose contrasts these are");
            part.readings.clear();
            part
        };
        let runs = comparison.outcomes.iter().enumerate().map(|run| part(run).unwrap_or_else(empty)).collect();
        Some(Self { runs, contrasts, cells })
    }

    /// The step in the first run.
    pub(super) fn base(&self) -> &Part<'c> {
        &self.runs[0]
    }

    /// What is compared of a cell: a figure in another run.
    pub(super) fn find(&self, reading: &Reading, aspect: Aspect, other: usize) -> Option<&'c Contrast> {
        self.contrasts
            .iter()
            .copied()
            .find(|one| one.other == other && one.aspect == aspect && self.cells[one.cell].point == reading.cell.point)
    }

    /// The figures that are compared in it.
    pub(super) fn aspects(&self) -> Vec<Aspect> {
        let has = |aspect: &Aspect| self.contrasts.iter().any(|one| one.aspect == *aspect);
        Aspect::ALL.into_iter().filter(has).collect()
    }

    /// The geometric mean of the ratios of `aspect` over the cells.
    pub(super) fn mean_ratio(&self, aspect: Aspect, other: usize) -> Option<f64> {
        let ratios = self.contrasts.iter().filter(|one| one.other == other && one.aspect == aspect);
        let logs: Vec<f64> = ratios.map(|one| one.ratio.ratio.ln()).collect();
        (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
    }
}
