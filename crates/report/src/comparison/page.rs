//! A comparison as one HTML file.

use maud::{Markup, html};
use plan::compare::{Compared, Comparison, Contrast, ContrastSide, Significance};
use stats::Ratio;

use super::facets::Figures;
use super::prose::{place, reach, sentences, titled, verdict};
use super::rows::{SharedStep, shared};
use super::{change, interval, judged, key, marked, method, name, p_value, unshared};
use crate::chart::{self, Panel};
use crate::drawn::figure as drawn;
use crate::figure::CellFigures;
use crate::number::{bound, count, kept, spread, three};
use crate::page::{NO_SCRIPT, Page};
use crate::part::anchor;
use crate::quoting::quoting;
use crate::sweep::Sweep;
use crate::table::{Rows, axis_head, cell_name, framed, grouped};
use crate::trials::TrialSheet;
use crate::{conditions, cost};

/// How many of the largest changes the summary lists.
const LISTED: usize = 12;

/// Runs held against the first of them: one self-contained HTML file, every run in each chart. The same comparison
/// always gives the same text.
pub fn html(comparison: &Comparison, version: &str) -> String {
    page(comparison, version).contained()
}

/// The same, before it is known where its style and scripts are.
pub(crate) fn page(comparison: &Comparison, version: &str) -> Page {
    let names: Vec<String> = (0..comparison.outcomes.len()).map(|place| titled(comparison, place)).collect();
    let title = title(comparison);
    let steps = shared(comparison);
    let heading = html! {
        p.kicker { "Comparison of runs" }
        h1 { (title) }
        p.facts {
            @for shared in held(comparison, &steps) { span { (shared) } }
        }
    };
    let main = html! {
        (summary(comparison, &steps, &names))
        nav aria-label="Contents" { ol {
            @for one in &steps { li { a href={ "#" (one.base().anchor()) } { (one.base().step.title) } } }
            @for (anchor, title) in [("limits", "Not compared"), ("method", "How it was compared"), ("repeat", "Repeat this")] {
                li { a href={ "#" (anchor) } { (title) } }
            }
        } }
        (NO_SCRIPT)
        @for step in &steps {
            @if step.base().trials().is_some() { (tried(comparison, step, &names)) } @else { (section(comparison, step, &names)) }
        }
        (cost::compared(comparison))
        (back_matter(comparison))
    };
    Page { title, version: version.to_owned(), name: file_name(comparison), heading, main }
}

/// How much the runs share, and what of it is held against the first; what there is none of goes without saying.
fn held(comparison: &Comparison, steps: &[SharedStep]) -> Vec<String> {
    let points = |is_tried: bool| {
        let of_kind = steps.iter().filter(|step| step.base().trials().is_some() == is_tried);
        of_kind.map(|step| step.base().readings.len()).sum()
    };
    let all = [
        (points(false), "shared cell"),
        (points(true), "shared point"),
        (comparison.contrasts.len(), "figure"),
        (comparison.tests(true), "key-figure test"),
        (comparison.tests(false), "exploratory test"),
    ];
    all.into_iter().filter(|(number, _)| *number > 0).map(|(number, what)| count(number, what)).collect()
}

/// `runs-1-2`: what files with data from the page begin with.
fn file_name(comparison: &Comparison) -> String {
    let ids = comparison.outcomes.iter().map(|outcome| outcome.run.id.to_string());
    format!("runs-{}", ids.collect::<Vec<_>>().join("-"))
}

/// `Run 2 compared with run 1`, with the targets where they differ; `Runs 2, 3 and 4 compared with run 1`.
fn title(comparison: &Comparison) -> String {
    if comparison.outcomes.len() == 2 {
        let [first, other] = [0, 1].map(|place| titled(comparison, place));
        return format!("R{} compared with {first}", &other[1..]);
    }
    let ids: Vec<String> = comparison.outcomes[1..].iter().map(|outcome| outcome.run.id.to_string()).collect();
    let others = match &ids[..] {
        [others @ .., last] => format!("Runs {} and {last}", others.join(", ")),
        [] => String::new(),
    };
    format!("{others} compared with {}", name(comparison, 0))
}

