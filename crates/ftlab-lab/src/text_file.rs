//! Text files named by users or by other files, read up to a length limit; and concise reports of
//! errors in TOML files.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use ftlab::config::{Problem, Problems};
use ftlab_workload::trace;

use crate::failure::{Failure, with_options_called};

/// The length limit. No device, job file or result is longer; traces are read elsewhere.
pub const MOST_BYTES: u64 = 32 << 20;
/// How many syntax errors are printed. Later ones are mostly consequences of the first.
const MOST_SYNTAX: usize = 10;
/// A file with a syntax error in these lines may not be TOML at all.
const FIRST_LINES: usize = 3;

/// Reads a text file.
///
/// # Errors
/// The file cannot be read, is empty, is not text, or is too long.
pub fn read(path: &Path) -> io::Result<String> {
    read_at_most(path, MOST_BYTES)
}

/// Reads a text file of at most `most` bytes, what is left of a limit that several files share.
///
/// # Errors
/// The file cannot be read, is empty, is not text, or is too long.
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
    if text.trim().is_empty() {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file is empty"));
    }
    Ok(text)
}

/// Returns the failure for a file that cannot be read as text. `what` is what it should be.
pub fn unreadable(what: &str, path: &Path, error: &io::Error) -> Failure {
    let no_text = matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::FileTooLarge);
    no_text
        .then(|| taken_for_trace(what, path))
        .flatten()
        .unwrap_or_else(|| Failure::file(&format!("can't read the {what}"), path, error))
}

/// Returns the failure for a file with problems in its content.
pub fn refused(what: &str, path: &Path, problems: Problems) -> Failure {
    let early = |problem: &Problem| {
        let place = problem.place.as_ref();
        is_syntax(problem) && place.is_some_and(|place| place.line() <= FIRST_LINES)
    };
    let trace = problems.problems.iter().any(early).then(|| taken_for_trace(what, path));
    trace.flatten().unwrap_or_else(|| Failure::Config(told(problems)))
}

/// Takes the backquotes from keys of a file that are called like options of a front end, so that nobody takes them for
/// those.
pub fn with_bare_keys(mut problems: Problems) -> Problems {
    for Problem { message, remedy, .. } in &mut problems.problems {
        for text in [message, remedy] {
            *text = with_options_called(text, str::to_owned);
        }
    }
    problems
}

/// Formats all problems, but only the first syntax errors.
pub fn told(mut problems: Problems) -> String {
    let all = problems.problems.len();
    let mut syntax = 0;
    problems.problems.retain(|problem| {
        syntax += usize::from(is_syntax(problem));
        !is_syntax(problem) || syntax <= MOST_SYNTAX
    });
    let more = match all - problems.problems.len() {
        0 => String::new(),
        1 => "\n1 more syntax error follows; fix these first\n".to_owned(),
        more => format!("\n{more} more syntax errors follow; fix these first\n"),
    };
    format!("{problems}{more}")
}

/// Syntax errors are not about a key.
fn is_syntax(problem: &Problem) -> bool {
    problem.path.is_empty()
}

/// Returns the failure for a trace that was given in place of another file, if it is a trace.
pub fn taken_for_trace(what: &str, path: &Path) -> Option<Failure> {
    // A pipe has already been read.
    let is_file = std::fs::metadata(path).is_ok_and(|there| there.is_file());
    let found = is_file.then(|| trace::open(path, trace::Options::default()).ok()).flatten()?;
    let format = found.facts().format;
    let shown = path.display();
    Some(Failure::usage(format!(
        "{shown}: this is a trace (format {format}), not a {what}\n  remedy: play it with `trace` {shown}, or \
         name another file"
    )))
}

/// Tries a text without each of its lines in turn: whatever is wrong then has a place and a remedy.
#[cfg(test)]
pub fn every_problem_is_told_well(text: &str, problems: impl Fn(&str) -> Vec<Problem>) {
    let lines: Vec<&str> = text.lines().collect();
    for left_out in 0..lines.len() {
        let kept = [&lines[..left_out], &lines[left_out + 1..]].concat();
        for problem in problems(&kept.join("\n")) {
            assert!(!problem.remedy.is_empty() && problem.place.is_some(), "{problem}");
        }
    }
}
