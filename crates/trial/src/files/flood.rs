//! The trial `flood`: how long reads take while others write as fast as they can.

use block::{Bytes, Nanos, SECTOR};
use engine::Measurement;
use workload::{Pattern, Stop, Workload};

use super::choices::{FS, FS_BLOCK, check, commands, cost, moved_in, unavailable};
use super::data::{Opening, TestData, run, together};
use super::figures::latencies;
use super::prepared::PreparedDevice;
use crate::mount::{MKFS, MOUNT};
use crate::scheduler::SCHEDULER;
use crate::{
    Choice, ChoiceKind, Choices, ChoicesError, Experiment, Figure, Procedure, Trial, TrialContext, TrialDevice,
    TrialError,
};

/// How many requests a device takes at once where the kernel does not say: as a SATA drive does.
const TAGS: u32 = 32;
/// What a device takes at once is not flooded beyond this: those with long queues need no scheduler.
const FLOOD_MOST: u32 = 512;
/// Fewer reads than this say little of 99 % of them.
const READS_LEAST: u64 = 100;

const CHOICES: &[Choice] = &[
    FS,
    MKFS,
    MOUNT,
    FS_BLOCK,
    SCHEDULER,
    Choice {
        name: "bs",
        title: "Read size",
        about: "block size of the reads: random, queue depth 1",
        kind: ChoiceKind::Bytes,
        default: "4k",
    },
    Choice {
        name: "size",
        title: "Data read",
        about: "active range of the reads",
        kind: ChoiceKind::Bytes,
        default: "1GiB",
    },
    Choice {
        name: "writers",
        title: "Writers",
        about: "number of writing threads, each with its own file",
        kind: ChoiceKind::Count(1, 256),
        default: "4",
    },
    Choice {
        name: "write-rw",
        title: "Writes",
        about: "sequential, which a scheduler may merge, or random",
        kind: ChoiceKind::Word(&["write", "randwrite"]),
        default: "write",
    },
    Choice {
        name: "write-bs",
        title: "Write size",
        about: "block size of the writes",
        kind: ChoiceKind::Bytes,
        default: "64k",
    },
    Choice {
        name: "write-iodepth",
        title: "Writes in flight",
        about: "queue depth of each writer; 0 for 1.5 times the device's queue depth over all writers",
        kind: ChoiceKind::Count(0, 1024),
        default: "0",
    },
    Choice {
        name: "write-size",
        title: "Data written",
        about: "active range of all writers; they overwrite it repeatedly",
        kind: ChoiceKind::Bytes,
        default: "1GiB",
    },
    Choice {
        name: "runtime",
        title: "Time",
        about: "duration without background writes, and then with them",
        kind: ChoiceKind::Time,
        default: "10s",
    },
];

/// How long reads take while others write as fast as they can.
#[derive(Debug)]
pub(crate) struct Flood;

/// Who reads and who writes.
struct FloodTask {
    read: TestData,
    reads: Workload,
    write: TestData,
    writes: Workload,
    time: Nanos,
}

