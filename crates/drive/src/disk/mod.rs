//! A disk: link, command queue, caches, and an arm above turning platters.

mod arm;
mod file;
mod layout;
mod power_cut;
mod seek;
mod segments;
mod spindle;
mod write_cache;

use std::collections::VecDeque;

use arm::{Arm, SectorTransfer};
use block::{Bytes, Completion, Lba, Nanos, Op, Request, SECTOR, Tag};
pub(crate) use file::DiskFile;
pub use layout::Platters;
use layout::{DiskLayout, Skew, TrackPosition};
use seek::SeekCurve;
pub use seek::SeekTimes;
use segments::Segments;
use serde::{Deserialize, Serialize};
pub use spindle::SpindleSpec;
use spindle::{Spindle, SpindleActivity};
use write_cache::WriteCache;

use crate::link::{Link, LinkTimes};
use crate::queue::CommandQueue;
use crate::{Counters, Drive, Health, PowerLoss, Shape, Specimen, not_before, within};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskSpec {
    pub platters: Platters,
    /// How long seeks take before reading.
    pub read_seek: SeekTimes,
    /// How long they take before writing, which asks for a calmer head.
    pub write_seek: SeekTimes,
    /// To go on with another head of the same cylinder.
    pub head_switch: Nanos,
    /// The cable.
    pub link: LinkTimes,
    /// Commands that the disk takes at once.
    pub queue_depth: u32,
    /// What the controller's firmware takes for each command before anything else, one at a time.
    pub command: Nanos,
    /// A command that has waited so long is served before any that lies nearer.
    pub age_limit: Nanos,
    pub cache: CacheSpec,
    /// What turns, and what it consumes.
    pub spindle: SpindleSpec,
}

/// The memory of a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheSpec {
    /// Segments for what was read and what is read ahead.
    pub segments: u32,
    /// How much each holds.
    pub segment: Bytes,
    /// How much written data may wait; if none, every write waits for the platters.
    pub write: Bytes,
    /// In how many separate stretches.
    pub write_extents: u32,
    /// After how long without a command the disk begins to write what waits.
    pub destage_after: Nanos,
}

/// The most that is sent over the link in one go.
const LINK_PIECE: Bytes = Bytes::from_kib(64);
/// The most sectors that are taken from the write cache to the platters in one go, so that a command that comes
/// meanwhile does not wait long.
const DESTAGE_PIECE: u64 = 1024;
/// How many stretches next in order of position are looked at for the one soonest reached. Those passed over are
/// met again on the next sweep.
const SWEEP: usize = 32;

impl DiskSpec {
    fn layout(&self) -> DiskLayout {
        // Tracks begin just late enough for whichever takes longer to get there, a read or a write.
        let cylinder = self.read_seek.track.max(self.write_seek.track);
        DiskLayout::new(self.platters, Skew { track: self.head_switch, cylinder })
    }

    /// What the host can store.
    pub fn capacity(&self) -> Bytes {
        Bytes::from_sectors(self.platters.sectors)
    }

    /// How often the platters turn in a minute, to the nearest whole number.
    pub fn turns(&self) -> u32 {
        let revolution = self.platters.revolution.as_nanos();
        ((60_000_000_000 + revolution / 2) / revolution) as u32
    }

    /// What the disk is made of, in labelled lines for people.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let Platters { heads, zones, outer, inner, .. } = self.platters;
        let ([fast, slow], turns) = (self.layout().sustained(), self.turns());
        let SeekTimes { track, average, full } = self.read_seek;
        let CacheSpec { segments, segment, write, .. } = self.cache;
        let (link, queue, command) = (self.link.rate, self.queue_depth, self.command);
        vec![
            ("capacity", self.capacity().to_string()),
            ("platters", format!("{turns} rpm, {heads} heads, {zones} zones, {outer} to {inner} sectors a track")),
            ("stream", format!("{fast} on the outermost tracks, {slow} on the innermost")),
            ("seek", format!("{track} to the next track, {average} on average, {full} at most")),
            ("cache", format!("{segments} segments of {segment} for reads, {write} for writes")),
            ("interface", format!("{link} link, queue depth {queue}, {command} per command")),
        ]
    }
}

