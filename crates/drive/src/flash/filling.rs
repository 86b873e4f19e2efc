//! Writing in order on to the end, while units empty their one-bit blocks.
//!
//! Blocks are chosen, emptied and erased as they are otherwise; but what is moved lies in order again where it comes to, so that
//! the map's tables need say nothing of it.

use super::extents::{Extents, Run};
use super::geometry::Unit;
use super::mapping::Mapping;
use super::operation::{FlashOp, Lpn};
use super::placing::Placing;
use crate::shared_table::Numbers;

/// A block that is being emptied, all of which lies in order.
#[derive(Clone, Default)]
struct Emptied {
    block: u32,
    /// So many of its pages have been moved, the first of them, to these places.
    moved: u32,
    to: Vec<Run>,
}

/// What is noted of pages that are written in order.
struct InOrder {
    extents: Extents,
    page_bits: u32,
    unit_blocks: u32,
    /// By unit.
    emptied: Vec<Emptied>,
    /// The slot of the page that was last written, or of the first of several.
    last: u32,
}

impl Placing for InOrder {
    const SLOTS: bool = false;
    const WHOLE: bool = true;

    #[inline]
    fn put(&mut self, _: Lpn, slot: u32) {
        self.last = slot;
    }

    fn moved(&mut self, from: u32, to: u32, left: u32, count: u32) {
        let unit = Unit(from / self.unit_blocks);
        let emptied = &mut self.emptied[unit.0 as usize];
        if emptied.block != from {
            *emptied = Emptied { block: from, ..Emptied::default() };
        }
        let begins_block = to & ((1 << self.page_bits) - 1) == 0;
        match emptied.to.last_mut() {
            Some(run) if run.slot + run.pages == to && !begins_block => run.pages += count,
            _ => emptied.to.push(Run { from: emptied.moved, pages: count, slot: to }),
        }
        emptied.moved += count;
        if count == left {
            self.extents.move_block(from, unit, &emptied.to, self.page_bits);
            *emptied = Emptied::default();
        }
    }
}

impl Mapping {
    /// Writes whole rows of pages from `first` on, at most up to `end` and none of them mapped, as [`write`](Self::write) does
    /// one after the other, where all that is mapped lies in order; how many pages. Tells what flash does for each of them, or
    /// for all `each` that come to a unit together, one or a flash page of them.
    pub(super) fn fill_on(&mut self, first: Lpn, end: u32, each: u32, mut tell: impl FnMut(&[FlashOp])) -> u32 {
        let is_emptied = self.units.iter().any(|unit| unit.victim.is_some());
        if self.extents.is_empty() || !self.tabled.is_empty() || self.packing.is_some() || is_emptied {
            return 0;
        }
        let (units, together) = (self.geometry.units(), self.geometry.program_pages);
        let rows_to = |mapping: &Self, page: u32| mapping.rows_of_blocks().min((end - page) / (units * together));
        if rows_to(self, first.0) == 0 || !self.is_dense() {
            return 0;
        }
        let mut placing = InOrder {
            extents: std::mem::take(&mut self.extents),
            page_bits: self.page_bits,
            unit_blocks: self.geometry.blocks_per_plane,
            emptied: vec![Emptied { block: u32::MAX, ..Emptied::default() }; units as usize],
            last: 0,
        };
        let (mut plan, mut page, mut out_of_order) = (Vec::new(), first.0, Vec::new());
        while out_of_order.is_empty() {
            let rows = rows_to(self, page);
            let turn = self.next_unit;
            let starts: Vec<u32> = (0..units)
                .map(|place| self.units[((turn + place) % units) as usize].host)
                .map(|host| host.block << self.page_bits | host.next)
                .collect();
            let mut whole = 0;
            while whole < rows && out_of_order.is_empty() {
                let row = starts.iter().flat_map(|start| (start + whole * together..).take(together as usize));
                // A unit that loses a block may be passed over, or that was the last that it could lose.
                let is_in_order = row.step_by(each as usize).all(|slot| {
                    plan.clear();
                    let (count, _) = self.put_together(Lpn(page), each, &mut plan, &mut placing);
                    tell(&plan);
                    out_of_order.extend((0..count).map(|next| (Lpn(page + next), placing.last + next)));
                    page += count;
                    placing.last == slot && count == each && !self.read_only
                });
                if is_in_order {
                    out_of_order.clear();
                    whole += 1;
                }
            }
            if whole == 0 {
                break;
            }
            let first = page - out_of_order.len() as u32 - whole * units * together;
            placing.extents.add(Lpn(first), whole, Unit(turn), &starts, self.page_bits);
        }
        self.take_over(placing, &out_of_order);
        page - first.0
    }

    /// Takes over where everything is. Blocks that are half empty and pages that are `out_of_order` stand in the tables.
    fn take_over(&mut self, placing: InOrder, out_of_order: &[(Lpn, u32)]) {
        let InOrder { mut extents, emptied, .. } = placing;
        extents.sort();
        self.extents = extents;
        for &(page, slot) in out_of_order {
            self.note_place(page, slot);
        }
        for (unit, emptied) in (0..).map(Unit).zip(emptied) {
            let Some(victim) = self.units[unit.0 as usize].victim else { continue };
            self.write_out(unit, victim.block);
            for Run { from, pages, slot } in emptied.to {
                for page in 0..pages {
                    let owner = self.owners.get((victim.block << self.page_bits | (from + page)) as usize);
                    self.note_place(Lpn(owner), slot + page);
                }
            }
        }
        self.mark_valid();
    }

