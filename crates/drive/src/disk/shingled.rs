//! Shingled tracks behind a translation layer: what a write does to them, and where a read finds its data.
//!
//! Tracks of a band overlap, so that a band is written in order or all of it anew. Whatever is not the next of its band goes
//! to a media cache, which is a log on the platters behind all bands, and is brought home later, band by band.
//!
//! Source: A. Aghayev and P. Desnoyers, "Skylight: A Window on Shingled Disk Operation", FAST 2015: a persistent cache of
//! tens of GB written as a log, a limit to its extents, cleaning of the band written longest ago, in idle time or when the
//! log is full, by reading the band, merging and writing it.

use std::collections::{BTreeMap, VecDeque};

use block::{Bytes, Lba, Nanos, Request, Tag};
use serde::{Deserialize, Serialize};

use super::DiskDrive;
use super::spindle::SpindleActivity;

/// How often random writes have to fill the media cache until what it held before is forgotten.
const ROOMS_WRITTEN: u64 = 6;

/// How many random writes to a band leave it written nearly to its end.
const WRITES_TO_BAND: u64 = 64;

/// How a disk is shingled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShingledSpec {
    /// What is written in order or anew.
    pub band: Bytes,
    /// Room for what is not written in order.
    pub media_cache: Bytes,
    /// The most stretches that the media cache keeps apart.
    pub extents: u32,
    /// After how long without a command the disk begins to bring data home.
    pub clean_after: Nanos,
}

/// Sectors where they lie on the platters.
pub type Stretch = (Lba, Lba);

/// A read of data that lies in several places.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct ScatteredRead {
    pub first: Lba,
    pub end: Lba,
    /// The segment of the cache that it goes into.
    pub segment: usize,
}

/// The bands, the media cache, and where everything is.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Shingles {
    spec: ShingledSpec,
    /// Sectors that the host can use; the media cache lies behind them.
    sectors: u64,
    /// How much of each band is written in order.
    written: Vec<u32>,
    /// Stretches in the media cache: the first sector, the one after the last, and where they lie.
    cached: BTreeMap<u64, (u64, u64)>,
    /// What the log holds, in order of writing: the band and the sectors.
    log: VecDeque<(u32, u64)>,
    /// How many stretches have left the log.
    left: u64,
    /// How many had been written to the log when each band was brought home last: of those, none is the band's any longer.
    home: Vec<u64>,
    /// Where the log goes on, and how much of it is free.
    head: u64,
    free: u64,
    cleaned: u64,
}

impl Shingles {
    /// Bands never written, and an empty media cache.
    pub fn new(spec: ShingledSpec, sectors: u64) -> Self {
        let bands = sectors.div_ceil(spec.band.sectors()) as usize;
        Self {
            spec,
            sectors,
            written: vec![0; bands],
            cached: BTreeMap::new(),
            log: VecDeque::new(),
            left: 0,
            home: vec![0; bands],
            head: 0,
            free: spec.media_cache.sectors(),
            cleaned: 0,
        }
    }

    /// How many bands have been brought home.
    pub fn cleaned(&self) -> u64 {
        self.cleaned
    }

    /// When it begins to bring data home if nothing has needed the arm since `idle`.
    pub fn cleans_at(&self, idle: Nanos) -> Option<Nanos> {
        (!self.log.is_empty()).then(|| idle + self.spec.clean_after)
    }

    /// Whether the log has no room for that much, in the worst case.
    pub fn is_full(&self, sectors: u64) -> bool {
        self.free < sectors || self.cached.len() + 4 > self.spec.extents as usize
    }

    /// Where these sectors are written: appended to their bands, or to the log, which must have room.
    pub fn write(&mut self, first: Lba, end: Lba, plan: &mut Vec<Stretch>) {
        let band_size = self.spec.band.sectors();
        let (mut from, end) = (first.get(), end.get());
        while from < end {
            let band = from / band_size;
            let until = end.min((band + 1) * band_size);
            self.forget(from, until);
            if from % band_size == u64::from(self.written[band as usize]) {
                self.written[band as usize] += (until - from) as u32;
                join(plan, (from, until));
            } else {
                self.append(band as u32, from, until, plan);
            }
            from = until;
        }
    }

