//! Runs held against each other, for people and for programs.

mod json;
mod page;
mod rows;
mod text;
mod trials;

pub use json::json;
use lab::compare::{Comparison, Contrast, Verdict};
pub use page::html;
pub(crate) use page::page;
pub use text::{guard, text};

use crate::number::count;

/// `run 3`.
fn name(comparison: &Comparison, place: usize) -> String {
    format!("run {}", comparison.outcomes[place].run.id)
}

/// What a run is called in sentences: its target where that tells the runs apart, else its number.
fn label(comparison: &Comparison, place: usize) -> String {
    let target = |place: usize| &comparison.outcomes[place].run.target;
    let is_told = (0..comparison.outcomes.len()).all(|other| other == place || target(other) != target(place));
    if is_told { target(place).clone() } else { name(comparison, place) }
}

/// `−5.02 %`, `+<0.01 %`, `0 %`, `+120 %`: a ratio as a change.
fn change(ratio: f64) -> String {
    let percent = (ratio - 1.0) * 100.0;
    let decimals = match percent.abs() {
        p if p >= 99.95 => 0,
        p if p >= 9.995 => 1,
        _ => 2,
    };
    let text = format!("{:.decimals$}", percent.abs());
    let sign = if percent < 0.0 { '−' } else { '+' };
    match percent {
        0.0 => "0 %".to_owned(),
        _ if text.trim_matches(['0', '.']).is_empty() => format!("{sign}<0.01 %"),
        _ => format!("{sign}{text} %"),
    }
}

/// `−5.31 to −4.73 %`; empty where there is no interval, or none that these digits could tell from a point.
fn interval(contrast: &Contrast) -> String {
    let Some((low, high)) = contrast.ratio.bounds else { return String::new() };
    let (low, high) = (change(low), change(high));
    if low == high { String::new() } else { format!("{} to {high}", low.trim_end_matches(" %")) }
}

/// What came of it in a sentence or two: how many figures differ really, and how many may differ by chance.
fn verdict(comparison: &Comparison, other: usize) -> String {
    let of = |verdict| {
        let is_it = |one: &&Contrast| one.other == other && one.verdict() == verdict;
        let tried = comparison.trials.iter().filter(|one| one.other == other && one.verdict() == verdict);
        comparison.contrasts.iter().filter(is_it).count() + tried.count()
    };
    let [worse, better, open, mute] =
        [Verdict::Worse, Verdict::Better, Verdict::NotShown, Verdict::CannotBeShown].map(of);
    let (name, base) = (name(comparison, other), name(comparison, 0));
    let all = count(worse + better + open + mute, "figure");
    if worse + better + open == 0 {
        return format!("Of {all}, none can be called real: there are too few repeats.");
    }
    let rest = [
        (open > 0).then(|| format!("{} may differ by chance", count(open, "figure"))),
        (mute > 0).then(|| format!("{} have too few repeats to tell", count(mute, "figure"))),
    ];
    let rest: Vec<String> = rest.into_iter().flatten().collect();
    let rest = if rest.is_empty() { String::new() } else { format!(" {}.", rest.join(", ")) };
    match (worse, better) {
        (0, 0) if mute == 0 => format!("Of {all}, none of {name} is shown to differ from {base}."),
        (0, 0) => format!("Of {all}, none of {name} is shown to differ from {base}.{rest}"),
        (worse, better) => {
            let sizes = |verdict| {
                let is_it = |one: &&Contrast| one.other == other && one.verdict() == verdict;
                let tried = comparison.trials.iter().filter(|one| one.other == other && one.verdict() == verdict);
                let ratios = comparison.contrasts.iter().filter(is_it).map(|one| one.ratio.ratio);
                let ratios = ratios.chain(tried.map(|one| one.ratio.ratio));
                ratios.max_by(|a, b| a.ln().abs().total_cmp(&b.ln().abs())).map(change)
            };
            let said = |number: usize, verdict| match sizes(verdict) {
                Some(most) => format!("{number} (up to {most})"),
                None => "none".to_owned(),
            };
            let (worse, better) = (said(worse, Verdict::Worse), said(better, Verdict::Better));
            format!("Of {all}, {name} is worse than {base} in {worse} and better in {better}.{rest}")
        }
    }
}

/// What so few repeats can show; none where all can show something.
fn reach(comparison: &Comparison) -> Option<String> {
    let mute = comparison.count(Verdict::CannotBeShown);
    if mute == 0 {
        return None;
    }
    let (figures, questions) = (comparison.contrasts.len() + comparison.trials.len(), comparison.questions());
    let least = |one: &Contrast| one.before.samples.len().min(one.after.samples.len());
    let tried = comparison.trials.iter().map(|one| one.before.samples.len().min(one.after.samples.len()));
    let fewest = comparison.contrasts.iter().map(least).chain(tried).min().unwrap_or(0);
    let which = if mute == figures { String::new() } else { format!(" {mute} of the figures are so.") };
    Some(format!(
        "With {} a cell, no difference among {questions} tests could ever be called real, however large.{which} That \
         takes {needed} repeats of each cell in each run (`--repeats {needed}`), or a narrower question (`--step`, \
         `--metric`).",
        count(fewest, "repeat"),
        needed = comparison.repeats_needed(),
    ))
}

/// What is not compared, a line for each reason in each step.
fn unshared(comparison: &Comparison) -> Vec<String> {
    let mut groups: Vec<(usize, &str, lab::compare::Why, usize)> = Vec::new();
    for one in &comparison.unshared {
        match groups.iter_mut().find(|(other, step, why, _)| (*other, *step, *why) == (one.other, &one.step, one.why)) {
            Some((.., times)) => *times += 1,
            None => groups.push((one.other, &one.step, one.why, 1)),
        }
    }
    let line = |(other, step, why, times): (usize, &str, lab::compare::Why, usize)| {
        format!("Step {step}: {} not held against {}: {why}.", count(times, "cell"), name(comparison, other))
    };
    groups.into_iter().map(line).collect()
}

/// The mark of a verdict in a narrow column.
const fn mark(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "▲",
        Verdict::Worse => "▼",
        Verdict::NotShown | Verdict::CannotBeShown => "",
    }
}

/// The rules of the comparison in a paragraph.
const METHOD: &str = "A change is the ratio of the means of the repeats, with a 95 % interval of that ratio by itself. \
    It is called real if the Mann–Whitney test of the repeats says so at 5 % after Holm's correction over all \
    tests here, so that the chance of calling any one of them real that is not is at most 5 %. Mean latency that is throughput \
    turned over shares its test. Outliers are marked \
    and count all the same.";

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
        ];
        for (ratio, text) in table {
            assert_eq!(change(ratio), text);
        }
    }
}
