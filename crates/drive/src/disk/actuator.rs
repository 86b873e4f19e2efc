//! An arm with the commands that wait for it, and the written data that does.

use block::{Lba, Nanos, Op, Request, Tag};
use serde::{Deserialize, Serialize};

use super::arm::{Arm, Positioning};
use super::layout::TrackPosition;
use super::seek::SeekCurve;
use super::shingled::{ScatteredRead, Shingles};
use super::spec::{CommandOrder, DiskSpec};
use super::spindle::SpindleActivity;
use super::variation::{Background, Variation};
use super::write_cache::WriteCache;
use crate::Specimen;
use crate::draw::Draws;
use crate::periodic::Periodic;

/// An arm of its own above its share of the sectors, and what waits for it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Actuator {
    pub arm: Arm,
    /// Commands that need the arm: those chosen, in the order chosen, then the others in order of arrival.
    pending: Vec<Pending>,
    /// How many are chosen.
    chosen: usize,
    /// When the first of them can be served; later than any time if there is none.
    first_ready: Nanos,
    pub cache: WriteCache,
    /// Whether it is the cache's turn when both it and a command want the arm.
    pub cache_next: bool,
    /// How many stretches of a full cache are still to be written before it takes in more.
    pub batch: u32,
    background: Background,
    pub shingles: Option<Shingles>,
    /// What lies in several places and is all in memory once the arm is free: none when nothing is in flight.
    pub scattered: Option<ScatteredRead>,
}

/// A command that needs the arm.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Pending {
    pub tag: Tag,
    pub request: Request,
    /// The first sector that the arm is needed for: memory has those before, or will have once the arm is free.
    from: Lba,
    place: TrackPosition,
    /// The angle at which that begins.
    angle: Nanos,
    /// From when on it can be served: the data of a write has to be here.
    ready: Nanos,
}

impl Actuator {
    /// The `index`-th arm of such a disk, at its outermost track, with nothing to do.
    pub fn new(spec: &DiskSpec, index: u32, specimen: Specimen) -> Self {
        let count = u64::from(spec.actuators);
        let phase = phase(specimen, spec.platters.revolution);
        let layout = spec.layout(u64::from(index) * (spec.platters.sectors / count), phase);
        let curves = [spec.read_seek, spec.write_seek].map(|times| {
            SeekCurve::fit(times, layout.cylinders()).expect("the file's reader checks that such a curve exists")
        });
        let seed = specimen.seed().number(index.into());
        Self {
            arm: Arm::new(layout, curves, spec.head_switch, Variation::new(spec.variation, seed)),
            pending: Vec::with_capacity(spec.queue_depth as usize),
            chosen: 0,
            first_ready: Nanos::MAX,
            cache: WriteCache::new(spec.cache.write.sectors() / count, spec.cache.write_extents as usize),
            cache_next: false,
            batch: 0,
            background: Background::new(spec.background, seed),
            shingles: spec.shingled.map(|shingled| Shingles::new(shingled, spec.platters.sectors)),
            scattered: None,
        }
    }

    /// The part of what lies from `first` to `end` that is under this arm.
    pub fn part(&self, first: Lba, end: Lba) -> Option<(Lba, Lba)> {
        let (from, until) = self.arm.layout().sectors();
        let (first, end) = (first.max(from), end.min(until));
        (first < end).then_some((first, end))
    }

    /// Notes that what left the cache last is on the platters.
    pub fn release(&mut self) {
        if self.cache.release() {
            self.batch = if self.cache.is_empty() { 0 } else { self.batch.saturating_sub(1) };
        }
    }

    /// How many commands wait for the arm.
    pub fn waiting(&self) -> usize {
        self.pending.len()
    }

    /// Forgets the commands that wait.
    pub fn forget_commands(&mut self) {
        self.pending.clear();
        (self.chosen, self.first_ready, self.scattered) = (0, Nanos::MAX, None);
    }

