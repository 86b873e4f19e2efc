//! What came of a gate: for a terminal, and for the programs that run in front of a merge.

mod documents;
mod junit;

pub(crate) use documents::check;
pub use documents::{github, json, markdown};
pub use junit::junit;
use plan::compare::ContrastSide;
use plan::gate::{Gate, GateCheck, GateOutcome, GateRule};

use crate::axis::plain;
use crate::comparison::change;
use crate::number::{count, three};
use crate::wrap::wrapped;

/// The width of the outcome's column: `inconclusive  `.
const OUTCOME: u16 = 14;

/// The checks for a terminal `width` columns wide, the worst first; `against` says what it was held against. With `color`
/// false there are no escape sequences. Ends with a line feed.
pub fn text(gate: &Gate, against: &str, width: u16, color: bool) -> String {
    let mut lines = wrapped(against, width);
    let other: Vec<String> = gate.conditions.iter().map(|one| format!("Not comparable: {one}.")).collect();
    lines.extend(other.iter().flat_map(|line| wrapped(line, width)));
    lines.push(String::new());
    for outcome in [GateOutcome::Fail, GateOutcome::Inconclusive, GateOutcome::Pass] {
        lines.extend(listed(gate, outcome, width, color));
    }
    lines.push(String::new());
    lines.extend(wrapped(&verdict(gate), width));
    lines.join("\n") + "\n"
}

/// The checks that ended so, each in a line or two.
fn listed(gate: &Gate, outcome: GateOutcome, width: u16, color: bool) -> Vec<String> {
    let told = |check: &GateCheck| wrapped(&format!("{}: {}", check.question.title, found(check)), width - OUTCOME);
    let line = |(at, words): (usize, String)| match at {
        0 => format!("{}{words}", colored(outcome, color)),
        _ => format!("{:room$}{words}", "", room = usize::from(OUTCOME)),
    };
    gate.with(outcome).flat_map(|check| told(check).into_iter().enumerate().map(line)).collect()
}

/// What does not pass, a line or two each.
pub fn undecided(gate: &Gate) -> String {
    let lines = [GateOutcome::Fail, GateOutcome::Inconclusive].map(|outcome| listed(gate, outcome, 100, false));
    lines.concat().join("\n")
}

fn colored(outcome: GateOutcome, color: bool) -> String {
    let name = format!("{:room$}", outcome.name(), room = usize::from(OUTCOME));
    let code = match outcome {
        GateOutcome::Fail => 31,
        GateOutcome::Inconclusive => 33,
        GateOutcome::Pass => 32,
    };
    if color { format!("\x1b[{code}m{name}\x1b[0m") } else { name }
}

/// `Gate: fail. 1 of 7 figures fails; 1 is inconclusive: about 14 repeats would decide.`
pub fn verdict(gate: &Gate) -> String {
    let of = |outcome| gate.with(outcome).count();
    let (failed, open) = (of(GateOutcome::Fail), of(GateOutcome::Inconclusive));
    let power = match gate.repeats_needed() {
        Some(needed) => format!(": about {needed} repeats would decide (--repeats {needed})"),
        None => String::new(),
    };
    let open = if open > 0 { format!("; {open} inconclusive{power}") } else { String::new() };
    format!("Gate: {}. {failed} of {} failed{open}.", gate.outcome().name(), count(gate.checks.len(), "check"))
}

/// `4,960 IOPS, −4.76 % (−4.81 to −4.70 %); allowed −2 %`.
pub(crate) fn found(check: &GateCheck) -> String {
    let question = &check.question;
    let unit = &question.unit;
    let mean = |side: &ContrastSide| format!("{} {unit}", three(side.interval.mean));
    let value = question.after.as_ref().map_or_else(|_| "not measured".to_owned(), mean);
    let interval = |scale: f64, show: &dyn Fn(f64) -> String| {
        check.ratio.filter(|found| !found.is_exact()).map_or_else(String::new, |found| {
            let (low, high) = found.bounds();
            format!(" ({} to {})", show(low * scale), show(high * scale))
        })
    };
    let told = match question.rule {
        GateRule::NoWorse(share) => {
            let changed = check
                .ratio
                .map_or_else(String::new, |found| format!(", {}{}", change(found.ratio()), interval(1.0, &change)));
            let sign = if question.more_is_better { '−' } else { '+' };
            format!("{value}{changed}; allowed {sign}{} %", plain(share * 100.0))
        }
        GateRule::AtMost(limit) => format!("{value}{}; at most {} {unit}", interval(limit, &three), three(limit)),
        GateRule::AtLeast(limit) => format!("{value}{}; at least {} {unit}", interval(limit, &three), three(limit)),
    };
    if check.why.is_empty() { told } else { format!("{told}; {}", check.why) }
}
