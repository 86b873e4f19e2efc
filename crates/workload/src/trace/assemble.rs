//! Requests put in order, each with what had been done when it came.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use block::{Lba, Nanos, Request};

use super::decode::{TraceEvent, TraceLine, Volumes};
use super::entry::{Traced, TracedOf};
use super::error::{TraceError, TracePlace};
use super::kept::{Keeper, NewTraceFile, Summary, Trace};
use super::limits::{HELD_MAX, IN_FLIGHT_MAX, TIME_MAX, WINDOW};

/// Takes what the lines of a trace say, in constant memory where it may use a file.
#[derive(Debug)]
pub(super) struct Assembler {
    window: BTreeMap<(Nanos, u64), TraceEvent>,
    window_max: usize,
    /// Requests of the window that are not known to be completed, by where they begin.
    open: BTreeMap<(u32, Lba, u64), Nanos>,
    taken: u64,
    /// All that was waited for so far.
    waited: Nanos,
    /// The time of the request that was read first, and of the first of all.
    read_first: Option<Nanos>,
    first: Option<Nanos>,
    last: Nanos,
    /// When each request that came will be done, the next one first.
    flying: BinaryHeap<Reverse<(Nanos, u32)>>,
    /// When the last of those was that are done.
    done_last: Nanos,
    is_in_order: bool,
    requests: Keeper<TracedOf>,
    done: Keeper<u32>,
    done_count: u32,
    summary: Summary,
    ends: Vec<Lba>,
    /// Lines that record something else.
    passed_over: u64,
}

impl Assembler {
    pub fn new(new_file: Option<NewTraceFile>) -> Self {
        Self::with(new_file, WINDOW, HELD_MAX)
    }

    pub fn with(new_file: Option<NewTraceFile>, window_max: usize, held_max: usize) -> Self {
        Self {
            window: BTreeMap::new(),
            window_max,
            open: BTreeMap::new(),
            taken: 0,
            waited: Nanos::ZERO,
            read_first: None,
            first: None,
            last: Nanos::ZERO,
            flying: BinaryHeap::new(),
            done_last: Nanos::ZERO,
            is_in_order: true,
            requests: Keeper::new(held_max, new_file),
            done: Keeper::new(held_max, new_file),
            done_count: 0,
            summary: Summary::default(),
            ends: Vec::new(),
            passed_over: 0,
        }
    }

    /// Takes what a line says.
    pub fn take(&mut self, line: TraceLine, place: TracePlace) -> Result<(), TraceError> {
        match line {
            TraceLine::Came(event) | TraceLine::Queued(event) => {
                let read_first = *self.read_first.get_or_insert(event.at);
                let (at, completed) = (event.at, event.completed.unwrap_or(event.at));
                if at.max(completed) > Nanos::from_nanos(u64::MAX / 2)
                    || at.max(completed).since(read_first) + self.waited > TIME_MAX
                    || read_first.since(at) > TIME_MAX
                {
                    return Err(TraceError::TooLate { place });
                }
                let (at, completed) = (at + self.waited, event.completed.map(|completed| completed + self.waited));
                if matches!(line, TraceLine::Queued(_)) {
                    self.open.insert((event.volume, event.request.lba, self.taken), at);
                }
                self.window.insert((at, self.taken), TraceEvent { at, completed, ..event });
                self.taken += 1;
                if self.window.len() > self.window_max {
                    let (_, event) = self.window.pop_first().expect("it is not empty");
                    self.emit(event, place)?;
                }
            }
            TraceLine::Completed { at, request, volume } => self.completed(at, request, volume),
            TraceLine::Waited(time) if time > TIME_MAX || self.waited + time > TIME_MAX => {
                return Err(TraceError::TooLate { place });
            }
            TraceLine::Waited(time) => self.waited += time,
            TraceLine::Other => self.passed_over += 1,
            TraceLine::Heading => {}
        }
        Ok(())
    }

