//! What is wrong with a text that a user wrote: each problem with its place, its line and its remedy.
//!
//! Device configs and workload files report with these types, so that all problems look alike.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::text::printable;

/// Characters of a line that an excerpt shows before the span, and from its start on.
const REACH: usize = 80;
/// So many problems are told at once; who has more reads no further.
const MOST_TOLD: usize = 50;

/// Where in a text a problem lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The name of the text: a file, a preset, or `--set 2`.
    pub label: String,
    /// The whole text.
    pub text: Arc<str>,
    /// The bytes of the text that are meant. They lie within the text, on character boundaries.
    pub span: Range<usize>,
    /// Whether the text is an override, a line by nature: its line number says nothing.
    pub is_override: bool,
}

impl Place {
    /// A place in a file. A span that does not lie within the text is cut to it.
    #[must_use]
    pub fn new(label: &str, text: &Arc<str>, span: Range<usize>) -> Place {
        let floor = |at: usize| {
            let mut at = at.min(text.len());
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let (start, end) = (floor(span.start), floor(span.end));
        Place {
            label: label.to_owned(),
            text: Arc::clone(text),
            span: start..end.max(start),
            is_override: false,
        }
    }

    /// The line, counted from one.
    #[must_use]
    pub fn line(&self) -> usize {
        self.text[..self.span.start].matches('\n').count() + 1
    }

    /// The column in characters, counted from one.
    #[must_use]
    pub fn column(&self) -> usize {
        self.before().chars().count() + 1
    }

    /// The line's text, without its end. Of a long line, what stands around the span.
    #[must_use]
    pub fn excerpt(&self) -> String {
        self.excerpt_and_caret().0
    }

    /// The excerpt, and the line below it that points at the span. Tabs stay tabs, so that the two
    /// line up.
    fn excerpt_and_caret(&self) -> (String, String) {
        let visible = |c: char| if c == '\t' { c } else { printable(c) };
        let (before, rest) = (self.before(), self.rest_of_line());
        let skipped = before.chars().count().saturating_sub(REACH);
        let before = before.chars().skip(skipped).map(visible);
        let lead = (skipped > 0).then_some('…');
        let before: String = lead.into_iter().chain(before).collect();
        let shown: String = rest.chars().take(REACH).map(visible).collect();
        let trail = if rest.chars().nth(REACH).is_some() { "…" } else { "" };
        let pad: String = before.chars().map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let marked = &rest[..self.span.len().min(rest.len())];
        let carets = "^".repeat(marked.chars().count().clamp(1, REACH));
        (format!("{before}{shown}{trail}"), pad + &carets)
    }

    /// The line up to the span.
    fn before(&self) -> &str {
        let start = self.text[..self.span.start].rfind('\n').map_or(0, |at| at + 1);
        &self.text[start..self.span.start]
    }

    /// The line from the start of the span, without the end of the line.
    fn rest_of_line(&self) -> &str {
        let rest = self.text[self.span.start..].split('\n').next().unwrap_or_default();
        rest.strip_suffix('\r').unwrap_or(rest)
    }
}

/// One thing that is wrong, or (as a warning) suspicious.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The option, section or key that it is about, such as `ftl.gc.start` or `phase[2].size`; empty
    /// for the text as a whole.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub remedy: String,
    /// Where it was written; `None` if nothing that was written is at fault, such as a value missing.
    pub place: Option<Place>,
}

impl Problem {
    /// What the TOML parser refuses; `place` is where.
    #[must_use]
    pub fn syntax(error: &toml::de::Error, place: Place) -> Problem {
        /// What the parser says of `key = text`.
        const UNQUOTED: &str = "string values must be quoted";
        let (message, remedy) = match error.message() {
            message if message.contains(UNQUOTED) => (
                "a text must stand in quotes".to_owned(),
                "put the value between double quotes, like \"200us\"",
            ),
            message if message.contains("duplicate key") => {
                (message.replace('\n', ", "), "keep one of the two")
            }
            message => (
                message.replace('\n', ", "),
                "write TOML: [section] lines, then key = value lines, texts in quotes",
            ),
        };
        Problem {
            path: String::new(),
            message: format!("not valid TOML: {message}"),
            remedy: remedy.to_owned(),
            place: Some(place),
        }
    }

    /// The problem as a plain text of several lines, headed by `severity` ("error", "warning").
    #[must_use]
    pub fn render(&self, severity: &str) -> String {
        let subject = match self.path.as_str() {
            "" => String::new(),
            path => format!("{path}: "),
        };
        let mut text = format!("{severity}: {subject}{}\n", self.message);
        let gutter = match &self.place {
            Some(place) => {
                let line = place.line().to_string();
                let gutter = " ".repeat(line.len());
                let head = match place.is_override {
                    true => place.label.clone(),
                    false => format!("{}:{line}:{}", place.label, place.column()),
                };
                let (excerpt, caret) = place.excerpt_and_caret();
                text += &format!("{gutter}--> {head}\n{gutter} |\n");
                text += &format!("{line} | {excerpt}\n{gutter} | {caret}\n");
                gutter
            }
            None => " ".to_owned(),
        };
        text + &format!("{gutter} = remedy: {}\n", self.remedy)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render("error"))
    }
}

/// Everything that is wrong, in the order of the texts and of what stands in them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems {
    /// At least one problem.
    pub problems: Vec<Problem>,
}

/// What is wrong with the config of a device.
pub type ConfigError = Problems;

impl fmt::Display for Problems {
    /// All of them, or the first fifty and how many more there are.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, problem) in self.problems.iter().take(MOST_TOLD).enumerate() {
            if at > 0 {
                f.write_str("\n")?;
            }
            problem.fmt(f)?;
        }
        match self.problems.len().saturating_sub(MOST_TOLD) {
            0 => Ok(()),
            rest => writeln!(f, "\n{rest} more problems follow; correct these first"),
        }
    }
}

impl std::error::Error for Problems {}
