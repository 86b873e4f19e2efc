//! A plan, read from the TOML that a reviewer writes.

use std::ops::Range;

use toml::de::{DeTable, DeValue};
use workload::Mark;

use super::body::{Body, unknown_key};
use super::build::Frame;
use super::diagnostic::{Diagnostic, Mistakes};
use super::draft::{Draft, Drafts, title_of, word};
use super::fields::{Settings, names};
use super::repetition::repetition;
use super::value::{Value, prose, table, wrong_type};
use super::{Experiments, Field, Plan, Repetition};

/// Which of a plan's durations and repeats to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanLength {
    /// Those of the plan.
    Full,
    /// Those that its `quick` tables put in their place.
    Quick,
    /// Those that its `simulated` tables put in their place, for simulated drives.
    Simulated,
    /// Those of `quick`, and where that is silent those of `simulated`.
    QuickSimulated,
}

impl PlanLength {
    /// That of a run under `--quick` or not, on a simulated drive or a real one.
    pub const fn of(quick: bool, simulated: bool) -> Self {
        match (quick, simulated) {
            (false, false) => Self::Full,
            (true, false) => Self::Quick,
            (false, true) => Self::Simulated,
            (true, true) => Self::QuickSimulated,
        }
    }

    /// Whether `quick` tables count.
    pub(super) const fn is_quick(self) -> bool {
        matches!(self, Self::Quick | Self::QuickSimulated)
    }

    /// Whether `simulated` tables count.
    pub(super) const fn is_simulated(self) -> bool {
        matches!(self, Self::Simulated | Self::QuickSimulated)
    }
}

/// The keys of a plan.
const PLAN: [&str; 8] = ["name", "title", "about", "repeats", "quick", "simulated", "workload", "step"];
/// What a plan's `quick` and `simulated` may change in every measurement.
fn quick() -> Vec<&'static str> {
    std::iter::once("repeats").chain(Field::all(Mark::End).map(Field::name)).collect()
}
/// How often a cell is measured where the plan does not say.
const REPEATS_DEFAULT: u32 = 5;

/// Reads a plan, whose steps can ask for trials of these kinds.
///
/// All lengths are checked, whichever is asked for.
///
/// # Errors
/// All mistakes that can be found in one go, in the order of the text. Where the text is not TOML, only
/// those that keep it from being so.
pub fn parse(text: &str, length: PlanLength, experiments: Experiments) -> Result<Plan, Vec<Diagnostic>> {
    let (document, errors) = DeTable::parse_recoverable(text);
    let mut mistakes = Mistakes::default();
    for error in errors {
        let span = error.span().unwrap_or(text.len()..text.len());
        mistakes.push(Diagnostic::new("plan::syntax", span, error.message()).label("here"));
    }
    if mistakes.count() > 0 {
        return Err(mistakes.into_sorted());
    }
    let form = Form { keys: &PLAN, what: "a plan", place: 0..0, yields: false, experiments };
    let draft = PlanDraft::read(document.get_ref(), &form, &mut mistakes);
    let full = draft.plan(text, PlanLength::Full, &mut mistakes);
    for other in [PlanLength::Quick, PlanLength::Simulated] {
        draft.plan(text, other, &mut mistakes);
    }
    let plan = if length == PlanLength::Full { full } else { draft.plan(text, length, &mut mistakes) };
    if mistakes.count() == 0 { Ok(plan) } else { Err(mistakes.into_sorted()) }
}

/// Where a plan stands: in a file of its own, or as part of a method.
pub(super) struct Form {
    /// The keys that it may have.
    pub(super) keys: &'static [&'static str],
    /// What it is called.
    pub(super) what: &'static str,
    /// What to show for the plan as a whole.
    pub(super) place: Range<usize>,
    /// Whether its steps may say which published figures they yield.
    pub(super) yields: bool,
    /// The trials that its steps can ask for.
    pub(super) experiments: Experiments,
}

/// A plan as it was written.
pub(super) struct PlanDraft {
    name: String,
    title: String,
    about: String,
    repeats: Repetition,
    quick: Body,
    simulated: Body,
    workload: Settings,
    pub(super) steps: Vec<Draft>,
}

