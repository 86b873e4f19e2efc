//! Published percentiles of latency beside simulated ones, on an axis where each mark is ten times rarer than the one before.

use plotly::Scatter;
use plotly::common::Mode;

use super::curve::{heads, nines};
use super::{COLORS, LineStyle, Panel, TEXT_ONLY, axis, drawn, house, hover, logarithmic};
use crate::number::latency;

/// The percentiles of one experiment, published or simulated.
pub(crate) struct PercentileLine {
    pub(crate) name: String,
    /// The place of its experiment among those that are drawn: both lines of it have one colour.
    pub(crate) place: usize,
    /// Drawn with dashes.
    pub(crate) is_simulated: bool,
    /// Percent and microseconds, ascending.
    pub(crate) points: Vec<(f64, f64)>,
}

/// The panel of such lines, both axes logarithmic.
pub(crate) fn percentiles(title: String, lines: &[PercentileLine]) -> Panel {
    let points = || lines.iter().flat_map(|line| &line.points);
    let rarity = |percent: f64| 100.0 / (100.0 - percent);
    let rarest = points().map(|point| rarity(point.0)).fold(10.0, f64::max);
    let (least, most) = points().fold((f64::MAX, 0.0_f64), |(least, most), at| (least.min(at.1), most.max(at.1)));
    let mut plot = house(nines(rarest), logarithmic(axis(""), least, most), lines.len());
    for line in lines {
        let look = LineStyle::ranked(COLORS[line.place % COLORS.len()], usize::from(line.is_simulated));
        let said = |&(percent, micros): &(f64, f64)| {
            hover(&[line.name.clone(), format!("{percent} % within {}", latency(micros))])
        };
        let (x, y) = (line.points.iter().map(|at| rarity(at.0)), line.points.iter().map(|at| at.1));
        let trace = Scatter::new(drawn(x), drawn(y))
            .name(hover(std::slice::from_ref(&line.name)))
            .mode(Mode::LinesMarkers)
            .line(look.line())
            .marker(look.marker())
            .text_array(line.points.iter().map(said).collect())
            .hover_template(TEXT_ONLY);
        plot.add_trace(trace);
    }
    Panel::new(title, heads(), &plot)
}
