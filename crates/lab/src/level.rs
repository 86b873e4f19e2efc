//! Measurements that do not stay on one level: a drive that grows too warm, a cache that ends.

use block::Nanos;
use engine::{Measurement, TICK};
use stats::ChangePoint;
use workload::ReplayPace;

use crate::Warmth;

/// A level that changes by less than this is not told of: within a steady state as SNIA has it, the halves of the window
/// may differ by half of the tenth that the fitted line may move.
///
/// Source: SNIA, "Solid State Storage Performance Test Specification Enterprise" 1.1, §2.1.24.
const SHIFT_LEAST: f64 = 0.10;

/// Requests in each whole interval of the series; the last, which is cut short, is left out.
pub(crate) fn intervals(measurement: &Measurement) -> Vec<f64> {
    let whole = (measurement.elapsed.as_nanos() / TICK.as_nanos()) as usize;
    measurement.series.iter().take(whole).map(|tick| tick.requests() as f64).collect()
}

/// What is to be said of repeats of one cell, on a drive that was so `warm` meanwhile: at most that the level changed, with
/// where and how much in the repeat in which that is clearest.
pub(crate) fn finding(repeats: &[&Measurement], warm: Warmth) -> Option<String> {
    let judged = repeats.iter().filter(|measurement| sets_its_own_pace(measurement));
    let changed: Vec<(ChangePoint, &Measurement)> =
        judged.filter_map(|measurement| Some((change(&intervals(measurement))?, *measurement))).collect();
    let (change, measurement) = changed.iter().max_by(|a, b| size(&a.0).total_cmp(&size(&b.0)))?;
    let often = match (changed.len(), repeats.len()) {
        (_, 1) => String::new(),
        (some, all) => format!(" {some} of {all} repeats show such a change."),
    };
    Some(format!(
        "Level shift at second {}: {}; likely cause: {}.{often}",
        change.at,
        words(change),
        cause(change, measurement, warm)
    ))
}

/// The same for the intervals of the rounds that were called steady.
pub(crate) fn window_finding(series: &[f64], rounds: usize) -> Option<String> {
    let change = change(series)?;
    Some(format!(
        "The last {rounds} rounds meet the steady-state rule, but contain a level shift: from second {} of them on, {}. Later figures may be of either level.",
        change.at,
        words(&change)
    ))
}

/// That a simulated drive was too warm to go at full pace, whether or not its level shows it.
pub(crate) fn throttled(measurement: &Measurement) -> Option<String> {
    let slow = measurement.drive?.throttled;
    (slow > Nanos::ZERO)
        .then(|| format!("Thermal throttling: the drive was throttled for {slow} of {}.", measurement.elapsed))
}

/// The clear change of a series, where it is large enough to matter.
fn change(series: &[f64]) -> Option<ChangePoint> {
    ChangePoint::of(series).filter(|change| change.is_clear() && size(change) >= SHIFT_LEAST)
}

fn size(change: &ChangePoint) -> f64 {
    change.shift().abs()
}

/// Whether the target decides how much is done in a second, and not whoever asks.
fn sets_its_own_pace(measurement: &Measurement) -> bool {
    let replay = measurement.workload.replay.as_ref();
    replay.is_none_or(|replay| replay.pace == ReplayPace::AsFast)
}

/// `38 % fewer requests a second (27,900, before 45,000)`.
fn words(change: &ChangePoint) -> String {
    let direction = if change.after < change.before { "fewer" } else { "more" };
    let percent = match size(change) * 100.0 {
        percent if percent.is_finite() => format!("{percent:.0} % "),
        _ => String::new(),
    };
    format!(
        "{percent}{direction} IOPS ({}, before {}; p {})",
        thousands(change.after),
        thousands(change.before),
        if change.p < 0.001 { "< 0.001".to_owned() } else { format!("= {:.3}", change.p) }
    )
}

