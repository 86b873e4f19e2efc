//! What a job asks for: its workload, its files, and when it begins.

use block::{Bytes, Nanos};
use workload::{Distribution, Pattern, Stop, Workload};

use super::super::{Notice, Place, Severity};
use super::World;
use super::engine::{self, Engine};
use super::given::{Given, Section};
use super::reading::{Amount, Direction, Reading};
use super::table::{self, Treatment};
use super::{pace, size};
use crate::plan::{Field, to_blame};

/// A second, in nanoseconds: the unit of times that have none.
const SECOND: f64 = 1e9;

/// A job of a job file, as it will be run.
#[derive(Clone, Debug)]
pub struct Job {
    /// Its name.
    pub name: String,
    /// What it is, where it says.
    pub about: Option<String>,
    /// Where it begins.
    pub place: Place,
    /// What is run.
    pub workload: Workload,
    /// Whether the page cache is passed by.
    pub direct: bool,
    /// The file that it is on, with its folder.
    pub file: String,
    /// Whether each of its clones has a file of its own.
    pub own_files: bool,
    /// How much of the file it uses, from the file's start; none for all that there is.
    pub length: Option<Bytes>,
    /// How far apart its clones begin, if they do.
    pub increment: Bytes,
    /// How long it waits at the beginning.
    pub delay: Nanos,
    /// Whether it waits for all that come before it.
    pub stonewall: bool,
    /// The job that it waits for.
    pub wait_for: Option<String>,
    /// Whether its end is the end of those beside it.
    pub ends_others: bool,
    /// Whether its file is written before it is used, although it only writes.
    pub overwrites: bool,
    /// What the options say that decide nothing of the above, for notices of later steps.
    pub(super) section: Section,
    /// Options that make no difference here.
    pub(super) natural: Vec<Natural>,
}

/// An option that makes no difference here.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Natural {
    /// The place of its file among the sources.
    pub source: usize,
    /// Its line there.
    pub line: usize,
    /// The option as it was written.
    pub option: String,
    /// Why it makes none.
    pub why: String,
}

impl Natural {
    pub(super) fn of(given: &Given, why: impl Into<String>) -> Self {
        Self { source: given.place.source, line: given.place.line, option: given.written(), why: why.into() }
    }
}

/// Reads a job; none if it cannot be run, which the notices say.
pub(super) fn read(section: &Section, world: &dyn World, notices: &mut Vec<Notice>) -> Option<Job> {
    let reading = Reading::new(section);
    let mut natural = Vec::new();
    if foreign(&reading) {
        notices.extend(reading.into_notices());
        return None;
    }
    for given in &section.options {
        treat(&reading, given, &mut natural);
    }
    let job = meaning(&reading, section, world, natural).filter(|_| reading.sound());
    notices.extend(reading.into_notices());
    job
}

/// Whether the job does something other than reading and writing a drive, which is told and is all there is to say.
fn foreign(reading: &Reading) -> bool {
    let Some(given) = reading.option("ioengine") else { return false };
    let name = given.text().split(':').next().unwrap_or_default();
    match engine::named(name).map(|named| named.engine) {
        Some(Engine::Foreign(what)) => reading.tell(given.refused(what)),
        Some(_) => return false,
        None => {
            let known: Vec<&str> = engine::ENGINES.iter().map(|engine| engine.name).collect();
            reading.tell(given.bad(format!("fio has no such I/O engine; {}", crate::plan::suggestion(name, &known))));
        }
    }
    true
}

