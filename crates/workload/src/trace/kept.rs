//! A trace that was read: in memory, or, if it is long, in a file from which a replay reads it as it goes on.

use std::fmt;
use std::io;
use std::sync::Arc;

use block::{Bytes, Lba, Nanos, Op, SECTOR};

use super::entry::{Entry, Traced, TracedOf};

/// A file for the requests of a long trace, which goes when nothing has it any more.
pub trait TraceFile: fmt::Debug + Send + Sync {
    /// Writes all of `bytes` at this offset.
    ///
    /// # Errors
    /// If they cannot be written.
    fn write(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Reads all of `bytes` from this offset on.
    ///
    /// # Errors
    /// If they cannot be read.
    fn read(&self, bytes: &mut [u8], offset: u64) -> io::Result<()>;
}

/// Makes a new file for a long trace.
pub type NewTraceFile = fn() -> io::Result<Arc<dyn TraceFile>>;

/// Requests in the order in which they came.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    requests: Arc<Kept<TracedOf>>,
    /// Which of them was done first, second and so on. Empty where they were done in the order in which they came, or
    /// nothing is known of it.
    done: Arc<Kept<u32>>,
    placing: Placing,
    summary: Summary,
    /// Where each volume ends.
    ends: Vec<Lba>,
    /// How many files or devices they went to; all of them go to one target when they are replayed.
    pub targets: usize,
    /// Lines that record something other than a request that reads, writes, trims or flushes.
    pub passed_over: u64,
}

impl Eq for Trace {}

/// Where requests go.
#[derive(Clone, Debug, PartialEq)]
struct Placing {
    /// Where each volume begins; nothing where all begin at zero.
    starts: Arc<[Lba]>,
    /// What offsets are divided by, and the unit of which they stay multiples, in sectors.
    scale: u64,
    unit: u64,
}

impl Placing {
    fn place(&self, TracedOf { mut traced, volume }: TracedOf) -> Traced {
        if traced.request.op != Op::Flush {
            let start = self.starts.get(volume as usize).map_or(0, |start| start.get());
            let first = start + traced.request.lba.get();
            traced.request.lba =
                Lba::new(if self.scale > 1 { first / self.scale / self.unit * self.unit } else { first });
        }
        traced
    }
}

/// What all requests of a trace have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Summary {
    pub requests: u64,
    /// How many read, write, trim and flush.
    pub ops: [u64; 4],
    pub bytes: Bytes,
    pub length: Nanos,
    pub end: Bytes,
    /// All first sectors and counts of them in one, whose lowest bit is the unit of all.
    sectors: u64,
    /// The longest request, and the longest that moves data.
    pub longest: Bytes,
    pub moved: Bytes,
    /// Where the next begins if all follow each other.
    next: Option<Lba>,
    pub is_random: bool,
}

impl Summary {
    pub fn add(&mut self, traced: &Traced) {
        let Traced { at, request, .. } = traced;
        self.requests += 1;
        if let Some(number) = request.op.number() {
            self.ops[number] += 1;
        }
        self.length = *at;
        if request.op == Op::Flush {
            return;
        }
        self.bytes = Bytes::new(self.bytes.get().saturating_add(request.bytes().get()));
        self.end = self.end.max(request.end().offset());
        self.sectors |= request.lba.get() | u64::from(request.sectors);
        self.longest = self.longest.max(request.bytes());
        if request.op != Op::Trim {
            self.moved = self.moved.max(request.bytes());
        }
        self.is_random |= self.next.is_some_and(|next| next != request.lba);
        self.next = Some(request.end());
    }

    /// The largest power of two, up to 4 KiB, of which all offsets and lengths are multiples.
    pub fn unit(&self) -> Bytes {
        SECTOR.times(1 << self.sectors.trailing_zeros().min(3))
    }

    pub const fn count(&self, op: Op) -> u64 {
        match op.number() {
            Some(number) => self.ops[number],
            None => 0,
        }
    }
}

