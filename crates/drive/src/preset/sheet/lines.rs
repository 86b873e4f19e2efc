//! The rows of a data sheet, however its lines are laid out.

use toml::Value;

use super::key::{self, Field};
use super::value;

/// A row's name and value; no value where a line is a name alone.
pub type Row = (String, Option<String>);

/// What is a unit at the end of a line without a separator, beside [`value::UNITS`].
const MORE_UNITS: &[&str] = &["k", "m", "pb", "tbw", "pbw", "dwpd", "μs", "years", "year"];

/// The rows of a text: a list `capacity=1TB, …`, lines, or TOML with the same keys; and whether they are lines, which may say what
/// ratings do not.
pub fn rows(text: &str) -> (Vec<Row>, bool) {
    if let Ok(table) = toml::from_str::<toml::Table>(text) {
        let plain = |value: &Value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        return (table.iter().map(|(key, value)| (key.clone(), Some(plain(value)))).collect(), false);
    }
    let lines: Vec<&str> =
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    match lines[..] {
        [line] => (listed(line), false),
        _ => (below_headings(lines.into_iter().map(parted)), true),
    }
}

/// The pairs of a list: a comma begins another where a key and `=` follow it.
fn listed(line: &str) -> Vec<Row> {
    let begins = |rest: &str| {
        let key = rest.split('=').next().unwrap_or_default().trim();
        key.len() < rest.trim().len()
            && key.starts_with(|c: char| c.is_ascii_alphabetic())
            && !without_brackets(key).contains(',')
    };
    let (mut parts, mut depth) = (vec![String::new()], 0_u32);
    for (at, letter) in line.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        match letter {
            ',' | ';' if depth == 0 && begins(&line[at + 1..]) => parts.push(String::new()),
            _ => parts.last_mut().expect("there is always one").push(letter),
        }
    }
    parts.iter().filter(|part| !part.trim().is_empty()).map(|part| parted(part)).collect()
}

/// Key and value of `capacity = 1 TB`, `Capacity: 1 TB`, `Capacity | 1 TB |` or `Capacity 1 TB`; any other line is a key alone.
fn parted(line: &str) -> Row {
    match line.split_once(['=', ':', '|', '\t']) {
        None => by_amount(line),
        Some((key, value)) => {
            let value = value.trim().trim_matches('|').trim();
            (key.trim().to_owned(), Some(value.trim_matches('"').to_owned()))
        }
    }
}

/// Key and value of a line that ends with one amount, or two with a stroke, behind the name of a rating: `Random read 680,000 IOPS`.
fn by_amount(line: &str) -> Row {
    let units = || value::UNITS.iter().chain(MORE_UNITS);
    let words: Vec<&str> = line.split_whitespace().collect();
    let is = |at: usize, known: &str| words[at].eq_ignore_ascii_case(known);
    let is_number = |at: usize| words[at].starts_with(|c: char| c.is_ascii_digit());
    let mut first = words.len();
    while first > 0 && units().any(|unit| words[first - 1].to_lowercase() == *unit) {
        first -= 1;
    }
    if first > 0 && is_number(first - 1) {
        first -= 1;
        if first > 1 && is(first - 1, "/") && is_number(first - 2) {
            first -= 2;
        }
        if first > 1 && is(first - 1, "to") && is(first - 2, "up") {
            first -= 2;
        }
        let (key, value) = (words[..first].join(" "), words[first..].join(" "));
        let has_unit = units().any(|unit| value.to_lowercase().ends_with(unit));
        if has_unit && key::of(&without_brackets(&key)).is_some_and(is_rating) {
            return (key, Some(value));
        }
    }
    (line.trim().to_owned(), None)
}

/// Whether a row of the kind has an amount.
fn is_rating(field: Field) -> bool {
    matches!(
        field,
        Field::Capacity
            | Field::Sequential
            | Field::SequentialRead
            | Field::SequentialWrite
            | Field::Random
            | Field::RandomRead
            | Field::RandomWrite
            | Field::ReadLatency
            | Field::Years
            | Field::Endurance
    )
}

/// Rows whose names stand in the lines above them: `Sequential read` above `Up to 5,000 MB/s`, or `Random performance:` above
/// `Read: 680,000 IOPS`.
fn below_headings(rows: impl Iterator<Item = Row>) -> Vec<Row> {
    let mut found: Vec<Row> = Vec::new();
    // The heading that the next line may be of, and where it stands.
    let mut heading: Option<(String, usize)> = None;
    for (key, value) in rows {
        let is_empty = value.as_ref().is_none_or(String::is_empty);
        let of = key::of(&without_brackets(&key));
        match &heading {
            Some((name, at)) if is_empty && is_amount(&key) => {
                found[*at] = (name.clone(), Some(key));
                heading = None;
            }
            Some((name, at)) if !is_empty && is_only_read_or_write(&key) => {
                // What its rows say is not said by the heading.
                found[*at].1 = None;
                found.push((format!("{} {key}", without_reads_and_writes(name)), value));
            }
            _ => {
                let is_heading = is_empty && (of.is_some_and(is_rating) || of == Some(Field::Rates));
                heading = (is_heading || is_empty && is_of_one_kind(&key)).then(|| (key.clone(), found.len()));
                found.push((key, value));
            }
        }
    }
    found
}

/// Whether a line is an amount and no name: `680,000 IOPS`, `Up to 5,000 MB/s`.
fn is_amount(line: &str) -> bool {
    let lower = line.to_lowercase();
    let rest = lower.strip_prefix("up to").unwrap_or(&lower).trim_start();
    rest.starts_with(|c: char| c.is_ascii_digit()) && !value::quantities(rest).is_empty()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

fn is_read_or_write(word: &str) -> bool {
    ["read", "reads", "write", "writes"].iter().any(|known| word.eq_ignore_ascii_case(known))
}

fn is_only_read_or_write(key: &str) -> bool {
    let key = without_brackets(key);
    words(&key).next().is_some() && words(&key).all(is_read_or_write)
}

fn without_reads_and_writes(name: &str) -> String {
    words(name).filter(|word| !is_read_or_write(word)).collect::<Vec<_>>().join(" ")
}

/// Whether a heading says what the rows below it are of: `Sequential performance`.
fn is_of_one_kind(heading: &str) -> bool {
    words(heading).any(|word| word.eq_ignore_ascii_case("sequential"))
}

/// A text without what is in brackets, which explains: `560 MB/s (QD32)`.
pub fn without_brackets(text: &str) -> String {
    let mut depth = 0_u32;
    let outside = |letter: &char| {
        match letter {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ => return depth == 0,
        }
        false
    };
    text.chars().filter(outside).collect()
}
