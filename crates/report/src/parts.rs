//! The steps of an outcome, each with the state in which it finds the drive.

use plan::{Action, Measure, Outcome, Step};

use crate::figure::CellFigures;
use crate::part::{DataMoves, MeasuredStep, axes};
use crate::rounds::{RoundsCourse, SteadyVerdict};
use crate::state::DriveState;
use crate::timeline::Timeline;

/// The steps that measured something, in order.
pub(crate) fn parts(outcome: &Outcome) -> Vec<MeasuredStep<'_>> {
    let steps = || outcome.steps.iter().filter(|step| step.index < outcome.plan.steps.len());
    let name = |index: usize| outcome.plan.steps[index].name.as_str();
    let beside = |step: &'_ Step| match &step.action {
        Action::Measure(Measure { beside: Some(other), .. }) => steps().position(|step| name(step.index) == other),
        _ => None,
    };
    let moves = DataMoves::of(outcome);
    let mut parts: Vec<MeasuredStep> = steps()
        .map(|step| MeasuredStep {
            step: &outcome.plan.steps[step.index],
            state: DriveState::AsFound,
            state_of_figures: DriveState::AsFound,
            axes: axes(&outcome.plan.steps[step.index]),
            readings: step.points.iter().map(CellFigures::of).collect(),
            beside: beside(&outcome.plan.steps[step.index]),
            is_base: false,
            moves,
        })
        .collect();
    let judge = |index: usize| steps().position(|step| step.index == index).and_then(|place| is_steady(&parts[place]));
    let states = DriveState::along(outcome, &judge);
    let has_rounds = outcome.plan.steps.iter().any(|step| matches!(step.action, Action::Rounds(_)));
    let state_of_figures = |index: usize| {
        let brings_it_about = matches!(outcome.plan.steps[index].action, Action::Rounds(_) | Action::Condition(_));
        match states[index + usize::from(brings_it_about)] {
            DriveState::Written(_) if has_rounds => DriveState::Briefly,
            state => state,
        }
    };
    for (part, step) in parts.iter_mut().zip(steps()) {
        (part.state, part.state_of_figures) = (states[step.index], state_of_figures(step.index));
    }
    let bases: Vec<usize> = parts.iter().filter_map(|part| part.beside).collect();
    bases.into_iter().for_each(|base| parts[base].is_base = true);
    parts
}

/// Whether what it did in rounds became steady; none where no rule judged it.
fn is_steady(part: &MeasuredStep<'_>) -> Option<bool> {
    if let Some(course) = RoundsCourse::of(part) {
        let verdict = course.verdict();
        return (verdict != SteadyVerdict::NotAsked && part.is_measured()).then_some(verdict == SteadyVerdict::Steady);
    }
    let condition = part.condition().filter(|condition| condition.steady.is_some())?;
    let measured = part.readings.first()?.point.measurements().next()?;
    Some(Timeline::of(condition, measured).steadiness.is_some_and(|found| found.steady))
}
