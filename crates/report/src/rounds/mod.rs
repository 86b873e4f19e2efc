//! A step that was measured in rounds: how it became steady, how that was judged, and its figures in the end.

mod course;
mod demand;
mod determination;
mod joined;
mod matrix;
mod overview;

use block::Nanos;
use maud::{Markup, html};
use plan::Metric;

pub(crate) use course::{RoundsCourse, SteadyVerdict, Window, name as rule_name};
pub(crate) use joined::joined;
use matrix::{MatrixGrid, matrix};
pub(crate) use overview::{overview, rows};

use crate::axis;
use crate::chart::{self, Panel, Track};
use crate::drawn::figure;
use crate::number::{bound, count, kept, three};
use crate::part::MeasuredStep;
use crate::sweep::Sweep;
use crate::table::{self, Rows};

/// The most lines in a chart that its legend leaves readable.
const TRACKS_MAX: usize = 8;
/// The most charts of how it became steady.
const PANELS_MAX: usize = 4;

/// Charts and tables of `parts[index]`, which was measured in rounds as `course` has it.
pub(crate) fn section(parts: &[MeasuredStep], index: usize, course: &RoundsCourse) -> Markup {
    let part = &parts[index];
    let groups = groups(part, course);
    if part.readings.len() == 1 {
        return lone(parts, index, course, &groups);
    }
    html! {
        p.steadiness { (bound(&course.said())) }
        (figures(parts, index, course))
        @if course.done > 1 {
            h3 { "By round" }
            (figure(&part.step.title, &tracked(part, course, &groups), &rounds_caption(part, course)))
            @let maps = maps(part, course);
            @if !maps.is_empty() { (figure(&part.step.title, &maps, chart::HEAT_CAPTION)) }
        }
        @if !course.windows.is_empty() {
            h3 { "The measurement window" }
            (figure(&part.step.title, &windows(course), WINDOW_CAPTION))
            (determination::table(part, course))
        }
        @if has_matrix(part) { details { summary { "All figures of this step" } (table::figures_again(part)) } }
        @if course.done > 1 {
            details { summary { (count(course.done, "round")) } (all_rounds(part, course, &groups)) }
        }
    }
}

/// Charts and tables of one cell: its rounds and its window beside each other.
fn lone(parts: &[MeasuredStep], index: usize, course: &RoundsCourse, groups: &[CellGroup]) -> Markup {
    let part = &parts[index];
    let mut panels = tracked(part, course, groups);
    panels.extend(windows(course));
    let maps = maps(part, course);
    let judged = if course.windows.is_empty() { "" } else { WINDOW_CAPTION };
    html! {
        p.steadiness { (bound(&course.said())) }
        @if course.done > 1 {
            (figure(&part.step.title, &panels, format!("{} {judged}", rounds_caption(part, course)).trim_end()))
        } @else {
            (demand::response(part))
        }
        @if !course.windows.is_empty() { (determination::table(part, course)) }
        @if !maps.is_empty() { (figure(&part.step.title, &maps, chart::HEAT_CAPTION)) }
        (figure(&part.step.title, &chart::curve(parts, index), crate::prose::CURVE_CAPTION))
        (table::figures(part))
        @if course.done > 1 {
            details { summary { (count(course.done, "round")) } (all_rounds(part, course, groups)) }
        }
    }
}

