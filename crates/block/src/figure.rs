//! Figures as people read them: three significant digits in the unit that suits.

/// `value` with three significant digits in the largest of `units`, given from the smallest on with their sizes, of
/// which it is at least one: `999.7` is `1 kB`, not `1000 B`.
pub fn in_units(value: f64, units: &[(f64, &str)]) -> String {
    // From here on three digits round up to one of the unit.
    let suits = |(size, _): &&(f64, &str)| value / size >= 0.999_5;
    let (size, unit) = units.iter().rev().find(suits).unwrap_or(&units[0]);
    format!("{} {unit}", three_digits(value / size))
}

/// `value` with three significant digits and no trailing zeros after the point.
fn three_digits(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    let text = format!("{value:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// Puts a comma before every three whole digits: `38,912.4`.
pub fn separated(text: &str) -> String {
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let first = whole.find(|c: char| c.is_ascii_digit()).unwrap_or(0);
    let mut out = whole[..first].to_owned();
    for (i, digit) in whole[first..].char_indices() {
        if i > 0 && (whole.len() - first - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use crate::{Bytes, Endurance, Energy, Power, Rate};

    #[test]
    fn what_rounds_up_to_a_thousand_is_one_of_the_next_unit() {
        let rate = |rate| Rate::from_bytes_per_second(rate).to_string();
        assert_eq!([999, 999_499, 999_500, 999_999_999].map(rate), ["999 B/s", "999 kB/s", "1 MB/s", "1 GB/s"]);
        let power = |uw| Power::from_microwatts(uw).to_string();
        assert_eq!([999, 999_600, 62_500].map(power), ["999 µW", "1 W", "62.5 mW"]);
        assert_eq!(Energy::from_nanojoules(999_700).to_string(), "1 mJ");
        assert_eq!(Endurance::new(Bytes::new(999_800_000_000)).to_string(), "1 TB");
    }

    #[test]
    fn what_is_less_than_the_smallest_unit_is_a_part_of_it() {
        assert_eq!(Endurance::new(Bytes::new(250_000_000)).to_string(), "0.25 GB");
    }
}
