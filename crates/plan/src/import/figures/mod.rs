//! What fio measured, from its JSON output, as a file of figures.
//!
//! fio's output is read as it is (`output`), its options are taken for what they mean in a job file (`conditions`), and what was
//! measured becomes points of experiments (`points`). Nothing here opens a file or looks at the machine.

mod conditions;
mod output;
mod points;
#[cfg(test)]
mod tests;

use block::Nanos;
use output::{Job, Output};

use super::words::UniqueNames;
use crate::printable;

pub use output::{FioOutputError, is_fio_output};

/// What is said of figures that fio's output does not say.
#[derive(Clone, Debug, Default)]
pub struct FiguresRequest {
    /// What the drive is called.
    pub drive: String,
    /// The preset that simulates it, if any does.
    pub preset: Option<String>,
    /// How often its capacity was written at random before.
    pub overwrites: Option<u32>,
    /// Which experiments parameters may be fitted to.
    pub fit: FitShare,
}

/// Which experiments parameters may be fitted to; the others check what comes of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FitShare {
    /// None.
    #[default]
    None,
    /// Every second one, beginning with the first.
    Half,
    /// All.
    All,
}

impl FitShare {
    const fn usage(self, experiment: usize) -> &'static str {
        match self {
            Self::All => "fit",
            Self::Half if experiment.is_multiple_of(2) => "fit",
            Self::Half | Self::None => "check",
        }
    }
}

/// A file of figures, made of fio's output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FioFigures {
    /// The file.
    pub text: String,
    /// What is to be known of it, a sentence each.
    pub notes: Vec<String>,
}

/// Makes a file of figures of outputs, each with the name of its file.
///
/// # Errors
/// With the name of the file that is none of fio's, and why.
pub fn figures(files: &[(String, String)], request: &FiguresRequest) -> Result<FioFigures, (String, FioOutputError)> {
    let mut runs = Vec::new();
    let mut notes = Vec::new();
    for (name, text) in files {
        let (output, others) = Output::read(text).map_err(|error| (name.clone(), error))?;
        if others > 0 {
            notes.push(format!("{name} has {} outputs, as of --status-interval; the last one is taken", others + 1));
        }
        runs.push((name.as_str(), output));
    }
    let mut names = UniqueNames::new("job");
    let mut experiments = Vec::new();
    for (file, output) in &runs {
        for jobs in output.groups() {
            experiments.push(Experiment::of(file, output, &jobs, &mut names));
        }
    }
    notes.extend(experiments.iter().flat_map(|experiment| experiment.notes.clone()));
    if request.overwrites.is_none() {
        let said = "what the drive held before is not in fio's output: flash is filled once, in order, unless --overwrites says more";
        notes.push(said.to_owned());
    }
    let text = file(&runs, &experiments, request);
    Ok(FioFigures { text, notes })
}

/// An experiment: jobs of one group, as they stand in the file of figures.
struct Experiment {
    /// Its name, without the drive's.
    name: String,
    /// What it is, where it was measured and how, for readers.
    about: String,
    /// Conditions, by their keys.
    conditions: Vec<(&'static str, String)>,
    points: Vec<points::Point>,
    /// Why it is not simulated, if it is not.
    unmeasured: Option<String>,
    /// What fio takes for a request outside of its latency.
    outside: Option<Nanos>,
    notes: Vec<String>,
}

impl Experiment {
    fn of(file: &str, output: &Output, jobs: &[&Job], names: &mut UniqueNames) -> Self {
        let first = jobs[0];
        let name = names.unique(&first.jobname);
        let shown = format!("{} of {file}", printable(&first.jobname));
        let mut conditions = conditions::Conditions::of(output, jobs);
        let combined = points::Combined::of(jobs);
        conditions.measured(&combined, output.byte_unit());
        let points = combined.points(conditions.is_windowed());
        let outside = conditions.lone_workers().and_then(|workers| combined.outside(workers));
        let mut notes: Vec<String> = conditions.notes.iter().map(|note| format!("{shown}: {note}")).collect();
        if combined.is_parted() {
            notes.push(format!(
                "{shown}: percentiles of {} clones cannot be put together; run fio with --group_reporting",
                jobs.len()
            ));
        }
        let unmeasured = conditions.unmeasured.clone();
        notes.extend(unmeasured.iter().map(|why| format!("{shown} is not simulated: {why}")));
        Self { name, about: conditions.about(), conditions: conditions.into_keys(), points, unmeasured, outside, notes }
    }
}

/// The file.
fn file(runs: &[(&str, Output)], experiments: &[Experiment], request: &FiguresRequest) -> String {
    let quoted = |text: &str| toml::Value::String(printable(text)).to_string();
    let drive = quoted(&request.drive);
    let files: Vec<String> =
        runs.iter().map(|(name, output)| format!("{} ({})", printable(name), printable(output.version()))).collect();
    let mut text = format!("# What fio measured: {}.\n", files.join(", "));
    text += "# `assay replicate THIS-FILE` compares a simulated drive with it; `assay calibrate` fits one to what is marked \"fit\".\n";
    text += &format!("\n[[drive]]\nid = {drive}\n");
    match &request.preset {
        Some(preset) => text += &format!("preset = {}\n", quoted(preset)),
        None => text += "# preset = \"NAME\"   of `assay drives`; or a drive's file: --on ./DRIVE.toml\n",
    }
    text += "\n[[reading]]\nid = \"fio\"\n";
    text += "text = \"numbers of fio's JSON output; latencies are completion latencies unless it has percentiles of the total alone\"\n";
    if let Some(outside) = outside(experiments) {
        text += &format!(
            "outside_ns = {} # derived: workers over rate, less mean latency, of those with one request in flight\n",
            outside.as_nanos()
        );
    }
    for (index, experiment) in experiments.iter().enumerate() {
        let id = quoted(&format!("{}/{}", request.drive, experiment.name));
        text += &format!("\n# {}\n[[qos]]\nid = {id}\ndrive = {drive}\nread = \"fio\"\n", printable(&experiment.about));
        let mut conditions = experiment.conditions.clone();
        conditions.extend(request.overwrites.map(|times| ("overwrites", times.to_string())));
        let conditions: Vec<String> = conditions.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        text += &format!("cond = {{ {} }}\n", conditions.join(", "));
        text += &format!("unit = \"us\"\nuse = \"{}\"\npoints = [\n", request.fit.usage(index));
        for point in &experiment.points {
            text += &format!("    {},\n", point.written(experiment.unmeasured.as_deref()));
        }
        text += "]\n";
    }
    text
}

/// The middle of what fio took outside of latencies.
fn outside(experiments: &[Experiment]) -> Option<Nanos> {
    let mut times: Vec<Nanos> = experiments.iter().filter_map(|experiment| experiment.outside).collect();
    times.sort_unstable();
    times.get(times.len() / 2).copied().filter(|time| *time > Nanos::ZERO)
}
