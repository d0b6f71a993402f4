//! Loads.

use std::path::Path;
use std::sync::Arc;

use ftlab_lab::experiment::{GivenRequests, LoadSource};
use ftlab_lab::load::{set_reading, short_name};
use ftlab_lab::text_file;
use ftlab_workload::generate::Workload;
use ftlab_workload::trace;
use pyo3::prelude::*;

use crate::columns::requests_of;
use crate::errors::{raised, usage};

/// A load. It never changes.
#[pyclass(frozen, module = "ftlab._ftlab", name = "Load")]
pub struct PyLoad {
    pub source: LoadSource,
}

#[pymethods]
impl PyLoad {
    /// Finds a workload: a built-in one, or a file.
    #[staticmethod]
    fn workload(name: &str) -> PyResult<PyLoad> {
        Ok(PyLoad { source: LoadSource::workload(name).map_err(raised)? })
    }

    /// Parses a workload. Files that it names are relative to the current folder.
    #[staticmethod]
    fn workload_text(name: &str, text: &str) -> PyResult<PyLoad> {
        let mut fetch = |file: &str| {
            text_file::read(Path::new(file)).map_err(|error| format!("{file}: {error}"))
        };
        let parsed = Workload::parse(name, text, &mut fetch);
        let workload = parsed
            .map_err(|problems| raised(ftlab_lab::Failure::Config(text_file::told(problems))))?;
        Ok(PyLoad { source: LoadSource::Workload(Arc::new(workload)) })
    }

    /// Names a trace. It is read when it is played.
    #[staticmethod]
    fn trace(file: String, reading: Vec<(String, String)>) -> PyResult<PyLoad> {
        let mut options = trace::Options::default();
        for (name, text) in reading {
            set_reading(&mut options, &name, &text)
                .map_err(|why| usage(format!("{name}={text}: {why}")))?;
        }
        Ok(PyLoad { source: LoadSource::Trace { file, reading: options } })
    }

    /// Reads a fio job file.
    #[staticmethod]
    fn fio(file: &str, variables: Vec<(String, String)>) -> PyResult<PyLoad> {
        Ok(PyLoad { source: LoadSource::fio(file, &variables).map_err(raised)? })
    }

    /// Takes requests in columns.
    #[staticmethod]
    fn requests(name: &str, columns: &Bound<'_, PyAny>) -> PyResult<PyLoad> {
        let read = requests_of(columns, None)?;
        let given = GivenRequests::columns(short_name(name), read.requests, read.timed);
        Ok(PyLoad { source: LoadSource::Requests(given) })
    }

    /// The name of the load in results.
    #[getter]
    fn name(&self) -> String {
        self.source.name()
    }

    /// `workload`, `trace`, `fio` or `requests`.
    #[getter]
    fn kind(&self) -> &'static str {
        match self.source {
            LoadSource::Workload(_) => "workload",
            LoadSource::Trace { .. } => "trace",
            LoadSource::Fio(_) => "fio",
            LoadSource::Requests(_) => "requests",
        }
    }
}
