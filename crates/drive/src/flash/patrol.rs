//! Patrol reads: flash that is read in the background, so that data which becomes hard to read is moved in time.

use block::{Nanos, Seed};
use serde::{Deserialize, Serialize};

use super::geometry::{Geometry, Unit};
use super::operation::{Cells, PageLocation};
use super::{FlashDrive, Mapping};
use crate::draw::Draws;
use crate::periodic::Periodic;

/// How often flash is read in the background.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PatrolSpec {
    /// From one array read to the next.
    pub every: Nanos,
}

/// Where the patrol is.
///
/// It comes to one array read's worth of flash after the other, the units in turn, block by block, and begins again after
/// the last. What holds no data has its turn too, and is not read; nor is what is in a unit whose last patrol read, with what
/// was moved because of it, is not over. After a long rest it has been everywhere once at most.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Patrol {
    every: Nanos,
    timer: Periodic,
    /// Where it goes next.
    next: u64,
    /// Places that it goes through.
    places: u64,
    /// When its last read of each unit is over, and what was moved because of that.
    until: Vec<Nanos>,
    /// Places that it has read.
    pub read: u64,
}

impl Patrol {
    /// It begins at the first block, anywhere in its period.
    pub fn new(spec: PatrolSpec, geometry: &Geometry, seed: Seed) -> Self {
        Self {
            every: spec.every,
            timer: Periodic::new(Some(spec.every), Draws::new(seed).draw()),
            next: 0,
            places: places(geometry),
            until: vec![Nanos::ZERO; geometry.units() as usize],
            read: 0,
        }
    }

    /// The turns that have come up to `now` since this was asked last: when the first is, and how many.
    #[inline]
    pub fn due(&mut self, now: Nanos) -> Option<(Nanos, u64)> {
        let (last, turns) = self.timer.last(now)?;
        let turns_made = turns.min(self.places);
        self.next = (self.next + (turns - turns_made)) % self.places;
        Some((last - self.every.times(turns_made - 1), turns_made))
    }

    /// Goes on to the next place.
    fn step(&mut self) -> u64 {
        let place = self.next;
        self.next = if place + 1 == self.places { 0 } else { place + 1 };
        place
    }
}

/// How many array reads bring all of the flash.
pub fn places(geometry: &Geometry) -> u64 {
    u64::from(geometry.blocks()) * u64::from(geometry.senses_per_block())
}

impl Mapping {
    /// Where the patrol finds this of its places; none if it holds no data, or is being written or emptied.
    fn patrolled(&self, place: u64) -> Option<PageLocation> {
        let (units, senses) = (u64::from(self.geometry.units()), u64::from(self.geometry.senses_per_block()));
        let (unit, row) = ((place % units) as u32, place / units);
        let block = unit * self.geometry.blocks_per_plane + (row / senses) as u32;
        let sense = (row % senses) as u32;
        let cells = self.cells_of(block);
        let single = self.slc.filter(|_| cells == Cells::Single);
        let is_beyond = single.is_some_and(|slc| sense * self.geometry.sense_pages >= self.single_pages(slc));
        (self.is_closed(block) && !is_beyond).then_some(PageLocation { unit: Unit(unit), cells, block, sense })
    }
}

impl FlashDrive {
    /// Does the patrol's reads that have come up to `now`.
    #[inline]
    pub(super) fn patrol(&mut self, now: Nanos) {
        if let Some((first, turns)) = self.patrol.as_mut().and_then(|patrol| patrol.due(now)) {
            self.make_rounds(now, first, turns, None);
        }
    }

    /// Does what a drive that is asked nothing does until `now`: patrol reads, and between them whatever else it does.
    pub(super) fn rest(&mut self, now: Nanos) {
        let from = self.idle_from();
        let Some((first, turns)) = self.patrol.as_mut().and_then(|patrol| patrol.due(now)) else {
            return self.idle(from, now);
        };
        self.idle(from, first);
        self.make_rounds(now, first, turns, Some(from));
        // Blocks that the last reads had moved.
        self.idle(from.max(first + self.patrol_period().times(turns - 1)), now);
    }

    fn patrol_period(&self) -> Nanos {
        self.spec.patrol.map_or(Nanos::ZERO, |spec| spec.every)
    }