fn summary(comparison: &Comparison, steps: &[SharedStep], names: &[String]) -> Markup {
    html! {
        section #summary aria-labelledby="verdict" {
            h2.hidden #verdict { "Summary" }
            (runs(comparison))
            @for other in 1..comparison.outcomes.len() {
                p.verdict { (bound(&verdict(comparison, other))) " " (bound(&sentences(comparison, other).join(" "))) }
            }
            @if let Some(reach) = reach(comparison) { p.shortfall { (quoting(&reach)) } }
            (key::table(comparison, names))
            (largest(comparison, steps))
            @let (tried, measured): (Vec<&SharedStep>, Vec<&SharedStep>) = steps.iter().partition(|step| step.base().trials().is_some());
            @if !measured.is_empty() { (by_step(comparison, &measured)) }
            @if !tried.is_empty() { (by_figure(comparison, &tried)) }
            p.trust { (bound(&method(comparison))) " " a href="#method" { "Details" } "." }
        }
    }
}

/// What was held against what.
fn runs(comparison: &Comparison) -> Markup {
    let outcomes = comparison.outcomes.iter().enumerate();
    conditions::runs(outcomes.map(|(place, outcome)| (name(comparison, place), &outcome.run)))
}

/// The largest changes that are more than chance, worse ones first.
fn largest(comparison: &Comparison, steps: &[SharedStep]) -> Markup {
    // What follows another figure says the same again.
    let is_own = |one: &&Contrast| one.verdict().is_real() && !one.follows && one.key.is_none();
    let mut real: Vec<&Contrast> = comparison.contrasts.iter().filter(is_own).collect();
    let loss = |one: &Contrast| one.ratio.ratio.ln() * if one.figure.more_is_better { -1.0 } else { 1.0 };
    real.sort_by(|a, b| loss(b).total_cmp(&loss(a)));
    let total = real.len();
    let (worse, better): (Vec<&Contrast>, Vec<&Contrast>) =
        real.into_iter().partition(|one| one.verdict() == Significance::Worse);
    // Room that one kind leaves is the other's.
    let from_better = better.len().min(LISTED.saturating_sub(worse.len()).max(LISTED / 2));
    let from_worse = worse.len().min(LISTED - from_better);
    let listed: Vec<&Contrast> =
        worse[..from_worse].iter().chain(&better[better.len() - from_better..]).copied().collect();
    if listed.is_empty() {
        return html! {};
    }
    let table = html! {
        table {
            caption {
                @if comparison.tests(true) > 0 { "Exploratory: " }
                @if total > listed.len() { "the largest of " (total) " significant differences" } @else { "significant differences" }
            }
            thead { tr {
                th scope="col" { "Step" } th scope="col" { "Point" } th scope="col" { "Figure" }
                th.number scope="col" { "Before" } th.number scope="col" { "After" }
                th.number scope="col" data-head="Change, %" { "Change" } th scope="col" { "95 % interval" } th.number scope="col" { "p, corrected" }
            } }
            tbody { @for one in listed { (largest_row(comparison, steps, one)) } }
        }
    };
    framed("Significant differences", &table)
}

fn largest_row(comparison: &Comparison, steps: &[SharedStep], one: &Contrast) -> Markup {
    let plan = place(comparison, one).plan;
    let several = comparison.outcomes.len() > 2;
    let step = steps.iter().find(|step| step.step == one.step);
    let cell = step.map_or_else(String::new, |step| step.point(one));
    let told = |side: &ContrastSide| match step.and_then(|step| step.column(one)) {
        Some(column) => column.told(&column.scaled(&side.interval)),
        None => three(side.interval.mean),
    };
    html! { tr {
        th scope="row" { a href={ "#" (anchor(&plan.name)) } { (plan.title) } @if several { ", " (name(comparison, one.other)) } }
        td { @if cell.is_empty() { "–" } @else { (cell) } }
        td { (one.figure.name) }
        td.number { (told(&one.before)) }
        td.number { (told(&one.after)) }
        (changed(one))
        td.unit { (bounds(one.ratio)) }
        td.number data-v=[one.test.map(|test| kept(test.adjusted))] { (one.test.map_or_else(String::new, |test| p_value(test.adjusted))) }
    } }
}