    fn append(&mut self, band: u32, mut from: u64, until: u64, plan: &mut Vec<Stretch>) {
        let size = self.spec.media_cache.sectors();
        while from < until {
            let count = (until - from).min(size - self.head);
            let place = self.sectors + self.head;
            self.cached.insert(from, (from + count, place));
            self.log.push_back((band, count));
            self.free = self.free.checked_sub(count).expect("whoever writes has asked whether the log is full");
            self.head = (self.head + count) % size;
            join(plan, (place, place + count));
            from += count;
        }
    }

    /// Where these sectors are read, in order.
    pub fn read(&self, first: Lba, end: Lba, plan: &mut Vec<Stretch>) {
        let (mut from, end) = (first.get(), end.get());
        while from < end {
            let (until, place) = match self.holding(from) {
                Some((until, place)) => (until.min(end), place),
                None => (self.next_cached(Lba::new(from)).get().min(end), from),
            };
            join(plan, (place, place + until - from));
            from = until;
        }
    }

    /// Where a sector is read.
    pub fn place(&self, sector: Lba) -> Lba {
        self.holding(sector.get()).map_or(sector, |(_, place)| Lba::new(place))
    }

    /// Up to where the media cache holds a sector and what follows, and where that lies.
    fn holding(&self, sector: u64) -> Option<(u64, u64)> {
        let (first, &(end, place)) = self.cached.range(..=sector).next_back()?;
        (sector < end).then(|| (end, place + sector - first))
    }

    /// `sector` if it lies in the media cache, else the next that does.
    pub fn next_cached_of(&self, sector: Lba) -> Lba {
        if self.holding(sector.get()).is_some() { sector } else { self.next_cached(sector) }
    }

    /// The first sector from `from` on at which a stretch of the media cache begins; the end of all if none does.
    pub fn next_cached(&self, from: Lba) -> Lba {
        let next = self.cached.range(from.get()..).next();
        Lba::new(next.map_or(self.sectors, |(first, _)| *first))
    }

    /// Forgets what the media cache has of these sectors, as they are written anew.
    fn forget(&mut self, first: u64, end: u64) {
        while let Some((&from, &(until, place))) = self.cached.range(..end).next_back() {
            if until <= first {
                return;
            }
            self.cached.remove(&from);
            if until > end {
                self.cached.insert(end, (until, place + end - from));
            }
            if from < first {
                self.cached.insert(from, (first, place));
            }
        }
    }

    /// Brings the band that the log holds longest home: what is read for it, in order of place, and what is written.
    ///
    /// # Panics
    /// If the log is empty.
    pub fn clean(&mut self, reads: &mut Vec<Stretch>) -> Stretch {
        let (band, _) = *self.log.front().expect("a log that holds something is cleaned");
        let first = u64::from(band) * self.spec.band.sectors();
        let limit = (first + self.spec.band.sectors()).min(self.sectors);
        let written = &mut self.written[band as usize];
        let held: Vec<(u64, u64, u64)> =
            self.cached.range(first..limit).map(|(from, (until, place))| (*from, *until, *place)).collect();
        let end = held.last().map_or(0, |(_, until, _)| *until).max(first + u64::from(*written));
        let is_whole = held.iter().map(|(from, until, _)| until - from).sum::<u64>() == end - first;
        if *written > 0 && !is_whole {
            join(reads, (first, first + u64::from(*written)));
        }
        let mut places: Vec<(u64, u64)> =
            held.iter().map(|(from, until, place)| (*place, place + until - from)).collect();
        places.sort_unstable();
        places.into_iter().for_each(|stretch| join(reads, stretch));
        *written = (end - first) as u32;
        for (from, ..) in &held {
            self.cached.remove(from);
        }
        self.home[band as usize] = self.left + self.log.len() as u64;
        while let Some((_, sectors)) = self.log.pop_front_if(|(band, _)| self.left < self.home[*band as usize]) {
            self.left += 1;
            self.free += sectors;
        }
        self.cleaned += 1;
        (Lba::new(first), Lba::new(end))
    }

    /// Whether all from `first` to `end` goes to its bands if it is written in order.
    pub fn can_fill(&self, first: Lba, end: Lba) -> bool {
        let mut bands = self.bands(first, end);
        self.log.is_empty() && bands.all(|(band, from, _)| u64::from(self.written[band]) == from)
    }

    /// Notes that all from `first` to `end` was written in order.
    pub fn fill(&mut self, first: Lba, end: Lba) {
        for (band, _, until) in self.bands(first, end) {
            self.written[band] = until as u32;
        }
    }

    /// Whether every band has been written to its end.
    fn is_written(&self) -> bool {
        let mut bands = self.bands(Lba::new(0), Lba::new(self.sectors));
        bands.all(|(band, _, until)| u64::from(self.written[band]) == until)
    }

