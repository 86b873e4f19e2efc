//! What an access specification asks of a drive.

use block::{Bytes, Nanos, Op, SECTOR};
use workload::{Arrival, Pattern, Sizes, Workload, amount};

use super::entries::IcfLine;
use super::notices::Notices;
use crate::import::SourceRange;

/// An access specification.
#[derive(Clone, Debug)]
pub(super) struct Access {
    pub(super) name: String,
    pub(super) place: SourceRange,
    pub(super) assignment: Assignment,
    pub(super) portions: Vec<Portion>,
}

/// Which new workers have an access specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Assignment {
    None,
    Disk,
    Network,
}

/// One line of an access specification.
#[derive(Clone, Debug)]
pub(super) struct Portion {
    size: u64,
    /// Of all bursts, in percent.
    share: u64,
    reads: u64,
    random: u64,
    delay_ms: u64,
    burst: u64,
    /// Zero for sectors.
    align: u64,
    place: SourceRange,
}

/// The most portions that Iometer takes.
const PORTIONS_MAX: usize = 100;
/// The longest delay, in milliseconds: a day.
const DELAY_MAX: u64 = 86_400_000;
/// The longest burst.
const BURST_MAX: u64 = 1 << 20;

impl Portion {
    /// The portion that a line says; none, which is told, where its numbers are none.
    pub(super) fn read(line: &IcfLine, notices: &mut Notices) -> Option<Self> {
        // The first versions put blanks between the numbers.
        let fields: Vec<&str> =
            if line.text.contains(',') { line.fields().take(8).collect() } else { line.words().take(8).collect() };
        let mut numbers = [0_u64, 0, 0, 0, 0, 1, 0, 0];
        for (number, field) in numbers.iter_mut().zip(&fields) {
            match field.parse() {
                Ok(found) => *number = found,
                Err(_) => {
                    refuse(line.place(), format!("`{field}` is no whole number"), notices);
                    return None;
                }
            }
        }
        let [size, share, reads, random, delay_ms, burst, align, reply] = numbers;
        let wrong = [
            (fields.len() < 4, format!("there are {} numbers, of which four are the least", fields.len())),
            ([share, reads, random].iter().any(|&percent| percent > 100), "a share is more than 100 %".to_owned()),
            (delay_ms > DELAY_MAX, format!("a delay of {delay_ms} ms is longer than a day")),
            (burst > BURST_MAX, format!("a burst of {burst} requests is longer than {BURST_MAX}")),
        ];
        if let Some((_, found)) = wrong.into_iter().find(|(is, _)| *is) {
            refuse(line.place(), found, notices);
            return None;
        }
        if reply > 0 {
            let found = format!("a reply of {reply} B");
            notices.warn("icf::reply", "reply", line.place(), found, "replies are for networks; a drive gives none");
        }
        Some(Self { size, share, reads, random, delay_ms, burst: burst.max(1), align, place: line.place() })
    }

    /// The weight of its requests among those of all portions: a share is one of bursts.
    const fn weight(&self) -> u64 {
        self.share * self.burst
    }
}

fn refuse(place: SourceRange, found: String, notices: &mut Notices) {
    let right =
        "give size, % of size, % reads, % random, delay (ms), burst, align and reply: 4096,100,67,100,0,1,4096,0";
    notices.refuse("icf::portion", "size", place, found, right);
}

impl Access {
    /// Iometer's own specification that has the name `Default`.
    pub(super) fn built_in(place: SourceRange) -> Self {
        let portion = Portion {
            size: 2048,
            share: 100,
            reads: 67,
            random: 100,
            delay_ms: 0,
            burst: 1,
            align: 2048,
            place: place.clone(),
        };
        Self { name: "Default".to_owned(), place, assignment: Assignment::None, portions: vec![portion] }
    }

    /// The only specification of a file in which it has no name: all workers have it.
    pub(super) const fn unnamed(place: SourceRange) -> Self {
        Self { name: String::new(), place, assignment: Assignment::Disk, portions: Vec::new() }
    }

    /// The name that Iometer gives to what has none: what it does, if that is one thing.
    pub(super) fn own_name(&self) -> String {
        match &self.portions[..] {
            [Portion { size, reads, random, .. }] => {
                format!("{}; {reads}% Read; {random}% random", block_size(*size))
            }
            _ => "Untitled 1".to_owned(),
        }
    }

