//! The traces of CloudPhysics as text.
//! Source: libCacheSim, data/cloudPhysicsIO.csv and doc/faq.md at aa0fc40914b2, beside the same trace as vscsi.

use super::decode::{Format, Lines, TraceLine, TraceMistake, Volumes, came, fields, sectors, time};
use super::scsi;

pub(super) const FORMAT: Format = Format {
    title: "CloudPhysics CSV",
    origin: "[libCacheSim](https://github.com/1a1a11a/libCacheSim), `cloudPhysicsIO.csv`",
    records: "version, time in s, SCSI command in hexadecimal, bytes, sector",
    fits: |head| head.line() == HEADER || line(head.line(), &mut Volumes::default()).is_ok(),
    open: || Box::new(Lines(line)),
};

const HEADER: &str = "version,time,op,size,lbn";

/// Reads `version,time,op,size,lbn`.
fn line(text: &str, volumes: &mut Volumes) -> Result<TraceLine, TraceMistake> {
    let wrong = || TraceMistake::NotA("`VERSION,SECONDS,COMMAND,BYTES,SECTOR` of CloudPhysics");
    if text == HEADER {
        return Ok(TraceLine::Heading);
    }
    let Some(["1" | "2", at, command, size, first]) = fields(text) else { return Err(wrong()) };
    let command = Some(command).filter(|command| command.len() == 2).and_then(|it| u16::from_str_radix(it, 16).ok());
    let at = time(at, 1_000_000_000).ok_or_else(wrong)?;
    let number = |word: &str| word.parse::<u64>().map_err(|_| wrong());
    let (size, first) = (number(size)?, number(first)?);
    let Some(op) = scsi::op(command.ok_or_else(wrong)?) else { return Ok(TraceLine::Other) };
    came(at, (op, sectors(first), size), None, volumes.number("disk")?)
}
