//! `assay drives`, `assay plans`, `assay profiles`: what there is to choose from.

use std::path::Path;

use clap::Subcommand;
use drive::Drive;
use drive::preset::sheet::{self, Ratings, RatingsError};
use drive::preset::{Preset, of_unchanged};
use drive::smart::Smart;
use lab::plan::{self, Plan, PlanLength, catalog, profile};
use lab::replicate::{KindRecord, PredictionRecord, Use, digest, kept, qos};

use report::wrapped;
use trial::EXPERIMENTS;

use super::entries::entry;
use super::fields::fields;
use crate::failure::Failure;
use crate::target::named;
use crate::terminal::{line, notice, say, width};

/// What was asked of `assay drives`.
#[derive(Clone, Debug, clap::Args)]
pub struct Drives {
    #[command(subcommand)]
    which: Option<OfDrives>,
}

#[derive(Clone, Debug, Subcommand)]
enum OfDrives {
    /// Describe one: a summary, then its file
    Show {
        /// Its name
        name: String,
        /// Print its file alone, to begin one of your own with
        #[arg(long)]
        toml: bool,
    },
    /// List what a drive's file may say: every table and field, with unit, range and default
    Fields {
        /// A kind of drive, a table, a field, or a drive: `flash`, `nand`, `nand.read`, `x25-m`. The tables of all kinds if left
        /// out
        name: Option<String>,
        /// Print them as JSON, for programs
        #[arg(long)]
        json: bool,
    },
    /// Print the SMART data of a new one, as `smartctl --json -a` does
    Smart {
        /// Its name
        name: String,
    },
    /// Print the file of a drive of which only a data sheet is known: what is not rated is a guess and marked as one
    New {
        /// Its name: up to 64 lower-case letters, digits and hyphens
        name: String,
        /// Its ratings, as data sheets word them (`capacity=1TB, interface=PCIe 4.0 x4, nand=TLC, sequential-read=7,000 MB/s,
        /// random-read=1M IOPS, endurance=600TBW, class=client`, or of a disk `capacity=8TB, rpm=7200, seek=8.5ms, cache=256MB,
        /// transfer=250MB/s`), or @FILE with a rating a line or as TOML; may be repeated. With a
        /// sheet of several capacities give which it is: `--from @sheet.txt --from capacity=2TB`
        #[arg(long, value_name = "RATINGS|@FILE", required = true)]
        from: Vec<String>,
    },
}

/// What was asked of `assay plans`.
#[derive(Clone, Debug, clap::Args)]
pub struct Plans {
    #[command(subcommand)]
    which: Option<Named>,
}

#[derive(Clone, Debug, Subcommand)]
enum Named {
    /// Describe one: its steps, then its file
    Show {
        /// Its name
        name: String,
        /// Print its file alone, to begin one of your own with
        #[arg(long)]
        toml: bool,
    },
    /// Print a plan to begin with, which explains itself
    New {
        /// Its name: up to 64 letters, digits and hyphens
        name: String,
    },
    /// List the kinds of trial (file systems, databases, boot), or the options of one kind
    Trials {
        /// The kind
        kind: Option<String>,
    },
}

/// Lists the simulated drives, or describes one.
pub fn drives(arguments: &Drives) -> Result<(), Failure> {
    match &arguments.which {
        None => {
            let head = entry(&row("Drive", "Fitted", "Checked"), COLUMNS, "Model");
            let line = |preset: Preset| {
                let [fitted, checked] = judged(&preset);
                entry(&row(&format!("sim:{}", preset.name), &fitted, &checked), COLUMNS, &preset.title)
            };
            let lines: String = Preset::all().map(line).collect();
            say(&format!("{head}{lines}\n{}\n", wrapped(LEGEND, width()).join("\n")))
        }
        Some(OfDrives::Show { name, toml: true }) => say(&named(name)?.text),
        Some(OfDrives::Show { name, toml: false }) => say(&describe(&named(name)?)),
        Some(OfDrives::Fields { name, json }) => fields(name.as_deref(), *json),
        Some(OfDrives::Smart { name }) => {
            let preset = named(name)?;
            let drive = preset.build();
            let smart = Smart::of(&preset.identity(), &drive.counters(), &drive.health());
            let text = serde_json::to_string_pretty(&smart).expect("what a drive says has only names for keys");
            say(&format!("{text}\n"))
        }
        Some(OfDrives::New { name, from }) => new_drive(name, from),
    }
}

