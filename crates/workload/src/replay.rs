//! A recorded trace as a workload.

use std::fmt;
use std::sync::Arc;

use block::{Bytes, Lba, Nanos, Op, Request, SECTOR, separated};
use serde::{Deserialize, Serialize};

use crate::{Pattern, Trace, TraceFormat, TraceRequests, Traced, Workload};

/// How many requests of a replay are in flight at most where nothing else is said.
pub const REPLAY_DEPTH: u32 = 32;

/// What [`Replay::volume`] says where all volumes are replayed, one behind the other on the target.
pub const VOLUMES_APART: &str = "apart";

/// Requests as they were recorded, in place of those that a pattern makes.
///
/// A description has the name of the trace alone; [`Workload::replaying`] gives it the requests.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replay {
    /// The file that holds the trace \[`read_iolog`\].
    pub source: String,
    /// When its requests come.
    pub pace: ReplayPace,
    /// What the places of all requests are divided by, so that the trace of a large drive fits a small one
    /// \[`replay_scale`\].
    pub scale: u32,
    /// The format, by its name or by that of its columns, where the trace does not show it \[`replay_format`\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// The one of several volumes whose requests are replayed, or [`VOLUMES_APART`] \[`replay_volume`\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume: Option<String>,
    /// What is known of the trace; none before it was read.
    pub digest: Option<TraceDigest>,
    /// The requests; none before it was read, nor where a stored workload is read back.
    #[serde(skip)]
    pub trace: Option<Arc<Trace>>,
}

/// A trace may have millions of requests, none of which helps to tell what went wrong.
impl fmt::Debug for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { source, pace, scale, format, volume, digest, trace } = self;
        let requests = trace.as_ref().map(|trace| trace.count());
        f.debug_struct("Replay")
            .field("source", source)
            .field("pace", pace)
            .field("scale", scale)
            .field("format", format)
            .field("volume", volume)
            .field("digest", digest)
            .field("requests", &requests)
            .finish()
    }
}

/// When the requests of a replay come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplayPace {
    /// When they came as recorded, whether those before are done or not; latency counts from then.
    Recorded {
        /// How fast the recorded time goes, in percent: 200 for twice as fast \[`replay_time_scale`\].
        percent: u32,
    },
    /// As soon as there is room in the queue \[`replay_no_stall`\].
    AsFast,
    /// With the time to think of whoever made them: a request waits until all is done that was done when it was
    /// recorded, and then for as long as it did then \[`replay_think`\].
    Think,
    /// The same with who made them so much quicker, in percent: 200 for half the time to think.
    ThinkAt {
        /// How fast the recorded time goes while nobody waits for the drive \[`replay_time_scale`\].
        percent: u32,
    },
}

impl ReplayPace {
    /// The same with the recorded time at so many percent of the speed.
    #[must_use]
    pub const fn at(self, percent: u32) -> Self {
        match self {
            Self::Think | Self::ThinkAt { .. } if percent == 100 => Self::Think,
            Self::Think | Self::ThinkAt { .. } => Self::ThinkAt { percent },
            Self::Recorded { .. } | Self::AsFast => Self::Recorded { percent },
        }
    }

    /// The same with the recorded time as one to think.
    #[must_use]
    pub const fn thinking(self) -> Self {
        match self {
            Self::Recorded { percent } => Self::Think.at(percent),
            Self::AsFast | Self::Think | Self::ThinkAt { .. } => self,
        }
    }

    /// At how many percent of its speed the recorded time goes; none where it means nothing.
    pub const fn percent(self) -> Option<u32> {
        match self {
            Self::Recorded { percent } | Self::ThinkAt { percent } => Some(percent),
            Self::Think => Some(100),
            Self::AsFast => None,
        }
    }
}

impl Default for ReplayPace {
    fn default() -> Self {
        Self::Recorded { percent: 100 }
    }
}

/// How the requests of a replay follow each other.
impl fmt::Display for ReplayPace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let speed = |percent: u32| separated(&percent.to_string());
        match *self {
            Self::Recorded { percent: 100 } => f.write_str("as recorded"),
            Self::Recorded { percent } => write!(f, "at {} % of the recorded speed", speed(percent)),
            Self::AsFast => f.write_str("as fast as possible"),
            Self::Think => f.write_str("with the recorded think time"),
            Self::ThinkAt { percent } => write!(f, "with think time at {} % of its speed", speed(percent)),
        }
    }
}

