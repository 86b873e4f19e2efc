//! `assay compare`: runs held against each other.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use lab::compare::{CompareError, Comparison, Family, Question, RANKED_FROM, Ranking, pooled};
use lab::gate::{Gate, GateOutcome};
use lab::{Aspect, Outcome, recall};
use store::{Run, RunId, RunState, Store};

use super::gate::{aspects, share};
use super::history::Which;
use super::interleave::{self, InterleaveOptions};
use super::page::deliver;
use crate::color;
use crate::failure::Failure;
use crate::format::Format;
use crate::report_name;
use crate::terminal::{notice, say, width};

const AFTER_HELP: &str = "\
The key figures, those of a run's summary, are tested first and by themselves: Welch's t-test of the ratio at 5 %, with Holm's correction over the key figures. All others are exploratory: the Mann-Whitney test, controlled for false discoveries after Benjamini and Hochberg. Mean latency that is the reciprocal of throughput shares its test.

--fail-if-worse checks the key figures, or those of --step and --metric, as `assay gate` does. Exit codes: 0 compared, and with --fail-if-worse no figure is worse by more; 1 a figure is; 3 the repeats cannot tell; 2 the runs cannot be compared.";

/// What was asked on the command line.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The runs: numbers of `assay runs`, or `last`; all are compared with the first. Runs joined by commas (1,3,5) are
    /// pooled: each counts as one repeat. 3..9 are all runs from 3 to 9. With --interleave, two targets
    #[arg(value_name = "RUN", required = true, num_args = 1..)]
    runs: Vec<String>,

    /// Take pooled runs as pairs: the first of each side was made beside the first of the other, and so on
    #[arg(long)]
    paired: bool,

    /// Rank the runs by each key figure, in families of this; from 12 runs on they are ranked in any case
    #[arg(long, value_enum, value_name = "FAMILY", conflicts_with_all = ["paired", "interleave", "step", "metric", "fail_if_worse"])]
    by: Option<By>,

    #[command(flatten)]
    pub interleave: InterleaveOptions,

    /// Compare only this step; may be given several times
    #[arg(long, value_name = "NAME")]
    step: Vec<String>,

    /// Compare only this figure; may be given several times
    #[arg(long, value_parser = aspects())]
    metric: Vec<Aspect>,

    /// Exit with code 1 if a key figure is surely worse by more than this share, with 3 if the repeats cannot tell
    #[arg(long, value_name = "PERCENT", value_parser = share)]
    fail_if_worse: Option<f64>,

    /// Output format: text or JSON
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    /// Folder for the report; without it only `--format text` writes one, to assay-reports
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Arguments {
    /// Whether something is asked that takes each run against the first.
    const fn asks_for_pairs(&self) -> bool {
        self.paired || self.fail_if_worse.is_some() || !self.step.is_empty() || !self.metric.is_empty()
    }
}

/// What makes runs one family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum By {
    /// Each run by itself
    Run,
    /// What it ran on, as it was named
    Target,
    /// Model and capacity of the target
    Model,
    /// The host
    Host,
    /// The plan
    Plan,
    /// The tags of the run
    Tag,
}

impl From<By> for Family {
    fn from(by: By) -> Self {
        match by {
            By::Run => Self::Run,
            By::Target => Self::Target,
            By::Model => Self::Model,
            By::Host => Self::Host,
            By::Plan => Self::Plan,
            By::Tag => Self::Tag,
        }
    }
}

/// Compares the runs, prints what came of it and writes the report; fails where the guard does.
pub fn run(path: &Path, arguments: &Arguments) -> Result<(), Failure> {
    let is_interleaved = arguments.interleave.interleave;
    let sets = match is_interleaved {
        true => Vec::from(interleave::run(&arguments.interleave, &arguments.runs, path)?),
        false => named(&Store::open_to_read(path)?, &arguments.runs)?,
    };
    if is_interleaved {
        let sets: Vec<String> = sets.iter().map(|set| joined(set)).collect();
        notice(format_args!("`assay compare --paired {}` repeats this comparison.", sets.join(" ")));
    }
    let store = Store::open_to_read(path)?;
    let is_many = sets.len() >= RANKED_FROM && !arguments.asks_for_pairs();
    if let Some(by) = arguments.by.or(is_many.then_some(By::Run)) {
        return rank(&store, &sets, by.into(), arguments);
    }
    let outcomes = sets.iter().map(|set| pooled_of(&store, set));
    let paired = arguments.paired || is_interleaved;
    if paired {
        check_pairs(&sets)?;
    }
    let question =
        Question { steps: arguments.step.clone(), aspects: arguments.metric.clone(), paired, ..Question::default() };
    let comparison = report::comparison::of(outcomes.collect::<Result<_, Failure>>()?, question)?;
    match arguments.format {
        Format::Json => {
            say(&report::comparison::json(&comparison, arguments.fail_if_worse, env!("CARGO_PKG_VERSION")))?
        }
        Format::Text => {
            let is_terminal = io::stdout().is_terminal();
            say(&report::comparison::text(&comparison, width().min(100), color(is_terminal)))?;
        }
    }
    let runs: Vec<&Run> = comparison.outcomes.iter().map(|outcome| &outcome.run).collect();
    deliver(
        arguments.format == Format::Text,
        arguments.out.as_deref(),
        &report_name::of_several("compare", "", &runs),
        || report::comparison::html(&comparison, env!("CARGO_PKG_VERSION")),
    )?;
    arguments.fail_if_worse.map_or(Ok(()), |share| guard(&comparison, share))
}

