//! Steps that try what stands above the drive: what they are told, and what they sweep.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::body::unknown_key;
use super::build::Frame;
use super::diagnostic::{Diagnostic, Mistakes};
use super::draft::Draft;
use super::kind::{Form, Phrases, StepKind};
use super::repetition::repetition;
use super::value::{Value, entries, quantity, table, wrong_type};
use super::work::{Passes, Phase, Site};
use super::{Action, Choice, ChoiceError, Choices, ChoicesError, Experiment, Repetition};

/// A kind of trial at every point of a sweep.
#[derive(Clone, Debug)]
pub struct Trials {
    /// The kind.
    pub experiment: &'static dyn Experiment,
    /// What is told at each point, in the order of the sweep: the last axis varies fastest.
    pub points: Vec<TrialPoint>,
    /// What is swept, in order; empty where there is one point.
    pub axes: Vec<&'static Choice>,
    /// How often each point is tried.
    pub repeats: u32,
}

impl Trials {
    /// The commands of other programs that its points start for what they are told, each once, in order.
    pub fn commands(&self) -> Vec<String> {
        let mut commands: Vec<String> = Vec::new();
        for command in self.points.iter().flat_map(|point| self.experiment.commands(&point.choices)) {
            if !commands.contains(&command) {
                commands.push(command);
            }
        }
        commands
    }

    /// The kind and what it is told that is not swept.
    pub fn summary(&self) -> String {
        let Some(first) = self.points.first() else { return self.experiment.name().to_owned() };
        let is_fixed = |choice: &Choice| self.axes.iter().all(|axis| axis.name != choice.name);
        let told = first.choices.all().filter(|(choice, _)| is_fixed(choice) && first.choices.is_set(choice.name));
        let words = told.map(|(choice, text)| format!("{}={text}", choice.name));
        std::iter::once(self.experiment.name().to_owned()).chain(words).collect::<Vec<_>>().join(" ")
    }
}

/// The name is that of the experiment, and so are the numbers beside these.
pub(super) const FORM: Form = Form {
    name: "trial",
    numbers: || vec!["repeats"],
    more: &["sweep", "quick", "simulated"],
    build: |frame, draft, _, mistakes| draft.trial.as_ref()?.trials(frame, draft, mistakes).map(Action::Trial),
};

impl StepKind for Trials {
    fn name(&self) -> &'static str {
        self.experiment.name()
    }

    fn phases<'s>(&'s self, _: &Site) -> Vec<Phase<'s>> {
        self.points.iter().map(|point| Phase::Trial(self, point)).collect()
    }

    fn passes(&self) -> Passes<'_> {
        Passes::Trials(self)
    }

    fn repeat(&mut self, repeats: Repetition) {
        self.repeats = repeats.most;
    }

    fn brief(&self) -> String {
        format!("{} points × {}", self.points.len(), self.repeats)
    }

    fn sentence(&self, say: &Phrases) -> String {
        let times = (say.times)(Repetition::times(self.repeats));
        format!("Run {}, each {times}: {}", (say.count)(self.points.len(), "point"), self.summary())
    }
}

impl PartialEq for Trials {
    fn eq(&self, other: &Self) -> bool {
        let of = |trials: &Self| (trials.experiment.name(), trials.axes.clone(), trials.repeats);
        of(self) == of(other) && self.points == other.points
    }
}

/// One point of a sweep of trials.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialPoint {
    /// What is swept, with its values as written in the plan.
    pub values: Vec<(&'static Choice, String)>,
    /// All that is told.
    pub choices: Choices,
}

impl TrialPoint {
    /// The point's name in the store: `fs=ext4 threads=8`, empty where nothing is swept.
    pub fn key(&self) -> String {
        self.values.iter().map(|(choice, value)| format!("{}={value}", choice.name)).collect::<Vec<_>>().join(" ")
    }
}

/// A value as it was written, with its place.
type GivenValue = (String, Range<usize>);

