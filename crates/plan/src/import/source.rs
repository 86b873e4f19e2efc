//! The texts that something was read from, and places in them.

use std::ops::Range;

/// A text and where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportSource {
    /// The file's name, as it is shown.
    pub name: String,
    /// What it holds.
    pub text: String,
}

/// Part of a line of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceRange {
    /// The source's place in the list of them.
    pub source: usize,
    /// The bytes of its text.
    pub span: Range<usize>,
    /// The line, counted from one.
    pub line: usize,
}
