//! A conditioning over what it wrote.

use block::Bytes;
use plotly::Scatter;
use plotly::common::{Anchor, DashType, Line, Marker, Mode};
use plotly::layout::{Annotation, RangeMode, Shape, ShapeLayer, ShapeLine, ShapeType};

use super::{COLORS, Heads, Panel, TEXT_ONLY, amounts, axis, drawn, house, hover};
use crate::axis::plain;
use crate::number::three;
use crate::timeline::{self, Span};

/// The most lines at multiples of the capacity.
const MULTIPLES: u64 = 8;

/// The panel of requests a second over the data written until then, with lines where that is a multiple of the
/// capacity. `spans` are those of a workload that only writes.
pub(crate) fn written(spans: &[Span], capacity: Option<Bytes>) -> Panel {
    let written = timeline::written(spans);
    let total: u64 = spans.iter().map(|span| span.bytes).sum();
    let x = axis("Data written (GB)").show_grid(false).tick_format(",~g").range_mode(RangeMode::ToZero);
    let mut plot = house(x, amounts(spans.iter().map(Span::iops)), 1);
    let text = spans.iter().zip(&written).map(|(span, written)| {
        let times = capacity.map(|capacity| format!("{} × the capacity", three(written * 1e9 / capacity.get() as f64)));
        let said = [Some(format!("after {} GB", three(*written))), times, Some(format!("{} IOPS", three(span.iops())))];
        hover(&said.into_iter().flatten().collect::<Vec<_>>())
    });
    plot.add_trace(
        Scatter::new(drawn(written.iter().copied()), drawn(spans.iter().map(Span::iops)))
            .mode(Mode::LinesMarkers)
            .line(Line::new().color(COLORS[1]).width(1.5))
            .marker(Marker::new().color(COLORS[1]).size(4))
            .text_array(text.collect())
            .hover_template(TEXT_ONLY),
    );
    let capacity = capacity.map_or(0, Bytes::get);
    let whole = total.checked_div(capacity).unwrap_or_default();
    let step = whole.div_ceil(MULTIPLES).max(1);
    let multiples: Vec<u64> = (1..=whole / step).map(|place| place * step).collect();
    let at = |multiple: u64| (capacity * multiple) as f64 / 1e9;
    let layout = plot.layout().clone();
    plot.set_layout(
        layout
            .shapes(multiples.iter().map(|multiple| line(at(*multiple))).collect())
            .annotations(multiples.iter().map(|multiple| note(at(*multiple), *multiple)).collect()),
    );
    let lines = if multiples.is_empty() { "" } else { "; lines at multiples of the capacity" };
    Panel::new(format!("IOPS by data written{lines}"), Heads::new("Data written (GB)", "IOPS"), &plot)
}

fn line(at: f64) -> Shape {
    Shape::new()
        .shape_type(ShapeType::Line)
        .layer(ShapeLayer::Below)
        .x_ref("x")
        .y_ref("paper")
        .x0(at)
        .x1(at)
        .y0(0.0)
        .y1(1.0)
        .line(ShapeLine::new().color("var(--quiet)").width(1.0).dash(DashType::Dot))
}

fn note(at: f64, multiple: u64) -> Annotation {
    Annotation::new()
        .text(format!("{} ×", plain(multiple as f64)))
        .x_ref("x")
        .y_ref("paper")
        .x(at)
        .y(1.0)
        .x_anchor(Anchor::Right)
        .y_anchor(Anchor::Top)
        .show_arrow(false)
}
