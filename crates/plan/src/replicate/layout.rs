//! How a review laid out its tables: which series stand beside each other under which heads.

use block::suggestion;
use serde::Deserialize;
use serde_spanned::Spanned;

use super::published::FigureGroup;
use crate::{Diagnostic, Mistakes};

/// A table as it was published: the labels of its figures as rows, its series as columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// What stands above it.
    pub title: String,
    /// What the rows are: `Request size`.
    pub rows: String,
    /// Its columns from left to right.
    pub columns: Vec<Column>,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// What stands above it.
    pub head: String,
    /// The group and the series in it, as places.
    pub series: (usize, usize),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LayoutFile {
    title: String,
    rows: String,
    columns: Vec<ColumnFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ColumnFile {
    head: String,
    series: Spanned<String>,
}

impl LayoutFile {
    /// Finds the series of each column among `groups`, by title.
    pub(super) fn read(&self, groups: &[FigureGroup], mistakes: &mut Mistakes) -> Layout {
        let all = || {
            let series = |(at, group): (usize, &'_ FigureGroup)| -> Vec<(String, (usize, usize))> {
                group.series.iter().enumerate().map(|(place, series)| (series.title.clone(), (at, place))).collect()
            };
            groups.iter().enumerate().flat_map(series)
        };
        let mut columns = Vec::new();
        for column in &self.columns {
            let wanted = column.series.get_ref();
            match all().find(|(title, _)| title == wanted) {
                Some((_, series)) => columns.push(Column { head: column.head.clone(), series }),
                None => {
                    let known: Vec<String> = all().map(|(title, _)| title).collect();
                    let known: Vec<&str> = known.iter().map(String::as_str).collect();
                    let message = format!("no group has a series `{wanted}`");
                    let help = suggestion(wanted, &known);
                    mistakes.push(Diagnostic::new("published::table", column.series.span(), message).help(help));
                }
            }
        }
        Layout { title: self.title.clone(), rows: self.rows.clone(), columns }
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;

    const FIGURES: &str = r#"
review = "r"
title = "R"
source = "S"
[[group]]
title = "G"
tolerance = "10%"
[[group.series]]
title = "reads, new"
unit = "IOPS"
figures = [{ id = "r/new/512", use = "check", value = 9 }]
[[group.series]]
title = "reads, worn"
unit = "IOPS"
figures = [{ id = "r/worn/512", use = "check", value = 4 }]
"#;

    #[test]
    fn a_table_names_the_series_of_its_columns() {
        let table = r#"
[[table]]
title = "Reads"
rows = "Size"
columns = [{ head = "Worn", series = "reads, worn" }, { head = "New", series = "reads, new" }]
"#;
        let published = parse(&format!("{FIGURES}{table}")).unwrap();
        let columns = &published.tables[0].columns;
        assert_eq!((columns[0].series, columns[1].series), ((0, 1), (0, 0)));
        let wrong = parse(&format!("{FIGURES}{}", table.replace("reads, worn", "reads, wron"))).unwrap_err();
        assert_eq!(wrong[0].code, "published::table");
        assert!(wrong[0].help.as_deref().is_some_and(|help| help.contains("reads, worn")), "{wrong:?}");
    }
}
