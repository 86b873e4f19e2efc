//! Steps in a row on one drive, over time.

use plotly::Scatter;
use plotly::common::{Anchor, Font, Line, Marker, Mode};
use plotly::layout::{Annotation, Axis, Margin};

use super::{COLORS, Heads, Panel, TEXT_ONLY, amounts, clock, drawn, house, hover, time};
use crate::number::three;

/// One of the steps.
pub(crate) struct Stretch {
    /// The step's title.
    pub(crate) name: String,
    /// When each round or span was half over, in seconds from the beginning of the first step, with its rate.
    pub(crate) points: Vec<(f64, f64)>,
}

/// The most steps that are told apart by a legend.
const NAMED: usize = 4;

/// The panel of `stretches`, whose rates are in `unit`, until `end` seconds.
pub(crate) fn joined(unit: &str, stretches: &[Stretch], end: f64) -> Panel {
    let values = stretches.iter().flat_map(|stretch| &stretch.points).map(|(_, rate)| *rate);
    let (length, name, x) = time(end);
    let x: Axis = x.range(vec![0.0, end / length]);
    // Where there are many, their numbers say more than a legend that is larger than the chart.
    let lines = if stretches.len() > NAMED { 1 } else { stretches.len() };
    let mut plot = house(x, amounts(values), lines);
    for (place, stretch) in stretches.iter().enumerate() {
        let color = COLORS[place % COLORS.len()];
        let text = stretch.points.iter().map(|(at, rate)| {
            let at = format!("at {}", clock(*at, length, name));
            hover(&[format!("{}. {}", place + 1, stretch.name), at, format!("{} {unit}", three(*rate))])
        });
        plot.add_trace(
            Scatter::new(
                drawn(stretch.points.iter().map(|(at, _)| at / length)),
                drawn(stretch.points.iter().map(|(_, rate)| *rate)),
            )
            .name(hover(&[format!("{}. {}", place + 1, stretch.name)]))
            .mode(Mode::LinesMarkers)
            .line(Line::new().color(color).width(1.5))
            .marker(Marker::new().color(color).size(4))
            .text_array(text.collect())
            .hover_template(TEXT_ONLY),
        );
    }
    if lines < stretches.len() {
        let room = Margin::new().left(8).right(12).top(28).bottom(8);
        let layout = plot.layout().clone().margin(room).annotations(numbers(stretches, length));
        plot.set_layout(layout);
    }
    let heads = Heads::new(format!("Time ({name})"), unit);
    Panel::new(format!("{unit} over consecutive steps, more is better"), heads, &plot)
}

/// The number of each stretch, above its middle.
fn numbers(stretches: &[Stretch], length: f64) -> Vec<Annotation> {
    let number = |(place, stretch): (usize, &Stretch)| {
        let (first, last) = (stretch.points.first()?.0, stretch.points.last()?.0);
        let note = Annotation::new()
            .text((place + 1).to_string())
            .font(Font::new().color("var(--ink)"))
            .x_ref("x")
            .y_ref("paper")
            .x((first + last) / 2.0 / length)
            .y(1.0)
            .x_anchor(Anchor::Center)
            .y_anchor(Anchor::Bottom)
            .show_arrow(false);
        Some(note)
    };
    stretches.iter().enumerate().filter_map(number).collect()
}
