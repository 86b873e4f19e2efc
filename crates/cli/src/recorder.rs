//! The record that a run leaves: all that it submitted, as a trace.

use std::path::Path;
use std::sync::Arc;

use engine::Record;
use host::Output;
use lab::Subject;
use workload::to_iolog;

use crate::failure::Failure;
use crate::outputs;

/// Where to write what a run submits.
pub struct Recorder {
    output: Output,
    record: Arc<Record>,
}

impl Recorder {
    /// Notes what `subject` is asked for in measurements, to be written to `path`, which is tried at once: a record that
    /// could not be written in the end would be a pity.
    pub fn begin(path: &Path, subject: &mut dyn Subject) -> Result<Self, Failure> {
        let output = outputs::at(path)?;
        let record = Arc::new(Record::default());
        subject.record_to(Arc::clone(&record));
        Ok(Self { output, record })
    }

    /// Writes what was submitted to `target`, be it all or what there was until the run broke off.
    pub fn write(mut self, target: &str) -> Result<(), Failure> {
        // fio takes what stands before a space for the name.
        let name: String = target.chars().map(|c| if c.is_whitespace() || c.is_control() { '_' } else { c }).collect();
        let text = to_iolog(&name, &self.record.take());
        let written = self.output.write(text.as_bytes());
        written.map_err(|error| Failure::failed(format!("the log is lost, the figures are stored: {error}")))
    }
}
