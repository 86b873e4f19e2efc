//! What a trial can be told: the keys of its steps in a plan.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use block::{Bytes, Nanos, parse_bytes, parse_duration};
use thiserror::Error;

/// One thing that a trial can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Choice {
    /// The key in plans: `scale`.
    pub name: &'static str,
    /// The words for people, as on an axis of a chart: `Clients`.
    pub title: &'static str,
    /// What it means, in a line.
    pub about: &'static str,
    /// What it may be.
    pub kind: ChoiceKind,
    /// What it is where a plan is silent, as a plan would write it.
    pub default: &'static str,
}

/// What a choice may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChoiceKind {
    Word(&'static [&'static str]),
    /// Options of a program or settings of a server, which [`Experiment::check`](crate::Experiment::check) holds
    /// against what a plan may give.
    Text,
    /// A whole number from the first to the second.
    Count(u64, u64),
    /// An amount of data: `4k`, `1GiB`.
    Bytes,
    /// A length of time: `30s`.
    Time,
}

impl fmt::Display for ChoiceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(words) => f.write_str(&words.join(", ")),
            Self::Text => f.write_str("text; the documentation lists what is allowed"),
            Self::Count(least, most) => write!(f, "{least} to {most}"),
            Self::Bytes => f.write_str("a size, such as 4k or 1GiB"),
            Self::Time => f.write_str("a time, such as 10s"),
        }
    }
}

/// Why a value is none of a choice's.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{found}; {help}")]
pub struct ChoiceError {
    /// What was found.
    pub found: String,
    /// What would be right.
    pub help: String,
}

/// Why a word of a plan's text does not go to another program.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{found}; {help}")]
pub struct Refused {
    /// What was found.
    pub found: String,
    /// What would be right.
    pub help: String,
    /// Where it stands in the text, in bytes.
    pub at: Range<usize>,
}

/// Why choices make no sense together.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ChoicesError {
    /// What was found, what would be right and what to do.
    #[error("{0}")]
    Together(String),
    /// A text has a word that may not go to the program that it is for.
    #[error("{refused}")]
    Text {
        choice: &'static str,
        /// The word, and what would be right.
        refused: Refused,
    },
}

impl From<String> for ChoicesError {
    fn from(words: String) -> Self {
        Self::Together(words)
    }
}

impl Choice {
    /// Whether `text` is a value of it.
    ///
    /// # Errors
    /// With what would be right.
    pub fn check(&self, text: &str) -> Result<(), ChoiceError> {
        let wrong = |help: String| ChoiceError { found: format!("`{text}` is not a value of {}", self.name), help };
        match self.kind {
            ChoiceKind::Text => Ok(()),
            ChoiceKind::Word(words) if words.contains(&text) => Ok(()),
            ChoiceKind::Word(words) => Err(wrong(format!("choose one of {}", words.join(", ")))),
            ChoiceKind::Count(least, most) => match text.parse::<u64>() {
                Ok(count) if (least..=most).contains(&count) => Ok(()),
                _ => Err(wrong(format!("give a whole number from {least} to {most}"))),
            },
            ChoiceKind::Bytes => parse_bytes(text).map(drop).map_err(|error| wrong(format!("{error}"))),
            ChoiceKind::Time => parse_duration(text).map(drop).map_err(|error| wrong(format!("{error}"))),
        }
    }
}

/// What a trial was told, by name; each is a value of its choice.
#[derive(Clone, Debug, PartialEq)]
pub struct Choices {
    known: &'static [Choice],
    told: BTreeMap<&'static str, String>,
}

impl Choices {
    /// Nothing told yet: the defaults of these.
    pub fn of(known: &'static [Choice]) -> Self {
        Self { known, told: BTreeMap::new() }
    }

    /// Tells one.
    ///
    /// # Errors
    /// If it is not known, or the value is none of it.
    pub fn tell(&mut self, name: &str, text: &str) -> Result<(), ChoiceError> {
        let Some(choice) = self.known.iter().find(|choice| choice.name == name) else {
            let names: Vec<&str> = self.known.iter().map(|choice| choice.name).collect();
            let help = format!("choose one of {}", names.join(", "));
            return Err(ChoiceError { found: format!("unknown option `{name}`"), help });
        };
        choice.check(text)?;
        self.told.insert(choice.name, text.to_owned());
        Ok(())
    }

    /// The value as a plan writes it. `name` must be one that is known.
    pub fn text(&self, name: &str) -> &str {
        let known = || self.known.iter().find(|choice| choice.name == name);
        self.told.get(name).map_or_else(|| known().expect("the name is in the list of choices").default, String::as_str)
    }

    /// Whether it was told, and is not merely the default.
    pub fn is_set(&self, name: &str) -> bool {
        self.told.contains_key(name)
    }

    pub fn count(&self, name: &str) -> u64 {
        self.text(name).parse().expect("it was checked")
    }

    /// The value of an amount of data.
    pub fn bytes(&self, name: &str) -> Bytes {
        parse_bytes(self.text(name)).expect("it was checked")
    }

    /// The value of a length of time.
    pub fn time(&self, name: &str) -> Nanos {
        parse_duration(self.text(name)).expect("it was checked")
    }

    /// Every choice with its value, in the order of the documentation.
    pub fn all(&self) -> impl Iterator<Item = (&'static Choice, &str)> {
        self.known.iter().map(|choice| (choice, self.text(choice.name)))
    }
}
