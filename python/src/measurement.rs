//! What was measured of one workload.

use lab::{Metric, Outcome};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use report::export::{Single, json, series_table};
use stats::Histogram;

use crate::error::failed;
use crate::table::{CellValue, Row, Table};

/// The figures that a measurement gives, by names that end with their unit.
pub fn figures(measurement: &measurement::Measurement) -> Vec<(String, f64)> {
    let figure = |metric: Metric| {
        let (name, scale) = metric.base();
        Some((name, metric.of(measurement)? * scale))
    };
    Metric::tabled().filter_map(figure).collect()
}

/// How long requests took: a histogram within 0.1 %. All times are whole nanoseconds.
#[pyclass(module = "assay", frozen)]
pub struct Latency(Histogram);

#[pymethods]
impl Latency {
    /// How many requests there are.
    #[getter]
    fn count(&self) -> u64 {
        self.0.count()
    }

    /// The mean, in nanoseconds; 0 where there are none.
    #[getter]
    fn mean(&self) -> f64 {
        self.0.mean()
    }

    /// The standard deviation, in nanoseconds.
    #[getter]
    fn std(&self) -> f64 {
        self.0.deviation()
    }

    /// The shortest, in nanoseconds.
    #[getter]
    fn min(&self) -> u64 {
        self.0.min().as_nanos()
    }

    /// The longest, in nanoseconds.
    #[getter]
    fn max(&self) -> u64 {
        self.0.max().as_nanos()
    }

    /// The latency that `q` percent of the requests did not exceed, in nanoseconds; `q` is from 0 to 100, such as 99.9.
    fn percentile(&self, q: f64) -> PyResult<u64> {
        match (0.0..=100.0).contains(&q) {
            true => Ok(self.0.percentile(q).as_nanos()),
            false => Err(PyValueError::new_err(format!("q is {q}; give percent from 0 to 100, such as 99.9"))),
        }
    }

    /// The histogram: `latency_ns`, up to which `requests` took so long.
    fn histogram(&self) -> Table {
        let row = |(time, count): (block::Nanos, u64)| -> Row {
            let whole = |number: u64| CellValue::Whole(i64::try_from(number).unwrap_or(i64::MAX));
            vec![("latency_ns".to_owned(), whole(time.as_nanos())), ("requests".to_owned(), whole(count))]
        };
        Table::of_rows(&self.0.bins().map(row).collect::<Vec<_>>())
    }

    fn __repr__(&self) -> String {
        let [median, p99] = [50.0, 99.0].map(|percent| self.0.percentile(percent));
        format!("Latency({} requests, p50 {median}, p99 {p99}, max {})", self.0.count(), self.0.max())
    }
}

/// The requests of one kind.
///
/// `requests`: how many. `bytes`: how much data they moved. `iops`: requests a second. `bytes_per_s`: bytes a second.
#[pyclass(module = "assay", frozen)]
pub struct Flow {
    #[pyo3(get)]
    requests: u64,
    #[pyo3(get)]
    bytes: u64,
    #[pyo3(get)]
    iops: f64,
    #[pyo3(get)]
    bytes_per_s: f64,
    latency: Histogram,
    service: Option<Box<Histogram>>,
}

#[pymethods]
impl Flow {
    /// How long each took, from submission to completion; from when it came where requests come at a rate.
    #[getter]
    fn latency(&self) -> Latency {
        Latency(self.latency.clone())
    }

    /// How long each took from submission; `None` where `latency` says just that.
    #[getter]
    fn service(&self) -> Option<Latency> {
        self.service.as_deref().cloned().map(Latency)
    }

    fn __repr__(&self) -> String {
        format!("Flow({} requests, {:.0} IOPS, {:.0} bytes/s)", self.requests, self.iops, self.bytes_per_s)
    }
}

/// One workload run once: counts, latencies, and what was completed in each second.
///
/// Times are nanoseconds, sizes bytes, rates per second.
#[pyclass(module = "assay", frozen)]
pub struct Measurement {
    outcome: Outcome,
    direct: bool,
}

impl Measurement {
    /// The one measurement of a run; none if it measured nothing.
    pub fn of(outcome: Outcome, direct: bool) -> Option<Self> {
        let one = Self { outcome, direct };
        one.find().is_some().then_some(one)
    }

    fn find(&self) -> Option<&measurement::Measurement> {
        self.outcome.steps.iter().flat_map(|step| &step.points).find_map(|point| point.measurements().next())
    }

    fn it(&self) -> &measurement::Measurement {
        self.find().expect("it was found when this was made")
    }

