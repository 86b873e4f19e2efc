//! Runs held against each other, for people and for programs.

mod columns;
mod facets;
mod json;
mod key;
mod page;
mod prose;
mod rows;
mod text;

pub use json::json;
use maud::{Markup, html};
use measurement::RunId;
pub use page::html;
pub(crate) use page::page;
use plan::Outcome;
use plan::compare::{CompareError, Comparison, Question, Significance};
pub use text::text;

use stats::Ratio;

use crate::number::{count, significant, whole};

/// Holds `outcomes` against the first of them, with the key figures of its summary as a family of their own.
///
/// # Errors
/// As those of [`Comparison::of`].
pub fn of(outcomes: Vec<Outcome>, question: Question) -> Result<Comparison, CompareError> {
    let key = outcomes.first().map_or_else(Vec::new, crate::key_places);
    Comparison::of(outcomes, Question { key, ..question })
}

/// `run 3`; of runs that are pooled `runs 1…11`.
fn name(comparison: &Comparison, place: usize) -> String {
    let ids: Vec<RunId> = comparison.outcomes[place].runs().collect();
    match &ids[..] {
        [first, .., last] => format!("runs {first}…{last}"),
        _ => format!("run {}", comparison.outcomes[place].run.id),
    }
}

/// What names a run, or those that are pooled, on the command line: `1,3,5`.
fn ids(outcome: &Outcome) -> String {
    outcome.runs().map(|id| id.to_string()).collect::<Vec<_>>().join(",")
}

/// `−5.02 %`, `+<0.01 %`, `0 %`, `+120 %`, `+10,900 %`: a ratio as a change.
pub(crate) fn change(ratio: f64) -> String {
    let percent = (ratio - 1.0) * 100.0;
    let decimals = match percent.abs() {
        p if p >= 99.95 => 0,
        p if p >= 9.995 => 1,
        _ => 2,
    };
    let text = match percent.abs() {
        p if p >= 999.5 => whole(p.round() as u64),
        p => format!("{p:.decimals$}"),
    };
    let sign = if percent < 0.0 { '−' } else { '+' };
    match percent {
        0.0 => "0 %".to_owned(),
        _ if text.trim_matches(['0', '.']).is_empty() => format!("{sign}<0.01 %"),
        _ => format!("{sign}{text} %"),
    }
}

/// `−5.31 to −4.73 %`; empty where there is no interval, or none that these digits could tell from a point.
fn interval(ratio: Ratio) -> String {
    let Some((low, high)) = ratio.bounds else { return String::new() };
    let (low, high) = (change(low), change(high));
    if low == high { String::new() } else { format!("{} to {high}", low.trim_end_matches(" %")) }
}

/// What is not compared, a line for each reason in each step.
fn unshared(comparison: &Comparison) -> Vec<String> {
    let mut groups: Vec<(usize, &str, plan::compare::Why, usize)> = Vec::new();
    for one in &comparison.unshared {
        match groups.iter_mut().find(|(other, step, why, _)| (*other, *step, *why) == (one.other, &one.step, one.why)) {
            Some((.., times)) => *times += 1,
            None => groups.push((one.other, &one.step, one.why, 1)),
        }
    }
    let line = |(other, step, why, times): (usize, &str, plan::compare::Why, usize)| {
        format!("Step {step}: {} not compared with {}: {why}.", count(times, "point"), name(comparison, other))
    };
    groups.into_iter().map(line).collect()
}

fn p_value(p: f64) -> String {
    if p < 0.0005 { "<0.001".to_owned() } else { significant(p, 2) }
}

/// What can be said of a difference, in words.
const fn judged(verdict: Significance) -> &'static str {
    match verdict {
        Significance::Better => "significantly better",
        Significance::Worse => "significantly worse",
        Significance::NotShown => "not significant",
        Significance::CannotBeShown => "too few repeats",
    }
}

/// A difference in the colour of what can be said of it, with its mark.
fn marked(verdict: Significance, told: &str) -> Markup {
    let class = match verdict {
        Significance::Better => "better",
        Significance::Worse => "worse",
        Significance::NotShown | Significance::CannotBeShown => "absent",
    };
    html! {
        span class=(class) { (told) }
        @if verdict.is_real() { span.sign role="img" aria-label=(judged(verdict)) { (mark(verdict)) } }
    }
}

/// The text in the colour of a verdict.
fn colored(text: String, verdict: Significance, color: bool) -> String {
    match (color, verdict) {
        (true, Significance::Worse) => format!("\x1b[33m{text}\x1b[0m"),
        (true, Significance::Better) => format!("\x1b[32m{text}\x1b[0m"),
        _ => text,
    }
}

/// The mark of a verdict in a narrow column.
const fn mark(verdict: Significance) -> &'static str {
    match verdict {
        Significance::Better => "▲",
        Significance::Worse => "▼",
        Significance::NotShown | Significance::CannotBeShown => "",
    }
}

/// The rules of the comparison in a paragraph.
fn method(comparison: &Comparison) -> String {
    let ranks = "the Mann–Whitney test of the repeats at 5 %, controlled for false discoveries (Benjamini–Hochberg): of \
        those marked, on average at most 5 % are false";
    let families = match comparison.question.paired {
        true => {
            "The repeats are pairs, measured alternately; the t-test is of the ratio of each pair. Key figures are \
            corrected for one another by Holm (chance of any false positive at most 5 %); all other figures are \
            exploratory, controlled for false discoveries (Benjamini–Hochberg)."
                .to_owned()
        }
        false if comparison.tests(true) == 0 => format!("Figures are tested by {ranks}."),
        false => format!(
            "Key figures are tested by Welch's t-test of the ratio at 5 % with Holm's correction over the key figures \
             alone: the chance of any false positive among them is at most 5 %. All other figures are exploratory, \
             tested by {ranks}."
        ),
    };
    format!(
        "A change is the ratio of the means over the repeats, with the 95 % interval of that ratio alone. {families} \
         Simulated figures without any scatter differ where they differ. Mean latency that is the reciprocal of \
         throughput shares its test. Outliers are marked and kept."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_have_a_sign_and_as_many_digits_as_matter() {
        let table = [
            (0.9498, "−5.02 %"),
            (1.0001, "+0.01 %"),
            (1.0, "0 %"),
            (1.00001, "+<0.01 %"),
            (2.2, "+120 %"),
            (0.5, "−50.0 %"),
            (110.0, "+10,900 %"),
        ];
        for (ratio, text) in table {
            assert_eq!(change(ratio), text);
        }
    }
}
