//! What the figures show of what held the drive up.

use block::Bytes;
use drive::rig::RigPart;
use plan::{Axis, Field, Metric};
use workload::Pattern;

use crate::figure::CellFigures;
use crate::number::{capital, percent, three, with_unit};
use crate::part::{DataMoves, MeasuredStep};
use crate::state::DriveState;

/// A drive that writes no more than this to its flash for each byte that it is given is not held up by that.
const AMPLIFICATION_WORTH_TELLING: f64 = 1.5;
/// A rate that is this share of the highest is as good as it.
const FULL: f64 = 0.95;
/// A rate that grows by less than this share for each doubling of the depth is no longer limited by depth alone; without any
/// other limit it would double.
const SCALES: f64 = 0.5;

/// What limited the drive, a sentence for each limit that the figures show; none where they show none.
pub(crate) fn limited(parts: &[MeasuredStep]) -> Vec<String> {
    [rig(parts), depth(parts), amplification(parts)].into_iter().flatten().collect()
}

/// `Bottleneck at the highest rate, 51,900 IOPS: host CPU, 98 % busy.`
fn rig(parts: &[MeasuredStep]) -> Option<String> {
    let limited = |reading: &CellFigures| {
        let rate = reading.figure(Metric::Iops).interval().map_or(0.0, |interval| interval.mean);
        Some((reading.limit()?, rate))
    };
    // A job's rate is a part of the drive's.
    let together = parts.iter().flat_map(|part| part.of_all_jobs(limited));
    let alone =
        parts.iter().flat_map(|part| &part.readings).filter(|reading| reading.point.job().is_none()).map(limited);
    let (limit, rate) = alone.chain(together).flatten().max_by(|(_, one), (_, other)| one.total_cmp(other))?;
    let rate = with_unit(Metric::Iops, rate);
    Some(match limit.part {
        RigPart::Drives => format!(
            "Not limited by the host: at the highest rate, {rate}, no part of it is busier than {} %.",
            // Whole percents are rounded down.
            limit.busy + 1
        ),
        _ => format!("Bottleneck at the highest rate, {rate}: {limit}."),
    })
}

/// `4 KiB random reads scale up to queue depth 8; deeper queues add only latency.`
fn depth(parts: &[MeasuredStep]) -> Option<String> {
    let is_depth = |axis: &Axis| matches!(axis, Axis::Field(Field::Iodepth));
    let is_read = |reading: &&CellFigures| reading.is_plain() && reading.cell().workload.pattern == Pattern::RandRead;
    let swept = parts.iter().filter(|part| part.axes.iter().any(is_depth));
    let reads: Vec<&CellFigures> =
        swept.map(|part| part.readings.iter().filter(is_read).collect()).find(|reads: &Vec<_>| !reads.is_empty())?;
    let first = &reads[0].cell().workload;
    let point = |reading: &&CellFigures| {
        let workload = &reading.cell().workload;
        let is_like = (workload.block, workload.workers) == (first.block, first.workers);
        let rate = reading.figure(Metric::Iops).interval().filter(|_| is_like)?.mean;
        Some((workload.queue_depth, rate))
    };
    let mut points: Vec<(u32, f64)> = reads.iter().filter_map(point).collect();
    points.sort_by_key(|(depth, _)| *depth);
    Some(format!("{} random reads {}.", first.block, scaling(&points)?))
}

/// How rates grow with the depth, the least depth first; none where too few depths tell it.
///
/// A depth is enough from which on rates grow by no more than 5 %, if it was tried at twice that depth. Otherwise the gain over
/// the last doubling tells: from the deepest that is at most half as deep, for a step from 31 to 32 shows little more than
/// scatter. From 50 % a doubling on depth is the limit; below it the gain itself is told.
fn scaling(points: &[(u32, f64)]) -> Option<String> {
    let highest = points.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
    let (deepest, _) = *points.last().filter(|_| points.len() > 2)?;
    let (enough, _) = *points.iter().find(|(_, rate)| *rate >= FULL * highest)?;
    if enough * 2 <= deepest {
        return Some(match enough {
            1 => "gain nothing from queue depth; deeper queues add only latency".to_owned(),
            depth => format!("scale up to queue depth {depth}; deeper queues add only latency"),
        });
    }
    let (half, before) = *points.iter().rev().find(|(depth, _)| depth * 2 <= deepest)?;
    let (full, after) = *points.iter().rev().find(|(_, rate)| *rate >= FULL * highest)?;
    let doublings = (f64::from(full) / f64::from(half)).log2();
    if (after / before).powf(1.0 / doublings) >= 1.0 + SCALES {
        return Some(format!("still scale at queue depth {full}: limited by queue depth"));
    }
    Some(format!("gain {} from queue depth {half} to {full}", percent(after / before - 1.0)))
}

