//! What came of a comparison, in words.

use plan::compare::{Comparison, Contrast, Significance};
use plan::{Metric, Step};
use stats::Ratio;

use super::{change, name};
use crate::number::{capital, count, three};

/// The most sentences about one run.
const SENTENCES: usize = 4;

/// So many times larger must a difference be, where less is better, to be told in place of one where more is.
const PREFERENCE: f64 = 1.1;

/// Where a figure that is compared was measured.
pub(super) struct FigureLocation<'c> {
    /// The step.
    pub(super) plan: &'c Step,
    /// The key of the cell or of the point in it; empty where there is but one.
    pub(super) key: String,
}

/// Where `one` was measured.
pub(super) fn place<'c>(comparison: &'c Comparison, one: &Contrast) -> FigureLocation<'c> {
    let base = &comparison.outcomes[0];
    let step = &base.steps[one.step];
    FigureLocation { plan: &base.plan.steps[step.index], key: step.points[one.point].key() }
}

/// What a run is called in sentences: its target where that tells the runs apart, else its number.
pub(super) fn label(comparison: &Comparison, place: usize) -> String {
    let target = |place: usize| &comparison.outcomes[place].run.target;
    let is_told = (0..comparison.outcomes.len()).all(|other| other == place || target(other) != target(place));
    if is_told { target(place).clone() } else { name(comparison, place) }
}

/// `run 2 (sim:x25-m)`: a run as it is called where it stands by itself, with its target where that tells the runs
/// apart.
pub(super) fn titled(comparison: &Comparison, place: usize) -> String {
    let (name, label) = (name(comparison, place), label(comparison, place));
    if label == name { name } else { format!("{name} ({label})") }
}

/// What came of it in a sentence or two: the key figures first, then what is exploratory.
pub(super) fn verdict(comparison: &Comparison, other: usize) -> String {
    let own = || comparison.contrasts.iter().filter(move |one| one.other == other);
    let (key, rest): (Vec<&Contrast>, Vec<&Contrast>) = own().partition(|one| one.key.is_some());
    if key.is_empty() {
        return tally(comparison, other, &rest, "figure");
    }
    let first = tally(comparison, other, &key, "key figure");
    let real = rest.iter().filter(|one| one.verdict().is_real()).count();
    let of = count(rest.len(), "other figure");
    match rest.len() {
        0 => first,
        _ => format!(
            "{first} Exploratory: {real} of {of} {} significantly.",
            if real == 1 { "differs" } else { "differ" }
        ),
    }
}

/// How many of a family differ really, and how many may differ by chance.
fn tally(comparison: &Comparison, other: usize, all: &[&Contrast], noun: &str) -> String {
    let of = |verdict| all.iter().filter(|one| one.verdict() == verdict).count();
    let [worse, better, open, mute] =
        [Significance::Worse, Significance::Better, Significance::NotShown, Significance::CannotBeShown].map(of);
    let (name, base) = (name(comparison, other), name(comparison, 0));
    let figures = count(all.len(), noun);
    if worse + better + open == 0 {
        let none = format!("None of {figures} of {name} can differ significantly: there are too few repeats.");
        return match by_means(comparison, other) {
            Some(said) => format!("{none} {said}"),
            None => none,
        };
    }
    let rest = [
        (open > 0).then(|| format!("{open} without a significant difference")),
        (mute > 0).then(|| format!("{mute} with too few repeats")),
    ];
    let rest: Vec<String> = rest.into_iter().flatten().collect();
    let rest = if rest.is_empty() { String::new() } else { format!(" {}.", capital(&rest.join(", "))) };
    let said = |number: usize, verdict| {
        let ratios = all.iter().filter(|one| one.verdict() == verdict).map(|one| one.ratio.ratio);
        match ratios.max_by(|one, two| one.ln().abs().total_cmp(&two.ln().abs())) {
            Some(most) => format!("{number} (at most {})", change(most)),
            None => "none".to_owned(),
        }
    };
    match (worse, better) {
        (0, 0) if mute == 0 => format!("None of {figures} of {name} differs significantly from {base}."),
        (0, 0) => format!("None of {figures} of {name} differs significantly from {base}.{rest}"),
        (worse, better) => {
            let (worse, better) = (said(worse, Significance::Worse), said(better, Significance::Better));
            format!("Of {figures}, {name} is significantly worse than {base} in {worse} and better in {better}.{rest}")
        }
    }
}

