//! The traces of Florida International University.
//! Source: the README of SNIA's distribution of IODedup; R. Koller and R. Rangaswami, "I/O Deduplication", FAST 2010.

use block::{Nanos, Op};

use super::decode::{Format, Lines, TraceLine, TraceMistake, Volumes, came, sectors};

pub(super) const FORMAT: Format = Format {
    title: "FIU",
    origin: "[SNIA's repository](http://iotta.snia.org/traces/block-io), IODedup",
    records: "time in ns, process, sector and count, `R` or `W`, device; the digest of the data is not used",
    fits: |head| line(head.line(), &mut Volumes::default()).is_ok(),
    open: || Box::new(Lines(line)),
};

/// Reads `TIME PID PROCESS LBA SECTORS R|W MAJOR MINOR MD5`. The name of a process may have blanks, so that the fields
/// behind it are counted from the end.
fn line(text: &str, volumes: &mut Volumes) -> Result<TraceLine, TraceMistake> {
    let wrong = || TraceMistake::NotA("`NANOSECONDS PID PROCESS SECTOR SECTORS R|W MAJOR MINOR MD5` of FIU");
    let mut all = text.split_ascii_whitespace();
    let [digest, minor, major, op, count, first, process] = std::array::from_fn(|_| all.next_back().unwrap_or(""));
    let (Some(at), Some(pid)) = (all.next(), all.next()) else { return Err(wrong()) };
    let op = match op {
        "R" | "r" => Op::Read,
        "W" | "w" => Op::Write,
        _ => return Err(wrong()),
    };
    let number = |word: &str| word.parse::<u64>().map_err(|_| wrong());
    let is_digest = digest.len() >= 8 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_digest || process.is_empty() || number(pid).is_err() {
        return Err(wrong());
    }
    let at = Some(number(at)?).filter(|&nanos| nanos < u64::MAX / 4).map(Nanos::from_nanos).ok_or_else(wrong)?;
    let volume = volumes.number(&format!("{},{}", number(major)?, number(minor)?))?;
    came(at, (op, sectors(number(first)?), sectors(number(count)?)), None, volume)
}
