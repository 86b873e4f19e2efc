//! Tables: columns of one kind each, which data frames take by the Arrow C data interface without a copy.
//!
//! Source: Apache Arrow, "The Arrow PyCapsule Interface".

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, RecordBatchIterator, StringArray, StructArray,
};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{DataType, Field, Schema};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyCapsule, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use report::export::{ColumnKind, TableColumn};

use crate::error::refused;

/// How many rows are shown of a long table.
const SHOWN: usize = 20;

/// A table of columns of one kind each: texts, whole numbers, numbers, truths.
///
/// It has the Arrow PyCapsule interface, so that `pyarrow.table(t)`, `polars.DataFrame(t)`, `pandas.DataFrame.from_arrow(t)`
/// and DuckDB take it without a copy. `t["iops"]` is a column as a list, `list(t)` are the rows as dictionaries, `len(t)` is
/// how many there are. Names of columns end with their unit: `_ns` nanoseconds, `_bytes` bytes or bytes a second.
#[pyclass(module = "assay", frozen)]
pub struct Table {
    batch: RecordBatch,
}

/// A value of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum CellValue {
    None,
    Truth(bool),
    Whole(i64),
    Real(f64),
    Text(String),
}

impl From<&serde_json::Value> for CellValue {
    /// Lists and objects are no values of a row.
    fn from(value: &serde_json::Value) -> Self {
        match value {
            serde_json::Value::Bool(truth) => Self::Truth(*truth),
            serde_json::Value::Number(number) => {
                number.as_i64().map_or_else(|| number.as_f64().map_or(Self::None, Self::Real), Self::Whole)
            }
            serde_json::Value::String(text) => Self::Text(text.clone()),
            _ => Self::None,
        }
    }
}

/// A row: values by the names of columns.
pub type Row = Vec<(String, CellValue)>;

impl Table {
    /// Columns as documents have them.
    pub fn of_columns(columns: Vec<TableColumn>) -> Self {
        let arrays = columns.into_iter().map(|TableColumn { name, kind, values }| {
            let array: ArrayRef = match kind {
                ColumnKind::Text => Arc::new(StringArray::from(values)),
                ColumnKind::Truth => {
                    Arc::new(values.iter().map(|one| one.as_ref().map(|text| text == "yes")).collect::<BooleanArray>())
                }
                ColumnKind::Whole => Arc::new(parsed(&values).collect::<Int64Array>()),
                ColumnKind::Real => Arc::new(parsed(&values).collect::<Float64Array>()),
            };
            (name.to_owned(), array)
        });
        Self::of_arrays(arrays.collect())
    }

    /// Rows, which need not have the same columns; these are in the order in which they come up.
    pub fn of_rows(rows: &[Row]) -> Self {
        let mut names: Vec<&str> = Vec::new();
        let mut places: HashMap<&str, usize> = HashMap::new();
        for (name, _) in rows.iter().flatten() {
            places.entry(name).or_insert_with(|| {
                names.push(name);
                names.len() - 1
            });
        }
        let mut columns = vec![vec![CellValue::None; rows.len()]; names.len()];
        for (at, row) in rows.iter().enumerate() {
            row.iter().for_each(|(name, value)| columns[places[name.as_str()]][at] = value.clone());
        }
        let arrays = names.into_iter().map(str::to_owned).zip(columns.iter().map(|column| array(column)));
        Self::of_arrays(arrays.collect())
    }

    fn of_arrays(arrays: Vec<(String, ArrayRef)>) -> Self {
        let fields: Vec<Field> =
            arrays.iter().map(|(name, array)| Field::new(name, array.data_type().clone(), true)).collect();
        let schema = Arc::new(Schema::new(fields));
        let columns: Vec<ArrayRef> = arrays.into_iter().map(|(_, array)| array).collect();
        let batch = match columns.is_empty() {
            true => RecordBatch::new_empty(schema),
            false => RecordBatch::try_new(schema, columns).expect("all columns have as many rows"),
        };
        Self { batch }
    }

