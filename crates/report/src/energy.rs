//! Power and energy, whoever metered them.

use comfy_table::{Cell, CellAlignment, Table};
use engine::Measurement;
use lab::{Outcome, Quantity};
use maud::{Markup, html};
use stats::Interval;

use crate::figure::Reading;
use crate::number::{kept, spread, three};
use crate::part::Part;
use crate::table::{Rows, axis_head, cell_name, framed, grouped};

/// A summary for a terminal has so many rows of energy at most.
const ROWS_MAX: usize = 24;
/// The most rows of a table that is not folded away.
const OPEN_MAX: usize = 8;

/// What a measurement consumed, in a sentence or two; none where nobody metered it.
pub(crate) fn sentence(measurement: &Measurement) -> Option<String> {
    let energy = measurement.energy.as_ref()?;
    let figure = |quantity: Quantity| Some(format!("{} {}", three(quantity.of(measurement)?), quantity.unit()));
    let power = figure(Quantity::Power)?;
    let mut words = format!("Power: {power} on average, metered by {}", energy.meter);
    if let (Some(idle), Some(above)) = (energy.idle_watts, figure(Quantity::AboveIdle)) {
        words += &format!("; {} W idle, {above} above idle in total", three(idle));
    }
    words += &format!(". Energy: {}", figure(Quantity::Energy)?);
    words.extend(figure(Quantity::PerGib).map(|each| format!(", {}", each.replace("J/GiB", "J per GiB"))));
    words.extend(
        figure(Quantity::PerThousand).map(|each| format!(", {}", each.replace("J/1,000", "J per 1,000 requests"))),
    );
    Some(words + ".")
}

/// The energy of a step's cells, a row each; nothing where none is known.
pub(crate) fn table(part: &Part) -> Markup {
    if !part.readings.iter().any(|reading| reading.cell.amount(Quantity::Energy).is_some()) {
        return html! {};
    }
    let rests = part.readings.iter().any(|reading| at_rest(reading).is_some());
    let quantities: Vec<Quantity> =
        Quantity::ENERGY.into_iter().filter(|quantity| rests || *quantity != Quantity::AboveIdle).collect();
    let is_repeated = part.readings.iter().any(|reading| reading.cell.repeats.len() > 1);
    let table = html! {
        table {
            caption { "Power and energy, metered by " (meters(part).join("; ")) @if is_repeated { ": means ± 95 % confidence" } }
            thead { tr {
                (axis_head(part))
                @if rests { th.number scope="col" { "Idle, " span.unit { "W" } } }
                @for quantity in &quantities { th.number scope="col" { (head(*quantity)) } }
            } }
            (grouped(part, Rows::Plain, quantities.len() + 1 + usize::from(rests), |reading| html! {
                @if rests { (cell(at_rest(reading).as_ref())) }
                @for quantity in &quantities { (cell(reading.cell.amount(*quantity).as_ref())) }
            }))
        }
    };
    let table = framed(&format!("{}: power and energy", part.step.title), &table);
    html! {
        @if part.readings.len() > OPEN_MAX { details { summary { "Power and energy" } (table) } } @else { (table) }
    }
}

fn head(quantity: Quantity) -> Markup {
    let words = match quantity {
        Quantity::AboveIdle => "Above idle",
        Quantity::PerGib | Quantity::PerThousand => "Energy",
        quantity => quantity.title(),
    };
    let each = if quantity == Quantity::PerThousand { " requests" } else { "" };
    html! { (words) ", " span.unit { (quantity.unit()) } span.of { (each) } }
}

fn cell(interval: Option<&Interval>) -> Markup {
    match interval {
        Some(interval) => html! {
            td.number data-v=(kept(interval.mean)) data-h=[interval.half_width.map(kept)] { (three(interval.mean)) @if let Some(spread) = spread(interval) { " " span.spread { (spread) } } }
        },
        None => html! { td.number title="Unknown; a finding says why" { span.dash { "–" } } },
    }
}

/// Idle power over the repeats, in watts.
fn at_rest(reading: &Reading) -> Option<Interval> {
    let rests = reading.cell.repeats.iter().filter_map(|repeat| repeat.energy.as_ref()?.idle_watts);
    Interval::of(&rests.collect::<Vec<_>>())
}

/// Who metered a step, each once.
fn meters<'p>(part: &'p Part) -> Vec<&'p str> {
    let measured = part.readings.iter().flat_map(|reading| &reading.cell.repeats);
    let mut meters: Vec<&str> = measured.filter_map(|one| Some(one.energy.as_ref()?.meter.as_str())).collect();
    meters.dedup();
    if meters.is_empty() { vec!["the simulated drive's power model"] } else { meters }
}

/// Whether somebody asked for energy: a meter was named, or a plan of a few cells has a rest that was metered. A
/// simulated drive tells its energy always, and what was not asked for is in the report alone.
pub(crate) fn is_asked(outcome: &Outcome) -> bool {
    let cells = || outcome.steps.iter().flat_map(|step| &step.cells);
    let is_short = cells().count() <= ROWS_MAX;
    let measured = cells().flat_map(|cell| &cell.repeats).filter_map(|one| Some((one, one.energy.as_ref()?)));
    measured
        .filter(|(_, energy)| energy.joules.is_some())
        .any(|(one, energy)| one.clock == engine::Clock::Real || (is_short && energy.idle_watts.is_some()))
}

/// The energy of all cells, into a table of a terminal; how many cells it has no room for.
pub(crate) fn rows(parts: &[Part], table: &mut Table) -> usize {
    let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
    let heads = ["Idle, W", "Power, W", "Above idle, J", "J/GiB", "J/1,000"].map(|head| right(head.to_owned()));
    table.set_header([Cell::new("Power and energy")].into_iter().chain(heads));
    let known = |reading: &&Reading| reading.cell.amount(Quantity::Energy).is_some();
    let all: Vec<(&Part, &Reading)> =
        parts.iter().flat_map(|part| part.readings.iter().filter(known).map(move |reading| (part, reading))).collect();
    for (part, reading) in all.iter().take(ROWS_MAX) {
        let name = match cell_name(part, reading) {
            name if name.is_empty() => part.step.title.clone(),
            name => format!("{}, {name}", part.step.title),
        };
        let quantities = [Quantity::Power, Quantity::AboveIdle, Quantity::PerGib, Quantity::PerThousand];
        let amounts = quantities.map(|quantity| reading.cell.amount(quantity));
        let figure = |interval: Option<Interval>| right(interval.map_or_else(|| "–".to_owned(), |one| three(one.mean)));
        let figures = std::iter::once(at_rest(reading)).chain(amounts).map(figure);
        table.add_row(std::iter::once(Cell::new(name)).chain(figures));
    }
    all.len().saturating_sub(ROWS_MAX)
}
