//! Why a workload cannot be run.

use block::{Bytes, Nanos, Op, SECTOR};
use thiserror::Error;

use crate::replay::REPLAY_MAX;
use crate::{Arrival, Distribution, Field, Pattern, Replay, ReplayPace, Verify, Workload, amount};

/// The most requests that may be in flight at once, over all workers.
const DEPTH_MAX: u64 = 65_536;

/// Why a workload cannot be run. Each message says what was found, what would be right and what to do.
#[non_exhaustive]
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum Invalid {
    #[error("block size {found} is not a whole number of 512 B sectors; try 512 or 4k")]
    Block { found: Bytes },
    #[error("block size {found} is too large: the maximum is 2 TiB; try 1m")]
    BlockTooLarge { found: Bytes },
    #[error("queue depth {depth} × {workers} workers: both must be at least 1")]
    Nobody { depth: u32, workers: u32 },
    #[error("queue depth {depth} × {workers} workers is more than {max} requests in flight; lower iodepth or numjobs")]
    TooDeep { depth: u32, workers: u32, max: u64 },
    #[error("a read share of {found} % is out of range; give 0 to 100")]
    ReadShare { found: u8 },
    #[error("offset {found} is not a whole number of 512 B sectors")]
    Offset { found: Bytes },
    #[error("offset {offset} is beyond the end of the target, {capacity}; give a smaller offset")]
    OffsetBeyond { offset: Bytes, capacity: Bytes },
    #[error("size {size} from offset {offset} exceeds the target's {capacity}; give a smaller size")]
    TooLarge { size: Bytes, offset: Bytes, capacity: Bytes },
    #[error(
        "size {size} holds fewer blocks of {block} than the {workers} workers; give a larger size or a smaller block"
    )]
    TooSmall { size: Bytes, block: Bytes, workers: u32 },
    #[error("there is no end; give runtime, number_ios or io_size")]
    Endless,
    #[error(
        "the workload would stop before its first request of {block}; give a longer runtime, a number_ios of at least 1, \
         or an io_size of at least one block"
    )]
    EndsAtOnce { block: Bytes },
    #[error(
        "a steady state is judged over whole intervals of whole seconds, a million at most; give \
         steadystate=iops_slope:0.1% or the like with a steadystate_duration that is a multiple of \
         steadystate_check_interval, such as 5m, or leave out all of them"
    )]
    SteadyWindow,
    #[error("a random share of {found} % is out of range; give 0 to 100")]
    RandomShare { found: u8 },
    #[error("a compressible share of {found} % is out of range; give 0 to 100")]
    Compressible { found: u8 },
    #[error(
        "cannot skip {found} after each request; give a multiple of 512 B, and only with a sequential pattern, as \
         rw=read:60k"
    )]
    Skip { found: Bytes },
    #[error(
        "norandommap=0 covers every block once, which needs a random pattern of one block size over the whole active \
         range; leave out bssplit, blockalign, percentage_random and random_distribution, or norandommap"
    )]
    OnceEach,
    #[error(
        "sprandom determines the offset of each write, which needs rw=randwrite of one block size; leave out bssplit, \
         blockalign, percentage_random, random_distribution, norandommap=0, verify and read_iolog, or sprandom"
    )]
    SteadyOrder,
    #[error("alignment {found} is not a whole number of 512 B sectors; try 512 or 4k")]
    Alignment { found: Bytes },
    #[error("fsync and fdatasync both ask for flushes; give one of them")]
    TwoFlushes,
    #[error("thinktime_blocks must be at least 1")]
    EmptyBurst,
    #[error("rate_iops, rate and thinktime exclude each other; give one of them")]
    TwoPaces,
    #[error("a share of {found} % duplicate blocks is out of range; give 0 to 100")]
    Duplicates { found: u8 },
    #[error("verify_only and verify_fatal need verify, which is off; give verify=crc32c, or leave them out")]
    VerifiesNothing,
    #[error(
        "verify checks data that the workload wrote, and this one writes nothing; choose a pattern that writes, or \
         give the options of the run that wrote, with verify_only=1"
    )]
    NothingToVerify,
    #[error(
        "verify needs requests of whole blocks of one size; leave out bssplit, percentage_random, and a blockalign or \
         a gap that is no multiple of bs, or leave out verify"
    )]
    VerifiedParts,
    #[error("verify makes every block unique, so there are no duplicates; give verify or dedupe_percentage")]
    VerifiedDuplicates,
    #[error(
        "the amount written in a runtime is not known afterwards, so verify_only excludes runtime; write with \
         number_ios or io_size and no runtime, and give the same here"
    )]
    VerifyOnlyForATime,
    #[error("{found} IOPS is more than one request per nanosecond; give a lower rate_iops or rate")]
    RateTooHigh { found: u64 },
    #[error("the rate is less than one request a year; give a higher rate")]
    RateTooLow,
    #[error("there is no trace to replay; give read_iolog=FILE, or leave out the replay_ options")]
    ReplayOfNothing,
    #[error("a trace is replayed by one worker, not by {workers}; give numjobs=1, or a job for each trace")]
    ReplayWorkers { workers: u32 },
    #[error(
        "a replay keeps the times of its trace; leave out thinktime, rate_iops and rate, or give replay_time_scale"
    )]
    ReplayPaced,
    #[error("replay_time_scale={found} is too small; give at least 1")]
    ReplayStands { found: u32 },
    #[error("replay_scale={found} is too small; give at least 1")]
    ReplayScale { found: u32 },
    #[error("the trace {source_name} has not been read; traces are read for `assay run` and `assay review`")]
    TraceUnread { source_name: String },
    #[error(
        "the trace {source_name} ends at {}, beyond the active range of {}; give a target or a size of at least that, \
         or replay_scale={scale}, which divides all offsets",
        amount(*end), amount(*room)
    )]
    TraceBeyond { source_name: String, end: Bytes, room: Bytes, scale: u64 },
    #[error(
        "the replay of {source_name} takes {} days, and a run 25,000 at most; give a larger replay_time_scale, \
         replay_no_stall=1 or a runtime",
        length.as_nanos() / 86_400_000_000_000
    )]
    ReplayTooLong { source_name: String, length: Nanos },
}