    fn flow(&self, flow: &measurement::Flow) -> Flow {
        let seconds = self.it().elapsed.as_secs_f64();
        let rate = |amount: u64| if seconds > 0.0 { amount as f64 / seconds } else { 0.0 };
        Flow {
            requests: flow.requests,
            bytes: flow.bytes.get(),
            iops: rate(flow.requests),
            bytes_per_s: rate(flow.bytes.get()),
            latency: flow.latency.clone(),
            service: flow.service.clone(),
        }
    }

    fn with_single<T>(&self, act: impl FnOnce(&Single) -> T) -> T {
        let findings: Vec<String> = self.findings();
        let run = &self.outcome.run;
        act(&Single {
            name: "run",
            target: &run.target,
            version: &run.version,
            timestamp_ms: run.started_ms,
            seed: run.seed,
            direct: self.direct,
            measurement: self.it(),
            findings: &findings,
        })
    }
}

#[pymethods]
impl Measurement {
    /// What was read.
    #[getter]
    fn read(&self) -> Flow {
        self.flow(&self.it().read)
    }

    /// What was written.
    #[getter]
    fn write(&self) -> Flow {
        self.flow(&self.it().write)
    }

    /// What was trimmed.
    #[getter]
    fn trim(&self) -> Flow {
        self.flow(&self.it().trim)
    }

    /// The flushes, which move no data.
    #[getter]
    fn flush(&self) -> Flow {
        self.flow(&self.it().flush)
    }

    /// Requests a second, of all kinds but flushes.
    #[getter]
    fn iops(&self) -> f64 {
        self.it().iops()
    }

    /// Bytes a second, of all kinds.
    #[getter]
    fn bytes_per_s(&self) -> f64 {
        self.it().bandwidth()
    }

    /// From the first counted submission to the last counted completion, in nanoseconds: of simulated time for a
    /// simulated drive.
    #[getter]
    fn elapsed(&self) -> u64 {
        self.it().elapsed.as_nanos()
    }

    /// Requests that failed.
    #[getter]
    fn failed(&self) -> u64 {
        self.it().failures.total()
    }

    /// The target, by its name.
    #[getter]
    fn target(&self) -> &str {
        &self.outcome.run.target
    }

    /// The seed that repeats it.
    #[getter]
    fn seed(&self) -> u64 {
        self.outcome.run.seed.get()
    }

    /// The number of the run in the store that it was kept in.
    #[getter]
    fn run(&self) -> i64 {
        self.outcome.run.id.0
    }

    /// Doubts about it, each a sentence or two.
    #[getter]
    fn findings(&self) -> Vec<String> {
        self.outcome.findings.iter().map(|finding| finding.text.clone()).collect()
    }

    /// Every figure that tables have, by names that end with their unit: `_ns`, `_bytes` (a second), `_s`.
    #[getter]
    fn figures<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        figures(self.it()).into_iter().try_for_each(|(name, value)| all.set_item(name, value))?;
        Ok(all)
    }

    /// What was completed in each second: a table with a row a second, of columns `start_ns`, `length_ns`, `reads`,
    /// `writes`, `trims`, `bytes`, `iops`, `bandwidth_bytes`, `latency_mean_ns`, `latency_p50_ns`, `latency_p99_ns`,
    /// `latency_p99_9_ns`, `latency_max_ns`.
    #[getter]
    fn series(&self) -> Table {
        Table::of_columns(self.with_single(series_table))
    }

    /// All of it as `assay run --format json` has it, as dictionaries and lists.
    fn json<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("json")?.call_method1("loads", (self.with_single(json),))
    }

    fn __repr__(&self) -> String {
        let it = self.it();
        format!(
            "Measurement({}: {:.0} IOPS, {:.0} bytes/s in {})",
            self.outcome.run.target,
            it.iops(),
            it.bandwidth(),
            it.elapsed
        )
    }

    fn _repr_html_(&self) -> PyResult<String> {
        let row = |(name, value): (String, f64)| -> Row {
            vec![("figure".to_owned(), CellValue::Text(name)), ("value".to_owned(), CellValue::Real(value))]
        };
        let figures: Vec<Row> = figures(self.it()).into_iter().map(row).collect();
        Ok(Table::of_rows(&figures).html())
    }
}

/// The measurement of a run, or why there is none.
pub fn measured(py: Python<'_>, outcome: Outcome, direct: bool) -> PyResult<Measurement> {
    let run = outcome.run.id;
    Measurement::of(outcome, direct).ok_or_else(|| failed(py, format!("run {run} measured nothing")))
}
