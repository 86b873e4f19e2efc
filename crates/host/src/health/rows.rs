//! A drive's health for people: a row for each figure, before and after.

use block::Bytes;

use super::{Health, HealthReading, HealthRecord};

/// One figure of a drive's health.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HealthRow {
    /// What it is.
    pub name: &'static str,
    /// What it was before; empty where that is not known.
    pub before: String,
    /// What it is after.
    pub after: String,
    /// How much it has changed; empty where that is not known, or nothing.
    pub change: String,
    /// Where it is from, and in which unit it came.
    pub origin: String,
}

/// How a figure is told and how its change is.
#[derive(Clone, Copy)]
enum Figure {
    Data(fn(&Health) -> Option<Bytes>),
    Count(fn(&Health) -> Option<i128>, &'static str),
    Real(fn(&Health) -> Option<f64>, &'static str),
}

const FIGURES: [(&str, &str, Figure); 12] = [
    ("Host writes", "host_written_bytes", Figure::Data(|health| health.host_written)),
    ("Host reads", "host_read_bytes", Figure::Data(|health| health.host_read)),
    ("Flash writes", "flash_written_bytes", Figure::Data(|health| health.flash_written)),
    ("Write amplification", "write_amplification", Figure::Real(|health| health.write_amplification, "")),
    ("Percentage used", "wear_percent", Figure::Real(|health| health.wear_percent, " %")),
    ("Reallocated", "reallocated", Figure::Count(|health| health.reallocated.map(i128::from), "")),
    ("Pending", "pending", Figure::Count(|health| health.pending.map(i128::from), "")),
    ("Uncorrectable", "uncorrectable", Figure::Count(|health| health.uncorrectable.map(i128::from), "")),
    ("Error log entries", "error_log_entries", Figure::Count(|health| health.error_log_entries.map(i128::from), "")),
    ("Available spare", "spare_percent", Figure::Count(|health| health.spare_percent.map(i128::from), " %")),
    ("Temperature", "temperature_celsius", Figure::Count(|health| health.temperature.map(i128::from), " °C")),
    ("Power-on time", "power_on_hours", Figure::Count(|health| health.power_on_hours.map(i128::from), " h")),
];

/// A row for every figure that one of the readings has.
pub fn rows(record: &HealthRecord) -> Vec<HealthRow> {
    let [before, after] =
        [&record.before, &record.after].map(|reading| reading.as_ref().and_then(HealthReading::health));
    let row = |(name, field, figure): &(&'static str, &str, Figure)| {
        let (is_before, is_after, change) = figure.told(before, after);
        let origin = after.or(before).and_then(|health| health.origins.get(*field)).cloned().unwrap_or_default();
        let is_known = is_before.is_some() || is_after.is_some();
        is_known.then(|| HealthRow {
            name,
            before: is_before.unwrap_or_default(),
            after: is_after.unwrap_or_default(),
            change: change.unwrap_or_default(),
            origin,
        })
    };
    FIGURES.iter().filter_map(row).collect()
}

impl Figure {
    /// The figure before, after, and what it grew by.
    fn told(self, before: Option<&Health>, after: Option<&Health>) -> (Option<String>, Option<String>, Option<String>) {
        match self {
            Self::Data(of) => {
                let (was, is) = (before.and_then(of), after.and_then(of));
                let grown =
                    was.zip(is).and_then(|(was, is)| is.get().checked_sub(was.get())).filter(|grown| *grown > 0);
                (told(was), told(is), grown.map(|grown| format!("+{}", Bytes::new(grown))))
            }
            Self::Count(of, unit) => {
                let (was, is) = (before.and_then(of), after.and_then(of));
                let grown = was.zip(is).map(|(was, is)| is - was).filter(|grown| *grown != 0);
                let with_unit = |value: Option<i128>| value.map(|value| format!("{value}{unit}"));
                (with_unit(was), with_unit(is), grown.map(|grown| format!("{grown:+}{unit}")))
            }
            Self::Real(of, unit) => {
                let (was, is) = (before.and_then(of), after.and_then(of));
                let grown = was.zip(is).map(|(was, is)| is - was).filter(|grown| grown.abs() >= 0.005);
                let with_unit = |value: Option<f64>| value.map(|value| format!("{}{unit}", short(value)));
                (with_unit(was), with_unit(is), grown.map(|grown| format!("{grown:+.2}{unit}")))
            }
        }
    }
}

fn told(bytes: Option<Bytes>) -> Option<String> {
    bytes.map(|bytes| bytes.to_string())
}

/// A number with at most two decimals and no zeros at its end.
fn short(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
