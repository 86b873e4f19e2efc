//! Alibaba's block traces of 2020.
//! Source: github.com/alibaba/block-traces, README.md at 18a13b9206cb; J. Li et al., "An In-Depth Analysis of Cloud Block
//! Storage Workloads in Large-Scale Production", IISWC 2020.

use block::{Nanos, Op};

use super::decode::{Format, Lines, TraceLine, TraceMistake, Volumes, came, fields};

pub(super) const FORMAT: Format = Format {
    title: "Alibaba block traces 2020",
    origin: "[alibaba/block-traces](https://github.com/alibaba/block-traces)",
    records: "device, `R` or `W`, offset and length in bytes, time in µs",
    fits: |head| line(head.line(), &mut Volumes::default()).is_ok(),
    open: || Box::new(Lines(line)),
};

/// Reads `device_id,opcode,offset,length,timestamp`.
fn line(text: &str, volumes: &mut Volumes) -> Result<TraceLine, TraceMistake> {
    let wrong = || TraceMistake::NotA("`DEVICE,R|W,OFFSET,LENGTH,MICROSECONDS` of Alibaba's block traces");
    let Some([device, op, offset, length, at]) = fields(text) else { return Err(wrong()) };
    if device == "device_id" {
        return Ok(TraceLine::Heading);
    }
    let op = match op {
        "R" => Op::Read,
        "W" => Op::Write,
        _ => return Err(wrong()),
    };
    let number = |word: &str| word.parse::<u64>().map_err(|_| wrong());
    let at = Some(number(at)?).filter(|&micros| micros < u64::MAX / 1000).map(Nanos::from_micros).ok_or_else(wrong)?;
    came(at, (op, number(offset)?, number(length)?), None, volumes.number(device)?)
}
