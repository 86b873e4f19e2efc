//! The text that `blkparse` prints by default: one event of the block layer a line.
//! Source: blkparse(1), "TRACE ACTIONS" and "OUTPUT DESCRIPTION AND FORMATTING".

use std::collections::BTreeSet;

use block::{Nanos, Op};

use super::{TraceEvent, TraceLine, TraceMistake, request};

const WANTED: &str = "an event as blkparse prints it: `8,0 1 1 0.000001234 123 Q R 5072 + 8 [fio]`";

/// Reads an event. A request comes when it is queued (`Q`) and is done when it completes (`C`); all other actions say
/// what the block layer does with it in between.
pub(super) fn line(text: &str, targets: &mut BTreeSet<String>) -> Result<TraceLine, TraceMistake> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (Some(device), Some(at), Some(&action), Some(&kind)) =
        (words.first().filter(|word| is_device(word)), words.get(3), words.get(5), words.get(6))
    else {
        return summary(text);
    };
    let at = seconds(at).ok_or(TraceMistake::NotA(WANTED))?;
    if !matches!(action, "Q" | "C") {
        return Ok(TraceLine::Other);
    }
    let Some(op) = op(kind) else { return Ok(TraceLine::Other) };
    let sectors = match words.get(7..10) {
        Some([first, "+", count]) => first.parse::<u64>().ok().zip(count.parse::<u64>().ok()),
        // A flush has no place.
        _ if kind.starts_with('F') => Some((0, 0)),
        _ => None,
    };
    let (first, count) = sectors.ok_or(TraceMistake::NotA(WANTED))?;
    let op = if count == 0 { Op::Flush } else { op };
    let request = request(op, first.saturating_mul(512), count.saturating_mul(512))?;
    if action == "C" {
        return Ok(TraceLine::Completed { at, request });
    }
    if !targets.contains(*device) {
        targets.insert((*device).to_owned());
    }
    Ok(TraceLine::Came(TraceEvent { at, request, completed: None }))
}

/// A line of the summary that stands behind the events: `CPU1 (8,0):`, `Reads Queued: 1, 4KiB`.
fn summary(text: &str) -> Result<TraceLine, TraceMistake> {
    const BEGIN: [&str; 9] = ["CPU", "Total", "Throughput", "Events", "Skips", "Reads", "Read ", "IO unplugs", "PC "];
    if BEGIN.iter().any(|word| text.starts_with(word)) { Ok(TraceLine::Other) } else { Err(TraceMistake::NotA(WANTED)) }
}

/// Whether a trace may begin with this line.
pub(super) fn begins(text: &str) -> bool {
    text.split_whitespace().next().is_some_and(is_device) && line(text, &mut BTreeSet::new()).is_ok()
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

/// A time in seconds with nine decimal places.
fn seconds(word: &str) -> Option<Nanos> {
    let (seconds, fraction) = word.split_once('.')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(seconds) || !digits(fraction) || fraction.len() > 9 {
        return None;
    }
    let fraction: u64 = format!("{fraction:0<9}").parse().ok()?;
    let seconds: u64 = seconds.parse().ok().filter(|&seconds| seconds < 1_000_000_000)?;
    Some(Nanos::from_secs(seconds) + Nanos::from_nanos(fraction))
}
