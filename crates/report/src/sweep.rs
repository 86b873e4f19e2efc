//! A sweep as lines over one axis.

use plan::{Axis, Metric};
use workload::Pattern;

use crate::axis;
use crate::figure::CellFigures;
use crate::part::{MeasuredStep, names};

/// A sweep as lines over one axis, with those of the step beside it.
pub(crate) struct Sweep<'p> {
    /// What lies along the axis.
    pub(crate) axis: &'p Axis,
    /// The lines, this step's after those of the step beside it.
    pub(crate) lines: Vec<SweepLine<'p>>,
    /// Whether colours tell runs apart, of which each has one line.
    pub(crate) by_rank: bool,
}

/// One line of a chart.
pub(crate) struct SweepLine<'p> {
    /// What sets it apart from the others.
    pub(crate) name: String,
    /// What its cells do; that of the first where they differ.
    pub(crate) pattern: Pattern,
    /// Its place among the lines of its own step: lines in two states share it, and so a colour.
    pub(crate) place: usize,
    /// Its step's place among those that stand beside each other, or its run's.
    pub(crate) rank: usize,
    /// Its points, ascending along the axis.
    pub(crate) readings: Vec<&'p CellFigures<'p>>,
}

impl<'p> Sweep<'p> {
    /// The sweep of `parts[index]`; none where it sweeps nothing that has an order.
    pub(crate) fn of(parts: &'p [MeasuredStep<'p>], index: usize) -> Option<Self> {
        let part = &parts[index];
        let axis = part.axes.iter().rev().find(|axis| distinct(part, axis) > 1)?;
        let others: Vec<&Axis> = part.axes.iter().filter(|&other| other != axis).collect();
        let mut lines = Vec::new();
        match part.beside.map(|beside| &parts[beside]) {
            Some(base) => {
                let [before, after] = names(base, part);
                lines.extend(lines_of(base, part, axis, &others, Some(&before), 0));
                lines.extend(lines_of(part, part, axis, &others, Some(&after), 1));
            }
            None => lines.extend(lines_of(part, part, axis, &others, None, 0)),
        }
        Some(Self { axis, lines, by_rank: false })
    }

    /// The sweep of the same step in several runs, each with its name; none where it sweeps nothing that has an order.
    pub(crate) fn across(runs: &'p [MeasuredStep<'p>], names: &[String]) -> Option<Self> {
        let base = runs.first()?;
        let axis = base.axes.iter().rev().find(|axis| distinct(base, axis) > 1)?;
        let others: Vec<&Axis> = base.axes.iter().filter(|&other| other != axis).collect();
        let lines = |(rank, (run, name)): (usize, (&'p MeasuredStep<'p>, &String))| {
            lines_of(run, base, axis, &others, Some(name), rank)
        };
        let mut lines: Vec<SweepLine> = runs.iter().zip(names).enumerate().flat_map(lines).collect();
        let by_rank = lines.iter().all(|line| line.place == 0);
        if by_rank {
            lines.iter_mut().for_each(|line| line.name.clone_from(&names[line.rank]));
        }
        Some(Self { axis, lines, by_rank })
    }

    /// The figure that its chart shows: how long it took where that is what a replay is for, data a second where sizes
    /// are compared in order, else requests a second.
    pub(crate) fn metric(&self) -> Metric {
        let mut readings = self.lines.iter().flat_map(|line| &line.readings);
        if readings.any(|reading| reading.figure(Metric::Time).interval().is_some()) {
            return Metric::Time;
        }
        let sequential = self.lines.iter().all(|line| !line.pattern.is_random());
        if sequential { Metric::Bandwidth } else { Metric::Iops }
    }
}

/// How many values of `axis` the cells have; none where it has no order.
fn distinct(part: &MeasuredStep, axis: &Axis) -> usize {
    let mut values: Vec<f64> = part.readings.iter().filter_map(|reading| axis::value(axis, reading.point)).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values.len()
}

/// The lines of `part`, at the points that `like` has.
fn lines_of<'p>(
    part: &'p MeasuredStep<'p>,
    like: &'p MeasuredStep<'p>,
    axis: &Axis,
    others: &[&Axis],
    state: Option<&str>,
    rank: usize,
) -> Vec<SweepLine<'p>> {
    let mut groups: Vec<(String, Vec<&CellFigures>)> = Vec::new();
    for wanted in &like.readings {
        let words: Vec<String> = others.iter().map(|other| axis::words(other, wanted.point)).collect();
        let name = words.join(", ");
        let reading = part.counterpart(wanted.point);
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, readings)) => readings.extend(reading),
            None => groups.push((name, reading.into_iter().collect())),
        }
    }
    let line = |(place, (name, mut readings)): (usize, (String, Vec<&'p CellFigures<'p>>))| {
        let x = |reading: &&CellFigures| axis::value(axis, reading.point).unwrap_or(0.0);
        readings.sort_by(|a, b| x(a).total_cmp(&x(b)));
        let pattern = readings[0].cell().workload.pattern;
        let own = if name.is_empty() { pattern.words().to_owned() } else { name };
        let name = state.map_or_else(|| own.clone(), |state| format!("{own}, {}", state.to_lowercase()));
        SweepLine { name, pattern, place, rank, readings }
    };
    groups.into_iter().enumerate().filter(|(_, (_, readings))| !readings.is_empty()).map(line).collect()
}
