//! Figures of trials in several runs: a section for each step, and sentences.

use lab::compare::{Comparison, Tried, Verdict};
use lab::plan::Action;
use maud::{Markup, html};
use serde_json::{Value, json as object};
use stats::Ratio;

use super::{label, mark};
use crate::number::{bound, kept, spread, three};
use crate::part::{anchor, cell_anchor};
use crate::table::framed;
use crate::trials::{Column, Sheet, shown};

/// The most sentences about one run.
const SENTENCES: usize = 4;

/// `1.30 × (1.20–1.41)`: a ratio as so many times, with its interval.
pub(crate) fn times(ratio: &Ratio) -> String {
    let bounds = ratio.bounds.map_or_else(String::new, |(low, high)| match (three(low), three(high)) {
        (low, high) if low == high => String::new(),
        (low, high) => format!(" ({low}–{high})"),
    });
    format!("{} ×{bounds}", three(ratio.ratio))
}

/// The largest differences that are more than chance, a sentence each: `Run 2 is 3.10 × run 1 (2.90–3.30) in IOPS on
/// web-server.` Steps are told once, by what differs most in them.
pub(super) fn sentences(comparison: &Comparison, other: usize) -> Vec<String> {
    let base = &comparison.outcomes[0];
    let mut found: Vec<(usize, Ratio, String)> = Vec::new();
    let cells = comparison.contrasts.iter().filter(|one| one.other == other && one.verdict().is_real() && !one.follows);
    found.extend(cells.map(|one| {
        let plan = &base.plan.steps[base.steps[one.step].index];
        let key = plan.action.measure().map_or_else(String::new, |measure| measure.cells[one.cell].key());
        (one.step, one.ratio, on(one.metric.title(), &plan.title, &key))
    }));
    let trials = comparison.trials.iter().filter(|one| one.other == other && one.verdict().is_real());
    found.extend(trials.map(|one| {
        let plan = &base.plan.steps[base.steps[one.step].index];
        let key = base.steps[one.step].trials[one.point].point.key();
        (one.step, one.ratio, on(&one.figure, &plan.title, &key))
    }));
    let size = |ratio: &Ratio| ratio.ratio.ln().abs();
    found.sort_by(|one, two| size(&two.1).total_cmp(&size(&one.1)));
    let mut told: Vec<usize> = Vec::new();
    let (name, against) = (label(comparison, other), label(comparison, 0));
    let sentence = |(step, ratio, place): (usize, Ratio, String)| {
        let is_new = !told.contains(&step);
        told.push(step);
        let (factor, bounds) = times(&ratio).split_once(" ×").map(|(a, b)| (a.to_owned(), b.to_owned()))?;
        is_new.then(|| format!("{name} is {factor} × {against}{bounds} {place}."))
    };
    found.into_iter().filter_map(sentence).take(SENTENCES).collect()
}

fn on(figure: &str, step: &str, key: &str) -> String {
    let at = if key.is_empty() { String::new() } else { format!(" ({key})") };
    format!("in {} on {step}{at}", figure.to_lowercase().replace("iops", "IOPS"))
}

/// The steps that hold trials which runs share, with their places in the first run.
pub(super) fn steps(comparison: &Comparison) -> Vec<usize> {
    let mut steps: Vec<usize> = comparison.trials.iter().map(|one| one.step).collect();
    steps.dedup();
    steps
}

/// A step that tries something: a table for each figure, a row for each point.
pub(super) fn section(comparison: &Comparison, step: usize, names: &[String]) -> Markup {
    let base = &comparison.outcomes[0];
    let plan = &base.plan.steps[base.steps[step].index];
    let Action::Trial(trials) = &plan.action else { return html! {} };
    let Some(sheet) = Sheet::of(trials, &base.steps[step].trials) else { return html! {} };
    let of_step: Vec<&Tried> = comparison.trials.iter().filter(|one| one.step == step).collect();
    let is_told = |column: &&Column| of_step.iter().any(|one| one.figure == column.name);
    html! {
        section.step id=(anchor(&plan.name)) {
            h2 { (plan.title) }
            @for (place, column) in sheet.columns.iter().filter(is_told).enumerate() {
                @let of_figure: Vec<&Tried> = of_step.iter().copied().filter(|one| one.figure == column.name).collect();
                @let table = table(comparison, step, (&sheet, column), &of_figure, names, place == 0);
                @if place == 0 { (table) } @else { details { summary { (column.title()) } (table) } }
            }
        }
    }
}

