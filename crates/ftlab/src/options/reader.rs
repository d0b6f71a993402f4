//! Combines the layers and reads the options from them, recording every problem and the origin of
//! each value. Reading continues after a problem, so that all of them are reported at once.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::catalog::{Catalog, OptionInfo};
use super::declaration::{Condition, Declaration, any_of};
use super::layer::{BASE_HINT, Layer, LayerEntry, LayerKind, Parsed};
use super::problem::{Problem, SourcePlace};
use super::seam::SeamInfo;
use super::text::{quoted, shown};
use super::value::{Raw, Value, ValueError, read_within, unknown_name};

/// The origin of an option's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueOrigin {
    /// Nothing sets it.
    Default,
    /// Nothing sets it, and the default was adjusted to another option.
    Adjusted(&'static str),
    /// A layer sets it.
    Layer {
        /// The layer's label in messages: a file, `preset tlc-512g`, `--set 2`.
        label: String,
        /// The line in it, counted from one; `None` if it has only one line.
        line: Option<usize>,
    },
}

impl fmt::Display for ValueOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValueOrigin::Default => f.write_str("default"),
            ValueOrigin::Adjusted(how) => write!(f, "default, {how}"),
            ValueOrigin::Layer { label, line: Some(line) } => write!(f, "{label}:{line}"),
            ValueOrigin::Layer { label, line: None } => f.write_str(label),
        }
    }
}

/// The chosen policy of a seam.
#[derive(Clone, Copy, Debug)]
pub struct Chosen {
    /// Its position in the seam's list.
    pub index: usize,
    /// Whether it only replaces an unknown policy.
    stand_in: bool,
}

/// The combined layers.
pub struct LayerReader<'a> {
    layers: &'a [Layer],
    catalog: &'static Catalog,
    /// By option that is set: the topmost layer that sets it.
    entries: BTreeMap<&'static str, (usize, LayerEntry)>,
    problems: Vec<Problem>,
    pub(crate) origins: BTreeMap<&'static str, ValueOrigin>,
    missing: Vec<&'static str>,
    read: BTreeSet<&'static str>,
    /// Options whose values replace wrong ones, so that nothing may be concluded from them.
    wrong: BTreeSet<&'static str>,
    /// The policies in force, by the path of their seam.
    chosen: BTreeMap<&'static str, (&'static str, Chosen)>,
    /// The policies that other options imply where the user chooses none, with the reason, by the path of their seam.
    implied: BTreeMap<&'static str, (&'static str, &'static str)>,
    /// The values in force, as they are printed.
    values: BTreeMap<&'static str, String>,
    /// Whether it is reading a policy that only replaces an unknown one.
    muted: bool,
}

