//! Steps in a row on one drive, over time.

use plotly::Scatter;
use plotly::common::{Line, Marker, Mode};
use plotly::layout::Axis;

use super::{COLORS, Panel, TEXT_ONLY, amounts, clock, drawn, house, hover, time};
use crate::number::three;

/// One of the steps.
pub(crate) struct Stretch {
    /// The step's title.
    pub(crate) name: String,
    /// When each round or span was half over, in seconds from the beginning of the first step, with its rate.
    pub(crate) points: Vec<(f64, f64)>,
}

/// The panel of `stretches`, whose rates are in `unit`, until `end` seconds.
pub(crate) fn joined(unit: &str, stretches: &[Stretch], end: f64) -> Panel {
    let values = stretches.iter().flat_map(|stretch| &stretch.points).map(|(_, rate)| *rate);
    let (length, name, x) = time(end);
    let x: Axis = x.range(vec![0.0, end / length]);
    let mut plot = house(x, amounts(values), stretches.len());
    for (place, stretch) in stretches.iter().enumerate() {
        let color = COLORS[place % COLORS.len()];
        let text = stretch.points.iter().map(|(at, rate)| {
            let at = format!("at {}", clock(*at, length, name));
            hover(&[stretch.name.clone(), at, format!("{} {unit}", three(*rate))])
        });
        plot.add_trace(
            Scatter::new(
                drawn(stretch.points.iter().map(|(at, _)| at / length)),
                drawn(stretch.points.iter().map(|(_, rate)| *rate)),
            )
            .name(hover(std::slice::from_ref(&stretch.name)))
            .mode(Mode::LinesMarkers)
            .line(Line::new().color(color).width(1.5))
            .marker(Marker::new().color(color).size(4))
            .text_array(text.collect())
            .hover_template(TEXT_ONLY),
        );
    }
    Panel::new(format!("{unit} over the steps in a row, more is better"), &plot)
}
