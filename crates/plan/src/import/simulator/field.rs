//! The values of a file's fields, by tables of them.

use block::nearest;

use super::super::{Notice, Severity, SourceRange};
use super::{Simulator, mistake};

/// What a field can hold.
#[derive(Clone, Copy, Debug)]
pub(in super::super) enum FieldKind {
    /// A whole number in this range.
    Count(u64, u64),
    /// A number in this range.
    Real(f64, f64),
    /// `true` or `false`.
    Switch,
    /// One of these words, in any letters.
    Word(&'static [&'static str]),
    /// Whole numbers with commas between them.
    Numbers,
    /// Any text.
    Text,
}

/// What becomes of a field.
#[derive(Clone, Copy, Debug)]
pub(in super::super) enum Fate {
    /// It is taken over.
    Taken,
    /// It is taken over, and may be missing where others do without it.
    Optional,
    /// It makes no difference.
    Unused,
    /// It is not taken over, which is told unless it has one of these values.
    Lost(&'static [&'static str]),
}

/// A field of a simulator's.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct FieldSpec {
    pub(in super::super) name: &'static str,
    pub(in super::super) kind: FieldKind,
    /// What the simulator takes where it is missing; none where it leaves it undefined.
    pub(in super::super) default: Option<&'static str>,
    pub(in super::super) fate: Fate,
    /// What becomes of it, or what follows where it is lost.
    pub(in super::super) becomes: &'static str,
}

/// A field that is taken over, with what the simulator takes where it is missing.
pub(in super::super) const fn taken(
    name: &'static str,
    kind: FieldKind,
    default: &'static str,
    becomes: &'static str,
) -> FieldSpec {
    FieldSpec { name, kind, default: Some(default), fate: Fate::Taken, becomes }
}

/// A field that is taken over where it is there.
pub(in super::super) const fn optional(name: &'static str, kind: FieldKind, becomes: &'static str) -> FieldSpec {
    FieldSpec { name, kind, default: None, fate: Fate::Optional, becomes }
}

/// A field that makes no difference, whatever it holds.
pub(in super::super) const fn unused(name: &'static str, why: &'static str) -> FieldSpec {
    FieldSpec { name, kind: FieldKind::Text, default: None, fate: Fate::Unused, becomes: why }
}

/// A value as it is in force.
#[derive(Clone, Debug)]
pub(in super::super) struct FieldValue {
    simulator: &'static Simulator,
    pub(in super::super) spec: &'static FieldSpec,
    pub(in super::super) text: String,
    /// Where it stands; where the section begins if it is missing.
    pub(in super::super) place: SourceRange,
    pub(in super::super) is_given: bool,
}

/// The values of all fields of a section's table.
#[derive(Clone, Debug)]
pub(in super::super) struct FieldValues(Vec<FieldValue>);

/// A field as it stands in a file.
#[derive(Clone, Debug)]
pub(in super::super) struct FoundField {
    pub(in super::super) name: String,
    pub(in super::super) text: String,
    pub(in super::super) place: SourceRange,
}

/// The values of a table's fields: those that were found, or what the simulator takes. `place` is where one that is missing would stand.
pub(in super::super) fn values(
    simulator: &'static Simulator,
    specs: &'static [FieldSpec],
    all: impl IntoIterator<Item = FoundField>,
    place: &SourceRange,
    notices: &mut Vec<Notice>,
) -> FieldValues {
    let mut found: Vec<Option<FieldValue>> = vec![None; specs.len()];
    for FoundField { name, text, place } in all {
        let Some(at) = specs.iter().position(|spec| spec.name == name) else {
            notices.push(unknown(simulator, &name, place, specs));
            continue;
        };
        let value = FieldValue { simulator, spec: &specs[at], text, place, is_given: true };
        if let Some(first) = &found[at] {
            let message = format!("`{name}` is given twice, first in line {}", first.place.line);
            notices.push(mistake(simulator.codes.duplicate, &name, message, simulator.twice, value.place));
            continue;
        }
        notices.extend(value.wrong().or_else(|| value.lost()));
        found[at] = Some(value);
    }
    missing(simulator, specs, &found, place, notices);
    let stand_in = |spec: &'static FieldSpec| {
        let text = spec.default.unwrap_or("").to_owned();
        FieldValue { simulator, spec, text, place: place.clone(), is_given: false }
    };
    let or_default = |(spec, value): (&'static FieldSpec, Option<FieldValue>)| match value {
        Some(value) if value.wrong().is_none() => value,
        _ => stand_in(spec),
    };
    FieldValues(specs.iter().zip(found).map(or_default).collect())
}

