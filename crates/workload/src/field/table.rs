//! The table of fields: a row each.

use block::Nanos;
use serde::{Deserialize, Serialize};

use super::notation::{
    BYTES, COUNT, CRITERION, DEPTH, DISTRIBUTION, EXTENT, Extent, MANY, MOVED, OFF_ON, PATTERN, PAUSE, PERCENT,
    PROFILE, RANDOM_SHARE, REQUESTS, SIZES, SPARE, SPEED, Switch, TEXT, TIME, Value,
};
use super::{Fio, FioValue, Mark, More, Phrase, Row};
use crate::{ArrivalProcess, REPLAY_DEPTH, Replay, ReplayPace, Spare, Workload, profile};

/// Makes the type and its rows: `Variant "name" "Title" "what it asks for" value, what fio has { what else there is }`.
macro_rules! fields {
    ($($field:ident $name:literal $title:literal $about:literal $value:expr, $fio:expr, { $($key:ident: $more:expr),* $(,)? })*) => {
        /// A field of a workload, by fio's name.
        ///
        /// They are set in the order in which they stand here, so that what a profile sets can be changed, and one block
        /// size gives way to several.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Field { $(#[doc = $about] $field),* }

        impl Field {
            /// Every field that a plan or the command line may give.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$field),*];

            /// What is to be known of it.
            pub(super) fn row(self) -> &'static Row {
                &ROWS[self as usize]
            }
        }

        static ROWS: [Row; Field::ALL.len()] = [$(Row {
            name: $name,
            title: $title,
            about: $about,
            value: &$value,
            fio: $fio,
            more: More { $($key: $more,)* ..More::PLAIN },
        }),*];
    };
}

use self::{Fio::Together, FioValue::*, Mark::*, Phrase::*};

const SAME: Fio = Together("means the same; of values for reads, writes and trims those of the job's pattern count");
const MASTER: Fio = Fio::None("it is of fio 3.39 and later, whose job files are not read by it yet");
const VERIFIED: Fio =
    Fio::None("fio's blocks have headers of another format, so that neither can check what the other wrote");
const ZONED: Fio = Together("counts on a drive with zones, where a job without `zonemode` goes by zbd too");
const SHARE: Fio = Together("a share from 0 to 1 in fio, in percent here");
const APPENDS: Fio = Fio::None("fio's engines write zones by writes alone");
const STALLS: Fio = Together("counts in a job that has `read_iolog`");
const STEADY: Fio = Together(
    "counts where both `steadystate` and `steadystate_duration` are given; jobs that run together are judged together",
);
const PACED: Fio = Together("counts in a job that has no `read_iolog`; a job has a rate or pauses, not both");

