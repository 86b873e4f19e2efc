//! Jobs that end once what they do together is steady.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use block::Nanos;
use measurement::{Settling, TickSum};

use crate::{Job, TICK, Tick};

/// Jobs that are judged together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SteadyGroup {
    /// Their places among all, with the intervals by which each begins to count after the first of them.
    pub jobs: Vec<(usize, usize)>,
    /// When the first begins to count.
    pub lead: Nanos,
}

/// The jobs that end by the same steady state, and whose intervals begin at the same times.
pub(crate) fn judged_together(jobs: &[Job]) -> Vec<SteadyGroup> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let steady = |place: usize| jobs[place].workload.stop.steady;
    let lead = |place: usize| jobs[place].workload.lead();
    let goes_with = |one: usize, other: usize| {
        let apart = lead(one).max(lead(other)) - lead(one).min(lead(other));
        steady(one) == steady(other) && apart.as_nanos().is_multiple_of(TICK.as_nanos())
    };
    for place in (0..jobs.len()).filter(|&place| steady(place).criterion.is_some()) {
        match groups.iter_mut().find(|group| goes_with(group[0], place)) {
            Some(group) => group.push(place),
            None => groups.push(vec![place]),
        }
    }
    let group = |places: Vec<usize>| {
        let first = places.iter().map(|&place| lead(place)).min().unwrap_or_default();
        let late = |place| ((lead(place) - first).as_nanos() / TICK.as_nanos()) as usize;
        SteadyGroup { jobs: places.into_iter().map(|place| (place, late(place))).collect(), lead: first }
    };
    groups.into_iter().map(group).collect()
}

/// Groups with who watches them.
pub(crate) fn watches(jobs: &[Job]) -> Vec<(SteadyGroup, SteadyWatch)> {
    let watch = |group: SteadyGroup| {
        let (first, _) = group.jobs[0];
        let settling = Settling::new(jobs[first].workload.stop.steady)?;
        let late = group.jobs.iter().flat_map(|&(place, late)| (0..jobs[place].workload.workers).map(move |_| late));
        let watch = SteadyWatch::new(settling, late.collect());
        Some((group, watch))
    };
    judged_together(jobs).into_iter().filter_map(watch).collect()
}

/// A job's part in what is watched.
#[derive(Clone, Copy)]
pub(crate) struct SteadyPart<'s> {
    pub watch: &'s SteadyWatch,
    /// The number of its first worker there.
    pub first: usize,
    /// How long after the first of all it begins to count.
    pub late: Nanos,
}

/// The part of the job at this place; none where no steady state ends it.
pub(crate) fn part<'s>(
    watches: &'s [(SteadyGroup, SteadyWatch)],
    jobs: &[Job],
    place: usize,
) -> Option<SteadyPart<'s>> {
    let (group, watch) = watches.iter().find(|(group, _)| group.jobs.iter().any(|&(job, _)| job == place))?;
    let before = group.jobs.iter().take_while(|&&(job, _)| job != place);
    let first = before.map(|&(job, _)| jobs[job].workload.workers as usize).sum();
    Some(SteadyPart { watch, first, late: jobs[place].workload.lead() - group.lead })
}

/// What workers in real time tell of their intervals, until what they do together is steady.
pub(crate) struct SteadyWatch {
    told: Mutex<Told>,
    /// When it was seen to be steady, in nanoseconds since the first began to count.
    end: AtomicU64,
}

struct Told {
    settling: Settling,
    /// What was completed in the intervals that are not judged yet.
    sums: VecDeque<TickSum>,
    /// How many are.
    judged: usize,
    /// Of how many each worker has told; of all where it has ended.
    by: Vec<usize>,
}

impl SteadyWatch {
    /// Of so many workers as there are numbers of intervals before each of them begins to count.
    pub fn new(settling: Settling, late: Vec<usize>) -> Self {
        let told = Told { settling, sums: VecDeque::new(), judged: 0, by: late };
        Self { told: Mutex::new(told), end: AtomicU64::new(u64::MAX) }
    }

    /// When it was seen to be steady, since the first began to count; in no time at all if it was not.
    pub fn end(&self) -> Nanos {
        Nanos::from_nanos(self.end.load(Ordering::Relaxed))
    }

