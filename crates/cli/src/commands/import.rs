//! `assay import`: a fio job file as a plan.

use std::path::{Path, PathBuf};

use block::{Bytes, parse_bytes};
use lab::import::fio::plan_text;

use super::history::say;
use crate::failure::Failure;
use crate::job_file::{self, Reading};

/// What was asked on the command line.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "What is not honoured is told on standard error, and stands in the plan as comments.")]
pub struct Arguments {
    /// The job file
    #[arg(value_name = "JOB.fio")]
    job: String,

    /// Where to write the plan [default: standard output]
    #[arg(short, long, value_name = "PLAN")]
    output: Option<PathBuf>,

    #[command(flatten)]
    reading: Reading,

    /// How large the target is of which the jobs use a share
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    size: Option<Bytes>,
}

/// Writes the plan.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let import = job_file::read(&arguments.job, &arguments.reading, arguments.size)?;
    let text = plan_text(&import, Path::new(&arguments.job), import.layout());
    match &arguments.output {
        None => say(&text),
        Some(path) => std::fs::write(path, text)
            .map_err(|error| Failure::failed(format!("the plan cannot be written to {}: {error}", path.display()))),
    }
}