    /// So many turns of the patrol, the first of them at `first`. A drive that rests moves the data of blocks from
    /// `idle_from` on, before the next turn.
    #[cold]
    fn make_rounds(&mut self, now: Nanos, first: Nanos, turns: u64, idle_from: Option<Nanos>) {
        let every = self.patrol_period();
        for turn in 0..turns {
            let Some(patrol) = &mut self.patrol else { return };
            let at = first + every.times(turn);
            let place = patrol.step();
            if let Some(from) = idle_from.filter(|_| self.mapping.is_collecting()) {
                self.idle(from.max(at - every.min(at)), at);
            }
            let Some(place) = self.mapping.patrolled(place) else { continue };
            let unit = place.unit.0 as usize;
            if self.patrol.as_ref().is_some_and(|patrol| patrol.until[unit] > at) {
                continue;
            }
            let mut until = self.nand.patrol(now, at, place, self.spec.geometry.sense_pages);
            // What cannot be corrected is the host's to be told when it asks for it.
            self.nand.take_failure();
            if let Some(block) = self.nand.take_ailing() {
                self.refresh(block, at);
                until = until.max(self.nand.free_at(place.unit));
            }
            if let Some(patrol) = &mut self.patrol {
                patrol.read += 1;
                patrol.until[unit] = until;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use block::Bytes;
    use proptest::prelude::*;

    use super::super::{CollectionSpec, Mapping, SlcSpec};
    use super::*;
    use crate::flash::operation::Lpn;

    const GEOMETRY: Geometry = Geometry {
        channels: 2,
        dies_per_channel: 1,
        planes: 1,
        multi_plane: false,
        blocks_per_plane: 10,
        pages_per_block: 12,
        page: Bytes::from_kib(4),
        program_pages: 6,
        sense_pages: 2,
    };

    fn patrol(every: Nanos) -> Patrol {
        Patrol::new(PatrolSpec { every }, &GEOMETRY, Seed::new(3))
    }

    #[test]
    fn in_one_round_it_comes_to_every_array_read_of_closed_blocks_once_and_to_nothing_else() {
        let mut mapping = Mapping::new(GEOMETRY, CollectionSpec::DEFAULT, None, None, 100, None);
        let mut plan = Vec::new();
        for page in 0..60 {
            mapping.write(Lpn(page), &mut plan);
        }
        let found: Vec<PageLocation> = (0..places(&GEOMETRY)).filter_map(|place| mapping.patrolled(place)).collect();
        // 30 pages of each unit: two blocks of 12 are closed, of six array reads each, and one is open.
        assert_eq!(found.len(), 2 * 2 * 6);
        let mut known: Vec<(u32, u32)> = found.iter().map(|place| (place.block, place.sense)).collect();
        known.sort_unstable();
        known.dedup();
        assert_eq!(known.len(), found.len());
        assert!(found.windows(2).filter(|pair| pair[0].unit != pair[1].unit).count() > 20, "the units in turn");
        // All that the map says to be in closed blocks is among them.
        for page in (0..60).map(Lpn) {
            let place = mapping.place_of(page).unwrap();
            assert_eq!(known.contains(&(place.block, place.sense)), mapping.is_closed(place.block), "{page:?}");
        }
    }

    #[test]
    fn of_a_block_of_one_bit_it_reads_no_more_than_there_is() {
        let slc = SlcSpec { bits: 2, fixed: 4, dynamic: 0, fold_from: None };
        let mut mapping = Mapping::new(GEOMETRY, CollectionSpec::DEFAULT, Some(slc), None, 60, None);
        let mut plan = Vec::new();
        for page in 0..13 {
            mapping.write(Lpn(page), &mut plan);
        }
        let found: Vec<PageLocation> = (0..places(&GEOMETRY)).filter_map(|place| mapping.patrolled(place)).collect();
        assert!(
            !found.is_empty() && found.iter().all(|place| place.cells == Cells::Single && place.sense < 3),
            "{found:?}"
        );
    }

    #[test]
    fn after_a_long_rest_it_has_been_everywhere_once() {
        let every = Nanos::from_millis(10);
        let mut patrol = patrol(every);
        let (first, turns) = patrol.due(Nanos::from_secs(3_600)).unwrap();
        assert_eq!(turns, places(&GEOMETRY));
        assert!(
            first + every.times(turns) > Nanos::from_secs(3_600)
                && first + every.times(turns - 1) <= Nanos::from_secs(3_600)
        );
        assert_eq!(patrol.due(Nanos::from_secs(3_600)), None);
    }

    proptest! {
        /// However it is asked, its turns are a period apart, none is left out or made twice, and it goes round.
        #[test]
        fn turns_come_in_order_and_a_period_apart(every in 1..5_000_u64, gaps in prop::collection::vec(0..20_000_u64, 1..60)) {
            let every = Nanos::from_micros(every);
            let mut patrol = patrol(every);
            let (mut now, mut last) = (Nanos::ZERO, None);
            for gap in gaps {
                now += Nanos::from_micros(gap);
                let Some((first, turns)) = patrol.due(now) else { continue };
                let (places, next) = (patrol.places, patrol.next);
                match last {
                    Some((before, place)) => {
                        let later = (first - before).as_nanos();
                        prop_assert_eq!(later % every.as_nanos(), 0);
                        prop_assert_eq!(next, (place + later / every.as_nanos()) % places);
                        prop_assert!(later == every.as_nanos() || turns == places, "some were left out");
                    }
                    None => prop_assert!(next == 0 || turns == places),
                }
                for turn in 0..turns {
                    prop_assert_eq!(patrol.step(), (next + turn) % places);
                }
                let until = first + every.times(turns - 1);
                prop_assert!(until <= now && until + every > now);
                last = Some((until, (next + turns - 1) % places));
            }
        }
    }
}