/// Tells what becomes of an option that is not read by what follows.
fn treat(reading: &Reading, given: &Given, natural: &mut Vec<Natural>) {
    let mut nature = |why: String| natural.push(Natural::of(given, why));
    let value = given.text();
    match given.known.treatment {
        Treatment::Honoured => {}
        Treatment::Natural(why) => nature(why.to_owned()),
        Treatment::Lost(neutral, _) | Treatment::Refused(neutral, _) if neutral.contains(&value) => {
            nature("it asks for nothing".to_owned());
        }
        Treatment::Lost(_, follows) => reading.tell(given.lost(follows)),
        Treatment::Refused(_, why) => reading.tell(given.refused(why)),
        Treatment::With(lead) => match reading.option(lead).map(|lead| (lead, lead.known.treatment)) {
            Some((lead, Treatment::Lost(neutral, _))) if !neutral.contains(&lead.text()) => {
                reading.tell(given.lost(format!("it is a detail of `{}`, which is not honoured", lead.name)));
            }
            Some((lead, Treatment::Honoured)) if lead.known.name != "exitall" => {
                reading
                    .tell(given.lost(format!("it is a detail of `{}` for which assay has no counterpart", lead.name)));
            }
            Some(_) => nature(format!("it shares the lot of `{lead}`")),
            None => nature(format!("without `{lead}` it changes nothing")),
        },
    }
}

/// The kinds of requests of a pattern.
fn direction(pattern: Pattern) -> Direction {
    match pattern {
        Pattern::Read | Pattern::RandRead => Direction::Read,
        Pattern::Write | Pattern::RandWrite => Direction::Write,
        Pattern::Trim | Pattern::RandTrim => Direction::Trim,
        Pattern::ReadWrite | Pattern::RandRw => Direction::Mixed,
    }
}

fn meaning(reading: &Reading, section: &Section, world: &dyn World, mut natural: Vec<Natural>) -> Option<Job> {
    let mut workload = Workload { pattern: pattern(reading)?, ..Workload::default() };
    let towards = direction(workload.pattern);
    size::set(reading, towards, &mut workload);
    mixture(reading, &mut workload);
    if workload.pattern.is_random() {
        scatter(reading, towards, &mut workload);
    }
    let direct = direct(reading);
    workload.workers = reading.small("numjobs").unwrap_or(1);
    depth(reading, direct, &mut workload, &mut natural);
    content(reading, direct, &mut workload, &mut natural);
    if towards != Direction::Read {
        flushes(reading, &mut workload);
    }
    pace::set(reading, towards, &mut workload);
    let (file, own_files) = file(reading, section)?;
    let mut job = Job {
        name: section.name.clone(),
        about: reading.option("description").or(reading.option("name")).map(|given| given.text().to_owned()),
        place: section.place.clone(),
        direct,
        own_files,
        length: None,
        increment: Bytes::ZERO,
        delay: delay(reading),
        stonewall: reading.is_on("stonewall"),
        wait_for: reading.option("wait_for").map(|given| given.text().to_owned()),
        ends_others: reading.is_on("exitall"),
        overwrites: reading.is_on("overwrite"),
        section: section.clone(),
        workload,
        file,
        natural,
    };
    extent(reading, world, &mut job)?;
    end(reading, &mut job);
    check(reading, &job);
    Some(job)
}

fn pattern(reading: &Reading) -> Option<Pattern> {
    let Some(given) = reading.option("rw") else { return Some(Pattern::Read) };
    let (name, modifier) = given.text().split_once(':').unwrap_or((given.text(), ""));
    if ["trimwrite", "randtrimwrite"].contains(&name) {
        reading.tell(given.refused("no pattern of assay's trims a block and then writes it"));
        return None;
    }
    let Ok(pattern) = name.parse::<Pattern>() else {
        let names = Pattern::ALL.map(|(name, _)| name);
        reading.tell(given.bad(format!("`{name}` is no pattern; {}", crate::plan::suggestion(name, &names))));
        return None;
    };
    if !modifier.is_empty() && modifier != "0" {
        reading.tell(given.lost(match pattern.is_random() {
            true => format!("every request has a random place of its own, not the first of {modifier} alone"),
            false => format!("addresses go forward without gaps, not in steps of {modifier} more"),
        }));
    }
    Some(pattern)
}

