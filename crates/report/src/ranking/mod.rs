//! Many runs by each key figure: for terminals, as a page, and for programs.

mod boxes;
mod page;

pub(crate) use page::page;
use plan::compare::{Family, Ranked, RankedFigure, Ranking};
use serde_json::{Value, json as object};
use stats::five_numbers;

use crate::number::{count, spread, three};
use crate::wrap::wrapped;

/// Runs by each key figure: one self-contained HTML file.
pub fn html(ranking: &Ranking, version: &str) -> String {
    page(ranking, version).contained()
}

/// What marks one that is not surely worse than the best.
const ALIKE: &str = "=";

/// Runs by each key figure, for a terminal `width` columns wide. Ends with a line feed.
pub fn text(ranking: &Ranking, width: u16) -> String {
    let mut lines = wrapped(&headline(ranking), width);
    for figure in &ranking.figures {
        lines.push(String::new());
        lines.push(format!("{}, {} ({})", figure.title, figure.unit, better(figure)));
        let means: Vec<String> = figure.ranks.iter().map(mean).collect();
        let widest = means.iter().map(|mean| mean.chars().count()).max().unwrap_or_default();
        for (place, (one, mean)) in figure.ranks.iter().zip(&means).enumerate() {
            let ratio = one.ratio.map_or_else(|| "best".to_owned(), |ratio| format!("{} ×", three(ratio.ratio)));
            let room = usize::from(width) - 5 - widest - 11;
            let name: String = match one.family.chars().count() > room {
                true => one.family.chars().take(room - 1).chain(['…']).collect(),
                false => one.family.clone(),
            };
            lines.push(format!("{:>3}{:1} {name:room$}{mean:>widest$}{ratio:>10}", place + 1, mark(one)));
        }
    }
    lines.push(String::new());
    lines.extend(wrapped(&method(ranking), width));
    lines.join("\n").replace(crate::number::BINDING, " ") + "\n"
}

/// `16 runs by target, ranked by each key figure.`
fn headline(ranking: &Ranking) -> String {
    let runs = count(ranking.runs.len(), "run");
    match ranking.family {
        Family::Run => format!("{runs}, ranked by each key figure."),
        family => format!("{runs} by {}, ranked by each key figure.", family.name()),
    }
}

/// The rules in a sentence or two.
fn method(ranking: &Ranking) -> String {
    let repeats = match ranking.family {
        Family::Run => "",
        _ => " In a family of several runs each run counts as one repeat.",
    };
    format!(
        "Means over the repeats with their 95 % intervals, and the ratio to the best. {ALIKE} marks what is not \
         significantly worse than the best, by Welch's t-test of the ratio at 5 % with Holm's correction over all pairs \
         of a figure; ? what was measured once.{repeats}"
    )
}

fn mark(one: &Ranked) -> &'static str {
    match one.is_worse {
        Some(true) => "",
        Some(false) if one.ratio.is_none() => "",
        Some(false) => ALIKE,
        None => "?",
    }
}

fn better(figure: &RankedFigure) -> &'static str {
    if figure.more_is_better { "more is better" } else { "less is better" }
}

fn mean(one: &Ranked) -> String {
    let spread = spread(&one.side.interval).map_or_else(String::new, |spread| format!(" {spread}"));
    three(one.side.interval.mean) + &spread
}

/// The same as one JSON document.
pub fn json(ranking: &Ranking, version: &str) -> String {
    let rank = |(place, one): (usize, &Ranked)| {
        object!({
            "rank": place + 1,
            "family": one.family,
            "runs": one.runs,
            "mean": one.side.interval.mean,
            "half_width": one.side.interval.half_width,
            "samples": one.side.samples,
            "five_numbers": five_numbers(&one.side.samples),
            "ratio": one.ratio.map(|ratio| ratio.ratio),
            "is_worse": one.is_worse,
        })
    };
    let figure = |figure: &RankedFigure| {
        let ranks: Vec<Value> = figure.ranks.iter().enumerate().map(rank).collect();
        object!({
            "figure": figure.title, "unit": figure.unit, "more_is_better": figure.more_is_better, "ranks": ranks,
        })
    };
    let document = object!({
        "assay": version,
        "by": ranking.family.name(),
        "runs": ranking.runs.iter().map(|run| run.id).collect::<Vec<_>>(),
        "figures": ranking.figures.iter().map(figure).collect::<Vec<_>>(),
    });
    serde_json::to_string_pretty(&document).expect("names and numbers always serialise") + "\n"
}
