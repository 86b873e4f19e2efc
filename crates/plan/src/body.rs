//! The numbers of a step, as its table or its `quick` gives them.

use std::ops::Range;

use block::{Nanos, ParseError, field_suggestion, suggestion};
use host::PurgeMethod;
use stats::SteadyRule;
use toml::de::{DeTable, DeValue};
use workload::{Spare, Workload};

use super::diagnostic::{Diagnostic, Mistakes, told};
use super::fields::{Setting, Settings};
use super::repetition::repetition;
use super::value::{Value, entries, quantity, table, whole, wrong_type};
use super::{Field, Limit, Repetition};

/// How many repeats a cell may have.
pub(super) const REPEATS: std::ops::RangeInclusive<u32> = 1..=1000;
/// How many rounds a steady state may be judged by.
const ROUNDS: std::ops::RangeInclusive<u32> = 2..=1000;

/// What a step's table gives besides its words; none where it is silent.
#[derive(Clone, Debug, Default)]
pub(super) struct Body {
    /// The workload's fields.
    pub(super) fields: Settings,
    /// How often a cell is measured.
    pub(super) repeats: Option<Repetition>,
    /// How a real target is purged.
    pub(super) purge: Option<PurgeMethod>,
    /// How long to idle.
    pub(super) time: Option<Nanos>,
    /// How long a round of conditioning is.
    pub(super) round: Option<Nanos>,
    /// The rule that ends a conditioning; `Some(None)` for `steady = false`.
    pub(super) steady: Option<Option<SteadyRule>>,
    /// Do not stop before this much.
    pub(super) at_least: Option<(Vec<Limit>, Range<usize>)>,
    /// Stop here: at the first of these.
    pub(super) at_most: Option<(Vec<Limit>, Range<usize>)>,
    /// How far writes after an idle time go: to the first of these.
    pub(super) burst: Option<(Vec<Limit>, Range<usize>)>,
    /// Idle times, one after the other.
    pub(super) idle: Option<Vec<Nanos>>,
    /// How many rounds of measurements there are at most.
    pub(super) rounds: Option<u32>,
    /// How long the drive is left alone after each measurement of a round.
    pub(super) rest: Option<Nanos>,
    /// How much flash the target has beyond its capacity.
    pub(super) spare: Option<Spare>,
    /// How much is written at random behind the order that leaves a steady state, in percent of the capacity.
    pub(super) settle: Option<u32>,
    /// Whether a simulated drive may be put into the state that the step leaves, in place of being written.
    pub(super) construct: Option<bool>,
    /// Whether a simulated drive keeps the state that the step leaves.
    pub(super) keep_state: Option<bool>,
    /// How long the drive is written before each round.
    pub(super) pre_writes: Option<Nanos>,
}

impl Body {
    /// Reads the entries of `table` whose keys are `known`, and passes over the rest.
    pub(super) fn read(table: &DeTable, known: &[&str], mistakes: &mut Mistakes) -> Self {
        let mut body = Self::default();
        for (key, _, value) in entries(table).into_iter().filter(|(key, ..)| known.contains(key)) {
            match key {
                "repeats" => body.repeats = repetition(value, mistakes),
                "purge" => body.purge = mistakes.keep(purge(value)),
                "time" => body.time = mistakes.keep(duration(value)),
                "round" => body.round = mistakes.keep(duration(value)),
                "steady" => body.steady = steady(value, mistakes),
                "at-least" => body.at_least = mistakes.keep(limits(value)),
                "at-most" => body.at_most = mistakes.keep(limits(value)),
                "burst" => body.burst = mistakes.keep(limits(value)),
                "idle" => body.idle = mistakes.keep(durations(value)),
                "rounds" => body.rounds = mistakes.keep(whole(value, REPEATS)),
                "rest" => body.rest = mistakes.keep(duration(value)),
                "spare" => body.spare = mistakes.keep(spare(value)),
                "settle" => body.settle = mistakes.keep(settle(value)),
                "construct" => body.construct = mistakes.keep(truth(value)),
                "keep-state" => body.keep_state = mistakes.keep(truth(value)),
                "pre-writes" => body.pre_writes = mistakes.keep(duration(value)),
                key => {
                    if let Some(field) = Field::named(key)
                        && let Some(setting) = mistakes.keep(setting(field, value))
                    {
                        body.fields.set(field, setting);
                    }
                }
            }
        }
        body
    }

