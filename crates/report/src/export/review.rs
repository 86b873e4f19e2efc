//! All that a run measured, as documents for programs.

use std::collections::BTreeMap;

use measurement::Measurement;
use plan::{Asked, Axis, Finding, Outcome, PointOutcome, Repeat, Rounds};
use serde::Serialize;

use super::RunDocument;
use super::Single;
use super::csv::{fields, line};
use super::json::MeasurementDocument;
use crate::cost::Cost;
use crate::part::MeasuredStep;
use crate::parts::parts;
use crate::rounds::{RoundsCourse, Window};

/// Every measurement of a run as one JSON object; ends with a line feed.
///
/// Each has its number among the repeats or rounds of its cell, from 1, and whether it counts: of rounds, those of the
/// measurement window do. Steps in rounds carry the window, the rule, and what was determined. Units are those of
/// [`json`](super::json()); figures that are judged are requests a second, megabytes a second or microseconds.
pub fn review_json(outcome: &Outcome) -> String {
    let (run, parts) = (&outcome.run, parts(outcome));
    let document = Document {
        run: run.into(),
        cost: Cost::of(outcome),
        steps: parts.iter().map(|part| StepDocument::of(outcome, part)).collect(),
        findings: &outcome.findings,
    };
    serde_json::to_string_pretty(&document).expect("names and numbers always serialise") + "\n"
}

/// Every measurement of a run as a JSON object on a line of its own (JSON Lines): the run's number, plan and target, the
/// step, the cell, the number of the repeat or round, whether it counts, and all that [`json`](super::json()) has.
///
/// Source: jsonlines.org.
pub fn review_jsonl(outcome: &Outcome) -> String {
    let run = &outcome.run;
    let mut out = String::new();
    for part in &parts(outcome) {
        for cell in part.readings.iter().map(|reading| reading.point) {
            let key = cell.key();
            let findings = findings(outcome, &part.step.name, &key);
            for (round, counted, measurement) in numbered(cell) {
                let measured = MeasurementDocument::of(&single(outcome, measurement, &findings), part.round());
                let line = Line {
                    run: run.id.0,
                    plan: &run.plan,
                    target: &run.target,
                    step: &part.step.name,
                    cell: &key,
                    findings: &findings,
                    one: Numbered { round, counted, measured },
                };
                out += &serde_json::to_string(&line).expect("names and numbers always serialise");
                out.push('\n');
            }
        }
    }
    out
}

/// Every measurement of a run as lines for a spreadsheet: those of [`csv`](super::csv()) after the step, what came of
/// judging its rounds, the cell, the number of the repeat or round, and whether it counts. Figures of trials have lines of
/// their own: after an empty line where there are both.
pub fn review_csv(outcome: &Outcome) -> String {
    let parts = parts(outcome);
    let own = ["step", "steady_state", "cell", "round", "counted"];
    let blank = Measurement::new(workload::Workload::default(), outcome.run.seed, measurement::Clock::Virtual);
    // The step takes the place of the job.
    let head = fields(&single(outcome, &blank, &[]), "", &blank.flush).into_iter().map(|(name, _)| name.to_owned());
    let out = line(own.iter().map(|name| (*name).to_owned()).chain(head.skip(1)));
    let has_cells = parts.iter().any(|part| part.trials().is_none() && !part.readings.is_empty());
    if parts.iter().any(|part| part.trials().is_some()) {
        let tried = trials_csv(&parts);
        return if has_cells { measured_csv(outcome, &parts, out) + "\n" + &tried } else { tried };
    }
    measured_csv(outcome, &parts, out)
}

