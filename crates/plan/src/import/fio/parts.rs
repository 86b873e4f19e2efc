//! Which part of one address space each job is on.

use std::collections::BTreeMap;

use block::Bytes;
use workload::BYTES_MAX;

use super::super::{Notice, SourceRange};
use super::World;
use super::job::{ImportedJob, Natural};

/// A file or device that jobs are on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub name: String,
    /// Whether the command line names it, and no job file does.
    pub is_typed: bool,
    /// Where it begins in the address space of all.
    pub start: Bytes,
    /// How much of it is used; none for all that there is, which only one that stands alone can have.
    pub length: Option<Bytes>,
}

/// Puts each job behind the files of those before it that are on others; the files.
pub(super) fn on_their_own(jobs: &mut [ImportedJob], world: &dyn World, notices: &mut Vec<Notice>) -> Vec<Part> {
    let mut parts = files(jobs);
    if parts.len() < 2 {
        return parts;
    }
    let mut start = Bytes::ZERO;
    for part in &mut parts {
        part.length = part.length.or_else(|| world.capacity(&part.name, part.is_typed));
        part.start = start;
        let Some(length) = part.length else {
            let job = jobs.iter().find(|job| job.file == part.name).expect("it is some job's");
            let message = format!("the size of `{}` is unknown here", part.name);
            notices.push(job.wrong("fio::no-size", message, Some("give the job a `size`")));
            continue;
        };
        start = Bytes::new(start.get().saturating_add(whole(length)));
    }
    if start > BYTES_MAX {
        let job = jobs.last().expect("there are files because there are jobs");
        let message = "the files of all jobs together are larger than 1 EiB".to_owned();
        notices.push(job.wrong("fio::too-large", message, Some("give smaller sizes")));
    }
    for job in jobs.iter_mut() {
        let part = parts.iter().find(|part| part.name == job.file).expect("all files are parts");
        let rest = part.length.and_then(|length| length.get().checked_sub(job.workload.offset.get())).map(Bytes::new);
        // What has no size of its own ends where its file does.
        job.workload.size = job.workload.size.or(rest);
        job.workload.offset += part.start;
    }
    parts
}

/// Puts jobs that are on several files on ranges of one target; the file that all are on, if there is one.
pub(super) fn on_one_target(jobs: &mut [ImportedJob], notices: &mut Vec<Notice>) -> Vec<Part> {
    let mut parts = files(jobs);
    if parts.len() < 2 {
        return parts;
    }
    let mut begin = Bytes::ZERO;
    for part in &mut parts {
        part.start = begin;
        begin = Bytes::new(begin.get().saturating_add(part.length.map_or(0, whole)));
    }
    let all_known = parts.iter().all(|part| part.length.is_some()) && begin <= BYTES_MAX;
    for job in jobs.iter_mut() {
        let part = parts.iter().find(|part| part.name == job.file).expect("all files are parts");
        let begin = if all_known { part.start } else { Bytes::ZERO };
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
    parts
}

/// The files of all jobs in the order in which they are named first, each as long as the jobs reach.
fn files(jobs: &[ImportedJob]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for job in jobs {
        let end = job.end();
        let is_typed = job.is_typed;
        match places.get(&*job.file) {
            Some(&place) => {
                let part = &mut parts[place];
                part.length = part.length.zip(end).map(|(known, end)| known.max(end));
                part.is_typed &= is_typed;
            }
            None => {
                places.insert(&job.file, parts.len());
                parts.push(Part { name: job.file.clone(), is_typed, start: Bytes::ZERO, length: end });
            }
        }
    }
    parts
}

/// A file's length, rounded so that the next begins where any request may.
fn whole(length: Bytes) -> u64 {
    length.get().div_ceil(1 << 20) << 20
}
