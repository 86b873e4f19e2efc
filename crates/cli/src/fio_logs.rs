//! The logs that jobs of fio's ask for, and where they are written.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use block::Nanos;
use engine::{Completed, Observer};
use host::Output;
use lab::Outcome;
use lab::import::Import;
use lab::import::fio::{FioLog, ImportedJob, LogKind};
use report::export::WorkerLogs;

use crate::failure::Failure;
use crate::outputs;
use crate::terminal::notice;

/// How many files a run may write.
const FILES_MAX: usize = 1024;
/// How many requests have a line of their own in the logs of a run: about 1 GB of memory, and as much again for the text.
const LINES_MAX: usize = 20_000_000;

/// The logs of a run.
#[derive(Debug)]
pub struct FioRunLogs {
    /// In the order of the jobs; none of a job that asks for no log.
    jobs: Vec<Option<JobLogs>>,
    files: Vec<LogFile>,
}

#[derive(Debug)]
struct LogFile {
    path: PathBuf,
    output: Output,
    text: String,
}

/// The logs of a job: of each worker, and where each of them goes.
#[derive(Debug)]
struct JobLogs {
    workers: Vec<Mutex<WorkerLogs>>,
    /// The file of each log of each worker.
    files: Vec<Vec<usize>>,
    unix_epoch: bool,
    times_submissions: bool,
    /// When the job began by the clock of the world, since 1970.
    began: OnceLock<Nanos>,
    /// The last completion.
    last: Mutex<Nanos>,
    kept: Arc<AtomicUsize>,
}

impl FioRunLogs {
    /// Finds the place of all that the jobs ask for: that of the command line as it stands there, that of a job file in
    /// `folder`, or else where assay was started.
    ///
    /// # Errors
    /// If one cannot be written, or there would be too many.
    pub fn of(import: &Import, folder: Option<&Path>, name: &str) -> Result<Self, Failure> {
        let (mut files, mut jobs) = (Vec::<LogFile>::new(), Vec::new());
        let kept = Arc::new(AtomicUsize::new(0));
        // fio numbers the clones of all jobs together.
        let mut first = 1;
        for job in import.jobs() {
            let workers = job.workload.workers;
            let numbers = first..first + workers;
            first += workers;
            if job.logs.logs.is_empty() {
                jobs.push(None);
                continue;
            }
            let mut places = Vec::new();
            for number in numbers {
                let of_worker = job.logs.logs.iter().map(|log| place(job, log, number, folder, name));
                let of_worker = of_worker.map(|path| index(&mut files, path?)).collect::<Result<Vec<_>, Failure>>()?;
                places.push(of_worker);
            }
            jobs.push(Some(JobLogs {
                workers: (0..workers).map(|_| Mutex::new(WorkerLogs::new(&job.logs))).collect(),
                files: places,
                unix_epoch: job.logs.unix_epoch,
                times_submissions: job.logs.logs.iter().any(|log| log.kind == LogKind::Submission),
                began: OnceLock::new(),
                last: Mutex::default(),
                kept: Arc::clone(&kept),
            }));
        }
        if let [first, ..] = &files[..] {
            let more = if files.len() > 1 { format!(" and {} more", files.len() - 1) } else { String::new() };
            notice(format_args!("Logs are written: {}{more}", first.path.display()));
        }
        Ok(Self { jobs, files })
    }

    /// Who hears of the requests of each job, in their order.
    pub fn observers(&self) -> impl Iterator<Item = Option<&dyn Observer>> {
        self.jobs.iter().map(|job| job.as_ref().map(|job| job as &dyn Observer))
    }

    /// Writes all logs: of what was measured, or of what there was until the run broke off.
    ///
    /// # Errors
    /// If one cannot be written.
    pub fn write(mut self, outcome: Option<&Outcome>) -> Result<(), Failure> {
        let points = outcome.into_iter().flat_map(|outcome| &outcome.steps).flat_map(|step| &step.points);
        let mut measured = points.filter_map(|point| point.measurements().next());
        for job in &self.jobs {
            let elapsed = measured.next().map(|measured| measured.elapsed);
            let Some(job) = job else { continue };
            let elapsed = elapsed.unwrap_or_else(|| *held(&job.last));
            let epoch = job.began.get().copied().filter(|_| job.unix_epoch).unwrap_or_default();
            for (worker, files) in job.workers.iter().zip(&job.files) {
                let mut worker = held(worker);
                for (text, file) in worker.texts(epoch, elapsed).zip(files) {
                    self.files[*file].text += &text;
                }
            }
        }
        let all = self.jobs.iter().flatten().map(|job| job.kept.load(Ordering::Relaxed)).max();
        if let Some(all) = all.filter(|all| *all > LINES_MAX) {
            notice(format_args!(
                "The logs have the first {LINES_MAX} requests of {all}; give --log_avg_msec for longer runs."
            ));
        }
        self.files.drain(..).try_for_each(|mut file| {
            let written = file.output.write(file.text.as_bytes());
            written.map_err(|error| Failure::failed(format!("the log is lost, the figures are stored: {error}")))
        })
    }
}

impl Observer for JobLogs {
    fn times_submissions(&self) -> bool {
        self.times_submissions
    }

    fn completed(&self, worker: u32, completed: &Completed) {
        if self.unix_epoch {
            self.began.get_or_init(|| {
                let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                Nanos::from_std(now).since(completed.at)
            });
        }
        let mut logs = held(&self.workers[worker as usize]);
        let has_room = !logs.keeps_each() || self.kept.fetch_add(1, Ordering::Relaxed) < LINES_MAX;
        logs.add(completed, has_room);
        drop(logs);
        let mut last = held(&self.last);
        *last = (*last).max(completed.at);
    }
}

fn held<T>(one: &Mutex<T>) -> MutexGuard<'_, T> {
    one.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The place of this file among those that are written, where it is new if need be.
fn index(files: &mut Vec<LogFile>, path: PathBuf) -> Result<usize, Failure> {
    if let Some(at) = files.iter().position(|file| file.path == path) {
        return Ok(at);
    }
    if files.len() == FILES_MAX {
        return Err(Failure::usage(format!(
            "the jobs ask for more than {FILES_MAX} logs; --per_job_logs=0 gives all clones one"
        )));
    }
    let output = outputs::at(&path)?;
    files.push(LogFile { path, output, text: String::new() });
    Ok(files.len() - 1)
}

/// Where a log is written: as fio names it.
fn place(job: &ImportedJob, log: &FioLog, number: u32, folder: Option<&Path>, file: &str) -> Result<PathBuf, Failure> {
    let ending = match job.logs.per_job {
        true => format!("_{}.{number}.log", log.kind.word()),
        false => format!("_{}.log", log.kind.word()),
    };
    if log.is_typed {
        return Ok(folder.unwrap_or(Path::new("")).join(format!("{}{ending}", log.prefix)));
    }
    // A job file names no folder.
    let base = log.prefix.rsplit('/').next().unwrap_or_default();
    if base.is_empty() || base.starts_with('.') || base.chars().any(char::is_control) || base.len() > 200 {
        return Err(Failure::usage(format!(
            "{file} asks for a log named `{}`, which is not allowed; name it on the command line",
            log.prefix.escape_debug()
        )));
    }
    Ok(folder.unwrap_or(Path::new("")).join(format!("{base}{ending}")))
}
