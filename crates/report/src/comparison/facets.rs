//! Charts of what trials gave in several runs: each figure of all runs side by side, and how many times the first run's
//! the others are.

use maud::{Markup, html};
use plan::compare::{Comparison, Contrast, ContrastSide};

use super::prose::times;
use super::rows::SharedStep;
use super::{name, p_value};
use crate::chart::{self, COLORS, Changes, DrawnChange, Ground, LineStyle, Panel, Spot, Spots};
use crate::column::Column;
use crate::drawn::figure;
use crate::figure::CellFigures;
use crate::number::{count, spread};
use crate::part::point_place;
use crate::trials::TrialSheet;

/// As many names have room below one chart.
const NAMES: usize = 12;
/// As many pairs of charts of a figure are shown; the others are folded away.
const SHOWN: usize = 3;

/// As many that are folded away are named.
const LISTED: usize = 6;

/// What has a chart of its own: a line along numbers, or a few points under their names.
struct Facet<'s> {
    /// What sets it apart from the others; empty where there is but one.
    name: String,
    ground: Ground,
    /// Where each point lies.
    rows: Vec<(f64, &'s CellFigures<'s>)>,
}

/// One figure of a step in all runs.
pub(super) struct Figures<'f> {
    pub(super) comparison: &'f Comparison,
    pub(super) sheet: &'f TrialSheet<'f>,
    pub(super) column: &'f Column,
    /// What is compared in the step.
    pub(super) step: &'f SharedStep<'f>,
    /// What the runs are called.
    pub(super) names: &'f [String],
}

impl Figures<'_> {
    /// Charts for a section with this title: for each line or handful of points all runs, and how they stand to the
    /// first.
    pub(super) fn charts(&self, title: &str) -> Markup {
        let facets = facets(self.sheet);
        let drawn: Vec<(String, Vec<Panel>)> = facets
            .iter()
            .map(|facet| (facet.name.clone(), self.panels(facet)))
            .filter(|(_, panels)| !panels.is_empty())
            .collect();
        let (first, rest) = drawn.split_at(drawn.len().min(SHOWN));
        let title_of = |name: &str| if name.is_empty() { title.to_owned() } else { format!("{title}, {name}") };
        let last = first.len().saturating_sub(1);
        html! {
            @for (place, (name, panels)) in first.iter().enumerate() {
                (figure(&title_of(name), panels, &if place == last { self.caption() } else { String::new() }))
            }
            @if !rest.is_empty() { details {
                @let names: Vec<&str> = rest.iter().map(|one| one.0.as_str()).collect();
                summary { (count(rest.len(), "more chart")) @if names.len() <= LISTED { ": " (names.join("; ")) } }
                @for (name, panels) in rest { (figure(&title_of(name), panels, "")) }
            } }
        }
    }

    fn panels(&self, facet: &Facet) -> Vec<Panel> {
        let runs: Vec<Spots> = (0..self.names.len()).map(|rank| self.run(facet, rank)).collect();
        if runs.iter().all(|run| run.spots.is_empty()) {
            return Vec::new();
        }
        let about = if facet.name.is_empty() { String::new() } else { format!("{}: ", facet.name) };
        let beside = chart::spots(format!("{about}{}", self.column.title()), &self.column.head(), &facet.ground, &runs);
        let against = format!("{about}{}, ratio to {}{}", self.column.name, self.names[0], self.column.way());
        let series = (1..self.names.len()).map(|other| self.changes(facet, other)).collect();
        let ratios = chart::ratios(against, &self.names[0], &facet.ground, series);
        std::iter::once(beside).chain(ratios).collect()
    }

    fn run(&self, facet: &Facet, rank: usize) -> Spots {
        let aside = facet.ground.aside(rank, self.names.len());
        let spot = |&(x, row): &(f64, &CellFigures)| {
            let side = self.side(row, rank)?;
            let figure = self.column.scaled(&side.interval);
            let spread = spread(&figure).map_or_else(String::new, |spread| format!(" {spread}"));
            let told = format!("{}{spread}", self.column.told(&figure));
            let said = vec![self.names[rank].clone(), self.sheet.name(row), told, count(side.samples.len(), "repeat")];
            let samples = side.samples.iter().map(|sample| sample * self.column.scale).collect();
            Some(Spot { x: x + aside, figure, samples, said, place: point_place(row.point) })
        };
        let look = LineStyle::ranked(COLORS[rank % COLORS.len()], rank);
        Spots { name: self.names[rank].clone(), look, spots: facet.rows.iter().filter_map(spot).collect() }
    }

    /// How one of the other runs stands to the first.
    fn changes(&self, facet: &Facet, other: usize) -> Changes<'_> {
        let aside = facet.ground.aside(other - 1, self.names.len() - 1);
        let point = |&(x, row): &(f64, &CellFigures)| {
            let one = self.step.find(row, &self.column.name, other)?;
            let p = one.test.map_or_else(String::new, |test| format!(", p = {}", p_value(test.adjusted)));
            let ratio = format!("{}: {}", self.names[other], times(&one.ratio, &self.names[0]));
            let said = vec![self.sheet.name(row), ratio, format!("{}{p}", one.verdict().name())];
            Some((x + aside, DrawnChange { contrast: one, said }))
        };
        let points = facet.rows.iter().filter_map(point).collect();
        Changes { name: self.names[other].clone(), color: COLORS[other % COLORS.len()], points }
    }

    /// What the run at `rank` gave; of the first what the others are held against.
    fn side(&self, row: &CellFigures, rank: usize) -> Option<&ContrastSide> {
        let found = |other: usize| self.step.find(row, &self.column.name, other);
        match rank {
            0 => (1..self.names.len()).find_map(found).map(|one: &Contrast| &one.before),
            other => found(other).map(|one| &one.after),
        }
    }

    fn caption(&self) -> String {
        format!(
            "First of each pair: means of the repeats with 95 % intervals, single repeats as dots, one colour per run. \
             Second: ratio of each mean to that of {}, with its interval; filled where it is significant, hollow where \
             it is not.",
            name(self.comparison, 0)
        )
    }
}