    /// Leaves bands and media cache as so many writes of `sectors` at such places do. Bands to which many go are written nearly to
    /// their ends. Then all but the last writes leave no trace: those fill the media cache several times over, so that bands come home as
    /// often as they do at length.
    pub fn write_at_random(&mut self, writes: u64, sectors: u64, place: &mut impl FnMut() -> Lba) {
        let room = (self.spec.media_cache.sectors() / sectors).min(self.spec.extents.into());
        if writes > self.written.len() as u64 * WRITES_TO_BAND {
            self.fill(Lba::new(0), Lba::new(self.sectors));
        }
        let most = if self.is_written() { room.saturating_mul(ROOMS_WRITTEN) } else { u64::MAX };
        let (last, mut plan, mut reads) = (writes.min(most), Vec::new(), Vec::new());
        for _ in 0..last {
            while self.is_full(sectors) {
                self.clean(&mut reads);
                reads.clear();
            }
            let first = place();
            self.write(first, Lba::new(first.get() + sectors), &mut plan);
            plan.clear();
        }
    }

    /// The bands between two sectors, and which part of each is.
    fn bands(&self, first: Lba, end: Lba) -> impl Iterator<Item = (usize, u64, u64)> + use<> {
        let (size, first, end) = (self.spec.band.sectors(), first.get(), end.get());
        (first / size..end.div_ceil(size)).map(move |band| {
            let start = band * size;
            (band as usize, first.max(start) - start, end.min(start + size) - start)
        })
    }

    /// Forgets all data.
    pub fn clear(&mut self) {
        *self = Self { cleaned: self.cleaned, ..Self::new(self.spec, self.sectors) };
    }
}

/// Adds a stretch, joined with the last if it goes on where that ends.
fn join(plan: &mut Vec<Stretch>, (first, end): (u64, u64)) {
    match plan.last_mut() {
        Some((_, last)) if last.get() == first => *last = Lba::new(end),
        _ => plan.push((Lba::new(first), Lba::new(end))),
    }
}

/// What a disk of shingled tracks does more than others.
impl DiskDrive {
    /// The shingled tracks under an arm.
    pub(super) fn shingles(&mut self, index: usize) -> &mut Shingles {
        self.actuators[index].shingles.as_mut().expect("only a shingled disk has a media cache")
    }

    /// Brings a band home, and keeps the arm busy with it.
    pub(super) fn clean(&mut self, at: Nanos, index: usize) {
        let mut reads = Vec::new();
        let home = self.shingles(index).clean(&mut reads);
        let mut turning = self.spindle.turning(at);
        let works = reads.into_iter().map(|stretch| (stretch, SpindleActivity::Read));
        for (stretch, work) in works.chain([(home, SpindleActivity::Write)]) {
            self.actuators[index].arm.transfer(turning, stretch, work, 0, &mut self.spindle);
            turning = self.actuators[index].arm.free();
        }
    }

    /// Brings a band home if nothing has needed the arm for long enough.
    pub(super) fn clean_if_idle(&mut self, at: Nanos, index: usize) {
        let actuator = &self.actuators[index];
        let begins =
            actuator.shingles.as_ref().and_then(|shingles| shingles.cleans_at(actuator.idle_from(self.busy_at)));
        if begins.is_some_and(|begins| begins <= at) {
            self.stop_reading_ahead(at, index);
            self.clean(at, index);
        }
    }

    /// Reads what lies in several places, one after the other, without reading on.
    pub(super) fn serve_scattered(&mut self, at: Nanos, index: usize, (tag, request): (Tag, Request), segment: usize) {
        let mut plan = Vec::new();
        self.shingles(index).read(request.lba, request.end(), &mut plan);
        let (mut turning, mut done) = (self.spindle.turning(at), at);
        for (first, end) in plan {
            let arm = &mut self.actuators[index].arm;
            let passing = arm.transfer(turning, (first, end), SpindleActivity::Read, 0, &mut self.spindle);
            turning = arm.free();
            let part = Request { lba: first, sectors: (end.get() - first.get()) as u32, ..request };
            done = self.send(at, part, first, Some((index, passing)));
        }
        self.complete_part(done, tag);
        let (first, end) = (request.lba, request.end());
        self.actuators[index].scattered = Some(ScatteredRead { first, end, segment });
    }

