//! Copies of the map, which cost what has changed since the one before.

use block::Bytes;
use prefetch_index::prefetch_index;

use super::mapping::Mapping;
use crate::shared::Lend;
use crate::shared_table::SharedTable;
use crate::table::Table;

/// The blocks that a map may have written to since it was the same as another.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// The digest of that other; none where anything may differ.
    since: Option<u64>,
    blocks: Vec<u32>,
}

impl Changes {
    fn since(digest: u64) -> Self {
        Self { since: Some(digest), blocks: Vec::new() }
    }

    /// Notes that a block of so many in all is written from now on. Once they are many, copying everything is as quick.
    #[inline]
    pub fn note(&mut self, block: u32, blocks: u32) {
        if self.since.is_some() {
            self.blocks.push(block);
            if self.blocks.len() > blocks as usize / 16 {
                self.lose();
            }
        }
    }

    /// Anything may have changed.
    pub fn lose(&mut self) {
        *self = Self::default();
    }
}

/// Entries of the map that memory is asked for together.
const BATCH: usize = 64;

/// What tables take in memory: a slot for each logical page; for each slot an owner and a bit.
pub(super) fn map_memory(pages: u64, slots: u64) -> Bytes {
    Bytes::new(4 * (pages + slots) + slots / 8)
}

/// What they take in lines after random writes, most of which are in no table: the place of each line, and as many lines as there may be
/// before they become tables; for each slot two bits more.
pub(super) fn drawn_memory(pages: u64, slots: u64) -> Bytes {
    Bytes::new((pages + slots) / 4 + (pages + slots) + 3 * slots / 8)
}

impl Mapping {
    /// About what its tables take in memory.
    pub fn memory(&self) -> Bytes {
        let drawn = self.drawn.as_ref().map_or(Bytes::ZERO, |drawn| drawn.memory());
        self.slots.memory() + self.owners.memory() + self.valid.memory() + drawn
    }

    /// Whether both are made alike, so that equal histories make equal states.
    fn is_like(&self, other: &Self) -> bool {
        let wear = |mapping: &Self| mapping.wear.as_ref().map(|wear| *wear.spec());
        let made = |mapping: &Self| {
            (mapping.geometry, mapping.collection, mapping.slc, mapping.slots.len(), mapping.owners.len())
        };
        made(self) == made(other) && wear(self) == wear(other)
    }

    /// Makes the large tables those of `other`.
    ///
    /// A page whose place is not that of `other` was written or moved since both were the same, and is in a block that was
    /// opened since, or was open then: its owner is named there.
    fn copy_tables(&mut self, other: &Self) {
        let flat = other.slots.flat().zip(other.owners.flat());
        let flat = flat.filter(|_| self.changes.since == Some(other.digest));
        let flat = flat.filter(|_| self.slots.is_own() && self.owners.is_own());
        if let Some((other_slots, other_owners)) = flat {
            let open = other.units.iter().flat_map(|unit| [unit.host.block, unit.collection.block]);
            self.changes.blocks.extend(open);
            self.changes.blocks.sort_unstable();
            self.changes.blocks.dedup();
            let Self { slots, owners, changes, .. } = self;
            let (slots, owners) = (slots.own(), owners.own());
            for block in &changes.blocks {
                let first = (*block as usize) << other.page_bits;
                let pages = first..first + other.block_slots() as usize;
                for written in owners[pages.clone()].chunks(BATCH) {
                    written.iter().for_each(|page| slots.call(*page as usize));
                    written.iter().for_each(|page| prefetch_index(other_slots, *page as usize));
                    for page in written {
                        // What stands for no page has no place.
                        if let Some(slot) = slots.get_mut(*page as usize) {
                            *slot = other_slots[*page as usize];
                        }
                    }
                }
                owners[pages.clone()].copy_from_slice(&other_owners[pages]);
            }
        } else {
            self.slots.clone_from(&other.slots);
            match other.packing {
                Some(_) => self.owners = other.owners_copied(),
                None => self.owners.clone_from(&other.owners),
            }
        }
        self.valid.clone_from(&other.valid);
        self.tabled = other.tabled.clone();
    }