fields! {
    Profile "profile" "Profile" "A named access profile that the other options modify: `assay profiles` lists them"
        Value { of: &PROFILE, get: profile::followed, set: |w, profile| profile.set(w) },
        Fio::None("fio's profiles are tests that are built into it"), {
            takes: "NAME", marks: &[Summary, Traced], absent: "none",
            decides: &[Field::Rw, Field::Bs, Field::Bssplit, Field::Numjobs, Field::Rwmixread, Field::PercentageRandom,
                Field::Blockalign, Field::RandomDistribution],
        }
    ReadIolog "read_iolog" "Trace" "Replay the requests of this trace; - is standard input. The format is recognised, so are gzip and zstd"
        Value { of: &TEXT, get: |w| w.replay.as_ref().map(|replay| replay.source.clone()), set: |w, source| {
            replay(w).source = source;
            w.queue_depth = REPLAY_DEPTH;
        } },
        Together("the first of several traces"), {
            takes: "FILE", marks: &[Mark::Replay], detail: Some(untold),
        }
    ReplayNoStall "replay_no_stall" "Recorded timing" "Replay as fast as --iodepth allows [default: 32], ignoring recorded timing"
        switch(|w| pace(w) == Some(ReplayPace::AsFast), |w, on| if on { replay(w).pace = ReplayPace::AsFast }, ["", ""]),
        STALLS, { takes: "0|1", marks: &[Mark::Replay], label: Some(paced), detail: Some(untold) }
    ReplayThink "replay_think" "Recorded think time" "Replay with recorded think time: each request follows its predecessors' completion after the recorded delay"
        switch(|w| matches!(pace(w), Some(ReplayPace::Think | ReplayPace::ThinkAt { .. })), |w, on| if on {
            let replay = replay(w);
            replay.pace = replay.pace.thinking();
        }, ["", ""]),
        Fio::None("fio keeps the recorded times, or none"),
        { takes: "0|1", marks: &[Mark::Replay], label: Some(paced), detail: Some(untold) }
    ReplayTimeScale "replay_time_scale" "Replay speed (%)" "Replay speed in percent of the recorded speed: 200 for twice as fast [default: 100]"
        Value { of: &SPEED, get: |w| pace(w)?.percent(), set: |w, percent| {
            let replay = replay(w);
            replay.pace = replay.pace.at(percent);
        } },
        STALLS, {
            takes: "PERCENT", marks: &[Mark::Replay], absent: "recorded", detail: Some(untold),
            phrase: Around("", " of the recorded speed"),
            applies: |w| pace(w).and_then(ReplayPace::percent).is_some_and(|percent| percent != 100),
        }
    ReplayScale "replay_scale" "Offset divisor" "Divide the trace's offsets by this, so that it fits a smaller target"
        Value { of: &MANY, get: |w| Some(w.replay.as_ref()?.scale), set: |w, scale| replay(w).scale = scale },
        STALLS, {
            takes: "NUMBER", marks: &[Mark::Replay], phrase: Around("offsets divided by ", ""), detail: Some(untold),
            applies: |w| w.replay.as_ref().is_some_and(|replay| replay.scale != 1),
        }
    ReplayFormat "replay_format" "Trace format" "Format of a trace that is not recognised: a name, or its columns, as time_us,volume,op,offset_bytes,size_bytes"
        Value { of: &TEXT, get: |w| w.replay.as_ref()?.format.clone(), set: |w, format| replay(w).format = Some(format) },
        Fio::None("fio reads its own logs and blktrace's alone"),
        { takes: "FORMAT", marks: &[Mark::Replay], absent: "recognised", phrase: Around("read as ", "") }
    ReplayVolume "replay_volume" "Volume" "Replay one volume of a trace of several, or `apart` to place them one behind the other [default: all, at their recorded offsets]"
        Value { of: &TEXT, get: |w| w.replay.as_ref()?.volume.clone(), set: |w, volume| replay(w).volume = Some(volume) },
        Fio::None("fio's log names files, which it opens"),
        { takes: "VOLUME", marks: &[Mark::Replay], absent: "all", phrase: Around("volume ", "") }
    Rw "rw" "Pattern" "read, write, trim, randread, randwrite, randtrim, rw or randrw; read:60k skips 60 KiB after each request [default: read]"
        Value { of: &PATTERN, get: |w| Some((w.pattern, w.skip)), set: |w, rw| (w.pattern, w.skip) = rw },
        Together("a number behind a random pattern is lost, and so is a sequence that goes backwards"), {
            aliases: &["readwrite"], takes: "PATTERN", marks: &[Basic, Always, Traced], applies: |w| w.replay.is_none(),
        }
    Bs "bs" "Block size" "Block size [default: 4k]"
        Value { of: &BYTES, get: |w| Some(w.block), set: |w, block| (w.block, w.sizes) = (block, None) },
        Together("the last of `bs` and `bsrange` counts; separate sizes for reads and writes become a bssplit"), {
            aliases: &["blocksize"], takes: "BYTES", marks: &[Basic, Always, Traced], decides: &[Field::Bssplit],
            applies: |w| w.replay.is_none() && w.sizes.is_none(),
        }
    Bssplit "bssplit" "Block size split" "Block size split in place of --bs: 4k/60:64k/40, reads and writes separated by a comma"
        Value { of: &SIZES, get: |w| w.sizes.clone(), set: |w, sizes| w.sizes = Some(sizes) },
        SAME, { takes: "SIZE/PERCENT:…", marks: &[Traced], label: Some(Workload::sizes_shown), detail: Some(untold) }
    Iodepth "iodepth" "Queue depth" "Queue depth of each worker [default: 1]"
        Value { of: &DEPTH, get: |w| Some(w.queue_depth), set: |w, depth| w.queue_depth = depth },
        Together("1 with an ioengine that waits for each request"),
        { marks: &[Basic, Always], phrase: Around("queue depth ", "") }
    Numjobs "numjobs" "Workers" "Workers [default: 1]"
        Value { of: &DEPTH, get: |w| Some(w.workers), set: |w, workers| w.workers = workers },
        Fio::Same(Count), { marks: &[Basic, Traced], phrase: Of("worker") }
    Rwmixread "rwmixread" "Share of reads (%)" "Percentage of reads in a mixed workload [default: 50]"
        Value { of: &PERCENT, get: |w| Some(w.read_percent), set: |w, percent| w.read_percent = percent },
        Together("the last of `rwmixread` and `rwmixwrite` counts"), {
            takes: "PERCENT", marks: &[Basic, Always, Traced], phrase: Around("", " % reads"),
            applies: |w| w.pattern.is_mixed() && w.replay.is_none(),
        }
    PercentageRandom "percentage_random" "Random share (%)" "Share of random requests in a random pattern; the rest continue where the previous request ended. 100,0: random reads, and writes in sequence"
        Value { of: &RANDOM_SHARE, get: |w| Some(w.random_share), set: |w, share| w.random_share = share },
        SAME, { takes: "PERCENT", marks: &[Traced], phrase: Around("", " % random"), applies: is_random }
    MixedPositions "mixed_positions" "Positions of a mix" "Where a request of a mix of reads and writes that is not random goes on: shared, where the last request ended, or separate, where the last of its kind did [default: shared]"
        Switch {
            words: &["shared", "separate"], off: 1, shown: ["shared", "separate"],
            get: |w| w.positions_apart, set: |w, apart| w.positions_apart = apart,
        },
        Fio::None("fio has only separate ones, which its job files get"),
        { takes: "WHICH", marks: &[Traced], phrase: Around("positions ", ""), applies: |w| w.pattern.is_mixed() }
    Norandommap "norandommap" "Repeats" "1: random offsets may repeat (default); 0: a random map covers every block once before any repeats"
        switch(|w| !w.no_repeat, |w, repeats| w.no_repeat = !repeats, ["random map", "repeating"]),
        Together("0 where it is left out of a job whose random requests are of one size and spread evenly"),
        { takes: "0|1", marks: &[Traced], phrase: Around("", "") }
    SprOp "spr_op" "Over-provisioning (%)" "With --sprandom: over-provisioning as a share of the capacity: 0.07 or 7% [default: 0.15]"
        Value { of: &SPARE, get: |w| w.sprandom, set: |w, spare| w.sprandom = Some(spare) },
        MASTER, {
            takes: "SHARE", marks: &[Mark::Row], absent: "none",
            phrase: Around("SPRandom order for over-provisioning of ", ""),
        }
    Sprandom "sprandom" "Order" "SPRandom: write in the order that leaves the drive in the steady state of random writes once all its flash is written (--io_size); random writes follow"
        switch(|w| w.sprandom.is_some(), |w, on| w.sprandom = w.sprandom.or(Some(Spare::FIOS)).filter(|_| on),
            ["default", "SPRandom"]),
        MASTER, { takes: "0|1", marks: &[Mark::Row], phrase: Around("order ", ""), detail: Some(untold) }
    Blockalign "blockalign" "Alignment" "Offset alignment of random requests [default: the smallest block size]"
        Value { of: &BYTES, get: |w| w.align, set: |w, align| w.align = Some(align) },
        SAME, {
            aliases: &["ba"], takes: "BYTES", marks: &[Traced], absent: "size", phrase: Around("aligned to ", ""),
            applies: is_random,
        }
    RandomDistribution "random_distribution" "Distribution" "Distribution of random offsets: random, zipf:1.2, pareto:0.2, normal:10 or zoned:90/10:10/90"
        Value { of: &DISTRIBUTION, get: |w| Some(w.distribution.clone()), set: |w, law| w.distribution = law },
        SAME, { takes: "LAW", marks: &[Traced], phrase: Around("offsets ", ""), applies: is_random }
    BufferCompressPercentage "buffer_compress_percentage" "Compressible (%)" "Compressibility of written data in percent"
        Value { of: &PERCENT, get: |w| Some(w.compressible), set: |w, percent| w.compressible = percent },
        Fio::Same(Percent), {
            takes: "PERCENT", marks: &[Writes, Content], decides: &[Field::ZeroBuffers], phrase: Around("", " % compressible"),
            applies: |w| w.compressible < 100,
        }
    ZeroBuffers "zero_buffers" "Zeroes" "Write zeroes only"
        switch(|w| w.compressible == 100, |w, on| if on { w.compressible = 100 }, ["data", "zeroes"]),
        Fio::Same(FioValue::Switch), { takes: "0|1", marks: &[Writes, Content] }
    DedupePercentage "dedupe_percentage" "Duplicate blocks (%)" "Share of duplicate blocks in written data, for targets that deduplicate"
        Value { of: &PERCENT, get: |w| Some(w.duplicates), set: |w, percent| w.duplicates = percent },
        Fio::Same(Percent), { takes: "PERCENT", marks: &[Writes, Content], phrase: Around("", " % duplicate blocks") }
    Sync "sync" "FUA writes" "Write with O_SYNC (1) or O_DSYNC/FUA (dsync), so that completed writes survive a power loss: 0, 1 or dsync"
        Switch {
            words: &["none", "0", "sync", "1", "dsync"], off: 2, shown: ["cached", "durable"],
            get: |w| w.durable, set: |w, durable| w.durable = durable,
        },
        Fio::Same(Word), { takes: "0|1|dsync", marks: &[Writes], phrase: Around("", " writes") }
    Fsync "fsync" "Writes per flush" "fsync after this many writes of a worker"
        Value { of: &COUNT, get: |w| Some(w.fsync), set: |w, writes| w.fsync = writes },
        Fio::Same(Count), { takes: "WRITES", marks: &[Traced, Writes], phrase: Around("flush every ", " writes") }
    Fdatasync "fdatasync" "Writes per data flush" "fdatasync after this many writes of a worker"
        Value { of: &COUNT, get: |w| Some(w.fdatasync), set: |w, writes| w.fdatasync = writes },
        Fio::Same(Count), { takes: "WRITES", marks: &[Traced, Writes], phrase: Around("data flush every ", " writes") }
    EndFsync "end_fsync" "Flush at end" "1: fsync by each worker at its end, as part of what is measured"
        Switch {
            words: OFF_ON, off: 1, shown: ["none", "flush at end"],
            get: |w| w.end_fsync, set: |w, flush| w.end_fsync = flush,
        },
        Fio::Same(Word), { takes: "0|1", marks: &[Writes], phrase: Around("", "") }
    Thinktime "thinktime" "Think time" "Think time after each burst; a bare number is in microseconds"
        Value { of: &PAUSE, get: |w| Some(w.arrival.think), set: |w, time| w.arrival.think = time },
        PACED, {
            takes: "TIME", marks: &[Traced], phrase: Around("think time of ", ""), detail: Some(|w| {
                let each = Field::Thinktime.words(w);
                match w.arrival.burst {
                    1 => format!("{each} after every request"),
                    burst => format!("{each} after every {burst} requests"),
                }
            }),
        }
    ThinktimeBlocks "thinktime_blocks" "Requests per burst" "Requests in a burst [default: 1]"
        Value { of: &COUNT, get: |w| Some(w.arrival.burst), set: |w, burst| w.arrival.burst = burst },
        PACED, { marks: &[Traced], phrase: Around("bursts of ", ""), applies: |w| w.arrival.think > Nanos::ZERO, detail: Some(untold) }
    RateIops "rate_iops" "Arrival rate per worker (IOPS)" "Arrival rate per worker in IOPS (open loop); latency counts from arrival"
        Value { of: &MANY, get: |w| Some(w.arrival.rate), set: |w, rate| w.arrival.rate = rate },
        PACED, {
            marks: &[Traced], phrase: Around("", " requests per second"), detail: Some(|w| {
                arriving(w, match w.arrival.rate {
                    1 => "1 request per second".to_owned(),
                    _ => Field::RateIops.words(w),
                })
            }),
        }
    Rate "rate" "Arrival rate per worker (data per second)" "The same in data per second, by which larger requests come less often"
        Value { of: &BYTES, get: |w| Some(w.arrival.bandwidth), set: |w, bandwidth| w.arrival.bandwidth = bandwidth },
        PACED, {
            takes: "BYTES", marks: &[Traced], phrase: Around("", " per second"),
            detail: Some(|w| arriving(w, Field::Rate.words(w))),
        }
    RateProcess "rate_process" "Arrivals" "Arrival process of --rate_iops and --rate: linear or poisson [default: linear]"
        Switch {
            words: &["linear", "poisson"], off: 1, shown: ["linear", "poisson"],
            get: |w| w.arrival.process == ArrivalProcess::Poisson,
            set: |w, poisson| w.arrival.process = if poisson { ArrivalProcess::Poisson } else { ArrivalProcess::Linear },
        },
        PACED, {
            takes: "PROCESS", marks: &[Traced], phrase: Around("", " arrivals"), applies: |w| w.arrival.is_open(),
            detail: Some(untold),
        }
    Zonemode "zonemode" "Zones" "Zoned drives: zbd writes at the write pointers, reads only written blocks and resets \
        full zones; none issues requests as they are, which fail if they violate the rules of zones [default: zbd]"
        Switch {
            words: &["none", "zbd"], off: 1, shown: ["none", "zbd"],
            get: |w| !w.zoned.raw, set: |w, zbd| w.zoned.raw = !zbd,
        },
        ZONED, { takes: "MODE", marks: &[Traced], phrase: Around("zonemode ", "") }
    MaxOpenZones "max_open_zones" "Open zones" "With zonemode=zbd: maximum number of zones that all workers have \
        open; 0 for the drive's limit [default: 0]"
        Value { of: &MANY, get: |w| Some(w.zoned.max_open), set: |w, most| w.zoned.max_open = most },
        Fio::Same(Count), { marks: &[Traced, Writes], phrase: Around("at most ", " open zones") }
    JobMaxOpenZones "job_max_open_zones" "Open zones of each job" "The same per job [default: 0]"
        Value { of: &MANY, get: |w| Some(w.zoned.job_max_open), set: |w, most| w.zoned.job_max_open = most },
        Fio::Same(Count), { marks: &[Traced, Writes], phrase: Around("at most ", " open zones of the job") }
    ZoneResetThreshold "zone_reset_threshold" "Reset threshold (%)" "With --zone_reset_frequency: percentage of the \
        writable capacity above which zones are reset before they are full [default: 0]"
        Value { of: &PERCENT, get: |w| Some(w.zoned.reset_threshold), set: |w, percent| w.zoned.reset_threshold = percent },
        SHARE, { takes: "PERCENT", marks: &[Traced, Writes], phrase: Around("resets from ", " % of the capacity on") }
    ZoneResetFrequency "zone_reset_frequency" "Reset frequency (%)" "Percentage of writes that reset a zone before it \
        is full [default: 0]"
        Value { of: &PERCENT, get: |w| Some(w.zoned.reset_frequency), set: |w, percent| w.zoned.reset_frequency = percent },
        SHARE, { takes: "PERCENT", marks: &[Traced, Writes], phrase: Around("", " % of the writes reset a zone") }
    ReadBeyondWp "read_beyond_wp" "Reads beyond the write pointer" "1: with zonemode=zbd, also read beyond the write \
        pointers [default: 0]"
        switch(|w| w.zoned.read_beyond, |w, on| w.zoned.read_beyond = on, ["written", "beyond the write pointer"]),
        Fio::Same(FioValue::Switch), { takes: "0|1", marks: &[Traced], phrase: Around("reads ", "") }
    ZoneAppend "zone_append" "Zone append" "1: write by zone append, with several writes in flight per zone; drives \
        without it get normal writes [default: 0]"
        switch(|w| w.zoned.append, |w, on| w.zoned.append = on, ["write", "append"]),
        APPENDS, { takes: "0|1", marks: &[Traced, Writes], phrase: Around("zone ", "") }
    Verify "verify" "Verify" "Verify that every block read holds the data last written to it: crc32c, or none; for files and devices"
        Switch {
            words: &["none", "0", "null", "crc32c"], off: 3, shown: ["unchecked", "checked"],
            get: |w| w.verify.stamps, set: |w, on| w.verify.stamps = on,
        },
        VERIFIED, { takes: "HOW", phrase: Around("data ", "") }
    DoVerify "do_verify" "Read-back verification" "Whether --verify also reads back all written data after the measurement [default: 1]"
        switch(|w| w.verify.read_back, |w, on| w.verify.read_back = on, ["not read back", "read back"]),
        VERIFIED, { takes: "0|1", phrase: Around("data ", ""), applies: |w| w.verify.stamps }
    VerifyOnly "verify_only" "Verify only" "Write nothing; verify what an earlier run with these options and this --seed wrote"
        switch(|w| w.verify.only, |w, on| w.verify.only = on, ["written", "only read"]),
        VERIFIED, { takes: "0|1", phrase: Around("data ", "") }
    VerifyFatal "verify_fatal" "Stop on verify error" "Stop at the first verify error"
        switch(|w| w.verify.fatal, |w, on| w.verify.fatal = on, ["counted", "fatal"]),
        VERIFIED, { takes: "0|1", phrase: Around("verify errors ", "") }
    Size "size" "Active range" "Size of the active range"
        Value { of: &EXTENT, get: |w| Extent::of(w.size, w.share), set: |w, size| {
            (w.size, w.share) = (size.bytes(), size.percent());
        } },
        Together("not more than `filesize` has; a share is one of the file, and 0 all of it"),
        { takes: "BYTES", marks: &[Basic, OfTarget], absent: "all", phrase: Around("active range ", "") }
    Offset "offset" "Offset" "Start of the active range"
        Value { of: &EXTENT, get: |w| Extent::of(Some(w.offset), w.place), set: |w, offset| {
            (w.offset, w.place) = (offset.bytes().unwrap_or_default(), offset.percent());
        } },
        Together("a share is one of the file"),
        { aliases: &["fileoffset"], takes: "BYTES", marks: &[Basic], phrase: Around("offset ", "") }
    Runtime "runtime" "Duration" "Stop after this time; without --time_based also when the size has been transferred"
        Value { of: &TIME, get: |w| w.stop.time, set: |w, time| w.stop.time = Some(time) },
        Together("with `time_based` nothing else ends the job"),
        { aliases: &["timeout"], takes: "TIME", marks: &[Basic, End], absent: "all", phrase: Around("for ", "") }
    NumberIos "number_ios" "Requests per worker" "Stop after this many requests of each worker"
        Value { of: &REQUESTS, get: |w| w.stop.requests, set: |w, count| w.stop.requests = Some(count) },
        Together("times `loops`"), { marks: &[Basic, End], absent: "all", phrase: Around("", " requests") }
    IoSize "io_size" "Data transferred" "Stop after each worker has transferred this much"
        Value { of: &MOVED, get: |w| Extent::of(w.stop.bytes, w.stop.span), set: |w, moved| {
            (w.stop.bytes, w.stop.span) = (moved.bytes(), moved.percent());
        } },
        Together("fio's is of each clone, and of each of its `loops`; in a plan it is of all workers together"),
        { aliases: &["io_limit"], takes: "BYTES", marks: &[Basic, End], absent: "all", phrase: Around("", " transferred") }
    Steadystate "steadystate" "Steady state" "Stop once a figure is steady: iops, bw or lat within a limit of its mean (iops:2%), or its slope (iops_slope:0.1%)"
        Value { of: &CRITERION, get: |w| w.stop.steady.criterion, set: |w, criterion| w.stop.steady.criterion = Some(criterion) },
        STEADY, {
            aliases: &["ss"], takes: "CRITERION", marks: &[End], absent: "none", phrase: Around("until steady: ", ""), detail: Some(untold) }
    SteadystateDuration "steadystate_duration" "Steady-state window" "Window over which --steadystate is judged"
        Value { of: &TIME, get: |w| Some(w.stop.steady.window), set: |w, time| w.stop.steady.window = time },
        STEADY, { aliases: &["ss_dur"], takes: "TIME", marks: &[End], phrase: Around("window of ", ""), detail: Some(untold) }
    SteadystateRampTime "steadystate_ramp_time" "Steady-state ramp time" "Time at the start that --steadystate does not judge"
        Value { of: &TIME, get: |w| Some(w.stop.steady.ramp), set: |w, time| w.stop.steady.ramp = time },
        STEADY, { aliases: &["ss_ramp"], takes: "TIME", marks: &[End], phrase: Around("judged after ", ""), detail: Some(untold) }
    SteadystateCheckInterval "steadystate_check_interval" "Steady-state interval" "Time that each value of --steadystate stands for, in whole seconds [default: 1s]"
        Value { of: &TIME, get: |w| Some(w.stop.steady.interval), set: |w, time| w.stop.steady.interval = time },
        STEADY, { aliases: &["ss_interval"], takes: "TIME", marks: &[End], phrase: Around("values of ", ""), detail: Some(untold) }
    Startdelay "startdelay" "Start delay" "Delay before the workload starts, such as of a job concurrent with others"
        Value { of: &TIME, get: |w| Some(w.delay), set: |w, time| w.delay = time },
        Together("of jobs that all have one the shortest is a step of its own; of a range fio draws one time for each clone"),
        { takes: "TIME", marks: &[End], phrase: Around("starting after ", "") }
    RampTime "ramp_time" "Ramp time" "Ramp time at the start, excluded from the figures"
        Value { of: &TIME, get: |w| Some(w.ramp), set: |w, time| w.ramp = time },
        Fio::Same(Seconds), { takes: "TIME", marks: &[Basic, End], phrase: Around("after ", "") }
}

/// A field that is 0 or 1.
const fn switch(get: fn(&Workload) -> bool, set: fn(&mut Workload, bool), shown: [&'static str; 2]) -> Switch {
    Switch { words: OFF_ON, off: 1, shown, get, set }
}

/// What is replayed, of which nothing may have been said yet.
fn replay(workload: &mut Workload) -> &mut Replay {
    workload.replay.get_or_insert_with(|| Replay::of(""))
}

fn pace(workload: &Workload) -> Option<ReplayPace> {
    workload.replay.as_ref().map(|replay| replay.pace)
}

fn paced(workload: &Workload) -> String {
    pace(workload).map_or_else(String::new, |pace| pace.to_string())
}

fn is_random(workload: &Workload) -> bool {
    workload.pattern.is_random()
}

/// How requests come at a rate.
fn arriving(workload: &Workload, rate: String) -> String {
    let process = if workload.arrival.process == ArrivalProcess::Poisson { " (Poisson)" } else { "" };
    format!("{rate}{process} per worker, latency from arrival")
}

/// For what another field tells.
const fn untold(_: &Workload) -> String {
    String::new()
}