/// Prints the file of a drive with these ratings.
fn new_drive(name: &str, from: &[String]) -> Result<(), Failure> {
    let texts = from.iter().map(|given| match given.strip_prefix('@') {
        None if Path::new(given).is_file() => {
            Err(Failure::usage(format!("`{0}` is a file; for the ratings in it give `--from @{0}`", line(given))))
        }
        None => Ok(given.clone()),
        Some(path) => {
            host::open::text(Path::new(if path == "-" { "/dev/stdin" } else { path }), sheet::TEXT_MAX as u64)
                .map_err(|error| Failure::usage(format!("the ratings in {} cannot be read: {error}", line(path))))
        }
    });
    let texts = texts.collect::<Result<Vec<_>, _>>()?;
    let refused = |error: RatingsError| Failure::usage(error.to_string());
    let ratings = Ratings::read(texts.iter().map(String::as_str)).map_err(refused)?;
    say(&ratings.file(name).map_err(refused)?)?;
    if !ratings.unused().is_empty() {
        notice(format_args!("Left out, of no use to the model: {}", line(&ratings.unused().join(", "))));
    }
    Ok(())
}

/// A drive in words, then its file, which has every number with its source.
fn describe(preset: &Preset) -> String {
    let mut text = wrapped(&preset.title, width()).join("\n") + "\n\n";
    for (label, fact) in preset.facts().into_iter().chain(predictions(preset)) {
        text += &entry(label, 11, &fact);
    }
    format!("{text}\n{}", preset.text)
}

/// How wide a drive's name and its figures are in the list.
const COLUMNS: usize = 44;

/// What the list's columns say.
const LEGEND: &str = "Fitted: number of published ratings, latencies, rates and figures of reviews that parameters may be fitted to. \
    Checked: number of those for validation only, and their median error factor, averaged over kinds \
    (docs/calibration.md); `*`: determined before the drive last changed. `assay drives show NAME` describes one, \
    `assay review sim:NAME` reviews it.";

/// The beginning of a line of the list.
fn row(name: &str, fitted: &str, checked: &str) -> String {
    format!("{name:<24}{fitted:>7}{checked:>11}")
}

/// To how many figures a drive may be fitted, how many check it, and by what factor it is off there.
fn judged(preset: &Preset) -> [String; 2] {
    let dash = |count: usize| if count == 0 { "–".to_owned() } else { count.to_string() };
    let ratings = preset.rated.fitted.len();
    let records: Vec<&PredictionRecord> = kept(&preset.name).collect();
    let points = |usage| records.iter().map(|record| record.points(usage)).sum::<usize>();
    let checked = points(Use::Check);
    let kinds = records.iter().flat_map(|record| record.kinds(Use::Check));
    let logarithms = kinds.map(|(_, found)| found.points as f64 * found.factor.ln());
    let factor = (logarithms.sum::<f64>() / checked.max(1) as f64).exp();
    let mark = if records.iter().all(|record| is_current(record, preset)) { "" } else { "*" };
    let shown = if checked == 0 { dash(0) } else { format!("{checked} {}{mark}", times(factor)) };
    [dash(ratings + points(Use::Fit)), shown]
}

/// Whether a record is of the drive as it is.
fn is_current(record: &PredictionRecord, preset: &Preset) -> bool {
    record.digest == digest(preset)
}

/// A factor; where the drive has nothing of what was published, there is none.
fn times(factor: f64) -> String {
    if factor.is_finite() { format!("×{factor:.2}") } else { "×∞".to_owned() }
}

/// To how many published figures the drive was fitted, how many check it, and how well it meets them.
fn predictions(preset: &Preset) -> Vec<(&'static str, String)> {
    let mut said = Vec::new();
    if !preset.rated.fitted.is_empty() {
        let original = of_unchanged(preset.is_changed());
        said.push(("fitted", format!("to {} of its ratings{original}", preset.rated.fitted.len())));
    }
    let records: Vec<&PredictionRecord> = kept(&preset.name).collect();
    if records.iter().all(|record| record.points(Use::Fit) + record.points(Use::Check) == 0) {
        let figures = qos::builtin();
        let is_own = |drive: &usize| figures.drives[*drive].name() == preset.name;
        let drive = figures.drive(&preset.name).filter(is_own);
        let points = |drive: usize| figures.of_drive(drive).map(|(_, group)| group.points.len()).sum::<usize>();
        let apart = if records.is_empty() { "" } else { ", which count for no criterion (docs/calibration.md)" };
        let how = format!("`assay replicate qos --drive {}` compares them", preset.name);
        let told = |drive| format!("{} published latencies and rates{apart}; {how}", points(drive));
        said.extend(drive.map(|drive| ("figures", told(drive))));
        return said;
    }
    for (usage, word) in [(Use::Fit, "for fitting"), (Use::Check, "for validation")] {
        let kind = |(title, found): (&str, KindRecord)| format!("{title} {} ({})", times(found.factor), found.points);
        let kinds: Vec<String> = records.iter().flat_map(|record| record.kinds(usage)).map(kind).collect();
        if !kinds.is_empty() {
            let points: usize = records.iter().map(|record| record.points(usage)).sum();
            said.push(("figures", format!("{points} {word}; median error factors (points): {}", kinds.join(", "))));
        }
    }
    if !records.iter().all(|record| is_current(record, preset)) {
        said.push(("figures", "determined before the drive last changed".to_owned()));
    }
    said
}

