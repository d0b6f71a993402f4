//! The data of figures, which Python draws.

use ftlab_lab::Failure;
use ftlab_lab::figure::{
    FigureChoice, FigureCurve, FigureDocument, of_comparison, of_results, of_sweep,
    with_choices_called,
};
use ftlab_lab::result::to_json;
use ftlab_lab::sweep;
use pyo3::prelude::*;

use crate::comparison::PyComparison;
use crate::errors::raised;

/// What is drawn, as a dict.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct GivenChoice {
    metrics: Vec<String>,
    curves: Vec<String>,
    along: Option<String>,
    only: Vec<(String, String)>,
    relative: bool,
    log: bool,
    rename: Vec<(String, String)>,
    confidence: f64,
}

impl GivenChoice {
    fn choice(self) -> Result<FigureChoice, Failure> {
        Ok(FigureChoice {
            metrics: self.metrics,
            curves: self
                .curves
                .iter()
                .map(|name| FigureCurve::named(name))
                .collect::<Result<_, _>>()?,
            along: self.along,
            only: self.only,
            is_relative: self.relative,
            is_log: self.log,
            names: self.rename,
            confidence: self.confidence,
        })
    }

    /// Makes the data, as JSON.
    fn json(
        self,
        of: impl FnOnce(&FigureChoice) -> Result<FigureDocument, Failure>,
    ) -> PyResult<String> {
        let document = self.choice().and_then(|choice| of(&choice));
        let called = |text: String| with_choices_called(&text, |name| format!("{name}="));
        let document = document.map_err(|failure| raised(failure.map_text(called)))?;
        to_json(&document).map_err(raised)
    }
}

/// Returns the data of a figure of results in folders.
#[pyfunction]
pub fn figure_of_results(
    py: Python<'_>,
    results: Vec<String>,
    choice: GivenChoice,
) -> PyResult<String> {
    py.detach(|| choice.json(|choice| of_results(&results, choice)))
}

/// Returns the data of a figure of a sweep, whose sweep.json is given.
#[pyfunction]
pub fn figure_of_sweep(document: &str, choice: GivenChoice) -> PyResult<String> {
    choice.json(|choice| of_sweep(&sweep::of_json(document).map_err(Failure::usage)?, choice))
}

/// Returns the data of a figure of a comparison.
#[pyfunction]
pub fn figure_of_comparison(comparison: &PyComparison, choice: GivenChoice) -> PyResult<String> {
    choice.json(|choice| of_comparison(&comparison.comparison, choice))
}