impl Invalid {
    /// The fields that may have caused it in `workload`, the likeliest first.
    pub fn fields(&self, workload: &Workload) -> &'static [Field] {
        match self {
            Self::Block { .. } | Self::BlockTooLarge { .. } => &[Field::Bssplit, Field::Bs],
            Self::Nobody { depth: 0, .. } => &[Field::Iodepth],
            Self::Nobody { .. } => &[Field::Numjobs],
            Self::TooDeep { depth, workers, .. } if depth >= workers => &[Field::Iodepth, Field::Numjobs],
            Self::TooDeep { .. } => &[Field::Numjobs, Field::Iodepth],
            Self::ReadShare { .. } => &[Field::Rwmixread],
            Self::Offset { .. } | Self::OffsetBeyond { .. } => &[Field::Offset],
            Self::TooLarge { .. } | Self::TooSmall { .. } => &[Field::Size],
            Self::EndsAtOnce { .. } if workload.stop.time == Some(Nanos::ZERO) => &[Field::Runtime],
            Self::EndsAtOnce { .. } if workload.stop.requests == Some(0) => &[Field::NumberIos],
            Self::EndsAtOnce { .. } => &[Field::IoSize],
            Self::SteadyWindow => &[
                Field::SteadystateDuration,
                Field::SteadystateCheckInterval,
                Field::SteadystateRampTime,
                Field::Steadystate,
            ],
            Self::Alignment { .. } => &[Field::Blockalign],
            Self::Skip { .. } => &[Field::Rw],
            Self::OnceEach => &[Field::Norandommap],
            Self::SteadyOrder => &[Field::Sprandom, Field::SprOp],
            Self::TwoFlushes => &[Field::Fdatasync, Field::Fsync],
            Self::EmptyBurst => &[Field::ThinktimeBlocks],
            Self::TwoPaces => &[Field::Thinktime, Field::RateIops, Field::Rate],
            Self::RateTooHigh { .. } => &[Field::RateIops, Field::Rate],
            Self::RateTooLow => &[Field::Rate],
            Self::Duplicates { .. } => &[Field::DedupePercentage],
            Self::VerifiesNothing => &[Field::VerifyOnly, Field::VerifyFatal],
            Self::NothingToVerify | Self::VerifiedParts | Self::VerifiedDuplicates => &[Field::Verify],
            Self::VerifyOnlyForATime => &[Field::VerifyOnly],
            Self::ReplayOfNothing => &[
                Field::ReadIolog,
                Field::ReplayNoStall,
                Field::ReplayThink,
                Field::ReplayTimeScale,
                Field::ReplayScale,
                Field::ReplayFormat,
                Field::ReplayVolume,
            ],
            Self::ReplayWorkers { .. } => &[Field::Numjobs, Field::ReadIolog],
            Self::ReplayStands { .. } | Self::ReplayTooLong { .. } => &[Field::ReplayTimeScale],
            Self::ReplayScale { .. } => &[Field::ReplayScale],
            Self::ReplayPaced => &[Field::ReadIolog],
            _ => &[],
        }
    }
}

