//! Workloads that end together at a steady state.

use block::Nanos;

use crate::{SteadyEnd, Workload};

/// Workloads that run side by side and end together, once what they do together is steady.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SteadyGroup {
    pub end: SteadyEnd,
    /// When the last of them begins to count, since the run began: what is judged begins there.
    pub begin: Nanos,
    /// Their places among all.
    pub places: Vec<usize>,
}

impl SteadyGroup {
    /// The groups that workloads make: those that end by the same steady state are one.
    pub fn all<'w>(workloads: impl IntoIterator<Item = &'w Workload>) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        for (place, workload) in workloads.into_iter().enumerate() {
            let (end, begin) = (workload.stop.steady, workload.lead());
            match groups.iter_mut().find(|group| group.end == end) {
                _ if end.criterion.is_none() => {}
                Some(group) => {
                    group.begin = group.begin.max(begin);
                    group.places.push(place);
                }
                None => groups.push(Self { end, begin, places: vec![place] }),
            }
        }
        groups
    }

    /// How many whole intervals one of them counts before what is judged begins.
    pub fn skipped(&self, workload: &Workload) -> usize {
        (self.begin.since(workload.lead()).as_nanos() / SteadyEnd::TICK.as_nanos()) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Stop;

    fn ends(criterion: &str) -> SteadyEnd {
        SteadyEnd { criterion: criterion.parse().ok(), window: Nanos::from_secs(2), ..SteadyEnd::NONE }
    }

    #[test]
    fn workloads_with_one_end_are_judged_together_once_all_of_them_count() {
        let (one, other) = (ends("iops:1"), ends("bw:1%"));
        let of = |steady, ramp| {
            let stop = Stop { steady, ..Stop::default() };
            Workload { stop, ramp: Nanos::from_millis(ramp), ..Workload::default() }
        };
        let workloads = [of(one, 0), of(SteadyEnd::NONE, 0), of(other, 0), of(one, 2500), of(one, 1000)];
        let groups = SteadyGroup::all(&workloads);
        let told: Vec<_> = groups.iter().map(|group| (group.begin.as_nanos() / 1_000_000, &group.places[..])).collect();
        assert_eq!(told, [(2500, &[0, 3, 4][..]), (0, &[2][..])]);
        assert_eq!(workloads.each_ref().map(|workload| groups[0].skipped(workload))[3..], [0, 1]);
        assert_eq!(groups[0].skipped(&workloads[0]), 2);
    }
}
