//! `ftlab config`, and the configuration that `--device` and `--set` describe.

use std::io::Write;

use ftlab::config::Config;
use ftlab::options::Severity;
use ftlab_lab::device::{Setting, check as check_all, load, remarks};
use ftlab_lab::text_file::told;

use crate::args::DeviceArg;
use crate::failure::{Failure, with_flags};

pub use ftlab_lab::device::title;

/// Returns the settings of `--set`.
pub fn settings(sets: &[String]) -> Vec<Setting> {
    let numbered = sets.iter().enumerate();
    numbered
        .map(|(at, text)| Setting { label: format!("--set {}", at + 1), text: text.clone() })
        .collect()
}

/// Prints the warnings and notes about a configuration.
pub fn warn(config: &Config) {
    warn_once([config]);
}

/// Prints the warnings and notes about several configurations, each distinct text once.
pub fn warn_once<'a>(configs: impl IntoIterator<Item = &'a Config>) {
    remarks(configs).iter().for_each(|text| say!("{}", with_flags(text).trim_end()));
}

/// `ftlab config check`: reports all problems at once.
pub fn check(arg: &DeviceArg, out: &mut dyn Write) -> Result<(), Failure> {
    let config = match check_all(&arg.device, &settings(&arg.sets))? {
        Ok(config) => config,
        Err(error) => {
            let found = error.problems.len();
            let told = told(error);
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
pub fn show(arg: &DeviceArg, out: &mut dyn Write) -> Result<(), Failure> {
    let config = load(&arg.device, &settings(&arg.sets))?;
    warn(&config);
    Ok(out.write_all(config.show().as_bytes())?)
}
