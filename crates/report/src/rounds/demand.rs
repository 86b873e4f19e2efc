//! How latency grows with demand: a sweep over workers and the depth of each.

use maud::{Markup, html};
use plan::{Axis, Field, Metric};
use stats::{Histogram, Interval};

use super::matrix::{MatrixGrid, longest, matrix};
use crate::chart::{self, DemandLine, DemandPoint, Response};
use crate::drawn::figure;
use crate::figure::{CellFigure, CellFigures};
use crate::number::{count, kept, latency, three, whole};
use crate::part::MeasuredStep;
use crate::table::{self, Rows};

/// How many requests tell the latency that one in 100,000 exceeds from the longest of all.
const FIVE_NINES_NEEDED: u64 = 100_000;

/// Whether workers and their depth are swept, and nothing else.
pub(super) fn is_demand(part: &MeasuredStep) -> bool {
    let is = |axis: &Axis, field| axis.field() == Some(field);
    match &part.axes[..] {
        [one, other] => {
            (is(one, Field::Numjobs) && is(other, Field::Iodepth))
                || (is(one, Field::Iodepth) && is(other, Field::Numjobs))
        }
        _ => false,
    }
}

/// Tables and charts of a sweep by demand.
pub(super) fn figures(part: &MeasuredStep) -> Markup {
    let chosen = chosen(part);
    html! {
        @if let Some(grid) = MatrixGrid::of(part) {
            @for (metric, rows) in [(Metric::Iops, Rows::Linked), (Metric::LatencyMean, Rows::Plain)] {
                (matrix(&grid, rows, &super::of_window(metric), metric, &|reading| reading.figure(metric)))
            }
            @if part.readings.iter().any(|reading| five_nines(reading).interval().is_some()) {
                (matrix(&grid, Rows::Plain, FIVE_NINES_CAPTION, Metric::LatencyMean, &five_nines))
            } @else {
                p.missing {
                    "No point completed the " (whole(FIVE_NINES_NEEDED)) " requests in the window that are needed to tell the "
                    "99.999 % latency from the maximum."
                }
            }
        }
        (figure(&part.step.title, &[chart::demand("Mean latency", &lines(part))], DEMAND_CAPTION))
        @if !chosen.is_empty() {
            h3 { "Response times" }
            (figure(&part.step.title, &responses(&chosen), RESPONSE_CAPTION))
            (chosen_table(part, &chosen))
        }
    }
}

/// What the table of the farthest percentile shows.
const FIVE_NINES_CAPTION: &str = "99.999 % latency (µs) of all requests in the window";

/// What a curve of demand shows.
const DEMAND_CAPTION: &str = "Mean latency (less is better) over IOPS (more is better): a line for each number of \
    workers, a point for each queue depth. Where a line turns upward the drive is saturated, and deeper queues add \
    only latency.";

/// What histograms of response times show.
const RESPONSE_CAPTION: &str = "Response-time histograms of all requests in the window, both axes logarithmic, at the \
    points of minimum, middle and maximum IOPS. Dashed lines are the mean and, from 100,000 requests on, the 99.999 % \
    latency.";

/// A line for each number of workers, by depth.
fn lines(part: &MeasuredStep) -> Vec<DemandLine> {
    let mut lines: Vec<(u32, Vec<&CellFigures>)> = Vec::new();
    for reading in part.readings.iter().filter(|reading| reading.is_measured()) {
        let workers = reading.cell().workload.workers;
        match lines.iter_mut().find(|(known, _)| *known == workers) {
            Some((_, readings)) => readings.push(reading),
            None => lines.push((workers, vec![reading])),
        }
    }
    lines.sort_by_key(|(workers, _)| *workers);
    let point = |reading: &&CellFigures| {
        let mean = |metric| Some(reading.figure(metric).interval()?.mean);
        Some(DemandPoint {
            asked: format!("queue depth {}", reading.cell().workload.queue_depth),
            iops: mean(Metric::Iops)?,
            latency: mean(Metric::LatencyMean)?,
        })
    };
    let line = |(workers, mut readings): (u32, Vec<&CellFigures>)| {
        readings.sort_by_key(|reading| reading.cell().workload.queue_depth);
        DemandLine { name: count(workers as usize, "worker"), points: readings.iter().filter_map(point).collect() }
    };
    lines.into_iter().map(line).collect()
}

/// The latencies of all requests in the window.
fn latencies(reading: &CellFigures) -> Histogram {
    let mut all = Histogram::new();
    reading.cell().repeats.iter().for_each(|round| all.merge(&round.latency()));
    all
}