    fn names(&self) -> Vec<String> {
        self.batch.schema_ref().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// A value as text for people.
    fn shown(&self, column: usize, row: usize) -> String {
        let array = self.batch.column(column);
        if array.is_null(row) {
            return String::new();
        }
        match array.data_type() {
            DataType::Boolean => array.as_boolean().value(row).to_string(),
            DataType::Int64 => array.as_primitive::<Int64Type>().value(row).to_string(),
            DataType::Float64 => {
                let value = array.as_primitive::<Float64Type>().value(row);
                if value.abs() >= 1e5 || value == value.trunc() { format!("{value:.0}") } else { format!("{value:.5}") }
            }
            _ => array.as_string::<i32>().value(row).to_owned(),
        }
    }

    /// The head and the first rows, as texts.
    fn first(&self) -> Vec<Vec<String>> {
        let rows = self.batch.num_rows().min(SHOWN);
        let columns = self.batch.num_columns();
        let lines = (0..rows).map(|row| (0..columns).map(|column| self.shown(column, row)).collect());
        std::iter::once(self.names()).chain(lines).collect()
    }

    fn count(&self) -> String {
        format!("{} rows × {} columns", self.batch.num_rows(), self.batch.num_columns())
    }
}

/// The numbers of a column; one that cannot be read is none.
fn parsed<T: std::str::FromStr>(values: &[Option<String>]) -> impl Iterator<Item = Option<T>> {
    values.iter().map(|value| value.as_ref().and_then(|text| text.parse().ok()))
}

/// A column of the narrowest kind that holds all values.
fn array(values: &[CellValue]) -> ArrayRef {
    use CellValue::{None as Nothing, Real, Text, Truth, Whole};
    let all = |fits: fn(&CellValue) -> bool| values.iter().all(|value| *value == Nothing || fits(value));
    if all(|value| matches!(value, Truth(_))) && !all(|_| false) {
        let truths = values.iter().map(|value| if let Truth(truth) = value { Some(*truth) } else { None });
        return Arc::new(truths.collect::<BooleanArray>());
    }
    if all(|value| matches!(value, Whole(_))) && !all(|_| false) {
        let numbers = values.iter().map(|value| if let Whole(number) = value { Some(*number) } else { None });
        return Arc::new(numbers.collect::<Int64Array>());
    }
    if all(|value| matches!(value, Whole(_) | Real(_))) {
        let numbers = values.iter().map(|value| match value {
            Whole(number) => Some(*number as f64),
            Real(number) => Some(*number),
            _ => None,
        });
        return Arc::new(numbers.collect::<Float64Array>());
    }
    let texts = values.iter().map(|value| match value {
        Nothing => None,
        Truth(truth) => Some(truth.to_string()),
        Whole(number) => Some(number.to_string()),
        Real(number) => Some(number.to_string()),
        Text(text) => Some(text.clone()),
    });
    Arc::new(texts.collect::<StringArray>())
}

/// A row of Python's.
fn row(row: &Bound<'_, PyDict>) -> PyResult<Row> {
    let value = |value: &Bound<'_, PyAny>| {
        Ok::<_, PyErr>(match value {
            value if value.is_none() => CellValue::None,
            value if value.is_instance_of::<PyBool>() => CellValue::Truth(value.extract()?),
            value if value.is_instance_of::<PyInt>() => value
                .extract()
                .map_or_else(|_| Ok::<_, PyErr>(CellValue::Real(value.extract()?)), |n| Ok(CellValue::Whole(n)))?,
            value if value.is_instance_of::<PyFloat>() => CellValue::Real(value.extract()?),
            value if value.is_instance_of::<PyString>() => CellValue::Text(value.extract()?),
            value => CellValue::Text(value.str()?.extract()?),
        })
    };
    row.iter().map(|(name, found)| Ok((name.str()?.extract()?, value(&found)?))).collect()
}

