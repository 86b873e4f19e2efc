//! What a job asks for: its workload, its files, and when it begins.

use block::{Bytes, Nanos, suggestion};
use workload::{Field, Fio, FioValue, Mark, Pattern, Workload};

use super::super::{Notice, Severity, SourceRange};
use super::engine::{self, Engine};
use super::extent::Extent;
use super::given::{FioOption, FioSection};
use super::reading::{FioDirection, OptionReader};
use super::table::{self, Treatment};
use super::units::SECOND;
use super::{FioLogs, World, address, extent, idle, logs, pace, size, steady, trace};

/// A job of a job file, as it will be run.
#[derive(Clone, Debug)]
pub struct ImportedJob {
    /// Its name.
    pub name: String,
    /// What it is, where it says.
    pub about: Option<String>,
    /// Where it begins.
    pub place: SourceRange,
    /// What is run.
    pub workload: Workload,
    /// Whether the page cache is passed by.
    pub direct: bool,
    /// The file that it is on, with its folder.
    pub file: String,
    /// The files of its clones, where each has its own, with `$jobnum` in place of its number.
    pub(super) clone_files: Option<String>,
    /// Whether the command line says which file it is, and no job file does.
    pub(super) is_typed: bool,
    /// How much of the file it uses, from the file's start; none for all that there is.
    pub length: Option<Bytes>,
    /// Where its first clone begins, before that is moved on to a whole `start_unit`.
    pub(super) start: Bytes,
    /// Clones begin at multiples of this.
    pub(super) start_unit: Bytes,
    /// What its clones use and move, wherever they begin.
    pub(super) extent: Extent,
    /// How far apart its clones begin, if they do.
    pub increment: Bytes,
    /// How long it waits at the beginning.
    pub delay: Nanos,
    /// Whether it waits for all that come before it.
    pub stonewall: bool,
    pub wait_for: Option<String>,
    /// Whether its end is the end of those beside it.
    pub ends_others: bool,
    /// Whether its file is written before it is used, although it only writes.
    pub overwrites: bool,
    /// Where what it submits is to be written, if anywhere.
    pub record: Option<String>,
    /// What of its requests is to be written where.
    pub logs: FioLogs,
    /// What the options say that decide nothing of the above, for notices of later steps.
    pub(super) section: FioSection,
    /// Options that make no difference here.
    pub(super) natural: Vec<Natural>,
}

/// An option that makes no difference here.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Natural {
    /// The place of its file among the sources.
    pub source: usize,
    pub line: usize,
    /// The option as it was written.
    pub option: String,
    /// Why it makes none.
    pub why: String,
}

impl ImportedJob {
    /// The options in force, by the names of fio, as they were given.
    pub fn options(&self) -> impl Iterator<Item = (&'static str, &str)> {
        // fio's own first name for it.
        let name = |name| if name == "blockalign" { "ba" } else { name };
        self.section.options.iter().map(move |given| (name(given.known.name), given.value.as_deref().unwrap_or("")))
    }

    /// What fio calls it: its section's name, which its clones share.
    pub fn fio_name(&self) -> &str {
        &self.section.name
    }

    /// Why it cannot be run, where no option of its own is to blame.
    pub(super) fn wrong(&self, code: &'static str, message: String, help: Option<&str>) -> Notice {
        let (option, help, place) = (self.name.clone(), help.map(str::to_owned), self.place.clone());
        Notice { severity: Severity::Error, code, option, message, help, place }
    }

    /// Where clone number `clone` begins.
    pub(super) fn start_of(&self, clone: u32) -> Bytes {
        let begin = self.start.get().saturating_add(self.increment.get().saturating_mul(u64::from(clone)));
        Bytes::new(begin.div_ceil(self.start_unit.get()).saturating_mul(self.start_unit.get()))
    }

    /// Whether its engine waits for each request before it makes the next.
    pub(super) fn waits(&self) -> bool {
        let engine = self.section.option("ioengine").map_or("psync", FioOption::text);
        engine::named(engine).is_some_and(|engine| engine.one_at_a_time && matches!(engine.engine, Engine::Same(_)))
            && self.section.option("io_submit_mode").is_none_or(|given| given.text() == "inline")
    }

