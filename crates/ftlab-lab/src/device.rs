//! The configuration of an experiment's device: a built-in one or a file, with options set on top.

use std::collections::BTreeSet;
use std::path::Path;

use ftlab::config::{Config, ConfigError, Layer, ValueOrigin, all_options};
use ftlab::options::{Severity, presets};

use crate::bases::{Bases, means_file};
use crate::failure::Failure;
use crate::image::{self, OpenedImage};
use crate::text_file;

/// An option that is set, as text (`KEY=VALUE`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Where it was written, for messages.
    pub label: String,
    /// The text.
    pub text: String,
}

/// Numbers settings in the order in which they are given.
#[must_use]
pub fn settings<T: AsRef<str>>(sets: &[T]) -> Vec<Setting> {
    let setting = |(at, text): (usize, &T)| Setting {
        label: format!("setting {}", at + 1),
        text: text.as_ref().to_owned(),
    };
    sets.iter().enumerate().map(setting).collect()
}

fn set_over(base: Layer, settings: &[Setting]) -> Vec<Layer> {
    let sets = settings.iter().map(|one| Layer::set_by(&one.label, &one.text));
    std::iter::once(base).chain(sets).collect()
}

/// Loads the configuration of a built-in device or a file. A built-in name takes precedence;
/// `./NAME` is always a file.
///
/// # Errors
/// There is no such device, or its configuration is wrong.
pub fn load(device: &str, sets: &[Setting]) -> Result<Config, Failure> {
    Texts::read(device, sets)?.load(Bases::anywhere)
}

/// As [`load`]; the problems of a wrong configuration are returned one by one.
///
/// # Errors
/// The file cannot be read.
pub fn check(device: &str, sets: &[Setting]) -> Result<Result<Config, ConfigError>, Failure> {
    Ok(Texts::read(device, sets)?.try_load(Bases::anywhere))
}

/// Loads the configuration of an experiment's device, which may only build on files in the experiment's `folder`.
///
/// # Errors
/// As [`load`].
pub fn load_within_folder(
    device: &str,
    sets: &[Setting],
    folder: &Path,
) -> Result<Config, Failure> {
    Texts::read(device, sets)?.load(|length| Bases::within_folder(folder, length))
}

/// Loads a configuration from its text, called `name` in messages, with options set on top.
///
/// # Errors
/// The configuration is wrong.
pub fn of_text(name: &str, text: &str, sets: &[Setting]) -> Result<Config, Failure> {
    Config::load(&set_over(Layer::saved(name, text), sets))
        .map_err(|error| Failure::Config(text_file::told(error)))
}

/// As [`of_text`], from the text of a device file. It can build on built-in devices, not on files.
///
/// # Errors
/// The configuration is wrong.
pub fn of_file_text(name: &str, text: &str, sets: &[Setting]) -> Result<Config, Failure> {
    Config::load(&set_over(Layer::file(name, text), sets))
        .map_err(|error| Failure::Config(text_file::told(error)))
}

/// Returns the configuration of the device, or that of the image if no device is named, with
/// options set on top.
///
/// # Errors
/// Neither is given, or the configuration is wrong.
pub fn of_device_or_image(
    device: Option<&str>,
    sets: &[Setting],
    image: Option<&OpenedImage>,
) -> Result<Config, Failure> {
    match (device, image) {
        (Some(device), _) => load(device, sets),
        (None, Some(taken)) => of_text(&taken.name, &taken.image.config, sets),
        (None, None) => Err(Failure::usage(
            "which device?\n  remedy: name a device (`device`), or an image (`image`)",
        )),
    }
}

fn is_file(device: &str) -> bool {
    means_file(device, Path::new(device))
}

/// The layers of a configuration, without the bases that a file builds on.
struct Texts<'a> {
    device: &'a str,
    layers: Vec<Layer>,
    /// The length of the file in bytes; 0 for a preset.
    length: usize,
}

