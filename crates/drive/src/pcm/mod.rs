//! A drive of phase-change memory (3D XPoint): media written in place, without an erase and without collection.

mod file;
mod levelling;
mod media;
mod spec;

use block::{Bytes, Completion, Lba, Nanos, Op, Request, SECTOR, Seed, Tag};
use file::PIECE;
pub(crate) use file::PcmFile;
use levelling::StartGap;
use media::Media;
pub use media::MediaSpec;
use serde::{Deserialize, Serialize};
pub use spec::PcmSpec;

use crate::draw::Draws;
use crate::energy::{EnergyMeter, WorkEnergy};
use crate::flash::firmware::Firmware;
use crate::flash::housekeeping::Housekeeping;
use crate::link::Link;
use crate::power_loss::WritesInFlight;
use crate::queue::CommandQueue;
use crate::{Counters, Drive, Health, PowerLoss, Shape, Specimen, WearSummary, not_before, within};

/// A simulated drive of phase-change memory.
///
/// A write is answered when it is in the cells: there is no buffer, so that a flush has nothing to wait for, and no map, so
/// that what was written before changes nothing but where wear levelling has moved the lines.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PcmDrive {
    spec: PcmSpec,
    specimen: Specimen,
    now: Nanos,
    firmware: Firmware,
    pace_draws: Draws,
    housekeeping: Housekeeping,
    link: Link,
    queue: CommandQueue,
    media: Media,
    levelling: StartGap,
    /// Accesses written since wear levelling moved a line.
    since_move: u64,
    moved: u64,
    writing: WritesInFlight,
    counters: Counters,
    meter: EnergyMeter,
}

impl PcmDrive {
    /// A drive as it leaves the factory.
    pub fn of(spec: PcmSpec, specimen: Specimen) -> Self {
        let seed = specimen.seed();
        Self {
            specimen,
            now: Nanos::ZERO,
            firmware: Firmware::new(spec.cores),
            pace_draws: Draws::new(seed.split("firmware")),
            housekeeping: Housekeeping::new([spec.log, None, None], seed.split("housekeeping")),
            link: Link::new(spec.link, PIECE),
            queue: CommandQueue::new(spec.queue_depth),
            media: Media::new(spec.media, seed.split("media")),
            levelling: StartGap::new(spec.capacity.get().div_ceil(spec.line.get())),
            since_move: 0,
            moved: 0,
            writing: WritesInFlight::default(),
            counters: Counters { page: spec.media.access, ..Counters::default() },
            meter: EnergyMeter::new(spec.power),
            spec,
        }
    }

    /// What it is made of.
    pub fn spec(&self) -> &PcmSpec {
        &self.spec
    }

    /// Which drive of its model it is.
    pub fn specimen(&self) -> Specimen {
        self.specimen
    }

    /// A number that is equal for equal places of all data.
    pub fn digest(&self) -> u64 {
        self.levelling.digest() ^ self.since_move.rotate_left(48)
    }

    fn take(&mut self, now: Nanos, tag: Tag, request: Request) {
        let awake = now + self.meter.begin(now);
        let from = self.housekeeping.begin(awake, request.op, request.bytes(), Nanos::ZERO, None);
        let (core, start) = self.firmware.begin(awake, from, request.op);
        let ready = start + self.spec.jitter.vary(&mut self.pace_draws, self.spec.command);
        self.firmware.hold(core, ready + self.spec.retire);
        let at = match request.op {
            Op::Read => self.read(ready, request),
            Op::Write => self.write(ready, request),
            Op::Trim | Op::Flush | Op::Append | Op::Zone(_) => self.link.send(now, ready, 0, true),
        };
        let status = request.op.without_zones();
        self.counters.count(&request);
        self.counters.count_end(status);
        self.meter.end(at);
        self.queue.take(Completion { at, tag, status });
    }

    fn read(&mut self, ready: Nanos, request: Request) -> Nanos {
        let mut done = ready;
        for (index, (from, until)) in pieces(request).enumerate() {
            let mut fetched = ready;
            for access in self.accesses(from, until) {
                let place = self.place_of(access);
                fetched = fetched.max(self.media.read(self.now, ready, place));
            }
            done = done.max(self.link.send(self.now, fetched, (until - from) as u32, index == 0));
        }
        done
    }

