//! Whether a run is too noisy to say what changed in it.

use plan::Metric;
use stats::Interval;

use crate::figure::CellFigures;
use crate::number::{count, percent};
use crate::part::MeasuredStep;
use crate::timeline::Timeline;

/// Why the figures of a run cannot tell its states apart; none where they can.
///
/// Where the conditioning reached no steady state and most figures scatter beyond ±2 %, the difference between two states is
/// also what a drift or a busy machine makes of the same state.
pub(crate) fn too_noisy(parts: &[MeasuredStep]) -> Option<String> {
    let rate = |reading: &CellFigures| reading.figure(Metric::Iops).interval().and_then(Interval::relative);
    let of_states = parts.iter().filter(|part| !part.is_conditioning() && part.trials().is_none());
    let mut shares: Vec<f64> = of_states.flat_map(|part| &part.readings).filter_map(rate).collect();
    shares.sort_by(f64::total_cmp);
    let wide = shares.iter().filter(|share| **share > stats::PRECISION).count();
    if wide * 2 <= shares.len() || !parts.iter().any(is_unsteady) {
        return None;
    }
    Some(format!(
        "{wide} of {} exceed ±2 % (half of them ±{} or more), and the conditioning was not shown to be steady",
        count(shares.len(), "throughput figure"),
        percent(shares[shares.len() / 2]),
    ))
}

/// Whether a conditioning was judged and found not steady, or was too short to be judged.
fn is_unsteady(part: &MeasuredStep) -> bool {
    let measured = part.readings.first().and_then(|reading| reading.point.measurements().next());
    let judged = part.condition().zip(measured);
    judged.is_some_and(|(condition, measured)| {
        Timeline::of(condition, measured).steadiness.is_none_or(|found| !found.steady)
    })
}
