//! The record that a run leaves: all that it submitted, as a trace.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::Record;
use lab::Subject;
use workload::to_iolog;

use crate::failure::Failure;

/// Where to write what a run submits.
pub struct Recorder {
    path: PathBuf,
    record: Arc<Record>,
}

impl Recorder {
    /// Notes what `subject` is asked for in measurements, to be written to `path`, which is tried at once: a record that
    /// could not be written in the end would be a pity.
    pub fn begin(path: &Path, subject: &mut dyn Subject) -> Result<Self, Failure> {
        std::fs::write(path, "").map_err(|error| {
            Failure::usage(format!("the record cannot be written to {}: {error}; name another file", path.display()))
        })?;
        let record = Arc::new(Record::default());
        subject.record_to(Arc::clone(&record));
        Ok(Self { path: path.to_owned(), record })
    }

    /// Writes what was submitted to `target`, be it all or what there was until the run broke off.
    pub fn write(&self, target: &str) -> Result<(), Failure> {
        // fio takes what stands before a space for the name.
        let name: String = target.chars().map(|c| if c.is_whitespace() || c.is_control() { '_' } else { c }).collect();
        std::fs::write(&self.path, to_iolog(&name, &self.record.take())).map_err(|error| {
            Failure::failed(format!(
                "the record cannot be written to {}: {error}; the figures are kept",
                self.path.display()
            ))
        })
    }
}
