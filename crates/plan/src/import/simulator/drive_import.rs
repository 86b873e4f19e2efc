//! What the file of a simulator that only describes drives gives.

use std::path::Path;

use super::super::{ImportSource, Notice};
use super::is_refused;

/// A file of a simulator's as a drive.
#[derive(Clone, Debug)]
pub struct DriveImport {
    /// The file itself, so that notices can show its lines.
    pub sources: Vec<ImportSource>,
    /// The text of the drive's file; none if the file is refused.
    pub drive: Option<String>,
    /// What is not as the simulator has it.
    pub notices: Vec<Notice>,
}

impl DriveImport {
    pub(in super::super) fn new(path: &Path, text: &str, drive: Option<String>, mut notices: Vec<Notice>) -> Self {
        notices.sort_by_key(|notice| notice.place.span.start);
        let sources = vec![ImportSource { name: path.display().to_string(), text: text.to_owned() }];
        Self { sources, drive, notices }
    }

    /// Whether there is a mistake for which the file cannot be used.
    pub fn is_refused(&self) -> bool {
        is_refused(&self.notices)
    }
}
