//! The definitions of a header that are in force for one of its drives.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::super::simulator::expression::{Arithmetic, Number};
use super::super::simulator::lines::Lines;
use super::super::{Notice, Severity};

/// What the compiler is told to say which drive is built.
const SELECTOR: &str = "BASE_SSD";
/// What NVMeVirt itself numbers, which older headers leave to another (`ssd.h`).
const NUMBERED: [(&str, &str); 5] = [
    ("CELL_MODE_UNKNOWN", "0"),
    ("CELL_MODE_SLC", "1"),
    ("CELL_MODE_MLC", "2"),
    ("CELL_MODE_TLC", "3"),
    ("CELL_MODE_QLC", "4"),
];
/// The most conditions that may be open.
const DEPTH_MAX: usize = 64;
/// The most definitions, of which NVMeVirt has some two hundred.
const DEFINITIONS_MAX: usize = 4096;

/// A definition without arguments.
#[derive(Clone, Debug)]
pub(super) struct Definition {
    pub(super) body: String,
    pub(super) span: Range<usize>,
    /// Whether it stands under a condition on the drive.
    pub(super) is_of_drive: bool,
}

/// The definitions that are in force.
#[derive(Debug)]
pub(super) struct Definitions {
    all: BTreeMap<String, Definition>,
    drive: Option<String>,
    steps: Cell<u32>,
    used: RefCell<BTreeSet<String>>,
}

/// A condition that is open.
struct Condition {
    /// Whether all around it hold.
    is_outer: bool,
    /// Whether a part of it was taken.
    is_done: bool,
    is_taken: bool,
    is_of_drive: bool,
}

impl Condition {
    fn holds(&self) -> bool {
        self.is_outer && self.is_taken
    }
}

/// A directive: its name, what stands behind it, and where.
struct Directive<'t> {
    name: &'t str,
    rest: String,
    span: Range<usize>,
}

/// The most drives of a header, of which NVMeVirt's has five.
pub(super) const DRIVES_MAX: usize = 32;

/// The names that a header compares `BASE_SSD` with, in its order; one more than there may be where there are too many.
pub(super) fn drives(text: &str) -> Vec<String> {
    let clean = without_comments(text);
    let mut names: Vec<String> = Vec::new();
    for directive in directives(&clean).filter(|directive| matches!(directive.name, "if" | "elif" | "define")) {
        for (at, _) in directive.rest.match_indices(SELECTOR) {
            let behind = directive.rest[at + SELECTOR.len()..].trim_start();
            let Some(name) = behind.strip_prefix("==").map(|name| word(name.trim_start())) else { continue };
            if !name.is_empty() && !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
            if names.len() > DRIVES_MAX {
                return names;
            }
        }
    }
    names
}

/// Reads a header for a drive. Tells of conditions that are not understood.
pub(super) fn definitions(text: &str, drive: Option<&str>, lines: &Lines, notices: &mut Vec<Notice>) -> Definitions {
    let (steps, used) = (Cell::new(0), RefCell::default());
    let mut found = Definitions { all: BTreeMap::new(), drive: drive.map(str::to_owned), steps, used };
    let clean = without_comments(text);
    let mut open: Vec<Condition> = Vec::new();
    for directive in directives(&clean) {
        let is_taken = open.last().is_none_or(Condition::holds);
        match directive.name {
            "if" | "ifdef" | "ifndef" | "elif" | "else" | "endif" => {
                found.condition(&directive, &mut open, lines, notices);
            }
            "define" if is_taken => found.define(&directive, open.last().is_some_and(|last| last.is_of_drive)),
            "undef" if is_taken => drop(found.all.remove(word(&directive.rest))),
            _ => {}
        }
    }
    found
}

impl Definitions {
    pub(super) fn of(&self, name: &str) -> Option<&Definition> {
        self.all.get(name)
    }

    /// What a name comes to, or why that is not understood; none where it is not defined.
    pub(super) fn value(&self, name: &str) -> Option<Result<Number, String>> {
        let definition = self.of(name)?;
        Some(self.arithmetic(false, &|arithmetic| arithmetic.value(&definition.body)))
    }

    /// The definitions of this drive alone that no other one needed.
    pub(super) fn of_drive(&self) -> impl Iterator<Item = (&str, &Definition)> {
        let used = self.used.borrow().clone();
        self.all
            .iter()
            .filter(move |(name, definition)| {
                definition.is_of_drive && !definition.body.is_empty() && !used.contains(*name)
            })
            .map(|(name, definition)| (&**name, definition))
    }

