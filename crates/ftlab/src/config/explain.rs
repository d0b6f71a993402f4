//! Looks up everything that can be configured, for `explain`, `list` and the generated reference.

use std::fmt;
use std::sync::OnceLock;

use super::options::Options;
use crate::options::catalog::{Builder, Catalog};
use crate::options::text::{nearest, quoted, shown};
use crate::options::{MEANT, Node, OptionInfo, PolicyInfo, SeamInfo, SectionInfo};

/// The catalog of this build.
pub fn catalog() -> &'static Catalog {
    static CATALOG: OnceLock<Catalog> = OnceLock::new();
    CATALOG.get_or_init(|| {
        let mut builder = Builder::default();
        Options::describe(&mut builder);
        builder.finish()
    })
}

/// The meaning of a path.
#[derive(Clone, Debug)]
pub enum Topic {
    /// An option.
    Option(&'static OptionInfo),
    /// A section, the options directly in it, and the sections directly beneath it.
    Section(SectionInfo, Vec<&'static OptionInfo>, Vec<SectionInfo>),
    /// All policies with a name, which may belong to several seams.
    Policies(Vec<PolicyTopic>),
}

/// A policy, its seam, and its options.
#[derive(Clone, Debug)]
pub struct PolicyTopic {
    /// The seam.
    pub seam: SeamInfo,
    /// The policy.
    pub policy: PolicyInfo,
    /// Its options, including those that it shares with others.
    pub options: Vec<&'static OptionInfo>,
}

/// A path that is neither an option nor a section, nor the name of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownPath {
    /// The path that was asked for.
    pub path: String,
    /// What was probably meant, and what is known.
    pub remedy: String,
}

impl fmt::Display for UnknownPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no option, section or policy {}; {}", shown(&self.path), self.remedy)
    }
}

impl std::error::Error for UnknownPath {}

/// All options, section by section as declared.
#[must_use]
pub fn all_options() -> &'static [OptionInfo] {
    &catalog().options
}

/// All seams with their policies.
#[must_use]
pub fn all_policies() -> &'static [SeamInfo] {
    &catalog().seams
}

/// Returns the option or section at `path`, or the policies with that name.
///
/// # Errors
/// There is none. The error says what was probably meant and lists what is known.
pub fn explain(path: &str) -> Result<Topic, UnknownPath> {
    let catalog = catalog();
    if let Some(option) = catalog.option(path) {
        return Ok(Topic::Option(option));
    }
    if let Some(section) = catalog.sections.iter().find(|section| section.path == path) {
        let inside = |known: &str| known.rsplit_once('.').is_some_and(|(parent, _)| parent == path);
        let options = catalog.options.iter().filter(|option| inside(option.path)).collect();
        let sections = catalog.sections.iter().filter(|section| inside(section.path)).copied();
        return Ok(Topic::Section(*section, options, sections.collect()));
    }
    let policies = catalog.policies_called(path);
    match policies.is_empty() {
        false => Ok(Topic::Policies(policies)),
        true => {
            Err(UnknownPath { path: path.to_owned(), remedy: catalog.remedy_with_policies(path) })
        }
    }
}

impl fmt::Display for PolicyTopic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PolicyTopic { seam, policy, options } = self;
        let PolicyInfo { name, summary, source } = policy;
        writeln!(f, "{} = {}\n  {summary} [{source}]\n", seam.path, quoted(name))?;
        let lines: Vec<(&str, &str)> =
            options.iter().map(|option| (option.path, option.doc)).collect();
        match lines.is_empty() {
            true => writeln!(f, "  It has no options."),
            false => first_sentences(f, &lines),
        }
    }
}

impl fmt::Display for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Topic::Option(option) => option.fmt(f),
            Topic::Section(section, options, sections) => {
                writeln!(f, "{}\n  {}\n", section.path, section.doc)?;
                let options = options.iter().map(|option| (option.path, option.doc));
                let sections = sections.iter().map(|section| (section.path, section.doc));
                first_sentences(f, &options.chain(sections).collect::<Vec<_>>())
            }
            Topic::Policies(all) => all.iter().enumerate().try_for_each(|(at, topic)| {
                if at > 0 {
                    writeln!(f)?;
                }
                topic.fmt(f)
            }),
        }
    }
}

impl Catalog {
    /// The policies with a name, of all seams.
    fn policies_called(&'static self, name: &str) -> Vec<PolicyTopic> {
        let called = |seam: &SeamInfo| {
            let policy = seam.policies.iter().find(|policy| policy.name == name);
            policy.map(|&policy| (*seam, policy))
        };
        let topic = |(seam, policy): (SeamInfo, PolicyInfo)| {
            let belongs = |option: &&OptionInfo| {
                let to = option.applies_to.as_ref();
                to.is_some_and(|to| to.seam == seam.path && to.policies.contains(&policy.name))
            };
            PolicyTopic { seam, policy, options: self.options.iter().filter(belongs).collect() }
        };
        self.seams.iter().filter_map(called).map(topic).collect()
    }

    /// Like [`remedy_for`](Self::remedy_for), but also considers names of policies.
    fn remedy_with_policies(&self, path: &str) -> String {
        let remedy = self.remedy_for(path);
        let names = self.seams.iter().flat_map(|seam| seam.policies).map(|policy| policy.name);
        match nearest(path, names) {
            Some(name) if !remedy.starts_with(MEANT) => {
                format!("{MEANT} the policy {name}? (ftlab list policies has all)")
            }
            _ => remedy,
        }
    }
}

/// Prints paths, each with the first sentence of its documentation.
fn first_sentences(f: &mut fmt::Formatter<'_>, lines: &[(&str, &str)]) -> fmt::Result {
    let width = lines.iter().map(|(path, _)| path.len()).max().unwrap_or(0) + 2;
    lines.iter().try_for_each(|(path, doc)| {
        let first = doc.split_inclusive(". ").next().unwrap_or(doc);
        writeln!(f, "  {path:<width$}{}", first.trim_end())
    })
}
