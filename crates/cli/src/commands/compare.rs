//! `assay compare`: runs held against each other.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use lab::compare::{CompareError, Comparison, Question, pooled};
use lab::gate::{Gate, GateOutcome};
use lab::{Aspect, Outcome, recall};
use store::{RunId, Store};

use super::history::Which;
use super::interleave::{self, InterleaveOptions};
use super::page::deliver;
use crate::color;
use crate::failure::Failure;
use crate::format::Format;
use crate::terminal::{notice, say, width};

const AFTER_HELP: &str = "\
The key figures, those of a run's summary, are tested first and by themselves: Welch's t-test of the ratio at 5 %, with Holm's correction over the key figures. All others are exploratory: the Mann-Whitney test, controlled for false discoveries after Benjamini and Hochberg. Mean latency that is the reciprocal of throughput shares its test.

--fail-if-worse checks the key figures, or those of --step and --metric, as `assay gate` does. Exit codes: 0 compared, and with --fail-if-worse no figure is worse by more; 1 a figure is; 3 the repeats cannot tell; 2 the runs cannot be compared.";

/// What was asked on the command line.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The runs: numbers of `assay runs`, or `last`; all are compared with the first. Runs joined by commas (1,3,5) are
    /// pooled: each counts as one repeat. With --interleave, two targets
    #[arg(value_name = "RUN", required = true, num_args = 1..)]
    runs: Vec<String>,

    /// Take pooled runs as pairs: the first of each side was made beside the first of the other, and so on
    #[arg(long)]
    paired: bool,

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

/// The figures of cells that can be asked for.
pub fn aspects() -> impl TypedValueParser<Value = Aspect> {
    let values = Aspect::all().into_iter().map(|one| PossibleValue::new(one.name()).help(one.about()));
    PossibleValuesParser::new(values).map(|name| Aspect::named(&name).expect("it is one of the names"))
}

/// A share in percent: `5%`, `2.5 %`, `5`.
pub fn share(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim_end();
    match number.parse::<f64>() {
        Ok(percent) if (0.0..=1000.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err("give a share in percent, such as 5%".to_owned()),
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
    let ids: Vec<String> = comparison.outcomes.iter().map(|outcome| outcome.run.id.to_string()).collect();
    deliver(
        arguments.format == Format::Text,
        arguments.out.as_deref(),
        &format!("compare-{}.html", ids.join("-")),
        || report::comparison::html(&comparison, env!("CARGO_PKG_VERSION")),
    )?;
    arguments.fail_if_worse.map_or(Ok(()), |share| guard(&comparison, share))
}

/// The runs that each word names: one, or several joined by commas.
fn named(store: &Store, words: &[String]) -> Result<Vec<Vec<RunId>>, Failure> {
    let one = |word: &str| Ok(word.trim().parse::<Which>().map_err(Failure::usage)?.find(store)?.id);
    let set = |words: &String| words.split(',').map(one).collect::<Result<Vec<RunId>, Failure>>();
    words.iter().map(set).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_given_in_percent() {
        assert_eq!(["5%", "2.5 %", "5", "0%"].map(share), [Ok(0.05), Ok(0.025), Ok(0.05), Ok(0.0)]);
        for wrong in ["", "five", "-5%", "5 %%x", "NaN", "0.05x"] {
            assert!(share(wrong).is_err_and(|error| error.contains("5%")), "{wrong}");
        }
    }
}