    /// Has a command, which needs the arm for what it has from `from` on, wait for it from `ready` on.
    pub fn enqueue(&mut self, spec: &DiskSpec, tag: Tag, request: Request, from: Lba, ready: Nanos) {
        let (place, angle) = self.locate(from);
        self.pending.push(Pending { tag, request, from, place, angle, ready });
        self.first_ready = self.first_ready.min(ready);
        self.choose_ahead(spec, ready);
    }

    /// Where the platters keep a sector, and at which angle.
    fn locate(&self, sector: Lba) -> (TrackPosition, Nanos) {
        let first = self.shingles.as_ref().map_or(sector, |shingles| shingles.place(sector));
        let place = self.arm.layout().place(first);
        (place, self.arm.layout().angle(place.stream))
    }

    /// Has reads that begin within what is read from `first` up to `end`, but go on behind it, need the arm from there on.
    pub fn shorten(&mut self, first: Lba, end: Lba) {
        for index in 0..self.pending.len() {
            let Pending { request, from, .. } = self.pending[index];
            if request.op == Op::Read && first <= from && from < end && end < request.end() {
                let (place, angle) = self.locate(end);
                self.pending[index] = Pending { from: end, place, angle, ..self.pending[index] };
            }
        }
    }

    /// When the next command can be served, arm or not.
    #[inline]
    pub fn ready(&self) -> Option<Nanos> {
        let first = self.pending.first()?;
        Some(if self.chosen > 0 { first.ready } else { self.first_ready })
    }

    /// The command to serve next.
    pub fn choose(&self, spec: &DiskSpec, at: Nanos) -> Option<usize> {
        if self.chosen > 0 {
            return (self.pending[0].ready <= at).then_some(0);
        }
        let ready = self.pending.iter().enumerate().filter(|(_, pending)| pending.ready <= at);
        self.best(spec, at, ready)
    }

    /// Takes a command off to be served.
    pub fn take(&mut self, spec: &DiskSpec, at: Nanos, index: usize) -> Pending {
        let pending = self.remove(index);
        self.chosen = self.chosen.saturating_sub(1);
        self.choose_ahead(spec, at);
        pending
    }

    /// Takes off the first read that lies within what is certain to be read, from `first` to `end`.
    pub fn take_within(&mut self, first: Lba, end: Lba) -> Option<Pending> {
        let is_within =
            |Pending { request, .. }: &Pending| request.op == Op::Read && first <= request.lba && request.end() <= end;
        let index = self.pending.iter().position(is_within)?;
        self.chosen -= usize::from(index < self.chosen);
        Some(self.remove(index))
    }

    fn remove(&mut self, index: usize) -> Pending {
        let removed = self.pending.remove(index);
        if removed.ready == self.first_ready {
            self.first_ready = self.pending.iter().map(|pending| pending.ready).min().unwrap_or(Nanos::MAX);
        }
        removed
    }

    /// Chooses as many commands ahead as the firmware does, each by where the one before it leaves the arm.
    fn choose_ahead(&mut self, spec: &DiskSpec, at: Nanos) {
        while self.chosen < spec.order.ahead as usize && self.chosen < self.pending.len() {
            let others = self.pending.iter().enumerate().skip(self.chosen);
            let Some(best) = self.best(spec, at, others) else { return };
            self.pending[self.chosen..=best].rotate_right(1);
            self.chosen += 1;
        }
    }

