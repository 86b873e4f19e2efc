//! What `blktrace` writes: a file for each processor, or all in one through a pipe.
//! Source: Linux, include/uapi/linux/blktrace_api.h; blktrace 1.2.0, blkparse.c, for the order of bytes.

use block::{Nanos, Op};

use super::decode::{
    Decode, Format, Input, TraceEvent, TraceLine, TraceMistake, Volumes, hexadecimal, little, request, sectors,
};
use super::error::TraceError;

pub(super) const FORMAT: Format = Format {
    title: "blktrace",
    origin: "`blktrace -d DEVICE`; any of its files `NAME.blktrace.0`, `.1` … stands for all of them",
    records: "time in ns, device, sector and bytes; queued and completed, other events are skipped",
    fits: |head| head.bytes.first_chunk::<4>().is_some_and(|magic| swaps(*magic).is_some()),
    open: || Box::new(Events),
};

/// The number that begins each event, without the version in its lowest byte.
const MAGIC: u32 = 0x0065_6174;
/// The version of all events since Linux 2.6.17.
const VERSION: u32 = 7;

/// Categories, in the upper half of the action.
const READ: u64 = 1;
const WRITE: u64 = 1 << 1;
const FLUSH: u64 = 1 << 2;
const PASSED_THROUGH: u64 = 1 << 9;
const NOTIFY: u64 = 1 << 10;
const DISCARD: u64 = 1 << 13;
/// Actions, in the lower half, where this bit says that a cgroup is told.
const CGROUP: u64 = 1 << 8;
const QUEUED: u64 = 1;
const COMPLETED: u64 = 8;

/// Whether the bytes of each number are the other way round; none where it is no event.
fn swaps(magic: [u8; 4]) -> Option<bool> {
    let is = |number: u32| number == MAGIC << 8 | VERSION;
    match (is(u32::from_le_bytes(magic)), is(u32::from_be_bytes(magic))) {
        (true, _) => Some(false),
        (_, true) => Some(true),
        _ => None,
    }
}

struct Events;

impl Decode for Events {
    fn next(&mut self, input: &mut Input, volumes: &mut Volumes) -> Result<Option<TraceLine>, TraceError> {
        let Some(mut event) = input.record::<48>()? else { return Ok(None) };
        let magic = *event.first_chunk().expect("an event begins with its magic");
        let wrong = |mistake: TraceMistake, input: &Input| mistake.at(input.place(), &hexadecimal(&event));
        match swaps(magic) {
            None => return Err(wrong(TraceMistake::NotA("an event of blktrace, version 7"), input)),
            Some(false) => {}
            // Sequence, time, sector, bytes, action, process, device, processor, error, length of what follows.
            Some(true) => {
                let mut at = 4;
                for size in [4, 8, 8, 4, 4, 4, 4, 4, 2, 2] {
                    event[at..at + size].reverse();
                    at += size;
                }
            }
        }
        input.pass(little::<2>(&event, 46))?;
        read(&event, volumes).map(Some).map_err(|mistake| mistake.at(input.place(), &hexadecimal(&event)))
    }
}

fn read(event: &[u8; 48], volumes: &mut Volumes) -> Result<TraceLine, TraceMistake> {
    let action = little::<4>(event, 28);
    let (category, action) = (action >> 16, action & 0xffff & !CGROUP);
    if category & (NOTIFY | PASSED_THROUGH) != 0 || !matches!(action, QUEUED | COMPLETED) {
        return Ok(TraceLine::Other);
    }
    let (at, first, length) = (little::<8>(event, 8), little::<8>(event, 16), little::<4>(event, 24));
    let op = match length {
        0 if category & FLUSH != 0 => Op::Flush,
        0 => return Ok(TraceLine::Other),
        _ if category & DISCARD != 0 => Op::Trim,
        _ if category & WRITE != 0 => Op::Write,
        _ if category & READ != 0 => Op::Read,
        _ => return Ok(TraceLine::Other),
    };
    if at > u64::MAX / 4 {
        return Err(TraceMistake::NotA("an event with a time"));
    }
    let device = little::<4>(event, 36);
    let volume = volumes.number(&format!("{},{}", device >> 20, device & 0xf_ffff))?;
    let (at, request) = (Nanos::from_nanos(at), request(op, sectors(first), length)?);
    Ok(match action {
        COMPLETED => TraceLine::Completed { at, request, volume },
        _ => TraceLine::Queued(TraceEvent { at, request, completed: None, volume }),
    })
}