    /// Whether its engine queues requests, so that what is asked for counts as it is submitted.
    ///
    /// Source: fio 3.33, `backend.c`, `io_queue_event`.
    pub(super) fn queues(&self) -> bool {
        let is_inline = self.section.option("io_submit_mode").is_none_or(|given| given.text() == "inline");
        !self.waits() && is_inline && !self.workload.pattern.trims()
    }

    /// Whether its engine sends commands of NVMe.
    pub(super) fn commands(&self) -> bool {
        let engine = self.section.option("ioengine").and_then(|given| engine::named(given.text()));
        engine.is_some_and(|engine| engine.engine == engine::COMMANDS)
    }

    /// Whether the command line says where what it submits is to be written.
    pub fn is_record_typed(&self) -> bool {
        self.section.option("write_iolog").is_some_and(|given| given.is_typed)
    }

    /// The percentiles that it asks for, in the order of fio's output; none where it asks for none.
    pub fn percentiles(&self) -> Option<Vec<f64>> {
        percentiles(self.section.option("percentile_list")?.text()).ok()
    }

    /// Whether its figures are to be added to those of the others of its group.
    pub fn is_reported_by_group(&self) -> bool {
        self.section.option("group_reporting").is_some()
    }
}

impl Natural {
    pub(super) fn of(given: &FioOption, why: impl Into<String>) -> Self {
        Self { source: given.place.source, line: given.place.line, option: given.written(), why: why.into() }
    }
}

/// Reads a job; none if it cannot be run, which the notices say.
pub(super) fn read(section: &FioSection, world: &dyn World, notices: &mut Vec<Notice>) -> Option<ImportedJob> {
    let reading = OptionReader::new(section);
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
fn foreign(reading: &OptionReader) -> bool {
    let Some(given) = reading.option("ioengine") else { return false };
    let name = given.text().split(':').next().unwrap_or_default();
    match engine::named(name).map(|named| named.engine) {
        Some(Engine::Foreign(what)) => reading.tell(given.refused(what)),
        Some(_) => return false,
        None => {
            let known: Vec<&str> = engine::ENGINES.iter().map(|engine| engine.name).collect();
            reading.tell(given.bad(format!("fio has no such I/O engine; {}", suggestion(name, &known))));
        }
    }
    true
}

/// Tells what becomes of an option that is not read by what follows.
fn treat(reading: &OptionReader, given: &FioOption, natural: &mut Vec<Natural>) {
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
            Some(_) => nature(format!("it belongs to `{lead}`")),
            None => nature(format!("without `{lead}` it changes nothing")),
        },
    }
}

/// The kinds of requests of a pattern.
fn direction(pattern: Pattern) -> FioDirection {
    match pattern {
        Pattern::Read | Pattern::RandRead => FioDirection::Read,
        Pattern::Write | Pattern::RandWrite => FioDirection::Write,
        Pattern::Trim | Pattern::RandTrim => FioDirection::Trim,
        Pattern::ReadWrite | Pattern::RandRw => FioDirection::Mixed,
    }
}

