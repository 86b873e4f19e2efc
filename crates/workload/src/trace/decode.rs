//! What a format is: how it is recognised, and how what it says of a request is read.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{BufRead, BufReader, Chain, Cursor, Read};

use block::{Lba, Nanos, Op, Request, SECTOR};

use super::error::{TraceError, TracePlace};
use super::limits::{LINE_MAX, VOLUME_NAME_MAX, VOLUMES_MAX};

/// How much of a file shows its format.
const HEAD: u64 = LINE_MAX;

/// A format in which traces are kept.
pub(super) struct Format {
    /// What it is called in sentences.
    pub title: &'static str,
    /// Where such traces come from.
    pub origin: &'static str,
    /// What is recorded of each request, and in which units.
    pub records: &'static str,
    /// Whether a file that begins so is one.
    pub fits: fn(&Head) -> bool,
    /// A reader of one.
    pub open: fn() -> Box<dyn Decode>,
}

/// Reads what one part of a file after the other says.
pub(super) trait Decode {
    /// What the next part says; none at the end.
    fn next(&mut self, input: &mut Input, volumes: &mut Volumes) -> Result<Option<TraceLine>, TraceError>;
}

/// What a part of a file says.
#[derive(Clone, Copy, Debug)]
pub(super) enum TraceLine {
    /// A request came.
    Came(TraceEvent),
    /// A request came, of whose completion another part may tell.
    Queued(TraceEvent),
    /// A request like this was completed.
    Completed { at: Nanos, request: Request, volume: u32 },
    /// Nothing came for so long.
    Waited(Nanos),
    /// Something else.
    Other,
    /// What the format begins with.
    Heading,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct TraceEvent {
    pub at: Nanos,
    pub request: Request,
    pub completed: Option<Nanos>,
    pub volume: u32,
}

/// What is wrong with a part of a file, before it is known where that stands.
#[derive(Debug)]
pub(super) enum TraceMistake {
    NotA(&'static str),
    Unaligned { op: Op, offset: u64, length: u64 },
    Volumes,
}

impl TraceMistake {
    pub fn at(self, place: TracePlace, found: &str) -> TraceError {
        match self {
            Self::NotA(wanted) => TraceError::Line { place, found: found.to_owned(), wanted },
            Self::Unaligned { op, offset, length } => TraceError::Unaligned { place, op, offset, length },
            Self::Volumes => TraceError::Volumes { place },
        }
    }
}

/// A request for so many bytes from `offset` on.
pub(super) fn request(op: Op, offset: u64, length: u64) -> Result<Request, TraceMistake> {
    if op == Op::Flush {
        return Ok(Request::FLUSH);
    }
    let sector = SECTOR.get();
    let sectors = u32::try_from(length / sector).ok().filter(|&sectors| sectors > 0);
    let ends = offset.checked_add(length).is_some_and(|end| end < 1 << 60);
    match sectors {
        Some(sectors) if offset.is_multiple_of(sector) && length.is_multiple_of(sector) && ends => {
            Ok(Request::new(op, Lba::new(offset / sector), sectors))
        }
        _ => Err(TraceMistake::Unaligned { op, offset, length }),
    }
}

/// A request that came at `at`; nothing where it moves no data, as some of the published traces have it.
pub(super) fn came(
    at: Nanos,
    (op, offset, length): (Op, u64, u64),
    response: Option<Nanos>,
    volume: u32,
) -> Result<TraceLine, TraceMistake> {
    if length == 0 && op != Op::Flush {
        return Ok(TraceLine::Other);
    }
    let completed = response.and_then(|response| at.as_nanos().checked_add(response.as_nanos())).map(Nanos::from_nanos);
    Ok(TraceLine::Came(TraceEvent { at, request: request(op, offset, length)?, completed, volume }))
}

/// A count of sectors in bytes, or more than any request may have.
pub(super) const fn sectors(count: u64) -> u64 {
    count.saturating_mul(SECTOR.get())
}

/// A time of so many units of `unit` nanoseconds each, with decimal places or without.
pub(super) fn time(word: &str, unit: u64) -> Option<Nanos> {
    let (whole, fraction) = word.split_once('.').unwrap_or((word, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(fraction) || fraction.len() > 18 {
        return None;
    }
    let part = match fraction {
        "" => 0,
        _ => u128::from(fraction.parse::<u64>().ok()?) * u128::from(unit) / 10_u128.pow(fraction.len() as u32),
    };
    let all = u128::from(whole.parse::<u64>().ok()?) * u128::from(unit) + part;
    u64::try_from(all).ok().filter(|&nanos| nanos < u64::MAX / 4).map(Nanos::from_nanos)
}

/// The fields of a line, if it has just so many.
pub(super) fn fields<const N: usize>(text: &str) -> Option<[&str; N]> {
    exactly(text.split(',').map(str::trim))
}

/// The words of a line between blanks, if it has just so many.
pub(super) fn words<const N: usize>(text: &str) -> Option<[&str; N]> {
    exactly(text.split_ascii_whitespace())
}

fn exactly<'a, const N: usize>(mut all: impl Iterator<Item = &'a str>) -> Option<[&'a str; N]> {
    let mut found = [""; N];
    for place in &mut found {
        *place = all.next()?;
    }
    all.next().is_none().then_some(found)
}

/// The files, devices or volumes of a trace, by numbers.
#[derive(Debug, Default)]
pub(super) struct Volumes {
    names: BTreeMap<String, u32>,
}

impl Volumes {
    /// The number of the one that has this name.
    pub fn number(&mut self, name: &str) -> Result<u32, TraceMistake> {
        if let Some(number) = self.names.get(name) {
            return Ok(*number);
        }
        if self.names.len() == VOLUMES_MAX || name.len() > VOLUME_NAME_MAX {
            return Err(TraceMistake::Volumes);
        }
        let number = self.names.len() as u32;
        self.names.insert(name.to_owned(), number);
        Ok(number)
    }

    /// The number of a name that was met.
    pub fn known(&self, name: &str) -> Option<u32> {
        self.names.get(name).copied()
    }

    pub fn count(&self) -> usize {
        self.names.len()
    }

    /// Some of the names.
    pub fn some(&self) -> String {
        let mut names: Vec<&str> = self.names.keys().map(String::as_str).take(12).collect();
        if self.names.len() > names.len() {
            names.push("…");
        }
        names.join(", ")
    }
}

/// The begin of a file.
#[derive(Debug, Default)]
pub(super) struct Head {
    pub bytes: Vec<u8>,
    /// Whether the file ends with it.
    pub is_all: bool,
    /// The lines that say something, up to the first byte that is of no text.
    pub lines: Vec<String>,
}

impl Head {
    fn of(bytes: Vec<u8>) -> Self {
        let is_all = (bytes.len() as u64) < HEAD;
        // Of what is no text, the lines before are.
        let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
        let is_whole = is_all && text.len() == bytes.len();
        let text = String::from_utf8_lossy(text);
        let whole = if is_whole { &text[..] } else { text.rsplit_once('\n').map_or("", |(whole, _)| whole) };
        let said = whole.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let lines = said.map(str::to_owned).collect();
        Self { bytes, is_all, lines }
    }

    /// That it is the start of none of these formats.
    pub fn unknown(&self, known: &str) -> TraceError {
        let known = known.to_owned();
        match self.lines.first() {
            _ if self.bytes.get(257..262) == Some(b"ustar") => TraceError::Archive,
            Some(line) => TraceError::UnknownFormat { found: line.clone(), known },
            None if self.bytes.contains(&0) => TraceError::UnknownFormat { found: hexadecimal(&self.bytes), known },
            None if self.is_all => TraceError::Empty(TracePlace::Line(0)),
            None => TraceError::LongLine { place: TracePlace::Line(1) },
        }
    }

    /// The first line that says something; empty where there is none.
    pub fn line(&self) -> &str {
        self.lines.first().map_or("", String::as_str)
    }

    /// The records of so many bytes, if it is no text and has one at least.
    pub fn records<const N: usize>(&self) -> Option<impl Iterator<Item = &[u8; N]>> {
        let (records, _) = self.bytes.as_chunks::<N>();
        (!records.is_empty() && self.bytes.contains(&0)).then(|| records.iter())
    }
}

/// A file whose begin was looked at.
type FromBegin<'a> = Chain<Cursor<Vec<u8>>, Box<dyn Read + 'a>>;

/// A file as it is read, without end in memory.
pub(super) struct Input<'a> {
    source: BufReader<FromBegin<'a>>,
    place: TracePlace,
    bytes: Vec<u8>,
    text: String,
}

impl fmt::Debug for Input<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input").field("place", &self.place).finish_non_exhaustive()
    }
}