/// A simulated disk.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DiskDrive {
    spec: DiskSpec,
    specimen: Specimen,
    now: Nanos,
    /// When the firmware is free for the next command.
    firmware_free: Nanos,
    /// When the last command reached the caches.
    busy_at: Nanos,
    link: Link,
    /// What has an end, and what waits in the host.
    queue: CommandQueue,
    /// Commands in the disk.
    inside: u32,
    /// Commands that the firmware has not looked at yet, earliest first.
    arriving: VecDeque<(Nanos, Tag, Request)>,
    /// Commands that need the arm, in order of arrival.
    pending: Vec<Pending>,
    /// Writes that wait for room in the cache and flushes that wait for it to be clean, in order.
    blocked: VecDeque<(Tag, Request)>,
    segments: Segments,
    cache: WriteCache,
    arm: Arm,
    spindle: Spindle,
    /// Whether it is the cache's turn when both it and a command want the arm.
    cache_next: bool,
    cache_hits: u64,
    counters: Counters,
}

/// A command that needs the arm.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Pending {
    tag: Tag,
    request: Request,
    place: TrackPosition,
    /// From when on it can be served: the data of a write has to be here.
    ready: Nanos,
}

impl DiskDrive {
    /// A disk that turns, with its arm at the outermost track, its caches empty, and time at zero.
    pub fn new(spec: DiskSpec) -> Self {
        Self::of(spec, Specimen::default())
    }

    /// The same of a certain specimen.
    pub fn of(spec: DiskSpec, specimen: Specimen) -> Self {
        let layout = spec.layout();
        let fit = |times| {
            SeekCurve::fit(times, layout.cylinders()).expect("the file's reader checks that such a curve exists")
        };
        let (read_curve, write_curve) = (fit(spec.read_seek), fit(spec.write_seek));
        let depth = spec.queue_depth as usize;
        let cache = &spec.cache;
        Self {
            now: Nanos::ZERO,
            firmware_free: Nanos::ZERO,
            busy_at: Nanos::ZERO,
            link: Link::new(spec.link, LINK_PIECE),
            queue: CommandQueue::new(spec.queue_depth),
            inside: 0,
            arriving: VecDeque::with_capacity(depth),
            pending: Vec::with_capacity(depth),
            blocked: VecDeque::with_capacity(depth),
            segments: Segments::new(cache.segments as usize, cache.segment.sectors()),
            cache: WriteCache::new(cache.write.sectors(), cache.write_extents as usize),
            arm: Arm::new(layout, read_curve, write_curve, spec.head_switch),
            spindle: Spindle::new(spec.spindle),
            cache_next: false,
            cache_hits: 0,
            counters: Counters::default(),
            specimen,
            spec,
        }
    }

    /// What it is made of.
    pub fn spec(&self) -> &DiskSpec {
        &self.spec
    }

    /// Which drive of its model it is.
    pub fn specimen(&self) -> Specimen {
        self.specimen
    }

    /// How often a command has moved the arm to another cylinder.
    pub fn seeks(&self) -> u64 {
        self.arm.moves()
    }

    /// How many reads were answered from memory alone.
    pub fn cache_hits(&self) -> u64 {
        self.cache_hits
    }

    /// Takes a command into the disk at `now`.
    fn take(&mut self, now: Nanos, tag: Tag, request: Request) {
        self.inside += 1;
        self.firmware_free = self.firmware_free.max(now) + self.spec.command;
        self.arriving.push_back((self.firmware_free, tag, request));
        self.counters.count(&request);
    }

