//! The arm with its heads above the turning platters.

use block::{Lba, Nanos, Seed};
use serde::{Deserialize, Serialize};

use super::layout::{DiskLayout, TrackPosition};
use super::seek::SeekCurve;
use super::spindle::{Spindle, SpindleActivity};
use super::variation::Variation;

/// The arm: where it is, until when it is busy, and what it does meanwhile unasked.
///
/// Platters turn without a pause, so their angle is the time modulo a revolution, and how long a sector takes to
/// come round is arithmetic; chance has a part only in how long the heads settle and in whether an operation succeeds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Arm {
    layout: DiskLayout,
    read_curve: SeekCurve,
    write_curve: SeekCurve,
    head_switch: Nanos,
    cylinder: u32,
    head: u32,
    /// Where it would go on, for a sweep over what is to be written.
    next: Lba,
    free: Nanos,
    ahead: Option<ArmReadAhead>,
    moves: u64,
    variation: Variation,
}

/// Reading, and reading on without having been asked until something else is.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct ArmReadAhead {
    /// The segment of the cache that the data goes into.
    segment: usize,
    passing: SectorTransfer,
    /// The first sector that it reads.
    first: Lba,
    /// When it begins to read what nobody has asked for.
    unasked: Nanos,
    /// Up to here the arm does nothing else.
    certain: Lba,
    /// The sector at which it ends, and when.
    limit: Lba,
    ends: Nanos,
}

/// How the arm gets to a sector: it moves, then waits for the sector to come round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Positioning {
    /// Time to move and settle.
    pub moving: Nanos,
    /// Time until the sector comes.
    pub waiting: Nanos,
}

impl Positioning {
    /// Both together.
    #[inline]
    pub fn total(self) -> Nanos {
        self.moving + self.waiting
    }
}

/// Sectors passing under the heads one after the other.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct SectorTransfer {
    /// When the first begins to pass.
    began: Nanos,
    /// The same in the spiral's time.
    stream: Nanos,
}

impl SectorTransfer {
    /// When the last sector before `end` has passed.
    #[inline]
    pub fn passed(self, layout: &DiskLayout, end: Lba) -> Nanos {
        self.began + (layout.passed(end) - self.stream)
    }

    /// The first sector that has not begun to pass at that time.
    fn reached(self, layout: &DiskLayout, at: Nanos) -> Lba {
        layout.reached(self.stream + at.since(self.began))
    }
}

impl Arm {
    /// An arm at the first cylinder.
    pub fn new(
        layout: DiskLayout,
        [read_curve, write_curve]: [SeekCurve; 2],
        head_switch: Nanos,
        variation: Variation,
    ) -> Self {
        let (next, _) = layout.sectors();
        Self {
            layout,
            read_curve,
            write_curve,
            head_switch,
            cylinder: 0,
            head: 0,
            next,
            free: Nanos::ZERO,
            ahead: None,
            moves: 0,
            variation,
        }
    }

    /// When it has done what it was asked for.
    #[inline]
    pub fn free(&self) -> Nanos {
        self.free
    }

    /// Has what is drawn from here on follow from `seed` too.
    pub const fn draw_from(&mut self, seed: Seed) {
        self.variation.draw_from(seed);
    }

    /// Where sectors lie.
    #[inline]
    pub fn layout(&self) -> &DiskLayout {
        &self.layout
    }

    /// The sector behind the last one that it transferred.
    pub fn next(&self) -> Lba {
        self.next
    }

    /// How often it has moved to another cylinder because it was asked to.
    pub fn moves(&self) -> u64 {
        self.moves
    }

    /// How often an operation needed another turn, and how often a recovery.
    pub fn troubles(&self) -> (u64, u64) {
        self.variation.troubles()
    }

    /// How many cylinders there are between it and `place`.
    pub fn distance(&self, place: TrackPosition) -> u32 {
        self.cylinder.abs_diff(place.cylinder)
    }

