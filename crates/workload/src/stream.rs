//! The requests that one worker makes.

use block::{Bytes, Lba, Op, Request, Seed};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::blend::Blend;
use crate::replay::Recorded;
use crate::{Invalid, Pattern, Workload};

/// The endless row of requests that one worker of a workload makes: a function of workload, worker and seed.
///
/// Random addresses may repeat; they are uniform over the blocks of the span unless the workload says otherwise.
/// Sequential workers start evenly spaced over the span, or as far beyond as the workload says, and wrap at its end.
#[derive(Clone, Debug)]
pub struct Stream(StreamKind);

#[derive(Clone, Debug)]
enum StreamKind {
    /// What most workloads are, so that each of their requests costs no more than it must.
    Plain(Plain),
    Blend(Box<Blend>),
    Recorded(Recorded),
}

impl Stream {
    /// The requests of worker number `worker` against a target of `capacity`.
    ///
    /// # Errors
    /// If the workload makes no sense or does not fit the target.
    pub fn new(workload: &Workload, worker: u32, capacity: Bytes, seed: Seed) -> Result<Self, Invalid> {
        let span = workload.part(worker, capacity)?;
        let trace = workload.replay.as_ref().and_then(|replay| replay.trace.clone());
        let kind = match (trace, workload.is_plain()) {
            (Some(trace), _) => StreamKind::Recorded(Recorded::new(workload, &trace, span.0)),
            (None, true) => StreamKind::Plain(Plain::new(workload, worker, span, seed)),
            (None, false) => StreamKind::Blend(Box::new(Blend::new(workload, worker, span, seed))),
        };
        Ok(Self(kind))
    }

    /// Makes as many requests as there is room for.
    #[inline]
    pub fn fill(&mut self, requests: &mut [Request]) {
        match &mut self.0 {
            StreamKind::Plain(plain) => plain.fill(requests),
            StreamKind::Blend(blend) => requests.fill_with(|| blend.next_request()),
            StreamKind::Recorded(recorded) => requests.fill_with(|| recorded.next_request()),
        }
    }

    #[inline]
    pub fn next_request(&mut self) -> Request {
        match &mut self.0 {
            StreamKind::Plain(plain) => plain.next_request(),
            StreamKind::Blend(blend) => blend.next_request(),
            StreamKind::Recorded(recorded) => recorded.next_request(),
        }
    }
}

/// The generator of the choices called `name` that a worker makes.
pub(crate) fn generator(seed: Seed, worker: u32, name: &str) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed.number(u64::from(worker)).split(name).get())
}

/// What the next request of a pattern does; where reads and writes are mixed, so many percent are reads.
#[inline]
pub(crate) fn drawn_op(pattern: Pattern, read_percent: u8, directions: &mut Xoshiro256PlusPlus) -> Op {
    match pattern {
        Pattern::Read | Pattern::RandRead => Op::Read,
        Pattern::Write | Pattern::RandWrite => Op::Write,
        Pattern::Trim | Pattern::RandTrim => Op::Trim,
        Pattern::ReadWrite | Pattern::RandRw if directions.random_range(0..100) < read_percent => Op::Read,
        Pattern::ReadWrite | Pattern::RandRw => Op::Write,
    }
}

/// Requests of one size, all at random or all in sequence.
#[derive(Clone, Debug)]
struct Plain {
    pattern: Pattern,
    read_percent: u8,
    first: Lba,
    sectors: u32,
    blocks: u64,
    next: u64,
    addresses: Xoshiro256PlusPlus,
    directions: Xoshiro256PlusPlus,
}

impl Plain {
    fn new(workload: &Workload, worker: u32, (start, length): (Bytes, Bytes), seed: Seed) -> Self {
        let blocks = length.div(workload.block);
        Self {
            pattern: workload.pattern,
            read_percent: workload.reads(),
            first: Lba::at(start),
            sectors: workload.block.sectors() as u32,
            blocks,
            next: (u64::from(worker) * (blocks / u64::from(workload.workers)) + workload.begin.div(workload.block))
                % blocks,
            addresses: generator(seed, worker, "addresses"),
            directions: generator(seed, worker, "directions"),
        }
    }

    /// What is the same for all of a pattern is asked once.
    fn fill(&mut self, requests: &mut [Request]) {
        match self.pattern {
            Pattern::RandRead | Pattern::RandWrite | Pattern::RandTrim => {
                let (op, first, blocks) =
                    (drawn_op(self.pattern, 0, &mut self.directions), self.first.get(), self.blocks);
                let (sectors, mut addresses) = (self.sectors, self.addresses.clone());
                requests.fill_with(|| {
                    let block = addresses.random_range(0..blocks);
                    Request::new(op, Lba::new(first + block * u64::from(sectors)), sectors)
                });
                self.addresses = addresses;
            }
            _ => requests.fill_with(|| self.next_request()),
        }
    }

