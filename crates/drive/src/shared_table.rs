//! Large tables that clones have in common, but for the lines that one of them has changed.
//!
//! A table of which little is ever written can be made [in lines](SharedTable::in_lines) from the beginning.

use std::ops::Range;
use std::sync::Arc;

use block::Bytes;
use prefetch_index::prefetch_index;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::sparse;
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
    Lent(Arc<Layer>),
    Overlay(Box<Overlay>),
}

/// What others have too.
#[derive(Debug)]
enum Layer {
    Table(Table<u32>),
    /// One in which nothing was ever written.
    Blank(Table<u32>),
    /// Lines of such a one.
    Lines(Overlay),
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
    base: Arc<Layer>,
    /// Of each line: one more than its place among the changed ones; zero where it is as it was. With large pages of the system
    /// once so many lines were changed that it has use for them.
    places: Table<u32>,
    has_large_pages: bool,
    /// The numbers of those that were changed, and what is in them now.
    changed: Vec<u32>,
    lines: Table<u32>,
}

/// Numbers that are copied together: what the processor reads at once.
const LINE: usize = 16;
/// Once one in so many lines was changed, a table of its own is as small.
const CHANGED_MAX: usize = 4;
/// Once one in so many was, hardly any small page of the system is left that says where none is.
const CHANGED_MANY: usize = 256;

impl SharedTable {
    /// A table of one's own.
    pub fn new(own: Table<u32>) -> Self {
        Self { own, shared: None }
    }

    /// One that is zero and takes memory for those of its lines that are written, until these are many.
    pub fn in_lines(blank: Table<u32>) -> Self {
        Self::of(Shared::Overlay(Box::new(Overlay::over(&Arc::new(Layer::Blank(blank))))))
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
        match &self.shared {
            Some(Shared::Lent(lent)) => lent.memory(),
            Some(Shared::Overlay(overlay)) => overlay.memory(),
            None => self.own.memory(),
        }
    }

    /// The table itself, or that in place of some lines of which others stand.
    #[inline(always)]
    fn base(&self) -> &Table<u32> {
        match &self.shared {
            None => &self.own,
            Some(Shared::Lent(lent)) => lent.base(),
            Some(Shared::Overlay(overlay)) => overlay.base.base(),
        }
    }

    /// From now on, clones have it in common.
    pub fn lend(&mut self) {
        let lent = match self.shared.take() {
            Some(Shared::Lent(lent)) => lent,
            Some(Shared::Overlay(overlay)) => Arc::new(overlay.lent()),
            None => Arc::new(Layer::Table(std::mem::replace(&mut self.own, Table::new(0)))),
        };
        self.shared = Some(Shared::Lent(lent));
    }

    /// All of it in one piece; none where it stands in lines in place of another's.
    #[inline(always)]
    pub fn flat(&self) -> Option<&[u32]> {
        match &self.shared {
            None => Some(&self.own),
            Some(Shared::Lent(lent)) => lent.flat(),
            Some(Shared::Overlay(_)) => None,
        }
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
            Some(Shared::Lent(lent)) => lent.copy_into(copy),
            None => copy.clone_from(&self.own),
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
            Some(Shared::Lent(lent)) => lent.get(index),
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
                Some(Shared::Overlay(overlay)) if !overlay.is_full() => {}
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
            *self = match std::mem::replace(own, Layer::Table(Table::new(0))) {
                Layer::Table(own) | Layer::Blank(own) => Self::new(own),
                Layer::Lines(lines) => Self::of(Shared::Overlay(Box::new(lines))),
            };
        }
    }
}

impl Layer {
    fn base(&self) -> &Table<u32> {
        match self {
            Self::Table(table) | Self::Blank(table) => table,
            Self::Lines(lines) => lines.base.base(),
        }
    }

    fn flat(&self) -> Option<&[u32]> {
        if let Self::Table(table) = self { Some(table) } else { None }
    }

    fn memory(&self) -> Bytes {
        match self {
            Self::Table(table) => table.memory(),
            Self::Blank(_) => Bytes::ZERO,
            Self::Lines(lines) => lines.memory(),
        }
    }

    #[inline]
    fn get(&self, index: usize) -> u32 {
        match self {
            Self::Table(table) => table[index],
            Self::Blank(_) => 0,
            Self::Lines(lines) => lines.get(index),
        }
    }

