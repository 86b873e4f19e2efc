//! A ranking as a page: small multiples of the key figures, each a table with box plots in it.

use maud::{Markup, html};
use plan::compare::{RankedFigure, Ranking};

use super::boxes::Scale;
use super::{better, headline, mark, mean, method};
use crate::conditions::runs;
use crate::number::{bound, kept, three};
use crate::page::Page;
use crate::table::framed;

/// Runs by each key figure, before it is known where its style and scripts are.
pub(crate) fn page(ranking: &Ranking, version: &str) -> Page {
    let heading = html! {
        p.kicker { "Ranking of runs" }
        h1 { (headline(ranking).trim_end_matches('.')) }
    };
    let main = html! {
        section #summary aria-labelledby="figures" {
            h2.hidden #figures { "Key figures" }
            p.verdict { (bound(&winners(ranking))) }
            div.multiples { @for figure in &ranking.figures { (multiple(figure)) } }
            p.trust { (bound(&method(ranking))) " Boxes reach from quartile to quartile with a bar at the median, lines from the \
                least to the greatest repeat." }
        }
        section #runs { h2 { "Runs" } (runs(ranking.runs.iter().map(|run| (format!("run {}", run.id), run)))) }
    };
    Page {
        title: headline(ranking).trim_end_matches('.').to_owned(),
        version: version.to_owned(),
        name: "ranking".to_owned(),
        heading,
        main,
    }
}

/// Who leads in how many key figures: `sim:a is best in 8 of 19 key figures, sim:b in 6.`
fn winners(ranking: &Ranking) -> String {
    let mut won: Vec<(&str, usize)> = Vec::new();
    for family in ranking.figures.iter().map(|figure| figure.ranks[0].family.as_str()) {
        match won.iter_mut().find(|(known, _)| *known == family) {
            Some((_, times)) => *times += 1,
            None => won.push((family, 1)),
        }
    }
    won.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    let all = ranking.figures.len();
    let first = won
        .first()
        .map_or_else(String::new, |(family, times)| format!("{family} is best in {times} of {all} key figures"));
    let others: Vec<String> =
        won.iter().skip(1).take(3).map(|(family, times)| format!("{family} in {times}")).collect();
    format!("{}.", std::iter::once(first).chain(others).collect::<Vec<_>>().join(", "))
}

/// One key figure: who gave what, the best first.
fn multiple(figure: &RankedFigure) -> Markup {
    let scale = Scale::of(figure);
    let table = html! {
        table.ranks {
            caption { (figure.title) ", " (figure.unit) "; " (better(figure)) }
            thead { tr {
                th.number scope="col" { "Rank" } th scope="col" { "Name" }
                th scope="col" data-head="Repeats" { (scale.told()) }
                th.number scope="col" data-head={ "Mean, " (figure.unit) } { "Mean" }
                th.number scope="col" data-head="Ratio to the best" { "Ratio" }
            } }
            tbody { @for (place, one) in figure.ranks.iter().enumerate() { tr {
                td.number { (place + 1) (mark(one)) }
                th scope="row" { (one.family) @if one.runs > 1 { span.unit { " (" (one.runs) " runs)" } } }
                td.plot { (scale.drawn(one, &figure.unit)) }
                td.number data-v=(kept(one.side.interval.mean)) data-h=[one.side.interval.half_width.map(kept)] { (mean(one)) }
                td.number data-v=[one.ratio.map(|ratio| kept(ratio.ratio))] {
                    @match one.ratio { Some(ratio) => { (three(ratio.ratio)) "\u{a0}×" }, None => "best" }
                }
            } } }
        }
    };
    html! { div { (framed(&figure.title, &table)) } }
}
