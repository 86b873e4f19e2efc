//! The percentiles of a drive that were published, and what was simulated, as charts.

use block::Op;
use plan::replicate::qos::{Qos, QosAnswer, QosPoint, QosRun, Quantity, Standing};

use crate::chart::{Panel, PercentileLine, percentiles};

/// So many experiments in one chart at most; all are in the tables.
const EXPERIMENTS: usize = 4;
/// Fewer percentiles make no line.
const LEAST: usize = 3;

/// A chart for each kind of request of which percentiles were published that count: experiments from the first to the last.
pub(super) fn panels(qos: &Qos, run: &QosRun, drive: usize) -> Vec<Panel> {
    let kinds = [(Some(Op::Read), "Reads"), (Some(Op::Write), "Writes"), (None, "Requests")];
    let panel = |(op, word): (Option<Op>, &str)| {
        let lines = lines(qos, run, drive, op);
        let title = format!("{word}: latency (µs) by percentile, less is better");
        (!lines.is_empty()).then(|| percentiles(title, &lines))
    };
    kinds.into_iter().filter_map(panel).collect()
}

fn lines(qos: &Qos, run: &QosRun, drive: usize, op: Option<Op>) -> Vec<PercentileLine> {
    let answered = qos.groups.iter().zip(&run.answers).filter(|(group, _)| group.drive == drive);
    let experiments = answered.filter_map(|(group, answers)| {
        let of_kind = |(point, answer): (&QosPoint, &QosAnswer)| match point.quantity {
            Quantity::Percentile(of, percent) if of == op => {
                Some((percent, point.value, answer.simulated?.value, answer.standing == Standing::Counts))
            }
            _ => None,
        };
        let mut points: Vec<_> = group.points.iter().zip(answers).filter_map(of_kind).collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        let is_drawn = points.len() >= LEAST && points.iter().any(|point| point.3);
        is_drawn.then_some((group.id.split_once('/').map_or(group.id.as_str(), |(_, rest)| rest), points))
    });
    let experiments: Vec<_> = experiments.collect();
    let most = experiments.len().min(EXPERIMENTS);
    let chosen = (0..most).map(|place| place * (experiments.len() - 1) / (most - 1).max(1));
    let two = chosen.enumerate().flat_map(|(place, chosen)| {
        let (name, points) = &experiments[chosen];
        let line = |word: &str, is_simulated: bool| PercentileLine {
            name: format!("{name}, {word}"),
            place,
            is_simulated,
            points: points.iter().map(|point| (point.0, if is_simulated { point.2 } else { point.1 })).collect(),
        };
        [line("published", false), line("simulated", true)]
    });
    two.collect()
}
