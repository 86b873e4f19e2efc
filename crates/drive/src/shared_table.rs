//! Large tables that clones have in common, but for the lines that one of them has changed.

use std::ops::Range;
use std::sync::Arc;

use block::Bytes;
use prefetch_index::prefetch_index;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::table::Table;

/// A table of numbers. Once [lent](Self::lend), its clones take memory for no more than what they change.
///
/// A number behind the end of `own` is where `shared` has it: one's own are found without asking which of both it is.
#[derive(Debug)]
pub struct SharedTable {
    /// Nothing is in it while there are others who share.
    own: Table<u32>,
    shared: Option<Shared>,
}

#[derive(Clone, Debug)]
enum Shared {
    Lent(Arc<Table<u32>>),
    Overlay(Box<Overlay>),
}

/// What numbers are read from and written to one at a time.
pub trait Numbers {
    fn get(&self, index: usize) -> u32;
    fn set(&mut self, index: usize, number: u32);
    /// Has a number at hand soon.
    fn call(&self, index: usize);
}

/// Lines that stand in place of those of a table which others have too.
#[derive(Clone, Debug)]
struct Overlay {
    base: Arc<Table<u32>>,
    /// Of each line: one more than its place among the changed ones; zero where it is as it was.
    places: Table<u32>,
    /// The numbers of those that were changed, and what is in them now.
    changed: Vec<u32>,
    lines: Table<u32>,
}

/// Numbers that are copied together: what the processor reads at once.
const LINE: usize = 16;
/// Once one in so many lines was changed, a table of its own is as small.
const CHANGED_MAX: usize = 4;

impl SharedTable {
    /// A table of one's own.
    pub fn new(own: Table<u32>) -> Self {
        Self { own, shared: None }
    }

    fn of(shared: Shared) -> Self {
        Self { own: Table::new(0), shared: Some(shared) }
    }

    /// How many numbers it has.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.base().len()
    }

    /// About what it takes in memory, if it is all of it one's own.
    pub fn memory(&self) -> Bytes {
        self.base().memory()
    }

    /// The table itself, or that in place of some lines of which others stand.
    #[inline(always)]
    fn base(&self) -> &Table<u32> {
        match &self.shared {
            None => &self.own,
            Some(Shared::Lent(lent)) => lent,
            Some(Shared::Overlay(overlay)) => &overlay.base,
        }
    }

    /// From now on, clones have it in common.
    pub fn lend(&mut self) {
        if !matches!(self.shared, Some(Shared::Lent(_))) {
            let own = std::mem::replace(self.own(), Table::new(0));
            self.shared = Some(Shared::Lent(Arc::new(own)));
        }
    }

    /// All of it in one piece; none where it stands in lines in place of another's.
    #[inline(always)]
    pub fn flat(&self) -> Option<&[u32]> {
        if let Some(Shared::Overlay(_)) = self.shared { None } else { Some(self.base()) }
    }

    /// The table itself, if it is one's own already.
    #[inline(always)]
    pub fn own_already(&mut self) -> Option<&mut [u32]> {
        if self.shared.is_none() { Some(&mut self.own) } else { None }
    }

    /// A table of its length, all zero.
    pub fn like(&self) -> Table<u32> {
        self.base().like()
    }

    /// Makes all of them zero and gives their memory back.
    pub fn clear(&mut self) {
        *self = Self::new(self.like());
    }

    /// Whether it is a table of its own, or can be at once.
    pub fn is_own(&mut self) -> bool {
        self.take_back();
        self.shared.is_none()
    }

    /// Lets go of what others have too, unless it is in `next`, of which this will be a clone. What it holds is of no use any more.
    pub fn let_go(&mut self, next: Option<&Self>) {
        let next = next.and_then(|next| if let Some(Shared::Lent(lent)) = &next.shared { Some(lent) } else { None });
        if let (Some(Shared::Overlay(overlay)), Some(next)) = (&mut self.shared, next) {
            overlay.begin(next);
        } else if !self.is_own() {
            *self = Self::new(Table::new(0));
        }
    }

    /// The table as one's own, which it becomes if it was not.
    pub fn own(&mut self) -> &mut Table<u32> {
        if !self.is_own() {
            let mut own = Table::new(0);
            self.copy_into(&mut own);
            *self = Self::new(own);
        }
        &mut self.own
    }

    /// Copies it into a table of its own, which is the whole of `copy` then.
    pub fn copy_into(&self, copy: &mut Table<u32>) {
        match &self.shared {
            Some(Shared::Overlay(overlay)) => overlay.copy_into(copy),
            _ => copy.clone_from(self.base()),
        }
    }

    /// Puts so many numbers one behind the other, the first of them here.
    #[inline]
    pub fn set_row(&mut self, first: usize, count: usize, number: impl Fn(u32) -> u32) {
        if self.shared.is_none() {
            let row = self.own[first..first + count].iter_mut();
            return row.zip(0..).for_each(|(place, index)| *place = number(index));
        }
        let mut from = 0;
        while from < count {
            // What is in one line is found once.
            let (line, at) = ((first + from) / LINE, (first + from) % LINE);
            let until = count.min(from + LINE - at);
            let places = &mut self.line_shared(line)[at..][..until - from];
            places.iter_mut().zip(from as u32..).for_each(|(place, index)| *place = number(index));
            from = until;
        }
    }

    /// A number that is not in the table of one's own.
    #[inline(never)]
    fn get_shared(&self, index: usize) -> u32 {
        match &self.shared {
            None => self.own[index],
            Some(Shared::Lent(lent)) => lent[index],
            Some(Shared::Overlay(overlay)) => overlay.get(index),
        }
    }

    #[inline(never)]
    fn set_shared(&mut self, index: usize, number: u32) {
        self.line_shared(index / LINE)[index % LINE] = number;
    }

    /// A line, to be changed, of what others have or had too. What was changed so often that this takes as much memory becomes
    /// a table of its own.
    #[inline]
    fn line_shared(&mut self, line: usize) -> &mut [u32] {
        if !matches!(&self.shared, Some(Shared::Overlay(overlay)) if !overlay.is_full()) {
            self.take_back();
            match &self.shared {
                Some(Shared::Lent(lent)) => self.shared = Some(Shared::Overlay(Box::new(Overlay::over(lent)))),
                _ => _ = self.own(),
            }
        }
        match &mut self.shared {
            Some(Shared::Overlay(overlay)) => overlay.line(line),
            _ => {
                let end = self.own.len().min((line + 1) * LINE);
                &mut self.own[line * LINE..end]
            }
        }
    }

    #[inline(never)]
    fn call_shared(&self, index: usize) {
        match &self.shared {
            None => {}
            Some(Shared::Lent(lent)) => lent.call(index),
            Some(Shared::Overlay(overlay)) => overlay.call(index),
        }
    }

    /// Makes what nobody else has any more one's own.
    fn take_back(&mut self) {
        if let Some(Shared::Lent(lent)) = &mut self.shared
            && let Some(own) = Arc::get_mut(lent)
        {
            *self = Self::new(std::mem::replace(own, Table::new(0)));
        }
    }
}

