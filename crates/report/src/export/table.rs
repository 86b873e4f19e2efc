//! Tables as columns of one kind each, for data frames.

use measurement::Measurement;
use plan::{Metric, Outcome};

use super::csv::fields;
use super::review::{measured_rows, single, trial_rows};
use super::{Single, series};
use crate::parts::parts;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    Text,
    /// `yes` or `no`.
    Truth,
    Whole,
    Real,
}

/// A column: a value for each row as text, or none where a row has none.
#[derive(Clone, Debug)]
pub struct TableColumn {
    pub name: &'static str,
    pub kind: ColumnKind,
    pub values: Vec<Option<String>>,
}

/// All of a run: a row for the reads, writes, trims and flushes of each measurement, with the columns of
/// [`review_csv`](super::review_csv()), and a row for each figure of each trial, which has `repeat`, `figure`,
/// `unit`, `value` and `better` in their place. What a row does not have is none. Sizes are bytes, times nanoseconds, rates
/// per second. The seed is text: it may be more than the 63 bits of a number here.
pub fn review_table(outcome: &Outcome) -> Vec<TableColumn> {
    let blank = Measurement::new(workload::Workload::default(), outcome.run.seed, measurement::Clock::Virtual);
    let measured = fields(&single(outcome, &blank, &[]), "", &blank.flush);
    // The step takes the place of the job.
    let measured = measured.iter().skip(1).map(|(name, _)| *name);
    let own = ["step", "steady_state", "cell", "round", "counted"];
    let names = own.into_iter().chain(measured).chain(["repeat", "figure", "unit", "value", "better"]);
    let mut columns: Vec<TableColumn> = names.map(TableColumn::empty).collect();
    let parts = parts(outcome);
    for row in measured_rows(outcome, &parts).into_iter().chain(trial_rows(&parts)) {
        for column in &mut columns {
            let value = row.iter().find(|(name, _)| *name == column.name).map(|(_, value)| value.clone());
            column.push(value);
        }
    }
    columns
}

/// A measurement over time: a row for each second that was counted, with the columns of [`series`](series()).
pub fn series_table(one: &Single) -> Vec<TableColumn> {
    let text = series(one);
    let mut lines = text.lines();
    let mut columns: Vec<TableColumn> = series::names().map(TableColumn::empty).collect();
    // The head.
    lines.next();
    for line in lines {
        columns.iter_mut().zip(line.split(',')).for_each(|(column, value)| column.push(Some(value.to_owned())));
    }
    columns
}

impl TableColumn {
    fn empty(name: &'static str) -> Self {
        Self { name, kind: kind(name), values: Vec::new() }
    }

    /// Adds a row's value; an empty field of a number was not measured.
    fn push(&mut self, value: Option<String>) {
        self.values.push(value.filter(|value| self.kind == ColumnKind::Text || !value.is_empty()));
    }
}

/// What the column of this name holds.
fn kind(name: &str) -> ColumnKind {
    match name {
        "counted" => ColumnKind::Truth,
        "iops" | "bandwidth_bytes" | "latency_mean_ns" | "value" => ColumnKind::Real,
        name if Metric::ALL.iter().any(|metric| metric.column() == Some(name)) => ColumnKind::Real,
        "round" | "repeat" | "rwmixread" | "bs" | "iodepth" | "numjobs" | "offset" | "size" | "requests" | "bytes"
        | "timestamp_ms" | "reads" | "writes" | "trims" => ColumnKind::Whole,
        name if name.ends_with("_ns") => ColumnKind::Whole,
        _ => ColumnKind::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{mixed, single};
    use super::*;

    #[test]
    fn a_series_has_columns_of_numbers() {
        let measurement = mixed();
        let columns = series_table(&single(&measurement));
        let of = |name: &str| columns.iter().find(|column| column.name == name).unwrap();
        assert!(columns.iter().all(|column| column.values.len() == 3 && column.kind != ColumnKind::Text));
        assert_eq!(of("start_ns").values[1], Some("1000000000".to_owned()));
        assert_eq!((of("reads").kind, of("iops").kind), (ColumnKind::Whole, ColumnKind::Real));
    }
}
