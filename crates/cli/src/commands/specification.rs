//! The options of `assay run` that make an access specification, named as fio's are.

use std::path::PathBuf;

use lab::plan::Field;
use workload::Workload;

/// What is asked for beyond pattern, size, depth and span; each is checked as it is read and kept as it was written.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Access specification")]
pub struct Specification {
    /// A named access profile that the other options modify: `assay profiles` lists them
    #[arg(long, value_name = "NAME", value_parser = of(Field::Profile))]
    profile: Option<String>,

    /// Block size split in place of --bs: 4k/60:64k/40, reads and writes separated by a comma
    #[arg(long, value_name = "SIZE/PERCENT:…", value_parser = of(Field::Bssplit))]
    bssplit: Option<String>,

    /// Share of random requests in a random pattern; the rest continue where the previous request ended
    #[arg(long = "percentage_random", visible_alias = "percentage-random", value_name = "PERCENT", value_parser = of(Field::PercentageRandom))]
    percentage_random: Option<String>,

    /// Offset alignment of random requests [default: the smallest block size]
    #[arg(long, visible_alias = "ba", value_name = "BYTES", value_parser = of(Field::Blockalign))]
    blockalign: Option<String>,

    /// Distribution of random offsets: random, zipf:1.2, pareto:0.2, normal:10 or zoned:90/10:10/90
    #[arg(long = "random_distribution", visible_alias = "random-distribution", value_name = "LAW", value_parser = of(Field::RandomDistribution))]
    random_distribution: Option<String>,

    /// 1: random offsets may repeat (default); 0: a random map covers every block once before any repeats
    #[arg(long, num_args = 0..=1, default_missing_value = "1", value_name = "0|1", value_parser = of(Field::Norandommap))]
    norandommap: Option<String>,

    /// SPRandom: write in the order that leaves the drive in the steady state of random writes once all its flash is
    /// written (--io_size); random writes follow
    #[arg(long, num_args = 0..=1, default_missing_value = "1", value_name = "0|1", value_parser = of(Field::Sprandom))]
    sprandom: Option<String>,

    /// With --sprandom: over-provisioning as a share of the capacity: 0.07 or 7% [default: 0.15]
    #[arg(long = "spr_op", visible_alias = "spr-op", value_name = "SHARE", value_parser = of(Field::SprOp))]
    spr_op: Option<String>,

    /// Compressibility of written data in percent
    #[arg(long = "buffer_compress_percentage", visible_alias = "buffer-compress-percentage", value_name = "PERCENT", value_parser = of(Field::BufferCompressPercentage))]
    buffer_compress_percentage: Option<String>,

    /// Write zeroes only
    #[arg(long = "zero_buffers", visible_alias = "zero-buffers", num_args = 0..=1, default_missing_value = "1", value_name = "0|1", value_parser = of(Field::ZeroBuffers))]
    zero_buffers: Option<String>,

    /// Share of duplicate blocks in written data, for targets that deduplicate
    #[arg(long = "dedupe_percentage", visible_alias = "dedupe-percentage", value_name = "PERCENT", value_parser = of(Field::DedupePercentage))]
    dedupe_percentage: Option<String>,

    /// Write with O_SYNC (1) or O_DSYNC/FUA (dsync), so that completed writes survive a power loss: 0, 1 or dsync
    #[arg(long, value_name = "0|1", value_parser = of(Field::Sync))]
    sync: Option<String>,

    /// fsync after this many writes of a worker
    #[arg(long, value_name = "WRITES", value_parser = of(Field::Fsync))]
    fsync: Option<String>,

    /// fdatasync after this many writes of a worker
    #[arg(long, value_name = "WRITES", value_parser = of(Field::Fdatasync))]
    fdatasync: Option<String>,

    /// Think time after each burst; a bare number is in microseconds
    #[arg(long, value_name = "TIME", value_parser = of(Field::Thinktime))]
    thinktime: Option<String>,

    /// Requests in a burst [default: 1]
    #[arg(long = "thinktime_blocks", visible_alias = "thinktime-blocks", value_name = "COUNT", value_parser = of(Field::ThinktimeBlocks))]
    thinktime_blocks: Option<String>,

    /// Arrival rate per worker in IOPS (open loop); latency counts from arrival
    #[arg(long = "rate_iops", visible_alias = "rate-iops", value_name = "COUNT", value_parser = of(Field::RateIops))]
    rate_iops: Option<String>,

    /// Arrival process of --rate_iops: linear or poisson [default: linear]
    #[arg(long = "rate_process", visible_alias = "rate-process", value_name = "PROCESS", value_parser = of(Field::RateProcess))]
    rate_process: Option<String>,

    /// Verify that every block read holds the data last written to it: crc32c, or none; for files and devices
    #[arg(long, value_name = "HOW", value_parser = of(Field::Verify))]
    verify: Option<String>,

    /// Whether --verify also reads back all written data after the measurement [default: 1]
    #[arg(long = "do_verify", visible_alias = "do-verify", value_name = "0|1", value_parser = of(Field::DoVerify))]
    do_verify: Option<String>,

