//! What came of trials, in words and for a terminal.

use comfy_table::{Cell, CellAlignment, Table};
use lab::plan::Action;
use trial::Better;

use super::sheet::{Row, Sheet};
use crate::number::{spread, three};
use crate::part::Part;

/// As many figures have room in a terminal.
const FIGURES: usize = 4;

/// Where the leading figure is best and where it is worst; none where there is nothing to choose.
pub(crate) fn verdict(part: &Part) -> Option<String> {
    let Action::Trial(trials) = &part.step.action else { return None };
    let sheet = Sheet::of(trials, part.trials)?;
    let place = *sheet.leading().first()?;
    let column = &sheet.columns[place];
    let mut rows: Vec<(&Row, f64)> =
        sheet.rows.iter().filter_map(|row| Some((row, row.figures[place]?.mean))).collect();
    rows.sort_by(|one, other| one.1.total_cmp(&other.1));
    if column.better == Better::More {
        rows.reverse();
    }
    let told = |row: &Row| row.figures[place].map_or_else(String::new, |figure| column.told(&figure));
    let (best, worst) = (rows.first()?, rows.last()?);
    if rows.len() < 2 {
        return Some(format!("{}: {}.", column.name, told(best.0)));
    }
    let (high, low) = (best.1.max(worst.1), best.1.min(worst.1));
    let times = if low > 0.0 { format!(", {} times apart", three(high / low)) } else { String::new() };
    let (first, last) = (best.0.name(), worst.0.name());
    Some(format!("{}: best at {first} ({}), worst at {last} ({}){times}.", column.name, told(best.0), told(worst.0)))
}

/// The rows of a table for a terminal: points with their first figures.
pub(crate) fn lines(part: &Part, table: &mut Table) -> bool {
    let Action::Trial(trials) = &part.step.action else { return false };
    let Some(sheet) = Sheet::of(trials, part.trials) else { return false };
    let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
    let head = sheet.columns.iter().take(FIGURES).map(|column| match column.unit {
        "" => right(column.name.clone()),
        unit => right(format!("{}, {unit}", column.name)),
    });
    table.set_header([Cell::new(&part.step.title)].into_iter().chain(head));
    for row in &sheet.rows {
        let figures = row.figures.iter().take(FIGURES).map(|found| match found {
            Some(found) => {
                right(three(found.mean) + &spread(found).map_or_else(String::new, |text| format!(" {text}")))
            }
            None => right("not measured".to_owned()),
        });
        table.add_row([Cell::new(row.name())].into_iter().chain(figures));
    }
    true
}
