//! The logs that a job asks for.
//!
//! Source: fio 3.33, `HOWTO.rst`, "Measurements and reporting" and "Log File Formats"; `init.c`, `add_job`.

use block::Nanos;

use super::reading::OptionReader;

/// What a log has a line of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogKind {
    Bandwidth,
    Iops,
    /// From when a request came.
    Latency,
    /// How long its submission took.
    Submission,
    /// From its submission.
    Completion,
    /// Histograms of that.
    Histogram,
}

impl LogKind {
    /// What stands for it in the file's name.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Bandwidth => "bw",
            Self::Iops => "iops",
            Self::Latency => "lat",
            Self::Submission => "slat",
            Self::Completion => "clat",
            Self::Histogram => "clat_hist",
        }
    }
}

/// One log of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FioLog {
    pub kind: LogKind,
    /// What its file's name begins with.
    pub prefix: String,
    /// Whether the command line says so, and no job file.
    pub is_typed: bool,
    /// The time that a line is about; none where each request has one.
    pub every: Option<Nanos>,
}

/// The logs of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FioLogs {
    pub logs: Vec<FioLog>,
    /// Whether a line has the largest value of its time and not the mean.
    pub maximum: bool,
    /// Whether a line has the place of the request.
    pub offsets: bool,
    /// Whether priorities are written as the kernel has them.
    pub priorities: bool,
    /// Two to the power of this is the number of classes that are one column of a histogram.
    pub coarseness: u32,
    /// Whether each clone has files of its own, with its number.
    pub per_job: bool,
    /// Whether times count from 1970.
    pub unix_epoch: bool,
}

/// The options that ask for logs, the logs of each, and the options by which it is left out or has another interval.
type Asking = (&'static str, &'static [(LogKind, &'static str)], Option<&'static str>);

const ASKING: [Asking; 4] = [
    ("write_bw_log", &[(LogKind::Bandwidth, "disable_bw_measurement")], Some("bwavgtime")),
    ("write_iops_log", &[(LogKind::Iops, "")], Some("iopsavgtime")),
    (
        "write_lat_log",
        &[
            (LogKind::Latency, "disable_lat"),
            (LogKind::Submission, "disable_slat"),
            (LogKind::Completion, "disable_clat"),
        ],
        None,
    ),
    ("write_hist_log", &[(LogKind::Histogram, "")], None),
];

/// The coarsest histogram.
const COARSEST: u32 = 6;

/// Whether an option of this name asks for logs.
pub(super) fn asks(option: &str) -> bool {
    ASKING.iter().any(|(asking, ..)| *asking == option)
}

/// What a job of this name asks for.
pub(super) fn of(reading: &OptionReader, name: &str) -> FioLogs {
    let time = |option: &str| reading.small(option).map(|ms| Nanos::from_millis(ms.into()));
    let is_given = |time: &Nanos| *time > Nanos::ZERO;
    let average = time("log_avg_msec").filter(is_given);
    let is_off = |option: &str| {
        let reduced = option != "disable_bw_measurement" && reading.is_on("gtod_reduce");
        !option.is_empty() && (reduced || reading.is_on(option))
    };
    let mut logs = Vec::new();
    for (option, kinds, interval) in ASKING {
        let Some(given) = reading.option(option) else { continue };
        // fio takes what is no name for its own: that of the job.
        let prefix = given.value.as_deref().filter(|prefix| !prefix.is_empty()).unwrap_or(name);
        for (kind, _) in kinds.iter().filter(|(_, off)| !is_off(off)) {
            let every = match kind {
                LogKind::Histogram => Some(time("log_hist_msec").unwrap_or_default()),
                // The shorter of the two, if both are given.
                _ => average
                    .map(|average| interval.and_then(time).filter(is_given).map_or(average, |own| own.min(average))),
            };
            logs.push(FioLog { kind: *kind, prefix: prefix.to_owned(), is_typed: given.is_typed, every });
        }
    }
    let coarseness = reading.small("log_hist_coarseness").unwrap_or(0);
    if let Some(given) = reading.option("log_hist_coarseness").filter(|_| coarseness > COARSEST) {
        reading.tell(given.bad(format!("`{coarseness}` is out of range; it is 0 to {COARSEST}")));
    }
    FioLogs {
        logs,
        maximum: reading.is_on("log_max_value"),
        offsets: reading.is_on("log_offset"),
        priorities: reading.is_on("log_prio"),
        coarseness,
        per_job: reading.switch("per_job_logs").unwrap_or(true),
        unix_epoch: reading.is_on("log_unix_epoch"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Bench, read};
    use super::*;

    fn logs(options: &str) -> FioLogs {
        let text = format!("[a job]\nfilename=x\nsize=1m\n{options}\n");
        let import = read(&text, &Bench::default());
        assert!(!import.refused(), "{:?}", import.notices);
        import.jobs().next().unwrap().logs.clone()
    }

    fn names(options: &str) -> String {
        let word = |log: &FioLog| format!("{}_{} {}", log.prefix, log.kind.word(), log.every.unwrap_or_default());
        logs(options).logs.iter().map(word).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn each_option_asks_for_its_logs_by_its_name_or_the_jobs() {
        assert_eq!(names("write_bw_log=x"), "x_bw 0 s");
        assert_eq!(names("write_iops_log"), "a job_iops 0 s");
        assert_eq!(names("write_lat_log=x\nlog_avg_msec=500"), "x_lat 500 ms, x_slat 500 ms, x_clat 500 ms");
        assert_eq!(names("write_lat_log=x\ndisable_slat=1\ndisable_clat=1"), "x_lat 0 s");
        assert_eq!(names("write_lat_log=x\nwrite_bw_log=x\ngtod_reduce=1"), "x_bw 0 s");
        assert_eq!(names("write_hist_log=x\nlog_hist_msec=100\nlog_avg_msec=500"), "x_clat_hist 100 ms");
        assert_eq!(names("rw=read"), "");
    }

    #[test]
    fn the_shorter_interval_counts_where_there_are_two() {
        assert_eq!(names("write_bw_log=x\nlog_avg_msec=500\nbwavgtime=200"), "x_bw 200 ms");
        assert_eq!(names("write_bw_log=x\nlog_avg_msec=100\nbwavgtime=200"), "x_bw 100 ms");
        assert_eq!(names("write_bw_log=x\nbwavgtime=200"), "x_bw 0 s");
    }

    #[test]
    fn files_are_numbered_unless_the_job_says_otherwise() {
        assert!(logs("write_bw_log=x").per_job && !logs("write_bw_log=x\nper_job_logs=0").per_job);
        let all = logs("log_offset=1\nlog_max_value=1\nlog_unix_epoch=1\nlog_prio=1\nlog_hist_coarseness=3");
        assert!(all.offsets && all.maximum && all.unix_epoch && all.priorities && all.coarseness == 3);
        assert!(read("[a]\nfilename=x\nsize=1m\nlog_hist_coarseness=7\n", &Bench::default()).refused());
    }
}