impl Overlay {
    fn over(base: &Arc<Table<u32>>) -> Self {
        let lines = base.len().div_ceil(LINE);
        Self {
            base: Arc::clone(base),
            places: Table::new(lines),
            changed: Vec::new(),
            lines: Table::new((lines / CHANGED_MAX + 1) * LINE),
        }
    }

    /// Begins anew over `base`.
    fn begin(&mut self, base: &Arc<Table<u32>>) {
        if self.base.len() != base.len() {
            *self = Self::over(base);
            return;
        }
        if !Arc::ptr_eq(&self.base, base) {
            self.base = Arc::clone(base);
        }
        for line in self.changed.drain(..) {
            self.places[line as usize] = 0;
        }
    }

    /// Whether so much is changed that no further line may be.
    #[inline]
    fn is_full(&self) -> bool {
        self.changed.len() * LINE == self.lines.len()
    }

    fn call(&self, index: usize) {
        self.places.call(index / LINE);
        self.base.call(index);
    }

    #[inline]
    fn get(&self, index: usize) -> u32 {
        match self.places[index / LINE] {
            0 => self.base[index],
            place => self.lines[(place as usize - 1) * LINE + index % LINE],
        }
    }

    /// What stands in place of a line, to be changed.
    #[inline]
    fn line(&mut self, line: usize) -> &mut [u32] {
        let place = match self.places[line] {
            0 => self.change(line),
            place => place as usize - 1,
        };
        &mut self.lines[place * LINE..][..LINE]
    }

    /// Copies a line, which will be changed; its place.
    #[inline]
    fn change(&mut self, line: usize) -> usize {
        let place = self.changed.len();
        self.changed.push(line as u32);
        self.places[line] = place as u32 + 1;
        let old = &self.base[self.range(line)];
        self.lines[place * LINE..][..old.len()].copy_from_slice(old);
        place
    }

    fn copy_into(&self, copy: &mut Table<u32>) {
        copy.clone_from(&self.base);
        for (&line, numbers) in self.changed.iter().zip(self.lines.chunks(LINE)) {
            let line = self.range(line as usize);
            copy[line.clone()].copy_from_slice(&numbers[..line.len()]);
        }
    }

    /// The numbers of a line.
    fn range(&self, line: usize) -> Range<usize> {
        line * LINE..self.base.len().min((line + 1) * LINE)
    }
}

impl Numbers for [u32] {
    #[inline(always)]
    fn get(&self, index: usize) -> u32 {
        self[index]
    }

    #[inline(always)]
    fn set(&mut self, index: usize, number: u32) {
        self[index] = number;
    }

    #[inline(always)]
    fn call(&self, index: usize) {
        prefetch_index(self, index);
    }
}

impl Numbers for SharedTable {
    #[inline(always)]
    fn get(&self, index: usize) -> u32 {
        self.own.number(index).unwrap_or_else(|| self.get_shared(index))
    }

