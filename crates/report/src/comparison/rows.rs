//! A comparison by step and cell, as tables have it.

use lab::Outcome;
use lab::compare::{Aspect, Comparison, Contrast};

use crate::figure::Reading;
use crate::part::{Part, parts};
use crate::state::State;
use crate::table::cell_name;

/// A step that runs share, with the cells that they share.
pub(super) struct Shared<'c> {
    /// The step in each of the runs, the first one's first.
    pub(super) runs: Vec<Part<'c>>,
    /// What is compared in it.
    pub(super) contrasts: Vec<&'c Contrast>,
    /// The cells of the first run's step, whose places the contrasts name.
    cells: &'c [lab::CellOutcome],
    /// The place of the step in the first run, which the contrasts name.
    pub(super) step: usize,
}

/// The steps that runs share, in the order of the first run's plan.
pub(super) fn shared(comparison: &Comparison) -> Vec<Shared<'_>> {
    let base = &comparison.outcomes[0];
    // Working out all figures of a run takes long: once each.
    let mut runs: Vec<Vec<Part>> = comparison.outcomes.iter().map(parts).collect();
    let steps = 0..base.steps.len();
    steps.filter_map(|step| Shared::of(comparison, base, &mut runs, step)).collect()
}

impl<'c> Shared<'c> {
    /// The step at this place of the first run, taken from the `runs`; none where no cell of it is shared.
    fn of(comparison: &'c Comparison, base: &'c Outcome, runs: &mut [Vec<Part<'c>>], step: usize) -> Option<Self> {
        let contrasts: Vec<&Contrast> = comparison.contrasts.iter().filter(|one| one.step == step).collect();
        if contrasts.is_empty() {
            return None;
        }
        let cells = &base.steps[step].cells[..];
        let plan = &base.plan.steps[base.steps[step].index];
        let part = |(other, parts): (usize, &mut Vec<Part<'c>>)| {
            let is_of = |one: &&Contrast| other == 0 || one.other == other;
            let points: Vec<_> = contrasts.iter().copied().filter(is_of).map(|one| &cells[one.cell].point).collect();
            let place = parts.iter().position(|part| part.step.name == plan.name);
            let mut part = match place {
                Some(place) => Part { beside: None, ..parts.swap_remove(place) },
                // A run that lacks the step keeps its place, with no cells.
                None => Part {
                    step: plan,
                    state: State::AsFound,
                    state_of_figures: State::AsFound,
                    readings: Vec::new(),
                    trials: &[],
                    beside: None,
                    is_base: false,
                },
            };
            part.readings.retain(|reading| points.contains(&&reading.cell.point));
            part
        };
        let runs = runs.iter_mut().enumerate().map(part).collect();
        Some(Self { step, runs, contrasts, cells })
    }

    /// What sets the cell of a contrast apart from the others of its step.
    pub(super) fn cell(&self, one: &Contrast) -> String {
        let point = &self.cells[one.cell].point;
        let reading = self.base().readings.iter().find(|reading| reading.cell.point == *point);
        reading.map_or_else(String::new, |reading| cell_name(self.base(), reading))
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
