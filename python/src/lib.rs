//! assay for Python: what the command line has, as values.
//!
//! `python/assay` has the functions that people call; here is what they are made of.

mod arguments;
mod cell;
mod drive;
mod error;
mod interruption;
mod measurement;
mod run;
mod states;
mod table;

use pyo3::prelude::*;

#[pymodule]
mod _assay {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::cell::{measure_cell, states_made};
    #[pymodule_export]
    use crate::drive::{Completion, Drive, drives};
    #[pymodule_export]
    use crate::error::Error;
    #[pymodule_export]
    use crate::interruption::interrupt;
    #[pymodule_export]
    use crate::measurement::{Flow, Latency, Measurement};
    #[pymodule_export]
    use crate::run::{Comparison, Run, Store, compare, default_store, review, run};
    #[pymodule_export]
    use crate::table::Table;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__build__", assay_cli::VERSION)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
