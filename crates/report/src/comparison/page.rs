//! A comparison as one HTML file.

use lab::Metric;
use lab::compare::{Aspect, Comparison, Contrast, Side, Verdict};
use maud::{Markup, html};

use super::rows::{Shared, shared};
use super::{METHOD, change, interval, mark, name, reach, trials, unshared, verdict};
use crate::chart::{self, Panel};
use crate::conditions::date;
use crate::figure::Reading;
use crate::number::{bound, count, kept, significant, spread, three, with_unit};
use crate::page::{NO_SCRIPT, Page};
use crate::quoting::quoting;
use crate::section::figure as drawn;
use crate::sweep::Sweep;
use crate::table::{Rows, axis_head, cell_name, framed, grouped};

/// How many of the largest changes the summary lists.
const LISTED: usize = 12;

/// Runs held against the first of them: one self-contained HTML file, every run in each chart. The same comparison
/// always gives the same text.
pub fn html(comparison: &Comparison, version: &str) -> String {
    page(comparison, version).contained()
}

/// The same, before it is known where its style and scripts are.
pub(crate) fn page(comparison: &Comparison, version: &str) -> Page {
    let names: Vec<String> = (0..comparison.outcomes.len()).map(|place| name(comparison, place)).collect();
    let title = title(comparison);
    let steps = shared(comparison);
    let cells = steps.iter().map(|step| step.base().readings.len()).sum();
    let figures = comparison.contrasts.len() + comparison.trials.len();
    let counts = [(cells, "shared cell"), (figures, "figure"), (comparison.tests(), "test")];
    let heading = html! {
        p.kicker { "Comparison of runs" }
        h1 { (title) }
        p.facts {
            @for (number, noun) in counts.into_iter().filter(|(number, _)| *number > 0) { span { (count(number, noun)) } }
        }
    };
    let main = html! {
        (summary(comparison, &steps))
        nav aria-label="Contents" { ol {
            @for step in &steps { li { a href={ "#" (step.base().anchor()) } { (step.base().step.title) } } }
            @for step in trials::steps(comparison) {
                @let plan = &comparison.outcomes[0].plan.steps[comparison.outcomes[0].steps[step].index];
                li { a href={ "#" (crate::part::anchor(&plan.name)) } { (plan.title) } }
            }
            @for (anchor, title) in [("limits", "What is not compared"), ("method", "How it was compared"), ("repeat", "Repeat this")] {
                li { a href={ "#" (anchor) } { (title) } }
            }
        } }
        (NO_SCRIPT)
        @for step in &steps { (section(comparison, step, &names)) }
        @for step in trials::steps(comparison) { (trials::section(comparison, step, &names)) }
        (back_matter(comparison))
    };
    Page { title, version: version.to_owned(), name: file_name(comparison), heading, main }
}

/// `runs-1-2`: what files with data from the page begin with.
fn file_name(comparison: &Comparison) -> String {
    let ids = comparison.outcomes.iter().map(|outcome| outcome.run.id.to_string());
    format!("runs-{}", ids.collect::<Vec<_>>().join("-"))
}

/// `Run 2 against run 1`, `Runs 2, 3 and 4 against run 1`.
fn title(comparison: &Comparison) -> String {
    let ids: Vec<String> = comparison.outcomes[1..].iter().map(|outcome| outcome.run.id.to_string()).collect();
    let others = match &ids[..] {
        [one] => format!("Run {one}"),
        [others @ .., last] => format!("Runs {} and {last}", others.join(", ")),
        [] => String::new(),
    };
    format!("{others} against {}", name(comparison, 0))
}

fn summary(comparison: &Comparison, steps: &[Shared]) -> Markup {
    html! {
        section #summary aria-labelledby="verdict" {
            h2.hidden #verdict { "Summary" }
            (runs(comparison))
            @for other in 1..comparison.outcomes.len() {
                p.verdict { (bound(&verdict(comparison, other))) " " (bound(&trials::sentences(comparison, other).join(" "))) }
            }
            @if let Some(reach) = reach(comparison) { p.shortfall { (quoting(&reach)) } }
            @if !steps.is_empty() { (largest(comparison, steps)) (by_step(comparison, steps)) }
            p.trust { (bound(METHOD)) " " a href="#method" { "More of it" } "." }
        }
    }
}

