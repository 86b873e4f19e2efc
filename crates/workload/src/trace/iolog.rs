//! fio's logs of requests.
//! Source: fio 3.33, HOWTO, "Trace file format v2" and "Trace file format v3".

use std::collections::BTreeSet;

use block::{Nanos, Op};

use super::{TraceEvent, TraceLine, TraceMistake, request};

/// Reads `FILE read OFFSET LENGTH`, `FILE open`, `FILE wait MICROSECONDS`; with `timed`, after a time in microseconds.
pub(super) fn line(text: &str, timed: bool, targets: &mut BTreeSet<String>) -> Result<TraceLine, TraceMistake> {
    const WANTED: &str = "`FILE ACTION [OFFSET LENGTH]` of fio's iolog, in version 3 behind a time";
    let mut words = text.split_whitespace();
    let at = match timed {
        true => micros(words.next().ok_or(TraceMistake::NotA(WANTED))?).ok_or(TraceMistake::NotA(WANTED))?,
        false => Nanos::ZERO,
    };
    let (file, action) = words.next().zip(words.next()).ok_or(TraceMistake::NotA(WANTED))?;
    let numbers: Vec<u64> = words
        .map(str::parse)
        .collect::<Result<_, _>>()
        .map_err(|_| TraceMistake::NotA("a number where one belongs"))?;
    let op = match (action, numbers.as_slice()) {
        ("add" | "open" | "close", _) => return Ok(TraceLine::Other),
        ("wait", [time, ..]) => return Ok(TraceLine::Waited(Nanos::from_micros((*time).min(u64::MAX / 1000)))),
        ("sync" | "datasync" | "sync_file_range", _) => Op::Flush,
        ("read", [_, _]) => Op::Read,
        ("write", [_, _]) => Op::Write,
        ("trim", [_, _]) => Op::Trim,
        _ => return Err(TraceMistake::NotA(WANTED)),
    };
    if !targets.contains(file) {
        targets.insert(file.to_owned());
    }
    let [offset, length] = numbers[..].try_into().unwrap_or([0, 0]);
    Ok(TraceLine::Came(TraceEvent { at, request: request(op, offset, length)?, completed: None }))
}

fn micros(word: &str) -> Option<Nanos> {
    word.parse().ok().filter(|&micros: &u64| micros < u64::MAX / 1000).map(Nanos::from_micros)
}