/// The share of reads; of `rwmixread` and `rwmixwrite` the one that stands last counts.
fn mixture(reading: &Reading, workload: &mut Workload) {
    let (reads, writes) = (reading.option("rwmixread"), reading.option("rwmixwrite"));
    let at = |given: Option<&Given>| given.map(|given| (given.place.source, given.place.span.start));
    if let Some(given) = reads.filter(|_| at(reads) > at(writes)) {
        workload.read_percent = reading.share(given, given.text()).unwrap_or(workload.read_percent);
    } else if let Some(given) = writes {
        workload.read_percent = reading.share(given, given.text()).map_or(workload.read_percent, |share| 100 - share);
    }
}

/// Where random requests fall.
fn scatter(reading: &Reading, towards: Direction, workload: &mut Workload) {
    if let Some(each) = reading.each("percentage_random", 100, |given, text| reading.share(given, text)) {
        let (share, single) = each.of(towards);
        workload.random_percent = share;
        if let Some(given) = reading.option("percentage_random").filter(|_| !single) {
            reading.tell(given.lost(format!("reads and writes alike are random by {share} %")));
        }
    }
    if let Some(each) = reading.each("blockalign", workload.block, |given, text| reading.size(given, text)) {
        let (align, single) = each.of(towards);
        workload.align = Some(align);
        if let Some(given) = reading.option("blockalign").filter(|_| !single) {
            reading.tell(given.lost(format!("reads and writes alike are aligned to {align}")));
        }
    }
    if let Some(given) = reading.option("random_distribution") {
        distribution(reading, given, towards, workload);
    }
    if let Some(given) = reading.option("norandommap").filter(|_| !reading.is_on("norandommap")) {
        reading.tell(given.lost(ONCE));
    }
    if reading.word("random_generator", &["tausworthe", "lfsr", "tausworthe64"]) == Some("lfsr")
        && let Some(given) = reading.option("random_generator")
    {
        reading.tell(given.lost(ONCE));
    }
}

const ONCE: &str = "random addresses may come again before all others have come once";

fn distribution(reading: &Reading, given: &Given, towards: Direction, workload: &mut Workload) {
    let (law, lists) = given.text().split_once(':').unwrap_or((given.text(), ""));
    if law == "zoned_abs" {
        return reading.tell(given.lost("requests fall everywhere alike; write the zones as shares, with `zoned`"));
    }
    let lists: Vec<&str> = lists.split(',').collect();
    let place = match towards {
        Direction::Read | Direction::Mixed => 0,
        Direction::Write => 1,
        Direction::Trim => 2,
    };
    let list = lists.get(place).or(lists.last()).copied().unwrap_or_default();
    if towards == Direction::Mixed && lists.get(1).is_some_and(|second| *second != list) {
        reading.tell(given.lost("writes are distributed as reads are"));
    }
    let (list, center) = match law {
        "zoned" => (list, None),
        _ => list.split_once(':').map_or((list, None), |(list, center)| (list, Some(center))),
    };
    if center.is_some() {
        reading.tell(given.lost("the most wanted blocks lie scattered, not around one place"));
    }
    // What fio takes where the law stands alone.
    let text = match (law, list) {
        ("zipf", "") => "zipf:1.1".to_owned(),
        ("pareto", "") => "pareto:0.2".to_owned(),
        (law, "") => law.to_owned(),
        (law, list) => format!("{law}:{list}"),
    };
    match text.parse::<Distribution>() {
        Ok(distribution) => workload.distribution = distribution,
        Err(error) => reading.tell(given.bad(error.to_string())),
    }
}

/// Of `direct` and `buffered` the one that stands last counts; fio goes through the page cache unless told otherwise.
fn direct(reading: &Reading) -> bool {
    let (direct, buffered) = (reading.option("direct"), reading.option("buffered"));
    let at = |given: Option<&Given>| given.map(|given| (given.place.source, given.place.span.start));
    match at(direct) > at(buffered) {
        true => reading.is_on("direct"),
        false => reading.switch("buffered").is_some_and(|buffered| !buffered),
    }
}

