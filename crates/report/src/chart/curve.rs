//! Latency by percentile, on an axis where each mark is ten times rarer than the one before.

use plotly::Scatter;
use plotly::common::{Mode, TickMode};
use plotly::layout::AxisType;
use stats::Histogram;
use workload::Pattern;

use super::{Along, COLORS, Heads, LineStyle, Panel, TEXT_ONLY, amounts, axis, drawn, house, hover, tells_apart};
use crate::axis::label;
use crate::figure::CellFigures;
use crate::number::latency;
use crate::part::{MeasuredStep, names};
use crate::sweep::{Sweep, SweepLine};

/// Points for each factor of ten in rarity.
const POINTS: u32 = 20;
/// The same where there are as many curves as a sweep has cells.
const POINTS_OF_MANY: u32 = 8;

/// The latencies of all repeats of a cell for one kind of request.
struct Curve {
    name: String,
    pattern: Pattern,
    place: usize,
    rank: usize,
    latency: Histogram,
}

/// The panel of a step that sweeps nothing with an order: a curve for each cell and kind of request.
pub(crate) fn curve(parts: &[MeasuredStep], index: usize) -> Vec<Panel> {
    let part = &parts[index];
    let curves = match part.beside.map(|beside| &parts[beside]) {
        Some(base) => {
            let [before, after] = names(base, part);
            let mut curves = curves(base, Some(&before), 0);
            curves.extend(self::curves(part, Some(&after), 1));
            curves
        }
        None => curves(part, None, 0),
    };
    panel(&curves, false)
}

/// The panel of the same step in several runs, each with its name.
pub(crate) fn curve_across(runs: &[MeasuredStep], names: &[String]) -> Vec<Panel> {
    let of_run = |(rank, (run, name)): (usize, (&MeasuredStep, &String))| curves(run, Some(name), rank);
    let mut curves: Vec<Curve> = runs.iter().zip(names).enumerate().flat_map(of_run).collect();
    let by_rank = curves.iter().filter(|curve| curve.rank == 0).count() == 1;
    if by_rank {
        curves.iter_mut().for_each(|curve| curve.name.clone_from(&names[curve.rank]));
    }
    panel(&curves, by_rank)
}

fn panel(curves: &[Curve], by_rank: bool) -> Vec<Panel> {
    let rarest = curves.iter().map(|curve| curve.latency.count()).max().unwrap_or(1) as f64;
    let values =
        || curves.iter().flat_map(|c| [c.latency.min(), c.latency.max()]).map(|latency| latency.as_micros_f64());
    let mut plot = house(nines(rarest), amounts(values()), curves.len());
    let last = curves.iter().map(|curve| curve.rank).max().unwrap_or(0);
    let mut ranks = (0..=last).map(|rank| curves.iter().filter(move |curve| curve.rank == rank));
    let by_pattern = ranks.all(|curves| tells_apart(curves.map(|curve| curve.pattern)));
    for curve in curves {
        let look = match by_rank {
            true => LineStyle::ranked(COLORS[curve.rank % COLORS.len()], curve.rank),
            false => LineStyle::of(curve.pattern, curve.place, by_pattern, curve.rank),
        };
        let points = points(&curve.latency, POINTS);
        let text = points.iter().map(|&(rarity, micros)| {
            let percentile = 100.0 * (1.0 - 1.0 / rarity);
            let decimals = (rarity.log10().ceil() as usize).saturating_sub(1);
            hover(&[curve.name.clone(), format!("{percentile:.decimals$} % within {}", latency(micros))])
        });
        plot.add_trace(trace(curve, &points, &look).text_array(text.collect()).hover_template(TEXT_ONLY));
    }
    vec![Panel::new("Latency (µs) by percentile, less is better".to_owned(), heads(), &plot)]
}

pub(super) fn heads() -> Heads {
    Heads::new("Percentile (%)", "Latency (µs)").along(Along::Rarities)
}

