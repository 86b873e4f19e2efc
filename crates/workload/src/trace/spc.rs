//! The traces of the Storage Performance Council, as the University of Massachusetts keeps them.
//! Source: Storage Performance Council, "SPC Trace File Format Specification", revision 1.0.1, 2002; samples of Financial1
//! in public notes.

use block::Op;

use super::decode::{Format, Lines, TraceLine, TraceMistake, Volumes, came, sectors, time};

pub(super) const FORMAT: Format = Format {
    title: "SPC trace",
    origin: "UMass Trace Repository: Financial, WebSearch",
    records: "unit (ASU), sector, bytes, `R` or `W`, time in s",
    fits: |head| line(head.line(), &mut Volumes::default()).is_ok(),
    open: || Box::new(Lines(line)),
};

/// Reads `ASU,LBA,SIZE,OPCODE,TIMESTAMP`; what a user added behind is not looked at.
fn line(text: &str, volumes: &mut Volumes) -> Result<TraceLine, TraceMistake> {
    let wrong = || TraceMistake::NotA("`ASU,LBA,SIZE,R|W,SECONDS` of an SPC trace");
    let mut all = text.split(',').map(str::trim);
    let [unit, first, size, op, at] = std::array::from_fn(|_| all.next().unwrap_or(""));
    let op = match op {
        "R" | "r" => Op::Read,
        "W" | "w" => Op::Write,
        _ => return Err(wrong()),
    };
    let number = |word: &str| word.parse::<u64>().map_err(|_| wrong());
    number(unit)?;
    let at = time(at, 1_000_000_000).ok_or_else(wrong)?;
    came(at, (op, sectors(number(first)?), number(size)?), None, volumes.number(unit)?)
}
