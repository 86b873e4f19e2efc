//! What a simulated drive need not be written to be as if it had been.

use block::{Bytes, Seed};
use workload::{Invalid, Pattern, Stop, Stream, Workload};

/// The part of a workload that a simulated drive can be put behind, as if it had been carried out, and what is left of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Construction {
    /// What is not simulated: writes alone.
    pub direct: Workload,
    /// What is, behind it; none where nothing is left.
    pub rest: Option<Workload>,
}

/// How many requests are simulated of those that are left on disks: an hour of one.
const LEFT_OF_DISKS: u64 = 1 << 20;

impl Construction {
    /// That of a workload on a target of this capacity, which writes once in order, or everywhere alike at random, or first in
    /// the order that leaves a steady state and then at random; none of others, which may depend on time.
    pub fn of(workload: &Workload, capacity: Bytes) -> Option<Self> {
        let Workload { block, size, offset, queue_depth, compressible, .. } = workload.clone();
        let bytes = workload.stop.bytes?;
        let stop = Stop::after_bytes(bytes);
        let plain = Workload { pattern: Pattern::Write, block, size, offset, queue_depth, stop, ..Workload::default() };
        if *workload == plain && size.is_none_or(|size| bytes <= size) {
            return Some(Self { direct: plain, rest: None });
        }
        let random = Workload { pattern: Pattern::RandWrite, workers: workload.workers, compressible, ..plain.clone() };
        if *workload == random && offset == Bytes::ZERO && size.is_none_or(|size| size == capacity) {
            return Some(Self { direct: random, rest: None });
        }
        let spare = workload.sprandom?;
        let row = spare.flash(size.unwrap_or(capacity).div(block));
        let stop = Stop::after_requests(row);
        let direct = Workload { queue_depth: 1, workers: 1, sprandom: Some(spare), stop, compressible, ..plain };
        let direct = Workload { pattern: Pattern::RandWrite, ..direct };
        let left = bytes.div(block).saturating_sub(row);
        // Its curve is that of what is left, so that there must be something.
        if left == 0 {
            return None;
        }
        let each = left.div_ceil(u64::from(workload.workers));
        let bytes = Some(block.times(each * u64::from(workload.workers)));
        let stop = Stop { bytes, ..Stop::after_requests(each) };
        let rest = Some(Workload { sprandom: None, stop, ..workload.clone() });
        Some(Self { direct, rest })
    }

    /// The same on disks, which forget what was written before: of what is left behind ordered writes, the last alone is.
    pub fn of_disks(mut self) -> Self {
        let block = self.direct.block;
        if let Some(rest) = &mut self.rest {
            let left = rest.stop.bytes.unwrap_or(Bytes::ZERO).div(block);
            let each = LEFT_OF_DISKS.min(left).div_ceil(u64::from(rest.workers));
            let kept = each * u64::from(rest.workers);
            rest.stop = Stop { bytes: Some(block.times(kept)), ..Stop::after_requests(each) };
            self.direct.stop = Stop::after_requests(self.requests() + left.saturating_sub(kept));
        }
        self
    }

    /// How many requests are not simulated.
    pub fn requests(&self) -> u64 {
        let Workload { stop, block, .. } = &self.direct;
        stop.requests.or(stop.bytes.map(|bytes| bytes.get().div_ceil(block.get().max(1)))).unwrap_or(0)
    }

    /// Those requests, of a part that is not in order.
    ///
    /// # Errors
    /// If it does not fit a target of this capacity.
    pub fn row(&self, capacity: Bytes, seed: Seed) -> Result<impl Iterator<Item = block::Request>, Invalid> {
        let mut stream = Stream::new(&self.direct, 0, capacity, seed)?;
        Ok((0..self.requests()).map(move |_| stream.next_request()))
    }

    /// Whether chance has a part in the state that it leaves.
    pub fn is_random(&self) -> bool {
        self.direct.pattern.is_random()
    }

    /// How much is written so.
    pub fn bytes(&self) -> Bytes {
        self.direct.stop.bytes.unwrap_or(self.direct.block.times(self.requests()))
    }
}

#[cfg(test)]
mod tests {
    use block::Nanos;

