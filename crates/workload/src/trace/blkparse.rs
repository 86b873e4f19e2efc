//! The text that `blkparse` prints by default: one event of the block layer a line.
//! Source: blkparse(1), "TRACE ACTIONS" and "OUTPUT DESCRIPTION AND FORMATTING"; blkparse 1.2.0 for the lines before and
//! after the events.

use block::Op;

use super::decode::{Format, Lines, TraceEvent, TraceLine, TraceMistake, Volumes, request, sectors, time};

pub(super) const FORMAT: Format = Format {
    title: "blkparse",
    origin: "`blkparse -i DEVICE`, `blktrace -d DEVICE -o - \\| blkparse -i -`",
    records: "time in s with nine digits, device, sector and count; queued (`Q`) and completed (`C`), other events are skipped",
    fits: |head| {
        let first = head.lines.iter().find(|line| !is_about(line));
        first.is_some_and(|line| begins(line)) || (first.is_none() && head.line().starts_with("Input file "))
    },
    open: || Box::new(Lines(line)),
};

const WANTED: &str = "an event as blkparse prints it: `8,0 1 1 0.000001234 123 Q R 5072 + 8 [fio]`";

/// Reads an event. A request comes when it is queued (`Q`) and is done when it completes (`C`); all other actions say
/// what the block layer does with it in between.
fn line(text: &str, volumes: &mut Volumes) -> Result<TraceLine, TraceMistake> {
    let mut all = text.split_ascii_whitespace();
    let words: [&str; 10] = std::array::from_fn(|_| all.next().unwrap_or(""));
    let [device, _, _, at, _, action, kind, first, plus, count] = words;
    if !is_device(device) || kind.is_empty() {
        return if is_about(text) { Ok(TraceLine::Other) } else { Err(TraceMistake::NotA(WANTED)) };
    }
    let at = at.contains('.').then(|| time(at, 1_000_000_000)).flatten().ok_or(TraceMistake::NotA(WANTED))?;
    if !matches!(action, "Q" | "C") {
        return Ok(TraceLine::Other);
    }
    let Some(op) = op(kind) else { return Ok(TraceLine::Other) };
    let extent = match plus {
        "+" => first.parse::<u64>().ok().zip(count.parse::<u64>().ok()),
        // A flush has no place.
        _ if kind.starts_with('F') => Some((0, 0)),
        // A command that is passed through has a length alone, and its end nothing.
        _ if first.starts_with('[') || plus.starts_with(['(', '[']) => return Ok(TraceLine::Other),
        _ => None,
    };
    let (first, count) = extent.ok_or(TraceMistake::NotA(WANTED))?;
    let op = if count == 0 { Op::Flush } else { op };
    let (request, volume) = (request(op, sectors(first), sectors(count))?, volumes.number(device)?);
    Ok(match action {
        "C" => TraceLine::Completed { at, request, volume },
        _ => TraceLine::Queued(TraceEvent { at, request, completed: None, volume }),
    })
}

/// A line about the recording, before the events or in the summary behind them: `CPU1 (8,0):`, `Reads Queued: 1, 4KiB`.
fn is_about(text: &str) -> bool {
    const BEGIN: [&str; 11] = [
        "Input file ",
        "Trace started at ",
        "CPU",
        "Total",
        "Throughput",
        "Events",
        "Skips",
        "Reads",
        "Read ",
        "IO unplugs",
        "PC ",
    ];
    BEGIN.iter().any(|word| text.starts_with(word))
}

/// Whether the events may begin with this line.
fn begins(text: &str) -> bool {
    text.split_whitespace().next().is_some_and(is_device) && line(text, &mut Volumes::default()).is_ok()
}

/// Whether it is `major,minor`.
fn is_device(word: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    word.split_once(',').is_some_and(|(major, minor)| is_number(major) && is_number(minor))
}

/// The kind of a request by its letters: `R`, `WS`, `D`, `FWFS`; none for one that moves nothing.
fn op(letters: &str) -> Option<Op> {
    match letters {
        _ if letters.contains('D') => Some(Op::Trim),
        _ if letters.contains('R') => Some(Op::Read),
        _ if letters.contains('W') => Some(Op::Write),
        _ if letters.starts_with('F') => Some(Op::Flush),
        _ => None,
    }
}