    fn write(&mut self, ready: Nanos, request: Request) -> Nanos {
        let sectors = self.spec.media.access.sectors();
        let mut done = ready;
        let mut written = 0;
        for (index, (from, until)) in pieces(request).enumerate() {
            let arrived = self.link.receive(self.now, ready, (until - from) as u32, index == 0);
            for access in self.accesses(from, until) {
                let place = self.place_of(access);
                // What is written in part must be read for the rest of it.
                let is_whole = access * sectors >= from && (access + 1) * sectors <= until;
                let whole = if is_whole { arrived } else { self.media.read(self.now, arrived, place) };
                done = done.max(self.media.write(self.now, whole, place));
                written += 1;
            }
        }
        self.level(done, written);
        self.writing.note(self.now, done, request.lba, request.end());
        done
    }

    /// The accesses that hold sectors from `from` to `until`.
    #[inline]
    fn accesses(&self, from: u64, until: u64) -> std::ops::Range<u64> {
        let shift = self.spec.media.access.sectors().trailing_zeros();
        from >> shift..((until - 1) >> shift) + 1
    }

    /// The access of the media that holds this one of the host's.
    #[inline]
    fn place_of(&self, access: u64) -> u64 {
        let shift = self.line_shift();
        let line = access >> shift;
        (self.levelling.place_of(line) << shift) | (access - (line << shift))
    }

    #[inline]
    fn line_shift(&self) -> u32 {
        (self.spec.line.get() / self.spec.media.access.get()).trailing_zeros()
    }

    /// Accesses written from one move of wear levelling to the next.
    const fn move_after(&self) -> u64 {
        self.spec.move_every as u64 * (self.spec.line.get() / self.spec.media.access.get())
    }

    /// Moves lines for so many accesses written, from `ready` on.
    fn level(&mut self, ready: Nanos, written: u64) {
        self.since_move += written;
        while self.since_move >= self.move_after() {
            self.since_move -= self.move_after();
            let (from, to) = self.levelling.step();
            let shift = self.line_shift();
            for access in 0..1 << shift {
                let there = self.media.read(self.now, ready, from << shift | access);
                self.media.write(self.now, there, to << shift | access);
            }
            self.moved += 1 << shift;
        }
    }

    /// The sectors of writes that are not in the cells yet at `now`.
    fn in_flight(&self, now: Nanos) -> Vec<(Lba, Lba)> {
        if self.spec.power.capacitor { Vec::new() } else { self.writing.sectors(now) }
    }

    /// Brings the drive into the state in which these writes would leave it, in no time.
    ///
    /// # Panics
    /// If something is in flight, or a request is no write within the capacity.
    pub fn write_untimed(&mut self, requests: impl IntoIterator<Item = Request>) {
        assert!(self.queue.is_empty(), "a drive is written without time only when nothing is in flight");
        for request in requests {
            within(self.spec.capacity, &request);
            assert_eq!(request.op, Op::Write, "{request:?}");
            self.counters.count(&request);
            self.count(pieces(request).map(|(from, until)| self.accesses(from, until).count() as u64).sum());
        }
    }

    /// The same for writes of `block` each, one behind the other from `first` to `end`.
    ///
    /// # Panics
    /// If something is in flight.
    pub fn fill_untimed(&mut self, first: Lba, end: Lba, block: Bytes) {
        assert!(self.queue.is_empty(), "a drive is written without time only when nothing is in flight");
        self.counters.count_writes(first, end, block);
        let accesses = self.accesses(first.get(), end.get().max(first.get() + 1));
        self.count(accesses.end - accesses.start);
    }

    /// Whether [`fill_untimed`](Self::fill_untimed) does what writes in order would: they are of whole accesses.
    pub fn can_fill(&self, first: Lba, end: Lba) -> bool {
        let is_whole = |at: Lba| at.get().is_multiple_of(PIECE.sectors());
        let capacity = Lba::at(self.spec.capacity);
        first < end && is_whole(first) && (is_whole(end) || end == capacity) && self.queue.is_empty()
    }

    /// Whether it can be put behind writes of `block` each, at random over all of it: they are of whole accesses, and nothing is
    /// in flight.
    pub fn can_write_at_random(&self, block: Bytes) -> bool {
        let is_whole = block > Bytes::ZERO && block.get().is_multiple_of(self.spec.media.access.get());
        is_whole && block <= self.spec.capacity && self.queue.is_empty()
    }

