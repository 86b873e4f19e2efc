//! Whether a run passes: its figures held against those of a baseline, or against limits.
//!
//! There are three answers. A figure fails that is surely beyond what is allowed, and passes that is surely within; of all
//! others the repeats cannot tell, and that is neither.

mod baseline;
mod limit;

pub use baseline::{Allowance, Baseline, BaselineError, BaselineFigure, BaselinePoint};
pub use limit::{Limit, LimitError};
use stats::{ALPHA, LogRatio, RankTest, holm};

use crate::compare::{Comparison, Contrast, ContrastSide};

/// How a gate, or one of its checks, ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GateOutcome {
    /// Surely within what is allowed.
    Pass,
    /// The repeats cannot tell, or were made under other conditions.
    Inconclusive,
    /// Surely beyond.
    Fail,
}

impl GateOutcome {
    /// The word for people and programs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Inconclusive => "inconclusive",
            Self::Fail => "fail",
        }
    }
}

/// What is allowed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GateRule {
    /// Worse than the baseline by no more than this share.
    NoWorse(f64),
    /// No more than this, in the figure's unit.
    AtMost(f64),
    /// No less than this.
    AtLeast(f64),
}

/// A figure and what is allowed of it.
#[derive(Clone, Debug, PartialEq)]
pub struct GateQuestion {
    pub step: String,
    /// The key of the point in it; empty where there is but one.
    pub cell: String,
    /// What people call the point and the figure.
    pub title: String,
    pub unit: String,
    pub more_is_better: bool,
    pub rule: GateRule,
    /// The figure in the baseline; none for limits.
    pub before: Option<ContrastSide>,
    /// The figure in the run, or why there is none.
    pub after: Result<ContrastSide, String>,
    /// Whether the repeats of both were made in pairs.
    pub paired: bool,
}

/// A figure with what came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct GateCheck {
    pub question: GateQuestion,
    pub outcome: GateOutcome,
    /// The ratio to the baseline or to the limit, where there is enough to tell it.
    pub ratio: Option<LogRatio>,
    /// Why it is inconclusive; empty of the others.
    pub why: String,
    /// How many repeats of each point are likely to decide it; none where it is decided, or no number of them would.
    pub repeats_needed: Option<usize>,
}

/// The figures of a run with what came of each.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    pub checks: Vec<GateCheck>,
    /// What is other than when the baseline was measured, and was not allowed to be.
    pub conditions: Vec<String>,
}

impl Gate {
    /// Answers each question. What `conditions` tell makes all that depends on the baseline inconclusive.
    ///
    /// A figure fails by a one-sided test at 5 % after Holm's correction over all of them, so that the chance of any false
    /// failure is at most 5 %; it passes by a one-sided test at 5 %. A gate passes only where each figure does, so that
    /// needs no correction.
    pub fn of(questions: Vec<GateQuestion>, conditions: Vec<String>) -> Self {
        let judged: Vec<Result<Excess, String>> = questions.iter().map(Excess::of).collect();
        let p_values: Vec<f64> = judged.iter().flatten().map(|excess| excess.beyond()).collect();
        let mut beyond = holm(&p_values).into_iter();
        let checks = questions
            .into_iter()
            .zip(judged)
            .map(|(question, judged)| {
                let beyond = judged.as_ref().ok().and_then(|_| beyond.next());
                check(question, judged, beyond, &conditions)
            })
            .collect();
        Self { checks, conditions }
    }

    /// A guard of a comparison: the key figures; all that was asked for where certain figures were, or none is key.
    pub fn of_comparison(comparison: &Comparison, share: f64) -> Self {
        let questions = guarded(comparison).into_iter().map(|one| question(comparison, one, share));
        Self::of(questions.collect(), Vec::new())
    }

    /// How it ends: by its worst check.
    pub fn outcome(&self) -> GateOutcome {
        self.checks.iter().map(|check| check.outcome).max().unwrap_or(GateOutcome::Inconclusive)
    }

    /// The checks that ended so.
    pub fn with(&self, outcome: GateOutcome) -> impl Iterator<Item = &GateCheck> {
        self.checks.iter().filter(move |check| check.outcome == outcome)
    }

    /// How many repeats are likely to decide all that is undecided; none where nothing is, or no number would.
    pub fn repeats_needed(&self) -> Option<usize> {
        self.with(GateOutcome::Inconclusive).filter_map(|check| check.repeats_needed).max()
    }
}

/// What a guard of a comparison looks at.
pub fn guarded(comparison: &Comparison) -> Vec<&Contrast> {
    let question = &comparison.question;
    let is_narrow = !question.steps.is_empty() || !question.aspects.is_empty();
    let has_key = comparison.contrasts.iter().any(|one| one.key.is_some());
    // What follows throughput is no question of its own.
    comparison.contrasts.iter().filter(|one| !one.follows && (is_narrow || !has_key || one.key.is_some())).collect()
}