    /// Has what an arm has read in several places be held from when it was free on.
    pub(super) fn note_scattered(&mut self, at: Nanos) {
        for actuator in &mut self.actuators {
            let passed = actuator.scattered.take_if(|_| actuator.arm.free() <= at);
            if let Some(ScatteredRead { first, end, segment }) = passed {
                self.segments.fill_from(segment, first, end);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEC: ShingledSpec = ShingledSpec {
        band: Bytes::from_sectors(100),
        media_cache: Bytes::from_sectors(64),
        extents: 40,
        clean_after: Nanos::from_secs(1),
    };

    fn write(shingles: &mut Shingles, first: u64, end: u64) -> Vec<(u64, u64)> {
        let mut plan = Vec::new();
        shingles.write(Lba::new(first), Lba::new(end), &mut plan);
        plain(&plan)
    }

    fn plain(plan: &[Stretch]) -> Vec<(u64, u64)> {
        plan.iter().map(|(first, end)| (first.get(), end.get())).collect()
    }

    #[test]
    fn what_goes_on_in_a_band_is_appended_and_all_else_goes_to_the_log() {
        let mut shingles = Shingles::new(SPEC, 1_000);
        assert_eq!(write(&mut shingles, 0, 150), [(0, 150)], "over two bands, each from its beginning");
        assert_eq!(write(&mut shingles, 150, 160), [(150, 160)]);
        assert_eq!(write(&mut shingles, 10, 20), [(1_000, 1_010)], "it would destroy what follows");
        assert_eq!(write(&mut shingles, 290, 310), [(1_010, 1_020), (300, 310)], "one band is not begun, one is");
        let mut plan = Vec::new();
        shingles.read(Lba::new(5), Lba::new(25), &mut plan);
        assert_eq!(plain(&plan), [(5, 10), (1_000, 1_010), (20, 25)]);
    }

    #[test]
    fn a_band_is_brought_home_by_reading_merging_and_writing_it() {
        let mut shingles = Shingles::new(SPEC, 1_000);
        write(&mut shingles, 0, 100);
        for first in [50, 20, 53] {
            write(&mut shingles, first, first + 5);
        }
        assert_eq!(shingles.free, 64 - 15);
        let mut reads = Vec::new();
        let home = shingles.clean(&mut reads);
        assert_eq!((home.0.get(), home.1.get()), (0, 100));
        assert_eq!(plain(&reads), [(0, 100), (1_000, 1_003), (1_005, 1_015)], "what was overwritten is not read");
        assert_eq!((shingles.free, shingles.cached.len(), shingles.cleaned()), (64, 0, 1));
        for first in [0, 60] {
            write(&mut shingles, first, first + if first == 0 { 60 } else { 40 });
            reads.clear();
            if first == 0 {
                assert!(shingles.is_full(10), "60 of 64 are taken");
                shingles.clean(&mut reads);
                assert_eq!(reads.len(), 3, "the band, and the log in two parts, as it came to its end");
            }
        }
    }

    /// Any writes and cleanings leave each sector where the last write of it put it, or where cleaning brought it.
    #[test]
    fn each_sector_is_read_where_it_was_last_put() {
        let mut random = testkit::Random::new(11);
        let mut shingles = Shingles::new(SPEC, 1_000);
        // What lies on the platters: the number of the write, by place; and what the host wrote last.
        let (mut platters, mut host) = (vec![0_u32; 1_064], vec![0_u32; 1_000]);
        for number in 1..4_000 {
            let first = random.below(990);
            let end = first + 1 + random.below(10);
            while shingles.is_full(end - first) {
                let mut reads = Vec::new();
                let (from, until) = shingles.clean(&mut reads);
                let range = from.get() as usize..until.get() as usize;
                platters[range.clone()].copy_from_slice(&host[range]);
            }
            host[first as usize..end as usize].fill(number);
            for (from, until) in write(&mut shingles, first, end) {
                platters[from as usize..until as usize].fill(number);
            }
            let first = random.below(900);
            let mut plan = Vec::new();
            shingles.read(Lba::new(first), Lba::new(first + 100), &mut plan);
            let found: Vec<u32> = plain(&plan)
                .iter()
                .flat_map(|(from, until)| platters[*from as usize..*until as usize].to_vec())
                .collect();
            assert_eq!(found, host[first as usize..first as usize + 100], "after write {number}");
        }
        assert!(shingles.cleaned() > 100, "{} bands", shingles.cleaned());
        assert!(shingles.cached.len() <= 40 && shingles.free <= 64);
    }
}
