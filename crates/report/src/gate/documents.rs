//! A gate as JSON, as Markdown, and as GitHub's annotations.

use plan::compare::ContrastSide;
use plan::gate::{Gate, GateCheck, GateOutcome, GateRule};
use serde_json::{Value, json as object};

use super::{found, verdict};

/// The checks as one JSON document.
pub fn json(gate: &Gate, version: &str) -> String {
    let checks: Vec<Value> = gate.checks.iter().map(check).collect();
    let document = object!({
        "assay": version,
        "outcome": gate.outcome().name(),
        "conditions": gate.conditions,
        "repeats_needed": gate.repeats_needed(),
        "checks": checks,
    });
    serde_json::to_string_pretty(&document).expect("names and numbers always serialise") + "\n"
}

pub(crate) fn check(check: &GateCheck) -> Value {
    let question = &check.question;
    let (rule, allowed) = match question.rule {
        GateRule::NoWorse(share) => ("no-worse", share),
        GateRule::AtMost(limit) => ("at-most", limit),
        GateRule::AtLeast(limit) => ("at-least", limit),
    };
    let mean = |side: &ContrastSide| side.interval.mean;
    let bounds = check.ratio.map(|ratio| ratio.bounds());
    object!({
        "check": question.title,
        "step": question.step,
        "cell": question.cell,
        "unit": question.unit,
        "more_is_better": question.more_is_better,
        "rule": rule,
        "allowed": allowed,
        "outcome": check.outcome.name(),
        "value": question.after.as_ref().ok().map(mean),
        "base": question.before.as_ref().map(mean),
        "ratio": check.ratio.map(|ratio| ratio.ratio()),
        "ratio_low": bounds.map(|bounds| bounds.0),
        "ratio_high": bounds.map(|bounds| bounds.1),
        "why": check.why,
        "repeats_needed": check.repeats_needed,
    })
}

/// A summary in Markdown, as GitHub renders it: `against` says what it was held against.
pub fn markdown(gate: &Gate, against: &str) -> String {
    let mut text = format!("### {}\n\n{}\n", escaped(&verdict(gate)), escaped(against));
    for condition in &gate.conditions {
        text += &format!("\nNot comparable: {}.\n", escaped(condition));
    }
    text += "\n| | Check | Result |\n| --- | --- | --- |\n";
    for outcome in [GateOutcome::Fail, GateOutcome::Inconclusive, GateOutcome::Pass] {
        let mark = match outcome {
            GateOutcome::Fail => "❌ fail",
            GateOutcome::Inconclusive => "⚠️ inconclusive",
            GateOutcome::Pass => "✅ pass",
        };
        for check in gate.with(outcome) {
            text += &format!("| {mark} | {} | {} |\n", escaped(&check.question.title), escaped(&found(check)));
        }
    }
    text
}

/// What Markdown would take for its own, in a cell of a table.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '\n' | '\r' => escaped.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '!' | '~' | '@' => escaped.extend(['\\', c]),
            c if c.is_control() => {}
            c => escaped.push(c),
        }
    }
    escaped
}

/// A line for each check that does not pass, which GitHub's actions show beside the job, and one for the whole.
///
/// Source: GitHub, "Workflow commands for GitHub Actions".
pub fn github(gate: &Gate) -> String {
    let line = |kind: &str, title: &str, told: &str| format!("::{kind} title={}::{}\n", property(title), data(told));
    let mut text = String::new();
    for (outcome, kind) in [(GateOutcome::Fail, "error"), (GateOutcome::Inconclusive, "warning")] {
        text.extend(gate.with(outcome).map(|check| line(kind, &check.question.title, &found(check))));
    }
    text.extend(gate.conditions.iter().map(|one| line("warning", "Not comparable with the baseline", one)));
    text + &line("notice", "assay gate", &verdict(gate))
}

/// What a workflow command's message may hold.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// What its properties may hold.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use plan::gate::GateQuestion;

    use super::*;
    use crate::gate::{junit, text};

    fn gate() -> Gate {
        let side =
            |mean: f64| ContrastSide::of_samples([0.99, 1.0, 1.01, 0.995, 1.005].map(|one| one * mean).to_vec(), false);
        let question = |title: &str, mean: f64| GateQuestion {
            step: "read".to_owned(),
            cell: String::new(),
            title: title.to_owned(),
            unit: "IOPS".to_owned(),
            more_is_better: true,
            rule: GateRule::NoWorse(0.05),
            before: side(1000.0),
            after: Ok(side(mean).unwrap()),
            paired: false,
        };
        let hostile = "a|b<script>&\"\u{1b}[2J::error::x\n%,:";
        Gate::of(vec![question("fast", 1000.0), question(hostile, 900.0), question("near", 951.0)], Vec::new())
    }

    #[test]
    fn every_form_says_the_same_and_a_strangers_words_end_nothing() {
        let gate = gate();
        let said = text(&gate, "Run 2 against run 1.", 80, false);
        assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
        assert!(said.contains("Gate: fail. 1 of 3 checks failed; 1 inconclusive: about "), "{said}");
        assert!(said.contains("pass          fast: 1,000 IOPS, 0 %"), "{said}");
        let junit = junit(&gate);
        assert!(
            junit.starts_with("<?xml version=\"1.0\"") && junit.contains("tests=\"3\" failures=\"1\" errors=\"1\"")
        );
        assert!(
            junit.contains("a|b&lt;script&gt;&amp;&quot; [2J::error::x %,:") && !junit.contains('\u{1b}'),
            "{junit}"
        );
        let github = github(&gate);
        assert_eq!(github.lines().count(), 3, "{github}");
        assert!(
            github.contains("::error title=a|b<script>") && github.contains("%3A%3Aerror%3A%3Ax%0A%25%2C%3A::900 IOPS")
        );
        assert!(github.contains("::warning title=near::"));
        assert!(
            github.ends_with("repeats would decide (--repeats 12).\n")
                || github.contains("::notice title=assay gate::Gate: fail.")
        );
        let markdown = markdown(&gate, "Run 2 against run 1.");
        assert!(markdown.contains("| ❌ fail | a\\|b\\<script\\>&\"\\[2J::error::x %,: |"), "{markdown}");
        let document: Value = serde_json::from_str(&json(&gate, "0")).unwrap();
        assert_eq!(
            (document["outcome"].as_str(), document["checks"][2]["outcome"].as_str()),
            (Some("fail"), Some("inconclusive"))
        );
    }
}