impl PlanDraft {
    /// Reads the keys of `form` of `plan`.
    pub(super) fn read(plan: &DeTable, form: &Form, mistakes: &mut Mistakes) -> Self {
        for key in plan.keys().filter(|key| !form.keys.contains(&key.get_ref().as_ref())) {
            mistakes.push(unknown_key(key.get_ref(), key.span(), form.keys, form.what));
        }
        let name = match plan.get("name") {
            Some(value) => mistakes.keep(word(value)).unwrap_or_default(),
            None => {
                let message = format!("{} needs a name", form.what);
                let missing = Diagnostic::new("plan::missing", form.place.clone(), message).label("at the top");
                mistakes.push(missing.help("add `name = \"…\"`"));
                String::new()
            }
        };
        let title = plan.get("title").and_then(|value| mistakes.keep(prose(value)));
        Self {
            title: title.unwrap_or_else(|| title_of(&name)),
            about: plan.get("about").and_then(|value| mistakes.keep(prose(value))).unwrap_or_default(),
            repeats: plan
                .get("repeats")
                .and_then(|value| repetition(value, mistakes))
                .unwrap_or(Repetition::times(REPEATS_DEFAULT)),
            quick: part(plan, "quick", &quick(), mistakes),
            simulated: part(plan, "simulated", &quick(), mistakes),
            workload: part(plan, "workload", &names(), mistakes).fields,
            steps: steps(plan, mistakes)
                .map(|steps| Drafts::read(steps, form.yields, form.experiments, mistakes))
                .unwrap_or_default(),
            name,
        }
    }

    /// The plan at this length; of use only if there were no mistakes.
    pub(super) fn plan(&self, text: &str, length: PlanLength, mistakes: &mut Mistakes) -> Plan {
        let quick = self.quick.repeats.filter(|_| length.is_quick());
        let simulated = self.simulated.repeats.filter(|_| length.is_simulated());
        let repeats = quick.or(simulated).unwrap_or(self.repeats);
        let Self { workload, quick, simulated, .. } = self;
        let frame = Frame { length, repeats, workload, quick, simulated };
        let sound = self.steps.iter().filter(|draft| draft.sound);
        Plan {
            name: self.name.clone(),
            title: self.title.clone(),
            about: self.about.clone(),
            repeats,
            quick: length.is_quick(),
            simulated: length.is_simulated() && self.is_other_when_simulated(),
            has_simulated_lengths: self.is_other_when_simulated(),
            steps: sound.filter_map(|draft| frame.step(draft, mistakes)).collect(),
            text: text.to_owned(),
        }
    }

    /// Whether anything is said for simulated drives.
    fn is_other_when_simulated(&self) -> bool {
        let mut bodies = self.steps.iter().map(|step| &step.simulated).chain([&self.simulated]);
        bodies.any(|body| !body.is_empty())
    }
}

/// The table `name` of a plan, all of whose keys must be `known`.
fn part(plan: &DeTable, name: &str, known: &[&str], mistakes: &mut Mistakes) -> Body {
    let Some(table) = plan.get(name).and_then(|value| table(value, mistakes)) else { return Body::default() };
    for key in table.keys().filter(|key| !known.contains(&key.get_ref().as_ref())) {
        mistakes.push(unknown_key(key.get_ref(), key.span(), known, &format!("[{name}]")));
    }
    Body::read(table, known, mistakes)
}

/// The entries of `[[step]]`, of which there must be one.
fn steps<'a, 't>(plan: &'a DeTable<'t>, mistakes: &mut Mistakes) -> Option<&'a [Value<'t>]> {
    const HELP: &str = "begin each step with `[[step]]`";
    let Some(value) = plan.get("step") else {
        mistakes.push(Diagnostic::new("plan::no-step", 0..0, "the plan has no step").label("nowhere here").help(HELP));
        return None;
    };
    match value.get_ref() {
        DeValue::Array(steps) if !steps.is_empty() => Some(steps),
        DeValue::Array(_) => {
            mistakes.push(Diagnostic::new("plan::no-step", value.span(), "the plan has no step").help(HELP));
            None
        }
        _ => {
            mistakes.push(wrong_type(value, "a list of steps").help(HELP));
            None
        }
    }
}
