//! Why something is no trace.

use std::fmt;

use block::Op;
use thiserror::Error;

use super::limits::{IN_FLIGHT_MAX, LINE_MAX, VOLUMES_MAX, WINDOW};

/// Where in a trace something stands, counted from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TracePlace {
    /// A line of text.
    Line(u64),
    /// A record of a binary format.
    Record(u64),
}

impl fmt::Display for TracePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(number) => write!(f, "line {number}"),
            Self::Record(number) => write!(f, "record {number}"),
        }
    }
}

/// Why a file is no trace, or a part of one cannot be taken.
#[non_exhaustive]
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum TraceError {
    #[error(
        "`{}` is not the start of a known trace format; known are {known}. Of any other text with a request a line, name \
         the columns: replay_format=time_us,volume,op,offset_bytes,size_bytes",
        shown(found)
    )]
    UnknownFormat { found: String, known: String },
    #[error("it is an archive of tar; unpack one file: `tar -xOf FILE NAME | assay run … --read_iolog=-`")]
    Archive,
    #[error("it may be {}; name which: replay_format={}", formats.join(" or "), formats.join(" or replay_format="))]
    Ambiguous { formats: Vec<&'static str> },
    #[error("replay_format={}: {reason}", shown(found))]
    Format { found: String, reason: String },
    #[error("{place}: `{}` is not {wanted}", shown(found))]
    Line { place: TracePlace, found: String, wanted: &'static str },
    #[error("{place} is longer than {} KiB", LINE_MAX >> 10)]
    LongLine { place: TracePlace },
    #[error("{place}: there are bytes that are no text")]
    NotText { place: TracePlace },
    #[error("{place}: the file ends within it; it was cut off")]
    Truncated { place: TracePlace },
    #[error("{place}: its time is not within a hundred years of the first request")]
    TooLate { place: TracePlace },
    #[error(
        "{place}: its time is before that of a request {} requests earlier, and so many are sorted; sort the trace by \
         time",
        WINDOW
    )]
    Disorder { place: TracePlace },
    #[error("{place}: more than {} requests are in flight at once; a response time is wrong", IN_FLIGHT_MAX)]
    InFlight { place: TracePlace },
    #[error(
        "{place}: {op} of {length} B at {offset} is not whole sectors of 512 B; record with direct=1, or a larger \
         block size"
    )]
    Unaligned { place: TracePlace, op: Op, offset: u64, length: u64 },
    #[error("{place}: there are more than {} volumes", VOLUMES_MAX)]
    Volumes { place: TracePlace },
    #[error("no request is of volume `{}`; there are: {known}", shown(wanted))]
    NoSuchVolume { wanted: String, known: String },
    #[error("{place}: the trace has more than {} requests; split it", u32::MAX)]
    TooLong { place: TracePlace },
    #[error("the trace has no request; it ends after {0}")]
    Empty(TracePlace),
    #[error("it cannot be read on after {place}: {error}")]
    Unreadable { place: TracePlace, error: String },
    #[error("it has more requests than are kept in memory, and a file for them cannot be written: {error}")]
    Unkept { error: String },
}

/// As much of a line as tells which it is.
fn shown(line: &str) -> String {
    let mut short: String = line.chars().take(60).map(|c| if c.is_control() { '?' } else { c }).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    short
}
