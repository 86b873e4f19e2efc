//! Columns of figures behind their names, in text.

use crate::wrap::{columns, wrapped};

/// By so much are figures set in below their name.
const INDENT: u16 = 2;

/// What a table holds: the head of its names and those of its figures, and a name with its figures for each row.
pub(super) struct Columns {
    pub(super) heads: (String, Vec<String>),
    pub(super) rows: Vec<(String, Vec<String>)>,
    /// How wide each column of figures is. A figure that is wider moves those of its row to the left.
    pub(super) widths: Vec<usize>,
    /// The least room between two of them.
    pub(super) gap: usize,
}

impl Columns {
    /// The lines of a table that is `width` columns wide.
    pub(super) fn lines(&self, width: u16) -> Vec<String> {
        let rule = "─".repeat(usize::from(width));
        let Some(head) = self.row(&self.heads.0, &self.heads.1, width) else {
            let name = (!self.heads.0.is_empty()).then(|| self.heads.0.clone());
            let rows = self.rows.iter().flat_map(|(name, figures)| self.stacked(name, figures, width));
            return name.into_iter().chain([rule]).chain(rows).collect();
        };
        let row = |(name, figures): &(String, Vec<String>)| {
            self.row(name, figures, width).unwrap_or_else(|| self.stacked(name, figures, width))
        };
        head.into_iter().chain([rule]).chain(self.rows.iter().flat_map(row)).collect()
    }

    /// A name with its figures beside it, or below where it is too long for that; none where the figures are wider than the line.
    fn row(&self, name: &str, figures: &[String], width: u16) -> Option<Vec<String>> {
        let mut starts = vec![0; figures.len()];
        let (mut next, mut edge) = (usize::from(width) + self.gap, usize::from(width));
        for place in (0..figures.len()).rev() {
            next = edge.min(next.checked_sub(self.gap)?).checked_sub(columns(&figures[place]))?;
            starts[place] = next;
            edge = edge.saturating_sub(self.widths[place] + self.gap);
        }
        let has_room = columns(name) + self.gap <= next;
        let mut lines = if has_room { Vec::new() } else { wrapped(name, width) };
        let mut line = if has_room { name.to_owned() } else { String::new() };
        for (figure, start) in figures.iter().zip(starts) {
            line += &" ".repeat(start - columns(&line));
            line += figure;
        }
        lines.push(line);
        Some(lines)
    }

    /// A name with its figures below it, a line each.
    fn stacked(&self, name: &str, figures: &[String], width: u16) -> Vec<String> {
        let below = |(head, figure): (&String, &String)| {
            let lines = wrapped(&format!("{}: {}", head.trim(), figure.trim()), width - INDENT);
            lines.into_iter().map(|line| " ".repeat(usize::from(INDENT)) + &line).collect::<Vec<_>>()
        };
        wrapped(name, width).into_iter().chain(self.heads.1.iter().zip(figures).flat_map(below)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIGURES: [&str; 3] = ["9,430", "238,000", "0.000110 (0.000110–0.000111) ▼"];

    fn table(heads: [&str; 3], names: &[&str]) -> Columns {
        let rows = names.iter().map(|name| ((*name).to_owned(), FIGURES.map(str::to_owned).to_vec()));
        let heads = ("Key figures".to_owned(), heads.map(str::to_owned).to_vec());
        Columns { heads, rows: rows.collect(), widths: vec![7, 7, 19], gap: 2 }
    }

    #[test]
    fn columns_keep_their_distance_at_any_width() {
        let names = ["Seq. read", "Random write, 4 KiB, QD 32, briefly written, IOPS"];
        let table = table(["run 2", "run 3", "ratio to run 2   "], &names);
        for width in 46..=120 {
            let lines = table.lines(width);
            let figures: Vec<&String> = lines.iter().filter(|line| line.contains("0.000110")).collect();
            assert_eq!(figures.len(), 2, "{width}: {lines:#?}");
            assert!(lines.iter().all(|line| columns(line) <= usize::from(width)), "{width}: {lines:#?}");
            assert!(figures.iter().all(|line| line.ends_with(&FIGURES.join("  "))), "{width}: {lines:#?}");
            let beside = figures.iter().filter(|line| names.iter().any(|name| line.starts_with(&format!("{name}  "))));
            assert_eq!(beside.count(), usize::from(width >= 57) + usize::from(width >= 97), "{width}: {lines:#?}");
        }
    }

    #[test]
    fn what_is_wider_than_the_line_has_a_line_a_figure() {
        let below = ["Seq. read", "  A: 9,430", "  B: 238,000", "  C: 0.000110 (0.000110–0.000111) ▼"];
        let lines = table(["A", "B", "C"], &["Seq. read"]).lines(45);
        assert_eq!((lines[0].chars().last(), &lines[2..]), (Some('C'), &below.map(str::to_owned)[..]));
        let lines = table(["A", "B", "C, which is wider than any line would be"], &["Seq. read"]).lines(45);
        assert_eq!((lines[0].as_str(), &lines[2..5]), ("Key figures", &below.map(str::to_owned)[..3]));
    }

    #[test]
    fn figures_are_coloured_without_being_moved() {
        let table = |figure: &str| Columns {
            heads: ("Name".to_owned(), vec!["IOPS".to_owned()]),
            rows: vec![("read".to_owned(), vec![figure.to_owned()])],
            widths: vec![9],
            gap: 2,
        };
        let plain = table("252").lines(60)[2].clone();
        assert_eq!(table("\x1b[32m252\x1b[0m").lines(60)[2], plain.replace("252", "\x1b[32m252\x1b[0m"));
    }
}