/// Tells of fields that are missing: of those that the simulator has a default for together, and of each that it leaves undefined.
fn missing(
    simulator: &Simulator,
    specs: &[FieldSpec],
    found: &[Option<FieldValue>],
    place: &SourceRange,
    notices: &mut Vec<Notice>,
) {
    let missing = || specs.iter().zip(found).filter(|(_, value)| value.is_none()).map(|(spec, _)| spec);
    let counts = |spec: &&FieldSpec| matches!(spec.fate, Fate::Taken);
    let defaults: Vec<String> = missing()
        .filter(counts)
        .filter_map(|spec| spec.default.map(|default| format!("{} = {default}", spec.name)))
        .collect();
    if let [first, ..] = &defaults[..] {
        let count = defaults.len();
        let message =
            if count == 1 { format!("`{first}` is not given") } else { format!("{count} fields are not given") };
        let help = format!("{}'s defaults are taken: {}", simulator.name, defaults.join(", "));
        let option = "defaults".to_owned();
        let (severity, code) = (Severity::Note, simulator.codes.default);
        notices.push(Notice { severity, code, option, message, help: Some(help), place: place.clone() });
    }
    for spec in missing().filter(counts).filter(|spec| spec.default.is_none()) {
        let message = format!("`{}` is not given, and {} has no default for it", spec.name, simulator.name);
        notices.push(mistake(simulator.codes.missing, spec.name, message, &spec.right(), place.clone()));
    }
}

fn unknown(simulator: &Simulator, name: &str, place: SourceRange, specs: &[FieldSpec]) -> Notice {
    let near = nearest(name, specs.iter().map(|spec| spec.name));
    let help = match near {
        Some(near) => format!("{}; did you mean `{near}`?", simulator.unknown),
        None => simulator.unknown.to_owned(),
    };
    let (severity, code) = (Severity::Warning, simulator.codes.unknown_field);
    let message = format!("`{name}` is no field of {}'s here", simulator.name);
    Notice { severity, code, option: name.to_owned(), message, help: Some(help), place }
}

impl FieldSpec {
    /// What it can hold, in words.
    fn right(&self) -> String {
        match self.kind {
            FieldKind::Count(least, most) => format!("give a whole number from {least} to {most}"),
            FieldKind::Real(least, most) => format!("give a number from {least} to {most}"),
            FieldKind::Switch => "give `true` or `false`".to_owned(),
            FieldKind::Word(words) => format!("give one of {}", words.join(", ")),
            FieldKind::Numbers => "give whole numbers with commas between them: 0,1,2".to_owned(),
            FieldKind::Text => "give a name".to_owned(),
        }
    }

    fn holds(&self, text: &str) -> bool {
        match self.kind {
            FieldKind::Count(least, most) => {
                let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
                is_plain && text.parse::<u64>().is_ok_and(|count| (least..=most).contains(&count))
            }
            FieldKind::Real(least, most) => text.parse::<f64>().is_ok_and(|real| (least..=most).contains(&real)),
            FieldKind::Switch => ["true", "false"].iter().any(|word| word.eq_ignore_ascii_case(text)),
            // What decides nothing here may have a word of its own in a fork of the simulator's.
            FieldKind::Word(_) if matches!(self.fate, Fate::Lost(_)) => !text.is_empty(),
            FieldKind::Word(words) => words.iter().any(|word| word.eq_ignore_ascii_case(text)),
            FieldKind::Numbers => {
                let mut words = numbers(text).peekable();
                words.peek().is_some() && words.all(|word| word.parse::<u16>().is_ok())
            }
            FieldKind::Text => !text.is_empty(),
        }
    }
}

