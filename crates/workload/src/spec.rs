//! The description of a workload.

use block::{Bytes, Nanos, Op, SECTOR};
use serde::{Deserialize, Serialize};

use crate::{Arrival, Distribution, Invalid, Pattern, Replay, ReplayPace, Sizes, Spare, Verify, Weighted};

/// When a workload ends: at the first of the limits that are set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    /// After so much time.
    pub time: Option<Nanos>,
    /// After so many requests of each worker.
    pub requests: Option<u64>,
    /// After so much data of all workers together.
    pub bytes: Option<Bytes>,
    /// After so much data of all workers together, in percent of the span; becomes `bytes` on a target whose capacity
    /// is known ([`Workload::on`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<u32>,
}

impl Stop {
    /// After so much time.
    pub const fn after(time: Nanos) -> Self {
        Self { time: Some(time), requests: None, bytes: None, span: None }
    }

    /// After each worker has made so many requests.
    pub const fn after_requests(requests: u64) -> Self {
        Self { time: None, requests: Some(requests), bytes: None, span: None }
    }

    /// After so much data.
    pub const fn after_bytes(bytes: Bytes) -> Self {
        Self { time: None, requests: None, bytes: Some(bytes), span: None }
    }

    /// Whether there is any limit at all.
    pub const fn is_set(&self) -> bool {
        self.time.is_some() || self.requests.is_some() || self.bytes.is_some()
    }
}

/// What is asked of a target. Field names on the command line and in plans are fio's, given in brackets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workload {
    /// Operations and order of addresses \[`rw`\].
    pub pattern: Pattern,
    /// The share of reads where reads and writes are mixed, in percent \[`rwmixread`\].
    pub read_percent: u8,
    /// The size of a request, unless `sizes` gives several \[`bs`\].
    pub block: Bytes,
    /// How many requests each worker keeps in flight \[`iodepth`\].
    pub queue_depth: u32,
    /// How many workers \[`numjobs`\].
    pub workers: u32,
    /// Where the span that is used begins \[`offset`\].
    pub offset: Bytes,
    /// Where the span begins, in percent of what the target has; becomes `offset` on a target whose capacity is known
    /// ([`Workload::on`]) \[`offset=50%`\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<u8>,
    /// How long the span is; none for all that the target has \[`size`\].
    pub size: Option<Bytes>,
    /// How long the span is, in percent of what the target has; becomes `size` on a target whose capacity is known
    /// ([`Workload::on`]) \[`size=75%`\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<u8>,
    /// When to end.
    pub stop: Stop,
    /// Time at the start that is run but not counted \[`ramp_time`\].
    pub ramp: Nanos,
    /// Several sizes with the share of each, in place of `block` \[`bssplit`\].
    #[serde(default)]
    pub sizes: Option<Sizes>,
    /// The share of a random pattern's requests that are random, in percent; the rest go on from where the one
    /// before ended \[`percentage_random`\].
    #[serde(default = "all")]
    pub random_percent: u8,
    /// How much a sequential pattern passes over after each request \[`rw=read:60k`\].
    #[serde(default)]
    pub skip: Bytes,
    /// How far beyond its own place each worker of a sequential pattern begins: where an earlier run of the same ended
    /// ([`Workload::resumed`]).
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub begin: Bytes,
    /// Whether a worker asks for every block of the span once before it asks for any again, and then in another
    /// order \[`norandommap=0`\].
    #[serde(default)]
    pub no_repeat: bool,
    /// Whether writes come in the order that leaves a drive with so much spare flash in the steady state of random
    /// writing, once as much is written as it has flash; random writes follow \[`sprandom`, `spr_op`\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sprandom: Option<Spare>,
    /// Random requests begin at multiples of this; none for multiples of the least size \[`blockalign`\].
    #[serde(default)]
    pub align: Option<Bytes>,
    /// Where random requests fall \[`random_distribution`\].
    #[serde(default)]
    pub distribution: Distribution,
    /// What compression can take away of written data, in percent: 0 for random data, 100 for zeroes
    /// \[`buffer_compress_percentage`, `zero_buffers`\].
    #[serde(default)]
    pub compressible: u8,
    /// The share of written blocks that repeat what an earlier one held, in percent \[`dedupe_percentage`\].
    #[serde(default)]
    pub duplicates: u8,
    /// Whether a write completes only once it would survive a loss of power \[`sync`\].
    #[serde(default)]
    pub durable: bool,
    /// After how many writes a worker asks for a flush of data and metadata; zero for never \[`fsync`\].
    #[serde(default)]
    pub fsync: u32,
    /// The same with only the metadata that data needs; alike on a simulated drive \[`fdatasync`\].
    #[serde(default)]
    pub fdatasync: u32,
    /// When requests come \[`thinktime`, `rate_iops`\].
    #[serde(default)]
    pub arrival: Arrival,
    /// Whether what is written is checked \[`verify`\].
    #[serde(default)]
    pub verify: Verify,
    /// A trace whose requests come in place of those of a pattern; it ends with the last of them, if no limit ends it
    /// before \[`read_iolog`\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<Replay>,
}

