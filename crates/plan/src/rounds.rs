//! A sweep that is measured in rounds until it is steady.

use std::borrow::Cow;
use std::ops::Range;

use block::{Nanos, suggestion};
use measurement::Measurement;
use stats::{Steadiness, SteadyRule};
use toml::de::DeValue;
use workload::{Pattern, Stop, Workload};

use super::body::Body;
use super::build::Frame;
use super::diagnostic::{Diagnostic, Mistakes};
use super::draft::Draft;
use super::fields::names;
use super::kind::{Form, Phrases, StepKind};
use super::value::{Value, text, wrong_type};
use super::work::{Passes, Phase, Site};
use super::{Action, Axis, Cell, Measure, Repetition};
use crate::Metric;

/// How many rounds there are at most where the plan does not say.
///
/// Source: SNIA, "Solid State Storage Performance Test Specification Enterprise" 1.1, §7.2: at most 25 rounds.
const ROUNDS_DEFAULT: u32 = 25;

/// A sweep whose cells are measured one after another on the drive as each leaves it, all of them in each round, until
/// some of them are steady from round to round.
///
/// The last rounds are the measurement window: its measurements are the repeats of which figures are made.
#[derive(Clone, Debug, PartialEq)]
pub struct Rounds {
    /// The cells; it has as many repeats as there are rounds in the window.
    pub measure: Measure,
    /// The places of the cells that decide.
    pub watched: Vec<usize>,
    /// The figure by which they do.
    pub by: Metric,
    /// When they are steady; none to go on to the last round.
    pub steady: Option<SteadyRule>,
    /// How many rounds there are at most.
    pub at_most: u32,
    /// How long the drive is left alone after each measurement.
    pub rest: Nanos,
    /// What is run before each round and not counted: what the first cell writes, without its reads.
    pub pre_writes: Option<Workload>,
}

/// What the rounds so far say of one cell that decides.
#[derive(Clone, Debug, PartialEq)]
pub struct Watched {
    /// The place of the cell.
    pub cell: usize,
    /// Its figure in each round, in the unit of [`Rounds::by`].
    pub rounds: Vec<f64>,
    /// What the window shows; none while there are too few rounds.
    pub steadiness: Option<Steadiness>,
}

pub(super) const FORM: Form = Form {
    name: "rounds",
    numbers: || [names(), vec!["rounds", "rest", "pre-writes", "steady"]].concat(),
    more: &["sweep", "watch", "by", "quick", "simulated"],
    build: |frame, draft, body, mistakes| frame.rounds(draft, body, mistakes).map(Action::Rounds),
};

impl StepKind for Rounds {
    fn name(&self) -> &'static str {
        FORM.name
    }

    fn phases<'s>(&'s self, _: &Site) -> Vec<Phase<'s>> {
        let once = |cell| {
            [
                Phase::Run { cells: Cow::Borrowed(std::slice::from_ref(cell)), keeps: true, construct: false },
                Phase::Rest(self.rest),
            ]
        };
        let before = self.pre_writes.clone().map(|workload| Phase::run(workload, false));
        before.into_iter().chain(self.measure.cells.iter().flat_map(once)).collect()
    }

    fn passes(&self) -> Passes<'_> {
        Passes::Rounds(self)
    }

    fn workloads_mut(&mut self) -> Vec<&mut Workload> {
        self.measure.workloads_mut().into_iter().chain(&mut self.pre_writes).collect()
    }

    fn brief(&self) -> String {
        format!("{} points × up to {} rounds", self.measure.cells.len(), self.at_most)
    }

    fn sentence(&self, say: &Phrases) -> String {
        let cells = (say.count)(self.measure.cells.len(), "point");
        let until = match self.steady {
            Some(rule) => format!("until {} rounds are steady, at most {} rounds", rule.rounds, self.at_most),
            None => format!("{} times", self.at_most),
        };
        let rest = if self.rest > Nanos::ZERO { format!(", {} idle after each", self.rest) } else { String::new() };
        format!("Measure {cells} one after another, {until}{rest}: {}", self.measure.summary(say))
    }
}

impl Rounds {
    /// What the window is judged by: the plan's rule, or the specification's where nothing is decided by it.
    pub fn rule(&self) -> SteadyRule {
        self.steady.unwrap_or(SteadyRule::SNIA)
    }

    /// What `rounds` of the cell at this place say, those of the window among them.
    pub fn watch<'m>(&self, cell: usize, rounds: impl IntoIterator<Item = &'m Measurement>) -> Watched {
        let rounds: Vec<f64> = rounds.into_iter().filter_map(|round| self.by.of(round)).collect();
        Watched { cell, steadiness: self.rule().judge(&rounds), rounds }
    }
}

impl Watched {
    /// Whether the window is steady.
    pub fn is_steady(&self) -> bool {
        self.steadiness.is_some_and(|window| window.steady)
    }
}

