//! Doubts about what was measured.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// A doubt about a measurement or a run: kept, marked, shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The step it is about; none for the whole run.
    pub step: Option<String>,
    /// What was found and what it means for the reader, in a sentence or two. Where it is about several cells whose numbers
    /// differ, each number is a range: `Level shift at second 12 to 41`.
    pub text: String,
    /// The cells it is about, each with what was found there, in the order in which it was found; none for the whole step.
    pub cells: Vec<CellFinding>,
}

/// What was found of one cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellFinding {
    /// The cell's key.
    pub cell: String,
    /// With the numbers of this cell.
    pub text: String,
}

impl Finding {
    /// What was found of a cell, or of a whole step or run.
    pub fn of(step: Option<String>, cell: Option<String>, text: String) -> Self {
        let cell = cell.filter(|cell| !cell.is_empty());
        let cells = cell.map(|cell| CellFinding { cell, text: text.clone() }).into_iter().collect();
        Self { step, text, cells }
    }

    /// The same with one finding for all cells of a step whose texts differ in nothing but numbers, where the first of them was.
    pub fn grouped(all: impl IntoIterator<Item = Self>) -> Vec<Self> {
        let mut groups: Vec<(String, Self)> = Vec::new();
        for one in all {
            let reason = reason(&one.text);
            let is_same = |(known, group): &&mut (String, Self)| {
                *known == reason && group.step == one.step && !group.cells.is_empty() && !one.cells.is_empty()
            };
            match groups.iter_mut().find(is_same) {
                Some((_, group)) => group.cells.extend(one.cells),
                None => groups.push((reason, one)),
            }
        }
        groups.into_iter().map(|(_, group)| group.told()).collect()
    }

    /// With the text that is true of all its cells.
    fn told(self) -> Self {
        let texts: Vec<&str> = self.cells.iter().map(|one| one.text.as_str()).collect();
        let text = if texts.is_empty() { self.text } else { joined(&texts) };
        Self { text, ..self }
    }

    /// What was found of this cell of this step.
    pub fn about<'f>(&'f self, step: &str, cell: &'f str) -> impl Iterator<Item = &'f str> {
        let is_step = self.step.as_deref() == Some(step);
        self.cells.iter().filter(move |one| is_step && one.cell == cell).map(|one| one.text.as_str())
    }

    /// The keys of its cells, each once.
    pub fn keys(&self) -> Vec<&str> {
        let mut keys: Vec<&str> = Vec::new();
        for one in &self.cells {
            if !keys.contains(&one.cell.as_str()) {
                keys.push(&one.cell);
            }
        }
        keys
    }

    /// Whether what was found differs from cell to cell, in numbers.
    pub fn differs(&self) -> bool {
        self.cells.windows(2).any(|pair| pair[0].text != pair[1].text)
    }
}

/// A text without its numbers.
fn reason(text: &str) -> String {
    pieces(text).into_iter().map(|(before, _)| before).collect::<Vec<_>>().join("\0")
}

/// Texts that differ in nothing but numbers as one, with ranges.
fn joined(texts: &[&str]) -> String {
    let all: Vec<_> = texts.iter().map(|text| pieces(text)).collect();
    let told = (0..all[0].len()).map(|place| {
        let (before, first) = all[0][place];
        let value = |number: &&str| number.replace(',', "").parse::<f64>().unwrap_or(0.0);
        let mut numbers: Vec<&str> = all.iter().map(|pieces| pieces[place].1).collect();
        numbers.sort_by(|one, other| value(one).total_cmp(&value(other)));
        match (numbers[0], numbers[numbers.len() - 1]) {
            (least, most) if value(&least) < value(&most) => format!("{before}{least} to {most}"),
            _ => format!("{before}{first}"),
        }
    });
    told.collect()
}

/// A text as pairs of what stands before a number and the number; the last has none.
fn pieces(text: &str) -> Vec<(&str, &str)> {
    let (mut pieces, mut done) = (Vec::new(), 0);
    for Range { start, end } in numbers(text) {
        pieces.push((&text[done..start], &text[start..end]));
        done = end;
    }
    pieces.push((&text[done..], ""));
    pieces
}

/// Where the numbers of a text are: digits, with commas and a point between them, that are no part of a word, a name or a
/// number with a sign.
fn numbers(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let is_of_word = |letter: char| letter.is_alphanumeric() || "_-−+=/:.,".contains(letter);
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        if !is_digit(at) {
            at += 1;
            continue;
        }
        let start = at;
        while is_digit(at) || (matches!(bytes.get(at), Some(b',' | b'.')) && is_digit(at + 1)) {
            at += 1;
        }
        let is_begun = text[..start].chars().next_back().is_some_and(is_of_word);
        let behind: Vec<char> = text[at..].chars().take(2).collect();
        let goes_on = match behind[..] {
            [joint, letter] if "-/:".contains(joint) => letter.is_alphanumeric(),
            [letter, ..] => letter.is_alphanumeric() || letter == '_',
            [] => false,
        };
        if !is_begun && !goes_on {
            found.push(start..at);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(step: &str, cell: &str, text: &str) -> Finding {
        Finding::of(Some(step.to_owned()), Some(cell.to_owned()), text.to_owned())
    }

    #[test]
    fn findings_of_one_reason_are_one_with_all_its_cells() {
        let text = |at: u64, rate: &str| {
            format!(
                "Level shift at second {at}: 38 % fewer IOPS ({rate}, before 45,000); likely cause: the end of a cache."
            )
        };
        let all = vec![
            Finding::of(None, None, "The run was cut off after 3 s.".to_owned()),
            found("depth", "iodepth=1", &text(12, "27,900")),
            found("depth", "iodepth=2", "28 requests failed."),
            found("depth", "iodepth=2", &text(9, "9,500")),
            found("other", "iodepth=2", &text(10, "27,900")),
            found("depth", "", "Not measured: 3 of it."),
            found("depth", "", "Not measured: 4 of it."),
            found("depth", "iodepth=4", &text(41, "27,900")),
        ];
        let grouped = Finding::grouped(all);
        let told: Vec<(&str, usize)> = grouped.iter().map(|one| (one.text.as_str(), one.cells.len())).collect();
        let of_depth = "Level shift at second 9 to 41: 38 % fewer IOPS (9,500 to 27,900, before 45,000); likely cause: the end of a \
                        cache.";
        assert_eq!(
            told,
            [
                ("The run was cut off after 3 s.", 0),
                (of_depth, 3),
                ("28 requests failed.", 1),
                (text(10, "27,900").as_str(), 1),
                ("Not measured: 3 of it.", 0),
                ("Not measured: 4 of it.", 0),
            ]
        );
        assert_eq!(grouped[1].keys(), ["iodepth=1", "iodepth=2", "iodepth=4"]);
        assert!(grouped[1].differs() && !grouped[2].differs());
        assert_eq!(grouped[1].about("depth", "iodepth=2").collect::<Vec<_>>(), [text(9, "9,500")], "its own numbers");
        assert_eq!(grouped[1].about("other", "iodepth=2").count(), 0);
    }

    #[test]
    fn numbers_in_names_and_with_signs_are_words() {
        for (text, numbers) in [
            ("nvme0n1 took 1.5 s, 12,345 of 20.", vec!["1.5", "12,345", "20"]),
            ("-3 % at bs=4k, p99 of x25-m, 4k, 2026-01-01, 10:30, ±2 %", vec!["2"]),
        ] {
            let found: Vec<&str> = super::numbers(text).into_iter().map(|range| &text[range]).collect();
            assert_eq!(found, numbers, "{text}");
        }
    }
}
