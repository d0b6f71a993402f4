//! Prints a config as TOML: sections in the order of the I/O path, options in the order of
//! declaration, each with its origin.

use std::collections::BTreeMap;

use super::catalog::Catalog;
use super::reader::ValueOrigin;
use super::text::quoted;
use super::value::Value;

/// Collects the lines of a config, section by section.
pub struct Printer<'a> {
    catalog: &'static Catalog,
    /// The origins of the values; `None` prints only the values.
    origins: Option<&'a BTreeMap<&'static str, ValueOrigin>>,
    sections: BTreeMap<&'static str, Lines>,
}

#[derive(Default)]
struct Lines {
    /// Policies come first in their section: they decide what else it contains.
    policies: Vec<ShownLine>,
    options: Vec<ShownLine>,
}

struct ShownLine {
    path: &'static str,
    assignment: String,
}

impl<'a> Printer<'a> {
    pub(crate) fn new(
        catalog: &'static Catalog,
        origins: Option<&'a BTreeMap<&'static str, ValueOrigin>>,
    ) -> Printer<'a> {
        Printer { catalog, origins, sections: BTreeMap::new() }
    }

    /// Adds the value of an option.
    pub fn option<T: Value>(&mut self, path: &'static str, value: &T) {
        let (section, line) = ShownLine::new(path, &value.to_toml());
        self.sections.entry(section).or_default().options.push(line);
    }

    /// Adds the choice of a policy.
    pub fn policy(&mut self, path: &'static str, name: &str) {
        let (section, line) = ShownLine::new(path, &quoted(name));
        self.sections.entry(section).or_default().policies.push(line);
    }

    pub(crate) fn finish(self) -> String {
        let mut text = String::new();
        for section in &self.catalog.sections {
            let Some(lines) = self.sections.get(section.path) else { continue };
            if !text.is_empty() {
                text.push('\n');
            }
            text += &format!("[{}]\n", section.path);
            let lines = || lines.policies.iter().chain(&lines.options);
            // A few long values should not push all comments to the right.
            const WIDEST: usize = 48;
            let widths = lines().map(|line| line.assignment.chars().count());
            let width = widths.filter(|width| *width <= WIDEST).max().unwrap_or(0);
            for line in lines() {
                let assignment = &line.assignment;
                match self.origins.and_then(|origins| origins.get(line.path)) {
                    Some(origin) => {
                        let origin = origin.to_string().replace(char::is_control, " ");
                        text += &format!("{assignment:<width$}  # {origin}\n");
                    }
                    None => text += &format!("{assignment}\n"),
                }
            }
        }
        text
    }
}

impl ShownLine {
    fn new(path: &'static str, value: &str) -> (&'static str, ShownLine) {
        let (section, key) = path.rsplit_once('.').unwrap_or(("", path));
        (section, ShownLine { path, assignment: format!("{key} = {value}") })
    }
}
