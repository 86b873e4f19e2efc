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

use block::{Bytes, Nanos, Op, Request};

pub use entry::Traced;
pub use error::{TraceError, TracePlace};
pub use kept::{NewTraceFile, Trace, TraceDone, TraceFile, TraceRequests};
pub use reader::TraceReader;
pub use table::TraceFormat;
pub use timed::to_timed;

/// What came to one file or device, for fio's log.
#[derive(Clone, Copy, Debug)]
pub struct IologFile<'r> {
    pub name: &'r str,
    /// Where the file begins in the address space that the requests are in.
    pub start: Bytes,
    /// In the order of time.
    pub requests: &'r [(Nanos, Request)],
}

/// The trace of requests that came to `target` at these times, as fio's log of version 3.
pub fn to_iolog(target: &str, requests: &[(Nanos, Request)]) -> String {
    to_iolog_of(&[IologFile { name: target, start: Bytes::ZERO, requests }])
}

/// The same of requests to several files, merged by time.
pub fn to_iolog_of(files: &[IologFile]) -> String {
    let mut text = "fio version 3 iolog\n".to_owned();
    let mut names: Vec<&str> = files.iter().map(|file| file.name).collect();
    names.sort_unstable();
    names.dedup();
    for name in &names {
        writeln!(text, "0 {name} add\n0 {name} open").expect("a text takes all that is written");
    }
    let mut all: Vec<(&IologFile, &(Nanos, Request))> =
        files.iter().flat_map(|file| file.requests.iter().map(move |came| (file, came))).collect();
    all.sort_by_key(|(_, (at, _))| *at);
    for (IologFile { name, start, .. }, (at, request)) in &all {
        let (micros, length) = (at.as_nanos() / 1000, request.bytes().get());
        let action = match request.op {
            Op::Read => "read",
            Op::Write | Op::Append => "write",
            Op::Trim => "trim",
            Op::Flush => "sync",
            // fio's log has no word for it: who replays it does it anew.
            Op::Zone(_) => continue,
        };
        let offset = request.lba.offset().get().saturating_sub(start.get());
        writeln!(text, "{micros} {name} {action} {offset} {length}").expect("a text takes all that is written");
    }
    let end = all.last().map_or(0, |(_, (at, _))| at.as_nanos() / 1000);
    for name in &names {
        writeln!(text, "{end} {name} close").expect("a text takes all that is written");
    }
    text
}

#[cfg(test)]
mod tests;