/// Whether a stored workload is as it was before there was a choice.
fn is_nothing(bytes: &Bytes) -> bool {
    *bytes == Bytes::ZERO
}

/// What a stored workload has that was measured before there was a choice.
const fn all() -> u8 {
    100
}

impl Default for Workload {
    /// fio's defaults: sequential reads of 4 KiB, one at a time, by one worker.
    fn default() -> Self {
        Self {
            pattern: Pattern::Read,
            read_percent: 50,
            block: Bytes::from_kib(4),
            queue_depth: 1,
            workers: 1,
            offset: Bytes::ZERO,
            place: None,
            size: None,
            share: None,
            stop: Stop::default(),
            ramp: Nanos::ZERO,
            sizes: None,
            random_percent: 100,
            skip: Bytes::ZERO,
            begin: Bytes::ZERO,
            no_repeat: false,
            sprandom: None,
            align: None,
            distribution: Distribution::Uniform,
            compressible: 0,
            duplicates: 0,
            durable: false,
            fsync: 0,
            fdatasync: 0,
            arrival: Arrival::default(),
            verify: Verify::default(),
            replay: None,
        }
    }
}

/// The most requests that may be in flight at once, over all workers.
const DEPTH_MAX: u64 = 65_536;

impl Workload {
    /// The share of requests that read, in percent.
    pub const fn reads(&self) -> u8 {
        match self.pattern {
            Pattern::Read | Pattern::RandRead => 100,
            Pattern::ReadWrite | Pattern::RandRw => self.read_percent,
            _ => 0,
        }
    }

