//! Problems in texts that a user wrote, each with its place, its line and its remedy.
//!
//! Device configs and workload files share these types, so that all problems look alike.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

/// Plain text without colours. For a line longer than this, only the surroundings of the span are shown.
const RENDERER: Renderer = Renderer::plain().term_width(120);
/// The most problems that are printed at once.
const MOST_TOLD: usize = 50;

/// A place in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePlace {
    /// The name of the text: a file, a preset, or `--set 2`.
    pub label: String,
    /// The whole text.
    pub text: Arc<str>,
    /// The bytes of the place. They lie within the text, on character boundaries.
    pub span: Range<usize>,
    /// Whether messages say the line and the column. A `--set` has none.
    pub has_lines: bool,
}

/// How serious a remark about a config that works is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Something suspicious.
    Warning,
    /// Something without effect.
    Note,
}

impl SourcePlace {
    /// A place in a file. A span beyond the text is cut.
    #[must_use]
    pub fn new(label: &str, text: &Arc<str>, span: Range<usize>) -> SourcePlace {
        let span = within(text, &span);
        SourcePlace { label: label.to_owned(), text: Arc::clone(text), span, has_lines: true }
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

    /// The line up to the span.
    fn before(&self) -> &str {
        let start = self.text[..self.span.start].rfind('\n').map_or(0, |at| at + 1);
        &self.text[start..self.span.start]
    }
}

/// A mistake or, as a warning, something suspicious.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The option, section or key that it is about, such as `ftl.gc.start` or `phase[2].size`;
    /// empty for the whole text.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// How to fix it.
    pub remedy: String,
    /// Where it was written; `None` if nothing written is at fault, such as for a missing value.
    pub place: Option<SourcePlace>,
}

impl Problem {
    /// An error of the TOML parser at `place`.
    #[must_use]
    pub fn syntax(error: &toml::de::Error, place: SourcePlace) -> Problem {
        /// The parser's message for `key = text`.
        const UNQUOTED: &str = "string values must be quoted";
        let (message, remedy) = match error.message() {
            message if message.contains(UNQUOTED) => (
                "a text must be in quotes".to_owned(),
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

    /// The problem as plain text of several lines, as a remark.
    #[must_use]
    pub fn render(&self, severity: Severity) -> String {
        self.headed(match severity {
            Severity::Warning => Level::WARNING,
            Severity::Note => Level::NOTE,
        })
    }

    fn headed(&self, level: Level<'_>) -> String {
        let subject = match self.path.as_str() {
            "" => String::new(),
            path => format!("{path}: "),
        };
        let mut report = Group::with_title(level.primary_title(subject + &self.message));
        if let Some(SourcePlace { label, text, span, .. }) = &self.place {
            let mark = AnnotationKind::Primary.span(first_line(text, span));
            report = report.element(Snippet::source(&**text).path(label).annotation(mark));
        }
        let remedy = Level::HELP.with_name("remedy").message(&self.remedy);
        let told = RENDERER.render(&[report.element(remedy)]) + "\n";
        match &self.place {
            Some(place) if !place.has_lines => {
                let at = format!("--> {}:{}:{}\n", place.label, place.line(), place.column());
                told.replacen(&at, &format!("--> {}\n", place.label), 1)
            }
            _ => told,
        }
    }
}

/// The line of a text that holds a span, with a mark under the span. `first_number` is the number
/// of the text's first line.
#[must_use]
pub fn excerpt(text: &str, first_number: usize, span: &Range<usize>) -> String {
    let mark = AnnotationKind::Primary.span(first_line(text, span));
    let source = Snippet::source(text).line_start(first_number).annotation(mark);
    RENDERER.render(&[Group::with_level(Level::ERROR).element(source)])
}

/// The part of a span that lies in the text, on its first line.
fn first_line(text: &str, span: &Range<usize>) -> Range<usize> {
    let span = within(text, span);
    let line = text[span.clone()].lines().next().unwrap_or_default();
    span.start..span.start + line.len()
}

/// The part of a span that lies in the text, on character boundaries.
fn within(text: &str, span: &Range<usize>) -> Range<usize> {
    let start = text.floor_char_boundary(span.start);
    start..text.floor_char_boundary(span.end).max(start)
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.headed(Level::ERROR))
    }
}

/// All problems, in the order of the texts and of their contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems {
    /// At least one problem.
    pub problems: Vec<Problem>,
}

/// The problems of a device config.
pub type ConfigError = Problems;

impl fmt::Display for Problems {
    /// Prints all problems, or the first fifty and the number of the others.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, problem) in self.problems.iter().take(MOST_TOLD).enumerate() {
            if at > 0 {
                f.write_str("\n")?;
            }
            problem.fmt(f)?;
        }
        match self.problems.len().saturating_sub(MOST_TOLD) {
            0 => Ok(()),
            rest => writeln!(f, "\n{rest} more problems follow; fix these first"),
        }
    }
}

impl std::error::Error for Problems {}
