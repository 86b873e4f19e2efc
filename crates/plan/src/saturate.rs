//! A step that writes until the write cache is full, and sees how much of it idle times bring back.

use std::borrow::Cow;

use block::{Bytes, Nanos};
use workload::{Pattern, Stop, Workload};

use super::body::Body;
use super::condition::{clear_lengths, without_lengths};
use super::diagnostic::Mistakes;
use super::draft::Draft;
use super::fields::Settings;
use super::kind::{Form, Phrases, StepKind};
use super::work::{Phase, Site};
use super::{Action, Axis, Cell, Limit};

/// Sequential writes in one piece, and shorter ones after each of several idle times.
#[derive(Clone, Debug, PartialEq)]
pub struct Saturate {
    /// What is written; it has no stop of its own.
    pub workload: Workload,
    /// How far the first writes go: to the first of these that is reached.
    pub at_most: Vec<Limit>,
    /// How far those after an idle time go.
    pub burst: Vec<Limit>,
    /// How long the drive is left alone, one after the other.
    pub idle: Vec<Nanos>,
}

/// How much is written after each idle time unless the plan says otherwise.
const BURST: [Limit; 2] = [Limit::Percent(10), Limit::Time(Nanos::from_secs(30))];

pub(super) const FORM: Form = Form {
    name: "saturate",
    numbers: || [without_lengths(), vec!["at-most", "burst", "idle"]].concat(),
    more: &["quick", "simulated"],
    build: |frame, draft, body, mistakes| Saturate::of(draft, body, frame.workload, mistakes).map(Action::Saturate),
};

impl StepKind for Saturate {
    fn name(&self) -> &'static str {
        FORM.name
    }

    fn phases<'s>(&'s self, site: &Site) -> Vec<Phase<'s>> {
        let run = |point, limits: &[Limit]| {
            let workload = Workload { stop: self.first_of(limits, site.writable), ..self.workload.clone() };
            Phase::Run { cells: Cow::Owned(vec![Cell { point, workload }]), keeps: true, construct: false }
        };
        let after = |idle: &Nanos| {
            let point = vec![(Axis::Idle, idle.to_string().replace(' ', ""))];
            [Phase::Rest(*idle), run(point, &self.burst)]
        };
        std::iter::once(run(Vec::new(), &self.at_most)).chain(self.idle.iter().flat_map(after)).collect()
    }

    fn workloads_mut(&mut self) -> Vec<&mut Workload> {
        vec![&mut self.workload]
    }

    fn sentence(&self, say: &Phrases) -> String {
        let told = |limits: &[Limit]| limits.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ");
        let idle = self.idle.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let recovery = match self.idle.len() {
            0 => String::new(),
            _ => format!("; then after {idle} of idle time, up to {} each", told(&self.burst)),
        };
        format!("Write up to {}: {}{recovery}", told(&self.at_most), (say.workloads)(&[&self.workload]))
    }
}

impl Saturate {
    fn of(draft: &Draft, body: &Body, common: &Settings, mistakes: &mut Mistakes) -> Option<Self> {
        if body.at_most.is_none() {
            mistakes.push(super::build::missing(draft, &[("at-most", "200%")]));
        }
        let mut fields = body.fields.over(common);
        clear_lengths(&mut fields);
        let any = Stop::after(Nanos::from_secs(1));
        let base = Workload { pattern: Pattern::Write, stop: any, ..Workload::default() };
        let workload = mistakes.keep(fields.workload(base, &draft.place))?;
        let burst = body.burst.as_ref().map_or_else(|| BURST.to_vec(), |(limits, _)| limits.clone());
        let (at_most, _) = body.at_most.clone()?;
        Some(Self { workload, at_most, burst, idle: body.idle.clone().unwrap_or_default() })
    }

    /// The stop at the first of these limits where so much can be written; each worker writes one block at least.
    fn first_of(&self, limits: &[Limit], writable: Bytes) -> Stop {
        let stops: Vec<Stop> = limits.iter().map(|limit| limit.stop(writable)).collect();
        let time = stops.iter().filter_map(|stop| stop.time).min();
        let least = self.workload.block_max().times(u64::from(self.workload.workers));
        let bytes = stops.iter().filter_map(|stop| stop.bytes).min().map(|bytes| bytes.max(least));
        Stop { time, bytes, ..Stop::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PlanLength, Work, parse};

    fn step(keys: &str) -> Result<Action, String> {
        let text = format!("name = \"p\"\n[[step]]\nname = \"cache\"\ndo = \"saturate\"\n{keys}");
        let plan = parse(&text, PlanLength::Full, &[]).map_err(|wrong| wrong[0].message.clone())?;
        Ok(plan.steps.into_iter().next().expect("it has a step").action)
    }

    #[test]
    fn it_writes_once_and_after_each_idle_time() {
        let action = step("bs = \"1m\"\nat-most = [\"200%\", \"1h\"]\nidle = [\"1s\", \"5min\"]").unwrap();
        let site = Site::of(Bytes::from_gib(100));
        let work = Work { phases: action.kind().phases(&site), passes: action.kind().passes() };
        assert_eq!(work.keys(), ["", "idle=1s", "idle=5min"]);
        let stops: Vec<Stop> = work.cells().map(|cell| cell.workload.stop).collect();
        assert_eq!((stops[0].bytes, stops[0].time), (Some(Bytes::from_gib(200)), Some(Nanos::from_secs(3600))));
        assert_eq!((stops[1].bytes, stops[1].time), (Some(Bytes::from_gib(10)), Some(Nanos::from_secs(30))));
        assert!(
            work.cells().all(|cell| cell.workload.pattern == Pattern::Write),
            "it writes unless the plan says otherwise"
        );
        assert!(!work.wears(), "in order");
    }

    /// As of a drive with zones that cannot be written to their end.
    #[test]
    fn a_share_is_of_what_can_be_written() {
        let site = Site { writable: Bytes::from_gib(50), ..Site::of(Bytes::from_gib(100)) };
        let action = step("bs = \"1m\"\nat-most = \"90%\"").unwrap();
        let work = Work { phases: action.kind().phases(&site), passes: action.kind().passes() };
        assert_eq!(work.cells().next().unwrap().workload.stop.bytes, Some(Bytes::from_gib(45)));
    }

    #[test]
    fn a_limit_is_needed_and_lengths_are_the_steps_own() {
        assert!(step("bs = \"1m\"").unwrap_err().contains("at-most"));
        assert!(step("at-most = \"1%\"\nruntime = \"1s\"").is_err());
        assert!(step("at-most = \"1%\"\nidle = [\"0s\"]").is_err());
    }
}