/// What is known of a trace without its requests, so that a stored measurement can tell what it replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceDigest {
    pub format: TraceFormat,
    /// How many requests it has, flushes included.
    pub requests: u64,
    pub flushes: u64,
    /// The data that they concern.
    pub bytes: Bytes,
    /// When the last one came, from the first one on.
    #[serde(rename = "length_ns")]
    pub length: Nanos,
    /// Where the last of the target that they need ends.
    pub end: Bytes,
    /// The largest power of two, up to 4 KiB, of which all places and lengths are multiples.
    pub unit: Bytes,
    /// How many files or devices it was recorded from, whose requests all go to one target.
    pub targets: usize,
    /// Lines that recorded something other than a request.
    pub passed_over: u64,
}

impl Replay {
    /// The trace in this file, with the recorded times.
    pub fn of(source: impl Into<String>) -> Self {
        Self { source: source.into(), scale: 1, ..Self::default() }
    }

    /// How long it takes to come, if it is not cut short; none where the target decides, or it was not read.
    pub fn length(&self) -> Option<Nanos> {
        match (self.pace, self.digest) {
            (ReplayPace::Recorded { percent }, Some(digest)) => Some(quicker(digest.length, percent)),
            _ => None,
        }
    }

    /// How much of the recorded time it takes at its speed; none where that means nothing, or it was not read.
    pub(crate) fn recorded_time(&self) -> Option<Nanos> {
        Some(quicker(self.digest?.length, self.pace.percent()?))
    }
}

/// The longest that a replay may take: with all that comes beside, a store can keep it.
pub(crate) const REPLAY_MAX: Nanos = Nanos::from_secs(25_000 * 86_400);

/// A recorded time at so many percent of the recorded speed, at most 292 years, to which a beginning can be added.
pub fn quicker(time: Nanos, percent: u32) -> Nanos {
    let scaled = u128::from(time.as_nanos()) * 100 / u128::from(percent.max(1));
    Nanos::from_nanos(u64::try_from(scaled).unwrap_or(u64::MAX).min(u64::MAX / 2))
}

impl Trace {
    /// What is known of it without its requests.
    pub fn digest(&self, format: TraceFormat) -> TraceDigest {
        let summary = self.summary();
        TraceDigest {
            format,
            requests: summary.requests,
            flushes: summary.count(Op::Flush),
            bytes: summary.bytes,
            length: summary.length,
            end: summary.end,
            unit: summary.unit(),
            targets: self.targets,
            passed_over: self.passed_over,
        }
    }

    /// The longest request that moves data, for which there must be memory; where all are trims, the longest of them.
    fn block(&self) -> Bytes {
        let summary = self.summary();
        match summary.count(Op::Read) + summary.count(Op::Write) {
            0 if summary.count(Op::Flush) == 0 => summary.longest,
            0 => SECTOR,
            _ => summary.moved,
        }
    }

    /// The pattern that asks for the same kinds of requests.
    fn pattern(&self) -> Pattern {
        let summary = self.summary();
        let asks = [Op::Read, Op::Write, Op::Trim, Op::Flush].map(|op| summary.count(op) > 0);
        match (asks, !summary.is_random) {
            ([true, false, false, _], true) => Pattern::Read,
            ([true, false, false, _], false) => Pattern::RandRead,
            ([false, true, _, _] | [false, false, true, true], true) => Pattern::Write,
            ([false, true, _, _] | [false, false, true, true], false) => Pattern::RandWrite,
            ([false, false, true, false], true) => Pattern::Trim,
            ([false, false, true, false], false) => Pattern::RandTrim,
            // A flush alone changes nothing, but may not be asked of what is only read.
            ([false, false, false, _], _) => Pattern::Write,
            ([true, ..], true) => Pattern::ReadWrite,
            ([true, ..], false) => Pattern::RandRw,
        }
    }
}

