//! A step that runs one workload in rounds until the drive is as wanted.

use block::{Bytes, Nanos};
use stats::SteadyRule;
use workload::{Mark, Pattern, Stop, Workload};

use super::fields::Settings;
use super::kind::{Form, Phrases, StepKind};
use super::work::{Passes, Phase, Site};
use super::{Construction, Field, FilledRange, Limit};

/// A workload run in rounds until the drive is as wanted.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// What is run; its stop is that of one round.
    pub workload: Workload,
    /// Stop only when the rounds satisfy this rule; none to stop at `at_most` alone.
    pub steady: Option<SteadyRule>,
    /// Do not stop before the first of these is reached, if there are any.
    pub at_least: Vec<Limit>,
    /// Stop here even if not steady: at the first of these that is reached.
    pub at_most: Vec<Limit>,
    /// Whether simulated flash begins behind the writes up to `at_least`, where these are random ones of its pages, without
    /// simulating how long they take.
    pub construct: bool,
}

/// What a workload takes none of whose step says by limits of its own how long it goes on.
const LENGTHS: [Mark; 3] = [Mark::End, Mark::Replay, Mark::Row];

/// The fields of such a step.
pub(super) fn without_lengths() -> Vec<&'static str> {
    let goes_on = |field: &Field| !LENGTHS.iter().any(|mark| field.is(*mark));
    Field::ALL.into_iter().filter(goes_on).flat_map(Field::names).collect()
}

/// Takes the lengths that come from the whole plan out of such a step.
pub(super) fn clear_lengths(fields: &mut Settings) {
    LENGTHS.into_iter().flat_map(Field::all).for_each(|field| fields.clear(field));
}

pub(super) const FORM: Form = Form {
    name: "condition",
    numbers: || [without_lengths(), vec!["round", "steady", "at-least", "at-most", "construct"]].concat(),
    more: &["quick", "simulated"],
    build: |frame, draft, body, mistakes| frame.condition(draft, body, mistakes),
};

impl StepKind for Condition {
    fn name(&self) -> &'static str {
        FORM.name
    }

    fn phases<'s>(&'s self, _: &Site) -> Vec<Phase<'s>> {
        vec![Phase::run(self.workload.clone(), true)]
    }

    fn passes(&self) -> Passes<'_> {
        Passes::Condition(self)
    }

    fn workloads_mut(&mut self) -> Vec<&mut Workload> {
        vec![&mut self.workload]
    }

    fn sentence(&self, say: &Phrases) -> String {
        let until = match self.steady {
            Some(rule) => format!("until {} rounds are steady", rule.rounds),
            None => "no steady-state rule".to_owned(),
        };
        let said = |limits: &[Limit]| limits.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ");
        let is_none = self.at_least.is_empty() || self.at_least.iter().any(|least| least.is_nothing());
        let least = if is_none { String::new() } else { format!("at least {} and ", said(&self.at_least)) };
        let most = said(&self.at_most);
        let simulated = if self.construct { "" } else { ", simulated in full" };
        format!("Run in rounds: {}; {until}, {least}at most {most}{simulated}", (say.workloads)(&[&self.workload]))
    }
}

impl Condition {
    /// How long each round is; none where rounds do not end by time.
    pub fn round(&self) -> Option<Nanos> {
        self.workload.stop.time.filter(|&time| time > Nanos::ZERO)
    }

    /// How much is to be written before it ends, unless it takes too long, where so much can be written.
    pub fn least_written(&self, writable: Bytes) -> Bytes {
        self.at_least.iter().filter_map(|least| least.stop(writable).bytes).min().unwrap_or(Bytes::ZERO)
    }

    /// What it fills: its range, where it writes all of that in order before anything else can end it.
    pub(super) fn fills(&self) -> Option<FilledRange> {
        let Workload { offset, place, size, share, .. } = self.workload;
        let range = match (share, size, place) {
            (Some(percent), ..) if percent < 100 => FilledRange::Percent(percent),
            (None, Some(size), _) => FilledRange::Bytes(size),
            (_, _, Some(place)) if place > 0 => FilledRange::Percent(100 - place.min(100)),
            _ if offset > Bytes::ZERO => FilledRange::From(offset),
            _ => FilledRange::Whole,
        };
        self.is_fill().then_some(range)
    }

    fn is_fill(&self) -> bool {
        let is_whole = |limit: &Limit| match *limit {
            Limit::Percent(percent) => percent >= self.workload.share.map_or(100, u32::from),
            Limit::Bytes(bytes) => self.workload.size.is_some_and(|size| bytes >= size),
            Limit::Time(_) => false,
        };
        let lasts = |limits: &[Limit]| !limits.is_empty() && limits.iter().all(is_whole);
        let ends_by_amount = lasts(&self.at_most) && (self.steady.is_none() || lasts(&self.at_least));
        self.workload.pattern == Pattern::Write && ends_by_amount
    }

    /// What comes before the rounds on such a simulated drive that can be put behind it; none where nothing does, or where not
    /// all addresses can be written.
    pub fn constructed(&self, site: &Site) -> Option<Construction> {
        let writes = self.least_written(site.writable).round_down(self.workload.block);
        if writes == Bytes::ZERO || site.writable < site.capacity {
            return None;
        }
        let workload = Workload { stop: Stop::after_bytes(writes), ..self.workload.clone() };
        if self.construct { Construction::of(&workload, site.capacity) } else { None }
    }
}

impl Limit {
    /// The stop of a workload that goes on for so much on a target of which so much can be written.
    pub fn stop(self, writable: Bytes) -> Stop {
        match self {
            Self::Time(time) => Stop::after(time),
            Self::Bytes(bytes) => Stop::after_bytes(bytes),
            Self::Percent(percent) => {
                Stop::after_bytes(Bytes::new((u128::from(writable.get()) * u128::from(percent) / 100) as u64))
            }
        }
    }
}
