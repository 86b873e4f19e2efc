//! `assay calibrate`: a drive's parameters, fitted to published figures.

use std::path::{Path, PathBuf};

use block::Seed;
use drive::preset::DriveName;
use lab::calibrate::{
    CalibrateError, Calibration, CalibrationRequest, FamilyDrive, FamilyRequest, Fitted, Parameter, ParameterError,
    Search, calibrate, calibrate_family, parse_list,
};
use lab::replicate::{Review, Tally};

use super::prediction::{self, Figures};
use super::replicate::{self, NamedFigures};
use crate::failure::Failure;
use crate::number;
use crate::outputs;
use crate::progress::with_bar;
use crate::target;
use crate::terminal::say;

/// What was asked on the command line.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// The drive or rig to fit: a name of `assay drives`, with changes after a `?`; to latencies and rates also a drive's
    /// file, or several drives, which share the fitted values
    #[arg(value_name = "DRIVE", required = true)]
    drives: Vec<String>,

    /// The review to fit to: a name of `assay replicate`, or the file of its figures; `qos` for the published latencies
    /// and rates of single drives, or a file of your own
    #[arg(long, value_name = "REVIEW|FILE")]
    figures: String,

    /// Parameters to fit and their bounds: `nand.read=20us..80us`, separated by commas [default: every duration in the
    /// drive's file, from half to twice]
    #[arg(long, value_name = "LIST", value_parser = parameters)]
    parameters: Option<List>,

    /// Fit only to figures whose names contain this; may be given several times
    #[arg(long, value_name = "TEXT")]
    only: Vec<String>,

    /// With latencies and rates of one drive: fit this drive to them, by name or file, with changes after a `?`
    #[arg(long, value_name = "SIM")]
    on: Option<String>,

    /// With latencies and rates: a tenth of the duration; tail percentiles are not resolved
    #[arg(long)]
    quick: bool,

    /// With latencies and rates: scale drives down to this many blocks per flash plane [default: 48 to 96, and at least 8
    /// GiB]
    #[arg(long, value_name = "COUNT", value_parser = number::within::<u32>(16..=1_000_000))]
    blocks: Option<u32>,

    /// The file for the fitted drive, or for the class with the values that several drives share [default:
    /// DRIVE-fitted.toml, of the first drive]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Random seed
    #[arg(long, default_value_t = 1, value_parser = number::seed)]
    seed: u64,

    /// Rounds of the global search, each of 12 to 48 measurements of the drive
    #[arg(long, default_value_t = 8, value_parser = number::within::<u32>(1..=1000))]
    rounds: u32,
}

/// Parameters as one argument.
#[derive(Clone, Debug)]
struct List(Vec<Parameter>);

fn parameters(text: &str) -> Result<List, ParameterError> {
    parse_list(text).map(List)
}

/// Fits the drive, tells what was found and writes its file.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let named = |drive: &String| drive.strip_prefix("sim:").unwrap_or(drive).to_owned();
    let drives: Vec<String> = arguments.drives.iter().map(named).collect();
    let on = arguments.on.as_ref().map(named);
    let base = DriveName::read(on.as_ref().unwrap_or(&drives[0])).map_err(CalibrateError::from)?.base;
    let base = Path::new(base).file_stem().unwrap_or_default().to_string_lossy();
    let path = arguments.out.clone().unwrap_or_else(|| PathBuf::from(format!("{base}-fitted.toml")));
    let mut output = outputs::at(&path)?;
    let search = Search {
        parameters: arguments.parameters.clone().map(|list| list.0).unwrap_or_default(),
        only: arguments.only.clone(),
        seed: Seed::new(arguments.seed),
        rounds: arguments.rounds,
    };
    let done = match asked(&arguments.figures)? {
        Asked::Latencies(figures) => {
            let drives = family(&figures, &drives, on.as_deref())?;
            let Arguments { quick: is_quick, blocks, .. } = *arguments;
            let request = FamilyRequest { figures: figures.label(), drives, search, is_quick, blocks };
            with_bar(|watch| calibrate_family(figures.qos(), &request, watch))?
        }
        Asked::Review(review) => {
            let [drive] = <[String; 1]>::try_from(drives).map_err(|drives| {
                let count = drives.len();
                Failure::usage(format!(
                    "{count} drives cannot be fitted to one review together; give one, or --figures qos"
                ))
            })?;
            if arguments.quick || arguments.blocks.is_some() || on.is_some() {
                let said =
                    "--quick, --blocks and --on belong to `--figures qos` and files of latencies; leave them out";
                return Err(Failure::usage(said));
            }
            if target::is_of_file(&drive) {
                let said = format!(
                    "a review is of drives that come with the program, and `{drive}` is a file; fit it to latencies \
                                    and rates: --figures FILE"
                );
                return Err(Failure::usage(said));
            }
            with_bar(|watch| calibrate(&review, &CalibrationRequest { drive, search }, watch))?
        }
    };
    say(&told(&done))?;
    output.write(done.text.as_bytes()).map_err(Failure::failed)?;
    say(&format!("\nDrive: {}\n", std::path::absolute(&path).unwrap_or(path).display()))
}

