//! Which jobs run side by side, and which part of the one target each is on.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use block::{Bytes, Nanos};
use workload::BYTES_MAX;

use super::super::{ImportSource, Notice, Severity, SourceRange};
use super::job::{ImportedJob, Natural, read};
use super::{World, section};

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
    /// How much of the target they reach; none for all that there is.
    pub size: Option<Bytes>,
    /// Whether the page cache is passed by.
    pub direct: bool,
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

/// The most clones of a job that are made jobs of their own.
const CLONES_MAX: u32 = 64;
/// The most jobs of which clones are made jobs.
const JOBS_MAX: usize = 4096;

/// Reads the job file at `path`, whose text is `text`; with `only`, no sections but those and the global ones.
pub fn import(path: &Path, text: &str, only: &[String], world: &dyn World) -> Import {
    let written = section::read(path, text, only, world);
    let (mut told, mut notices) = (NoticeLog::default(), written.notices);
    if written.sections.is_empty() && notices.is_empty() {
        let place = SourceRange { source: 0, span: 0..0, line: 1 };
        let (option, message) = ("[job]".to_owned(), "the file has no job".to_owned());
        let help = Some("begin one with its name in brackets: `[read]`".to_owned());
        notices.push(Notice { severity: Severity::Error, code: "fio::no-job", option, message, help, place });
    }
    let (mut jobs, mut natural) = (Vec::new(), BTreeSet::new());
    for section in &written.sections {
        if let Some(mut job) = read(section, world, &mut notices) {
            natural.extend(job.natural.drain(..));
            clones(job, &mut jobs, &mut notices);
        }
        told.take(std::mem::take(&mut notices));
    }
    let target = place(&mut jobs, &mut notices);
    let direct = cache(&jobs, &mut notices);
    let end = |job: &ImportedJob| Some(Bytes::new(job.workload.offset.get().saturating_add(job.workload.size?.get())));
    let ends: Option<Vec<Bytes>> = jobs.iter().map(end).collect();
    let size = ends.and_then(|ends| ends.into_iter().max());
    let reads = |job: &ImportedJob| !job.workload.pattern.changes_data() || job.workload.pattern.is_mixed();
    let uses_data = jobs.iter().any(|job| reads(job) || job.overwrites);
    let mut groups = group(jobs, &mut notices);
    natural.extend(groups.iter_mut().flat_map(|group| &mut group.jobs).flat_map(|job| job.natural.drain(..)));
    told.take(notices);
    let mut notices = told.notices;
    notices.sort_by_key(|notice| (notice.place.source, notice.place.span.start));
    Import { sources: written.sources, groups, target, size, direct, uses_data, notices, natural }
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

/// Gives each clone of a job its part: of a span that they share where that is what they have, or as jobs of their own.
fn clones(mut job: ImportedJob, jobs: &mut Vec<ImportedJob>, notices: &mut Vec<Notice>) {
    let workers = job.workload.workers;
    let sequential = !job.workload.pattern.is_random();
    if workers < 2 {
        return jobs.push(job);
    }
    let all = |each: Bytes| Bytes::new(each.get().saturating_mul(u64::from(workers)).min(BYTES_MAX.get()));
    let side_by_side = sequential && job.length == Some(job.increment);
    if job.increment > Bytes::ZERO && !side_by_side {
        return apart(&job, jobs, notices);
    }
    if side_by_side || job.own_files {
        job.workload.size = job.length.map(all);
    } else if sequential && let Some(given) = job.section.option("numjobs") {
        let follows = "the clones begin evenly spaced over the span; in fio all begin at its start";
        notices.push(given.lost(follows));
    }
    jobs.push(job);
}

/// Makes each clone a job, which begins so much further on.
fn apart(job: &ImportedJob, jobs: &mut Vec<ImportedJob>, notices: &mut Vec<Notice>) {
    let workers = job.workload.workers;
    let given = job.section.option("offset_increment").expect("it is what moves the clones apart");
    if workers > CLONES_MAX || jobs.len() > JOBS_MAX {
        notices.push(given.lost("all these clones begin at the offset of the first"));
        return jobs.push(job.clone());
    }
    for clone in 0..workers {
        let mut one = job.clone();
        let begin = job.workload.offset.get().saturating_add(job.increment.get().saturating_mul(u64::from(clone)));
        if begin > BYTES_MAX.get() {
            return notices.push(given.bad(format!("clone {clone} would begin beyond 1 EiB; give a smaller one")));
        }
        one.workload.offset = Bytes::new(begin);
        one.workload.workers = 1;
        one.workload.stop.bytes = job.workload.stop.bytes.map(|bytes| Bytes::new(bytes.get() / u64::from(workers)));
        one.workload.stop.span = job.workload.stop.span.map(|percent| percent / workers);
        one.name = format!("{}-{}", job.name, clone + 1);
        jobs.push(one);
    }
}

/// Puts jobs that are on several files on parts of one target; the file that all are on, if there is one.
fn place(jobs: &mut [ImportedJob], notices: &mut Vec<Notice>) -> Option<String> {
    let mut files: Vec<String> = Vec::new();
    let mut reach: BTreeMap<String, Option<Bytes>> = BTreeMap::new();
    for job in jobs.iter() {
        let end = job.workload.size.map(|size| job.workload.offset + size);
        if !reach.contains_key(&job.file) {
            files.push(job.file.clone());
        }
        let known = reach.entry(job.file.clone()).or_insert(Some(Bytes::ZERO));
        *known = known.zip(end).map(|(known, end)| known.max(end));
    }
    let [_, others @ ..] = &files[..] else { return None };
    if others.is_empty() {
        return files.pop();
    }
    let mut begin = Bytes::ZERO;
    let mut begins: BTreeMap<&str, Option<Bytes>> = BTreeMap::new();
    for file in &files {
        let length = reach[file];
        begins.insert(file, length.map(|_| begin));
        begin = Bytes::new(begin.get().saturating_add(length.map_or(0, whole)));
    }
    let all_known = begins.values().all(Option::is_some) && begin.get() <= BYTES_MAX.get();
    for job in jobs.iter_mut() {
        let begin = begins[&*job.file].filter(|_| all_known).unwrap_or_default();
        let SourceRange { source, line, .. } = job.place;
        job.workload.offset += begin;
        let where_ = match all_known {
            true => format!("`{}` is the part of the one target that begins at {begin}", job.file),
            false => format!("`{}` is the target that all jobs share", job.file),
        };
        match job.section.option("filename") {
            Some(given) if begin > Bytes::ZERO || !all_known => notices.push(given.lost(where_)),
            _ => job.natural.push(Natural { source, line, option: format!("[{}]", job.name), why: where_ }),
        }
    }
    None
}

/// A file's length, rounded so that the next begins where any request may.
fn whole(length: Bytes) -> u64 {
    length.get().div_ceil(1 << 20) << 20
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
    groups.into_iter().map(|jobs| begin(jobs, notices)).collect()
}

fn is_called(job: &ImportedJob, name: &str) -> bool {
    job.section.name == name
}

/// The group that `jobs` make, which begins when the first of them does.
fn begin(mut jobs: Vec<ImportedJob>, notices: &mut Vec<Notice>) -> JobGroup {
    let delay = jobs.iter().map(|job| job.delay).min().unwrap_or_default();
    for job in &jobs {
        if let Some(given) = job.section.option("startdelay").filter(|_| job.delay > delay) {
            notices.push(given.lost("the job begins with the concurrent ones"));
        }
        if let Some(given) = job.section.option("exitall").filter(|_| job.ends_others && jobs.len() > 1) {
            notices.push(given.lost("each job runs to its own end; give all the same `runtime`"));
        }
    }
    if let [only] = &mut jobs[..]
        && let Some(given) = only.section.option("exitall")
    {
        only.natural.push(Natural::of(given, "no job runs concurrently with this one"));
    }
    JobGroup { delay, jobs }
}