    /// How it would get from where it is to `place`, starting at `at`.
    #[inline]
    pub fn approach(&self, at: Nanos, place: TrackPosition, work: SpindleActivity) -> Positioning {
        self.approach_from(self.layout.angle(at), place, self.layout.angle(place.stream), work)
    }

    /// The same, with the angles of the platters now and of the place.
    #[inline]
    pub fn approach_from(
        &self,
        angle: Nanos,
        place: TrackPosition,
        wanted: Nanos,
        work: SpindleActivity,
    ) -> Positioning {
        let distance = self.cylinder.abs_diff(place.cylinder);
        let moving = match distance {
            0 if self.head == place.head => Nanos::ZERO,
            0 => self.head_switch,
            _ if work == SpindleActivity::Write => self.write_curve.time(distance),
            _ => self.read_curve.time(distance),
        };
        self.arriving(angle, moving, wanted)
    }

    /// A move from an angle that takes so long, and what it waits for the angle `wanted` to come round then.
    #[inline]
    fn arriving(&self, angle: Nanos, moving: Nanos, wanted: Nanos) -> Positioning {
        let angle = self.layout.angle(angle + moving);
        // It is past in half of all cases, so that nothing is branched upon.
        let turn = self.layout.revolution().times(u64::from(wanted < angle));
        Positioning { moving, waiting: wanted + turn - angle }
    }

    /// Goes to `first` and transfers up to `end`, `turns` revolutions later than it could; it is free and the platters turn
    /// at `at`.
    pub fn transfer(
        &mut self,
        at: Nanos,
        (first, end): (Lba, Lba),
        work: SpindleActivity,
        turns: u64,
        spindle: &mut Spindle,
    ) -> SectorTransfer {
        let place = self.layout.place(first);
        let (angle, wanted) = (self.layout.angle(at), self.layout.angle(place.stream));
        let planned = self.approach_from(angle, place, wanted, work);
        let moving = self.variation.moving(planned.moving);
        let approach = if moving == planned.moving { planned } else { self.arriving(angle, moving, wanted) };
        let revolution = self.layout.revolution();
        let turns = turns + self.variation.turns(work, revolution);
        let passing = SectorTransfer { began: at + approach.total() + revolution.times(turns), stream: place.stream };
        self.moves += u64::from(self.cylinder != place.cylinder);
        self.pass(passing, end);
        spindle.work(SpindleActivity::Seek, approach.moving, passing.began);
        spindle.work(work, self.free - passing.began, self.free);
        passing
    }

    fn rest_at(&mut self, sector: Lba) {
        (self.cylinder, self.head) = self.layout.track(sector);
    }

    /// Is above the last sector before `end`, as if it had transferred that.
    pub fn rest_behind(&mut self, end: Lba) {
        let (_, cylinder, head) = self.layout.ending(end);
        (self.cylinder, self.head, self.next) = (cylinder, head, end);
    }

    /// Lets all up to `end` pass: it is free then, and above the last of it.
    fn pass(&mut self, passing: SectorTransfer, end: Lba) {
        self.free = passing.passed(&self.layout, end);
        self.rest_behind(end);
    }

    /// Has what passes from `first` on go into a segment of the cache, and reads on behind it up to `limit`; at least up to
    /// `certain` the arm does nothing else.
    pub fn read_on(&mut self, segment: usize, (first, passing): (Lba, SectorTransfer), certain: Lba, limit: Lba) {
        let (asked, limit) = (self.next, limit.max(self.next));
        let (mut certain, mut unasked) = (certain.min(limit), self.free);
        if asked < limit {
            unasked += self.layout.place(asked).stream - self.layout.passed(asked);
        }
        if asked < certain {
            self.pass(passing, certain);
        } else {
            certain = asked;
        }
        let ends = passing.passed(&self.layout, limit);
        self.ahead = Some(ArmReadAhead { segment, passing, first, unasked, certain, limit, ends });
    }

    /// Does something of its own until then, and is above `sector` thereafter.
    pub fn occupy(&mut self, until: Nanos, sector: Lba) {
        self.rest_at(sector);
        (self.next, self.free) = (sector, until);
    }

