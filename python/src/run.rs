//! Runs of plans, the store that keeps them, and runs held against each other.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use assay_cli::Failure;
use assay_cli::embedded;
use host::Output;
use lab::compare::{Comparison as Contrasts, Question, pooled};
use lab::{Outcome, recall};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use report::Report;
use report::export::{RunDocument, review_json, review_table};
use store::RunId;

use crate::arguments::options;
use crate::error::{failed, raised, refused};
use crate::interruption::{ALONE, supervised};
use crate::measurement::{Measurement, measured};
use crate::states::pool;
use crate::table::{CellValue, Row, Table};

/// How wide summaries are, in columns.
const WIDTH: u16 = 100;

/// Runs one workload; `store` is a file.
#[pyfunction]
#[pyo3(signature = (target, store, progress, keywords))]
pub fn run(
    py: Python<'_>,
    target: &str,
    store: PathBuf,
    progress: Option<Bound<'_, PyAny>>,
    keywords: &Bound<'_, PyDict>,
) -> PyResult<Measurement> {
    let words = embedded::words("run", &options(Some(keywords))?, target).map_err(|failure| raised(py, &failure))?;
    let direct = !words.iter().any(|word| word == "--direct=0");
    let outcome =
        supervised(py, progress.as_ref(), ALONE, move |host| pool()?.install(|| embedded::run(&words, &store, host)))?;
    measured(py, outcome, direct)
}

/// Carries out a plan; `store` is a file.
#[pyfunction]
#[pyo3(signature = (target, store, progress, keywords))]
pub fn review(
    py: Python<'_>,
    target: &str,
    store: PathBuf,
    progress: Option<Bound<'_, PyAny>>,
    keywords: &Bound<'_, PyDict>,
) -> PyResult<Run> {
    let words = embedded::words("review", &options(Some(keywords))?, target).map_err(|failure| raised(py, &failure))?;
    let path = store.clone();
    let outcome = supervised(py, progress.as_ref(), ALONE, move |host| {
        pool()?.install(|| embedded::review(&words, &path, host))
    })?;
    Ok(Run::of(outcome, store))
}

/// Where the command line keeps runs; `None` where neither XDG_DATA_HOME nor HOME is set.
#[pyfunction]
pub fn default_store() -> Option<PathBuf> {
    store::Store::default_path(|name| std::env::var_os(name))
}

/// A run of a plan, as a store keeps it.
///
/// Times are nanoseconds, sizes bytes, rates per second.
#[pyclass(module = "assay", frozen)]
pub struct Run {
    run: measurement::Run,
    store: PathBuf,
    outcome: OnceLock<Arc<Outcome>>,
}

impl Run {
    fn of(outcome: Outcome, store: PathBuf) -> Self {
        Self { run: outcome.run.clone(), store, outcome: OnceLock::from(Arc::new(outcome)) }
    }

    /// All that it measured, read when it is first asked for.
    fn outcome(&self, py: Python<'_>) -> PyResult<Arc<Outcome>> {
        if let Some(outcome) = self.outcome.get() {
            return Ok(Arc::clone(outcome));
        }
        let read = || Ok::<_, Failure>(recall(&store::Store::open_to_read(&self.store)?, self.run.id)?);
        let outcome = Arc::new(py.detach(read).map_err(|failure| raised(py, &failure))?);
        Ok(Arc::clone(self.outcome.get_or_init(|| outcome)))
    }
}

#[pymethods]
impl Run {
    /// Its number in the store.
    #[getter]
    fn id(&self) -> i64 {
        self.run.id.0
    }

    /// The target, by its name.
    #[getter]
    fn target(&self) -> &str {
        &self.run.target
    }

    /// The plan, by its name.
    #[getter]
    fn plan(&self) -> &str {
        &self.run.plan
    }

    /// The seed that repeats it.
    #[getter]
    fn seed(&self) -> u64 {
        self.run.seed.get()
    }

