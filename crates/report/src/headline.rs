//! The answer in one sentence: how fast, how consistent, what changes with wear, and what limits it.

use plan::Metric;
use workload::Pattern;

use crate::key::{KeyFigure, Scorecard, StateChange};
use crate::limited::limits;
use crate::noise::too_noisy;
use crate::number::{capital, latency, percent, three, with_unit};
use crate::part::MeasuredStep;
use crate::prose;

/// The sentence; none where the plan measures no random requests.
pub(crate) fn headline(scorecard: &Scorecard, parts: &[MeasuredStep]) -> Option<String> {
    let fast = fast(scorecard)?;
    let clauses: Vec<String> =
        [Some(fast), consistent(scorecard), worn(scorecard, parts)].into_iter().flatten().collect();
    Some(clauses.join("; ") + ".")
}

/// `Sequential 252 MB/s read and 79.1 MB/s write, random 38,900 IOPS read and 17,900 IOPS write (4 KiB, queue depth 32)`.
fn fast(scorecard: &Scorecard) -> Option<String> {
    let deepest = |pattern| scorecard.of_pattern(pattern, Metric::Iops).filter(|row| row.base().is_some()).last();
    let (read, write) = (deepest(Pattern::RandRead), deepest(Pattern::RandWrite));
    let at = |row: &KeyFigure| format!("({}, queue depth {})", row.request.block, row.request.in_flight());
    let iops = |row: &KeyFigure| row.base().map_or_else(String::new, |base| three(base.mean));
    let random = match (read, write) {
        (Some(read), Some(write)) if read.request.in_flight() == write.request.in_flight() => {
            format!("random {} IOPS read and {} IOPS write {}", iops(read), iops(write), at(read))
        }
        (Some(one), _) | (None, Some(one)) => {
            format!("{} {} IOPS {}", one.request.pattern.words(), iops(one), at(one))
        }
        (None, None) => return None,
    };
    let rate = |pattern| {
        let row = scorecard.of_pattern(pattern, Metric::Bandwidth).find(|row| row.base().is_some())?;
        Some(with_unit(Metric::Bandwidth, row.base()?.mean))
    };
    Some(match (rate(Pattern::Read), rate(Pattern::Write)) {
        (Some(read), Some(write)) => format!("Sequential {read} read and {write} write, {random}"),
        (Some(read), None) => format!("Sequential {read} read, {random}"),
        (None, Some(write)) => format!("Sequential {write} write, {random}"),
        (None, None) => capital(&random),
    })
}

/// `one read in 10,000 takes longer than 443 µs at queue depth 1 (median 155 µs)`; none where the two are told alike.
fn consistent(scorecard: &Scorecard) -> Option<String> {
    let of = |metric| scorecard.of_pattern(Pattern::RandRead, metric).find(|row| row.base().is_some());
    let median = latency(of(Metric::LatencyMedian)?.base()?.mean);
    let (row, rarity) =
        of(Metric::Latency9999).map(|row| (row, "10,000")).or_else(|| Some((of(Metric::Latency99)?, "100")))?;
    let tail = latency(row.base()?.mean);
    (tail != median)
        .then(|| format!("one read in {rarity} takes longer than {tail} at queue depth 1 (median {median})"))
}

/// `in steady state, random writes keep 13 % of their rate on the filled drive, limited by garbage collection`, and before it
/// what filling the drive changes.
fn worn(scorecard: &Scorecard, parts: &[MeasuredStep]) -> Option<String> {
    let writes = scorecard.of_pattern(Pattern::RandWrite, Metric::Iops).map(|row| scorecard.changes(row));
    let is_worn = |changes: &Vec<StateChange>| changes.last().is_some_and(|change| change.after.0.is_written());
    let mut changes = writes.filter(is_worn).last()?;
    if too_noisy(parts).is_some() {
        return Some("the figures are too noisy to tell what writing changes".to_owned());
    }
    let worn = changes.pop()?;
    let before = changes.iter().filter(|change| prose::is_worth_telling(&change.change)).map(|change| kept(change, ""));
    let limit = limits(parts).map_or_else(String::new, |limit| format!(", limited by {limit}"));
    Some(before.chain([kept(&worn, &limit)]).collect::<Vec<_>>().join("; "))
}

/// What is left of the rate of random writes in another state; where that is less, with the `limit`.
fn kept(found: &StateChange, limit: &str) -> String {
    let StateChange { before, after, change, .. } = found;
    let (ratio, earlier) = (after.1.mean / before.1.mean, before.0.moment());
    let kept = match change.is_clear() {
        false => format!("random writes show no clear change from {}", before.0.name()),
        true if change.is_worse() => format!("random writes keep {} of their rate {earlier}{limit}", percent(ratio)),
        true => format!("random writes are {} × as fast as {earlier}", three(ratio)),
    };
    format!("{}, {kept}", after.0.moment())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::row;
    use crate::state::DriveState;

    /// What is said of reads with this median and this 99.99 % latency, in microseconds.
    fn said(median: f64, tail: f64) -> Option<String> {
        let rows = [(Metric::LatencyMedian, median), (Metric::Latency9999, tail)]
            .map(|(metric, mean)| row(Pattern::RandRead, 4, 1, metric, [Some(mean)]))
            .into();
        consistent(&Scorecard { states: vec![DriveState::Filled], rows })
    }

    #[test]
    fn a_tail_that_reads_like_the_median_is_not_told() {
        assert_eq!(
            said(155.0, 443.0).as_deref(),
            Some("one read in 10,000 takes longer than 443 µs at queue depth 1 (median 155 µs)")
        );
        assert_eq!(said(51.69, 51.74), None);
    }
}
