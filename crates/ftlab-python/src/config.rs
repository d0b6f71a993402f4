//! The configuration of a device.

use std::sync::Arc;

use ftlab::config::Config;
use ftlab::units::SECTOR_BYTES;
use ftlab_lab::device::{self, Setting};
use pyo3::prelude::*;

use crate::errors::{raised, with_keywords};
use crate::image::PyImage;

/// A checked configuration. It never changes.
#[pyclass(frozen, module = "ftlab._ftlab", name = "Config")]
pub struct PyConfig {
    pub config: Arc<Config>,
}

fn settings(sets: Vec<(String, String)>) -> Vec<Setting> {
    sets.into_iter().map(|(label, text)| Setting { label, text }).collect()
}

#[pymethods]
impl PyConfig {
    /// Loads a built-in device or a file, with options set on top: pairs of where they were written and `KEY=VALUE`.
    #[staticmethod]
    fn load(device: &str, sets: Vec<(String, String)>) -> PyResult<PyConfig> {
        let config = device::load(device, &settings(sets)).map_err(raised)?;
        Ok(PyConfig { config: Arc::new(config) })
    }

    /// Loads a configuration from its text, and checks that it fits an image, if there is one.
    #[staticmethod]
    fn parse(
        name: &str,
        text: &str,
        sets: Vec<(String, String)>,
        image: Option<&PyImage>,
    ) -> PyResult<PyConfig> {
        let config = device::of_text(name, text, &settings(sets)).map_err(raised)?;
        image.map_or(Ok(()), |image| image.taken.check(&config)).map_err(raised)?;
        Ok(PyConfig { config: Arc::new(config) })
    }

    /// Loads the configuration of an image, with options set on top, and checks that it still fits.
    #[staticmethod]
    fn of_image(image: &PyImage, sets: Vec<(String, String)>) -> PyResult<PyConfig> {
        let taken = &image.taken;
        let config = device::of_text(&taken.name, &taken.image.config, &settings(sets));
        let config = config.map_err(raised)?;
        taken.check(&config).map_err(raised)?;
        Ok(PyConfig { config: Arc::new(config) })
    }

    /// The name of the device, and how many options differ from what gave it the name.
    #[getter]
    fn title(&self) -> String {
        device::title(&self.config)
    }

    /// The name of the device.
    #[getter]
    fn name(&self) -> &str {
        &self.config.options.device.name
    }

    /// The bytes that the host can address.
    #[getter]
    fn capacity_bytes(&self) -> u64 {
        let page = self.config.shape().mapping_unit.0;
        u64::from(self.config.logical_pages()) * page / SECTOR_BYTES * SECTOR_BYTES
    }

    /// Warnings and notes about the configuration.
    #[getter]
    fn remarks(&self) -> Vec<String> {
        device::remarks([&*self.config]).iter().map(|remark| with_keywords(remark)).collect()
    }

    /// Whether the device recovers from power cuts.
    #[getter]
    fn recovers(&self) -> bool {
        self.config.options.ftl.recovery.policy.survives()
    }

    /// The whole configuration as TOML, with where each value comes from.
    fn show(&self) -> String {
        self.config.show()
    }

    /// The canonical text of the configuration, which its digest is made of.
    fn canonical(&self) -> String {
        self.config.canonical()
    }
}
