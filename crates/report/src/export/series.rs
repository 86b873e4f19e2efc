//! A measurement over time as lines for a spreadsheet.

use block::Nanos;
use measurement::{TICK, Tick};

use super::Single;

const HEADER: &str = "start_ns,length_ns,reads,writes,trims,bytes,iops,bandwidth_bytes,latency_mean_ns,latency_p50_ns,\
    latency_p99_ns,latency_p99_9_ns,latency_max_ns\n";

/// The columns, in order.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    HEADER.trim_end().split(',')
}

/// A header, then a line for each second that was counted; lines end with a line feed alone.
///
/// Reads, writes and trims are taken together in all but their counts. The last line is of what is left of the time.
/// Sizes are bytes, times nanoseconds, rates per second; percentiles hold within 1.6 %; an empty field is not known,
/// or nothing was completed that could have it.
pub fn series(single: &Single) -> String {
    let measurement = single.measurement;
    let last = measurement.series.len().saturating_sub(1);
    let lines = (0..).zip(&measurement.series).map(|(place, tick)| {
        let start = TICK.times(place as u64);
        let length = if place == last { measurement.elapsed.since(start) } else { TICK };
        line(start, length, tick)
    });
    std::iter::once(HEADER.to_owned()).chain(lines).collect()
}

fn line(start: Nanos, length: Nanos, tick: &Tick) -> String {
    let rate = |amount: u64| (length > Nanos::ZERO).then(|| (amount as f64 / length.as_secs_f64()).to_string());
    let requests = tick.requests();
    let mean = (requests > 0).then(|| (tick.latency_total.as_nanos() as f64 / requests as f64).to_string());
    let time = |time: Option<Nanos>| time.map(|time| time.as_nanos().to_string());
    let counted = [start.as_nanos(), length.as_nanos(), tick.reads, tick.writes, tick.trims, tick.bytes.get()];
    let rates = [rate(requests), rate(tick.bytes.get()), mean];
    let percentiles = [50.0, 99.0, 99.9].map(|percent| time(tick.percentile(percent)));
    let longest = time((requests > 0).then_some(tick.latency_max));
    let known = rates.into_iter().chain(percentiles).chain([longest]).map(Option::unwrap_or_default);
    counted.map(|number| number.to_string()).into_iter().chain(known).collect::<Vec<_>>().join(",") + "\n"
}

#[cfg(test)]
mod tests {
    use block::{Bytes, Op};

    use super::super::tests::{nothing, single};
    use super::*;

    #[test]
    fn a_line_for_each_second_and_one_for_what_is_left() {
        let mut measurement = nothing();
        let four = Bytes::from_kib(4);
        measurement.record(Op::Read, four, Nanos::from_millis(500), Nanos::from_nanos(50));
        measurement.record(Op::Write, four, Nanos::from_millis(600), Nanos::from_nanos(60));
        measurement.record(Op::Trim, four, Nanos::from_millis(2_500), Nanos::from_nanos(55));
        let expected = "0,1000000000,1,1,0,8192,2,8192,55,50,60,60,60\n\
                        1000000000,1000000000,0,0,0,0,0,0,,,,,\n\
                        2000000000,500000000,0,0,1,4096,2,8192,55,55,55,55,55\n";
        assert_eq!(series(&single(&measurement)), format!("{HEADER}{expected}"));
    }

    #[test]
    fn percentiles_that_nobody_kept_are_empty() {
        let mut measurement = nothing();
        measurement.series.push(Tick { reads: 2, latency_max: Nanos::from_nanos(7), ..Tick::default() });
        measurement.elapsed = TICK;
        assert_eq!(series(&single(&measurement)), format!("{HEADER}0,1000000000,2,0,0,0,2,0,0,,,,7\n"));
        assert_eq!(series(&single(&nothing())), HEADER);
    }
}
