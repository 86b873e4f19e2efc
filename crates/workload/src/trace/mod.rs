//! Requests as they were recorded: read from the formats in which others keep them.

mod blkparse;
mod iolog;
mod msr;
mod timed;

use std::collections::BTreeSet;
use std::fmt::{self, Write};

use block::{Bytes, Lba, Nanos, Op, Request, SECTOR};
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use timed::to_timed;

/// The most requests that a trace may have: what two gigabytes of memory hold.
const REQUESTS_MAX: usize = 50_000_000;

/// The longest that a trace may go on, which keeps all sums of its times far from overflow.
const TIME_MAX: Nanos = Nanos::from_secs(100 * 365 * 86_400);

/// A recorded request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traced {
    /// When it came, from the first one of the trace on.
    pub at: Nanos,
    /// How many requests were done when it came: so many of the first of [`Trace::done`].
    pub after: u32,
    /// How long it came after the last of those was done; after the beginning, where there were none. Where
    /// completions were not recorded, the time since the request before.
    pub think: Nanos,
    pub request: Request,
}

/// Requests in the order in which they came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    pub requests: Vec<Traced>,
    /// Which of them was done first, second and so on. Empty where they were done in the order in which they came, or
    /// nothing is known of it.
    pub done: Vec<u32>,
    /// How many files or devices they went to; all of them go to one target when they are replayed.
    pub targets: usize,
    /// Lines that record something other than a request that reads, writes, trims or flushes.
    pub passed_over: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TraceFormat {
    /// fio's log of version 2, with waits between requests.
    Iolog2,
    /// fio's log of version 3, with a time for each request, in microseconds.
    Iolog3,
    /// What `blkparse` prints by default.
    Blkparse,
    /// The traces of Microsoft Research Cambridge, as SNIA keeps them.
    Msr,
    /// assay's own, with the time and the latency of each request, in microseconds.
    Timed,
}

impl fmt::Display for TraceFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Iolog2 => "fio's iolog, version 2",
            Self::Iolog3 => "fio's iolog, version 3",
            Self::Blkparse => "blkparse",
            Self::Msr => "MSR Cambridge",
            Self::Timed => "assay's trace",
        })
    }
}

/// Why a line is not part of a trace.
#[non_exhaustive]
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum TraceError {
    #[error(
        "`{}` is not the start of a known trace format; known are fio's iolog of version 2 and 3, blkparse text, MSR \
         Cambridge CSV, and assay's own",
        shown(found)
    )]
    UnknownFormat { found: String },
    #[error("line {line}: `{}` is not {wanted}", shown(found))]
    Line { line: u64, found: String, wanted: &'static str },
    #[error(
        "line {line}: {op} of {length} B at {offset} is not whole sectors of 512 B; record with direct=1, or a larger \
         block size"
    )]
    Unaligned { line: u64, op: Op, offset: u64, length: u64 },
    #[error("line {line}: the trace has more than {REQUESTS_MAX} requests; split it")]
    TooLong { line: u64 },
    #[error("the trace has no request; it ends after {lines} lines")]
    Empty { lines: u64 },
}

/// As much of a line as tells which it is.
fn shown(line: &str) -> String {
    let mut short: String = line.chars().take(60).map(|c| if c.is_control() { '?' } else { c }).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    short
}

/// Reads a trace line by line, so that the text need not be in memory.
#[derive(Debug)]
pub struct TraceReader {
    format: Option<TraceFormat>,
    line: u64,
    /// The time of the first request, or all that was waited for so far, as the format has it.
    clock: TraceClock,
    targets: BTreeSet<String>,
    events: Vec<TraceEvent>,
    passed_over: u64,
}

enum TraceLine {
    /// A request came.
    Came(TraceEvent),
    /// A request like this was completed.
    Completed { at: Nanos, request: Request },
    /// Nothing came for so long.
    Waited(Nanos),
    /// Something else.
    Other,
}

#[derive(Clone, Copy, Debug)]
struct TraceEvent {
    at: Nanos,
    request: Request,
    completed: Option<Nanos>,
}

