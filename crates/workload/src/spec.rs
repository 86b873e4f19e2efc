//! The description of a workload.

use block::{Bytes, Nanos, Op};
use serde::{Deserialize, Serialize};

use crate::{
    Arrival, Distribution, Pattern, RandomShare, Replay, ReplayPace, Sizes, Spare, SteadyEnd, Verify, Weighted,
    ZonedAccess,
};

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
    /// Once it is steady.
    #[serde(default, skip_serializing_if = "SteadyEnd::is_none")]
    pub steady: SteadyEnd,
}

impl Stop {
    /// Never.
    const NONE: Self = Self { time: None, requests: None, bytes: None, span: None, steady: SteadyEnd::NONE };

    /// After so much time.
    pub const fn after(time: Nanos) -> Self {
        Self { time: Some(time), ..Self::NONE }
    }

    /// After each worker has made so many requests.
    pub const fn after_requests(requests: u64) -> Self {
        Self { requests: Some(requests), ..Self::NONE }
    }

    /// After so much data.
    pub const fn after_bytes(bytes: Bytes) -> Self {
        Self { bytes: Some(bytes), ..Self::NONE }
    }

    /// Whether there is any limit at all.
    pub(crate) const fn is_set(&self) -> bool {
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
    /// Start of the active range \[`offset`\].
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
    /// How long after the run's begin it begins, as of a job beside others \[`startdelay`\].
    #[serde(default, skip_serializing_if = "is_no_time")]
    pub delay: Nanos,
    /// Time at the start that is run but not counted \[`ramp_time`\].
    pub ramp: Nanos,
    /// Several sizes with the share of each, in place of `block` \[`bssplit`\].
    #[serde(default)]
    pub sizes: Option<Sizes>,
    /// The share of a random pattern's requests that are random; the rest go on from where the one before ended, or the one of
    /// their kind where kinds have shares of their own \[`percentage_random`\].
    #[serde(default = "all_random", rename = "random_percent")]
    pub random_share: RandomShare,
    /// How much a sequential pattern passes over after each request \[`rw=read:60k`\].
    #[serde(default)]
    pub skip: Bytes,
    /// Whether reads and writes that are mixed each go on from where the last of their kind ended, and not from where the last
    /// request did, in what of the pattern is not random \[fio's `rw=rw`\].
    #[serde(default, skip_serializing_if = "is_off")]
    pub positions_apart: bool,
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
    /// Whether each worker flushes once more at its end, where it has written since its last flush \[`end_fsync`\].
    #[serde(default, skip_serializing_if = "is_off")]
    pub end_fsync: bool,
    /// When requests come \[`thinktime`, `rate_iops`, `rate`\].
    #[serde(default)]
    pub arrival: Arrival,
    /// Whether what is written is checked \[`verify`\].
    #[serde(default)]
    pub verify: Verify,
    /// What it asks of a drive with zones \[`zonemode`\].
    #[serde(default, skip_serializing_if = "ZonedAccess::is_plain")]
    pub zoned: ZonedAccess,
    /// A trace whose requests come in place of those of a pattern; it ends with the last of them, if no limit ends it
    /// before \[`read_iolog`\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<Replay>,
}

/// Whether a stored workload is as it was before there was a choice.
pub(crate) fn is_nothing(bytes: &Bytes) -> bool {
    *bytes == Bytes::ZERO
}

fn is_no_time(time: &Nanos) -> bool {
    *time == Nanos::ZERO
}

fn is_off(is_on: &bool) -> bool {
    !is_on
}

/// What a stored workload has that was measured before there was a choice.
const fn all_random() -> RandomShare {
    RandomShare::ALL
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
            delay: Nanos::ZERO,
            ramp: Nanos::ZERO,
            sizes: None,
            random_share: RandomShare::ALL,
            skip: Bytes::ZERO,
            positions_apart: false,
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
            end_fsync: false,
            arrival: Arrival::default(),
            verify: Verify::default(),
            zoned: ZonedAccess::default(),
            replay: None,
        }
    }
}

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

    /// Whether all requests of a random pattern are random.
    pub fn is_all_random(&self) -> bool {
        self.ops().iter().all(|&op| self.random_share.of(op) == 100)
    }

    /// Whether any request is random: where none is, a random pattern is a sequence.
    pub fn makes_random(&self) -> bool {
        self.pattern.is_random() && self.ops().iter().any(|&op| self.random_share.of(op) > 0)
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
    pub fn all_sizes(&self) -> impl Iterator<Item = Bytes> {
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
        let other = if self.pattern.trims() { Op::Trim } else { Op::Write };
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
    pub(crate) const fn flush_every(&self) -> u32 {
        if self.fsync > 0 { self.fsync } else { self.fdatasync }
    }

    /// Whether each worker flushes once more at its end, if it has written since its last flush.
    pub const fn flushes_at_end(&self) -> bool {
        self.end_fsync && self.changes_data() && self.replay.is_none()
    }

    /// From when on requests count for the limit of [`requests_each`](Self::requests_each): those of the ramp do not, where that
    /// limit is the workload's own.
    pub fn limited_from(&self) -> Nanos {
        if self.replay.is_some() || self.verify.stamps { Nanos::ZERO } else { self.ramp }
    }

    /// How long after the run's begin its requests count.
    pub fn lead(&self) -> Nanos {
        self.delay + self.ramp
    }

    /// How long it takes where nothing but time ends it; none elsewhere.
    pub fn time_alone(&self) -> Option<Nanos> {
        let Stop { time, requests, bytes, span, steady } = self.stop;
        let is_limited = requests.is_some() || bytes.is_some() || span.is_some() || steady.criterion.is_some();
        let is_alone = !is_limited && self.replay.is_none();
        time.filter(|_| is_alone).map(|time| self.lead() + time)
    }

    /// Whether the next request follows whenever one is completed.
    pub fn is_closed(&self) -> bool {
        let paced = self.replay.as_ref().is_some_and(|replay| replay.pace != ReplayPace::AsFast);
        self.arrival.is_closed() && !paced
    }

    /// How many requests each worker makes at most, from [`limited_from`](Self::limited_from) on. Flushes do not count, but in a replay, where they are recorded
    /// like all others.
    pub fn requests_each(&self) -> u64 {
        let recorded = self.replay.as_ref().and_then(|replay| replay.trace.as_ref());
        let recorded = recorded.map(|trace| trace.count());
        // A limit of data is one of all workers together unless what is written is checked.
        let share = |bytes: Bytes| bytes.div(self.block) / u64::from(self.workers);
        let share = self.stop.bytes.filter(|_| self.verify.stamps).map(share);
        self.stop.requests.into_iter().chain(recorded).chain(share).min().unwrap_or(u64::MAX)
    }

    /// Whether latency counts from when a request came, which may be before it is submitted.
    pub fn counts_from_arrival(&self) -> bool {
        let recorded = |replay: &Replay| matches!(replay.pace, ReplayPace::Recorded { .. });
        self.arrival.is_open() || self.replay.as_ref().is_some_and(recorded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ten_seconds() -> Workload {
        Workload { stop: Stop::after(Nanos::from_secs(10)), ..Workload::default() }
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
}
