//! The logs that a run leaves: what it submitted, as traces.

use std::path::Path;
use std::sync::Arc;

use block::Bytes;
use engine::Record;
use host::Output;
use lab::Subject;
use workload::{IologFile, to_iolog, to_iolog_of};

use crate::failure::Failure;
use crate::outputs;

/// Where to write what a run submits.
pub struct Recorder {
    logs: Vec<Log>,
    record: Arc<Record>,
}

/// One log.
struct Log {
    output: Output,
    /// The jobs whose requests it has, each with its file and where that begins; none for all requests, on one target.
    jobs: Vec<LoggedJob>,
}

/// A job whose requests are logged.
#[derive(Clone, Debug)]
pub struct LoggedJob {
    /// Its number among all that are run.
    pub number: usize,
    pub file: String,
    pub start: Bytes,
}

impl Recorder {
    /// Notes what `subject` is asked for in measurements, to be written to `path`, which is tried at once: a record that
    /// could not be written in the end would be a pity.
    pub fn begin(path: &Path, subject: &mut dyn Subject) -> Result<Self, Failure> {
        Self::by_job([(path, Vec::new())], subject)
    }

    /// The same for logs that have some jobs each.
    pub fn by_job<'p>(
        logs: impl IntoIterator<Item = (&'p Path, Vec<LoggedJob>)>,
        subject: &mut dyn Subject,
    ) -> Result<Self, Failure> {
        let log = |(path, jobs)| Ok(Log { output: outputs::at(path)?, jobs });
        let logs = logs.into_iter().map(log).collect::<Result<Vec<_>, Failure>>()?;
        let record = Arc::new(Record::default());
        if !logs.is_empty() {
            subject.record_to(Arc::clone(&record));
        }
        Ok(Self { logs, record })
    }

    /// Writes what was submitted to `target`, be it all or what there was until the run broke off.
    pub fn write(self, target: &str) -> Result<(), Failure> {
        let by_job = self.record.take_by_job();
        for mut log in self.logs {
            let text = if log.jobs.is_empty() {
                let mut all = by_job.concat();
                all.sort_by_key(|(at, _)| *at);
                to_iolog(&one_word(target), &all)
            } else {
                let names: Vec<String> = log.jobs.iter().map(|job| one_word(&job.file)).collect();
                let files = log.jobs.iter().zip(&names).map(|(job, name)| {
                    let requests = by_job.get(job.number).map_or(&[][..], Vec::as_slice);
                    IologFile { name, start: job.start, requests }
                });
                to_iolog_of(&files.collect::<Vec<_>>())
            };
            let written = log.output.write(text.as_bytes());
            written.map_err(|error| Failure::failed(format!("the log is lost, the figures are stored: {error}")))?;
        }
        Ok(())
    }
}

/// fio takes what stands before a space for the name.
fn one_word(name: &str) -> String {
    name.chars().map(|c| if c.is_whitespace() || c.is_control() { '_' } else { c }).collect()
}
