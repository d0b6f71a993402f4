//! Texts that users name, or that name each other: read as far as they may be long. And what is wrong with TOML
//! files, told briefly.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use ftlab::config::{Problem, Problems};
use ftlab_workload::trace;

use crate::failure::Failure;

/// The most that is read: no device, no job file and no result is longer, but traces are.
pub const MOST_BYTES: u64 = 32 << 20;
/// How many problems of syntax are told: after the first few, the rest is mostly their echo.
const MOST_SYNTAX: usize = 10;
/// A file whose syntax is wrong as early as in this line may be something else altogether.
const FIRST_LINES: usize = 3;

/// Reads a text.
///
/// # Errors
/// It can't be read, is no text, or is longer than any that makes sense.
pub fn read(path: &Path) -> io::Result<String> {
    read_at_most(path, MOST_BYTES)
}

/// Reads a text of which only so many bytes are left of all that are read together.
///
/// # Errors
/// It can't be read, is no text, or is longer.
pub fn read_at_most(path: &Path, most: u64) -> io::Result<String> {
    let mut text = String::new();
    let read = File::open(path)?.take(most + 1).read_to_string(&mut text)?;
    if read as u64 > most {
        let all = if most < MOST_BYTES { ", with the files that build on it" } else { "" };
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("the file is longer than {} MiB{all}", MOST_BYTES >> 20),
        ));
    }
    Ok(text)
}

/// Why a file that can't be read as a text is refused. `what` is what it should be.
pub fn unreadable(what: &str, path: &Path, error: &io::Error) -> Failure {
    let no_text = matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::FileTooLarge);
    no_text
        .then(|| taken_for_trace(what, path))
        .flatten()
        .unwrap_or_else(|| Failure::file(&format!("can't read the {what}"), path, error))
}

/// What is wrong with the content of a file.
pub fn refused(what: &str, path: &Path, problems: Problems) -> Failure {
    let early = |problem: &Problem| {
        let place = problem.place.as_ref();
        is_syntax(problem) && place.is_some_and(|place| place.line() <= FIRST_LINES)
    };
    let trace = problems.problems.iter().any(early).then(|| taken_for_trace(what, path));
    trace.flatten().unwrap_or_else(|| Failure::Usage(told(problems)))
}

/// All problems as a text, of those of syntax only the first.
pub fn told(mut problems: Problems) -> String {
    let all = problems.problems.len();
    let mut syntax = 0;
    problems.problems.retain(|problem| {
        syntax += usize::from(is_syntax(problem));
        !is_syntax(problem) || syntax <= MOST_SYNTAX
    });
    let more = match all - problems.problems.len() {
        0 => String::new(),
        1 => "\n1 more problem of syntax follows; correct these first\n".to_owned(),
        more => format!("\n{more} more problems of syntax follow; correct these first\n"),
    };
    format!("{problems}{more}")
}

/// Problems of syntax are about no key.
fn is_syntax(problem: &Problem) -> bool {
    problem.path.is_empty()
}

/// Why a file is refused that was taken for something else and is a trace, if it is one.
pub fn taken_for_trace(what: &str, path: &Path) -> Option<Failure> {
    // A pipe has been read already.
    let is_file = std::fs::metadata(path).is_ok_and(|there| there.is_file());
    let found = is_file.then(|| trace::open(path, trace::Options::default()).ok()).flatten()?;
    let format = found.facts().format;
    let shown = path.display();
    Some(Failure::usage(format!(
        "{shown}: this is a trace (format {format}), not a {what}\n  remedy: play it with ftlab run --trace \
         {shown}, or look into it with ftlab trace inspect {shown}"
    )))
}
