//! A plan's steps, built from what was written with defaults under it and `--quick` over it.

use std::ops::Range;

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
            Kind::Condition => self.condition(draft, &body, mistakes),
        };
        let (name, title) = (draft.name.clone(), draft.title.clone());
        Some(Step { name, title, about: draft.about.clone(), action: action? })
    }

    /// Every cell of the sweep; the nearest word wins: cell, quick, step, plan.
    fn measure(&self, draft: &Draft, mistakes: &mut Mistakes) -> Option<Action> {
        let before = mistakes.count();
        let swept = draft.axes.iter().filter_map(|swept| swept.axis.field());
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
            for (axis, value) in &point {
                if let Some(field) = axis.field() {
                    fields.set(field, (*value).clone());
                }
            }
            if let Some(workload) = mistakes.keep(fields.workload(Workload::default(), &draft.place)) {
                let point = point.into_iter().map(|(axis, value)| (axis.clone(), value.text.clone())).collect();
                cells.push(Cell { point, workload });
            }
        }
        let axes = draft.axes.iter().map(|swept| swept.axis.clone()).collect();
        let repeats = repeats.unwrap_or(self.repeats);
        let measure = Measure { cells, axes, repeats, beside: draft.beside.clone() };
        (mistakes.count() == before).then_some(Action::Measure(measure))
    }

    /// Each field is looked at by itself first, so that all that is wrong is told at once.
    fn condition(&self, draft: &Draft, body: &Body, mistakes: &mut Mistakes) -> Option<Action> {
        let needed = [("round", "60s", body.round.is_none()), ("at-most", "300%", body.at_most.is_none())];
        let needed: Vec<(&str, &str)> =
            needed.into_iter().filter(|(.., is_missing)| *is_missing).map(|(key, example, _)| (key, example)).collect();
        if !needed.is_empty() {
            mistakes.push(missing(draft, &needed));
        }
        let mut fields = body.fields.over(self.workload);
        for field in [Field::Runtime, Field::NumberIos, Field::IoSize, Field::RampTime] {
            fields.clear(field);
        }
        // Any round will do to see whether the rest makes sense.
        let base = Workload { stop: Stop::after(body.round.unwrap_or(Nanos::from_secs(1))), ..Workload::default() };
        let workload = mistakes.keep(fields.workload(base, &draft.place));
        let limits = body.at_most.clone().and_then(|most| mistakes.keep(limits(body, most, workload.as_ref())));
        let (_, workload, (at_least, at_most)) = (body.round?, workload?, limits?);
        let steady = body.steady.unwrap_or(Some(SteadyRule::SNIA));
        Some(Action::Condition(Condition { workload, steady, at_least, at_most }))
    }
}

/// How far a conditioning with `workload` goes, at least and at most.
fn limits(
    body: &Body,
    (at_most, at_most_span): (Limit, Range<usize>),
    workload: Option<&Workload>,
) -> Result<(Limit, Limit), Diagnostic> {
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
    if let Some(workload) = workload.filter(|workload| !writes(workload) && !matches!(at_most, Limit::Time(_))) {
        let message = format!("`{}` writes nothing, so the limit is never reached", workload.pattern);
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
    body.time.map(|time| Action::Idle { time }).ok_or_else(|| missing(draft, &[("time", "60s")]))
}

/// That the step lacks these keys; with each, what it may say.
fn missing(draft: &Draft, keys: &[(&str, &str)]) -> Diagnostic {
    let list =
        |tell: &dyn Fn(&(&str, &str)) -> String, word: &str| keys.iter().map(tell).collect::<Vec<_>>().join(word);
    let says = if keys.len() > 1 { "says neither" } else { "does not say" };
    let message = format!("step `{}` {says} {}", draft.name, list(&|(key, _)| format!("`{key}`"), " nor "));
    let help = format!("add {}", list(&|(key, example)| format!("`{key} = \"{example}\"`"), " and "));
    Diagnostic::new("plan::missing", draft.place.clone(), message).label("in this step").help(help)
}
