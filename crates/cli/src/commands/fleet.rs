//! `assay fleet`: many drives held against each other.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use drive::preset::Preset;
use lab::fleet::{Fleet, FleetEffects, FleetError, FleetRule};
use lab::gate::{GateOutcome, Limit};
use lab::recall;
use report::fleet::{FleetChecks, FleetReport, RatedCheck};
use store::{Filter, Run, RunState, RunTag, Store};

use super::gate::share;
use super::page;
use crate::failure::Failure;
use crate::outputs;
use crate::run_filter;
use crate::terminal::{say, width};

const AFTER_HELP: &str = "\
A drive differs from its peers where a key figure lies apart from the median over the drives of its model (modified z-score by the median absolute deviation), at a false discovery rate of 5 % over the drives, and by --least-difference at least. Five drives of a model are needed.

Exit codes: 0 reported; with --limit or --rated 1 if a drive fails, 3 if one is inconclusive; 2 there is nothing to report.";

/// What was asked on the command line.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The groups of runs that `assay review` made of several targets [default: the latest group]
    #[arg(value_name = "GROUP", conflicts_with_all = ["tag", "filter"])]
    groups: Vec<String>,

    /// All runs with this tag
    #[arg(long, value_name = "TAG")]
    tag: Option<RunTag>,

    /// All runs to which this applies, as `assay runs --filter` has it
    #[arg(long, value_name = "KEY=VALUE...", value_parser = run_filter::read)]
    filter: Option<Filter>,

    /// Compare the drives with themselves in this group: alone and together, before and after
    #[arg(long, value_name = "GROUP")]
    against: Option<String>,

    /// An absolute limit: 'randread-4k-qd1.p99 < 500us'; may be given several times
    #[arg(long, value_name = "LIMIT")]
    limit: Vec<Limit>,

    /// Check each drive against what it is rated at, or against the rating of this built-in drive
    #[arg(long, value_name = "DRIVE", num_args = 0..=1, default_missing_value = "")]
    rated: Option<String>,

    /// How far below its rating a figure may be
    #[arg(long, value_name = "PERCENT", value_parser = share, default_value = "5%", requires = "rated")]
    within: f64,

    /// False discovery rate: of the drives that are said to differ, this share does so by chance, on average at most
    #[arg(long, value_name = "PERCENT", value_parser = share, default_value = "5%")]
    false_discovery_rate: f64,

    /// Smallest difference from the median that counts
    #[arg(long, value_name = "PERCENT", value_parser = share, default_value = "2%")]
    least_difference: f64,

    /// Write it to this file; its ending decides the format unless --format does: .html, .csv, .json, .md
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Output format
    #[arg(long, value_enum)]
    format: Option<FleetFormat>,
}

/// What to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FleetFormat {
    /// What differs, and a line a drive
    Text,
    /// A page with every figure, and a sheet a drive to print
    Html,
    /// A line for each figure of each drive
    Csv,
    /// One JSON document
    Json,
    /// The drives and the medians, as GitHub renders them
    Markdown,
}

impl FleetFormat {
    /// The one that is asked for, or that a file of this name has.
    fn of(asked: Option<Self>, output: Option<&Path>) -> Result<Self, Failure> {
        let ending = output.and_then(|path| path.extension()).map(|ending| ending.to_string_lossy().to_lowercase());
        match (asked, ending.as_deref()) {
            (Some(asked), _) => Ok(asked),
            (None, None) if output.is_none() => Ok(Self::Text),
            (None, Some("html" | "htm")) => Ok(Self::Html),
            (None, Some("csv")) => Ok(Self::Csv),
            (None, Some("json")) => Ok(Self::Json),
            (None, Some("md")) => Ok(Self::Markdown),
            (None, Some("txt")) => Ok(Self::Text),
            (None, _) => Err(Failure::usage(
                "the file's name does not tell the format; end it in .html, .csv, .json, .md or .txt, or give --format",
            )),
        }
    }
}

/// Reports on the drives; ends as a gate does where limits are given.
pub fn run(store: &Store, arguments: &Arguments) -> Result<(), Failure> {
    let format = FleetFormat::of(arguments.format, arguments.output.as_deref())?;
    let (title, filters) = arguments.wanted(store)?;
    let rule = FleetRule { rate: arguments.false_discovery_rate, least: arguments.least_difference };
    let mut runs = Vec::new();
    for filter in &filters {
        runs.extend(store.wanted(filter, 0, i64::MAX.unsigned_abs())?);
    }
    let fleet = of_runs(store, &runs, &arguments.checks()?, rule)?;
    let effects = match &arguments.against {
        None => None,
        Some(group) => {
            let before = of_runs(store, &group_of(store, group)?, &FleetChecks::default(), rule)?;
            Some((format!("group {group}"), FleetEffects::of(&before, &fleet)))
        }
    };
    let report = FleetReport { title, fleet, effects };
    tell(&report, format, arguments.output.as_deref())?;
    end(&report.fleet)
}

