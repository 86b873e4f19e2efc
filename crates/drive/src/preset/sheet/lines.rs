//! The rows of a data sheet, however its lines are laid out.

use toml::Value;

use super::across;
use super::key::{self, Field, Row, words};
use super::value::{self, outside_brackets, without_brackets};

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
    // A table's rule is no row: `|---|---|`.
    let is_row = |line: &&str| !line.starts_with('#') && line.contains(|c: char| !"|-:=+ ".contains(c));
    // The first cell of a table's head may be empty.
    let is_head =
        |line: &str| line.strip_prefix('\t').is_some_and(|rest| value::is_amount(rest) && rest.contains('\t'));
    let plain = |line| if is_head(line) { line.trim_end() } else { line.trim() };
    // What is bold in Markdown.
    let text = text.replace("**", "");
    let lines: Vec<&str> = text.lines().map(plain).filter(is_row).collect();
    let is_sheet = lines.len() > 1;
    let lines = across::turned(lines);
    (below_headings(lines.iter().flat_map(|line| listed(line))), is_sheet)
}

/// The pairs of a list: a comma begins another where a key and `=` follow it, or the name of a rating and a colon, as in the first.
fn listed(line: &str) -> Vec<Row> {
    let separator = outside_brackets(line).find(|(_, letter)| "=:".contains(*letter)).map(|(_, letter)| letter);
    let begins = |rest: &str| {
        let Some((at, letter)) = outside_brackets(rest).find(|(_, letter)| "=:,;".contains(*letter)) else {
            return false;
        };
        let key = rest[..at].trim();
        key.starts_with(|c: char| c.is_ascii_alphabetic())
            && Some(letter) == separator
            && (letter == '=' || key::of(&without_brackets(key)).is_some())
    };
    let is_pair = |part: &str| outside_brackets(part).any(|(_, letter)| Some(letter) == separator);
    let (mut parts, mut from) = (Vec::new(), 0);
    for (at, _) in outside_brackets(line).filter(|(_, letter)| ",;".contains(*letter)) {
        if is_pair(&line[from..at]) && begins(&line[at + 1..]) {
            parts.push(&line[from..at]);
            from = at + 1;
        }
    }
    parts.push(&line[from..]);
    parts.into_iter().filter(|part| !part.trim().is_empty()).map(parted).collect()
}

/// Key and value of `capacity = 1 TB`, `Capacity: 1 TB`, `| Capacity | 1 TB |` or `Capacity 1 TB`; any other line is a key alone.
/// What is in brackets parts nothing, and tables' columns come before all else, as in `Random read (4 KiB, QD=32) | 98,000 IOPS`,
/// but behind a name and a colon they part values: `Sequential read: 550 MB/s | 560 MB/s`.
fn parted(line: &str) -> Row {
    let line = line.strip_prefix('|').unwrap_or(line).trim_start_matches(' ');
    let line = line.strip_suffix('|').unwrap_or(line).trim_end();
    let separators = || outside_brackets(line).filter(|(_, letter)| "\t|=:".contains(*letter));
    let colon = separators().next().filter(|(at, letter)| {
        let value = || line[at + 1..].split(['|', '\t']).next().is_some_and(value::is_amount);
        *letter == ':' && key::of(&without_brackets(&line[..*at])).is_some_and(is_rating) && value()
    });
    match colon.or_else(|| separators().min_by_key(|(at, letter)| ("=:".contains(*letter), *at))) {
        None => by_amount(line),
        Some((at, _)) => (line[..at].trim().to_owned(), Some(line[at + 1..].trim().trim_matches('"').to_owned())),
    }
}

/// Words of advertisements, whose lines are no rows: `4 TB now available`, `2x faster than SATA at 550 MB/s`.
const PROSE: &[&str] = &["available", "faster", "now", "previous", "than", "was", "were"];

