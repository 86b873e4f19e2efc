//! How much a job moves in one pass over its part of a file, and until it ends.
//!
//! fio goes through a file once, until it finds no place for the next request, or, with an engine that queues, has moved its
//! size; then it begins again where its loops or `io_size` ask for more.
//!
//! Source: fio 3.33, `backend.c`, `do_io`, `io_queue_event` and `keep_running`; `io_u.c`, `get_next_seq_offset`; `filesetup.c`,
//! `setup_files`.

use block::{Bytes, SECTOR};
use workload::{BYTES_MAX, Pattern, Workload};

use super::reading::OptionReader;

/// The passes of a job over its part of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passes {
    /// How much the job asks for in each, which may be less than the part has.
    asked: Bytes,
    /// How long the part is.
    length: Bytes,
    /// How far requests reach in it, which is beyond its end where the file goes on and a block is not whole.
    reached: Bytes,
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
    /// How much a pass moves depends on what is drawn: it ends when either reads or writes come to the end.
    Mixed,
    /// A request that goes on from one at the end of the part finds no place, which depends on what is drawn.
    GoesOn,
    /// A pass that ends with the job's size leaves a part of the range out, which the next does not begin with.
    Cut,
}

impl Passes {
    /// Those over `length` bytes of a file that holds `whole`; none where it is made for the job.
    pub(super) fn of(workload: &Workload, length: Bytes, whole: Option<Bytes>) -> Self {
        let is_random = workload.makes_random();
        // A block of nothing is told later.
        let unit = if workload.sizes.is_none() { workload.block.max(Bytes::new(1)) } else { Bytes::new(1) };
        let whole_pass = length.round_up(unit);
        let longest = workload.block_max().min(length);
        let plain = Self { asked: length, length, reached: length, unit, longest, pass: whole_pass, odd: None };
        // A request that begins in the part may end behind it, where the file goes on.
        let end = whole.map_or(Bytes::ZERO, |whole| whole).max(workload.offset + length);
        let room = end - workload.offset;
        if length < unit {
            return Self { pass: Bytes::ZERO, ..plain };
        }
        if workload.skip > Bytes::ZERO {
            return plain.with_gaps(workload, room, end);
        }
        let goes_on = !workload.is_all_random() && is_random && (workload.sizes.is_some() || whole_pass > room);
        let odd = match workload.pattern {
            Pattern::ReadWrite => Some(OddOrder::Mixed),
            _ => goes_on.then_some(OddOrder::GoesOn),
        };
        if workload.sizes.is_some() || (is_random && !workload.no_repeat) {
            return Self { odd, ..plain };
        }
        if is_random || whole_pass > room {
            return Self { pass: length.round_down(unit), odd, ..plain };
        }
        Self { reached: whole_pass, odd, ..plain }
    }

    /// The same where each asks for no more than this. Only with an engine that `queues` does fio end a pass by it; and where
    /// places may repeat, only then does a pass end at all before the `limit` of all, or a write's before what that is for one.
    pub(super) fn asking(self, asked: Bytes, limit: Option<Bytes>, workload: &Workload, queues: bool) -> Self {
        let asked = asked.min(self.length);
        if workload.pattern.is_random() && !workload.no_repeat && workload.is_all_random() {
            let longer = limit.filter(|_| workload.pattern.changes_data()).unwrap_or_default().round_up(self.unit);
            return Self { asked, pass: if queues { self.pass.max(longer) } else { BYTES_MAX }, ..self };
        }
        let (pass, is_whole) = (self.pass.min(asked.round_up(self.unit)), asked == self.length);
        if !queues || self.odd == Some(OddOrder::Drawn) || (is_whole && workload.pattern != Pattern::ReadWrite) {
            return Self { asked, ..self };
        }
        if workload.pattern.is_random() || workload.pattern.is_mixed() {
            return Self { asked, odd: Some(OddOrder::Cut), ..self };
        }
        let requests = pass.get() / self.unit.get();
        let gaps = workload.skip.get().saturating_mul(requests.saturating_sub(1));
        Self { asked, pass, reached: Bytes::new(pass.get().saturating_add(gaps)).min(self.reached), ..self }
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

    /// How far requests reach in the part.
    pub(super) fn reached(&self) -> Bytes {
        self.reached
    }

    /// What is asked for, where that is less than the range and than the `least` request.
    pub(super) fn too_little(&self, least: Bytes) -> Option<Bytes> {
        Some(self.asked).filter(|asked| *asked < self.length && *asked < least)
    }

    /// Whether the part is a whole number of the `least` requests.
    pub(super) fn is_whole(&self, least: Bytes) -> bool {
        self.length.is_multiple_of(least)
    }

    /// Tells what of fio's order is not taken over in so many loops, until `limit` has been moved, or, if the job `is_timed`, until
    /// its time is over.
    pub(super) fn tell(&self, reading: &OptionReader, limit: Option<Bytes>, loops: u64, is_timed: bool) {
        let goes_on = limit.is_some_and(|limit| limit > self.asked);
        let follows = match self.odd {
            Some(OddOrder::Shifted) => {
                "at the end of the range the sequence begins again at its start, in fio as far behind it"
            }
            Some(OddOrder::Drawn) => {
                "the job ends with its size; in fio when the first request finds no place in the range"
            }
            Some(OddOrder::GoesOn) if is_timed && reading.switch("randrepeat") == Some(false) => return,
            Some(OddOrder::GoesOn) if is_timed => {
                "requests go on as they come; fio makes those of the beginning again whenever one would go on beyond the end of the range"
            }
            Some(OddOrder::GoesOn) => {
                "the job ends with its size; in fio with the first request that goes on from another beyond the end of the range"
            }
            Some(OddOrder::Midway) if loops > 1 || goes_on => {
                "each pass goes on where the one before ended, in fio at the start of the range"
            }
            Some(OddOrder::Cut) if loops > 1 || goes_on => {
                "each pass goes on where the one before ended; fio makes the requests of the first pass again"
            }
            Some(OddOrder::Mixed) if goes_on => {
                "a pass moves as much as the range has; in fio it ends when reads or writes come to the end of the range"
            }
            _ => return,
        };
        if let Some(given) = reading.option("rw") {
            reading.tell(given.lost(follows));
        }
    }

    /// What is moved in so many loops, until `io_size` has been where that is given. With `flushes`, the one that may follow the
    /// last request is left room for where that request is the last for lack of place, as in fio.
    pub(super) fn moved(&self, io_size: Option<Bytes>, loops: u64, flushes: bool) -> Bytes {
        let limit = io_size.unwrap_or(self.asked);
        let all = Bytes::new(limit.get().saturating_mul(loops)).min(BYTES_MAX).round_up(self.unit).max(self.longest);
        let looped = Bytes::new(self.pass.get().saturating_mul(loops)).min(all);
        // More passes follow until no request is left of what is asked for once.
        let left = io_size.and_then(|asked| asked.get().checked_sub(looped.get())?.checked_sub(self.longest.get()));
        let more = left.map_or(0, |left| left / self.pass.get().max(1) + 1);
        let moved = Bytes::new(looped.get().saturating_add(self.pass.get().saturating_mul(more))).min(all);
        if flushes && moved < all && self.unit > SECTOR { moved + SECTOR } else { moved }
    }
}
