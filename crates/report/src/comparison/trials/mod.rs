//! Figures of trials in several runs: a section for each step, lines for a terminal, values for programs.

mod chart;

use lab::compare::{Comparison, Difference, Side, Tried, Verdict};
use lab::plan::Action;
use maud::{Markup, html};
use serde_json::{Value, json as object};

use self::chart::Figures;
use super::page::{mean, number_or_dash};
use super::prose::{label, times};
use super::{judged, mark, marked, name};
use crate::number::{bound, kept, three};
use crate::part::{anchor, cell_anchor};
use crate::summary::wrapped;
use crate::table::framed;
use crate::trials::{Column, LONG, Sheet, shown};

/// By so much lines for a terminal are set in.
const INDENT: u16 = 2;

/// The steps that hold trials which runs share, with their places in the first run.
pub(super) fn steps(comparison: &Comparison) -> Vec<usize> {
    let mut steps: Vec<usize> = comparison.trials.iter().map(|one| one.step).collect();
    steps.dedup();
    steps
}

/// A step that tries something: a table for each figure, a row for each point, and charts of the leading figures.
pub(super) fn section(comparison: &Comparison, step: usize, names: &[String]) -> Markup {
    let base = &comparison.outcomes[0];
    let plan = &base.plan.steps[base.steps[step].index];
    let Some(sheet) = sheet(comparison, step) else { return html! {} };
    let of_step: Vec<&Tried> = comparison.trials.iter().filter(|one| one.step == step).collect();
    let leading = sheet.leading();
    let is_told = |(_, column): &(usize, &Column)| of_step.iter().any(|one| one.figure == column.name);
    let told: Vec<(usize, &Column)> = sheet.columns.iter().enumerate().filter(is_told).collect();
    html! {
        section.step id=(anchor(&plan.name)) {
            h2 { (plan.title) }
            @for (place, (at, column)) in told.into_iter().enumerate() {
                @let of_figure: Vec<&Tried> = of_step.iter().copied().filter(|one| one.figure == column.name).collect();
                @let drawn = Figures { comparison, sheet: &sheet, column, found: &of_figure, names };
                @let charts = if leading.contains(&at) { drawn.charts(&plan.title) } else { html! {} };
                @let table = table(comparison, step, (&sheet, column), &of_figure, names, place == 0);
                @if place == 0 { (charts) (table) } @else { details { summary { (column.title()) } (charts) (table) } }
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
    let mean = |side: Option<&Side>| mean(side, &column.name, column.scale);
    let table = html! {
        table {
            caption { (column.title()) ": means ± 95 % confidence, and the ratio of each to the first run" }
            thead { tr {
                @for axis in sheet.axes { th scope="col" { (axis.title) } }
                th.number scope="col" data-head=(unit(&names[0])) { (names[0]) }
                @for other in others.clone() {
                    th.number scope="col" data-head=(unit(&names[other])) { (names[other]) }
                    th.number scope="col" data-head={ (names[other]) " over " (names[0]) } { "× " (names[0]) }
                    th scope="col" { "95 % interval" }
                }
            } }
            tbody { @for point in shared { tr id=[cell_anchor(&plan.name, &points[point].point.key()).filter(|_| is_linked)] {
                @for (_, value) in &points[point].point.values { th.long[shown(value).len() > LONG] scope="row" { (shown(value)) } }
                (mean(others.clone().find_map(|other| find(point, other)).map(|one| &one.before)))
                @for other in others.clone() { @match find(point, other) {
                    Some(one) => { (mean(Some(&one.after))) (ratio(one)) },
                    None => { td.number { span.dash { "–" } } td {} td {} },
                } }
            } } }
        }
    };
    framed(&format!("{}: {}", plan.title, column.name), &table)
}

fn ratio(one: &Tried) -> Markup {
    let bounds = one.ratio.bounds;
    html! {
        td.number.change title=(judged(one.verdict())) data-v=(kept(one.ratio.ratio))
            data-l=[bounds.map(|ends| kept(ends.0))] data-u=[bounds.map(|ends| kept(ends.1))]
        { (marked(one.verdict(), &format!("{}\u{a0}×", three(one.ratio.ratio)))) }
        td.unit {
            @match bounds {
                None => "measured once",
                Some((low, high)) if low == high => "no variance",
                Some((low, high)) => { (three(low)) "–" (three(high)) },
            }
        }
    }
}

/// What sets the point of a figure apart, as its row has it.
pub(super) fn point(comparison: &Comparison, one: &Tried) -> String {
    let base = &comparison.outcomes[0];
    let values = base.steps[one.step].trials[one.point].point.values.iter();
    values.map(|(_, value)| shown(value)).collect::<Vec<_>>().join(", ")
}

/// A figure in the first run and in the other, each with its unit.
pub(super) fn sides(comparison: &Comparison, one: &Tried) -> [String; 2] {
    let column = sheet(comparison, one.step)
        .and_then(|sheet| sheet.columns.into_iter().find(|column| column.name == one.figure));
    let told = |side: &Side| match &column {
        Some(column) => column.told(&column.scaled(&side.interval)),
        None => three(side.interval.mean),
    };
    [told(&one.before), told(&one.after)]
}

fn sheet(comparison: &Comparison, step: usize) -> Option<Sheet<'_>> {
    let base = &comparison.outcomes[0];
    let Action::Trial(trials) = &base.plan.steps[base.steps[step].index].action else { return None };
    Sheet::of(trials, &base.steps[step].trials)
}

/// Each figure of each step that tries something in a line.
pub(super) fn by_figure(comparison: &Comparison) -> Markup {
    let several = comparison.outcomes.len() > 2;
    let mut lines: Vec<(usize, &str, usize)> = Vec::new();
    for one in &comparison.trials {
        let line = (one.step, one.figure.as_str(), one.other);
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    let table = html! {
        table {
            caption { "By trial figure: geometric mean over the points, and how many differ significantly" }
            thead { tr {
                th scope="col" { "Step" } th scope="col" { "Figure" } @if several { th scope="col" { "Run" } }
                th.number scope="col" { "× " (name(comparison, 0)) }
                th.number scope="col" { "Points" } th.number scope="col" { "Worse" } th.number scope="col" { "Better" }
            } }
            tbody { @for (step, figure, other) in lines {
                @let plan = &comparison.outcomes[0].plan.steps[comparison.outcomes[0].steps[step].index];
                @let own: Vec<&Tried> = comparison.trials.iter().filter(|one| (one.step, one.figure.as_str(), one.other) == (step, figure, other)).collect();
                @let of = |verdict| own.iter().filter(|one| one.verdict() == verdict).count();
                @let mean = own.iter().map(|one| one.ratio.ratio.ln()).sum::<f64>() / own.len() as f64;
                tr {
                    th scope="row" { a href={ "#" (anchor(&plan.name)) } { (plan.title) } }
                    td { (figure) } @if several { td { (name(comparison, other)) } }
                    td.number data-v=(kept(mean.exp())) { (three(mean.exp())) "\u{a0}×" }
                    td.number { (own.len()) }
                    td.number { (number_or_dash(of(Verdict::Worse), "worse")) }
                    td.number { (number_or_dash(of(Verdict::Better), "better")) }
                }
            } }
        }
    };
    framed("By trial figure", &table)
}

/// The same for a terminal `width` columns wide, a line for each figure of each point.
pub(super) fn lines(comparison: &Comparison, width: u16) -> Vec<String> {
    let base = &comparison.outcomes[0];
    let mut lines = Vec::new();
    for step in steps(comparison) {
        lines.push(String::new());
        lines.push(base.plan.steps[base.steps[step].index].title.clone());
        for one in comparison.trials.iter().filter(|one| one.step == step) {
            let key = base.steps[step].trials[one.point].point.key();
            let at = if key.is_empty() { String::new() } else { format!("{key}: ") };
            let (other, first) = (label(comparison, one.other), label(comparison, 0));
            let said = times(&one.ratio, &first);
            let line = format!("{at}{} of {other} is {said} {}", one.figure, mark(one.verdict()));
            lines.extend(wrapped(&bound(line.trim_end()), width - INDENT).into_iter().map(|line| format!("  {line}")));
        }
    }
    lines
}

/// The same for programs.
pub(super) fn json(comparison: &Comparison, guard: Option<f64>) -> Vec<Value> {
    let base = &comparison.outcomes[0];
    let one = |one: &Tried| {
        let side = |side: &Side| object!({ "mean": side.interval.mean, "half_width": side.interval.half_width, "samples": side.samples });
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
            "fails_guard": guard.map(|share| Difference::OfTrial(one).is_worse_than(share)),
        })
    };
    comparison.trials.iter().map(one).collect()
}