    /// The workload, without depth, workers, span and stop; none where there is no sense in it, which is told.
    pub(super) fn workload(&self, notices: &mut Notices) -> Option<Workload> {
        let portions: Vec<&Portion> = self.portions.iter().filter(|portion| portion.share > 0).collect();
        let total: u64 = portions.iter().map(|portion| portion.share).sum();
        if total != 100 || portions.len() > PORTIONS_MAX {
            let found = match total {
                100 => format!("`{}` has {} lines", self.name, portions.len()),
                _ => format!("the shares of sizes in `{}` make {total} %", self.name),
            };
            let right = "they must make 100 %, in at most 100 lines";
            notices.refuse("icf::shares", "% of size", self.place.clone(), found, right);
            return None;
        }
        let unfit = |portion: &&&Portion| portion.size == 0 || !portion.size.is_multiple_of(SECTOR.get());
        if let Some(portion) = portions.iter().find(unfit) {
            let found = format!("a size of {} B is not a whole number of 512 B sectors", portion.size);
            notices.refuse("icf::size", "size", portion.place.clone(), found, "give a multiple of 512");
            return None;
        }
        let of = |percent: fn(&Portion) -> u64| -> (u64, u64) {
            let weights = || portions.iter().map(|portion| portion.weight());
            (portions.iter().map(|portion| portion.weight() * percent(portion)).sum(), weights().sum::<u64>() * 100)
        };
        let reads = self.percent("% reads", of(|portion| portion.reads), notices);
        let random = self.percent("% random", of(|portion| portion.random), notices);
        let mut workload = Workload { pattern: pattern(reads, random), ..Workload::default() };
        if workload.pattern.is_mixed() {
            workload.read_percent = reads;
        }
        if workload.pattern.is_random() {
            workload.random_share = random.into();
        }
        self.tell_uneven_random(&portions, random, notices);
        self.size(&mut workload, &portions, notices);
        self.align(&mut workload, &portions, notices);
        self.pace(&mut workload, &portions, notices);
        Some(workload)
    }

    /// A share of all requests in whole percent. What is there at all stays, and all stays all.
    fn percent(&self, what: &str, (part, whole): (u64, u64), notices: &mut Notices) -> u8 {
        let exact = 100.0 * part as f64 / whole as f64;
        let nearest = (part * 200 + whole) / (whole * 2);
        let rounded = if part == 0 || part == whole { nearest } else { nearest.clamp(1, 99) };
        if !(part * 100).is_multiple_of(whole) {
            notices.warn(
                "icf::rounded",
                what,
                self.place.clone(),
                format!("`{}` makes {exact:.2} % of all requests as {what} has it", self.name),
                &format!("plans have whole percents: {rounded} %"),
            );
        }
        rounded as u8
    }

    fn tell_uneven_random(&self, portions: &[&Portion], random: u8, notices: &mut Notices) {
        let first = portions[0];
        let Some(other) = portions.iter().find(|portion| portion.random != first.random) else { return };
        notices.warn(
            "icf::random-by-size",
            "% random",
            other.place.clone(),
            format!("{} % of these requests are random, {} % of others", other.random, first.random),
            &format!("a plan has one share for all sizes: {random} % of each, which is the mean"),
        );
    }

    /// Sets the size, or the sizes with the share of each among reads and among writes.
    fn size(&self, workload: &mut Workload, portions: &[&Portion], notices: &mut Notices) {
        let reads = self.list("reads", portions, |portion| portion.reads, notices);
        let writes = self.list("writes", portions, |portion| 100 - portion.reads, notices);
        let lists: Vec<&str> = match (workload.ops(), reads == writes) {
            ([_, _], false) => vec![&reads, &writes],
            ([Op::Write], _) => vec![&writes],
            _ => vec![&reads],
        };
        let sizes: Sizes = lists.join(",").parse().expect("whole shares make 100 %");
        match workload.ops().iter().map(|&op| sizes.of(op)).collect::<Vec<_>>()[..] {
            [[only]] => workload.block = only.size,
            [[one], [other]] if one == other => workload.block = one.size,
            _ => workload.sizes = Some(sizes),
        }
    }

    /// The sizes of those requests of which each portion has `percent`, as a list; empty where there are none.
    fn list(
        &self,
        what: &str,
        portions: &[&Portion],
        percent: impl Fn(&Portion) -> u64,
        notices: &mut Notices,
    ) -> String {
        let mut sizes: Vec<(u64, u64)> = Vec::new();
        for portion in portions {
            let weight = portion.weight() * percent(portion);
            match sizes.iter_mut().find(|(size, _)| *size == portion.size) {
                Some((_, sum)) => *sum += weight,
                None => sizes.push((portion.size, weight)),
            }
        }
        sizes.retain(|(_, weight)| *weight > 0);
        let weights: Vec<u64> = sizes.iter().map(|(_, weight)| *weight).collect();
        let (shares, exact) = whole_percents(&weights);
        let present = sizes.iter().zip(&shares).filter(|(_, share)| **share > 0);
        let entries = present.map(|((size, _), share)| format!("{}/{share}", amount(Bytes::new(*size))));
        let text = entries.collect::<Vec<_>>().join(":");
        if !exact {
            let all: u64 = weights.iter().sum();
            let each = sizes.iter().map(|(size, weight)| {
                format!("{} {:.2} %", amount(Bytes::new(*size)), 100.0 * *weight as f64 / all as f64)
            });
            let found = format!("sizes of the {what} in `{}` have {}", self.name, each.collect::<Vec<_>>().join(", "));
            let follows = format!("plans have whole percents: {text}");
            notices.warn("icf::rounded", "% of size", self.place.clone(), found, &follows);
        }
        text
    }

