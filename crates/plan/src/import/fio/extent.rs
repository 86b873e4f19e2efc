//! Which file a job is on, how much of it, and when the job ends.

use block::{Bytes, Nanos, SECTOR};
use workload::{BYTES_MAX, Invalid, Stop, Workload};

use super::super::{Notice, Severity};
use super::given::{FioOption, FioSection};
use super::job::{ImportedJob, Natural};
use super::passes::Passes;
use super::reading::{FioAmount, OptionReader};
use super::units::SECOND;
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

/// How much of its file each clone of a job uses, and how much of that it moves.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Extent {
    /// How long the file is, or will be, where that is told apart from what the job uses.
    whole: Option<Bytes>,
    /// How far it reaches when a clone begins, where that is known: others may have made it longer.
    pub(super) reach: Option<Bytes>,
    /// What is used; none for the rest of the file.
    size: Option<FioAmount>,
    /// What each pass asks for, where it is less than what is used.
    asked: Option<Bytes>,
    /// A share of a file is so many of these.
    least: Bytes,
    io_size: Option<FioAmount>,
    loops: u64,
    /// Whether the job ends by its time alone.
    is_timed: bool,
}

impl Extent {
    /// How much a clone uses that begins here; none where the file's length is not known.
    fn range(&self, begin: Bytes) -> Option<Bytes> {
        let rest = self.whole.map(|whole| Bytes::new(whole.get().saturating_sub(begin.get())));
        match self.size {
            Some(FioAmount::Bytes(size)) => Some(size),
            // As in fio, all of a file is not rounded.
            Some(FioAmount::Percent(percent)) if percent < 100 => {
                let part = self.whole.map_or(Bytes::ZERO, |whole| share(whole, percent));
                Some(part.min(rest.unwrap_or_default()).round_down(self.least))
            }
            Some(FioAmount::Percent(_)) | None => rest,
        }
    }

    /// The limit of all passes together, and what each asks for of this range. fio takes a share as a smaller size.
    fn asked(&self, range: Bytes) -> (Option<Bytes>, Bytes) {
        let asked = self.asked.unwrap_or(range).min(range);
        match self.io_size {
            Some(FioAmount::Bytes(limit)) => (Some(limit), asked),
            Some(FioAmount::Percent(percent)) => {
                (None, asked.min(Some(share(range, percent)).filter(|part| *part > Bytes::ZERO).unwrap_or(asked)))
            }
            None => (None, asked),
        }
    }
}

impl ImportedJob {
    /// Sets what one clone that begins at `begin` uses and moves; its passes, where the length is known.
    pub(super) fn lay(&mut self, begin: Bytes) -> Option<Passes> {
        let extent = self.extent;
        self.workload.offset = begin;
        let range = extent.range(begin);
        self.length = range.filter(|_| extent.size.is_some() || extent.asked.is_some());
        let passes = range.map(|range| {
            let (limit, asked) = extent.asked(range);
            Passes::of(&self.workload, range, extent.whole.max(extent.reach)).asking(
                asked,
                limit,
                &self.workload,
                self.queues(),
            )
        });
        let reached = passes.as_ref().map(Passes::reached);
        self.workload.size = reached.filter(|reached| self.length.is_some() || Some(*reached) < range);
        let stop = &mut self.workload.stop;
        (stop.bytes, stop.span) = (None, None);
        if extent.is_timed {
            return passes;
        }
        let all = |limit: Bytes| Bytes::new(limit.get().saturating_mul(extent.loops)).min(BYTES_MAX);
        let flushes = self.workload.workers == 1 && self.workload.fsync.max(self.workload.fdatasync) > 0;
        match (&passes, range, extent.io_size) {
            (Some(passes), Some(range), _) => {
                stop.bytes = Some(passes.moved(extent.asked(range).0, extent.loops, flushes));
            }
            (_, _, Some(FioAmount::Bytes(limit))) => {
                stop.bytes = Some(all(limit).round_up(self.workload.block.max(Bytes::new(1))));
            }
            (_, _, share) => {
                let percent = if let Some(FioAmount::Percent(percent)) = share { u64::from(percent) } else { 100 };
                stop.span = Some(extent.loops.saturating_mul(percent).min(1_000_000) as u32);
            }
        }
        passes
    }

