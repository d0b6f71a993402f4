//! What a device did at some time, and why requests took as long as they did: runs that are performed again.

use ftlab_lab::result::to_json;
use ftlab_lab::timeline::{Question, RequestChoice, When, perfetto, why, why_page};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::usage;
use crate::run::GivenRun;
use crate::watch::Listener;

/// Returns why requests of a run took as long as they did, as JSON and as a page, and the result of the run.
#[pyfunction]
pub fn explain_run(
    py: Python<'_>,
    run: GivenRun<'_>,
    request: Option<u64>,
    slowest: usize,
    op: Option<&str>,
    tail_ppm: u64,
    listener: Listener,
) -> PyResult<(String, String, String)> {
    let op = match op {
        Some(name) => Some(crate::columns::op_named(name).ok_or_else(|| {
            usage(format!(
                "there is no operation {name}\n  remedy: write read, write, trim or flush"
            ))
        })?),
        None => None,
    };
    let question = Question { request, slowest, op, tail_ppm };
    run.work(py, listener, |again, watcher| {
        let answer = why(again, &question, watcher)?;
        let page = why_page(&answer, &again.config.flash(), &[])?;
        Ok((to_json(&answer.document)?, page, to_json(&*answer.traced.document)?))
    })
}

/// Returns what a device did at some time, as a trace for Perfetto, and the result of the run.
#[pyfunction]
pub fn trace_run<'py>(
    py: Python<'py>,
    run: GivenRun<'_>,
    when: &str,
    listener: Listener,
) -> PyResult<(Bound<'py, PyBytes>, String)> {
    let when: When = when.parse().map_err(|wrong| usage(format!("{wrong}")))?;
    let (trace, result) = run.work(py, listener, |again, watcher| {
        // A window from the start of measuring needs the result to know when that was.
        let choice = when.choice().unwrap_or(RequestChoice::Slowest(0));
        let (result, chosen) = again.choose_with_result(choice, watcher)?;
        let traced = again.trace(&when.windows(&result, &chosen)?, watcher)?;
        let geometry = again.config.flash();
        Ok((perfetto(&traced, &geometry), to_json(&*traced.document)?))
    })?;
    Ok((PyBytes::new(py, &trace), result))
}
