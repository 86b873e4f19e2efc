//! How much a job moves in one pass over its part of a file, and until it ends.
//!
//! fio goes through a file once, until it has moved its size or finds no place for the next request; then it begins again where
//! its loops or `io_size` ask for more.
//!
//! Source: fio 3.33, `backend.c`, `do_io` and `keep_running`; `io_u.c`, `get_next_seq_offset`; `filesetup.c`, `setup_files`.

use block::Bytes;
use workload::{BYTES_MAX, Workload};

use super::reading::OptionReader;

/// The passes of a job over its part of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passes {
    /// How long the part is.
    pub(super) length: Bytes,
    /// How far requests reach in it, which is beyond its end where the file goes on and a block is not whole.
    pub(super) reached: Bytes,
    /// What requests are multiples of; one byte where they have several sizes.
    unit: Bytes,
    /// The longest request.
    longest: Bytes,
    /// What a pass moves where no limit ends it.
    pass: Bytes,
    odd: Option<OddOrder>,
}

/// What of fio's order is not taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OddOrder {
    /// A sequence with gaps goes on beyond the end of its part, from another place.
    Shifted,
    /// When a sequence with gaps comes to the end of its part depends on what is drawn: its sizes, or reads and writes.
    Drawn,
    /// The next pass goes on in the middle of the sequence.
    Midway,
}

impl Passes {
    /// Those over `length` bytes of a file that holds `whole`; none where it is made for the job.
    pub(super) fn of(workload: &Workload, length: Bytes, whole: Option<Bytes>) -> Self {
        let is_random = workload.pattern.is_random();
        // A block of nothing is told later.
        let unit = if workload.sizes.is_none() { workload.block.max(Bytes::new(1)) } else { Bytes::new(1) };
        let whole_pass = length.round_up(unit);
        let longest = workload.block_max().min(length);
        let plain = Self { length, reached: length, unit, longest, pass: whole_pass, odd: None };
        // A request that begins in the part may end behind it, where the file goes on.
        let end = whole.map_or(Bytes::ZERO, |whole| whole).max(workload.offset + length);
        let room = end - workload.offset;
        if length < unit {
            return Self { pass: Bytes::ZERO, ..plain };
        }
        if workload.skip > Bytes::ZERO {
            return plain.with_gaps(workload, room, end);
        }
        if workload.sizes.is_some() || (is_random && !workload.no_repeat) {
            return plain;
        }
        if is_random || whole_pass > room {
            return Self { pass: length.round_down(unit), ..plain };
        }
        Self { reached: whole_pass, ..plain }
    }

    /// The same where each request is followed by a gap, in a file that ends at `end` and so `room` behind the start of the part.
    fn with_gaps(self, workload: &Workload, room: Bytes, end: Bytes) -> Self {
        if workload.pattern.is_mixed() || workload.sizes.is_some() {
            return Self { odd: Some(OddOrder::Drawn), ..self };
        }
        let (block, step) = (self.unit.get(), self.unit.get() + workload.skip.get());
        // So many requests begin in the part and fit into the file.
        let fitting = (self.length.get() - 1).min(room.get() - block) / step + 1;
        let (last_end, next) = ((fitting - 1) * step + block, fitting * step);
        let passed = Self { reached: Bytes::new(last_end).max(self.length), ..self };
        let round = Bytes::new(fitting * block);
        // fio compares where it is in the part with where the file ends.
        if last_end >= room.get() || next < end.get() {
            return Self { pass: self.pass.min(round), ..passed };
        }
        // A gap that goes beyond the end has the sequence begin again within the pass.
        let odd = match () {
            () if workload.offset > Bytes::ZERO => Some(OddOrder::Shifted),
            () if !self.pass.is_multiple_of(round) => Some(OddOrder::Midway),
            () => None,
        };
        Self { odd, ..passed }
    }

    /// Tells what of fio's order is not taken over.
    pub(super) fn tell(&self, reading: &OptionReader, loops: u64) {
        let follows = match self.odd {
            Some(OddOrder::Shifted) => {
                "at the end of the range the sequence begins again at its start, in fio as far behind it"
            }
            Some(OddOrder::Drawn) => {
                "the job ends with its size; in fio when the first request finds no place in the range"
            }
            Some(OddOrder::Midway) if loops > 1 || reading.option("io_size").is_some() => {
                "each pass goes on where the one before ended, in fio at the start of the range"
            }
            Some(OddOrder::Midway) | None => return,
        };
        if let Some(given) = reading.option("rw") {
            reading.tell(given.lost(follows));
        }
    }

    /// What is moved in so many loops, until `io_size` has been where that is given.
    pub(super) fn moved(&self, io_size: Option<Bytes>, loops: u64) -> Bytes {
        let limit = io_size.unwrap_or(self.length);
        let all = Bytes::new(limit.get().saturating_mul(loops)).min(BYTES_MAX).round_up(self.unit).max(self.longest);
        let looped = Bytes::new(self.pass.get().saturating_mul(loops)).min(all);
        // More passes follow until no request is left of what is asked for once.
        let left = io_size.and_then(|asked| asked.get().checked_sub(looped.get())?.checked_sub(self.longest.get()));
        let more = left.map_or(0, |left| left / self.pass.get().max(1) + 1);
        Bytes::new(looped.get().saturating_add(self.pass.get().saturating_mul(more))).min(all)
    }
}
