//! Which workloads run, one after another and side by side.

use std::collections::BTreeMap;

use block::{Bytes, Nanos, SECTOR};
use workload::{Stop, Workload};

use super::access::{Access, Assignment};
use super::entries::IcfLine;
use super::file::IcfFile;
use super::notices::Notices;
use super::setup::{Cycle, Spawn};
use super::worker::{Data, IcfWorker};
use crate::{CELLS_MAX, Field};

/// One of Iometer's tests.
#[derive(Clone, Debug, PartialEq)]
pub enum IcfStep {
    /// Workloads that run side by side; mostly one.
    Run {
        /// Each with its name.
        jobs: Vec<IcfJob>,
        /// What varies from one test to the next, and through which values; only where there is one job.
        sweep: Vec<(Field, Vec<u64>)>,
    },
    /// All workers have nothing to do.
    Idle {
        /// For so long.
        time: Nanos,
    },
}

/// A workload by the name of its access specification.
#[derive(Clone, Debug, PartialEq)]
pub struct IcfJob {
    /// The name.
    pub name: String,
    /// What it does.
    pub workload: Workload,
}

/// How long a test takes of which Iometer's user says when it ends.
const UNTIL_STOPPED: Nanos = Nanos::from_secs(60);
/// The specification that asks for nothing; it is never saved.
const IDLE: &str = "Idle";

/// What is alike in workers that can be one job: specification, requests in flight, span and content.
type Alike = (usize, u32, u64, u64, Data);

/// The tests in their order.
pub(super) fn steps(file: &mut IcfFile, notices: &mut Notices) -> Vec<IcfStep> {
    if file.specs.is_empty() {
        return Vec::new();
    }
    let time = file.setup.run.unwrap_or_else(|| {
        let place = file.version.map_or(file.specs[0].place.clone(), |line| line.place());
        let found = "there is no run time, so Iometer runs until it is stopped".to_owned();
        notices.warn(
            "icf::endless",
            "Run Time",
            place,
            found,
            "each test takes a minute; change `runtime` in the plan",
        );
        UNTIL_STOPPED
    });
    let all = std::mem::take(&mut file.workers);
    let workers = on_one_target(&all, file, notices);
    let rounds = if workers.iter().any(|worker| !worker.assigned.is_empty()) {
        assigned(&workers, &mut file.specs, notices)
    } else {
        by_default(file, notices)
    };
    let mut build = Build { stop: Stop::after(time), ramp: file.setup.ramp, file, notices, known: BTreeMap::new() };
    let steps: Vec<IcfStep> = rounds.into_iter().filter_map(|round| build.step(round)).collect();
    refuse_too_many(&steps, file, notices);
    steps
}

/// Tells where there are more tests than a plan can have.
fn refuse_too_many(steps: &[IcfStep], file: &IcfFile, notices: &mut Notices) {
    let cells = |step: &IcfStep| match step {
        IcfStep::Run { sweep, .. } => sweep.iter().map(|(_, values)| values.len()).product(),
        IcfStep::Idle { .. } => 0,
    };
    let count: usize = steps.iter().map(cells).sum();
    if count > CELLS_MAX {
        let found = format!("{count} tests");
        let right = format!("a plan has at most {CELLS_MAX}: remove some of the workers' specifications");
        notices.refuse("icf::too-many", "Assigned access specs", file.specs[0].place.clone(), found, &right);
    }
}

/// The disk workers at the first target that is named: a plan runs on one.
fn on_one_target<'w, 'a>(all: &'w [IcfWorker<'a>], file: &IcfFile, notices: &mut Notices) -> Vec<&'w IcfWorker<'a>> {
    let disk: Vec<&IcfWorker> = all.iter().filter(|worker| worker.disk).collect();
    if let Some(network) = all.iter().find(|worker| !worker.disk) {
        let found = "a worker that loads a network".to_owned();
        notices.warn("icf::network", "Worker type", network.place.clone(), found, "it is left out");
    }
    if file.managers > 1 {
        let place = all.last().map_or(file.specs[0].place.clone(), |worker| worker.place.clone());
        let found = format!("{} managers, each on a machine of its own", file.managers);
        notices.warn("icf::managers", "Manager ID", place, found, "all their workers run on this machine");
    }
    let mut targets = disk.iter().flat_map(|worker| &worker.targets);
    let Some(first) = targets.next() else { return disk };
    let Some(other) = targets.find(|target| target.text != first.text) else { return disk };
    let found = format!("`{}` is another target than `{}`", other.text, first.text);
    notices.warn(
        "icf::targets",
        "Target",
        other.place(),
        found,
        "a plan runs on one target: it takes what the workers do at the first",
    );
    disk.into_iter().filter(|worker| worker.targets.iter().any(|target| target.text == first.text)).collect()
}

/// For each test, which specifications run in how many workers.
type Round = BTreeMap<Option<Alike>, u32>;