    /// Write nothing; verify what an earlier run with these options and this --seed wrote
    #[arg(long = "verify_only", visible_alias = "verify-only", num_args = 0..=1, default_missing_value = "1", value_name = "0|1", value_parser = of(Field::VerifyOnly))]
    verify_only: Option<String>,

    /// Stop at the first verify error
    #[arg(long = "verify_fatal", visible_alias = "verify-fatal", num_args = 0..=1, default_missing_value = "1", value_name = "0|1", value_parser = of(Field::VerifyFatal))]
    verify_fatal: Option<String>,
}

/// What is replayed in place of a pattern's requests, and the record that a run leaves.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Traces")]
pub struct Traces {
    /// Replay the requests of this trace: fio's iolog, blkparse's text, or the CSV of MSR Cambridge
    #[arg(long = "read_iolog", visible_alias = "read-iolog", value_name = "FILE", value_parser = of(Field::ReadIolog))]
    read_iolog: Option<String>,

    /// Replay as fast as --iodepth allows [default: 32], ignoring recorded timing
    #[arg(long = "replay_no_stall", visible_alias = "replay-no-stall", num_args = 0..=1, default_missing_value = "1", value_name = "0|1", value_parser = of(Field::ReplayNoStall))]
    replay_no_stall: Option<String>,

    /// Replay with recorded think time: each request follows its predecessors' completion after the recorded delay
    #[arg(long = "replay_think", visible_alias = "replay-think", num_args = 0..=1, default_missing_value = "1", value_name = "0|1", value_parser = of(Field::ReplayThink))]
    replay_think: Option<String>,

    /// Replay speed in percent of the recorded speed: 200 for twice as fast [default: 100]
    #[arg(long = "replay_time_scale", visible_alias = "replay-time-scale", value_name = "PERCENT", value_parser = of(Field::ReplayTimeScale))]
    replay_time_scale: Option<String>,

    /// Divide the trace's offsets by this, so that it fits a smaller target
    #[arg(long = "replay_scale", visible_alias = "replay-scale", value_name = "NUMBER", value_parser = of(Field::ReplayScale))]
    replay_scale: Option<String>,

    /// Write the submitted requests to this file as a version 3 fio iolog when the run ends
    #[arg(long, visible_aliases = ["write_iolog", "write-iolog"], value_name = "FILE")]
    pub record: Option<PathBuf>,
}

impl Traces {
    /// The fields that were given, with their values; the trace by its full name, by which it is found again.
    pub fn given(&self) -> Vec<(Field, String)> {
        let full = |name: &String| match std::path::absolute(name) {
            _ if name.starts_with(lab::BUILTIN_TRACE) => name.clone(),
            Ok(path) => path.display().to_string(),
            Err(_) => name.clone(),
        };
        let options = [
            (Field::ReadIolog, self.read_iolog.as_ref().map(full)),
            (Field::ReplayNoStall, self.replay_no_stall.clone()),
            (Field::ReplayThink, self.replay_think.clone()),
            (Field::ReplayTimeScale, self.replay_time_scale.clone()),
            (Field::ReplayScale, self.replay_scale.clone()),
        ];
        options.into_iter().filter_map(|(field, text)| Some((field, text?))).collect()
    }
}

impl Specification {
    /// The fields that were given, with their values.
    pub fn given(&self) -> Vec<(Field, String)> {
        let options = [
            (Field::Profile, &self.profile),
            (Field::Bssplit, &self.bssplit),
            (Field::PercentageRandom, &self.percentage_random),
            (Field::Norandommap, &self.norandommap),
            (Field::SprOp, &self.spr_op),
            (Field::Sprandom, &self.sprandom),
            (Field::Blockalign, &self.blockalign),
            (Field::RandomDistribution, &self.random_distribution),
            (Field::BufferCompressPercentage, &self.buffer_compress_percentage),
            (Field::ZeroBuffers, &self.zero_buffers),
            (Field::DedupePercentage, &self.dedupe_percentage),
            (Field::Sync, &self.sync),
            (Field::Fsync, &self.fsync),
            (Field::Fdatasync, &self.fdatasync),
            (Field::Thinktime, &self.thinktime),
            (Field::ThinktimeBlocks, &self.thinktime_blocks),
            (Field::RateIops, &self.rate_iops),
            (Field::RateProcess, &self.rate_process),
            (Field::Verify, &self.verify),
            (Field::DoVerify, &self.do_verify),
            (Field::VerifyOnly, &self.verify_only),
            (Field::VerifyFatal, &self.verify_fatal),
        ];
        options.into_iter().filter_map(|(field, text)| Some((field, text.clone()?))).collect()
    }
}

/// Takes what `field` can hold, as it is written.
pub(super) fn of(field: Field) -> impl Fn(&str) -> Result<String, String> + Clone + Send + Sync + 'static {
    move |text| {
        let read = field.set(&mut Workload::default(), text);
        read.map(|()| text.to_owned()).map_err(|error| error.to_string())
    }
}
