//! DiskSim's own traces as text.
//! Source: J. S. Bucy et al., "The DiskSim Simulation Environment Version 4.0 Reference Manual", CMU-PDL-08-101, 2008, "Input
//! Workload Specification".

use block::Op;

use super::decode::{Format, Lines, TraceLine, TraceMistake, Volumes, came, sectors, time, words};

pub(super) const FORMAT: Format = Format {
    title: "DiskSim",
    origin: "DiskSim's default format, `ascii`",
    records: "time in ms, device, block of 512 B and count, flags of which bit 0 is set for a read",
    fits: |head| head.line().split('.').count() == 2 && line(head.line(), &mut Volumes::default()).is_ok(),
    open: || Box::new(Lines(line)),
};

/// Reads `ARRIVAL DEVICE BLOCK COUNT FLAGS`, flags in hexadecimal.
fn line(text: &str, volumes: &mut Volumes) -> Result<TraceLine, TraceMistake> {
    let wrong = || TraceMistake::NotA("`MILLISECONDS DEVICE BLOCK BLOCKS FLAGS` of DiskSim");
    let Some([at, device, first, count, flags]) = words(text) else { return Err(wrong()) };
    let at = time(at, 1_000_000).ok_or_else(wrong)?;
    let number = |word: &str| word.parse::<u64>().map_err(|_| wrong());
    let flags = u64::from_str_radix(flags.trim_start_matches("0x"), 16).map_err(|_| wrong())?;
    let op = if flags & 1 == 1 { Op::Read } else { Op::Write };
    number(device)?;
    came(at, (op, sectors(number(first)?), sectors(number(count)?)), None, volumes.number(device)?)
}
