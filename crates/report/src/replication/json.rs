//! Repeated reviews for programs.

use plan::replicate::{Answer, Expect, Replication, Tally, Use};
use serde_json::{Value, json as object};

/// What came of repeating reviews, as one JSON document.
///
/// `figures` has every published figure of all reviews: `id`, `use`, `published`, `measured` and `error`, the share
/// by which the measurement is off (0 where a bound holds), and how it is judged. What was not measured is null.
pub fn json(replications: &[Replication], version: &str) -> String {
    let figures: Vec<Value> = replications.iter().flat_map(figures).collect();
    let reviews: Vec<Value> = replications.iter().map(review).collect();
    let seed = replications.first().map(|replication| replication.seed.get());
    let document = object!({ "assay": version, "seed": seed, "figures": figures, "reviews": reviews });
    serde_json::to_string_pretty(&document).expect("names and numbers always serialise")
}

fn figures(replication: &Replication) -> Vec<Value> {
    let published = &replication.published;
    let groups = published.groups.iter().zip(&replication.answers);
    let series = groups.flat_map(|(group, answers)| group.series.iter().zip(answers).map(move |pair| (group, pair)));
    series
        .flat_map(|(group, (series, answers))| answers.iter().map(move |answer| (group, series, answer)))
        .map(|(group, series, answer)| {
            let mut figure = of(answer);
            figure["review"] = object!(published.review);
            figure["group"] = object!(group.title);
            figure["unit"] = object!(series.unit);
            figure
        })
        .collect()
}

fn of(answer: &Answer) -> Value {
    let figure = &answer.figure;
    let expect = match figure.expect {
        None => Value::Null,
        Some(Expect::Value { value, about: false }) => object!({ "value": value }),
        Some(Expect::Value { value, about: true }) => object!({ "about": value }),
        Some(Expect::Bounds { at_least, at_most }) => {
            let mut bounds = object!({});
            if let Some(least) = at_least {
                bounds["at_least"] = object!(least);
            }
            if let Some(most) = at_most {
                bounds[if most.inclusive { "at_most" } else { "below" }] = object!(most.value);
            }
            bounds
        }
    };
    object!({
        "id": figure.id,
        "use": figure.usage,
        "published": figure.expect.and_then(|expect| expect.number()),
        "measured": answer.measured,
        "error": answer.error(),
        "expect": expect,
        "tolerance": figure.tolerance,
        "met": answer.holds(),
        "odd": figure.odd,
        "unmeasured": figure.unmeasured,
    })
}

fn review(replication: &Replication) -> Value {
    let published = &replication.published;
    let conditions: Vec<Value> = replication
        .conditions
        .iter()
        .map(|condition| object!({ "part": condition.part, "target": format!("sim:{}", condition.target), "title": condition.title }))
        .collect();
    let missing: Vec<Value> = replication
        .missing
        .iter()
        .map(|lost| object!({ "part": lost.part, "target": format!("sim:{}", lost.target), "why": lost.why, "failed": lost.failed }))
        .collect();
    let besides: Vec<Value> = replication
        .besides
        .iter()
        .map(|beside| object!({ "id": beside.id, "measured": beside.measured, "unit": beside.unit }))
        .collect();
    let limits: Vec<Value> = replication
        .limits
        .iter()
        .map(|(id, limit)| object!({ "id": id, "part": limit.part.name(), "busy_percent": limit.busy }))
        .collect();
    let groups: Vec<Value> = (0..published.groups.len()).map(|group| judged(replication, group)).collect();
    object!({
        "review": published.review,
        "title": published.title,
        "source": published.source,
        "method": replication.about,
        "seed": replication.seed.get(),
        "conditions": conditions,
        "groups": groups,
        "limits": limits,
        "measured_besides": besides,
        "missing": missing,
    })
}

fn judged(replication: &Replication, group: usize) -> Value {
    let tally = |usage| {
        let Tally { judged, met, median, worst } = Tally::of(replication.answers_of(group), Some(usage));
        object!({ "judged": judged, "met": met, "median_error": median, "largest_error": worst })
    };
    let goals = &replication.published.groups[group];
    object!({
        "title": goals.title,
        "tolerance": goals.tolerance,
        "median_goal": goals.median,
        "met_goal": goals.within,
        "fit": tally(Use::Fit),
        "check": tally(Use::Check),
        "verdict": replication.verdict(group).name(),
    })
}