/// The specifications that workers have one after another.
fn assigned(workers: &[&IcfWorker], specs: &mut Vec<Access>, notices: &mut Notices) -> Vec<Round> {
    let mut named: BTreeMap<String, usize> = BTreeMap::new();
    for (i, spec) in specs.iter().enumerate() {
        named.insert(spec.name.clone(), i);
    }
    let mut rounds: Vec<Round> = Vec::new();
    for worker in workers {
        for (number, line) in worker.assigned.iter().enumerate() {
            let spec = match named.get(line.text) {
                Some(&known) => Some(known),
                None if line.text == IDLE => None,
                None => {
                    let Some(built_in) = not_in_file(line, notices) else { continue };
                    specs.push(built_in);
                    named.insert(line.text.to_owned(), specs.len() - 1);
                    Some(specs.len() - 1)
                }
            };
            if rounds.len() <= number {
                rounds.resize(number + 1, Round::new());
            }
            let alike = spec.map(|spec| (spec, worker.depth, worker.start, worker.length, worker.data));
            *rounds[number].entry(alike).or_insert(0) += 1;
        }
    }
    rounds
}

/// A specification that a worker has and the file does not.
fn not_in_file(line: &IcfLine, notices: &mut Notices) -> Option<Access> {
    if line.text == "Default" {
        let found = "`Default` is not in the file".to_owned();
        let follows = "Iometer's own is taken: 2 KiB, 67 % reads, 100 % random";
        notices.warn("icf::default", "Assigned access specs", line.place(), found, follows);
        return Some(Access::built_in(line.place()));
    }
    let found = format!("there is no access specification `{}`", line.text);
    notices.warn("icf::unknown-specification", "Assigned access specs", line.place(), found, "the test is left out");
    None
}

/// The specifications that new workers would have; all, where none is for them.
fn by_default(file: &IcfFile, notices: &mut Notices) -> Vec<Round> {
    let by_default = |spec: &Access| spec.assignment == Assignment::Disk;
    let some = file.specs.iter().any(by_default);
    let chosen = |spec: &Access| if some { by_default(spec) } else { spec.assignment != Assignment::Network };
    if let Some(left) = file.specs.iter().find(|spec| !chosen(spec)) {
        let found = format!("`{}` is not among the specifications that disk workers have by default", left.name);
        notices.warn("icf::default", "default assignment", left.place.clone(), found, "such ones are left out");
    }
    let count = match &file.setup.spawn {
        Some((Spawn::Count(count), _)) => *count,
        said => {
            let place = said.as_ref().map_or(file.specs[0].place.clone(), |(_, place)| place.clone());
            let found = "a disk worker for each processor".to_owned();
            let follows = "the plan has one; give `numjobs` as many as Iometer would have";
            notices.warn("icf::workers", "Default Disk Workers to Spawn", place, found, follows);
            1
        }
    };
    let indices = file.specs.iter().enumerate().filter(|(_, spec)| chosen(spec)).map(|(i, _)| i);
    indices.map(|i| Round::from([(Some((i, 1, 0, 0, Data::Unsaid)), count)])).collect()
}

/// What all steps share while they are built.
struct Build<'b, 'a> {
    stop: Stop,
    ramp: Nanos,
    file: &'b IcfFile<'a>,
    notices: &'b mut Notices,
    /// The workloads of specifications that were needed before.
    known: BTreeMap<usize, Option<Workload>>,
}

impl Build<'_, '_> {
    fn step(&mut self, round: Round) -> Option<IcfStep> {
        if round.is_empty() {
            return None;
        }
        let working: Vec<(Alike, u32)> = round.into_iter().filter_map(|(alike, count)| Some((alike?, count))).collect();
        if working.is_empty() {
            return Some(IcfStep::Idle { time: self.stop.time.unwrap_or(UNTIL_STOPPED) });
        }
        let jobs: Vec<IcfJob> = working.into_iter().filter_map(|(alike, count)| self.job(alike, count)).collect();
        let sweep = match &jobs[..] {
            [] => return None,
            [job] => self.sweep(job),
            _ => self.no_sweep(),
        };
        Some(IcfStep::Run { jobs, sweep })
    }

    /// A workload of so many workers.
    fn job(&mut self, (index, depth, start, length, data): Alike, workers: u32) -> Option<IcfJob> {
        let spec = &self.file.specs[index];
        let notices = &mut *self.notices;
        let first = !self.known.contains_key(&index);
        let plain = self.known.entry(index).or_insert_with(|| spec.workload(notices)).clone()?;
        let sectors = |count: u64| Bytes::new(count.saturating_mul(SECTOR.get()));
        let workload = Workload {
            queue_depth: depth,
            workers,
            offset: sectors(start),
            size: (length > 0).then(|| sectors(length)),
            stop: self.stop,
            ramp: self.ramp,
            compressible: if data == Data::Repeating && writes(&plain) { 100 } else { 0 },
            ..plain
        };
        if let Some(why) = unfit(&workload) {
            let found = format!("`{}` cannot be run: {why}", spec.name);
            notices.refuse(
                "icf::workload",
                &spec.name,
                spec.place.clone(),
                found,
                "change it in Iometer, or leave it out",
            );
            return None;
        }
        if first {
            tell_content(spec, &workload, data, notices);
            tell_sequences(spec, &workload, notices);
        }
        Some(IcfJob { name: spec.name.clone(), workload })
    }

