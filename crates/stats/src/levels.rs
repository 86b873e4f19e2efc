//! The levels at which a rate stays, one after the other.

use std::ops::Range;

/// Levels that differ by less than this factor are one.
pub const LEVELS_DIFFER: f64 = 1.25;

/// The stretches of a series of rates in each of which it stays at one level, in order; they cover the whole series.
///
/// The series is cut in two where that leaves the least squares of the logarithms, and each part again, as long as the
/// means of the two sides differ by [`LEVELS_DIFFER`] and each has `least` values. Neighbours that differ by less in the end
/// are put together. That is binary segmentation with a threshold that matters to a user in place of one of chance: means of
/// a few intervals of a busy drive always differ significantly, and seldom by so much.
///
/// Source: A. J. Scott and M. Knott, "A cluster analysis method for grouping means in the analysis of variance",
/// Biometrics 30, 1974 (binary segmentation).
pub fn levels(rates: &[f64], least: usize) -> Vec<Range<usize>> {
    let positive = rates.iter().copied().filter(|rate| *rate > 0.0).fold(f64::MAX, f64::min);
    // A stretch without anything is a level a hundred times lower than the lowest.
    let floor = if positive == f64::MAX { 1.0 } else { positive / 100.0 };
    let logs: Vec<f64> = rates.iter().map(|rate| rate.max(floor).ln()).collect();
    let mut parts = Vec::new();
    split(&logs, 0..logs.len(), least.max(1), &mut parts);
    let mut levels: Vec<Range<usize>> = Vec::new();
    for part in parts {
        match levels.last_mut() {
            Some(last) if !differ(&logs[last.clone()], &logs[part.clone()]) => last.end = part.end,
            _ => levels.push(part),
        }
    }
    levels
}

fn split(logs: &[f64], part: Range<usize>, least: usize, parts: &mut Vec<Range<usize>>) {
    let values = &logs[part.clone()];
    let middle = mean(values);
    let mut strayed = 0.0;
    let mut best: Option<(f64, usize)> = None;
    for (index, value) in values.iter().enumerate() {
        strayed += value - middle;
        let (before, after) = (index + 1, values.len() - index - 1);
        if before < least || after < least {
            continue;
        }
        let gain = strayed * strayed * values.len() as f64 / (before as f64 * after as f64);
        if best.is_none_or(|(most, _)| gain > most) {
            best = Some((gain, before));
        }
    }
    match best {
        Some((_, at)) if differ(&values[..at], &values[at..]) => {
            split(logs, part.start..part.start + at, least, parts);
            split(logs, part.start + at..part.end, least, parts);
        }
        _ if part.is_empty() => {}
        _ => parts.push(part),
    }
}

fn differ(one: &[f64], other: &[f64]) -> bool {
    (mean(one) - mean(other)).abs() >= LEVELS_DIFFER.ln()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rates around these levels, up and down by up to 8 %.
    fn noisy(stretches: &[(usize, f64)]) -> Vec<f64> {
        let mut state = 7_u64;
        let mut noise = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            0.92 + 0.16 * ((state >> 33) as f64 / (1_u64 << 31) as f64)
        };
        stretches
            .iter()
            .flat_map(|&(length, level)| std::iter::repeat_n(level, length))
            .map(|level| level * noise())
            .collect()
    }

    #[test]
    fn levels_are_found_where_they_are() {
        assert_eq!(levels(&noisy(&[(20, 7000.0), (80, 1400.0)]), 3), [0..20, 20..100]);
        assert_eq!(
            levels(&noisy(&[(20, 7000.0), (40, 1900.0), (40, 600.0), (20, 1900.0)]), 3),
            [0..20, 20..60, 60..100, 100..120]
        );
        assert_eq!(
            levels(&noisy(&[(200, 500.0)]), 3),
            std::iter::once(0..200).collect::<Vec<_>>(),
            "noise is no level"
        );
    }

    #[test]
    fn a_short_stall_is_no_level_and_every_value_is_in_one() {
        let mut rates = noisy(&[(50, 500.0)]);
        rates[20] = 0.0;
        assert_eq!(levels(&rates, 3).len(), 1);
        assert!(levels(&[], 3).is_empty());
        assert_eq!(levels(&[1.0], 3).len(), 1);
        for count in 1..40 {
            let rates: Vec<f64> = (0..count).map(|at| if at % 7 < 3 { 100.0 } else { 10.0 }).collect();
            let found = levels(&rates, 2);
            assert_eq!(found.iter().map(ExactSizeIterator::len).sum::<usize>(), count);
            assert!(found.windows(2).all(|pair| pair[0].end == pair[1].start));
        }
    }
}