    /// What is known of it besides its figures, as `assay runs --format json` has it.
    #[getter]
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let text = serde_json::to_string(&RunDocument::from(&self.run)).map_err(|error| failed(py, error))?;
        py.import("json")?.call_method1("loads", (text,))
    }

    /// Doubts about the run, each a sentence or two.
    #[getter]
    fn findings(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self.outcome(py)?.findings.iter().map(|finding| finding.text.clone()).collect())
    }

    /// Every measurement: a row for its reads, writes, trims and flushes, with the columns of `assay show --format csv`. Times
    /// are nanoseconds, sizes bytes, rates per second.
    fn table(&self, py: Python<'_>) -> PyResult<Table> {
        let outcome = self.outcome(py)?;
        Ok(Table::of_columns(py.detach(|| review_table(&outcome))))
    }

    /// All that was measured, as `assay show --format json` has it.
    fn json<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let outcome = self.outcome(py)?;
        let text = py.detach(|| review_json(&outcome));
        py.import("json")?.call_method1("loads", (text,))
    }

    /// The key figures as the terminal shows them.
    fn summary(&self, py: Python<'_>) -> PyResult<String> {
        Ok(Report::of(self.outcome(py)?.as_ref()).summary(WIDTH, false))
    }

    /// Writes the report, one HTML file that needs nothing else, and returns its path. A file that assay did not write is
    /// replaced only with `overwrite=True`.
    #[pyo3(signature = (path, *, overwrite=false))]
    fn report(&self, py: Python<'_>, path: PathBuf, overwrite: bool) -> PyResult<PathBuf> {
        let outcome = self.outcome(py)?;
        let html = py.detach(|| report::html(&outcome));
        write(py, &path, &html, overwrite)
    }

    fn __repr__(&self) -> String {
        let state = RunDocument::from(&self.run).state();
        format!("Run({}: {} on {}, {state})", self.run.id, self.run.plan, self.run.target)
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let safe = self.summary(py)?.replace('&', "&amp;").replace('<', "&lt;");
        Ok(format!("<pre>{safe}</pre>"))
    }
}

/// Writes a page; its path.
fn write(py: Python<'_>, path: &Path, html: &str, overwrite: bool) -> PyResult<PathBuf> {
    let written = Output::at(path, overwrite).and_then(|mut output| output.write(html.as_bytes()));
    written.map_err(|error| refused(py, error))?;
    Ok(path.to_owned())
}

/// A store of results, as `--store` names one.
#[pyclass(module = "assay", frozen)]
pub struct Store {
    /// Its file.
    #[pyo3(get)]
    path: PathBuf,
}

#[pymethods]
impl Store {
    #[new]
    #[pyo3(signature = (path=None))]
    fn new(py: Python<'_>, path: Option<PathBuf>) -> PyResult<Self> {
        let path = path.or_else(default_store);
        let path = path.ok_or_else(|| refused(py, "neither XDG_DATA_HOME nor HOME is set; name the store's file"))?;
        // What is no store is told here and not later.
        store::Store::open_to_read(&path).map_err(|error| raised(py, &error.into()))?;
        Ok(Self { path })
    }

    /// All runs, the oldest first; a store that is not there has none.
    fn runs(&self, py: Python<'_>) -> PyResult<Vec<Run>> {
        let read = || Ok::<_, Failure>(store::Store::open_to_read(&self.path)?.runs()?);
        let runs = py.detach(read).map_err(|failure| raised(py, &failure))?;
        Ok(runs.into_iter().map(|run| Run { run, store: self.path.clone(), outcome: OnceLock::new() }).collect())
    }

    /// The run of this number.
    fn run(&self, py: Python<'_>, id: i64) -> PyResult<Run> {
        let read = || Ok::<_, Failure>(store::Store::open_to_read(&self.path)?.run(RunId(id))?);
        let run = py.detach(read).map_err(|failure| raised(py, &failure))?;
        Ok(Run { run, store: self.path.clone(), outcome: OnceLock::new() })
    }

