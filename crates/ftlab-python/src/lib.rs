//! The compiled half of the Python package `ftlab`: converts between Python and the laboratory, and does nothing else.
//!
//! What users see is Python (`python/ftlab`). The interpreter's lock is released while devices are simulated.

mod cast;
mod columns;
mod comparison;
mod config;
mod errors;
mod figure;
mod image;
mod inspection;
mod load;
mod options;
mod own_table;
mod policies;
mod run;
mod simulator;
mod sweep;
mod table;
mod timeline;
mod watch;

use ftlab_lab::catalog::{self, Catalog};
use pyo3::prelude::*;

#[global_allocator]
static MEMORY: ftlab_memory::TableAllocator = ftlab_memory::TableAllocator::new();

/// Returns everything of one kind that has a name, as JSON: `policies`, `devices`, `formats`, `workloads` or `options`.
#[pyfunction]
fn listed(kind: &str) -> PyResult<String> {
    let catalog = match kind {
        "policies" => Catalog::Policies,
        "devices" => Catalog::Devices,
        "formats" => Catalog::Formats,
        "workloads" => Catalog::Workloads,
        "options" => Catalog::Options,
        _ => return Err(errors::usage(format!("there is no list of {kind}"))),
    };
    Ok(catalog::document(catalog).map_err(errors::raised)?.to_string())
}

/// Explains an option, a section or a policy, as `ftlab explain` does.
#[pyfunction]
fn explain(path: &str) -> PyResult<String> {
    let topic =
        ftlab::config::explain(path).map_err(|unknown| errors::usage(unknown.to_string()))?;
    Ok(topic.to_string())
}

/// Parses a duration with its unit, such as `5ms`, to nanoseconds.
#[pyfunction]
fn parse_duration(text: &str) -> PyResult<u64> {
    use ftlab::options::value::Value;
    match ftlab::units::Nanos::parse(text) {
        Ok(span) => Ok(span.0),
        Err(error) => Err(errors::usage(format!(
            "{text:?} is no span of time ({error})\n  remedy: write a number and a unit, such as 5ms or 200us"
        ))),
    }
}

/// The compiled half of the package.
#[pymodule]
fn _ftlab(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(listed, module)?)?;
    module.add_function(wrap_pyfunction!(explain, module)?)?;
    module.add_function(wrap_pyfunction!(parse_duration, module)?)?;
    module.add_class::<config::PyConfig>()?;
    module.add_class::<load::PyLoad>()?;
    module.add_class::<image::PyImage>()?;
    module.add_class::<options::PyRunOptions>()?;
    module.add_class::<run::PyRun>()?;
    module.add_class::<table::PyColumns>()?;
    module.add_class::<simulator::PySimulator>()?;
    module.add_class::<comparison::PyComparison>()?;
    module.add_class::<inspection::PyInspection>()?;
    module.add_class::<sweep::PySweepPlan>()?;
    module.add_class::<sweep::PySweepRows>()?;
    module.add_class::<sweep::PySweepFolder>()?;
    module.add_function(wrap_pyfunction!(run::run, module)?)?;
    module.add_function(wrap_pyfunction!(figure::figure_of_results, module)?)?;
    module.add_function(wrap_pyfunction!(figure::figure_of_sweep, module)?)?;
    module.add_function(wrap_pyfunction!(figure::figure_of_comparison, module)?)?;
    module.add_function(wrap_pyfunction!(inspection::inspect, module)?)?;
    module.add_function(wrap_pyfunction!(timeline::explain_run, module)?)?;
    module.add_function(wrap_pyfunction!(timeline::trace_run, module)?)?;
    module.add_function(wrap_pyfunction!(image::prepare, module)?)?;
    module.add_function(wrap_pyfunction!(image::prepare_key, module)?)?;
    module.add_function(wrap_pyfunction!(comparison::compare_variants, module)?)
}
