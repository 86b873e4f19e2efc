//! `assay compare`: runs held against each other.

use std::io::{self, IsTerminal};
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use lab::compare::{CompareError, Comparison, Question, Significance};
use lab::{Aspect, recall};
use store::Store;

use super::history::Which;
use super::page::deliver;
use crate::color;
use crate::failure::Failure;
use crate::format::Format;
use crate::terminal::{notice, say, width};

const AFTER_HELP: &str = "\
A difference is significant where the Mann-Whitney test of the repeats says so at 5 %, with Holm's correction over all compared figures. More figures need more repeats: 8 of each point for up to 321 tests. Fewer figures (--step, --metric) need fewer repeats. Mean latency that is the reciprocal of throughput shares its test.

Exit codes: 0 compared, and with --fail-if-worse no figure is significantly worse by more; 1 a figure is; 2 the runs cannot be compared, or have too few repeats for --fail-if-worse to ever fail.";

/// What was asked on the command line.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The runs: numbers of `assay runs`, or `last`; all are compared with the first
    #[arg(value_name = "RUN", required = true, num_args = 1..)]
    runs: Vec<Which>,

    /// Compare only this step; may be given several times
    #[arg(long, value_name = "NAME")]
    step: Vec<String>,

    /// Compare only this figure; may be given several times
    #[arg(long, value_parser = aspects())]
    metric: Vec<Aspect>,

    /// Exit with code 1 if a figure is significantly worse by more than this share
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
fn aspects() -> impl TypedValueParser<Value = Aspect> {
    let values = Aspect::all().into_iter().map(|one| PossibleValue::new(one.name()).help(one.about()));
    PossibleValuesParser::new(values).map(|name| Aspect::named(&name).expect("it is one of the names"))
}

/// A share in percent: `5%`, `2.5 %`, `5`.
fn share(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim_end();
    match number.parse::<f64>() {
        Ok(percent) if (0.0..=1000.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err("give a share in percent, such as 5%".to_owned()),
    }
}

/// Compares the runs, prints what came of it and writes the report; fails where the guard does.
pub fn run(store: &Store, arguments: &Arguments) -> Result<(), Failure> {
    let outcomes = arguments.runs.iter().map(|which| Ok(recall(store, which.find(store)?.id)?));
    let question = Question { steps: arguments.step.clone(), aspects: arguments.metric.clone() };
    let comparison = Comparison::of(outcomes.collect::<Result<_, Failure>>()?, question)?;
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

/// Fails if something is really worse by more than `share`, and also if nothing ever could.
fn guard(comparison: &Comparison, share: f64) -> Result<(), Failure> {
    let mute = comparison.count(Significance::CannotBeShown);
    if mute == comparison.contrasts.len() {
        return Err(Failure::usage(format!(
            "--fail-if-worse could never fail: with so few repeats no difference can be significant, however large, \
             among {} tests. Measure each point {} times (--repeats), or guard fewer figures (--step, --metric)",
            comparison.questions(),
            comparison.repeats_needed()
        )));
    }
    let words = report::comparison::guard(comparison, share);
    if !comparison.worse_than(share).is_empty() {
        return Err(Failure::failed(words));
    }
    let unguarded = match mute {
        0 => String::new(),
        mute => format!(" {mute} figures have too few repeats to be guarded."),
    };
    notice(format_args!("{words}{unguarded}"));
    Ok(())
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
