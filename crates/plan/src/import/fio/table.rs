//! Every option of fio's, and what becomes of it.
//!
//! Source, where none is given: fio 3.33, `fio --cmdhelp=all`, `fio --enghelp` and HOWTO.

use std::sync::LazyLock;

use workload::{Field, Fio};

use super::engine::OPTIONS;

/// An option that fio knows.
#[derive(Debug)]
pub(super) struct FioOptionSpec {
    /// Its name.
    pub(super) name: &'static str,
    /// Other names for it.
    pub(super) aliases: &'static [&'static str],
    /// What becomes of it.
    pub(super) treatment: Treatment,
}

impl FioOptionSpec {
    /// All names by which it can be given.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }
}

/// What becomes of an option.
#[derive(Clone, Copy, Debug)]
pub(super) enum Treatment {
    /// The job is read by it.
    Honoured,
    /// It makes no difference here, because of this.
    Natural(&'static str),
    /// It cannot be honoured, and this follows; with one of these values it asks for nothing.
    Lost(&'static [&'static str], &'static str),
    /// It is a detail of another option, and shares its lot.
    With(&'static str),
    /// The job cannot be run with it, because of this; with one of these values it asks for nothing.
    Refused(&'static [&'static str], &'static str),
}

use Treatment::{Honoured, Lost, Natural, Refused, With};

const fn known(name: &'static str, aliases: &'static [&'static str], treatment: Treatment) -> FioOptionSpec {
    FioOptionSpec { name, aliases, treatment }
}

/// What it means for a flag not to be set.
const OFF: &[&str] = &["0"];
/// For what asks for nothing only by being left out.
const NEVER: &[&str] = &[];

const LATENCIES: &str = "latencies are always measured, at a few nanoseconds a request";
const PERCENTILES: &str = "the whole histogram is stored, which gives every percentile";
const APART: &str = "each job has figures of its own, and the clones of a job have theirs together";
const THREADS: &str = "workers are always threads";
const SEED: &str = "addresses follow from the run's seed (`--seed`): the same in every run with the same seed";
const RING: &str = "assay sets its own ring up, with what the kernel has";
const BATCH: &str = "a plan submits and reaps requests one at a time, without batches";
const PRIORITY: &str = "requests have no priority";
const PIN: &str = "workers are not pinned to CPUs";
const UNWATCHED: &str = "a slower job is not stopped; its figures show it";
const MERGED: &str = "recordings are not merged here; merge them with fio, and replay the one that it writes";

/// What decides what is asked of the drive besides the fields of a workload, and is taken over.
const TAKEN: &[FioOptionSpec] = &[
    known("description", &[], Honoured),
    known("name", &[], Honoured),
    known("wait_for", &[], Honoured),
    known("filename", &[], Honoured),
    known("directory", &[], Honoured),
    known("filename_format", &[], Honoured),
    known("zonesize", &[], Honoured),
    known("zonecapacity", &[], Honoured),
    known("zonerange", &[], Honoured),
    known("zoneskip", &[], Honoured),
    known("bsrange", &["blocksize_range"], Honoured),
    known("ioengine", &[], Honoured),
    known("io_submit_mode", &[], Honoured),
    known("fill_device", &["fill_fs"], Honoured),
    known("filesize", &[], Honoured),
    known("offset_increment", &[], Honoured),
    known("direct", &[], Honoured),
    known("buffered", &[], Honoured),
    known("overwrite", &[], Honoured),
    known("loops", &[], Honoured),
    known("time_based", &[], Honoured),
    known("rwmixwrite", &[], Honoured),
    known("stonewall", &["wait_for_previous"], Honoured),
];

/// What is taken over too, but seldom given.
const TAKEN_SELDOM: &[FioOptionSpec] = &[
    known("kb_base", &[], Honoured),
    known("invalidate", &[], Honoured),
    known("exitall", &[], Honoured),
    known("nrfiles", &["nr_files"], Honoured),
    known("random_generator", &[], Honoured),
    known("write_iolog", &[], Honoured),
    known("percentile_list", &[], Honoured),
    known("offset_align", &[], Honoured),
    known("replay_redirect", &[], Honoured),
    known("write_bw_log", &[], Honoured),
    known("write_lat_log", &[], Honoured),
    known("write_iops_log", &[], Honoured),
    known("write_hist_log", &[], Honoured),
    known("log_avg_msec", &[], Honoured),
    known("log_hist_msec", &[], Honoured),
    known("log_hist_coarseness", &[], Honoured),
    known("log_max_value", &[], Honoured),
    known("log_offset", &[], Honoured),
    known("log_prio", &[], Honoured),
    known("log_unix_epoch", &[], Honoured),
    known("per_job_logs", &[], Honoured),
    known("bwavgtime", &[], Honoured),
    known("iopsavgtime", &[], Honoured),
];

/// What makes no difference here.
const NATURAL: &[FioOptionSpec] = &[
    known("randrepeat", &[], Natural(SEED)),
    known("allrandrepeat", &[], Natural(SEED)),
    known("randseed", &[], Natural(SEED)),
    known("unit_base", &[], Natural("figures are printed in bytes, with their unit")),
    known("thread", &[], Natural(THREADS)),
    // fio 3.33 wants a value of it on the command line, as of an option of its own.
    known("threads", &[], Natural(THREADS)),
    known("group_reporting", &[], Natural(APART)),
    known("new_group", &[], Natural(APART)),
    known("unified_rw_reporting", &[], Natural("reads and writes are reported separately")),
    known("stats", &[], Natural("every job is measured")),
    known("clat_percentiles", &[], Natural(PERCENTILES)),
    known("lat_percentiles", &[], Natural(PERCENTILES)),
    known("slat_percentiles", &[], Natural(PERCENTILES)),
    known("significant_figures", &[], Natural("figures have three digits on screen and all of them in documents")),
    known("disk_util", &[], Natural("the host's environment is stored with the run")),
    known("gtod_reduce", &[], Natural(LATENCIES)),
    known("gtod_cpu", &[], Natural(LATENCIES)),
    known("disable_lat", &[], Natural(LATENCIES)),
    known("disable_clat", &[], Natural(LATENCIES)),
    known("disable_slat", &[], Natural(LATENCIES)),
    known("disable_bw_measurement", &["disable_bw"], Natural("rates are always measured")),
    known("clocksource", &[], Natural(LATENCIES)),
    known("iodepth_batch", &["iodepth_batch_submit"], Natural(BATCH)),
    known("iodepth_batch_complete_min", &["iodepth_batch_complete"], Natural(BATCH)),
    known("iodepth_batch_complete_max", &[], Natural(BATCH)),
    known("iodepth_low", &[], Natural(BATCH)),
    known("mem", &["iomem"], Natural("buffers are assay's own, aligned and kept")),
    known("iomem_align", &["mem_align"], Natural("buffers are assay's own, aligned and kept")),
    known("hugepage-size", &[], Natural("buffers are assay's own, aligned and kept")),
    known("rate_cycle", &["ratecycle"], Natural("requests are scheduled individually, not averaged over a cycle")),
    known("log_entries", &[], Natural("the memory for logs grows as it is needed")),
    known("log_compression", &[], Natural("logs are kept as they are until the end")),
    known("log_compression_cpus", &[], Natural("logs are kept as they are until the end")),
    known("create_serialize", &[], Natural("there is one target, created before anything runs")),
    known("create_on_open", &[], Natural("there is one target, created before anything runs")),
    known("create_fsync", &[], Natural("files are laid out with O_DIRECT")),
    known("fallocate", &[], Natural("a file is written before it is measured, so that all of it is allocated")),
    known("allow_file_create", &[], Natural("a file is made only with `--size`")),
    known("allow_mounted_write", &[], Natural("assay asks for `--destroy-data` before it writes to what is in use")),
    known("unlink", &[], Natural("a target is never deleted")),
    known("unlink_each_loop", &[], Natural("a target is never deleted")),
    known("unique_filename", &[], Natural("the file is the target's")),
    known("refill_buffers", &[], Natural("written data is random, from the run's seed")),
    known("scramble_buffers", &[], Natural("written data is random, from the run's seed")),
    known("fadvise_hint", &[], Natural("assay gives the page cache no hint")),
    known("error_dump", &[], Natural("an error is always reported")),
    known("exitall_on_error", &[], Natural("an error always ends the run")),
    known("exit_what", &[], With("exitall")),
    known("userspace_reap", &[], Natural(RING)),
    known("block_error_percentiles", &[], Natural("an error ends the run, so there are none to count")),
];

/// What cannot be honoured, although the job can be run.
const LOST: &[FioOptionSpec] = &[
    known("lockfile", &[], Lost(&["none"], "nothing else is kept from the file meanwhile")),
    known("opendir", &[], Lost(NEVER, "the files of that directory are not used")),
    known("bs_unaligned", &["blocksize_unaligned"], Lost(OFF, "sizes are whole sectors")),
    known("ignore_error", &[], Lost(NEVER, "the first request that fails ends the run")),
    known("continue_on_error", &[], Lost(&["0", "none"], "the first request that fails ends the run")),
    known("rw_sequencer", &[], Lost(&["sequential"], "addresses go forward without it")),
    known("serialize_overlap", &[], Lost(OFF, "requests for the same blocks may be in flight together")),
    known("file_append", &[], Lost(OFF, "writes begin at the start of the active range and overwrite it")),
    known("file_service_type", &[], With("nrfiles")),
    known("openfiles", &[], With("nrfiles")),
    known("write_barrier", &[], Lost(OFF, "no barrier is asked for; `fsync` asks for flushes")),
    known("sync_file_range", &[], Lost(NEVER, "written pages stay in the page cache until they are flushed")),
    known("atomic", &[], Lost(OFF, "writes are not atomic")),
    known(
        "verify",
        &[],
        Lost(
            &["0", "null"],
            "written data is not verified; on a file or a device, `verify = \"crc32c\"` in the plan verifies it in \
             assay's own format",
        ),
    ),
    known("verify_only", &[], Lost(OFF, "the workload runs without verification")),
    known("do_verify", &[], With("verify")),
    known("verify_interval", &[], With("verify")),
    known("verify_offset", &[], With("verify")),
    known("verify_pattern", &[], With("verify")),
    known("verify_fatal", &[], With("verify")),
    known("verify_dump", &[], With("verify")),
    known("verify_async", &[], With("verify")),
    known("verify_async_cpus", &[], With("verify")),
    known("verify_backlog", &[], With("verify")),
    known("verify_backlog_batch", &[], With("verify")),
    known("experimental_verify", &[], With("verify")),
    known("verify_state_load", &[], With("verify")),
    known("verify_state_save", &[], With("verify")),
    known("trim_percentage", &[], Lost(OFF, "no blocks are trimmed in between")),
    known("trim_verify_zero", &[], With("trim_percentage")),
    known("trim_backlog", &[], With("trim_percentage")),
    known("trim_backlog_batch", &[], With("trim_percentage")),
    known("exec_prerun", &[], Lost(NEVER, "the command is not run; run it before")),
    known("exec_postrun", &[], Lost(NEVER, "the command is not run; run it afterwards")),
    known(
        "ioscheduler",
        &[],
        Lost(NEVER, "the scheduler stays as it is; set it in /sys/block/*/queue/scheduler before"),
    ),
    known("ignore_zone_limits", &[], Lost(OFF, "as many zones are open as the drive allows")),
    known("lockmem", &[], Lost(OFF, "the page cache keeps all of the host's memory")),
    known("nice", &[], Lost(OFF, "workers have the priority that assay has")),
    known("prio", &[], Lost(NEVER, PRIORITY)),
    known("prioclass", &[], Lost(NEVER, PRIORITY)),
    known("thinktime_spin", &[], Lost(OFF, "a worker sleeps through its pauses")),
    known("thinktime_blocks_type", &[], Lost(&["complete"], "a pause begins when the burst is completed")),
    known("thinktime_iotime", &[], Lost(OFF, "pauses come only after bursts of requests, not after a time")),
    known("rate_min", &["ratemin"], Lost(OFF, UNWATCHED)),
    known("rate_iops_min", &[], Lost(OFF, UNWATCHED)),
    known("rate_ignore_thinktime", &[], Lost(OFF, "a job has a rate or pauses, not both")),
    known("max_latency", &[], Lost(OFF, "a request that takes longer does not end the run")),
    known(
        "latency_target",
        &[],
        Lost(OFF, "the queue stays as deep as `iodepth` says; sweep `iodepth` to find the deepest that holds"),
    ),
    known("latency_window", &[], With("latency_target")),
    known("latency_percentile", &[], With("latency_target")),
    known("latency_run", &[], With("latency_target")),
    known("write_hint", &[], Lost(&["none"], "no write-lifetime hints are sent to the drive")),
    known("create_only", &[], Lost(OFF, "the workload itself is run too")),
    known("pre_read", &[], Lost(OFF, "nothing is read into the page cache before")),
    known("cpumask", &[], Lost(NEVER, PIN)),
    known("cpus_allowed", &[], Lost(NEVER, PIN)),
    known("cpus_allowed_policy", &[], With("cpus_allowed")),
    known("numa_cpu_nodes", &[], Lost(NEVER, PIN)),
    known("numa_mem_policy", &[], Lost(NEVER, "buffers are placed by the kernel")),
    known("fsync_on_close", &[], Honoured),
];

/// The rest of what cannot be honoured, and what a job cannot be run with.
const LOST_SELDOM: &[FioOptionSpec] = &[
    known("log_store_compressed", &[], Lost(OFF, "logs are written as text")),
    known(
        "log_alternate_epoch",
        &[],
        Lost(OFF, "times count from the job's beginning; `log_unix_epoch` has them from 1970"),
    ),
    known("log_alternate_epoch_clock_id", &[], With("log_alternate_epoch")),
    known("buffer_pattern", &[], Lost(NEVER, "written data is random, from the run's seed")),
    known("buffer_compress_chunk", &[], Lost(NEVER, "each block compresses as a whole")),
    known("dedupe_mode", &[], With("dedupe_percentage")),
    known("dedupe_working_set_percentage", &[], With("dedupe_percentage")),
    known("dedupe_global", &[], With("dedupe_percentage")),
    known("cgroup", &[], Lost(NEVER, "workers stay in the group that assay is in")),
    known("cgroup_nodelete", &[], With("cgroup")),
    known("cgroup_weight", &[], Lost(NEVER, "workers stay in the group that assay is in")),
    known("uid", &[], Lost(NEVER, "workers run as the user who runs assay")),
    known("gid", &[], Lost(NEVER, "workers run as the user who runs assay")),
    known("flow", &[], Lost(OFF, "jobs run at their own rates, not in this proportion")),
    known("flow_id", &[], With("flow")),
    known("flow_sleep", &[], With("flow")),
    known("cmdprio_percentage", &[], Lost(OFF, PRIORITY)),
    known("cmdprio_class", &[], Lost(NEVER, PRIORITY)),
    known("cmdprio", &[], Lost(NEVER, PRIORITY)),
    known("cmdprio_bssplit", &[], Lost(NEVER, PRIORITY)),
    known("read_iolog_chunked", &[], Natural("a trace is read before the run begins")),
    known("replay_align", &[], With("read_iolog")),
    known("replay_skip", &[], With("read_iolog")),
    known("profile", &[], Refused(NEVER, "its requests are made by a test that is built into fio")),
];

const NO_PLACEMENT: &str = "writes carry no placement identifiers";
const PROTECTION: &str = "no protection information is sent, generated or checked";

/// What fio has had since 3.34.
///
/// Source: fio after 3.42 (August 2026), options.c and engines/io_uring.c.
const NEWER: &[FioOptionSpec] = &[
    known("fdp", &[], Lost(OFF, NO_PLACEMENT)),
    known("dataplacement", &[], Lost(&["none"], NO_PLACEMENT)),
    known("plid_select", &["fdp_pli_select"], With("dataplacement")),
    known("plids", &["fdp_pli"], With("dataplacement")),
    known("dp_scheme", &[], With("dataplacement")),
    known("num_range", &[], Lost(&["1"], "each trim is of one range")),
    known("md_per_io_size", &[], Lost(OFF, "blocks have no metadata")),
    known("pi_act", &[], Lost(NEVER, PROTECTION)),
    known("pi_chk", &[], With("pi_act")),
    known("apptag", &[], With("pi_act")),
    known("apptag_mask", &[], With("pi_act")),
    known("write_mode", &[], Refused(&["write"], "writes are plain writes here")),
    known("verify_mode", &[], Lost(&["read"], "data is checked by reading it")),
    known("verify_write_sequence", &[], With("verify")),
    known("verify_header_seed", &[], With("verify")),
    known("spr_num_regions", &[], Natural("the order of SPRandom is made for the whole span at once")),
    known("spr_cs", &[], Natural("the order of SPRandom is made for the whole span at once")),
    known(
        "log_window_value",
        &[],
        Lost(&["avg", "0"], "logs have the mean of each window; `log_max_value` has the largest"),
    ),
    known("log_issue_time", &[], Lost(OFF, "logs have the time of completion")),
    known("job_start_clock_id", &[], Lost(OFF, "the beginning is told by the wall clock")),
    known("recover_zbd_write_error", &[], Lost(OFF, "a write that fails in a zone is an error as any other")),
];

/// What merges recordings.
const MERGE: &[FioOptionSpec] = &[
    known("merge_blktrace_file", &[], Refused(NEVER, MERGED)),
    known("merge_blktrace_scalars", &[], With("merge_blktrace_file")),
    known("merge_blktrace_iters", &[], With("merge_blktrace_file")),
];

/// The fields of a workload that fio has too.
static FIELDS: LazyLock<Vec<FioOptionSpec>> = LazyLock::new(|| {
    let taken = Field::ALL.into_iter().filter(|field| !matches!(field.fio(), Fio::None(_)));
    taken.map(|field| known(field.name(), field.aliases(), Honoured)).collect()
});

/// All options, in no order that matters.
pub(super) fn all() -> impl Iterator<Item = &'static FioOptionSpec> {
    FIELDS
        .iter()
        .chain(TAKEN)
        .chain(TAKEN_SELDOM)
        .chain(NATURAL)
        .chain(LOST)
        .chain(LOST_SELDOM)
        .chain(NEWER)
        .chain(MERGE)
        .chain(OPTIONS)
}

/// The option of this name.
pub(super) fn named(name: &str) -> Option<&'static FioOptionSpec> {
    all().find(|known| known.name == name || known.aliases.contains(&name))
}

/// What the options of other programs, and other words for the same, are called here.
const OTHER_WORDS: [(&str, &[&str]); 11] = [
    ("iodepth", &["qd", "depth", "queuedepth", "queues", "outstanding", "outstandingio"]),
    ("numjobs", &["jobs", "workers", "clones", "processes", "parallel", "njobs"]),
    ("bs", &["blksize", "block", "requestsize", "iosize", "transfersize"]),
    ("runtime", &["time", "duration", "seconds", "secs"]),
    ("filename", &["file", "device", "dev", "disk", "drive", "target", "path"]),
    ("rwmixread", &["mix", "readpercent", "readpct", "reads", "rwmix"]),
    ("rw", &["pattern", "mode", "workload", "test", "operation"]),
    ("size", &["length", "span", "range", "filelength"]),
    ("ioengine", &["engine"]),
    ("output-format", &["json", "csv", "text"]),
    ("ramp_time", &["warmup", "rampup", "ramp"]),
];

/// The option that has another name elsewhere, or is meant by another word for the same.
pub fn other_word(name: &str) -> Option<&'static str> {
    let word: String = name.chars().filter(char::is_ascii_alphanumeric).take(64).collect::<String>().to_lowercase();
    OTHER_WORDS.iter().find(|(_, words)| words.contains(&&*word)).map(|(option, _)| *option)
}

/// The option that was most likely meant: by the word, or else by a name that is near.
pub(super) fn meant(name: &str) -> Option<&'static str> {
    other_word(name).or_else(|| block::nearest(name, all().flat_map(FioOptionSpec::names)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_options_share_a_name() {
        let mut names = BTreeSet::new();
        for known in all() {
            for name in std::iter::once(&known.name).chain(known.aliases) {
                assert!(names.insert(name), "{name} stands twice");
            }
        }
    }

    #[test]
    fn a_detail_belongs_to_an_option_that_is_known_and_is_no_detail() {
        for known in all() {
            if let With(of) = known.treatment {
                assert!(named(of).is_some_and(|of| !matches!(of.treatment, With(_))), "{}", known.name);
            }
        }
    }

    #[test]
    fn what_was_meant_is_near() {
        for (written, meant) in [
            ("iodeph", "iodepth"),
            ("Size", "size"),
            ("bz", "bs"),
            ("rwmix_read", "rwmixread"),
            ("queue-depth", "iodepth"),
        ] {
            assert_eq!(super::meant(written), Some(meant));
        }
        assert_eq!(super::meant(&"x".repeat(1 << 20)), None);
    }
}