/// A panel for each line of a step's own sweep, with a curve for each of its cells.
pub(crate) fn curves_of(sweep: &Sweep) -> Vec<Panel> {
    let own = sweep.lines.iter().map(|line| line.rank).max().unwrap_or(0);
    let panel = |line: &SweepLine| {
        let curve = |(place, reading): (usize, &&CellFigures)| {
            let mut latency = Histogram::new();
            reading.cell().repeats.iter().for_each(|repeat| latency.merge(&repeat.latency()));
            let (name, pattern) = (label(sweep.axis, reading.point), line.pattern);
            (!latency.is_empty()).then_some(Curve { name, pattern, place, rank: 0, latency })
        };
        let curves: Vec<Curve> = line.readings.iter().enumerate().filter_map(curve).collect();
        let rarest = curves.iter().map(|curve| curve.latency.count()).max()? as f64;
        let ends = |curve: &Curve| [curve.latency.min(), curve.latency.max()].map(|latency| latency.as_micros_f64());
        let mut plot = house(nines(rarest), amounts(curves.iter().flat_map(ends)), curves.len());
        for curve in &curves {
            let look = LineStyle::of(curve.pattern, curve.place, false, 0);
            let said = "%{fullData.name}: %{y:,.3~r} µs<extra></extra>";
            plot.add_trace(trace(curve, &points(&curve.latency, POINTS_OF_MANY), &look).hover_template(said));
        }
        Some(Panel::new(format!("{}: latency (µs) by percentile, less is better", line.name), heads(), &plot))
    };
    sweep.lines.iter().filter(|line| line.rank == own).filter_map(panel).collect()
}

fn curves(part: &MeasuredStep, state: Option<&str>, rank: usize) -> Vec<Curve> {
    let mut curves = Vec::new();
    for (place, reading) in part.readings.iter().enumerate() {
        let workload = &reading.cell().workload;
        let own =
            reading.point.point.iter().map(|(axis, _)| crate::axis::words(axis, reading.point)).collect::<Vec<_>>();
        let own = if own.is_empty() { workload.pattern.words().to_owned() } else { own.join(", ") };
        for (kind, kind_pattern) in
            [("reads", Pattern::RandRead), ("writes", Pattern::RandWrite), ("trims", Pattern::RandTrim)]
        {
            let mut latency = Histogram::new();
            for repeat in &reading.cell().repeats {
                latency.merge(match kind_pattern {
                    Pattern::RandRead => &repeat.read.latency,
                    Pattern::RandWrite => &repeat.write.latency,
                    _ => &repeat.trim.latency,
                });
            }
            if latency.is_empty() {
                continue;
            }
            let kind = if workload.pattern.is_mixed() { format!("{own}: {kind}") } else { own.clone() };
            let name = state.map_or_else(|| kind.clone(), |state| format!("{kind}, {}", state.to_lowercase()));
            curves.push(Curve { name, pattern: kind_pattern, place, rank, latency });
        }
    }
    curves
}

/// The axis from "any request" to one in `rarest`.
pub(super) fn nines(rarest: f64) -> plotly::layout::Axis {
    let decades = rarest.log10().ceil().clamp(1.0, 12.0) as usize;
    let mut ticks = vec![1.0, 2.0];
    let mut text = vec!["0 %".to_owned(), "50 %".to_owned()];
    for decade in 1..=decades {
        ticks.push(10_f64.powi(decade as i32));
        text.push(if decade == 1 {
            "90 %".to_owned()
        } else {
            format!("{:.*} %", decade - 2, 100.0 - 10_f64.powi(2 - decade as i32))
        });
    }
    axis("Percentile").type_(AxisType::Log).tick_mode(TickMode::Array).tick_values(ticks).tick_text(text)
}

/// How rare a request is that takes longer, and what the others take at most, in microseconds.
fn points(latency: &Histogram, each: u32) -> Vec<(f64, f64)> {
    let steps = ((latency.count() as f64).log10() * f64::from(each)).floor() as u32;
    let rarity = |step: u32| 10_f64.powf(f64::from(step) / f64::from(each));
    let point = |rarity: f64| (rarity, latency.percentile(100.0 * (1.0 - 1.0 / rarity)).as_micros_f64());
    (0..=steps).map(rarity).map(point).collect()
}

fn trace(curve: &Curve, points: &[(f64, f64)], look: &LineStyle) -> Box<Scatter<f64, f64>> {
    Scatter::new(drawn(points.iter().map(|point| point.0)), drawn(points.iter().map(|point| point.1)))
        .name(hover(std::slice::from_ref(&curve.name)))
        .mode(Mode::Lines)
        .line(look.line())
}
