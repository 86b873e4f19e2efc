//! A comparison for programs.

use plan::compare::{Comparison, Contrast, ContrastSide, TestBasis};
use plan::gate::{Gate, GateOutcome, guarded};
use serde_json::{Value, json as object};
use stats::ALPHA;

use crate::cost::Cost;

use super::prose::{FigureLocation, place};

/// Runs held against the first of them, as one JSON document.
///
/// `comparisons` has every figure of every shared cell, and `trials` of every shared point of trials, with the samples of
/// both runs, so that any other rule can be applied to them. `ratio` is the other run's mean divided by the first's. `guard`,
/// where asked for, has the share, the outcome and each check; what was not asked for or cannot be told is null.
pub fn json(comparison: &Comparison, guard: Option<f64>, version: &str) -> String {
    let runs: Vec<Value> = comparison.outcomes.iter().map(run).collect();
    let (cells, trials): (Vec<&Contrast>, Vec<&Contrast>) =
        comparison.contrasts.iter().partition(|one| one.figure.metric.is_some());
    let gate = guard.map(|share| Gate::of_comparison(comparison, share));
    let failing: Option<Vec<&Contrast>> = gate.as_ref().map(|gate| {
        let checked = guarded(comparison).into_iter().zip(&gate.checks);
        checked.filter(|(_, check)| check.outcome == GateOutcome::Fail).map(|(one, _)| one).collect()
    });
    let documents = |all: Vec<&Contrast>| {
        all.into_iter().map(|one| contrast(comparison, one, failing.as_deref())).collect::<Vec<_>>()
    };
    let unshared: Vec<Value> = comparison
        .unshared
        .iter()
        .map(|one| {
            let run = comparison.outcomes[one.other].run.id;
            object!({ "run": run, "step": one.step, "cell": one.cell, "why": one.why.to_string() })
        })
        .collect();
    let document = object!({
        "assay": version,
        "runs": runs,
        "base": comparison.base().id,
        "alpha": ALPHA,
        "tests": comparison.tests(true) + comparison.tests(false),
        "key_tests": comparison.tests(true),
        "exploratory_tests": comparison.tests(false),
        "paired": comparison.question.paired,
        "repeats_needed": comparison.repeats_needed(),
        "comparisons": documents(cells),
        "trials": documents(trials),
        "not_compared": unshared,
        "caveats": comparison.caveats,
        "guard": guard.zip(gate.as_ref()).map(|(share, gate)| guard_of(gate, share)),
    });
    serde_json::to_string_pretty(&document).expect("names and numbers always serialise") + "\n"
}

fn guard_of(gate: &Gate, share: f64) -> Value {
    let checks: Vec<Value> = gate.checks.iter().map(crate::gate::check).collect();
    object!({
        "fail_if_worse": share,
        "outcome": gate.outcome().name(),
        "worse": gate.with(GateOutcome::Fail).count(),
        "repeats_needed": gate.repeats_needed(),
        "checks": checks,
    })
}

fn run(outcome: &plan::Outcome) -> Value {
    let run = &outcome.run;
    let mut document = object!({
        "run": run.id,
        "pooled": outcome.runs().collect::<Vec<_>>(),
        "plan": run.plan,
        "quick": run.quick,
        "target": run.target,
        "identity": run.target_identity,
        "seed": run.seed.to_string(),
        "started_ms": run.started_ms,
        "version": run.version,
        "commit": run.commit,
    });
    if let (Some(cost), Value::Object(fields)) = (Cost::of(outcome), &mut document) {
        fields.insert("cost".to_owned(), object!(cost));
    }
    document
}

/// A figure of a cell or of a point of trials: both have the same but for what names them.
fn contrast(comparison: &Comparison, one: &Contrast, guard: Option<&[&Contrast]>) -> Value {
    let FigureLocation { plan, key } = place(comparison, one);
    let (bounds, other) = (one.ratio.bounds, &comparison.outcomes[one.other].run);
    let ranks = one.test.and_then(|test| if let TestBasis::Ranks(rank) = test.basis { Some(rank) } else { None });
    let mut document = object!({
        "step": plan.name,
        "unit": one.figure.unit,
        "more_is_better": one.figure.more_is_better,
        "before": side(&one.before, comparison.base()),
        "after": side(&one.after, other),
        "ratio": one.ratio.ratio,
        "ratio_low": bounds.map(|bounds| bounds.0),
        "ratio_high": bounds.map(|bounds| bounds.1),
        "key": one.key.map(|key| &comparison.question.key[key].title),
        "test": one.test.map(|test| test.basis.name()),
        "u": ranks.map(|rank| rank.u),
        "p": one.test.map(|test| test.basis.p()),
        "p_is_exact": ranks.map(|rank| rank.exact),
        "p_adjusted": one.test.map(|test| test.adjusted),
        "verdict": one.verdict().name(),
        "fails_guard": guard.map(|failing| failing.iter().any(|other| std::ptr::eq(*other, one))),
    });
    let named = match one.figure.metric {
        Some((aspect, metric)) => object!({
            "cell": key, "aspect": aspect.name(), "metric": metric, "follows_throughput": one.follows,
        }),
        None => object!({ "point": key, "figure": one.figure.name, "run": other.id }),
    };
    if let (Value::Object(document), Value::Object(named)) = (&mut document, named) {
        document.extend(named);
    }
    document
}

fn side(side: &ContrastSide, run: &measurement::Run) -> Value {
    object!({
        "run": run.id,
        "mean": side.interval.mean,
        "half_width": side.interval.half_width,
        "samples": side.samples,
        "outliers": side.outliers,
    })
}