fn question(comparison: &Comparison, one: &Contrast, share: f64) -> GateQuestion {
    let base = &comparison.outcomes[0];
    let step = &base.steps[one.step];
    let (step, cell) = (base.plan.steps[step.index].name.clone(), step.points[one.point].key());
    let place = format!("{step} {cell}");
    let run = match comparison.outcomes.len() {
        2 => String::new(),
        _ => format!(" in run {}", comparison.outcomes[one.other].run.id),
    };
    GateQuestion {
        title: format!("{}.{}{run}", place.trim_end(), figure_name(one)),
        step,
        cell,
        unit: one.figure.unit.clone(),
        more_is_better: one.figure.more_is_better,
        rule: GateRule::NoWorse(share),
        before: Some(one.before.clone()),
        after: Ok(one.after.clone()),
        paired: comparison.question.paired,
    }
}

/// A figure as limits name it: `throughput`, `p99`; of trials its own name.
fn figure_name(one: &Contrast) -> &str {
    one.aspect().map_or(&one.figure.name, |aspect| aspect.name())
}

/// By how much a figure is beyond what is allowed: more than one is too much.
struct Excess {
    ratio: LogRatio,
    excess: LogRatio,
    repeats: usize,
}

impl Excess {
    /// Where the repeats tell something; else why they do not.
    fn of(question: &GateQuestion) -> Result<Self, String> {
        let after = question.after.as_ref().map_err(String::clone)?;
        let turned = |found: LogRatio| LogRatio { log: -found.log, ..found };
        let (ratio, excess, is_exact, repeats) = match (question.rule, &question.before) {
            (GateRule::NoWorse(share), Some(before)) => {
                let paired = LogRatio::paired(&before.samples, &after.samples).filter(|_| question.paired);
                let ratio = paired.or_else(|| LogRatio::of(&before.samples, &after.samples)).ok_or_else(once)?;
                let allowed = if question.more_is_better { (1.0 - share).max(1e-9) } else { 1.0 + share };
                let beside = LogRatio { log: ratio.log - allowed.ln(), ..ratio };
                let excess = if question.more_is_better { turned(beside) } else { beside };
                let repeats = before.samples.len().min(after.samples.len());
                (ratio, excess, before.is_exact && after.is_exact, repeats)
            }
            (GateRule::NoWorse(_), None) => return Err("the baseline does not have it".to_owned()),
            (GateRule::AtMost(limit) | GateRule::AtLeast(limit), _) => {
                let ratio = LogRatio::to_value(&after.samples, limit).ok_or_else(once)?;
                let is_most = matches!(question.rule, GateRule::AtMost(_));
                (ratio, if is_most { ratio } else { turned(ratio) }, after.is_exact, after.samples.len())
            }
        };
        // On a real drive a few figures agree where they are told coarsely, and scatter all the same.
        if excess.is_exact() && !is_exact && repeats < RankTest::repeats_needed(1) {
            return Err(format!("{repeats} repeats that agree do not show their scatter; measure at least 5 times"));
        }
        Ok(Self { ratio, excess, repeats })
    }

    /// The p of being within what is allowed: small where it is surely beyond.
    fn beyond(&self) -> f64 {
        self.excess.p_above(1.0)
    }

    /// The p of being beyond: small where it is surely within.
    fn within(&self) -> f64 {
        self.excess.p_at_most(1.0)
    }
}

fn once() -> String {
    "it was measured once, or is zero; measure at least 5 times (--repeats 5)".to_owned()
}