    /// The kinds of requests that the pattern makes.
    pub const fn ops(&self) -> &'static [Op] {
        match self.pattern {
            Pattern::Read | Pattern::RandRead => &[Op::Read],
            Pattern::Write | Pattern::RandWrite => &[Op::Write],
            Pattern::Trim | Pattern::RandTrim => &[Op::Trim],
            Pattern::ReadWrite | Pattern::RandRw => &[Op::Read, Op::Write],
        }
    }

    /// Whether anything on the target changes.
    pub const fn changes_data(&self) -> bool {
        self.pattern.changes_data() && !self.verify.only
    }

    /// The sizes of requests of this kind, with the share of each.
    pub fn sizes_of(&self, op: Op) -> Vec<Weighted> {
        let single = || vec![Weighted { size: self.block, percent: 100 }];
        self.sizes.as_ref().map_or_else(single, |sizes| sizes.of(op).to_vec())
    }

    /// All sizes that requests can have.
    fn all_sizes(&self) -> impl Iterator<Item = Bytes> {
        self.ops().iter().flat_map(|&op| self.sizes_of(op)).map(|entry| entry.size)
    }

    /// The largest request.
    pub fn block_max(&self) -> Bytes {
        self.all_sizes().max().expect("every pattern makes requests")
    }

    /// The mean size of a request.
    pub fn block_mean(&self) -> Bytes {
        let mean = |op| self.sizes_of(op).iter().map(|entry| entry.size.times(u64::from(entry.percent))).sum::<Bytes>();
        let (reads, others) = (u64::from(self.reads()), 100 - u64::from(self.reads()));
        let other = if matches!(self.pattern, Pattern::Trim | Pattern::RandTrim) { Op::Trim } else { Op::Write };
        let weigh = |op, share| if share == 0 { 0 } else { u128::from(mean(op).get()) * u128::from(share) };
        Bytes::new(((weigh(Op::Read, reads) + weigh(other, others)) / 10_000) as u64)
    }

    /// Random requests of this kind begin at multiples of this.
    pub fn alignment(&self, op: Op) -> Bytes {
        let least = || self.sizes_of(op).iter().map(|entry| entry.size).min().expect("no list of sizes is empty");
        self.align.unwrap_or_else(least)
    }

    /// The first size or alignment that is not a whole number of `unit`s.
    pub fn unfit(&self, unit: Bytes) -> Option<Bytes> {
        let recorded = self.replay.as_ref().and_then(|replay| replay.digest).map(|digest| digest.unit);
        // What a trace has at its most even is a power of two of up to 4 KiB, whatever the target asks for.
        let recorded = recorded.filter(|recorded| *recorded < unit);
        self.all_sizes().chain(self.align).chain(recorded).find(|size| !size.is_multiple_of(unit))
    }

    /// After how many writes a flush is asked for; zero for never.
    pub const fn flush_every(&self) -> u32 {
        if self.fsync > 0 { self.fsync } else { self.fdatasync }
    }

    /// The part of a target of `capacity` that the workload uses: start and length, in whole blocks where all
    /// requests are blocks.
    ///
    /// # Errors
    /// If the workload makes no sense at all or does not fit the target.
    pub fn span(&self, capacity: Bytes) -> Result<(Bytes, Bytes), Invalid> {
        self.check()?;
        if self.offset >= capacity {
            return Err(Invalid::OffsetBeyond { offset: self.offset, capacity });
        }
        let length = self.size.unwrap_or(capacity - self.offset);
        if self.offset + length > capacity {
            return Err(Invalid::TooLarge { size: length, offset: self.offset, capacity });
        }
        let block = self.block_max();
        if length.div(block) < u64::from(self.workers) {
            return Err(Invalid::TooSmall { size: length, block, workers: self.workers });
        }
        if let Some(replay) = &self.replay {
            return self.span_of(replay, length);
        }
        let unit = if self.sizes.is_none() && self.align.is_none() { block } else { SECTOR };
        Ok((self.offset, length.round_down(unit)))
    }

    /// The part of the span that worker number `worker` uses: all of it, unless what is written is checked.
    ///
    /// # Errors
    /// As those of [`span`](Self::span).
    pub fn part(&self, worker: u32, capacity: Bytes) -> Result<(Bytes, Bytes), Invalid> {
        let (start, length) = self.span(capacity)?;
        if !self.verify.stamps {
            return Ok((start, length));
        }
        let part = self.block.times(length.div(self.block) / u64::from(self.workers));
        Ok((start + part.times(u64::from(worker)), part))
    }

    /// The same of a replay, as far as its trace reaches, which must have been read.
    fn span_of(&self, replay: &Replay, room: Bytes) -> Result<(Bytes, Bytes), Invalid> {
        let source_name = replay.source.clone();
        match &replay.trace {
            None => Err(Invalid::TraceUnread { source_name }),
            Some(trace) if trace.end() > room => {
                let (end, scale) = (trace.end(), u64::from(replay.scale));
                // What is rounded off a place may be as long as the longest request.
                let fitting = Bytes::new(room.get().saturating_sub(trace.longest().get())).max(SECTOR);
                Err(Invalid::TraceBeyond { source_name, end, room, scale: scale * (end.div(fitting) + 1) })
            }
            Some(trace) => Ok((self.offset, trace.end())),
        }
    }

    /// The same on a target of this capacity: what is a share of the target or of the span is so much of it.
    pub fn on(&self, capacity: Bytes) -> Self {
        let block = self.block_max().max(SECTOR);
        // Whether any of the span lies on the target is asked by `span`, which says it better.
        let part = |of: Bytes, percent: u128| {
            let part = u128::from(of.get()) * percent / 100;
            if of == Bytes::ZERO { block } else { Bytes::new(u64::try_from(part).unwrap_or(u64::MAX)) }
        };
        let offset = self.place.map_or(self.offset, |percent| part(capacity, u128::from(percent)).round_down(block));
        let rest = Bytes::new(capacity.get().saturating_sub(offset.get()));
        let of_target = |percent| part(capacity, u128::from(percent)).min(rest).round_down(block);
        let size = self.size.or(self.share.map(of_target));
        let length = size.unwrap_or(rest).round_down(block);
        let share = self.stop.span.map(|percent| part(length, u128::from(percent)));
        let bytes = self.stop.bytes.into_iter().chain(share).min();
        Self { offset, place: None, size, share: None, stop: Stop { bytes, span: None, ..self.stop }, ..self.clone() }
    }

    /// The same going on where a run of it that moved so much has ended, if it is sequential.
    pub fn resumed(&self, moved: Bytes) -> Self {
        let each = Bytes::new(moved.get() / u64::from(self.workers.max(1)));
        let begin = if self.pattern.is_random() { Bytes::ZERO } else { each.round_down(self.block_max().max(SECTOR)) };
        Self { begin, ..self.clone() }
    }

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
        let block = self.block_max();
        let none = self.stop.time == Some(Nanos::ZERO)
            || self.stop.requests == Some(0)
            || self.stop.bytes.is_some_and(|bytes| bytes < block);
        if none { Err(Invalid::EndsAtOnce { block }) } else { self.check_details() }
    }

    /// The same of what few workloads ask for.
    fn check_details(&self) -> Result<(), Invalid> {
        let Arrival { think, burst, rate, .. } = self.arrival;
        if self.random_percent > 100 {
            return Err(Invalid::RandomShare { found: self.random_percent });
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
        let draws_otherwise = self.random_percent < 100 || self.distribution != Distribution::Uniform;
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
        if rate > 0 && think > Nanos::ZERO {
            return Err(Invalid::TwoPaces);
        }
        if rate > 1_000_000_000 {
            return Err(Invalid::RateTooHigh { found: rate });
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
        let goes_on = self.pattern.is_random() && self.random_percent < 100;
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

    fn ten_seconds() -> Workload {
        Workload { stop: Stop::after(Nanos::from_secs(10)), ..Workload::default() }
    }

    #[test]
    fn the_span_is_the_whole_target_in_whole_blocks() {
        let span = Workload { block: Bytes::from_mib(4), ..ten_seconds() }.span(Bytes::from_mib(10));
        assert_eq!(span, Ok((Bytes::ZERO, Bytes::from_mib(8))));
    }

    #[test]
    fn several_sizes_have_a_mean_a_largest_and_a_least() {
        let split = |text: &str| Some(text.parse::<Sizes>().unwrap());
        let workload = Workload { sizes: split("512/50:4k/50"), ..ten_seconds() };
        assert_eq!((workload.block_mean(), workload.block_max()), (Bytes::new(2304), Bytes::from_kib(4)));
        assert_eq!(workload.alignment(Op::Read), Bytes::new(512));
        let mixed = Workload {
            pattern: Pattern::RandRw,
            read_percent: 75,
            sizes: split("4k/100,8k/50:16k/50"),
            align: Some(Bytes::from_kib(1)),
            ..ten_seconds()
        };
        assert_eq!((mixed.block_mean(), mixed.block_max()), (Bytes::from_kib(6), Bytes::from_kib(16)));
        assert_eq!(mixed.alignment(Op::Write), Bytes::from_kib(1));
        assert_eq!(
            (mixed.unfit(Bytes::from_kib(1)), mixed.unfit(Bytes::from_kib(8))),
            (None, Some(Bytes::from_kib(4)))
        );
        assert_eq!(ten_seconds().block_mean(), Bytes::from_kib(4));
    }

    #[test]
    fn what_was_stored_before_a_field_existed_still_loads() {
        let stored = r#"{"pattern":"randread","read_percent":50,"block":4096,"queue_depth":32,"workers":1,"offset":0,
            "size":null,"stop":{"time":null,"requests":10,"bytes":null},"ramp":0}"#;
        let expected = Workload {
            pattern: Pattern::RandRead,
            queue_depth: 32,
            stop: Stop::after_requests(10),
            ..Workload::default()
        };
        assert_eq!(serde_json::from_str::<Workload>(stored).unwrap(), expected);
        let rich = Workload {
            sizes: Some("512/10:4k/90".parse().unwrap()),
            distribution: "zipf:1.2".parse().unwrap(),
            arrival: Arrival { rate: 7, ..Arrival::default() },
            ..expected
        };
        assert_eq!(serde_json::from_str::<Workload>(&serde_json::to_string(&rich).unwrap()).unwrap(), rich);
    }

    #[test]
    fn workers_whose_data_is_checked_have_a_part_and_a_share_each() {
        let verify = Verify { stamps: true, ..Verify::default() };
        let workload = Workload {
            pattern: Pattern::RandWrite,
            workers: 3,
            offset: Bytes::from_kib(4),
            verify,
            stop: Stop::after_bytes(Bytes::from_kib(100)),
            ..Workload::default()
        };
        let parts: Vec<_> = (0..3).map(|worker| workload.part(worker, Bytes::from_kib(48)).unwrap()).collect();
        let part = |start: u64| (Bytes::from_kib(start), Bytes::from_kib(12));
        assert_eq!(parts, [part(4), part(16), part(28)]);
        assert_eq!(workload.requests_each(), 8);
        let mut stream = crate::Stream::new(&workload, 1, Bytes::from_kib(48), block::Seed::new(7)).unwrap();
        for _ in 0..1000 {
            let request = stream.next_request();
            let (start, length) = parts[1];
            assert!(request.lba.offset() >= start && request.end().offset() <= start + length);
        }
        let plain = Workload { verify: Verify::default(), ..workload };
        assert_eq!(plain.part(2, Bytes::from_kib(48)).unwrap(), (Bytes::from_kib(4), Bytes::from_kib(44)));
        assert_eq!(plain.requests_each(), u64::MAX);
    }

    #[test]
    fn nonsense_is_refused_by_name() {
        let capacity = Bytes::from_gib(1);
        let cases = [
            (Workload { block: Bytes::new(1000), ..ten_seconds() }, "512 B sectors"),
            (Workload { queue_depth: 0, ..ten_seconds() }, "at least 1"),
            (Workload { workers: 100_000, ..ten_seconds() }, "in flight"),
            (Workload { size: Some(Bytes::from_gib(2)), ..ten_seconds() }, "more than the target's 1 GiB"),
            (Workload { offset: Bytes::from_gib(1), ..ten_seconds() }, "beyond the target's"),
            (Workload { stop: Stop::default(), ..ten_seconds() }, "when to stop"),
            (Workload { stop: Stop::after_requests(0), ..ten_seconds() }, "before its first request"),
            (Workload { block: Bytes::from_gib(1), workers: 2, ..ten_seconds() }, "fewer blocks"),
            (Workload { sizes: Some("4k/50:1000/50".parse().unwrap()), ..ten_seconds() }, "512 B sectors"),
            (Workload { sizes: Some("512/99:2g/1".parse().unwrap()), ..ten_seconds() }, "fewer blocks of 2 GiB"),
            (Workload { random_percent: 101, ..ten_seconds() }, "random share of 101 %"),
            (Workload { sprandom: Some(Spare::USUAL), ..ten_seconds() }, "takes rw=randwrite of one block size"),
            (Workload { compressible: 101, ..ten_seconds() }, "101 %"),
            (Workload { align: Some(Bytes::new(100)), ..ten_seconds() }, "alignment 100 B"),
            (Workload { fsync: 1, fdatasync: 1, ..ten_seconds() }, "give one of them"),
            (Workload { arrival: Arrival { burst: 0, ..Arrival::default() }, ..ten_seconds() }, "thinktime_blocks"),
            (
                Workload {
                    arrival: Arrival { rate: 1, think: Nanos::from_secs(1), ..Arrival::default() },
                    ..ten_seconds()
                },
                "not both",
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
            (verified(Workload { random_percent: 50, ..ten_seconds() }), "of one size"),
            (verified(Workload { align: Some(Bytes::new(512)), ..ten_seconds() }), "no multiple of bs"),
            (verified(Workload { duplicates: 5, ..ten_seconds() }), "verify or dedupe_percentage"),
            (verified(Workload { verify: only, ..ten_seconds() }), "takes no runtime"),
            (Workload { verify: only, ..ten_seconds() }, "details of verify"),
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
