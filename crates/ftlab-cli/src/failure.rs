//! How a command ends when it does not end well: what is said, and the exit code.

use std::fmt::Display;
use std::io;
use std::process::ExitCode;

/// The exit code where usage, configuration or input is wrong.
pub const USAGE: u8 = 2;
/// The exit code of an interrupted program, as shells have it.
pub const INTERRUPTED: u8 = 130;

/// Why a command stops.
#[derive(Debug)]
pub enum Failure {
    /// What the user asked for can't be done: usage, configuration or input. Exit code 2.
    Usage(String),
    /// What was asked for was tried, and the simulated device could not do it. Exit code 1.
    Experiment(String),
    /// What was to be checked is not in order; everything has been said. Exit code 1.
    Check,
    /// The configuration is wrong; everything has been said. Exit code 2.
    Told,
    /// The user interrupted it; everything has been said. Exit code 130.
    Interrupted,
}

impl Failure {
    /// A failure with this text.
    pub fn usage(text: impl Display) -> Failure {
        Failure::Usage(text.to_string())
    }

    /// A file that can't be read or written.
    pub fn file(doing: &str, path: &std::path::Path, error: &io::Error) -> Failure {
        let remedy = remedy(error.kind());
        Failure::usage(format!("{doing} {}: {error}\n  remedy: {remedy}", path.display()))
    }

    /// The same failure, with its text changed if it has one.
    pub fn map_text(self, change: impl FnOnce(String) -> String) -> Failure {
        match self {
            Failure::Usage(text) => Failure::Usage(change(text)),
            Failure::Experiment(text) => Failure::Experiment(change(text)),
            other => other,
        }
    }

    /// Says what there is to say, and gives the exit code.
    pub fn report(self) -> ExitCode {
        match self {
            Failure::Usage(text) => {
                // Config problems and workload files name their severity themselves.
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

/// What to do about a file that can't be read or written.
pub fn remedy(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::NotFound => "check the path",
        io::ErrorKind::PermissionDenied => "check who may read and write it",
        io::ErrorKind::IsADirectory => "name a file, not a directory",
        io::ErrorKind::NotADirectory => "check the path: a file stands where it has a folder",
        io::ErrorKind::InvalidData => "the file is no text; check that it is the right one",
        io::ErrorKind::InvalidInput => "check the path: no file can be called so",
        io::ErrorKind::InvalidFilename => "choose a shorter name",
        io::ErrorKind::FileTooLarge => "check that it is the right file",
        io::ErrorKind::UnexpectedEof => "the file ends too early; check that it is whole",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "make room, or choose another place with -o"
        }
        io::ErrorKind::ReadOnlyFilesystem => "choose another place with -o",
        io::ErrorKind::BrokenPipe => "its reader closed it; keep that open, or name a file",
        io::ErrorKind::AlreadyExists => "remove what is there, or choose another name",
        io::ErrorKind::OutOfMemory => "run it where there is more memory",
        _ => "see that it is a plain file on a sound disk, and try again",
    }
}

/// Writing to standard output failed.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::usage(format!(
            "can't write to standard output: {error}\n  remedy: see that it is open and has room; result folders \
             are not concerned"
        ))
    }
}