fn table(
    comparison: &Comparison,
    step: usize,
    (sheet, column): (&Sheet, &Column),
    found: &[&Tried],
    names: &[String],
    is_linked: bool,
) -> Markup {
    let base = &comparison.outcomes[0];
    let plan = &base.plan.steps[base.steps[step].index];
    let points = &base.steps[step].trials;
    let find = |point: usize, other: usize| found.iter().copied().find(|one| one.point == point && one.other == other);
    let others = 1..names.len();
    let shared = (0..points.len()).filter(|point| others.clone().any(|other| find(*point, other).is_some()));
    let unit = |name: &String| format!("{name}, {}", column.unit);
    let mean = |side: &lab::compare::Side| {
        let scaled = column.scaled(&side.interval);
        html! {
            td.number data-v=(kept(scaled.mean)) data-h=[scaled.half_width.map(kept)] {
                (three(scaled.mean)) @if let Some(spread) = spread(&scaled) { " " span.spread { (spread) } }
            }
        }
    };
    let table = html! {
        table {
            caption { (column.title()) ": means ± 95 % confidence, and how many times the first run's each is" }
            thead { tr {
                @for axis in sheet.axes { th scope="col" { (axis.title) } }
                th.number scope="col" data-head=(unit(&names[0])) { (names[0]) }
                @for other in others.clone() {
                    th.number scope="col" data-head=(unit(&names[other])) { (names[other]) }
                    th.number scope="col" data-head={ (names[other]) " over " (names[0]) } { "× " (names[0]) }
                }
            } }
            tbody { @for point in shared { tr id=[cell_anchor(&plan.name, &points[point].point.key()).filter(|_| is_linked)] {
                @for (_, value) in &points[point].point.values { th.long[shown(value).len() > 24] scope="row" { (shown(value)) } }
                @match others.clone().find_map(|other| find(point, other)) {
                    Some(one) => (mean(&one.before)),
                    None => td {},
                }
                @for other in others.clone() { @match find(point, other) {
                    Some(one) => { (mean(&one.after)) (ratio(one)) },
                    None => { td.number { span.dash { "–" } } td {} },
                } }
            } } }
        }
    };
    framed(&format!("{}: {}", plan.title, column.name), &table)
}

fn ratio(one: &Tried) -> Markup {
    let words = match one.verdict() {
        Verdict::Better => "really better",
        Verdict::Worse => "really worse",
        Verdict::NotShown => "may be chance",
        Verdict::CannotBeShown => "too few repeats to tell",
    };
    let verdict = one.verdict();
    let class = match verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        _ => "absent",
    };
    let bounds = one.ratio.bounds;
    html! {
        td.number.change title=(words) data-v=(kept(one.ratio.ratio)) data-l=[bounds.map(|ends| kept(ends.0))]
            data-u=[bounds.map(|ends| kept(ends.1))]
        {
            span class=(class) { (bound(&times(&one.ratio))) }
            @if verdict.is_real() { span.sign role="img" aria-label=(words) { (mark(verdict)) } }
        }
    }
}

/// The same for a terminal, a line for each figure of each point.
pub(super) fn lines(comparison: &Comparison) -> Vec<String> {
    let base = &comparison.outcomes[0];
    let mut lines = Vec::new();
    for step in steps(comparison) {
        lines.push(String::new());
        lines.push(base.plan.steps[base.steps[step].index].title.clone());
        for one in comparison.trials.iter().filter(|one| one.step == step) {
            let key = base.steps[step].trials[one.point].point.key();
            let at = if key.is_empty() { String::new() } else { format!("{key}: ") };
            let (other, first) = (label(comparison, one.other), label(comparison, 0));
            let said = times(&one.ratio).replacen(" ×", &format!(" × {first}"), 1);
            lines.push(format!("  {at}{} of {other} is {said} {}", one.figure, mark(one.verdict())));
        }
    }
    lines
}

/// The same for programs.
pub(super) fn json(comparison: &Comparison) -> Vec<Value> {
    let base = &comparison.outcomes[0];
    let one = |one: &Tried| {
        let side = |side: &lab::compare::Side| object!({ "mean": side.interval.mean, "half_width": side.interval.half_width, "samples": side.samples });
        object!({
            "step": base.plan.steps[base.steps[one.step].index].name,
            "point": base.steps[one.step].trials[one.point].point.key(),
            "figure": one.figure,
            "unit": one.unit,
            "more_is_better": one.more_is_better,
            "run": comparison.outcomes[one.other].run.id,
            "before": side(&one.before),
            "after": side(&one.after),
            "ratio": one.ratio.ratio,
            "ratio_low": one.ratio.bounds.map(|bounds| bounds.0),
            "ratio_high": one.ratio.bounds.map(|bounds| bounds.1),
            "p": one.test.map(|test| test.rank.p),
            "p_adjusted": one.test.map(|test| test.adjusted),
            "verdict": one.verdict().name(),
        })
    };
    comparison.trials.iter().map(one).collect()
}