/// A line of a table: its fields, each with its column's name.
pub(super) type TableLine = Vec<(&'static str, String)>;

/// The figures of trials: a line for each, of each repeat.
fn trials_csv(parts: &[MeasuredStep]) -> String {
    let head = ["step", "cell", "repeat", "figure", "unit", "value", "better"];
    line(head.map(str::to_owned)) + &trial_rows(parts).into_iter().map(values).collect::<String>()
}

/// A line's fields without their names.
fn values(row: TableLine) -> String {
    line(row.into_iter().map(|(_, value)| value))
}

/// A row for each figure of each repeat of each trial.
pub(super) fn trial_rows(parts: &[MeasuredStep]) -> Vec<TableLine> {
    let mut rows = Vec::new();
    for part in parts {
        for point in part.readings.iter().map(|reading| reading.point) {
            for (place, go) in point.repeats.iter().map(Repeat::trial).enumerate() {
                for figure in go.map_or(&[][..], |go| &go.figures) {
                    let better = match figure.better {
                        measurement::Better::More => "more",
                        measurement::Better::Less => "less",
                        measurement::Better::Neither => "neither",
                    };
                    rows.push(vec![
                        ("step", part.step.name.clone()),
                        ("cell", point.key()),
                        ("repeat", (place + 1).to_string()),
                        ("figure", figure.name.clone()),
                        ("unit", figure.unit.clone()),
                        ("value", figure.value.to_string()),
                        ("better", better.to_owned()),
                    ]);
                }
            }
        }
    }
    rows
}

/// Appends the measurements to their head.
fn measured_csv(outcome: &Outcome, parts: &[MeasuredStep], out: String) -> String {
    out + &measured_rows(outcome, parts).into_iter().map(values).collect::<String>()
}

/// A row for the reads, writes, trims and flushes of each measurement.
pub(super) fn measured_rows(outcome: &Outcome, parts: &[MeasuredStep]) -> Vec<TableLine> {
    let mut rows = Vec::new();
    for part in parts {
        let steady = RoundsCourse::of(part).map_or("", |course| course.verdict().name());
        for cell in part.readings.iter().map(|reading| reading.point) {
            let key = cell.key();
            let findings = findings(outcome, &part.step.name, &key);
            for (number, is_counted, measurement) in numbered(cell) {
                let single = single(outcome, measurement, &findings);
                let flows = single.flows().into_iter().chain([("flush", &measurement.flush)]);
                for (direction, flow) in flows.filter(|(_, flow)| flow.requests > 0) {
                    let own = [
                        ("step", part.step.name.clone()),
                        ("steady_state", steady.to_owned()),
                        ("cell", key.clone()),
                        ("round", number.to_string()),
                        ("counted", if is_counted { "yes" } else { "no" }.to_owned()),
                    ];
                    rows.push(own.into_iter().chain(fields(&single, direction, flow).into_iter().skip(1)).collect());
                }
            }
        }
    }
    rows
}

/// A cell's measurements with their numbers, from 1, and whether they count.
fn numbered(cell: &PointOutcome) -> impl Iterator<Item = (usize, bool, &Measurement)> {
    cell.rounds().enumerate().map(|(place, one)| (place + 1, place >= cell.before.len(), one))
}

/// The findings about a cell.
pub(super) fn findings(outcome: &Outcome, step: &str, key: &str) -> Vec<String> {
    outcome.findings.iter().flat_map(|found| found.about(step, key)).map(str::to_owned).collect()
}

/// A measurement with what is the same of all in a run.
pub(super) fn single<'a>(outcome: &'a Outcome, measurement: &'a Measurement, findings: &'a [String]) -> Single<'a> {
    let run = &outcome.run;
    Single {
        name: "",
        target: &run.target,
        version: &run.version,
        timestamp_ms: run.started_ms,
        seed: run.seed,
        direct: run.direct,
        measurement,
        findings,
    }
}

#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    run: RunDocument<'a>,
    /// The price with what it buys; null where neither it is known nor power was asked for.
    cost: Option<Cost>,
    steps: Vec<StepDocument<'a>>,
    findings: &'a [Finding],
}

#[derive(Serialize)]
struct Line<'a> {
    run: i64,
    plan: &'a str,
    target: &'a str,
    step: &'a str,
    cell: &'a str,
    findings: &'a [String],
    #[serde(flatten)]
    one: Numbered<'a>,
}

#[derive(Serialize)]
struct StepDocument<'a> {
    step: &'a str,
    title: &'a str,
    #[serde(rename = "do")]
    kind: &'static str,
    /// Left out where it was not measured in rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    rounds: Option<InRounds>,
    cells: Vec<Figures<'a>>,
    /// Left out where nothing above the drive was tried.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    trials: Vec<TrialDocument<'a>>,
}

/// A point that was tried, with all that came of it.
#[derive(Serialize)]
struct TrialDocument<'a> {
    cell: String,
    point: BTreeMap<&'a str, &'a str>,
    told: BTreeMap<&'a str, &'a str>,
    repeats: Vec<&'a measurement::Trial>,
}

