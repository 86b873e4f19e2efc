//! The figures of a step that tries something, point by point.

use measurement::{Better, Trial};
use plan::{Axis, PointOutcome};

use crate::axis;
use crate::chart::Ground;
use crate::column::{Column, columns};
use crate::figure::CellFigures;
use crate::part::MeasuredStep;
use crate::table::cell_name;

/// The figures of a step: a row for each point, a column for each figure.
pub(crate) struct TrialSheet<'p> {
    part: &'p MeasuredStep<'p>,
    /// What is swept.
    pub(crate) axes: &'p [Axis],
    /// What was measured, in the order in which it was first given.
    pub(crate) columns: Vec<Column>,
    /// The points at which something came of it.
    pub(crate) rows: Vec<&'p CellFigures<'p>>,
}

impl<'p> TrialSheet<'p> {
    /// The figures of `part`; none where it tries nothing, or nothing came of it.
    pub(crate) fn of(part: &'p MeasuredStep<'p>) -> Option<Self> {
        part.trials()?;
        let columns = columns(part);
        let rows: Vec<&CellFigures> = part.readings.iter().filter(|reading| reading.is_measured()).collect();
        (!columns.is_empty() && !rows.is_empty()).then_some(Self { part, axes: &part.axes, columns, rows })
    }

    /// The places of the columns that are drawn and spoken of: the first figure of each way of being better.
    pub(crate) fn leading(&self) -> Vec<usize> {
        let first = |better| self.columns.iter().position(|column| column.better == better);
        let mut leading: Vec<usize> = [first(Better::More), first(Better::Less)].into_iter().flatten().collect();
        leading.sort_unstable();
        leading
    }

    /// The value of an axis as a table has it.
    pub(crate) fn value(&self, row: &CellFigures, place: usize) -> String {
        axis::label(&self.axes[place], row.point)
    }

    /// The same as a number; none where it is none.
    pub(crate) fn number(&self, row: &CellFigures, place: usize) -> Option<f64> {
        axis::value(&self.axes[place], row.point)
    }

    /// What sets a point apart: `ext4, threads 8`; of one point alone nothing.
    pub(crate) fn name(&self, row: &CellFigures) -> String {
        cell_name(self.part, row)
    }

    /// What sets the line of a point apart from others along the axis at `along`.
    pub(crate) fn line(&self, row: &CellFigures, along: usize) -> String {
        let others = (0..self.axes.len()).filter(|place| *place != along);
        others.map(|place| axis::words(&self.axes[place], row.point)).collect::<Vec<_>>().join(", ")
    }

    /// The axis at `along` as what is drawn lies along it.
    pub(crate) fn ground(&self, along: usize) -> Ground {
        let axis = &self.axes[along];
        let points = self.rows.iter().map(|row| row.point);
        let ticks = points.filter_map(|point| Some((axis::value(axis, point)?, axis::written(axis, point)))).collect();
        Ground::numbers(axis.title(), &axis::head(axis), ticks)
    }

    /// The different names that `of` gives to rows, in order.
    pub(crate) fn distinct(&self, of: impl Fn(&CellFigures) -> String) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for name in self.rows.iter().map(|row| of(row)) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// The place of the axis that a step is about: the last whose values are words, other than what is asked of the drive.
    pub(crate) fn subject(&self) -> Option<usize> {
        let is_word = |place: &usize| {
            self.axes[*place].name() != "rw" && self.rows.iter().any(|row| self.number(row, *place).is_none())
        };
        (0..self.axes.len()).rev().find(is_word)
    }

    /// The place of the axis along which figures are drawn: the last that is made of numbers.
    pub(crate) fn along(&self) -> Option<usize> {
        let is_number = |place: &usize| self.rows.iter().all(|row| self.number(row, *place).is_some());
        let values = |place: usize| self.distinct(|row| self.value(row, place)).len();
        (0..self.axes.len()).rev().find(|place| is_number(place) && values(*place) > 2)
    }
}

/// What came of the first go at a point.
pub(super) fn first<'a>(row: &CellFigures<'a>) -> Option<&'a Trial> {
    let point: &'a PointOutcome = row.point;
    point.repeats.first()?.trial()
}
