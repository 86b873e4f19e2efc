//! Published reviews that were repeated: published beside measured, fitted and checked figures apart.

mod grid;
mod json;
mod page;
mod text;

use drive::rig::RigPart;
pub use json::json;
pub use page::html;
use plan::replicate::{Answer, Expect, FigureGroup, GoalVerdict, Replication, Tally, Use};
pub use text::text;

use crate::number::{count, percent, significant, three};

/// What was published: `9,115`, `about 200`, `≥ 3`, `200 to 300`, `< 100`.
fn published(answer: &Answer) -> String {
    match answer.figure.expect {
        None => "–".to_owned(),
        Some(Expect::Value { value, about: false }) => number(value),
        Some(Expect::Value { value, about: true }) => format!("about {}", number(value)),
        Some(Expect::Bounds { at_least, at_most }) => match (at_least, at_most) {
            (Some(least), Some(most)) => format!("{} to {}", number(least), number(most.value)),
            (Some(least), None) => format!("≥ {}", number(least)),
            (None, Some(most)) if most.inclusive => format!("≤ {}", number(most.value)),
            (None, Some(most)) => format!("< {}", number(most.value)),
            (None, None) => "–".to_owned(),
        },
    }
}

/// All digits of a number that was written by hand.
fn number(value: f64) -> String {
    let text = significant(value, 6);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// How far a measurement is off: `+2.1 %`, `−7.0 %`, `holds`; none where there is nothing to compare.
fn error(answer: &Answer) -> Option<String> {
    let (expect, error) = (answer.figure.expect?, answer.error()?);
    Some(match expect {
        Expect::Bounds { .. } if answer.holds()? => "holds".to_owned(),
        Expect::Bounds { .. } | Expect::Value { .. } => signed(error),
    })
}

fn signed(share: f64) -> String {
    let sign = if share < 0.0 { "−" } else { "+" };
    format!("{sign}{}", percent(share.abs()))
}

/// Whether a figure that counts is not met.
fn is_missed(answer: &Answer) -> bool {
    answer.is_judged() && answer.holds() == Some(false)
}

/// `Fitted: 19 of 20 met, median error 2.1 %, largest 12 %.`; none where nothing of the kind was judged.
fn tallied(word: &str, tally: &Tally) -> Option<String> {
    let (median, worst) = tally.median.zip(tally.worst)?;
    let (median, worst) = (percent(median), percent(worst));
    Some(format!("{word}: {} of {} met, median error {median}, largest {worst}.", tally.met, tally.judged))
}

/// A review in a sentence: how many figures are met, fitted and checked apart, and the one that is furthest off.
fn summarised(replication: &Replication) -> String {
    let tally = |usage| Tally::of(replication.all(), usage);
    let all = tally(None);
    if all.judged == 0 {
        return "No published figure was measured.".to_owned();
    }
    let apart: Vec<String> = [("fitted", Use::Fit), ("checked", Use::Check)]
        .map(|(word, usage)| (word, tally(Some(usage))))
        .iter()
        .filter(|(_, of_use)| of_use.judged > 0)
        .map(|(word, of_use)| format!("{word} {} of {}", of_use.met, of_use.judged))
        .collect();
    let furthest = furthest(replication).map_or_else(String::new, |furthest| format!("; {furthest}"));
    format!("{} of {} met: {}{furthest}.", all.met, count(all.judged, "figure"), apart.join(", "))
}

/// The missed figure that is furthest off, by its factor; where none is missed, the one with the largest error.
fn furthest(replication: &Replication) -> Option<String> {
    let off = |answer: &Answer| answer.error().map_or(0.0, |error| (1.0 + error).max(f64::MIN_POSITIVE).ln().abs());
    let missed: Vec<&Answer> = replication.all().filter(|answer| is_missed(answer)).collect();
    let (word, among) = if missed.is_empty() {
        let is_value = |answer: &&Answer| matches!(answer.figure.expect, Some(Expect::Value { .. }));
        ("largest error", replication.all().filter(|answer| answer.is_judged()).filter(is_value).collect())
    } else {
        ("worst miss", missed)
    };
    let worst = among.into_iter().max_by(|one, other| off(one).total_cmp(&off(other)))?;
    let (error, measured) = (worst.error()?, three(worst.measured?));
    Some(format!("{word} {}, {}: {measured}, published {}", signed(error), worst.figure.id, published(worst)))
}

/// What is said of a group: both tallies, then the verdict with what it asks for.
fn judged(replication: &Replication, group: usize) -> Vec<String> {
    let tally = |usage| Tally::of(replication.answers_of(group), Some(usage));
    let mut said: Vec<String> =
        [tallied("Fitted", &tally(Use::Fit)), tallied("Checked", &tally(Use::Check))].into_iter().flatten().collect();
    let asked = asked(&replication.published.groups[group]);
    said.push(match replication.verdict(group) {
        GoalVerdict::Met => format!("Met: {asked}."),
        GoalVerdict::NotMet => format!("Not met: {asked}."),
        GoalVerdict::Incomplete(1) => format!("Incomplete: one figure was not measured. Required: {asked}."),
        GoalVerdict::Incomplete(count) => format!("Incomplete: {count} figures were not measured. Required: {asked}."),
        GoalVerdict::NotTried => "Not measured.".to_owned(),
    });
    said
}

/// What a group asks for: `all within 10 %, fitted and checked medians at most 4 %`.
fn asked(group: &FigureGroup) -> String {
    let required = group.within.map_or_else(|| "all".to_owned(), |count| count.to_string());
    let figures = if group.tolerance > 0.0 {
        format!("{required} within {}", percent(group.tolerance))
    } else {
        format!("{required} hold")
    };
    match group.median {
        Some(median) => {
            format!("{figures}, median error at most {}, of fitted and of checked figures", percent(median))
        }
        None => figures,
    }
}

/// What held the rigs up while which figures were measured: `Bottleneck host CPU, 97 to 99 % busy: r/a, r/b.`
fn limits(replication: &Replication) -> Vec<String> {
    const NAMED: usize = 6;
    let mut parts: Vec<RigPart> = replication.limits.iter().map(|(_, limit)| limit.part).collect();
    parts.sort();
    parts.dedup();
    let said = |part: RigPart| {
        let of_part = || replication.limits.iter().filter(|(_, limit)| limit.part == part);
        let names: Vec<&str> = of_part().take(NAMED).map(|(id, _)| id.as_str()).collect();
        let more = of_part().count() - names.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let busy = || of_part().map(|(_, limit)| limit.busy);
        let busy = match (part, busy().min(), busy().max()) {
            (RigPart::Drives, ..) | (_, None, _) | (_, _, None) => String::new(),
            (_, Some(least), Some(most)) if least == most => format!(", {most} % busy"),
            (_, Some(least), Some(most)) => format!(", {least} to {most} % busy"),
        };
        format!("Bottleneck {}{busy}: {}{more}.", part.name(), names.join(", "))
    };
    parts.into_iter().map(said).collect()
}

/// Why figures of a group were left out or not measured, each reason once with the figures that it is for.
fn notes(replication: &Replication, group: usize) -> Vec<(String, Vec<String>)> {
    let mut notes: Vec<(String, Vec<String>)> = Vec::new();
    let series = replication.answers[group].iter().zip(&replication.published.groups[group].series);
    for (answer, series) in series.flat_map(|(answers, series)| answers.iter().map(move |answer| (answer, series))) {
        let reason = match (&answer.figure.odd, &answer.figure.unmeasured) {
            (_, Some(why)) => format!("Not measured: {why}"),
            (Some(why), _) => format!("Excluded: {why}"),
            _ => continue,
        };
        let name = format!("{}, {}", series.title, answer.figure.label);
        match notes.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, figures)) => figures.push(name),
            None => notes.push((reason, vec![name])),
        }
    }
    notes
}
