//! What work costs on a target: how much is written, how long it takes there, and how long this machine is busy with it.
//!
//! The forecast of a plan and the progress of a run both follow from it.

mod bounds;
mod endurance;
mod host;
mod pace;

use block::{Bytes, Nanos};
use drive::preset::Preset;
use workload::{Pattern, Spare, Stop, Workload};

pub use self::bounds::Bounds;
pub use self::endurance::RatedEndurance;
pub use self::pace::Pace;
use crate::{Cell, Condition, Construction, Count, Limit, Passes, Phase, Site, Work};
use ::host::PurgeMethod;

/// What a plan is going to be carried out on, as far as its cost depends on that.
#[derive(Clone, Debug)]
pub struct Place {
    /// How much of the target is used.
    pub capacity: Bytes,
    /// How much data that is once all of it is written.
    pub writable: Bytes,
    /// How fast it is taken to be.
    pub pace: Pace,
    /// Whether it is a simulated drive, whose time is not the host's.
    pub is_simulated: bool,
    /// Whether it is a simulated disk, or several.
    pub is_disk: bool,
    /// Whether it can be put behind writes in order without simulating them.
    pub fills_untimed: bool,
    /// The same of writes at random.
    pub overwrites_untimed: bool,
    /// How much flash it has beyond its capacity, if that is known.
    pub spare: Option<Spare>,
    /// How much may be written to it in its life, if that is known.
    pub endurance: Option<RatedEndurance>,
}

/// What work costs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// How much is written, as the host counts it.
    pub written: Bounds<Bytes>,
    /// How long it takes: in the drive's own time where it is simulated.
    pub time: Bounds<Nanos>,
    /// How long this machine is busy with it, where the drive is simulated, and it is done no more often than it must be.
    pub host: Nanos,
}

impl Cost {
    /// This and then the other.
    fn and(self, other: Self) -> Self {
        Self { written: self.written.and(other.written), time: self.time.and(other.time), host: self.host + other.host }
    }

    /// This beside the other, which end with the longer. One processor simulates both.
    fn beside(self, other: Self) -> Self {
        Self { time: self.time.max(other.time), ..self.and(other) }
    }
}

/// Erasing a drive takes seconds. Source: guess; what a discard of a whole drive takes is up to its maker.
const PURGE: Nanos = Nanos::from_secs(5);

impl Place {
    /// A real drive or file, of which neither spare nor endurance is known.
    pub const fn real(capacity: Bytes, writable: Bytes, pace: Pace) -> Self {
        Self {
            capacity,
            writable,
            pace,
            is_simulated: false,
            is_disk: false,
            fills_untimed: false,
            overwrites_untimed: false,
            spare: None,
            endurance: None,
        }
    }

    /// A simulated drive that is all used.
    pub fn simulated(preset: &Preset) -> Self {
        Self {
            capacity: preset.capacity(),
            writable: preset.writable(),
            pace: Pace::rated(preset),
            is_simulated: true,
            is_disk: preset.is_rotational(),
            fills_untimed: preset.fills_untimed(),
            overwrites_untimed: preset.overwrites_untimed(),
            spare: preset.spare().and_then(Spare::from_millionths),
            endurance: RatedEndurance::of(preset),
        }
    }

    /// What is known of it before it is opened.
    pub fn site(&self) -> Site {
        Site { writable: self.writable, spare: self.spare, ..Site::of(self.capacity) }
    }

    /// What `work` costs, from as few passes as there may be to as many.
    pub fn cost(&self, work: &Work) -> Cost {
        let (Cost { written, time, host }, Count { least, most, .. }) = (self.pass(work), work.passes.count());
        let (least, most) = (u64::from(least), u64::from(most));
        let side_by_side = if let Passes::Sampled(_) = work.passes { self.side_by_side() } else { 1 };
        Cost {
            written: written.times(least).to(written.times(most)),
            time: time.times(least).to(time.times(most)),
            host: Nanos::from_nanos(host.times(least).as_nanos() / side_by_side),
        }
    }

    /// What `work` adds to the progress of a run.
    pub fn weight(&self, work: &Work) -> Nanos {
        let likely = work.passes.count().likely;
        match work.passes {
            Passes::Sampled(measure) => measure.points().map(|cells| self.sample_weight(cells, likely as usize)).sum(),
            Passes::Condition(_) => self.expected(self.pass(work)),
            _ => work.phases.iter().map(|phase| self.phase_weight(phase)).sum::<Nanos>().times(u64::from(likely)),
        }
    }

    /// What one phase of a step adds that is done once.
    pub fn phase_weight(&self, phase: &Phase) -> Nanos {
        let copying = if let Phase::Purge(_) = phase { self.copying() } else { Nanos::ZERO };
        self.expected(self.phase(phase)) + copying
    }

    /// What so many repeats of a point add, each on a clone.
    pub fn sample_weight(&self, cells: &[Cell], repeats: usize) -> Nanos {
        let clone = cells.iter().map(|cell| self.readying(&cell.workload)).max().unwrap_or_default();
        let all = (self.expected(self.together(cells)) + clone).times(repeats as u64);
        Nanos::from_nanos(all.as_nanos() / self.side_by_side())
    }

