//! Steps that follow one another on one drive, as one course over time.

use block::Nanos;
use maud::{Markup, html};
use measurement::Measurement;
use plan::{Action, Outcome};

use crate::chart::{self, SERIES_POINTS, Stretch};
use crate::drawn::figure;
use crate::number::{kept, three};
use crate::part::MeasuredStep;
use crate::table::framed;
use crate::timeline::Timeline;

/// A step with what it gave over time.
struct Leg<'p> {
    part: &'p MeasuredStep<'p>,
    /// From the beginning of the first, in seconds.
    start: f64,
    /// How long it took with the pauses in it, in seconds.
    length: f64,
    /// From the beginning of the step to the middle of each round or span, in seconds, with IOPS and MB/s.
    points: Vec<(f64, [f64; 2])>,
}

/// The chart and the table of the steps in a row of which `parts[index]` is the last; none where it stands alone.
///
/// In a row are conditionings and lone workloads in rounds with nothing but pauses between them: what changes the drive
/// otherwise begins anew.
pub(crate) fn joined(outcome: &Outcome, parts: &[MeasuredStep], index: usize) -> Option<Markup> {
    let is_last = parts.get(index + 1).is_none_or(|next| !follows(outcome, &parts[index], next));
    if !is_last || !is_lone(&parts[index]) {
        return None;
    }
    let mut first = index;
    while first > 0 && follows(outcome, &parts[first - 1], &parts[first]) {
        first -= 1;
    }
    let mut legs: Vec<Leg> = Vec::new();
    for part in &parts[first..=index] {
        let start = legs.last().map_or(0.0, |leg| leg.start + leg.length + pause(outcome, leg.part, part));
        legs.extend(Leg::of(part, start));
    }
    // Single measurements in a row are no course.
    (legs.iter().filter(|leg| leg.points.len() > 1).count() > 1).then(|| drawn(&legs))
}

fn drawn(legs: &[Leg]) -> Markup {
    let workload = |leg: &Leg| leg.part.readings[0].cell().workload.clone();
    // Requests of one size are counted, those of several weighed.
    let same = legs.iter().all(|leg| workload(leg).sizes.is_none() && workload(leg).block == workload(&legs[0]).block);
    let (unit, which) = if same { ("IOPS", 0) } else { ("MB/s", 1) };
    let names = short(legs);
    let stretch = |(leg, name): (&Leg, &String)| Stretch {
        name: name.clone(),
        points: leg.points.iter().map(|(at, rates)| (leg.start + at, rates[which])).collect(),
    };
    let end = legs.last().map_or(0.0, |leg| leg.start + leg.length);
    let title = legs.iter().map(|leg| leg.part.step.title.as_str()).collect::<Vec<_>>().join(", then ");
    let panel = chart::joined(unit, &legs.iter().zip(&names).map(stretch).collect::<Vec<_>>(), end);
    let seconds = |seconds: f64| Nanos::from_millis((seconds * 1e3).round() as u64).to_string();
    let rate = |point: Option<&(f64, [f64; 2])>| point.map(|(_, rates)| rates[which]);
    let mean = |leg: &Leg| leg.points.iter().map(|(_, rates)| rates[which]).sum::<f64>() / leg.points.len() as f64;
    let table = html! {
        table {
            caption { "Consecutive steps, " (unit) }
            thead { tr {
                th scope="col" { "Step" } @for head in ["Begins after", "Lasts"] { th.number scope="col" data-head={ (head) ", s" } { (head) } }
                @for head in ["First", "Mean", "Last"] { th.number scope="col" data-head={ (head) ", " (unit) } { (head) } }
            } }
            tbody { @for (place, leg) in legs.iter().enumerate() { tr {
                th scope="row" { (place + 1) ". " a href={ "#" (leg.part.anchor()) } { (leg.part.step.title) } }
                @for length in [leg.start, leg.length] { td.number data-v=(kept(length)) { (seconds(length)) } }
                @for found in [rate(leg.points.first()), Some(mean(leg)), rate(leg.points.last())] {
                    td.number data-v=[found.map(kept)] { (found.map_or_else(|| "–".to_owned(), three)) }
                }
            } } }
        }
    };
    html! {
        h3 { "Consecutive steps" }
        (figure(&title, &[panel], CAPTION))
        (framed("Consecutive steps", &table))
    }
}

/// What the chart shows.
const CAPTION: &str = "Consecutive steps on the same drive, each starting from the state the previous one left, \
    numbered as in the table.";

/// The titles of the steps without the words before a colon that all of them begin with.
fn short(legs: &[Leg]) -> Vec<String> {
    let titles = || legs.iter().map(|leg| leg.part.step.title.as_str());
    let shared = titles().next().and_then(|first| first.split_once(": ")).map(|(words, _)| format!("{words}: "));
    let shared = shared.filter(|shared| titles().all(|title| title.starts_with(shared.as_str())));
    titles()
        .map(|title| title.strip_prefix(shared.as_deref().unwrap_or_default()).unwrap_or(title).to_owned())
        .collect()
}

impl<'p> Leg<'p> {
    /// What `part` gave over time; none where it was not measured.
    fn of(part: &'p MeasuredStep<'p>, start: f64) -> Option<Self> {
        let cell = part.readings.first()?.cell();
        let (length, points) = match (part.condition(), part.rounds()) {
            (Some(condition), _) => {
                let measured = cell.repeats.first()?;
                let timeline = Timeline::of(condition, measured);
                let bins =
                    if timeline.rounds.len() > 1 { timeline.rounds.clone() } else { timeline.binned(SERIES_POINTS) };
                let points = bins.iter().map(|span| (span.middle(), [span.iops(), span.bandwidth()])).collect();
                (measured.elapsed.as_secs_f64(), points)
            }
            (None, Some(rounds)) => {
                let rest = rounds.rest.as_secs_f64();
                let mut at = 0.0;
                let point = |round: &Measurement| {
                    let long = round.elapsed.as_secs_f64();
                    let middle = at + long / 2.0;
                    at += long + rest;
                    (middle, [round.iops(), round.bandwidth() / 1e6])
                };
                let points = cell.rounds().map(point).collect();
                (at, points)
            }
            (None, None) => return None,
        };
        let points: Vec<(f64, [f64; 2])> = points;
        (!points.is_empty()).then_some(Self { part, start, length, points })
    }
}

/// Whether a step is one workload over time.
fn is_lone(part: &MeasuredStep) -> bool {
    part.condition().is_some() || (part.rounds().is_some() && part.readings.len() == 1)
}

/// Whether nothing but pauses lies between two steps that are each one workload over time.
fn follows(outcome: &Outcome, one: &MeasuredStep, next: &MeasuredStep) -> bool {
    is_lone(one) && is_lone(next) && between(outcome, one, next).all(|action| matches!(action, Action::Idle { .. }))
}

/// How long the pauses between two steps are, in seconds.
fn pause(outcome: &Outcome, one: &MeasuredStep, next: &MeasuredStep) -> f64 {
    let time = |action: &Action| if let Action::Idle(idle) = action { idle.time.as_secs_f64() } else { 0.0 };
    between(outcome, one, next).map(time).sum()
}

/// What the plan does between two steps.
fn between<'o>(outcome: &'o Outcome, one: &MeasuredStep, next: &MeasuredStep) -> impl Iterator<Item = &'o Action> {
    let place = |part: &MeasuredStep| {
        outcome.plan.steps.iter().position(|step| std::ptr::eq(step, part.step)).unwrap_or_default()
    };
    let (one, next) = (place(one), place(next));
    outcome.plan.steps.iter().take(next).skip(one + 1).map(|step| &step.action)
}
