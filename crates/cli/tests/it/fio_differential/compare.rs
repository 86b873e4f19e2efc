//! What two programs asked for, compared as far as the job decides it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::job::{JobText, Section};
use super::run::{Ran, Request};

/// Options that decide when requests come or how they are counted, and not which.
const OF_TIMES: [&str; 8] =
    ["rate_iops", "rate", "thinktime", "thinktime_blocks", "startdelay", "ioengine", "iodepth", "group_reporting"];

/// How many standard deviations two counts may be apart that are drawn alike.
const DEVIATIONS: f64 = 5.0;

/// What differs, a line each.
pub fn differences(text: &JobText, theirs: &Ran, ours: &Ran) -> Vec<String> {
    // fio ends well where a job finds no place for its first request; assay says so.
    let is_empty = |section: &Section| theirs.logs[&section.name].is_empty();
    if theirs.is_endless || (theirs.is_done && !ours.is_done && text.sections.iter().any(is_empty)) {
        return Vec::new();
    }
    if theirs.is_done != ours.is_done {
        let first =
            |ran: &Ran| ran.stderr.lines().filter(|line| line.contains("err")).collect::<Vec<_>>().join("\n   ");
        let outcome = |ran: &Ran| if ran.is_done { "runs it" } else { "does not" };
        return vec![format!("fio {}: {}\nassay {}: {}", outcome(theirs), first(theirs), outcome(ours), first(ours))];
    }
    if !ours.is_done {
        return Vec::new();
    }
    let mut found = Vec::new();
    for section in &text.sections {
        let job = ComparedJob::of(section, theirs, ours);
        let mut told = Vec::new();
        job.compare(&mut told);
        found.extend(told.into_iter().map(|line| format!("{}: {line}", section.name)));
    }
    documents(theirs, ours, &mut found);
    found
}

/// One job of both.
struct ComparedJob<'a> {
    section: &'a Section,
    theirs: &'a [Request],
    ours: &'a [Request],
    /// Whether assay says that requests are not as asked.
    is_loose: bool,
    /// Whether it says that no flush follows the last request of each loop.
    lacks_end: bool,
}

impl<'a> ComparedJob<'a> {
    fn of(section: &'a Section, theirs: &'a Ran, ours: &'a Ran) -> Self {
        let announced = ours.announced.get(&section.name);
        let has = |wanted: &dyn Fn(&str) -> bool| announced.is_some_and(|names| names.iter().any(|name| wanted(name)));
        let is_end = |name: &str| ["end_fsync", "fsync_on_close"].contains(&name);
        // How many requests fall into the ramp is a matter of time.
        let has_ramp = section.get("ramp_time").is_some();
        // Where reads and writes have limits of their own, these decide what the shares are.
        let is_mixed = is_mixed(section);
        let is_of_times = |name: &str| OF_TIMES.contains(&name) && !(is_mixed && name.starts_with("rate"));
        Self {
            section,
            theirs: &theirs.logs[&section.name],
            ours: &ours.logs[&section.name],
            is_loose: has_ramp || has(&|name| !is_of_times(name) && !is_end(name)),
            lacks_end: has(&is_end),
        }
    }

    fn clones(&self) -> u64 {
        self.section.number("numjobs", 1)
    }

    fn is_random(&self) -> bool {
        self.section.get("rw").is_some_and(|rw| rw.starts_with("rand"))
    }

    fn is_mixed(&self) -> bool {
        is_mixed(self.section)
    }

    /// Whether all requests of a kind have one size, whose name has no list in it.
    fn has_one_size(&self) -> bool {
        let sizes = |log: &[Request]| {
            let mut by_op: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
            log.iter()
                .filter(|request| request.op != "sync")
                .for_each(|request| by_op.entry(&request.op).or_default().push(request.length));
            by_op.values().all(|lengths| lengths.iter().all(|length| *length == lengths[0]))
        };
        let is_list = self.section.get("bssplit").or(self.section.get("bsrange")).is_some();
        let of_bs = self.is_mixed() && self.section.get("bs").is_some_and(|bs| bs.contains(','));
        !is_list && !of_bs && sizes(self.theirs)
    }

