//! How long this machine is busy simulating a workload.

use block::{Bytes, Nanos};
use workload::{Pattern, Stop, Workload};

use super::Place;
use crate::Construction;

impl Place {
    /// About how long a workload takes of the host's time, from the requests that it serves and what each costs to
    /// simulate; rough on purpose.
    ///
    /// Source of its times: the processor time of reviews, whole and `--quick`, of seven drives (one of phase-change memory,
    /// flash of 80 GB to 4 TB, disks), which two cores share: half of it is 0.4 to 1.3 times the estimate, and the time on a
    /// machine that is busy otherwise more. A disk's request costs the same whatever its size, and one at
    /// random three times as much, as arms and commands are chosen by position. What is written in order finds its place sooner and
    /// moves nothing. What is written at random moves other data once the flash beyond the capacity is used up: half its
    /// share's inverse, which is what uniform writes make a greedy collector move.
    pub(super) fn simulating(&self, workload: &Workload) -> Nanos {
        let block = workload.block_mean().get() as f64;
        let a_second = self.pace.requests_a_second(workload);
        let by_time = workload.stop.time.map_or(f64::MAX, |time| (workload.ramp + time).as_secs_f64() * a_second);
        let by_count = workload.stop.requests.map_or(f64::MAX, |each| each as f64 * f64::from(workload.workers));
        let by_bytes = workload.stop.bytes.map_or(f64::MAX, |bytes| bytes.get() as f64 / block);
        let recorded = workload.replay.as_ref().and_then(|replay| replay.digest);
        let by_trace = recorded.map_or(f64::MAX, |digest| digest.requests as f64);
        let requests = by_time.min(by_count).min(by_bytes).min(by_trace);
        let reads = match workload.changes_data() {
            true if workload.pattern.is_mixed() => f64::from(workload.reads()) / 100.0,
            true => 0.0,
            false => 1.0,
        };
        // A workload that ends by data is the one that goes on for long enough to use the spare flash up.
        let moved = match self.spare {
            Some(spare) if workload.pattern.is_random() && by_bytes < by_time => 0.5 / spare.share(),
            _ => 0.0,
        };
        let written = if workload.pattern.is_random() { 450.0 + 65.0 * moved } else { 400.0 };
        let page = match self.is_disk {
            true if workload.pattern.is_random() => 2_000.0,
            true => 400.0,
            false => (250.0 * reads + written * (1.0 - reads)) * (block / 4096.0).max(1.0),
        };
        Nanos::from_nanos((requests * (250.0 + page)) as u64)
    }

    /// About how long it takes to put a drive behind such writes.
    ///
    /// Source: measured on drives of 64 GB to 1 TB. Of flash, what lies in order is noted by rows; of what is written in the order of a
    /// preconditioning, each page is found a place; of what is written at random, each page of the drive, once.
    pub(super) fn constructing(&self, construction: &Construction) -> Nanos {
        if !self.has_map() {
            return Nanos::ZERO;
        }
        let pages = construction.bytes().get() / 4096;
        let tenths = match &construction.direct {
            direct if direct.sprandom.is_some() => pages * 800,
            direct if direct.pattern.is_random() => pages * 300 + self.capacity.get() / 4096 * 200,
            _ => pages * 10,
        };
        Nanos::from_nanos(tenths / 10)
    }

    /// About how long it takes to bring a drive from one state of random writing to the next by writing so much, of which
    /// `timed` is simulated.
    pub fn redrawing(&self, amount: Bytes, timed: Bytes) -> Nanos {
        let random = Workload { pattern: Pattern::RandWrite, stop: Stop::after_bytes(amount), ..Workload::default() };
        let direct = Construction { direct: random.clone(), rest: None };
        let last = Workload { stop: Stop::after_bytes(timed), ..random };
        self.constructing(&direct) + self.simulating(&last) + self.copying()
    }

    /// About how long it takes to make the clone of the drive that a workload runs on; nothing where there is none.
    ///
    /// Source: measured on the X25-M of 80 GB. What is cloned is its map, and grows with the drive.
    pub(super) fn readying(&self, workload: &Workload) -> Nanos {
        let of_80_gb = match self.is_simulated {
            false => 0.0,
            true if !self.has_map() => 0.0,
            true if workload.changes_data() => 10e6,
            true => 1e6,
        };
        Nanos::from_nanos((of_80_gb * self.capacity.get() as f64 / 80e9) as u64)
    }

    /// Whether it has a page map, which is nearly all of a simulated drive's state: all flash has that has pages to spare.
    fn has_map(&self) -> bool {
        self.spare.is_some()
    }
}