impl FieldValue {
    /// The field, and where it stands or that it is missing.
    pub(super) fn source(&self) -> String {
        match self.is_given {
            true => format!("{} (line {})", self.spec.name, self.place.line),
            false => format!("{} ({}'s default {})", self.spec.name, self.simulator.name, self.text),
        }
    }

    /// That it cannot be what it is.
    fn wrong(&self) -> Option<Notice> {
        if self.spec.holds(&self.text) {
            return None;
        }
        let found = if self.text.is_empty() { "nothing".to_owned() } else { format!("`{}`", shortened(&self.text)) };
        let message = format!("`{}` is {found}", self.spec.name);
        Some(mistake(self.simulator.codes.bad_value, self.spec.name, message, &self.spec.right(), self.place.clone()))
    }

    /// That it is not taken over, where that makes a difference.
    fn lost(&self) -> Option<Notice> {
        let Fate::Lost(same) = self.spec.fate else { return None };
        let is_same = same.iter().any(|value| value.eq_ignore_ascii_case(&self.text));
        (!is_same).then(|| self.not_honoured(self.spec.becomes))
    }

    /// That it is not taken over, and what follows.
    pub(in super::super) fn not_honoured(&self, follows: impl Into<String>) -> Notice {
        let message = format!("`{} = {}` is not honoured", self.spec.name, shortened(&self.text));
        self.notice(Severity::Warning, self.simulator.codes.not_honoured, message, follows)
    }

    /// That it cannot be taken over, and what would be right.
    pub(in super::super) fn refused(&self, why: impl Into<String>) -> Notice {
        let message = format!("`{} = {}` cannot be taken over", self.spec.name, shortened(&self.text));
        self.notice(Severity::Error, self.simulator.codes.refused, message, why)
    }

    fn notice(&self, severity: Severity, code: &'static str, message: String, help: impl Into<String>) -> Notice {
        let (option, help, place) = (self.spec.name.to_owned(), Some(help.into()), self.place.clone());
        Notice { severity, code, option, message, help, place }
    }
}

fn shortened(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

impl FieldValues {
    /// The value of a field that the table has.
    pub(in super::super) fn of(&self, name: &str) -> &FieldValue {
        self.0.iter().find(|value| value.spec.name == name).expect("the table has the field")
    }

    /// The same of a whole number; its least where it is wrong, which is told.
    pub(in super::super) fn count(&self, name: &str) -> u64 {
        let value = self.of(name);
        let FieldKind::Count(least, _) = value.spec.kind else { panic!("{name} is no whole number") };
        value.text.parse().unwrap_or(least)
    }

    pub(in super::super) fn real(&self, name: &str) -> f64 {
        let value = self.of(name);
        let FieldKind::Real(least, _) = value.spec.kind else { panic!("{name} is no number") };
        value.text.parse().unwrap_or(least)
    }

    pub(in super::super) fn is_on(&self, name: &str) -> bool {
        self.of(name).text.eq_ignore_ascii_case("true")
    }

    /// A word in capitals.
    pub(in super::super) fn word(&self, name: &str) -> String {
        self.of(name).text.to_ascii_uppercase()
    }

    pub(in super::super) fn numbers(&self, name: &str) -> Vec<u16> {
        let mut numbers: Vec<u16> = numbers(&self.of(name).text).filter_map(|word| word.parse().ok()).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }
}

/// The words between commas; one at the end separates nothing.
fn numbers(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|word| !word.is_empty())
}