    /// Has the tables say that a page is in a slot.
    pub(super) fn note_place(&mut self, page: Lpn, slot: u32) {
        self.note_tabled(page);
        self.slots.set(page.0 as usize, !slot);
        self.owners.set(slot as usize, page.0);
    }

    /// Whether what each block holds lies together from its first slot on, as far as it was written.
    fn is_dense(&self) -> bool {
        let mut open = self.units.iter().flat_map(|unit| [unit.host, unit.collection]);
        open.all(|open| open.next == self.count(open.block))
            && self.valid.chunks(1 << self.page_bits >> 6).zip(0..).all(|(marks, block)| {
                marks.iter().zip((0..).step_by(64)).all(|(mark, word)| *mark == bits(self.count(block), word))
            })
    }

    /// Marks the slots that are valid, where what each block holds lies together, from its first on or to its end while it is
    /// emptied.
    fn mark_valid(&mut self) {
        for block in 0..self.counts.len() as u32 {
            let unit = block / self.geometry.blocks_per_plane;
            let victim = self.units[unit as usize].victim.filter(|victim| victim.block == block);
            let first = victim.map_or(0, |victim| victim.next);
            let end = first + self.count(block);
            let marks = (block as usize) << self.page_bits >> 6..;
            for (mark, word) in self.valid[marks].iter_mut().zip((0..1 << self.page_bits).step_by(64)) {
                let now = bits(end, word) & !bits(first, word);
                if *mark != now {
                    *mark = now;
                }
            }
        }
    }
}

/// The bits of a word, the first of which has this number, that stand for slots before `end`.
fn bits(end: u32, word: u32) -> u64 {
    u64::MAX.checked_shr(64 - end.saturating_sub(word).min(64)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use block::{Bytes, Lba, Op, Request};

    use crate::Drive;
    use crate::flash::FlashDrive;
    use crate::flash::geometry::Unit;
    use crate::flash::operation::Lpn;
    use crate::preset::{Preset, Spec};
    use crate::shared_table::Numbers;

    fn drive(changes: &str) -> FlashDrive {
        let Spec::Flash(spec) = Preset::find(changes).unwrap().spec else { panic!("{changes} is flash") };
        FlashDrive::new(spec)
    }

    #[test]
    fn what_is_moved_while_a_drive_is_filled_lies_in_order_and_is_where_single_writes_put_it() {
        let most = Bytes::from_mib(1);
        for (kind, spare, block) in [
            // Three one-bit blocks fill one of three bits, or lie across two of them.
            ("990-pro?slc.fixed=2MB&slc.dynamic=14MB", 14, 96),
            ("990-pro?slc.fixed=2MB&slc.dynamic=14MB", 16, 92),
            ("990-pro?slc.fixed=4MB&slc.dynamic=9MB&gc.at_once=1", 16, 100),
            // What is moved goes on from the end of a block to the first slot of the next.
            ("990-pro?channels=8&dies_per_channel=1&slc.fixed=4MB&slc.dynamic=24MB&gc.at_once=1", 30, 64),
            // A map of which a part is in memory, and all of it while it is written in order.
            ("980-1tb?slc.fixed=2MB&slc.dynamic=14MB&map.cache=16KiB&lookup=16KiB&hmb=0B", 24, 96),
            ("870-qvo?slc.fixed=1MB&slc.dynamic=17MB&planes=2&multi_plane=true&geometry.program=16KiB", 40, 64),
            (
                "sata-tlc?slc.fixed=2MB&slc.dynamic=14MB&factory_bad=1%&planes=2&multi_plane=true&geometry.program=16KiB",
                22,
                64,
            ),
        ] {
            let dies = if kind.contains("channels") { "" } else { "&channels=2&dies_per_channel=2" };
            let told = format!("{kind}{dies}&capacity.user=97MiB&capacity.spare={spare}%&pages_per_block={block}");
            let (mut made, mut written) = (drive(&told), drive(&told));
            let capacity = made.shape().capacity;
            made.fill_untimed(Lba::new(0), Lba::at(capacity), most, 100);
            let requests = (0..97).map(|at| Request::new(Op::Write, Lba::at(most.times(at)), most.sectors() as u32));
            written.write_untimed(requests);
            assert_eq!(made.digest(), written.digest(), "{told}");
            assert_eq!(made.counters(), written.counters(), "{told}");
            assert_eq!(format!("{:?}", made.map_cache), format!("{:?}", written.map_cache), "{told}");
            let (one, other) = (&*made.mapping, &*written.mapping);
            one.check();
            assert!(
                (0..one.slots.len() as u32).all(|page| one.slot_of(Lpn(page)) == other.slot_of(Lpn(page))),
                "{told}"
            );
            for block in 0..one.counts.len() as u32 {
                let unit = Unit(block / one.geometry.blocks_per_plane);
                one.extents.pages_of(block, unit, one.page_bits, |slot, page| {
                    assert_eq!((slot >> one.page_bits, one.slot_of(page)), (block, Some(slot)), "{told}");
                });
            }
            assert!(one.valid == other.valid && one.counts == other.counts, "{told}");
            let named = (0..one.slots.len()).filter(|page| one.slots.get(*page) > 0).count();
            assert!(
                one.moved().pages > 2_000 && named < one.slots.len() / 8,
                "{told}: {} moved, {named} named",
                one.moved().pages
            );
        }
    }
}
