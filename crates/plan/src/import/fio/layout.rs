//! Which jobs run side by side, and which part of the one target each is on.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use block::{Bytes, Nanos};

use super::super::{ImportSource, Notice, Severity, SourceRange};
use super::World;
use super::clones::Clones;
use super::command_line::CommandLine;
use super::job::{ImportedJob, Natural, read};
use super::parts::{self, Part};
use super::section::{self, JobFile, Written};
use super::steady;

/// Jobs that run side by side, once those of the group before have ended.
#[derive(Clone, Debug)]
pub struct JobGroup {
    /// How long it waits before it begins.
    pub delay: Nanos,
    pub jobs: Vec<ImportedJob>,
}

/// A job file, as it can be run.
#[derive(Clone, Debug)]
pub struct Import {
    /// The file and those that it includes.
    pub sources: Vec<ImportSource>,
    /// Its jobs; of use only if it is not refused.
    pub groups: Vec<JobGroup>,
    /// The file or device that all jobs are on; none if they are on several.
    pub target: Option<String>,
    /// The files or devices that the jobs are on, in the order of the one address space that they are ranges of.
    pub parts: Vec<Part>,
    /// How much of the target they reach; none for all that there is.
    pub size: Option<Bytes>,
    /// Whether the page cache is passed by.
    pub direct: bool,
    /// What holds for a whole run here, where all jobs ask for the same: option and value.
    pub of_all: BTreeMap<&'static str, String>,
    /// Whether every job's engine waits for each request before it makes the next.
    pub waits: bool,
    /// Whether every job's engine sends commands of NVMe.
    pub commands: bool,
    /// Whether any job reads, or writes over, what must have been written before.
    pub uses_data: bool,
    /// What is to be said of it, in the order of the text.
    pub notices: Vec<Notice>,
    /// Options that make no difference here.
    pub natural: BTreeSet<Natural>,
}

impl Import {
    /// Whether it cannot be run.
    pub fn refused(&self) -> bool {
        self.notices.iter().any(|notice| notice.severity == Severity::Error)
    }

    /// Whether the target is written before it is used, as fio lays out files, which it does not do with devices.
    pub fn layout(&self) -> bool {
        let device = self.target.as_ref().is_some_and(|target| target.starts_with("/dev/"));
        self.uses_data && !device
    }

    /// All jobs in order.
    pub fn jobs(&self) -> impl Iterator<Item = &ImportedJob> {
        self.groups.iter().flat_map(|group| &group.jobs)
    }
}

/// Options that hold for a whole run here.
const OF_ALL: [&str; 10] = [
    "continue_on_error",
    "cpus_allowed",
    "cpus_allowed_policy",
    "hipri",
    "invalidate",
    "iodepth_batch",
    "iodepth_batch_complete_max",
    "iodepth_batch_complete_min",
    "randseed",
    "sqthread_poll",
];

/// Reads the job file at `path`, whose text is `text`; with `only`, no sections but those and the global ones.
///
/// All of it is to be run on one target, as a plan is: jobs that are on several files are put on ranges of that.
pub fn import(path: &Path, text: &str, only: &[String], world: &dyn World) -> Import {
    let file = JobFile { path: path.to_owned(), text: text.to_owned() };
    read_in(section::read(None, &[file], only, world), Clones::Together, world)
}

/// Reads a command line and the job files that it names; with `only`, no sections but those and the global ones.
///
/// Each job is on its own file, and the clones of a job have figures of their own where fio gives them such.
pub fn import_line(line: &CommandLine, files: &[JobFile], only: &[String], world: &dyn World) -> Import {
    read_in(section::read(Some(line), files, only, world), Clones::Apart, world)
}

