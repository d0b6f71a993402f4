//! What is wrong with a config: each problem with its place, its line and its remedy.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

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
    pub(super) fn new(
        label: &str,
        text: &Arc<str>,
        span: Range<usize>,
        is_override: bool,
    ) -> Place {
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
            is_override,
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
        self.text[self.line_start()..self.span.start].chars().count() + 1
    }

    /// The line's text, without its end.
    #[must_use]
    pub fn excerpt(&self) -> &str {
        let line = self.text[self.line_start()..].split('\n').next().unwrap_or_default();
        line.strip_suffix('\r').unwrap_or(line)
    }

    fn line_start(&self) -> usize {
        self.text[..self.span.start].rfind('\n').map_or(0, |at| at + 1)
    }

    /// The line below the excerpt that points at the span. Tabs stay tabs, so that it lines up.
    fn caret(&self) -> String {
        let before = &self.text[self.line_start()..self.span.start];
        let pad: String = before.chars().map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let end_of_line = self.line_start() + self.excerpt().len();
        let marked = self.text.get(self.span.start..self.span.end.min(end_of_line));
        let width = marked.map_or(0, |text| text.chars().count()).max(1);
        format!("{pad}{}", "^".repeat(width))
    }
}

/// One thing that is wrong, or (as a warning) suspicious.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The option or section that it is about; empty for the syntax of the text.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub remedy: String,
    /// Where it was written; `None` if nothing that was written is at fault, such as a value missing.
    pub place: Option<Place>,
}

impl Problem {
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
                text += &format!("{gutter}--> {head}\n{gutter} |\n");
                text += &format!("{line} | {}\n{gutter} | {}\n", place.excerpt(), place.caret());
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

/// Everything that is wrong with a config, in the order of the layers and of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// At least one problem.
    pub problems: Vec<Problem>,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, problem) in self.problems.iter().enumerate() {
            if at > 0 {
                f.write_str("\n")?;
            }
            problem.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigError {}
