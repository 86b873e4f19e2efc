//! Any text with a request a line, whose columns are named by who replays it.

use block::{Nanos, Op};

use super::decode::{Decode, Format, Lines, TraceLine, TraceMistake, Volumes, came, time};

pub(super) const FORMAT: Format = Format {
    title: "named columns",
    origin: "any text with a request a line, between commas, semicolons, tabs or blanks",
    records: "as named, `replay_format=time_us,volume,op,offset_bytes,size_bytes`; never recognised",
    fits: |_| false,
    open: || open("time_us,volume,op,offset_bytes,size_bytes").expect("these are columns"),
};

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    /// In so many nanoseconds each.
    Time(u64),
    Latency(u64),
    /// In so many bytes each.
    Offset(u64),
    Size(u64),
    Op(OpWords),
    Volume,
    Ignored,
}

/// How a column names operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OpWords {
    /// By letters or words, or by 0 for reads and 1 for writes.
    Any,
    /// By 1 for reads and 0 for writes.
    IsRead,
}

/// The names of columns.
const COLUMNS: [(&str, Column); 18] = [
    ("time_s", Column::Time(1_000_000_000)),
    ("time_ms", Column::Time(1_000_000)),
    ("time_us", Column::Time(1000)),
    ("time_100ns", Column::Time(100)),
    ("time_ns", Column::Time(1)),
    ("latency_s", Column::Latency(1_000_000_000)),
    ("latency_ms", Column::Latency(1_000_000)),
    ("latency_us", Column::Latency(1000)),
    ("latency_ns", Column::Latency(1)),
    ("offset_bytes", Column::Offset(1)),
    ("offset_sectors", Column::Offset(512)),
    ("offset_4k", Column::Offset(4096)),
    ("size_bytes", Column::Size(1)),
    ("size_sectors", Column::Size(512)),
    ("op", Column::Op(OpWords::Any)),
    ("is_read", Column::Op(OpWords::IsRead)),
    ("volume", Column::Volume),
    ("-", Column::Ignored),
];

/// A reader of lines with these columns.
///
/// # Errors
/// If a name is not known, is there twice, or one that is needed is missing.
pub(super) fn open(names: &str) -> Result<Box<dyn Decode>, String> {
    let known = || COLUMNS.map(|(name, _)| name).join(", ");
    let mut columns: Vec<Column> = Vec::new();
    for name in names.split(',').map(str::trim) {
        let found = COLUMNS.iter().find(|(known, _)| *known == name);
        let (_, column) = found.ok_or_else(|| format!("there is no column `{}`; there are {}", cut(name), known()))?;
        let same = |other: &Column| std::mem::discriminant(other) == std::mem::discriminant(column);
        if *column != Column::Ignored && columns.iter().any(same) {
            return Err(format!("`{name}` is a second column for the same"));
        }
        columns.push(*column);
    }
    let has = |is: fn(&Column) -> bool| columns.iter().any(is);
    let missing = [
        (has(|it| matches!(it, Column::Time(_))), "a time"),
        (has(|it| matches!(it, Column::Offset(_))), "an offset"),
        (has(|it| matches!(it, Column::Size(_))), "a size"),
        (has(|it| matches!(it, Column::Op(_))), "op"),
    ];
    if let Some((_, what)) = missing.iter().find(|(is_there, _)| !is_there) {
        return Err(format!("{what} is missing; there are {}", known()));
    }
    let mut is_first = true;
    Ok(Box::new(Lines(move |text: &str, volumes: &mut Volumes| {
        let said = line(text, &columns, volumes);
        let begins = std::mem::replace(&mut is_first, false);
        // A first line with no digit is a heading.
        let is_heading = begins && said.is_err() && !text.bytes().any(|byte| byte.is_ascii_digit());
        if is_heading { Ok(TraceLine::Heading) } else { said }
    })))
}

fn line(text: &str, columns: &[Column], volumes: &mut Volumes) -> Result<TraceLine, TraceMistake> {
    let wrong = || TraceMistake::NotA("a line with the columns that replay_format names");
    let separator = [',', ';', '\t'].into_iter().find(|separator| text.contains(*separator));
    let (mut at, mut latency, mut offset, mut size, mut op, mut volume) = (None, None, 0, 0, None, "");
    let is_end = |c: char| separator.map_or(c.is_ascii_whitespace(), |separator| c == separator);
    let mut words = text.split(is_end).map(str::trim).filter(|word| separator.is_some() || !word.is_empty());
    for column in columns {
        let word = words.next().ok_or_else(wrong)?.trim_matches('"');
        let bytes = |unit: u64| word.parse::<u64>().ok().and_then(|count| count.checked_mul(unit)).ok_or_else(wrong);
        match column {
            Column::Time(unit) => at = Some(time(word, *unit).ok_or_else(wrong)?),
            Column::Latency(unit) => latency = Some(time(word, *unit).ok_or_else(wrong)?),
            Column::Offset(unit) => offset = bytes(*unit)?,
            Column::Size(unit) => size = bytes(*unit)?,
            Column::Op(OpWords::Any) => op = Some(operation(word).ok_or(TraceMistake::NotA(OPS))?),
            Column::Op(OpWords::IsRead) => op = Some(read_or_write(word).ok_or(TraceMistake::NotA(READS))?),
            Column::Volume => volume = word,
            Column::Ignored => {}
        }
    }
    let (at, op): (Nanos, Op) = at.zip(op).ok_or_else(wrong)?;
    came(at, (op, offset, size), latency, volumes.number(volume)?)
}

const OPS: &str = "a line with one of R, W, D, F, read, write, trim, discard, flush, 0 (read) or 1 (write) as op";

const READS: &str = "a line with 1 (read) or 0 (write) as is_read";

fn read_or_write(word: &str) -> Option<Op> {
    match word {
        "1" => Some(Op::Read),
        "0" => Some(Op::Write),
        _ => None,
    }
}

fn operation(word: &str) -> Option<Op> {
    let is = |words: &[&str]| words.iter().any(|known| word.eq_ignore_ascii_case(known));
    match word {
        _ if is(&["r", "read", "rs", "0"]) => Some(Op::Read),
        _ if is(&["w", "write", "ws", "1"]) => Some(Op::Write),
        _ if is(&["d", "t", "trim", "discard", "unmap"]) => Some(Op::Trim),
        _ if is(&["f", "flush", "sync"]) => Some(Op::Flush),
        _ => None,
    }
}

fn cut(text: &str) -> String {
    text.chars().take(40).collect()
}
