//! The traces of Microsoft Research Cambridge: a request a line, separated by commas.
//! Source: D. Narayanan, A. Donnelly and A. Rowstron, "Write Off-Loading", FAST 2008; the README of SNIA's distribution.

use block::{Nanos, Op};

use super::decode::{Format, Lines, TraceLine, TraceMistake, Volumes, came, fields};

pub(super) const FORMAT: Format = Format {
    title: "MSR Cambridge",
    origin: "[SNIA's repository](http://iotta.snia.org/traces/block-io)",
    records: "time and response time in 100 ns, host and disk, offset and size in bytes",
    fits: |head| line(head.line(), &mut Volumes::default()).is_ok(),
    open: || Box::new(Lines(line)),
};

/// How long a tick of Windows' clock is, in nanoseconds.
const TICK: u64 = 100;
/// The year 2000 on Windows' clock, which began in 1601: a trace's times are taken from here, so that they fit.
const YEAR_2000: u64 = 125_911_584_000_000_000;

/// Reads a request with its response time. A header is passed over.
fn line(text: &str, volumes: &mut Volumes) -> Result<TraceLine, TraceMistake> {
    const WANTED: &str = "`Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime` of MSR Cambridge";
    let wrong = TraceMistake::NotA(WANTED);
    let Some([at, host, disk, kind, offset, size, response]) = fields(text) else { return Err(wrong) };
    if at == "Timestamp" {
        return Ok(TraceLine::Other);
    }
    let number = |word: &str| word.parse::<u64>().map_err(|_| TraceMistake::NotA(WANTED));
    let time = |ticks: u64| ticks.checked_mul(TICK).map(Nanos::from_nanos).ok_or(TraceMistake::NotA(WANTED));
    let op = match kind {
        "Read" => Op::Read,
        "Write" => Op::Write,
        _ => return Err(wrong),
    };
    let ticks = number(at)?;
    let at = time(ticks.checked_sub(YEAR_2000).unwrap_or(ticks))?;
    let volume = volumes.number(&format!("{host}.{disk}"))?;
    came(at, (op, number(offset)?, number(size)?), Some(time(number(response)?)?), volume)
}