/// What was held against what.
fn runs(comparison: &Comparison) -> Markup {
    let table = html! {
        table {
            caption.hidden { "Runs" }
            thead { tr { @for head in ["Run", "Target", "Plan", "Seed", "Started"] { th scope="col" { (head) } } } }
            tbody { @for (place, outcome) in comparison.outcomes.iter().enumerate() { @let run = &outcome.run; tr {
                th scope="row" { (name(comparison, place)) }
                td { (run.target_identity) br; code { (run.target) } }
                td { (run.plan) @if run.quick { " (quick)" } } td { (run.seed) } td { (date(run.started_ms)) }
            } } }
        }
    };
    framed("Runs", &table)
}

/// The largest changes that are more than chance, worse ones first.
fn largest(comparison: &Comparison, steps: &[Shared]) -> Markup {
    // What follows another figure says the same again.
    let is_own = |one: &&Contrast| one.verdict().is_real() && !one.follows;
    let mut real: Vec<&Contrast> = comparison.contrasts.iter().filter(is_own).collect();
    let loss = |one: &Contrast| one.ratio.ratio.ln() * if one.metric.more_is_better() { -1.0 } else { 1.0 };
    real.sort_by(|a, b| loss(b).total_cmp(&loss(a)));
    let total = real.len();
    let (worse, better): (Vec<&Contrast>, Vec<&Contrast>) =
        real.into_iter().partition(|one| one.verdict() == Verdict::Worse);
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
            caption { @if total > listed.len() { "The largest of " (total) " real differences" } @else { "Real differences" } }
            thead { tr {
                th scope="col" { "Step" } th scope="col" { "Cell" } th scope="col" { "Figure" }
                th.number scope="col" { "Before" } th.number scope="col" { "After" }
                th.number scope="col" data-head="Change, %" { "Change" } th scope="col" { "95 % interval" } th.number scope="col" { "p, corrected" }
            } }
            tbody { @for one in listed { (largest_row(comparison, steps, one)) } }
        }
    };
    framed("Real differences", &table)
}

fn largest_row(comparison: &Comparison, steps: &[Shared], one: &Contrast) -> Markup {
    let Some(step) = steps.iter().find(|step| step.step == one.step) else { return html! {} };
    let (part, cell) = (step.base(), step.cell(one));
    let several = comparison.outcomes.len() > 2;
    html! { tr {
        th scope="row" { a href={ "#" (part.anchor()) } { (part.step.title) } @if several { ", " (name(comparison, one.other)) } }
        td { @if cell.is_empty() { "–" } @else { (cell) } }
        td { (one.metric.title()) }
        td.number { (with_unit(one.metric, one.before.interval.mean)) }
        td.number { (with_unit(one.metric, one.after.interval.mean)) }
        (changed(one))
        td.unit { (bounds(one)) }
        td.number data-v=[one.test.map(|test| kept(test.adjusted))] { (one.test.map_or_else(String::new, |test| p_value(test.adjusted))) }
    } }
}

/// A change with its mark.
fn changed(one: &Contrast) -> Markup {
    let verdict = one.verdict();
    let words = match verdict {
        Verdict::Better => "really better",
        Verdict::Worse => "really worse",
        Verdict::NotShown => "may be chance",
        Verdict::CannotBeShown => "too few repeats to tell",
    };
    let p = one.test.map_or_else(String::new, |test| {
        format!("; p = {}, corrected {}", p_value(test.rank.p), p_value(test.adjusted))
    });
    html! {
        td.number.change title={ (words) (p) } data-v=(percent(one.ratio.ratio))
            data-l=[one.ratio.bounds.map(|bounds| percent(bounds.0))] data-u=[one.ratio.bounds.map(|bounds| percent(bounds.1))]
        {
            @match verdict {
                Verdict::Worse => span.worse { (change(one.ratio.ratio)) },
                Verdict::Better => span.better { (change(one.ratio.ratio)) },
                _ => span.absent { (change(one.ratio.ratio)) },
            }
            @if verdict.is_real() { span.sign role="img" aria-label=(words) { (mark(verdict)) } }
        }
    }
}

/// A ratio as a change in percent, for data that is taken away.
fn percent(ratio: f64) -> String {
    kept((ratio - 1.0) * 100.0)
}

/// The interval of a change; told where there is none.
fn bounds(one: &Contrast) -> String {
    match (one.ratio.bounds, interval(one)) {
        (None, _) => "measured once".to_owned(),
        (Some((low, high)), _) if low == high => "no scatter".to_owned(),
        (Some(_), bounds) if bounds.is_empty() => "±<0.01 %".to_owned(),
        (Some(_), bounds) => bounds,
    }
}

