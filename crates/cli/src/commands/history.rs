//! `assay show`, `assay report`: what the store has of a run.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::ValueEnum;
use lab::{Outcome, recall};
use store::{Run, RunId, Store};

use super::page;
use crate::failure::Failure;
use crate::outputs::{self, ReportFolder};
use crate::report_name;
use crate::terminal::{color, print, say, spelled, width};

/// Which run is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// The one with this number.
    Number(RunId),
    /// The latest.
    Last,
}

impl FromStr for Which {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "last" => Ok(Self::Last),
            number => number
                .parse()
                .map(|number| Self::Number(RunId(number)))
                .map_err(|_| "a run is a number that `assay runs` lists, or `last`".to_owned()),
        }
    }
}

impl Which {
    /// The run in the store.
    pub fn find(self, store: &Store) -> Result<Run, Failure> {
        match self {
            Self::Number(id) => Ok(store.run(id)?),
            Self::Last => {
                store.latest()?.ok_or_else(|| Failure::usage("the store has no runs; `assay review` creates the first"))
            }
        }
    }
}

/// What was asked of `assay show`.
#[derive(Clone, Debug, clap::Args)]
pub struct Show {
    /// The run: a number of `assay runs`, or `last`
    run: Which,

    /// Output format
    #[arg(long, value_enum, default_value_t = ShowFormat::Text)]
    format: ShowFormat,

    /// With csv and json: a row for each cell with what is swept and the means over its repeats, in place of every measurement
    #[arg(long)]
    cells: bool,

    /// Write it to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// What to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ShowFormat {
    /// Key figures as text
    Text,
    /// Every measurement, as one JSON object
    Json,
    /// Every measurement, a line for its reads, writes and trims
    Csv,
    /// Every measurement, a JSON object on a line of its own
    Jsonl,
    /// Key figures, a table for each step and the findings, as GitHub renders them
    Markdown,
    /// Every measurement and every trial figure as columns; needs --output, and a build with this feature
    Parquet,
}

/// What was asked of `assay report`.
#[derive(Clone, Debug, clap::Args)]
pub struct Report {
    /// The run: a number of `assay runs`, or `last`
    run: Which,

    /// The folder for the report
    #[arg(long, value_name = "DIR", default_value = "assay-reports")]
    out: PathBuf,
}

/// Shows the figures of a run.
pub fn show(store: &Store, arguments: &Show) -> Result<(), Failure> {
    let outcome = || Ok::<_, Failure>(recall(store, arguments.run.find(store)?.id)?);
    let output = arguments.output.as_deref();
    let document = match arguments.format {
        ShowFormat::Csv if arguments.cells => report::export::cells_csv(&outcome()?).into_bytes(),
        ShowFormat::Json if arguments.cells => report::export::cells_json(&outcome()?).into_bytes(),
        _ if arguments.cells => {
            return Err(Failure::usage("--cells is a table for programs; add --format csv or json"));
        }
        ShowFormat::Text if output.is_none() => {
            return print_summary(&report::Report::of(&outcome()?), io::stdout().is_terminal());
        }
        ShowFormat::Text => summary(&report::Report::of(&outcome()?), false).into_bytes(),
        ShowFormat::Json => report::export::review_json(&outcome()?).into_bytes(),
        ShowFormat::Csv => report::export::review_csv(&outcome()?).into_bytes(),
        ShowFormat::Jsonl => report::export::review_jsonl(&outcome()?).into_bytes(),
        ShowFormat::Markdown => report::export::review_markdown(&outcome()?).into_bytes(),
        ShowFormat::Parquet => columns(outcome, output.is_some())?,
    };
    match output {
        None => print(&document),
        Some(path) => outputs::write(path, &document),
    }
}

/// A run as columns, which are for a file.
#[cfg(feature = "parquet")]
fn columns(outcome: impl FnOnce() -> Result<Outcome, Failure>, has_file: bool) -> Result<Vec<u8>, Failure> {
    if !has_file {
        return Err(Failure::usage("Parquet is a binary format; name a file with --output FILE"));
    }
    report::export::review_parquet(&outcome()?).map_err(Failure::failed)
}

/// Says how to get what can write columns.
#[cfg(not(feature = "parquet"))]
fn columns(_: impl FnOnce() -> Result<Outcome, Failure>, _: bool) -> Result<Vec<u8>, Failure> {
    Err(Failure::usage(
        "this assay was built without Parquet; `cargo install --path crates/cli --features parquet` builds one that writes \
         it, and --format csv has the same figures",
    ))
}

/// Writes a run's report again.
pub fn report(store: &Store, arguments: &Report) -> Result<(), Failure> {
    let outcome = recall(store, arguments.run.find(store)?.id)?;
    let path = write_report(&outcome, &arguments.out)?;
    say(&format!("{}\n", page::line(&path)))
}

/// Prints the table of key figures.
pub fn print_summary(report: &report::Report, is_terminal: bool) -> Result<(), Failure> {
    say(&spelled(summary(report, is_terminal)))
}

/// The table of key figures with its charts.
pub fn summary(report: &report::Report, is_terminal: bool) -> String {
    let charts = report.sparks(width());
    let charts = if charts.is_empty() { charts } else { format!("\n{charts}") };
    report.summary(width(), color(is_terminal)) + &charts
}

/// Writes the report into `folder`; where it is.
pub fn write_report(outcome: &Outcome, folder: &Path) -> Result<PathBuf, Failure> {
    let run = &outcome.run;
    page::write(folder, &report_name::of_run(run), &report::html(outcome), &otherwise(run))
}

/// The same into a folder that is open.
pub fn write_report_to(report: &report::Report, run: &Run, pages: &ReportFolder) -> Result<PathBuf, Failure> {
    page::write_to(pages, &report_name::of_run(run), &report.html(), &otherwise(run))
}

/// What to do where a report cannot be written.
fn otherwise(run: &Run) -> String {
    format!("the results are stored; `assay report {} --out DIR` writes it elsewhere", run.id)
}
