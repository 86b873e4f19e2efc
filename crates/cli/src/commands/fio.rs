//! `assay fio`, and `assay run` with a command line or a job file of fio's.

use std::borrow::Cow;
use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use block::{Nanos, Seed};
use clap::ValueEnum;
use engine::{Measurement, Settling};
use lab::import::Import;
use lab::import::fio::ImportedJob;
use report::export::{self, FioJob, FioTimes, Single, TERSE_VERSIONS};
use store::{Annotations, Store};

use super::jobs::{self, JobsResult, JobsRun, JobsSoFar};
use super::run::{self, Arguments, RunFormat};
use crate::color;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::fio_line::FioLine;
use crate::outputs;
use crate::run_request::judge;
use crate::supervision;
use crate::terminal::say;

/// How fio ends where anything went wrong.
const FIO_FAILED: u8 = 1;

/// What fio can print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FioFormat {
    Normal,
    Terse(u8),
    Json { plus: bool },
}

/// Runs the jobs and prints what came of them.
pub fn run(line: &FioLine, arguments: &Arguments, open_store: impl FnOnce() -> Result<Store, Failure>) -> ExitCode {
    let is_color = color(std::io::stderr().is_terminal());
    let wanted = with_job(line).and_then(|()| Wanted::of(line));
    let done = wanted.and_then(|wanted| carry_out(line, &wanted, arguments, open_store));
    let (failure, is_told) = match done {
        Ok(Ok(())) => return Exit::Done.into(),
        // The document tells it too, so that there is no other.
        Ok(Err(failure)) => (failure, true),
        Err(failure) => (failure, false),
    };
    let as_document = !line.is_fio && !is_told && matches!(arguments.format, RunFormat::Json | RunFormat::Fio);
    let ended = if is_told { failure.tell(is_color) } else { run::tell(&failure, as_document) };
    if line.is_fio && !failure.is_interruption() { FIO_FAILED.into() } else { ended }
}

/// What begins with a target like a command line of assay's has options of assay's, unless there is a job to which fio's belong.
fn with_job(line: &FioLine) -> Result<(), Failure> {
    match &line.jobless {
        Some(option) => Err(Failure::usage(format!(
            "`{option}` is an option of fio's jobs, and the command line has no job; put `--name=job` before it, or use an \
             option that `assay run --help` lists"
        ))),
        None => Ok(()),
    }
}

/// What the command line asks of the program.
struct Wanted<'l> {
    /// What to print, in fio's formats; none for one of assay's.
    formats: Vec<FioFormat>,
    /// The one of assay's, where it is asked for by fio's option.
    own: Option<RunFormat>,
    output: Option<&'l Path>,
    status_interval: Option<Duration>,
}

impl<'l> Wanted<'l> {
    fn of(line: &'l FioLine) -> Result<Self, Failure> {
        let mut terse = 3;
        let mut names: Vec<&str> = Vec::new();
        let (mut output, mut status_interval) = (None, None);
        for option in &line.line.program {
            match option.name {
                "output" => output = Some(Path::new(&option.value)),
                "output-format" => names = option.value.split(',').collect(),
                "status-interval" => status_interval = Some(interval(&option.value)?),
                "minimal" => names = vec!["terse"],
                "append-terse" if names.is_empty() => names.extend(["terse", "normal"]),
                "append-terse" => names.push("terse"),
                "terse-version" => terse = version(&option.value)?,
                _ => {}
            }
        }
        if names.is_empty() && line.is_fio {
            names.push("normal");
        }
        // Of the names that both have, fio's are meant.
        let own = match names[..] {
            [only] if format(only, terse).is_err() => RunFormat::from_str(only, true).ok(),
            _ => None,
        };
        names.retain(|_| own.is_none());
        let mut formats = names.into_iter().map(|name| format(name, terse)).collect::<Result<Vec<_>, _>>()?;
        formats.sort_by_key(|format| match format {
            FioFormat::Terse(_) => 0,
            FioFormat::Json { .. } => 1,
            FioFormat::Normal => 2,
        });
        formats.dedup();
        // With json+ there is all that json has.
        let plus = FioFormat::Json { plus: true };
        if formats.contains(&plus) {
            formats.retain(|format| *format != FioFormat::Json { plus: false });
        }
        Ok(Self { formats, own, output, status_interval })
    }
}

fn version(text: &str) -> Result<u8, Failure> {
    let (least, most) = (TERSE_VERSIONS.start(), TERSE_VERSIONS.end());
    let version = text.parse().ok().filter(|version| TERSE_VERSIONS.contains(version));
    version.ok_or_else(|| Failure::usage(format!("`{text}` is no version of the terse format; give {least} to {most}")))
}

fn interval(text: &str) -> Result<Duration, Failure> {
    let least = Duration::from_secs(1);
    let read = lab::import::fio::seconds(text).ok().map(Nanos::to_std).filter(|interval| *interval >= least);
    read.ok_or_else(|| Failure::usage(format!("--status-interval={text} is no interval; give at least 1 (seconds)")))
}