    /// How much of its file is used by it, counted from its start; none for all of it.
    pub(super) fn end(&self) -> Option<Bytes> {
        let used = self.workload.size?.max(self.length.unwrap_or_default());
        Some(Bytes::new(self.workload.offset.get().saturating_add(used.get())))
    }
}

/// How much of its file the job uses, and when it ends: once it has moved its size as often as it loops, unless it goes by time.
pub(super) fn set(reading: &OptionReader, world: &dyn World, job: &mut ImportedJob) -> Option<()> {
    let there = world.capacity(&job.file, job.is_typed).map(|capacity| capacity.min(BYTES_MAX));
    let files = u64::from(reading.small("nrfiles").unwrap_or(1).max(1));
    let made = file_size(reading).map(|each| Bytes::new(each.get().saturating_mul(files)).min(BYTES_MAX));
    let whole = made.or(there);
    let amount = |name: &str| reading.amount(name, |given, count| zones(reading, world, job, given, count));
    let is_share = |name: &str| matches!(amount(name), Some(FioAmount::Percent(_)));
    let part = |name: &str| match (amount(name)?, whole, reading.option(name)) {
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
    let least = least(reading, job.workload.all_sizes().min().expect("every pattern makes requests"));
    // What is a share is moved on to where a request may begin, below.
    let in_sectors = |name: &str| {
        let (bytes, given) = (part(name)?, reading.option(name)?);
        let begin = bytes.round_down(SECTOR);
        if begin == bytes || is_share(name) {
            return Some(bytes);
        }
        let follows =
            format!("{} bytes are no whole number of {SECTOR} sectors; {} are taken", bytes.get(), begin.get());
        let unit = given.thousands().map_or_else(String::new, |unit| format!("; {unit}"));
        reading.tell(given.lost(follows + &unit));
        Some(begin)
    };
    let (start, increment) = (in_sectors("offset"), in_sectors("offset_increment"));
    let is_moved = is_share("offset") || is_share("offset_increment");
    let aligned = || reading.option("offset_align").and_then(|given| reading.size(given, given.text()));
    let start_unit =
        if is_moved { aligned().filter(|unit| *unit > Bytes::ZERO).unwrap_or(least) } else { Bytes::new(1) };
    let fills = reading.is_on("fill_device");
    let size = if fills { None } else { part("size").filter(|&size| size > Bytes::ZERO) };
    let size = size.and_then(|_| amount("size"));
    let known = size.is_some()
        || whole.is_some()
        || fills
        || ["filename", "read_iolog"].into_iter().any(|name| reading.option(name).is_some());
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
    if let (Some(offset), None, Some(capacity), Some(given)) = (start, size, whole, reading.option("offset"))
        && offset >= capacity
    {
        reading.tell(given.bad(Invalid::OffsetBeyond { offset, capacity }.to_string()));
        return None;
    }
    let (size, asked) = match size {
        // The file is as long as it is told to be, and the job moves its size of that.
        Some(FioAmount::Bytes(size)) if made.is_some() => (None, Some(size)),
        size => (size, made),
    };
    let io_size =
        amount("io_size").filter(|amount| !matches!(amount, FioAmount::Bytes(Bytes::ZERO) | FioAmount::Percent(0)));
    let time = job_time(reading);
    let is_timed = reading.is_on("time_based") && time.is_some();
    let loops = reading.count("loops").unwrap_or(1).max(1);
    (job.start, job.start_unit) = (start.unwrap_or_default(), start_unit);
    job.increment = increment.unwrap_or_default();
    job.extent = Extent { whole, reach: there, size, asked, least, io_size, loops, is_timed };
    end(reading, time, job);
    Some(())
}

/// How much so many zones of the job's file are. Without zones fio passes over what is counted by them.
///
/// Source: fio 3.33, `zbd.c`, `zbd_recalc_options_with_zone_granularity`.
fn zones(reading: &OptionReader, world: &dyn World, job: &ImportedJob, given: &FioOption, count: u32) -> Option<Bytes> {
    let is_strided = reading.option("zonemode").is_some_and(|given| given.text() == "strided");
    let strides = reading.option("zonesize").filter(|_| is_strided);
    let stride = strides.and_then(|given| reading.size(given, given.text()));
    let Some(zone) = stride.or_else(|| world.zone(&job.file, job.is_typed)) else {
        let why = format!("how long the zones of {} are is unknown here, if it has any; give bytes", job.file);
        reading.tell(given.refused(why));
        return None;
    };
    Some(Bytes::new(zone.get().saturating_mul(u64::from(count))).min(BYTES_MAX))
}

/// The smallest size of any kind of request, also of those that the job does not make, by which fio rounds; `own` is of those it
/// makes.
///
/// Source: fio 3.33, `thread_options.h`, `td_min_bs`.
fn least(reading: &OptionReader, own: Bytes) -> Bytes {
    let lists = ["bssplit", "bsrange", "bs"].into_iter().find_map(|name| reading.option(name));
    let lists = lists.filter(|given| given.text().contains(','));
    let sizes = lists.into_iter().flat_map(|given| {
        given.text().split([',', ':']).filter_map(|part| {
            match part.split(['/', '-']).next().unwrap_or_default().trim() {
                "" => Some(Workload::default().block),
                size => reading.size(given, size),
            }
        })
    });
    sizes.chain([own]).min().unwrap_or(own).max(Bytes::new(1))
}

/// After what time the job ends, if it does by time.
fn job_time(reading: &OptionReader) -> Option<Nanos> {
    reading.time("runtime", SECOND).filter(|&time| time > Nanos::ZERO)
}

/// The length of each of the job's files; of a range the largest.
fn file_size(reading: &OptionReader) -> Option<Bytes> {
    let given = reading.option("filesize")?;
    if given.text().ends_with('%') {
        reading.tell(given.lost("the file is used as long as it is; fio does so with a device alone"));
        return None;
    }
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

/// When the job ends.
fn end(reading: &OptionReader, time: Option<Nanos>, job: &mut ImportedJob) {
    let Extent { io_size, loops, .. } = job.extent;
    if let Some(given) = reading.option("loops").filter(|_| reading.count("loops") == Some(0)) {
        reading.tell(given.lost("the job runs once; fio does nothing if the size is less than the largest block"));
    }
    let requests = reading.count("number_ios").filter(|&count| count > 0);
    if let Some(given) = reading.option("time_based").filter(|_| reading.is_on("time_based") && time.is_none()) {
        job.natural.push(Natural::of(given, "without `runtime` it changes nothing, in fio neither"));
    }
    job.workload.stop = Stop { time, requests: requests.map(|count| count.saturating_mul(loops)), ..Stop::default() };
    let passes = job.lay(job.start_of(0));
    if let Some(passes) = &passes {
        let limit = if let Some(FioAmount::Bytes(limit)) = io_size { Some(limit) } else { None };
        passes.tell(reading, limit, loops, job.extent.is_timed);
    }
    let limit = ["io_size", "size"].into_iter().find_map(|name| reading.option(name));
    if let (Some(passes), Some(given)) = (&passes, limit)
        && let Some(asked) = passes.too_little(job.extent.least)
    {
        reading.tell(given.bad(format!("the job would move {asked}, which is less than its smallest request")));
    }
    if let (Some(passes), Some(given)) = (&passes, reading.option("random_distribution"))
        && job.workload.distribution.gathers()
        && !passes.is_whole(job.extent.least)
    {
        reading.tell(given.lost(
            "no request reaches beyond the range, which is no whole number of blocks; fio may draw one that does, and ends with it",
        ));
    }
    let workers = u64::from(job.workload.workers.max(1));
    let stop = &mut job.workload.stop;
    stop.bytes = stop.bytes.map(|bytes| Bytes::new(bytes.get().saturating_mul(workers).min(BYTES_MAX.get())));
    stop.span = stop.span.map(|percent| (u64::from(percent).saturating_mul(workers)).min(1_000_000) as u32);
}
