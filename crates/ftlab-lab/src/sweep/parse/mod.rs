//! Parses a sweep file to a [`Sweep`], or to the list of all its problems.

mod settings;

use std::collections::BTreeSet;

use ftlab::config::Problems;
use ftlab::options::table::{At, Document, Given, Plain};
use ftlab::options::value::{Raw, ValueError};
use ftlab::units::Ratio;

use super::axes::{Spacing, Sweep, SweepAxis, SweepValue, values_of_range};
use super::keys::{AxisValues, SweepAxisKeys, SweepKeys, SweepValueKeys};
use super::numbers::{Scaled, is_range, scaled};
use super::settings::folder_of;
use super::swept::Swept;
use crate::experiment::NamedRun;

/// The longest text that is accepted.
const MAX_TEXT: usize = 1 << 20;
/// The most axes.
const MAX_AXES: usize = 16;
/// The most values of a list.
const MAX_VALUES: usize = 10_000;

/// Parses a sweep file. `file` is its path, and its name in messages.
///
/// # Errors
/// Everything that is wrong with it.
pub fn parse(file: &str, text: &str) -> Result<Sweep, Problems> {
    // Refuse texts with control characters, because they would appear in other messages.
    let check = |document: &mut Document, root: &Given| document.refuse_control_characters(root);
    let shorten = "check that it is the right file";
    let (document, keys) = Document::read::<SweepKeys>(file, text, MAX_TEXT, shorten, check);
    let mut parser = Parser { document, file, axes: Vec::new() };
    let sweep = keys.and_then(|keys| parser.sweep(keys));
    parser.document.finish(sweep)
}

struct Parser<'a> {
    document: Document,
    file: &'a str,
    axes: Vec<SweepAxis>,
}

