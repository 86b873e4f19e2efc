//! Tables with a line a drive, whose first line has the names: turned, so that each name has its values behind it.

use super::disk;
use super::key::{self, Field};
use super::value::{is_amount, without_brackets};

/// The lines of a text, with such tables turned: `Capacity | 500GB | 1TB`.
pub fn turned(lines: Vec<&str>) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = &lines[..];
    while let [first, others @ ..] = rest {
        let names = cells(first);
        let of_drives = others.iter().map(|line| cells(line)).take_while(|cells| is_of_a_drive(cells, &names));
        let drives: Vec<Vec<&str>> = if is_head(&names) { of_drives.collect() } else { Vec::new() };
        for (column, name) in names.iter().enumerate().filter(|_| !drives.is_empty()) {
            let cells = drives.iter().map(|drive| drive.get(column).copied().filter(|cell| !cell.is_empty()));
            let values: Vec<&str> = cells.map(|cell| cell.unwrap_or("–")).collect();
            found.push(format!("{name} | {}", values.join(" | ")));
        }
        if drives.is_empty() {
            found.push((*first).to_owned());
        }
        rest = &others[drives.len()..];
    }
    found
}

/// The cells of a line of a table.
fn cells(line: &str) -> Vec<&str> {
    let mark = if line.contains('\t') { '\t' } else { '|' };
    let line = line.strip_prefix('|').unwrap_or(line);
    line.strip_suffix('|').unwrap_or(line).split(mark).map(str::trim).collect()
}

/// Whether cells are the names of ratings, of which one is the capacity.
fn is_head(cells: &[&str]) -> bool {
    let fields: Vec<Option<Field>> = cells.iter().map(|cell| key::of(&without_brackets(cell))).collect();
    let is_rating = |(cell, field): (&&str, &Option<Field>)| {
        !matches!(field, None | Some(Field::Title | Field::Source | Field::Unused)) || disk::is_named(cell)
    };
    cells.len() > 2
        && !cells.iter().any(|cell| is_amount(cell))
        && fields.iter().filter(|field| **field == Some(Field::Capacity)).count() == 1
        && cells.iter().zip(&fields).filter(|pair| is_rating(*pair)).count() > 1
}

/// Whether the cells are of a drive, each below its name; the last ones may be missing.
fn is_of_a_drive(cells: &[&str], names: &[&str]) -> bool {
    (2..=names.len()).contains(&cells.len()) && cells.iter().any(|cell| is_amount(cell))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_with_a_line_a_drive_is_turned() {
        let tabs = "A drive\nModel\tCapacity\tRead (MB/s)\nX1\t500GB\t3,500\nX2\t1TB\t\nCache: 1 GB";
        let expected =
            ["A drive", "Model | X1 | X2", "Capacity | 500GB | 1TB", "Read (MB/s) | 3,500 | –", "Cache: 1 GB"];
        assert_eq!(turned(tabs.lines().collect()), expected);
        let marks = "| Capacity | RPM | Cache |\n| 8TB | 7200 | 256MB |";
        assert_eq!(turned(marks.lines().collect()), ["Capacity | 8TB", "RPM | 7200", "Cache | 256MB"]);
        for other in [
            "Capacity\t500GB\t1TB\nRead\t500 MB/s\t550 MB/s",
            "Model\tCapacity\tRead\nof one\tand\tanother",
            "Model\tNotes\tColour\nX\t500GB\tred",
        ] {
            assert_eq!(turned(other.lines().collect()), other.lines().collect::<Vec<_>>(), "{other}");
        }
    }
}
