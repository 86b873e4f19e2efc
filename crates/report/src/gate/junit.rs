//! A gate as JUnit's XML, which CI servers show test by test.

use maud::{PreEscaped, html};
use plan::gate::{Gate, GateOutcome};

use super::found;

/// The checks as one suite of test cases: what fails is a failure, what is inconclusive an error.
///
/// Source: the form that Jenkins, GitLab and GitHub's actions read,
/// <https://github.com/testmoapp/junitxml>.
pub fn junit(gate: &Gate) -> String {
    let of = |outcome| gate.with(outcome).count();
    let (failures, errors) = (of(GateOutcome::Fail), of(GateOutcome::Inconclusive));
    let document = html! {
        testsuites name="assay" tests=(gate.checks.len()) failures=(failures) errors=(errors) {
            testsuite name="gate" tests=(gate.checks.len()) failures=(failures) errors=(errors) skipped="0" {
                @for condition in &gate.conditions { system-err { (shown(condition)) } }
                @for check in &gate.checks {
                    testcase name=(shown(&check.question.title)) classname=(shown(&check.question.step)) {
                        @let told = shown(&found(check));
                        @match check.outcome {
                            GateOutcome::Fail => { failure type="fail" message=(told) {} },
                            GateOutcome::Inconclusive => { error type="inconclusive" message=(told) {} },
                            GateOutcome::Pass => { system-out { (told) } },
                        }
                    }
                }
            }
        }
    };
    let head = PreEscaped("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    head.0.to_owned() + &document.into_string() + "\n"
}

/// Without what XML cannot hold, however it is spelt.
fn shown(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') { ' ' } else { c }).collect()
}
