//! Keys with their values, as they stand in a file.
//!
//! A line that begins with an apostrophe is a key; the lines up to the next one are its values. Where a space follows
//! the apostrophe, the line is the heading of columns and says nothing.

use crate::import::SourceRange;

/// A line without the blanks and commas at its ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct IcfLine<'a> {
    pub(super) text: &'a str,
    /// Where it begins, in bytes of the file.
    start: usize,
    /// Counted from one.
    number: usize,
}

impl<'a> IcfLine<'a> {
    /// Where it stands.
    pub(super) fn place(&self) -> SourceRange {
        SourceRange { source: 0, span: self.start..self.start + self.text.len(), line: self.number }
    }

    /// Its fields, between commas.
    pub(super) fn fields(self) -> impl Iterator<Item = &'a str> {
        self.text.split(',').map(str::trim)
    }

    /// Its words, between blanks.
    pub(super) fn words(self) -> impl Iterator<Item = &'a str> {
        self.text.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty())
    }
}

/// A key with its values.
#[derive(Debug)]
pub(super) struct IcfEntry<'a> {
    /// Without its apostrophe.
    pub(super) key: IcfLine<'a>,
    pub(super) values: Vec<IcfLine<'a>>,
}

impl<'a> IcfEntry<'a> {
    /// Whether this is the key, however it is spelled, or begins with it.
    pub(super) fn is(&self, name: &str) -> bool {
        self.key.text.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
    }

    /// The first value.
    pub(super) fn value(&self) -> Option<IcfLine<'a>> {
        self.values.first().copied()
    }
}

/// What stands before the first key, and all keys in their order.
pub(super) fn entries(text: &str) -> (Vec<IcfLine<'_>>, Vec<IcfEntry<'_>>) {
    let mut before = Vec::new();
    let mut entries: Vec<IcfEntry> = Vec::new();
    for line in lines(text) {
        match (line.text.strip_prefix('\''), entries.last_mut()) {
            (Some(key), _) if key.starts_with(char::is_whitespace) || key.is_empty() => {}
            (Some(key), _) => {
                let key = IcfLine { text: key.trim_end(), start: line.start + 1, ..line };
                entries.push(IcfEntry { key, values: Vec::new() });
            }
            (None, Some(entry)) => entry.values.push(line),
            (None, None) => before.push(line),
        }
    }
    (before, entries)
}

/// The lines that say something, however they end.
fn lines(text: &str) -> impl Iterator<Item = IcfLine<'_>> {
    const EDGE: fn(char) -> bool = |c| c.is_whitespace() || c == '\u{feff}';
    let mut start = 0;
    let lines = text.split('\n').zip(1..).map(move |(whole, number)| {
        let from = start;
        start += whole.len() + 1;
        let rest = whole.trim_start_matches(EDGE);
        let text = rest.trim_end_matches(|c| EDGE(c) || c == ',');
        IcfLine { text, start: from + whole.len() - rest.len(), number }
    });
    lines.filter(|line| !line.text.is_empty())
}
