//! The trial `files`: data written and read through a file system.

use block::{Bytes, Nanos, SECTOR};
use engine::Measurement;
use workload::{Pattern, Stop, Workload};

use super::choices::{FS, FS_BLOCK, check, commands, cost, moved_in, unavailable};
use super::data::{Opening, TestData};
use super::figures::of_transfer;
use super::prepared::PreparedDevice;
use crate::memory::{self, MemoryLimit};
use crate::mount::{MKFS, MOUNT};
use crate::scheduler::SCHEDULER;
use crate::{
    Choice, ChoiceKind, Choices, ChoicesError, Experiment, Procedure, Trial, TrialContext, TrialDevice, TrialError,
};

/// The least memory that requests, and what the program does besides, find room in.
const MEMORY_LEAST: Bytes = Bytes::from_mib(32);

const CHOICES: &[Choice] = &[
    FS,
    MKFS,
    MOUNT,
    FS_BLOCK,
    SCHEDULER,
    Choice {
        name: "rw",
        title: "Access",
        about: "write creates new files; all others use files that were written once, rewrite sequentially",
        kind: ChoiceKind::Word(&["write", "rewrite", "read", "randread", "randwrite", "rw", "randrw"]),
        default: "write",
    },
    Choice {
        name: "rwmixread",
        title: "Share of reads",
        about: "share of reads of rw and randrw in percent",
        kind: ChoiceKind::Count(1, 99),
        default: "50",
    },
    Choice { name: "bs", title: "Record size", about: "block size", kind: ChoiceKind::Bytes, default: "64k" },
    Choice {
        name: "threads",
        title: "Threads",
        about: "number of threads",
        kind: ChoiceKind::Count(1, 1024),
        default: "1",
    },
    Choice {
        name: "iodepth",
        title: "Queue depth",
        about: "queue depth of each thread",
        kind: ChoiceKind::Count(1, 1024),
        default: "1",
    },
    Choice {
        name: "files",
        title: "Files",
        about: "each: one file per thread; shared: all threads use one file and start evenly spaced",
        kind: ChoiceKind::Word(&["each", "shared"]),
        default: "each",
    },
    Choice {
        name: "size",
        title: "Data",
        about: "data of all threads together",
        kind: ChoiceKind::Bytes,
        default: "1GiB",
    },
    Choice {
        name: "runtime",
        title: "Time",
        about: "duration; 0s until as much as the data has been transferred",
        kind: ChoiceKind::Time,
        default: "0s",
    },
    Choice {
        name: "cache",
        title: "Page cache",
        about: "bypass (O_DIRECT); drop: start with a cold cache and access no block twice; limit: memory for at most \
            half of the data",
        kind: ChoiceKind::Word(&["bypass", "drop", "limit"]),
        default: "bypass",
    },
    Choice {
        name: "memory",
        title: "Memory",
        about: "memory with cache = \"limit\"; 0 for half of the data",
        kind: ChoiceKind::Bytes,
        default: "0",
    },
    Choice {
        name: "fsync",
        title: "Writes to an fsync",
        about: "writes of a thread per fsync; 0 for never",
        kind: ChoiceKind::Count(0, 1_000_000),
        default: "0",
    },
    Choice {
        name: "fallocate",
        title: "Preallocation",
        about: "truncate: sparse files, allocated while writing; native: preallocated (fallocate)",
        kind: ChoiceKind::Word(&["truncate", "native"]),
        default: "truncate",
    },
    Choice {
        name: "buffer_compress_percentage",
        title: "Compressible",
        about: "compressible share of the written data in percent",
        kind: ChoiceKind::Count(0, 100),
        default: "0",
    },
];

/// Data written and read through a file system.
#[derive(Debug)]
pub(crate) struct Files;

/// What of the choices this trial is about, understood.
struct TransferTask<'c> {
    choices: &'c Choices,
    data: TestData,
    workload: Workload,
    /// Whether the data is there before it is measured.
    lays_out: bool,
}