/// What is told at one length of the plan.
#[derive(Clone, Debug, Default)]
struct TrialPart {
    told: Vec<(&'static Choice, GivenValue)>,
    sweep: Vec<(&'static Choice, Vec<GivenValue>)>,
    repeats: Option<Repetition>,
}

/// A step that tries something, as it was written.
#[derive(Clone, Debug)]
pub(super) struct TrialDraft {
    experiment: &'static dyn Experiment,
    own: TrialPart,
    quick: TrialPart,
    simulated: TrialPart,
}

impl TrialDraft {
    pub(super) fn read(step: &DeTable, experiment: &'static dyn Experiment, mistakes: &mut Mistakes) -> Self {
        let own = TrialPart::read(step, experiment, mistakes);
        let mut shorter = |name: &str| {
            let overlay = step.get(name).and_then(|value| table(value, mistakes));
            let known = [&["sweep", "repeats"][..], &names(experiment)].concat();
            let Some(overlay) = overlay else { return TrialPart::default() };
            for key in overlay.keys().filter(|key| !known.contains(&key.get_ref().as_ref())) {
                let place = format!("`{name}` of a `{}` step", experiment.name());
                mistakes.push(unknown_key(key.get_ref(), key.span(), &known, &place));
            }
            let part = TrialPart::read(overlay, experiment, mistakes);
            own.check_shorter(&part, mistakes);
            part
        };
        let (quick, simulated) = (shorter("quick"), shorter("simulated"));
        Self { experiment, own, quick, simulated }
    }

    /// How many points it has at most; none if that is more than can be counted.
    pub(super) fn size(&self) -> Option<usize> {
        self.own.sweep.iter().try_fold(1_usize, |points, (_, values)| points.checked_mul(values.len().max(1)))
    }

    /// The trials at the length that `frame` asks for; none, with mistakes, if they make no sense.
    pub(super) fn trials(&self, frame: &Frame, draft: &Draft, mistakes: &mut Mistakes) -> Option<Trials> {
        let Self { experiment, own, quick, simulated } = self;
        let simulated = frame.length.is_simulated().then_some(simulated);
        let quick = frame.length.is_quick().then_some(quick);
        // The nearest word wins: the later part.
        let parts: Vec<&TrialPart> = [Some(own), simulated, quick].into_iter().flatten().collect();
        let points = self.points(&parts);
        let wrong = points.iter().find_map(|point| Some((point, experiment.check(&point.choices).err()?)));
        if let Some((point, error)) = wrong {
            mistakes.push(self.mistake(point, error, &parts, draft));
            return None;
        }
        self.check_other_lengths(draft, mistakes);
        let axes = own.sweep.iter().map(|(choice, _)| *choice).collect();
        let frames =
            [frame.quick.repeats.filter(|_| quick.is_some()), frame.simulated.repeats.filter(|_| simulated.is_some())];
        let repeats = quick
            .and_then(|part| part.repeats)
            .or(frames[0])
            .or(simulated.and_then(|part| part.repeats))
            .or(frames[1])
            .or(own.repeats)
            .unwrap_or(frame.repeats);
        Some(Trials { experiment: *experiment, points, axes, repeats: repeats.least() })
    }
}

impl TrialDraft {
    /// The points of the sweep where these parts count, the later ones more.
    fn points(&self, parts: &[&TrialPart]) -> Vec<TrialPoint> {
        let mut fixed = Choices::of(self.experiment.choices());
        for (choice, (text, _)) in parts.iter().flat_map(|part| &part.told) {
            fixed.tell(choice.name, text).expect("it was checked when it was read");
        }
        let mut points = vec![TrialPoint { values: Vec::new(), choices: fixed }];
        for (choice, values) in &self.own.sweep {
            let shorter = parts.iter().rev().find_map(|part| part.sweep.iter().find(|(other, _)| other == choice));
            let values = shorter.map_or(values, |(_, values)| values);
            points = points.iter().flat_map(|point| values.iter().map(|(text, _)| point.with(choice, text))).collect();
        }
        points
    }

    /// What a plan may not tell a program it may not tell it at any length: who reads a plan reads all of it.
    fn check_other_lengths(&self, draft: &Draft, mistakes: &mut Mistakes) {
        let Self { experiment, own, quick, simulated } = self;
        for parts in [&[own][..], &[own, simulated], &[own, quick], &[own, simulated, quick]] {
            for point in self.points(parts) {
                if let Err(error @ ChoicesError::Text { .. }) = experiment.check(&point.choices) {
                    mistakes.push(self.mistake(&point, error, parts, draft));
                    return;
                }
            }
        }
    }

    /// That a point makes no sense, or tells a program what a plan may not: at the word, where it is one.
    fn mistake(&self, point: &TrialPoint, error: ChoicesError, parts: &[&TrialPart], draft: &Draft) -> Diagnostic {
        let ChoicesError::Text { choice, refused } = error else {
            return Diagnostic::new("plan::trial", draft.place.clone(), error.to_string()).label("in this step");
        };
        let text = point.choices.text(choice);
        let fixed = parts.iter().rev().flat_map(|part| part.told.iter().filter(|(told, _)| told.name == choice));
        let swept = parts.iter().rev().flat_map(|part| part.sweep.iter().filter(|(swept, _)| swept.name == choice));
        let places = fixed.map(|(_, told)| told).chain(swept.flat_map(|(_, values)| values));
        let place = places.filter(|(told, _)| told == text).map(|(_, span)| span.clone()).next();
        // Between two quotation marks each letter stands for itself, unless there are more bytes than letters.
        let within = |span: Range<usize>| match span.len() == text.len() + 2 {
            true => span.start + 1 + refused.at.start..span.start + 1 + refused.at.end,
            false => span,
        };
        let place = place.map_or_else(|| draft.place.clone(), within);
        Diagnostic::new("plan::not-permitted", place, refused.found).label("refused").help(refused.help)
    }
}

impl TrialPoint {
    /// The same point with one more value.
    fn with(&self, choice: &'static Choice, text: &str) -> Self {
        let mut point = self.clone();
        point.choices.tell(choice.name, text).expect("it was checked when it was read");
        point.values.push((choice, text.to_owned()));
        point
    }
}

impl TrialPart {
    fn read(table_: &DeTable, experiment: &'static dyn Experiment, mistakes: &mut Mistakes) -> Self {
        let mut part = Self::default();
        for (key, _, value) in entries(table_) {
            let choice = experiment.choices().iter().find(|choice| choice.name == key);
            match (key, choice) {
                ("repeats", _) => part.repeats = repetition(value, mistakes),
                ("sweep", _) => {
                    let Some(sweep) = table(value, mistakes) else { continue };
                    for (key, span, list) in entries(sweep) {
                        match experiment.choices().iter().find(|choice| choice.name == key) {
                            Some(choice) => part.sweep.push((choice, values(choice, list, mistakes))),
                            None => mistakes.push(unknown_key(key, span, &names(experiment), "a sweep of this step")),
                        }
                    }
                }
                (_, Some(choice)) => {
                    if let Some(told) = mistakes.keep(told(choice, value)) {
                        part.told.push((choice, told));
                    }
                }
                _ => {}
            }
        }
        for (choice, values) in &part.sweep {
            if let Some((_, (_, span))) = part.told.iter().find(|(told, _)| told == choice) {
                let message = format!("`{}` is both swept and fixed", choice.name);
                let mistake = Diagnostic::new("plan::given-twice", span.clone(), message).label("fixed here");
                let mistake = mistake.help("leave one of them out");
                mistakes.push(match values.first() {
                    Some((_, swept)) => mistake.also(swept.clone(), "swept here"),
                    None => mistake,
                });
            }
        }
        part
    }

    /// That `shorter` sweeps what this does and fixes nothing of that.
    fn check_shorter(&self, shorter: &Self, mistakes: &mut Mistakes) {
        let is_swept = |choice: &Choice| self.sweep.iter().any(|(swept, _)| *swept == choice);
        for (choice, (_, span)) in shorter.told.iter().filter(|(choice, _)| is_swept(choice)) {
            let message = format!("`{}` is both swept and fixed", choice.name);
            let help = format!("sweep fewer values: `sweep = {{ {} = [...] }}`", choice.name);
            mistakes.push(Diagnostic::new("plan::given-twice", span.clone(), message).help(help));
        }
        for (choice, values) in shorter.sweep.iter().filter(|(choice, _)| !is_swept(choice)) {
            let span = values.first().map_or(0..0, |(_, span)| span.clone());
            let message = format!("`{}` is not swept by the step itself", choice.name);
            let help = "only swept parameters can have other values here";
            mistakes.push(Diagnostic::new("plan::reference", span, message).help(help));
        }
    }
}

/// The names of what an experiment can be told.
fn names(experiment: &dyn Experiment) -> Vec<&'static str> {
    experiment.choices().iter().map(|choice| choice.name).collect()
}

/// The value of a choice.
fn told(choice: &Choice, value: &Value) -> Result<GivenValue, Diagnostic> {
    let text = match value.get_ref() {
        DeValue::Boolean(truth) => truth.to_string(),
        _ => quantity(value)?,
    };
    let wrong = |error: ChoiceError| Diagnostic::new("plan::bad-value", value.span(), error.found).help(error.help);
    choice.check(&text).map_err(wrong)?;
    Ok((text, value.span()))
}

/// The values that are swept of a choice.
fn values(choice: &Choice, list: &Value, mistakes: &mut Mistakes) -> Vec<GivenValue> {
    let DeValue::Array(array) = list.get_ref() else {
        mistakes.push(wrong_type(list, "a list of values"));
        return Vec::new();
    };
    if array.is_empty() {
        mistakes.push(Diagnostic::new("plan::empty-sweep", list.span(), "a sweep without values"));
    }
    let mut values: Vec<GivenValue> = Vec::new();
    for value in array.iter() {
        let Some((text, span)) = mistakes.keep(told(choice, value)) else { continue };
        match values.iter().find(|(earlier, _)| *earlier == text) {
            Some((_, first)) => mistakes.push(
                Diagnostic::new("plan::repeated-value", span, format!("`{text}` is swept twice"))
                    .label("again")
                    .also(first.clone(), "first here")
                    .help("leave one out; to measure a point more often, raise `repeats`"),
            ),
            None => values.push((text, span)),
        }
    }
    values
}
