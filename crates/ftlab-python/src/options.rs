//! How a load is played.

use std::sync::Arc;

use ftlab_lab::experiment::RunOptions;
use ftlab_lab::image::ImageSource;
use pyo3::prelude::*;

use crate::errors::usage;
use crate::image::PyImage;
use crate::policies::{GivenPolicy, Trouble, outside};

/// The options of a run besides device, load and seed. They never change.
#[pyclass(frozen, module = "ftlab._ftlab", name = "RunOptions")]
pub struct PyRunOptions {
    pub options: RunOptions,
    /// What goes wrong in its policies.
    pub trouble: Trouble,
}

#[pymethods]
impl PyRunOptions {
    /// Sets options by name and text, the image to start from, and policies in Python.
    #[new]
    #[pyo3(signature = (named, image = None, policies = Vec::new()))]
    fn new(
        named: Vec<(String, String)>,
        image: Option<&PyImage>,
        policies: Vec<GivenPolicy>,
    ) -> PyResult<PyRunOptions> {
        let mut options = RunOptions::default();
        for (name, text) in named {
            options.set(&name, &text).map_err(|why| usage(format!("{name}={text}: {why}")))?;
        }
        options.image = image.map(|image| ImageSource::Opened(Arc::clone(&image.taken)));
        let trouble = Trouble::default();
        options.outside = outside(policies, &trouble)?;
        Ok(PyRunOptions { options, trouble })
    }

    /// The names of the options.
    #[staticmethod]
    fn names() -> Vec<&'static str> {
        RunOptions::NAMES.to_vec()
    }
}
