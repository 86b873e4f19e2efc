//! What the user named to be put to the proof.

use std::path::{Path, PathBuf};

use block::{Bytes, parse_bytes};
use drive::preset::Preset;
use engine::{Access, Target};
use lab::plan::Plan;
use lab::{Environment, Real, Simulated, Subject};

use crate::failure::Failure;

/// The target of a review where none is named.
pub const DEFAULT: &str = "sim:x25-m";

/// The options by which a real target may be used.
#[derive(Clone, Debug, clap::Args)]
pub struct RealOptions {
    /// How much of a file or device to use: 2GiB, 512m; required for a new file
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub size: Option<Bytes>,

    /// Bypass the page cache (1) or not (0) [default: 1, or what a job file says]
    #[arg(long, value_name = "0|1", value_parser = clap::value_parser!(u8).range(0..=1))]
    pub direct: Option<u8>,

    /// Use an existing file that assay did not create; its contents are lost
    #[arg(long)]
    pub overwrite: bool,

    /// Use a block device that carries data; name the device again
    #[arg(long, value_name = "DEVICE")]
    pub destroy_data: Option<PathBuf>,
}

impl RealOptions {
    /// Whether the page cache is passed by.
    pub fn is_direct(&self) -> bool {
        self.direct != Some(0)
    }
}

/// A target that was opened.
pub struct Opened {
    /// What a plan is carried out on.
    pub subject: Box<dyn Subject>,
    /// How it names itself.
    pub identity: String,
    /// How it was asked for, in full.
    pub name: String,
    /// The host and the target, as JSON.
    pub environment: String,
    /// Whether what a run does to it outlives the program.
    pub real: bool,
    /// Whether reads would find nothing written.
    pub needs_layout: bool,
    /// Doubts about measuring it as asked.
    pub findings: Vec<String>,
}

impl Opened {
    /// Refuses a plan that cannot be carried out to its end, and then leaves everything as it was found.
    pub fn fits(&mut self, plan: &Plan) -> Result<(), Failure> {
        let plan = plan.on(self.subject.capacity());
        let Err(error) = lab::fits(&plan, self.subject.as_ref()) else { return Ok(()) };
        match self.subject.withdraw() {
            Ok(()) => Err(error.into()),
            Err(left) => Err(Failure::failed(format!("{error}\n{left}"))),
        }
    }
}

/// Opens `name`: `sim:DRIVE`, a file or a block device. `writes` says whether data will change.
pub fn open(name: &str, options: &RealOptions, writes: bool, create: bool) -> Result<Opened, Failure> {
    match name.strip_prefix("sim:") {
        Some(preset) => simulated(preset, options),
        None => real(Path::new(name), options, writes, create),
    }
}

/// The simulated drive of this name, or of the file at this path, with changes after a `?`.
pub fn preset(name: &str) -> Result<Preset, Failure> {
    let (path, changes) = name.split_once('?').unwrap_or((name, ""));
    if !path.contains('/') && !path.ends_with(".toml") {
        return Ok(Preset::find(name)?);
    }
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("the drive's file {path} cannot be read: {error}")))?;
    Ok(Preset { name: path.to_owned(), ..Preset::parse(&text)? }.changed(changes)?)
}

fn simulated(name: &str, options: &RealOptions) -> Result<Opened, Failure> {
    if options.overwrite || options.destroy_data.is_some() {
        return Err(Failure::usage(
            "--overwrite and --destroy-data are for files and devices; a simulated drive has nothing to lose",
        ));
    }
    let preset = preset(name)?;
    if let Some(size) = options.size.filter(|&size| size > preset.capacity()) {
        let capacity = preset.capacity();
        return Err(Failure::usage(format!(
            "{size} from the start is more than the drive's {capacity}; give a smaller --size"
        )));
    }
    Ok(Opened {
        subject: Box::new(Simulated::new(preset.build())),
        identity: preset.title.clone(),
        name: format!("sim:{}", preset.name),
        environment: json(&Environment::of_host()),
        real: false,
        needs_layout: true,
        findings: Vec::new(),
    })
}

fn real(path: &Path, options: &RealOptions, writes: bool, create: bool) -> Result<Opened, Failure> {
    let access = Access {
        size: options.size,
        direct: options.is_direct(),
        writes,
        overwrite: options.overwrite,
        destroy_data: options.destroy_data.clone(),
        create,
    };
    let target = Target::open(path, &access)?;
    let environment = Environment::with_target(path);
    let mut findings = Vec::new();
    if let Some(memory) = environment.memory.filter(|memory| target.capacity() < memory.times(2)) {
        findings.push(format!(
            "The data covered, {}, is less than twice the host's memory of {memory}: caches may have answered in \
             place of the drive. Use a larger --size.",
            target.capacity()
        ));
    }
    if !access.direct {
        findings.push("The page cache was in use (--direct=0): these are figures of the host's memory as well.".into());
    }
    Ok(Opened {
        identity: target.identity(),
        name: path.display().to_string(),
        environment: json(&environment),
        real: true,
        needs_layout: target.needs_layout(),
        subject: Box::new(Real::new(target)),
        findings,
    })
}

fn json(environment: &Environment) -> String {
    serde_json::to_string(environment).expect("names, numbers and lists always serialise")
}
