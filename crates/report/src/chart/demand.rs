//! Latency over demand, and how latencies are spread.

use plotly::common::{Anchor, DashType, Fill, Line, LineShape, Mode, TickMode};
use plotly::layout::{Annotation, AxisType, Shape, ShapeLine, ShapeType};
use plotly::{Plot, Scatter};
use stats::Histogram;

use super::{COLORS, Heads, LineStyle, Panel, TEXT_ONLY, amounts, axis, drawn, house, hover};
use crate::axis::logarithmic_ticks;
use crate::number::{latency, three};

/// Bins for each factor of ten in latency.
const BINS: f64 = 20.0;

/// The points of one number of workers, or of one figure of latency.
pub(crate) struct DemandLine {
    /// Which.
    pub(crate) name: String,
    /// By how much is asked.
    pub(crate) points: Vec<DemandPoint>,
}

/// What one depth or load gave.
pub(crate) struct DemandPoint {
    /// How much was asked: `queue depth 8`.
    pub(crate) asked: String,
    /// Requests a second.
    pub(crate) iops: f64,
    /// Latency, in microseconds.
    pub(crate) latency: f64,
}

/// The panel of this latency over IOPS.
pub(crate) fn demand(what: &str, lines: &[DemandLine]) -> Panel {
    let points = || lines.iter().flat_map(|line| &line.points);
    let most = points().map(|point| point.iops).fold(0.0, f64::max);
    let x = axis("IOPS").range(vec![0.0, most * 1.06]).separate_thousands(true).tick_format(",~g").n_ticks(8);
    let mut plot = house(x, amounts(points().map(|point| point.latency)), lines.len());
    for (place, line) in lines.iter().enumerate() {
        let look = LineStyle::ranked(COLORS[place % COLORS.len()], place / COLORS.len());
        let text = line.points.iter().map(|point| {
            let figures = format!("{} IOPS, {}", three(point.iops), latency(point.latency));
            hover(&[line.name.clone(), point.asked.clone(), figures])
        });
        plot.add_trace(
            Scatter::new(
                drawn(line.points.iter().map(|point| point.iops)),
                drawn(line.points.iter().map(|point| point.latency)),
            )
            .name(&line.name)
            .mode(Mode::LinesMarkers)
            .line(look.line())
            .marker(look.marker())
            .text_array(text.collect())
            .hover_template(TEXT_ONLY),
        );
    }
    let heads = Heads::new("IOPS", format!("{what} (µs)"));
    Panel::new(format!("{what} (µs) by IOPS; right and down is better"), heads, &plot)
}

/// The latencies of one point.
pub(crate) struct Response {
    /// Which point it is.
    pub(crate) title: String,
    /// The latencies of all requests.
    pub(crate) latencies: Histogram,
    /// The latency that one in 100,000 exceeds, in microseconds, where there are enough requests to tell.
    pub(crate) five_nines: Option<f64>,
}

/// A panel for each point, all with the same axes, so that they can be held against each other.
pub(crate) fn responses(all: &[Response]) -> Vec<Panel> {
    let of = |pick: fn(&Histogram) -> block::Nanos| all.iter().map(move |one| pick(&one.latencies).as_micros_f64());
    let least = of(Histogram::min).fold(f64::MAX, f64::min).max(1e-3);
    let most = of(Histogram::max).fold(0.0, f64::max).max(least);
    let tallest = all.iter().flat_map(|one| binned(&one.latencies)).map(|(_, count)| count).max().unwrap_or(1);
    let heads = || Heads::new("Latency from (µs)", "Requests");
    all.iter().map(|one| Panel::new(one.title.clone(), heads(), &response(one, least, most, tallest))).collect()
}

