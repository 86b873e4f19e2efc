//! The section of one step: what it is, its chart, its tables, its doubts.

use block::Bytes;
use maud::{Markup, html};
use plan::{Action, Metric, Outcome, Rounds};
use workload::Pattern;

use crate::chart::{self, Panel};
use crate::consistency::Consistency;
use crate::drawn::figure;
use crate::figure::CellFigures;
use crate::number::{bound, count, kept, latency, three};
use crate::part::{MeasuredStep, names};
use crate::quoting::quoting;
use crate::rounds::{self, RoundsCourse};
use crate::saturation::Saturation;
use crate::state::DriveState;
use crate::sweep::Sweep;
use crate::timeline::Timeline;
use crate::{axis, energy, finding, load, prose, replay, table, trials};

/// The section of `parts[index]`, with the findings that are about it.
pub(crate) fn section(outcome: &Outcome, parts: &[MeasuredStep], index: usize) -> Markup {
    let part = &parts[index];
    let asked = match &part.step.action {
        Action::Measure(measure) | Action::Rounds(Rounds { measure, .. }) => measure.summary(&prose::PHRASES),
        Action::Trial(trials) => trials.summary(),
        _ => prose::common(&part.readings.iter().map(|reading| reading.cell().workload).collect::<Vec<_>>()),
    };
    html! {
        section.step id=(part.anchor()) {
            h2 { (part.step.title) }
            @for paragraph in part.step.about.iter().flat_map(|about| about.split("\n\n")) { p { (quoting(paragraph)) } }
            p.asked {
                (bound(&asked)) "; " (bound(&repeated(part))) "; drive " (bound(&drive(part.state))) "."
            }
            @for told in passed_over(part) { p { (told) } }
            @if part.is_measured() {
                @match RoundsCourse::of(part) {
                    _ if let Action::Trial(trials) = &part.step.action => (trials::section(part, trials)),
                    _ if let Some(saturation) = Saturation::of(part) => (saturation.section(part)),
                    _ if part.is_conditioning() => (conditioning(parts, index, outcome.writable())),
                    Some(course) => (rounds::section(parts, index, &course)),
                    None => (measured(parts, index)),
                }
                @if let Some(joined) = rounds::joined(outcome, parts, index) { (joined) }
                (energy::table(part))
            } @else {
                p.missing { "Not measured: the run ended before this step completed a measurement." }
            }
            (finding::of_step(part, &outcome.findings))
        }
    }
}

/// What of the traces that were replayed was passed over, each said once.
fn passed_over(part: &MeasuredStep) -> Vec<String> {
    let replays = part.readings.iter().filter_map(|reading| reading.point.workload()?.replay.as_ref());
    let mut told: Vec<String> = Vec::new();
    for words in replays.filter_map(replay::passed_over) {
        if !told.contains(&words) {
            told.push(words);
        }
    }
    told
}

/// In what state a step finds the drive.
fn drive(state: DriveState) -> String {
    match state {
        DriveState::Written(_) => state.moment(),
        DriveState::PartlyFilled(range) => format!("{}, {range}", state.name()),
        _ => state.name().to_owned(),
    }
}

fn repeated(part: &MeasuredStep) -> String {
    if let Some(rounds) = part.rounds() {
        let done = part.readings.iter().map(|reading| reading.cell().rounds().count()).max().unwrap_or_default();
        let window = (rounds.measure.repeats.most as usize).min(done);
        let of_all = format!("figures of all {}", count(done, "round"));
        return if window == done {
            of_all
        } else {
            format!("figures of the last {window} of {}", count(done, "round"))
        };
    }
    match &part.step.action {
        Action::Measure(measure) => match measure.repeats.until {
            None => format!("{} each", count(measure.repeats.most as usize, "repeat")),
            Some(share) => until(part, share, measure.repeats.most),
        },
        Action::Trial(trials) => format!("{} each", count(trials.repeats as usize, "repeat")),
        _ => "run once".to_owned(),
    }
}

/// How often cells were measured that were repeated until they were precise, and which came to it.
fn until(part: &MeasuredStep, share: f64, most: u32) -> String {
    let measured: Vec<&CellFigures> = part.readings.iter().filter(|reading| reading.is_measured()).collect();
    let interval =
        |reading: &&&CellFigures| reading.figure(Metric::Iops).interval().and_then(|interval| interval.relative());
    let precise = measured.iter().filter(|reading| interval(reading).is_some_and(|found| found <= share)).count();
    let counts = || measured.iter().map(|reading| reading.cell().repeats.len());
    let (least, longest) = (counts().min().unwrap_or_default(), counts().max().unwrap_or_default());
    let times = if least == longest { least.to_string() } else { format!("{least} to {longest}") };
    let percent = axis::plain(share * 100.0);
    format!(
        "repeated until IOPS are within ±{percent} %, at most {most} times: {times} repeats, {precise} of {} reached it",
        count(measured.len(), "point")
    )
}

