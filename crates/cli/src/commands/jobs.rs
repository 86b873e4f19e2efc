//! A command line of fio's and its job files, run as the plan that they are.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use block::{Bytes, Seed};
use engine::{Completed, IoEngine, Measurement, Observer, OnError};
use host::open::TextError;
use host::{Output, WithinError};
use lab::import::Import;
use lab::import::fio::{CommandLine, Part, plan_text};
use lab::plan::{self, Plan, PlanLength};
use lab::{Outcome, PointOutcome, Subject};
use report::Report;
use store::{Annotations, Store};
use workload::Workload;

use super::history::print_summary;
use crate::failure::Failure;
use crate::fio_logs::FioRunLogs;
use crate::fio_status::FioStatus;
use crate::job_file::{self, JobFileOptions};
use crate::power::PowerOptions;
use crate::recorder::{LoggedJob, Recorder};
use crate::run_request::{RunRequest, failure, insist};
use crate::target::{self, CpuPolicy, RealOptions};
use crate::terminal::notice;

pub struct JobsRun<'a> {
    /// The command line, with the job files that it names.
    pub line: &'a CommandLine,
    /// The target, if it is not to be the jobs' own files.
    pub target: Option<&'a str>,
    pub reading: &'a JobFileOptions,
    /// Where what a job file wants kept is written, if it is.
    pub log_dir: Option<&'a Path>,
    /// How a real target may be used.
    pub real: &'a RealOptions,
    /// How its power is metered.
    pub power: &'a PowerOptions,
    /// Random seed, where the jobs give none.
    pub seed: Seed,
    /// Where to write what is submitted, if it is to be kept.
    pub record: Option<&'a Path>,
    /// How often it is to be told what the jobs have done so far, if it is.
    pub status_interval: Option<Duration>,
    /// What people add to the run.
    pub annotations: Annotations,
}

/// What jobs have done so far.
pub struct JobsSoFar<'a> {
    pub import: &'a Import,
    /// Of the jobs that have begun, in their order.
    pub measured: &'a [Measurement],
    pub seed: Seed,
    pub direct: bool,
}

/// What was run.
pub struct JobsResult {
    /// The job file as it was read.
    pub import: Import,
    /// What came of it.
    pub outcome: Outcome,
    /// Whether the page cache was passed by.
    pub direct: bool,
    /// Why it did not come to its end, if it did not: some jobs have figures all the same.
    pub failure: Option<Failure>,
}

/// Reads the jobs, with all that is to be said of them.
pub fn read(asked: &JobsRun) -> Result<Import, Failure> {
    job_file::read_line(asked.line, asked.reading, asked.target)
}

/// Whether requests are made by calls that a device may never end.
///
/// # Errors
/// If an option of the jobs makes no sense.
pub fn waits_in_calls(asked: &JobsRun, import: &Import) -> Result<bool, Failure> {
    let targets: Vec<&str> = match asked.target {
        Some(target) => vec![target],
        None => import.parts.iter().map(|part| part.name.as_str()).collect(),
    };
    let is_real = targets.iter().all(|target| !target.starts_with("sim:"));
    let trims = import.jobs().any(|job| job.workload.pattern.trims());
    let options = options(asked.real, import, is_real, asked.target.is_none())?;
    Ok(targets.iter().any(|target| options.waits_in_calls(target, trims)))
}