    /// Makes all but the large tables those of `other`; what has the same history as far as it `is_alike` needs less.
    fn copy_fields(&mut self, other: &Self, is_alike: bool) {
        // All fields, so that the compiler asks about a new one.
        let Self {
            geometry,
            collection,
            slc,
            page_bits,
            unit_blocks,
            sense_pages,
            slots: _,
            owners: _,
            extents,
            drawn,
            tabled: _,
            valid: _,
            packing,
            counts,
            single,
            units,
            superblocks,
            level_max,
            next_unit,
            collecting,
            digest,
            moved,
            wear,
            read_only,
            changes: _,
        } = other;
        if !is_alike {
            self.extents.clone_from(extents);
            self.drawn.clone_from(drawn);
            self.packing.clone_from(packing);
            self.counts.clone_from(counts);
            self.single.clone_from(single);
            self.units.clone_from(units);
            self.superblocks.clone_from(superblocks);
            self.wear.clone_from(wear);
            self.read_only = *read_only;
        }
        self.geometry = *geometry;
        self.collection = *collection;
        self.slc = *slc;
        self.page_bits = *page_bits;
        self.unit_blocks = *unit_blocks;
        self.sense_pages = *sense_pages;
        self.level_max = *level_max;
        self.next_unit = *next_unit;
        self.collecting = *collecting;
        self.digest = *digest;
        self.moved = *moved;
        self.changes = Changes::since(*digest);
    }
}

impl Mapping {
    /// A copy that knows how many pages each block holds, and of none in which slot it is.
    pub(super) fn without_tables(&self) -> Self {
        let empty = |table: &SharedTable| SharedTable::new(table.like());
        self.with_tables(empty(&self.slots), empty(&self.owners), self.valid.like())
    }

    /// The same in the memory already had. What the tables hold is what happens to be there.
    pub(super) fn copy_without_tables(&mut self, other: &Self) {
        if !self.is_like(other) || other.packing.is_some() {
            *self = other.without_tables();
            return;
        }
        for table in [&mut self.slots, &mut self.owners] {
            if !table.is_own() {
                table.clear();
            }
        }
        self.copy_fields(other, false);
        self.changes.lose();
    }

    fn with_tables(&self, slots: SharedTable, owners: SharedTable, valid: Table<u64>) -> Self {
        Self {
            geometry: self.geometry,
            collection: self.collection,
            slc: self.slc,
            page_bits: self.page_bits,
            unit_blocks: self.unit_blocks,
            sense_pages: self.sense_pages,
            slots,
            owners,
            extents: self.extents.clone(),
            drawn: self.drawn.clone(),
            tabled: self.tabled.clone(),
            valid,
            packing: self.packing.clone(),
            counts: self.counts.clone(),
            single: self.single.clone(),
            units: self.units.clone(),
            superblocks: self.superblocks.clone(),
            level_max: self.level_max,
            next_unit: self.next_unit,
            collecting: self.collecting,
            digest: self.digest,
            moved: self.moved,
            wear: self.wear.clone(),
            read_only: self.read_only,
            changes: Changes::since(self.digest),
        }
    }
}

impl Clone for Mapping {
    fn clone(&self) -> Self {
        self.with_tables(self.slots.clone(), self.owners_copied(), self.valid.clone())
    }

    /// Copies into the memory already had; of the large tables what differs, or nothing if both have the same history.
    fn clone_from(&mut self, other: &Self) {
        let is_alike = self.digest == other.digest && self.is_like(other);
        if !self.is_like(other) {
            self.changes.lose();
        }
        if !is_alike {
            self.copy_tables(other);
        }
        self.copy_fields(other, is_alike);
    }
}

/// Maps of fewer pages are copied as a whole by whoever changes them, which makes what it does then quicker.
const LENT_MIN: usize = 32 << 20;

/// Whether clones of a map of so many pages, which may be kept compressed, have its tables in common with it. They are in lines
/// then as long as little is in them.
pub(super) const fn are_lent(pages: usize, is_packed: bool) -> bool {
    !is_packed && pages >= LENT_MIN
}

impl Lend for Mapping {
    fn lend(&mut self) {
        if are_lent(self.slots.len(), self.packing.is_some()) {
            self.lend_tables();
        }
    }

    fn let_go(&mut self, next: Option<&Self>) {
        self.slots.let_go(next.map(|next| &next.slots));
        self.owners.let_go(next.map(|next| &next.owners));
    }
}