impl Experiment for Files {
    fn name(&self) -> &'static str {
        "files"
    }

    fn about(&self) -> &'static str {
        "Reads and writes through a file system or on the raw device: rate, latency, CPU time."
    }

    fn choices(&self) -> &'static [Choice] {
        CHOICES
    }

    fn check(&self, choices: &Choices) -> Result<(), ChoicesError> {
        check(choices)?;
        if choices.bytes("bs") < SECTOR {
            return Err(
                format!("a request of {} is less than a sector; give at least {SECTOR}", choices.bytes("bs")).into()
            );
        }
        let (task, size, threads) = (TransferTask::of(choices), choices.bytes("size"), choices.count("threads"));
        if task.data.each < task.workload.block.times(u64::from(task.workload.workers)) {
            let least = choices.bytes("bs").times(threads);
            return Err(format!(
                "{size} of data is less than one request for each of {threads} threads; give at least {least}"
            )
            .into());
        }
        task.workload.check().map_err(|error| error.to_string())?;
        if choices.bytes("memory") > Bytes::ZERO && choices.text("cache") != "limit" {
            return Err("`memory` is the limit of cache = \"limit\"; choose that, or leave memory out"
                .to_owned()
                .into());
        }
        task.memory().map_or(Ok(()), |limit| Ok(task.check_memory(limit)?))
    }

    fn commands(&self, choices: &Choices) -> Vec<String> {
        commands(choices)
    }

    fn unavailable(&self, choices: &Choices) -> Option<String> {
        let limit = (choices.text("cache") == "limit").then(memory::unavailable).flatten();
        unavailable(choices).or_else(|| limit.map(|reason| format!("{reason}; choose cache = \"bypass\" or \"drop\"")))
    }

    fn cost(&self, choices: &Choices) -> Nanos {
        let task = TransferTask::of(choices);
        let laid_out = if task.lays_out { task.data.size() } else { Bytes::ZERO };
        match task.workload.stop.time {
            Some(time) => cost(laid_out, time),
            None => cost(laid_out + task.data.size(), Nanos::ZERO),
        }
    }

    fn writes(&self, choices: &Choices) -> Bytes {
        let task = TransferTask::of(choices);
        let laid_out = if task.lays_out { task.data.size() } else { Bytes::ZERO };
        let moved = task.workload.stop.time.map_or(task.data.size(), moved_in);
        let share = 100 - u64::from(task.workload.reads());
        laid_out + Bytes::new(moved.get() / 100 * share)
    }
}

impl Procedure for Files {
    fn run(&self, choices: &Choices, stage: &TrialDevice, go: &TrialContext) -> Result<Trial, TrialError> {
        let task = TransferTask::of(choices);
        if task.memory().is_some() && stage.live().is_some() {
            return Err(TrialError::Lacks(
                "a memory limit of this process would also limit the simulated drive in it; attach the drive by `assay \
                 attach` and give its device, or choose another cache"
                    .to_owned(),
            ));
        }
        let place = PreparedDevice::prepare(choices, stage, go)?;
        place.check_room(task.data.size())?;
        if task.lays_out {
            task.data.lay_out(&place, &task.workload, choices.text("cache") == "bypass", go)?;
        }
        let mut trial = task.measure(&place, go)?;
        stage.continues()?;
        trial.conditions = [place.conditions(), task.conditions()].concat();
        place.end()?;
        Ok(trial)
    }
}

impl<'c> TransferTask<'c> {
    fn of(choices: &'c Choices) -> Self {
        let count = |name: &str| u32::try_from(choices.count(name)).expect("the choice's bounds are small");
        let percent = |name: &str| u8::try_from(choices.count(name)).expect("a share is at most a hundred");
        let (rw, threads) = (choices.text("rw"), count("threads"));
        let (pieces, workers) = if choices.text("files") == "shared" { (1, threads) } else { (threads, 1) };
        let block = choices.bytes("bs");
        let data = TestData::new("data", pieces, choices.bytes("size"), block);
        let pattern = if rw == "rewrite" { "write" } else { rw };
        let pattern: Pattern = pattern.parse().expect("each word of the choice is a pattern");
        let time = Some(choices.time("runtime")).filter(|time| *time > Nanos::ZERO);
        // What has been moved once may be in the cache.
        let once = time.is_none() || choices.text("cache") == "drop";
        let workload = Workload {
            pattern,
            read_percent: percent("rwmixread"),
            block,
            queue_depth: count("iodepth"),
            workers,
            size: Some(data.each),
            stop: Stop { time, bytes: once.then_some(data.each), ..Stop::default() },
            no_repeat: pattern.is_random(),
            fsync: if pattern.changes_data() { count("fsync") } else { 0 },
            compressible: percent("buffer_compress_percentage"),
            ..Workload::default()
        };
        Self { choices, data, workload, lays_out: rw != "write" }
    }