#[pymethods]
impl Table {
    /// A table of rows, each a dictionary; a column is of the narrowest kind that holds all its values.
    #[staticmethod]
    fn from_rows(rows: Vec<Bound<'_, PyDict>>) -> PyResult<Self> {
        Ok(Self::of_rows(&rows.iter().map(row).collect::<PyResult<Vec<_>>>()?))
    }

    /// The names of the columns, in order.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.names()
    }

    /// The rows as dictionaries; what a row does not have is `None`.
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let (names, columns) = (self.names(), self.batch.num_columns());
        let lists = (0..columns).map(|column| self.list(py, column)).collect::<PyResult<Vec<_>>>()?;
        let rows = PyList::empty(py);
        for at in 0..self.batch.num_rows() {
            let row = PyDict::new(py);
            names.iter().zip(&lists).try_for_each(|(name, list)| row.set_item(name, list.get_item(at)?))?;
            rows.append(row)?;
        }
        Ok(rows)
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let found = self.batch.schema_ref().index_of(name);
        let column = found.map_err(|_| PyKeyError::new_err(format!("{name}; there is {}", self.names().join(", "))))?;
        self.list(py, column)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.rows(py)?.into_any().try_iter().map(Bound::into_any)
    }

    fn __repr__(&self) -> String {
        let first = self.first();
        let widths: Vec<usize> = (0..self.batch.num_columns())
            .map(|column| first.iter().map(|line| line[column].chars().count()).max().unwrap_or_default())
            .collect();
        let mut text = String::new();
        for line in &first {
            let cells = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}", width = *width));
            writeln!(text, "{}", cells.collect::<Vec<_>>().join("  ").trim_end()).expect("a text takes all");
        }
        text + &self.count()
    }

    fn _repr_html_(&self) -> String {
        self.html()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let make = py.get_type::<Self>().getattr("from_rows")?;
        Ok((make, PyTuple::new(py, [self.rows(py)?])?))
    }

    /// The schema, by the Arrow PyCapsule interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.batch.schema_ref().as_ref()).map_err(|error| refused(py, error))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// The schema and the table as a struct array, by the Arrow PyCapsule interface. No other schema can be asked for.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        let _ = requested_schema;
        let data = StructArray::from(self.batch.clone()).into_data();
        let (array, schema) = arrow_array::ffi::to_ffi(&data).map_err(|error| refused(py, error))?;
        let schema = PyCapsule::new_with_value(py, schema, c"arrow_schema")?;
        Ok((schema, PyCapsule::new_with_value(py, array, c"arrow_array")?))
    }

    /// The table as a stream of one batch, by the Arrow PyCapsule interface. No other schema can be asked for.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), c"arrow_array_stream")
    }
}

impl Table {
    /// The head and the first rows for a notebook.
    pub fn html(&self) -> String {
        let safe = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let line = |cells: &[String], tag: &str| {
            cells.iter().map(|cell| format!("<{tag}>{}</{tag}>", safe(cell))).collect::<String>()
        };
        let first = self.first();
        let body: String = first[1..].iter().map(|cells| format!("<tr>{}</tr>", line(cells, "td"))).collect();
        let head = line(&first[0], "th");
        format!("<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p>{}</p>", self.count())
    }

    /// A column as Python's values.
    fn list<'py>(&self, py: Python<'py>, column: usize) -> PyResult<Bound<'py, PyList>> {
        let array = self.batch.column(column);
        match array.data_type() {
            DataType::Boolean => PyList::new(py, array.as_boolean().iter().collect::<Vec<_>>()),
            DataType::Int64 => PyList::new(py, array.as_primitive::<Int64Type>().iter().collect::<Vec<_>>()),
            DataType::Float64 => PyList::new(py, array.as_primitive::<Float64Type>().iter().collect::<Vec<_>>()),
            _ => PyList::new(py, array.as_string::<i32>().iter().collect::<Vec<_>>()),
        }
    }
}
