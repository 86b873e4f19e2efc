//! The forms in which most commands print what they found.

use clap::ValueEnum;

/// For whom it is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Tables, for people
    Text,
    /// One JSON document, for programs
    Json,
}
