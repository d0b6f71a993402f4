//! Loads and checks the configuration that `--device` and `--set` describe.

use std::collections::BTreeSet;
use std::path::Path;

use ftlab::config::{Config, ConfigError, Layer, ValueOrigin, all_options};
use ftlab::options::{Severity, presets};

use crate::args::DeviceArg;
use crate::bases::{Bases, means_file};
use crate::failure::Failure;
use crate::image;
use crate::text_file;

/// An option set on the command line.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The flag as messages name it: `--set 2`, `--vary 1`.
    pub flag: String,
    /// `KEY=VALUE`.
    pub text: String,
}

/// Returns the settings of `--set`.
pub fn settings(sets: &[String]) -> Vec<Setting> {
    let numbered = sets.iter().enumerate();
    numbered
        .map(|(at, text)| Setting { flag: format!("--set {}", at + 1), text: text.clone() })
        .collect()
}

fn set_over(base: Layer, settings: &[Setting]) -> Vec<Layer> {
    let sets = settings.iter().map(|one| Layer::set_by(&one.flag, &one.text));
    std::iter::once(base).chain(sets).collect()
}

/// Loads the configuration of a built-in device or a file. A built-in name takes precedence;
/// `./NAME` is always a file.
pub fn load(device: &str, sets: &[Setting]) -> Result<Config, Failure> {
    Texts::read(device, sets)?.load(Bases::anywhere)
}

/// Loads the configuration of an experiment's device, which may only build on files in the experiment's `folder`.
pub fn load_within_folder(
    device: &str,
    sets: &[Setting],
    folder: &Path,
) -> Result<Config, Failure> {
    Texts::read(device, sets)?.load(|length| Bases::within_folder(folder, length))
}

/// Loads the configuration of an image, with options set on top.
pub fn of_image(name: &str, text: &str, sets: &[Setting]) -> Result<Config, Failure> {
    Config::load(&set_over(Layer::saved(name, text), sets))
        .map_err(|error| Failure::usage(text_file::told(error)))
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
                        "{device} is an image of a device, not a configuration\n  remedy: start from it with \
                         --image {device}; ftlab device show {device} tells what it holds"
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
            let hint =
                "  a device is a built-in name (ftlab list devices) or a path to a TOML file\n";
            let unknown = presets::find(device).is_none() && !is_file(device);
            Failure::usage(format!("{error}{}", if unknown { hint } else { "" }))
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
    match options.filter(|path| is_change(path)).count() {
        0 => name.clone(),
        1 => format!("{name} with 1 option changed"),
        more => format!("{name} with {more} options changed"),
    }
}

/// The option that names the device.
const NAME: &str = "device.name";

/// Prints the warnings and notes about a configuration.
pub fn warn(config: &Config) {
    warn_once([config]);
}

/// Prints the warnings and notes about several configurations, each distinct text once.
pub fn warn_once<'a>(configs: impl IntoIterator<Item = &'a Config>) {
    let mut told = BTreeSet::new();
    for config in configs {
        let warnings = config.warnings.iter().map(|warning| warning.render(Severity::Warning));
        let all = warnings.chain(config.notes.iter().map(|note| note.render(Severity::Note)));
        for text in all {
            if !told.contains(&text) {
                say!("{}", text.trim_end());
                told.insert(text);
            }
        }
    }
}

/// `ftlab config check`: reports all problems at once.
pub fn check(arg: &DeviceArg, out: &mut dyn std::io::Write) -> Result<(), Failure> {
    let config = match Texts::read(&arg.device, &settings(&arg.sets))?.try_load(Bases::anywhere) {
        Ok(config) => config,
        Err(error) => {
            let found = error.problems.len();
            let told = text_file::told(error);
            write!(out, "{told}\n{found} {}\n", if found == 1 { "problem" } else { "problems" })?;
            return Err(Failure::Told);
        }
    };
    for warning in &config.warnings {
        writeln!(out, "{}", warning.render(Severity::Warning))?;
    }
    for note in &config.notes {
        writeln!(out, "{}", note.render(Severity::Note))?;
    }
    match config.warnings.len() {
        0 => writeln!(out, "{}: in order", arg.device)?,
        1 => writeln!(out, "{}: in order, with 1 warning", arg.device)?,
        more => writeln!(out, "{}: in order, with {more} warnings", arg.device)?,
    }
    Ok(())
}

/// `ftlab config show`: prints the whole configuration.
pub fn show(arg: &DeviceArg, out: &mut dyn std::io::Write) -> Result<(), Failure> {
    let config = load(&arg.device, &settings(&arg.sets))?;
    warn(&config);
    Ok(out.write_all(config.show().as_bytes())?)
}
