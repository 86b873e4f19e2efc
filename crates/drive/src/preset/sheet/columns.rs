//! Sheets of several capacities: which of a row's values are those of one drive.

use std::cmp::Ordering;

use super::key::{self, Field, Row};
use super::value::{self, VALUE_MAX, is_amount, without_brackets};

/// Capacities are one if they differ by less: 1 TB and 1,024 GB, but not 960 GB.
const ALIKE: f64 = 0.03;

/// The drive that is wanted of a sheet.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Bytes.
    capacity: f64,
    /// The sheet's capacities, in its order; none where it is of one alone.
    all: Vec<f64>,
}

impl Column {
    /// What rows have of the only capacity that one of them gives by itself, be it of several in another. None if none does.
    ///
    /// # Errors
    /// If the sheet has several capacities, and that is none of them.
    pub fn of(rows: &[Row]) -> Result<Option<Self>, String> {
        let is_one = |row: &&Row| key::of(&without_brackets(&row.0)) == Some(Field::Capacity) && several(row).is_none();
        let mut given = rows.iter().filter(is_one);
        let one = given.find_map(|(key, value)| match &*sizes(&[&with_unit(key, value.as_deref()?)])? {
            [one] => Some(*one),
            _ => None,
        });
        let Some(capacity) = one else { return Ok(None) };
        let all = rows.iter().find_map(several).unwrap_or_default();
        let column = Self { capacity, all };
        if column.nearest().is_some_and(|index| column.distance(column.all[index]) > ALIKE) {
            let shown: Vec<String> = column.all.iter().map(|size| format!("{} GB", size / 1e9)).collect();
            return Err(format!(
                "capacity={} GB: the sheet has {}; give one of them",
                capacity / 1e9,
                shown.join(", ")
            ));
        }
        if column.all.iter().filter(|size| column.distance(**size) < ALIKE).count() > 1 {
            return Err(format!(
                "capacity={} GB: the sheet has several drives of it; give the rows of one",
                capacity / 1e9
            ));
        }
        Ok(Some(column))
    }

    /// The drive's rows of a sheet's.
    pub fn own(&self, rows: Vec<Row>) -> Vec<Row> {
        let is_head = |row: &Row| !self.all.is_empty() && several(row).is_some_and(|sizes| sizes == self.all);
        let own = |(key, value): Row| {
            let value = value.map(|value| self.pick(&key, &value));
            (key, value)
        };
        rows.into_iter().filter(|row| !is_head(row)).map(own).collect()
    }

    /// The drive's own of a row's values; the whole where it has not as many of them as there are capacities, or is one of these.
    fn pick<'v>(&self, key: &str, value: &'v str) -> String {
        if key::of(&without_brackets(key)) == Some(Field::Capacity) {
            return value.to_owned();
        }
        // Each value says of which capacity it is.
        let parts = |by: &str| value.split(by).map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<&str>>();
        let named = |parts: Vec<&'v str>| {
            let one =
                |part: &&'v str| value::of_a_capacity(part).or_else(|| in_brackets(part).filter(|_| parts.len() > 1));
            let all = parts.iter().map(one).collect::<Option<Vec<_>>>()?;
            all.into_iter().min_by(|one, two| self.nearer(one.0, two.0))
        };
        let several = ["|", ", ", " / ", ";"].map(parts).into_iter().filter(|parts| parts.len() > 1);
        if let Some((size, own)) = several.chain([vec![value]]).find_map(named) {
            return if self.distance(size) < ALIKE { own.to_owned() } else { value.to_owned() };
        }
        let own = cells(value, self.all.len()).and_then(|cells| Some((cells.get(self.nearest()?)?.clone(), cells)));
        let Some((own, cells)) = own else { return value.to_owned() };
        // The drive has no such figure.
        if !own.contains(|c: char| c.is_ascii_digit()) {
            return if own.is_empty() { "–".to_owned() } else { own };
        }
        let unit = |cell: &str| value::quantities(cell).pop().map(|quantity| quantity.unit).unwrap_or_default();
        if unit(&own).is_empty() { format!("{own} {}", unit(&cells[cells.len() - 1])) } else { own }
    }

    /// Which of the sheet's capacities is the drive's.
    fn nearest(&self) -> Option<usize> {
        let all = 0..self.all.len();
        all.min_by(|one, two| self.nearer(self.all[*one], self.all[*two]))
    }

    fn nearer(&self, one: f64, two: f64) -> Ordering {
        self.distance(one).total_cmp(&self.distance(two))
    }

    fn distance(&self, size: f64) -> f64 {
        (size / self.capacity - 1.0).abs()
    }
}