    #[inline(always)]
    fn set(&mut self, index: usize, number: u32) {
        if !self.own.put(index, number) {
            self.set_shared(index, number);
        }
    }

    #[inline(always)]
    fn call(&self, index: usize) {
        if self.shared.is_none() {
            self.own.call(index);
        } else {
            self.call_shared(index);
        }
    }
}

impl Clone for SharedTable {
    fn clone(&self) -> Self {
        self.shared.clone().map_or_else(|| Self::new(self.own.clone()), Self::of)
    }

    /// Copies into the memory already had.
    fn clone_from(&mut self, other: &Self) {
        match (&mut self.shared, &other.shared) {
            (None, None) => self.own.clone_from(&other.own),
            (Some(Shared::Overlay(mine)), Some(Shared::Lent(other))) => mine.begin(other),
            _ => *self = other.clone(),
        }
    }
}

impl PartialEq for SharedTable {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && (0..self.len()).all(|index| self.get(index) == other.get(index))
    }
}

impl Serialize for SharedTable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.shared {
            Some(Shared::Overlay(_)) => {
                let mut whole = Table::new(0);
                self.copy_into(&mut whole);
                whole.serialize(serializer)
            }
            _ => self.base().serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for SharedTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Table::deserialize(deserializer).map(Self::new)
    }
}

#[cfg(test)]
mod tests {
    use testkit::Random;

    use super::*;

    /// Numbers in order.
    fn ascending(length: usize) -> SharedTable {
        let mut table = Table::new(length);
        table.iter_mut().zip(1..).for_each(|(number, ascending)| *number = ascending);
        SharedTable::new(table)
    }

    fn numbers(table: &SharedTable) -> Vec<u32> {
        (0..table.len()).map(|index| table.get(index)).collect()
    }

    /// Lines for which a table has memory of its own.
    fn lines(table: &SharedTable) -> usize {
        match &table.shared {
            None => table.own.len().div_ceil(LINE),
            Some(Shared::Lent(_)) => 0,
            Some(Shared::Overlay(overlay)) => overlay.changed.len(),
        }
    }

    #[test]
    fn a_clone_takes_memory_for_the_lines_that_it_changes_and_for_no_others() {
        let mut original = ascending(100 * LINE + 3);
        let all = numbers(&original);
        original.lend();
        let mut clone = original.clone();
        assert_eq!((lines(&clone), numbers(&clone)), (0, all.clone()), "what is only read is the original's");
        for (index, changed) in [(5 * LINE, 1), (5 * LINE + 7, 1), (100 * LINE + 2, 2), (0, 3)] {
            clone.set(index, 7);
            assert_eq!((lines(&clone), clone.get(index)), (changed, 7));
        }
        assert_eq!(numbers(&original), all, "the original does not see it");
        original.set(1, 9);
        assert_eq!(
            (lines(&original), clone.get(1), original.get(1)),
            (1, 2, 9),
            "nor the clone what the original changes"
        );
    }

    #[test]
    fn what_nobody_else_has_any_more_is_changed_where_it_is() {
        let mut original = ascending(50 * LINE);
        let memory = original.flat().unwrap().as_ptr();
        original.lend();
        drop(original.clone());
        original.set(3, 8);
        assert_eq!((original.flat().unwrap().as_ptr(), original.get(3), original.get(4)), (memory, 8, 5));
    }

    /// Whatever is changed, lent, cloned and let go: as plain vectors that are copied as a whole.
    #[test]
    fn tables_hold_what_copies_would() {
        for seed in 0..20 {
            let mut random = Random::new(seed);
            let length = 1 + random.place(40 * LINE);
            let mut tables: Vec<SharedTable> = (0..3).map(|_| ascending(length)).collect();
            let mut plain: Vec<Vec<u32>> = tables.iter().map(numbers).collect();
            for step in 0..2_000 {
                let (one, other) = (random.place(3), random.place(3));
                match random.below(40) {
                    0 => tables[one].lend(),
                    1 => assert_eq!(tables[one].own().len(), length),
                    2 | 3 => {
                        let source = tables[other].clone();
                        if random.below(2) == 0 {
                            tables[one].let_go(Some(&source));
                        }
                        tables[one].clone_from(&source);
                        plain[one] = plain[other].clone();
                    }
                    4 => {
                        tables[one].clear();
                        plain[one].fill(0);
                    }
                    5..20 => {
                        let (first, number) = (random.place(length), random.below(1_000) as u32);
                        let count = random.place(2 * LINE).min(length - first);
                        tables[one].set_row(first, count, |index| number + index);
                        plain[one][first..first + count]
                            .iter_mut()
                            .zip(number..)
                            .for_each(|(place, number)| *place = number);
                    }
                    _ => {
                        let (index, number) = (random.place(length), random.below(1_000) as u32);
                        tables[one].set(index, number);
                        plain[one][index] = number;
                    }
                }
                let are_equal = tables.iter().zip(&plain).all(|(table, plain)| numbers(table) == *plain);
                assert!(are_equal, "seed = {seed}, step {step}");
            }
        }
    }
}