    /// When something happens inside next: a command reaches the caches, or the arm can begin something.
    #[inline]
    fn next_inside(&self) -> Option<Nanos> {
        let arrival = self.arriving.front().map(|(at, ..)| *at);
        let ready = self.pending.iter().map(|pending| pending.ready).min();
        let wanted = match ready {
            _ if !self.blocked.is_empty() => Some(Nanos::ZERO),
            None if self.cache.is_half_full() => Some(Nanos::ZERO),
            None if !self.cache.is_empty() => Some(self.busy_at + self.spec.cache.destage_after),
            ready => ready,
        };
        let arm = wanted.map(|wanted| wanted.max(self.arm.free()).max(self.now));
        [arrival, arm].into_iter().flatten().min()
    }

    /// Does what is due inside at `at`.
    fn step(&mut self, at: Nanos) {
        self.now = at;
        if self.arm.free() <= at {
            self.cache.release();
        }
        match self.arriving.pop_front_if(|(arrival, ..)| *arrival == at) {
            Some((_, tag, request)) => self.arrive(at, tag, request),
            None => self.decide(at),
        }
    }

    /// A command has reached the caches: what needs no arm is answered.
    fn arrive(&mut self, at: Nanos, tag: Tag, request: Request) {
        if let Some((segment, reached)) = self.arm.reading_ahead(at) {
            self.segments.fill(segment, reached);
            self.spindle.touch(self.arm.time_ahead(at).map_or(at, |(_, end)| end.min(at)));
        }
        self.spindle.touch(at);
        self.busy_at = at;
        match request.op {
            Op::Read if self.is_held(&request) => self.answer(at, tag, request),
            Op::Read => self.enqueue(tag, request, at),
            Op::Write if !request.durable && self.cache.takes(u64::from(request.sectors)) => {
                self.blocked.push_back((tag, request));
                self.admit(at);
            }
            Op::Write => self.write_through(at, tag, request),
            Op::Trim => self.finish(at, tag),
            Op::Flush => {
                self.blocked.push_back((tag, request));
                self.admit(at);
            }
        }
    }

    fn is_held(&self, request: &Request) -> bool {
        self.segments.held(request.lba) >= request.end() || self.cache.covers(request.lba, request.end())
    }

    fn enqueue(&mut self, tag: Tag, request: Request, ready: Nanos) {
        let place = self.arm.layout().place(request.lba);
        self.pending.push(Pending { tag, request, place, ready });
    }

    /// Completes a command whose answer is a status alone.
    fn finish(&mut self, at: Nanos, tag: Tag) {
        let at = self.link.send(at, at, 0, true);
        self.queue.take(Completion { at, tag });
    }

    /// Answers a read from memory, and lets reading ahead go on for as much as was used.
    fn answer(&mut self, at: Nanos, tag: Tag, request: Request) {
        self.cache_hits += 1;
        let done = self.send(at, request, request.lba, None);
        self.queue.take(Completion { at: done, tag });
        if self.segments.held(request.lba) < request.end() {
            return;
        }
        let segment = self.segments.claim(request.lba);
        if self.arm.reading_ahead(at).is_some_and(|(ahead, _)| ahead == segment) {
            let low = self.segments.size() / 2;
            self.arm.read_further(at, self.ahead_of(request.end()), request.end(), low, &mut self.spindle);
        }
    }

    /// Where reading ahead of a request that ends at `end` ends.
    fn ahead_of(&self, end: Lba) -> Lba {
        Lba::new((end.get() + self.segments.size()).min(self.spec.platters.sectors))
    }

    /// Sends a read's data: what lies before `missing` is in memory, the rest comes as it passes under the heads.
    fn send(&mut self, at: Nanos, request: Request, missing: Lba, passing: Option<SectorTransfer>) -> Nanos {
        let mut done = at;
        let (mut from, mut is_first) = (request.lba, true);
        while from < request.end() {
            let stop = if from < missing && passing.is_some() { missing } else { request.end() };
            let end = stop.min(Lba::new(from.get() + LINK_PIECE.sectors()));
            let ready = match passing {
                Some(passing) if from >= missing => passing.passed(self.arm.layout(), end),
                _ => at,
            };
            done = self.link.send(at, ready, (end.get() - from.get()) as u32, is_first);
            (from, is_first) = (end, false);
        }
        done
    }

