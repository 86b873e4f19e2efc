//! Power and energy, whoever metered them.

use comfy_table::{Cell, CellAlignment, Table};
use maud::{Markup, html};
use measurement::Measurement;
use plan::{Group, Metric, Outcome};
use stats::Interval;

use crate::figure::CellFigures;
use crate::number::{kept, three};
use crate::part::MeasuredStep;
use crate::table::{Rows, axis_head, cell_name, dash, framed, grouped, mean_and_spread};

/// A summary for a terminal has so many rows of energy at most.
const ROWS_MAX: usize = 24;
/// The most rows of a table that is not folded away.
const OPEN_MAX: usize = 8;

/// What a measurement consumed, in a sentence or two; none where nobody metered it.
pub(crate) fn sentence(measurement: &Measurement) -> Option<String> {
    let energy = measurement.energy.as_ref()?;
    let figure = |metric: Metric| Some(format!("{} {}", three(metric.of(measurement)?), metric.unit()));
    let power = figure(Metric::Power)?;
    let mut words = format!("Power: {power} on average, metered by {}", energy.meter);
    if let (Some(idle), Some(above)) = (energy.idle_watts, figure(Metric::EnergyAboveIdle)) {
        words += &format!("; {} W idle, {above} above idle in total", three(idle));
    }
    words += &format!(". Energy: {}", figure(Metric::Energy)?);
    words.extend(figure(Metric::EnergyPerGib).map(|each| format!(", {}", each.replace("J/GiB", "J per GiB"))));
    words.extend(
        figure(Metric::EnergyPerThousand).map(|each| format!(", {}", each.replace("J/1,000", "J per 1,000 requests"))),
    );
    Some(words + ".")
}

/// The energy of a step's cells, a row each; nothing where none is known.
pub(crate) fn table(part: &MeasuredStep) -> Markup {
    if !part.readings.iter().any(|reading| reading.point.figure(Metric::Energy).is_some()) {
        return html! {};
    }
    let rests = part.readings.iter().any(|reading| at_rest(reading).is_some());
    let metrics: Vec<Metric> =
        Metric::of_group(Group::Energy).filter(|metric| rests || *metric != Metric::EnergyAboveIdle).collect();
    let is_repeated = part.readings.iter().any(|reading| reading.point.repeats.len() > 1);
    let table = html! {
        table {
            caption { "Power and energy, metered by " (meters(part).join("; ")) @if is_repeated { ": means ± 95 % confidence" } }
            thead { tr {
                (axis_head(part))
                @if rests { th.number scope="col" { "Idle, " span.unit { "W" } } }
                @for metric in &metrics { th.number scope="col" { (head(*metric)) } }
            } }
            (grouped(part, Rows::Plain, metrics.len() + 1 + usize::from(rests), |reading| html! {
                @if rests { (cell(at_rest(reading).as_ref())) }
                @for metric in &metrics { (cell(reading.point.figure(*metric).as_ref())) }
            }))
        }
    };
    let table = framed(&format!("{}: power and energy", part.step.title), &table);
    html! {
        @if part.readings.len() > OPEN_MAX { details { summary { "Power and energy" } (table) } } @else { (table) }
    }
}

fn head(metric: Metric) -> Markup {
    let words = match metric {
        Metric::EnergyAboveIdle => "Above idle",
        Metric::EnergyPerGib | Metric::EnergyPerThousand => "Energy",
        metric => metric.title(),
    };
    let each = if metric == Metric::EnergyPerThousand { " requests" } else { "" };
    html! { (words) ", " span.unit { (metric.unit()) } span.of { (each) } }
}

fn cell(interval: Option<&Interval>) -> Markup {
    match interval {
        Some(interval) => html! {
            td.number data-v=(kept(interval.mean)) data-h=[interval.half_width.map(kept)] { (mean_and_spread(interval)) }
        },
        None => html! { td.number title="Unknown; see the findings" { (dash()) } },
    }
}

/// Idle power over the repeats, in watts.
fn at_rest(reading: &CellFigures) -> Option<Interval> {
    let rests = reading.point.measurements().filter_map(|repeat| repeat.energy.as_ref()?.idle_watts);
    Interval::of(&rests.collect::<Vec<_>>())
}

/// Who metered a step, each once.
fn meters<'p>(part: &'p MeasuredStep) -> Vec<&'p str> {
    let measured = part.readings.iter().flat_map(|reading| reading.point.measurements());
    let mut meters: Vec<&str> = measured.filter_map(|one| Some(one.energy.as_ref()?.meter.as_str())).collect();
    meters.dedup();
    if meters.is_empty() { vec!["the simulated drive's power model"] } else { meters }
}

/// Whether somebody asked for energy: a meter was named, or a plan of a few cells has a rest that was metered. A
/// simulated drive tells its energy always, and what was not asked for is in the report alone.
pub(crate) fn is_asked(outcome: &Outcome) -> bool {
    let cells = || outcome.steps.iter().flat_map(|step| &step.points).filter(|point| point.workload().is_some());
    let is_short = cells().count() <= ROWS_MAX;
    let measured = cells().flat_map(|cell| cell.measurements()).filter_map(|one| Some((one, one.energy.as_ref()?)));
    measured
        .filter(|(_, energy)| energy.joules.is_some())
        .any(|(one, energy)| one.clock == measurement::Clock::Real || (is_short && energy.idle_watts.is_some()))
}

/// The energy of all cells, into a table of a terminal; how many cells it has no room for.
pub(crate) fn rows(parts: &[MeasuredStep], table: &mut Table) -> usize {
    let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
    let heads = ["Idle, W", "Power, W", "Above idle, J", "J/GiB", "J/1,000"].map(|head| right(head.to_owned()));
    table.set_header([Cell::new("Power and energy")].into_iter().chain(heads));
    let known = |reading: &&CellFigures| reading.point.figure(Metric::Energy).is_some();
    let all: Vec<(&MeasuredStep, &CellFigures)> =
        parts.iter().flat_map(|part| part.readings.iter().filter(known).map(move |reading| (part, reading))).collect();
    for (part, reading) in all.iter().take(ROWS_MAX) {
        let name = match cell_name(part, reading) {
            name if name.is_empty() => part.step.title.clone(),
            name => format!("{}, {name}", part.step.title),
        };
        let metrics = [Metric::Power, Metric::EnergyAboveIdle, Metric::EnergyPerGib, Metric::EnergyPerThousand];
        let amounts = metrics.map(|metric| reading.point.figure(metric));
        let figure = |interval: Option<Interval>| right(interval.map_or_else(|| "–".to_owned(), |one| three(one.mean)));
        let figures = std::iter::once(at_rest(reading)).chain(amounts).map(figure);
        table.add_row(std::iter::once(Cell::new(name)).chain(figures));
    }
    all.len().saturating_sub(ROWS_MAX)
}
