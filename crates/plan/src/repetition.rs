//! How often each cell of a sweep is measured.

use stats::{Enough, PRECISION, REPEATS_LEAST};
use toml::de::DeValue;

use super::body::{REPEATS, share, unknown_key};
use super::diagnostic::{Diagnostic, Mistakes};
use super::value::{Value, entries, table, whole};

/// The most repeats where a plan gives a precision and no number.
const MOST: u32 = 30;

/// So often, or until the mean is known well enough.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Repetition {
    /// How often; with a precision, how often at most.
    pub most: u32,
    /// Stop once the 95 % interval of the mean IOPS is within this share of it.
    pub until: Option<f64>,
}

impl Repetition {
    pub const fn times(times: u32) -> Self {
        Self { most: times, until: None }
    }

    /// The rule by which repeating ends early; none if it does not.
    pub fn enough(self) -> Option<Enough> {
        self.until.map(|share| Enough { share, cap: self.most as usize })
    }

    /// The fewest repeats that there can be.
    pub fn least(self) -> u32 {
        if self.until.is_some() { self.most.min(REPEATS_LEAST as u32) } else { self.most }
    }
}

/// Reads `5`, or `{ until = "2%", at-most = 30 }`.
pub(super) fn repetition(value: &Value, mistakes: &mut Mistakes) -> Option<Repetition> {
    const KNOWN: [&str; 2] = ["until", "at-most"];
    if !matches!(value.get_ref(), DeValue::Table(_)) {
        let help = "give a number, or `{ until = \"2%\", at-most = 30 }` to go on until figures are that precise";
        let told = |mistake: Diagnostic| if mistake.help.is_none() { mistake.help(help) } else { mistake };
        return mistakes.keep(whole(value, REPEATS).map_err(told)).map(Repetition::times);
    }
    let before = mistakes.count();
    let (mut most, mut until) = (MOST, PRECISION);
    for (key, span, value) in entries(table(value, mistakes)?) {
        match key {
            "until" => until = mistakes.keep(share(value)).unwrap_or(until),
            "at-most" => most = mistakes.keep(whole(value, REPEATS)).unwrap_or(most),
            _ => mistakes.push(unknown_key(key, span, &KNOWN, "`repeats`")),
        }
    }
    (mistakes.count() == before).then_some(Repetition { most, until: Some(until) })
}
