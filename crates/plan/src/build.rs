//! A plan's steps, built from what was written with defaults under it and `--quick` over it.

use std::ops::Range;

use block::{Bytes, Nanos};
use stats::SteadyRule;
use workload::{Stop, Workload};

use super::body::Body;
use super::condition::clear_lengths;
use super::diagnostic::{Diagnostic, Mistakes};
use super::draft::Draft;
use super::fields::Settings;
use super::jobs::JobDraft;
use super::parse::PlanLength;
use super::sweep::points;
use super::{Action, Axis, Cell, Condition, Fill, Limit, Measure, Repetition, Step};

/// What a plan says for all of its steps.
pub(super) struct Frame<'p> {
    /// Which of its durations and repeats are wanted.
    pub(super) length: PlanLength,
    /// How often a cell is measured.
    pub(super) repeats: Repetition,
    /// The fields of every workload.
    pub(super) workload: &'p Settings,
    /// What `--quick` changes in every measurement.
    pub(super) quick: &'p Body,
    /// What is other in every measurement on a simulated drive.
    pub(super) simulated: &'p Body,
}

impl Frame<'_> {
    /// The step that `draft` describes; none, with mistakes, if it makes no sense.
    pub(super) fn step(&self, draft: &Draft, mistakes: &mut Mistakes) -> Option<Step> {
        let mut body = draft.body.clone();
        if self.length.is_simulated() {
            body = draft.simulated.over(&body);
        }
        if self.length.is_quick() {
            body = draft.quick.over(&body);
        }
        let action = draft.kind?.build(self, draft, &body, mistakes);
        let (name, title) = (draft.name.clone(), draft.title.clone());
        Some(Step { name, title, about: draft.about.clone(), action: action? })
    }

    /// Every job at every point of the sweep.
    pub(super) fn measure(&self, draft: &Draft, mistakes: &mut Mistakes) -> Option<Measure> {
        let before = mistakes.count();
        let jobs: Vec<Option<&JobDraft>> =
            if draft.jobs.is_empty() { vec![None] } else { draft.jobs.iter().map(Some).collect() };
        let mut cells = Vec::new();
        for (point, job) in
            points(&draft.axes).into_iter().flat_map(|point| jobs.iter().map(move |job| (point.clone(), job)))
        {
            let mut fields = self.fields(draft, *job);
            for (axis, value) in &point {
                if let Some(field) = axis.field() {
                    fields.set(field, (*value).clone());
                }
            }
            let place = job.map_or(&draft.place, |job| &job.place);
            if let Some(workload) = mistakes.keep(fields.workload(Workload::default(), place)) {
                let swept = point.into_iter().map(|(axis, value)| (axis.clone(), value.text.clone()));
                let point = swept.chain(job.map(|job| (Axis::Job, job.name.clone()))).collect();
                cells.push(Cell { point, workload });
            }
        }
        let side_by_side = (!draft.jobs.is_empty()).then_some(Axis::Job);
        let axes = draft.axes.iter().map(|swept| swept.axis.clone()).chain(side_by_side).collect();
        let quick = draft.quick.repeats.or(self.quick.repeats).filter(|_| self.length.is_quick());
        let simulated = draft.simulated.repeats.or(self.simulated.repeats).filter(|_| self.length.is_simulated());
        let repeats = quick.or(simulated).or(draft.body.repeats);
        let (repeats, beside) = (repeats.unwrap_or(self.repeats), draft.beside.clone());
        let measure = Measure { cells, axes, repeats, beside, load_of: draft.load_of.clone(), keep_state: false };
        (mistakes.count() == before).then_some(measure)
    }

    /// Whether a simulated drive keeps the state that the one point of a step leaves.
    pub(super) fn keep_state(&self, draft: &Draft, body: &Body, mistakes: &mut Mistakes) -> bool {
        let keeps = body.keep_state.unwrap_or(false);
        if keeps && !draft.axes.is_empty() {
            let message =
                format!("step `{}` has a sweep, of whose points none alone leaves the drive's state", draft.name);
            let mistake = Diagnostic::new("plan::keep-state", draft.place.clone(), message).label("this step");
            let help = "give the workload that leaves the state a step of its own, or leave out `keep-state`";
            mistakes.push(mistake.help(help));
        }
        keeps
    }

    /// The fields of a step, or of one of its jobs, without what is swept; the nearest word wins: cell, quick, job,
    /// step, plan.
    fn fields(&self, draft: &Draft, job: Option<&JobDraft>) -> Settings {
        let swept = draft.axes.iter().filter_map(|swept| swept.axis.field());
        let mut fields = draft.body.fields.over(&self.workload.without(swept));
        if let Some(job) = job {
            fields = job.fields.over(&fields);
        }
        if self.length.is_simulated() {
            fields = draft.simulated.fields.over(&self.simulated.fields).over(&fields);
        }
        if self.length.is_quick() {
            fields = draft.quick.fields.over(&self.quick.fields).over(&fields);
            if let Some(job) = job {
                fields = job.quick.over(&fields);
            }
        }
        fields
    }

    /// Each field is looked at by itself first, so that all that is wrong is told at once.
    pub(super) fn condition(&self, draft: &Draft, body: &Body, mistakes: &mut Mistakes) -> Option<Action> {
        let needed = [("round", "60s", body.round.is_none()), ("at-most", "300%", body.at_most.is_none())];
        let needed: Vec<(&str, &str)> =
            needed.into_iter().filter(|(.., is_missing)| *is_missing).map(|(key, example, _)| (key, example)).collect();
        if !needed.is_empty() {
            mistakes.push(missing(draft, &needed));
        }
        let mut fields = body.fields.over(self.workload);
        clear_lengths(&mut fields);
        // Any round will do to see whether the rest makes sense.
        let base = Workload { stop: Stop::after(body.round.unwrap_or(Nanos::from_secs(1))), ..Workload::default() };
        let workload = mistakes.keep(fields.workload(base, &draft.place));
        let limits = body.at_most.clone().and_then(|most| mistakes.keep(limits(body, most, workload.as_ref())));
        let (_, workload, (at_least, at_most)) = (body.round?, workload?, limits?);
        let steady = body.steady.unwrap_or(Some(SteadyRule::SNIA));
        let construct = body.construct.unwrap_or(true);
        Some(Action::Condition(Condition { workload, steady, at_least, at_most, construct }))
    }
}

