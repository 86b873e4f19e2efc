//! The traces of a virtual desktop infrastructure that were published with SYSTOR '17.
//! Source: README.txt of SNIA's distribution; C. Lee et al., "Understanding Storage Traffic Characteristics on Enterprise
//! Virtual Desktop Infrastructure", SYSTOR 2017.

use block::Op;

use super::decode::{Format, Lines, TraceLine, TraceMistake, Volumes, came, fields, time};

pub(super) const FORMAT: Format = Format {
    title: "SYSTOR '17",
    origin: "[SNIA's repository](http://iotta.snia.org/traces/block-io)",
    records: "time and response time in s, `R` or `W`, LUN, offset and size in bytes",
    fits: |head| line(head.line(), &mut Volumes::default()).is_ok(),
    open: || Box::new(Lines(line)),
};

/// Reads `Timestamp,Response,IOType,LUN,Offset,Size`; some of the published lines have no type.
fn line(text: &str, volumes: &mut Volumes) -> Result<TraceLine, TraceMistake> {
    let wrong = || TraceMistake::NotA("`Timestamp,Response,IOType,LUN,Offset,Size` of SYSTOR '17");
    let Some([at, response, op, unit, offset, size]) = fields(text) else { return Err(wrong()) };
    if (at, response) == ("Timestamp", "Response") {
        return Ok(TraceLine::Heading);
    }
    let seconds = |word: &str| time(word, 1_000_000_000).ok_or_else(wrong);
    let number = |word: &str| word.parse::<u64>().map_err(|_| wrong());
    let (at, offset, size) = (seconds(at)?, number(offset)?, number(size)?);
    let op = match op {
        "R" => Op::Read,
        "W" => Op::Write,
        "" => return Ok(TraceLine::Other),
        _ => return Err(wrong()),
    };
    let response = if response.is_empty() { None } else { Some(seconds(response)?) };
    came(at, (op, offset, size), response, volumes.number(unit)?)
}