    fn compare(&self, found: &mut Vec<String>) {
        self.bounds(found);
        if self.is_loose {
            return;
        }
        let moving = |log: &[Request]| log.iter().filter(|request| request.op != "sync").cloned().collect::<Vec<_>>();
        let (theirs, ours) = (moving(self.theirs), moving(self.ours));
        let one_size = self.has_one_size();
        // The first direction to come to its end may end a mix one request sooner.
        let slack = if self.is_mixed() && !self.is_random() { self.clones() as usize } else { 0 };
        if one_size && theirs.len().abs_diff(ours.len()) > slack {
            return found.push(format!("fio makes {} requests, assay {}", theirs.len(), ours.len()));
        }
        self.bytes(&theirs, &ours, found);
        self.flushes(found);
        let passes = passes(&theirs);
        shares("kind", &theirs, &ours, passes, |request| request.op.clone(), found);
        shares("size", &theirs, &ours, passes, |request| format!("{} of {}", request.op, request.length), found);
        match (self.is_random(), one_size && !self.is_mixed()) {
            (false, true) => self.sequence(&theirs, &ours, found),
            (false, false) => self.runs_on(&ours, &theirs, found),
            (true, _) => self.places(&theirs, &ours, one_size, found),
        }
    }

    /// Files are the same, and requests lie between the first and the last byte of fio's, give or take one of them.
    fn bounds(&self, found: &mut Vec<String>) {
        let reach = |log: &[Request]| {
            let mut reach: BTreeMap<String, (u64, u64)> = BTreeMap::new();
            for request in log.iter().filter(|request| request.op != "sync") {
                let entry = reach.entry(request.file.clone()).or_insert((u64::MAX, 0));
                *entry = (entry.0.min(request.offset), entry.1.max(request.offset + request.length));
            }
            reach
        };
        let (theirs, ours) = (reach(self.theirs), reach(self.ours));
        let names = |reach: &BTreeMap<String, (u64, u64)>| reach.keys().cloned().collect::<Vec<_>>().join(" ");
        // Where assay says what differs, a clone of fio's may also do nothing.
        let is_same =
            theirs.keys().eq(ours.keys()) || (self.is_loose && theirs.keys().all(|file| ours.contains_key(file)));
        if !is_same {
            found.push(format!("fio uses {}, assay {}", names(&theirs), names(&ours)));
        }
    }

    /// As much data is moved, but for the last request where they have several sizes.
    fn bytes(&self, theirs: &[Request], ours: &[Request], found: &mut Vec<String>) {
        let sum = |log: &[Request]| log.iter().map(|request| request.length).sum::<u64>();
        // The longest that any kind of request may have, which may be longer than those that there are.
        let longest = 2 * theirs.iter().chain(ours).map(|request| request.length).max().unwrap_or(0);
        let loops = self.section.number("loops", 1).max(1);
        let is_exact = self.has_one_size() && !self.is_mixed();
        let slack = if is_exact { 0 } else { longest * self.clones() * loops };
        let is_counted = self.section.number("number_ios", 0) > 0 && !self.has_one_size();
        if sum(theirs).abs_diff(sum(ours)) > slack && !is_counted {
            found.push(format!("fio moves {} B, assay {} B", sum(theirs), sum(ours)));
        }
    }

    fn flushes(&self, found: &mut Vec<String>) {
        let count = |log: &[Request]| log.iter().filter(|request| request.op == "sync").count() as u64;
        // The logs of clones have none.
        if self.clones() > 1 {
            return;
        }
        let passes = passes(self.theirs);
        let ends = if self.lacks_end { passes - 1 } else { 0 };
        let is_drawn = !self.has_one_size() || self.is_mixed();
        let drawn = if is_drawn { 1 + count(self.theirs) / 4 } else { 0 };
        // At the start of a pass fio flushes again, and it loses flushes that fall due while a queue first fills.
        // Source: fio 3.33, `io_u.c`, `get_rw_ddir`; `libfio.c`, `reset_io_counters`; `engines/libaio.c`, `fio_libaio_queue`.
        let again = passes - 1;
        let every = self.section.number("fsync", 0).max(self.section.number("fdatasync", 0));
        let lost = self.section.number("iodepth", 1).checked_div(every).map_or(0, |due| (due + 1) * passes);
        let lost = if self.section.get("ioengine") == Some("libaio") { lost } else { 0 };
        let (theirs, ours) = (count(self.theirs), count(self.ours));
        if theirs > ours + drawn + again + ends || ours > theirs + drawn + lost {
            found.push(format!("fio flushes {theirs} times, assay {ours}"));
        }
    }