#[derive(Debug, Default)]
struct TraceClock {
    waited: Nanos,
    first: Option<Nanos>,
}

impl TraceReader {
    /// Before the first line.
    pub fn new() -> Self {
        Self {
            format: None,
            line: 0,
            clock: TraceClock::default(),
            targets: BTreeSet::new(),
            events: Vec::new(),
            passed_over: 0,
        }
    }

    /// Reads the next line. Blank ones and those that begin with `#` say nothing.
    ///
    /// # Errors
    /// If it is none of the format that the first line showed.
    pub fn line(&mut self, text: &str) -> Result<(), TraceError> {
        self.line += 1;
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            return Ok(());
        }
        let Some(format) = self.format else {
            let format = sniff(text).ok_or_else(|| TraceError::UnknownFormat { found: text.to_owned() })?;
            self.format = Some(format);
            return match format {
                TraceFormat::Iolog2 | TraceFormat::Iolog3 | TraceFormat::Timed => Ok(()),
                TraceFormat::Blkparse | TraceFormat::Msr => self.entry(format, text),
            };
        };
        self.entry(format, text)
    }

    fn entry(&mut self, format: TraceFormat, text: &str) -> Result<(), TraceError> {
        let said = match format {
            TraceFormat::Iolog2 => iolog::line(text, false, &mut self.targets),
            TraceFormat::Iolog3 => iolog::line(text, true, &mut self.targets),
            TraceFormat::Blkparse => blkparse::line(text, &mut self.targets),
            TraceFormat::Msr => msr::line(text, &mut self.targets),
            TraceFormat::Timed => timed::line(text, &mut self.targets),
        };
        match said.map_err(|wrong| wrong.at(self.line, text))? {
            TraceLine::Came(_) if self.events.len() == REQUESTS_MAX => {
                return Err(TraceError::TooLong { line: self.line });
            }
            TraceLine::Came(event) => {
                let first = *self.clock.first.get_or_insert(event.at);
                let from_first = |at: Nanos| at.since(first).min(TIME_MAX + TIME_MAX) + self.clock.waited;
                let (at, completed) = (from_first(event.at), event.completed.map(from_first));
                if completed.unwrap_or(at).max(at) > TIME_MAX {
                    return Err(self.too_late(text));
                }
                self.events.push(TraceEvent { at, completed, ..event });
            }
            TraceLine::Completed { at, request } => {
                let at = at.since(self.clock.first.unwrap_or(at));
                let same = |event: &&mut TraceEvent| event.completed.is_none() && event.request.lba == request.lba;
                // What was completed came not long ago.
                if let Some(event) = self.events.iter_mut().rev().take(4096).find(same) {
                    event.completed = Some(at);
                }
            }
            TraceLine::Waited(time) if time > TIME_MAX || self.clock.waited + time > TIME_MAX => {
                return Err(self.too_late(text));
            }
            TraceLine::Waited(time) => self.clock.waited += time,
            TraceLine::Other => self.passed_over += 1,
        }
        Ok(())
    }

    fn too_late(&self, text: &str) -> TraceError {
        TraceMistake::NotA("within a hundred years of the first request").at(self.line, text)
    }

    /// The format, once a line has shown it.
    pub const fn format(&self) -> Option<TraceFormat> {
        self.format
    }

    /// The whole trace.
    ///
    /// # Errors
    /// If there is no request in it.
    pub fn finish(self) -> Result<Trace, TraceError> {
        let Self { mut events, targets, passed_over, line, .. } = self;
        if events.is_empty() {
            return Err(TraceError::Empty { lines: line });
        }
        events.sort_by_key(|event| event.at);
        // Of what nobody saw the end, the end is taken to be when it came.
        let end = |place: u32| {
            let TraceEvent { at, completed, .. } = events[place as usize];
            completed.map_or(at, |completed| completed.max(at))
        };
        let mut done: Vec<u32> = (0..events.len() as u32).collect();
        done.sort_by_key(|place| end(*place));
        let mut after = 0;
        let requests = (0..events.len() as u32).map(|place| {
            let TraceEvent { at, request, .. } = events[place as usize];
            while done[after] < place && end(done[after]) <= at {
                after += 1;
            }
            let last = after.checked_sub(1).map_or(Nanos::ZERO, |last| end(done[last]));
            Traced { at, after: after as u32, think: at - last, request }
        });
        let requests = requests.collect();
        if done.is_sorted() {
            done = Vec::new();
        }
        Ok(Trace { requests, done, targets: targets.len(), passed_over })
    }
}

