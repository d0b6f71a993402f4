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
#[derive(Clone)]
pub enum DeviceChoice {
    /// A built-in device, or a file.
    Named(String),
    /// A device in memory, with all that belongs to it.
    Given(GivenDevice),
}

/// A device in memory.
#[derive(Clone, Default)]
pub struct GivenDevice {
    /// Its name in messages.
    pub name: String,
    /// The text of its configuration.
    pub text: String,
    /// The state that it starts from.
    pub image: Option<Arc<OpenedImage>>,
    /// Its policies from outside the simulator.
    pub outside: OutsidePolicies,
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
    /// Policies from outside the simulator, in place of those that the device has.
    pub outside: OutsidePolicies,
}

/// The option that names the device.
const DEVICE: &str = "device";
/// The option that names the state to start from.
const IMAGE: &str = "image";
/// The options that a point may set to [`NONE`].
const OPTIONAL: [&str; 2] = ["precondition", IMAGE];
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
        if later.device.is_some() {
            all.device.clone_from(&later.device);
        }
        if let Some(DeviceChoice::Given(_)) = later.device {
            all.run.retain(|(name, _)| *name != IMAGE);
        }
        // An option that is set replaces a policy from outside.
        all.outside
            .0
            .retain(|policy| !later.sets.iter().any(|one| key(&one.text) == policy.option));
        all.outside = all.outside.with(&later.outside);
        all.sets.extend(later.sets.iter().cloned());
        // A load replaces one of another kind.
        if later.names_load() || later.load.is_some() {
            all.run.retain(|(name, _)| !NamedRun::LOADS.contains(name));
            all.load.clone_from(&later.load);
        }
        all.run.extend(later.run.iter().cloned());
        all
    }

    /// Returns the device, if it is in memory.
    fn given(&self) -> Option<&GivenDevice> {
        match &self.device {
            Some(DeviceChoice::Given(given)) => Some(given),
            _ => None,
        }
    }

    /// Returns the policies from outside: those of the device, unless an option or another policy replaces them.
    fn outside(&self) -> OutsidePolicies {
        let mut outside =
            self.given().map_or_else(OutsidePolicies::default, |given| given.outside.clone());
        outside.0.retain(|policy| !self.sets.iter().any(|one| key(&one.text) == policy.option));
        outside.with(&self.outside)
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
        let given = self.given().into_iter();
        let image = given.filter(|given| given.image.is_some()).map(|_| IMAGE.to_owned());
        let outside = self.outside.0.iter().map(|policy| policy.option.clone());
        device.chain(sets).chain(run).chain(load).chain(image).chain(outside).collect()
    }

    /// Whether the configuration of the device depends on these settings.
    pub fn changes_device(&self) -> bool {
        let image = self.run.iter().any(|(name, _)| *name == IMAGE);
        self.device.is_some() || !self.sets.is_empty() || image
    }

    /// Whether the load, or how it is played, depends on these settings.
    pub fn changes_run(&self) -> bool {
        let outside = !self.outside.0.is_empty();
        !self.run.is_empty() || self.load.is_some() || self.given().is_some() || outside
    }

    /// Whether a policy from outside the simulator is among them.
    pub fn has_outside(&self) -> bool {
        let of_device = self.given().is_some_and(|given| !given.outside.0.is_empty());
        of_device || !self.outside.0.is_empty()
    }

    /// Returns the load and how it is played. Files are relative to `folder`.
    ///
    /// # Errors
    /// A text is wrong.
    pub fn named_run(&self, folder: &Path) -> Result<NamedRun, Failure> {
        let mut named = NamedRun::default();
        let image = self.given().and_then(|given| given.image.clone());
        named.options.image = image.map(ImageSource::Opened);
        for (name, text) in &self.run {
            let located = match *name {
                "trace" | "fio" => folder.join(text).to_string_lossy().into_owned(),
                "workload" => in_folder(folder, text),
                IMAGE if text != NONE => folder.join(text).to_string_lossy().into_owned(),
                "precondition" => {
                    let steps = text.split(',').map(str::trim);
                    steps.map(|step| in_folder(folder, step)).collect::<Vec<_>>().join(",")
                }
                _ => text.clone(),
            };
            match (*name, text.as_str()) {
                ("precondition", NONE) => named.options.precondition = None,
                (IMAGE, NONE) => named.options.image = None,
                _ => named.set(name, &located).map_err(Failure::usage)?,
            }
        }
        named.options.outside = self.outside();
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
            Some(DeviceChoice::Given(given)) => {
                device::of_text(&given.name, &given.text, &self.sets)
            }
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