impl Mapping {
    /// Has its tables in lines, as those of large drives are.
    #[cfg(test)]
    pub(super) fn put_in_lines(&mut self) {
        use crate::shared_table::Numbers;

        for table in [&mut self.slots, &mut self.owners] {
            let mut lines = SharedTable::in_lines(table.like());
            (0..table.len())
                .filter(|index| table.get(*index) != 0)
                .for_each(|index| lines.set(index, table.get(index)));
            *table = lines;
        }
    }

    /// From now on, clones have the large tables in common with it, but for what they change.
    pub(super) fn lend_tables(&mut self) {
        self.slots.lend();
        self.owners.lend();
    }
}

#[cfg(test)]
mod tests {
    use block::{Bytes, Lba, Nanos, Op, Request, Seed, Tag};
    use testkit::Random;

    use super::super::{FlashDrive, Mapping};
    use crate::Drive;
    use crate::preset::{Preset, Spec};
    use crate::shared_table::Numbers;

    fn filled(kind: &str) -> FlashDrive {
        let size = "capacity.user=96MiB&channels=2&dies_per_channel=2&pages_per_block=96&capacity.spare=40%";
        let Spec::Flash(spec) = Preset::find(&format!("{kind}{size}")).unwrap().spec else { panic!("{kind} is flash") };
        let mut drive = FlashDrive::new(spec);
        drive.fill_untimed(Lba::new(0), Lba::at(spec.capacity), Bytes::from_mib(1), 100);
        drive
    }

    fn ask(drive: &mut FlashDrive, request: Request) {
        drive.submit(drive.now() + Nanos::from_millis(1), Tag(0), request);
        drive.complete(Nanos::MAX);
    }

    /// Writes here and there, in order and now and then trims or forgets all.
    fn use_a_little(drive: &mut FlashDrive, numbers: &mut Random) {
        let sectors = drive.shape().capacity.sectors();
        for _ in 0..numbers.below(1_500) {
            let (at, length) = (numbers.below(sectors - 64), 1 + numbers.below(64));
            ask(drive, Request::new(Op::Write, Lba::new(at), length as u32));
        }
        match numbers.below(8) {
            0 => ask(drive, Request::new(Op::Trim, Lba::new(numbers.below(sectors / 2) / 8 * 8), 64)),
            1 => drive.purge(),
            2 => drive.write_untimed([Request::new(Op::Write, Lba::new(0), 512)]),
            _ => {}
        }
    }

    /// The owners of valid slots; what stands at others is of no use.
    fn owners(mapping: &Mapping) -> Vec<u32> {
        let is_valid = |slot: &usize| mapping.valid[slot >> 6] >> (slot & 63) & 1 == 1;
        (0..mapping.owners.len()).filter(is_valid).map(|slot| mapping.owners.get(slot)).collect()
    }

    #[test]
    fn a_copy_that_was_used_and_made_again_is_the_original_in_every_entry() {
        let kinds = ["x25-m?map.cache=4KiB&", "990-pro?slc.fixed=2MB&slc.dynamic=8MB&"];
        for (kind, is_lent) in kinds.iter().flat_map(|kind| [(kind, false), (kind, true)]) {
            let mut original = filled(kind);
            let mut numbers = Random::new(7);
            let mut quick = 0;
            for round in 0..6 {
                if is_lent {
                    original.mapping.lend_tables();
                }
                let mut copy = original.clone();
                for _ in 0..6 {
                    use_a_little(&mut copy, &mut numbers);
                    quick += u32::from(copy.mapping.changes.since == Some(original.mapping.digest));
                    copy.clone_from(&original);
                    let (mine, other) = (&*copy.mapping, &*original.mapping);
                    assert!(mine.slots == other.slots && mine.valid == other.valid, "{kind} round {round}");
                    assert!(owners(mine) == owners(other) && mine.counts == other.counts, "{kind} round {round}");
                }
                match round {
                    1 if original.can_write_at_random(Bytes::from_kib(4)) => {
                        original.write_at_random(9_000, Bytes::from_kib(4), Seed::new(1))
                    }
                    _ => use_a_little(&mut original, &mut numbers),
                }
            }
            assert!(quick > 3, "{kind}: {quick} copies could be made from changes");
        }
    }
}
