//! What a step says in the summary that no key figure says: how long a replay took, and how a swept part of the drive
//! tells.

use plan::{Axis, Metric};

use crate::axis;
use crate::figure::CellFigures;
use crate::number::{three, with_unit};
use crate::part::MeasuredStep;

/// How a step comes out from the first of its cells to the last, in a sentence; none where key figures say it.
pub(crate) fn told(part: &MeasuredStep) -> Option<String> {
    let first = part.readings.first()?;
    if first.figure(Metric::Time).interval().is_some() {
        return ends(part, Metric::Time);
    }
    let is_part = part.axes.iter().any(|axis| matches!(axis, Axis::Part(_)));
    let by = if first.point.workload()?.pattern.is_random() { Metric::Iops } else { Metric::Bandwidth };
    if is_part { ends(part, by) } else { None }
}

/// `8,760 IOPS at array.drives 1, 51,900 IOPS at array.drives 16 (5.93 ×).`
fn ends(part: &MeasuredStep, metric: Metric) -> Option<String> {
    let mean = |reading: &CellFigures| reading.figure(metric).interval().map(|interval| interval.mean);
    let said = |reading: &CellFigures| {
        let words: Vec<String> = part.axes.iter().map(|axis| axis::words(axis, reading.point)).collect();
        let figure = with_unit(metric, mean(reading)?);
        Some(if words.is_empty() { figure } else { format!("{figure} at {}", words.join(", ")) })
    };
    let (first, last) = (part.readings.first()?, part.readings.last()?);
    if part.readings.len() < 2 {
        return Some(said(first)? + ".");
    }
    let times = three(mean(last)? / mean(first)?);
    // A time that is shorter is no part of one that is longer.
    let growth = if metric == Metric::Time { String::new() } else { format!(" ({times} ×)") };
    Some(format!("{}, {}{growth}.", said(first)?, said(last)?))
}