fn read_in(written: Written, clones: Clones, world: &dyn World) -> Import {
    let (mut told, mut notices) = (NoticeLog::default(), written.notices);
    if written.sections.is_empty() && !notices.iter().any(|notice| notice.severity == Severity::Error) {
        let place = SourceRange { source: 0, span: 0..0, line: 1 };
        let option = "[job]".to_owned();
        let (message, help) = match clones {
            Clones::Together => ("the file has no job", "begin one with its name in brackets: `[read]`"),
            Clones::Apart => ("there is no job", "begin one with `--name=NAME`, or name a job file"),
        };
        let (message, help) = (message.to_owned(), Some(help.to_owned()));
        notices.push(Notice { severity: Severity::Error, code: "fio::no-job", option, message, help, place });
    }
    let (mut jobs, mut natural) = (Vec::new(), BTreeSet::new());
    for section in &written.sections {
        if let Some(mut job) = read(section, world, &mut notices) {
            natural.extend(job.natural.drain(..));
            clones.add(job, &mut jobs, &mut notices);
        }
        told.take(std::mem::take(&mut notices));
    }
    let parts = match clones {
        Clones::Together => parts::on_one_target(&mut jobs, &mut notices),
        Clones::Apart => parts::on_their_own(&mut jobs, world, &mut notices),
    };
    let target = if let [only] = &parts[..] { Some(only.name.clone()) } else { None };
    let direct = cache(&jobs, &mut notices);
    let of_all = match clones {
        Clones::Together => BTreeMap::new(),
        Clones::Apart => OF_ALL.into_iter().filter_map(|name| Some((name, of_all(&jobs, name)?))).collect(),
    };
    let waits = !jobs.is_empty() && jobs.iter().all(ImportedJob::waits);
    let commands = !jobs.is_empty() && jobs.iter().all(ImportedJob::commands);
    let ends: Option<Vec<Bytes>> = jobs.iter().map(ImportedJob::end).collect();
    let size = ends.and_then(|ends| ends.into_iter().max());
    let reads = |job: &ImportedJob| !job.workload.pattern.changes_data() || job.workload.pattern.is_mixed();
    let uses_data = jobs.iter().any(|job| reads(job) || job.overwrites);
    let mut groups = group(jobs, &mut notices);
    natural.extend(groups.iter_mut().flat_map(|group| &mut group.jobs).flat_map(|job| job.natural.drain(..)));
    told.take(notices);
    let mut notices = told.notices;
    notices.retain(|notice| notice.severity == Severity::Error || !of_all.contains_key(&*notice.option));
    notices.sort_by_key(|notice| (notice.place.source, notice.place.span.start));
    let sources = written.sources;
    Import { sources, groups, target, parts, size, direct, of_all, waits, commands, uses_data, notices, natural }
}

/// What is to be said, each thing once: what a global section says is found in each of its jobs.
#[derive(Default)]
struct NoticeLog {
    notices: Vec<Notice>,
    seen: HashSet<(usize, usize, String)>,
}

impl NoticeLog {
    fn take(&mut self, found: Vec<Notice>) {
        let seen = &mut self.seen;
        let new = |notice: &Notice| seen.insert((notice.place.source, notice.place.span.start, notice.to_string()));
        self.notices.extend(found.into_iter().filter(new));
    }
}

/// The value of an option that all jobs give alike.
fn of_all(jobs: &[ImportedJob], name: &str) -> Option<String> {
    let value = |job: &ImportedJob| job.section.option(name).map(|given| given.text().to_owned());
    let first = value(jobs.first()?)?;
    jobs.iter().all(|job| value(job).as_ref() == Some(&first)).then_some(first)
}

/// Whether the page cache is passed by, which holds for all jobs.
fn cache(jobs: &[ImportedJob], notices: &mut Vec<Notice>) -> bool {
    let direct = jobs.first().is_some_and(|job| job.direct);
    for job in jobs.iter().filter(|job| job.direct != direct) {
        let follows =
            format!("the target is opened once, with `--direct={}`, as the first job has it", u8::from(direct));
        match job.section.option("direct").or(job.section.option("buffered")) {
            Some(given) => notices.push(given.lost(follows)),
            None => notices.push(about(job, "`direct` is not as in the first job".to_owned(), follows)),
        }
    }
    direct
}

/// A warning about a job as a whole.
fn about(job: &ImportedJob, message: String, follows: String) -> Notice {
    let (severity, code) = (Severity::Warning, "fio::not-honoured");
    Notice { severity, code, option: job.name.clone(), message, help: Some(follows), place: job.place.clone() }
}

/// Sorts the jobs into groups by what each waits for.
fn group(jobs: Vec<ImportedJob>, notices: &mut Vec<Notice>) -> Vec<JobGroup> {
    let mut groups: Vec<Vec<ImportedJob>> = Vec::new();
    // The group that jobs belong to which wait for nothing more: the last to be begun by a stonewall.
    let mut base = 0;
    for job in jobs {
        let awaited = job
            .wait_for
            .as_ref()
            .and_then(|name| groups.iter().position(|group| group.iter().any(|other| is_called(other, name))));
        if let (None, Some(given)) = (awaited, job.section.option("wait_for")) {
            notices.push(given.bad(format!("no job above is called `{}`", given.text())));
        }
        if let (Some(place), Some(given)) = (awaited, job.section.option("wait_for"))
            && groups[place].iter().any(|other| !is_called(other, given.text()))
        {
            notices.push(given.lost("the job also waits for all jobs that run concurrently with that one"));
        }
        if job.stonewall && !groups.is_empty() {
            base = groups.len();
        }
        let place = awaited.map_or(base, |place| base.max(place + 1));
        if groups.len() <= place {
            groups.resize_with(place + 1, Vec::new);
        }
        groups[place].push(job);
    }
    groups.retain(|group| !group.is_empty());
    let mut since_start = Some(Nanos::ZERO);
    let mut left = groups.len();
    let each = |jobs| {
        left -= 1;
        let group = begin(jobs, &mut since_start, notices);
        if left > 0 {
            notices.extend(group.delays_others());
        }
        group
    };
    groups.into_iter().map(each).collect()
}