/// How far a conditioning with `workload` goes, at least and at most.
fn limits(
    body: &Body,
    (at_most, at_most_span): (Vec<Limit>, Range<usize>),
    workload: Option<&Workload>,
) -> Result<(Vec<Limit>, Vec<Limit>), Diagnostic> {
    let at_least = match &body.at_least {
        Some((least, span)) if at_most.iter().any(|most| least.iter().all(|least| least.exceeds(*most))) => {
            return Err(Diagnostic::new("plan::range", span.clone(), "at-least is greater than at-most")
                .label("more")
                .also(at_most_span, "than this")
                .help("raise at-most, or lower at-least"));
        }
        Some((least, _)) => least.clone(),
        None => Vec::new(),
    };
    if let Some(workload) =
        workload.filter(|workload| !writes(workload) && !at_most.iter().any(|most| matches!(most, Limit::Time(_))))
    {
        let message = format!("`{}` writes nothing, so this limit is never reached", workload.pattern);
        return Err(Diagnostic::new("plan::endless", at_most_span, message).help("give at-most as a time: `30min`"));
    }
    Ok((at_least, at_most))
}

/// Whether any request of `workload` brings data.
fn writes(workload: &Workload) -> bool {
    use workload::Pattern::{RandRw, RandWrite, ReadWrite, Write};
    match workload.pattern {
        Write | RandWrite => true,
        ReadWrite | RandRw => workload.read_percent < 100,
        _ => false,
    }
}

pub(super) fn fill(draft: &Draft, body: &Body) -> Result<Action, Diagnostic> {
    let base = Workload {
        block: Bytes::from_mib(1),
        queue_depth: 4,
        stop: Stop::after(Nanos::from_secs(1)),
        ..Workload::default()
    };
    let Workload { block, queue_depth, .. } = body.fields.workload(base, &draft.place)?;
    Ok(Action::Fill(Fill { block, queue_depth, construct: body.construct.unwrap_or(true) }))
}

/// That the step lacks these keys; with each, what it may say.
pub(super) fn missing(draft: &Draft, keys: &[(&str, &str)]) -> Diagnostic {
    let list =
        |tell: &dyn Fn(&(&str, &str)) -> String, word: &str| keys.iter().map(tell).collect::<Vec<_>>().join(word);
    let says = if keys.len() > 1 { "says neither" } else { "does not say" };
    let message = format!("step `{}` {says} {}", draft.name, list(&|(key, _)| format!("`{key}`"), " nor "));
    let help = format!("add {}", list(&|(key, example)| format!("`{key} = \"{example}\"`"), " and "));
    Diagnostic::new("plan::missing", draft.place.clone(), message).label("in this step").help(help)
}
