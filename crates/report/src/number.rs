//! Numbers as people read them: three significant digits, thousands apart, the unit that suits.

use block::separated;
use plan::Metric;
use stats::Interval;

/// `38,900`, `252`, `79.1`, `0.0315`: three significant digits.
pub(crate) fn three(value: f64) -> String {
    significant(value, 3)
}

/// `38,912.4`: `value` with so many significant digits; a dash where it is no number.
pub(crate) fn significant(value: f64, digits: i32) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if !value.is_finite() {
        return "–".to_owned();
    }
    let rounded = rounded(value, digits);
    let magnitude = rounded.abs().log10().floor() as i32;
    let decimals = (digits - 1 - magnitude).clamp(0, 9) as usize;
    separated(&format!("{rounded:.decimals$}"))
}

/// `38,912`: a whole number.
pub(crate) fn whole(value: u64) -> String {
    separated(&value.to_string())
}

/// `value` with only so many significant digits kept: keeps drawn data short.
pub(crate) fn rounded(value: f64, digits: i32) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let places = digits - 1 - value.abs().log10().floor() as i32;
    match places {
        0.. => (value * 10_f64.powi(places)).round() / 10_f64.powi(places),
        _ => (value / 10_f64.powi(-places)).round() * 10_f64.powi(-places),
    }
}

/// A figure as it is kept behind a rounded one, for data that is taken away: `38912.4173`.
pub(crate) fn kept(value: f64) -> String {
    rounded(value, DIGITS).to_string()
}

/// More digits than any clock or count here can tell.
pub(crate) const DIGITS: i32 = 9;

/// The half-width as a share of the mean: `±0.1 %`; none where there is no interval, or where all repeats gave the same, so
/// that nothing was spread. What is measured is positive: an interval as wide as the mean tells no more than that.
pub(crate) fn spread(interval: &Interval) -> Option<String> {
    let told = |share: f64| if share < 1.0 { format!("±{}", percent(share)) } else { "±>100 %".to_owned() };
    interval.relative().filter(|share| *share > 0.0).map(told)
}

/// `12 %`, `0.4 %`, `<0.1 %`, `0 %`.
pub(crate) fn percent(share: f64) -> String {
    match share * 100.0 {
        0.0 => "0 %".to_owned(),
        p if p.abs() < 0.05 => "<0.1 %".to_owned(),
        p if p.abs() < 9.95 => format!("{p:.1} %"),
        p => format!("{} %", separated(&format!("{p:.0}"))),
    }
}

/// A latency given in microseconds, in the unit that suits: `85.3 µs`, `1.24 ms`, `2.40 s`.
pub(crate) fn latency(micros: f64) -> String {
    match rounded(micros, 3) {
        us if us < 1e3 => format!("{} µs", three(us)),
        us if us < 1e6 => format!("{} ms", three(us / 1e3)),
        us => format!("{} s", three(us / 1e6)),
    }
}

/// A unit in which figures up to a largest one are read easily, and how much of it one of their own unit is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scaled<'u> {
    pub(crate) unit: &'u str,
    pub(crate) scale: f64,
}

impl<'u> Scaled<'u> {
    /// Microseconds from ten thousand on are milliseconds, and from ten million on seconds; other units stay.
    pub(crate) fn of(unit: &'u str, most: f64) -> Self {
        match (unit, most) {
            ("µs", 1e7..) => Self { unit: "s", scale: 1e-6 },
            ("µs", 1e4..) => Self { unit: "ms", scale: 1e-3 },
            (unit, _) => Self { unit, scale: 1.0 },
        }
    }

    /// The unit for figures that stand beside one another: that of the largest, but none of which the least is less than a tenth.
    pub(crate) fn over(unit: &'u str, figures: impl Iterator<Item = f64>) -> Self {
        let (least, most) = figures
            .filter(|figure| *figure > 0.0)
            .fold((f64::MAX, 0.0), |(least, most), figure| (figure.min(least), figure.max(most)));
        let is_readable = |one: &Self| least * one.scale >= 0.1;
        // The largest is shown in seconds, in milliseconds, or as it is.
        [most, most.min(1e6)]
            .map(|most| Self::of(unit, most))
            .into_iter()
            .find(is_readable)
            .unwrap_or(Self::of(unit, 0.0))
    }

