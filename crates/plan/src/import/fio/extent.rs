//! Which file a job is on, how much of it, and when the job ends.

use block::{Bytes, Nanos, SECTOR};
use workload::{BYTES_MAX, Stop};

use super::super::{Notice, Severity};
use super::given::{FioOption, FioSection};
use super::job::{ImportedJob, Natural, SECOND};
use super::reading::{FioAmount, OptionReader};
use super::{World, trace};

/// The file that the job is on, and the form of the names where each clone has one of its own.
pub(super) fn file(reading: &OptionReader, section: &FioSection) -> Option<(String, Option<String>)> {
    let folder = reading.option("directory").map_or("", FioOption::text).split(':').next().unwrap_or_default();
    let joined = |name: &str| match (folder, name.starts_with('/')) {
        ("", _) | (_, true) => name.to_owned(),
        (folder, false) => format!("{}/{name}", folder.trim_end_matches('/')),
    };
    if let Some(files) = reading.small("nrfiles").filter(|&files| files > 1)
        && let Some(given) = reading.option("nrfiles")
    {
        reading.tell(given.lost(format!("requests fall into one span as long as the {files} files together")));
    }
    if let Some(name) = trace::redirected(reading) {
        return Some((name.to_owned(), None));
    }
    if let Some(given) = reading.option("filename") {
        let names = names(given.text());
        if names.len() > 1 {
            let follows = format!("requests fall into one span in place of {} files", names.len());
            reading.tell(given.lost(follows));
        }
        let Some(first) = names.into_iter().next() else {
            reading.tell(given.bad("no file is named"));
            return None;
        };
        return Some((joined(&first), None));
    }
    let form = reading.option("filename_format").map_or("$jobname.$jobnum.$filenum", FioOption::text);
    let files = joined(&form.replace("$jobname", &section.name).replace("$filenum", "0"));
    let is_own = files.contains("$jobnum");
    Some((files.replace("$jobnum", "0"), is_own.then_some(files)))
}

/// The names in a list with colons between; `\:` is a colon in a name. A simulated drive is a target alone.
pub(super) fn names(list: &str) -> Vec<String> {
    if list.starts_with("sim:") {
        return vec![list.to_owned()];
    }
    let mut names = vec![String::new()];
    let mut letters = list.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if letters.peek() == Some(&':') => names.last_mut().expect("never empty").extend(letters.next()),
            ':' => names.push(String::new()),
            letter => names.last_mut().expect("never empty").push(letter),
        }
    }
    names.retain(|name| !name.trim().is_empty());
    names
}

/// How much of its file the job uses.
pub(super) fn set(reading: &OptionReader, world: &dyn World, job: &mut ImportedJob) -> Option<()> {
    let whole = world.capacity(&job.file, job.is_typed);
    let part = |name: &str| match reading.amount(name)? {
        FioAmount::Bytes(bytes) => Some(bytes),
        FioAmount::Percent(100) if name == "size" => whole,
        FioAmount::Percent(percent) => match (whole, reading.option(name)) {
            (Some(whole), _) => Some(of(whole, percent)),
            (None, Some(given)) => {
                reading.tell(
                    given.refused(format!("the size of {} is unknown here; name the target or its `--size`", job.file)),
                );
                None
            }
            (None, None) => None,
        },
    };
    let files = u64::from(reading.small("nrfiles").unwrap_or(1).max(1));
    let each = file_size(reading);
    let size = if reading.is_on("fill_device") { None } else { part("size").filter(|&size| size > Bytes::ZERO) };
    let files = each.map(|each| Bytes::new(each.get().saturating_mul(files)));
    job.length = match (size, files) {
        (Some(size), Some(files)) => Some(size.min(files)),
        (size, files) => size.or(files),
    };
    job.workload.size = job.length;
    job.workload.offset = part("offset").unwrap_or(Bytes::ZERO);
    job.increment = part("offset_increment").unwrap_or(Bytes::ZERO);
    let known = job.length.is_some() || reading.option("filename").is_some() || reading.is_on("fill_device");
    let known = known || whole.is_some() || reading.option("read_iolog").is_some();
    if !known && reading.option("size").is_none() {
        let message = format!("the size of job `{}`'s file is not given", job.name);
        reading.tell(Notice {
            severity: Severity::Error,
            code: "fio::no-size",
            option: "size".to_owned(),
            message,
            help: Some("add `size=…`, or `filename=…` of what has a length".to_owned()),
            place: job.place.clone(),
        });
        return None;
    }
    Some(())
}

/// The length of each of the job's files; of a range the largest.
fn file_size(reading: &OptionReader) -> Option<Bytes> {
    let given = reading.option("filesize")?;
    match given.text().split_once(['-', ':']) {
        Some((_, most)) => {
            reading.tell(given.lost("every file has the largest of these sizes"));
            reading.size(given, most)
        }
        None => reading.size(given, given.text()),
    }
}

fn of(whole: Bytes, percent: u32) -> Bytes {
    Bytes::new(((u128::from(whole.get()) * u128::from(percent) / 100) as u64) / SECTOR.get() * SECTOR.get())
}

/// When the job ends: once it has moved its size as often as it loops, unless it goes by time.
pub(super) fn end(reading: &OptionReader, job: &mut ImportedJob) {
    let time = reading.time("runtime", SECOND).filter(|&time| time > Nanos::ZERO);
    let timed = reading.is_on("time_based");
    let loops = reading.count("loops").unwrap_or(1).max(1);
    let each = u64::from(job.workload.workers.max(1)).saturating_mul(loops);
    let requests = reading.count("number_ios").filter(|&count| count > 0);
    let mut stop = Stop { time, requests: requests.map(|count| count.saturating_mul(loops)), ..Stop::default() };
    if let Some(given) = reading.option("time_based").filter(|_| timed && time.is_none()) {
        job.natural.push(Natural::of(given, "without `runtime` it changes nothing, in fio neither"));
    }
    if !timed || time.is_none() {
        let moved = match reading.amount("io_size") {
            Some(FioAmount::Bytes(bytes)) if bytes > Bytes::ZERO => Ok(bytes),
            Some(FioAmount::Percent(percent)) if percent > 0 => {
                job.length.map(|length| of(length, percent)).ok_or(percent)
            }
            _ => job.length.ok_or(100),
        };
        match moved {
            Ok(bytes) => stop.bytes = Some(Bytes::new(bytes.get().saturating_mul(each).min(BYTES_MAX.get()))),
            Err(percent) => stop.span = Some(each.saturating_mul(u64::from(percent)).min(1_000_000) as u32),
        }
    }
    job.workload.stop = stop;
}
