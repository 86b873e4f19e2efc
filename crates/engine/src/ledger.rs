//! What every block of a worker's part should hold.

use block::{Bytes, Op, Request};
use workload::{Invalid, Workload};

use crate::RealError;
use crate::content::ContentMark;

/// A request for the block is in flight.
const BUSY: u32 = 1 << 31;
/// What the block holds is not known: its last write failed, or it was found damaged.
const DOUBTFUL: u32 = 1 << 30;
/// How many writes of a block are told apart.
const WRITES: u32 = DOUBTFUL - 1;

/// The last write of every block of one worker's part of the span.
#[derive(Debug)]
pub(crate) struct Ledger {
    start: Bytes,
    block: Bytes,
    blocks: Vec<u32>,
    /// Whether only an earlier run knows how often each block was written.
    earlier: bool,
}

impl Ledger {
    /// The ledger of worker number `worker`; none where nothing is checked.
    pub fn of(workload: &Workload, worker: u32, capacity: Bytes) -> Result<Option<Self>, RealError> {
        if !workload.verify.stamps {
            return Ok(None);
        }
        let (start, length) = workload.part(worker, capacity)?;
        let count = length.div(workload.block) as usize;
        let mut blocks = Vec::new();
        let needed = memory(workload, capacity)?;
        blocks.try_reserve_exact(count).map_err(|_| crate::shortage::ledger_error(needed))?;
        blocks.resize(count, 0);
        Ok(Some(Self { start, block: workload.block, blocks, earlier: workload.verify.only }))
    }

    fn entry(&mut self, request: Request) -> Option<&mut u32> {
        let place = (request.op != Op::Flush).then(|| (request.lba.offset() - self.start).div(self.block))?;
        Some(&mut self.blocks[place as usize])
    }

    /// Whether another request for the block is in flight, so that this one must wait.
    pub fn is_busy(&mut self, request: Request) -> bool {
        self.entry(request).is_some_and(|entry| *entry & BUSY != 0)
    }

    /// Enters a request that is about to be submitted: the mark of what it writes, or of what it should find.
    pub fn begin(&mut self, request: Request) -> ContentMark {
        let Some(entry) = self.entry(request) else { return ContentMark::None };
        if request.op == Op::Write {
            // After so many writes of one block counting begins anew.
            *entry = (*entry & WRITES) % WRITES + 1;
        }
        *entry |= BUSY;
        self.mark(request)
    }

    /// By what the data of a request that is in flight is known.
    pub fn mark(&mut self, request: Request) -> ContentMark {
        let earlier = self.earlier;
        let Some(entry) = self.entry(request) else { return ContentMark::None };
        match *entry & WRITES {
            _ if *entry & DOUBTFUL != 0 => ContentMark::None,
            0 => ContentMark::None,
            _ if earlier => ContentMark::Latest,
            write => ContentMark::Write(write),
        }
    }

    /// Enters that a request has ended. What its block holds is in doubt if it was a write that failed, or data that
    /// was not right.
    pub fn end(&mut self, request: Request, doubtful: bool) {
        if let Some(entry) = self.entry(request) {
            *entry &= !BUSY;
            *entry |= if doubtful { DOUBTFUL } else { 0 };
        }
    }

    /// Enters a write that an earlier run has made.
    pub fn recall(&mut self, request: Request) {
        if request.op == Op::Write {
            self.begin(request);
            self.end(request, false);
        }
    }

    /// Reads of all blocks whose content is known, in order, from block number `from` on; each with the number of the
    /// next.
    pub fn next_known(&self, from: usize) -> Option<(usize, Request)> {
        let known = |entry: &u32| *entry & DOUBTFUL == 0 && *entry & WRITES != 0;
        let place = from + self.blocks.get(from..)?.iter().position(known)?;
        let at = self.start + self.block.times(place as u64);
        Some((place + 1, Request::new(Op::Read, block::Lba::at(at), self.block.sectors() as u32)))
    }
}

/// What the ledgers of all workers take.
pub(crate) fn memory(workload: &Workload, capacity: Bytes) -> Result<Bytes, Invalid> {
    let (_, length) = workload.span(capacity)?;
    let each = if workload.verify.stamps { size_of::<u32>() as u64 } else { 0 };
    Ok(Bytes::new(length.div(workload.block_max()) * each))
}

#[cfg(test)]
mod tests {
    use block::Lba;
    use workload::{Pattern, Stop, Verify};

    use super::*;

    fn ledger() -> Ledger {
        let workload = Workload {
            pattern: Pattern::RandRw,
            workers: 2,
            offset: Bytes::from_mib(1),
            verify: Verify { stamps: true, ..Verify::default() },
            stop: Stop::after_requests(1),
            ..Workload::default()
        };
        Ledger::of(&workload, 1, Bytes::from_mib(2)).unwrap().unwrap()
    }

    /// The request for a block of the second worker's half.
    fn at(op: Op, block: u64) -> Request {
        Request::new(op, Lba::at(Bytes::from_kib(1536 + 4 * block)), 8)
    }

    #[test]
    fn a_block_is_known_by_its_last_write_and_not_before_the_first() {
        let mut ledger = ledger();
        assert_eq!(ledger.begin(at(Op::Read, 5)), ContentMark::None);
        assert!(ledger.is_busy(at(Op::Write, 5)) && !ledger.is_busy(at(Op::Write, 6)));
        ledger.end(at(Op::Read, 5), false);
        for write in 1..=3 {
            assert_eq!(ledger.begin(at(Op::Write, 5)), ContentMark::Write(write));
            ledger.end(at(Op::Write, 5), false);
        }
        assert_eq!(ledger.begin(at(Op::Read, 5)), ContentMark::Write(3));
        assert!(!ledger.is_busy(Request::FLUSH) && ledger.begin(Request::FLUSH) == ContentMark::None);
    }

    #[test]
    fn what_is_in_doubt_is_not_asked_for_until_it_is_written_again() {
        let mut ledger = ledger();
        let known = |ledger: &Ledger| {
            std::iter::successors(ledger.next_known(0), |(next, _)| ledger.next_known(*next))
                .map(|(_, read)| read.lba.offset().get() >> 12)
                .collect::<Vec<_>>()
        };
        for block in [127, 0, 9] {
            ledger.begin(at(Op::Write, block));
            ledger.end(at(Op::Write, block), block == 9);
        }
        assert_eq!(known(&ledger), [384, 511]);
        assert_eq!(ledger.begin(at(Op::Read, 9)), ContentMark::None);
        ledger.end(at(Op::Read, 9), false);
        assert_eq!(ledger.begin(at(Op::Write, 9)), ContentMark::Write(2));
        ledger.end(at(Op::Write, 9), false);
        assert_eq!(known(&ledger), [384, 393, 511]);
    }
}
