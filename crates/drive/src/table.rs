//! Large tables of numbers that are zero at first.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use block::{Bytes, GOLDEN};
use memmap2::{Advice, MmapMut};
use prefetch_index::prefetch_index;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use zerocopy::FromBytes;

use crate::sparse::{self, Number};

/// A table of so many numbers. It takes memory only where it was written to.
///
/// Entries of a drive's map are found by chance, one here and one there. With pages of 4 KiB the processor would look up
/// where most of them are first; so the system is asked for large ones.
pub struct Table<T> {
    memory: MmapMut,
    has_gaps: bool,
    numbers: PhantomData<T>,
}

/// What a large page of the system holds on most processors, in bytes: smaller tables have no use for one.
const LARGE_PAGE: usize = 2 << 20;

/// At so many pieces of a table is looked to tell how much of it is used.
const LOOKS: u64 = 128;

impl<T: Number> Table<T> {
    /// All of them zero.
    ///
    /// # Panics
    /// If the system has no room for it.
    pub fn new(length: usize) -> Self {
        Self::try_new(length).unwrap_or_else(|| panic!("no memory for a table of {length} numbers"))
    }

    /// The same of one that is used here and there, or in stretches with gaps between them: large pages would fill what is not.
    pub fn with_gaps(length: usize) -> Self {
        Self::make(length, true).unwrap_or_else(|| panic!("no memory for a table of {length} numbers"))
    }

    /// The same without gaps; none if the system has no room for it.
    pub fn try_new(length: usize) -> Option<Self> {
        Self::make(length, false)
    }

    fn make(length: usize, has_gaps: bool) -> Option<Self> {
        let bytes = length.checked_mul(size_of::<T>()).filter(|bytes| *bytes <= isize::MAX as usize)?;
        let memory = MmapMut::map_anon(bytes).ok()?;
        if bytes >= LARGE_PAGE {
            // A system that has none is slower, and nothing else.
            let _ = memory.advise(if has_gaps { Advice::NoHugePage } else { Advice::HugePage });
        }
        Some(Self { memory, has_gaps, numbers: PhantomData })
    }

    /// Another of its length, all zero.
    pub fn like(&self) -> Self {
        if self.has_gaps { Self::with_gaps(self.len()) } else { Self::new(self.len()) }
    }

    /// One of them, if there are so many.
    #[inline(always)]
    pub fn number(&self, index: usize) -> Option<T> {
        T::at(&self.memory, index)
    }

    /// Puts one there, if the table reaches so far; whether it does.
    #[inline(always)]
    pub fn put(&mut self, index: usize, number: T) -> bool {
        number.put(&mut self.memory, index)
    }

    /// Changes one of them.
    ///
    /// # Panics
    /// If the table does not reach so far.
    #[inline(always)]
    pub fn change(&mut self, index: usize, change: impl FnOnce(T) -> T) {
        change(self.number(index).expect(REACHES)).put(&mut self.memory, index);
    }

    /// Has one at hand soon.
    #[inline(always)]
    pub fn call(&self, index: usize) {
        let bytes: &[u8] = &self.memory;
        prefetch_index(bytes, index.wrapping_mul(size_of::<T>()));
    }

    /// About what it takes in memory, by looking at pieces of it here and there.
    pub fn memory(&self) -> Bytes {
        let pieces = self.len().div_ceil(sparse::PIECE) as u128;
        // Spread evenly, and in step with nothing that a table is used in.
        let piece = |look: u64| ((u128::from(look.wrapping_mul(GOLDEN)) * pieces) >> 64) as usize * sparse::PIECE;
        let is_used = |first: usize| T::is_used(&self[first..self.len().min(first + sparse::PIECE)]);
        let used = (0..LOOKS).filter(|look| is_used(piece(*look))).count() as u64;
        Bytes::new(self.memory.len() as u64 / LOOKS * used)
    }
}

const REACHES: &str = "who asks for a number knows how many there are";
const WHOLE: &str = "its memory begins at a page and holds whole numbers";

impl<T: Number> Deref for Table<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        <[T]>::ref_from_bytes(&self.memory).expect(WHOLE)
    }
}

impl<T: Number> DerefMut for Table<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        <[T]>::mut_from_bytes(&mut self.memory).expect(WHOLE)
    }
}

impl<T: Number> Clone for Table<T> {
    /// What stays zero takes no memory here either.
    fn clone(&self) -> Self {
        let mut copy = self.like();
        sparse::copy(&mut copy, self);
        copy
    }

