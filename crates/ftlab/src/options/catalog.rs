//! The catalog: all options, sections and seams, gathered from the declarations. `explain`, `list`,
//! the generated reference and the messages about unknown names use it.

use std::collections::BTreeMap;
use std::fmt;

use super::declaration::{Condition, Declaration, any_of};
use super::seam::SeamInfo;
use super::text::quoted;
use super::value::{Choice, ValueKind};

/// The policies that an option belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppliesTo {
    /// The option that names the policy.
    pub seam: &'static str,
    /// The policies that have the option.
    pub policies: Vec<&'static str>,
}

impl fmt::Display for AppliesTo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.policies.iter().map(|name| quoted(name)).collect();
        write!(f, "{} = {}", self.seam, names.join(" or "))
    }
}

/// An option with all its metadata.
#[derive(Clone, Debug)]
pub struct OptionInfo {
    /// The full path, such as `ftl.gc.start`.
    pub path: &'static str,
    /// What it means.
    pub doc: &'static str,
    /// The kind of its values.
    pub kind: ValueKind,
    /// What a count counts; empty if the value carries its own unit.
    pub unit: &'static str,
    /// The default; `None` if the option must be set.
    pub default: Option<&'static str>,
    /// The least and the greatest value, both allowed.
    pub range: Option<(&'static str, &'static str)>,
    /// The source of the default and the range; empty for a seam, whose policies name their own.
    pub source: &'static str,
    /// The names it takes, if it is a choice.
    pub choices: Vec<Choice>,
    /// The values of other options under which it does something: any of these is enough. Empty if
    /// it always does.
    pub applies_with: &'static [Condition],
    /// The policies it belongs to; `None` if it always applies.
    pub applies_to: Option<AppliesTo>,
    /// The seam, if the option names a policy.
    pub seam: Option<SeamInfo>,
}

/// A section of the config.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectionInfo {
    /// The path, such as `ftl.gc`.
    pub path: &'static str,
    /// What the section configures.
    pub doc: &'static str,
}

/// All sections, options and seams.
#[derive(Debug, Default)]
pub struct Catalog {
    /// The sections, in the order of the I/O path.
    pub sections: Vec<SectionInfo>,
    /// The options, section by section as declared.
    pub options: Vec<OptionInfo>,
    /// The seams with their policies.
    pub seams: Vec<SeamInfo>,
    index: BTreeMap<&'static str, usize>,
}

/// Gathers declarations into a [`Catalog`].
#[derive(Debug, Default)]
pub struct Builder {
    catalog: Catalog,
    /// The policy whose options are being described.
    policy: Option<(&'static str, &'static str)>,
}

impl Builder {
    /// Returns the catalog.
    pub(crate) fn finish(self) -> Catalog {
        self.catalog
    }

    /// Adds the options of a section, or of the policy that is being described.
    pub fn options(&mut self, path: &'static str, doc: &'static str, declared: &[Declaration]) {
        // The options of a policy are declared like a section, but belong to the section of their
        // seam.
        if !path.is_empty() && self.policy.is_none() {
            self.catalog.sections.push(SectionInfo { path, doc });
        }
        for option in declared {
            self.add(OptionInfo {
                path: option.path,
                doc: option.doc,
                kind: option.kind,
                unit: option.unit,
                default: option.default,
                range: option.range,
                source: option.source,
                applies_with: option.applies_with,
                choices: (option.choices)().to_vec(),
                applies_to: self
                    .policy
                    .map(|(seam, policy)| AppliesTo { seam, policies: vec![policy] }),
                seam: None,
            });
        }
    }

    /// Adds a seam: the option that names its policy.
    pub fn seam(&mut self, seam: SeamInfo) {
        self.catalog.seams.push(seam);
        let names = seam.policies.iter();
        self.add(OptionInfo {
            path: seam.path,
            doc: seam.doc,
            kind: ValueKind::Choice,
            unit: "",
            default: Some(seam.default),
            range: None,
            source: "",
            applies_with: &[],
            choices: names.map(|info| Choice { name: info.name, doc: info.summary }).collect(),
            applies_to: None,
            seam: Some(seam),
        });
    }

    /// Adds everything that `describe` adds as belonging to one policy of a seam.
    pub fn policy(&mut self, seam: SeamInfo, policy: &'static str, describe: fn(&mut Builder)) {
        let outer = self.policy.replace((seam.path, policy));
        describe(self);
        self.policy = outer;
    }

