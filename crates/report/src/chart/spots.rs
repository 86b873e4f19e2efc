//! Means with their intervals and single repeats, along numbers or under names.

use plotly::Scatter;
use plotly::common::Mode;
use stats::Interval;

use super::{Ground, LineStyle, Panel, REPEAT, SILENT, TEXT_ONLY, amounts, arms, drawn, house, hover};

/// Figures that belong together: those of one run, or of one value of what is swept.
pub(crate) struct Spots {
    /// What they are called.
    pub(crate) name: String,
    pub(crate) look: LineStyle,
    /// The figures, ascending along numbers.
    pub(crate) spots: Vec<Spot>,
}

/// One figure.
pub(crate) struct Spot {
    /// Where it lies.
    pub(crate) x: f64,
    /// The mean with its interval.
    pub(crate) figure: Interval,
    /// What each repeat gave.
    pub(crate) samples: Vec<f64>,
    /// What is said of it when it is hovered over.
    pub(crate) said: Vec<String>,
    /// What the place of its row in the page ends in.
    pub(crate) place: String,
}

/// The panel of `all`; `what` is drawn, as a column of data is headed. Lines join what has an order.
pub(crate) fn spots(title: String, what: &str, ground: &Ground, all: &[Spots]) -> Panel {
    let means = all.iter().flat_map(|one| &one.spots).map(|spot| spot.figure.mean);
    let mut plot = house(ground.axis(), amounts(means), all.len());
    for one in all.iter().filter(|one| !one.spots.is_empty()) {
        plot.add_trace(repeats(one));
        plot.add_trace(means_of(one, ground.is_ordered()));
    }
    Panel::new(title, ground.heads(what), &plot)
}

/// Single repeats as dots, where there are several.
fn repeats(one: &Spots) -> Box<Scatter<f64, f64>> {
    let dots = || one.spots.iter().filter(|spot| spot.samples.len() > 1);
    let x = dots().flat_map(|spot| spot.samples.iter().map(|_| spot.x));
    let y = dots().flat_map(|spot| spot.samples.iter().copied());
    Scatter::new(x.collect(), drawn(y))
        .name(hover(std::slice::from_ref(&one.name)))
        .legend_group(&one.name)
        .show_legend(false)
        .meta(REPEAT)
        .mode(Mode::Markers)
        .marker(one.look.dots())
        .hover_info(SILENT)
}

/// Means with bars for their intervals.
fn means_of(one: &Spots, is_joined: bool) -> Box<Scatter<f64, f64>> {
    let spots = || one.spots.iter();
    let bars = arms(spots().map(|spot| Some(&spot.figure))).color(one.look.color());
    let marker = one.look.marker();
    Scatter::new(drawn(spots().map(|spot| spot.x)), drawn(spots().map(|spot| spot.figure.mean)))
        .name(hover(std::slice::from_ref(&one.name)))
        .legend_group(&one.name)
        .mode(if is_joined { Mode::LinesMarkers } else { Mode::Markers })
        .line(one.look.line())
        .marker(if is_joined { marker } else { marker.size(9) })
        .text_array(spots().map(|spot| hover(&spot.said)).collect())
        .custom_data(spots().map(|spot| spot.place.clone()).collect())
        .hover_template(TEXT_ONLY)
        .error_y(bars)
}