    /// What varies from one test to the next.
    fn sweep(&mut self, job: &IcfJob) -> Vec<(Field, Vec<u64>)> {
        let Some((test, place)) = &self.file.setup.test else { return Vec::new() };
        if test.targets {
            let found = "the test type varies the number of targets".to_owned();
            self.notices.warn(
                "icf::targets",
                "Test Type",
                place.clone(),
                found,
                "a plan runs on one target; it does not",
            );
        }
        let (depths, workers) = (self.file.setup.depths.as_ref(), self.file.setup.workers.as_ref());
        let workers = test.workers.then(|| self.cycle(Field::Numjobs, workers, job)).flatten();
        let depths = test.depths.then(|| self.cycle(Field::Iodepth, depths, job)).flatten();
        workers.into_iter().chain(depths).collect()
    }

    /// A field with the values of a cycle, up to what the job has unless it says its own.
    fn cycle(&mut self, field: Field, cycle: Option<&Cycle>, job: &IcfJob) -> Option<(Field, Vec<u64>)> {
        let cycle = cycle?;
        let workload = &job.workload;
        let last = if field == Field::Numjobs { workload.workers } else { workload.queue_depth };
        let values = cycle.values(last.into());
        let largest = values.last().map(|&value| u32::try_from(value).unwrap_or(u32::MAX)).unwrap_or_default();
        let deepest = match field {
            Field::Numjobs => Workload { workers: largest, ..workload.clone() },
            _ => Workload { queue_depth: largest, ..workload.clone() },
        };
        let found = match deepest.check() {
            _ if values.is_empty() => "the cycle ends before it starts".to_owned(),
            _ if values.len() > Cycle::MOST => format!("the cycle has more than {} values", Cycle::MOST),
            Err(invalid) => format!("the last of the cycle cannot be run: {invalid}"),
            Ok(()) => return Some((field, values)),
        };
        let right = "give start, end, step and LINEAR or EXPONENTIAL: 1 32 2 EXPONENTIAL";
        self.notices.refuse("icf::cycling", field.name(), cycle.place.clone(), found, right);
        None
    }

    /// Jobs side by side vary nothing, which is told where they should.
    fn no_sweep(&mut self) -> Vec<(Field, Vec<u64>)> {
        if let Some((test, place)) = &self.file.setup.test
            && (test.workers || test.depths)
        {
            let found =
                "the test type varies workers or outstanding I/Os, while workers run different things".to_owned();
            let follows = "concurrent jobs run once, with all workers and each one's own outstanding I/Os";
            self.notices.warn("icf::cycling", "Test Type", place.clone(), found, follows);
        }
        Vec::new()
    }
}

/// Why no plan can have this workload, if none can.
fn unfit(workload: &Workload) -> Option<String> {
    let invalid = workload.check().err().map(|invalid| invalid.to_string());
    let mut read = Workload::default();
    let mut refused = workload.fields().into_iter().filter_map(|(field, value)| {
        field.set(&mut read, &value).err().map(|error| format!("{}: {error}", field.name()))
    });
    invalid.or_else(|| refused.next())
}

fn writes(workload: &Workload) -> bool {
    workload.reads() < 100
}

/// Tells of written bytes that are not what a plan writes.
fn tell_content(spec: &Access, workload: &Workload, data: Data, notices: &mut Notices) {
    let (found, follows) = match data {
        _ if !writes(workload) => return,
        Data::Random => return,
        Data::Unsaid => (
            "the file does not say what is written",
            "a plan writes random bytes; a drive that compresses is slower with them",
        ),
        Data::Repeating => (
            "each request writes one byte again and again",
            "a plan writes zeroes, which compress as well, and which a drive may store without writing them",
        ),
        Data::OneBuffer => (
            "each request writes the same random bytes",
            "a plan writes different bytes each time; a drive that deduplicates is slower with them",
        ),
    };
    notices.warn("icf::data-pattern", "Data pattern", spec.place.clone(), found.to_owned(), follows);
}

/// Tells of several workers in sequence, which begin at different places in a plan.
fn tell_sequences(spec: &Access, workload: &Workload, notices: &mut Notices) {
    if workload.workers > 1 && !workload.pattern.is_random() {
        let found = format!("{} workers run through the target from the same offset", workload.workers);
        let follows = "in a plan they start evenly spaced over it, so that none reads cached data of another";
        notices.warn("icf::sequences", &spec.name, spec.place.clone(), found, follows);
    }
}
