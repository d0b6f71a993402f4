//! How a command fails: the message and the exit code.

use std::fmt::Display;
use std::io;
use std::process::ExitCode;

/// The exit code for wrong usage, configuration or input.
pub const USAGE: u8 = 2;
/// The exit code of an interrupted program, by shell convention.
pub const INTERRUPTED: u8 = 130;

/// Why a command stops.
#[derive(Debug)]
pub enum Failure {
    /// The request cannot be carried out: wrong usage, configuration or input. Exit code 2.
    Usage(String),
    /// The simulated device could not do what was requested. Exit code 1.
    Experiment(String),
    /// A check failed; everything has been printed. Exit code 1.
    Check,
    /// The configuration is wrong; everything has been printed. Exit code 2.
    Told,
    /// The user interrupted the command; everything has been printed. Exit code 130.
    Interrupted,
}

impl Failure {
    /// Creates a usage failure with this text.
    pub fn usage(text: impl Display) -> Failure {
        Failure::Usage(text.to_string())
    }

    /// Creates the failure for a file that cannot be read or written. `doing` begins the message.
    pub fn file(doing: &str, path: &std::path::Path, error: &io::Error) -> Failure {
        let remedy = remedy(error.kind());
        Failure::usage(format!("{doing} {}: {error}\n  remedy: {remedy}", path.display()))
    }

    /// Changes the text of the failure, if it has one.
    pub fn map_text(self, change: impl FnOnce(String) -> String) -> Failure {
        match self {
            Failure::Usage(text) => Failure::Usage(change(text)),
            Failure::Experiment(text) => Failure::Experiment(change(text)),
            other => other,
        }
    }

    /// Prints the failure and returns the exit code.
    pub fn report(self) -> ExitCode {
        match self {
            Failure::Usage(text) => {
                // Configuration problems and workload files state their own severity.
                let lead = if text.starts_with("error") { "" } else { "error: " };
                say!("{lead}{}", text.trim_end());
                ExitCode::from(USAGE)
            }
            Failure::Experiment(text) => {
                say!("error: {}", text.trim_end());
                ExitCode::from(1)
            }
            Failure::Check => ExitCode::from(1),
            Failure::Told => ExitCode::from(USAGE),
            Failure::Interrupted => ExitCode::from(INTERRUPTED),
        }
    }
}

/// Returns what to do about a file that cannot be read or written.
pub fn remedy(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::NotFound => "check the path",
        io::ErrorKind::PermissionDenied => "check its permissions",
        io::ErrorKind::IsADirectory => "name a file, not a directory",
        io::ErrorKind::NotADirectory => "check the path: one of its folders is a file",
        io::ErrorKind::InvalidData => "the file is not text; check that it is the right one",
        io::ErrorKind::InvalidInput => "check the path: it is not a valid file name",
        io::ErrorKind::InvalidFilename => "choose a shorter name",
        io::ErrorKind::FileTooLarge => "check that it is the right file",
        io::ErrorKind::UnexpectedEof => "the file ends too early; check that it is complete",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free some space, or choose another place with -o"
        }
        io::ErrorKind::ReadOnlyFilesystem => "choose another place with -o",
        io::ErrorKind::BrokenPipe => "its reader closed it; keep that open, or name a file",
        io::ErrorKind::AlreadyExists => "remove what is there, or choose another name",
        io::ErrorKind::OutOfMemory => "run it where there is more memory",
        _ => "check that it is a regular file on a healthy disk, and try again",
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
