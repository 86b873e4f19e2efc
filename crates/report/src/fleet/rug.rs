//! A key figure over all drives as a mark for each on one scale.

use maud::{Markup, html};
use plan::fleet::{Fleet, FleetFigure, FleetPlace};

use super::prose;
use crate::comparison::change;
use crate::number::{bound, percent, three};

/// The drawing's own units: it is stretched to its column.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 28.0;
/// The scale reaches so far from the median at least, so that the scatter of alike drives looks as small as it is.
const REACH: f64 = 0.05;

/// A card with the figure's marks, and the drives that lie apart by name.
pub(super) fn card(fleet: &Fleet, figure: &FleetFigure) -> Markup {
    let mean = |place: &FleetPlace| place.side.interval.mean;
    let means = || figure.places.iter().map(mean);
    let (least, most) = (means().fold(f64::MAX, f64::min), means().fold(0.0, f64::max));
    let (low, high) = (least.min(figure.median * (1.0 - REACH)), most.max(figure.median * (1.0 + REACH)));
    let at = |value: f64| (6.0 + (value - low) / (high - low) * (WIDTH - 12.0)).round();
    let apart: Vec<&FleetPlace> = figure.places.iter().filter(|place| place.is_apart).collect();
    let drives = figure.places.len();
    html! {
        div.card {
            p.panel-title { (figure.title) " " span.unit { (figure.unit) } }
            svg.rug viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } preserveAspectRatio="none" role="img"
                aria-label={ (drives) " drives from " (three(least)) " to " (three(most)) " " (figure.unit) ", median " (three(figure.median)) }
            {
                line.guide x1="0" x2=(WIDTH) y1=(HEIGHT) y2=(HEIGHT) {}
                line.median x1=(at(figure.median)) x2=(at(figure.median)) y1="0" y2=(HEIGHT) {}
                @for place in figure.places.iter().filter(|place| !place.is_apart) {
                    line x1=(at(mean(place))) x2=(at(mean(place))) y1=(HEIGHT * 0.35) y2=(HEIGHT) {}
                }
                @for place in &apart {
                    line class=(prose::way(place)) x1=(at(mean(place))) x2=(at(mean(place))) y1="2" y2=(HEIGHT) {}
                }
            }
            p.ends { span { (three(low)) } span { "median " (three(figure.median)) ", drives ±" (percent(figure.deviation)) } span { (three(high)) } }
            @if !apart.is_empty() { ul.apart { @for place in &apart { li {
                a href={ "#" (super::sheet::anchor(fleet, place.drive)) } { (fleet.drives[place.drive].identity.label()) }
                " " span class=(prose::way(place)) { (bound(&change(place.ratio))) }
            } } } }
        }
    }
}