/// Ranks the runs, prints that and writes the page.
fn rank(store: &Store, sets: &[Vec<RunId>], family: Family, arguments: &Arguments) -> Result<(), Failure> {
    let with_key = |set: &Vec<RunId>| {
        let outcome = pooled_of(store, set)?;
        let key = report::key_places(&outcome);
        Ok((outcome, key))
    };
    let ranking = Ranking::of(sets.iter().map(with_key).collect::<Result<_, Failure>>()?, family)?;
    match arguments.format {
        Format::Json => say(&report::ranking::json(&ranking, env!("CARGO_PKG_VERSION")))?,
        Format::Text => say(&report::ranking::text(&ranking, width().min(100)))?,
    }
    let runs: Vec<&Run> = ranking.runs.iter().collect();
    let name = report_name::of_several("ranking", &format!("-by-{}", family.name()), &runs);
    deliver(arguments.format == Format::Text, arguments.out.as_deref(), &name, || {
        report::ranking::html(&ranking, env!("CARGO_PKG_VERSION"))
    })
}

/// The runs that each word names: one, several joined by commas, or each of `3..9`.
fn named(store: &Store, words: &[String]) -> Result<Vec<Vec<RunId>>, Failure> {
    let mut sets = Vec::new();
    for word in words {
        match word.split_once("..").map(|(first, last)| (first.parse::<i64>(), last.parse::<i64>())) {
            Some((Ok(first), Ok(last))) => {
                let runs = store.runs()?.into_iter().filter(|run| (first..=last).contains(&run.id.0));
                let mut runs: Vec<RunId> =
                    runs.filter(|run| run.state == RunState::Complete).map(|run| run.id).collect();
                runs.sort();
                if runs.is_empty() {
                    return Err(Failure::usage(format!(
                        "there is no complete run from {first} to {last}; `assay runs` lists all"
                    )));
                }
                sets.extend(runs.into_iter().map(|run| vec![run]));
            }
            _ => sets.push(joined_runs(store, word)?),
        }
    }
    Ok(sets)
}

fn joined_runs(store: &Store, word: &str) -> Result<Vec<RunId>, Failure> {
    let one = |word: &str| Ok(word.trim().parse::<Which>().map_err(Failure::usage)?.find(store)?.id);
    word.split(',').map(one).collect()
}

fn joined(set: &[RunId]) -> String {
    set.iter().map(RunId::to_string).collect::<Vec<_>>().join(",")
}

fn pooled_of(store: &Store, set: &[RunId]) -> Result<Outcome, Failure> {
    let outcomes = set.iter().map(|run| recall(store, *run)).collect::<Result<Vec<_>, _>>()?;
    Ok(pooled(outcomes)?)
}

/// Pairs need as many runs on each side, and two at least.
fn check_pairs(sets: &[Vec<RunId>]) -> Result<(), Failure> {
    let lengths: Vec<usize> = sets.iter().map(Vec::len).collect();
    match lengths.iter().all(|length| *length == lengths[0] && *length > 1) {
        true => Ok(()),
        false => Err(Failure::usage(
            "--paired takes as many runs on each side, two at least, joined by commas: assay compare --paired 1,3,5 2,4,6",
        )),
    }
}

/// Fails if something is surely worse by more than `share`, and is inconclusive where the repeats cannot tell.
fn guard(comparison: &Comparison, share: f64) -> Result<(), Failure> {
    let gate = Gate::of_comparison(comparison, share);
    if gate.outcome() == GateOutcome::Pass {
        notice(report::gate::verdict(&gate));
    } else {
        notice(report::gate::undecided(&gate).trim_end());
    }
    super::gate::end(&gate)
}

impl From<CompareError> for Failure {
    fn from(error: CompareError) -> Self {
        Self::usage(error)
    }
}
