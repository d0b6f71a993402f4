//! How an experiment fails: the kind and the message, which says what to do.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::Path;

use crate::load::READING_NAMES;

/// Why something was not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// It was asked for in a way that cannot be carried out: a wrong argument, load or result.
    Usage(String),
    /// The configuration of a device is wrong; the text lists all problems.
    Config(String),
    /// A file cannot be read or written.
    File(String),
    /// The simulated device could not do what was requested.
    Experiment(String),
    /// It was stopped from outside ([`Stop`](crate::stop::Stop)), and there is nothing to keep.
    Interrupted,
}

impl Failure {
    /// Creates a usage failure with this text.
    pub fn usage(text: impl fmt::Display) -> Failure {
        Failure::Usage(text.to_string())
    }

    /// Creates the failure for a file that cannot be read or written. `doing` begins the message.
    pub fn file(doing: &str, path: &Path, error: &io::Error) -> Failure {
        let remedy = remedy(error.kind());
        Failure::File(format!("{doing} {}: {error}\n  remedy: {remedy}", path.display()))
    }

    /// Returns the message; empty if the user has stopped it and knows.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Failure::Usage(text)
            | Failure::Config(text)
            | Failure::File(text)
            | Failure::Experiment(text) => text.trim_end(),
            Failure::Interrupted => "",
        }
    }

    /// Changes the text of the failure, if it has one.
    #[must_use]
    pub fn map_text(self, change: impl FnOnce(String) -> String) -> Failure {
        match self {
            Failure::Usage(text) => Failure::Usage(change(text)),
            Failure::Config(text) => Failure::Config(change(text)),
            Failure::File(text) => Failure::File(change(text)),
            Failure::Experiment(text) => Failure::Experiment(change(text)),
            Failure::Interrupted => Failure::Interrupted,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Interrupted => f.write_str("it was stopped"),
            told => f.write_str(told.text()),
        }
    }
}

impl Error for Failure {}

/// The options of all front ends, besides those that say how traces are read ([`READING_NAMES`]). Messages and notes
/// write them in backquotes.
const OPTION_NAMES: [&str; 31] = [
    "accesses",
    "address",
    "all_phases",
    "claims_only",
    "cut_power",
    "device",
    "drop_unsupported",
    "fio",
    "fio_json",
    "force",
    "image",
    "output",
    "page",
    "precondition",
    "queue_depth",
    "quick",
    "records",
    "replay",
    "requests",
    "seed",
    "seeds",
    "set",
    "speed",
    "threads",
    "timeline",
    "trace",
    "traces",
    "variant",
    "vary",
    "workload",
    "what",
];

/// What stands before the content of a file in backquotes, which is no option, whatever it says.
const FOUND: &str = "found ";

fn is_option(name: &str) -> bool {
    OPTION_NAMES.contains(&name) || READING_NAMES.contains(&name)
}

/// Writes the options in a text as a front end calls them: `queue_depth` in backquotes becomes what `called` returns.
#[must_use]
pub fn with_options_called(text: &str, called: impl Fn(&str) -> String) -> String {
    with_names_called(text, is_option, called)
}

/// Writes some names in a text as a front end calls them: those in backquotes for which `is_name` holds.
pub(crate) fn with_names_called(
    text: &str,
    is_name: impl Fn(&str) -> bool,
    called: impl Fn(&str) -> String,
) -> String {
    let mut told = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('`') {
        let (before, after) = rest.split_at(open);
        told.push_str(before);
        let name = after[1..].split('`').next().unwrap_or_default();
        let length = name.len() + 2;
        if is_name(name) && after.len() >= length && !before.ends_with(FOUND) {
            told.push_str(&called(name));
            rest = &after[length..];
        } else {
            told.push('`');
            rest = &after[1..];
        }
    }
    told + rest
}

/// Returns what to do about a file that cannot be read or written.
#[must_use]
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
            "free some space, or choose another place (`output`)"
        }
        io::ErrorKind::ReadOnlyFilesystem => "choose another place (`output`)",
        io::ErrorKind::BrokenPipe => "its reader closed it; keep that open, or name a file",
        io::ErrorKind::AlreadyExists => "remove what is there, or choose another name",
        io::ErrorKind::OutOfMemory => "run it where there is more memory",
        _ => "check that it is a regular file on a healthy disk, and try again",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_called_as_the_front_end_calls_them() {
        let flag = |name: &str| format!("--{}", name.replace('_', "-"));
        let told = |text| with_options_called(text, flag);
        assert_eq!(told("give `queue_depth` 4, or `force`"), "give --queue-depth 4, or --force");
        assert_eq!(
            told("(`time_unit` us), or `skip_malformed`"),
            "(--time-unit us), or --skip-malformed"
        );
        for same in [
            "",
            "no option",
            "`fast` is no speed",
            "a lone ` and `speed",
            "``",
            "a--format.csv",
            "found `address`",
        ] {
            assert_eq!(told(same), same);
        }
        assert_eq!(told("`fast` is no `speed`"), "`fast` is no --speed");
    }
}