impl Experiment for Flood {
    fn name(&self) -> &'static str {
        "flood"
    }

    fn about(&self) -> &'static str {
        "Latency of random reads at queue depth 1, without and with a background write load, and the write rate."
    }

    fn choices(&self) -> &'static [Choice] {
        CHOICES
    }

    fn check(&self, choices: &Choices) -> Result<(), ChoicesError> {
        check(choices)?;
        let least = ["bs", "write-bs"].into_iter().find(|name| choices.bytes(name) < SECTOR);
        if let Some(name) = least {
            return Err(
                format!("`{name}` of {} is less than a sector; give at least {SECTOR}", choices.bytes(name)).into()
            );
        }
        if choices.time("runtime") == Nanos::ZERO {
            return Err("`runtime` is too short; give at least 1s".to_owned().into());
        }
        let task = FloodTask::of(choices);
        for (name, data, workload) in [("size", &task.read, &task.reads), ("write-size", &task.write, &task.writes)] {
            if data.each < workload.block {
                let least = workload.block.times(u64::from(data.pieces));
                return Err(format!(
                    "`{name}` of {} is less than one request each; give at least {least}",
                    choices.bytes(name)
                )
                .into());
            }
            workload.check().map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    fn commands(&self, choices: &Choices) -> Vec<String> {
        commands(choices)
    }

    fn unavailable(&self, choices: &Choices) -> Option<String> {
        unavailable(choices)
    }

    fn cost(&self, choices: &Choices) -> Nanos {
        let task = FloodTask::of(choices);
        cost(task.size(), task.time.times(2))
    }

    fn writes(&self, choices: &Choices) -> Bytes {
        let task = FloodTask::of(choices);
        task.size() + moved_in(task.time)
    }
}

impl Procedure for Flood {
    fn run(&self, choices: &Choices, stage: &TrialDevice, go: &TrialContext) -> Result<Trial, TrialError> {
        let mut task = FloodTask::of(choices);
        let tags = stage.tags();
        if choices.count("write-iodepth") == 0 {
            task.writes.queue_depth = (tags.unwrap_or(TAGS).min(FLOOD_MOST) * 3 / 2).div_ceil(task.write.pieces);
        }
        let place = PreparedDevice::prepare(choices, stage, go)?;
        place.check_room(task.size())?;
        task.read.lay_out(&place, &task.reads, true, go)?;
        task.write.lay_out(&place, &task.writes, true, go)?;
        let mut trial = task.measure(&place, go)?;
        stage.continues()?;
        trial.conditions = place.conditions();
        trial.conditions.push(("page cache".to_owned(), "bypassed (O_DIRECT) by reads and writes".to_owned()));
        let flood = task.writes.queue_depth * task.write.pieces;
        let takes = tags.map_or("an unknown number of".to_owned(), |tags| tags.to_string());
        trial.conditions.push(("flood".to_owned(), format!("{flood} writes in flight; device queue depth {takes}")));
        if tags.is_some_and(|tags| flood <= tags) {
            trial.findings.push(format!(
                "The device queue depth is {takes}, and {flood} writes are in flight: none waits in the scheduler. \
                 Give more writers, or more writes in flight."
            ));
        }
        place.end()?;
        Ok(trial)
    }
}

impl FloodTask {
    fn of(choices: &Choices) -> Self {
        let count = |name: &str| u32::try_from(choices.count(name)).expect("the choice's bounds are small");
        let time = choices.time("runtime");
        let reads = Workload {
            pattern: Pattern::RandRead,
            block: choices.bytes("bs"),
            stop: Stop::after(time),
            ..Workload::default()
        };
        let writes = Workload {
            pattern: choices.text("write-rw").parse().expect("each word of the choice is a pattern"),
            block: choices.bytes("write-bs"),
            queue_depth: count("write-iodepth").max(1),
            stop: Stop::after(time),
            ..Workload::default()
        };
        let read = TestData::new("read", 1, choices.bytes("size"), reads.block);
        let write = TestData::new("write", count("writers"), choices.bytes("write-size"), writes.block);
        let write =
            TestData { offset: read.size().round_up(write.each.min(Bytes::from_mib(1)).max(writes.block)), ..write };
        Self { read, reads, write, writes, time }
    }

    /// All data, of reads and writes.
    fn size(&self) -> Bytes {
        self.write.offset + self.write.size()
    }

    fn measure(&self, place: &PreparedDevice, go: &TrialContext) -> Result<Trial, TrialError> {
        let opening = |writes| Opening { writes, ..Opening::WRITE };
        // A device is claimed by whoever writes to it: reads and writes go by one handle then.
        let handle = self.read.open(place, opening(place.folder().is_none()))?;
        (go.tell)("reads without background writes");
        let alone = handle.measure(&self.reads, go.seed.split("alone"))?;
        (go.tell)(&format!("reads with {} background writers", self.write.pieces));
        let seed = go.seed.split("flood");
        let files = place.folder().map(|_| self.write.open(place, opening(true))).transpose()?;
        let writers = match &files {
            Some(files) => files.jobs(&self.writes, seed),
            None => handle.jobs_on(&self.write, &self.writes, seed),
        };
        let jobs: Vec<_> = handle.jobs(&self.reads, seed.split("read")).into_iter().chain(writers).collect();
        let mut measured = run(&jobs)?;
        let (written, read) = (together(measured.split_off(1)), measured.remove(0));
        let mut trial = Trial { figures: figures(&alone, &read, &written), ..Trial::default() };
        trial.findings = [&alone, &read, &written].iter().flat_map(|one| one.target_findings()).collect();
        trial.findings.dedup();
        let reads = read.read.requests;
        trial.findings.extend((reads < READS_LEAST).then(|| {
            format!(
                "Only {reads} reads completed during the writes, too few for their 99 % latency: give more runtime."
            )
        }));
        Ok(trial)
    }
}

fn figures(alone: &Measurement, read: &Measurement, written: &Measurement) -> Vec<Figure> {
    let (before, after) = (&alone.read.latency, &read.read.latency);
    let ratio = |percent: f64| {
        after.percentile(percent).as_nanos() as f64 / before.percentile(percent).as_nanos().max(1) as f64
    };
    let mut figures = latencies("Read latency in the flood", after);
    figures.extend(latencies("Read latency alone", before));
    figures.push(Figure::less("Times slower, 50 %", "×", ratio(50.0)));
    figures.push(Figure::less("Times slower, 99 %", "×", ratio(99.0)));
    figures.push(Figure::more("Reads in the flood", "1/s", read.iops()));
    figures.push(Figure::more("Reads alone", "1/s", alone.iops()));
    figures.push(Figure::more("Written in the flood", "B/s", written.bandwidth()));
    figures
}