    /// A figure in this unit, with three digits.
    pub(crate) fn three(self, value: f64) -> String {
        three(value * self.scale)
    }
}

/// A figure with its unit, for sentences.
pub(crate) fn with_unit(metric: Metric, value: f64) -> String {
    match metric.unit() {
        "µs" => latency(value),
        unit => format!("{} {unit}", three(value)),
    }
}

/// `text` with every number bound to its unit by a space at which no line is broken.
pub(crate) fn bound(text: &str) -> String {
    const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "ms", "%"];
    let is_unit = |word: &str| UNITS.contains(&word) || Metric::tabled().any(|metric| metric.unit() == word);
    let mut out = String::with_capacity(text.len());
    for word in text.split(' ') {
        let is_unit = is_unit(word.trim_end_matches(['.', ',', ';', ')', ':']));
        if !out.is_empty() {
            out.push(if is_unit && out.ends_with(|c: char| c.is_ascii_digit()) { BINDING } else { ' ' });
        }
        out += word;
    }
    out
}

/// A space at which no line is broken.
pub(crate) const BINDING: char = '\u{a0}';

/// The words with a capital letter at the beginning.
pub(crate) fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map(|first| first.to_uppercase().collect::<String>() + letters.as_str()).unwrap_or_default()
}

/// `1 repeat`, `5 repeats`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", whole(number as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_say_enough() {
        for (value, text) in [
            (38_912.4, "38,900"),
            (999.6, "1,000"),
            (252.3, "252"),
            (79.06, "79.1"),
            (7.4962, "7.50"),
            (0.031_46, "0.0315"),
            (1_234_567.0, "1,230,000"),
            (-1234.0, "-1,230"),
            (0.0, "0"),
        ] {
            assert_eq!(three(value), text);
        }
    }

    #[test]
    fn latencies_take_the_unit_that_suits() {
        for (micros, text) in
            [(85.31, "85.3 µs"), (999.7, "1.00 ms"), (1_240.0, "1.24 ms"), (2_400_000.0, "2.40 s"), (0.4, "0.400 µs")]
        {
            assert_eq!(latency(micros), text);
        }
    }

    #[test]
    fn the_least_of_figures_in_one_unit_begins_with_no_zeros() {
        for (micros, unit, told) in [
            ([9.34, 24_700.0], "µs", ["9.34", "24,700"]),
            ([389.0, 24_700.0], "ms", ["0.389", "24.7"]),
            ([99.9, 24_700.0], "µs", ["99.9", "24,700"]),
            ([8_190.0, 24_700_000.0], "ms", ["8.19", "24,700"]),
            ([238_000.0, 24_700_000.0], "s", ["0.238", "24.7"]),
            ([0.0, 24_700.0], "ms", ["0", "24.7"]),
            ([9.34, 970.0], "µs", ["9.34", "970"]),
        ] {
            let scaled = Scaled::over("µs", micros.into_iter());
            assert_eq!((scaled.unit, micros.map(|one| scaled.three(one))), (unit, told.map(str::to_owned)));
        }
        assert_eq!(Scaled::over("IOPS", [0.02, 1e7].into_iter()), Scaled { unit: "IOPS", scale: 1.0 });
    }

    #[test]
    fn a_number_stays_with_its_unit() {
        assert_eq!(bound("reads 4 KiB at 255 MB/s, or so"), "reads 4\u{a0}KiB at 255\u{a0}MB/s, or so");
    }

    #[test]
    fn a_half_width_is_shown_as_a_share_of_the_mean() {
        let of = |half| spread(&Interval { mean: 1000.0, half_width: Some(half), repeats: 5 });
        assert_eq!(
            (of(0.1), of(4.0), of(123.0)),
            (Some("±<0.1 %".into()), Some("±0.4 %".into()), Some("±12 %".into()))
        );
        assert_eq!((of(999.0), of(1330.0)), (Some("±100 %".into()), Some("±>100 %".into())));
        assert_eq!(of(0.0), None, "what is the same in every repeat has no spread");
        assert_eq!(spread(&Interval { mean: 1.0, half_width: None, repeats: 1 }), None);
    }
}
