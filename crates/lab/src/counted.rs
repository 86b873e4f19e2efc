//! A simulated drive that tells what share of a workload has been asked of it.

use block::{Bytes, Completion, Lba, Nanos, Request, Tag};
use drive::{Counters, Drive, Health, Lost, Shape};
use workload::Workload;

use crate::subject::Share;

/// How often it tells, over the whole of a workload.
const TIMES: u64 = 200;

/// A drive as it is to a workload that ends after so much data; every so often, someone hears how far it has come.
pub(crate) struct Counted<'a, D> {
    drive: &'a mut D,
    share: &'a Share<'a>,
    whole: Bytes,
    asked: Bytes,
    /// When to tell next.
    next: Bytes,
}

impl<'a, D: Drive> Counted<'a, D> {
    /// Tells `share` while `drive` serves `workload`; nothing of one that ends otherwise than after so much data.
    pub fn new(drive: &'a mut D, workload: &Workload, share: &'a Share) -> Self {
        let whole = workload.stop.bytes.unwrap_or(Bytes::new(u64::MAX));
        Self { drive, share, whole, asked: Bytes::ZERO, next: step(whole) }
    }
}

/// How much lies between two tellings.
const fn step(whole: Bytes) -> Bytes {
    Bytes::new(whole.get() / TIMES)
}

impl<D: Drive> Drive for Counted<'_, D> {
    fn shape(&self) -> Shape {
        self.drive.shape()
    }

    #[inline]
    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        self.asked += request.bytes();
        if self.asked >= self.next {
            self.next += step(self.whole);
            (self.share)((self.asked.get() as f64 / self.whole.get() as f64).min(1.0));
        }
        self.drive.submit(now, tag, request);
    }

    #[inline]
    fn next_event(&self) -> Option<Nanos> {
        self.drive.next_event()
    }

    #[inline]
    fn complete(&mut self, until: Nanos) -> Option<Completion> {
        self.drive.complete(until)
    }

    #[inline]
    fn now(&self) -> Nanos {
        self.drive.now()
    }

    fn counters(&self) -> Counters {
        self.drive.counters()
    }

    fn health(&self) -> Health {
        self.drive.health()
    }

    fn purge(&mut self) {
        self.drive.purge();
    }

    fn cut_power(&mut self, now: Nanos) -> Lost {
        self.drive.cut_power(now)
    }

    fn unsaved(&self, now: Nanos) -> Vec<(Lba, Lba)> {
        self.drive.unsaved(now)
    }

    fn expect(&self, soon: &[Request]) {
        self.drive.expect(soon);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use block::Seed;
    use drive::preset::Preset;
    use engine::run_virtual;
    use workload::{Pattern, Stop};

    use super::*;

    #[test]
    fn a_long_write_is_told_in_many_steps_and_runs_as_it_would_unheard() {
        let mut drive = Preset::find("x25-m?capacity.user=64MiB&spare=100%").unwrap().build();
        let mut other = drive.clone();
        let workload = Workload {
            pattern: Pattern::RandWrite,
            queue_depth: 8,
            stop: Stop::after_bytes(Bytes::from_mib(40)),
            ..Workload::default()
        };
        let heard = Mutex::new(Vec::new());
        let tell = |share: f64| heard.lock().unwrap().push(share);
        let told = run_virtual(&mut Counted::new(&mut drive, &workload, &tell), &workload, Seed::new(1)).unwrap();
        let unheard = run_virtual(&mut other, &workload, Seed::new(1)).unwrap();
        assert_eq!((told.elapsed, told.drive), (unheard.elapsed, unheard.drive));
        let heard = heard.into_inner().unwrap();
        assert!((195..=201).contains(&heard.len()) && heard.is_sorted(), "{} times", heard.len());
        assert!((0.49..0.51).contains(&heard[heard.len() / 2]) && *heard.last().unwrap() > 0.99, "{heard:?}");
        let timed = Workload { stop: Stop::after(Nanos::from_millis(10)), ..workload };
        run_virtual(&mut Counted::new(&mut drive, &timed, &|_| panic!("told")), &timed, Seed::new(1)).unwrap();
    }
}