    #[inline]
    fn next_request(&mut self) -> Request {
        let block = if self.pattern.is_random() {
            self.addresses.random_range(0..self.blocks)
        } else {
            let block = self.next;
            self.next = if block + 1 == self.blocks { 0 } else { block + 1 };
            block
        };
        let op = drawn_op(self.pattern, self.read_percent, &mut self.directions);
        Request::new(op, Lba::new(self.first.get() + block * u64::from(self.sectors)), self.sectors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Stop;

    fn stream(workload: Workload, worker: u32, seed: u64) -> Stream {
        let workload = Workload { stop: Stop::after_requests(1), ..workload };
        Stream::new(&workload, worker, Bytes::from_mib(1), Seed::new(seed)).unwrap()
    }

    #[test]
    fn sequential_workers_start_apart_and_wrap() {
        let workload = Workload { block: Bytes::from_kib(256), workers: 2, ..Workload::default() };
        let mut second = stream(workload, 1, 0);
        let offsets: Vec<u64> = (0..4).map(|_| second.next_request().lba.offset().get() >> 10).collect();
        assert_eq!(offsets, [512, 768, 0, 256]);
    }

    #[test]
    fn sequential_workers_go_on_where_they_were() {
        for (percent, workload) in [(100, Workload::default()), (0, Workload { durable: true, ..Workload::default() })]
        {
            let workload =
                Workload { block: Bytes::from_kib(256), workers: 2, random_share: percent.into(), ..workload };
            let mut second = stream(workload.resumed(Bytes::from_kib(2 * 768)), 1, 0);
            let offsets: Vec<u64> = (0..4).map(|_| second.next_request().lba.offset().get() >> 10).collect();
            assert_eq!(offsets, [256, 512, 768, 0]);
        }
        let random = Workload { pattern: Pattern::RandRead, ..Workload::default() };
        assert_eq!(random.resumed(Bytes::from_mib(1)), random);
    }

    #[test]
    fn random_addresses_reach_every_block_and_stay_inside() {
        let workload = Workload { pattern: Pattern::RandWrite, offset: Bytes::from_kib(512), ..Workload::default() };
        let mut seen = [false; 128];
        let mut requests = stream(workload, 0, 7);
        for _ in 0..2000 {
            let request = requests.next_request();
            assert!(request.end().offset() <= Bytes::from_mib(1));
            seen[(request.lba.offset().get() / 4096 - 128) as usize] = true;
        }
        assert!(seen.iter().all(|&block| block));
    }

    #[test]
    fn two_thirds_read_means_two_thirds() {
        let workload = Workload { pattern: Pattern::RandRw, read_percent: 67, ..Workload::default() };
        let mut requests = stream(workload, 0, 7);
        let reads = (0..100_000).filter(|_| requests.next_request().op == Op::Read).count();
        assert!((66_500..67_500).contains(&reads), "{reads} of 100,000");
    }

    /// The general way makes the same requests where both can make them, so that asking for one thing more moves
    /// nothing else.
    #[test]
    fn a_blend_of_one_makes_the_same_requests() {
        for (_, pattern) in Pattern::ALL {
            let workload = Workload {
                pattern,
                block: Bytes::from_kib(12),
                read_percent: 67,
                workers: 3,
                stop: Stop::after_requests(1),
                ..Workload::default()
            };
            let span = workload.span(Bytes::from_mib(10)).unwrap();
            let mut plain = Plain::new(&workload, 2, span, Seed::new(7));
            let mut blend = Blend::new(&workload, 2, span, Seed::new(7));
            for place in 0..10_000 {
                assert_eq!(plain.next_request(), blend.next_request(), "{pattern}, request {place}");
            }
        }
    }

    #[test]
    fn one_seed_tells_one_story_and_another_another() {
        let workload = Workload { pattern: Pattern::RandRw, ..Workload::default() };
        let story = |worker, seed| {
            let mut requests = stream(workload.clone(), worker, seed);
            (0..100).map(|_| requests.next_request()).collect::<Vec<_>>()
        };
        let workload_of_two = |seed| story(0, seed);
        assert_eq!(workload_of_two(1), workload_of_two(1));
        assert_ne!(workload_of_two(1), workload_of_two(2));
    }
}
