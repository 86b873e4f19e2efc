//! Numbers as fio prints them for people.

/// By what the unit of a number grows.
#[derive(Clone, Copy)]
pub(super) enum Base {
    /// 1024: `KiB`.
    Binary,
    /// 1000: `kB`.
    Decimal,
}

/// A number of at most so many digits, its unit with a prefix where it is larger.
///
/// Source: fio 3.33, `lib/num2str.c`.
pub(super) fn short(mut number: u64, digits: usize, base: Base, unit: &str) -> String {
    let (thousand, prefixes) = match base {
        Base::Binary => (1024, ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]),
        Base::Decimal => (1000, ["", "k", "M", "G", "T", "P", "E"]),
    };
    let length = |number: u64| number.checked_ilog10().unwrap_or(0) as usize + 1;
    let (mut prefix, mut rest) = (0, None);
    while length(number) > digits {
        rest = Some(number % thousand);
        number /= thousand;
        prefix += 1;
    }
    let prefix = prefixes[prefix];
    let Some(rest) = rest else { return format!("{number}{unit}") };
    let room = digits - length(number);
    if room <= 1 {
        return format!("{}{prefix}{unit}", number + u64::from(rest >= thousand / 2));
    }
    let decimals = room - 1;
    let fraction = format!("{:.decimals$}", rest as f64 / thousand as f64);
    let number = number + u64::from(fraction.starts_with('1'));
    format!("{number}.{}{prefix}{unit}", &fraction[2..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_printed_as_fio_prints_them() {
        // What fio 3.33 printed, and the ends of its classes.
        for (number, unit, binary, decimal) in [
            (0, "", "0", "0"),
            (9_999, "", "9999", "9999"),
            (23_527, "", "23.0Ki", "23.5k"),
            (96_272_384, "B/s", "91.8MiB/s", "96.3MB/s"),
            (1 << 30, "B", "1024MiB", "1074MB"),
            (10_239, "B", "10.00KiB", "10.2kB"),
            (99_999, "", "97.7Ki", "100.0k"),
            (u64::MAX, "B", "16.0EiB", "18.4EB"),
        ] {
            assert_eq!(short(number, 4, Base::Binary, unit), binary, "{number}");
            assert_eq!(short(number, 4, Base::Decimal, unit), decimal, "{number}");
        }
        assert_eq!(short(4_828_300, 6, Base::Decimal, ""), "4828.3k");
    }
}
