//! Requests as they were recorded: read from the formats in which others keep them.
//!
//! A format is a file here, which says how it is recognised and what its lines or records say, and a line of the table in
//! `table.rs`. All else is the same for all: the order of time, what was done when, and where a long trace is kept.

mod alibaba;
mod assemble;
mod blkparse;
mod blktrace;
mod cloudphysics;
mod columns;
mod decode;
mod disksim;
mod entry;
mod error;
mod fiu;
mod iolog;
mod kept;
mod lcs;
mod limits;
mod msr;
mod oracle;
mod reader;
mod scsi;
mod spc;
mod systor;
mod table;
mod tencent;
mod timed;
mod vscsi;

use std::fmt::Write;

use block::{Nanos, Op, Request};

pub use entry::Traced;
pub use error::{TraceError, TracePlace};
pub use kept::{NewTraceFile, Trace, TraceDone, TraceFile, TraceRequests};
pub use reader::TraceReader;
pub use table::TraceFormat;
pub use timed::to_timed;

/// The trace of requests that came to `target` at these times, as fio's log of version 3.
pub fn to_iolog(target: &str, requests: &[(Nanos, Request)]) -> String {
    let mut text = format!("fio version 3 iolog\n0 {target} add\n0 {target} open\n");
    for (at, request) in requests {
        let (micros, offset, length) = (at.as_nanos() / 1000, request.lba.offset().get(), request.bytes().get());
        let action = match request.op {
            Op::Read => "read",
            Op::Write | Op::Append => "write",
            Op::Trim => "trim",
            Op::Flush => "sync",
            // fio's log has no word for it: who replays it does it anew.
            Op::Zone(_) => continue,
        };
        writeln!(text, "{micros} {target} {action} {offset} {length}").expect("a text takes all that is written");
    }
    let end = requests.last().map_or(0, |(at, _)| at.as_nanos() / 1000);
    writeln!(text, "{end} {target} close").expect("a text takes all that is written");
    text
}

#[cfg(test)]
mod tests;