impl Parser<'_> {
    fn sweep(&mut self, keys: SweepKeys) -> Option<Sweep> {
        if !is_name(&keys.name) {
            let remedy = "write letters, digits, - and _ only: the result folder is named after it";
            self.document.report_at(&keys.table, "name", "no name for a folder", remedy);
        }
        let prepared = keys.run.prepare;
        let base = self.settings(&keys.run.point);
        if keys.axis.len() > MAX_AXES {
            let message = format!("there are {} axes, more than {MAX_AXES}", keys.axis.len());
            self.document.report_at(&keys.table, "axis", message, "split the sweep");
            return None;
        }
        for keys in keys.axis.0 {
            let axis = self.axis(keys);
            self.axes.extend(axis);
        }
        Some(Sweep {
            title: keys.title.unwrap_or_else(|| keys.name.clone()),
            name: keys.name,
            seeds: keys.seeds,
            first_seed: keys.first_seed,
            confidence: f64::from(keys.confidence.ppm) / f64::from(Ratio::ONE.ppm),
            folder: folder_of(self.file),
            base,
            prepared,
            axes: std::mem::take(&mut self.axes),
        })
    }

    fn axis(&mut self, keys: SweepAxisKeys) -> Option<SweepAxis> {
        let SweepAxisKeys { table, option, name, label, values, steps, spacing } = keys;
        let swept = match &option {
            Some(option) => Some(self.swept(&table, option)?),
            None if self.document.has_failed(&table, "option") => return None,
            None => None,
        };
        let Some(name) = name.or(option.clone()) else {
            let remedy = "write the `option` that it sets, or the `name` of what its values set";
            self.document.report_at(&table, "name", "the axis has neither option nor name", remedy);
            return None;
        };
        let what = Described { table: &table, option: option.as_deref(), swept, spacing };
        let found = match &values.0.raw {
            Raw::Text(text) if is_range(text) => self.range(&what, &values, steps),
            Raw::List(_) => self.list(&what, &values, steps),
            _ => {
                let remedy =
                    "write both ends of a range, such as \"7%..50%\", or a list in brackets";
                self.document.report(&values.0, "neither a range nor a list", remedy);
                None
            }
        };
        let mut axis = SweepAxis::of(&name, swept, found?, spacing.unwrap_or(Spacing::Linear));
        axis.label = label.unwrap_or(axis.label);
        Some(axis)
    }

    /// Finds the option of an axis.
    fn swept(&mut self, table: &At, option: &str) -> Option<Swept> {
        let found = match Swept::named(option) {
            Ok(Swept::Run(NamedRun::VARIABLE)) => Err(ValueError::new(
                "it names no variable",
                "leave `option` out, and set `fio_var` in each of the values",
            )),
            found => found,
        };
        found
            .map_err(|error| {
                self.document.report_at(table, "option", error.message, error.remedy);
            })
            .ok()
    }

    fn range(
        &mut self,
        axis: &Described<'_>,
        given: &AxisValues,
        steps: Option<u64>,
    ) -> Option<Vec<SweepValue>> {
        let AxisValues(given) = given;
        let (Some(option), Some(swept)) = (axis.option, axis.swept) else {
            let message = "a range needs an option that takes its numbers";
            self.document.report(given, message, "write the `option`, or a list of tables");
            return None;
        };
        let Some(steps) = steps else {
            if !self.document.has_failed(axis.table, "steps") {
                let remedy = "add `steps`: how many values it has, both ends included, such as 8";
                self.document.report(given, "the range lacks `steps`", remedy);
            }
            return None;
        };
        let text = given.plain()?;
        let spacing = axis.spacing.unwrap_or(Spacing::Linear);
        let texts = match values_of_range(swept, &text, steps as usize, spacing) {
            Ok(texts) => texts,
            Err(error) => {
                self.document.report(given, error.message, error.remedy);
                return None;
            }
        };
        let mut values = Vec::new();
        for text in texts {
            let mut value = SweepValue::named(&text);
            let plain = Plain { text, path: given.path.clone(), span: given.span.clone() };
            // One problem of a range is enough.
            if !self.set(&mut value.settings, option, &plain) {
                return None;
            }
            values.push(value);
        }
        Some(values)
    }

    fn list(
        &mut self,
        axis: &Described<'_>,
        given: &AxisValues,
        steps: Option<u64>,
    ) -> Option<Vec<SweepValue>> {
        let AxisValues(given) = given;
        if steps.is_some() {
            let remedy = "leave it out, or write a range such as \"7%..50%\"";
            self.document.report_at(axis.table, "steps", "a list has its own steps", remedy);
        }
        let (mut values, mut names): (Vec<SweepValue>, _) = (Vec::new(), BTreeSet::new());
        let Raw::List(entries) = &given.raw else { return None };
        if entries.len() > MAX_VALUES {
            let message = format!("{} values, more than {MAX_VALUES}", entries.len());
            self.document.report(given, message, "split the sweep");
            return None;
        }
        for entry in (0..entries.len()).filter_map(|at| given.item(at)) {
            let Some(value) = self.value(axis, &entry) else { continue };
            if !names.insert(value.name.clone()) {
                let message = format!("there are two values {}", value.name);
                self.document.report(&entry, message, "give each a name of its own");
            }
            values.push(value);
        }
        if entries.is_empty() {
            self.document.report(given, "it has no values", "write a list of at least one");
        }
        let names: Vec<&str> = values.iter().map(|value| value.name.as_str()).collect();
        let scaled = scaled(axis.swept.and_then(Swept::numbers), &names);
        let is_above_zero = |scaled: Scaled| scaled.numbers.iter().all(|number| *number > 0.0);
        if axis.spacing == Some(Spacing::Log) && !scaled.is_some_and(is_above_zero) {
            let message = "only numbers above zero have a logarithmic scale";
            self.document.report_at(axis.table, "spacing", message, "leave it out");
        }
        Some(values)
    }

    fn value(&mut self, axis: &Described<'_>, entry: &Given) -> Option<SweepValue> {
        if let Raw::Table(_) = entry.raw {
            let keys: SweepValueKeys = self.document.open(entry)?;
            let mut value = SweepValue::named(&keys.name.0.text);
            if let Some(option) = axis.option {
                self.set(&mut value.settings, option, &keys.name.0);
            }
            value.settings = value.settings.with(&self.settings(&keys.point));
            value.label = keys.label.unwrap_or(value.label);
            return Some(value);
        }
        let Some(text) = entry.word() else {
            let remedy = "write a text, a number, or a table with `name` and what the value sets";
            self.document.report(entry, "no value of an axis", remedy);
            return None;
        };
        let Some(option) = axis.option else {
            let remedy =
                "write the `option` of the axis, or a table with `name` and what the value sets";
            self.document.report(entry, "the value sets nothing", remedy);
            return None;
        };
        let mut value = SweepValue::named(&text);
        let plain = Plain { text, path: entry.path.clone(), span: entry.span.clone() };
        self.set(&mut value.settings, option, &plain);
        Some(value)
    }
}

