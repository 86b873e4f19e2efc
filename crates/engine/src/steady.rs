//! Jobs in real time that end once what they do together is steady.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use block::Nanos;
use measurement::{Settling, TickSum};
use workload::SteadyGroup;

use crate::{Job, Tick};

/// What workers tell of their intervals, until what they do together is steady.
pub(crate) struct SteadyWatch {
    group: SteadyGroup,
    told: Mutex<Told>,
    /// When it was seen to be steady, in nanoseconds since all count.
    end: AtomicU64,
}

struct Told {
    settling: Settling,
    /// What was completed in the intervals that are not judged yet.
    sums: VecDeque<TickSum>,
    /// How many are.
    judged: usize,
    workers: Vec<TellingWorker>,
}

/// A worker, and how much of what it has completed is known.
struct TellingWorker {
    /// How many of its intervals are over before all count.
    skipped: usize,
    /// Of how many it has told; of all where it has ended.
    told: usize,
}

/// Who watches the groups that jobs make.
pub(crate) fn watches(jobs: &[Job]) -> Vec<SteadyWatch> {
    let groups = SteadyGroup::all(jobs.iter().map(|job| job.workload));
    let watch = |group: SteadyGroup| {
        let workers = group.places.iter().flat_map(|&place| {
            let workload = jobs[place].workload;
            let skipped = group.skipped(workload);
            (0..workload.workers).map(move |_| TellingWorker { skipped, told: 0 })
        });
        let (settling, workers) = (Settling::new(group.end)?, workers.collect());
        let told = Told { settling, sums: VecDeque::new(), judged: 0, workers };
        Some(SteadyWatch { group, told: Mutex::new(told), end: AtomicU64::new(u64::MAX) })
    };
    groups.into_iter().filter_map(watch).collect()
}

/// A job's part in what is watched.
#[derive(Clone, Copy)]
pub(crate) struct SteadyPart<'s> {
    watch: &'s SteadyWatch,
    /// The number of its first worker there.
    first: usize,
    /// How long it counts before all do.
    before: Nanos,
}

/// The part of the job at this place; none where no steady state ends it.
pub(crate) fn part<'s>(watches: &'s [SteadyWatch], jobs: &[Job], place: usize) -> Option<SteadyPart<'s>> {
    let watch = watches.iter().find(|watch| watch.group.places.contains(&place))?;
    let others = watch.group.places.iter().take_while(|&&other| other != place);
    let first = others.map(|&other| jobs[other].workload.workers as usize).sum();
    Some(SteadyPart { watch, first, before: watch.group.begin.since(jobs[place].workload.lead()) })
}

impl SteadyPart<'_> {
    /// When it was seen to be steady, since the job began to count; in no time at all if it was not.
    pub fn end(&self) -> Nanos {
        let end = self.watch.end.load(Ordering::Relaxed);
        Nanos::from_nanos(end.saturating_add(self.before.as_nanos()))
    }

    /// Takes in what a worker completed in the first `whole` intervals, at a time since the job began to count. Where its
    /// series is shorter nothing was completed in the others.
    pub fn tell(&self, worker: u32, series: &[Tick], whole: usize, now: Nanos) {
        let mut told = self.watch.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.add(self.first + worker as usize, &series[..series.len().min(whole)], whole);
        self.judge(&mut told, now);
    }

    /// Takes in all of a worker that has ended.
    pub fn leave(&self, worker: u32, series: &[Tick], now: Nanos) {
        let mut told = self.watch.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.add(self.first + worker as usize, series, usize::MAX);
        self.judge(&mut told, now);
    }

    /// Judges the intervals of which all workers have told.
    fn judge(&self, told: &mut Told, now: Nanos) {
        let whole = told.workers.iter().map(|worker| worker.told.saturating_sub(worker.skipped)).min().unwrap_or(0);
        let is_over = told.workers.iter().all(|worker| worker.told == usize::MAX);
        while told.judged < whole && !is_over {
            told.judged += 1;
            let sum = told.sums.pop_front().unwrap_or_default();
            if told.settling.push(sum) {
                self.watch.end.fetch_min(now.since(self.before).as_nanos(), Ordering::Relaxed);
                return;
            }
        }
    }
}