/// How many requests are in flight, which is one with an engine that waits for each.
fn depth(reading: &Reading, direct: bool, workload: &mut Workload, natural: &mut Vec<Natural>) {
    let depth = reading.small("iodepth").unwrap_or(1);
    let offload = reading.word("io_submit_mode", &["inline", "offload"]) == Some("offload");
    let engine = reading.option("ioengine");
    let named = engine.map_or("psync", Given::text);
    let waits = engine::named(named).is_some_and(|engine| engine.one_at_a_time) && !offload;
    workload.queue_depth = if waits { 1 } else { depth };
    if let Some(given) = reading.option("iodepth").filter(|_| waits && depth > 1) {
        let why = format!("fio's `{named}` makes one request at a time, whatever `iodepth` says; so it is 1 here");
        natural.push(Natural::of(given, why));
    }
    if let Some(given) = reading.option("io_submit_mode") {
        let why = "a request is never held up by the submission of another".to_owned();
        natural.push(Natural::of(given, why));
    }
    let Some(given) = engine else { return };
    match engine::named(named).map(|named| named.engine) {
        Some(Engine::Same(why)) => natural.push(Natural::of(given, why)),
        Some(Engine::Other(follows)) => reading.tell(given.lost(follows)),
        _ => {}
    }
    if named == "libaio" && !direct && depth > 1 {
        let follows = format!(
            "without `direct=1` libaio mostly waits for each request; here {depth} are in flight through the page cache too"
        );
        reading.tell(given.lost(follows));
    }
}

/// What is written, and whether it is durable when it is done.
fn content(reading: &Reading, direct: bool, workload: &mut Workload, natural: &mut Vec<Natural>) {
    if let Some(given) = reading.option("buffer_compress_percentage") {
        workload.compressible = reading.share(given, given.text()).unwrap_or(0);
    }
    if reading.is_on("zero_buffers") {
        workload.compressible = 100;
    }
    let durable = reading.word("sync", &["none", "0", "sync", "1", "dsync"]);
    workload.durable = durable.is_some_and(|word| !matches!(word, "none" | "0"));
    if let Some(given) = reading.option("invalidate") {
        match reading.is_on("invalidate") && !direct {
            true => {
                reading.tell(given.lost("the page cache is not emptied before; drop it by hand, or use `direct=1`"))
            }
            false => natural.push(Natural::of(given, "there is nothing to drop")),
        }
    }
}

fn flushes(reading: &Reading, workload: &mut Workload) {
    workload.fsync = reading.small("fsync").unwrap_or(0);
    workload.fdatasync = reading.small("fdatasync").unwrap_or(0);
    if let Some(given) = reading.option("fdatasync").filter(|_| workload.fsync > 0 && workload.fdatasync > 0) {
        reading.tell(given.lost("flushes come as `fsync` says alone"));
        workload.fdatasync = 0;
    }
}

/// The file that the job is on, and whether each clone has one of its own.
fn file(reading: &Reading, section: &Section) -> Option<(String, bool)> {
    let folder = reading.option("directory").map_or("", Given::text).split(':').next().unwrap_or_default();
    let joined = |name: &str| match (folder, name.starts_with('/')) {
        ("", _) | (_, true) => name.to_owned(),
        (folder, false) => format!("{}/{name}", folder.trim_end_matches('/')),
    };
    if let Some(files) = reading.small("nrfiles").filter(|&files| files > 1)
        && let Some(given) = reading.option("nrfiles")
    {
        reading.tell(given.lost(format!("requests fall into one span as long as the {files} files together")));
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
        return Some((joined(&first), false));
    }
    let form = reading.option("filename_format").map_or("$jobname.$jobnum.$filenum", Given::text);
    let own = form.contains("$jobnum") || form.contains("$filenum") || form.contains("$clientuid");
    let name = form.replace("$jobname", &section.name).replace("$jobnum", "0").replace("$filenum", "0");
    Some((joined(&name), own))
}