impl JobGroup {
    /// Tells of jobs that may not have begun when all others have ended, for which those behind do not wait in fio.
    fn delays_others(&self) -> impl Iterator<Item = Notice> {
        let begins_last = |job: &&ImportedJob| {
            let delay = job.workload.delay;
            let lasts = |other: &ImportedJob| other.workload.time_alone().is_some_and(|time| time > delay);
            delay > Nanos::ZERO && !self.jobs.iter().any(|other| other.workload.delay < delay && lasts(other))
        };
        let late = self.jobs.iter().filter(begins_last).filter_map(|job| job.section.option("startdelay"));
        late.map(|given| {
            given.lost("later jobs wait for this one too; in fio only if it has begun when the others have ended")
        })
    }
}

fn is_called(job: &ImportedJob, name: &str) -> bool {
    job.section.name == name
}

/// The group that `jobs` make, which begins when the first of them does, and not before those before it have ended. `since_start`
/// is how long these take, where that is known, and becomes the same with this group.
fn begin(mut jobs: Vec<ImportedJob>, since_start: &mut Option<Nanos>, notices: &mut Vec<Notice>) -> JobGroup {
    let delay = jobs.iter().map(|job| job.delay).min().unwrap_or_default();
    if since_start.is_none() {
        let late = jobs.iter().filter(|job| job.delay > Nanos::ZERO);
        notices.extend(late.filter_map(|job| job.section.option("startdelay")).map(|given| {
            given.lost(
                "the delay begins when the jobs before have ended, of which it is not known when they do; in fio it begins with \
                 the first of all jobs",
            )
        }));
    }
    // In fio a delay begins with the first of all jobs.
    let wait = delay.since(since_start.unwrap_or_default());
    let began = delay.max(since_start.unwrap_or_default());
    jobs.iter_mut().for_each(|job| job.workload.delay = job.delay.since(began));
    let times = jobs.iter().map(|job| job.workload.time_alone());
    let longest = times.collect::<Option<Vec<Nanos>>>().and_then(|times| times.into_iter().max());
    *since_start = since_start.zip(longest).map(|(before, time)| before + wait + time);
    for pair in jobs.windows(2).filter(|pair| !pair[0].is_reported_by_group()) {
        notices.extend(pair[1].section.option("group_reporting").map(|given| {
            given.lost("the group's figures begin with this job; fio adds them to those of the job before")
        }));
    }
    notices.extend(judged(&jobs));
    for job in &jobs {
        if let Some(given) = job.section.option("exitall").filter(|_| job.ends_others && jobs.len() > 1) {
            notices.push(given.lost("each job runs to its own end; give all the same `runtime`"));
        }
    }
    if let [only] = &mut jobs[..]
        && let Some(given) = only.section.option("exitall")
    {
        only.natural.push(Natural::of(given, "no job runs concurrently with this one"));
    }
    JobGroup { delay: wait, jobs }
}

/// What is not judged as in fio, of jobs that run side by side.
fn judged(jobs: &[ImportedJob]) -> Vec<Notice> {
    let steady: Vec<&ImportedJob> = jobs.iter().filter(|job| job.workload.stop.steady.criterion.is_some()).collect();
    let Some(first) = steady.first() else { return Vec::new() };
    let tell = |job: &ImportedJob, follows: &str| Some(job.section.option(steady::CRITERION)?.lost(follows));
    let judge = |job: &&ImportedJob| {
        let (workers, end) = (job.workload.workers, job.workload.stop.steady);
        let is_alone = steady.iter().filter(|other| other.workload.stop.steady == end).count() == 1;
        let is_group = job.is_reported_by_group() && job.section.option("new_group").is_none();
        if end != first.workload.stop.steady {
            tell(job, "the job is judged apart from the first; fio refuses jobs of one group that differ in this")
        } else if !is_alone && !is_group {
            tell(job, "the job is judged together with those beside it, as fio judges one group with `group_reporting`")
        } else if workers > 1 && !job.is_reported_by_group() {
            tell(job, "the clones are judged together, as in fio with `group_reporting`")
        } else {
            None
        }
    };
    steady.iter().filter_map(judge).collect()
}