impl<'a> LayerReader<'a> {
    pub(crate) fn new(
        layers: &'a [Layer],
        parsed: Vec<Parsed>,
        catalog: &'static Catalog,
    ) -> LayerReader<'a> {
        let mut entries = BTreeMap::new();
        let mut problems = Vec::new();
        for (at, layer) in parsed.into_iter().enumerate() {
            problems.extend(layer.problems);
            entries.extend(layer.entries.into_iter().map(|entry| (entry.path, (at, entry))));
        }
        LayerReader {
            layers,
            catalog,
            entries,
            problems,
            origins: BTreeMap::new(),
            missing: Vec::new(),
            read: BTreeSet::new(),
            wrong: BTreeSet::new(),
            chosen: BTreeMap::new(),
            implied: BTreeMap::new(),
            values: BTreeMap::new(),
            muted: false,
        }
    }

    /// Reads an option. If it is wrong, records a problem and returns a placeholder in range.
    pub fn option<T: Value>(&mut self, declared: &Declaration) -> T {
        self.read.insert(declared.path);
        let entry = self.entries.get(declared.path).cloned();
        let value = match entry {
            Some((layer, entry)) => self.read_entry(declared, layer, &entry),
            None => {
                self.origins.insert(declared.path, ValueOrigin::Default);
                if declared.default.is_none() && !self.muted {
                    self.missing.push(declared.path);
                }
                declared.default.and_then(|text| T::parse(text).ok())
            }
        };
        if value.is_none() || self.muted {
            self.wrong.insert(declared.path);
        }
        let value = value.unwrap_or_else(|| {
            let text = declared.default.or(declared.range.map(|(low, _)| low));
            text.and_then(|text| T::parse(text).ok()).unwrap_or_else(T::placeholder)
        });
        self.values.insert(declared.path, value.print());
        value
    }

    fn read_entry<T: Value>(
        &mut self,
        declared: &Declaration,
        layer: usize,
        entry: &LayerEntry,
    ) -> Option<T> {
        self.origins.insert(declared.path, self.origin(layer, entry));
        let result = read_within(&entry.raw, declared.range, declared.unit);
        result.map_err(|errors| self.value_problems(declared.path, layer, entry, errors)).ok()
    }

    fn value_problems(
        &mut self,
        path: &str,
        layer: usize,
        entry: &LayerEntry,
        errors: Vec<ValueError>,
    ) {
        for error in errors {
            self.value_problem(path, layer, entry, error);
        }
    }

    fn value_problem(&mut self, path: &str, layer: usize, entry: &LayerEntry, error: ValueError) {
        let span = match (&entry.raw, error.item) {
            (Raw::List(items), Some(at)) => items[at].0.clone(),
            _ => entry.value.clone(),
        };
        self.problems.push(Problem {
            path: path.to_owned(),
            message: error.message,
            remedy: error.remedy,
            place: Some(self.layers[layer].place(span)),
        });
    }

    fn origin(&self, layer: usize, entry: &LayerEntry) -> ValueOrigin {
        let layer = &self.layers[layer];
        let line = (layer.kind != LayerKind::Set).then(|| layer.place(entry.key.clone()).line());
        ValueOrigin::Layer { label: layer.label.clone(), line }
    }

    /// Reads the choice of a seam's policy.
    pub fn choose(&mut self, seam: SeamInfo) -> Chosen {
        self.read.insert(seam.path);
        let index = |name: &str| seam.policies.iter().position(|policy| policy.name == name);
        let stand_in = Chosen { index: index(seam.default).unwrap_or(0), stand_in: true };
        let chosen = match self.entries.get(seam.path).cloned() {
            _ if self.implies(seam.path) => {
                let (policy, why) = self.implied[seam.path];
                self.origins.insert(seam.path, ValueOrigin::Adjusted(why));
                let index = index(policy).expect("a policy of the seam");
                Chosen { index, stand_in: false }
            }
            None => {
                self.origins.insert(seam.path, ValueOrigin::Default);
                Chosen { stand_in: false, ..stand_in }
            }
            Some((layer, entry)) => {
                self.origins.insert(seam.path, self.origin(layer, &entry));
                let name = String::read(&entry.raw);
                match name.map(|name| (index(&name), name)) {
                    Ok((Some(index), _)) => Chosen { index, stand_in: false },
                    Ok((None, name)) => {
                        let known: Vec<&str> =
                            seam.policies.iter().map(|policy| policy.name).collect();
                        let error = ValueError {
                            message: format!("unknown policy {}", shown(&name)),
                            ..unknown_name(&name, &known)
                        };
                        self.value_problem(seam.path, layer, &entry, error);
                        stand_in
                    }
                    Err(errors) => {
                        self.value_problems(seam.path, layer, &entry, errors);
                        stand_in
                    }
                }
            }
        };
        if chosen.stand_in {
            self.wrong.insert(seam.path);
        }
        let name = seam.policies[chosen.index].name;
        self.chosen.insert(seam.path, (name, chosen));
        self.values.insert(seam.path, name.to_owned());
        chosen
    }

    /// Makes a policy the default of its seam, above what presets say, because of other options. This comes before all reading.
    pub(crate) fn imply(&mut self, seam: &'static str, policy: &'static str, why: &'static str) {
        self.implied.insert(seam, (policy, why));
    }

    /// Whether an implied policy of a seam is in force.
    fn implies(&self, seam: &str) -> bool {
        self.implied.contains_key(seam) && !self.set_by_hand(seam)
    }

    /// The value of an option, if it is set and right. Nothing is recorded.
    pub(crate) fn peek<T: Value>(&self, path: &str) -> Option<T> {
        let (_, entry) = self.entries.get(path)?;
        T::read(&entry.raw).ok()
    }

    /// Reads the options of the chosen policy.
    pub fn of_policy<T>(&mut self, chosen: Chosen, read: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.muted;
        self.muted |= chosen.stand_in;
        let options = read(self);
        self.muted = outer;
        options
    }

    /// Reports missing options, and options of policies that are not in force.
    pub(crate) fn finish(&mut self) {
        if !self.missing.is_empty() {
            let (path, message) = match self.missing.as_slice() {
                [one] => ((*one).to_owned(), "has no value, and no default".to_owned()),
                all => (String::new(), format!("no value and no default for {}", all.join(", "))),
            };
            let what = if self.missing.len() == 1 { "it" } else { "them" };
            let remedy = format!("set {what}, or build on a preset: {BASE_HINT}");
            self.problems.push(Problem { path, message, remedy, place: None });
        }
        let unread: Vec<(usize, LayerEntry)> = self
            .entries
            .values()
            .filter(|(_, entry)| !self.read.contains(entry.path))
            .cloned()
            .collect();
        for (layer, entry) in unread {
            self.other_policy(layer, &entry);
        }
    }

    fn other_policy(&mut self, layer: usize, entry: &LayerEntry) {
        let option = self.catalog.option(entry.path).expect("layers hold only known options");
        let Some(applies_to) = &option.applies_to else { return };
        let Some((name, chosen)) = self.chosen.get(applies_to.seam) else { return };
        let set_by = self.entries.get(applies_to.seam).map(|(layer, _)| *layer);
        // A higher layer that changes the policy drops the options of the policy below, as an implied one drops a preset's.
        let is_dropped = set_by.is_some_and(|set_by| set_by > layer)
            || (self.implies(applies_to.seam) && !self.is_by_hand(layer));
        if chosen.stand_in || is_dropped {
            return;
        }
        self.problems.push(Problem {
            path: entry.path.to_owned(),
            message: format!(
                "applies only with {applies_to}, but {} is {}",
                applies_to.seam,
                quoted(name)
            ),
            remedy: format!("remove it, or set {applies_to}"),
            place: Some(self.layers[layer].place(entry.key.clone())),
        });
    }

    /// Whether all these options have the values that were meant.
    pub(crate) fn sound(&self, paths: &[&str]) -> bool {
        paths.iter().all(|path| !self.wrong.contains(path))
    }

    /// Whether the user set the option by hand, in a file or with --set (not by a preset or an
    /// image), to something other than its default. Somebody who passes a complete configuration,
    /// as `ftlab config show` prints it, has not asked for its defaults.
    pub(crate) fn user_changed(&self, path: &str) -> bool {
        let by_hand = self.set_by_hand(path);
        let default = self.catalog.option(path).and_then(|option| option.default);
        by_hand && self.sound(&[path]) && self.values.get(path).map(String::as_str) != default
    }

    /// Whether the user set the option by hand, in a file or with --set, to any value.
    pub(crate) fn set_by_hand(&self, path: &str) -> bool {
        self.entries.get(path).is_some_and(|(layer, _)| self.is_by_hand(*layer))
    }

    fn is_by_hand(&self, layer: usize) -> bool {
        matches!(self.layers[layer].kind, LayerKind::File | LayerKind::Set)
    }

    /// The paths of all options.
    pub(crate) fn all_paths(&self) -> impl Iterator<Item = &'static str> + use<'_, 'a> {
        self.catalog.options.iter().map(|option| option.path)
    }

    /// The options that the user changed although they do nothing under the other options.
    pub(crate) fn idle(&self) -> Vec<Problem> {
        let holds = |condition: &Condition| {
            let value = self.values.get(condition.path).map(String::as_str);
            (value == Some(condition.value)) == condition.is
        };
        let is_idle = |option: &&OptionInfo| {
            let conditions = option.applies_with;
            !conditions.is_empty()
                && !conditions.iter().any(holds)
                && self.user_changed(option.path)
        };
        let note = |option: &OptionInfo| {
            let conditions = any_of(option.applies_with);
            Problem {
                path: option.path.to_owned(),
                message: format!("is set, but does nothing: it applies only with {conditions}"),
                remedy: "set that too, or leave this out".to_owned(),
                place: self.place(&[option.path]),
            }
        };
        self.catalog.options.iter().filter(is_idle).map(note).collect()
    }

    /// Whether a layer sets the option.
    pub(crate) fn is_set(&self, path: &str) -> bool {
        self.entries.contains_key(path)
    }

    /// Whether a layer sets the option, other than a preset that set it for a policy which a higher
    /// layer has replaced at `seam`.
    pub(crate) fn is_set_for(&self, path: &str, seam: &str) -> bool {
        let Some((layer, _)) = self.entries.get(path) else { return false };
        let by_preset = matches!(self.layers[*layer].kind, LayerKind::Preset);
        let chosen = self.entries.get(seam).map(|(layer, _)| *layer);
        !by_preset || chosen.is_none_or(|chosen| chosen <= *layer)
    }

    /// The place of the first of these options, in the topmost layer that sets any of them.
    pub(crate) fn place(&self, paths: &[&str]) -> Option<SourcePlace> {
        let set = paths.iter().filter_map(|path| self.entries.get(path));
        // Of equal maxima the last one wins; reversed, it is the option named first.
        let (layer, entry) = set.rev().max_by_key(|(layer, _)| *layer)?;
        Some(self.layers[*layer].place(entry.value.clone()))
    }

    pub(crate) fn note(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// Returns all problems, ordered by layer and place; those without a place come first.
    pub(crate) fn problems(&mut self) -> Vec<Problem> {
        let mut problems = std::mem::take(&mut self.problems);
        sort(self.layers, &mut problems);
        problems
    }
}

/// Sorts problems by layer and place; those without a place come first.
pub(crate) fn sort(layers: &[Layer], problems: &mut [Problem]) {
    problems.sort_by_key(|problem| {
        problem.place.as_ref().map(|place| {
            (layers.iter().position(|layer| layer.label == place.label), place.span.start)
        })
    });
}
