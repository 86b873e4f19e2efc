//! What a file gives.

use super::file::read;
use super::notices::Notices;
use super::steps::{IcfJob, IcfStep, steps};
use crate::import::{ImportSource, Notice, Severity};
use std::path::Path;

/// A file of Iometer's as it can be run.
#[derive(Clone, Debug, PartialEq)]
pub struct Import {
    /// The file itself, so that notices can show its lines.
    pub sources: Vec<ImportSource>,
    /// The version of Iometer, as it is written.
    pub version: Option<String>,
    /// What the user says of the test.
    pub description: Option<String>,
    /// The tests, one after another.
    pub steps: Vec<IcfStep>,
    /// What is not as Iometer has it.
    pub notices: Vec<Notice>,
}

/// Reads a file's text; `path` is for its name alone.
pub fn import(path: &Path, text: &str) -> Import {
    let mut notices = Notices::default();
    let mut file = read(text, &mut notices);
    let steps = steps(&mut file, &mut notices);
    let version = file.version.and_then(|line| line.words().nth(1)).map(str::to_owned);
    let mut notices = notices.0;
    notices.sort_by_key(|notice| notice.place.span.start);
    let sources = vec![ImportSource { name: path.display().to_string(), text: text.to_owned() }];
    Import { sources, version, description: file.setup.description, steps, notices }
}

impl Import {
    /// Whether there is a mistake for which the file cannot be run.
    pub fn is_refused(&self) -> bool {
        self.notices.iter().any(|notice| notice.severity == Severity::Error)
    }

    /// Whether the target is written before it is used, as Iometer writes its test file: so where any of it is read.
    pub fn layout(&self) -> bool {
        self.jobs().any(|job| job.workload.reads() > 0)
    }

    /// All jobs in order.
    pub fn jobs(&self) -> impl Iterator<Item = &IcfJob> {
        self.steps.iter().flat_map(|step| match step {
            IcfStep::Run { jobs, .. } => &jobs[..],
            IcfStep::Idle { .. } => &[],
        })
    }
}