impl Frame<'_> {
    /// The rounds that `draft` describes.
    pub(super) fn rounds(&self, draft: &Draft, body: &Body, mistakes: &mut Mistakes) -> Option<Rounds> {
        // Why there are no cells was told when the sweep was read.
        let mut measure = self.measure(draft, mistakes).filter(|measure| !measure.cells.is_empty())?;
        if let Some(axis) = measure.axes.iter().find(|axis| matches!(axis, Axis::Part(_))) {
            let message = format!("`{}` changes the drive, and all rounds run on one drive", axis.name());
            let help = "sweep it in a `measure` step, or review each drive by itself";
            mistakes.push(Diagnostic::new("plan::bad-value", draft.place.clone(), message).help(help));
            return None;
        }
        let steady = body.steady.unwrap_or(Some(SteadyRule::SNIA));
        let at_most = body.rounds.unwrap_or(ROUNDS_DEFAULT);
        let window = steady.unwrap_or(SteadyRule::SNIA).rounds as u32;
        if steady.is_some() && at_most < window {
            let message = format!("{at_most} rounds can never be steady: the rule needs {window}");
            let mistake = Diagnostic::new("plan::range", draft.place.clone(), message).label("in this step");
            mistakes.push(mistake.help(format!("raise `rounds` to at least {window}, or give `steady = false`")));
            return None;
        }
        measure.repeats = Repetition::times(if steady.is_some() { window } else { at_most });
        let watched = watched(draft, &measure.cells, steady.is_some(), mistakes)?;
        let by = draft.by.unwrap_or(Metric::Iops);
        let rest = body.rest.unwrap_or(Nanos::ZERO);
        let pre_writes = body.pre_writes.map(|time| pre_writes(&measure.cells[0].workload, time));
        Some(Rounds { measure, watched, by, steady, at_most, rest, pre_writes })
    }
}

/// The writes of `workload` alone, for so long.
fn pre_writes(workload: &Workload, time: Nanos) -> Workload {
    let pattern = match workload.pattern {
        Pattern::Read | Pattern::ReadWrite => Pattern::Write,
        Pattern::RandRead | Pattern::RandRw => Pattern::RandWrite,
        other => other,
    };
    Workload { pattern, stop: Stop::after(time), ramp: Nanos::ZERO, ..workload.clone() }
}

/// The places of the cells that `draft` names, of which there must be one if they decide.
fn watched(draft: &Draft, cells: &[Cell], decide: bool, mistakes: &mut Mistakes) -> Option<Vec<usize>> {
    if draft.watch.is_empty() {
        if cells.len() == 1 || !decide {
            return Some(if cells.len() == 1 { vec![0] } else { Vec::new() });
        }
        let message = format!("step `{}` does not name which of its {} points must be steady", draft.name, cells.len());
        let help = format!("add `watch = \"{}\"`, or several in a list", cells[0].key());
        mistakes.push(Diagnostic::new("plan::missing", draft.place.clone(), message).label("in this step").help(help));
        return None;
    }
    let words = |key: &str| {
        let mut words: Vec<String> = key.split_whitespace().map(str::to_owned).collect();
        words.sort();
        words
    };
    let mut places = Vec::new();
    for (key, span) in &draft.watch {
        match cells.iter().position(|cell| words(&cell.key()) == words(key)) {
            Some(place) => places.push(place),
            None => {
                let keys: Vec<String> = cells.iter().map(Cell::key).collect();
                let known: Vec<&str> = keys.iter().map(String::as_str).collect();
                let message = format!("the sweep has no point `{key}`");
                mistakes.push(Diagnostic::new("plan::reference", span.clone(), message).help(suggestion(key, &known)));
            }
        }
    }
    (places.len() == draft.watch.len()).then_some(places)
}

/// Reads the cells of `watch`: one, or a list.
pub(super) fn watch(value: &Value, mistakes: &mut Mistakes) -> Vec<(String, Range<usize>)> {
    let one = |value: &Value, mistakes: &mut Mistakes| Some((mistakes.keep(text(value))?, value.span()));
    match value.get_ref() {
        DeValue::Array(list) => list.iter().filter_map(|value| one(value, mistakes)).collect(),
        _ => one(value, mistakes).into_iter().collect(),
    }
}

/// Reads the figure of `by`.
pub(super) fn by(value: &Value) -> Result<Metric, Diagnostic> {
    const KNOWN: [(&str, Metric); 3] =
        [("iops", Metric::Iops), ("bandwidth", Metric::Bandwidth), ("latency", Metric::LatencyMean)];
    let name = text(value).map_err(|_| wrong_type(value, "a figure").help("give `\"iops\"`"))?;
    let found = KNOWN.iter().find(|(known, _)| *known == name).map(|(_, metric)| *metric);
    found.ok_or_else(|| {
        let unknown =
            Diagnostic::new("plan::bad-value", value.span(), format!("steady state cannot be judged by `{name}`"));
        unknown.help("give `\"iops\"`, `\"bandwidth\"` or `\"latency\"`, which is the mean")
    })
}

#[cfg(test)]
mod tests {
    use crate::{PlanLength, parse};

    #[test]
    fn rounds_of_an_empty_sweep_are_a_mistake() {
        for more in ["steady = false\npre-writes = \"1s\"", "steady = true"] {
            let step = "name = \"s\"\ndo = \"rounds\"\nruntime = 1\nsweep.bs = []";
            let mistakes =
                parse(&format!("name = \"p\"\n[[step]]\n{step}\n{more}\n"), PlanLength::Full, &[]).unwrap_err();
            assert_eq!(mistakes[0].code, "plan::empty-sweep", "{mistakes:?}");
        }
    }
}
