//! The curve of a step while it is carried out: IOPS over its time, with the window in which a conditioning is judged.
//!
//! It is drawn here and not by a script, so that a page without scripts has it too.

use std::fmt::Write as _;

use block::Nanos;
use maud::{Markup, html};
use measurement::{Clock, Curve, CurveWindow};

use crate::number::{bound, percent, three, whole};

/// The drawing's own units: it is stretched to its place.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 100.0;

/// The curve with its axes and what is to be said of it; empty before anything is known.
pub(super) fn drawn(curve: &Curve) -> Markup {
    if curve.points.is_empty() || curve.end() <= 0.0 {
        return html! {};
    }
    let window = curve.window.as_ref();
    let limit = |window: &CurveWindow| window.found.mean * (1.0 + window.rule.spread / 2.0);
    let most = curve.points.iter().map(|(_, iops)| *iops).chain(window.map(limit)).fold(0.0, f64::max);
    let scale = Scale { end: curve.end(), top: round_up(most) };
    let words = words(curve);
    html! {
        figure.curve {
            figcaption {
                strong { (curve.step) } ": IOPS over " @if curve.clock == Clock::Virtual { "simulated " } "time, more is better"
            }
            div.plot {
                span.high { (three(scale.top)) }
                span.middle { (three(scale.top / 2.0)) }
                span.low { "0" }
                svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } preserveAspectRatio="none" role="img" aria-label=(words) {
                    line.grid x1="0" x2=(WIDTH) y1="0" y2="0" {}
                    line.grid x1="0" x2=(WIDTH) y1=(HEIGHT / 2.0) y2=(HEIGHT / 2.0) {}
                    @if let Some(window) = window { (scale.window(window)) }
                    path.area d={ (scale.path(curve)) "V" (HEIGHT) "H0Z" } {}
                    path.line d=(scale.path(curve)) {}
                    @if let Some(window) = window { (scale.mean(window)) }
                    line.axis x1="0" x2=(WIDTH) y1=(HEIGHT) y2=(HEIGHT) {}
                }
            }
            div.ends { span { "0" } span { (time(scale.end / 2.0)) } span { (time(scale.end)) } }
            p.judged { (bound(&words)) }
        }
    }
}

struct Scale {
    end: f64,
    top: f64,
}

impl Scale {
    fn x(&self, seconds: f64) -> f64 {
        (seconds / self.end * WIDTH * 10.0).round() / 10.0
    }

    fn y(&self, iops: f64) -> f64 {
        ((1.0 - iops / self.top) * HEIGHT * 100.0).round() / 100.0
    }

    /// A step for each span of time.
    fn path(&self, curve: &Curve) -> String {
        let mut path = String::new();
        for (place, (end, iops)) in curve.points.iter().enumerate() {
            let begin = if place == 0 { "M0 " } else { "V" };
            write!(path, "{begin}{}H{}", self.y(*iops), self.x(*end)).expect("memory takes it");
        }
        path
    }

    /// Where the rounds of the window may lie: half of the spread that the rule allows on each side of their mean.
    fn window(&self, window: &CurveWindow) -> Markup {
        let (begin, end) = (self.x(window.begin), self.x(window.end));
        let (mean, half) = (window.found.mean, window.rule.spread / 2.0);
        let (above, below) = (self.y(mean * (1.0 + half)), self.y(mean * (1.0 - half)));
        let class = if window.found.steady { "window steady" } else { "window" };
        html! { rect class=(class) x=(begin) width=(end - begin) y=(above) height=(below - above) {} }
    }

    fn mean(&self, window: &CurveWindow) -> Markup {
        let y = self.y(window.found.mean);
        html! { line.mean x1=(self.x(window.begin)) x2=(self.x(window.end)) y1=(y) y2=(y) {} }
    }
}

/// What the curve shows, in words: `Round 7. Last 5 rounds: mean 5,210 IOPS, spread 34 % (limit 20 %), …: not steady.`
fn words(curve: &Curve) -> String {
    let last = curve.points.last().map_or(0.0, |(_, iops)| *iops);
    let Some(CurveWindow { rule, found, .. }) = curve.window else {
        return match curve.rounds {
            0 => format!("{} IOPS at {}.", three(last), time(curve.end())),
            1 => format!("1 round is over; {} IOPS at {}.", three(last), time(curve.end())),
            rounds => {
                format!("{} rounds are over; {} IOPS at {}.", whole(rounds.into()), three(last), time(curve.end()))
            }
        };
    };
    let sign = if found.slope < 0.0 { "−" } else { "" };
    format!(
        "{} rounds are over. Last {}, shaded: mean {} IOPS, spread {} (limit {}), slope {sign}{} (limit ±{}): {}.",
        whole(curve.rounds.into()),
        rule.rounds,
        three(found.mean),
        percent(found.spread),
        percent(rule.spread),
        percent(found.slope.abs()),
        percent(rule.slope),
        if found.steady { "steady" } else { "not steady" }
    )
}

fn time(seconds: f64) -> String {
    Nanos::from_nanos((seconds * 1e9).round() as u64).to_string()
}

/// The least of 1, 2, 2.5, 4, 5 and 8 times a power of ten that is not less.
fn round_up(value: f64) -> f64 {
    let value = value.max(f64::MIN_POSITIVE);
    let power = 10_f64.powf(value.log10().floor());
    let step = [1.0, 2.0, 2.5, 4.0, 5.0, 8.0, 10.0].into_iter().find(|step| step * power >= value * 0.999_999);
    step.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use stats::SteadyRule;

    use super::*;

    fn conditioning(rounds: &[f64]) -> Curve {
        let mut curve = Curve::new("Condition <b>", Clock::Virtual);
        rounds.iter().enumerate().for_each(|(place, iops)| curve.push(60.0 * (place + 1) as f64, *iops));
        curve.rounds = rounds.len() as u32;
        let (rule, end) = (SteadyRule::SNIA, curve.end());
        curve.window = rule.judge(rounds).map(|found| CurveWindow { begin: end - 300.0, end, rule, found });
        curve
    }

    #[test]
    fn a_conditioning_shows_its_window_and_says_how_it_is_judged() {
        let text = drawn(&conditioning(&[9000.0, 8000.0, 5000.0, 5100.0, 4950.0, 5000.0, 5050.0])).into_string();
        assert!(text.contains("Condition &lt;b&gt;") && !text.contains("<b>"), "{text}");
        assert!(text.contains("class=\"window steady\"") && text.contains("class=\"mean\""), "{text}");
        assert!(text.contains("IOPS over simulated time") && text.contains(": steady."), "{text}");
        // Two of seven rounds lie before the window.
        assert!(text.contains("x=\"285.7\" width=\"714.3\""), "{text}");
        let falling = drawn(&conditioning(&[9000.0, 8000.0, 7000.0, 6000.0, 5000.0])).into_string();
        assert!(falling.contains("not steady.") && falling.contains("class=\"window\""), "{falling}");
        let few = drawn(&conditioning(&[9000.0, 8000.0])).into_string();
        assert!(few.contains("2 rounds are over") && !few.contains("window"), "{few}");
        assert_eq!(drawn(&Curve::default()).into_string(), "");
    }

    #[test]
    fn an_axis_ends_at_a_round_number() {
        let tops = [0.3, 1.0, 7.0, 5210.0, 63_400.0, 100_000.0].map(round_up);
        assert!(
            tops.iter().zip([0.4, 1.0, 8.0, 8000.0, 80_000.0, 100_000.0]).all(|(one, top)| (one - top).abs() < 1e-6),
            "{tops:?}"
        );
    }
}