impl<'a> Input<'a> {
    /// Looks at the begin of a file, which is read again as what comes first.
    pub fn new(mut source: Box<dyn Read + 'a>) -> Result<(Self, Head), TraceError> {
        let place = TracePlace::Line(0);
        let mut bytes = Vec::new();
        source.by_ref().take(HEAD).read_to_end(&mut bytes).map_err(|error| unreadable(place, &error))?;
        let source = BufReader::with_capacity(1 << 18, Cursor::new(bytes.clone()).chain(source));
        Ok((Self { source, place, bytes: Vec::new(), text: String::new() }, Head::of(bytes)))
    }

    /// What was read last.
    pub fn place(&self) -> TracePlace {
        self.place
    }

    /// The line that was read last, without blanks at its ends.
    pub fn text(&self) -> &str {
        self.text.trim()
    }

    /// Reads the next line that says something: blank ones and those that begin with `#` do not. False at the end.
    pub fn read_line(&mut self) -> Result<bool, TraceError> {
        loop {
            self.bytes.clear();
            self.step(TracePlace::Line);
            let read = self.source.by_ref().take(LINE_MAX).read_until(b'\n', &mut self.bytes);
            let read = read.map_err(|error| unreadable(self.place, &error))? as u64;
            if read == 0 {
                self.place = TracePlace::Line(self.number() - 1);
                return Ok(false);
            }
            if self.bytes.contains(&0) {
                return Err(TraceError::NotText { place: self.place });
            }
            if read == LINE_MAX && !self.bytes.ends_with(b"\n") {
                return Err(TraceError::LongLine { place: self.place });
            }
            self.text.clear();
            self.text.push_str(&String::from_utf8_lossy(&self.bytes));
            if !self.text().is_empty() && !self.text().starts_with('#') {
                return Ok(true);
            }
        }
    }

