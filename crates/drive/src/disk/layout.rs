//! Where sectors lie on the platters, and when they pass under the heads.

use block::{Lba, Nanos, Rate, SECTOR};
use serde::{Deserialize, Serialize};

use crate::divisor::Divisor;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Platters {
    /// Sectors that the host can use.
    pub sectors: u64,
    /// Surfaces, each with its head.
    pub heads: u32,
    /// Zones, equally wide; every track of a zone has equally many sectors.
    pub zones: u32,
    /// The time of a revolution.
    pub revolution: Nanos,
    /// Sectors of a track in the outermost zone.
    pub outer: u32,
    /// Sectors of a track in the innermost zone.
    pub inner: u32,
}

/// Gaps in angle, as times, by which tracks begin after one another, so that a head that goes on to the next
/// track is there when that track begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skew {
    /// Between two tracks of a cylinder.
    pub track: Nanos,
    /// Between two cylinders.
    pub cylinder: Nanos,
}

/// Where each sector lies.
///
/// Logical sectors fill a cylinder head by head, then the next cylinder, from the outside in. With the skew
/// this makes one spiral in time: `stream` says when a sector passes if the disk is read from its first
/// sector on without a pause, and modulo a revolution it is the sector's angle.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DiskLayout {
    /// The first sector, which is not zero for the second of several arms.
    first: u64,
    platters: Platters,
    /// From one cylinder's first sector to that of the next.
    cylinder_time: Divisor,
    /// The same of tracks.
    track_time: Divisor,
    revolution: Divisor,
    heads: Divisor,
    cylinders_per_zone: u32,
    zones: Vec<DiskZone>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct DiskZone {
    first: u64,
    track_sectors: Divisor,
    /// When its first sector passes.
    stream: u64,
}

/// Where the arm must be, and what passes there when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrackPosition {
    /// The position of the arm.
    pub cylinder: u32,
    /// The surface.
    pub head: u32,
    /// When the sector begins to pass, in the spiral's time.
    pub stream: Nanos,
}

impl Platters {
    /// The sectors of a track at that rate under the head.
    pub fn track_sectors(rate: Rate, revolution: Nanos) -> u64 {
        let bytes = u128::from(rate.get()) * u128::from(revolution.as_nanos()) / 1_000_000_000;
        (bytes as u64 + SECTOR.get() / 2) / SECTOR.get()
    }

    /// The sectors of a track in this zone: from outside to inside, they become fewer by equal steps.
    fn in_zone(&self, zone: u32) -> u64 {
        let steps = u64::from(self.zones.max(2) - 1);
        u64::from(self.outer) - u64::from(self.outer - self.inner) * u64::from(zone) / steps
    }

    /// What lies under each of so many arms.
    pub(super) fn share(self, actuators: u32) -> Self {
        Self { sectors: self.sectors / u64::from(actuators), heads: self.heads / actuators, ..self }
    }

    /// How many cylinders a zone needs so that all sectors have a place.
    fn cylinders_per_zone(&self) -> u64 {
        let around: u64 = (0..self.zones).map(|zone| self.in_zone(zone)).sum();
        self.sectors.div_ceil(around * u64::from(self.heads))
    }

    /// Positions of the arm.
    pub fn cylinders(&self) -> u64 {
        self.cylinders_per_zone() * u64::from(self.zones)
    }
}

impl DiskLayout {
    /// The layout of such platters, whose sectors count from `first`, the first of which passes at `phase` of each revolution.
    pub fn new(platters: Platters, skew: Skew, first: u64, phase: Nanos) -> Self {
        let heads = u64::from(platters.heads);
        let (track_time, cylinders) = (platters.revolution + skew.track, platters.cylinders_per_zone());
        let cylinder_time = track_time.times(heads).as_nanos() - skew.track.as_nanos() + skew.cylinder.as_nanos();
        let (mut next, mut stream) = (0, phase.as_nanos());
        let zones = (0..platters.zones).map(|zone| {
            let track_sectors = platters.in_zone(zone);
            let zone = DiskZone { first: next, track_sectors: Divisor::from(track_sectors), stream };
            next += track_sectors * heads * cylinders;
            stream += cylinder_time * cylinders;
            zone
        });
        let zones = zones.collect();
        let [cylinder_time, track_time, revolution, heads] =
            [cylinder_time, track_time.as_nanos(), platters.revolution.as_nanos(), heads].map(Divisor::from);
        let cylinders_per_zone = cylinders as u32;
        Self { first, platters, cylinder_time, track_time, revolution, heads, cylinders_per_zone, zones }
    }