fn meaning(
    reading: &OptionReader,
    section: &FioSection,
    world: &dyn World,
    mut natural: Vec<Natural>,
) -> Option<ImportedJob> {
    let (pattern, skip) = pattern(reading)?;
    let mut workload = Workload { pattern, skip, ..Workload::default() };
    let towards = direction(workload.pattern);
    size::set(reading, towards, &mut workload);
    idle::tell(reading, workload.pattern, &mut natural);
    if workload.pattern.is_mixed() {
        mixture(reading, &mut workload);
    }
    workload.positions_apart = workload.pattern == Pattern::ReadWrite
        || (workload.pattern == Pattern::RandRw && reading.option("percentage_random").is_some());
    if workload.pattern.is_random() {
        address::scatter(reading, towards, &mut workload);
    }
    let direct = direct(reading);
    depth(reading, direct, &mut workload, &mut natural);
    same(reading, &mut workload);
    zones(reading, &mut workload, &mut natural);
    cache(reading, direct, &mut natural);
    one_flush(reading, &mut workload);
    pace::set(reading, towards, &mut workload);
    let (file, clone_files) = extent::file(reading, section)?;
    let mut job = ImportedJob {
        name: section.name.clone(),
        about: reading.option("description").or(reading.option("name")).map(|given| given.text().to_owned()),
        place: section.place.clone(),
        direct,
        clone_files,
        is_typed: is_typed(reading, section),
        length: None,
        start: Bytes::ZERO,
        start_unit: Bytes::new(1),
        extent: Extent::default(),
        increment: Bytes::ZERO,
        delay: delay(reading),
        stonewall: reading.is_on("stonewall"),
        wait_for: reading.option("wait_for").map(|given| given.text().to_owned()),
        ends_others: reading.is_on("exitall"),
        overwrites: reading.is_on("overwrite"),
        record: reading.option("write_iolog").map(|given| given.text().to_owned()),
        logs: logs::of(reading, &section.name),
        section: section.clone(),
        workload,
        file,
        natural,
    };
    extent::set(reading, world, &mut job)?;
    let nothing = steady::set(reading, &mut job.workload);
    job.natural.extend(nothing.into_iter().map(|(given, why)| Natural::of(given, why)));
    trace::set(reading, &mut job);
    if let Some(given) = reading.option("percentile_list")
        && let Err(wrong) = percentiles(given.text())
    {
        reading.tell(given.bad(wrong));
    }
    check(reading, &job);
    Some(job)
}

/// Whether all that says which file the job is on stands on the command line.
fn is_typed(reading: &OptionReader, section: &FioSection) -> bool {
    let says = ["filename", "directory", "filename_format", "replay_redirect", "read_iolog"];
    let given = says.iter().filter_map(|name| reading.option(name)).map(|given| given.is_typed);
    let own_name = reading.option("filename").is_none().then_some(section.is_typed);
    given.chain(own_name).all(|is_typed| is_typed)
}

/// The pattern, and what a sequence passes over after each request.
fn pattern(reading: &OptionReader) -> Option<(Pattern, Bytes)> {
    let Some(given) = reading.option("rw") else { return Some((Pattern::Read, Bytes::ZERO)) };
    let (name, modifier) = given.text().split_once(':').unwrap_or((given.text(), ""));
    if ["trimwrite", "randtrimwrite"].contains(&name) {
        reading.tell(given.refused("no pattern of assay trims a block and then writes it"));
        return None;
    }
    let Ok(pattern) = name.parse::<Pattern>() else {
        let names = Pattern::ALL.map(|(name, _)| name);
        reading.tell(given.bad(format!("`{name}` is not a pattern; {}", suggestion(name, &names))));
        return None;
    };
    if modifier.is_empty() || modifier == "0" {
        return Some((pattern, Bytes::ZERO));
    }
    if pattern.is_random() {
        reading.tell(
            given.lost(format!("every request has a random offset of its own, not only the first of {modifier}")),
        );
        return Some((pattern, Bytes::ZERO));
    }
    if modifier.starts_with('-') {
        reading.tell(given.lost(format!("addresses go forward without gaps, not backward by {modifier}")));
        return Some((pattern, Bytes::ZERO));
    }
    Some((pattern, reading.size(given, modifier)?))
}

/// The share of reads; of `rwmixread` and `rwmixwrite` the one that stands last counts.
fn mixture(reading: &OptionReader, workload: &mut Workload) {
    let (reads, writes) = (reading.option("rwmixread"), reading.option("rwmixwrite"));
    let at = |given: Option<&FioOption>| given.map(|given| (given.place.source, given.place.span.start));
    if let Some(given) = reads.filter(|_| at(reads) > at(writes)) {
        workload.read_percent = reading.share(given, given.text()).unwrap_or(workload.read_percent);
    } else if let Some(given) = writes {
        workload.read_percent = reading.share(given, given.text()).map_or(workload.read_percent, |share| 100 - share);
    }
}

/// Of `direct` and `buffered` the one that stands last counts; fio goes through the page cache unless told otherwise.
fn direct(reading: &OptionReader) -> bool {
    let (direct, buffered) = (reading.option("direct"), reading.option("buffered"));
    let at = |given: Option<&FioOption>| given.map(|given| (given.place.source, given.place.span.start));
    match at(direct) > at(buffered) {
        true => reading.is_on("direct"),
        false => reading.switch("buffered").is_some_and(|buffered| !buffered),
    }
}