    /// The same requests in the same order; of clones on one file, or where several are in flight, in any.
    fn sequence(&self, theirs: &[Request], ours: &[Request], found: &mut Vec<String>) {
        let order = |log: &[Request]| {
            let mut log = log.to_vec();
            if self.clones() > 1 {
                log.sort();
            }
            log
        };
        let (theirs, ours) = (order(theirs), order(ours));
        if let Some(place) = theirs.iter().zip(&ours).position(|(theirs, ours)| theirs != ours) {
            found.push(format!("request {place} is {:?} of fio, {:?} of assay", theirs[place], ours[place]));
        }
    }

    /// Each goes on where the last of its kind ended, or begins again where fio does.
    fn runs_on(&self, ours: &[Request], theirs: &[Request], found: &mut Vec<String>) {
        if self.clones() > 1 || self.section.get("rw").is_some_and(|rw| rw.contains(':')) {
            return;
        }
        let starts = |log: &[Request]| {
            let mut ends: BTreeMap<String, u64> = BTreeMap::new();
            let mut starts = std::collections::BTreeSet::new();
            for request in log {
                let end = ends.insert(request.op.clone(), request.offset + request.length);
                if end != Some(request.offset) {
                    starts.insert(request.offset);
                }
            }
            starts
        };
        if starts(ours) != starts(theirs) {
            found.push(format!("sequences begin at {:?} in fio, at {:?} in assay", starts(theirs), starts(ours)));
        }
    }

    /// Random places: each as often where a random map says so, and as frequent in each quarter of the range.
    fn places(&self, theirs: &[Request], ours: &[Request], one_size: bool, found: &mut Vec<String>) {
        let offsets = |log: &[Request]| {
            let mut counts: BTreeMap<(String, u64), u64> = BTreeMap::new();
            log.iter().for_each(|request| *counts.entry((request.file.clone(), request.offset)).or_default() += 1);
            counts
        };
        let (theirs_at, ours_at) = (offsets(theirs), offsets(ours));
        let is_even = self.section.get("random_distribution").is_none_or(|law| law == "random");
        // A list of alignments is none of these.
        let is_aligned = self.section.get("blockalign").is_some();
        let has_map = self.section.number("norandommap", 0) == 0 && is_even && !is_aligned;
        let most = |counts: &BTreeMap<(String, u64), u64>| counts.values().max().copied().unwrap_or(0);
        if has_map && one_size && self.clones() == 1 && most(&theirs_at) != most(&ours_at) {
            found.push(format!("a place comes up to {} times in fio, {} in assay", most(&theirs_at), most(&ours_at)));
        }
        let align = |counts: &BTreeMap<(String, u64), u64>| {
            let offsets = counts.keys().map(|(_, offset)| *offset);
            offsets.fold(0, |align, offset| if offset == 0 { align } else { align | offset }).trailing_zeros()
        };
        if theirs_at.len() > 8 && align(&theirs_at).min(20) != align(&ours_at).min(20) && ours_at.len() > 8 {
            found.push(format!(
                "places are multiples of 2^{} in fio, of 2^{} in assay",
                align(&theirs_at),
                align(&ours_at)
            ));
        }
        let ends = |log: &[Request]| log.iter().map(|request| request.offset + request.length).max().unwrap_or(0);
        let begins = |log: &[Request]| log.iter().map(|request| request.offset).min().unwrap_or(0);
        let (begin, end) = (begins(theirs).min(begins(ours)), ends(theirs).max(ends(ours)));
        if is_even || self.section.get("random_distribution").is_some_and(|law| law.starts_with("zoned")) {
            let quarter = |request: &Request| format!("{}", (request.offset - begin) * 4 / (end - begin).max(1));
            shares("quarter", theirs, ours, passes(theirs), quarter, found);
        } else {
            // Where the most wanted places lie differs, how wanted they are does not.
            let top = |counts: &BTreeMap<(String, u64), u64>| {
                let mut counts: Vec<u64> = counts.values().copied().collect();
                counts.sort_unstable_by(|a, b| b.cmp(a));
                counts.iter().take(counts.len().div_ceil(8)).sum::<u64>()
            };
            let (their, our) = ((top(&theirs_at), theirs.len() as u64), (top(&ours_at), ours.len() as u64));
            differ("the most wanted eighth", passes(theirs), their, our, found);
        }
    }
}

