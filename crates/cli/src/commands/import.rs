//! `assay import`: a job file of fio or Iometer as a plan.

use std::path::{Path, PathBuf};

use block::{Bytes, parse_bytes};
use lab::import::fio::plan_text;
use lab::import::icf;

use crate::failure::Failure;
use crate::job_file::{self, JobFileOptions};
use crate::outputs;
use crate::terminal::say;

/// What was asked on the command line.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Unsupported options are reported on standard error and in comments of the plan.")]
pub struct Arguments {
    /// The job file: JOB.fio of fio, or SPEC.icf of Iometer
    #[arg(value_name = "FILE")]
    job: String,

    /// Where to write the plan [default: standard output]
    #[arg(short, long, value_name = "PLAN")]
    output: Option<PathBuf>,

    #[command(flatten)]
    reading: JobFileOptions,

    /// Size of the target, for jobs that use a share of it
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    size: Option<Bytes>,
}

/// Writes the plan.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let path = Path::new(&arguments.job);
    let text = if path.extension().is_some_and(|kind| kind.eq_ignore_ascii_case("icf")) {
        let asked = JobFileOptions { strict: false, ..arguments.reading.clone() };
        if asked.is_asked() || arguments.size.is_some() {
            return Err(Failure::usage(
                "--section, --size, --variable and --allow-path are for fio's job files; leave them out",
            ));
        }
        let import = job_file::read_icf(&arguments.job, arguments.reading.strict)?;
        icf::plan_text(&import, path, import.layout())
    } else {
        let import = job_file::read(&arguments.job, &arguments.reading, arguments.size)?;
        plan_text(&import, path, import.layout())
    };
    match &arguments.output {
        None => say(&text),
        Some(path) => outputs::write(path, text.as_bytes()),
    }
}