/// What the means alone say of all cells together, where nothing can be shown: `By the means alone, sim:b is 2.10 ×
/// sim:a in throughput and 0.45 × in mean latency (geometric means over 40 cells).`
fn by_means(comparison: &Comparison, other: usize) -> Option<String> {
    let of = |is_it: fn(Metric) -> bool| {
        let is_own = |one: &&Contrast| one.other == other && one.figure.metric.is_some_and(|(_, metric)| is_it(metric));
        let own = comparison.contrasts.iter().filter(is_own);
        let logs: Vec<f64> = own.map(|one| one.ratio.ratio.ln()).collect();
        (!logs.is_empty()).then(|| ((logs.iter().sum::<f64>() / logs.len() as f64).exp(), logs.len()))
    };
    let (rate, cells) = of(Metric::is_throughput)?;
    let [run, base] = [other, 0].map(|place| label(comparison, place));
    let latency = of(|metric| metric == Metric::LatencyMean)
        .map_or_else(String::new, |(latency, _)| format!(" and {} × in mean latency", three(latency)));
    let over = if cells == 1 { String::new() } else { format!(" (geometric means over {cells} points)") };
    Some(format!("By the means alone, {run} is {} × {base} in throughput{latency}{over}.", three(rate)))
}

/// The largest differences that are more than chance, a sentence each: `Run 2 is 3.10 × run 1 (2.90–3.30) in IOPS on
/// web-server.` Steps are told once, by what differs most in them.
pub(super) fn sentences(comparison: &Comparison, other: usize) -> Vec<String> {
    // Key figures have a table of their own, before all else.
    if !comparison.key(other).is_empty() {
        return Vec::new();
    }
    let is_own = |one: &&Contrast| one.other == other && one.verdict().is_real() && !one.follows;
    let mut found: Vec<&Contrast> = comparison.contrasts.iter().filter(is_own).collect();
    // Where twice the rate is half the latency, the rate is told.
    let size = |one: &Contrast| one.ratio.ratio.ln().abs() * if one.figure.more_is_better { PREFERENCE } else { 1.0 };
    found.sort_by(|one, two| size(two).total_cmp(&size(one)));
    let mut told: Vec<usize> = Vec::new();
    found.retain(|one| {
        let is_new = !told.contains(&one.step);
        told.push(one.step);
        is_new
    });
    found.truncate(SENTENCES);
    found.into_iter().map(|one| sentence(comparison, one)).collect()
}

fn sentence(comparison: &Comparison, one: &Contrast) -> String {
    let FigureLocation { plan, key } = place(comparison, one);
    let figure = one.figure.name.to_lowercase().replace("iops", "IOPS");
    let at = if key.is_empty() { String::new() } else { format!(" ({key})") };
    let (name, times) = (label(comparison, one.other), times(&one.ratio, &label(comparison, 0)));
    format!("{name} is {times} in {figure} on {}{at}.", plan.title)
}

/// `1.30 × run 1 (1.20–1.41)`: a ratio as so many times what `of` names, with its interval.
pub(super) fn times(ratio: &Ratio, of: &str) -> String {
    let bounds = ratio.bounds.map_or_else(String::new, |(low, high)| match (three(low), three(high)) {
        (low, high) if low == high => String::new(),
        (low, high) => format!(" ({low}–{high})"),
    });
    format!("{} × {of}{bounds}", three(ratio.ratio))
}

/// What so few repeats can show; none where all can show something.
pub(super) fn reach(comparison: &Comparison) -> Option<String> {
    let mute = comparison.count(Significance::CannotBeShown);
    if mute == 0 {
        return None;
    }
    let least = |one: &Contrast| one.before.samples.len().min(one.after.samples.len());
    let fewest = comparison.contrasts.iter().map(least).min().unwrap_or(0);
    let is_all = mute == comparison.contrasts.len();
    let which =
        if is_all { "no difference can be significant, however large" } else { "not every figure can be judged" };
    let how_many = if is_all { String::new() } else { format!(" ({mute} exploratory ones cannot)") };
    Some(format!(
        "With {} per point, {which}{how_many}. It takes {needed} repeats of each \
         point in each run (`--repeats {needed}`).",
        count(fewest, "repeat"),
        needed = comparison.repeats_needed(),
    ))
}