    /// Several policies may share an option. It is listed once and belongs to all of them.
    fn add(&mut self, option: OptionInfo) {
        let catalog = &mut self.catalog;
        let Some(at) = catalog.index.get(option.path) else {
            catalog.index.insert(option.path, catalog.options.len());
            catalog.options.push(option);
            return;
        };
        let known = &mut catalog.options[*at];
        match (&mut known.applies_to, option.applies_to) {
            (Some(known_to), Some(new)) if known_to.seam == new.seam => {
                assert!(
                    (known.doc, known.default, known.range)
                        == (option.doc, option.default, option.range),
                    "{} is declared twice, differently: share the declaration by `with`",
                    known.path,
                );
                known_to.policies.extend(new.policies);
            }
            _ => panic!("{} is declared twice", option.path),
        }
    }
}

impl Catalog {
    /// The option at `path`.
    #[must_use]
    pub fn option(&self, path: &str) -> Option<&OptionInfo> {
        self.index.get(path).map(|at| &self.options[*at])
    }

    /// Whether `path` is a section or holds one.
    #[must_use]
    pub fn holds(&self, path: &str) -> bool {
        path.is_empty()
            || self.sections.iter().any(|section| {
                section
                    .path
                    .strip_prefix(path)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            })
    }

    /// The names directly under the section `path`: its options and its subsections.
    #[must_use]
    pub fn children(&self, path: &str) -> Vec<&'static str> {
        let mut names = Vec::new();
        let options = self.options.iter().map(|option| option.path);
        for known in options.chain(self.sections.iter().map(|section| section.path)) {
            let below = match path {
                "" => Some(known),
                _ => known.strip_prefix(path).and_then(|rest| rest.strip_prefix('.')),
            };
            let name = below.and_then(|below| below.split('.').next());
            names.extend(name.filter(|name| !names.contains(name)));
        }
        names
    }

    /// The paths of all options and sections.
    pub(super) fn paths(&self) -> impl Iterator<Item = &'static str> + use<'_> {
        let options = self.options.iter().map(|option| option.path);
        options.chain(self.sections.iter().map(|section| section.path))
    }
}

impl fmt::Display for OptionInfo {
    /// Prints the path, the documentation, and what the option accepts.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n  {}\n", self.path, self.doc)?;
        let mut line = |name: &str, text: &str| match text {
            "" => Ok(()),
            _ => writeln!(f, "  {:<12}{text}", format!("{name}:")),
        };
        line("kind", &format!("{}, written like {}", self.kind_name(), self.example()))?;
        line("unit", self.unit)?;
        let default = self.default.map(|text| self.with_unit(text));
        line("default", default.as_deref().unwrap_or("none: it must be set"))?;
        match self.range {
            Some((low, high)) => line("range", &format!("{low} to {}", self.with_unit(high)))?,
            None if self.choices.is_empty() => {}
            None => line("range", "one of the choices below")?,
        }
        if let Some(applies_to) = &self.applies_to {
            line("applies to", &applies_to.to_string())?;
        }
        if !self.applies_with.is_empty() {
            line("only with", &any_of(self.applies_with))?;
        }
        let by_choice = self.source.is_empty() && self.seam.is_some();
        line("source", if by_choice { "in brackets, for each choice" } else { self.source })?;
        let width = self.choices.iter().map(|choice| choice.name.len()).max().unwrap_or(0) + 2;
        for (at, choice) in self.choices.iter().enumerate() {
            let head = if at == 0 { "choices:" } else { "" };
            let policies = self.seam.map_or(&[][..], |seam| seam.policies);
            let policy = policies.iter().find(|policy| policy.name == choice.name);
            let source = policy.map_or(String::new(), |policy| format!(" [{}]", policy.source));
            writeln!(f, "  {head:<12}{:<width$}{}{source}", choice.name, choice.doc)?;
        }
        Ok(())
    }
}

impl OptionInfo {
    /// The kind of its values; for a switch, its two names.
    #[must_use]
    pub fn kind_name(&self) -> String {
        match self.choices.as_slice() {
            [on, off] if self.seam.is_none() && (on.name, off.name) == ("on", "off") => {
                format!("{} or {}", on.name, off.name)
            }
            _ => self.kind.name().to_owned(),
        }
    }

    /// A value with its unit, if it is a count.
    #[must_use]
    pub fn with_unit(&self, value: &str) -> String {
        if self.unit.is_empty() { value.to_owned() } else { format!("{value} {}", self.unit) }
    }

    /// An example of a value as TOML: the default, a bound, or the example of its kind.
    #[must_use]
    pub fn example(&self) -> String {
        let text = self.default.filter(|text| !text.is_empty());
        match (text.or(self.range.map(|(low, _)| low)), self.kind) {
            (Some(text), ValueKind::Count) => text.to_owned(),
            (Some(text), kind) if kind != ValueKind::Times => quoted(text),
            (None, ValueKind::Choice) if !self.choices.is_empty() => quoted(self.choices[0].name),
            (_, kind) => kind.example().to_owned(),
        }
    }
}