/// Runs the jobs; `print` tells what they have done so far, where that is asked for. Where the run breaks off, this is what
/// the jobs have done until then.
///
/// # Errors
/// If no job has figures.
pub fn measure(
    asked: &JobsRun,
    import: Import,
    store: Store,
    print: &(dyn Fn(&JobsSoFar) + Sync),
) -> Result<JobsResult, Failure> {
    let named = match asked.target {
        Some(target) => vec![(target.to_owned(), import.size.filter(|_| !target.starts_with("sim:")))],
        None => own_targets(asked, &import)?,
    };
    let mut traces = traces(asked);
    let text = |layout| plan_text(&import, Path::new(&asked.line.name()), layout);
    // What makes no sense wherever it is done is told before a target is made or touched.
    let parsed = |text: &str| plan::parse(text, PlanLength::Full).map_err(Failure::own_plan);
    parsed(&text(import.uses_data))?;
    let is_real = named.iter().all(|(name, _)| !name.starts_with("sim:"));
    let access = options(asked.real, &import, is_real, asked.target.is_none())?.stoppable()?;
    let direct = access.is_direct();
    let mut workloads: Vec<Workload> = import.jobs().map(|job| job.workload.clone()).collect();
    workloads.iter_mut().try_for_each(|workload| traces.give_to(workload))?;
    let writes = workloads.iter().any(|workload| workload.changes_data());
    let names: Vec<(&str, Option<Bytes>)> = named.iter().map(|(name, size)| (name.as_str(), *size)).collect();
    let metering = asked.power.open(names[0].0)?;
    let opened = match names[..] {
        [(name, size)] => target::open(name, &RealOptions { size, ..access }, writes, size.is_some()),
        _ => target::open_parts(&names, &access, writes, true),
    };
    let mut opened = metering.of(opened?);
    let writes_first = import.uses_data && opened.needs_layout;
    if writes_first && opened.real && asked.line.asks("readonly") {
        let words = format!(
            "{} is missing or shorter than what is read, and --readonly lets nothing be written; make it first, or leave --readonly out",
            opened.name
        );
        return Err(opened.refused(Failure::usage(words)));
    }
    let mut plan = parsed(&text(writes_first))?;
    traces.give(&mut plan)?;
    let checked = opened.check(&plan)?;
    let recorder = record(asked, &import, opened.subject.as_mut())?;
    let logs = FioRunLogs::of(&import, asked.log_dir, &asked.line.name())?;
    let seed = import.of_all.get("randseed").and_then(|seed| seed.parse().ok()).map_or(asked.seed, Seed::new);
    let size = names.iter().map(|(_, size)| *size).sum::<Option<Bytes>>();
    let annotations = asked.annotations.clone();
    let undertaking = RunRequest { size, annotations, ..RunRequest::of(checked, seed, direct) };
    let store = Mutex::new(store);
    let record = undertaking.begin(&store, &opened)?;
    let run = record.id();
    let ending = insist(&record, &opened)?;
    notice(format_args!("Run {run}: {} on {}", plan.title, opened.identity));
    let status = status(asked, &import, opened.real);
    let observers = together(logs.observers(), status.as_ref(), import.jobs().count());
    let observers = by_place(&observers, &plan, &import);
    let mut carry_out = || undertaking.carry_out_observed(record, &mut opened, &observers);
    let print = |measured: &[Measurement]| print(&JobsSoFar { import: &import, measured, seed, direct });
    let done = match &status {
        Some(status) => status.around(&print, carry_out),
        None => carry_out(),
    };
    recorder.map_or(Ok(()), |recorder| recorder.write(&opened.name))?;
    let outcome = record.recall();
    logs.write(outcome.as_ref().ok())?;
    drop(ending);
    let broken = done.err().map(|broken| failure(&broken, broken.words(run)));
    let has_figures = |outcome: &Outcome| points(outcome).any(|point| point.measurements().next().is_some());
    match (broken, outcome) {
        (Some(broken), outcome) if !outcome.as_ref().is_ok_and(has_figures) => Err(broken),
        (failure, outcome) => Ok(JobsResult { import, outcome: outcome?, direct, failure }),
    }
}

/// What came of each job, in their order.
pub fn points(outcome: &Outcome) -> impl Iterator<Item = &PointOutcome> {
    outcome.steps.iter().flat_map(|step| &step.points)
}

/// What tells of the jobs while they run, where that is asked for.
fn status(asked: &JobsRun, import: &Import, is_real: bool) -> Option<FioStatus> {
    let every = asked.status_interval?;
    if !is_real {
        notice(format_args!("--status-interval: a simulated drive's figures are printed once, at the end"));
        return None;
    }
    Some(FioStatus::of(import, every))
}

