//! How a command fails: the message and the exit code.

use std::fmt::Display;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use ftlab_lab::Failure as LabFailure;
use ftlab_lab::failure::with_options_called;

/// The exit code for wrong usage, configuration or input.
pub const USAGE: u8 = 2;
/// The exit code of an interrupted program, by shell convention.
pub const INTERRUPTED: u8 = 130;

/// Why a command stops.
#[derive(Debug)]
pub enum Failure {
    /// Why the laboratory did not do it. Exit code 2; 1 if the simulated device could not do it, and 130 if the user
    /// interrupted it, in which case everything has been printed.
    Lab(LabFailure),
    /// A check failed; everything has been printed. Exit code 1.
    Check,
    /// The configuration is wrong; everything has been printed. Exit code 2.
    Told,
}

impl Failure {
    /// The user interrupted the command.
    pub const INTERRUPTED: Failure = Failure::Lab(LabFailure::Interrupted);

    /// Creates a usage failure with this text.
    pub fn usage(text: impl Display) -> Failure {
        Failure::Lab(LabFailure::usage(text))
    }

    /// Creates the failure for a file that cannot be read or written. `doing` begins the message.
    pub fn file(doing: &str, path: &Path, error: &io::Error) -> Failure {
        Failure::Lab(LabFailure::file(doing, path, error))
    }

    /// Creates the failure of a device that could not do what was requested.
    pub fn experiment(text: String) -> Failure {
        Failure::Lab(LabFailure::Experiment(text))
    }

    /// Whether the user interrupted the command.
    pub fn is_interrupted(&self) -> bool {
        matches!(self, Failure::Lab(LabFailure::Interrupted))
    }

    /// Prints the failure and returns the exit code.
    pub fn report(self) -> ExitCode {
        match self {
            Failure::Lab(LabFailure::Interrupted) => ExitCode::from(INTERRUPTED),
            Failure::Lab(failure) => {
                let text = with_flags(failure.text());
                // Configuration problems and workload files state their own severity.
                let lead = if text.starts_with("error") { "" } else { "error: " };
                say!("{lead}{text}");
                ExitCode::from(match failure {
                    LabFailure::Experiment(_) => 1,
                    _ => USAGE,
                })
            }
            Failure::Check => ExitCode::from(1),
            Failure::Told => ExitCode::from(USAGE),
        }
    }
}

/// Writes the options in a text as the flags of this program.
pub fn with_flags(text: &str) -> String {
    with_options_called(text, |name| match name {
        "output" => "-o".to_owned(),
        "threads" => "-j".to_owned(),
        other => format!("--{}", other.replace('_', "-")),
    })
}

impl From<LabFailure> for Failure {
    fn from(failure: LabFailure) -> Failure {
        Failure::Lab(failure)
    }
}

/// A failed write to standard output.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::usage(format!(
            "can't write to standard output: {error}\n  remedy: check that it is open and has room; result folders \
             are not affected"
        ))
    }
}