fn format(name: &str, terse: u8) -> Result<FioFormat, Failure> {
    Ok(match name {
        "normal" => FioFormat::Normal,
        "terse" | "minimal" => FioFormat::Terse(terse),
        "json" => FioFormat::Json { plus: false },
        "json+" => FioFormat::Json { plus: true },
        _ => {
            return Err(Failure::usage(format!(
                "`{name}` is none of fio's output formats; use normal, terse, json or json+, or --format for those of assay"
            )));
        }
    })
}

/// Does what is asked; whether all requests were done in full.
fn carry_out(
    line: &FioLine,
    wanted: &Wanted,
    arguments: &Arguments,
    open_store: impl FnOnce() -> Result<Store, Failure>,
) -> Result<Result<(), Failure>, Failure> {
    if line.line.asks("version") {
        return say(&format!("fio-3.33-assay-{}\n", env!("CARGO_PKG_VERSION"))).map(Ok);
    }
    let only_looks = ["parse-only", "showcmd"].iter().any(|option| line.line.asks(option));
    if only_looks && !line.line.has_jobs() && !line.line.is_refused() {
        return Ok(Ok(()));
    }
    let asked = JobsRun {
        line: &line.line,
        target: arguments.target.as_deref(),
        reading: &arguments.reading,
        log_dir: arguments.log_dir.as_deref(),
        real: &arguments.real,
        power: &arguments.power,
        seed: Seed::new(arguments.seed),
        record: arguments.record.record.as_deref(),
        status_interval: wanted.status_interval.filter(|_| !wanted.formats.is_empty()),
        annotations: arguments.annotations.on(Annotations::default()),
    };
    let import = jobs::read(&asked)?;
    if let Some(job) = import.jobs().find(|job| line.line.asks("readonly") && job.workload.changes_data()) {
        return Err(Failure::usage(format!("job `{}` writes, and --readonly allows reading alone", job.fio_name())));
    }
    if line.line.asks("showcmd") {
        return say(&command(&import)).map(Ok);
    }
    if line.line.asks("parse-only") {
        return Ok(Ok(()));
    }
    let is_single = import.jobs().count() == 1;
    let is_own = wanted.formats.is_empty();
    let own = wanted.own.unwrap_or(arguments.format);
    if is_own && !is_single && !matches!(own, RunFormat::Text | RunFormat::Fio) {
        return Err(Failure::usage(format!(
            "{} has {} jobs, and --format prints one; pick it with --section NAME, or leave --format out",
            line.line.name(),
            import.jobs().count()
        )));
    }
    if let Some(path) = wanted.output {
        outputs::at(path)?;
    }
    let so_far = Mutex::new(String::new());
    let print = |jobs: &JobsSoFar| {
        let mut so_far = so_far.lock().unwrap_or_else(PoisonError::into_inner);
        let is_first = so_far.is_empty();
        let text = of_now(jobs, &wanted.formats, is_first);
        *so_far += &text;
        if wanted.output.is_none() {
            // What cannot be printed now cannot be at the end, which tells it.
            let _ = say(&text);
        }
    };
    supervision::apart(jobs::waits_in_calls(&asked, &import)?);
    let done = jobs::measure(&asked, import, open_store()?, &print)?;
    let so_far = so_far.into_inner().unwrap_or_else(PoisonError::into_inner);
    let text = match own {
        _ if !is_own => printed(&done, &wanted.formats, so_far.is_empty()),
        RunFormat::Fio => printed(&done, &[FioFormat::Json { plus: true }], true),
        RunFormat::Text if !is_single => jobs::show(&done).map(|()| String::new())?,
        format => {
            let job = done.import.jobs().next().expect("a job was run");
            let name = arguments.name.as_deref().unwrap_or(&job.name);
            run::document(format, name, None, done.direct, &done.outcome)?
        }
    };
    match wanted.output {
        Some(path) => outputs::write(path, (so_far + &text).as_bytes())?,
        None => say(&text)?,
    }
    Ok(judged(done))
}

/// Whether all jobs were done in full, and have figures.
fn judged(done: JobsResult) -> Result<(), Failure> {
    done.failure.map_or(Ok(()), Err)?;
    judge(&done.outcome)?;
    let mut measured = done.import.jobs().zip(jobs::points(&done.outcome).map(|point| point.measurements().next()));
    let unmeasured = measured.find_map(|(job, measured)| Some((job, measured?.why_unmeasured()?)));
    unmeasured.map_or(Ok(()), |(job, why)| Err(Failure::failed(format!("job `{}`: {why}", job.fio_name()))))
}

