//! What a plan will cost before it is begun: how much it writes, how much of the drive's life that is, how long it takes.

mod bounds;
mod endurance;
mod pace;

use block::{Bytes, Nanos};
use workload::{Pattern, Spare, Workload};

pub use self::bounds::Bounds;
pub use self::endurance::RatedEndurance;
pub use self::pace::Pace;
use crate::plan::{Action, Condition, Limit, Measure, Plan, Point, Rounds, Step};
use crate::variants::swept;
use crate::{PurgeMethod, simulated};

/// What a plan is going to be carried out on, as far as its cost depends on that.
#[derive(Clone, Debug)]
pub struct Place {
    /// How much of the target is used.
    pub capacity: Bytes,
    /// How fast it is taken to be.
    pub pace: Pace,
    /// Whether it is a simulated drive, whose time is not the host's.
    pub is_simulated: bool,
    /// How much flash it has beyond its capacity, if that is known.
    pub spare: Option<Spare>,
    /// How much may be written to it in its life, if that is known.
    pub endurance: Option<RatedEndurance>,
}

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

/// Erasing a drive takes seconds. Source: guess; what a discard of a whole drive takes is up to its maker.
const PURGE: Nanos = Nanos::from_secs(5);

/// What `plan` will cost at `place`.
///
/// Where the plan limits data, what is written is exact, and where it limits time, the time is. The rest follows from
/// [`Pace`] and is marked as estimated.
pub fn forecast(plan: &Plan, place: &Place) -> Forecast {
    let plan = &plan.on(place.capacity);
    let others = swept(plan);
    // A drive with other parts is brought to where the plan is by the steps before.
    let drives = |index: usize, step: &Step| match step.action {
        Action::Measure(_) => 1,
        _ => 1 + others.iter().filter(|(_, last)| *last > index).count() as u64,
    };
    let steps: Vec<StepForecast> = plan
        .steps
        .iter()
        .enumerate()
        .map(|(index, step)| {
            let (written, time) = place.cost(&step.action);
            StepForecast { index, written: written.times(drives(index, step)), time: time.times(drives(index, step)) }
        })
        .collect();
    let host =
        || plan.steps.iter().enumerate().map(|(index, step)| place.host_cost(&step.action).times(drives(index, step)));
    Forecast {
        steps,
        capacity: place.capacity,
        pace: place.pace.clone(),
        endurance: place.endurance.clone(),
        host_time: place.is_simulated.then(|| host().sum()),
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

impl Place {
    /// How much a step writes and how long it takes.
    fn cost(&self, action: &Action) -> (Bounds<Bytes>, Bounds<Nanos>) {
        match action {
            Action::Purge { method } if self.is_simulated || *method == PurgeMethod::None => Default::default(),
            Action::Purge { .. } => (Bounds::default(), Bounds::estimated(PURGE)),
            Action::Idle { time } => (Bounds::default(), Bounds::exact(*time)),
            Action::Fill { block, queue_depth } => {
                let fill = Workload {
                    pattern: Pattern::Write,
                    block: *block,
                    queue_depth: *queue_depth,
                    ..Workload::default()
                };
                (Bounds::exact(self.capacity), Bounds::estimated(self.time_for(&fill, self.capacity)))
            }
            Action::Measure(measure) => self.measure(measure),
            Action::Rounds(rounds) => self.rounds(rounds),
            Action::Condition(condition) => self.condition(condition),
            Action::Precondition(precondition) => self.workload(&precondition.on(self.capacity, self.spare)),
            Action::Trial(trials) => {
                let sum = |one: &dyn Fn(&Point) -> u64| -> u64 {
                    trials.points.iter().map(one).sum::<u64>() * u64::from(trials.repeats)
                };
                let written = sum(&|point| trials.experiment.writes(&point.choices).get());
                let time = sum(&|point| trials.experiment.cost(&point.choices).as_nanos());
                (Bounds::estimated(Bytes::new(written)), Bounds::estimated(Nanos::from_nanos(time)))
            }
        }
    }

    /// Jobs side by side write together and take as long as the longest of them.
    fn measure(&self, measure: &Measure) -> (Bounds<Bytes>, Bounds<Nanos>) {
        let (written, time) = self.once(measure);
        let (least, most) = (u64::from(measure.repeats.least()), u64::from(measure.repeats.most));
        (written.times(least).to(written.times(most)), time.times(least).to(time.times(most)))
    }

    /// As many rounds as it takes to judge them, up to as many as there may be.
    fn rounds(&self, rounds: &Rounds) -> (Bounds<Bytes>, Bounds<Nanos>) {
        let (written, time) = self.once(&rounds.measure);
        let time = time.and(Bounds::exact(rounds.rest.times(rounds.measure.cells.len() as u64)));
        let before = rounds.pre_writes.as_ref().map(|workload| self.workload(workload)).unwrap_or_default();
        let (written, time) = (written.and(before.0), time.and(before.1));
        let (least, most) = (u64::from(rounds.measure.repeats.most), u64::from(rounds.at_most));
        (written.times(least).to(written.times(most)), time.times(least).to(time.times(most)))
    }

    /// Every point once.
    fn once(&self, measure: &Measure) -> (Bounds<Bytes>, Bounds<Nanos>) {
        let mut sum = (Bounds::default(), Bounds::default());
        for cells in measure.points() {
            let costs: Vec<_> = cells.iter().map(|cell| self.workload(&cell.workload)).collect();
            let written = costs.iter().fold(Bounds::default(), |all, (written, _)| Bounds::and(all, *written));
            let time = costs.iter().fold(Bounds::default(), |longest, (_, time)| Bounds::max(longest, *time));
            sum = (sum.0.and(written), sum.1.and(time));
        }
        sum
    }

    /// A workload run once, to whichever of its limits it is taken to reach first.
    fn workload(&self, workload: &Workload) -> (Bounds<Bytes>, Bounds<Nanos>) {
        let a_second = self.pace.bytes_a_second(workload);
        let replay = workload.replay.as_ref();
        let digest = replay.and_then(|replay| replay.digest);
        let counted = |each: u64| workload.block_mean().times(each.saturating_mul(u64::from(workload.workers)));
        let by_data = workload.stop.bytes.into_iter().chain(workload.stop.requests.map(counted));
        let by_data = by_data.chain(digest.map(|digest| digest.bytes)).min();
        let by_time = workload.stop.time.into_iter().chain(replay.and_then(|replay| replay.length())).min();
        let in_time = |time: Nanos| Bytes::new((time.as_secs_f64() * a_second) as u64);
        let taken = |data: Bytes| Nanos::from_nanos((data.get() as f64 / a_second * 1e9) as u64);
        let (moved, time) = match (by_data, by_time) {
            (None, None) => return Default::default(),
            (Some(data), None) => (Bounds::exact(data), Bounds::estimated(taken(data))),
            (None, Some(time)) => (Bounds::estimated(in_time(time)), Bounds::exact(time)),
            (Some(data), Some(time)) => (
                Bounds { most: data, ..Bounds::estimated(data.min(in_time(time))) },
                Bounds { most: time, ..Bounds::estimated(time.min(taken(data))) },
            ),
        };
        let ramp = match workload.ramp {
            Nanos::ZERO => Bounds::default(),
            ramp => Bounds::estimated(in_time(ramp)),
        };
        (written(workload, moved.and(ramp)), time.and(Bounds::exact(workload.ramp)))
    }

    /// Rounds until steady, between the limits that the plan sets.
    fn condition(&self, condition: &Condition) -> (Bounds<Bytes>, Bounds<Nanos>) {
        let workload = &condition.workload;
        let a_second = self.pace.bytes_a_second(workload);
        let reach = |limit: Limit| {
            let of_data = |data: Bytes| (Bounds::exact(data), Bounds::estimated(self.time_for(workload, data)));
            match limit {
                Limit::Time(time) => {
                    (Bounds::estimated(Bytes::new((time.as_secs_f64() * a_second) as u64)), Bounds::exact(time))
                }
                Limit::Bytes(data) => of_data(data),
                Limit::Percent(percent) => {
                    of_data(Bytes::new((u128::from(self.capacity.get()) * u128::from(percent) / 100) as u64))
                }
            }
        };
        let limits = condition.at_most.iter().map(|limit| reach(*limit));
        let most = limits.min_by_key(|(_, time)| time.most).unwrap_or_default();
        // Without a rule there is nothing that could end it before.
        let least = condition.steady.map_or(most, |_| reach(condition.at_least));
        (written(workload, least.0.to(most.0)), least.1.to(most.1))
    }

    fn time_for(&self, workload: &Workload, data: Bytes) -> Nanos {
        Nanos::from_nanos((data.get() as f64 / self.pace.bytes_a_second(workload) * 1e9) as u64)
    }

    /// About how long a step takes of the host's time, where the drive is simulated.
    fn host_cost(&self, action: &Action) -> Nanos {
        let cost = |workload: &Workload| simulated::cost(workload, &self.pace, self.spare);
        let bytes = |most: Bytes, workload: &Workload| {
            cost(&Workload { stop: workload::Stop::after_bytes(most), ..workload.clone() })
        };
        match action {
            Action::Purge { .. } | Action::Idle { .. } => Nanos::ZERO,
            Action::Fill { block, queue_depth } => {
                let fill = Workload {
                    pattern: Pattern::Write,
                    block: *block,
                    queue_depth: *queue_depth,
                    ..Workload::default()
                };
                bytes(self.capacity, &fill)
            }
            Action::Measure(measure) => {
                let once: Nanos = measure.cells.iter().map(|cell| cost(&cell.workload)).sum();
                let all = once.times(u64::from(measure.repeats.least())).as_nanos();
                Nanos::from_nanos(all / rayon::current_num_threads() as u64)
            }
            Action::Rounds(rounds) => {
                let round: Nanos = rounds.measure.cells.iter().map(|cell| cost(&cell.workload)).sum();
                round.times(u64::from(rounds.measure.repeats.most))
            }
            // The kernel's clock is the machine's.
            Action::Trial(_) => self.cost(action).1.most,
            Action::Precondition(precondition) => cost(&precondition.on(self.capacity, self.spare)),
            Action::Condition(condition) => bytes(self.cost(action).0.least, &condition.workload),
        }
    }
}

/// Of the data that a workload moves, what it writes.
fn written(workload: &Workload, moved: Bounds<Bytes>) -> Bounds<Bytes> {
    let share = match workload.pattern {
        _ if !workload.changes_data() => return Bounds::default(),
        Pattern::Trim | Pattern::RandTrim => return Bounds::default(),
        _ => 100 - workload.reads(),
    };
    let of = |bytes: Bytes| Bytes::new((u128::from(bytes.get()) * u128::from(share) / 100) as u64);
    let is_estimate = moved.is_estimate || (share > 0 && share < 100) || workload.replay.is_some();
    Bounds { least: of(moved.least), most: of(moved.most), is_estimate }
}

#[cfg(test)]
mod tests;