/// A year, in seconds.
const YEAR: f64 = 365.0 * 86_400.0;

impl Workload {
    /// Whether the numbers make sense by themselves.
    ///
    /// # Errors
    /// Names the first that does not.
    pub fn check(&self) -> Result<(), Invalid> {
        for size in self.all_sizes() {
            if size == Bytes::ZERO || !size.is_multiple_of(SECTOR) {
                return Err(Invalid::Block { found: size });
            }
            if size.sectors() > u64::from(u32::MAX) {
                return Err(Invalid::BlockTooLarge { found: size });
            }
        }
        if self.queue_depth == 0 || self.workers == 0 {
            return Err(Invalid::Nobody { depth: self.queue_depth, workers: self.workers });
        }
        if u64::from(self.queue_depth) * u64::from(self.workers) > DEPTH_MAX {
            return Err(Invalid::TooDeep { depth: self.queue_depth, workers: self.workers, max: DEPTH_MAX });
        }
        if self.read_percent > 100 {
            return Err(Invalid::ReadShare { found: self.read_percent });
        }
        if !self.offset.is_multiple_of(SECTOR) {
            return Err(Invalid::Offset { found: self.offset });
        }
        if !self.stop.is_set() && self.replay.is_none() {
            return Err(Invalid::Endless);
        }
        // Of several sizes those are drawn that fit into the span.
        let room = self.size.filter(|_| self.sizes.is_some()).unwrap_or(Bytes::new(u64::MAX));
        let block = self.block_max().min(room);
        let none = self.stop.time == Some(Nanos::ZERO)
            || self.stop.requests == Some(0)
            || self.stop.bytes.is_some_and(|bytes| bytes < block);
        if none { Err(Invalid::EndsAtOnce { block }) } else { self.check_details() }
    }

