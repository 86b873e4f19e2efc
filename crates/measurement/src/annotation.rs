//! What people add to a run: tags, a note, a price.

use block::Price;
use serde::{Deserialize, Serialize};

/// What people added to a run. None of it changes what was measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Annotations {
    /// In their order, none twice.
    pub tags: Vec<RunTag>,
    pub note: Option<RunNote>,
    /// What the drive costs.
    pub price: Option<Price>,
}

/// A word by which runs are found: up to 64 letters, digits, dots, dashes, underscores, colons and slashes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunTag(String);

impl RunTag {
    /// The most characters.
    const MOST: usize = 64;

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::str::FromStr for RunTag {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_plain = |c: char| c.is_alphanumeric() || "._:/-".contains(c);
        let is_tag = (1..=Self::MOST).contains(&text.chars().count())
            && text.chars().all(is_plain)
            && text.starts_with(char::is_alphanumeric);
        match is_tag {
            true => Ok(Self(text.to_owned())),
            false => Err(format!(
                "a tag has up to {} letters, digits and . _ : / -, and begins with a letter or a digit, such as \
                 firmware-1.2",
                Self::MOST
            )),
        }
    }
}

/// A line or two of text about a run, of up to 1,000 characters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunNote(String);

impl RunNote {
    /// The most characters.
    const MOST: usize = 1000;

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::str::FromStr for RunNote {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let is_note =
            (1..=Self::MOST).contains(&text.chars().count()) && !text.contains(|c: char| c != '\n' && c.is_control());
        match is_note {
            true => Ok(Self(text.to_owned())),
            false => Err(format!("a note is text of 1 to {} characters without control characters", Self::MOST)),
        }
    }
}

/// What is read from text and written as it.
macro_rules! text {
    ($($name:ident),*) => {$(
        impl TryFrom<String> for $name {
            type Error = String;

            fn try_from(text: String) -> Result<Self, String> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(text: $name) -> Self {
                text.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

text!(RunTag, RunNote);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_a_word_and_a_note_is_text() {
        for fine in ["v1.2", "firmware-3B2QGXA7", "rack:4/slot:2", "büro", "a_b"] {
            assert_eq!(fine.parse::<RunTag>().map(|tag| tag.to_string()).as_deref(), Ok(fine));
        }
        for wrong in ["", "two words", "-x", "a,b", "a=b", "\u{1b}[2J", &"x".repeat(65)] {
            assert!(wrong.parse::<RunTag>().is_err_and(|error| error.contains("letters")), "{wrong}");
        }
        assert_eq!(" with the\nheat sink ".parse::<RunNote>().unwrap().as_str(), "with the\nheat sink");
        for wrong in ["", " ", "a\u{1b}[2J", &"x".repeat(1001)] {
            assert!(wrong.parse::<RunNote>().is_err_and(|error| error.contains("1000")), "{wrong}");
        }
    }
}