/// The capacities of a row that names several: one of capacities, or the head of a table.
fn several((key, value): &Row) -> Option<Vec<f64>> {
    let field = key::of(&without_brackets(key));
    if !matches!(field, None | Some(Field::Capacity | Field::Title | Field::Unused)) {
        return None;
    }
    if value.as_deref()?.chars().count() > VALUE_MAX {
        return None;
    }
    let value = with_unit(key, value.as_deref()?);
    let counts = 2..=value::quantities(&value).len();
    let alike = |count| sizes(&cells(&value, count)?.iter().map(String::as_str).collect::<Vec<_>>());
    let strokes = || sizes(&value.split('/').collect::<Vec<_>>()).filter(|found| found.len() > 1);
    let found = counts.rev().find_map(alike).or_else(|| strokes().filter(|_| field == Some(Field::Capacity)))?;
    found.iter().any(|size| *size != found[0]).then_some(found)
}

/// A value with the unit that its row's name has in brackets: `Capacity (GB): 960`.
fn with_unit(key: &str, value: &str) -> String {
    let key = key.to_lowercase();
    let unit = ["(gb)", "(tb)"].into_iter().find(|unit| key.contains(unit));
    unit.map_or_else(|| value.to_owned(), |unit| format!("{value} {}", unit.trim_matches(['(', ')'])))
}

/// The amount of data of each text, if it has exactly one; a text without a unit has the next one's.
fn sizes(cells: &[&str]) -> Option<Vec<f64>> {
    let mut found = Vec::new();
    let mut factor = None;
    for cell in cells.iter().rev() {
        match (&amounts_of_data(cell)[..], &value::quantities(cell)[..]) {
            ([(number, of)], _) => {
                factor = Some(*of);
                found.push(number * of);
            }
            ([], [one]) if one.unit.is_empty() => found.push(one.number * factor?),
            _ => return None,
        }
    }
    found.reverse();
    Some(found)
}

/// The numbers of a text that gigabytes or terabytes follow, and by what these multiply. A word of a product's name is part of none:
/// `PM883 960GB`.
fn amounts_of_data(text: &str) -> Vec<(f64, f64)> {
    let text = without_brackets(text);
    let words: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || "/;|".contains(c)).filter(|word| !word.is_empty()).collect();
    let next = words.iter().skip(1).copied().chain([""]);
    let amount = |(word, next): (&&str, &str)| {
        let unit = word.trim_start_matches(|c: char| c.is_ascii_digit() || ".,".contains(c));
        let (number, unit) = (&word[..word.len() - unit.len()], if unit.is_empty() { next } else { unit });
        let unit = unit.trim_end_matches(|c: char| !c.is_alphabetic());
        let number = value::quantities(number).first().map(|found| found.number)?;
        value::is_size(unit).then(|| value::size_factor(unit).ok().map(|factor| (number, factor)))?
    };
    words.iter().zip(next).filter_map(amount).collect()
}

/// The values of a row that has so many: columns, a list, or amounts one behind the other, of reads and writes with a stroke.
fn cells(value: &str, count: usize) -> Option<Vec<String>> {
    if count < 2 {
        return None;
    }
    let parted = |parts: Vec<&str>| {
        let parts: Vec<String> =
            parts.into_iter().map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect();
        (parts.len() == count).then_some(parts)
    };
    // What is no amount may have a comma or a number of its own: `PCIe 4.0 x4, NVMe 1.4`.
    let amounts = |parts: Vec<&str>| parted(parts).filter(|parts| parts.iter().all(|part| is_amount(part)));
    // A cell may be empty.
    let whole: Vec<String> = value.split(['|', '\t']).map(|cell| cell.trim().to_owned()).collect();
    if whole.len() == count && whole.iter().any(|cell| !cell.is_empty()) {
        return Some(whole);
    }
    let columns = parted(value.split(['|', '\t']).collect());
    let lists = [";", ", "].into_iter().find_map(|by| amounts(value.split(by).collect()));
    // Two are as often reads and writes.
    let strokes = amounts(value.split(" / ").collect()).filter(|parts| parts.len() > 2);
    let behind = || parted(one_behind_the_other(value)).filter(|_| is_amount(value));
    columns.or(lists).or(strokes).or_else(behind)
}