/// Lists the plans, or shows one.
pub fn plans(arguments: &Plans) -> Result<(), Failure> {
    match &arguments.which {
        None => {
            let mut lines = String::new();
            for (name, text) in catalog::builtin() {
                let plan = read(&format!("plans/{name}.toml"), text)?;
                lines += &entry(name, 20, &plan.title);
            }
            say(&format!("{lines}\n`assay plans show NAME` shows one, `assay review --plan NAME|FILE` runs it.\n"))
        }
        Some(Named::Show { name, toml: true }) => say(&catalog::find(name)?.text),
        Some(Named::Show { name, toml: false }) => {
            let source = catalog::find(name)?;
            let plan = read(&source.file_name, &source.text)?;
            say(&format!("{}\n{}", steps(&plan), source.text))
        }
        Some(Named::New { name }) => new_plan(name),
        Some(Named::Trials { kind: None }) => {
            let lines: String = EXPERIMENTS.iter().map(|kind| entry(kind.name(), 14, kind.about())).collect();
            say(&format!("{lines}\n`assay plans trials KIND` lists the options of a step with `do = \"KIND\"`.\n"))
        }
        Some(Named::Trials { kind: Some(name) }) => trial(name),
    }
}

/// Prints a plan of that name to begin with.
fn new_plan(name: &str) -> Result<(), Failure> {
    // Nothing of it can end the text that it stands in.
    let is_plain = name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-');
    let text = include_str!("new-plan.toml").replace("NAME", name);
    if !is_plain || plan::parse(&text, PlanLength::Full).is_err() {
        return Err(Failure::usage(format!(
            "`{}` cannot be the name of a plan; give up to 64 lower-case letters, digits and hyphens, such as my-plan",
            line(name)
        )));
    }
    say(&text)
}

/// Says what a kind of trial can be told.
fn trial(name: &str) -> Result<(), Failure> {
    let Some(experiment) = EXPERIMENTS.iter().find(|experiment| experiment.name() == name) else {
        let known: Vec<&str> = EXPERIMENTS.iter().map(|experiment| experiment.name()).collect();
        return Err(Failure::usage(format!("there is no trial `{name}`; choose one of {}", known.join(", "))));
    };
    let mut lines = entry("", 0, experiment.about()) + "\n";
    for choice in experiment.choices() {
        let default = if choice.default.is_empty() { "none" } else { choice.default };
        lines += &entry(choice.name, 16, choice.about);
        lines += &entry("", 16, &format!("{}; default: {default}", choice.kind));
    }
    say(&lines)
}

/// Lists the access profiles with what each sets and where that comes from.
pub fn profiles() -> Result<(), Failure> {
    let mut lines = String::new();
    for profile in profile::all() {
        let fields: Vec<String> =
            profile.fields.iter().map(|(field, text)| format!("{}={text}", field.name())).collect();
        lines += &entry(profile.name, 20, &profile.title);
        lines += &entry("", 20, &fields.join(" "));
        lines += &(entry("", 20, &format!("Source: {}", profile.source)) + "\n");
    }
    say(&format!("{lines}`assay run --profile NAME` runs one; in a plan it is `profile = \"NAME\"`.\n"))
}

fn read(file_name: &str, text: &str) -> Result<Plan, Failure> {
    plan::parse(text, PlanLength::Full).map_err(|mistakes| Failure::plan(file_name, text, mistakes))
}

/// A plan's steps, a line each.
fn steps(plan: &Plan) -> String {
    let mut lines = format!("{}\n\n", plan.title);
    for (number, step) in plan.steps.iter().enumerate() {
        let what = step.action.kind().brief();
        lines += &format!("{:>3}  {:<46} {what}\n", number + 1, step.title);
    }
    lines
}
