//! The variables of a script, and the devices that its commands are given.
//!
//! Nothing is carried out: a variable has a value only where the script assigns one in every case. What all values together come to is
//! limited, since a script that doubles a variable line by line would fill any memory.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::Range;

use super::super::simulator::expression::Arithmetic;
use super::shell::{Command, Part, PartKind, Word, is_name};

/// The most that all expanded words of a script come to, in bytes and pieces.
pub(super) const EXPANDED_MAX: usize = 4 << 20;
/// The most pieces of a value.
const PIECES_MAX: usize = 4096;

/// A part of a value, with the place that it is from.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) text: String,
    pub(super) span: Range<usize>,
    /// Why it is not known what stands here, if it is not.
    pub(super) unknown: Option<String>,
}

/// A device that a command is given: what stands behind `-device`.
pub(super) type DeviceWords = Vec<Piece>;

/// What a script comes to.
#[derive(Debug, Default)]
pub(super) struct Script {
    values: BTreeMap<String, Vec<Piece>>,
    expanded: usize,
    steps: Cell<u32>,
    /// The devices in the order of the script.
    pub(super) devices: Vec<DeviceWords>,
    /// Where the script runs another file, which is not read.
    pub(super) sourced: Vec<Range<usize>>,
}

/// The values of a script are longer than is allowed.
#[derive(Debug)]
pub(super) struct TooLong(pub(super) Range<usize>);

/// Commands that only print.
const PRINTING: [&str; 2] = ["echo", "printf"];
/// Commands that assign.
const DECLARING: [&str; 5] = ["export", "readonly", "local", "declare", "typeset"];
/// Commands that change the variables they name in a way that is not followed.
const CHANGING: [&str; 7] = ["for", "select", "read", "unset", "let", "mapfile", "readarray"];

/// Goes through the commands of a script.
pub(super) fn script(commands: &[Command]) -> Result<Script, TooLong> {
    let mut script = Script::default();
    for command in commands {
        script.take(command)?;
    }
    if script.devices.is_empty() {
        // A script whose command is not there, or is built elsewhere: the options that were put together.
        let values: Vec<Vec<Piece>> = script.values.values().cloned().collect();
        values.iter().for_each(|value| script.devices.extend(devices(&split(value))));
    }
    Ok(script)
}

impl Script {
    fn take(&mut self, command: &Command) -> Result<(), TooLong> {
        let words = &command.words;
        let first = words[0].plain().unwrap_or("");
        let begins = words.iter().position(|word| word.assigned().is_none()).unwrap_or(words.len());
        if begins == words.len() || DECLARING.contains(&first) {
            return words.iter().try_for_each(|word| self.assign(word, command.is_conditional));
        }
        if CHANGING.contains(&first) {
            let why = format!("`{first}` changes it");
            for name in words[1..].iter().filter_map(Word::plain).filter(|name| is_name(name)) {
                let span = words[0].parts[0].span.clone();
                self.values.insert(name.to_owned(), vec![unknown(span, why.clone())]);
            }
            return Ok(());
        }
        if matches!(first, "source" | ".") {
            self.sourced.push(words[0].parts[0].span.clone());
        }
        if PRINTING.contains(&first) {
            return Ok(());
        }
        let mut expanded: Vec<Vec<Piece>> = Vec::new();
        for word in words {
            // What is quoted is one word, and what a variable without quotes holds is split.
            let is_split = word.parts.iter().any(|part| !part.is_quoted && matches!(part.kind, PartKind::Variable(..)));
            let value = self.expand(&word.parts)?;
            if is_split { expanded.extend(split(&value)) } else { expanded.push(value) }
        }
        self.devices.extend(devices(&expanded));
        Ok(())
    }