    /// Notes when a request was completed: the first that came of just this extent; where there is none, all within, which
    /// the block layer merged.
    fn completed(&mut self, at: Nanos, request: Request, volume: u32) {
        let end = Lba::new(request.end().get().max(request.lba.get() + 1));
        let within = self.open.range((volume, request.lba, 0)..(volume, end, 0)).map(|(key, came)| (*key, *came));
        let like = |((_, _, number), came): &((u32, Lba, u64), Nanos)| {
            self.window.get(&(*came, *number)).is_some_and(|event| event.request.op == request.op)
        };
        let mut done: Vec<((u32, Lba, u64), Nanos)> = within.filter(like).take(1024).collect();
        let same =
            |((_, _, number), came): &&((u32, Lba, u64), Nanos)| self.window[&(*came, *number)].request == request;
        if let Some(same) = done.iter().find(same).copied() {
            done = vec![same];
        }
        for (key @ (_, _, number), came) in done {
            self.open.remove(&key);
            self.window.get_mut(&(came, number)).expect("what is open is in the window").completed = Some(at);
        }
    }

    /// Adds the next request in the order of time.
    fn emit(&mut self, event: TraceEvent, place: TracePlace) -> Result<(), TraceError> {
        let TraceEvent { at, request, completed, volume } = event;
        if completed.is_none() && !self.open.is_empty() {
            // Its key has the number that it was taken as; only those of this time can be it.
            let keys = self.open.range((volume, request.lba, 0)..=(volume, request.lba, u64::MAX));
            if let Some(key) = keys.filter(|(_, came)| **came == at).map(|(key, _)| *key).next() {
                self.open.remove(&key);
            }
        }
        let first = *self.first.get_or_insert(at);
        if at < self.last.max(first) {
            return Err(TraceError::Disorder { place });
        }
        self.last = at;
        let (at, end) = (at - first, completed.unwrap_or(at).max(at) - first);
        let number = u32::try_from(self.summary.requests).map_err(|_| TraceError::TooLong { place })?;
        self.land(at)?;
        if self.flying.len() == IN_FLIGHT_MAX {
            return Err(TraceError::InFlight { place });
        }
        let traced = Traced { at, after: self.done_count, think: at - self.done_last, request };
        self.flying.push(Reverse((end, number)));
        self.summary.add(&traced);
        let index = volume as usize;
        if self.ends.len() <= index {
            self.ends.resize(index + 1, Lba::new(0));
        }
        self.ends[index] = self.ends[index].max(request.end());
        self.requests.push(TracedOf { traced, volume }).map_err(|error| unkept(&error))
    }

    /// Counts what is done by `now`.
    fn land(&mut self, now: Nanos) -> Result<(), TraceError> {
        while let Some(Reverse((end, number))) = self.flying.peek().copied().filter(|Reverse((end, _))| *end <= now) {
            self.flying.pop();
            if self.is_in_order && number != self.done_count {
                self.is_in_order = false;
                (0..self.done_count).try_for_each(|number| self.done.push(number)).map_err(|error| unkept(&error))?;
            }
            if !self.is_in_order {
                self.done.push(number).map_err(|error| unkept(&error))?;
            }
            self.done_count += 1;
            self.done_last = end;
        }
        Ok(())
    }

    /// The whole trace.
    pub fn finish(mut self, volumes: usize, place: TracePlace) -> Result<Trace, TraceError> {
        while let Some((_, event)) = self.window.pop_first() {
            self.emit(event, place)?;
        }
        if self.requests.count() == 0 {
            return Err(TraceError::Empty(place));
        }
        self.land(Nanos::MAX)?;
        let kept = |error| unkept(&error);
        let (requests, done) = (self.requests.finish().map_err(kept)?, self.done.finish().map_err(kept)?);
        Ok(Trace::new(requests, done, self.summary, (self.ends, volumes, self.passed_over)))
    }
}

fn unkept(error: &std::io::Error) -> TraceError {
    TraceError::Unkept { error: error.to_string() }
}

/// What of a line is of a volume that was asked for.
pub(super) fn chosen(line: TraceLine, volumes: &Volumes, wanted: Option<&str>) -> Option<TraceLine> {
    let volume = match line {
        TraceLine::Came(event) | TraceLine::Queued(event) => event.volume,
        TraceLine::Completed { volume, .. } => volume,
        TraceLine::Waited(_) | TraceLine::Other | TraceLine::Heading => return Some(line),
    };
    wanted.is_none_or(|wanted| volumes.known(wanted) == Some(volume)).then_some(line)
}