impl Workload {
    /// This replay with the requests of `trace`, whose kinds and sizes decide pattern, block and share of reads.
    ///
    /// # Panics
    /// If it is no replay.
    #[must_use]
    pub fn replaying(&self, trace: Arc<Trace>, digest: TraceDigest) -> Self {
        let replay = self.replay.clone().expect("only a replay is given a trace");
        let pattern = trace.pattern();
        let (reads, all) = (trace.summary().count(Op::Read), digest.requests - digest.flushes);
        let share = (reads * 100).checked_div(all).unwrap_or(0) as u8;
        Self {
            pattern,
            block: trace.block(),
            read_percent: if pattern.is_mixed() { share.clamp(1, 99) } else { self.read_percent },
            replay: Some(Replay { digest: Some(digest), trace: Some(trace), ..replay }),
            ..self.clone()
        }
    }
}

/// The requests of a trace, one after another.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    requests: TraceRequests,
    /// Where the span begins, from which places count.
    first: Lba,
    entropy: u8,
    durable: bool,
}

impl Recorded {
    /// Those of `trace`, in a span that begins here.
    pub fn new(workload: &Workload, trace: &Trace, start: Bytes) -> Self {
        let entropy = 100 - workload.compressible;
        Self { requests: trace.requests(), first: Lba::at(start), entropy, durable: workload.durable }
    }

    /// The next request; flushes without end behind the last, where nobody asks any more.
    pub fn next_request(&mut self) -> Request {
        let Some(Traced { request, .. }) = self.requests.next() else { return Request::FLUSH };
        match request.op {
            Op::Flush | Op::Append | Op::Zone(_) => request,
            Op::Write => Request {
                lba: Lba::new(self.first.get() + request.lba.get()),
                entropy: self.entropy,
                durable: self.durable,
                ..request
            },
            Op::Read | Op::Trim => Request { lba: Lba::new(self.first.get() + request.lba.get()), ..request },
        }
    }
}

#[cfg(test)]
mod tests {
    use block::Seed;

    use super::*;
    use crate::{Invalid, Stop, Stream, TraceReader, to_iolog};

    fn traced(op: Op, sector: u64, sectors: u32) -> Traced {
        Traced {
            at: Nanos::from_micros(sector),
            after: 0,
            think: Nanos::ZERO,
            request: Request::new(op, Lba::new(sector), sectors),
        }
    }

    /// Has it last so many days at that speed.
    fn lasts(replay: &mut Replay, days: u64, percent: u32) {
        let digest = replay.digest.as_mut().unwrap();
        digest.length = Nanos::from_secs(days * 86_400);
        replay.pace = ReplayPace::Recorded { percent };
    }

    fn workload(requests: &[Traced]) -> Workload {
        let timed = requests.iter().zip(0..).map(|(traced, place)| (Nanos::from_micros(place), traced.request));
        let requests: Vec<(Nanos, Request)> = timed.collect();
        let (trace, _) = TraceReader::default().text(&to_iolog("f", &requests)).unwrap();
        let digest = trace.digest(TraceFormat::Iolog3);
        let replay = Some(Replay::of("t.log"));
        Workload { replay, ..Workload::default() }.replaying(Arc::new(trace), digest)
    }

    #[test]
    fn a_trace_says_what_is_asked_for() {
        let (read, write, trim) = (traced(Op::Read, 8, 8), traced(Op::Write, 0, 16), traced(Op::Trim, 64, 640));
        let flush = Traced { request: Request::FLUSH, ..read };
        for (requests, pattern, sectors, reads) in [
            (&[read, read][..], Pattern::RandRead, 8, 100),
            (&[read, traced(Op::Read, 16, 8), flush], Pattern::Read, 8, 100),
            (&[write, flush], Pattern::Write, 16, 0),
            (&[write, write, read], Pattern::RandRw, 16, 33),
            (&[trim], Pattern::Trim, 640, 0),
            (&[trim, flush], Pattern::Write, 1, 0),
            (&[write, trim], Pattern::RandWrite, 16, 0),
            (&[trim, read], Pattern::RandRw, 8, 50),
        ] {
            let workload = workload(requests);
            assert_eq!((workload.pattern, workload.block), (pattern, Bytes::from_sectors(sectors)), "{requests:?}");
            assert_eq!(workload.reads(), reads, "{requests:?}");
        }
        let digest = workload(&[write, traced(Op::Read, 2, 8), flush]).replay.unwrap().digest.unwrap();
        assert_eq!((digest.requests, digest.flushes, digest.unit), (3, 1, Bytes::from_kib(1)));
    }