/// What the window gave: as a matrix where two things are swept, by demand where those are threads and depth.
fn figures(parts: &[MeasuredStep], index: usize, course: &RoundsCourse) -> Markup {
    let part = &parts[index];
    if has_matrix(part) && demand::is_demand(part) {
        return demand::figures(part);
    }
    let (sweep, by) = (Sweep::of(parts, index), course.rounds.by);
    let panels = match &sweep {
        Some(sweep) => {
            let other = if by == Metric::LatencyMean { sweep.metric() } else { Metric::LatencyMean };
            [by, other].map(|metric| chart::lines_for(sweep, metric)).into()
        }
        None => chart::curve(parts, index),
    };
    let caption = match &sweep {
        Some(sweep) => format!(
            "Means of the measurement window by {}; bars are 95 % confidence intervals, dots are single rounds.",
            sweep.axis.title().trim_end_matches(" (%)").to_lowercase()
        ),
        None => crate::prose::CURVE_CAPTION.to_owned(),
    };
    html! {
        @if let Some(grid) = MatrixGrid::of(part) {
            (matrix(&grid, Rows::Linked, &of_window(by), by, &|reading| reading.figure(by)))
            @if by == Metric::LatencyMean {
                (matrix(&grid, Rows::Plain, "Maximum latency (µs) in the window", Metric::LatencyMean, &matrix::longest))
            }
        }
        (figure(&part.step.title, &panels, &caption))
        @if !has_matrix(part) { (table::figures(part)) }
    }
}

/// Whether the figures stand in matrices, so that what is left of them is told only where it is asked for.
fn has_matrix(part: &MeasuredStep) -> bool {
    MatrixGrid::of(part).is_some()
}

/// `IOPS, means of the measurement window`.
fn of_window(metric: Metric) -> String {
    format!("{}, means of the measurement window ± 95 % confidence", head(metric))
}

/// Cells that are drawn together: those along the last axis that share the values of the others.
struct CellGroup {
    /// The values that they share; empty where nothing is.
    title: String,
    /// Places among the readings, and what sets each apart within the group.
    cells: Vec<(usize, String)>,
}

/// The groups that hold a cell that decides; all where none decides. In each at most [`TRACKS_MAX`] cells, those
/// that decide and others between them.
fn groups(part: &MeasuredStep, course: &RoundsCourse) -> Vec<CellGroup> {
    let (last, outer) = part.axes.split_last().map_or((None, &[][..]), |(last, outer)| (Some(last), outer));
    let mut groups: Vec<CellGroup> = Vec::new();
    for (place, reading) in part.readings.iter().enumerate() {
        let words: Vec<String> = outer.iter().map(|axis| axis::words(axis, reading.point)).collect();
        let name = last
            .map_or_else(|| axis::kind(reading.cell().workload).to_owned(), |axis| axis::words(axis, reading.point));
        let title = words.join(", ");
        match groups.iter_mut().find(|group| group.title == title) {
            Some(group) => group.cells.push((place, name)),
            None => groups.push(CellGroup { title, cells: vec![(place, name)] }),
        }
    }
    let decides = |place: &usize| course.rounds.watched.contains(place);
    if groups.iter().any(|group| group.cells.iter().any(|(place, _)| decides(place))) {
        groups.retain(|group| group.cells.iter().any(|(place, _)| decides(place)));
    }
    for group in &mut groups {
        let mut spare = group.cells.len().saturating_sub(TRACKS_MAX);
        // Every other one goes, from the second on, until few enough are left.
        let mut at = 0;
        group.cells.retain(|(place, _)| {
            at += 1;
            let goes = spare > 0 && at % 2 == 0 && !decides(place);
            spare -= usize::from(goes);
            !goes
        });
        group.cells.truncate(TRACKS_MAX.max(group.cells.iter().filter(|(place, _)| decides(place)).count()));
    }
    groups.truncate(PANELS_MAX);
    groups
}

/// How the figure that decides came to its level.
fn tracked(part: &MeasuredStep, course: &RoundsCourse, groups: &[CellGroup]) -> Vec<Panel> {
    let by = course.rounds.by;
    let window = course.counted().filter(|_| course.rounds.steady.is_some());
    let panel = |group: &CellGroup| {
        let track = |(at, (place, name)): (usize, &(usize, String))| Track {
            name: name.clone(),
            place: at,
            is_watched: course.rounds.watched.contains(place),
            values: course::figures(by, part.readings[*place].cell().rounds()).collect(),
        };
        let tracks: Vec<Track> = group.cells.iter().enumerate().map(track).collect();
        let better = if by.more_is_better() { "more is better" } else { "less is better" };
        let of = if group.title.is_empty() { String::new() } else { format!(", {}", group.title) };
        chart::convergence(format!("{} by round{of}; {better}", head(by)), by, &tracks, window)
    };
    groups.iter().map(panel).collect()
}

