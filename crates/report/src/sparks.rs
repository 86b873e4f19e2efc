//! Charts of one line for a terminal: how a figure goes with what is swept, and with time.

use plan::{Metric, Outcome};

use crate::axis;
use crate::figure::CellFigure;
use crate::number::{bound, three};
use crate::part::MeasuredStep;
use crate::report::Report;

/// The heights of a column, eighth by eighth. Source: Unicode 1.1, "Block Elements", U+2581 to U+2588.
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// The most columns of a chart, and so the most points; on a narrow terminal.
const COLUMNS: [usize; 2] = [24, 15];
/// The fewest points of which a chart says more than their figures.
const POINTS_LEAST: usize = 3;
/// How much of a line is for the words on the right: what is swept, and the figures at both ends; on a narrow terminal.
const RIGHT: [usize; 2] = [30, 20];
/// A terminal with fewer columns is narrow.
const NARROW: u16 = 80;

/// A line of a chart.
struct Spark {
    title: String,
    /// The step's name, for where the titles have no room.
    name: String,
    values: Vec<f64>,
    /// From where to where the columns go.
    ends: [String; 2],
    unit: &'static str,
}

/// The charts of a run, a line for each sweep and for each step that changes the drive over time, for a terminal `width`
/// columns wide; higher is faster, and every chart begins at zero. Empty where nothing makes a chart, else ends with a
/// line feed.
pub fn sparks(outcome: &Outcome, width: u16) -> String {
    Report::of(outcome).sparks(width)
}

pub(crate) fn of_report(report: &Report, width: u16) -> String {
    let [most, right] = [COLUMNS, RIGHT].map(|of| of[usize::from(width < NARROW)]);
    let all: Vec<Spark> =
        report.parts.iter().filter_map(|part| swept(part, most).or_else(|| over_time(part, most))).collect();
    if all.is_empty() {
        return String::new();
    }
    let longest = all.iter().map(|spark| spark.values.len()).max().unwrap_or_default();
    let room = usize::from(width.max(60)).saturating_sub(longest + right + 4).min(48);
    // A title cut short in the middle tells less than the name by which the plan calls the step.
    let is_roomy = all.iter().all(|spark| bound(&spark.title).chars().count() <= room);
    let label = |spark: &Spark| if is_roomy { spark.title.clone() } else { spark.name.clone() };
    let lines: String = all.iter().map(|spark| spark.line(&label(spark), room, longest, right)).collect();
    format!("Higher is faster; all axes begin at 0\n{}\n{lines}", "─".repeat(room + longest + right + 4))
}

impl Spark {
    fn line(&self, label: &str, room: usize, columns: usize, right: usize) -> String {
        let (first, last) = (self.values.first().copied(), self.values.last().copied());
        let ends = format!("{} … {}", self.ends[0], self.ends[1]);
        let figure = |value: Option<f64>| value.map_or_else(String::new, three);
        let words = format!("{} → {} {}", figure(first), figure(last), self.unit);
        let label = shortened(label, room);
        // The comma, and what an arrow and an ellipsis take more in ASCII.
        match ends.chars().count() + words.chars().count() + 5 <= right {
            true => format!("{label:<room$}  {:<columns$}  {words}, {ends}\n", bars(&self.values)),
            false => format!("{label:<room$}  {:<columns$}  {words}\n", bars(&self.values)),
        }
    }
}

/// A text with an ellipsis in it where there is no room for all of it.
fn shortened(text: &str, room: usize) -> String {
    let text = bound(text);
    let letters = text.chars().count();
    if letters <= room {
        return text.to_string();
    }
    // The end tells a worn drive's steps from those of a fresh one.
    let end: usize = room / 3;
    let begin = text.chars().take(room.saturating_sub(end + 1)).collect::<String>();
    begin + "…" + &text.chars().skip(letters - end).collect::<String>()
}

/// A column for each value, from zero to the highest; a gap where there is none.
pub fn bars(values: &[f64]) -> String {
    let highest = values.iter().copied().filter(|value| value.is_finite()).fold(0.0, f64::max);
    let bar = |value: &f64| match value.is_finite() && highest > 0.0 {
        true => BLOCKS[((value / highest * 8.0).ceil() as usize).clamp(1, 8) - 1],
        false => ' ',
    };
    values.iter().map(bar).collect()
}

/// How a step's figure goes with the one thing that it sweeps.
fn swept(part: &MeasuredStep, most: usize) -> Option<Spark> {
    let [axis] = part.step.action.measure()?.axes.as_slice() else { return None };
    let readings: Vec<_> = part.readings.iter().filter(|reading| reading.is_measured()).collect();
    let is_number = readings.iter().all(|reading| axis::value(axis, reading.point).is_some());
    if !is_number || !(POINTS_LEAST..=most).contains(&readings.len()) {
        return None;
    }
    let metric = metric(readings.iter().all(|reading| reading.cell().workload.pattern.is_random()));
    let mean = |figure: CellFigure| figure.interval().map_or(f64::NAN, |interval| interval.mean);
    let label = |place: usize| axis::label(axis, readings[place].point);
    Some(Spark {
        title: part.step.title.clone(),
        name: part.step.name.clone(),
        values: readings.iter().map(|reading| mean(reading.figure(metric))).collect(),
        ends: [label(0), label(readings.len() - 1)],
        unit: metric.unit(),
    })
}

/// How fast the drive was while a step changed it.
fn over_time(part: &MeasuredStep, most: usize) -> Option<Spark> {
    let [reading] = part.readings.as_slice() else { return None };
    let [measurement] = reading.point.measurements().collect::<Vec<_>>()[..] else { return None };
    let spans = part.timeline(measurement).binned(most);
    if !part.is_conditioning() || spans.len() < POINTS_LEAST {
        return None;
    }
    let is_random = reading.cell().workload.pattern.is_random();
    let end = spans.last().map(|span| span.start + span.length)?;
    Some(Spark {
        title: part.step.title.clone(),
        name: part.step.name.clone(),
        values: spans.iter().map(|span| if is_random { span.iops() } else { span.bandwidth() }).collect(),
        ends: ["0 s".to_owned(), format!("{} s", three(end))],
        unit: metric(is_random).unit(),
    })
}

/// What is read off: requests a second of random patterns, data a second of others.
const fn metric(is_random: bool) -> Metric {
    if is_random { Metric::Iops } else { Metric::Bandwidth }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_in_proportion_from_zero() {
        assert_eq!(bars(&[1.0, 2.0, 4.0, 8.0]), "▁▂▄█");
        assert_eq!(bars(&[8.0, 8.0, 8.0]), "███");
        assert_eq!(bars(&[0.0, f64::NAN, 100.0]), "▁ █");
        assert_eq!(bars(&[0.0, 0.0]), "  ", "nothing was done");
    }

    #[test]
    fn a_long_title_is_cut_where_there_is_no_room() {
        assert_eq!(shortened("Random reads by block size", 12), "Random …size");
        assert_eq!(shortened("Fill", 12), "Fill");
    }
}