/// `garbage collection (write amplification 13.9)`: what limits random writes in the last state; none where nothing is
/// known to.
pub(crate) fn limits(parts: &[MeasuredStep]) -> Option<String> {
    amplified(parts).map(|amplified| amplified.limit())
}

/// `Sustained 4 KiB random writes are limited by garbage collection (write amplification 13.9).`
fn amplification(parts: &[MeasuredStep]) -> Option<String> {
    let amplified = amplified(parts)?;
    let (block, limit) = (amplified.block, amplified.limit());
    let writes = format!("{block} {}s are limited by {limit}.", Pattern::RandWrite.words());
    Some(match amplified.state {
        state if state >= DriveState::Conditioned => format!("Sustained {writes}"),
        state => format!("{}, {writes}", capital(&state.moment())),
    })
}

/// What a drive wrote for each byte of random writes.
struct Amplified {
    block: Bytes,
    state: DriveState,
    moves: DataMoves,
    factor: f64,
    /// How much of what was written beyond what the host wrote had been in the drive before.
    moved: f64,
}

impl Amplified {
    /// The cause where the counters and the kind of the drive tell it. A write of part of what a drive maps as one is none of
    /// those: the rest is written along, not moved.
    fn limit(&self) -> String {
        let factor = three(self.factor);
        match self.moves {
            DataMoves::Collection if self.moved > 0.5 => format!("garbage collection (write amplification {factor})"),
            DataMoves::Merges if self.moved > 0.5 => format!("merges of blocks (write amplification {factor})"),
            _ => format!("a write amplification of {factor}"),
        }
    }
}

/// The last random writes of 4 KiB, where their write amplification is worth telling.
fn amplified(parts: &[MeasuredStep]) -> Option<Amplified> {
    let is_small = |reading: &&CellFigures| {
        let Some(workload) = reading.point.workload() else { return false };
        reading.is_plain() && workload.pattern == Pattern::RandWrite && workload.block == Bytes::from_kib(4)
    };
    let (part, last) = parts.iter().rev().find_map(|part| Some((part, part.readings.iter().find(is_small)?)))?;
    let counters = last.cell().repeats.last()?.drive?;
    let factor = counters.write_amplification().filter(|factor| *factor >= AMPLIFICATION_WORTH_TELLING)?;
    // Counters of a stored run may be any number, so they are not subtracted as whole ones.
    let own = counters.pages_programmed as f64 * (1.0 - 1.0 / factor);
    let moved = counters.pages_moved as f64 / own;
    Some(Amplified {
        block: last.cell().workload.block,
        state: part.state_of_figures,
        moves: part.moves,
        factor,
        moved,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_the_limit_only_where_the_rate_nearly_doubles_with_it() {
        let depths = [1, 2, 4, 8, 16, 31, 32];
        let tell = |rates: [f64; 7]| scaling(&depths.into_iter().zip(rates).collect::<Vec<_>>()).unwrap();
        // As simulated: a server's drive, one without DRAM, a disk, two drives of SATA, and one that serves a request at a time.
        let table = [
            ([9.42, 18.7, 37.3, 73.7, 144.0, 266.0, 274.0], "still scale at queue depth 32: limited by queue depth"),
            ([8.38, 16.6, 32.3, 60.9, 103.0, 128.0, 131.0], "gain 27 % from queue depth 16 to 32"),
            ([86.1, 85.6, 118.0, 147.0, 181.0, 222.0, 226.0], "gain 25 % from queue depth 16 to 32"),
            ([8.18, 16.2, 31.8, 60.3, 75.1, 75.1, 75.2], "scale up to queue depth 16; deeper queues add only latency"),
            ([10.0, 20.0, 39.0, 70.0, 90.0, 98.0, 90.5], "gain 8.9 % from queue depth 16 to 31"),
            ([3.17; 7], "gain nothing from queue depth; deeper queues add only latency"),
        ];
        for (rates, told) in table {
            assert_eq!(tell(rates), told, "{rates:?}");
        }
        // Fourfold depth is two doublings.
        let steep = [(1, 10.0), (8, 70.0), (32, 140.0)];
        assert_eq!(scaling(&steep).unwrap(), "gain 100 % from queue depth 8 to 32");
        assert_eq!(scaling(&steep[..2]), None, "two depths tell no more than their two rates");
    }
}
