//! What came of trials, in words and for a terminal.

use comfy_table::{Cell, CellAlignment, Table};
use lab::plan::Action;
use trial::Better;

use lab::compare::{Standing, Standings, Verdict};

use super::sheet::{Column, Row, Sheet, shown};
use crate::number::{spread, three};
use crate::part::Part;

/// As many figures have room in a terminal.
const FIGURES: usize = 4;
/// As many points without an order are held against the best of them in a sentence.
const STANDING: usize = 8;

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
    let ends =
        format!("{}: best at {first} ({}), worst at {last} ({}){times}.", column.name, told(best.0), told(worst.0));
    Some(standings(part, column).map_or(ends.clone(), |said| format!("{ends} {said}")))
}

/// How the best of a few points that have no order stands beside each other: `ext4 is 1.30 × xfs (1.20–1.41) and 1.05 ×
/// btrfs (may be chance).` None where points lie along an axis of numbers, or are many.
fn standings(part: &Part, column: &Column) -> Option<String> {
    let Action::Trial(trials) = &part.step.action else { return None };
    let sheet = Sheet::of(trials, part.trials)?;
    if sheet.along().is_some() || sheet.rows.len() > STANDING || column.better == Better::Neither {
        return None;
    }
    let found = Standings::of(part.trials, &column.name, column.better == Better::More)?;
    let name = |point: usize| {
        let values = part.trials[point].point.values.iter().map(|(_, value)| shown(value));
        values.collect::<Vec<_>>().join(", ")
    };
    let said = |one: &Standing| {
        let bounds = match (one.verdict, one.ratio.bounds) {
            (Verdict::CannotBeShown, _) => " (too few repeats to tell)".to_owned(),
            (Verdict::NotShown, _) => " (may be chance)".to_owned(),
            (_, Some((low, high))) => format!(" ({}–{})", three(low), three(high)),
            (_, None) => String::new(),
        };
        format!("{} × {}{bounds}", three(one.ratio.ratio), name(one.point))
    };
    let others: Vec<String> = found.others.iter().map(said).collect();
    let others = match &others[..] {
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
        [] => return None,
    };
    Some(format!("{} is {others}.", name(found.best)))
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
