//! Box plots that stand in the rows of a table, on one scale.

use maud::{Markup, html};
use plan::compare::{Ranked, RankedFigure};
use stats::five_numbers;

use crate::number::three;

/// The ratio of the largest to the smallest beyond which a scale is logarithmic.
const WIDE: f64 = 20.0;
/// The drawing's own units: it is stretched to its column.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 20.0;

/// The scale that the boxes of a figure share.
pub(super) struct Scale {
    low: f64,
    high: f64,
    pub(super) is_logarithmic: bool,
}

impl Scale {
    /// From the least to the greatest repeat; from zero where that is not far.
    pub(super) fn of(figure: &RankedFigure) -> Self {
        let all = || figure.ranks.iter().flat_map(|one| one.side.samples.iter().copied());
        let (least, most) = (all().fold(f64::MAX, f64::min), all().fold(0.0, f64::max));
        let is_logarithmic = least > 0.0 && most / least > WIDE;
        let low = if is_logarithmic { least } else { 0.0 };
        Self { low, high: most.max(f64::MIN_POSITIVE), is_logarithmic }
    }

    /// Where a value lies.
    fn place(&self, value: f64) -> f64 {
        let share = match self.is_logarithmic {
            true => (value / self.low).ln() / (self.high / self.low).ln(),
            false => (value - self.low) / (self.high - self.low),
        };
        // Room for half a line at both ends.
        (4.0 + share.clamp(0.0, 1.0) * (WIDTH - 8.0)).round()
    }

    /// `0 to 812,000, linear`.
    pub(super) fn told(&self) -> String {
        let kind = if self.is_logarithmic { "logarithmic" } else { "linear" };
        format!("{} to {}, {kind}", three(self.low), three(self.high))
    }

    /// The box of a family: whiskers from the least to the greatest repeat, a box between the quartiles, a bar at the median.
    pub(super) fn drawn(&self, one: &Ranked, unit: &str) -> Markup {
        let numbers = five_numbers(&one.side.samples).expect("a family has a repeat at least");
        let [least, first, median, third, most] = numbers.map(|value| self.place(value));
        let [low, _, middle, _, high] = numbers.map(three);
        let (above, below) = (HEIGHT * 0.15, HEIGHT * 0.85);
        html! {
            svg.box viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } preserveAspectRatio="none" role="img"
                aria-label={ "from " (low) " to " (high) " " (unit) ", median " (middle) }
            {
                line.guide x1="0" x2=(WIDTH) y1=(HEIGHT / 2.0) y2=(HEIGHT / 2.0) {}
                line x1=(least) x2=(most) y1=(HEIGHT / 2.0) y2=(HEIGHT / 2.0) {}
                rect x=(first) y=(above) width=(third - first) height=(below - above) {}
                line.median x1=(median) x2=(median) y1="0" y2=(HEIGHT) {}
            }
        }
    }
}