    /// Takes in the next whole intervals of a worker, at a time since the first began to count.
    pub fn tell(&self, worker: usize, ticks: &[Tick], now: Nanos) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let first = told.add(worker, ticks);
        told.by[worker] = first.saturating_add(ticks.len());
        self.judge(&mut told, now);
    }

    /// Takes in what is left of a worker that has ended.
    pub fn leave(&self, worker: usize, ticks: &[Tick], now: Nanos) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.add(worker, ticks);
        told.by[worker] = usize::MAX;
        self.judge(&mut told, now);
    }

    /// Judges the intervals of which all workers have told.
    fn judge(&self, told: &mut Told, now: Nanos) {
        let whole = told.by.iter().copied().min().unwrap_or(usize::MAX);
        while told.judged < whole
            && let Some(sum) = told.sums.pop_front()
        {
            told.judged += 1;
            if told.settling.push(sum) {
                self.end.fetch_min(now.as_nanos(), Ordering::Relaxed);
            }
        }
    }
}

impl Told {
    /// Adds a worker's next intervals; of how many it has told before.
    fn add(&mut self, worker: usize, ticks: &[Tick]) -> usize {
        let first = self.by[worker];
        for (place, tick) in (first - self.judged..).zip(ticks) {
            if place >= self.sums.len() {
                self.sums.resize(place + 1, TickSum::default());
            }
            self.sums[place].add(TickSum::from(tick));
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use block::{Bytes, Op};
    use workload::{SteadyEnd, Stop, Workload};

    use super::*;

    fn ends(criterion: &str) -> SteadyEnd {
        SteadyEnd { criterion: criterion.parse().ok(), window: Nanos::from_secs(2), ..SteadyEnd::default() }
    }

    fn ticks(requests: &[u64]) -> Vec<Tick> {
        let tick = |&requests: &u64| {
            let mut tick = Tick::default();
            (0..requests).for_each(|_| tick.record(Op::Read, Bytes::from_kib(4), Nanos::from_micros(5)));
            tick
        };
        requests.iter().map(tick).collect()
    }

    #[test]
    fn an_interval_is_judged_once_every_worker_has_told_of_it() {
        let watch = SteadyWatch::new(Settling::new(ends("iops:1")).unwrap(), vec![0, 0]);
        let at = |millis| Nanos::from_millis(millis);
        watch.tell(0, &ticks(&[5, 9, 5]), at(3001));
        watch.tell(1, &ticks(&[9]), at(3100));
        assert_eq!(watch.end(), Nanos::MAX, "of the second interval only one has told");
        watch.tell(1, &ticks(&[5]), at(3200));
        assert_eq!(watch.end(), at(3200), "14 and 14");
        watch.tell(1, &ticks(&[50]), at(4200));
        watch.tell(0, &ticks(&[50]), at(4300));
        assert_eq!(watch.end(), at(3200));
    }

    #[test]
    fn nobody_waits_for_a_worker_that_has_ended() {
        let watch = SteadyWatch::new(Settling::new(ends("iops:1")).unwrap(), vec![0, 0]);
        watch.leave(1, &ticks(&[3]), Nanos::from_millis(500));
        watch.tell(0, &ticks(&[7, 10]), Nanos::from_millis(2001));
        assert_eq!(watch.end(), Nanos::from_millis(2001), "10 and 10");
        let watch = SteadyWatch::new(Settling::new(ends("iops:1")).unwrap(), vec![0]);
        watch.leave(0, &ticks(&[3]), Nanos::from_millis(500));
        assert_eq!(watch.end(), Nanos::MAX);
    }

    #[test]
    fn a_worker_that_begins_later_adds_to_what_the_others_do_then() {
        let watch = SteadyWatch::new(Settling::new(ends("iops:1")).unwrap(), vec![0, 2]);
        watch.tell(0, &ticks(&[3, 9]), Nanos::from_secs(2));
        watch.tell(0, &ticks(&[6, 5]), Nanos::from_secs(4));
        assert_eq!(watch.end(), Nanos::MAX);
        watch.tell(1, &ticks(&[4, 5]), Nanos::from_secs(5));
        assert_eq!(watch.end(), Nanos::from_secs(5), "10 and 10");
    }

    #[test]
    fn jobs_of_one_criterion_that_count_in_the_same_intervals_are_judged_together() {
        let of = |steady, ramp| Workload { stop: Stop { steady, ..Stop::default() }, ramp, ..Workload::default() };
        let (one, other) = (ends("iops:1"), ends("bw:1%"));
        let workloads = [
            of(one, Nanos::ZERO),
            of(SteadyEnd::default(), Nanos::ZERO),
            of(other, Nanos::ZERO),
            of(one, Nanos::ZERO),
            of(one, Nanos::from_secs(1)),
            of(one, Nanos::from_millis(500)),
        ];
        let job = |workload| Job { name: "", workload, seed: block::Seed::new(1), observer: None };
        let groups = judged_together(&workloads.each_ref().map(job)).into_iter().map(|group| group.jobs);
        assert_eq!(groups.collect::<Vec<_>>(), [vec![(0, 0), (3, 0), (4, 1)], vec![(2, 0)], vec![(5, 0)]]);
    }
}
