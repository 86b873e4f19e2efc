//! Limits as they are typed: `randread-4k-qd1.p99 < 500us`.

use block::{parse_count, parse_duration, parse_rate};
use thiserror::Error;
use workload::{Workload, amount};

use super::{GateQuestion, GateRule};
use crate::compare::{Compared, places};
use crate::{Aspect, Metric, Outcome, PointOutcome};

/// A limit of one figure of the points that a name stands for.
///
/// A point is named by what is asked there (`randread-4k-qd32`, with `-j4` behind it for 4 workers, and for mixes the share
/// of reads: `randrw67-8k-qd16`), by its step (`worn-reads`), or by both (`worn-reads/randread-4k-qd32`); a point of a
/// sweep also by step and values: `reads iodepth=4`. Where several points have the name, as in two states of the drive,
/// the limit is one of each.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// As it was typed.
    text: String,
    name: String,
    metric: Metric,
    rule: GateRule,
}

/// Why a limit makes no sense.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum LimitError {
    #[error("`{found}` is no limit; write it as 'randread-4k-qd1.p99 < 500us': a point, a figure, < or >, a value")]
    Form {
        /// What was given.
        found: String,
    },
    #[error("there is no figure `{found}`; choose one of {known}", known = known_figures())]
    Figure {
        /// What was given.
        found: String,
    },
    #[error("`{found}` is no value of {figure}: {why}")]
    Value {
        /// What was given.
        found: String,
        /// What it is a limit of.
        figure: String,
        /// What would be right.
        why: String,
    },
    #[error("run {run} measures no point `{found}`; it has {known}")]
    Point {
        run: String,
        /// What was given.
        found: String,
        /// What there is.
        known: String,
    },
}

/// The most points that an error lists.
const LISTED: usize = 12;

impl std::str::FromStr for Limit {
    type Err = LimitError;

    fn from_str(text: &str) -> Result<Self, LimitError> {
        let form = || LimitError::Form { found: text.to_owned() };
        let place = text.find(['<', '>', '≤', '≥']).ok_or_else(form)?;
        let (named, rest) = text.split_at(place);
        let is_most = rest.starts_with(['<', '≤']);
        let value = rest.trim_start_matches(['<', '>', '≤', '≥', '=']).trim();
        let (name, figure) = split(named.trim()).ok_or_else(form)?;
        let (metric, value) = read(figure, value)?;
        let rule = if is_most { GateRule::AtMost(value) } else { GateRule::AtLeast(value) };
        Ok(Self { text: text.trim().to_owned(), name: name.to_owned(), metric, rule })
    }
}

/// The point and the figure of `randread-4k-qd1.p99.9`.
fn split(named: &str) -> Option<(&str, &str)> {
    let known =
        figures().into_iter().find_map(|figure| Some((named.strip_suffix(&figure)?.strip_suffix('.')?, figure)));
    let (name, figure) = match known {
        Some((name, figure)) => (name, &named[named.len() - figure.len()..]),
        None => named.rsplit_once('.')?,
    };
    (!name.is_empty() && !figure.is_empty()).then_some((name, figure))
}

/// What figures are called in limits, `p99.9` before `p9`.
fn figures() -> Vec<String> {
    let mut all: Vec<String> = Aspect::all().into_iter().map(|one| one.name().to_owned()).collect();
    all.extend([Metric::Iops, Metric::Bandwidth].map(|metric| metric.key().to_owned()));
    all
}

fn known_figures() -> String {
    figures().join(", ")
}

/// The figure that is meant, and the value in its unit.
fn read(figure: &str, value: &str) -> Result<(Metric, f64), LimitError> {
    let aspect = Aspect::named(figure);
    let metric = [Metric::Iops, Metric::Bandwidth].into_iter().find(|metric| metric.key() == figure);
    let is_rate = value.ends_with("B/s");
    let metric = match (metric, aspect) {
        (Some(metric), _) => metric,
        (None, Some(Aspect::THROUGHPUT)) if is_rate => Metric::Bandwidth,
        (None, Some(Aspect::THROUGHPUT)) => Metric::Iops,
        (None, Some(aspect)) => aspect.metric(workload::Pattern::RandRead),
        (None, None) => return Err(LimitError::Figure { found: figure.to_owned() }),
    };
    let wrong = |why: String| LimitError::Value { found: value.to_owned(), figure: figure.to_owned(), why };
    let number = match metric {
        Metric::Iops => {
            let count = value.strip_suffix("IOPS").unwrap_or(value).trim_end();
            parse_count(count).map_err(|error| wrong(error.to_string()))? as f64
        }
        Metric::Bandwidth => parse_rate(value).map_err(|error| wrong(error.to_string()))?.get() as f64 / 1e6,
        _ if !value.ends_with('s') => return Err(wrong("give a time with its unit, such as 500us or 2ms".to_owned())),
        _ => {
            let time = parse_duration(value).map_err(|error| wrong(error.to_string()))?;
            time.as_micros_f64()
        }
    };
    if number > 0.0 { Ok((metric, number)) } else { Err(wrong("a limit is above zero".to_owned())) }
}

