//! Keywords as options of a command line.

use std::path::PathBuf;

use assay_cli::embedded::OptionValue;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

/// The keywords as options; one that is `None` is left out.
pub fn options(keywords: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<(String, OptionValue)>> {
    let mut options = Vec::new();
    for (name, value) in keywords.into_iter().flatten() {
        let name: String = name.extract()?;
        if !value.is_none() {
            options.push((name.clone(), option(&name, &value)?));
        }
    }
    Ok(options)
}

fn option(name: &str, value: &Bound<'_, PyAny>) -> PyResult<OptionValue> {
    if let Ok(switch) = value.cast::<PyBool>() {
        return Ok(OptionValue::Switch(switch.is_true()));
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let texts = value.try_iter()?.map(|one| text(name, &one?)).collect::<PyResult<_>>()?;
        return Ok(OptionValue::Several(texts));
    }
    Ok(OptionValue::Text(text(name, value)?))
}

/// A value as it is typed on a command line.
pub fn text(name: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(switch) = value.cast::<PyBool>() {
        return Ok(u8::from(switch.is_true()).to_string());
    }
    if value.is_instance_of::<PyString>() || value.is_instance_of::<PyInt>() || value.is_instance_of::<PyFloat>() {
        return value.str()?.extract();
    }
    // What has the interface of paths, and numbers of NumPy.
    if let Ok(path) = value.extract::<PathBuf>()
        && let Some(text) = path.to_str()
    {
        return Ok(text.to_owned());
    }
    if let Ok(number) = value.call_method0("__index__") {
        return number.str()?.extract();
    }
    let kind = value.get_type().name()?;
    Err(PyTypeError::new_err(format!("{name} is a {kind}; give a text, a number, True, False, or a list of these")))
}
