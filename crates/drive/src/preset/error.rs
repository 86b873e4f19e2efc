//! Why a drive cannot be had.

use block::{field_suggestion, nearest};
use thiserror::Error;

use crate::Specimen;

/// Why a drive cannot be had.
#[non_exhaustive]
#[derive(Clone, Debug, Error)]
pub enum PresetError {
    /// No drive has this name.
    #[error("there is no simulated drive `{name}`; {}`assay drives` lists all", nearest.as_ref().map(|near| format!("did you mean `{near}`? ")).unwrap_or_default())]
    Unknown {
        /// What was asked for.
        name: String,
        /// The most similar name, if any is similar.
        nearest: Option<String>,
    },
    /// The file is not a drive.
    #[error("the drive's file cannot be read: {}", plain(&.0.to_string()))]
    Text(#[from] toml::de::Error),
    /// Words or fields of the file are wrong: each with its line.
    #[error("{}", several(.0))]
    Mistakes(Vec<String>),
    /// A base that the file names is none, or cannot be its base.
    #[error("the drive's file cannot be based on `{base}`: {why}")]
    Base {
        base: String,
        /// What is wrong with it, and what would be right.
        why: String,
    },
    /// The file is not a drive once its bases have been added.
    #[error("the drive's file, with what its bases say, cannot be read: {}", plain(.0))]
    Whole(String),
    /// The numbers do not make a drive.
    #[error("the drive's parameters are inconsistent: {found}; {right}")]
    Numbers {
        /// What was found.
        found: String,
        /// What would be right.
        right: &'static str,
    },
    /// What follows `#` in a drive's name is not a number.
    #[error(
        "`#{found}` is no specimen of `{base}`: give a whole number from 1 to {}, such as `{base}#2`",
        Specimen::MAX
    )]
    Specimen {
        /// What comes before it.
        base: String,
        /// What was found in its place.
        found: String,
    },
    /// A change to a drive is not one.
    #[error("`{change}` is not a valid change of the drive: {why}")]
    Change {
        change: String,
        /// What is wrong with it, and what would be right.
        why: String,
    },
}

/// The error that `name` is none of `known`.
pub(crate) fn unknown<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone) -> PresetError {
    PresetError::Unknown {
        name: name.to_owned(),
        nearest: begun(name, known.clone()).or_else(|| nearest(name, known)).map(str::to_owned),
    }
}

/// The first of `known` that begins with `name`, such as a model in one of its capacities, hyphens and the like aside.
fn begun<'a>(name: &str, mut known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let bare = |name: &str| name.to_lowercase().replace(|letter: char| !letter.is_alphanumeric(), "");
    let name = bare(name);
    known.find(|known| name.len() > 1 && bare(known).starts_with(&name))
}

/// What the reader of a file said, in the file's own terms in place of those of the program's types.
pub(super) fn plain(message: &str) -> String {
    const TERMS: [(&str, &str); 11] = [
        ("` as i128", "`"),
        ("` as u128", "`"),
        ("invalid type: sequence", "invalid type: list"),
        ("invalid type: map", "invalid type: table"),
        ("wanted string or table", "expected a word in quotation marks"),
        ("expected u32", "expected a whole number from 0 to 4294967295"),
        ("expected u64", "expected a whole number from 0 on"),
        ("expected i64", "expected a whole number"),
        ("expected a boolean", "expected true or false"),
        ("expected a sequence", "expected a list"),
        ("expected a map", "expected a table"),
    ];
    let message = short(message);
    let message = TERMS.iter().fold(message.to_owned(), |message, (term, words)| message.replace(term, words));
    // The name behind it is of a type, too.
    let Some((before, rest)) = message.split_once("expected struct ") else { return message };
    let rest = rest.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric() || letter == '_');
    format!("{before}expected a table{rest}")
}

/// What lists the fields of a drive.
pub(super) const ALL: &str = "`assay drives show NAME` has the fields of a drive, docs/models.md explains all";

/// The message of a field that is not known, with the nearest of those that are in place of a long list of them.
fn short(message: &str) -> String {
    let parts = message.strip_prefix("unknown field `").and_then(|rest| rest.split_once("`, expected one of `"));
    let Some((found, known)) = parts else { return message.to_owned() };
    let (known, rest) = known.rsplit_once('`').unwrap_or((known, ""));
    let known: Vec<&str> = known.split("`, `").collect();
    format!("unknown field `{found}`; {}{rest}", field_suggestion(found, &known, ALL))
}

/// One mistake in a sentence, several in a list.
fn several(mistakes: &[String]) -> String {
    match mistakes {
        [one] => format!("the drive's file cannot be read: {one}"),
        all => format!("the drive's file has {} mistakes:\n  {}", all.len(), all.join("\n  ")),
    }
}

/// Objects that the numbers do not fit together unless it holds.
pub(crate) fn require(holds: bool, found: impl FnOnce() -> String, right: &'static str) -> Result<(), PresetError> {
    if holds { Ok(()) } else { Err(PresetError::Numbers { found: found(), right }) }
}