fn p_value(p: f64) -> String {
    if p < 0.0005 { "<0.001".to_owned() } else { significant(p, 2) }
}

/// Each step in a line.
fn by_step(comparison: &Comparison, steps: &[Shared]) -> Markup {
    let several = comparison.outcomes.len() > 2;
    let table = html! {
        table {
            caption { "By step: geometric means of the changes over its cells, and how many figures really differ" }
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
                        td.number { (step.mean_ratio(aspect, other).map_or_else(|| "–".to_owned(), change)) }
                    }
                    td.number { (step.contrasts.iter().filter(|one| one.other == other).count()) }
                    td.number { (number_or_dash(of(Verdict::Worse), "worse")) }
                    td.number { (number_or_dash(of(Verdict::Better), "better")) }
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
fn section(comparison: &Comparison, step: &Shared, names: &[String]) -> Markup {
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
            @for (place, aspect) in step.aspects().into_iter().enumerate() {
                @let table = table(comparison, step, (place, aspect), names);
                @if place == 0 { (table) } @else { details { summary { (aspect.title()) } (table) } }
            }
        }
    }
}

fn caption(comparison: &Comparison, is_swept: bool) -> String {
    let left = match is_swept {
        true => "means of the repeats with 95 % intervals, single repeats as dots",
        false => "the latencies of all repeats, by percentile",
    };
    format!(
        "Left: {left}. Right: how far the mean lies from {}'s, with the interval of the ratio; filled where it is more \
         than chance, hollow where it may be chance.",
        name(comparison, 0)
    )
}

/// For each figure all runs beside each other, and how far they lie from the first.
fn swept(step: &Shared, sweep: &Sweep, names: &[String]) -> Vec<Panel> {
    let mut panels = Vec::new();
    for aspect in step.aspects().into_iter().filter(|aspect| is_drawn(step, *aspect)) {
        let metric = match aspect {
            Aspect::Throughput => sweep.metric(),
            Aspect::Latency => Metric::LatencyMean,
            Aspect::P99 => Metric::Latency99,
        };
        panels.push(chart::lines_for(sweep, metric));
        let find = |reading: &Reading, other: usize| {
            step.find(reading, aspect, other).map(|contrast| drawn_change(step, contrast))
        };
        panels.extend(chart::changes(change_title(aspect, names), sweep, find));
    }
    panels
}

/// Panels of a step whose cells lie along no axis: latencies by percentile, and the changes by name.
fn unswept(step: &Shared, names: &[String]) -> Vec<Panel> {
    let aspects = step.aspects();
    let mut panels = chart::curve_across(&step.runs, names);
    for reading in &step.base().readings {
        let of_run = |(place, name): (usize, &String)| {
            let found = |(at, aspect): (usize, &Aspect)| {
                Some((at, drawn_change(step, step.find(reading, *aspect, place + 1)?)))
            };
            (name.clone(), aspects.iter().enumerate().filter_map(found).collect::<Vec<_>>())
        };
        let runs: Vec<_> = names[1..].iter().enumerate().map(of_run).collect();
        let titles: Vec<String> = aspects.iter().map(|aspect| aspect.title().to_owned()).collect();
        let cell = cell_name(step.base(), reading);
        let what = if cell.is_empty() { "Change".to_owned() } else { format!("{cell}: change") };
        panels.extend(chart::changes_by_name(format!("{what} from {}", names[0]), &titles, runs));
    }
    panels
}

/// Whether a figure has charts: mean latency that is throughput turned over has none.
fn is_drawn(step: &Shared, aspect: Aspect) -> bool {
    step.contrasts.iter().any(|one| one.aspect == aspect && !one.follows)
}

fn change_title(aspect: Aspect, names: &[String]) -> String {
    format!("{}: change from {}, {}", aspect.title(), names[0], aspect.better())
}

/// A change with what is said of it when it is hovered over.
fn drawn_change<'c>(step: &Shared, one: &'c Contrast) -> chart::Change<'c> {
    let p = one.test.map_or_else(String::new, |test| format!(", p = {}", p_value(test.adjusted)));
    let said = vec![
        step.cell(one),
        format!("{}: {}", one.metric.title(), change(one.ratio.ratio)),
        bounds(one),
        format!("{}{p}", one.verdict().name()),
    ];
    chart::Change { contrast: one, said }
}