/// How many requests are in flight, which is one with an engine that waits for each.
fn depth(reading: &OptionReader, direct: bool, workload: &mut Workload, natural: &mut Vec<Natural>) {
    let depth = reading.small("iodepth").unwrap_or(1);
    let offload = reading.word("io_submit_mode", &["inline", "offload"]) == Some("offload");
    let engine = reading.option("ioengine");
    let named = engine.map_or("psync", FioOption::text);
    let waits = engine::named(named).is_some_and(|engine| engine.one_at_a_time) && !offload;
    workload.queue_depth = if waits { 1 } else { depth };
    if let Some(given) = reading.option("iodepth").filter(|_| waits && depth > 1) {
        let what = format!("the queue depth is 1, as in fio: `{named}` makes one request at a time");
        let help = match engine {
            Some(_) => "for a deeper queue take `ioengine=io_uring`",
            None => "`psync` is the default; for a deeper queue add `ioengine=io_uring`",
        };
        reading.tell(given.noted(what, help));
    }
    if let Some(given) = reading.option("io_submit_mode") {
        let why = "submission of one request never blocks another".to_owned();
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
            "without `direct=1` libaio mostly blocks on each request; here {depth} are in flight through the page \
             cache too"
        );
        reading.tell(given.lost(follows));
    }
}

/// Sets the fields that mean the same in fio, each by itself.
fn same(reading: &OptionReader, workload: &mut Workload) {
    for field in Field::ALL {
        // What concerns writes alone is read, and then passed over, in a job that makes none.
        let idle = field.is(Mark::Writes) && !workload.pattern.changes_data();
        let (Fio::Same(value), Some(given)) = (field.fio(), reading.option(field.name())) else { continue };
        let text = match value {
            FioValue::Count => reading.small(field.name()).map(|count| count.to_string()),
            FioValue::Percent => reading.share(given, given.text()).map(|share| share.to_string()),
            FioValue::Switch => reading.switch(field.name()).map(|on| u8::from(on).to_string()),
            FioValue::Word => Some(given.text().to_owned()),
            FioValue::Seconds => reading.time(field.name(), SECOND).map(|time| format!("{}ns", time.as_nanos())),
        };
        let mut unused = Workload::default();
        let workload = if idle { &mut unused } else { &mut *workload };
        if let Some(Err(error)) = text.map(|text| field.set(workload, &text)) {
            reading.tell(given.bad(error.to_string()));
        }
    }
}

/// How a drive with zones is used. A job that does not say so goes by `zonemode=zbd` there.
fn zones(reading: &OptionReader, workload: &mut Workload, natural: &mut Vec<Natural>) {
    let mode = reading.word("zonemode", &["none", "strided", "zbd"]);
    if let Some(given) = reading.option("zonemode") {
        match mode {
            Some("none") => workload.zoned.raw = true,
            Some("strided") => reading.tell(given.lost("requests cover the whole active range, without strides")),
            _ => {}
        }
    }
    for name in ["zonesize", "zonecapacity", "zonerange", "zoneskip"] {
        if let Some(given) = reading.option(name) {
            match mode {
                Some("strided") => {
                    reading.tell(given.lost("it is a detail of `zonemode=strided`, which is not honoured"))
                }
                Some("zbd") if name == "zoneskip" && given.text() != "0" => {
                    reading.tell(given.lost("no zone is skipped"))
                }
                Some("zbd") => natural.push(Natural::of(given, "a drive with zones says what they are")),
                _ => natural.push(Natural::of(given, "without `zonemode` it changes nothing")),
            }
        }
    }
    let share = |name: &str| {
        let given = reading.option(name)?;
        let share = given.text().parse().ok().filter(|share: &f64| (0.0..=1.0).contains(share));
        if share.is_none() {
            reading.tell(given.bad(format!("`{}` is not a share from 0 to 1", given.text())));
        }
        share.map(|share| (share * 100.0).round() as u8)
    };
    let zoned = &mut workload.zoned;
    zoned.reset_threshold = share("zone_reset_threshold").unwrap_or(zoned.reset_threshold);
    zoned.reset_frequency = share("zone_reset_frequency").unwrap_or(zoned.reset_frequency);
}