/// How the latencies of the cells that decide were spread from round to round; of a lone cell always.
fn maps(part: &MeasuredStep, course: &RoundsCourse) -> Vec<Panel> {
    let decides = |place: &usize| part.readings.len() == 1 || course.rounds.watched.contains(place);
    let map = |place: usize| {
        let reading = &part.readings[place];
        let name = table::cell_name(part, reading);
        let of = if name.is_empty() { String::new() } else { format!("{name}: ") };
        let rounds: Vec<stats::Histogram> = reading.cell().rounds().map(measurement::Measurement::latency).collect();
        chart::heat_by_round(format!("{of}latency (µs) by round, by share of requests; lower is better"), &rounds)
    };
    (0..part.readings.len()).filter(decides).take(PANELS_MAX).filter_map(map).collect()
}

/// What charts of rounds show.
fn rounds_caption(part: &MeasuredStep, course: &RoundsCourse) -> String {
    let is_many = part.readings.len() > 1 && !course.windows.is_empty();
    let thick = if is_many { " Thick lines are the tracking points of the steady-state rule." } else { "" };
    let is_asked = course.rounds.steady.is_some();
    let shaded = if is_asked { " The shaded rounds are the measurement window." } else { "" };
    let rest = match course.rounds.rest {
        Nanos::ZERO => String::new(),
        rest => format!(" The drive was idle for {rest} after each round."),
    };
    format!("Each point is one measurement; the drive keeps its state from one to the next.{shaded}{thick}{rest}")
}

/// The window of every cell that decides.
fn windows(course: &RoundsCourse) -> Vec<Panel> {
    let panel = |window: &Window| {
        let of = if window.name.is_empty() { String::new() } else { format!(", {}", window.name) };
        chart::window(format!("{} in rounds {} to {}{of}", head(window.metric), window.first, window.last()), window)
    };
    course.windows.iter().map(panel).collect()
}

/// What charts of windows show.
const WINDOW_CAPTION: &str = "The measurement window, on an axis that does not begin at zero. Dashed lines are the \
    limits of the data excursion; the fitted line is the slope, whose limit is in the table.";

/// `IOPS`, `Mean latency (µs)`.
fn head(metric: Metric) -> String {
    if metric == Metric::Iops { metric.title().to_owned() } else { format!("{} ({})", metric.title(), metric.unit()) }
}

/// The cells that are drawn, round by round.
fn all_rounds(part: &MeasuredStep, course: &RoundsCourse, groups: &[CellGroup]) -> Markup {
    let by = course.rounds.by;
    let (first, _) = course.counted().unwrap_or((1, 0));
    let table = html! {
        @for group in groups {
            table {
                caption {
                    (head(by)) " by round"
                    @if !group.title.is_empty() { ", " (group.title) }
                    @if course.rounds.steady.is_some() { "; rounds of the measurement window are marked" }
                }
                thead { tr {
                    th scope="col" { "Round" }
                    @for (_, name) in &group.cells { th.number scope="col" { (name) } }
                } }
                tbody { @for round in 1..=course.done { tr.counted[course.rounds.steady.is_some() && round >= first] {
                    th scope="row" { (round) @if course.rounds.steady.is_some() && round >= first { span.hidden { ", in the window" } } }
                    @for (place, _) in &group.cells {
                        @let value = part.readings[*place].cell().rounds().nth(round - 1).and_then(|one| by.of(one));
                        td.number data-v=[value.map(kept)] { @match value { Some(value) => (three(value)), None => span.dash { "–" } } }
                    }
                } } }
            }
        }
    };
    table::framed(&format!("{}: rounds", part.step.title), &table)
}
