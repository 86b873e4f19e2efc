//! A plan's steps, built from what was written with defaults under it and `--quick` over it.

use block::{Bytes, Nanos};
use stats::SteadyRule;
use workload::{Stop, Workload};

use super::body::Body;
use super::diagnostic::{Diagnostic, Mistakes};
use super::draft::Draft;
use super::fields::Settings;
use super::kind::Kind;
use super::parse::Length;
use super::sweep::points;
use super::{Action, Cell, Condition, Field, Limit, Measure, Step};

/// What a plan says for all of its steps.
pub(super) struct Frame<'p> {
    /// Which of its durations and repeats are wanted.
    pub(super) length: Length,
    /// How often a cell is measured.
    pub(super) repeats: u32,
    /// The fields of every workload.
    pub(super) workload: &'p Settings,
    /// What `--quick` changes in every measurement.
    pub(super) quick: &'p Body,
}

impl Frame<'_> {
    /// The step that `draft` describes; none, with mistakes, if it makes no sense.
    pub(super) fn step(&self, draft: &Draft, mistakes: &mut Mistakes) -> Option<Step> {
        let body = match self.length {
            Length::Full => draft.body.clone(),
            Length::Quick => draft.quick.over(&draft.body),
        };
        let action = match draft.kind? {
            Kind::Purge => Some(Action::Purge),
            Kind::Fill => mistakes.keep(fill(draft, &body)),
            Kind::Idle => mistakes.keep(idle(draft, &body)),
            Kind::Measure => self.measure(draft, mistakes),
            Kind::Condition => mistakes.keep(self.condition(draft, &body)),
        };
        let (name, title) = (draft.name.clone(), draft.title.clone());
        Some(Step { name, title, about: draft.about.clone(), action: action? })
    }

    /// Every cell of the sweep; the nearest word wins: cell, quick, step, plan.
    fn measure(&self, draft: &Draft, mistakes: &mut Mistakes) -> Option<Action> {
        let before = mistakes.count();
        let swept = draft.axes.iter().map(|axis| axis.field);
        let written = draft.body.fields.over(&self.workload.without(swept));
        let (fields, repeats) = match self.length {
            Length::Full => (written, draft.body.repeats),
            Length::Quick => (
                draft.quick.fields.over(&self.quick.fields).over(&written),
                draft.quick.repeats.or(self.quick.repeats).or(draft.body.repeats),
            ),
        };
        let mut cells = Vec::new();
        for point in points(&draft.axes) {
            let mut fields = fields.clone();
            for (field, value) in &point {
                fields.set(*field, (*value).clone());
            }
            if let Some(workload) = mistakes.keep(fields.workload(Workload::default(), &draft.place)) {
                let point = point.into_iter().map(|(field, value)| (field, value.text.clone())).collect();
                cells.push(Cell { point, workload });
            }
        }
        let axes = draft.axes.iter().map(|axis| axis.field).collect();
        let repeats = repeats.unwrap_or(self.repeats);
        let measure = Measure { cells, axes, repeats, beside: draft.beside.clone() };
        (mistakes.count() == before).then_some(Action::Measure(measure))
    }

    fn condition(&self, draft: &Draft, body: &Body) -> Result<Action, Diagnostic> {
        let missing = |key: &str, example: &str| missing(draft, key, example);
        let round = body.round.ok_or_else(|| missing("round", "60s"))?;
        let (at_most, at_most_span) = body.at_most.clone().ok_or_else(|| missing("at-most", "300%"))?;
        let mut fields = body.fields.over(self.workload);
        for field in [Field::Runtime, Field::NumberIos, Field::IoSize, Field::RampTime] {
            fields.clear(field);
        }
        let base = Workload { stop: Stop::after(round), ..Workload::default() };
        let workload = fields.workload(base, &draft.place)?;
        let at_least = match &body.at_least {
            Some((least, span)) if least.exceeds(at_most) => {
                return Err(Diagnostic::new("plan::range", span.clone(), "at-least is more than at-most")
                    .label("more")
                    .also(at_most_span, "than this")
                    .help("raise at-most, or lower at-least"));
            }
            Some((least, _)) => *least,
            None => Limit::Time(Nanos::ZERO),
        };
        if !writes(&workload) && !matches!(at_most, Limit::Time(_)) {
            let message = format!("`{}` writes nothing, so the limit is never reached", workload.pattern);
            return Err(Diagnostic::new("plan::endless", at_most_span, message).help("give at-most as a time: `30min`"));
        }
        let steady = body.steady.unwrap_or(Some(SteadyRule::SNIA));
        Ok(Action::Condition(Condition { workload, steady, at_least, at_most }))
    }
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

fn fill(draft: &Draft, body: &Body) -> Result<Action, Diagnostic> {
    let base = Workload {
        block: Bytes::from_mib(1),
        queue_depth: 4,
        stop: Stop::after(Nanos::from_secs(1)),
        ..Workload::default()
    };
    let Workload { block, queue_depth, .. } = body.fields.workload(base, &draft.place)?;
    Ok(Action::Fill { block, queue_depth })
}

fn idle(draft: &Draft, body: &Body) -> Result<Action, Diagnostic> {
    body.time.map(|time| Action::Idle { time }).ok_or_else(|| missing(draft, "time", "60s"))
}

fn missing(draft: &Draft, key: &str, example: &str) -> Diagnostic {
    Diagnostic::new("plan::missing", draft.place.clone(), format!("step `{}` does not say `{key}`", draft.name))
        .label("in this step")
        .help(format!("add `{key} = \"{example}\"`"))
}
