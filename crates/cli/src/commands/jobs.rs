//! `assay run JOB.fio`: a job file, run as the plan that it is.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use block::{Bytes, Seed};
use host::open::TextError;
use host::{Output, WithinError};
use lab::Outcome;
use lab::import::Import;
use lab::import::fio::plan_text;
use lab::plan::{self, PlanLength};
use report::Report;
use store::Store;
use workload::Workload;

use super::history::print_summary;
use crate::failure::Failure;
use crate::job_file::{self, JobFileOptions};
use crate::power::PowerOptions;
use crate::recorder::Recorder;
use crate::run_request::{RunRequest, failure};
use crate::target::{self, RealOptions};
use crate::terminal::notice;

pub struct JobFileRun<'a> {
    pub file: &'a str,
    /// The target, if it is not to be the job's own file.
    pub target: Option<&'a str>,
    pub reading: &'a JobFileOptions,
    /// Where what the job file wants kept is written, if it is.
    pub log_dir: Option<&'a Path>,
    /// How a real target may be used.
    pub real: &'a RealOptions,
    /// How its power is metered.
    pub power: &'a PowerOptions,
    /// Seed of all random choices.
    pub seed: Seed,
    /// Where to write what is submitted, if it is to be kept.
    pub record: Option<&'a Path>,
}

/// What was run.
pub struct JobsResult {
    /// The job file as it was read.
    pub import: Import,
    /// What came of it.
    pub outcome: Outcome,
    /// Whether the page cache was passed by.
    pub direct: bool,
}

/// Runs the job file; `suits` refuses what cannot be shown as is wanted, before anything is touched.
pub fn measure(
    asked: &JobFileRun,
    store: Store,
    suits: impl FnOnce(&Import) -> Result<(), Failure>,
) -> Result<JobsResult, Failure> {
    let capacity = asked.real.size.map_or_else(|| capacity(asked.target), |size| Ok(Some(size)))?;
    let import = job_file::read(asked.file, asked.reading, capacity)?;
    suits(&import)?;
    let own = if asked.target.is_none() { own_target(asked, &import)? } else { String::new() };
    let name = asked.target.unwrap_or(&own);
    let record = record(asked, &import)?;
    let mut traces = lab::Traces::within(asked.reading.within(asked.file));
    let text = |layout| plan_text(&import, Path::new(asked.file), layout);
    // What makes no sense wherever it is done is told before a target is made or touched.
    let parsed = |text: &str| plan::parse(text, PlanLength::Full).map_err(Failure::own_plan);
    parsed(&text(import.uses_data))?;
    let direct = asked.real.direct.map_or(import.direct, |direct| direct == 1);
    let size = asked.real.size.or(import.size.filter(|_| !name.starts_with("sim:")));
    let access = RealOptions { size, direct: Some(u8::from(direct)), ..asked.real.clone() };
    let mut workloads: Vec<Workload> = import.jobs().map(|job| job.workload.clone()).collect();
    workloads.iter_mut().try_for_each(|workload| traces.give_to(workload))?;
    let writes = workloads.iter().any(|workload| workload.changes_data());
    let metering = asked.power.open(name)?;
    let mut opened = metering.of(target::open(name, &access, writes, access.size.is_some())?);
    let mut plan = parsed(&text(import.uses_data && opened.needs_layout))?;
    traces.give(&mut plan)?;
    let checked = opened.check(&plan)?;
    let recorder = record.map(|path| Recorder::begin(&path, opened.subject.as_mut())).transpose()?;
    let undertaking = RunRequest { checked, seed: asked.seed, repeats: None, size, direct, metrics: None, live: false };
    let store = Mutex::new(store);
    let record = undertaking.begin(&store, &opened)?;
    let run = record.id();
    notice(format_args!("Run {run}: {} on {}", plan.title, opened.identity));
    let done = undertaking.carry_out(record, &mut opened);
    recorder.map_or(Ok(()), |recorder| recorder.write(&opened.name))?;
    done.map_err(|broken| failure(&broken, broken.words(run)))?;
    Ok(JobsResult { import, outcome: record.recall()?, direct })
}

/// The target that the jobs name themselves: a simulated drive that is built in, or a regular file that lies where a job
/// file may name one. All else is named by the command line alone.
fn own_target(asked: &JobFileRun, import: &Import) -> Result<String, Failure> {
    let file = asked.file;
    let own = import.target.as_deref().ok_or_else(|| {
        Failure::usage(format!(
            "the jobs of {file} use several files, which become ranges of one target: name it, as in `assay run {file} \
             TARGET`"
        ))
    })?;
    let refuse = |what: &str| {
        let words = "a job file chooses no device and no file outside its own folder; name the target, as in";
        Err(Failure::usage(format!("the jobs of {file} are on {own}, {what}; {words} `assay run {file} TARGET`")))
    };
    if asked.real.overwrite {
        return refuse("and --overwrite gives up what a file holds");
    }
    if let Some(drive) = own.strip_prefix("sim:") {
        return if target::is_of_file(drive) { refuse("a drive's file") } else { Ok(own.to_owned()) };
    }
    let within = asked.reading.within(file);
    let path = within.path(Path::new(own));
    match within.open(&path) {
        _ if !within.holds(&path) => refuse("which is outside its folder"),
        Err(WithinError::Text(TextError::Kind(kind))) => refuse(&format!("which is a {kind}")),
        _ => Ok(path.display().to_string()),
    }
}

/// Where to write what is submitted: as the command line says, or else, in the folder that the command line names for it,
/// as the job says. Only what runs at one time is one trace.
fn record(asked: &JobFileRun, import: &Import) -> Result<Option<PathBuf>, Failure> {
    let mut by_jobs: Vec<&str> = import.jobs().filter_map(|job| job.record.as_deref()).collect();
    by_jobs.dedup();
    if let ([first, second, ..], None) = (&by_jobs[..], asked.record) {
        return Err(Failure::usage(format!(
            "{} asks for the logs {first} and {second}, and all requests go into one; name it with --record",
            asked.file
        )));
    }
    let path = match (asked.record, by_jobs.first()) {
        (Some(path), _) => path.to_owned(),
        (None, None) => return Ok(None),
        (None, Some(by_job)) => match logged(asked, by_job)? {
            Some(path) => path,
            None => return Ok(None),
        },
    };
    match import.groups.len() {
        1 => Ok(Some(path)),
        groups => Err(Failure::usage(format!(
            "{} has {groups} groups that run one after another, and a log covers one; pick it with --section NAME",
            asked.file
        ))),
    }
}

/// Where a file that the job asks for is written: in the folder of --log-dir, by its own name. Without that folder it is
/// not, which is told.
fn logged(asked: &JobFileRun, name: &str) -> Result<Option<PathBuf>, Failure> {
    let file = asked.file;
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

/// How long the target is that was named, so that the shares of it which jobs use are known.
fn capacity(target: Option<&str>) -> Result<Option<Bytes>, Failure> {
    let Some(target) = target else { return Ok(None) };
    match target.strip_prefix("sim:") {
        Some(preset) => Ok(Some(target::preset(preset)?.capacity())),
        None => Ok(job_file::length(Path::new(target))),
    }
}

/// Shows what came of it.
pub fn show(done: &JobsResult) -> Result<(), Failure> {
    print_summary(&Report::of(&done.outcome), std::io::stdout().is_terminal())?;
    notice(format_args!("`assay report {}` writes the report.", done.outcome.run.id));
    Ok(())
}
