//! `assay gate`: whether a run passes, held against a baseline and against limits.

use std::io::{self, IsTerminal};
use std::path::PathBuf;

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use lab::gate::{Allowance, Baseline, Gate, GateOutcome, Limit, LimitError};
use lab::{Aspect, Outcome, recall};
use store::{RunState, Store};

use super::baseline;
use super::history::Which;
use crate::color;
use crate::failure::Failure;
use crate::outputs;
use crate::terminal::{say, width};

const AFTER_HELP: &str = "\
A check fails where the figure is surely beyond what is allowed (one-sided test at 5 %, with Holm's correction over all checks), passes where it is surely within, and is inconclusive where the repeats cannot tell; then the answer says how many would. Without --step or --metric the key figures are checked against the baseline. A baseline of another target, or on a real drive of another host or kernel, makes its checks inconclusive.

Exit codes: 0 pass, 1 fail, 3 inconclusive; 2 the gate cannot be applied.";

/// What was asked on the command line.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The run: a number of `assay runs`, or `last`
    #[arg(value_name = "RUN", default_value = "last")]
    run: Which,

    /// The baseline: a name of `assay baseline list`, or a file with a / or ending in .json
    #[arg(long, value_name = "NAME|FILE")]
    baseline: Option<String>,

    /// How much worse than the baseline a figure may be
    #[arg(long, value_name = "PERCENT", value_parser = share, default_value = "5%", requires = "baseline")]
    fail_if_worse: f64,

    /// An absolute limit: 'randread-4k-qd1.p99 < 500us'; may be given several times
    #[arg(long, value_name = "LIMIT")]
    limit: Vec<Limit>,

    /// Check only this step against the baseline; may be given several times
    #[arg(long, value_name = "NAME", requires = "baseline")]
    step: Vec<String>,

    /// Check only this figure against the baseline; may be given several times
    #[arg(long, value_parser = aspects(), requires = "baseline")]
    metric: Vec<Aspect>,

    /// Allow this to differ from the baseline; may be given several times
    #[arg(long, value_enum, value_name = "WHAT", requires = "baseline")]
    allow: Vec<Allowed>,

    /// Write JUnit XML to this file
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// Write a summary in Markdown to this file
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,

    /// Output format
    #[arg(long, value_enum, default_value_t = GateFormat::Text)]
    format: GateFormat,
}

/// What may be other than in the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Allowed {
    /// The machine: its name and its processor
    Host,
    /// The release of the kernel
    Kernel,
    /// The drive or file
    Target,
}

/// What to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum GateFormat {
    /// Every check, for people
    Text,
    /// One JSON document
    Json,
    /// Annotations of GitHub Actions, behind the text
    Github,
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

/// Checks the run, prints what came of it, and ends as the gate does.
pub fn run(store: &Store, arguments: &Arguments) -> Result<(), Failure> {
    if arguments.baseline.is_none() && arguments.limit.is_empty() {
        return Err(Failure::usage(
            "a gate needs something to check: --baseline NAME, or --limit 'randread-4k-qd1.p99 < 500us'",
        ));
    }
    let run = arguments.run.find(store)?;
    if run.state != RunState::Complete {
        return Err(Failure::usage(format!(
            "run {} is not complete; finish it (`assay review --resume {}`) or name another",
            run.id, run.id
        )));
    }
    let outcome = recall(store, run.id)?;
    let mut questions = Vec::new();
    let mut conditions = Vec::new();
    if let Some(name) = &arguments.baseline {
        let kept = baseline::find(store, name)?;
        let found = kept.questions(&outcome, arguments.fail_if_worse, &arguments.step, &arguments.metric);
        if found.is_empty() {
            return Err(Failure::usage(format!(
                "the baseline {name} has no figure to check; it has the steps {}",
                steps(&kept)
            )));
        }
        questions.extend(found);
        let allowed: Vec<Allowance> = arguments.allow.iter().map(|one| (*one).into()).collect();
        conditions = kept.differences(&outcome.run, &allowed);
    }
    for limit in &arguments.limit {
        questions.extend(limit.questions(&outcome)?);
    }
    let gate = Gate::of(questions, conditions);
    tell(arguments, &gate, &against(&outcome, arguments))?;
    end(&gate)
}

/// Ends as the gate does: what passes is no failure.
///
/// # Errors
/// Where it fails or is inconclusive, with the verdict.
pub fn end(gate: &Gate) -> Result<(), Failure> {
    match gate.outcome() {
        GateOutcome::Pass => Ok(()),
        GateOutcome::Fail => Err(Failure::failed(report::gate::verdict(gate))),
        GateOutcome::Inconclusive => Err(Failure::inconclusive(report::gate::verdict(gate))),
    }
}

fn tell(arguments: &Arguments, gate: &Gate, against: &str) -> Result<(), Failure> {
    if let Some(path) = &arguments.junit {
        outputs::write(path, report::gate::junit(gate).as_bytes())?;
    }
    if let Some(path) = &arguments.markdown {
        outputs::write(path, report::gate::markdown(gate, against).as_bytes())?;
    }
    let text = || report::gate::text(gate, against, width().min(100), color(io::stdout().is_terminal()));
    match arguments.format {
        GateFormat::Text => say(&text()),
        GateFormat::Json => say(&report::gate::json(gate, env!("CARGO_PKG_VERSION"))),
        GateFormat::Github => say(&(text() + &report::gate::github(gate))),
    }
}

/// What was held against what: `Run 2 (sim:x25-m, plan review) against baseline main.`
fn against(outcome: &Outcome, arguments: &Arguments) -> String {
    let run = &outcome.run;
    let against = match &arguments.baseline {
        Some(name) => format!(" against baseline {name}"),
        None => String::new(),
    };
    let limits = match arguments.limit.len() {
        0 => "",
        _ if arguments.baseline.is_some() => " and limits",
        _ => " against limits",
    };
    format!("Run {} ({}, plan {}){against}{limits}.", run.id, run.target, run.plan)
}

fn steps(baseline: &Baseline) -> String {
    let mut steps: Vec<&str> = baseline.points.iter().map(|point| point.step.as_str()).collect();
    steps.dedup();
    steps.iter().map(|step| format!("`{step}`")).collect::<Vec<_>>().join(", ")
}

impl From<Allowed> for Allowance {
    fn from(allowed: Allowed) -> Self {
        match allowed {
            Allowed::Host => Self::Host,
            Allowed::Kernel => Self::Kernel,
            Allowed::Target => Self::Target,
        }
    }
}

impl From<LimitError> for Failure {
    fn from(error: LimitError) -> Self {
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