/// All that hear of the requests of one job.
#[derive(Debug)]
struct Observers<'a>(Vec<&'a dyn Observer>);

impl Observer for Observers<'_> {
    fn completed(&self, worker: u32, completed: &Completed) {
        self.0.iter().for_each(|observer| observer.completed(worker, completed));
    }

    fn times_submissions(&self) -> bool {
        self.0.iter().any(|observer| observer.times_submissions())
    }
}

/// Those of each job, in their order.
fn together<'a>(
    logs: impl Iterator<Item = Option<&'a dyn Observer>>,
    status: Option<&'a FioStatus>,
    jobs: usize,
) -> Vec<Observers<'a>> {
    let status = status.into_iter().flat_map(FioStatus::observers).map(Some);
    let both = logs.zip(status.chain(std::iter::repeat(None)));
    both.take(jobs).map(|(log, status)| Observers(log.into_iter().chain(status).collect())).collect()
}

/// By their place in the plan: its steps that measure are the groups of jobs.
fn by_place<'a>(observers: &'a [Observers], plan: &Plan, import: &Import) -> lab::Observers<'a> {
    let steps = plan.steps.iter().enumerate().filter(|(_, step)| step.action.measure().is_some());
    let places =
        steps.zip(&import.groups).flat_map(|((step, _), group)| (0..group.jobs.len()).map(move |job| (step, job)));
    let heard = places.zip(observers).filter(|(_, observers)| !observers.0.is_empty());
    heard.map(|(place, observers)| (place, observers as &dyn Observer)).collect()
}

/// How a target is used: as the command line says, and as all jobs say alike.
fn options(real: &RealOptions, import: &Import, is_real: bool, named_by_jobs: bool) -> Result<RealOptions, Failure> {
    let mut options = RealOptions { direct: Some(u8::from(import.direct)), ..real.clone() };
    // None of this is in the way of requests to a simulated drive.
    if !is_real {
        return Ok(options);
    }
    if import.waits {
        options.ioengine = IoEngine::Psync;
    }
    // On another target than the jobs' own the engine is of no matter.
    if import.commands && named_by_jobs {
        options.ioengine = IoEngine::UringCommands;
    }
    for (name, value) in &import.of_all {
        let is_on = || value != "0";
        match *name {
            "continue_on_error" if is_on() && value != "none" => options.on_error = OnError::Count,
            "cpus_allowed" => options.cpus_allowed = Some(target::cpus(value).map_err(Failure::usage)?),
            "cpus_allowed_policy" if value == "split" => options.cpus_allowed_policy = CpuPolicy::Split,
            "hipri" => options.hipri = u8::from(is_on()),
            "iodepth_batch" => options.iodepth_batch = value.parse().ok(),
            "iodepth_batch_complete_max" => options.iodepth_batch_complete_max = value.parse().ok(),
            // fio's 0 waits for none, as 1 does here: nothing is held back.
            "iodepth_batch_complete_min" => {
                options.iodepth_batch_complete_min = value.parse().unwrap_or(1).max(1);
            }
            "invalidate" => options.invalidate = u8::from(is_on()),
            "sqthread_poll" => options.sqthread_poll = u8::from(is_on()),
            _ => {}
        }
    }
    Ok(options)
}

/// Where traces may lie: anywhere where the command line names them alone.
fn traces(asked: &JobsRun) -> lab::Traces {
    match asked.line.files.is_empty() {
        true => lab::Traces::anywhere(),
        false => lab::Traces::within(job_file::within(asked.line, asked.reading)),
    }
}

/// The targets that the jobs name themselves, each with how much of it is used: what the command line names; of a job
/// file a simulated drive that is built in, or a regular file that lies where it may name one.
fn own_targets(asked: &JobsRun, import: &Import) -> Result<Vec<(String, Option<Bytes>)>, Failure> {
    let of_part = |part: &Part| Ok((own_target(asked, part)?, part.length.filter(|_| !part.name.starts_with("sim:"))));
    import.parts.iter().map(of_part).collect()
}

