//! Saved devices.

use std::path::Path;
use std::sync::Arc;

use ftlab::image::Resume;
use ftlab_lab::Lab;
use ftlab_lab::experiment::Preparation;
use ftlab_lab::image::{self, OpenedImage};
use ftlab_lab::saved::{self, DeviceState};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::config::PyConfig;
use crate::errors::{raised, usage};
use crate::watch::{Listener, PythonWatcher, Raised};

/// A saved device. It never changes.
#[pyclass(frozen, module = "ftlab._ftlab", name = "Image")]
pub struct PyImage {
    pub taken: Arc<OpenedImage>,
}

#[pymethods]
impl PyImage {
    /// Reads an image file.
    #[staticmethod]
    fn open(py: Python<'_>, file: &str) -> PyResult<PyImage> {
        let taken = py.detach(|| image::take(file)).map_err(raised)?;
        Ok(PyImage { taken: Arc::new(taken) })
    }

    /// Reads an image from the bytes of its file.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, name: &str, bytes: &[u8]) -> PyResult<PyImage> {
        let taken = py.detach(|| image::take_bytes(name, bytes)).map_err(raised)?;
        Ok(PyImage { taken: Arc::new(taken) })
    }

    /// Returns the bytes of an image file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let packed = py.detach(|| {
            let mut bytes = Vec::new();
            image::pack(&mut bytes, &self.taken.image).map(|()| bytes)
        });
        Ok(PyBytes::new(py, &packed?))
    }

    /// Writes an image file.
    fn save(&self, py: Python<'_>, file: &str, force: bool) -> PyResult<u64> {
        let path = Path::new(file);
        let written = py.detach(|| {
            image::refuse_to_overwrite(path, force)?;
            image::write(path, &self.taken.image, force)
        });
        written.map_err(raised)
    }

    /// The name of the image in messages.
    #[getter]
    fn name(&self) -> &str {
        &self.taken.name
    }

    /// The seed that it was made with.
    #[getter]
    fn seed(&self) -> u64 {
        self.taken.image.seed
    }

    /// Whether it is of a device with this configuration, made with this seed.
    fn is_of(&self, config: &PyConfig, seed: u64) -> bool {
        let is_same = self.taken.config.canonical() == config.config.canonical();
        is_same && self.taken.image.seed == seed
    }

    /// How the device came to its state: a line for each step.
    #[getter]
    fn steps(&self) -> Vec<String> {
        let lines = saved::story_told(&self.taken.story());
        lines.into_iter().map(|(depth, text)| "  ".repeat(depth) + &text).collect()
    }

    /// The state of the device, as JSON.
    fn state(&self, py: Python<'_>) -> PyResult<String> {
        let taken = &self.taken;
        let state = py.detach(|| {
            saved::loaded(taken, &taken.config, Resume::ALL).map(|device| DeviceState::of(&device))
        });
        serde_json::to_string(&state.map_err(raised)?).map_err(|error| usage(error.to_string()))
    }
}

fn preparation(steps: &str, image: Option<&PyImage>, all_phases: bool) -> PyResult<Preparation> {
    let image = image.map(|image| Arc::clone(&image.taken));
    Preparation::of(image, Some(steps), all_phases, None).map_err(raised)
}

/// Prepares a device, and saves it. Returns the image, and notes and complaints about its preparation.
#[pyfunction]
pub fn prepare(
    py: Python<'_>,
    config: &PyConfig,
    steps: &str,
    seed: u64,
    image: Option<&PyImage>,
    listener: Listener,
) -> PyResult<(PyImage, Vec<String>, Vec<String>)> {
    let preparation = preparation(steps, image, false)?;
    let (config, raised_meanwhile) = (Arc::clone(&config.config), Raised::default());
    let mut watcher = PythonWatcher::new(listener, raised_meanwhile.clone());
    let prepared = py.detach(|| {
        let prepared = Lab::default().prepare(&preparation, &config, seed, &mut watcher, |_| {})?;
        let image = saved::image_of(&prepared.device, &config, seed, &prepared.steps)?;
        let name = format!("{} aged", config.options.device.name);
        let taken = OpenedImage { name, image, config: (*config).clone() };
        Ok((taken, prepared.notes, prepared.complaints))
    });
    let (taken, notes, complaints) = raised_meanwhile.or(prepared.map_err(raised))?;
    Ok((PyImage { taken: Arc::new(taken) }, notes, complaints))
}

/// Returns what an image depends on, as a digest: equal ones give equal images.
#[pyfunction]
pub fn prepare_key(
    config: &PyConfig,
    steps: &str,
    seed: u64,
    image: Option<&PyImage>,
) -> PyResult<String> {
    Ok(preparation(steps, image, false)?.inputs(&config.config, seed))
}
