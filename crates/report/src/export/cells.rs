//! A run as a table of its cells: what is swept beside the figures, for spreadsheets and programs.

use measurement::Sharding;
use plan::{Metric, Outcome, PointOutcome};
use serde::Serialize;
use serde_json::{Map, Value};

use super::RunDocument;
use super::csv::line;
use super::review::findings;
use crate::parts::parts;

/// A row for each point of the steps that measure, and its columns in order.
struct CellTable {
    heads: Vec<String>,
    rows: Vec<Map<String, Value>>,
}

/// The cells of a run as lines for a spreadsheet: the step, what is swept, how many repeats count, the means of all figures over
/// them, and findings. A cell that was not measured has no figures; a shard has only its own cells.
///
/// Names of figures end with their unit: `_ns` nanoseconds, `_bytes` bytes a second, `_s` seconds; those of trials have it in
/// parentheses. Swept values are as the plan writes them.
pub fn cells_csv(outcome: &Outcome) -> String {
    let CellTable { heads, rows } = CellTable::of(outcome);
    let field = |value: Option<&Value>| match value {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(texts)) => texts.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "),
        Some(number) => number.to_string(),
    };
    let rows = rows.iter().map(|row| line(heads.iter().map(|head| field(row.get(head))).collect::<Vec<_>>()));
    line(heads.clone()) + &rows.collect::<String>()
}

/// The same as one JSON object, with what is known of the run; ends with a line feed.
pub fn cells_json(outcome: &Outcome) -> String {
    #[derive(Serialize)]
    struct Document<'a> {
        #[serde(flatten)]
        run: RunDocument<'a>,
        cells: Vec<Map<String, Value>>,
    }
    let document = Document { run: (&outcome.run).into(), cells: CellTable::of(outcome).rows };
    serde_json::to_string_pretty(&document).expect("names and numbers always serialise") + "\n"
}

impl CellTable {
    fn of(outcome: &Outcome) -> Self {
        let is_shard = matches!(outcome.run.sharding, Some(Sharding::Shard { .. }));
        let (mut swept, mut figures, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        let known = |names: &mut Vec<String>, name: &str| {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        };
        for part in parts(outcome).iter().filter(|part| !part.is_conditioning() && !part.is_saturation()) {
            for point in part.readings.iter().map(|reading| reading.point) {
                if is_shard && point.repeats.is_empty() {
                    continue;
                }
                let mut row = Map::new();
                row.insert("step".to_owned(), part.step.name.as_str().into());
                for (axis, value) in &point.point {
                    known(&mut swept, axis.name());
                    row.insert(axis.name().to_owned(), value.as_str().into());
                }
                row.insert("repeats".to_owned(), point.repeats.len().into());
                for (name, mean) in means(point) {
                    known(&mut figures, &name);
                    row.insert(name, mean.into());
                }
                row.insert("findings".to_owned(), findings(outcome, &part.step.name, &point.key()).into());
                rows.push(row);
            }
        }
        let own = |name: &str| vec![name.to_owned()];
        Self { heads: [own("step"), swept, own("repeats"), figures, own("findings")].concat(), rows }
    }
}

/// The mean of each figure over the repeats that give it.
fn means(point: &PointOutcome) -> Vec<(String, f64)> {
    let measured = Metric::tabled().filter_map(|metric| {
        let (name, scale) = metric.base();
        Some((name, point.figure(metric)?.mean * scale))
    });
    let mut means: Vec<(String, f64)> = measured.collect();
    for figure in point.repeats.iter().filter_map(plan::Repeat::trial).flat_map(|trial| &trial.figures) {
        let name =
            if figure.unit.is_empty() { figure.name.clone() } else { format!("{} ({})", figure.name, figure.unit) };
        if !means.iter().any(|(known, _)| *known == name) {
            let samples = point.samples(&figure.name);
            means.push((name, samples.iter().sum::<f64>() / samples.len() as f64));
        }
    }
    means
}