impl Trace {
    pub(super) fn new(
        requests: Kept<TracedOf>,
        done: Kept<u32>,
        summary: Summary,
        (ends, targets, passed_over): (Vec<Lba>, usize, u64),
    ) -> Self {
        let placing = Placing { starts: Arc::from([]), scale: 1, unit: 1 };
        let (requests, done) = (Arc::new(requests), Arc::new(done));
        Self { requests, done, placing, summary, ends, targets, passed_over }
    }

    pub(crate) const fn summary(&self) -> &Summary {
        &self.summary
    }

    /// How many requests it has.
    pub const fn count(&self) -> u64 {
        self.summary.requests
    }

    /// Where the last request ends.
    pub const fn end(&self) -> Bytes {
        self.summary.end
    }

    /// The longest request.
    pub const fn longest(&self) -> Bytes {
        self.summary.longest
    }

    /// Its requests, one after another.
    pub fn requests(&self) -> TraceRequests {
        TraceRequests { each: Each::of(&self.requests), placing: self.placing.clone() }
    }

    /// Which request was done first, second and so on.
    pub fn done(&self) -> TraceDone {
        TraceDone { each: Each::of(&self.done), next: 0, all: self.count() as u32 }
    }

    /// The same with all offsets divided by `scale`, rounded down so that they stay multiples of `unit`.
    #[must_use]
    pub fn scaled(self, scale: u32, unit: Bytes) -> Self {
        let placing = Placing { scale: u64::from(scale.max(1)), unit: unit.sectors().max(1), ..self.placing.clone() };
        self.placed(placing)
    }

    /// The same with each volume behind the one before, on the next MiB.
    #[must_use]
    pub fn apart(self) -> Self {
        let mebibyte = Bytes::from_mib(1);
        let starts = self.ends.iter().scan(Bytes::ZERO, |next, end| {
            let start = *next;
            *next = Bytes::new(start.get() + end.offset().get()).round_up(mebibyte);
            Some(Lba::at(start))
        });
        let placing = Placing { starts: starts.collect(), ..self.placing.clone() };
        self.placed(placing)
    }

    fn placed(self, placing: Placing) -> Self {
        let mut placed = Self { placing, ..self };
        let mut summary = Summary::default();
        placed.requests().for_each(|traced| summary.add(&traced));
        placed.summary = summary;
        placed
    }
}

/// The requests of a trace, one after another.
#[derive(Clone, Debug)]
pub struct TraceRequests {
    each: Each<TracedOf>,
    placing: Placing,
}

impl Iterator for TraceRequests {
    type Item = Traced;

    fn next(&mut self) -> Option<Traced> {
        self.each.next().map(|of| self.placing.place(of))
    }
}

/// The numbers of requests in the order in which they were done.
#[derive(Clone, Debug)]
pub struct TraceDone {
    each: Each<u32>,
    next: u32,
    all: u32,
}

impl Iterator for TraceDone {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        if self.each.kept.count() > 0 {
            return self.each.next();
        }
        let next = (self.next < self.all).then_some(self.next);
        self.next += u32::from(next.is_some());
        next
    }
}

/// Entries in memory, or in a file.
#[derive(Debug)]
pub(super) enum Kept<T> {
    Held(Vec<T>),
    InFile(Packed),
}

/// Entries in a file, in chunks.
#[derive(Debug)]
pub(super) struct Packed {
    file: Arc<dyn TraceFile>,
    count: u64,
    /// Where each chunk ends.
    ends: Vec<u64>,
}

impl<T: PartialEq> PartialEq for Kept<T> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Held(one), Self::Held(other)) => one == other,
            (Self::InFile(one), Self::InFile(other)) => Arc::ptr_eq(&one.file, &other.file),
            _ => false,
        }
    }
}

impl<T> Kept<T> {
    fn count(&self) -> u64 {
        match self {
            Self::Held(held) => held.len() as u64,
            Self::InFile(packed) => packed.count,
        }
    }
}

