//! Figures that rest on few requests.

use measurement::Measurement;
use stats::{Interval, PRECISION};

use crate::{Finding, Group, Metric, Plan, PointOutcome, StepOutcome};

/// Fewer requests in a repeat are few: a request that began before the measurement, or ends after it, counts whole or not at all,
/// and one of them is more than [`PRECISION`] of the rate.
const ENOUGH: u64 = (1.0 / PRECISION) as u64;

impl PointOutcome {
    /// How many requests the repeat made that made the fewest, where these are few and the plan did not ask for so few; none
    /// elsewhere.
    pub fn few_requests(&self) -> Option<u64> {
        let asked = self.workload().filter(|asked| asked.replay.is_none())?;
        let (each, all) = (asked.stop.requests, asked.stop.bytes.map(|bytes| bytes.div(asked.block)));
        let wanted = each.map(|each| each * u64::from(asked.workers)).into_iter().chain(all).min();
        let least = self.measurements().map(Measurement::requests).filter(|&requests| requests > 0).min();
        least.filter(|&least| least < ENOUGH && wanted.is_none_or(|wanted| wanted >= ENOUGH))
    }

    /// The interval of the figure of this name that `samples` support: no narrower than one request where these are few.
    pub fn interval(&self, name: &str, samples: &[f64]) -> Option<Interval> {
        let interval = Interval::of(samples)?;
        let counts = |metric: Metric| !matches!(metric.group(), Group::Flash | Group::Energy | Group::Elapsed);
        let few = self.few_requests().filter(|_| Metric::titled(name).is_some_and(counts));
        Some(few.map_or(interval, |few| interval.no_narrower(1.0 / few as f64)))
    }
}

/// Which figures rest on few requests, in one sentence for the whole run; none where none do.
pub fn few_requests(plan: &Plan, steps: &[StepOutcome]) -> Option<Finding> {
    let told = |step: &StepOutcome| {
        let few: Vec<u64> = step.points.iter().filter_map(PointOutcome::few_requests).collect();
        let least = few.iter().min()?;
        let requests = if *least == 1 { "1 request".to_owned() } else { format!("{least} requests") };
        let points = match step.points.len() {
            1 => requests,
            all => format!("{} of {all} points, the least {requests}", few.len()),
        };
        Some(format!("{} ({points})", plan.steps[step.index].title))
    };
    let told: Vec<String> = steps.iter().filter_map(told).collect();
    (!told.is_empty()).then(|| {
        let text = format!(
            "These figures rest on fewer than {ENOUGH} requests a repeat, of which one more or less is over {:.0} % of the rate: \
             {}. Their intervals are no narrower than one request; a longer runtime narrows them.",
            100.0 * PRECISION,
            told.join("; "),
        );
        Finding::of(None, None, text)
    })
}

#[cfg(test)]
mod tests {
    use block::{Bytes, Nanos, Op, Seed};
    use measurement::Clock;
    use workload::{Stop, Workload};

    use super::*;
    use crate::compare::Compared;
    use crate::{PlanLength, parse};

    /// A point that was asked to stop so, with two repeats that are alike of so many requests in a second.
    fn point(stop: Stop, requests: u64) -> PointOutcome {
        let workload = Workload { stop, ..Workload::default() };
        let mut measured = Measurement::new(workload.clone(), Seed::new(1), Clock::Virtual);
        let each = Nanos::from_nanos(1_000_000_000 / requests);
        (1..=requests).for_each(|at| measured.record(Op::Write, Bytes::from_kib(4), each.times(at), each));
        PointOutcome::measured(Vec::new(), workload, vec![measured; 2])
    }

    fn in_time(requests: u64) -> PointOutcome {
        point(Stop::after(Nanos::from_secs(1)), requests)
    }

    #[test]
    fn an_interval_is_no_narrower_than_one_request_where_these_are_few() {
        let share = |point: &PointOutcome| point.figure(Metric::Iops).unwrap().relative().unwrap();
        assert!((share(&in_time(1)) - 1.0).abs() < 1e-9 && (share(&in_time(10)) - 0.1).abs() < 1e-9);
        assert!(share(&in_time(49)) > PRECISION, "{}", share(&in_time(49)));
        assert_eq!(share(&in_time(50)), 0.0, "enough that are alike");
        let compared = Compared::by(Metric::Iops).side(&in_time(10)).unwrap();
        assert_eq!(Some(compared.interval), in_time(10).figure(Metric::Iops), "in comparisons, too");
        assert_eq!(share(&point(Stop::after_requests(10), 10)), 0.0, "as many as the plan asked for");
        let bytes = Stop::after_bytes(Bytes::from_kib(40));
        assert_eq!(share(&point(bytes, 10)), 0.0, "as much data as the plan asked for");
        let wide = in_time(10).interval("IOPS", &[1.0, 30.0]).unwrap();
        assert_eq!(Some(wide), Interval::of(&[1.0, 30.0]), "repeats that differ by more");
        assert_eq!(in_time(10).interval("Write amplification", &[2.0, 2.0]).unwrap().half_width, Some(0.0));
    }

    #[test]
    fn one_sentence_says_which_figures_rest_on_few_requests() {
        let step = |name: &str, title: &str| format!("[[step]]\nname = '{name}'\ntitle = '{title}'\nruntime = '1s'\n");
        let text = format!("name = 'p'\n{}{}", step("one", "Alone"), step("many", "Swept"));
        let plan = parse(&text, PlanLength::Full, &[]).unwrap();
        let step = |index, requests: &[u64]| {
            let points = requests.iter().map(|&requests| in_time(requests)).collect();
            StepOutcome { index, points }
        };
        let found = few_requests(&plan, &[step(0, &[1]), step(1, &[7, 500, 12])]).unwrap();
        assert!(
            found.text.starts_with("These figures rest on fewer than 50 requests a repeat")
                && found.text.contains(": Alone (1 request); Swept (2 of 3 points, the least 7 requests). "),
            "{}",
            found.text
        );
        assert_eq!(few_requests(&plan, &[step(0, &[50]), step(1, &[500])]), None);
    }
}