/// A change with its mark.
fn changed(one: &Contrast) -> Markup {
    let (verdict, ratio) = (one.verdict(), one.ratio);
    let p = one.test.map_or_else(String::new, |test| {
        format!("; p = {}, corrected {}", p_value(test.basis.p()), p_value(test.adjusted))
    });
    html! {
        td.number.change title={ (judged(verdict)) (p) } data-v=(percent(ratio.ratio))
            data-l=[ratio.bounds.map(|bounds| percent(bounds.0))] data-u=[ratio.bounds.map(|bounds| percent(bounds.1))]
        { (marked(verdict, &change(ratio.ratio))) }
    }
}

/// A ratio as a change in percent, for data that is taken away.
fn percent(ratio: f64) -> String {
    kept((ratio - 1.0) * 100.0)
}

/// The interval of a change; told where there is none.
fn bounds(ratio: Ratio) -> String {
    match (ratio.bounds, interval(ratio)) {
        (None, _) => "measured once".to_owned(),
        (Some((low, high)), _) if low == high => "no variance".to_owned(),
        (Some(_), bounds) if bounds.is_empty() => "±<0.01 %".to_owned(),
        (Some(_), bounds) => bounds,
    }
}

/// Each step in a line.
fn by_step(comparison: &Comparison, steps: &[&SharedStep]) -> Markup {
    let several = comparison.outcomes.len() > 2;
    let table = html! {
        table {
            caption { "By step: geometric mean of the changes over its points, and how many figures differ \
                significantly" }
            thead { tr {
                th scope="col" { "Step" } @if several { th scope="col" { "Run" } }
                @for aspect in comparison.question.aspects() { th.number scope="col" { (aspect.title()) } }
                th.number scope="col" { "Figures" } th.number scope="col" { "Worse" } th.number scope="col" { "Better" }
            } }
            tbody { @for step in steps { @for other in 1..comparison.outcomes.len() {
                @let of = |verdict| step.contrasts.iter().filter(|one| one.other == other && one.verdict() == verdict).count();
                tr {
                    th scope="row" { a href={ "#" (step.base().anchor()) } { (step.base().step.title) } }
                    @if several { td { (name(comparison, other)) } }
                    @for aspect in comparison.question.aspects() {
                        td.number { (step.mean_ratio(aspect.title(), other).map_or_else(|| "–".to_owned(), change)) }
                    }
                    td.number { (step.contrasts.iter().filter(|one| one.other == other).count()) }
                    td.number { (number_or_dash(of(Significance::Worse), "worse")) }
                    td.number { (number_or_dash(of(Significance::Better), "better")) }
                }
            } } }
        }
    };
    framed("By step", &table)
}

fn number_or_dash(number: usize, class: &str) -> Markup {
    html! { @if number == 0 { span.absent { "–" } } @else { span class=(class) { (number) } } }
}

/// A step: charts of all runs, then a table for each figure.
fn section(comparison: &Comparison, step: &SharedStep, names: &[String]) -> Markup {
    let part = step.base();
    let sweep = Sweep::across(&step.runs, names);
    let panels = match &sweep {
        Some(sweep) => swept(step, sweep, names),
        None => unswept(step, names),
    };
    html! {
        section.step id=(part.anchor()) {
            h2 { (part.step.title) }
            (drawn(&part.step.title, &panels, &caption(comparison, sweep.is_some())))
            @for (place, figure) in step.figures().into_iter().enumerate() {
                @let table = table(step, place, figure, names);
                @if place == 0 { (table) } @else { details { summary { (figure.figure.title()) } (table) } }
            }
        }
    }
}

