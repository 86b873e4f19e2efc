//! Which part of a plan a shard measures.

use std::collections::HashSet;

use store::Shard;

use crate::plan::{Passes, Plan};

/// What of a plan is measured: all of it, or what is a shard's.
///
/// Points of sweeps and trials, and steps that are done as one, are dealt out in the plan's order, one to each shard in turn. Points
/// of a sweep over parameters of the drive are dealt out drive by drive, an equal number to each shard, so that as few shards as can
/// be bring the same drive into its state. Every shard does the steps that change the drive's state until its last point, so that each figure is of the state that it is of in a
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
        let (own, count) = (shard.number() as usize - 1, shard.count() as usize);
        let mut points: HashSet<(usize, usize)> = HashSet::new();
        let mut turn = 0;
        for step in 0..plan.steps.len() {
            let all = points_of(step);
            if let Some(by_drive) = by_drive(plan, step) {
                let dealt = by_drive.into_iter().enumerate().filter(|(at, _)| at * count / all == own);
                points.extend(dealt.map(|(_, point)| (step, point)));
                continue;
            }
            points.extend((0..all).filter(|point| (turn + point) % count == own).map(|point| (step, point)));
            turn += all;
        }
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

/// The points of a step that sweeps over drives, those of a drive behind one another; none of any other step.
fn by_drive(plan: &Plan, step: usize) -> Option<Vec<usize>> {
    let Passes::Sampled(measure) = plan.steps[step].action.kind().passes() else { return None };
    let drives: Vec<String> = measure.points().map(|point| point[0].changes()).collect();
    let first = |drive: &String| drives.iter().position(|one| one == drive);
    let mut points: Vec<usize> = (0..drives.len()).collect();
    points.sort_by_cached_key(|point| first(&drives[*point]));
    drives.iter().any(|drive| !drive.is_empty()).then_some(points)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{PlanLength, parse};

    const PLAN: &str = r#"
name = "grid"
title = "Grid"

[[step]]
name = "depths"
rw = "randread"
number_ios = 10
sweep.iodepth = [1, 2, 4]

[[step]]
name = "drives"
rw = "randread"
number_ios = 10
sweep.iodepth = [1, 2]
sweep."drive.nand.read" = ["50us", "60us", "70us", "80us"]
"#;

    /// The points that each of so many shards has, by step and place.
    fn dealt(plan: &Plan, count: u32) -> Vec<Vec<(usize, usize)>> {
        let of = |number| {
            let portion = Portion::of(plan, Shard::new(number, count));
            let all = (0..3).map(|point| (0, point)).chain((0..8).map(|point| (1, point)));
            all.filter(|(step, point)| portion.has(*step, *point)).collect()
        };
        (1..=count).map(of).collect()
    }

    #[test]
    fn each_point_is_one_shards_and_a_drives_points_stay_together() {
        let plan = parse(PLAN, PlanLength::Full).unwrap();
        for count in [1, 2, 3, 4, 5, 8, 64] {
            let mut all = dealt(&plan, count).concat();
            all.sort_unstable();
            let whole: Vec<(usize, usize)> =
                (0..3).map(|point| (0, point)).chain((0..8).map(|point| (1, point))).collect();
            assert_eq!(all, whole, "{count} shards");
        }
        // The depth varies slowest: the points of a drive are four apart.
        let [one, two] = &dealt(&plan, 2)[..] else { panic!("two shards") };
        assert_eq!(one, &[(0, 0), (0, 2), (1, 0), (1, 1), (1, 4), (1, 5)]);
        assert_eq!(two, &[(0, 1), (1, 2), (1, 3), (1, 6), (1, 7)]);
        assert!(dealt(&plan, 4).iter().all(|shard| shard.iter().filter(|(step, _)| *step == 1).count() == 2));
    }
}
