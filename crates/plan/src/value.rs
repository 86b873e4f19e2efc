//! The values of a plan's TOML, each with its place in the text.

use std::ops::Range;

use serde_spanned::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use super::diagnostic::{Diagnostic, Mistakes};

/// A value and where it stands.
pub(super) type Value<'t> = Spanned<DeValue<'t>>;

/// The entries of a table in the order in which they were written: key, its place, value.
pub(super) fn entries<'a, 't>(table: &'a DeTable<'t>) -> Vec<(&'a str, Range<usize>, &'a Value<'t>)> {
    let mut entries: Vec<_> = table.iter().map(|(key, value)| (key.get_ref().as_ref(), key.span(), value)).collect();
    entries.sort_by_key(|(_, span, _)| span.start);
    entries
}

/// That a value is of the wrong type; `wanted` says what it should be: `a string in quotes`.
pub(super) fn wrong_type(value: &Value, wanted: &str) -> Diagnostic {
    let found = match value.get_ref() {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    };
    Diagnostic::new("plan::wrong-type", value.span(), format!("expected {wanted}, found {found}"))
}

/// A text that is not blank.
pub(super) fn text(value: &Value) -> Result<String, Diagnostic> {
    match value.get_ref() {
        DeValue::String(text) if text.trim().is_empty() => {
            Err(Diagnostic::new("plan::missing", value.span(), "the string is empty")
                .help("give a value, or leave the key out"))
        }
        DeValue::String(text) => Ok(text.to_string()),
        _ => Err(wrong_type(value, "a string in quotes")),
    }
}

/// A text for people: lines that were broken by hand are joined, blank lines keep paragraphs apart.
pub(super) fn prose(value: &Value) -> Result<String, Diagnostic> {
    let paragraphs = |text: &str| {
        text.replace("\r\n", "\n")
            .split("\n\n")
            .map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>().join(" "))
            .filter(|paragraph| !paragraph.is_empty())
            .collect::<Vec<_>>()
            .join("\n\n")
    };
    text(value).map(|text| paragraphs(&text))
}

/// A quantity as it was written, in quotes or as a whole number; the field decides what it means.
pub(super) fn quantity(value: &Value) -> Result<String, Diagnostic> {
    match value.get_ref() {
        DeValue::String(text) => Ok(text.to_string()),
        DeValue::Integer(number) => Ok(decimal(number)),
        DeValue::Float(number) => {
            let mistake = wrong_type(value, "a string in quotes or a whole number");
            Err(match number.as_str().trim_start_matches(['+', '-']) {
                "nan" | "inf" => mistake.help("give a whole number, or a number with its unit in quotes"),
                _ => mistake.help(format!("put it in quotes, followed by its unit: \"{} …\"", number.as_str())),
            })
        }
        _ => Err(wrong_type(value, "a string in quotes or a whole number")),
    }
}

/// A whole number in `range`.
pub(super) fn whole(value: &Value, range: std::ops::RangeInclusive<u32>) -> Result<u32, Diagnostic> {
    let DeValue::Integer(number) = value.get_ref() else {
        return Err(wrong_type(value, "a whole number without quotes"));
    };
    let number = decimal(number);
    match number.parse() {
        Ok(found) if range.contains(&found) => Ok(found),
        _ => Err(Diagnostic::new("plan::range", value.span(), format!("{number} is out of range")).help(format!(
            "give a whole number from {} to {}",
            range.start(),
            range.end()
        ))),
    }
}

pub(super) fn table<'a, 't>(value: &'a Value<'t>, mistakes: &mut Mistakes) -> Option<&'a DeTable<'t>> {
    let DeValue::Table(table) = value.get_ref() else {
        mistakes.push(wrong_type(value, "a table"));
        return None;
    };
    Some(table)
}

/// The digits of a number to base ten; of one too large for any use, what was written.
fn decimal(number: &DeInteger) -> String {
    match number.radix() {
        10 => number.as_str().trim_start_matches('+').to_owned(),
        radix => {
            u128::from_str_radix(number.as_str(), radix).map_or_else(|_| number.to_string(), |value| value.to_string())
        }
    }
}