/// A step that tries something: a table for each figure, a row for each point, and charts of the leading figures.
fn tried(comparison: &Comparison, step: &SharedStep, names: &[String]) -> Markup {
    let part = step.base();
    let Some(sheet) = TrialSheet::of(part) else { return html! {} };
    let leading: Vec<&str> = sheet.leading().into_iter().map(|at| sheet.columns[at].name.as_str()).collect();
    let figures = step.figures();
    let of_column = |name: &str| figures.iter().find(|one| one.figure.name == name);
    let told = sheet.columns.iter().filter_map(|column| Some((column, *of_column(&column.name)?)));
    html! {
        section.step id=(part.anchor()) {
            h2 { (part.step.title) }
            @for (place, (column, figure)) in told.enumerate() {
                @let drawn = Figures { comparison, sheet: &sheet, column, step, names };
                @let charts = if leading.contains(&column.name.as_str()) { drawn.charts(&part.step.title) } else { html! {} };
                @let table = table(step, place, figure, names);
                @if place == 0 { (charts) (table) } @else { details { summary { (column.title()) } (charts) (table) } }
            }
        }
    }
}

fn caption(comparison: &Comparison, is_swept: bool) -> String {
    let left = match is_swept {
        true => "means of the repeats with 95 % intervals, single repeats as dots",
        false => "latency by percentile over all repeats",
    };
    format!(
        "First: {left}. Second: change of the mean from {}, with the interval of the ratio; filled where it is \
         significant, hollow where it is not.",
        name(comparison, 0)
    )
}

/// For each figure all runs beside each other, and how far they lie from the first.
fn swept(step: &SharedStep, sweep: &Sweep, names: &[String]) -> Vec<Panel> {
    let mut panels = Vec::new();
    for figure in step.figures().into_iter().map(|one| &one.figure).filter(|one| is_drawn(step, one.title())) {
        let Some((_, metric)) = figure.metric else { continue };
        let metric = if metric.is_throughput() { sweep.metric() } else { metric };
        panels.push(chart::lines_for(sweep, metric));
        let find = |reading: &CellFigures, other: usize| {
            step.find(reading, figure.title(), other).map(|contrast| drawn_change(step, contrast))
        };
        panels.extend(chart::changes(change_title(figure, names), sweep, find));
    }
    panels
}

/// Panels of a step whose cells lie along no axis: latencies by percentile, and the changes by name.
fn unswept(step: &SharedStep, names: &[String]) -> Vec<Panel> {
    let titles: Vec<String> = step.figures().iter().map(|one| one.figure.title().to_owned()).collect();
    let mut panels = chart::curve_across(&step.runs, names);
    for reading in &step.base().readings {
        let of_run = |(place, name): (usize, &String)| {
            let found =
                |(at, title): (usize, &String)| Some((at, drawn_change(step, step.find(reading, title, place + 1)?)));
            (name.clone(), titles.iter().enumerate().filter_map(found).collect::<Vec<_>>())
        };
        let runs: Vec<_> = names[1..].iter().enumerate().map(of_run).collect();
        let cell = cell_name(step.base(), reading);
        let what = if cell.is_empty() { "Change".to_owned() } else { format!("{cell}: change") };
        panels.extend(chart::changes_by_name(format!("{what} from {}", names[0]), &titles, runs));
    }
    panels
}

/// Whether a figure has charts: mean latency that is throughput turned over has none.
fn is_drawn(step: &SharedStep, title: &str) -> bool {
    step.contrasts.iter().any(|one| one.figure.title() == title && !one.follows)
}

fn change_title(figure: &Compared, names: &[String]) -> String {
    format!("{}: change from {}, {}", figure.title(), names[0], figure.better())
}

/// A change with what is said of it when it is hovered over.
fn drawn_change<'c>(step: &SharedStep, one: &'c Contrast) -> chart::DrawnChange<'c> {
    let p = one.test.map_or_else(String::new, |test| format!(", p = {}", p_value(test.adjusted)));
    let said = vec![
        step.point(one),
        format!("{}: {}", one.figure.name, change(one.ratio.ratio)),
        bounds(one.ratio),
        format!("{}{p}", one.verdict().name()),
    ];
    chart::DrawnChange { contrast: one, said }
}