    #[test]
    fn its_requests_come_in_order_from_the_start_of_the_span() {
        let base = workload(&[traced(Op::Read, 8, 8), traced(Op::Write, 0, 16)]);
        let replayed = Workload { offset: Bytes::from_kib(64), compressible: 30, durable: true, ..base.clone() };
        let mut stream = Stream::new(&replayed, 0, Bytes::from_kib(72), Seed::new(1)).unwrap();
        let read = Request::new(Op::Read, Lba::new(136), 8);
        let write = Request { entropy: 70, durable: true, ..Request::new(Op::Write, Lba::new(128), 16) };
        assert_eq!([stream.next_request(), stream.next_request()], [read, write]);
        assert_eq!((base.requests_each(), base.is_closed()), (2, false));
        assert_eq!(Workload { stop: Stop::after_requests(1), ..base }.requests_each(), 1);
    }

    #[test]
    fn what_makes_no_replay_is_refused() {
        let base = workload(&[traced(Op::Read, 2000, 48)]);
        let replay = |change: fn(&mut Replay)| {
            let mut replay = base.replay.clone();
            change(replay.as_mut().unwrap());
            Workload { replay, ..base.clone() }
        };
        for (workload, words) in [
            (Workload { size: Some(Bytes::from_kib(600)), ..base.clone() }, "or replay_scale=2"),
            (Workload { workers: 2, ..base.clone() }, "one worker"),
            (replay(|replay| replay.trace = None), "has not been read"),
            (replay(|replay| replay.source.clear()), "read_iolog=FILE"),
            (replay(|replay| replay.pace = ReplayPace::Recorded { percent: 0 }), "replay_time_scale"),
            (replay(|replay| replay.pace = ReplayPace::Think.at(0)), "replay_time_scale"),
            (replay(|replay| replay.scale = 0), "replay_scale=0"),
            (replay(|replay| lasts(replay, 25_001, 100)), "takes 25001 days"),
            (replay(|replay| lasts(replay, 3_000, 10)), "takes 30000 days"),
        ] {
            let said = workload.span(Bytes::from_gib(1)).expect_err(words).to_string();
            assert!(said.contains(words), "{said}");
        }
        let long = replay(|replay| lasts(replay, 25_000, 100));
        assert!(long.span(Bytes::from_gib(1)).is_ok());
        let cut = Workload { stop: Stop::after(Nanos::from_secs(1)), ..replay(|replay| lasts(replay, 30_000, 1)) };
        assert!(cut.span(Bytes::from_gib(1)).is_ok(), "a runtime ends it");
        assert!(base.span(Bytes::from_mib(1)).is_ok(), "2048 sectors are just 1 MiB");
        let beyond = base.span(Bytes::from_kib(1020)).unwrap_err();
        let Invalid::TraceBeyond { end, room, .. } = beyond else { panic!("{beyond}") };
        assert_eq!((end, room), (Bytes::from_mib(1), Bytes::from_kib(1020)));
    }

    #[test]
    fn a_scaled_trace_keeps_its_alignment_and_fits_a_smaller_drive() {
        let requests = [traced(Op::Read, 8 * 1001, 8), traced(Op::Write, 8 * 3000, 8)];
        let requests: Vec<(Nanos, Request)> = requests.iter().map(|traced| (Nanos::ZERO, traced.request)).collect();
        let (trace, _) = TraceReader::default().text(&to_iolog("f", &requests)).unwrap();
        let unit = trace.digest(TraceFormat::Msr).unit;
        let places: Vec<u64> = trace.scaled(10, unit).requests().map(|traced| traced.request.lba.get()).collect();
        assert_eq!(places, [800, 2400]);
    }

    #[test]
    fn a_stored_replay_is_read_back_without_its_requests() {
        let workload = workload(&[traced(Op::Read, 8, 8)]);
        let stored = serde_json::to_string(&workload).unwrap();
        assert!(!stored.contains("lba"), "{stored}");
        let read: Workload = serde_json::from_str(&stored).unwrap();
        let known = read.replay.unwrap();
        assert_eq!((known.digest, known.trace), (workload.replay.unwrap().digest, None));
    }
}
