//! Places of a text by their lines.

use std::ops::Range;

use super::super::SourceRange;

/// Where the lines of a text begin.
#[derive(Debug)]
pub(in super::super) struct Lines {
    starts: Vec<usize>,
    length: usize,
}

impl Lines {
    pub(in super::super) fn of(text: &str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { starts, length: text.len() }
    }

    /// The line, counted from one.
    pub(in super::super) fn number(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at)
    }

    /// As much of these bytes as lies in the line of the first.
    pub(in super::super) fn place(&self, span: Range<usize>) -> SourceRange {
        let line = self.number(span.start);
        let end = self.starts.get(line).map_or(self.length, |next| next - 1);
        SourceRange { source: 0, span: span.start..span.end.min(end).max(span.start), line }
    }
}