    use super::*;

    const CAPACITY: Bytes = Bytes::from_mib(100);

    fn fill() -> Workload {
        let (stop, size) = (Stop::after_bytes(Bytes::from_mib(64)), Some(Bytes::from_mib(64)));
        Workload { pattern: Pattern::Write, block: Bytes::from_mib(1), size, stop, ..Workload::default() }
    }

    #[test]
    fn what_is_written_once_in_order_is_constructed_whole() {
        let found = Construction::of(&fill(), CAPACITY).unwrap();
        assert_eq!((found.requests(), found.bytes(), found.rest), (64, Bytes::from_mib(64), None));
    }

    #[test]
    fn what_depends_on_time_or_goes_on_is_not() {
        let timed = Stop { time: Some(Nanos::from_secs(1)), ..fill().stop };
        let others = [
            Workload { stop: timed, ..fill() },
            Workload { durable: true, ..fill() },
            Workload { fdatasync: 8, ..fill() },
            Workload { pattern: Pattern::RandWrite, ..fill() },
            Workload { pattern: Pattern::RandWrite, size: None, no_repeat: true, ..fill() },
            Workload { pattern: Pattern::RandWrite, size: None, queue_depth: 32, durable: true, ..fill() },
            Workload { pattern: Pattern::Read, ..fill() },
            Workload { workers: 2, ..fill() },
            Workload { stop: Stop::after_bytes(Bytes::from_mib(65)), ..fill() },
        ];
        for other in others {
            assert_eq!(Construction::of(&other, CAPACITY), None, "{other:?}");
        }
    }

    #[test]
    fn random_writes_everywhere_are_constructed_whole_however_many_workers_make_them() {
        for (workers, queue_depth, size) in [(1, 32, None), (4, 8, Some(CAPACITY))] {
            let random =
                Workload { pattern: Pattern::RandWrite, workers, queue_depth, size, compressible: 30, ..fill() };
            let found = Construction::of(&random, CAPACITY).unwrap();
            assert_eq!((found.bytes(), found.rest, found.direct), (Bytes::from_mib(64), None, random));
        }
    }

    #[test]
    fn of_a_preconditioning_the_random_writes_behind_it_are_left() {
        let (block, spare) = (Bytes::from_kib(4), "25%".parse().unwrap());
        let bytes = Bytes::from_mib(135);
        let stop = Stop { bytes: Some(bytes), ..Stop::after_requests(bytes.div(block) / 2) };
        let whole = Workload { pattern: Pattern::RandWrite, workers: 2, sprandom: Some(spare), block, stop, ..fill() };
        let whole = Workload { size: None, ..whole };
        let found = Construction::of(&whole, CAPACITY).unwrap();
        assert_eq!(found.bytes(), Bytes::from_mib(125));
        let rest = found.rest.clone().unwrap();
        assert_eq!((rest.stop.bytes, rest.sprandom, rest.workers), (Some(Bytes::from_mib(10)), None, 2));
        let mut places: Vec<u64> = found.row(CAPACITY, Seed::new(1)).unwrap().map(|write| write.lba.get()).collect();
        assert_eq!(places.len(), 32_000);
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), 25_600, "every page of the capacity is among them");
    }

    #[test]
    fn of_disks_the_last_of_what_is_left_is_simulated() {
        let (block, spare, bytes) = (Bytes::from_kib(4), "25%".parse().unwrap(), Bytes::from_gib(16));
        let whole = Workload { pattern: Pattern::RandWrite, workers: 2, sprandom: Some(spare), block, ..fill() };
        let whole = Workload { size: None, stop: Stop::after_bytes(bytes), ..whole };
        let all = Construction::of(&whole, CAPACITY).unwrap();
        let disks = all.clone().of_disks();
        let left = |made: &Construction| made.rest.as_ref().unwrap().stop.bytes.unwrap();
        assert_eq!(left(&disks), block.times(1 << 20));
        assert_eq!(all.bytes() + left(&all), disks.bytes() + left(&disks), "as much is written");
        let fill = Construction::of(&fill(), CAPACITY).unwrap();
        assert_eq!(fill.clone().of_disks(), fill);
    }
}
