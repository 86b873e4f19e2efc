//! What the figures show of what held the drive up.

use block::Bytes;
use drive::rig::RigPart;
use plan::{Axis, Field, Metric};
use workload::Pattern;

use crate::figure::CellFigures;
use crate::number::{three, with_unit};
use crate::part::MeasuredStep;

/// A drive that writes no more than this to its flash for each byte that it is given is not held up by that.
const AMPLIFICATION_WORTH_TELLING: f64 = 1.5;
/// A rate that is this share of the highest is as good as it.
const FULL: f64 = 0.95;

/// What limited the drive, a sentence for each limit that the figures show; none where they show none.
pub(crate) fn limited(parts: &[MeasuredStep]) -> Vec<String> {
    [rig(parts), depth(parts), amplification(parts)].into_iter().flatten().collect()
}

/// `Bottleneck at the highest rate, 51,900 IOPS: host CPU, 98 % busy.`
fn rig(parts: &[MeasuredStep]) -> Option<String> {
    let rate = |reading: &&CellFigures| reading.figure(Metric::Iops).interval().map_or(0.0, |interval| interval.mean);
    let readings = parts.iter().flat_map(|part| &part.readings).filter(|reading| reading.limit().is_some());
    let fastest = readings.max_by(|one, other| rate(one).total_cmp(&rate(other)))?;
    let (limit, rate) = (fastest.limit()?, with_unit(Metric::Iops, rate(&fastest)));
    Some(match limit.part {
        RigPart::Drives => format!(
            "Not limited by the host: at the highest rate, {rate}, no part of it is busier than {} %.",
            limit.busy
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
    let points: Vec<(u32, f64)> = reads.iter().filter_map(point).collect();
    let highest = points.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
    let (deepest, _) = *points.last().filter(|_| points.len() > 2)?;
    let (enough, _) = *points.iter().find(|(_, rate)| *rate >= FULL * highest)?;
    let what = format!("{} random reads", first.block);
    Some(match enough {
        1 => format!("{what} gain nothing from queue depth: the drive serves one request at a time."),
        // Less than twice as deep, it would have gained little more in any case.
        depth if depth * 2 <= deepest => {
            format!("{what} scale up to queue depth {depth}; deeper queues add only latency.")
        }
        _ => format!("{what} still scale at queue depth {deepest}: limited by queue depth."),
    })
}

/// `garbage collection (write amplification 13.9)`: what limits sustained random writes; none where nothing is known to.
pub(crate) fn limits(parts: &[MeasuredStep]) -> Option<String> {
    let (_, wrote) = amplified(parts)?;
    Some(format!("garbage collection (write amplification {})", three(wrote)))
}

/// `Sustained 4 KiB random writes are limited by garbage collection (write amplification 13.9).`
fn amplification(parts: &[MeasuredStep]) -> Option<String> {
    let (block, limit) = (amplified(parts)?.0, limits(parts)?);
    Some(format!("Sustained {block} {}s are limited by {limit}.", Pattern::RandWrite.words()))
}

/// The size of the last random writes of 4 KiB, and what the drive wrote for each byte of them, where that is worth telling.
fn amplified(parts: &[MeasuredStep]) -> Option<(Bytes, f64)> {
    let is_small = |reading: &&CellFigures| {
        let Some(workload) = reading.point.workload() else { return false };
        reading.is_plain() && workload.pattern == Pattern::RandWrite && workload.block == Bytes::from_kib(4)
    };
    let last = parts.iter().rev().find_map(|part| part.readings.iter().find(is_small))?;
    let wrote = last.cell().repeats.last()?.drive?.write_amplification()?;
    (wrote >= AMPLIFICATION_WORTH_TELLING).then_some((last.cell().workload.block, wrote))
}
