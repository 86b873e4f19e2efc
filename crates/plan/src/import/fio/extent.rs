//! Which file a job is on, how much of it, and when the job ends.

use block::{Bytes, Nanos};
use workload::{BYTES_MAX, Stop};

use super::super::{Notice, Severity};
use super::given::{FioOption, FioSection};
use super::job::{ImportedJob, Natural, SECOND};
use super::passes::Passes;
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
        reading.tell(given.lost(format!("requests go to one range as long as the {files} files together")));
    }
    if let Some(name) = trace::redirected(reading) {
        return Some((name.to_owned(), None));
    }
    if let Some(given) = reading.option("filename") {
        let names = names(given.text());
        if names.len() > 1 {
            let follows = format!("requests go to one range instead of {} files", names.len());
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
    let is_share = |name: &str| matches!(reading.amount(name), Some(FioAmount::Percent(_)));
    let part = |name: &str| match (reading.amount(name)?, whole, reading.option(name)) {
        (FioAmount::Bytes(bytes), ..) => Some(bytes),
        (FioAmount::Percent(percent), _, Some(given)) if percent > 100 => {
            reading.tell(
                given.bad(format!("{percent} % of a file cannot be; use at most 100 %, and `loops` or `io_size=SIZE`")),
            );
            None
        }
        (FioAmount::Percent(100), None, _) if name == "size" => None,
        (FioAmount::Percent(percent), Some(whole), _) => Some(share(whole, percent)),
        (FioAmount::Percent(_), None, Some(given)) => {
            let why = format!("the size of {} is unknown here; name the target or its `--size`", job.file);
            reading.tell(given.refused(why));
            None
        }
        (FioAmount::Percent(_), None, None) => None,
    };
    let least = job.workload.all_sizes().min().expect("every pattern makes requests").max(Bytes::new(1));
    job.start = part("offset").unwrap_or(Bytes::ZERO);
    job.increment = part("offset_increment").unwrap_or(Bytes::ZERO);
    // What is a share is moved on to where a request may begin.
    if is_share("offset") || is_share("offset_increment") {
        let given = reading.option("offset_align").and_then(|given| reading.size(given, given.text()));
        job.start_unit = given.filter(|unit| *unit > Bytes::ZERO).unwrap_or(least);
    }
    job.workload.offset = job.start_of(0);
    let size = if reading.is_on("fill_device") { None } else { part("size").filter(|&size| size > Bytes::ZERO) };
    let size = match (size, whole) {
        (Some(size), Some(whole)) if is_share("size") => {
            job.end = Some(whole);
            let rest = Bytes::new(whole.get().saturating_sub(job.workload.offset.get()));
            Some(size.min(rest).round_down(least))
        }
        (size, _) => size,
    };
    let files = u64::from(reading.small("nrfiles").unwrap_or(1).max(1));
    let each = file_size(reading);
    let files = each.map(|each| Bytes::new(each.get().saturating_mul(files)));
    job.length = match (size, files) {
        (Some(size), Some(files)) => Some(size.min(files)),
        (size, files) => size.or(files),
    };
    job.workload.size = job.length;
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
    end(reading, whole, job);
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

fn share(whole: Bytes, percent: u32) -> Bytes {
    let part = u128::from(whole.get()) * u128::from(percent) / 100;
    Bytes::new(u64::try_from(part).unwrap_or(u64::MAX)).min(BYTES_MAX)
}

/// When the job ends: once it has moved its size as often as it loops, unless it goes by time. `whole` is how long its file is.
fn end(reading: &OptionReader, whole: Option<Bytes>, job: &mut ImportedJob) {
    let time = reading.time("runtime", SECOND).filter(|&time| time > Nanos::ZERO);
    let timed = reading.is_on("time_based");
    let loops = reading.count("loops").unwrap_or(1).max(1);
    if let Some(given) = reading.option("loops").filter(|_| reading.count("loops") == Some(0)) {
        reading.tell(given.lost("the job runs once; fio does nothing if the size is less than the largest block"));
    }
    let workers = u64::from(job.workload.workers.max(1));
    let requests = reading.count("number_ios").filter(|&count| count > 0);
    let mut stop = Stop { time, requests: requests.map(|count| count.saturating_mul(loops)), ..Stop::default() };
    if let Some(given) = reading.option("number_ios").filter(|_| requests.is_some() && job.workload.ramp > Nanos::ZERO)
    {
        reading.tell(given.lost("requests within the ramp time count too, in fio only those after it"));
    }
    if let Some(given) = reading.option("time_based").filter(|_| timed && time.is_none()) {
        job.natural.push(Natural::of(given, "without `runtime` it changes nothing, in fio neither"));
    }
    let length =
        job.length.or(whole.and_then(|whole| whole.get().checked_sub(job.workload.offset.get())).map(Bytes::new));
    let io_size = match reading.amount("io_size") {
        Some(FioAmount::Bytes(bytes)) if bytes > Bytes::ZERO => Some(Ok(bytes)),
        Some(FioAmount::Percent(percent)) if percent > 0 => {
            Some(length.map(|length| share(length, percent)).ok_or(percent))
        }
        _ => None,
    };
    let passes = length.map(|length| Passes::of(&job.workload, length, whole));
    if let Some(passes) = &passes {
        passes.tell(reading, loops);
        job.workload.size = job.workload.size.map(|size| size.max(passes.reached));
    }
    if !timed || time.is_none() {
        let moved = match (io_size, passes) {
            (Some(Err(percent)), _) => Err(percent),
            (None, None) => Err(100),
            (io_size, Some(passes)) => Ok(passes.moved(io_size.and_then(Result::ok), loops)),
            (Some(Ok(limit)), None) => Ok(Bytes::new(limit.get().saturating_mul(loops))
                .min(BYTES_MAX)
                .round_up(job.workload.block.max(Bytes::new(1)))),
        };
        match moved {
            Ok(bytes) => stop.bytes = Some(Bytes::new(bytes.get().saturating_mul(workers).min(BYTES_MAX.get()))),
            Err(percent) => {
                let percent = workers.saturating_mul(loops).saturating_mul(u64::from(percent));
                stop.span = Some(percent.min(1_000_000) as u32);
            }
        }
    }
    job.workload.stop = stop;
}