/// A rate without decimals, with a comma before every three digits.
fn thousands(rate: f64) -> String {
    let digits = format!("{rate:.0}");
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// What is likely to have changed it.
fn cause(change: &ChangePoint, measurement: &Measurement, warm: Warmth) -> String {
    let throttled = measurement.drive.map(|drive| drive.throttled);
    if change.after > change.before {
        return "a warm cache, or the end of the drive's background work".to_owned();
    }
    let likely = match throttled {
        Some(slow) if slow > Nanos::ZERO => {
            return format!("thermal throttling, for {slow}");
        }
        Some(_) if measurement.workload.changes_data() => "a write cache or the free blocks were exhausted",
        Some(_) => "the end of a cache",
        None => "thermal throttling or the end of a cache",
    };
    // A simulated drive says whether it was that.
    let excluded = if throttled.is_some() { "; there was no thermal throttling" } else { "" };
    let order = match measurement.workload.pattern.is_random() {
        true => "",
        false => ", or the end of a disk's outer tracks",
    };
    format!("{likely}{order}{excluded}{}", warm.words())
}

#[cfg(test)]
mod tests {
    use block::{Bytes, Op, Seed};
    use drive::Counters;
    use engine::Clock;
    use workload::{Pattern, Workload};

    use super::*;

    /// So many requests in each second.
    fn measured(seconds: &[u64]) -> Measurement {
        let workload = Workload { pattern: Pattern::RandWrite, ..Workload::default() };
        let mut measurement = Measurement::new(workload, Seed::new(1), Clock::Real);
        for (second, count) in seconds.iter().enumerate() {
            for index in 0..*count {
                let at = Nanos::from_secs(second as u64) + Nanos::from_micros(index * 1_000_000 / count + 1);
                measurement.record(Op::Write, Bytes::from_kib(4), at, Nanos::from_micros(80));
            }
        }
        measurement.elapsed = Nanos::from_secs(seconds.len() as u64);
        measurement
    }

    fn stepped(before: u64, after: u64) -> Measurement {
        let seconds: Vec<u64> = (0..60).map(|i| if i < 41 { before + i % 5 } else { after + i % 3 }).collect();
        measured(&seconds)
    }

    #[test]
    fn a_fall_is_told_with_its_place_its_size_and_its_likely_cause() {
        let fall = stepped(1_000, 620);
        let said = finding(&[&fall], Warmth { before: Some(45), after: Some(71) }).unwrap();
        assert_eq!(
            said,
            "Level shift at second 41: 38 % fewer IOPS (621, before 1,002; p < 0.001); likely cause: thermal \
             throttling or the end of a cache; the temperature rose from 45 °C to 71 °C."
        );
        let said = finding(&[&stepped(1_000, 1_001), &fall], Warmth::default()).unwrap();
        assert!(said.ends_with("end of a cache. 1 of 2 repeats show such a change."), "{said}");
        let rise = finding(&[&stepped(600, 900)], Warmth::default()).unwrap();
        assert!(rise.contains("50 % more IOPS") && rise.contains("a warm cache"), "{rise}");
    }

    #[test]
    fn a_simulated_drive_knows_whether_it_was_too_warm() {
        let mut fall = stepped(1_000, 620);
        fall.drive = Some(Counters { throttled: Nanos::from_secs(19), ..Counters::default() });
        let said = finding(&[&fall], Warmth::default()).unwrap();
        assert!(said.ends_with("thermal throttling, for 19 s."), "{said}");
        assert!(throttled(&fall).unwrap().contains("throttled for 19 s of 60 s"));
        fall.drive = Some(Counters::default());
        assert!(
            finding(&[&fall], Warmth::default()).unwrap().contains("a write cache or the free blocks were exhausted")
        );
        assert_eq!(throttled(&fall), None);
    }

    #[test]
    fn what_is_level_small_or_asked_for_is_no_finding() {
        assert_eq!(finding(&[&stepped(1_000, 1_001)], Warmth::default()), None);
        assert_eq!(finding(&[&stepped(1_000, 930)], Warmth::default()), None, "clear, but less than a tenth");
        assert_eq!(finding(&[&measured(&[1_000, 500])], Warmth::default()), None, "too short to be judged");
        let mut recorded = stepped(1_000, 620);
        recorded.workload.replay = Some(workload::Replay::of("t"));
        assert_eq!(
            finding(&[&recorded], Warmth::default()),
            None,
            "the trace asked for less, the drive did not give it"
        );
    }

    #[test]
    fn rounds_called_steady_are_looked_at_again() {
        let series: Vec<f64> = (0..300).map(|i| if i < 200 { 1_000.0 + f64::from(i % 9) } else { 850.0 }).collect();
        let said = window_finding(&series, 5).unwrap();
        assert!(
            said.contains("The last 5 rounds") && said.contains("from second 200 of them on, 15 % fewer"),
            "{said}"
        );
        assert_eq!(window_finding(&series[..200], 5), None);
    }

    #[test]
    fn an_interval_that_is_cut_short_does_not_count() {
        let mut measurement = measured(&[100, 100, 3]);
        measurement.elapsed = Nanos::from_millis(2_030);
        assert_eq!(intervals(&measurement), [100.0, 100.0]);
    }
}