impl Texts<'_> {
    fn read<'a>(device: &'a str, sets: &[Setting]) -> Result<Texts<'a>, Failure> {
        let (base, length) = match presets::find(device) {
            None if is_file(device) => {
                let path = Path::new(device);
                if image::is_one(path) {
                    return Err(Failure::usage(format!(
                        "{device} is an image of a device, not a configuration\n  remedy: start from it with `image` {device}"
                    )));
                }
                let text = text_file::read(path)
                    .map_err(|error| text_file::unreadable("device", path, &error))?;
                (Layer::file(device, &text), text.len())
            }
            _ => (Layer::preset(device), 0),
        };
        Ok(Texts { device, layers: set_over(base, sets), length })
    }

    fn try_load(&self, bases: impl FnOnce(usize) -> Bases) -> Result<Config, ConfigError> {
        Config::load_with(&self.layers, &mut bases(self.length))
    }

    fn load(&self, bases: impl FnOnce(usize) -> Bases) -> Result<Config, Failure> {
        let device = self.device;
        self.try_load(bases).map_err(|error| {
            if presets::find(device).is_none() && is_file(device) {
                return text_file::refused("device", Path::new(device), error);
            }
            let error = text_file::told(error);
            let hint = "  a device is a built-in name or a path to a TOML file\n";
            let unknown = presets::find(device).is_none() && !is_file(device);
            Failure::Config(format!("{error}{}", if unknown { hint } else { "" }))
        })
    }
}

/// Returns the name of a device for the table, with the number of options that differ from the
/// preset or file that gave the name.
pub fn title(config: &Config) -> String {
    let label = |path: &str| match config.origin(path) {
        Some(ValueOrigin::Layer { label, .. }) => Some(label.as_str()),
        _ => None,
    };
    let is_preset = |label: &str| {
        label.strip_prefix("preset ").is_some_and(|name| presets::find(name).is_some())
    };
    let name = &config.options.device.name;
    let Some(named_by) = label(NAME) else { return name.clone() };
    // Options from the bases of the naming file are not changes.
    let is_own =
        |label: &str| label == named_by || is_preset(label) || config.builds_on(named_by, label);
    let is_change = |path: &str| path != NAME && label(path).is_some_and(|label| !is_own(label));
    // `all_options` includes policies.
    let options = all_options().iter().map(|option| option.path);
    with_changes(name, options.filter(|path| is_change(path)).count())
}

fn with_changes(name: &str, changes: usize) -> String {
    match changes {
        0 => name.to_owned(),
        1 => format!("{name} with 1 option changed"),
        more => format!("{name} with {more} options changed"),
    }
}

/// As [`title`], but of a configuration that may come from its canonical text, where nothing says any more what was
/// changed: the options whose values differ from the preset of its name count.
pub fn title_of_kept(config: &Config) -> String {
    let name = &config.options.device.name;
    let preset = presets::find(name).and_then(|_| load(name, &[]).ok());
    let Some(preset) = preset else { return title(config) };
    let (kept, preset) = (config.canonical(), preset.canonical());
    let differ = kept.lines().zip(preset.lines()).filter(|(own, other)| own != other);
    with_changes(name, differ.count())
}

/// The option that names the device.
const NAME: &str = "device.name";

/// Returns the warnings and notes about several configurations as texts, each distinct text once.
pub fn remarks<'a>(configs: impl IntoIterator<Item = &'a Config>) -> Vec<String> {
    let mut told = BTreeSet::new();
    let mut texts = Vec::new();
    for config in configs {
        let warnings = config.warnings.iter().map(|warning| warning.render(Severity::Warning));
        let all = warnings.chain(config.notes.iter().map(|note| note.render(Severity::Note)));
        texts.extend(all.filter(|text| told.insert(text.clone())));
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_configuration_is_told_as_before() {
        let sets = settings(&["ftl.recovery.policy=scan", "host.queue_depth=7"]);
        let config = load("tlc-32g", &sets).unwrap();
        let kept = of_text("a file", &config.canonical(), &[]).unwrap();
        assert_eq!(title_of_kept(&kept), "tlc-32g with 2 options changed");
        assert_eq!(title_of_kept(&kept), title(&config));
        assert_eq!(title_of_kept(&load("tiny", &[]).unwrap()), "tiny");
    }
}
