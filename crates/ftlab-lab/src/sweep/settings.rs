//! What a point of a sweep is made of: a device, a load, and how it is played; and how later settings override
//! earlier ones.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ftlab::config::Config;

use crate::device::{self, Setting};
use crate::experiment::{LoadSource, NamedRun, RunOptions};
use crate::failure::Failure;
use crate::image::{ImageSource, OpenedImage};
use crate::load::in_folder;
use crate::outside::OutsidePolicies;

/// The device of a point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceChoice {
    /// A built-in device, or a file.
    Named(String),
    /// A configuration in memory.
    Text {
        /// Its name in messages.
        name: String,
        /// Its text.
        text: String,
    },
}

/// Settings of a point. Later settings override earlier ones.
#[derive(Clone, Default)]
pub struct PointSettings {
    /// The device.
    pub device: Option<DeviceChoice>,
    /// Options of the device.
    pub sets: Vec<Setting>,
    /// The load and the options of a run, by name.
    pub run: Vec<(&'static str, String)>,
    /// A load in memory, in place of a named one.
    pub load: Option<LoadSource>,
    /// A device in memory to start from.
    pub image: Option<Arc<OpenedImage>>,
    /// Policies from outside the simulator.
    pub outside: OutsidePolicies,
}

/// The option that names the device.
const DEVICE: &str = "device";
/// The options that a point may set to [`NONE`].
const OPTIONAL: [&str; 2] = ["precondition", "image"];
/// The value of an option that means none.
const NONE: &str = "none";

/// Returns the names of what a point can set besides options of its device.
pub fn names() -> impl Iterator<Item = &'static str> {
    std::iter::once(DEVICE).chain(NamedRun::NAMES).chain(RunOptions::NAMES)
}

impl PointSettings {
    /// Sets an option of the device by its path, `device`, or an option of [`NamedRun`]. `label` says in messages where it
    /// was written.
    ///
    /// # Errors
    /// The text is wrong. Options of the device are checked later, with the whole configuration.
    pub fn set(&mut self, label: &str, option: &str, value: &str) -> Result<(), String> {
        match names().find(|name| *name == option) {
            Some(DEVICE) => self.device = Some(DeviceChoice::Named(value.to_owned())),
            Some(name) => {
                if !(OPTIONAL.contains(&name) && value == NONE) {
                    NamedRun::default().set(name, value)?;
                }
                self.run.push((name, value.to_owned()));
            }
            None => {
                let text = format!("{option}={value}");
                self.sets.push(Setting { label: label.to_owned(), text });
            }
        }
        Ok(())
    }

    /// Returns these settings with later ones over them.
    #[must_use]
    pub fn with(&self, later: &PointSettings) -> PointSettings {
        let mut all = self.clone();
        all.device = later.device.clone().or(all.device);
        // A device given as a value is whole: its state and its policies come with it.
        if matches!(later.device, Some(DeviceChoice::Text { .. })) {
            all.run.retain(|(name, _)| *name != "image");
            all.image = None;
            all.outside = OutsidePolicies::default();
        }
        let replaced: Vec<String> = later.sets.iter().map(|one| key(&one.text)).collect();
        all.outside.0.retain(|policy| !replaced.contains(&policy.option));
        all.sets.extend(later.sets.iter().cloned());
        // A load replaces one of another kind, and so does an image.
        if later.names_load() || later.load.is_some() {
            all.run.retain(|(name, _)| !NamedRun::LOADS.contains(name));
            all.load.clone_from(&later.load);
        }
        if later.image.is_some() || later.run.iter().any(|(name, _)| *name == "image") {
            all.run.retain(|(name, _)| *name != "image");
            all.image.clone_from(&later.image);
        }
        all.run.extend(later.run.iter().cloned());
        all.outside = all.outside.with(&later.outside);
        all
    }

    fn names_load(&self) -> bool {
        self.run.iter().any(|(name, _)| NamedRun::LOADS.contains(name))
    }

    /// Returns the paths and names of what is set.
    pub fn keys(&self) -> Vec<String> {
        let device = self.device.iter().map(|_| DEVICE.to_owned());
        let sets = self.sets.iter().map(|one| key(&one.text));
        let run = self.run.iter().filter(|(name, _)| *name != NamedRun::VARIABLE);
        let run = run.map(|(name, _)| match NamedRun::LOADS.contains(name) {
            true => LOAD.to_owned(),
            false => (*name).to_owned(),
        });
        let load = self.load.iter().map(|_| LOAD.to_owned());
        let image = self.image.iter().map(|_| "image".to_owned());
        device.chain(sets).chain(run).chain(load).chain(image).collect()
    }

    /// Whether the configuration of the device depends on these settings.
    pub fn changes_device(&self) -> bool {
        let image = self.run.iter().any(|(name, _)| *name == "image") || self.image.is_some();
        self.device.is_some() || !self.sets.is_empty() || image
    }

    /// Whether the load, or how it is played, depends on these settings.
    pub fn changes_run(&self) -> bool {
        let outside = !self.outside.0.is_empty();
        !self.run.is_empty() || self.load.is_some() || self.image.is_some() || outside
    }

    /// Returns the load and how it is played. Files are relative to `folder`.
    ///
    /// # Errors
    /// A text is wrong.
    pub fn named_run(&self, folder: &Path) -> Result<NamedRun, Failure> {
        let mut named = NamedRun::default();
        for (name, text) in &self.run {
            let located = match *name {
                "trace" | "fio" => folder.join(text).to_string_lossy().into_owned(),
                "workload" => in_folder(folder, text),
                "image" if text != NONE => folder.join(text).to_string_lossy().into_owned(),
                "precondition" => {
                    let steps = text.split(',').map(str::trim);
                    steps.map(|step| in_folder(folder, step)).collect::<Vec<_>>().join(",")
                }
                _ => text.clone(),
            };
            match (*name, text.as_str()) {
                ("precondition", NONE) => named.options.precondition = None,
                ("image", NONE) => named.options.image = None,
                _ => named.set(name, &located).map_err(Failure::usage)?,
            }
        }
        if let Some(image) = &self.image {
            named.options.image = Some(ImageSource::Opened(image.clone()));
        }
        named.options.outside = self.outside.clone();
        Ok(named)
    }

    /// Returns the load, if there is one.
    ///
    /// # Errors
    /// It cannot be read, or is wrong.
    pub fn load(&self, named: &NamedRun) -> Result<Option<LoadSource>, Failure> {
        match &self.load {
            Some(load) => Ok(Some(load.clone())),
            None => named.load(),
        }
    }

    /// Returns the configuration of the device. Files are relative to `folder`.
    ///
    /// # Errors
    /// There is no device, or its configuration is wrong.
    pub fn config(&self, folder: &Path, image: Option<&OpenedImage>) -> Result<Config, Failure> {
        match &self.device {
            Some(DeviceChoice::Text { name, text }) => device::of_text(name, text, &self.sets),
            Some(DeviceChoice::Named(name)) => device::load(&in_folder(folder, name), &self.sets),
            None => device::of_device_or_image(None, &self.sets, image),
        }
    }
}

/// The key for all kinds of loads.
pub const LOAD: &str = "the load";

/// Returns the option that `KEY=VALUE` sets.
fn key(text: &str) -> String {
    text.split_once('=').map_or(text, |(key, _)| key).trim().to_owned()
}

/// Returns the folder that files are relative to.
pub fn folder_of(file: &str) -> PathBuf {
    Path::new(file).parent().unwrap_or(Path::new("")).to_owned()
}
