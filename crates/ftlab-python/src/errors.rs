//! Failures as Python exceptions. Their classes are Python's (`ftlab/_errors.py`).

use ftlab_lab::Failure;
use ftlab_lab::failure::with_options_called;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyString, PyType};

/// The module of the classes.
const MODULE: &str = "ftlab._errors";

/// Returns the exception for a failure. Options are called as keyword arguments.
pub fn raised(failure: Failure) -> PyErr {
    let class = match failure {
        Failure::Usage(_) => "UsageError",
        Failure::Config(_) => "ConfigError",
        Failure::File(_) => "FileError",
        Failure::Experiment(_) => "ExperimentError",
        Failure::Interrupted => return pyo3::exceptions::PyKeyboardInterrupt::new_err(()),
    };
    let text = with_keywords(failure.text());
    Python::attach(|py| match class_of(py, class) {
        Ok(class) => PyErr::from_type(class, text),
        Err(error) => error,
    })
}

/// Writes the options in a text as keyword arguments.
pub fn with_keywords(text: &str) -> String {
    with_options_called(text, |name| format!("{name}="))
}

/// Returns the exception for an argument that cannot be used.
pub fn usage(text: impl Into<String>) -> PyErr {
    raised(Failure::Usage(text.into()))
}

fn class_of<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyType>> {
    static CLASSES: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = CLASSES.get_or_try_init(py, || py.import(MODULE).map(Bound::unbind))?;
    Ok(module.bind(py).getattr(PyString::new(py, name))?.cast_into()?)
}