    /// The same of what few workloads ask for.
    fn check_details(&self) -> Result<(), Invalid> {
        let Arrival { think, burst, rate, bandwidth, .. } = self.arrival;
        if !self.stop.steady.is_sound() {
            return Err(Invalid::SteadyWindow);
        }
        let share = self.random_share.largest();
        if share > 100 {
            return Err(Invalid::RandomShare { found: share });
        }
        if self.compressible > 100 {
            return Err(Invalid::Compressible { found: self.compressible });
        }
        if self.duplicates > 100 {
            return Err(Invalid::Duplicates { found: self.duplicates });
        }
        if let Some(found) = self.align.filter(|&align| align == Bytes::ZERO || !align.is_multiple_of(SECTOR)) {
            return Err(Invalid::Alignment { found });
        }
        if !self.skip.is_multiple_of(SECTOR) || (self.skip > Bytes::ZERO && self.pattern.is_random()) {
            return Err(Invalid::Skip { found: self.skip });
        }
        let draws_otherwise = !self.is_all_random() || self.distribution != Distribution::Uniform;
        if self.no_repeat
            && (!self.pattern.is_random() || draws_otherwise || self.sizes.is_some() || self.align.is_some())
        {
            return Err(Invalid::OnceEach);
        }
        let differs = draws_otherwise || self.no_repeat || self.sizes.is_some() || self.align.is_some();
        let is_other = self.pattern != Pattern::RandWrite || self.verify.stamps || self.replay.is_some();
        if self.sprandom.is_some() && (differs || is_other) {
            return Err(Invalid::SteadyOrder);
        }
        if self.fsync > 0 && self.fdatasync > 0 {
            return Err(Invalid::TwoFlushes);
        }
        if burst == 0 {
            return Err(Invalid::EmptyBurst);
        }
        if [rate > 0, bandwidth > Bytes::ZERO, think > Nanos::ZERO].into_iter().filter(|is_given| *is_given).count() > 1
        {
            return Err(Invalid::TwoPaces);
        }
        let found = self.arrival.requests_a_second(self.block_mean().max(SECTOR).get() as f64);
        if found > 1e9 {
            return Err(Invalid::RateTooHigh { found: found as u64 });
        }
        if self.arrival.is_open() && found < 1.0 / YEAR {
            return Err(Invalid::RateTooLow);
        }
        self.replay.as_ref().map_or(Ok(()), |replay| self.check_replay(replay))?;
        self.check_verify()
    }

