//! The fields of a workload, by fio's names.

use serde::{Deserialize, Serialize};

/// A field of a workload that can be swept, by fio's name.
///
/// They are set in the order in which they stand here, so that what a profile sets can be changed, and one block
/// size gives way to several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// A named access profile, which sets several of the others.
    Profile,
    /// The file whose trace is replayed.
    ReadIolog,
    /// Whether recorded times are passed over.
    ReplayNoStall,
    /// Whether the pauses of whoever made the requests are kept.
    ReplayThink,
    /// How fast the recorded time goes.
    ReplayTimeScale,
    /// What the places of a trace are divided by.
    ReplayScale,
    /// Pattern.
    Rw,
    /// Block size.
    Bs,
    /// Several block sizes with the share of each.
    Bssplit,
    /// Queue depth.
    Iodepth,
    /// Workers.
    Numjobs,
    /// Share of reads.
    Rwmixread,
    /// Share of a random pattern's requests that are random.
    PercentageRandom,
    /// Whether random requests may come to a block again before all others had one.
    Norandommap,
    /// How much flash a drive has beyond its capacity.
    SprOp,
    /// Whether writes come in the order that leaves the steady state of random writing.
    Sprandom,
    /// Alignment of random requests.
    Blockalign,
    /// Where random requests fall.
    RandomDistribution,
    /// What compression takes away of written data.
    BufferCompressPercentage,
    /// Whether only zeroes are written.
    ZeroBuffers,
    /// The share of written blocks that repeat an earlier one.
    DedupePercentage,
    /// Whether each write survives a loss of power.
    Sync,
    /// Writes per flush.
    Fsync,
    /// Writes per flush of data alone.
    Fdatasync,
    /// Pause after a burst.
    Thinktime,
    /// Requests in a burst.
    ThinktimeBlocks,
    /// Requests that come to each worker in a second.
    RateIops,
    /// How they are spread.
    RateProcess,
    /// Whether written data is checked.
    Verify,
    /// Whether all of it is read back behind the run.
    DoVerify,
    /// Whether only what an earlier run wrote is read.
    VerifyOnly,
    /// Whether the first damage ends the run.
    VerifyFatal,
    /// Span.
    Size,
    /// Start of the span.
    Offset,
    /// Duration.
    Runtime,
    /// Requests of each worker.
    NumberIos,
    /// Data transferred.
    IoSize,
    /// Uncounted start.
    RampTime,
}

impl Field {
    /// Every field that a plan or the command line may give.
    pub const ALL: [Self; 38] = [
        Self::Profile,
        Self::ReadIolog,
        Self::ReplayNoStall,
        Self::ReplayThink,
        Self::ReplayTimeScale,
        Self::ReplayScale,
        Self::Rw,
        Self::Bs,
        Self::Bssplit,
        Self::Iodepth,
        Self::Numjobs,
        Self::Rwmixread,
        Self::PercentageRandom,
        Self::Norandommap,
        Self::SprOp,
        Self::Sprandom,
        Self::Blockalign,
        Self::RandomDistribution,
        Self::BufferCompressPercentage,
        Self::ZeroBuffers,
        Self::DedupePercentage,
        Self::Sync,
        Self::Fsync,
        Self::Fdatasync,
        Self::Thinktime,
        Self::ThinktimeBlocks,
        Self::RateIops,
        Self::RateProcess,
        Self::Verify,
        Self::DoVerify,
        Self::VerifyOnly,
        Self::VerifyFatal,
        Self::Size,
        Self::Offset,
        Self::Runtime,
        Self::NumberIos,
        Self::IoSize,
        Self::RampTime,
    ];