/// Whether a job reads and writes.
fn is_mixed(section: &Section) -> bool {
    let rw = section.get("rw").and_then(|rw| rw.split(':').next());
    rw.is_some_and(|rw| ["rw", "readwrite", "randrw"].contains(&rw))
}

/// How often fio goes through its part of a file. Each time it draws the same numbers again.
/// Source: fio 3.33, `libfio.c`, `clear_io_state`.
fn passes(log: &[Request]) -> u64 {
    let (begin, end) = log.iter().fold((u64::MAX, 0), |(begin, end), request| {
        (begin.min(request.offset), end.max(request.offset + request.length))
    });
    let moved: u64 = log.iter().map(|request| request.length).sum();
    if log.is_empty() { 1 } else { moved.div_ceil(end - begin) }
}

/// Compares the shares of requests by what `of` gives, where fio draws its own in so many `passes`.
fn shares(
    what: &str,
    theirs: &[Request],
    ours: &[Request],
    passes: u64,
    of: impl Fn(&Request) -> String,
    found: &mut Vec<String>,
) {
    let mut counts: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    theirs.iter().for_each(|request| counts.entry(of(request)).or_default().0 += 1);
    ours.iter().for_each(|request| counts.entry(of(request)).or_default().1 += 1);
    for (name, (their, our)) in counts {
        differ(&format!("{what} {name}"), passes, (their, theirs.len() as u64), (our, ours.len() as u64), found);
    }
}

/// Tells two shares that are further apart than draws of one law, of which `theirs` are the same in each of so many `passes`.
fn differ(what: &str, passes: u64, theirs: (u64, u64), ours: (u64, u64), found: &mut Vec<String>) {
    let share = |(count, all): (u64, u64)| count as f64 / all.max(1) as f64;
    let (n, m) = ((theirs.1 as f64 / passes as f64).max(1.0), ours.1.max(1) as f64);
    let pooled = (theirs.0 + ours.0) as f64 / (theirs.1 + ours.1).max(1) as f64;
    let spread = (pooled * (1.0 - pooled) * (1.0 / n + 1.0 / m)).sqrt();
    if (share(theirs) - share(ours)).abs() > DEVIATIONS * spread + 1.0 / n.min(m) {
        found.push(format!("{what}: {} of {} in fio, {} of {} in assay", theirs.0, theirs.1, ours.0, ours.1));
    }
}

/// Both documents have the same jobs, and ours each key that fio's has.
fn documents(theirs: &Ran, ours: &Ran, found: &mut Vec<String>) {
    if ours.announced.values().any(|names| names.contains("group_reporting")) {
        return;
    }
    let jobs = |ran: &Ran| ran.json["jobs"].as_array().cloned().unwrap_or_default();
    let (their_jobs, our_jobs) = (jobs(theirs), jobs(ours));
    let names = |jobs: &[Value]| jobs.iter().map(|job| job["jobname"].to_string()).collect::<Vec<_>>();
    if names(&their_jobs) != names(&our_jobs) {
        return found.push(format!(
            "jobs in JSON are {:?} in fio, {:?} in assay",
            names(&their_jobs),
            names(&our_jobs)
        ));
    }
    let is_told = |job: &Value| ours.announced.contains_key(job["jobname"].as_str().unwrap_or_default());
    for (theirs, ours) in their_jobs.iter().zip(&our_jobs).filter(|(job, _)| !is_told(job)) {
        let mut missing = Vec::new();
        keys(theirs, ours, "", &mut missing);
        missing.truncate(8);
        if !missing.is_empty() {
            found.push(format!("{} has no {}", ours["jobname"], missing.join(", ")));
        }
    }
}

/// The keys that `ours` lacks.
fn keys(theirs: &Value, ours: &Value, path: &str, missing: &mut Vec<String>) {
    let (Some(theirs), Some(known)) = (theirs.as_object(), ours.as_object()) else { return };
    // A kind of which one of them happened to draw none has no distribution.
    if known.get("total_ios").is_some_and(|count| *count == 0) {
        return;
    }
    for (key, value) in theirs {
        let path = format!("{path}/{key}");
        match known.get(key) {
            Some(own) => keys(value, own, &path, missing),
            None => missing.push(path),
        }
    }
}
