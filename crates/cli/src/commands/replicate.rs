//! `assay replicate`: published reviews again, in virtual time, and published tails beside simulated ones.

use std::io::{self, IsTerminal};
use std::path::PathBuf;

use block::Seed;
use lab::plan::catalog::PlanSource;
use lab::plan::quoted;
use lab::replicate::{Review, ReviewError, catalog, qos, replicate, write_reviews};

use super::page::deliver;
use super::prediction::{self, Figures};
use crate::color;
use crate::failure::Failure;
use crate::format::Format;
use crate::number;
use crate::outputs;
use crate::progress::with_bar;
use crate::terminal::{say, width};

/// What was asked on the command line.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = known())]
pub struct Arguments {
    /// The reviews to reproduce: names, or files of figures [default: all built-in ones]; `qos` alone for the published
    /// latencies and rates of single drives, or alone a file of your own latencies and rates
    #[arg(value_name = "REVIEW")]
    reviews: Vec<String>,

    /// Output format: text or JSON
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    /// Random seed
    #[arg(long, default_value_t = 1, value_parser = number::seed)]
    seed: u64,

    /// Folder for the report; without it only `--format text` writes one, to assay-reports
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    #[command(flatten)]
    qos: prediction::Options,
}

/// Which reviews there are.
fn known() -> String {
    let names = catalog::names().join(", ");
    format!(
        "Reviews: {names}, or the file of a review's figures. In addition: {}, or a file of your own latencies and rates \
         (docs/calibration.md).",
        prediction::NAME
    )
}

/// Repeats the reviews, prints what came of it and writes the report.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.reviews.iter().any(|name| name == prediction::NAME) {
        if arguments.reviews.len() > 1 {
            return Err(Failure::usage("`qos` is no review; give it alone"));
        }
        return predict(arguments, &Figures::builtin());
    }
    let reviews = match find(&arguments.reviews)? {
        Found::Reviews(reviews) => reviews,
        Found::Latencies(source) if arguments.reviews.len() == 1 => {
            return predict(arguments, &Figures::of(&arguments.reviews[0], source)?);
        }
        Found::Latencies(source) => {
            let name = source.file_name;
            return Err(Failure::usage(format!("{name} has latencies and rates, and is no review; give it alone")));
        }
    };
    arguments.qos.refuse()?;
    let record = arguments.qos.record()?;
    let done = with_bar(|watch| replicate(&reviews, Seed::new(arguments.seed), watch));
    match arguments.format {
        Format::Json => say(&format!("{}\n", report::replication::json(&done, env!("CARGO_PKG_VERSION"))))?,
        Format::Text => {
            let is_terminal = io::stdout().is_terminal();
            say(&report::replication::text(&done, width().min(100), color(is_terminal)))?;
        }
    }
    let name = match &done[..] {
        [one] => outputs::file_name(&format!("replicate-{}.html", one.published.review)),
        _ => "replicate.html".to_owned(),
    };
    deliver(arguments.format == Format::Text, arguments.out.as_deref(), &name, || {
        report::replication::html(&done, &command(arguments), env!("CARGO_PKG_VERSION"))
    })?;
    if let Some(record) = record {
        record.write(|before| write_reviews(before, &done))?;
    }
    match done.iter().find(|replication| replication.has_failed()) {
        None => Ok(()),
        Some(failed) => {
            let review = &failed.published.review;
            Err(Failure::failed(format!("a part of `{review}` failed; missing figures are listed above")))
        }
    }
}

/// The command that gives the same figures.
fn command(arguments: &Arguments) -> String {
    let names = arguments.reviews.iter().map(|name| quoted(name));
    let words = ["assay".to_owned(), "replicate".to_owned()].into_iter().chain(names);
    words.chain([format!("--seed {}", arguments.seed)]).collect::<Vec<_>>().join(" ")
}

/// Simulates the drives of latencies and rates.
fn predict(arguments: &Arguments, figures: &Figures) -> Result<(), Failure> {
    let (seed, out) = (Seed::new(arguments.seed), arguments.out.as_deref());
    prediction::run(&arguments.qos, figures, seed, arguments.format, out)
}

/// What was named.
enum Found {
    Reviews(Vec<Review>),
    /// A file of latencies and rates.
    Latencies(PlanSource),
}

/// The reviews that were named, or all that are built in; or the first file of latencies and rates among them.
fn find(names: &[String]) -> Result<Found, Failure> {
    let all = || catalog::names().into_iter().map(str::to_owned).collect();
    let names = if names.is_empty() { all() } else { names.to_vec() };
    let mut reviews = Vec::new();
    for name in &names {
        match named(name)? {
            NamedFigures::Review(review) => reviews.push(*review),
            NamedFigures::Latencies(source) => return Ok(Found::Latencies(source)),
        }
    }
    Ok(Found::Reviews(reviews))
}

/// What a name of figures stands for.
pub enum NamedFigures {
    Review(Box<Review>),
    /// A file of latencies and rates.
    Latencies(PlanSource),
}

/// The review of this name, or what the file of this name has.
///
/// # Errors
/// If there is no such review, or the file cannot be read or has mistakes.
pub fn named(name: &str) -> Result<NamedFigures, ReviewError> {
    if !catalog::is_path(name) {
        return catalog::find(name).map(Box::new).map(NamedFigures::Review);
    }
    let source = catalog::figures(name)?;
    match qos::is_figures(&source.text) {
        true => Ok(NamedFigures::Latencies(source)),
        false => catalog::of_figures(source).map(Box::new).map(NamedFigures::Review),
    }
}

impl From<ReviewError> for Failure {
    fn from(error: ReviewError) -> Self {
        match error {
            ReviewError::Mistakes { file, mistakes } => Self::plan(&file.file_name, &file.text, mistakes),
            error => Self::usage(error),
        }
    }
}