    /// Other names that fio has for a field.
    const ALIASES: [(&'static str, Self); 1] = [("ba", Self::Blockalign)];

    /// The field of this name.
    pub fn named(name: &str) -> Option<Self> {
        let alias = || Self::ALIASES.iter().find(|(alias, _)| *alias == name).map(|(_, field)| *field);
        Self::ALL.into_iter().find(|field| field.name() == name).or_else(alias)
    }

    /// All names by which fields are known.
    pub(super) fn names() -> Vec<&'static str> {
        Self::ALL.iter().map(|field| field.name()).chain(Self::ALIASES.iter().map(|(alias, _)| *alias)).collect()
    }

    /// The name in plans, on the command line and in the store.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Profile => "profile",
            Self::ReadIolog => "read_iolog",
            Self::ReplayNoStall => "replay_no_stall",
            Self::ReplayThink => "replay_think",
            Self::ReplayTimeScale => "replay_time_scale",
            Self::ReplayScale => "replay_scale",
            Self::Rw => "rw",
            Self::Bs => "bs",
            Self::Bssplit => "bssplit",
            Self::Iodepth => "iodepth",
            Self::Numjobs => "numjobs",
            Self::Rwmixread => "rwmixread",
            Self::PercentageRandom => "percentage_random",
            Self::Norandommap => "norandommap",
            Self::SprOp => "spr_op",
            Self::Sprandom => "sprandom",
            Self::Blockalign => "blockalign",
            Self::RandomDistribution => "random_distribution",
            Self::BufferCompressPercentage => "buffer_compress_percentage",
            Self::ZeroBuffers => "zero_buffers",
            Self::DedupePercentage => "dedupe_percentage",
            Self::Sync => "sync",
            Self::Fsync => "fsync",
            Self::Fdatasync => "fdatasync",
            Self::Thinktime => "thinktime",
            Self::ThinktimeBlocks => "thinktime_blocks",
            Self::RateIops => "rate_iops",
            Self::RateProcess => "rate_process",
            Self::Verify => "verify",
            Self::DoVerify => "do_verify",
            Self::VerifyOnly => "verify_only",
            Self::VerifyFatal => "verify_fatal",
            Self::Size => "size",
            Self::Offset => "offset",
            Self::Runtime => "runtime",
            Self::NumberIos => "number_ios",
            Self::IoSize => "io_size",
            Self::RampTime => "ramp_time",
        }
    }

    /// The words for people, as on an axis of a chart.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Profile => "Profile",
            Self::ReadIolog => "Trace",
            Self::ReplayNoStall => "Recorded timing",
            Self::ReplayThink => "Recorded think time",
            Self::ReplayTimeScale => "Replay speed (%)",
            Self::ReplayScale => "Offset divisor",
            Self::Rw => "Pattern",
            Self::Bs => "Block size",
            Self::Bssplit => "Block size split",
            Self::Iodepth => "Queue depth",
            Self::Numjobs => "Workers",
            Self::Rwmixread => "Share of reads (%)",
            Self::PercentageRandom => "Random share (%)",
            Self::Norandommap => "Random map",
            Self::SprOp => "Over-provisioning (%)",
            Self::Sprandom => "Preconditioning order",
            Self::Blockalign => "Offset alignment",
            Self::RandomDistribution => "Random distribution",
            Self::BufferCompressPercentage => "Compressible (%)",
            Self::ZeroBuffers => "Zeroes",
            Self::DedupePercentage => "Duplicate blocks (%)",
            Self::Sync => "FUA writes",
            Self::Fsync => "Writes per flush",
            Self::Fdatasync => "Writes per data flush",
            Self::Thinktime => "Think time",
            Self::ThinktimeBlocks => "Requests per burst",
            Self::RateIops => "Arrival rate per worker (IOPS)",
            Self::RateProcess => "Arrival process",
            Self::Verify => "Verify",
            Self::DoVerify => "Read-back verification",
            Self::VerifyOnly => "Verify only",
            Self::VerifyFatal => "Stop on verify error",
            Self::Size => "Active range",
            Self::Offset => "Offset",
            Self::Runtime => "Duration",
            Self::NumberIos => "Requests per worker",
            Self::IoSize => "Data transferred",
            Self::RampTime => "Ramp time",
        }
    }

    /// What a trace decides: all of the requests and of their times.
    pub(super) const TRACED: [Self; 16] = [
        Self::Profile,
        Self::Rw,
        Self::Bs,
        Self::Bssplit,
        Self::Numjobs,
        Self::Rwmixread,
        Self::PercentageRandom,
        Self::Norandommap,
        Self::Blockalign,
        Self::RandomDistribution,
        Self::Fsync,
        Self::Fdatasync,
        Self::Thinktime,
        Self::ThinktimeBlocks,
        Self::RateIops,
        Self::RateProcess,
    ];

    /// The fields that make a replay, which only a measurement can be.
    pub(super) const REPLAY: [Self; 5] =
        [Self::ReadIolog, Self::ReplayNoStall, Self::ReplayThink, Self::ReplayTimeScale, Self::ReplayScale];

    /// The fields that make one row of writes from begin to end, which rounds would tear.
    pub(super) const ROW: [Self; 2] = [Self::SprOp, Self::Sprandom];

    /// What else this field decides: where a nearer word gives it, these are no longer taken from farther away.
    pub(super) const fn decides(self) -> &'static [Self] {
        match self {
            Self::Profile => &[
                Self::Rw,
                Self::Bs,
                Self::Bssplit,
                Self::Numjobs,
                Self::Rwmixread,
                Self::PercentageRandom,
                Self::Blockalign,
                Self::RandomDistribution,
            ],
            Self::ReadIolog => &Self::TRACED,
            Self::Bs => &[Self::Bssplit],
            Self::BufferCompressPercentage => &[Self::ZeroBuffers],
            _ => &[],
        }
    }
}