    fn align(&self, workload: &mut Workload, portions: &[&Portion], notices: &mut Notices) {
        let sectors = |portion: &Portion| if portion.align == 0 { SECTOR.get() } else { portion.align };
        let moved = |portion: &&&Portion| portion.random < 100 && !portion.size.is_multiple_of(sectors(portion));
        if let Some(portion) = portions.iter().find(moved) {
            notices.warn(
                "icf::align",
                "align",
                portion.place.clone(),
                format!("sequential requests begin at multiples of {}, too", sectors(portion)),
                "in a plan only random ones do; sequential ones continue where the previous one ended",
            );
        }
        let mut random = portions.iter().filter(|portion| portion.random > 0);
        let Some(first) = random.next() else { return };
        let least = portions.iter().filter(|portion| portion.random > 0).map(|portion| sectors(portion)).min();
        let least = least.expect("one is random");
        if let Some(other) = random.find(|portion| sectors(portion) != sectors(first)) {
            notices.warn(
                "icf::align",
                "align",
                other.place.clone(),
                format!("these requests begin at multiples of {}, others of {}", sectors(other), sectors(first)),
                &format!("a plan has one alignment: all begin at multiples of {least}"),
            );
        }
        if !least.is_multiple_of(SECTOR.get()) {
            let found = format!("an alignment of {least} B is not a whole number of 512 B sectors");
            notices.refuse(
                "icf::align",
                "align",
                first.place.clone(),
                found,
                "give a multiple of 512, or 0 for sectors",
            );
            return;
        }
        let align = Bytes::new(least);
        if workload.ops().iter().any(|&op| workload.alignment(op) != align) {
            workload.align = Some(align);
        }
    }

    fn pace(&self, workload: &mut Workload, portions: &[&Portion], notices: &mut Notices) {
        let mean = |of: fn(&Portion) -> u64| portions.iter().map(|portion| portion.share * of(portion)).sum::<u64>();
        let (delay_us, burst) = (mean(|portion| portion.delay_ms) * 10, mean(|portion| portion.burst));
        let first = portions[0];
        let uneven = portions.iter().find(|portion| (portion.delay_ms, portion.burst) != (first.delay_ms, first.burst));
        let bursts = portions.iter().find(|portion| portion.burst > 1 && portions.len() > 1);
        if delay_us == 0 {
            if let Some(portion) = bursts {
                notices.warn(
                    "icf::burst",
                    "burst",
                    portion.place.clone(),
                    format!("{} requests of this line are consecutive", portion.burst),
                    "a plan draws each request independently, with the same probability",
                );
            }
            return;
        }
        workload.arrival =
            Arrival { think: Nanos::from_micros(delay_us), burst: ((burst + 50) / 100) as u32, ..Arrival::default() };
        notices.warn(
            "icf::delay",
            "delay",
            uneven.unwrap_or(&first).place.clone(),
            match uneven {
                Some(_) => "delays and bursts differ between lines".to_owned(),
                None => "Iometer waits before a burst, whatever is still in flight".to_owned(),
            },
            "a plan has one pause, the mean, which begins when a burst is completed; so requests are somewhat fewer",
        );
    }
}

/// A size as Iometer names it: `512 B`, `4 KiB`.
fn block_size(size: u64) -> String {
    match size {
        size if size > 0 && size.is_multiple_of(1 << 20) => format!("{} MiB", size >> 20),
        size if size > 0 && size.is_multiple_of(1 << 10) => format!("{} KiB", size >> 10),
        size => format!("{size} B"),
    }
}

/// fio's pattern with these shares, in percent.
const fn pattern(reads: u8, random: u8) -> Pattern {
    match (reads, random) {
        (100, 0) => Pattern::Read,
        (0, 0) => Pattern::Write,
        (_, 0) => Pattern::ReadWrite,
        (100, _) => Pattern::RandRead,
        (0, _) => Pattern::RandWrite,
        _ => Pattern::RandRw,
    }
}

/// The weights in whole percents that make 100, and whether they are exact. What is lost by rounding down goes to those
/// that lose most.
fn whole_percents(weights: &[u64]) -> (Vec<u64>, bool) {
    let all: u64 = weights.iter().sum();
    if all == 0 {
        return (Vec::new(), true);
    }
    let mut shares: Vec<u64> = weights.iter().map(|weight| weight * 100 / all).collect();
    let missing = 100 - shares.iter().sum::<u64>();
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by_key(|&i| std::cmp::Reverse(weights[i] * 100 % all));
    order.iter().take(missing as usize).for_each(|&i| shares[i] += 1);
    (shares, missing == 0 && weights.iter().all(|weight| weight * 100 % all == 0))
}