/// Whether the page cache is emptied first.
fn cache(reading: &OptionReader, direct: bool, natural: &mut Vec<Natural>) {
    if let Some(given) = reading.option("invalidate") {
        match reading.is_on("invalidate") || direct {
            true => natural.push(Natural::of(given, "the target's page cache is dropped before each run")),
            false => reading.tell(given.lost("the page cache is dropped nevertheless; run with `--invalidate=0`")),
        }
    }
}

/// That flushes come in one way alone.
fn one_flush(reading: &OptionReader, workload: &mut Workload) {
    if let Some(given) = reading.option("fdatasync").filter(|_| workload.fsync > 0 && workload.fdatasync > 0) {
        reading.tell(given.lost("flushes come as `fsync` says alone"));
        workload.fdatasync = 0;
    }
    // On a file that is closed at the end alone both mean the same.
    let at_end = ["end_fsync", "fsync_on_close"].into_iter().find(|name| reading.is_on(name));
    workload.end_fsync = at_end.is_some() && workload.pattern.changes_data();
    if let Some(given) = at_end.and_then(|name| reading.option(name)).filter(|_| reading.count("loops") > Some(1)) {
        reading.tell(given.lost("a flush follows the last loop alone, in fio each of them"));
    }
    let flushes = if workload.fsync > 0 { "fsync" } else { "fdatasync" };
    if let Some(given) =
        reading.option(flushes).filter(|_| workload.pattern.is_mixed() && workload.fsync.max(workload.fdatasync) > 0)
    {
        reading.tell(
            given.lost("a flush follows so many writes once; fio flushes again after each read until the next write"),
        );
    }
}

/// How long the job waits; of a range fio draws one time for each clone.
fn delay(reading: &OptionReader) -> Nanos {
    match reading.option("startdelay") {
        Some(given) if given.text().contains(['-', ':']) => {
            reading.tell(given.lost("the job begins at once, with the concurrent ones"));
            Nanos::ZERO
        }
        _ => reading.time("startdelay", SECOND).unwrap_or_default(),
    }
}

/// The most percentiles of a list, as in fio (`FIO_IO_U_LIST_MAX_LEN`).
const PERCENTILES_MAX: usize = 20;

/// The percentiles of a list, in their order; or what is wrong with it.
fn percentiles(list: &str) -> Result<Vec<f64>, String> {
    let percentile = |text: &str| {
        let number = text.trim().parse().ok().filter(|percent| (0.0..=100.0).contains(percent));
        number.ok_or_else(|| format!("`{text}` is not a percentile; give numbers from 0 to 100, as in 50:99:99.9"))
    };
    let mut all: Vec<f64> = list.split(':').map(percentile).collect::<Result<_, _>>()?;
    if all.len() > PERCENTILES_MAX {
        return Err(format!("{} percentiles are too many; give at most {PERCENTILES_MAX}", all.len()));
    }
    all.sort_by(f64::total_cmp);
    Ok(all)
}

/// That the workload makes sense, or else which option is to blame.
fn check(reading: &OptionReader, job: &ImportedJob) {
    // Any capacity will do to see whether the rest makes sense.
    let tried = job.workload.on(Bytes::from_gib(1 << 30));
    let Err(error) = tried.check() else { return };
    let blamed = error.fields(&tried).iter().flat_map(|field| options_of(*field)).find_map(|name| reading.option(name));
    reading.tell(match blamed {
        Some(given) => given.bad(error.to_string()),
        None => job.wrong("fio::workload", format!("job `{}`: {error}", job.name), None),
    });
}

/// The options that make a field what it is.
fn options_of(field: Field) -> Vec<&'static str> {
    let more: &[&'static str] = match field {
        Field::Bs => &["bsrange"],
        Field::IoSize => &["size", "filesize"],
        _ => &[],
    };
    table::named(field.name()).map(|known| known.name).into_iter().chain(more.iter().copied()).collect()
}