/// The names in a list with colons between; `\:` is a colon in a name.
fn names(list: &str) -> Vec<String> {
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

/// How long the job waits; of a range fio draws one time for each clone.
fn delay(reading: &Reading) -> Nanos {
    match reading.option("startdelay") {
        Some(given) if given.text().contains(['-', ':']) => {
            reading.tell(given.lost("the job begins at once, with those beside it"));
            Nanos::ZERO
        }
        _ => reading.time("startdelay", SECOND).unwrap_or_default(),
    }
}

/// How much of its file the job uses.
fn extent(reading: &Reading, world: &dyn World, job: &mut Job) -> Option<()> {
    let whole = world.capacity(&job.file);
    let part =
        |name: &str| match reading.amount(name)? {
            Amount::Bytes(bytes) => Some(bytes),
            Amount::Percent(100) if name == "size" => whole,
            Amount::Percent(percent) => match (whole, reading.option(name)) {
                (Some(whole), _) => Some(of(whole, percent)),
                (None, Some(given)) => {
                    reading.tell(given.refused(format!(
                        "how long {} is cannot be told here; name the target or its `--size`",
                        job.file
                    )));
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
    if !known && reading.option("size").is_none() {
        let message = format!("nothing says how long the file of job `{}` is", job.name);
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
fn file_size(reading: &Reading) -> Option<Bytes> {
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
    Bytes::new(((u128::from(whole.get()) * u128::from(percent) / 100) as u64) / 512 * 512)
}

/// When the job ends: once it has moved its size as often as it loops, unless it goes by time.
fn end(reading: &Reading, job: &mut Job) {
    let time = reading.time("runtime", SECOND).filter(|&time| time > Nanos::ZERO);
    let timed = reading.is_on("time_based");
    job.workload.ramp = reading.time("ramp_time", SECOND).unwrap_or_default();
    let loops = reading.count("loops").unwrap_or(1).max(1);
    let each = u64::from(job.workload.workers.max(1)).saturating_mul(loops);
    let requests = reading.count("number_ios").filter(|&count| count > 0);
    let mut stop = Stop { time, requests: requests.map(|count| count.saturating_mul(loops)), ..Stop::default() };
    if timed && time.is_none() {
        if let Some(given) = reading.option("time_based") {
            let why = "without `runtime` it changes nothing, in fio neither".to_owned();
            job.natural.push(Natural::of(given, why));
        }
    }
    if !timed || time.is_none() {
        let size = reading.amount("size").and_then(|size| match size {
            Amount::Bytes(bytes) if bytes > Bytes::ZERO && !reading.is_on("fill_device") => Some(bytes),
            _ => None,
        });
        let moved = match reading.amount("io_size") {
            Some(Amount::Bytes(bytes)) if bytes > Bytes::ZERO => Ok(bytes),
            Some(Amount::Percent(percent)) if percent > 0 => {
                job.length.map(|length| of(length, percent)).ok_or(percent)
            }
            _ => size.or(job.length).ok_or(100),
        };
        match moved {
            Ok(bytes) => stop.bytes = Some(Bytes::new(bytes.get().saturating_mul(each).min(1 << 60))),
            Err(percent) => stop.span = Some(each.saturating_mul(u64::from(percent)).min(1_000_000) as u32),
        }
    }
    job.workload.stop = stop;
}

/// That the workload makes sense, or else which option is to blame.
fn check(reading: &Reading, job: &Job) {
    // Any capacity will do to see whether the rest makes sense.
    let tried = job.workload.on(Bytes::from_gib(1 << 30));
    let Err(error) = tried.check() else { return };
    let blamed =
        to_blame(&error, &tried).iter().flat_map(|field| options_of(*field)).find_map(|name| reading.option(name));
    reading.tell(match blamed {
        Some(given) => given.bad(error.to_string()),
        None => Notice {
            severity: Severity::Error,
            code: "fio::workload",
            option: job.name.clone(),
            message: format!("job `{}`: {error}", job.name),
            help: None,
            place: job.place.clone(),
        },
    });
}

/// The options that make a field what it is.
fn options_of(field: Field) -> Vec<&'static str> {
    let more: &[&'static str] = match field {
        Field::Bs => &["bsrange"],
        Field::IoSize => &["size", "filesize"],
        Field::RateIops => &["rate"],
        _ => &[],
    };
    table::named(field.name()).map(|known| known.name).into_iter().chain(more.iter().copied()).collect()
}