fn check(
    question: GateQuestion,
    judged: Result<Excess, String>,
    beyond: Option<f64>,
    conditions: &[String],
) -> GateCheck {
    let is_relative = matches!(question.rule, GateRule::NoWorse(_));
    let undecided = |ratio, why, repeats_needed| (GateOutcome::Inconclusive, ratio, why, repeats_needed);
    let (outcome, ratio, why, repeats_needed) = match judged {
        Err(why) => undecided(None, why, None),
        Ok(found) if is_relative && !conditions.is_empty() => {
            undecided(Some(found.ratio), "other conditions than the baseline's".to_owned(), None)
        }
        Ok(found) if beyond.is_some_and(|p| p < ALPHA) => (GateOutcome::Fail, Some(found.ratio), String::new(), None),
        Ok(found) if found.within() < ALPHA => (GateOutcome::Pass, Some(found.ratio), String::new(), None),
        Ok(found) => {
            let needed = found.excess.repeats_to_decide(1.0, found.repeats);
            let why = match needed {
                Some(needed) => {
                    format!("the interval holds what is allowed and what is not; about {needed} repeats decide")
                }
                None => "the figure lies on the limit: no number of repeats up to 1,000 decides".to_owned(),
            };
            undecided(Some(found.ratio), why, needed)
        }
    };
    GateCheck { question, outcome, ratio, why, repeats_needed }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(rule: GateRule, before: &[f64], after: &[f64]) -> GateQuestion {
        let side = |samples: &[f64]| ContrastSide::of_samples(samples.to_vec(), false).unwrap();
        GateQuestion {
            step: "read".to_owned(),
            cell: String::new(),
            title: "read.throughput".to_owned(),
            unit: "IOPS".to_owned(),
            more_is_better: true,
            rule,
            before: (!before.is_empty()).then(|| side(before)),
            after: Ok(side(after)),
            paired: false,
        }
    }

    fn outcome(rule: GateRule, before: &[f64], after: &[f64]) -> GateOutcome {
        Gate::of(vec![question(rule, before, after)], Vec::new()).outcome()
    }

    const QUICK: [f64; 5] = [100.0, 101.0, 99.0, 100.5, 99.5];
    const SLOW: [f64; 5] = [90.0, 91.0, 89.0, 90.5, 89.5];

    #[test]
    fn what_is_surely_beyond_fails_what_is_surely_within_passes_and_the_rest_is_neither() {
        use GateOutcome::{Fail, Inconclusive, Pass};
        let no_worse = |percent: f64| GateRule::NoWorse(percent / 100.0);
        assert_eq!(outcome(no_worse(5.0), &QUICK, &SLOW), Fail);
        assert_eq!(outcome(no_worse(20.0), &QUICK, &SLOW), Pass);
        assert_eq!(outcome(no_worse(10.0), &QUICK, &SLOW), Inconclusive, "on the limit");
        assert_eq!(outcome(no_worse(5.0), &SLOW, &QUICK), Pass, "what is better");
        let wild = [40.0, 300.0, 150.0, 90.0, 220.0];
        assert_eq!(outcome(no_worse(5.0), &QUICK, &wild), Inconclusive, "+60 % (−10 … +183) is no pass");
        assert_eq!(outcome(no_worse(5.0), &[100.0], &[100.0]), Inconclusive, "once each");
        assert_eq!(outcome(no_worse(5.0), &[100.0; 2], &[100.0; 2]), Inconclusive, "two that agree");
        assert_eq!(outcome(no_worse(0.0), &[100.0; 5], &[100.0; 5]), Pass);
        assert_eq!(outcome(no_worse(500.0), &QUICK, &SLOW), Pass);
    }

    #[test]
    fn limits_need_no_baseline() {
        use GateOutcome::{Fail, Inconclusive, Pass};
        let times = [480.0, 490.0, 485.0, 478.0, 492.0];
        let at_most = |limit| outcome(GateRule::AtMost(limit), &[], &times);
        assert_eq!([500.0, 486.0, 400.0].map(at_most), [Pass, Inconclusive, Fail]);
        let at_least = |limit| outcome(GateRule::AtLeast(limit), &[], &times);
        assert_eq!([500.0, 486.0, 400.0].map(at_least), [Fail, Inconclusive, Pass]);
    }

    #[test]
    fn conditions_touch_what_is_relative_and_the_worst_check_decides() {
        let limit = question(GateRule::AtLeast(50.0), &[], &QUICK);
        let relative = question(GateRule::NoWorse(0.05), &QUICK, &SLOW);
        let conditions = vec!["the kernel is 6.12, not 6.1".to_owned()];
        let gate = Gate::of(vec![limit.clone(), relative.clone()], conditions.clone());
        assert_eq!(gate.checks.iter().map(|one| one.outcome.name()).collect::<Vec<_>>(), ["pass", "inconclusive"]);
        assert_eq!(Gate::of(vec![limit.clone()], conditions).outcome(), GateOutcome::Pass);
        assert_eq!(Gate::of(vec![limit, relative], Vec::new()).outcome(), GateOutcome::Fail);
        assert_eq!(Gate::of(Vec::new(), Vec::new()).outcome(), GateOutcome::Inconclusive, "nothing was checked");
    }

    #[test]
    fn what_is_undecided_says_how_many_repeats_decide() {
        let near = [96.0, 98.5, 93.5, 97.0, 95.0];
        let gate = Gate::of(vec![question(GateRule::NoWorse(0.05), &QUICK, &near)], Vec::new());
        let needed = gate.repeats_needed().expect("they can be told");
        assert!(gate.outcome() == GateOutcome::Inconclusive && (6..60).contains(&needed), "{gate:?}");
        assert!(gate.checks[0].why.contains(&format!("about {needed} repeats decide")), "{}", gate.checks[0].why);
    }
}