/// How many entries are written or read at once.
const CHUNK: usize = 4096;

/// Takes entries, first into memory, and into a file where they become too many for it.
#[derive(Debug)]
pub(super) struct Keeper<T> {
    held: Vec<T>,
    file: Option<Packed>,
    held_max: usize,
    new_file: Option<NewTraceFile>,
}

impl<T: Entry> Keeper<T> {
    /// Keeps up to `held_max` in memory; more in a file, if there is a way to make one.
    pub const fn new(held_max: usize, new_file: Option<NewTraceFile>) -> Self {
        Self { held: Vec::new(), file: None, held_max, new_file }
    }

    pub fn count(&self) -> u64 {
        self.file.as_ref().map_or(0, |packed| packed.count) + self.held.len() as u64
    }

    pub fn push(&mut self, entry: T) -> io::Result<()> {
        self.held.push(entry);
        let room = if self.file.is_some() { CHUNK } else { self.held_max };
        match self.new_file {
            Some(new_file) if self.held.len() > room => {
                if self.file.is_none() {
                    self.file = Some(Packed { file: new_file()?, count: 0, ends: Vec::new() });
                }
                self.write(CHUNK)
            }
            _ => Ok(()),
        }
    }

    /// Writes chunks of not fewer than `least` entries.
    fn write(&mut self, least: usize) -> io::Result<()> {
        let Some(packed) = &mut self.file else { return Ok(()) };
        let mut bytes = Vec::new();
        let mut written = 0;
        for chunk in self.held.chunks(CHUNK).take_while(|chunk| chunk.len() >= least) {
            bytes.clear();
            let mut before = T::default();
            for (entry, place) in chunk.iter().zip(packed.count..) {
                entry.pack(&before, place, &mut bytes);
                before = *entry;
            }
            let start = packed.ends.last().copied().unwrap_or(0);
            packed.file.write(&bytes, start)?;
            packed.ends.push(start + bytes.len() as u64);
            packed.count += chunk.len() as u64;
            written += chunk.len();
        }
        // A new row, so that what a long one took is free again.
        self.held = self.held.split_off(written);
        Ok(())
    }

    pub fn finish(mut self) -> io::Result<Kept<T>> {
        self.write(1)?;
        Ok(self.file.map_or_else(|| Kept::Held(self.held), Kept::InFile))
    }
}

/// Entries, one after another.
#[derive(Clone, Debug)]
struct Each<T> {
    kept: Arc<Kept<T>>,
    next: u64,
    /// What was read from the file, up to an entry.
    chunk: Vec<T>,
}

impl<T: Entry> Each<T> {
    fn of(kept: &Arc<Kept<T>>) -> Self {
        Self { kept: kept.clone(), next: 0, chunk: Vec::new() }
    }

    fn next(&mut self) -> Option<T> {
        let entry = match &*self.kept {
            Kept::Held(held) => *held.get(self.next as usize)?,
            Kept::InFile(packed) if self.next >= packed.count => return None,
            Kept::InFile(packed) => {
                let within = (self.next % CHUNK as u64) as usize;
                if within == 0 {
                    packed.read((self.next / CHUNK as u64) as usize, &mut self.chunk);
                }
                self.chunk[within]
            }
        };
        self.next += 1;
        Some(entry)
    }
}

impl Packed {
    /// Reads a chunk.
    fn read<T: Entry>(&self, number: usize, into: &mut Vec<T>) {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        let mut bytes = vec![0; (self.ends[number] - start) as usize];
        // It was written by this process and has no name: it cannot be missing, only its disk can fail.
        let read = self.file.read(&mut bytes, start);
        read.unwrap_or_else(|error| panic!("the file that keeps the trace cannot be read back: {error}"));
        let (mut rest, mut before) = (&bytes[..], T::default());
        into.clear();
        for place in (number * CHUNK) as u64.. {
            if rest.is_empty() {
                break;
            }
            before = T::unpack(&before, place, &mut rest);
            into.push(before);
        }
    }
}
