//! `assay import`: a file of fio, Iometer or a simulator of drives as a plan, a drive, or figures.

use std::path::{Path, PathBuf};

use block::{Bytes, parse_bytes};
use drive::preset::Preset;
use lab::import::figures::{self, FiguresRequest, FitShare};
use lab::import::fio::plan_text;
use lab::import::mqsim::{self, Imported};
use lab::import::nvmevirt::{self, NvmevirtRequest};
use lab::import::{DriveImport, femu, icf};

use crate::failure::Failure;
use crate::job_file::{self, JobFileOptions};
use crate::number;
use crate::outputs;
use crate::target;
use crate::terminal::{notice, say};

/// What was asked on the command line.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Unsupported options are reported on standard error and in comments of what is written.")]
pub struct Arguments {
    /// The file: JOB.fio of fio, SPEC.icf of Iometer, ssdconfig.xml or workload.xml of MQSim, a run script of FEMU, ssd_config.h
    /// of NVMeVirt; or one or several of fio's JSON output
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,

    /// Where to write the plan, the drive or the figures [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    reading: JobFileOptions,

    /// Size of the target, for jobs that use a share of it; of NVMeVirt the memory that it is given (memmap_size) [default there:
    /// 64 GiB]
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    size: Option<Bytes>,

    /// Of NVMeVirt's ssd_config.h: the drive, by the name that BASE_SSD is compared with
    #[arg(long, value_name = "NAME")]
    base_ssd: Option<String>,

    #[command(flatten)]
    figures: FiguresOptions,
}

/// What of fio's JSON output is said beside it.
#[derive(Clone, Debug, PartialEq, clap::Args)]
struct FiguresOptions {
    /// Of fio's output: the drive that was measured, a name of `assay drives` or one of your own [default: the file's name]
    #[arg(long, value_name = "NAME")]
    drive: Option<String>,

    /// Of fio's output: how often the drive's capacity was written at random before [default: not said, and filled once, in
    /// order]
    #[arg(long, value_name = "TIMES", value_parser = number::within::<u32>(0..=100))]
    overwrites: Option<u32>,

    /// Of fio's output: which experiments `assay calibrate` may fit to; the others check what comes of it
    #[arg(long, value_enum, value_name = "SHARE", default_value_t = Fit::None)]
    fit: Fit,
}

/// Which experiments may be fitted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Fit {
    /// No experiment
    None,
    /// Every second experiment, beginning with the first
    Half,
    /// Every experiment
    All,
}

/// Writes the plan, the drive or the figures.
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
        let job = &self.files[0];
        let path = Path::new(job);
        let strict = self.reading.strict;
        let is_icf = |name: &String| Path::new(name).extension().is_some_and(|kind| kind.eq_ignore_ascii_case("icf"));
        let texts = match self.files.iter().any(is_icf) {
            true => Vec::new(),
            false => self.files.iter().map(|name| job_file::text_or_output_of(name)).collect::<Result<_, _>>()?,
        };
        if texts.iter().any(|text| figures::is_fio_output(text)) {
            return self.figures(texts);
        }
        if let [_, second, ..] = &self.files[..] {
            let said = format!("several files can be of fio's JSON output alone; import {job} and {second} one by one");
            return Err(Failure::usage(said));
        }
        self.no_figures()?;
        let Some(text) = texts.into_iter().next() else {
            self.only_fios(false)?;
            let import = job_file::read_icf(job, strict)?;
            return Ok(icf::plan_text(&import, path, import.layout()));
        };
        if let Some(import) = self.drive(path, &text)? {
            return job_file::read_drive(job, strict, import);
        }
        if !mqsim::is_xml(&text) {
            let import = job_file::read(job, &text, &self.reading, self.size)?;
            return Ok(plan_text(&import, path, import.layout()));
        }
        self.only_fios(true)?;
        let import = job_file::read_mqsim(job, &text, strict, self.size)?;
        Ok(match import.imported {
            Imported::Plan(scenarios) => mqsim::plan_text(&scenarios, &import.notices, path),
            Imported::Drive(text) => text,
            Imported::Nothing => String::new(),
        })
    }

    /// The drive that a text describes, if it is a file of a simulator's that only describes drives.
    fn drive(&self, path: &Path, text: &str) -> Result<Option<DriveImport>, Failure> {
        let is_xml = mqsim::is_xml(text);
        let is_script = !is_xml && femu::is_script(text);
        let is_header = !is_xml && !is_script && nvmevirt::is_header(text);
        if self.base_ssd.is_some() && !is_header {
            return Err(Failure::usage("--base-ssd is for NVMeVirt's ssd_config.h; leave it out"));
        }
        if !is_script && !is_header {
            return Ok(None);
        }
        self.only_fios(is_header)?;
        let request = NvmevirtRequest { drive: self.base_ssd.as_deref(), memory: self.size };
        Ok(Some(if is_script { femu::import(path, text) } else { nvmevirt::import(path, text, request) }))
    }

    /// The figures of fio's JSON output.
    fn figures(&self, texts: Vec<String>) -> Result<String, Failure> {
        self.only_fios(false)?;
        let own = || Path::new(&self.files[0]).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let drive = self.figures.drive.clone().unwrap_or_else(own);
        if target::is_of_file(&drive) {
            let said = format!(
                "--drive names the drive in the figures, and `{drive}` is a file; give it as `--on {drive}` of \
                                `assay replicate` and `assay calibrate`"
            );
            return Err(Failure::usage(said));
        }
        let preset = Preset::find(&drive).is_ok().then(|| drive.clone());
        let fit = match self.figures.fit {
            Fit::None => FitShare::None,
            Fit::Half => FitShare::Half,
            Fit::All => FitShare::All,
        };
        let request = FiguresRequest { drive, preset, overwrites: self.figures.overwrites, fit };
        let files: Vec<(String, String)> = self.files.iter().cloned().zip(texts).collect();
        let wrong = |(name, error)| Failure::usage(format!("{name} is no output of fio's: {error}"));
        let made = figures::figures(&files, &request).map_err(wrong)?;
        made.notes.iter().for_each(notice);
        if self.reading.strict && !made.notes.is_empty() {
            return Err(Failure::usage("refused by --strict because of what is said above"));
        }
        Ok(made.text)
    }

    /// Refuses what only fio's JSON output knows.
    fn no_figures(&self) -> Result<(), Failure> {
        let plain = FiguresOptions { drive: None, overwrites: None, fit: Fit::None };
        match self.figures == plain {
            true => Ok(()),
            false => Err(Failure::usage("--drive, --overwrites and --fit are for fio's JSON output; leave them out")),
        }
    }

    /// Refuses what only fio's job files know.
    fn only_fios(&self, has_size: bool) -> Result<(), Failure> {
        let asked = JobFileOptions { strict: false, ..self.reading.clone() };
        match asked.is_asked() || self.size.is_some() && !has_size {
            true => Err(Failure::usage(
                "--section, --size, --variable and --allow-path are for fio's job files (--size for MQSim's scenarios and NVMeVirt too); leave them out",
            )),
            false => Ok(()),
        }
    }
}