    fn check_replay(&self, replay: &Replay) -> Result<(), Invalid> {
        match replay {
            Replay { source, .. } if source.is_empty() => Err(Invalid::ReplayOfNothing),
            _ if self.workers > 1 => Err(Invalid::ReplayWorkers { workers: self.workers }),
            _ if self.arrival != Arrival::default() => Err(Invalid::ReplayPaced),
            Replay { pace: ReplayPace::Recorded { percent: 0 } | ReplayPace::ThinkAt { percent: 0 }, .. } => {
                Err(Invalid::ReplayStands { found: 0 })
            }
            Replay { scale: 0, .. } => Err(Invalid::ReplayScale { found: 0 }),
            _ if self.stop.time.is_none() => match replay.recorded_time().filter(|length| *length > REPLAY_MAX) {
                Some(length) => Err(Invalid::ReplayTooLong { source_name: replay.source.clone(), length }),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// Whether it can be known what each block should hold.
    fn check_verify(&self) -> Result<(), Invalid> {
        let Verify { stamps, only, fatal, .. } = self.verify;
        if !stamps {
            return if only || fatal { Err(Invalid::VerifiesNothing) } else { Ok(()) };
        }
        if !self.ops().contains(&Op::Write) {
            return Err(Invalid::NothingToVerify);
        }
        let goes_on = self.pattern.is_random() && !self.is_all_random();
        let unit = self.block;
        let overlaps = self.align.is_some_and(|align| !align.is_multiple_of(unit)) || !self.skip.is_multiple_of(unit);
        if self.sizes.is_some() || self.replay.is_some() || goes_on || overlaps {
            return Err(Invalid::VerifiedParts);
        }
        if self.duplicates > 0 {
            return Err(Invalid::VerifiedDuplicates);
        }
        if only && (self.stop.time.is_some() || self.stop.requests.or(self.stop.bytes.map(Bytes::get)).is_none()) {
            return Err(Invalid::VerifyOnlyForATime);
        }
        if self.requests_each() == 0 { Err(Invalid::EndsAtOnce { block: unit }) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Spare, SteadyEnd, Stop};

    fn half() -> SteadyEnd {
        SteadyEnd { criterion: "iops:2%".parse().ok(), ..SteadyEnd::default() }
    }

    fn ten_seconds() -> Workload {
        Workload { stop: Stop::after(Nanos::from_secs(10)), ..Workload::default() }
    }

    #[test]
    fn nonsense_is_refused_by_name() {
        let capacity = Bytes::from_gib(1);
        let cases = [
            (Workload { block: Bytes::new(1000), ..ten_seconds() }, "512 B sectors"),
            (Workload { queue_depth: 0, ..ten_seconds() }, "at least 1"),
            (Workload { workers: 100_000, ..ten_seconds() }, "in flight"),
            (Workload { size: Some(Bytes::from_gib(2)), ..ten_seconds() }, "exceeds the target's 1 GiB"),
            (Workload { offset: Bytes::from_gib(1), ..ten_seconds() }, "beyond the end of the target"),
            (Workload { stop: Stop::default(), ..ten_seconds() }, "there is no end"),
            (Workload { stop: Stop::after_requests(0), ..ten_seconds() }, "before its first request"),
            (Workload { block: Bytes::from_gib(2), workers: 2, ..ten_seconds() }, "fewer blocks"),
            (Workload { sizes: Some("4k/50:1000/50".parse().unwrap()), ..ten_seconds() }, "512 B sectors"),
            (Workload { sizes: Some("2g/99:4g/1".parse().unwrap()), ..ten_seconds() }, "fewer blocks of 2 GiB"),
            (
                Workload { stop: Stop { steady: half(), ..ten_seconds().stop }, ..ten_seconds() },
                "whole intervals of whole seconds",
            ),
            (Workload { random_share: 101.into(), ..ten_seconds() }, "random share of 101 %"),
            (Workload { sprandom: Some(Spare::USUAL), ..ten_seconds() }, "needs rw=randwrite of one block size"),
            (Workload { compressible: 101, ..ten_seconds() }, "101 %"),
            (Workload { align: Some(Bytes::new(100)), ..ten_seconds() }, "alignment 100 B"),
            (Workload { fsync: 1, fdatasync: 1, ..ten_seconds() }, "give one of them"),
            (Workload { arrival: Arrival { burst: 0, ..Arrival::default() }, ..ten_seconds() }, "thinktime_blocks"),
            (
                Workload {
                    arrival: Arrival { rate: 1, think: Nanos::from_secs(1), ..Arrival::default() },
                    ..ten_seconds()
                },
                "exclude each other",
            ),
            (
                Workload {
                    arrival: Arrival { bandwidth: Bytes::new(1), ..Arrival::default() },
                    block: Bytes::from_gib(1),
                    ..ten_seconds()
                },
                "less than one request a year",
            ),
        ];
        let verified = |workload: Workload| {
            let verify = Verify { stamps: true, ..workload.verify };
            Workload { pattern: Pattern::RandWrite, verify, ..workload }
        };
        let only = Verify { only: true, ..Verify::default() };
        let verified = [
            (Workload { pattern: Pattern::Read, ..verified(ten_seconds()) }, "writes nothing"),
            (verified(Workload { sizes: Some("4k/50:8k/50".parse().unwrap()), ..ten_seconds() }), "of one size"),
            (verified(Workload { random_share: 50.into(), ..ten_seconds() }), "of one size"),
            (verified(Workload { align: Some(Bytes::new(512)), ..ten_seconds() }), "no multiple of bs"),
            (verified(Workload { block: Bytes::from_gib(1), workers: 2, ..ten_seconds() }), "fewer blocks"),
            (verified(Workload { duplicates: 5, ..ten_seconds() }), "verify or dedupe_percentage"),
            (verified(Workload { verify: only, ..ten_seconds() }), "excludes runtime"),
            (Workload { verify: only, ..ten_seconds() }, "need verify"),
            (
                verified(Workload { stop: Stop::after_bytes(Bytes::from_kib(4)), workers: 2, ..ten_seconds() }),
                "before its first request",
            ),
            (Workload { duplicates: 101, ..ten_seconds() }, "101 %"),
        ];
        for (workload, words) in cases.into_iter().chain(verified) {
            let said = workload.span(capacity).expect_err(words).to_string();
            assert!(said.contains(words), "{said}");
        }
    }
}