    /// The memory that it is limited to; none where it is not.
    fn memory(&self) -> Option<Bytes> {
        let told = self.choices.bytes("memory");
        let limit = if told > Bytes::ZERO { told } else { Bytes::new(self.choices.bytes("size").get() / 2) };
        (self.choices.text("cache") == "limit").then_some(limit)
    }

    /// Whether the program can work in so much memory, and the cache cannot hold the data.
    fn check_memory(&self, limit: Bytes) -> Result<(), String> {
        let size = self.choices.bytes("size");
        if limit.times(2) > size || limit < MEMORY_LEAST {
            return Err(format!(
                "{limit} of memory for {size} of data; give at least {MEMORY_LEAST} of memory and twice as much data, \
                 or the cache serves the reads"
            ));
        }
        let Workload { block, queue_depth, workers, .. } = self.workload;
        let in_flight = block.times(u64::from(queue_depth) * u64::from(workers) * u64::from(self.data.pieces));
        if in_flight.times(2) > limit {
            let most = Bytes::new(limit.get() / 2);
            return Err(format!(
                "{in_flight} in flight in {limit} of memory; keep at most {most} in flight, or give more"
            ));
        }
        Ok(())
    }

    fn measure(&self, place: &PreparedDevice, go: &TrialContext) -> Result<Trial, TrialError> {
        let (workload, direct) = (&self.workload, self.choices.text("cache") == "bypass");
        let limit = self.memory().map(|limit| MemoryLimit::make_for_this(limit, &place.aftermath)).transpose()?;
        let room = limit.as_ref().map(|limit| limit.leave_room(place.stage(), &place.aftermath)).transpose()?;
        limit.iter().try_for_each(MemoryLimit::enter)?;
        let opening = Opening {
            direct,
            writes: workload.changes_data(),
            sparse: !self.lays_out && self.choices.text("fallocate") == "truncate",
        };
        let open = self.data.open(place, opening)?;
        (go.tell)(&format!("{}, {}, {}", self.choices.text("fs"), self.choices.text("rw"), workload.block));
        let measured = open.measure(workload, go.seed.split("measure"))?;
        // What is in memory is not on the device: until it is there it has not been written.
        let flush = (!direct && workload.changes_data()).then(|| place.flush()).transpose()?;
        drop((open, limit, room));
        let mut trial = of_transfer(&measured, flush);
        trial.findings = self.findings(&measured, place);
        Ok(trial)
    }

    fn findings(&self, measured: &Measurement, place: &PreparedDevice) -> Vec<String> {
        let cores = std::thread::available_parallelism().map_or(1, |count| count.get().min(1 << 16) as u32);
        // A simulated drive is a thread of this process.
        let threads = self.data.pieces * self.workload.workers + u32::from(place.stage().live().is_some());
        let mut findings = measured.target_findings();
        findings.extend(measured.host_findings(cores.min(threads)));
        let (moved, size) = (measured.bytes(), self.data.size());
        let again = !self.lays_out && self.choices.text("fs") != "none" && moved > size.times(2);
        findings.extend(again.then(|| {
            format!(
                "{moved} were written to files of {size}: most writes were overwrites. Give more data or less time to \
                 measure new files."
            )
        }));
        findings
    }

    fn conditions(&self) -> Vec<(String, String)> {
        let cache = match self.memory() {
            Some(limit) => {
                let has = self.data.size();
                format!("used, with {limit} of memory (cgroup) for {has} of data; including the flush")
            }
            None if self.choices.text("cache") == "drop" => {
                "cold; no block accessed twice; including the flush".to_owned()
            }
            None => "bypassed (O_DIRECT)".to_owned(),
        };
        let TestData { pieces, each, .. } = &self.data;
        let what = if self.choices.text("fs") == "none" { "part of the device" } else { "file" };
        let files = format!("{pieces} × {each}, each a {what}");
        vec![("page cache".to_owned(), cache), ("data".to_owned(), files)]
    }
}