/// An axis whose values are read.
struct Described<'a> {
    table: &'a At,
    option: Option<&'a str>,
    swept: Option<Swept>,
    spacing: Option<Spacing>,
}

/// Whether a text can name a folder.
pub fn is_name(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    !text.is_empty() && text.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use ftlab::config::Problem;

    use super::*;
    use crate::text_file;

    /// Sweeps with all keys.
    const TEXTS: [&str; 2] = [
        include_str!("../../../../../fuzz/corpus/sweep/all-keys.toml"),
        include_str!("../../../../../fuzz/corpus/sweep/files.toml"),
    ];

    fn problems(text: &str) -> Vec<Problem> {
        parse("s.toml", text).map_or_else(|problems| problems.problems, |_| Vec::new())
    }

    #[test]
    fn every_key_is_read() {
        for text in TEXTS {
            assert_eq!(problems(text), []);
        }
        let all = parse("in/s.toml", TEXTS[0]).unwrap();
        assert_eq!((all.seeds, all.first_seed, all.confidence), (2, 7, 0.99));
        assert_eq!((all.folder.as_path(), all.axes.len()), (std::path::Path::new("in"), 3));
        let depths: Vec<&str> = all.axes[1].values.iter().map(|one| one.name.as_str()).collect();
        assert_eq!((all.axes[1].name.as_str(), depths), ("depth", vec!["1", "4", "16"]));
        assert_eq!(all.axes[0].values[1].label, "First in, first out");
        let set: Vec<String> = all.axes[0].values[1].settings.keys();
        assert_eq!(set, ["ftl.gc.victim", "ftl.gc.start"]);
    }

    #[test]
    fn whatever_is_wrong_has_a_place_and_a_remedy() {
        for text in TEXTS {
            text_file::every_problem_is_told_well(text, problems);
        }
    }

    #[test]
    fn no_text_is_too_bad_to_be_read() {
        for text in TEXTS {
            for end in (0..text.len()).filter(|&end| text.is_char_boundary(end)) {
                problems(&text[..end]);
            }
            for (from, to) in [("\"", "'"), ("[[", "["), ("..", "."), ("=", "=="), ("1", "-1e9")] {
                problems(&text.replace(from, to));
            }
        }
        let axes = "[[axis]]\noption = 'queue_depth'\nvalues = [1]\n".repeat(MAX_AXES + 1);
        let found = problems(&format!("name = 'a'\n[run]\n{axes}"));
        assert!(found[0].message.contains("17 axes"), "{found:?}");
        let values = "1,".repeat(MAX_VALUES + 1);
        let axis = format!("[[axis]]\noption = 'queue_depth'\nvalues = [{values}]\n");
        let found = problems(&format!("name = 'a'\n[run]\n{axis}"));
        assert_eq!(found.len(), 1, "{:?}", found[0]);
    }
}
