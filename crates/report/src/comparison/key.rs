//! The key figures of runs side by side: what decides, before all that is exploratory.

use maud::{Markup, html};
use plan::compare::{Comparison, Contrast};
use stats::Interval;

use super::columns::Columns;
use super::{change, colored, interval, judged, mark, marked, name, p_value};
use crate::number::{kept, spread, three};
use crate::table::framed;

/// The widths of two means and a ratio in text: `0.942 (0.931–0.953) ▼`.
const WIDTHS: [usize; 3] = [7, 7, 21];

/// What a key figure is called in a narrow column: `Random read, 4 KiB, QD 32, worn, IOPS`.
fn short(comparison: &Comparison, one: &Contrast) -> String {
    let title = one.key.map_or("", |key| comparison.question.key[key].title.as_str());
    let shorter = [("queue depth", "QD"), ("Sequential", "Seq."), ("Mixed random ", ""), (" latency", "")];
    let title = shorter.iter().fold(title.to_owned(), |title, (long, short)| title.replacen(long, short, 1));
    let title =
        if title.contains(" %") || title.contains(": median") { title.replacen(", QD 1", "", 1) } else { title };
    format!("{title}, {}", one.figure.unit)
}

/// The key figures in one of the other runs, a line each; none where there are none.
pub(super) fn lines(comparison: &Comparison, other: usize, width: u16, color: bool) -> Vec<String> {
    let key = comparison.key(other);
    if key.is_empty() {
        return Vec::new();
    }
    let [base, run] = [0, other].map(|place| name(comparison, place));
    let row = |one: &Contrast| {
        let ratio = format!("{} {:1}", told(one), mark(one.verdict()));
        let figures = [three(one.before.interval.mean), three(one.after.interval.mean), ratio];
        (short(comparison, one), figures.map(|figure| colored(figure, one.verdict(), color)).to_vec())
    };
    let ratio = format!("ratio to {base}   ");
    let rows = key.into_iter().map(row).collect();
    Columns { heads: ("Key figures".to_owned(), vec![base, run, ratio]), rows, widths: WIDTHS.to_vec(), gap: 2 }
        .lines(width)
}

/// `0.942 (0.931–0.953)`: the ratio with its interval; as a change in percent where three digits show none.
fn told(one: &Contrast) -> String {
    let ratio = three(one.ratio.ratio);
    if ratio == "1.00" && one.verdict().is_real() {
        return change(one.ratio.ratio);
    }
    match one.ratio.bounds.map(|(low, high)| (three(low), three(high))) {
        Some((low, high)) if low != high => format!("{ratio} ({low}–{high})"),
        _ => ratio,
    }
}

/// The same as a table of all runs; nothing where there are none.
pub(super) fn table(comparison: &Comparison, names: &[String]) -> Markup {
    let others: Vec<Vec<&Contrast>> = (1..names.len()).map(|other| comparison.key(other)).collect();
    let is_there = |place: &usize| others.iter().flatten().any(|one| one.key == Some(*place));
    let places: Vec<usize> = (0..comparison.question.key.len()).filter(is_there).collect();
    if places.is_empty() {
        return html! {};
    }
    let found = |place: usize| others.iter().map(move |key| key.iter().find(|one| one.key == Some(place)).copied());
    let table = html! {
        table {
            caption { "Key figures: means ± 95 % confidence, and the ratio to " (names[0]) }
            thead { tr {
                th scope="col" { "Key figure" } th scope="col" { "Unit" }
                th.number scope="col" { (name(comparison, 0)) }
                @for (run, title) in (1..names.len()).map(|other| (name(comparison, other), &names[other])) {
                    th.number scope="col" title=(title) { (run) }
                    th.number scope="col" data-head={ (run) ", ratio" } { "Ratio" }
                    th scope="col" { "95 % interval" }
                    th.number scope="col" { "p, corrected" }
                }
            } }
            tbody { @for place in places { tr {
                th.long scope="row" { (comparison.question.key[place].title) }
                @let first = found(place).flatten().next();
                td.unit title=[first.map(|one| one.figure.better())] { (first.map_or("", |one| one.figure.unit.as_str())) }
                (mean(first.map(|one| &one.before.interval)))
                @for one in found(place) {
                    (mean(one.map(|one| &one.after.interval)))
                    @match one { Some(one) => (ratio(one)), None => { td {} td {} td {} } }
                }
            } } }
        }
    };
    framed("Key figures", &table)
}

fn mean(figure: Option<&Interval>) -> Markup {
    let Some(figure) = figure else { return html! { td.number { span.dash { "–" } } } };
    html! {
        td.number data-v=(kept(figure.mean)) data-h=[figure.half_width.map(kept)] {
            (three(figure.mean)) @if let Some(spread) = spread(figure) { " " span.spread { (spread) } }
        }
    }
}

fn ratio(one: &Contrast) -> Markup {
    let bounds = one.ratio.bounds;
    let told = match bounds {
        None => "measured once".to_owned(),
        Some(_) if one.before.is_exact && one.after.is_exact => "no scatter".to_owned(),
        Some((low, high)) if interval(one.ratio).is_empty() || low == high => "±<0.01 %".to_owned(),
        Some((low, high)) => format!("{}–{}", three(low), three(high)),
    };
    html! {
        td.number.change title=(judged(one.verdict())) data-v=(kept(one.ratio.ratio))
            data-l=[bounds.map(|ends| kept(ends.0))] data-u=[bounds.map(|ends| kept(ends.1))]
        { (marked(one.verdict(), &format!("{}\u{a0}×", three(one.ratio.ratio)))) }
        td.unit { (told) }
        td.number data-v=[one.test.map(|test| kept(test.adjusted))] {
            (one.test.map_or_else(String::new, |test| p_value(test.adjusted)))
        }
    }
}