impl Default for TraceReader {
    fn default() -> Self {
        Self::new()
    }
}

impl Trace {
    /// Where the last request ends.
    pub fn end(&self) -> Bytes {
        self.requests.iter().map(|traced| traced.request.end().offset()).max().unwrap_or_default()
    }

    /// Which request was done as number `rank`, from 0 on.
    pub fn done_as(&self, rank: usize) -> u32 {
        self.done.get(rank).copied().unwrap_or(rank as u32)
    }

    /// The longest request.
    pub fn longest(&self) -> Bytes {
        self.requests.iter().map(|traced| traced.request.bytes()).max().unwrap_or_default()
    }
}

/// The trace of requests that came to `target` at these times, as fio's log of version 3.
pub fn to_iolog(target: &str, requests: &[(Nanos, Request)]) -> String {
    let mut text = format!("fio version 3 iolog\n0 {target} add\n0 {target} open\n");
    for (at, request) in requests {
        let (micros, offset, length) = (at.as_nanos() / 1000, request.lba.offset().get(), request.bytes().get());
        let action = match request.op {
            Op::Read => "read",
            Op::Write | Op::Append => "write",
            Op::Trim => "trim",
            Op::Flush => "sync",
            // fio's log has no word for it: who replays it does it anew.
            Op::Zone(_) => continue,
        };
        writeln!(text, "{micros} {target} {action} {offset} {length}").expect("a text takes all that is written");
    }
    let end = requests.last().map_or(0, |(at, _)| at.as_nanos() / 1000);
    writeln!(text, "{end} {target} close").expect("a text takes all that is written");
    text
}

/// The format of a trace that begins with this line.
fn sniff(line: &str) -> Option<TraceFormat> {
    match line {
        "fio version 2 iolog" => Some(TraceFormat::Iolog2),
        "fio version 3 iolog" => Some(TraceFormat::Iolog3),
        timed::HEADING => Some(TraceFormat::Timed),
        _ if msr::line(line, &mut BTreeSet::new()).is_ok() => Some(TraceFormat::Msr),
        _ if blkparse::begins(line) => Some(TraceFormat::Blkparse),
        _ => None,
    }
}

/// What is wrong with a line, before it is known which it is.
enum TraceMistake {
    NotA(&'static str),
    Unaligned { op: Op, offset: u64, length: u64 },
}

impl TraceMistake {
    fn at(self, line: u64, text: &str) -> TraceError {
        match self {
            Self::NotA(wanted) => TraceError::Line { line, found: text.to_owned(), wanted },
            Self::Unaligned { op, offset, length } => TraceError::Unaligned { line, op, offset, length },
        }
    }
}

/// A request for so many bytes from `offset` on.
fn request(op: Op, offset: u64, length: u64) -> Result<Request, TraceMistake> {
    if op == Op::Flush {
        return Ok(Request::FLUSH);
    }
    let sector = SECTOR.get();
    let sectors = u32::try_from(length / sector).ok().filter(|&sectors| sectors > 0);
    let ends = offset.checked_add(length).is_some_and(|end| end < 1 << 60);
    match sectors {
        Some(sectors) if offset.is_multiple_of(sector) && length.is_multiple_of(sector) && ends => {
            Ok(Request::new(op, Lba::new(offset / sector), sectors))
        }
        _ => Err(TraceMistake::Unaligned { op, offset, length }),
    }
}

#[cfg(test)]
mod tests;