impl<'a> TrialDocument<'a> {
    /// None of a point that was measured request by request.
    fn of(point: &'a PointOutcome) -> Option<Self> {
        let Asked::Trial { choices, .. } = &point.asked else { return None };
        Some(Self {
            cell: point.key(),
            point: values_of(&point.point),
            told: choices.all().map(|(choice, value)| (choice.name, value)).collect(),
            repeats: point.repeats.iter().filter_map(Repeat::trial).collect(),
        })
    }
}

impl<'a> StepDocument<'a> {
    fn of(outcome: &'a Outcome, part: &MeasuredStep<'a>) -> Self {
        Self {
            step: &part.step.name,
            title: &part.step.title,
            kind: part.step.action.kind().name(),
            rounds: RoundsCourse::of(part).map(|course| InRounds::of(&course)),
            cells: part
                .readings
                .iter()
                .filter(|one| one.is_cell())
                .map(|one| Figures::of(outcome, part, one.point))
                .collect(),
            trials: part.readings.iter().filter_map(|reading| TrialDocument::of(reading.point)).collect(),
        }
    }
}

/// How rounds went.
#[derive(Serialize)]
struct InRounds {
    steady_state: &'static str,
    done: usize,
    at_most: u32,
    rest_ns: u64,
    /// The first round that counts; null where there is none.
    counted_from: Option<usize>,
    /// Null where no steady state was asked for.
    rule: Option<stats::SteadyRule>,
    determination: Vec<Determination>,
}

impl InRounds {
    fn of(course: &RoundsCourse) -> Self {
        let Rounds { steady, at_most, rest, measure, .. } = course.rounds;
        Self {
            steady_state: course.verdict().name(),
            done: course.done,
            at_most: *at_most,
            rest_ns: rest.as_nanos(),
            counted_from: course.counted().map(|(first, _)| first),
            rule: *steady,
            determination: course
                .windows
                .iter()
                .map(|window| Determination::of(window, measure.cells[window.place].key()))
                .collect(),
        }
    }
}

/// What the window of a cell that decides shows.
#[derive(Serialize)]
struct Determination {
    cell: String,
    figure: &'static str,
    unit: &'static str,
    first_round: usize,
    last_round: usize,
    values: Vec<f64>,
    mean: f64,
    /// The excursions as shares of the mean.
    data_excursion: f64,
    slope_excursion: f64,
    /// The fitted line, `slope × round + intercept`.
    slope: f64,
    intercept: f64,
    steady: bool,
}

impl Determination {
    fn of(window: &Window, cell: String) -> Self {
        Self {
            cell,
            figure: window.metric.title(),
            unit: window.metric.unit(),
            first_round: window.first,
            last_round: window.last(),
            values: window.values.clone(),
            mean: window.found.mean,
            data_excursion: window.found.spread,
            slope_excursion: window.found.slope,
            slope: window.slope(),
            intercept: window.intercept(),
            steady: window.found.steady,
        }
    }
}

/// What is swept by name.
fn values_of(point: &[(Axis, String)]) -> BTreeMap<&str, &str> {
    point.iter().map(|(axis, value)| (axis.name(), value.as_str())).collect()
}

/// A cell with all that was measured of it.
#[derive(Serialize)]
struct Figures<'a> {
    cell: String,
    point: BTreeMap<&'a str, &'a str>,
    measurements: Vec<Numbered<'a>>,
}

impl<'a> Figures<'a> {
    fn of(outcome: &'a Outcome, part: &MeasuredStep, cell: &'a PointOutcome) -> Self {
        let length = part.round();
        let one = |(round, counted, measurement)| {
            let measured = MeasurementDocument::of(&single(outcome, measurement, &[]), length);
            Numbered { round, counted, measured }
        };
        Self { cell: cell.key(), point: values_of(&cell.point), measurements: numbered(cell).map(one).collect() }
    }
}

#[derive(Serialize)]
struct Numbered<'a> {
    /// The number among the cell's repeats or rounds, from 1.
    round: usize,
    /// Whether the cell's figures are of this one.
    counted: bool,
    #[serde(flatten)]
    measured: MeasurementDocument<'a>,
}
