//! What a plan will cost before it is begun: how much it writes, how much of the drive's life that is, how long it takes.

use block::{Bytes, Nanos};

use crate::cost::Cost;

pub use crate::cost::{Bounds, Pace, Place, RatedEndurance};
use crate::{Plan, Work};

/// What a plan will cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    /// What each step costs, in the plan's order.
    pub steps: Vec<StepForecast>,
    /// Where it is carried out.
    pub capacity: Bytes,
    /// How fast the target was taken to be, and from where that is.
    pub pace: Pace,
    /// How much may be written to it in its life, if that is known.
    pub endurance: Option<RatedEndurance>,
    /// About how long all takes of the host's time; none where the target is real and that is the time of the steps.
    pub host_time: Option<Nanos>,
}

/// What a step will cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepForecast {
    /// The step's place in the plan.
    pub index: usize,
    /// How much it writes, as the host counts it. What a drive writes to its flash on top of that is not in it.
    pub written: Bounds<Bytes>,
    /// How long it takes: in the drive's own time where it is simulated.
    pub time: Bounds<Nanos>,
}

/// What a simulated review takes beside its steps: the store, the statistics, the report. Source: measured; a disk's review is
/// hardly more.
const AROUND: Nanos = Nanos::from_secs(1);

/// What `plan` will cost at `place`.
///
/// Where the plan limits data, what is written is exact, and where it limits time, the time is. The rest follows from
/// [`Pace`] and is marked as estimated.
pub fn forecast(plan: &Plan, place: &Place) -> Forecast {
    let plan = &plan.on(place.capacity);
    let (others, site) = (plan.swept_drives(), place.site());
    // A drive with other parts is brought to where the plan is by the steps before.
    let drives = |index: usize, work: &Work| match work.passes.leaves_no_trace() {
        true => 1,
        false => 1 + others.iter().filter(|(_, last)| *last > index).count() as u64,
    };
    let mut host_time = AROUND;
    let mut steps = Vec::new();
    for (index, step) in plan.steps.iter().enumerate() {
        let work = step.work(&site);
        let (Cost { written, time, host }, drives) = (place.cost(&work), drives(index, &work));
        steps.push(StepForecast { index, written: written.times(drives), time: time.times(drives) });
        host_time += host.times(drives);
    }
    Forecast {
        steps,
        capacity: place.capacity,
        pace: place.pace.clone(),
        endurance: place.endurance.clone(),
        host_time: place.is_simulated.then_some(host_time),
    }
}

impl Forecast {
    /// How much all steps write.
    pub fn written(&self) -> Bounds<Bytes> {
        self.steps.iter().fold(Bounds::default(), |sum, step| sum.and(step.written))
    }

    /// How long all steps take.
    pub fn time(&self) -> Bounds<Nanos> {
        self.steps.iter().fold(Bounds::default(), |sum, step| sum.and(step.time))
    }

    /// What share of the drive's rated endurance all steps write, at least and at most; none where it is not known.
    pub fn share(&self) -> Option<(f64, f64)> {
        let (rated, written) = (self.endurance.as_ref()?.rated, self.written());
        Some((rated.share(written.least), rated.share(written.most)))
    }
}

#[cfg(test)]
mod tests;
