//! What the way to the drive costs, measured where it is going to be used.

use std::fs::File;
use std::io;
use std::path::Path;

use block::{Nanos, Op};
use host::open;
use rustix::fs::OFlags;
use rustix::io::{pread, pwrite};

use crate::pace::{PathOverhead, now};

/// A request as small as programs make them.
const BLOCK: usize = 4096;
/// How often each is tried; the median of so many is sure to a microsecond or so.
const TRIES: usize = 400;
/// How long the server takes for each meanwhile: whoever waits for a drive sleeps deeper than for an echo, and is woken
/// later.
pub const PAUSE: Nanos = Nanos::from_micros(100);

/// The median time of a read and of a write of `device`, whose server answers after [`PAUSE`], without that. It writes what
/// it has read, to the device that `is_ours` knows when it is open.
///
/// # Errors
/// If the device cannot be read or written.
pub fn measure(device: &Path, is_ours: impl FnOnce(&File) -> io::Result<bool>) -> io::Result<PathOverhead> {
    let file = open::block_device(device, OFlags::DIRECT)?;
    if !is_ours(&file)? {
        let words = format!("{} is not the attached drive but another", device.display());
        return Err(io::Error::new(io::ErrorKind::ResourceBusy, words));
    }
    timed(|op, data| match op {
        Op::Read => pread(&file, data, 0).map(drop).map_err(io::Error::from),
        _ => pwrite(&file, data, 0).map(drop).map_err(io::Error::from),
    })
}

/// The same by whatever reads all of a piece of memory from the drive's start, or writes it there.
///
/// # Errors
/// That of `request`.
pub fn timed(mut request: impl FnMut(Op, &mut [u8]) -> io::Result<()>) -> io::Result<PathOverhead> {
    let mut memory = vec![0_u8; 2 * BLOCK];
    let start = memory.as_ptr().align_offset(BLOCK);
    let data = &mut memory[start..start + BLOCK];
    let mut times = [const { Vec::new() }; 2];
    for _ in 0..TRIES {
        let began = now();
        request(Op::Read, data)?;
        let between = now();
        request(Op::Write, data)?;
        times[0].push(between.since(began + PAUSE));
        times[1].push(now().since(between + PAUSE));
    }
    let [read, write] = times.map(median);
    Ok(PathOverhead { read, write })
}

fn median(mut times: Vec<Nanos>) -> Nanos {
    times.sort();
    times[times.len() / 2]
}
