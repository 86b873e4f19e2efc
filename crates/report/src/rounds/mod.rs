//! A step that was measured in rounds: how it became steady, how that was judged, and its figures in the end.

mod course;
mod demand;
mod determination;
mod matrix;

use lab::Metric;
use maud::{Markup, html};

pub(crate) use course::{Course, Window, name as rule_name};
pub(crate) use demand::is_demand;
pub(crate) use matrix::{Grid, matrix};

use crate::axis;
use crate::chart::{self, Panel, Track};
use crate::number::{count, three};
use crate::part::Part;
use crate::section::figure;
use crate::sweep::Sweep;
use crate::table;

/// The most lines in a chart that its legend leaves readable.
const TRACKS_MAX: usize = 8;
/// The most charts of how it became steady.
const PANELS_MAX: usize = 4;

/// Charts and tables of `parts[index]`, which was measured in rounds as `course` has it.
pub(crate) fn section(parts: &[Part], index: usize, course: &Course) -> Markup {
    let part = &parts[index];
    let groups = groups(part, course);
    html! {
        p.steadiness { (course.said()) }
        (figures(parts, index, course))
        @if course.done > 1 {
            h3 { "From round to round" }
            (convergence(part, course, &groups))
        }
        @if !course.windows.is_empty() {
            h3 { "The measurement window" }
            (windows(part, course))
            (determination::table(part, course))
        }
        details { summary { "All figures of this step" } (table::figures(part)) }
        @if course.done > 1 {
            details { summary { (count(course.done, "round")) } (all_rounds(part, course, &groups)) }
        }
    }
}

/// What the window gave: as a matrix where two things are swept, by demand where those are threads and depth.
fn figures(parts: &[Part], index: usize, course: &Course) -> Markup {
    let part = &parts[index];
    if is_demand(part) {
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
        @if let Some(grid) = Grid::of(part) {
            (matrix(&grid, &of_window(by), by, &|reading| reading.figure(by)))
            @if by == Metric::LatencyMean {
                (matrix(&grid, "Longest latency in the window", Metric::LatencyMean, &matrix::longest))
            }
        }
        (figure(&part.step.title, &panels, &caption))
    }
}

/// `IOPS, means of the measurement window`.
fn of_window(metric: Metric) -> String {
    let unit = if metric == Metric::Iops { String::new() } else { format!(" ({})", metric.unit()) };
    format!("{}{unit}, means of the measurement window ± 95 % confidence", metric.title())
}

/// Cells that are drawn together: those along the last axis that share the values of the others.
struct Group {
    /// The values that they share; empty where nothing is.
    title: String,
    /// Places among the readings, and what sets each apart within the group.
    cells: Vec<(usize, String)>,
}

/// The groups that hold a cell that decides; all where none decides. In each at most [`TRACKS_MAX`] cells, those
/// that decide and others between them.
fn groups(part: &Part, course: &Course) -> Vec<Group> {
    let (last, outer) = part.axes().split_last().map_or((None, &[][..]), |(last, outer)| (Some(last), outer));
    let mut groups: Vec<Group> = Vec::new();
    for (place, reading) in part.readings.iter().enumerate() {
        let words: Vec<String> = outer.iter().map(|axis| axis::words(axis, reading.cell)).collect();
        let name =
            last.map_or_else(|| axis::kind(&reading.cell.workload).to_owned(), |axis| axis::words(axis, reading.cell));
        let title = words.join(", ");
        match groups.iter_mut().find(|group| group.title == title) {
            Some(group) => group.cells.push((place, name)),
            None => groups.push(Group { title, cells: vec![(place, name)] }),
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
fn convergence(part: &Part, course: &Course, groups: &[Group]) -> Markup {
    let by = course.rounds.by;
    let panels: Vec<Panel> = groups
        .iter()
        .map(|group| {
            let track = |(at, (place, name)): (usize, &(usize, String))| Track {
                name: name.clone(),
                place: at,
                is_watched: course.rounds.watched.contains(place) && part.readings.len() > 1,
                values: course::figures(by, part.readings[*place].cell.rounds()).collect(),
            };
            let tracks: Vec<Track> = group.cells.iter().enumerate().map(track).collect();
            let better = if by.more_is_better() { "more is better" } else { "less is better" };
            let unit = if by == Metric::Iops { String::new() } else { format!(" ({})", by.unit()) };
            let of = if group.title.is_empty() { String::new() } else { format!(", {}", group.title) };
            let window = course.counted().filter(|_| course.rounds.steady.is_some());
            chart::convergence(format!("{}{unit} by round{of}; {better}", by.title()), by, &tracks, window)
        })
        .collect();
    let thick = if part.readings.len() > 1 && !course.windows.is_empty() {
        " Thick lines are the cells that decide."
    } else {
        ""
    };
    let shaded = if course.rounds.steady.is_some() { " The shaded rounds are the measurement window." } else { "" };
    let rest = match course.rounds.rest {
        block::Nanos::ZERO => String::new(),
        rest => format!(" The drive was left alone for {rest} after each round."),
    };
    let caption =
        format!("Each point is one measurement on the drive as the one before it left it.{shaded}{thick}{rest}");
    figure(&part.step.title, &panels, &caption)
}

/// The window of every cell that decides.
fn windows(part: &Part, course: &Course) -> Markup {
    let panels: Vec<Panel> = course
        .windows
        .iter()
        .map(|window| {
            let of = if window.name.is_empty() { String::new() } else { format!(", {}", window.name) };
            let unit =
                if window.metric == Metric::Iops { String::new() } else { format!(" ({})", window.metric.unit()) };
            chart::window(
                format!("{}{unit} in rounds {} to {}{of}", window.metric.title(), window.first, window.last()),
                window,
            )
        })
        .collect();
    let caption = "The rounds that are judged, on an axis that does not begin at zero. They may span no more than the \
                   dashed lines lie apart, and the fitted line may rise or fall by no more than the table allows.";
    figure(&part.step.title, &panels, caption)
}

/// The cells that are drawn, round by round.
fn all_rounds(part: &Part, course: &Course, groups: &[Group]) -> Markup {
    let by = course.rounds.by;
    let (first, _) = course.counted().unwrap_or((1, 0));
    let table = html! {
        @for group in groups {
            table {
                caption {
                    (by.title()) @if by != Metric::Iops { " (" (by.unit()) ")" } " by round"
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
                        @let value = part.readings[*place].cell.rounds().nth(round - 1).and_then(|one| by.of(one));
                        td.number { @match value { Some(value) => (three(value)), None => span.dash { "–" } } }
                    }
                } } }
            }
        }
    };
    table::framed(&format!("{}: rounds", part.step.title), &table)
}
