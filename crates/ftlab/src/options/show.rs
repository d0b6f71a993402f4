//! Prints a config as TOML: sections in the order of the I/O path, options in the order of
//! declaration, each with a comment, such as its origin.

use std::collections::BTreeMap;

use super::catalog::Catalog;
use super::text::quoted;
use super::value::Value;

/// Collects the lines of a config, section by section.
pub struct Printer {
    catalog: &'static Catalog,
    sections: BTreeMap<&'static str, Lines>,
}

/// What becomes of the line of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shown {
    /// It stands alone.
    Bare,
    /// It has a comment.
    With(String),
    /// It is left out.
    Not,
}

#[derive(Default)]
struct Lines {
    /// Policies come first in their section: they decide what else it contains.
    policies: Vec<ShownLine>,
    options: Vec<ShownLine>,
}

struct ShownLine {
    path: &'static str,
    /// The value as TOML.
    value: String,
}

impl Printer {
    pub(crate) fn new(catalog: &'static Catalog) -> Printer {
        Printer { catalog, sections: BTreeMap::new() }
    }

    /// Adds the value of an option.
    pub fn option<T: Value>(&mut self, path: &'static str, value: &T) {
        let (section, line) = ShownLine::new(path, value.to_toml());
        self.sections.entry(section).or_default().options.push(line);
    }

    /// Adds the choice of a policy.
    pub fn policy(&mut self, path: &'static str, name: &str) {
        let (section, line) = ShownLine::new(path, quoted(name));
        self.sections.entry(section).or_default().policies.push(line);
    }

    /// The values as TOML, by the paths of their options.
    pub(crate) fn values(self) -> BTreeMap<&'static str, String> {
        let lines = self.sections.into_values();
        let lines = lines.flat_map(|lines| lines.policies.into_iter().chain(lines.options));
        lines.map(|line| (line.path, line.value)).collect()
    }

    /// The whole text. `shown` says what becomes of each line.
    pub(crate) fn finish(self, shown: impl Fn(&str) -> Shown) -> String {
        let mut text = String::new();
        for section in &self.catalog.sections {
            let Some(lines) = self.sections.get(section.path) else { continue };
            let lines = lines.policies.iter().chain(&lines.options);
            let lines: Vec<(String, Shown)> = lines
                .map(|line| (line.assignment(), shown(line.path)))
                .filter(|(_, shown)| *shown != Shown::Not)
                .collect();
            if lines.is_empty() {
                continue;
            }
            if !text.is_empty() {
                text.push('\n');
            }
            text += &format!("[{}]\n", section.path);
            // A few long values should not push all comments to the right.
            const WIDEST: usize = 48;
            let widths = lines.iter().map(|(assignment, _)| assignment.chars().count());
            let width = widths.filter(|width| *width <= WIDEST).max().unwrap_or(0);
            for (assignment, shown) in lines {
                text += &match shown {
                    Shown::With(told) => {
                        let told = told.replace(char::is_control, " ");
                        format!("{assignment:<width$}  # {told}\n")
                    }
                    Shown::Bare | Shown::Not => format!("{assignment}\n"),
                };
            }
        }
        text
    }
}

impl ShownLine {
    fn new(path: &'static str, value: String) -> (&'static str, ShownLine) {
        let section = path.rsplit_once('.').map_or("", |(section, _)| section);
        (section, ShownLine { path, value })
    }

    fn assignment(&self) -> String {
        let key = self.path.rsplit_once('.').map_or(self.path, |(_, key)| key);
        format!("{key} = {}", self.value)
    }
}