    /// Whether it gives nothing.
    pub(super) fn is_empty(&self) -> bool {
        let Self { fields, repeats, time, round, steady, at_least, at_most, .. } = self;
        let Self { rounds, rest, pre_writes, purge, spare, settle, construct, keep_state, burst, idle, .. } = self;
        let times = time.or(*round).or(*rest).or(*pre_writes);
        let counts = rounds.or(*settle).is_none() && repeats.is_none() && spare.is_none();
        let limits = steady.is_none() && at_least.is_none() && at_most.is_none() && burst.is_none() && idle.is_none();
        fields.is_empty()
            && purge.is_none()
            && construct.or(*keep_state).is_none()
            && times.is_none()
            && counts
            && limits
    }

    /// Lays this over `under`: what both give, this decides.
    pub(super) fn over(&self, under: &Self) -> Self {
        Self {
            fields: self.fields.over(&under.fields),
            repeats: self.repeats.or(under.repeats),
            purge: self.purge.or(under.purge),
            time: self.time.or(under.time),
            round: self.round.or(under.round),
            steady: self.steady.or(under.steady),
            at_least: self.at_least.clone().or_else(|| under.at_least.clone()),
            at_most: self.at_most.clone().or_else(|| under.at_most.clone()),
            burst: self.burst.clone().or_else(|| under.burst.clone()),
            idle: self.idle.clone().or_else(|| under.idle.clone()),
            rounds: self.rounds.or(under.rounds),
            rest: self.rest.or(under.rest),
            spare: self.spare.or(under.spare),
            settle: self.settle.or(under.settle),
            construct: self.construct.or(under.construct),
            keep_state: self.keep_state.or(under.keep_state),
            pre_writes: self.pre_writes.or(under.pre_writes),
        }
    }
}

fn purge(value: &Value) -> Result<PurgeMethod, Diagnostic> {
    let name = quantity(value)?;
    PurgeMethod::named(&name).ok_or_else(|| {
        let known = PurgeMethod::ALL.map(|(name, _)| name);
        Diagnostic::new("plan::bad-value", value.span(), format!("unknown purge method `{name}`"))
            .help(suggestion(&name, &known))
    })
}

/// The value of a field.
pub(super) fn setting(field: Field, value: &Value) -> Result<Setting, Diagnostic> {
    Setting::of(field, quantity(value)?, value.span())
}

/// A length of time that is more than none.
fn duration(value: &Value) -> Result<Nanos, Diagnostic> {
    let mut workload = Workload::default();
    setting(Field::Runtime, value)?.apply(Field::Runtime, &mut workload)?;
    workload.stop.time.filter(|time| *time > Nanos::ZERO).ok_or_else(|| {
        Diagnostic::new("plan::range", value.span(), "the duration is zero").help("give a duration such as `60s`")
    })
}

/// A duration, or a list of them.
fn durations(value: &Value) -> Result<Vec<Nanos>, Diagnostic> {
    let DeValue::Array(list) = value.get_ref() else { return duration(value).map(|time| vec![time]) };
    list.iter().map(duration).collect()
}

fn limit(value: &Value) -> Result<(Limit, Range<usize>), Diagnostic> {
    match Limit::read(&quantity(value)?) {
        Ok(limit) => Ok((limit, value.span())),
        Err(error) => Err(Diagnostic::new("plan::bad-value", value.span(), error.found).help(error.help)),
    }
}

/// A limit, or a list of them of which the first that is reached counts.
fn limits(value: &Value) -> Result<(Vec<Limit>, Range<usize>), Diagnostic> {
    let DeValue::Array(list) = value.get_ref() else { return limit(value).map(|(limit, span)| (vec![limit], span)) };
    if list.is_empty() {
        return Err(Diagnostic::new("plan::bad-value", value.span(), "no limit").help("give one or several"));
    }
    let limits = list.iter().map(|one| limit(one).map(|(limit, _)| limit)).collect::<Result<_, _>>()?;
    Ok((limits, value.span()))
}