impl Limit {
    /// What it asks of a run: a question for each point of the name.
    ///
    /// # Errors
    /// If no point has the name.
    pub fn questions(&self, outcome: &Outcome) -> Result<Vec<GateQuestion>, LimitError> {
        let is_meant = |step: &str, point: &PointOutcome| names(step, point).contains(&self.name);
        let found: Vec<GateQuestion> = places(outcome)
            .filter(|place| place.measured.workload().is_some() && is_meant(place.name, place.measured))
            .map(|place| self.question(place.name, place.measured))
            .collect();
        if found.is_empty() {
            let mut known: Vec<String> = places(outcome).filter_map(|place| request_name(place.measured)).collect();
            known.sort();
            known.dedup();
            let more = known.len().saturating_sub(LISTED);
            known.truncate(LISTED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let (run, found) = (outcome.run.id.to_string(), self.name.clone());
            return Err(LimitError::Point { run, found, known: known.join(", ") + &more });
        }
        Ok(found)
    }

    fn question(&self, step: &str, point: &PointOutcome) -> GateQuestion {
        let figure = Compared::by(self.metric);
        let after = figure.side(point).ok_or_else(|| {
            format!("it needs {} completed requests in each repeat, and fewer were made", self.metric.requests_needed())
        });
        GateQuestion {
            step: step.to_owned(),
            cell: point.key(),
            title: format!("{} in {}", self.text, format!("{step} {}", point.key()).trim_end()),
            unit: figure.unit,
            more_is_better: figure.more_is_better,
            rule: self.rule,
            before: None,
            after,
            paired: false,
        }
    }
}

/// Every name of a point in this step.
fn names(step: &str, point: &PointOutcome) -> Vec<String> {
    let key = point.key();
    let mut names = vec![step.to_owned()];
    names.extend((!key.is_empty()).then(|| format!("{step} {key}")));
    if let Some(request) = request_name(point) {
        names.extend([format!("{step}/{request}"), request]);
    }
    names
}

/// `randread-4k-qd32`: a point by what is asked there; none of trials, and of workloads that this does not describe.
fn request_name(point: &PointOutcome) -> Option<String> {
    let workload = point.workload().filter(|workload| workload.is_plain())?;
    let Workload { pattern, block, queue_depth, workers, .. } = workload;
    let share = if pattern.is_mixed() { workload.reads().to_string() } else { String::new() };
    let workers = if *workers > 1 { format!("-j{workers}") } else { String::new() };
    Some(format!("{pattern}{share}-{}-qd{queue_depth}{workers}", amount(*block)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(text: &str) -> Result<Limit, LimitError> {
        text.parse()
    }

    #[test]
    fn a_limit_names_a_point_a_figure_and_a_value_in_its_unit() {
        let table = [
            ("randread-4k-qd1.p99 < 500us", "randread-4k-qd1", Metric::Latency99, GateRule::AtMost(500.0)),
            ("randread-4k-qd1.p99.9<=1.5ms", "randread-4k-qd1", Metric::Latency999, GateRule::AtMost(1500.0)),
            ("fresh reads.v2.median < 2 s", "fresh reads.v2", Metric::LatencyMedian, GateRule::AtMost(2e6)),
            ("read-128k-qd4.throughput > 500MB/s", "read-128k-qd4", Metric::Bandwidth, GateRule::AtLeast(500.0)),
            ("randwrite-4k-qd32.throughput >= 17k", "randwrite-4k-qd32", Metric::Iops, GateRule::AtLeast(17e3)),
            ("randwrite-4k-qd32.iops > 17000 IOPS", "randwrite-4k-qd32", Metric::Iops, GateRule::AtLeast(17e3)),
            ("depth iodepth=4.latency < 80us", "depth iodepth=4", Metric::LatencyMean, GateRule::AtMost(80.0)),
        ];
        for (text, name, metric, rule) in table {
            let expected = Limit { text: text.to_owned(), name: name.to_owned(), metric, rule };
            assert_eq!(limit(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_limit_says_what_one_is() {
        let table = [
            ("", "is no limit"),
            ("randread-4k-qd1.p99", "is no limit"),
            ("p99 < 5us", "is no limit"),
            ("randread-4k-qd1.p98 < 5us", "no figure `p98`; choose one of throughput, latency, median, p99, p99.9"),
            ("randread-4k-qd1.p99 < 500", "give a time with its unit"),
            ("randread-4k-qd1.p99 < 500MB/s", "`500MB/s` is no value of p99"),
            ("randread-4k-qd1.iops > much", "`much` is no value of iops"),
            ("randread-4k-qd1.p99 < 0us", "above zero"),
            (".p99 < 5us", "is no limit"),
        ];
        for (text, words) in table {
            let said = limit(text).unwrap_err().to_string();
            assert!(said.contains(words), "{text}: {said}");
        }
    }
}
