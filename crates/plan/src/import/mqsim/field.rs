//! The values of a file's fields, read by tables of them.

use block::nearest;
use roxmltree::Node;

use super::super::{Notice, Severity, SourceRange};
use super::xml::{content, element, mistake, tag};

/// What a field can hold.
#[derive(Clone, Copy, Debug)]
pub(super) enum FieldKind {
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
pub(super) enum Fate {
    /// It is taken over.
    Taken,
    /// It is taken over, and may be missing where others do without it.
    Optional,
    /// It makes no difference.
    Unused,
    /// It is not taken over, which is told unless it has one of these values.
    Lost(&'static [&'static str]),
}

/// A field of MQSim's.
#[derive(Clone, Copy, Debug)]
pub(super) struct FieldSpec {
    pub(super) name: &'static str,
    pub(super) kind: FieldKind,
    /// What MQSim takes where it is missing; none where MQSim leaves it undefined.
    pub(super) default: Option<&'static str>,
    pub(super) fate: Fate,
    /// What becomes of it, or what follows where it is lost.
    pub(super) becomes: &'static str,
}

/// A value as it is in force.
#[derive(Clone, Debug)]
pub(super) struct FieldValue {
    pub(super) spec: &'static FieldSpec,
    pub(super) text: String,
    /// Where it stands; where the section begins if it is missing.
    pub(super) place: SourceRange,
    pub(super) is_given: bool,
}

/// The values of all fields of a section's table.
#[derive(Clone, Debug)]
pub(super) struct FieldValues(Vec<FieldValue>);

/// Reads the fields that stand in `node`, or those that MQSim has without one. `groups` are elements with fields of their own.
pub(super) fn read(
    node: Option<Node>,
    specs: &'static [FieldSpec],
    groups: &[&str],
    nowhere: &SourceRange,
    notices: &mut Vec<Notice>,
) -> FieldValues {
    let place = node.map_or_else(|| nowhere.clone(), tag);
    let mut found: Vec<Option<FieldValue>> = vec![None; specs.len()];
    for child in node.into_iter().flat_map(|node| node.children()).filter(Node::is_element) {
        let name = child.tag_name().name();
        if groups.contains(&name) {
            continue;
        }
        let Some(at) = specs.iter().position(|spec| spec.name == name) else {
            notices.push(unknown(child, specs));
            continue;
        };
        let value = FieldValue { spec: &specs[at], text: content(child), place: element(child), is_given: true };
        if let Some(first) = &found[at] {
            let message = format!("`{name}` is given twice, first in line {}", first.place.line);
            notices.push(mistake("mqsim::duplicate", name, message, "leave one; MQSim takes the last", value.place));
            continue;
        }
        notices.extend(value.wrong().or_else(|| value.lost()));
        found[at] = Some(value);
    }
    missing(specs, &found, &place, notices);
    let stand_in = |spec: &'static FieldSpec| {
        let text = spec.default.unwrap_or("").to_owned();
        FieldValue { spec, text, place: place.clone(), is_given: false }
    };
    let or_default = |(spec, value): (&'static FieldSpec, Option<FieldValue>)| match value {
        Some(value) if value.wrong().is_none() => value,
        _ => stand_in(spec),
    };
    FieldValues(specs.iter().zip(found).map(or_default).collect())
}

/// Tells of fields that are missing: of those that MQSim has a default for together, and of each that it leaves undefined.
fn missing(specs: &[FieldSpec], found: &[Option<FieldValue>], place: &SourceRange, notices: &mut Vec<Notice>) {
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
        let help = format!("MQSim's defaults are taken: {}", defaults.join(", "));
        let option = "defaults".to_owned();
        let (severity, code) = (Severity::Note, "mqsim::default");
        notices.push(Notice { severity, code, option, message, help: Some(help), place: place.clone() });
    }
    for spec in missing().filter(counts).filter(|spec| spec.default.is_none()) {
        let message = format!("`{}` is not given, and MQSim has no default for it", spec.name);
        notices.push(mistake("mqsim::missing", spec.name, message, &spec.right(), place.clone()));
    }
}

fn unknown(node: Node, specs: &[FieldSpec]) -> Notice {
    let name = node.tag_name().name();
    let near = nearest(name, specs.iter().map(|spec| spec.name));
    let help = match near {
        Some(near) => format!("MQSim passes over it without a word; did you mean `{near}`?"),
        None => "MQSim passes over it without a word".to_owned(),
    };
    let (severity, code) = (Severity::Warning, "mqsim::unknown-field");
    let message = format!("`{name}` is no field of MQSim's here");
    Notice { severity, code, option: name.to_owned(), message, help: Some(help), place: element(node) }
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
            // What decides nothing here may have a word of its own in a fork of MQSim's.
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
    /// That it cannot be what it is.
    fn wrong(&self) -> Option<Notice> {
        if self.spec.holds(&self.text) {
            return None;
        }
        let found = if self.text.is_empty() { "nothing".to_owned() } else { format!("`{}`", shortened(&self.text)) };
        let message = format!("`{}` is {found}", self.spec.name);
        Some(mistake("mqsim::bad-value", self.spec.name, message, &self.spec.right(), self.place.clone()))
    }

    /// That it is not taken over, where that makes a difference.
    fn lost(&self) -> Option<Notice> {
        let Fate::Lost(same) = self.spec.fate else { return None };
        let is_same = same.iter().any(|value| value.eq_ignore_ascii_case(&self.text));
        (!is_same).then(|| self.not_honoured(self.spec.becomes))
    }

    /// That it is not taken over, and what follows.
    pub(super) fn not_honoured(&self, follows: impl Into<String>) -> Notice {
        let message = format!("`{} = {}` is not honoured", self.spec.name, shortened(&self.text));
        self.notice(Severity::Warning, "mqsim::not-honoured", message, follows)
    }

    /// That it cannot be taken over, and what would be right.
    pub(super) fn refused(&self, why: impl Into<String>) -> Notice {
        let message = format!("`{} = {}` cannot be taken over", self.spec.name, shortened(&self.text));
        self.notice(Severity::Error, "mqsim::refused", message, why)
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
    pub(super) fn of(&self, name: &str) -> &FieldValue {
        self.0.iter().find(|value| value.spec.name == name).expect("the table has the field")
    }

    /// The same of a whole number; its least where it is wrong, which is told.
    pub(super) fn count(&self, name: &str) -> u64 {
        let value = self.of(name);
        let FieldKind::Count(least, _) = value.spec.kind else { panic!("{name} is no whole number") };
        value.text.parse().unwrap_or(least)
    }

    pub(super) fn real(&self, name: &str) -> f64 {
        let value = self.of(name);
        let FieldKind::Real(least, _) = value.spec.kind else { panic!("{name} is no number") };
        value.text.parse().unwrap_or(least)
    }

    pub(super) fn is_on(&self, name: &str) -> bool {
        self.of(name).text.eq_ignore_ascii_case("true")
    }

    /// A word in capitals.
    pub(super) fn word(&self, name: &str) -> String {
        self.of(name).text.to_ascii_uppercase()
    }

    pub(super) fn numbers(&self, name: &str) -> Vec<u16> {
        let mut numbers: Vec<u16> = numbers(&self.of(name).text).filter_map(|word| word.parse().ok()).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }
}

/// The words between commas; MQSim takes no heed of a comma at the end.
fn numbers(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|word| !word.is_empty())
}