    /// About how long it takes to copy all that a drive keeps; nothing where nothing is copied.
    pub fn copying(&self) -> Nanos {
        self.readying(&Workload { pattern: Pattern::RandWrite, ..Workload::default() })
    }

    /// How many measurements are made side by side.
    pub fn side_by_side(&self) -> u64 {
        if self.is_simulated { rayon::current_num_threads() as u64 } else { 1 }
    }

    pub fn pass(&self, work: &Work) -> Cost {
        match work.passes {
            Passes::Condition(condition) => self.condition(condition),
            _ => work.phases.iter().map(|phase| self.phase(phase)).fold(Cost::default(), Cost::and),
        }
    }

    fn phase(&self, phase: &Phase) -> Cost {
        match phase {
            Phase::Purge(method) if self.is_simulated || *method == PurgeMethod::None => Cost::default(),
            Phase::Purge(_) => Cost { time: Bounds::estimated(PURGE), ..Cost::default() },
            Phase::Rest(time) => Cost { time: Bounds::exact(*time), ..Cost::default() },
            Phase::Run { cells, construct: true, .. } => {
                cells.iter().map(|cell| self.constructed(&cell.workload)).fold(Cost::default(), Cost::beside)
            }
            Phase::Run { cells, .. } => self.together(cells),
            Phase::Trial(trials, point) => {
                let (experiment, choices) = (trials.experiment, &point.choices);
                let (written, time) = (experiment.writes(choices), experiment.cost(choices));
                // The kernel's clock is the machine's.
                Cost { written: Bounds::estimated(written), time: Bounds::estimated(time), host: time }
            }
        }
    }

    /// Workloads side by side.
    fn together(&self, cells: &[Cell]) -> Cost {
        cells.iter().map(|cell| self.workload(&cell.workload)).fold(Cost::default(), Cost::beside)
    }

    /// A workload run once, to whichever of its limits it is taken to reach first.
    fn workload(&self, workload: &Workload) -> Cost {
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
            (None, None) => return Cost::default(),
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
        let (written, time) = (written(workload, moved.and(ramp)), time.and(Bounds::exact(workload.lead())));
        Cost { written, time, host: self.simulating(workload) }
    }

    /// Whether it is put behind such writes without simulating them: at random, if it is one drive of flash.
    fn constructs(&self, construction: &Construction) -> bool {
        let can = if construction.is_random() { self.overwrites_untimed } else { self.fills_untimed };
        self.is_simulated && can
    }

    /// A workload whose state the drive is put into, as far as it can be: that takes none of its time.
    fn constructed(&self, workload: &Workload) -> Cost {
        let construction =
            Construction::of(workload, self.capacity).filter(|construction| self.constructs(construction));
        let Some(construction) = construction else { return self.workload(workload) };
        let construction = if self.is_disk { construction.of_disks() } else { construction };
        let written = Bounds::exact(construction.bytes());
        let direct = Cost { written, host: self.constructing(&construction), ..Cost::default() };
        direct.and(construction.rest.as_ref().map(|rest| self.workload(rest)).unwrap_or_default())
    }

    /// Rounds until steady, between the limits that the plan sets.
    fn condition(&self, condition: &Condition) -> Cost {
        let until = |stop: Stop| self.workload(&Workload { stop, ..condition.workload.clone() });
        let reach = |limit: &Limit| until(limit.stop(self.writable));
        let first = |limits: &[Limit]| limits.iter().map(reach).min_by_key(|cost| cost.time.most).unwrap_or_default();
        let most = first(&condition.at_most);
        // Without a rule there is nothing that could end it before.
        let least = condition.steady.map_or(most, |_| first(&condition.at_least));
        if let Some(construction) =
            condition.constructed(&self.site()).filter(|construction| self.constructs(construction))
        {
            return self.rounds_behind(condition, &construction, &until, most.written);
        }
        let (written, time) = (least.written.to(most.written), least.time.to(most.time));
        Cost { written, time, host: until(Stop::after_bytes(written.least)).host }
    }

    /// Rounds behind what is not simulated: as few as the rule judges, or as many as leave `most` written.
    fn rounds_behind(
        &self,
        condition: &Condition,
        construction: &Construction,
        until: &dyn Fn(Stop) -> Cost,
        most: Bounds<Bytes>,
    ) -> Cost {
        let round = until(condition.workload.stop);
        let rounds = condition.steady.map_or(1, |rule| rule.rounds as u64);
        let least = round.time.times(rounds);
        let direct = construction.bytes();
        let left = until(Stop::after_bytes(most.most.max(direct) - direct)).time;
        let host = self.constructing(construction) + until(Stop::after_bytes(round.written.times(rounds).least)).host;
        Cost { written: Bounds::exact(direct).and(round.written.times(rounds)).to(most), time: least.to(left), host }
    }

    /// About how long it takes while a run waits for it.
    fn expected(&self, cost: Cost) -> Nanos {
        if self.is_simulated { cost.host } else { cost.time.least }
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
