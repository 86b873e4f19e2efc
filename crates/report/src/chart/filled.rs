//! The rate of writes by how much was written.

use plotly::Scatter;
use plotly::common::Mode;

use super::{COLORS, Heads, LineStyle, Panel, SERIES_POINTS, TEXT_ONLY, amounts, axis, drawn, house, hover};
use crate::number::three;
use crate::timeline::{self, Span};

/// Writes in one piece.
pub(crate) struct FilledLine<'s> {
    pub(crate) name: String,
    pub(crate) spans: &'s [Span],
}

/// The panel; none where nothing is long enough for a line.
pub(crate) fn filled(lines: &[FilledLine]) -> Vec<Panel> {
    if lines.iter().all(|line| line.spans.len() < 2) {
        return Vec::new();
    }
    let rates = lines.iter().flat_map(|line| line.spans.iter().map(Span::bandwidth));
    let x = axis("Data written (GB)").tick_format(",~g").range_mode(plotly::layout::RangeMode::ToZero).show_grid(false);
    let mut plot = house(x, amounts(rates), lines.len());
    for (place, line) in lines.iter().enumerate() {
        let points = timeline::written(line.spans).into_iter().zip(line.spans.iter().map(Span::bandwidth));
        let points: Vec<(f64, f64)> = points.step_by(line.spans.len().div_ceil(SERIES_POINTS).max(1)).collect();
        let text = points.iter().map(|(at, rate)| {
            hover(&[line.name.clone(), format!("{} GB written", three(*at)), format!("{} MB/s", three(*rate))])
        });
        let style = LineStyle::ranked(COLORS[place % COLORS.len()], place / COLORS.len());
        plot.add_trace(
            Scatter::new(drawn(points.iter().map(|point| point.0)), drawn(points.iter().map(|point| point.1)))
                .name(&line.name)
                .mode(Mode::Lines)
                .line(style.line())
                .text_array(text.collect())
                .hover_template(TEXT_ONLY),
        );
    }
    vec![Panel::new(
        "Bandwidth (MB/s), more is better".to_owned(),
        Heads::new("Data written (GB)", "Bandwidth (MB/s)"),
        &plot,
    )]
}
