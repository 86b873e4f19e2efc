//! Large tables of numbers, most of which may be zero, as serde writes and reads them.

use std::fmt;
use std::ops::DerefMut;

use serde::de::{SeqAccess, Visitor};
use serde::ser::SerializeSeq;
use serde::{Deserializer, Serializer};
use serde_bytes::{ByteBuf, Bytes};
use zerocopy::{FromBytes, Immutable, IntoBytes};

/// Numbers that are copied together, or not at all where all of them are zero.
pub const PIECE: usize = 4096;
/// Numbers that are saved together, or not at all.
const LINE: usize = 16;

/// A number of fixed width. What is done for whole pieces is compiled here, with this crate.
pub trait Number: Copy + Default + FromBytes + IntoBytes + Immutable {
    /// The one of this index in memory; none behind its end. Memory is not asked for its alignment, as it is for a slice of numbers.
    fn at(memory: &[u8], index: usize) -> Option<Self>;
    /// Puts one there, if memory reaches so far; whether it does.
    fn put(self, memory: &mut [u8], index: usize) -> bool;
    /// Whether any of a piece is not zero.
    fn is_used(piece: &[Self]) -> bool;
    /// The bytes of a piece, the lowest of each number first.
    fn bytes(piece: &[Self]) -> Vec<u8>;
    /// Reads a piece from its bytes; whether there are as many as it takes.
    fn read(piece: &mut [Self], bytes: &[u8]) -> bool;
}

macro_rules! number {
    ($type:ty) => {
        impl Number for $type {
            #[inline(always)]
            fn at(memory: &[u8], index: usize) -> Option<Self> {
                memory.as_chunks().0.get(index).map(|bytes| Self::from_ne_bytes(*bytes))
            }

            #[inline(always)]
            fn put(self, memory: &mut [u8], index: usize) -> bool {
                let place = memory.as_chunks_mut().0.get_mut(index);
                place.map(|bytes| *bytes = self.to_ne_bytes()).is_some()
            }

            fn is_used(piece: &[Self]) -> bool {
                piece.iter().any(|number| *number != 0)
            }

            fn bytes(piece: &[Self]) -> Vec<u8> {
                piece.iter().flat_map(|number| number.to_le_bytes()).collect()
            }

            fn read(piece: &mut [Self], bytes: &[u8]) -> bool {
                let (numbers, rest) = bytes.as_chunks();
                piece.iter_mut().zip(numbers).for_each(|(number, bytes)| *number = Self::from_le_bytes(*bytes));
                numbers.len() == piece.len() && rest.is_empty()
            }
        }
    };
}

number!(u8);
number!(u32);
number!(u64);

/// Copies a table into another of its length. Memory that stays zero is not touched.
pub fn copy<T: Number>(to: &mut [T], from: &[T]) {
    for (to, from) in to.chunks_mut(PIECE).zip(from.chunks(PIECE)) {
        if T::is_used(from) || T::is_used(to) {
            to.copy_from_slice(from);
        }
    }
}

/// Writes how many numbers there are, and where in it what is each stretch of lines that are not zero throughout: pages that are
/// written at random change a line here and there.
pub fn serialize<T: Number, S: Serializer>(table: &[T], serializer: S) -> Result<S::Ok, S::Error> {
    let mut stretches = serializer.serialize_seq(Some(used(table).count() + 1))?;
    stretches.serialize_element(&(table.len() as u64, Bytes::new(&[])))?;
    for (line, numbers) in used(table) {
        stretches.serialize_element(&(line, ByteBuf::from(T::bytes(numbers))))?;
    }
    stretches.end()
}

/// The stretches of lines that are not zero throughout, each with the number of its first and within a piece.
fn used<T: Number>(table: &[T]) -> impl Iterator<Item = (u64, &[T])> {
    let pieces = (0..).zip(table.chunks(PIECE)).filter(|(_, piece)| T::is_used(piece));
    pieces.flat_map(|(index, piece): (usize, &[T])| {
        let mut lines = (0..).zip(piece.chunks(LINE)).peekable();
        std::iter::from_fn(move || {
            let (first, _) = lines.find(|(_, line)| T::is_used(line))?;
            let mut end = first + 1;
            while lines.next_if(|(_, line)| T::is_used(line)).is_some() {
                end += 1;
            }
            let numbers = &piece[first * LINE..piece.len().min(end * LINE)];
            Some(((index * (PIECE / LINE) + first) as u64, numbers))
        })
    })
}

/// Reads what [`serialize`] wrote into a table that is zero when it is made. Memory that stays zero is not touched.
pub fn deserialize<'de, T: Number, B: DerefMut<Target = [T]>, D: Deserializer<'de>>(
    deserializer: D,
    make: fn(usize) -> Option<B>,
) -> Result<B, D::Error> {
    deserializer.deserialize_seq(Stretches { make })
}

/// Reads the stretches of a table of such numbers into what is made for so many.
struct Stretches<B> {
    make: fn(usize) -> Option<B>,
}

impl<'de, T: Number, B: DerefMut<Target = [T]>> Visitor<'de> for Stretches<B> {
    type Value = B;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table of numbers in stretches")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut stretches: A) -> Result<B, A::Error> {
        let wrong = |what| serde::de::Error::custom(format!("a table of numbers has no {what}"));
        let (length, _): (u64, ByteBuf) = stretches.next_element()?.ok_or_else(|| wrong("length"))?;
        let table = usize::try_from(length).ok().and_then(self.make);
        let mut table = table.ok_or_else(|| wrong("length that fits in memory"))?;
        while let Some((line, bytes)) = stretches.next_element::<(u64, ByteBuf)>()? {
            let from = usize::try_from(line).ok().and_then(|line| line.checked_mul(LINE));
            let to = from.and_then(|from| from.checked_add(bytes.len() / size_of::<T>()));
            let numbers = from.zip(to).and_then(|(from, to)| table.get_mut(from..to));
            if !numbers.is_some_and(|numbers| T::read(numbers, &bytes)) {
                return Err(wrong("such stretch"));
            }
        }
        Ok(table)
    }
}