/// One figure of a step in all runs: of cells how far each lies from the first run's, of trials how many times that it is.
fn table(step: &SharedStep, place: usize, figure: &Contrast, names: &[String]) -> Markup {
    let (part, title) = (step.base(), figure.figure.title());
    let others = 1..names.len();
    let is_tried = part.trials().is_some();
    let (unit, scale) = match step.column(figure) {
        Some(column) => (column.unit, column.scale),
        None => (figure.figure.unit.as_str(), 1.0),
    };
    let figures = |reading: &CellFigures| {
        html! {
            @let first = others.clone().find_map(|other| step.find(reading, title, other));
            (mean(first.map(|one| &one.before), title, scale))
            @for other in others.clone() {
                @match step.find(reading, title, other) {
                    Some(one) if is_tried => { (mean(Some(&one.after), title, scale)) (ratio(one)) },
                    Some(one) => { (mean(Some(&one.after), title, scale)) (changed(one)) td.unit { (bounds(one.ratio)) } },
                    None => { td.number { span.dash { "–" } } td {} td {} },
                }
            }
        }
    };
    let rows = if place == 0 { Rows::Linked } else { Rows::Plain };
    let table = html! {
        table {
            caption {
                @match step.column(figure).filter(|_| is_tried) {
                    Some(column) => { (column.title()) ": means ± 95 % confidence, and how many times the first run's each is" },
                    None => { (title) ", " (unit) ": means ± 95 % confidence; " (figure.figure.better()) },
                }
            }
            thead { tr {
                (axis_head(part))
                th.number scope="col" data-head={ (names[0]) ", " (unit) } { (names[0]) }
                @for other in others.clone() {
                    th.number scope="col" data-head={ (names[other]) ", " (unit) } { (names[other]) }
                    @if is_tried {
                        th.number scope="col" data-head={ (names[other]) " over " (names[0]) } { "× " (names[0]) }
                    } @else {
                        th.number scope="col" data-head={ (names[other]) ", change, %" } { "Change" }
                    }
                    th scope="col" { "95 % interval" }
                }
            } }
            (grouped(part, rows, 2 + 3 * (names.len() - 1), figures))
        }
    };
    framed(&format!("{}: {title}", part.step.title), &table)
}

/// How many times the first run's figure another's is, with its interval.
fn ratio(one: &Contrast) -> Markup {
    let bounds = one.ratio.bounds;
    html! {
        td.number.change title=(judged(one.verdict())) data-v=(kept(one.ratio.ratio))
            data-l=[bounds.map(|ends| kept(ends.0))] data-u=[bounds.map(|ends| kept(ends.1))]
        { (marked(one.verdict(), &format!("{}\u{a0}×", three(one.ratio.ratio)))) }
        td.unit {
            @match bounds {
                None => "measured once",
                Some((low, high)) if low == high => "no scatter",
                Some((low, high)) => { (three(low)) "–" (three(high)) },
            }
        }
    }
}

/// Each figure of each step that tries something in a line.
fn by_figure(comparison: &Comparison, steps: &[&SharedStep]) -> Markup {
    let several = comparison.outcomes.len() > 2;
    let of = |step: &&&SharedStep| {
        let others = |one: &Contrast| {
            let title = one.figure.title().to_owned();
            (1..comparison.outcomes.len()).map(move |other| (title.clone(), other))
        };
        step.figures().into_iter().flat_map(others).collect::<Vec<_>>()
    };
    let table = html! {
        table {
            caption { "By figure of trials: geometric means over the points, and how many really differ" }
            thead { tr {
                th scope="col" { "Step" } th scope="col" { "Figure" } @if several { th scope="col" { "Run" } }
                th.number scope="col" { "× " (name(comparison, 0)) }
                th.number scope="col" { "Points" } th.number scope="col" { "Worse" } th.number scope="col" { "Better" }
            } }
            tbody { @for step in steps { @for (title, other) in of(&step) {
                @let of = |verdict| step.of_figure(&title, other).filter(|one| one.verdict() == verdict).count();
                @if let Some(mean) = step.mean_ratio(&title, other) { tr {
                    th scope="row" { a href={ "#" (step.base().anchor()) } { (step.base().step.title) } }
                    td { (title) } @if several { td { (name(comparison, other)) } }
                    td.number data-v=(kept(mean)) { (three(mean)) "\u{a0}×" }
                    td.number { (step.of_figure(&title, other).count()) }
                    td.number { (number_or_dash(of(Significance::Worse), "worse")) }
                    td.number { (number_or_dash(of(Significance::Better), "better")) }
                } }
            } } }
        }
    };
    framed("By figure of trials", &table)
}