/// How much flash there is beyond the capacity.
fn spare(value: &Value) -> Result<Spare, Diagnostic> {
    let text = quantity(value)?;
    let refused = |found: String, help: String| Err(Diagnostic::new("plan::bad-value", value.span(), found).help(help));
    match text.parse() {
        Ok(spare) => Ok(spare),
        Err(ParseError::UnknownUnit { unit, .. }) if unit.is_empty() => {
            refused(format!("`{text}` has no unit"), format!("give a share of the capacity: `{}%`", text.trim()))
        }
        Err(error) => {
            let (found, help) = told(&error);
            refused(found, help.unwrap_or_else(|| "give a share of the capacity, such as `7%`".to_owned()))
        }
    }
}

/// A share of the capacity, in percent.
fn settle(value: &Value) -> Result<u32, Diagnostic> {
    match limit(value)? {
        (Limit::Percent(percent), _) => Ok(percent),
        (_, span) => {
            let message = "the random writes are given as a share of the capacity";
            Err(Diagnostic::new("plan::bad-value", span, message).help("give it in percent: `10%`"))
        }
    }
}

/// `true` or `false`.
fn truth(value: &Value) -> Result<bool, Diagnostic> {
    match value.get_ref() {
        DeValue::Boolean(truth) => Ok(*truth),
        _ => Err(wrong_type(value, "`true` or `false`")),
    }
}

/// `"snia"`, `false`, or a rule of one's own; `Some(None)` for none.
fn steady(value: &Value, mistakes: &mut Mistakes) -> Option<Option<SteadyRule>> {
    const HELP: &str = "give `\"snia\"`, `{ rounds = 5, spread = \"20%\", slope = \"10%\" }` or `false`";
    match value.get_ref() {
        DeValue::String(name) if name == "snia" => Some(Some(SteadyRule::SNIA)),
        DeValue::String(name) => {
            let message = format!("unknown steady-state rule `{name}`");
            mistakes.push(Diagnostic::new("plan::bad-value", value.span(), message).help(HELP));
            None
        }
        DeValue::Boolean(false) => Some(None),
        DeValue::Table(_) => own_rule(value, mistakes).map(Some),
        _ => {
            mistakes.push(wrong_type(value, "a steady-state rule").help(HELP));
            None
        }
    }
}

fn own_rule(value: &Value, mistakes: &mut Mistakes) -> Option<SteadyRule> {
    const KNOWN: [&str; 3] = ["rounds", "spread", "slope"];
    let before = mistakes.count();
    let mut rule = SteadyRule::SNIA;
    for (key, span, value) in entries(table(value, mistakes)?) {
        match key {
            "rounds" => rule.rounds = mistakes.keep(whole(value, ROUNDS)).map_or(rule.rounds, |rounds| rounds as usize),
            "spread" => rule.spread = mistakes.keep(share(value)).unwrap_or(rule.spread),
            "slope" => rule.slope = mistakes.keep(share(value)).unwrap_or(rule.slope),
            _ => mistakes.push(unknown_key(key, span, &KNOWN, "a steady-state rule")),
        }
    }
    (mistakes.count() == before).then_some(rule)
}

/// A share of more than nothing, in percent.
pub(super) fn share(value: &Value) -> Result<f64, Diagnostic> {
    let mut workload = Workload::default();
    setting(Field::Rwmixread, value)?.apply(Field::Rwmixread, &mut workload)?;
    match workload.read_percent {
        0 => Err(Diagnostic::new("plan::range", value.span(), "0 % cannot be met").help("give 1% to 100%")),
        percent => Ok(f64::from(percent) / 100.0),
    }
}

/// What lists the fields of steps.
pub(super) const ALL_FIELDS: &str =
    "`assay run --help` lists the fields of a workload, docs/plans.md those of every kind of step";

/// That `place` has no entry called `key`.
pub(super) fn unknown_key(key: &str, span: Range<usize>, known: &[&str], place: &str) -> Diagnostic {
    Diagnostic::new("plan::unknown-field", span, format!("unknown field `{key}` in {place}"))
        .label("not known here")
        .help(field_suggestion(key, known, ALL_FIELDS))
}