/// The fleet of these runs, each read by itself: what is kept of one is small.
///
/// # Errors
/// If none is complete, or a limit fits none.
pub fn of_runs(store: &Store, runs: &[Run], checks: &FleetChecks, rule: FleetRule) -> Result<Fleet, Failure> {
    let none = FleetChecks::default();
    let mut drives = Vec::new();
    for run in runs {
        // A run that did not come to its end is listed; nothing is asked of it.
        let checks = if run.state == RunState::Complete { checks } else { &none };
        drives.push(report::fleet::drive(&recall(store, run.id)?, checks)?);
    }
    Ok(Fleet::of(drives, rule)?)
}

/// The runs of a group.
///
/// # Errors
/// If there is none.
pub fn group_of(store: &Store, group: &str) -> Result<Vec<Run>, Failure> {
    let filter = Filter { group: Some(group.to_owned()), ..Filter::default() };
    let runs = store.wanted(&filter, 0, i64::MAX.unsigned_abs())?;
    match runs.is_empty() {
        true => Err(no_group(store, group)?),
        false => Ok(runs),
    }
}

/// That a group has no runs, and which there are.
pub fn no_group(store: &Store, group: &str) -> Result<Failure, Failure> {
    Ok(Failure::usage(format!("no run is of the group {group}{}", known(store)?)))
}

/// The groups that there are, for a sentence on one that is not there.
fn known(store: &Store) -> Result<String, Failure> {
    const NAMED: usize = 8;
    let mut groups: Vec<String> = store.runs()?.into_iter().rev().filter_map(|run| run.group).collect();
    let mut known = Vec::new();
    groups.retain(|group| {
        !known.contains(group) && {
            known.push(group.clone());
            true
        }
    });
    Ok(match groups.len() {
        0 => "; the store has no groups: `assay review` of several targets makes one".to_owned(),
        _ => format!("; there are {}", groups.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ")),
    })
}

impl Arguments {
    /// What the runs are called together, and which they are.
    fn wanted(&self, store: &Store) -> Result<(String, Vec<Filter>), Failure> {
        let group = |group: &String| Filter { group: Some(group.clone()), ..Filter::default() };
        if let Some(tag) = &self.tag {
            let filter = self.filter.clone().unwrap_or_default();
            return Ok((format!("tag {tag}"), vec![Filter { tag: Some(tag.to_string()), ..filter }]));
        }
        if let Some(filter) = &self.filter {
            return Ok(("runs of a filter".to_owned(), vec![filter.clone()]));
        }
        let groups = match self.groups.is_empty() {
            false => self.groups.clone(),
            true => {
                let last = store.runs()?.into_iter().rev().find_map(|run| run.group);
                vec![last.ok_or_else(|| {
                    Failure::usage("the store has no groups; `assay review` of several targets makes one, and --tag takes runs by a tag")
                })?]
            }
        };
        for name in &groups {
            group_of(store, name)?;
        }
        Ok((format!("group {}", groups.join(", ")), groups.iter().map(group).collect()))
    }

    fn checks(&self) -> Result<FleetChecks, Failure> {
        let rated = match self.rated.as_deref() {
            None => None,
            Some("") => Some(RatedCheck { rated: None, within: self.within }),
            Some(name) => {
                let name = name.strip_prefix("sim:").unwrap_or(name);
                Some(RatedCheck { rated: Some(Preset::find(name)?.rated), within: self.within })
            }
        };
        Ok(FleetChecks { limits: self.limit.clone(), rated })
    }
}

fn tell(report: &FleetReport, format: FleetFormat, output: Option<&Path>) -> Result<(), Failure> {
    let version = env!("CARGO_PKG_VERSION");
    let document = match format {
        FleetFormat::Text => report::fleet::text(report, width().min(120)),
        FleetFormat::Html => report::fleet::html(report, version),
        FleetFormat::Csv => report::fleet::csv(report),
        FleetFormat::Json => report::fleet::json(report, version),
        FleetFormat::Markdown => report::fleet::markdown(report),
    };
    let Some(path) = output else { return say(&document) };
    outputs::write(path, document.as_bytes())?;
    match format {
        FleetFormat::Html => {
            say(&report::fleet::text(report, width().min(120)))?;
            say(&format!("\n{}\n", page::line(&std::path::absolute(path).unwrap_or_else(|_| path.to_owned()))))
        }
        _ => Ok(()),
    }
}

/// Ends as the worst drive's limits do.
fn end(fleet: &Fleet) -> Result<(), Failure> {
    let outcomes = || fleet.drives.iter().filter_map(|drive| Some(drive.gate.as_ref()?.outcome()));
    let count = |wanted| outcomes().filter(|outcome| *outcome == wanted).count();
    let told =
        |outcome: GateOutcome| format!("{} of {} drives: {}", count(outcome), outcomes().count(), outcome.name());
    match outcomes().max() {
        Some(GateOutcome::Fail) => Err(Failure::failed(told(GateOutcome::Fail))),
        Some(GateOutcome::Inconclusive) => Err(Failure::inconclusive(told(GateOutcome::Inconclusive))),
        Some(GateOutcome::Pass) | None => Ok(()),
    }
}

impl From<FleetError> for Failure {
    fn from(error: FleetError) -> Self {
        Self::usage(error)
    }
}