fn response(one: &Response, least: f64, most: f64, tallest: u64) -> Plot {
    let (ticks, text) = logarithmic_ticks(least, most);
    let x = axis("Latency (µs)")
        .show_grid(false)
        .type_(AxisType::Log)
        .range(vec![least.log10() - 0.08, most.log10() + 0.08])
        .tick_mode(TickMode::Array)
        .tick_values(ticks)
        .tick_text(text);
    let (ticks, text) = logarithmic_ticks(1.0, tallest as f64);
    let y = axis("Requests")
        .type_(AxisType::Log)
        .range(vec![0.5_f64.log10(), (tallest as f64 * 2.5).log10()])
        .tick_mode(TickMode::Array)
        .tick_values(ticks)
        .tick_text(text);
    let mut plot = house(x, y, 1);
    let bins = binned(&one.latencies);
    let place = |bin: i32| 10_f64.powf(f64::from(bin) / BINS);
    // Outlines of bars: up at the lower edge, down at the upper; what stands at half a request is empty.
    let (mut edges, mut heights, mut said) = (Vec::new(), Vec::new(), Vec::new());
    for (bin, count) in outlined(&bins) {
        edges.push(place(bin));
        heights.push((count as f64).max(0.5));
        said.push(match count {
            0 => String::new(),
            _ => hover(&[
                format!("{} to {}", latency(place(bin)), latency(place(bin + 1))),
                crate::number::count(count as usize, "request"),
            ]),
        });
    }
    plot.add_trace(
        Scatter::new(drawn(edges.into_iter()), drawn(heights.into_iter()))
            .mode(Mode::Lines)
            .line(Line::new().color(COLORS[0]).width(1.5).shape(LineShape::Hv))
            .fill(Fill::ToZeroY)
            .text_array(said)
            .hover_template(TEXT_ONLY),
    );
    let mean = one.latencies.mean() / 1e3;
    let marks: Vec<(f64, String)> = std::iter::once((mean, format!("mean {}", latency(mean))))
        .chain(one.five_nines.map(|micros| (micros, format!("99.999 % {}", latency(micros)))))
        .collect();
    let layout = plot.layout().clone();
    plot.set_layout(
        layout.shapes(marks.iter().map(|(micros, _)| mark(*micros)).collect()).annotations(
            marks
                .iter()
                .enumerate()
                .map(|(place, (micros, text))| {
                    let is_left = micros.log10() * 2.0 < least.log10() + most.log10();
                    note(*micros, text, place, is_left)
                })
                .collect(),
        ),
    );
    plot
}

/// How many requests fall into each bin in use, by the bin's number: bin 0 begins at a microsecond.
fn binned(latencies: &Histogram) -> Vec<(i32, u64)> {
    let mut bins: Vec<(i32, u64)> = Vec::new();
    for (latency, count) in latencies.bins() {
        let bin = (latency.as_micros_f64().max(1e-3).log10() * BINS).floor() as i32;
        match bins.last_mut() {
            Some((last, sum)) if *last == bin => *sum += count,
            _ => bins.push((bin, count)),
        }
    }
    bins
}

/// The bins with an empty one after each that has no neighbour, so that gaps stay gaps.
fn outlined(bins: &[(i32, u64)]) -> Vec<(i32, u64)> {
    let mut all: Vec<(i32, u64)> = bins.first().map(|(bin, _)| (*bin, 0)).into_iter().collect();
    for (place, &(bin, count)) in bins.iter().enumerate() {
        all.push((bin, count));
        if bins.get(place + 1).is_none_or(|(next, _)| *next > bin + 1) {
            all.push((bin + 1, 0));
        }
    }
    all
}

/// A line from top to bottom at a latency.
fn mark(micros: f64) -> Shape {
    Shape::new()
        .shape_type(ShapeType::Line)
        .x_ref("x")
        .y_ref("paper")
        .x0(micros)
        .x1(micros)
        .y0(0.0)
        .y1(1.0)
        .line(ShapeLine::new().color("var(--ink)").width(1.2).dash(DashType::Dash))
}

/// What a line says, beside its top, on the side where there is room; the second a line lower, for they may lie close
/// together.
fn note(micros: f64, text: &str, place: usize, is_left: bool) -> Annotation {
    Annotation::new()
        .text(text)
        .x_ref("x")
        .y_ref("paper")
        // Positions on a logarithmic axis are given as logarithms.
        .x(micros.log10())
        .y(1.0 - 0.09 * place as f64)
        .x_anchor(if is_left { Anchor::Left } else { Anchor::Right })
        .y_anchor(Anchor::Top)
        .show_arrow(false)
        .background_color("var(--paper)")
        .opacity(0.9)
}

#[cfg(test)]
mod tests {
    use block::Nanos;

    use super::*;

    #[test]
    fn every_request_is_in_a_bin_and_gaps_stay_gaps() {
        let mut all = Histogram::new();
        for micros in [100, 101, 150, 9_000] {
            all.record(Nanos::from_micros(micros));
        }
        let bins = binned(&all);
        assert_eq!(bins.iter().map(|(_, count)| count).sum::<u64>(), 4);
        let outline = outlined(&bins);
        let (first, last) = (outline[0], outline[outline.len() - 1]);
        assert_eq!((first.1, last.1), (0, 0), "{outline:?}");
        assert!(outline.windows(2).any(|two| two[0].1 == 0 && two[1].0 > two[0].0 + 1), "{outline:?}");
    }
}
