//! What is raised.

use std::fmt::Display;

use assay_cli::Failure;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyKeyboardInterrupt};
use pyo3::prelude::*;

create_exception!(
    assay,
    Error,
    PyException,
    "What was asked makes no sense, is refused, or failed.\n\nThe text is the command line's: what was found, what would be right, and what to do. `exit_code` is the code with\nwhich the command line would end: 1 tried and failed, 2 refused or invalid."
);

/// The exception for what the command line would tell.
pub fn raised(py: Python<'_>, failure: &Failure) -> PyErr {
    let words = failure.words(false).trim_end().to_owned();
    if failure.is_interruption() {
        return PyKeyboardInterrupt::new_err(words);
    }
    let error = Error::new_err(words);
    // It can be told without its code.
    error.value(py).setattr("exit_code", failure.code()).ok();
    error
}

/// The exception for what is refused.
pub fn refused(py: Python<'_>, words: impl Display) -> PyErr {
    raised(py, &Failure::usage(words))
}

/// The exception for what was tried and failed.
pub fn failed(py: Python<'_>, words: impl Display) -> PyErr {
    raised(py, &Failure::failed(words))
}