/// One figure of a step in all runs.
fn table(comparison: &Comparison, step: &Shared, (place, aspect): (usize, Aspect), names: &[String]) -> Markup {
    let part = step.base();
    let others = 1..comparison.outcomes.len();
    let unit = step.contrasts.iter().find(|one| one.aspect == aspect).map_or("", |one| one.metric.unit());
    let table = html! {
        table {
            caption { (aspect.title()) ", " (unit) ": means ± 95 % confidence; " (aspect.better()) }
            thead { tr {
                (axis_head(part))
                th.number scope="col" data-head={ (names[0]) ", " (unit) } { (names[0]) }
                @for other in others.clone() {
                    th.number scope="col" data-head={ (names[other]) ", " (unit) } { (names[other]) }
                    th.number scope="col" data-head={ (names[other]) ", change, %" } { "Change" } th scope="col" { "95 % interval" }
                }
            } }
            (grouped(part, if place == 0 { Rows::Linked } else { Rows::Plain }, 2 + 3 * (names.len() - 1), |reading| html! {
                @let first = others.clone().find_map(|other| step.find(reading, aspect, other));
                (mean(first.map(|one| &one.before), aspect))
                @for other in others.clone() {
                    @match step.find(reading, aspect, other) {
                        Some(one) => { (mean(Some(&one.after), aspect)) (changed(one)) td.unit { (bounds(one)) } },
                        None => { td.number { span.dash { "–" } } td {} td {} },
                    }
                }
            }))
        }
    };
    framed(&format!("{}: {}", part.step.title, aspect.title()), &table)
}

/// A mean with its interval, marked where a repeat lies apart.
fn mean(side: Option<&Side>, aspect: Aspect) -> Markup {
    let Some(side) = side else { return html! { td.number { span.dash { "–" } } } };
    let listed: Vec<String> = side.samples.iter().map(|sample| three(*sample)).collect();
    let apart = match side.outliers.len() {
        0 => String::new(),
        outliers => format!("; {} apart from the others", count(outliers, "repeat")),
    };
    html! {
        td.number title={ (aspect.title()) " of each repeat: " (listed.join(", ")) (apart) }
            data-v=(kept(side.interval.mean)) data-h=[side.interval.half_width.map(kept)]
        {
            (three(side.interval.mean))
            @if let Some(spread) = spread(&side.interval) { " " span.spread { (spread) } }
            @if !side.outliers.is_empty() { span.flag role="img" aria-label="a repeat lies apart from the others" { "✱" } }
        }
    }
}

fn back_matter(comparison: &Comparison) -> Markup {
    let unshared = unshared(comparison);
    let question = &comparison.question;
    let steps = question.steps.iter().map(|step| format!(" --step {step}"));
    let asked: String = steps.chain(question.aspects.iter().map(|one| format!(" --metric {}", one.name()))).collect();
    let ids: Vec<String> = comparison.outcomes.iter().map(|outcome| outcome.run.id.to_string()).collect();
    html! {
        section #limits {
            h2 { "What is not compared" }
            @if unshared.is_empty() {
                p { "Every cell that " (name(comparison, 0)) " measured by repeats is in the other runs too. Conditioning is not compared: it is run once." }
            } @else { ul.all-findings { @for line in &unshared { li { (line) } } } }
            @if !comparison.caveats.is_empty() {
                h3 { "What else differs" }
                ul.all-findings { @for caveat in &comparison.caveats { li { (bound(caveat)) } } }
            }
        }
        section #method {
            h2 { "How it was compared" }
            p { "A cell is shared where both runs have the same step, the same values of what is swept, and the same workload." }
            p { (bound("The change is the ratio of the means over the repeats. Its 95 % interval is Welch's on a logarithmic scale and is that of one figure by itself: of twenty such intervals of a drive compared with itself, one leaves out no change by chance. So the interval says how large a difference may be, not whether there is one.")) }
            p { (bound(&format!("Whether there is one is decided by the Mann–Whitney U test of the repeats, exact up to 40 of them, with Holm's correction over the {} of this page, at 5 %.", count(comparison.tests(), "test")))) }
            p { (bound("Repeats beyond Tukey's outer fences (three interquartile ranges outside the quartiles) are marked ✱. None is left out.")) }
            p { "Rules and sources: docs/method.md." }
        }
        section #repeat {
            h2 { "Repeat this" }
            pre.command { code { "assay compare " (ids.join(" ")) (asked) } }
        }
    }
}