    /// The time of a revolution.
    #[inline]
    pub fn revolution(&self) -> Nanos {
        self.platters.revolution
    }

    /// Positions of the arm.
    pub fn cylinders(&self) -> u32 {
        self.cylinders_per_zone * self.platters.zones
    }

    /// Where a sector begins.
    #[inline]
    pub fn place(&self, sector: Lba) -> TrackPosition {
        let (cylinder, head, first, within, zone) = self.find(sector);
        let stream = first + zone.track_sectors.divide(within * self.revolution.get());
        TrackPosition { cylinder, head, stream: Nanos::from_nanos(stream) }
    }

    /// When the last sector before `end` has passed, in the spiral's time. That is when `end` begins, unless
    /// it is on another track.
    #[inline]
    pub fn passed(&self, end: Lba) -> Nanos {
        self.ending(end).0
    }

    /// The same, with the cylinder and head of that sector.
    #[inline]
    pub fn ending(&self, end: Lba) -> (Nanos, u32, u32) {
        let (cylinder, head, first, within, zone) = self.find(Lba::new(end.get() - 1));
        let passed = first + zone.track_sectors.divide((within + 1) * self.revolution.get());
        (Nanos::from_nanos(passed), cylinder, head)
    }

    /// The angle of the platters at a time, as the time since they were at zero.
    #[inline]
    pub fn angle(&self, at: Nanos) -> Nanos {
        Nanos::from_nanos(self.revolution.split(at.as_nanos()).1)
    }

    /// The cylinder and head of a sector.
    #[inline]
    pub fn track(&self, sector: Lba) -> (u32, u32) {
        let (cylinder, head, ..) = self.find(sector);
        (cylinder, head)
    }

    /// The first sector that has not begun to pass at that time of the spiral.
    pub fn reached(&self, stream: Nanos) -> Lba {
        let stream = stream.as_nanos();
        let index = self.zones.partition_point(|zone| zone.stream <= stream) - 1;
        let zone = &self.zones[index];
        let (cylinder, rest) = self.cylinder_time.split(stream - zone.stream);
        let (head, within) = self.track_time.split(rest);
        let track_sectors = zone.track_sectors.get();
        let passed = self.revolution.divide(within * track_sectors + self.revolution.get() - 1).min(track_sectors);
        let heads = self.heads.get();
        // Behind the last head lies the gap to the next cylinder.
        let track = if head < heads { cylinder * heads + head } else { (cylinder + 1) * heads };
        let sector = zone.first + track * track_sectors + if head < heads { passed } else { 0 };
        Lba::new(self.first + sector.min(self.platters.sectors))
    }

    /// Cylinder, head, when the track begins, the sector on the track, and the zone.
    #[inline]
    fn find(&self, sector: Lba) -> (u32, u32, u64, u64, &DiskZone) {
        let sector = sector.get() - self.first;
        let index = self.zones.partition_point(|zone| zone.first <= sector) - 1;
        let zone = &self.zones[index];
        let (track, within) = zone.track_sectors.split(sector - zone.first);
        let (cylinder, head) = self.heads.split(track);
        let first = zone.stream + cylinder * self.cylinder_time.get() + head * self.track_time.get();
        (index as u32 * self.cylinders_per_zone + cylinder as u32, head as u32, first, within, zone)
    }

    /// All sectors: the first and the one after the last.
    pub fn sectors(&self) -> (Lba, Lba) {
        (Lba::new(self.first), Lba::new(self.first + self.platters.sectors))
    }

