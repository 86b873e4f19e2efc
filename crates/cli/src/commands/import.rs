//! `assay import`: a file of fio, Iometer or MQSim as a plan, or as a drive.

use std::path::{Path, PathBuf};

use block::{Bytes, parse_bytes};
use lab::import::fio::plan_text;
use lab::import::icf;
use lab::import::mqsim::{self, Imported};

use crate::failure::Failure;
use crate::job_file::{self, JobFileOptions};
use crate::outputs;
use crate::terminal::say;

/// What was asked on the command line.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Unsupported options are reported on standard error and in comments of what is written.")]
pub struct Arguments {
    /// The file: JOB.fio of fio, SPEC.icf of Iometer, or ssdconfig.xml or workload.xml of MQSim
    #[arg(value_name = "FILE")]
    job: String,

    /// Where to write the plan, or the drive [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    reading: JobFileOptions,

    /// Size of the target, for jobs that use a share of it
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    size: Option<Bytes>,
}

/// Writes the plan, or the drive.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let text = arguments.imported()?;
    match &arguments.output {
        None => say(&text),
        Some(path) => outputs::write(path, text.as_bytes()),
    }
}

impl Arguments {
    /// The text of what the file is, which is told by its name or by what stands in it.
    fn imported(&self) -> Result<String, Failure> {
        let path = Path::new(&self.job);
        let strict = self.reading.strict;
        if path.extension().is_some_and(|kind| kind.eq_ignore_ascii_case("icf")) {
            self.only_fios(false)?;
            let import = job_file::read_icf(&self.job, strict)?;
            return Ok(icf::plan_text(&import, path, import.layout()));
        }
        let text = job_file::text_of(&self.job)?;
        if !mqsim::is_xml(&text) {
            let import = job_file::read(&self.job, &text, &self.reading, self.size)?;
            return Ok(plan_text(&import, path, import.layout()));
        }
        self.only_fios(true)?;
        let import = job_file::read_mqsim(&self.job, &text, strict, self.size)?;
        Ok(match import.imported {
            Imported::Plan(scenarios) => mqsim::plan_text(&scenarios, &import.notices, path),
            Imported::Drive(text) => text,
            Imported::Nothing => String::new(),
        })
    }

    /// Refuses what only fio's job files know.
    fn only_fios(&self, has_size: bool) -> Result<(), Failure> {
        let asked = JobFileOptions { strict: false, ..self.reading.clone() };
        match asked.is_asked() || self.size.is_some() && !has_size {
            true => Err(Failure::usage(
                "--section, --size, --variable and --allow-path are for fio's job files (--size for MQSim's scenarios too); leave them out",
            )),
            false => Ok(()),
        }
    }
}