    #[inline]
    fn call(&self, index: usize) {
        match self {
            Self::Table(table) => table.call(index),
            Self::Blank(_) => {}
            Self::Lines(lines) => lines.places.call(index / LINE),
        }
    }

    fn copy_into(&self, copy: &mut Table<u32>) {
        match self {
            Self::Table(table) => copy.clone_from(table),
            Self::Blank(table) => *copy = table.like(),
            Self::Lines(lines) => lines.copy_into(copy),
        }
    }
}

impl Overlay {
    fn over(base: &Arc<Layer>) -> Self {
        let lines = base.base().len().div_ceil(LINE);
        Self {
            base: Arc::clone(base),
            places: Table::with_gaps(lines),
            has_large_pages: false,
            changed: Vec::new(),
            lines: Table::new((lines / CHANGED_MAX + 1) * LINE),
        }
    }

    /// Begins anew over `base`.
    fn begin(&mut self, base: &Arc<Layer>) {
        if self.base.base().len() != base.base().len() {
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

    /// What is to be lent: lines where that is all there is, or else a table.
    fn lent(self) -> Layer {
        match &*self.base {
            Layer::Blank(_) => Layer::Lines(self),
            Layer::Lines(lines) if lines.changed.len() + self.changed.len() < lines.places.len() / CHANGED_MAX => {
                let mut merged = lines.clone();
                for (&line, numbers) in self.changed.iter().zip(self.lines.chunks(LINE)) {
                    let range = self.range(line as usize);
                    merged.line(line as usize)[..range.len()].copy_from_slice(&numbers[..range.len()]);
                }
                Layer::Lines(merged)
            }
            _ => {
                let mut whole = Table::new(0);
                self.copy_into(&mut whole);
                Layer::Table(whole)
            }
        }
    }

    /// About what its lines take in memory.
    fn memory(&self) -> Bytes {
        self.places.memory() + Bytes::new(4 * (self.changed.len() * (LINE + 1)) as u64)
    }

    fn call(&self, index: usize) {
        self.places.call(index / LINE);
        self.base.call(index);
    }

    #[inline]
    fn get(&self, index: usize) -> u32 {
        match self.places[index / LINE] {
            0 => self.base.get(index),
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
        if !self.has_large_pages && place >= self.places.len() / CHANGED_MANY {
            self.take_large_pages();
        }
        self.changed.push(line as u32);
        self.places[line] = place as u32 + 1;
        let (range, numbers) = (self.range(line), &mut self.lines[place * LINE..]);
        match &*self.base {
            Layer::Blank(_) => numbers[..LINE].fill(0),
            Layer::Table(table) => numbers[..range.len()].copy_from_slice(&table[range]),
            Layer::Lines(lines) => match lines.places[line] {
                0 => numbers[..LINE].fill(0),
                place => numbers[..LINE].copy_from_slice(&lines.lines[(place as usize - 1) * LINE..][..LINE]),
            },
        }
        place
    }

    /// Notes the places of changed lines in a table with large pages of the system.
    #[cold]
    fn take_large_pages(&mut self) {
        self.places = Table::new(self.places.len());
        self.has_large_pages = true;
        self.changed.iter().zip(1..).for_each(|(line, place)| self.places[*line as usize] = place);
    }

    fn copy_into(&self, copy: &mut Table<u32>) {
        self.base.copy_into(copy);
        for (&line, numbers) in self.changed.iter().zip(self.lines.chunks(LINE)) {
            let line = self.range(line as usize);
            copy[line.clone()].copy_from_slice(&numbers[..line.len()]);
        }
    }

    /// The numbers of a line.
    fn range(&self, line: usize) -> Range<usize> {
        line * LINE..self.base.base().len().min((line + 1) * LINE)
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
        match self.flat() {
            Some(flat) => sparse::serialize(flat, serializer),
            None => {
                let mut whole = Table::new(0);
                self.copy_into(&mut whole);
                whole.serialize(serializer)
            }
        }
    }
}

impl<'de> Deserialize<'de> for SharedTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Table::deserialize(deserializer).map(Self::new)
    }
}

#[cfg(test)]
#[path = "shared_table_tests.rs"]
mod tests;
