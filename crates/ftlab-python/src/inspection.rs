//! What loads are like, as `ftlab trace inspect` and `ftlab trace compare` tell it.

use ftlab_lab::Failure;
use ftlab_lab::experiment::{LoadSource, Watcher};
use ftlab_workload::trace::{self, Inspection, compare_characters};
use pyo3::prelude::*;
use serde::Serialize;

use crate::errors::{raised, with_keywords};
use crate::load::{PyLoad, opened};
use crate::watch::{Listener, PythonWatcher, Raised};

/// What progress calls it.
const NAME: &str = "inspect";

/// A load, described.
#[pyclass(frozen, module = "ftlab._ftlab", name = "Inspection")]
pub struct PyInspection {
    inspection: Inspection,
}

#[pymethods]
impl PyInspection {
    /// All figures, as `ftlab trace inspect --json` prints them.
    #[getter]
    fn json(&self) -> PyResult<String> {
        json(&self.inspection)
    }

    /// The comparison with another load, as `ftlab trace compare --json` prints it.
    fn compare(&self, second: &PyInspection) -> PyResult<String> {
        json(&compare_characters(&self.inspection.character, &second.inspection.character))
    }
}

fn json(of: &impl Serialize) -> PyResult<String> {
    serde_json::to_string_pretty(of).map_err(|error| raised(Failure::usage(error)))
}

/// Describes a load whose requests are known before it is played.
#[pyfunction]
pub fn inspect(
    py: Python<'_>,
    load: &PyLoad,
    accesses: bool,
    listener: Listener,
) -> PyResult<PyInspection> {
    let meanwhile = Raised::default();
    let mut watcher = PythonWatcher::new(listener, meanwhile.clone());
    let described = py.detach(|| described(&load.source, accesses, &mut watcher));
    let mut inspection = meanwhile.or(described.map_err(raised))?;
    for text in inspection.assumed.iter_mut().chain(&mut inspection.warnings) {
        *text = with_keywords(text);
    }
    Ok(PyInspection { inspection })
}

fn described(
    source: &LoadSource,
    accesses: bool,
    watcher: &mut PythonWatcher,
) -> Result<Inspection, Failure> {
    match source {
        LoadSource::Trace { file, reading, .. } => {
            let mut trace = opened(file, reading.clone())?;
            watcher.begins(NAME, Some(trace.meter()));
            trace::inspect_watched(&mut trace, accesses, |read| watcher.writes(read, None))
        }
        LoadSource::Requests(given) => {
            let requests = given.requests().unwrap_or_default();
            watcher.begins(NAME, None);
            let all = Some(requests.len() as u64);
            let look = |read| watcher.writes(read, all);
            trace::inspect_requests(&given.name, requests, accesses, look)
        }
        LoadSource::Workload(_) | LoadSource::Fio(_) => {
            return Err(Failure::usage(format!(
                "{} has no requests before it is played\n  remedy: give a load made by trace or requests",
                source.name()
            )));
        }
    }
    .map_err(Failure::usage)
}