    /// Brings a write's data over the link; when its first piece and when all of it is here.
    fn receive(&mut self, at: Nanos, request: Request) -> (Nanos, Nanos) {
        let (mut left, mut first, mut last) = (u64::from(request.sectors), None, at);
        while left > 0 {
            let piece = left.min(LINK_PIECE.sectors());
            last = self.link.receive(at, at, piece as u32, first.is_none());
            first.get_or_insert(last);
            left -= piece;
        }
        self.segments.forget(request.lba, request.end());
        if self.arm.reading_ahead(at).is_some_and(|(segment, _)| self.segments.is_empty(segment)) {
            self.arm.stop(at, &mut self.spindle);
        }
        (first.unwrap_or(at), last)
    }

    /// Takes in a write that completes on the platters. They can begin with its first piece: the link is faster.
    fn write_through(&mut self, at: Nanos, tag: Tag, request: Request) {
        let (ready, _) = self.receive(at, request);
        self.cache.forget(request.lba, request.end());
        self.enqueue(tag, request, ready);
    }

    /// Takes writes into the cache while there is room, and answers flushes when it is clean, in order.
    fn admit(&mut self, at: Nanos) {
        while let Some(&(tag, request)) = self.blocked.front() {
            match request.op {
                Op::Write if self.cache.has_room(u64::from(request.sectors)) => {
                    let (_, done) = self.receive(at, request);
                    self.cache.put(request.lba, request.end());
                    self.queue.take(Completion { at: done, tag });
                }
                Op::Flush if self.cache.is_clean() => self.finish(at, tag),
                _ => return,
            }
            self.blocked.pop_front();
        }
    }

    /// The arm is free: gives it the command that it reaches soonest, or something of the write cache. They take
    /// turns when both cannot wait. A cache that can wait does so while a command wants the arm, and, if it is not
    /// even half full, until none has come for a while.
    fn decide(&mut self, at: Nanos) {
        self.admit(at);
        let command = self.choose(at);
        let is_time = self.cache.is_half_full() || at >= self.busy_at + self.spec.cache.destage_after;
        let is_wanted = !self.blocked.is_empty() || command.is_none() && is_time;
        let is_cache_due = is_wanted && !self.cache.is_empty();
        match command {
            Some(index) if !(is_cache_due && self.cache_next) => {
                self.cache_next = true;
                let pending = self.pending.remove(index);
                self.serve(at, pending);
            }
            _ if is_cache_due => {
                self.cache_next = false;
                self.destage(at);
            }
            _ => {}
        }
    }

    /// The command to serve next: the oldest if it has waited too long, else the one reached soonest.
    fn choose(&self, at: Nanos) -> Option<usize> {
        let mut best = None;
        for (index, pending) in self.pending.iter().enumerate() {
            if pending.ready > at {
                continue;
            }
            if at.since(pending.ready) > self.spec.age_limit {
                return Some(index);
            }
            let cost = self.arm.approach(at, pending.place, work_of(&pending.request)).total();
            if best.is_none_or(|(least, _)| cost < least) {
                best = Some((cost, index));
            }
        }
        best.map(|(_, index)| index)
    }

    fn serve(&mut self, at: Nanos, pending: Pending) {
        let Pending { tag, request, .. } = pending;
        self.stop_reading_ahead(at);
        if request.op == Op::Write {
            self.segments.forget(request.lba, request.end());
            let turning = self.spindle.turning(at);
            self.arm.transfer(turning, request.lba, request.end(), SpindleActivity::Write, &mut self.spindle);
            self.queue.take(Completion { at: self.arm.free(), tag });
            return;
        }
        let missing = self.segments.held(request.lba).min(request.end());
        if missing == request.end() {
            return self.answer(at, tag, request);
        }
        let segment = self.segments.claim(request.lba);
        let turning = self.spindle.turning(at);
        let passing = self.arm.transfer(turning, missing, request.end(), SpindleActivity::Read, &mut self.spindle);
        let done = self.send(at, request, missing, Some(passing));
        self.queue.take(Completion { at: done, tag });
        self.segments.fill(segment, request.end());
        self.arm.read_on(segment, self.ahead_of(request.end()));
    }