    /// The oldest of these if it has waited too long, else the first by the disk's order.
    #[inline]
    fn best<'a>(&self, spec: &DiskSpec, at: Nanos, among: impl Iterator<Item = (usize, &'a Pending)>) -> Option<usize> {
        let (mut best, angle) = (None, self.arm.layout().angle(at));
        // The gap between two tracks may let a head be sooner above another sector than above the next of a stream, which then
        // costs a turn.
        let has_just_ended = spec.order.by == CommandOrder::Position && at == self.arm.free();
        let goes_on = |pending: &Pending| has_just_ended && pending.from == self.arm.next();
        for (index, pending) in among {
            if at.since(pending.ready) > spec.age_limit {
                return Some(index);
            }
            let cost = if goes_on(pending) { 0 } else { self.cost(spec, angle, pending) };
            if best.is_none_or(|(least, _)| cost < least) {
                best = Some((cost, index));
            }
        }
        best.map(|(_, index)| index)
    }

    /// What the disk's order has least of in the command that comes next, with the platters at this angle.
    #[inline]
    fn cost(&self, spec: &DiskSpec, angle: Nanos, pending: &Pending) -> u64 {
        let last = self.chosen.checked_sub(1).map(|last| &self.pending[last]);
        match spec.order.by {
            CommandOrder::Position => {
                let work = work_of(&pending.request);
                let way = self.arm.approach_from(angle, pending.place, pending.angle, work);
                expected(spec, way).as_nanos()
            }
            CommandOrder::Seek => match last {
                Some(last) => u64::from(last.place.cylinder.abs_diff(pending.place.cylinder)),
                None => u64::from(self.arm.distance(pending.place)),
            },
            CommandOrder::Elevator => {
                let from = last.map_or(self.arm.next(), |last| last.request.end());
                pending.from.get().wrapping_sub(from.get())
            }
        }
    }

    /// How long the firmware expects the way to a place to take.
    #[inline]
    pub fn positioning(&self, spec: &DiskSpec, at: Nanos, place: TrackPosition, work: SpindleActivity) -> Nanos {
        expected(spec, self.arm.approach(at, place, work))
    }

    /// The stretch of the cache that is written next: of those next in order of position, the one soonest reached.
    pub fn destage_choice(&self, spec: &DiskSpec, at: Nanos) -> usize {
        let layout = self.arm.layout();
        let cost = |first| self.positioning(spec, at, layout.place(first), SpindleActivity::Write);
        let mut sweep = self.cache.sweep(self.arm.next(), spec.cache.destage_choices as usize);
        if spec.cache.destage_choices == 1 {
            return sweep.next().expect("the cache is not empty").0;
        }
        sweep.min_by_key(|(_, extent)| cost(extent.first)).expect("the cache is not empty").0
    }

    /// Since when the arm has had nothing to do, if nothing comes.
    pub fn idle_from(&self, busy: Nanos) -> Nanos {
        self.arm.free().max(busy)
    }

    /// Until when the arm does something of its own, and above which sector it is then.
    pub fn unasked(&mut self, spec: &DiskSpec, at: Nanos) -> Option<(Nanos, Lba)> {
        let layout = self.arm.layout();
        let (first, end) = layout.sectors();
        if let Some(until) = self.background.recalibrates(self.arm.free(), at) {
            return Some((until, self.arm.next().min(Lba::new(end.get() - 1))));
        }
        let idle = self.arm.time_ahead(at).map_or(self.arm.free(), |(_, end)| end.max(self.arm.free()));
        let (until, steps) = self.background.scans(idle, at)?;
        let begins = layout.place(first).stream;
        let around = (layout.passed(end) - begins).as_nanos();
        let read = u128::from(spec.background.scan_step.as_nanos()) * u128::from(steps) % u128::from(around);
        Some((until, layout.reached(begins + Nanos::from_nanos(read as u64)).clamp(first, Lba::new(end.get() - 1))))
    }

    /// How often the arm has recalibrated, and how many steps it has read for errors.
    pub fn background(&self) -> (u64, u64) {
        self.background.counts()
    }
}

/// At which part of a revolution the spindle has the first sector under the heads: disks side by side turn as each happened to
/// start, and time begins as the first of its model is there.
fn phase(specimen: Specimen, revolution: Nanos) -> Nanos {
    let draw = Draws::new(specimen.seed().split("spindle")).draw();
    if specimen.number() == 1 { Nanos::ZERO } else { Periodic::new(Some(revolution), draw).due() }
}

/// How long the firmware expects such a way to take: where the wait after a move is short, a revolution more.
#[inline]
fn expected(spec: &DiskSpec, way: Positioning) -> Nanos {
    let is_missed = way.waiting < spec.order.margin && way.moving > Nanos::ZERO;
    if is_missed { way.total() + spec.platters.revolution } else { way.total() }
}

fn work_of(request: &Request) -> SpindleActivity {
    if request.op == Op::Write { SpindleActivity::Write } else { SpindleActivity::Read }
}