    /// The runs as a table: what `assay runs --format json` has of each.
    fn table(&self, py: Python<'_>) -> PyResult<Table> {
        let runs = self.runs(py)?;
        let rows = runs.iter().map(|run| {
            let document = serde_json::to_value(RunDocument::from(&run.run)).map_err(|error| failed(py, error))?;
            Ok(scalars("", &document))
        });
        Ok(Table::of_rows(&rows.collect::<PyResult<Vec<_>>>()?))
    }

    fn __repr__(&self) -> String {
        format!("Store({:?})", self.path)
    }
}

/// The values of an object that are no lists, those of objects in it with its name before theirs.
fn scalars(before: &str, value: &serde_json::Value) -> Row {
    let mut row = Row::new();
    for (name, value) in value.as_object().into_iter().flatten() {
        match value {
            serde_json::Value::Object(_) => row.extend(scalars(&format!("{before}{name}_"), value)),
            serde_json::Value::Array(_) => {}
            value => row.push((format!("{before}{name}"), CellValue::from(value))),
        }
    }
    row
}

/// Runs held against the first of them.
#[pyclass(module = "assay", frozen)]
pub struct Comparison(Contrasts);

#[pymethods]
impl Comparison {
    /// Every figure of every shared cell: a row each, with the means of both runs (`before_mean`, `after_mean`), the `ratio` of
    /// the second to the first with its 95 % interval, the test and the `verdict`. Figures have the `unit` that the row
    /// names.
    fn table(&self, py: Python<'_>) -> PyResult<Table> {
        let document: serde_json::Value = serde_json::from_str(&self.json_text()).map_err(|error| failed(py, error))?;
        let rows = ["comparisons", "trials"].into_iter().filter_map(|part| document[part].as_array()).flatten();
        Ok(Table::of_rows(&rows.map(|row| scalars("", row)).collect::<Vec<_>>()))
    }

    /// All of it as `assay compare --format json` has it.
    fn json<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("json")?.call_method1("loads", (self.json_text(),))
    }

    /// What is to be known before anything is concluded from it, each a sentence or two.
    #[getter]
    fn caveats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.json(py)?.get_item("caveats")
    }

    /// What the terminal shows.
    fn summary(&self) -> String {
        report::comparison::text(&self.0, WIDTH, false)
    }

    /// Writes the page, one HTML file that needs nothing else, and returns its path.
    #[pyo3(signature = (path, *, overwrite=false))]
    fn report(&self, py: Python<'_>, path: PathBuf, overwrite: bool) -> PyResult<PathBuf> {
        write(py, &path, &report::comparison::html(&self.0, env!("CARGO_PKG_VERSION")), overwrite)
    }

    fn __repr__(&self) -> String {
        let runs = self.0.outcomes.iter().map(|outcome| outcome.run.id.to_string()).collect::<Vec<_>>();
        format!("Comparison(runs {})", runs.join(", "))
    }

    fn _repr_html_(&self) -> String {
        format!("<pre>{}</pre>", self.summary().replace('&', "&amp;").replace('<', "&lt;"))
    }
}

impl Comparison {
    fn json_text(&self) -> String {
        report::comparison::json(&self.0, None, env!("CARGO_PKG_VERSION"))
    }
}

/// Holds runs against the first; each is one, or several that are pooled.
#[pyfunction]
pub fn compare(py: Python<'_>, sets: Vec<Vec<PyRef<'_, Run>>>) -> PyResult<Comparison> {
    let mut outcomes = Vec::new();
    for set in &sets {
        let all = set.iter().map(|run| Ok(run.outcome(py)?.as_ref().clone())).collect::<PyResult<Vec<_>>>()?;
        if all.is_empty() {
            return Err(refused(py, "a side of the comparison has no run; give one run, or several as a list"));
        }
        outcomes.push(pooled(all).map_err(|error| refused(py, error))?);
    }
    let comparison = py.detach(|| report::comparison::of(outcomes, Question::default()));
    Ok(Comparison(comparison.map_err(|error| refused(py, error))?))
}