    /// How the data from `held` to `end` passes, if the arm is certain to read it and is not beyond its beginning.
    pub fn promises(&self, at: Nanos, held: Lba, end: Lba) -> Option<SectorTransfer> {
        let ahead = self.ahead.as_ref().filter(|ahead| ahead.first <= held && end <= ahead.certain)?;
        (ahead.passing.reached(&self.layout, at) <= held).then_some(ahead.passing)
    }

    /// Up to where memory will have the data from `held` on once the arm is free; `held` itself if it is not reading that.
    pub fn certain_from(&self, at: Nanos, held: Lba) -> Lba {
        let certain = self.ahead.as_ref().map_or(held, |ahead| ahead.certain.max(held));
        if self.promises(at, held, certain).is_some() { certain } else { held }
    }

    /// Whether it reads any of these sectors for certain.
    pub fn is_reading(&self, first: Lba, end: Lba) -> bool {
        self.ahead.as_ref().is_some_and(|ahead| ahead.first < end && first < ahead.certain)
    }

    /// The segment that is being read ahead into, and up to which sector that has come at `at`.
    pub fn reading_ahead(&self, at: Nanos) -> Option<(usize, Lba)> {
        let ahead = self.ahead.as_ref()?;
        Some((ahead.segment, ahead.passing.reached(&self.layout, at).min(ahead.limit)))
    }

    /// Lets reading ahead go on up to `limit`. If it has ended, it begins again only when less than `low` is left
    /// of what it read beyond `used`: each new beginning costs most of a revolution.
    pub fn read_further(&mut self, at: Nanos, limit: Lba, used: Lba, low: u64, spindle: &mut Spindle) {
        let Some(mut ahead) = self.ahead else { return };
        if ahead.ends <= at && ahead.limit < limit {
            if ahead.limit.get() - used.get().min(ahead.limit.get()) >= low {
                return;
            }
            let from = ahead.limit;
            self.stop(at, spindle);
            let place = self.layout.place(from);
            let began = at + self.approach(at, place, SpindleActivity::Read).total();
            ahead.passing = SectorTransfer { began, stream: place.stream };
            (ahead.first, ahead.certain, ahead.unasked) = (from, from, began);
        }
        let limit = limit.max(ahead.limit);
        self.ahead = Some(ArmReadAhead { limit, ends: ahead.passing.passed(&self.layout, limit), ..ahead });
    }

    /// Stops reading ahead, leaving the arm above the sector that would have come next; the segment that it read into, and up
    /// to which sector.
    pub fn stop(&mut self, at: Nanos, spindle: &mut Spindle) -> Option<(usize, Lba)> {
        let ahead = self.ahead.take()?;
        let end = ahead.ends.min(at);
        let reached = ahead.passing.reached(&self.layout, at);
        if self.free <= at {
            self.rest_at(if reached < ahead.limit { reached } else { Lba::new(ahead.limit.get() - 1) });
        }
        spindle.work(SpindleActivity::Read, end.since(ahead.unasked), end);
        Some((ahead.segment, reached.min(ahead.limit)))
    }

    /// Gives up what it is doing and moves to where it rests, from which it begins at `free`.
    pub fn park(&mut self, at: Nanos, free: Nanos, spindle: &mut Spindle) {
        self.stop(at, spindle);
        (self.cylinder, self.head, self.next, self.free) = (0, 0, self.layout.sectors().0, free);
    }

    /// The segment that it reads ahead into, and when that ends.
    pub fn ahead_until(&self) -> Option<(usize, Nanos)> {
        self.ahead.as_ref().map(|ahead| (ahead.segment, ahead.ends))
    }

    /// How long it has read ahead since it began to, and when that ends.
    pub fn time_ahead(&self, at: Nanos) -> Option<(Nanos, Nanos)> {
        let ahead = self.ahead.as_ref()?;
        Some((ahead.ends.min(at).since(ahead.unasked), ahead.ends))
    }
}