    /// Copies into the memory already had.
    fn clone_from(&mut self, other: &Self) {
        if self.len() == other.len() {
            sparse::copy(self, other);
        } else {
            *self = other.clone();
        }
    }
}

impl<T: Number + PartialEq> PartialEq for Table<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Number> Serialize for Table<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        sparse::serialize(self, serializer)
    }
}

impl<'de, T: Number> Deserialize<'de> for Table<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        sparse::deserialize(deserializer, Self::try_new)
    }
}

impl<T> fmt::Debug for Table<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a table of {} numbers", self.memory.len() / size_of::<T>())
    }
}

#[cfg(test)]
mod tests {
    use serde_bytes::Bytes;

    use super::*;

    #[test]
    fn what_it_takes_in_memory_is_told_by_what_is_used_of_it() {
        let length = 1_000 * sparse::PIECE;
        for (every, share) in [(usize::MAX, 0.0), (10 * sparse::PIECE, 0.1), (1, 1.0)] {
            let mut table = Table::<u32>::new(length);
            (0..length).step_by(every).skip(usize::from(every > length)).for_each(|place| table[place] = 7);
            let found = table.memory().get() as f64 / (4 * length) as f64;
            assert!((found - share).abs() < 0.05, "{found} of it, {share} wanted");
        }
        assert_eq!(Table::<u32>::new(0).memory(), block::Bytes::ZERO);
    }

    #[test]
    fn a_table_keeps_what_it_is_given_and_copies_are_equal() {
        for length in [0, 1, 5_000, 2_000_003] {
            let mut table = Table::<u32>::new(length);
            assert_eq!(table.len(), length);
            assert!(table.iter().all(|number| *number == 0), "zero at first");
            let places = [0, length / 2, length.saturating_sub(1)];
            for (number, place) in (1..).zip(places.into_iter().filter(|place| *place < length)) {
                table[place] = number;
            }
            let mut other = Table::new(length + 1);
            other.fill(7);
            other.clone_from(&table);
            let written = postcard::to_allocvec(&table).unwrap();
            let read: Table<u32> = postcard::from_bytes(&written).unwrap();
            assert!(table == table.clone() && table == other && table == read, "{length} numbers");
            table[..].fill(9);
            table.clone_from(&read);
            assert!(table == read, "into the memory already had");
        }
    }

    #[test]
    fn a_table_is_read_as_it_was_written_and_zeroes_take_no_room() {
        for (length, used) in [
            (0, vec![]),
            (5, vec![4]),
            (3 * sparse::PIECE, vec![]),
            (10 * sparse::PIECE + 7, vec![5000, 10 * sparse::PIECE + 6]),
        ] {
            let mut table = Table::<u32>::new(length);
            used.iter().for_each(|&place| table[place] = u32::MAX - place as u32);
            let written = postcard::to_allocvec(&table).unwrap();
            assert!(written.len() < 20 + used.len() * 80, "{length}: {} bytes", written.len());
            assert_eq!(*postcard::from_bytes::<Table<u32>>(&written).unwrap(), *table);
        }
    }

    #[test]
    fn any_stretches_of_a_table_are_read_as_they_were_written() {
        let mut random = testkit::Random::new(7);
        for _ in 0..200 {
            let length = 1 + random.below(3 * sparse::PIECE as u64) as usize;
            let mut table = Table::<u64>::new(length);
            for _ in 0..random.below(20) {
                let from = random.below(length as u64) as usize;
                let to = length.min(from + random.below(300) as usize);
                table[from..to].iter_mut().for_each(|number| *number = random.below(3) << 40);
            }
            let written = postcard::to_allocvec(&table).unwrap();
            assert_eq!(*postcard::from_bytes::<Table<u64>>(&written).unwrap(), *table, "{length} numbers");
        }
    }

    #[test]
    fn what_is_not_of_the_table_is_refused() {
        const NONE: &[u8] = &[];
        for (length, line, bytes, why) in [
            (5, 0, &[1; 24][..], "five numbers have twenty bytes"),
            (5, 0, &[1; 15], "a number has four bytes"),
            (16, 1, &[1; 4], "a table of sixteen has one line"),
            (16, u64::MAX / 16, &[1; 4], "no table has so many lines"),
            (16, u64::MAX, &[1; 4], "no table has so many lines"),
            (u64::MAX / 2, 0, NONE, "no memory has so many"),
        ] {
            let written = postcard::to_allocvec(&[(length, Bytes::new(NONE)), (line, Bytes::new(bytes))]).unwrap();
            assert!(postcard::from_bytes::<Table<u32>>(&written).is_err(), "{why}");
        }
    }
}
