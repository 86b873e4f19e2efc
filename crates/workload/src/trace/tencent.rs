//! The traces of Tencent's cloud block storage.
//! Source: the README of SNIA's distribution 28064; Y. Zhang et al., "OSCA: An Online-Model Based Cache Allocation Scheme in
//! Cloud Block Storage Systems", USENIX ATC 2020.

use block::{Nanos, Op};

use super::decode::{Format, Lines, TraceLine, TraceMistake, Volumes, came, fields, sectors};

pub(super) const FORMAT: Format = Format {
    title: "Tencent CBS",
    origin: "[SNIA's repository](http://iotta.snia.org), 28064",
    records: "time in whole s, offset and size in sectors, 0 read 1 write, volume",
    fits: |head| line(head.line(), &mut Volumes::default()).is_ok(),
    open: || Box::new(Lines(line)),
};

/// Reads `Timestamp,Offset,Size,IOType,VolumeID`; times are of this century.
fn line(text: &str, volumes: &mut Volumes) -> Result<TraceLine, TraceMistake> {
    let wrong = || TraceMistake::NotA("`SECONDS,SECTOR,SECTORS,0|1,VOLUME` of Tencent's CBS");
    let Some([at, offset, size, op, volume]) = fields(text) else { return Err(wrong()) };
    let op = match op {
        "0" => Op::Read,
        "1" => Op::Write,
        _ => return Err(wrong()),
    };
    let number = |word: &str| word.parse::<u64>().map_err(|_| wrong());
    number(volume)?;
    let at = number(at)?;
    if !(946_684_800..4_102_444_800).contains(&at) {
        return Err(wrong());
    }
    let extent = (op, sectors(number(offset)?), sectors(number(size)?));
    came(Nanos::from_secs(at), extent, None, volumes.number(volume)?)
}
