//! The block traces of Microsoft Research Cambridge.
//! Source: SNIA IOTTA repository, "MSR Cambridge Traces", README: `Timestamp,Hostname,DiskNumber,Type,Offset,Size,
//! ResponseTime`, times in ticks of Windows, 100 ns each.

use std::collections::BTreeSet;

use block::{Nanos, Op};

use super::{TraceEvent, TraceLine, TraceMistake, request};

/// The length of a tick of Windows' clock.
const TICK: u64 = 100;
/// The year 2000 on Windows' clock, which began in 1601: a trace's times are taken from here, so that they fit.
const YEAR_2000: u64 = 125_911_584_000_000_000;

/// Reads a request with its response time. A header is passed over.
pub(super) fn line(text: &str, targets: &mut BTreeSet<String>) -> Result<TraceLine, TraceMistake> {
    const WANTED: &str = "`Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime` of MSR Cambridge";
    let words: Vec<&str> = text.split(',').map(str::trim).collect();
    let [at, host, disk, kind, offset, size, response] = words[..] else { return Err(TraceMistake::NotA(WANTED)) };
    if at == "Timestamp" {
        return Ok(TraceLine::Other);
    }
    let number = |word: &str| word.parse::<u64>().map_err(|_| TraceMistake::NotA(WANTED));
    let time = |ticks: u64| ticks.checked_mul(TICK).map(Nanos::from_nanos).ok_or(TraceMistake::NotA(WANTED));
    let op = match kind {
        "Read" => Op::Read,
        "Write" => Op::Write,
        _ => return Err(TraceMistake::NotA(WANTED)),
    };
    let ticks = number(at)?;
    let at = time(ticks.checked_sub(YEAR_2000).unwrap_or(ticks))?;
    let completed = time(number(response)?)?.as_nanos().checked_add(at.as_nanos()).map(Nanos::from_nanos);
    let request = request(op, number(offset)?, number(size)?)?;
    let target = format!("{host}.{disk}");
    if !targets.contains(&target) {
        targets.insert(target);
    }
    Ok(TraceLine::Came(TraceEvent { at, request, completed }))
}