    fn arithmetic<T>(&self, is_condition: bool, then: &dyn Fn(&Arithmetic) -> T) -> T {
        let meaning = |name: &str| {
            if name == SELECTOR
                && let Some(drive) = &self.drive
            {
                return Some(drive.clone());
            }
            let Some(definition) = self.all.get(name) else {
                return NUMBERED.iter().find(|(known, _)| *known == name).map(|(_, number)| (*number).to_owned());
            };
            self.used.borrow_mut().insert(name.to_owned());
            Some(definition.body.clone())
        };
        then(&Arithmetic { meaning: &meaning, is_condition, steps: &self.steps })
    }

    fn define(&mut self, directive: &Directive, is_of_drive: bool) {
        let name = word(&directive.rest);
        let behind = &directive.rest[name.len()..];
        let is_of_selector = name == SELECTOR && self.drive.is_some();
        if name.is_empty() || behind.starts_with('(') || is_of_selector || self.all.len() >= DEFINITIONS_MAX {
            return;
        }
        let body = behind.trim().to_owned();
        let start = directive.span.end - behind.trim_start().len().min(directive.span.len());
        let span = if body.is_empty() { directive.span.clone() } else { start..start + body.len() };
        self.all.insert(name.to_owned(), Definition { body, span, is_of_drive });
    }

    fn condition(&self, directive: &Directive, open: &mut Vec<Condition>, lines: &Lines, notices: &mut Vec<Notice>) {
        let holds = |notices: &mut Vec<Notice>| {
            let word = word(&directive.rest);
            match directive.name {
                "ifdef" => return self.all.contains_key(word) || word == SELECTOR && self.drive.is_some(),
                "ifndef" => return !(self.all.contains_key(word) || word == SELECTOR && self.drive.is_some()),
                _ => {}
            }
            match self.arithmetic(true, &|arithmetic| arithmetic.value(&directive.rest)) {
                Ok(value) => value.is_true(),
                Err(why) => {
                    let (severity, code) = (Severity::Warning, "nvmevirt::condition");
                    let message = format!("the condition is not understood: {why}");
                    let help = Some("what it is of is passed over; give the drive's definitions without it".to_owned());
                    let (option, place) = (directive.name.to_owned(), lines.place(directive.span.clone()));
                    notices.push(Notice { severity, code, option, message, help, place });
                    false
                }
            }
        };
        let is_of_drive = directive.rest.contains(SELECTOR);
        match directive.name {
            "endif" => drop(open.pop()),
            "else" | "elif" => {
                let Some(last) = open.last_mut() else { return };
                let asks = last.is_outer && !last.is_done;
                last.is_taken = asks && (directive.name == "else" || holds(notices));
                last.is_done |= last.is_taken;
                last.is_of_drive |= is_of_drive;
            }
            _ => {
                let is_outer = open.last().is_none_or(Condition::holds) && open.len() < DEPTH_MAX;
                let is_of_drive = is_of_drive || open.last().is_some_and(|last| last.is_of_drive);
                let is_taken = is_outer && holds(notices);
                open.push(Condition { is_outer, is_done: is_taken, is_taken, is_of_drive });
            }
        }
    }
}

/// The directives of a text without comments. One that goes on in another line is one line here.
fn directives(clean: &str) -> impl Iterator<Item = Directive<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < clean.len() {
            let start = at;
            let mut end = at + clean[at..].find('\n').unwrap_or(clean.len() - at);
            while clean[start..end].trim_end_matches('\r').ends_with('\\') && end < clean.len() {
                end += 1;
                end += clean[end..].find('\n').unwrap_or(clean.len() - end);
            }
            at = end + 1;
            let line = &clean[start..end];
            let Some(behind) = line.trim_start().strip_prefix('#') else { continue };
            let behind = behind.trim_start();
            let name = word(behind);
            let rest = behind[name.len()..].trim().replace("\\\r\n", "  ").replace("\\\n", "  ");
            let span = start + (line.len() - line.trim_start().len())..start + line.trim_end().len();
            return Some(Directive { name, rest, span });
        }
        None
    })
}

/// The text with blanks in place of comments, every letter where it was.
fn without_comments(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let mut at = 0;
    while let Some(found) = text[at..].find(['/', '"']) {
        let start = at + found;
        let rest = &text[start..];
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(inner) = rest.strip_prefix("/*") {
            inner.find("*/").map_or(rest.len(), |end| end + 4)
        } else {
            // What is quoted is kept, up to the end of its line.
            let end = rest[1..].find(['"', '\n']).map_or(rest.len(), |end| end + 2);
            at = start + if rest.starts_with('"') { end } else { 1 };
            continue;
        };
        bytes[start..start + length].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
        at = start + length;
    }
    String::from_utf8(bytes).expect("whole letters become blanks")
}

/// The name that a text begins with.
fn word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}