/// What a drive is to be fitted to.
enum Asked {
    /// Latencies and rates of single drives.
    Latencies(Figures),
    Review(Review),
}

/// The figures of this name. What is none at all is told before what goes with it.
fn asked(name: &str) -> Result<Asked, Failure> {
    if name == prediction::NAME {
        return Ok(Asked::Latencies(Figures::builtin()));
    }
    Ok(match replicate::named(name)? {
        NamedFigures::Latencies(source) => Asked::Latencies(Figures::of(name, source)?),
        NamedFigures::Review(review) => Asked::Review(*review),
    })
}

/// The drives that are fitted to `figures`.
fn family(figures: &Figures, drives: &[String], on: Option<&str>) -> Result<Vec<FamilyDrive>, Failure> {
    let qos = figures.qos();
    if let Some(on) = on {
        let [name] = drives else {
            return Err(Failure::usage("--on takes the place of one drive; name that alone"));
        };
        let preset = target::preset(on)?;
        return Ok(vec![FamilyDrive::named(qos, name, preset)?]);
    }
    let fitted = |name: &String| {
        let preset = target::preset(name)?;
        Ok(match target::is_of_file(name) {
            true => FamilyDrive::only(qos, preset)?,
            false => FamilyDrive::named(qos, name, preset)?,
        })
    };
    drives.iter().map(fitted).collect()
}

/// What was found, for people.
fn told(done: &Calibration) -> String {
    let mut text = format!(
        "{} fitted to {}, seed {}, {} measurements\n\n{:<28}{:>11}{:>11}  {:<20}{:>8}\n{}\n",
        done.drive,
        done.review,
        done.seed,
        done.evaluations,
        "Parameter",
        "Before",
        "Fitted",
        "Bounds",
        "±10 %",
        "─".repeat(80)
    );
    text += &done.parameters.iter().map(row).collect::<String>();
    text += "\n±10 %: the largest growth of the median error of the fitted figures when the\n\
             parameter changes by 10 %. Where it is small, the figures do not determine it.\n";
    if done.parameters.iter().any(Fitted::is_at_bound) {
        text += "▲ at a bound: the best value may lie beyond.\n";
    }
    text += &format!("\n{:<10}{:>30}{:>36}\n{}\n", "Figures", "Before", "After", "─".repeat(80));
    text += &tallies("Fitted", &done.fitted);
    text += &tallies("Checked", &done.checked);
    text
}

fn row(fitted: &Fitted) -> String {
    let parameter = &fitted.parameter;
    let before = fitted.before.map_or_else(|| "–".to_owned(), |before| parameter.shown(before));
    let bounds = format!("{} to {}", parameter.shown(parameter.least), parameter.shown(parameter.most));
    let change = fitted.sensitivity.into_iter().flatten().max_by(f64::total_cmp);
    let change = change.map_or_else(|| "–".to_owned(), |change| format!("{:+.1} %", 100.0 * change));
    let mark = if fitted.is_at_bound() { "▲ " } else { "" };
    let value = format!("{mark}{}", parameter.shown(fitted.value));
    format!("{:<28}{before:>11}{value:>11}  {bounds:<20}{change:>8}\n", parameter.name)
}

fn tallies(word: &str, tallies: &[Tally; 2]) -> String {
    let said = |tally: &Tally| match tally.median.zip(tally.worst) {
        Some((median, worst)) => {
            let (median, worst) = (100.0 * median, 100.0 * worst);
            format!("{} of {}, {median:.1} %, to {worst:.0} %", tally.met, tally.judged)
        }
        None => "none".to_owned(),
    };
    format!("{word:<10}{:>30}{:>36}\n", said(&tallies[0]), said(&tallies[1]))
}

impl From<CalibrateError> for Failure {
    fn from(error: CalibrateError) -> Self {
        match error {
            CalibrateError::Lab(error) => Self::failed(error),
            error => Self::usage(error),
        }
    }
}