/// The charts that a step takes: one for each line where points lie along numbers; else as few leading things as it takes
/// are told apart, until what is left has room under its names.
fn facets<'s>(sheet: &'s TrialSheet<'s>) -> Vec<Facet<'s>> {
    if let Some(along) = sheet.along() {
        let facet = |name: String| {
            let rows = sheet.rows.iter().copied().filter(|row| sheet.line(row, along) == name);
            let mut rows: Vec<(f64, &CellFigures)> =
                rows.filter_map(|row| Some((sheet.number(row, along)?, row))).collect();
            rows.sort_by(|one, other| one.0.total_cmp(&other.0));
            Facet { ground: sheet.ground(along), name, rows }
        };
        return sheet.distinct(|row| sheet.line(row, along)).into_iter().map(facet).collect();
    }
    let values = |row: &CellFigures, places: std::ops::Range<usize>| {
        places.map(|at| sheet.value(row, at)).collect::<Vec<_>>().join(", ")
    };
    let has_room = |parts: &usize| {
        let most = |name: &String| sheet.rows.iter().filter(|row| values(row, 0..*parts) == *name).count() <= NAMES;
        sheet.distinct(|row| values(row, 0..*parts)).iter().all(most)
    };
    let parts = (0..sheet.axes.len()).find(has_room).unwrap_or(sheet.axes.len().saturating_sub(1));
    let facet = |name: String| {
        let rows: Vec<&CellFigures> = sheet.rows.iter().copied().filter(|row| values(row, 0..parts) == name).collect();
        let names: Vec<String> = rows.iter().map(|row| values(row, parts..sheet.axes.len())).collect();
        let ground = Ground::names("Point", &names);
        Facet { name, ground, rows: rows.into_iter().enumerate().map(|(at, row)| (at as f64, row)).collect() }
    };
    sheet.distinct(|row| values(row, 0..parts)).into_iter().map(facet).collect()
}