    /// Reads a record; none at the end.
    pub fn record<const N: usize>(&mut self) -> Result<Option<[u8; N]>, TraceError> {
        let mut record = [0; N];
        Ok(self.fill(&mut record)?.then_some(record))
    }

    /// Reads a record into `record`; false at the end.
    pub fn fill(&mut self, record: &mut [u8]) -> Result<bool, TraceError> {
        self.step(TracePlace::Record);
        let mut have = 0;
        while have < record.len() {
            match self.source.read(&mut record[have..]) {
                Ok(0) if have == 0 => {
                    self.place = TracePlace::Record(self.number() - 1);
                    return Ok(false);
                }
                Ok(0) => return Err(TraceError::Truncated { place: self.place }),
                Ok(read) => have += read,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(unreadable(self.place, &error)),
            }
        }
        Ok(true)
    }

    /// Passes over so many bytes that belong to the record.
    pub fn pass(&mut self, length: u64) -> Result<(), TraceError> {
        let passed = std::io::copy(&mut self.source.by_ref().take(length), &mut std::io::sink());
        match passed.map_err(|error| unreadable(self.place, &error))? {
            passed if passed < length => Err(TraceError::Truncated { place: self.place }),
            _ => Ok(()),
        }
    }

    const fn number(&self) -> u64 {
        match self.place {
            TracePlace::Line(number) | TracePlace::Record(number) => number,
        }
    }

    fn step(&mut self, unit: fn(u64) -> TracePlace) {
        self.place = unit(self.number() + 1);
    }
}

fn unreadable(place: TracePlace, error: &std::io::Error) -> TraceError {
    TraceError::Unreadable { place, error: error.to_string() }
}

/// A text with a request a line.
pub(super) struct Lines<F>(pub F);

impl<F: FnMut(&str, &mut Volumes) -> Result<TraceLine, TraceMistake>> Decode for Lines<F> {
    fn next(&mut self, input: &mut Input, volumes: &mut Volumes) -> Result<Option<TraceLine>, TraceError> {
        if !input.read_line()? {
            return Ok(None);
        }
        let said = (self.0)(input.text(), volumes);
        said.map(Some).map_err(|wrong| wrong.at(input.place(), input.text()))
    }
}

/// Records of so many bytes, a request each.
pub(super) struct Records<const N: usize, F>(pub F);

impl<const N: usize, F: FnMut(&[u8; N], &mut Volumes) -> Result<TraceLine, TraceMistake>> Decode for Records<N, F> {
    fn next(&mut self, input: &mut Input, volumes: &mut Volumes) -> Result<Option<TraceLine>, TraceError> {
        let Some(record) = input.record::<N>()? else { return Ok(None) };
        let said = (self.0)(&record, volumes);
        said.map(Some).map_err(|wrong| wrong.at(input.place(), &hexadecimal(&record)))
    }
}

/// Bytes as they are shown.
pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().take(28).map(|byte| format!("{byte:02x}")).collect()
}

/// A number of `N` bytes within a record, the lowest first.
pub(super) fn little<const N: usize>(record: &[u8], at: usize) -> u64 {
    record[at..at + N].iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}
