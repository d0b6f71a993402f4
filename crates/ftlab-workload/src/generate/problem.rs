//! What is wrong with a workload file: where, what was expected, and the remedy.

use std::error::Error;
use std::fmt;
use std::ops::Range;

/// Where in a text something stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The line itself, without what stands far off.
    pub excerpt: String,
    /// Characters of the excerpt before the caret.
    pub caret_at: usize,
    /// How many carets.
    pub caret_len: usize,
}

/// So many problems are told at once; a file with more is no workload.
pub(super) const MAX_PROBLEMS: usize = 50;

/// Characters of a line that an excerpt shows before and after the caret's start.
const EXCERPT_BEFORE: usize = 60;
const EXCERPT_AFTER: usize = 60;

impl Place {
    pub(super) fn of(text: &str, span: Range<usize>) -> Place {
        let start = floor_boundary(text, span.start);
        let end = floor_boundary(text, span.end.max(start));
        let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |newline| start + newline);
        let before = text[line_start..start].chars().count();
        let skipped = before.saturating_sub(EXCERPT_BEFORE);
        let shown = before - skipped;
        let excerpt: String = text[line_start..line_end]
            .chars()
            .skip(skipped)
            .take(shown + EXCERPT_AFTER)
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        let width = text[start..end.min(line_end).max(start)].chars().count();
        Place {
            line: text[..start].bytes().filter(|&byte| byte == b'\n').count() + 1,
            column: before + 1,
            excerpt: excerpt.trim_end().to_owned(),
            caret_at: shown,
            caret_len: width.clamp(1, EXCERPT_AFTER),
        }
    }
}

/// A text from a file as it may stand in a message: its beginning, without control characters.
pub(super) fn clip(text: &str) -> String {
    const LONGEST: usize = 60;
    text.chars().take(LONGEST).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn floor_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The key, such as `phase[2].size` (phases count from 1); empty for the file as a whole.
    pub key: String,
    /// Where it stands, if the workload was read from a text.
    pub place: Option<Place>,
    /// What is wrong and what was expected.
    pub message: String,
    /// What to do about it.
    pub remedy: String,
}

/// Everything that is wrong with one workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems {
    /// The file, or the name of the workload where there is no file.
    pub file: String,
    /// The problems, in the order of the file.
    pub list: Vec<Problem>,
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.list.iter().enumerate() {
            if index > 0 {
                f.write_str("\n\n")?;
            }
            problem.write(f, &self.file)?;
        }
        Ok(())
    }
}

impl Error for Problems {}

impl Problem {
    fn write(&self, f: &mut fmt::Formatter<'_>, file: &str) -> fmt::Result {
        f.write_str(file)?;
        if let Some(place) = &self.place {
            write!(f, ":{}:{}", place.line, place.column)?;
        }
        if !self.key.is_empty() {
            write!(f, ": {}", self.key)?;
        }
        write!(f, ": {}", self.message)?;
        if let Some(place) = &self.place {
            let number = place.line.to_string();
            let margin = " ".repeat(number.len());
            write!(f, "\n  {number} | {}", place.excerpt)?;
            let (indent, carets) = (" ".repeat(place.caret_at), "^".repeat(place.caret_len));
            write!(f, "\n  {margin} | {indent}{carets}")?;
        }
        write!(f, "\n  help: {}", self.remedy)
    }
}