/// The amounts of `480 MB/s 520 MB/s` and `7,000/3,900 MB/s 7,000/6,000 MB/s`, each with its unit.
fn one_behind_the_other(value: &str) -> Vec<&str> {
    let mut starts = Vec::new();
    let mut before: Option<&str> = None;
    for (at, word) in value.match_indices(|c: char| !c.is_whitespace()).filter_map(|(at, _)| {
        let begins = value[..at].chars().next_back().is_none_or(char::is_whitespace);
        begins.then(|| (at, value[at..].split_whitespace().next().unwrap_or_default()))
    }) {
        let is_joined = before.is_some_and(|before| before.ends_with('/'));
        if word.starts_with(|c: char| c.is_ascii_digit()) && !is_joined {
            starts.push(at);
        }
        before = Some(word);
    }
    let ends = starts.iter().skip(1).copied().chain([value.len()]);
    starts.iter().zip(ends).map(|(start, end)| &value[*start..end]).collect()
}

/// The capacity that a value has in brackets, and the rest: `1,800 TBW (1TB)`.
fn in_brackets(part: &str) -> Option<(f64, &str)> {
    let (own, rest) = part.split_once('(')?;
    match &amounts_of_data(rest.split(')').next()?)[..] {
        [(number, of)] if !value::quantities(own).is_empty() => Some((number * of, own.trim())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(key: &str, value: &str) -> Row {
        (key.to_owned(), Some(value.to_owned()))
    }

    #[test]
    fn the_capacities_of_a_sheet_are_found_however_they_stand() {
        for (key, value, expected) in [
            ("Capacity", "480GB 960GB 1.92TB 3.84TB", &[480.0, 960.0, 1920.0, 3840.0][..]),
            ("Capacity", "250GB\t500GB\t1TB", &[250.0, 500.0, 1000.0]),
            ("Capacities", "512GB, 1024GB, 2048GB", &[512.0, 1024.0, 2048.0]),
            ("Capacity", "250/500/1000 GB", &[250.0, 500.0, 1000.0]),
            ("Capacity (GB)", "480 | 960", &[480.0, 960.0]),
            ("Model", "PM883 960GB | PM883 1.92TB", &[960.0, 1920.0]),
            ("", "1TB | 2TB | 4TB", &[1000.0, 2000.0, 4000.0]),
        ] {
            let found = several(&row(key, value)).unwrap_or_else(|| panic!("{key}: {value}"));
            assert_eq!(found, expected.iter().map(|size| size * 1e9).collect::<Vec<_>>(), "{key}: {value}");
        }
        for (key, value) in [
            ("Capacity", "1TB"),
            ("Capacity", "1TB (1000 GB)"),
            ("Capacity", "960GB GB"),
            ("Endurance", "150 TB | 300 TB"),
            ("Sequential read", "560 MB/s | 550 MB/s"),
        ] {
            assert_eq!(several(&row(key, value)), None, "{key}: {value}");
        }
    }

    #[test]
    fn each_row_gives_the_value_of_the_capacity_that_is_wanted() {
        let rows = [row("capacity", "960GB"), row("Capacity", "480GB 960GB 1.92TB")];
        let column = Column::of(&rows).unwrap().unwrap();
        assert_eq!(column.own(rows.to_vec()), rows[..1], "the head is no row");
        for (value, expected) in [
            ("97K IOPS 98K IOPS 99K IOPS", "98K IOPS"),
            ("560/480 MB/s 560/520 MB/s 560/530 MB/s", "560/520 MB/s"),
            ("560 / 480 560 / 520 560 / 530 MB/s", "560 / 520 MB/s"),
            ("Up to 400 | Up to 500 | Up to 600", "Up to 500"),
            ("480GB – 400TBW | 960GB – 800TBW | 1.92TB – 1.6PBW", "800TBW"),
            ("480GB: up to 17.5PB | 960GB: up to 29.8PB", "up to 29.8PB"),
            ("480GB 500 MB/s | 960 GB 410 MB/s", "410 MB/s"),
            ("480GB: up to 500 MB/s, 960GB: up to 410 MB/s", "up to 410 MB/s"),
            ("600 TB (5 years)", "600 TB (5 years)"),
            ("SATA 6Gb/s", "SATA 6Gb/s"),
            ("540 MB/s | 550 MB/s", "540 MB/s | 550 MB/s"),
            ("480GB – 400TBW | 1.92TB – 1.6PBW", "480GB – 400TBW | 1.92TB – 1.6PBW"),
        ] {
            assert_eq!(column.pick("Rate", value).trim(), expected, "{value}");
        }
        let said = Column::of(&[row("capacity", "2TB"), rows[1].clone()]).unwrap_err();
        assert_eq!(said, "capacity=2000 GB: the sheet has 480 GB, 960 GB, 1920 GB; give one of them");
        assert_eq!(Column::of(&rows[1..]), Ok(None), "nobody has said which");
    }
}