    fn assign(&mut self, word: &Word, is_conditional: bool) -> Result<(), TooLong> {
        let Some((name, length, is_appended)) = word.assigned() else { return Ok(()) };
        let span = word.parts[0].span.clone();
        let mut value = match is_appended {
            true => self.values.get(name).cloned().unwrap_or_default(),
            false => Vec::new(),
        };
        let PartKind::Text(text) = &word.parts[0].kind else { return Ok(()) };
        let first = Piece { text: text[length..].to_owned(), span: span.start + length..span.end, unknown: None };
        value.extend(Some(first).filter(|first| !first.text.is_empty()));
        value.extend(self.expand(&word.parts[1..])?);
        self.count(&value, &span)?;
        if is_conditional {
            value = vec![unknown(span, format!("`{name}` is assigned under a condition, in a loop or in a function"))];
        }
        self.values.insert(name.to_owned(), value);
        Ok(())
    }

    fn expand(&mut self, parts: &[Part]) -> Result<Vec<Piece>, TooLong> {
        let mut value = Vec::new();
        for part in parts {
            let span = part.span.clone();
            match &part.kind {
                PartKind::Text(text) => value.push(Piece { text: text.clone(), span, unknown: None }),
                PartKind::Other(what) => value.push(unknown(span, format!("{what} is not carried out"))),
                PartKind::Arithmetic(text) => value.push(self.arithmetic(text, span)),
                PartKind::Variable(name, default) => match (self.values.get(name), default) {
                    (Some(pieces), _) => value.extend_from_slice(pieces),
                    (None, Some(default)) => value.push(Piece { text: default.clone(), span, unknown: None }),
                    (None, None) => {
                        let why = "is not assigned in the file, and no environment variable is read";
                        value.push(unknown(span, format!("`{name}` {why}")));
                    }
                },
            }
            self.count(&value, &part.span)?;
        }
        Ok(value)
    }

    fn arithmetic(&self, text: &str, span: Range<usize>) -> Piece {
        let meaning = |name: &str| {
            let pieces = self.values.get(name)?;
            let is_known = pieces.iter().all(|piece| piece.unknown.is_none());
            is_known.then(|| pieces.iter().map(|piece| &*piece.text).collect())
        };
        match (Arithmetic { meaning: &meaning, is_condition: false, steps: &self.steps }).value(text) {
            Ok(value) => Piece { text: value.to_string(), span, unknown: None },
            Err(why) => unknown(span, why),
        }
    }

    fn count(&mut self, value: &[Piece], span: &Range<usize>) -> Result<(), TooLong> {
        self.expanded += value.iter().map(|piece| piece.text.len() + 16).sum::<usize>();
        match self.expanded > EXPANDED_MAX || value.len() > PIECES_MAX {
            true => Err(TooLong(span.clone())),
            false => Ok(()),
        }
    }
}

fn unknown(span: Range<usize>, why: String) -> Piece {
    Piece { text: String::new(), span, unknown: Some(why) }
}

/// The words of a value that is not quoted.
fn split(value: &[Piece]) -> Vec<Vec<Piece>> {
    let mut words = vec![Vec::new()];
    for piece in value {
        if piece.unknown.is_some() {
            words.last_mut().expect("there is one").push(piece.clone());
            continue;
        }
        let is_exact = piece.span.len() == piece.text.len();
        let mut at = 0;
        for (index, text) in piece.text.split_whitespace().enumerate() {
            let begins = piece.text[at..].find(text).map_or(at, |found| at + found);
            if begins > at || (index == 0 && begins > 0) {
                words.push(Vec::new());
            }
            at = begins + text.len();
            let span = if is_exact { piece.span.start + begins..piece.span.start + at } else { piece.span.clone() };
            words.last_mut().expect("there is one").push(Piece { text: text.to_owned(), span, unknown: None });
        }
        if piece.text[at..].starts_with(char::is_whitespace) {
            words.push(Vec::new());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The words behind `-device` that are FEMU's.
fn devices(words: &[Vec<Piece>]) -> Vec<DeviceWords> {
    let joined = |word: &[Piece]| -> String { word.iter().map(|piece| &*piece.text).collect() };
    let is_femus = |text: &str| {
        let model = text.split(',').next().unwrap_or("");
        model == "femu" || model == "nvme" && text.contains("femu_mode")
    };
    let pairs = words.iter().zip(words.iter().skip(1));
    let named = pairs.filter(|(option, _)| matches!(&*joined(option), "-device" | "--device"));
    named.map(|(_, device)| device.clone()).filter(|device| is_femus(&joined(device))).collect()
}