    fn stop_reading_ahead(&mut self, at: Nanos) {
        if let Some((segment, reached)) = self.arm.reading_ahead(at) {
            self.segments.fill(segment, reached);
            self.arm.stop(at, &mut self.spindle);
        }
    }

    /// Writes a stretch of the cache to the platters: of those next in order of position, the one soonest reached.
    fn destage(&mut self, at: Nanos) {
        self.stop_reading_ahead(at);
        let turning = self.spindle.turning(at);
        let layout = self.arm.layout();
        let cost = |first| self.arm.approach(turning, layout.place(first), SpindleActivity::Write).total();
        let sweep = self.cache.sweep(self.arm.next(), SWEEP);
        let (index, _) = sweep.min_by_key(|(_, extent)| cost(extent.first)).expect("the cache is not empty");
        let taken = self.cache.take(index, DESTAGE_PIECE);
        self.arm.transfer(turning, taken.first, taken.end, SpindleActivity::Write, &mut self.spindle);
    }
}

fn work_of(request: &Request) -> SpindleActivity {
    if request.op == Op::Write { SpindleActivity::Write } else { SpindleActivity::Read }
}

impl Drive for DiskDrive {
    fn shape(&self) -> Shape {
        Shape { capacity: self.spec.capacity(), block: SECTOR, queue_depth: self.spec.queue_depth }
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        not_before(self.now, now);
        within(self.spec.capacity(), &request);
        self.advance(now);
        if self.inside < self.spec.queue_depth {
            self.take(now, tag, request);
        } else {
            self.queue.wait(tag, request);
        }
    }

    fn next_event(&self) -> Option<Nanos> {
        if self.inside == 0 {
            return None;
        }
        [self.queue.next(), self.next_inside()].into_iter().flatten().min()
    }

    fn complete(&mut self, until: Nanos) -> Option<Completion> {
        while self.inside > 0 {
            let due = self.next_inside().filter(|at| *at <= until);
            match (self.queue.next(), due) {
                (Some(done), due) if done <= until && due.is_none_or(|due| done <= due) => break,
                (_, Some(due)) => self.step(due),
                _ => return None,
            }
        }
        let (completion, next) = self.queue.complete(until)?;
        self.inside -= 1;
        self.now = self.now.max(completion.at);
        if let Some((tag, request)) = next {
            self.take(self.now, tag, request);
        }
        Some(completion)
    }

    fn now(&self) -> Nanos {
        self.now
    }

    fn counters(&self) -> Counters {
        let (reading, end) = self.arm.time_ahead(self.now).unwrap_or_default();
        let energy_nj = self.spindle.energy(self.now, reading, end);
        Counters { energy_nj, ..self.counters }
    }

    fn health(&self) -> Health {
        Health { power_on: self.now, power_cycles: 1 + self.counters.unsafe_shutdowns, ..Health::default() }
    }

    fn cut_power(&mut self, now: Nanos) -> PowerLoss {
        self.lose_power(now)
    }

    fn unsaved(&self, now: Nanos) -> Vec<(Lba, Lba)> {
        self.at_risk(now)
    }

    /// Forgets all data. How long a real disk takes to overwrite itself is not modelled.
    fn purge(&mut self) {
        assert!(self.inside == 0, "a disk is purged only when nothing is in flight");
        self.arm.stop(self.now, &mut self.spindle);
        self.now = self.now.max(self.arm.free());
        self.segments.clear();
        self.cache.clear();
    }
}
