//! What came of trials, in words and for a terminal.

use comfy_table::{Cell, CellAlignment, Table};
use measurement::Better;
use plan::PointOutcome;
use plan::compare::{Significance, Standing, Standings};

use super::sheet::TrialSheet;
use crate::column::Column;
use crate::figure::CellFigures;
use crate::number::{spread, three};
use crate::part::MeasuredStep;

/// As many figures have room in a terminal.
const FIGURES: usize = 4;
/// As many points without an order are held against the best of them in a sentence.
const STANDING: usize = 8;

/// How the leading figure comes out: by what the step is about, where it sweeps other things too; otherwise where it is
/// best and where it is worst. None where nothing came of it.
pub(crate) fn verdict(part: &MeasuredStep) -> Option<String> {
    let sheet = TrialSheet::of(part)?;
    let place = *sheet.leading().first()?;
    let column = &sheet.columns[place];
    let by_subject = sheet.subject().filter(|_| sheet.axes.len() > 1).and_then(|axis| levels(&sheet, place, axis));
    let ends = match by_subject {
        Some(said) => said,
        None => ends(&sheet, place)?,
    };
    Some(standings(part, &sheet, column).map_or(ends.clone(), |said| format!("{ends} {said}")))
}

/// Where a figure is best and where it is worst.
fn ends(sheet: &TrialSheet, place: usize) -> Option<String> {
    let column = &sheet.columns[place];
    let mut rows: Vec<(&CellFigures, f64)> =
        sheet.rows.iter().filter_map(|row| Some((*row, column.interval(row)?.mean))).collect();
    rows.sort_by(|one, other| one.1.total_cmp(&other.1));
    if column.better == Better::More {
        rows.reverse();
    }
    let told = |row: &CellFigures| column.interval(row).map_or_else(String::new, |figure| column.told(&figure));
    let (best, worst) = (rows.first()?, rows.last()?);
    if rows.len() < 2 {
        return Some(format!("{}: {}.", column.name, told(best.0)));
    }
    let (high, low) = (best.1.max(worst.1), best.1.min(worst.1));
    let times = if low > 0.0 { format!(", {} times apart", three(high / low)) } else { String::new() };
    let (first, last) = (sheet.name(best.0), sheet.name(worst.0));
    Some(format!("{}: best at {first} ({}), worst at {last} ({}){times}.", column.name, told(best.0), told(worst.0)))
}

/// How the values of one axis stand to the best of them in the geometric mean over all else that is swept: `Rate by file
/// system, in the mean over all else: ext4 leads; xfs 0.97 ×, btrfs 0.61 ×.` None unless all were measured at the same
/// points.
fn levels(sheet: &TrialSheet, place: usize, axis: usize) -> Option<String> {
    let column = &sheet.columns[place];
    let others = sheet.distinct(|row| sheet.line(row, axis));
    let mean = |level: &String| {
        let of = |line: &String| {
            let is_it = |row: &&&CellFigures| sheet.line(row, axis) == *line && sheet.value(row, axis) == *level;
            let row = sheet.rows.iter().find(is_it)?;
            column.interval(row).map(|figure| figure.mean).filter(|mean| *mean > 0.0)
        };
        let logs: Option<Vec<f64>> = others.iter().map(|line| of(line).map(f64::ln)).collect();
        logs.map(|logs| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
    };
    let levels = sheet.distinct(|row| sheet.value(row, axis));
    let means: Option<Vec<f64>> = levels.iter().map(mean).collect();
    let mut found: Vec<(String, f64)> = levels.into_iter().zip(means?).collect();
    found.sort_by(|one, other| one.1.total_cmp(&other.1));
    if column.better == Better::More {
        found.reverse();
    }
    let (best, rest) = found.split_first().filter(|(_, rest)| !rest.is_empty())?;
    let rest: Vec<String> = rest.iter().map(|(level, mean)| format!("{level} {} ×", three(mean / best.1))).collect();
    let about = sheet.axes[axis].title().to_lowercase();
    let rest = rest.join(", ");
    Some(format!("{} by {about}, averaged over all other parameters: best {}; {rest}.", column.name, best.0))
}

/// How the best of a few points that have no order stands beside each other: `ext4 is 1.30 × xfs (1.20–1.41) and 1.05 ×
/// btrfs (not significant).` None where points lie along an axis of numbers, or are many.
fn standings(part: &MeasuredStep, sheet: &TrialSheet, column: &Column) -> Option<String> {
    let is_lone = sheet.axes.len() == 1 && sheet.along().is_none();
    if !is_lone || sheet.rows.len() > STANDING || column.better == Better::Neither {
        return None;
    }
    let points: Vec<&PointOutcome> = part.readings.iter().map(|reading| reading.point).collect();
    let found = Standings::of(&points, &column.name, column.better == Better::More)?;
    let name = |point: usize| sheet.name(&part.readings[point]);
    let is_vain = found.others.iter().all(|one| one.verdict == Significance::CannotBeShown);
    let said = |one: &Standing| {
        let bounds = match (one.verdict, one.ratio.bounds) {
            (Significance::CannotBeShown, _) if !is_vain => " (too few repeats)".to_owned(),
            (Significance::CannotBeShown, _) => String::new(),
            (Significance::NotShown, _) => " (not significant)".to_owned(),
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
    let vain = if is_vain { "; too few repeats to test significance" } else { "" };
    Some(format!("{} is {others}{vain}.", name(found.best)))
}

/// The rows of a table for a terminal: points with their first figures.
pub(crate) fn lines(part: &MeasuredStep, table: &mut Table) -> bool {
    let Some(sheet) = TrialSheet::of(part) else { return false };
    let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
    let head = sheet.columns.iter().take(FIGURES).map(|column| match column.unit {
        "" => right(column.name.clone()),
        unit => right(format!("{}, {unit}", column.name)),
    });
    table.set_header([Cell::new(&part.step.title)].into_iter().chain(head));
    for row in &sheet.rows {
        let figures = sheet.columns.iter().take(FIGURES).map(|column| match column.interval(row) {
            Some(found) => {
                right(three(found.mean) + &spread(&found).map_or_else(String::new, |text| format!(" {text}")))
            }
            None => right("not measured".to_owned()),
        });
        table.add_row([Cell::new(sheet.name(row))].into_iter().chain(figures));
    }
    true
}
