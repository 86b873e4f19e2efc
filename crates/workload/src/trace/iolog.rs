//! fio's logs of requests.
//! Source: fio 3.33, HOWTO, "Trace file format v2" and "Trace file format v3".

use block::{Nanos, Op};

use super::decode::{Format, Lines, TraceLine, TraceMistake, Volumes, came};

const HEADINGS: [&str; 2] = ["fio version 2 iolog", "fio version 3 iolog"];

pub(super) const VERSION_2: Format = Format {
    title: "fio's iolog, version 2",
    origin: "`fio --write_iolog` before 3.31",
    records: "file, operation, offset and length in bytes; waits in µs",
    fits: |head| head.line() == HEADINGS[0],
    open: || Box::new(Lines(|text: &str, volumes: &mut Volumes| line(text, false, volumes))),
};

pub(super) const VERSION_3: Format = Format {
    title: "fio's iolog, version 3",
    origin: "`fio --write_iolog`, `assay run --record`",
    records: "time in µs, file, operation, offset and length in bytes",
    fits: |head| head.line() == HEADINGS[1],
    open: || Box::new(Lines(|text: &str, volumes: &mut Volumes| line(text, true, volumes))),
};

/// Reads `FILE read OFFSET LENGTH`, `FILE open`, `FILE wait MICROSECONDS`; with `timed`, after a time in microseconds.
fn line(text: &str, timed: bool, volumes: &mut Volumes) -> Result<TraceLine, TraceMistake> {
    const WANTED: &str = "`FILE ACTION [OFFSET LENGTH]` of fio's iolog, in version 3 behind a time";
    if text == HEADINGS[usize::from(timed)] {
        return Ok(TraceLine::Heading);
    }
    let mut words = text.split_whitespace();
    let at = match timed {
        true => micros(words.next().ok_or(TraceMistake::NotA(WANTED))?).ok_or(TraceMistake::NotA(WANTED))?,
        false => Nanos::ZERO,
    };
    let (file, action) = words.next().zip(words.next()).ok_or(TraceMistake::NotA(WANTED))?;
    let mut numbers = [0_u64; 2];
    let mut count = 0;
    for word in words {
        let number = word.parse().map_err(|_| TraceMistake::NotA("a number where one belongs"))?;
        if let Some(place) = numbers.get_mut(count) {
            *place = number;
        }
        count += 1;
    }
    let [offset, length] = numbers;
    let op = match (action, count) {
        ("add" | "open" | "close", _) => return Ok(TraceLine::Other),
        ("wait", 1..) => return Ok(TraceLine::Waited(Nanos::from_micros(offset.min(u64::MAX / 1000)))),
        ("sync" | "datasync" | "sync_file_range", _) => Op::Flush,
        ("read", 2) => Op::Read,
        ("write", 2) => Op::Write,
        ("trim", 2) => Op::Trim,
        _ => return Err(TraceMistake::NotA(WANTED)),
    };
    let volume = volumes.number(file)?;
    came(at, (op, offset, length), None, volume)
}

fn micros(word: &str) -> Option<Nanos> {
    word.parse().ok().filter(|&micros: &u64| micros < u64::MAX / 1000).map(Nanos::from_micros)
}
