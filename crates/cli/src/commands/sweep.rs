//! `assay sweep`: a plan's grid of settings on a simulated drive, and the table of its cells.
//!
//! The grid is the plan's: its `sweep` says all that there is to say of it. So this is a review that ends in a table, is stored, sharded,
//! merged and resumed as any other, and has no engine of its own.

use std::io::IsTerminal;
use std::path::PathBuf;

use clap::ValueEnum;
use lab::Outcome;
use report::Report;
use store::{Shard, Store};

use super::history::print_summary;
use super::review;
use crate::annotations::AnnotationOptions;
use crate::failure::Failure;
use crate::terminal::print;
use crate::{number, outputs, target};

/// What was asked on the command line.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// The plan with the sweep: a file, or a name of `assay plans`
    #[arg(value_name = "PLAN")]
    plan: String,

    /// The simulated drive: sim:DRIVE
    #[arg(value_name = "TARGET", default_value = target::DEFAULT)]
    target: String,

    /// Do a part of the cells: I/N, such as 3/64; slurm (a task of a job array); kubernetes/N (a pod of an indexed job).
    /// `assay merge` makes one run of the N stores, and `assay show --cells` its table
    #[arg(long, value_name = "I/N", value_parser = crate::shard::read)]
    shard: Option<Shard>,

    /// Shorten durations and repeats
    #[arg(long)]
    quick: bool,

    /// Use the plan's durations for real devices
    #[arg(long)]
    full_length: bool,

    /// Number of repeats of each cell [default: the plan's]
    #[arg(long, value_parser = number::within::<u32>(1..=1000))]
    repeats: Option<u32>,

    /// Random seed
    #[arg(long, default_value_t = 1, value_parser = number::seed)]
    seed: u64,

    #[command(flatten)]
    annotations: AnnotationOptions,

    /// Allow the plan to read traces from this folder as well as its own; may be given several times
    #[arg(long, value_name = "DIR")]
    allow_path: Vec<PathBuf>,

    /// Output format
    #[arg(long, value_enum, default_value_t = SweepFormat::Text)]
    format: SweepFormat,

    /// Write the table to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// How the cells are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SweepFormat {
    /// A table of the main figures for people
    Text,
    /// A line a cell: what is swept, and every figure
    Csv,
    /// The same as one JSON document
    Json,
}

/// Measures the cells and tells them.
pub fn run(arguments: &Arguments, store: Store) -> Result<(), Failure> {
    let Arguments { plan, target, .. } = arguments;
    if !target.starts_with("sim:") {
        return Err(Failure::usage(format!(
            "{target} is no simulated drive, and cells change a real one; `assay review {target} --plan {plan}` measures them in \
             order, and `assay show last --cells --format csv` has the table"
        )));
    }
    let mut asked = review::Arguments::of(target, plan);
    (asked.shard, asked.seed, asked.repeats) = (arguments.shard, arguments.seed, arguments.repeats);
    (asked.quick, asked.full_length) = (arguments.quick, arguments.full_length);
    asked.annotations = arguments.annotations.clone();
    asked.allow_path = arguments.allow_path.clone();
    review::told(&asked, store, |outcome| arguments.tell(outcome))
}

impl Arguments {
    fn tell(&self, outcome: &Outcome) -> Result<(), Failure> {
        let document = match (self.format, &self.output) {
            (SweepFormat::Text, None) => return print_summary(&Report::of(outcome), std::io::stdout().is_terminal()),
            (SweepFormat::Text, Some(_)) => super::history::summary(&Report::of(outcome), false),
            (SweepFormat::Csv, _) => report::export::cells_csv(outcome),
            (SweepFormat::Json, _) => report::export::cells_json(outcome),
        };
        match &self.output {
            None => print(document.as_bytes()),
            Some(path) => outputs::write(path, document.as_bytes()),
        }
    }
}