/// Chart and tables of a sweep, or of single cells.
fn measured(parts: &[MeasuredStep], index: usize) -> Markup {
    let part = &parts[index];
    let base = part.beside.map(|beside| &parts[beside]);
    let sweep = Sweep::of(parts, index);
    let drawn = || {
        let (panels, caption) = match &sweep {
            Some(sweep) => {
                let names = base.map(|base| names(base, part));
                let names = names.as_ref().map(|[before, after]| [before.as_str(), after.as_str()]);
                let is_repeated = part.readings.iter().any(|reading| reading.cell().repeats.len() > 1);
                (chart::lines(sweep), prose::sweep_caption(sweep.axis.title(), sweep.metric(), names, is_repeated))
            }
            None => (chart::curve(parts, index), prose::CURVE_CAPTION.to_owned()),
        };
        figure(&part.step.title, &panels, &caption)
    };
    html! {
        (load::curves(part).unwrap_or_else(drawn))
        @match (base, &sweep) {
            (Some(base), Some(sweep)) => {
                (table::comparison(base, part, sweep.metric()))
                details { summary { "All figures of this step" } (table::figures_again(part)) }
            }
            (Some(base), None) => (table::comparison_by_figure(base, part)),
            (None, _) => (table::figures(part)),
        }
        @if let Some(sweep) = &sweep { (percentiles(part, sweep)) }
        (over_time(part))
    }
}

/// How the latencies of every cell of a sweep are spread, for who wants to know.
fn percentiles(part: &MeasuredStep, sweep: &Sweep) -> Markup {
    let panels = chart::curves_of(sweep);
    html! {
        @if !panels.is_empty() {
            details { summary { "Latency by percentile" } (figure(&part.step.title, &panels, prose::CURVE_CAPTION)) }
        }
    }
}

/// The heading of maps of latencies.
pub(crate) const HEAT_TITLE: &str = "Latency (µs) over time, by share of requests; lower is better";
/// From so many seconds on what a cell did over time is shown.
const LONG: usize = 20;
/// A step of more cells shows none of them over time.
const CELLS_OVER_TIME: usize = 4;

/// What the cells of a step did over time in their first repeats, where those are long.
fn over_time(part: &MeasuredStep) -> Markup {
    let is_long =
        |reading: &&CellFigures| reading.point.measurements().next().is_some_and(|first| first.series.len() >= LONG);
    let long: Vec<&CellFigures> = part.readings.iter().filter(is_long).collect();
    if long.len() > CELLS_OVER_TIME {
        return html! {};
    }
    let map = |reading: &&CellFigures| {
        let name = table::cell_name(part, reading);
        let title = if name.is_empty() { HEAT_TITLE.to_owned() } else { format!("{name}: {HEAT_TITLE}") };
        chart::heat_over_time(title, &Timeline::whole(reading.point.measurements().next()?).binned(chart::STRETCHES))
    };
    let maps: Vec<Panel> = long.iter().filter_map(map).collect();
    html! { @if !maps.is_empty() { (figure(&part.step.title, &maps, chart::HEAT_CAPTION)) } }
}

/// Chart, verdict and tables of a conditioning.
fn conditioning(parts: &[MeasuredStep], index: usize, capacity: Option<Bytes>) -> Markup {
    let part = &parts[index];
    let measured = part.readings.first().and_then(|reading| reading.point.measurements().next());
    let Some(measurement) = measured else { return html! {} };
    let timeline = part.timeline(measurement);
    let bin = timeline.binned(chart::SERIES_POINTS).first().map_or(1.0, |span| span.length);
    let spans = if timeline.rounds.len() > 1 { timeline.rounds.clone() } else { timeline.binned(chart::SERIES_POINTS) };
    let mut panels = chart::series(&timeline);
    let is_brief = panels.is_empty();
    // What a drive gives for random writes depends on how much was written, not on how long that took.
    let is_saturation = measurement.workload.pattern == Pattern::RandWrite && spans.len() > 1;
    panels.extend(is_saturation.then(|| chart::written(&spans, capacity)));
    let map = chart::heat_over_time(HEAT_TITLE.to_owned(), &timeline.binned(chart::STRETCHES)).filter(|_| !is_brief);
    let how = if map.is_some() { chart::HEAT_CAPTION } else { "" };
    panels.extend(map);
    let mut caption = format!("{} {how}", prose::series_caption(bin, timeline.rounds.len()));
    if is_brief {
        // Too short for a line over time, it can still tell how its latencies are spread.
        (panels, caption) = (chart::curve(parts, index), prose::CURVE_CAPTION.to_owned());
    }
    html! {
        @if part.condition().is_some_and(|condition| condition.steady.is_some()) {
            p.steadiness { (bound(&prose::steadiness(&timeline.rule, timeline.steadiness.as_ref(), timeline.rounds.len()))) }
        }
        @if let Some(consistency) = Consistency::of(&timeline) { p { (bound(&consistency.said())) } }
        (figure(&part.step.title, &panels, caption.trim_end()))
        (table::figures(part))
        @if !timeline.rounds.is_empty() {
            details { summary { (count(timeline.rounds.len(), "round")) } (table_of_rounds(part, &timeline)) }
        }
    }
}

fn table_of_rounds(part: &MeasuredStep, timeline: &Timeline) -> Markup {
    let table = html! {
        table {
            caption { "Means of rounds" }
            thead { tr {
                th scope="col" { "Round" } th.number scope="col" { "Ends after, " span.unit { "s" } }
                th.number scope="col" { "IOPS" }
                @for head in ["Mean latency", "99 %", "Longest"] { th.number scope="col" data-head={ (head) ", µs" } { (head) } }
            } }
            tbody { @for (i, span) in timeline.rounds.iter().enumerate() { tr {
                th scope="row" { (i + 1) }
                td.number { (axis::plain(span.start + span.length)) }
                td.number data-v=(kept(span.iops())) { (three(span.iops())) }
                @for micros in [span.latency_mean(), span.percentile(99.0), Some(span.latency_max)] {
                    td.number data-v=[micros.map(kept)] { (micros.map_or_else(|| "–".to_owned(), latency)) }
                }
            } } }
        }
    };
    table::framed(&format!("{}: rounds", part.step.title), &table)
}