/// Key and value of a line that ends with amounts behind the name of a rating: `Random read 680,000 IOPS`, or columns of several
/// capacities, `Sequential write 480 MB/s 520 MB/s`.
fn by_amount(line: &str) -> Row {
    // Pages' text may have nothing between columns: `480GB960GB`.
    let apart = (0..10).fold(line.to_owned(), |line, digit| {
        ["GB", "TB"].iter().fold(line, |line, unit| line.replace(&format!("{unit}{digit}"), &format!("{unit} {digit}")))
    });
    let words: Vec<&str> = apart.split_whitespace().collect();
    let is = |at: usize, known: &str| words[at].eq_ignore_ascii_case(known);
    let is_prose = words.iter().any(|word| PROSE.contains(&&*word.to_lowercase()));
    let mut first = words.len();
    while first > 0 && !is_prose {
        let is_limit = is(first - 1, "up") && words.get(first).is_some_and(|next| next.eq_ignore_ascii_case("to"));
        let may_be_limit = is(first - 1, "to") && first > 1 && is(first - 2, "up");
        if !(is_amount_word(words[first - 1]) || is(first - 1, "/") || is_limit || may_be_limit) {
            break;
        }
        first -= 1;
    }
    // What is a part of the name and an amount is of another column, or of a range.
    let name = without_brackets(&words[..first].join(" "));
    let has_amount = name.split_whitespace().any(|word| is_number(word) && !is_request_size(word));
    // The size of the requests is part of the name: `Random read 4K 98K IOPS`.
    let is_before_one = |at: usize| words[at + 1..].iter().filter(|word| is_number(word)).count() == 1;
    let is_size = |at: usize| {
        is_request_size(words[at]) || power_of_two(words[at]).is_some_and(|(_, unit)| unit == "k") && is_before_one(at)
    };
    while first < words.len() && (is_size(first) || !is_begun_by(words[first])) {
        first += 1;
    }
    let (key, value) = (words[..first].join(" "), words[first..].join(" "));
    let has_unit = units().any(|unit| value.to_lowercase().ends_with(unit)) || names_unit(&key);
    let is_rated = has_unit && !has_amount && key::of(&without_brackets(&key)).is_some_and(is_rating);
    // The head of a table whose columns are of several capacities.
    let is_size = |found: &value::Quantity| value::is_size(&found.unit);
    let sizes = value::quantities(&value);
    if !value.is_empty() && (is_rated || sizes.len() > 1 && sizes.iter().all(is_size)) {
        return (key, Some(value));
    }
    (line.trim().to_owned(), None)
}

/// All that is a unit at the end of a line.
fn units() -> impl Iterator<Item = &'static str> {
    value::UNITS.iter().chain(MORE_UNITS).copied()
}

/// Whether a name has a unit in brackets: `Sequential read (MB/s)`, `Endurance (TBW)`.
fn names_unit(key: &str) -> bool {
    let lower = key.to_lowercase();
    units().any(|unit| lower.contains(&format!("({unit})")))
}

/// Whether a word can begin an amount.
fn is_begun_by(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit()) || word.eq_ignore_ascii_case("up")
}

/// Whether a word is a number, or two with a stroke, with or without a unit: `7,000/6,500MB/s`, `98K`, `1.92TB`.
fn is_number(word: &str) -> bool {
    let lower = word.to_lowercase();
    let unit = lower.trim_start_matches(|c: char| c.is_ascii_digit() || ",./".contains(c));
    lower.starts_with(|c: char| c.is_ascii_digit()) && (unit.is_empty() || units().any(|known| known == unit))
}

/// Whether a word may be of an amount: a number or a unit.
fn is_amount_word(word: &str) -> bool {
    let lower = word.to_lowercase();
    is_number(word) || units().any(|unit| unit == lower)
}

/// Whether a word is the size of requests, and no amount of them: `4K`, `128KiB`.
fn is_request_size(word: &str) -> bool {
    power_of_two(word).is_some_and(|(size, unit)| matches!(&*unit, "kb" | "kib") || size == 4 && unit == "k")
}

/// A power of two and the letters behind it.
fn power_of_two(word: &str) -> Option<(u32, String)> {
    let number = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let size = number.parse::<u32>().ok().filter(|size| size.is_power_of_two())?;
    Some((size, word[number.len()..].to_lowercase()))
}

/// Whether a row of the kind has an amount.
pub fn is_rating(field: Field) -> bool {
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
            Some((_, at)) if is_empty && value::is_amount(&key) => put_below(&mut found[*at].1, key),
            // `1TB: up to 7,450 MB/s`.
            Some((_, at))
                if value::of_a_capacity(&format!("{key}: {}", value.as_deref().unwrap_or_default())).is_some() =>
            {
                put_below(&mut found[*at].1, format!("{key}: {}", value.unwrap_or_default()));
            }
            Some((name, at)) if !is_empty && is_only_read_or_write(&key) => {
                // What its rows say is not said by the heading.
                found[*at].1 = None;
                found.push((format!("{} {key}", without_reads_and_writes(name)), value));
            }
            // What explains the name above it.
            Some(_) if is_empty && key.starts_with('(') && key.ends_with(')') => found.push((key, value)),
            _ => {
                let is_heading =
                    is_empty && !value::is_amount(&key) && (of.is_some_and(is_rating) || of == Some(Field::Rates));
                heading = (is_heading || is_empty && is_of_one_kind(&key)).then(|| (key.clone(), found.len()));
                found.push((key, value));
            }
        }
    }
    found
}

/// Adds a value below a name. One below the other, they are of several capacities.
fn put_below(value: &mut Option<String>, more: String) {
    let before = value.take().filter(|before| !before.is_empty());
    *value = Some(before.map_or_else(|| more.clone(), |before| format!("{before} | {more}")));
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