    /// Brings it into the state that so many writes of `block` each leave, wherever they are: in place, they leave no more than
    /// how far wear levelling has come.
    ///
    /// # Panics
    /// If it [cannot](Self::can_write_at_random).
    pub fn write_at_random(&mut self, writes: u64, block: Bytes) {
        assert!(self.can_write_at_random(block), "a drive is written without time only when nothing is in flight");
        self.counters.count_writes(Lba::new(0), Lba::at(block.times(writes)), block);
        self.count(writes * block.div(self.spec.media.access));
    }

    /// Counts accesses as written, and moves lines for them.
    fn count(&mut self, accesses: u64) {
        self.since_move += accesses;
        let moves = self.since_move / self.move_after();
        self.since_move %= self.move_after();
        self.levelling.steps(moves);
        let moved = moves << self.line_shift();
        self.moved += moved;
        self.media.reads += moved;
        self.media.writes += accesses + moved;
    }

    fn work(&self) -> WorkEnergy {
        WorkEnergy {
            pages_read: self.media.reads,
            pages_programmed: self.media.writes,
            blocks_erased: 0,
            bytes: self.counters.host_read + self.counters.host_written,
        }
    }
}

/// A request cut at each 4 KiB: the first sector of each piece, and the one after its last.
#[inline]
fn pieces(request: Request) -> impl Iterator<Item = (u64, u64)> {
    let (mut at, end, step) = (request.lba.get(), request.end().get(), PIECE.sectors());
    std::iter::from_fn(move || {
        (at < end).then(|| {
            let until = (at - at % step + step).min(end);
            (std::mem::replace(&mut at, until), until)
        })
    })
}

impl Drive for PcmDrive {
    fn shape(&self) -> Shape {
        Shape { capacity: self.spec.capacity, block: SECTOR, queue_depth: self.spec.queue_depth }
    }

    #[inline(never)]
    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) {
        not_before(self.now, now);
        within(self.spec.capacity, &request);
        self.now = now;
        if self.queue.has_room() {
            self.take(now, tag, request);
        } else {
            self.queue.wait(tag, request);
        }
    }

    #[inline]
    fn next_event(&self) -> Option<Nanos> {
        self.queue.next()
    }

    #[inline(never)]
    fn complete(&mut self, until: Nanos) -> Option<Completion> {
        let completion = self.queue.complete(until)?;
        self.now = self.now.max(completion.at);
        if let Some((tag, request)) = self.queue.admit() {
            self.take(self.now, tag, request);
        }
        Some(completion)
    }

    fn now(&self) -> Nanos {
        self.now
    }

    fn counters_at(&self, at: Nanos) -> Counters {
        Counters {
            pages_read: self.media.reads,
            pages_programmed: self.media.writes,
            pages_moved: self.moved,
            energy_nj: self.meter.energy(at.max(self.now), self.work()).as_nanojoules(),
            ..self.counters
        }
    }

    fn health(&self) -> Health {
        let written = self.spec.media.access.times(self.media.writes);
        let times = u32::try_from(written.get() / self.spec.capacity.get().max(1)).unwrap_or(u32::MAX);
        let wear = self.spec.rated_writes.map(|rated| WearSummary {
            rated,
            erases_min: times,
            erases_max: times,
            erases_mean: times,
            ..WearSummary::default()
        });
        Health {
            power_on: self.now,
            busy: self.meter.busy(self.now),
            power_cycles: 1 + self.counters.unsafe_shutdowns,
            wear,
            ..Health::default()
        }
    }

    fn purge(&mut self) {
        assert!(self.queue.is_empty(), "a drive is purged only when nothing is in flight");
    }

    fn cut_power(&mut self, now: Nanos) -> PowerLoss {
        not_before(self.now, now);
        self.now = now;
        let sectors = self.in_flight(now);
        let torn = if self.spec.power.capacitor { 0 } else { self.writing.count(now) };
        let from = now + self.spec.power.boot;
        self.writing.clear();
        self.link = Link::new(self.spec.link, PIECE);
        self.media.restart(from);
        self.meter.restart(now, self.spec.power.boot);
        self.firmware.restart(from);
        self.housekeeping.restart();
        self.counters.unsafe_shutdowns += 1;
        PowerLoss { sectors, torn, unanswered: self.queue.clear(), ..PowerLoss::default() }
    }

    fn unsaved(&self, now: Nanos) -> Vec<(Lba, Lba)> {
        self.in_flight(now)
    }

    fn draw_from(&mut self, seed: Seed) {
        self.pace_draws.join(seed);
        self.housekeeping.draw_from(seed);
        self.media.draw_from(seed);
    }
}
