//! A recorded request as it lies in a file: in a few bytes, by what differs from the one before.

use block::{Lba, Nanos, Op, Request};

/// Something that is written by what differs from the one before it.
pub(super) trait Entry: Copy + Default {
    /// Adds it to `into`, as number `place`.
    fn pack(&self, before: &Self, place: u64, into: &mut Vec<u8>);

    /// Takes what was added.
    fn unpack(before: &Self, place: u64, from: &mut &[u8]) -> Self;
}

/// A recorded request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traced {
    /// When it came, from the first one of the trace on.
    pub at: Nanos,
    /// How many requests were done when it came: so many of the first of [`crate::Trace::done`].
    pub after: u32,
    /// How long it came after the last of those was done; after the beginning, where there were none. Where
    /// completions were not recorded, the time since the request before.
    pub think: Nanos,
    pub request: Request,
}

/// A request with the volume that it went to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TracedOf {
    pub traced: Traced,
    pub volume: u32,
}

impl Default for TracedOf {
    fn default() -> Self {
        Self { traced: Traced { at: Nanos::ZERO, after: 0, think: Nanos::ZERO, request: Request::FLUSH }, volume: 0 }
    }
}

const OPS: [Op; 4] = [Op::Read, Op::Write, Op::Trim, Op::Flush];
/// In the first byte, above the operation: that it thought since the one before, and that it went to the same volume.
const SINCE: u8 = 4;
const SAME: u8 = 8;

impl Entry for TracedOf {
    fn pack(&self, before: &Self, place: u64, into: &mut Vec<u8>) {
        let Self { traced: Traced { at, after, think, request }, volume } = self;
        let gap = *at - before.traced.at;
        let op = request.op.number().expect("a trace reads, writes, trims and flushes") as u8;
        let (since, same) = (gap == *think, *volume == before.volume);
        into.push(op | if since { SINCE } else { 0 } | if same { SAME } else { 0 });
        number(gap.as_nanos(), into);
        number(place - u64::from(*after), into);
        number(signed(before.traced.request.end().get(), request.lba.get()), into);
        number(u64::from(request.sectors), into);
        if !since {
            number(think.as_nanos(), into);
        }
        if !same {
            number(u64::from(*volume), into);
        }
    }

    fn unpack(before: &Self, place: u64, from: &mut &[u8]) -> Self {
        let (first, rest) = from.split_first().expect("an entry has a first byte");
        *from = rest;
        let gap = Nanos::from_nanos(taken(from));
        let after = (place - taken(from)) as u32;
        let lba = Lba::new(unsigned(before.traced.request.end().get(), taken(from)));
        let request = Request::new(OPS[usize::from(first & 3)], lba, taken(from) as u32);
        let think = if first & SINCE == 0 { Nanos::from_nanos(taken(from)) } else { gap };
        let volume = if first & SAME == 0 { taken(from) as u32 } else { before.volume };
        Self { traced: Traced { at: before.traced.at + gap, after, think, request }, volume }
    }
}

/// The number of a request, near to the place that it has.
impl Entry for u32 {
    fn pack(&self, _: &Self, place: u64, into: &mut Vec<u8>) {
        number(signed(place, u64::from(*self)), into);
    }

    fn unpack(_: &Self, place: u64, from: &mut &[u8]) -> Self {
        unsigned(place, taken(from)) as Self
    }
}

/// Adds a number, seven bits a byte, the lowest first.
fn number(mut number: u64, into: &mut Vec<u8>) {
    while number > 0x7f {
        into.push(number as u8 | 0x80);
        number >>= 7;
    }
    into.push(number as u8);
}

/// Takes a number.
fn taken(from: &mut &[u8]) -> u64 {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = from.split_first().expect("a number that was added is whole");
        *from = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            break;
        }
    }
    number
}

/// How far `to` is from `from`, small where they are near.
const fn signed(from: u64, to: u64) -> u64 {
    let far = to.wrapping_sub(from) as i64;
    ((far << 1) ^ (far >> 63)) as u64
}

const fn unsigned(from: u64, far: u64) -> u64 {
    from.wrapping_add((far >> 1) ^ (far & 1).wrapping_neg())
}
