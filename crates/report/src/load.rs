//! Latency by achieved IOPS where requests come at shares of the most that the drive can do.

use maud::{Markup, html};
use plan::{Axis, Metric};

use crate::axis;
use crate::chart::{self, DemandLine, DemandPoint};
use crate::drawn::figure;
use crate::part::MeasuredStep;

/// What a curve of load shows.
const CAPTION: &str = "Latency (less is better) by achieved IOPS (more is better), a point for each load. Requests arrive \
    at a fixed rate, whether or not earlier ones are completed, and latency counts from arrival: where the curves turn \
    upward, the drive is saturated.";

/// The curves of a step that sweeps its load; none of another.
pub(crate) fn curves(part: &MeasuredStep) -> Option<Markup> {
    part.axes.iter().find(|axis| **axis == Axis::Load)?;
    let line = |metric: Metric| {
        let points = part.readings.iter().filter_map(|reading| {
            let mean = |metric| Some(reading.figure(metric).interval()?.mean);
            let asked = format!("load {}", axis::label(&Axis::Load, reading.point));
            Some(DemandPoint { asked, iops: mean(Metric::Iops)?, latency: mean(metric)? })
        });
        DemandLine { name: metric.title().to_owned(), points: points.collect() }
    };
    let shown = [Metric::LatencyMedian, Metric::Latency99, Metric::Latency9999];
    let lines: Vec<DemandLine> = shown.map(line).into_iter().filter(|line| line.points.len() > 1).collect();
    (!lines.is_empty()).then(|| html! { (figure(&part.step.title, &[chart::demand("Latency", &lines)], CAPTION)) })
}