/// Each job as a command line, as fio's `--showcmd` has them.
fn command(import: &Import) -> String {
    let word = |(name, value): (&str, &str)| match value {
        "" => format!("--{name}"),
        value => format!("--{name}={value}"),
    };
    let job = |job: &ImportedJob| {
        let words = job.options().map(word).collect::<Vec<_>>().join(" ");
        format!("--name={} {words}", job.fio_name())
    };
    let mut jobs: Vec<String> = import.jobs().map(job).collect();
    jobs.dedup();
    format!("fio {}\n", jobs.join(" "))
}

/// What came of the jobs in fio's formats, one behind the other.
fn printed(done: &JobsResult, formats: &[FioFormat], is_first: bool) -> String {
    let findings: Vec<String> = done.outcome.findings.iter().map(|finding| finding.text.clone()).collect();
    let run = &done.outcome.run;
    let facts = RunFacts {
        version: &run.version,
        timestamp_ms: run.started_ms,
        seed: run.seed,
        direct: done.direct,
        findings: &findings,
    };
    let measured = jobs::points(&done.outcome).map(|point| point.measurements().next());
    in_formats(&facts, &reported(&done.import, measured), formats, is_first)
}

/// The same of what jobs have done so far.
fn of_now(jobs: &JobsSoFar, formats: &[FioFormat], is_first: bool) -> String {
    let facts = RunFacts {
        version: env!("CARGO_PKG_VERSION"),
        timestamp_ms: lab::now_ms(),
        seed: jobs.seed,
        direct: jobs.direct,
        findings: &[],
    };
    in_formats(&facts, &reported(jobs.import, jobs.measured.iter().map(Some)), formats, is_first)
}

/// What is printed of a run besides its jobs.
struct RunFacts<'a> {
    version: &'a str,
    timestamp_ms: i64,
    seed: Seed,
    direct: bool,
    findings: &'a [String],
}

fn in_formats(facts: &RunFacts, reported: &[Reported], formats: &[FioFormat], is_first: bool) -> String {
    let jobs: Vec<FioJob> = reported
        .iter()
        .map(|Reported { job, last, group, members, times, measurement, settling }| FioJob {
            single: Single {
                name: job.fio_name(),
                target: &job.file,
                version: facts.version,
                timestamp_ms: facts.timestamp_ms,
                seed: facts.seed,
                direct: facts.direct,
                measurement,
                findings: facts.findings,
            },
            group: *group,
            members: *members,
            times: *times,
            settling: settling.clone(),
            description: job.about.as_deref(),
            options: Some(options(last)),
            percentiles: last.percentiles(),
        })
        .collect();
    if jobs.is_empty() {
        return String::new();
    }
    let one = |format: &FioFormat| match format {
        FioFormat::Normal => export::normal(&jobs),
        FioFormat::Terse(version) => export::terse(&jobs, *version),
        FioFormat::Json { plus } => export::fio(&jobs, *plus),
    };
    let heading = (is_first && formats.contains(&FioFormat::Normal)).then(|| export::heading(&jobs));
    heading.into_iter().chain(formats.iter().map(one)).collect()
}

/// The options of a job as they were given, its name first.
fn options(job: &ImportedJob) -> Vec<(&'static str, String)> {
    let given = job.options().filter(|(name, _)| *name != "name").map(|(name, value)| (name, value.to_owned()));
    std::iter::once(("name", job.fio_name().to_owned())).chain(given).collect()
}

/// A job with figures of its own, which may be those of others too.
struct Reported<'a> {
    job: &'a ImportedJob,
    /// The last of those others, whose options fio gives for all.
    last: &'a ImportedJob,
    group: usize,
    members: u32,
    times: FioTimes,
    measurement: Cow<'a, Measurement>,
    /// How the jobs that are judged together came to the steady state that ends them.
    settling: Option<Settling>,
}

/// The jobs that have figures, in their order, those together that ask for the figures of their group.
fn reported<'a>(import: &'a Import, mut measured: impl Iterator<Item = Option<&'a Measurement>>) -> Vec<Reported<'a>> {
    let mut all: Vec<Reported> = Vec::new();
    for (group, jobs) in import.groups.iter().enumerate() {
        let own: Vec<(&ImportedJob, &Measurement)> =
            jobs.jobs.iter().filter_map(|job| Some((job, measured.next()??))).collect();
        let settled = Settling::of_each(&own.iter().map(|(_, measurement)| *measurement).collect::<Vec<_>>());
        for ((job, measurement), settling) in own.into_iter().zip(settled) {
            let (members, times) = (job.workload.workers, FioTimes::of(measurement));
            match all.last_mut() {
                Some(last) if last.group == group && last.job.is_reported_by_group() && job.is_reported_by_group() => {
                    last.last = job;
                    last.members += members;
                    last.times = last.times.and(times);
                    last.measurement.to_mut().merge(measurement);
                }
                _ => {
                    let measurement = Cow::Borrowed(measurement);
                    all.push(Reported { job, last: job, group, members, times, measurement, settling });
                }
            }
        }
    }
    all
}
