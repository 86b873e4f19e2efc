//! What was measured over what was published: on the diagonal the two are equal.

use plotly::Scatter;
use plotly::common::{DashType, Line, Marker, MarkerSymbol, Mode};

use super::{COLORS, GUIDE, Heads, Panel, SILENT, TEXT_ONLY, axis, drawn, house, hover, logarithmic};

/// A published number with what was measured.
pub(crate) struct Point {
    /// Which kind of point it is, as its place among the kinds.
    pub(crate) kind: usize,
    pub(crate) published: f64,
    pub(crate) measured: f64,
    /// What is said when it is hovered over.
    pub(crate) said: Vec<String>,
}

/// Fewer points than this are read off the table sooner.
const LEAST: usize = 3;

/// The panel of `points`; `kinds` name what their kinds are. None where there are too few.
pub(crate) fn beside(unit: &str, kinds: &[&str], points: &[Point]) -> Option<Panel> {
    if points.len() < LEAST {
        return None;
    }
    let values = || points.iter().flat_map(|point| [point.published, point.measured]).filter(|value| *value > 0.0);
    let (least, most) = values().fold((f64::MAX, 0.0_f64), |(least, most), v| (least.min(v), most.max(v)));
    let (least, most) = (least / 1.3, most * 1.3);
    let title = |what: &str| if unit.is_empty() { what.to_owned() } else { format!("{what} ({unit})") };
    let along = |what: &str| logarithmic(axis(&title(what)), least, most);
    let heads = Heads::new(title("Published"), title("Measured"));
    let mut plot = house(along("Published"), along("Measured"), kinds.len());
    plot.add_trace(
        Scatter::new(vec![least, most], vec![least, most])
            .name("equal")
            .meta(GUIDE)
            .mode(Mode::Lines)
            .line(Line::new().color("var(--quiet)").width(1.0).dash(DashType::Dash))
            .hover_info(SILENT),
    );
    for (kind, name) in kinds.iter().enumerate() {
        let own = || points.iter().filter(move |point| point.kind == kind);
        if own().next().is_none() {
            continue;
        }
        let symbols = [MarkerSymbol::Circle, MarkerSymbol::Diamond, MarkerSymbol::X];
        let symbol = symbols[kind % symbols.len()].clone();
        plot.add_trace(
            Scatter::new(drawn(own().map(|point| point.published)), drawn(own().map(|point| point.measured)))
                .name(*name)
                .mode(Mode::Markers)
                .marker(Marker::new().color(COLORS[kind % COLORS.len()]).symbol(symbol).size(8))
                .text_array(own().map(|point| hover(&point.said)).collect())
                .hover_template(TEXT_ONLY),
        );
    }
    Some(Panel::new("Measured against published; the dashed line marks equality".to_owned(), heads, &plot))
}