fn own_target(asked: &JobsRun, part: &Part) -> Result<String, Failure> {
    let (file, own) = (asked.line.name(), &part.name);
    if part.is_typed {
        return Ok(own.clone());
    }
    let refuse = |what: &str| {
        let words =
            "a job file chooses no device and no file outside its own folder; name the target on the command line";
        Err(Failure::usage(format!("jobs of {file} are on {own}, {what}; {words}, as in `assay run {file} TARGET`")))
    };
    if asked.real.overwrite {
        return refuse("and --overwrite gives up what a file holds");
    }
    if let Some(drive) = own.strip_prefix("sim:") {
        return if target::is_of_file(drive) { refuse("a drive's file") } else { Ok(own.to_owned()) };
    }
    let within = job_file::within(asked.line, asked.reading);
    let path = within.path(Path::new(own));
    match within.open(&path) {
        _ if !within.holds(&path) => refuse("which is outside its folder"),
        Err(WithinError::Text(TextError::Kind(kind))) => refuse(&format!("which is a {kind}")),
        _ => Ok(path.display().to_string()),
    }
}

/// Where to write what is submitted: all of it where the command line says, or else of each job where that says, in the folder
/// that the command line names for it.
fn record(asked: &JobsRun, import: &Import, subject: &mut dyn Subject) -> Result<Option<Recorder>, Failure> {
    if let Some(path) = asked.record {
        return match import.groups.len() {
            1 => Recorder::begin(path, subject).map(Some),
            groups => Err(Failure::usage(format!(
                "{} has {groups} groups that run one after another, and --record covers one; pick it with --section NAME, or \
                 give each job a `write_iolog`",
                asked.line.name()
            ))),
        };
    }
    let mut paths: BTreeMap<&str, Option<PathBuf>> = BTreeMap::new();
    let mut logs: BTreeMap<PathBuf, Vec<LoggedJob>> = BTreeMap::new();
    for (number, job) in import.jobs().enumerate() {
        let Some(name) = job.record.as_deref() else { continue };
        let path = match paths.get(name) {
            Some(known) => known.clone(),
            None if job.is_record_typed() => Some(PathBuf::from(name)),
            None => logged(asked, name)?,
        };
        paths.insert(name, path.clone());
        let start = import.parts.iter().find(|part| part.name == job.file).map_or(Bytes::ZERO, |part| part.start);
        let logged = LoggedJob { number, file: job.file.clone(), start };
        if let Some(path) = path {
            logs.entry(path).or_default().push(logged);
        }
    }
    let logs = logs.iter().map(|(path, jobs)| (path.as_path(), jobs.clone()));
    Recorder::by_job(logs, subject).map(Some)
}

/// Where a file that the job asks for is written: in the folder of --log-dir, by its own name. Without that folder it is
/// not, which is told.
fn logged(asked: &JobsRun, name: &str) -> Result<Option<PathBuf>, Failure> {
    let file = asked.line.name();
    let Some(folder) = asked.log_dir else {
        notice(format_args!(
            "{file} asks for a log of its requests, `write_iolog={name}`, which is not written; name its folder with --log-dir DIR, or the file with --record FILE"
        ));
        return Ok(None);
    };
    let base = name.rsplit('/').next().unwrap_or_default();
    if base.is_empty() || base.starts_with('.') || base.chars().any(char::is_control) {
        return Err(Failure::usage(format!(
            "{file} asks for a log named `{base}`, which is not allowed; name it with --record FILE"
        )));
    }
    let path = folder.join(base);
    // What is there is replaced only where assay wrote it.
    Output::at(&path, false).map_err(Failure::usage)?;
    notice(format_args!("{file} asks for a log of its requests: it is written to {}.", path.display()));
    Ok(Some(path))
}

/// Shows what came of it.
pub fn show(done: &JobsResult) -> Result<(), Failure> {
    print_summary(&Report::of(&done.outcome), std::io::stdout().is_terminal())?;
    notice(format_args!("`assay report {}` writes the report.", done.outcome.run.id));
    Ok(())
}
