//! Why a workload cannot be run.

use block::Bytes;
use thiserror::Error;

use crate::amount;

/// Why a workload cannot be run. Each message says what was found, what would be right and what to do.
#[non_exhaustive]
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum Invalid {
    #[error("block size {found} is not a whole number of 512 B sectors; try 512 or 4k")]
    Block { found: Bytes },
    #[error("block size {found} is too large: a request holds at most 2 TiB; try 1m")]
    BlockTooLarge { found: Bytes },
    #[error("queue depth {depth} × {workers} workers asks for nothing; both must be at least 1")]
    Nobody { depth: u32, workers: u32 },
    #[error("queue depth {depth} × {workers} workers is more than {max} requests in flight; lower iodepth or numjobs")]
    TooDeep { depth: u32, workers: u32, max: u64 },
    #[error("a read share of {found} % is more than everything; give 0 to 100")]
    ReadShare { found: u8 },
    #[error("offset {found} is not a whole number of 512 B sectors")]
    Offset { found: Bytes },
    #[error("offset {offset} is beyond the target's {capacity}; give a smaller offset")]
    OffsetBeyond { offset: Bytes, capacity: Bytes },
    #[error("size {size} from offset {offset} is more than the target's {capacity}; give a smaller size")]
    TooLarge { size: Bytes, offset: Bytes, capacity: Bytes },
    #[error(
        "size {size} holds fewer blocks of {block} than the {workers} workers; give a larger size or a smaller block"
    )]
    TooSmall { size: Bytes, block: Bytes, workers: u32 },
    #[error("nothing says when to stop; give runtime, number_ios or io_size")]
    Endless,
    #[error(
        "the workload would stop before its first request of {block}; give a longer runtime, a number_ios of at least 1, \
         or an io_size of at least one block"
    )]
    EndsAtOnce { block: Bytes },
    #[error("a random share of {found} % is more than everything; give 0 to 100")]
    RandomShare { found: u8 },
    #[error("data that compresses by {found} % is less than nothing; give 0 to 100")]
    Compressible { found: u8 },
    #[error(
        "{found} cannot be passed over after each request; give a whole number of 512 B sectors, and that only after a \
         sequential pattern, as rw=read:60k"
    )]
    Skip { found: Bytes },
    #[error(
        "norandommap=0 asks for every block once, which takes a random pattern of one block size over the whole span; \
         leave out bssplit, blockalign, percentage_random and random_distribution, or norandommap"
    )]
    OnceEach,
    #[error(
        "sprandom decides where each write falls, which takes rw=randwrite of one block size; leave out bssplit, \
         blockalign, percentage_random, random_distribution, norandommap=0, verify and read_iolog, or sprandom"
    )]
    SteadyOrder,
    #[error("alignment {found} is not a whole number of 512 B sectors; try 512 or 4k")]
    Alignment { found: Bytes },
    #[error("fsync and fdatasync both ask for flushes; give one of them")]
    TwoFlushes,
    #[error("pauses after bursts of no request never end; give thinktime_blocks of at least 1")]
    EmptyBurst,
    #[error("requests that come at a rate do not wait for a pause; give rate_iops or thinktime, not both")]
    TwoPaces,
    #[error("a share of {found} % of repeated blocks is more than everything; give 0 to 100")]
    Duplicates { found: u8 },
    #[error("verify_only and verify_fatal are details of verify, which is off; give verify=crc32c, or leave them out")]
    VerifiesNothing,
    #[error(
        "verify checks what the workload itself has written, and this one writes nothing; choose a pattern that writes, or \
         give the options of the run that wrote, with verify_only=1"
    )]
    NothingToVerify,
    #[error(
        "verify must know what each block holds, which takes requests that are whole blocks of one size; leave out \
         bssplit, percentage_random, and a blockalign or a gap that is no multiple of bs, or leave out verify"
    )]
    VerifiedParts,
    #[error(
        "verify makes every block differ from all others, so that none is repeated; give verify or dedupe_percentage"
    )]
    VerifiedDuplicates,
    #[error(
        "how much was written in a time cannot be known afterwards, so that verify_only takes no runtime; write with \
         number_ios or io_size and no runtime, and give the same here"
    )]
    VerifyOnlyForATime,
    #[error("{found} requests a second are more than one a nanosecond; give a lower rate_iops")]
    RateTooHigh { found: u32 },
    #[error("nothing is named that could be replayed; give read_iolog=FILE, or leave out what begins with replay_")]
    ReplayOfNothing,
    #[error("a trace is replayed by one worker, not by {workers}; give numjobs=1, or a job for each trace")]
    ReplayWorkers { workers: u32 },
    #[error("a replay keeps the times of its trace; leave out thinktime and rate_iops, or give replay_time_scale")]
    ReplayPaced,
    #[error("at {found} % of the recorded speed no request ever comes; give a replay_time_scale of at least 1")]
    ReplayStands { found: u32 },
    #[error("a replay_scale of {found} divides by nothing; give at least 1")]
    ReplayScale { found: u32 },
    #[error("the trace {source_name} has not been read; traces are read for `assay run` and `assay review`")]
    TraceUnread { source_name: String },
    #[error(
        "the trace {source_name} ends at {}, beyond the {} that are used of the target; give a target or a size of at \
         least that, or replay_scale={scale}, which brings every place nearer",
        amount(*end), amount(*room)
    )]
    TraceBeyond { source_name: String, end: Bytes, room: Bytes, scale: u64 },
}