/// The mean of what `title` names with its interval, marked where a repeat lies apart; one of it is shown as `scale`.
fn mean(side: Option<&ContrastSide>, title: &str, scale: f64) -> Markup {
    let Some(side) = side else { return html! { td.number { span.dash { "–" } } } };
    let listed: Vec<String> = side.samples.iter().map(|sample| three(sample * scale)).collect();
    let apart = match side.outliers.len() {
        0 => String::new(),
        outliers => format!("; {}", count(outliers, "outlier")),
    };
    html! {
        td.number title={ (title) " of each repeat: " (listed.join(", ")) (apart) }
            data-v=(kept(side.interval.mean * scale)) data-h=[side.interval.half_width.map(|half| kept(half * scale))]
        {
            (three(side.interval.mean * scale))
            @if let Some(spread) = spread(&side.interval) { " " span.spread { (spread) } }
            @if !side.outliers.is_empty() { span.flag role="img" aria-label="one of the repeats is an outlier" { "✱" } }
        }
    }
}

fn back_matter(comparison: &Comparison) -> Markup {
    let unshared = unshared(comparison);
    let question = &comparison.question;
    let steps = question.steps.iter().map(|step| format!(" --step {step}"));
    let asked: String = steps.chain(question.aspects.iter().map(|one| format!(" --metric {}", one.name()))).collect();
    let ids: Vec<String> = comparison.outcomes.iter().map(super::ids).collect();
    let paired = if question.paired { " --paired" } else { "" };
    html! {
        section #limits {
            h2 { "Not compared" }
            @if unshared.is_empty() {
                p { "Every point that " (name(comparison, 0)) " measured with repeats, and every point of its trials, is in the other runs too. Conditioning is not compared: it runs once." }
            } @else { ul.all-findings { @for line in &unshared { li { (line) } } } }
            @if !comparison.caveats.is_empty() {
                h3 { "Other differences between the runs" }
                ul.all-findings { @for caveat in &comparison.caveats { li { (bound(caveat)) } } }
            }
        }
        section #method {
            h2 { "How it was compared" }
            p { "A point is shared where both runs have the same step, the same values of the swept parameters and the \
                same workload; a point of a trial where all options of the trial are the same." }
            p { (bound("The change is the ratio of the means over the repeats. Its 95 % interval is Welch's on a \
                logarithmic scale and applies to one figure alone: of twenty such intervals of a drive compared with \
                itself, one excludes no change by chance. So the interval says how large a difference may be, not \
                whether there is one.")) }
            p { (bound(&format!("The key figures, those of the summary of a run's report, are one family of {}: Welch's \
                t-test of the ratio (the test of which the interval is the other side) with Holm's correction, at 5 %. All \
                other figures are a second family of {}: the Mann–Whitney U test of the repeats, exact up to 40 of them, \
                controlled for false discoveries at 5 % after Benjamini and Hochberg. They are leads to follow, not \
                results.", count(comparison.tests(true), "test"), count(comparison.tests(false), "test")))) }
            p { (bound("Repeats beyond Tukey's outer fences (three interquartile ranges outside the quartiles) are \
                marked ✱. None is excluded.")) }
            p { "Rules and sources: docs/method.md." }
        }
        section #repeat {
            h2 { "Repeat this" }
            pre.command { code { "assay compare " (ids.join(" ")) (paired) (asked) } }
        }
    }
}
