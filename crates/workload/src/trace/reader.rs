//! Files read as a trace.

use std::io::Read;

use super::assemble::{Assembler, chosen};
use super::decode::{Decode, Input, TraceEvent, TraceLine, Volumes};
use super::error::{TraceError, TracePlace};
use super::kept::{NewTraceFile, Trace};
use super::table::{TraceFormat, named};

/// How a trace is read: by default in any known format, with all its volumes, in memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct TraceReader<'a> {
    /// The name of a format, or of columns; none where the begin of the file shows it.
    pub format: Option<&'a str>,
    /// The one volume of which requests are taken.
    pub volume: Option<&'a str>,
    /// Where the requests of a trace go that is too long for memory.
    pub new_file: Option<NewTraceFile>,
}

/// A file of a trace, with what it says next.
struct Part<'a> {
    decode: Box<dyn Decode>,
    input: Input<'a>,
    next: Option<TraceLine>,
}

impl TraceReader<'_> {
    /// Reads a text.
    ///
    /// # Errors
    /// As those of [`Self::read`].
    pub fn text(&self, text: &str) -> Result<(Trace, TraceFormat), TraceError> {
        self.read(vec![Box::new(text.as_bytes())])
    }

    /// Reads files that are one trace: several where each processor has its own.
    ///
    /// # Errors
    /// If they are none, cannot be read, or have no request.
    pub fn read<'b>(&self, files: Vec<Box<dyn Read + 'b>>) -> Result<(Trace, TraceFormat), TraceError> {
        self.assembled(files, Assembler::new(self.new_file))
    }

    pub(super) fn assembled<'b>(
        &self,
        files: Vec<Box<dyn Read + 'b>>,
        mut assembler: Assembler,
    ) -> Result<(Trace, TraceFormat), TraceError> {
        let is_alone = files.len() == 1;
        let (mut parts, mut format) = (Vec::new(), None);
        for file in files {
            let (input, head) = Input::new(file)?;
            // A processor that had nothing to do has an empty file.
            if head.bytes.is_empty() {
                continue;
            }
            let (found, decode) = match self.format {
                Some(text) => named(text)?,
                None => {
                    let found = TraceFormat::of(&head)?;
                    (found, found.open())
                }
            };
            format = Some(found);
            parts.push(Part { decode, input, next: None });
        }
        let mut volumes = Volumes::default();
        let mut place = TracePlace::Line(0);
        for part in &mut parts {
            part.next = part.decode.next(&mut part.input, &mut volumes)?;
        }
        while let Some(part) = earliest(&mut parts, is_alone) {
            let Some(line) = part.next.take() else { break };
            place = part.input.place();
            if let Some(line) = chosen(line, &volumes, self.volume) {
                assembler.take(line, place)?;
            }
            part.next = part.decode.next(&mut part.input, &mut volumes)?;
        }
        let count = if self.volume.is_some() { 1 } else { volumes.count() };
        match (self.volume, assembler.finish(count, place)) {
            (Some(wanted), Err(TraceError::Empty(_))) if volumes.count() > 0 => {
                Err(TraceError::NoSuchVolume { wanted: wanted.to_owned(), known: volumes.some() })
            }
            (_, trace) => Ok((trace?, format.expect("what has requests has shown its format"))),
        }
    }
}

/// The file that says what comes first.
fn earliest<'p, 'a>(parts: &'p mut [Part<'a>], is_alone: bool) -> Option<&'p mut Part<'a>> {
    if is_alone {
        return parts.first_mut();
    }
    let time = |part: &Part| match part.next {
        Some(TraceLine::Came(TraceEvent { at, .. }) | TraceLine::Queued(TraceEvent { at, .. })) => at.as_nanos(),
        // What was done at the time at which something came was done after it.
        Some(TraceLine::Completed { at, .. }) => at.as_nanos() + 1,
        Some(TraceLine::Waited(_) | TraceLine::Other | TraceLine::Heading) => 0,
        None => u64::MAX,
    };
    parts.iter_mut().min_by_key(|part| time(part))
}
