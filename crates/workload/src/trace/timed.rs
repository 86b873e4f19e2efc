//! assay's own traces: what blkparse tells of each request, in a third of the room.

use std::fmt::Write;

use block::{Nanos, Op, Request};

use super::decode::{Format, Lines, TraceLine, TraceMistake, Volumes, came, sectors, words};

pub(super) const FORMAT: Format = Format {
    title: "assay's trace",
    origin: "the trial [`boot`](boot.md)",
    records: "time and latency in µs, operation, sector and count: `1500 82 read 2048 8`, behind a line `assay trace 1`",
    fits: |head| head.line() == HEADING,
    open: || Box::new(Lines(line)),
};

/// The first line.
const HEADING: &str = "assay trace 1";

const WANTED: &str =
    "`TIME LATENCY read|write|trim|flush SECTOR SECTORS`, times in microseconds: `1500 82 read 2048 8`";

/// Reads a request: when it came, how long it took, what it is, its first sector and how many.
fn line(text: &str, volumes: &mut Volumes) -> Result<TraceLine, TraceMistake> {
    if text == HEADING {
        return Ok(TraceLine::Heading);
    }
    let Some([at, took, op, first, count]) = words(text) else { return Err(TraceMistake::NotA(WANTED)) };
    let [at, took, first, count] = [at, took, first, count].map(|word| word.parse::<u64>().ok());
    let (Some(at), Some(took), Some(first), Some(count)) = (at.and_then(micros), took.and_then(micros), first, count)
    else {
        return Err(TraceMistake::NotA(WANTED));
    };
    let op = match op {
        "read" => Op::Read,
        "write" => Op::Write,
        "trim" => Op::Trim,
        "flush" => Op::Flush,
        _ => return Err(TraceMistake::NotA(WANTED)),
    };
    came(at, (op, sectors(first), sectors(count)), Some(took), volumes.number("drive")?)
}

fn micros(count: u64) -> Option<Nanos> {
    (count < u64::MAX / 1000).then(|| Nanos::from_micros(count))
}

/// Requests with when each came and when it was done, as a trace.
///
/// Both times are rounded down, so that what came after something was done still does.
pub fn to_timed(requests: &[(Nanos, Nanos, Request)]) -> String {
    let mut text = format!("{HEADING}\n");
    for (came, done, request) in requests {
        let [came, done] = [came, done].map(|time| time.as_nanos() / 1000);
        let (first, count) = (request.lba.get(), request.sectors);
        writeln!(text, "{came} {} {} {first} {count}", done.saturating_sub(came), request.op)
            .expect("a text takes all that is written");
    }
    text
}