impl Told {
    /// Adds what a worker completed in its intervals up to `whole` of which it has not told yet.
    fn add(&mut self, worker: usize, series: &[Tick], whole: usize) {
        let TellingWorker { skipped, told } = &mut self.workers[worker];
        for (place, tick) in series.iter().enumerate().skip((*told).max(*skipped)) {
            let Some(place) = (place - *skipped).checked_sub(self.judged) else { continue };
            if place >= self.sums.len() {
                self.sums.resize(place + 1, TickSum::default());
            }
            self.sums[place].add(TickSum::from(tick));
        }
        *told = whole.max(*told);
    }
}

#[cfg(test)]
mod tests {
    use block::{Bytes, Op, Seed};
    use workload::{SteadyEnd, Stop, Workload};

    use super::*;

    /// A job of one worker that begins to count at this time, and ends at two equal values of IOPS.
    fn ending(lead: u64) -> Workload {
        let window = Nanos::from_secs(2);
        let steady = SteadyEnd { criterion: "iops:1".parse().ok(), window, ..SteadyEnd::default() };
        Workload { stop: Stop { steady, ..Stop::default() }, ramp: Nanos::from_millis(lead), ..Workload::default() }
    }

    /// Has two jobs tell what they complete in each interval; when each is seen to be steady.
    fn told(leads: [u64; 2], tell: impl Fn(&[SteadyPart; 2])) -> [Nanos; 2] {
        let workloads = leads.map(ending);
        let jobs = workloads.each_ref().map(|workload| Job { name: "", workload, seed: Seed::new(1), observer: None });
        let watches = watches(&jobs);
        let parts = [0, 1].map(|place| part(&watches, &jobs, place).unwrap());
        tell(&parts);
        parts.map(|part| part.end())
    }

    fn ticks(requests: &[u64]) -> Vec<Tick> {
        let tick = |&requests: &u64| {
            let mut tick = Tick::default();
            (0..requests).for_each(|_| tick.record(Op::Read, Bytes::from_kib(4), Nanos::from_micros(5)));
            tick
        };
        requests.iter().map(tick).collect()
    }

    fn at(millis: u64) -> Nanos {
        Nanos::from_millis(millis)
    }

    #[test]
    fn an_interval_is_judged_once_every_worker_has_told_of_it() {
        let all = [5, 9, 5, 50, 50];
        let end = |whole| {
            told([0, 0], |[one, other]| {
                one.tell(0, &ticks(&all), 3, at(3001));
                other.tell(0, &ticks(&[9, 5]), 1, at(3100));
                if whole > 1 {
                    other.tell(0, &ticks(&[9, 5]), whole, at(3200));
                    one.tell(0, &ticks(&all), 5, at(5200));
                }
            })
        };
        assert_eq!(end(1), [Nanos::MAX; 2], "of the second interval only one has told");
        assert_eq!(end(2), [at(3200); 2], "14 and 14");
        assert_eq!(end(3), [at(3200); 2], "what comes later changes nothing");
    }

    #[test]
    fn a_worker_that_completes_nothing_tells_that_and_one_that_has_ended_is_not_waited_for() {
        let idle = told([0, 0], |[one, other]| {
            other.tell(0, &[], 2, at(2100));
            one.tell(0, &ticks(&[7, 7]), 2, at(2200));
        });
        assert_eq!(idle, [at(2200); 2]);
        let ended = told([0, 0], |[one, other]| {
            other.leave(0, &ticks(&[3]), at(500));
            one.tell(0, &ticks(&[7, 10]), 2, at(2001));
        });
        assert_eq!(ended, [at(2001); 2], "10 and 10");
        let all = told([0, 0], |[one, other]| {
            one.leave(0, &ticks(&[7]), at(600));
            other.leave(0, &ticks(&[3]), at(700));
        });
        assert_eq!(all, [Nanos::MAX; 2], "that nobody is left is no steady state");
    }

    #[test]
    fn nothing_is_judged_before_all_count_and_each_ends_by_its_own_time() {
        let ends = told([0, 2500], |[one, other]| {
            one.tell(0, &ticks(&[8, 8, 3, 6]), 4, at(4001));
            other.tell(0, &ticks(&[7, 4]), 2, at(2002));
        });
        assert_eq!(ends, [at(2002 + 2500), at(2002)], "10 and 10");
    }
}
