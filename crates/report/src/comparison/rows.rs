//! A comparison by step and point, as tables have it.

use plan::Outcome;
use plan::compare::{Comparison, Contrast};

use crate::column::{Column, columns};
use crate::figure::CellFigures;
use crate::part::{DataMoves, MeasuredStep, axes};
use crate::parts::parts;
use crate::state::DriveState;
use crate::table::cell_name;

/// A step that runs share, with the points that they share.
pub(super) struct SharedStep<'c> {
    /// The step in each of the runs, the first one's first.
    pub(super) runs: Vec<MeasuredStep<'c>>,
    /// What is compared in it.
    pub(super) contrasts: Vec<&'c Contrast>,
    /// The figures of the first run's step.
    columns: Vec<Column>,
    /// The points of the first run's step, whose places the contrasts name.
    points: &'c [plan::PointOutcome],
    /// The place of the step in the first run, which the contrasts name.
    pub(super) step: usize,
}

/// The steps that runs share, in the order of the first run's plan.
pub(super) fn shared(comparison: &Comparison) -> Vec<SharedStep<'_>> {
    let base = &comparison.outcomes[0];
    // Working out all figures of a run takes long: once each.
    let mut runs: Vec<Vec<MeasuredStep>> = comparison.outcomes.iter().map(parts).collect();
    let steps = 0..base.steps.len();
    steps.filter_map(|step| SharedStep::of(comparison, base, &mut runs, step)).collect()
}

impl<'c> SharedStep<'c> {
    /// The step at this place of the first run, taken from the `runs`; none where no point of it is shared.
    fn of(
        comparison: &'c Comparison,
        base: &'c Outcome,
        runs: &mut [Vec<MeasuredStep<'c>>],
        step: usize,
    ) -> Option<Self> {
        // A figure that is there for being a key figure has its place among those.
        let aspects = comparison.question.aspects();
        let is_asked = |one: &Contrast| one.aspect().is_none_or(|aspect| aspects.contains(&aspect));
        let contrasts: Vec<&Contrast> =
            comparison.contrasts.iter().filter(|one| one.step == step && is_asked(one)).collect();
        if contrasts.is_empty() {
            return None;
        }
        let points = &base.steps[step].points[..];
        let plan = &base.plan.steps[base.steps[step].index];
        let part = |(other, parts): (usize, &mut Vec<MeasuredStep<'c>>)| {
            let is_of = |one: &&Contrast| other == 0 || one.other == other;
            let own: Vec<_> = contrasts.iter().copied().filter(is_of).map(|one| &points[one.point].point).collect();
            let place = parts.iter().position(|part| part.step.name == plan.name);
            let mut part = match place {
                Some(place) => MeasuredStep { beside: None, ..parts.swap_remove(place) },
                // A run that lacks the step keeps its place, with no points.
                None => MeasuredStep {
                    step: plan,
                    state: DriveState::AsFound,
                    state_of_figures: DriveState::AsFound,
                    axes: axes(plan),
                    readings: Vec::new(),
                    beside: None,
                    is_base: false,
                    moves: DataMoves::Other,
                },
            };
            // Units are those of all that the first run measured, shared or not.
            let columns = if other == 0 { columns(&part) } else { Vec::new() };
            part.readings.retain(|reading| own.contains(&&reading.point.point));
            (part, columns)
        };
        let (runs, mut columns): (Vec<MeasuredStep>, Vec<Vec<Column>>) = runs.iter_mut().enumerate().map(part).unzip();
        let columns = columns.swap_remove(0);
        Some(Self { step, runs, contrasts, columns, points })
    }

    /// What sets the point of a contrast apart from the others of its step.
    pub(super) fn point(&self, one: &Contrast) -> String {
        let point = &self.points[one.point].point;
        let reading = self.base().readings.iter().find(|reading| reading.point.point == *point);
        reading.map_or_else(String::new, |reading| cell_name(self.base(), reading))
    }

    /// The key of the point of a contrast.
    pub(super) fn key(&self, one: &Contrast) -> String {
        self.points[one.point].key()
    }

    /// The step in the first run.
    pub(super) fn base(&self) -> &MeasuredStep<'c> {
        &self.runs[0]
    }

    /// The column in which a figure is shown.
    pub(super) fn column(&self, one: &Contrast) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == one.figure.name)
    }

    /// What is compared of a point: the figure of this title in another run.
    pub(super) fn find(&self, reading: &CellFigures, title: &str, other: usize) -> Option<&'c Contrast> {
        let is_it = |one: &&Contrast| {
            one.other == other && one.figure.title() == title && self.points[one.point].point == reading.point.point
        };
        self.contrasts.iter().copied().find(is_it)
    }

    /// The figures that are compared in it, each by one of its contrasts.
    pub(super) fn figures(&self) -> Vec<&'c Contrast> {
        let mut figures: Vec<&Contrast> = Vec::new();
        for one in &self.contrasts {
            if !figures.iter().any(|known| known.figure.title() == one.figure.title()) {
                figures.push(one);
            }
        }
        figures
    }

    /// What is compared of the figure of this title in another run.
    pub(super) fn of_figure(&self, title: &str, other: usize) -> impl Iterator<Item = &'c Contrast> {
        let is_of = move |one: &&Contrast| one.other == other && one.figure.title() == title;
        self.contrasts.iter().copied().filter(is_of)
    }

    /// The geometric mean of the ratios of a figure over the points.
    pub(super) fn mean_ratio(&self, title: &str, other: usize) -> Option<f64> {
        let logs: Vec<f64> = self.of_figure(title, other).map(|one| one.ratio.ratio.ln()).collect();
        (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
    }
}
