//! Which part of a plan a shard measures.

use std::collections::HashSet;

use store::Shard;

use crate::plan::{Passes, Plan};

/// What of a plan is measured: all of it, or what is a shard's.
///
/// Points of sweeps and trials, and steps that are done as one, are dealt out in the plan's order, one to each shard in turn. Every
/// shard does the steps that change the drive's state until its last point, so that each figure is of the state that it is of in a
/// whole run; what several shards measure is the same in all of them on a simulated drive.
#[derive(Clone, Debug, Default)]
pub(super) struct Portion {
    shard: Option<Owned>,
}

#[derive(Clone, Debug)]
struct Owned {
    /// Points, by step and place in it.
    points: HashSet<(usize, usize)>,
    /// How many steps are done.
    steps: usize,
}

impl Portion {
    /// What is this shard's of a plan; all of it where there is none.
    pub fn of(plan: &Plan, shard: Option<Shard>) -> Self {
        let Some(shard) = shard else { return Self::default() };
        let points_of = |step: usize| match plan.steps[step].action.kind().passes() {
            Passes::Sampled(measure) => measure.points().count(),
            Passes::Trials(trials) => trials.points.len(),
            _ => 1,
        };
        let all = (0..plan.steps.len()).flat_map(|step| (0..points_of(step)).map(move |point| (step, point)));
        let dealt =
            all.enumerate().filter(|(at, _)| *at as u64 % u64::from(shard.count()) == u64::from(shard.number()) - 1);
        let mut points: HashSet<(usize, usize)> = dealt.map(|(_, point)| point).collect();
        // What a load is a share of is known only where all of it was measured. It comes before, so it is found from the end.
        for (step, one) in plan.steps.iter().enumerate().rev() {
            let load_of = one.action.measure().and_then(|measure| measure.load_of.as_ref());
            let is_owned = points.iter().any(|(owned, _)| *owned == step);
            if let Some(of) =
                load_of.filter(|_| is_owned).and_then(|of| plan.steps.iter().position(|one| one.name == *of))
            {
                points.extend((0..points_of(of)).map(|point| (of, point)));
            }
        }
        let steps = points.iter().map(|(step, _)| step + 1).max().unwrap_or_default();
        Self { shard: Some(Owned { points, steps }) }
    }

    /// Whether this point of a step is measured.
    pub fn has(&self, step: usize, point: usize) -> bool {
        self.shard.as_ref().is_none_or(|owned| owned.points.contains(&(step, point)))
    }

    /// How many of so many steps are done.
    pub fn steps(&self, all: usize) -> usize {
        self.shard.as_ref().map_or(all, |owned| owned.steps)
    }
}