/// The latency that one in 100,000 exceeds.
fn five_nines(reading: &CellFigures) -> CellFigure {
    let all = latencies(reading);
    match all.count() {
        0 => CellFigure::NotMeasured,
        1..FIVE_NINES_NEEDED => CellFigure::TooFew,
        _ => {
            let mean = all.percentile(99.999).as_micros_f64();
            CellFigure::Measured(Interval { mean, half_width: None, repeats: reading.cell().repeats.len() })
        }
    }
}

/// The points of the least IOPS, of those nearest the middle between, and of the most; fewer where they coincide.
fn chosen<'p>(part: &'p MeasuredStep<'p>) -> Vec<(&'static str, &'p CellFigures<'p>)> {
    let mut rates: Vec<(f64, &CellFigures)> =
        part.readings.iter().filter_map(|one| Some((one.figure(Metric::Iops).interval()?.mean, one))).collect();
    rates.sort_by(|one, other| one.0.total_cmp(&other.0));
    let Some((least, most)) = rates.first().zip(rates.last()) else { return Vec::new() };
    let aim = (least.0 + most.0) / 2.0;
    let middle = rates.iter().min_by(|one, other| (one.0 - aim).abs().total_cmp(&(other.0 - aim).abs()));
    let mut chosen: Vec<(&str, &CellFigures)> = Vec::new();
    for (name, (_, reading)) in [("Minimum IOPS", Some(least)), ("Middle", middle), ("Maximum IOPS", Some(most))]
        .into_iter()
        .filter_map(|(name, found)| Some((name, found?)))
    {
        if !chosen.iter().any(|(_, known)| std::ptr::eq(*known, *reading)) {
            chosen.push((name, reading));
        }
    }
    chosen
}

fn responses(chosen: &[(&str, &CellFigures)]) -> Vec<chart::Panel> {
    let response = |(name, reading): &(&str, &CellFigures)| {
        let (workers, depth) = (reading.cell().workload.workers, reading.cell().workload.queue_depth);
        let iops = reading.figure(Metric::Iops).interval().map_or(0.0, |figure| figure.mean);
        Response {
            title: format!("{name}: {}, queue depth {depth}, {} IOPS", count(workers as usize, "worker"), three(iops)),
            latencies: latencies(reading),
            five_nines: five_nines(reading).interval().map(|figure| figure.mean),
        }
    };
    chart::responses(&chosen.iter().map(response).collect::<Vec<_>>())
}

/// The response times of a step with one cell, which was measured once.
pub(super) fn response(part: &MeasuredStep) -> Markup {
    let chosen: Vec<(&str, &CellFigures)> =
        part.readings.iter().take(1).map(|reading| ("Response times", reading)).collect();
    html! { (figure(&part.step.title, &responses(&chosen), ONE_CAPTION)) }
}

/// What the histogram of one measurement shows.
const ONE_CAPTION: &str = "Response-time histogram of all requests, both axes logarithmic. Dashed lines are the mean \
    and, from 100,000 requests on, the 99.999 % latency.";

/// What the histograms hold, in numbers.
fn chosen_table(part: &MeasuredStep, chosen: &[(&str, &CellFigures)]) -> Markup {
    let mean = |figure: &CellFigure| figure.interval().map(|interval| interval.mean);
    let table = html! {
        table {
            caption { "Response times of all requests in the measurement window" }
            thead { tr {
                th scope="col" { "Point" } th.number scope="col" { "Workers" } th.number scope="col" { "Depth" }
                th.number scope="col" { "IOPS" } th.number scope="col" { "Requests" }
                @for head in ["Mean", "99.999 %", "Longest"] { th.number scope="col" data-head={ (head) ", µs" } { (head) } }
            } }
            tbody { @for (name, reading) in chosen {
                @let all = latencies(reading);
                tr {
                    th scope="row" { (name) }
                    td.number { (reading.cell().workload.workers) } td.number { (reading.cell().workload.queue_depth) }
                    @let iops = reading.figure(Metric::Iops).interval().map(|figure| figure.mean);
                    td.number data-v=[iops.map(kept)] { (iops.map_or_else(String::new, three)) }
                    td.number { (whole(all.count())) }
                    @for micros in [Some(all.mean() / 1e3), mean(&five_nines(reading)), mean(&longest(reading))] {
                        td.number data-v=[micros.map(kept)] { (micros.map_or_else(|| "–".to_owned(), latency)) }
                    }
                }
            } }
        }
    };
    table::framed(&format!("{}: response times", part.step.title), &table)
}