    /// What a stream of sectors in the outermost and in the innermost zone comes to.
    pub fn sustained(&self) -> [Rate; 2] {
        [self.platters.outer, self.platters.inner].map(|sectors| {
            let bytes = SECTOR.times(u64::from(sectors) * u64::from(self.platters.heads)).get();
            let rate = u128::from(bytes) * 1_000_000_000 / u128::from(self.cylinder_time.get());
            Rate::from_bytes_per_second(rate as u64)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two heads; three zones of 100, 80 and 60 sectors a track; a revolution of 12 µs; skews of 1 and 2 µs.
    fn small() -> DiskLayout {
        turned(Nanos::ZERO)
    }

    /// The same where the first sector passes so long after the beginning of a revolution.
    fn turned(phase: Nanos) -> DiskLayout {
        let revolution = Nanos::from_micros(12);
        let platters = Platters { sectors: 2_400, heads: 2, zones: 3, revolution, outer: 100, inner: 60 };
        DiskLayout::new(platters, Skew { track: Nanos::from_micros(1), cylinder: Nanos::from_micros(2) }, 0, phase)
    }

    #[test]
    fn sectors_fill_a_cylinder_head_by_head_from_the_outside_in() {
        let layout = small();
        assert_eq!(layout.cylinders(), 15, "(100 + 80 + 60) × 2 heads × 5 cylinders = 2,400 sectors");
        let place = |sector| {
            let TrackPosition { cylinder, head, stream } = layout.place(Lba::new(sector));
            (cylinder, head, stream.as_nanos())
        };
        assert_eq!(place(0), (0, 0, 0));
        assert_eq!(place(50), (0, 0, 6_000), "half a revolution");
        assert_eq!(place(100), (0, 1, 13_000), "a revolution and the gap between two tracks");
        assert_eq!(place(200), (1, 0, 27_000), "two tracks, and the gap between two cylinders");
        assert_eq!(place(1_000), (5, 0, 5 * 27_000), "the second zone");
        assert_eq!(place(1_040), (5, 0, 5 * 27_000 + 6_000), "where half a track is 40 sectors");
        assert_eq!(place(2_399), (14, 1, 14 * 27_000 + 13_000 + 59 * 200));
    }

    #[test]
    fn what_has_passed_is_the_inverse_of_where_a_sector_lies() {
        let layout = small();
        for sector in 0..2_400 {
            let begins = layout.place(Lba::new(sector)).stream;
            assert_eq!(layout.reached(begins), Lba::new(sector), "as it begins");
            let after = layout.reached(begins + Nanos::from_nanos(1));
            assert_eq!(after, Lba::new(sector + 1), "once it has begun, the next is the first that has not");
            assert!(layout.passed(Lba::new(sector + 1)) > begins);
        }
        assert_eq!(layout.reached(Nanos::from_secs(1)), Lba::new(2_400), "the end is the end");
    }

    #[test]
    fn another_phase_puts_all_sectors_as_much_later_under_the_heads() {
        let (layout, late) = (small(), turned(Nanos::from_micros(5)));
        for sector in (0..2_400).map(Lba::new) {
            let [angle, later] = [&layout, &late].map(|layout| layout.angle(layout.place(sector).stream).as_nanos());
            assert_eq!(later, (angle + 5_000) % 12_000);
            assert_eq!(late.reached(late.place(sector).stream), sector);
        }
    }

    #[test]
    fn a_track_ends_a_gap_before_the_next_begins() {
        let layout = small();
        let gap = |sector| layout.place(Lba::new(sector)).stream - layout.passed(Lba::new(sector));
        assert_eq!(gap(50), Nanos::ZERO, "on one track");
        assert_eq!(gap(100), Nanos::from_micros(1), "between two tracks");
        assert_eq!(gap(200), Nanos::from_micros(2), "between two cylinders");
        assert_eq!(gap(1_000), Nanos::from_micros(2), "between two zones");
    }

    #[test]
    fn a_stream_loses_the_gaps() {
        let [outer, inner] = small().sustained();
        assert_eq!(outer.get(), 200 * 512 * 1_000_000_000 / 27_000);
        assert_eq!(inner.get(), 120 * 512 * 1_000_000_000 / 27_000);
        assert_eq!(Platters::track_sectors(outer, Nanos::from_micros(27)), 200);
    }
}
