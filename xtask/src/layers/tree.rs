//! The modules of the simulator, and in which file what a path names stands, whoever hands it on.

use std::collections::{BTreeMap, BTreeSet};

use super::source::{self, ImportPath, SourceFile};
use crate::files::File;

/// A module, as the names that lead to it.
pub type Module = Vec<String>;

/// More than names are ever handed on: an end to circles of those.
const MOST_STEPS: usize = 16;

/// All modules with a file.
#[derive(Debug)]
pub struct Tree {
    modules: BTreeMap<Module, (String, SourceFile)>,
}

impl Tree {
    /// The modules beneath a folder. Those of tests are left out.
    pub fn of(files: &[File], folder: &str) -> Tree {
        let mut modules = BTreeMap::new();
        for file in files {
            let inside = file.path.strip_prefix(folder).and_then(|path| path.strip_suffix(".rs"));
            let Some(inside) = inside else { continue };
            let mut module: Module = inside.split('/').map(str::to_owned).collect();
            if module.last().is_some_and(|name| name == "mod" || name == "lib") {
                module.pop();
            }
            modules.insert(module, (file.path.clone(), source::read(&file.text)));
        }
        let tests = modules.iter().flat_map(|(module, (_, source))| {
            source.tests.iter().map(move |name| [&module[..], std::slice::from_ref(name)].concat())
        });
        let tests: Vec<Module> = tests.collect();
        modules.retain(|module: &Module, _| !tests.iter().any(|test| module.starts_with(test)));
        Tree { modules }
    }

    /// All modules, each with its file.
    pub fn all(&self) -> impl Iterator<Item = (&Module, &str)> {
        self.modules.iter().map(|(module, (file, _))| (module, file.as_str()))
    }

    /// What a module takes: the path from the root as it is written, where that stands, and whether it is handed
    /// on only.
    pub fn taken<'a>(
        &'a self,
        module: &'a Module,
    ) -> impl Iterator<Item = (Module, &'a Module, bool)> {
        let (_, source) = &self.modules[module];
        source.taken.iter().filter_map(|taken| {
            let path = self.path_from_root(module, taken)?;
            let stands = self.find(&path, MOST_STEPS)?;
            Some((path, stands, taken.handed_on))
        })
    }

    /// The file of a module.
    pub fn file(&self, module: &Module) -> &str {
        &self.modules[module].0
    }

    /// Who of these modules are in circles, each circle once. A module and those inside it are one thing, told in
    /// several files: what they take from each other is no circle.
    pub fn circles(&self) -> Vec<BTreeSet<&Module>> {
        let arrows: BTreeMap<&Module, BTreeSet<&Module>> =
            self.modules.keys().map(|module| (module, self.arrows(module))).collect();
        let reached = arrows.keys().map(|&from| (from, reach(&arrows, from)));
        let reached: BTreeMap<&Module, BTreeSet<&Module>> = reached.collect();
        let circle = |module: &&Module| -> BTreeSet<&Module> {
            let there = reached[module].iter().copied();
            there.filter(|other| reached[other].contains(module)).collect()
        };
        let circles: BTreeSet<BTreeSet<&Module>> = reached.keys().map(circle).collect();
        circles.into_iter().filter(|circle| !circle.is_empty()).collect()
    }

    /// The modules that one takes something of, but for those around it and inside it.
    fn arrows<'a>(&'a self, module: &'a Module) -> BTreeSet<&'a Module> {
        let apart = |to: &Module| !to.starts_with(module) && !module.starts_with(to);
        let taken = self.taken(module).filter(|(_, to, handed_on)| !handed_on && apart(to));
        taken.map(|(_, to, _)| to).collect()
    }

    /// The path from the root of what a module takes; nothing for what is of another crate.
    fn path_from_root(&self, module: &Module, taken: &ImportPath) -> Option<Module> {
        let mut base = module.clone();
        let mut rest = &taken.path[..];
        match rest.first()?.as_str() {
            "crate" => (base, rest) = (Module::new(), &rest[1..]),
            "self" => rest = &rest[1..],
            "super" => {
                while rest.first().is_some_and(|part| part == "super") {
                    base.pop();
                    rest = &rest[1..];
                }
            }
            child => {
                let child = [&module[..], &[child.to_owned()]].concat();
                self.modules.get(&child)?;
            }
        }
        base.extend_from_slice(rest);
        Some(base)
    }

    /// The module in whose file the end of a path stands.
    fn find(&self, path: &[String], steps: usize) -> Option<&Module> {
        let mut length = 0;
        while length < path.len() && self.modules.contains_key(&path[..=length]) {
            length += 1;
        }
        let (module, (_, source)) = self.modules.get_key_value(&path[..length])?;
        let Some(name) = path.get(length).filter(|name| *name != "*") else { return Some(module) };
        let mut known = source.taken.iter().filter(|taken| taken.called.as_ref() == Some(name));
        let further = known.find_map(|taken| self.path_from_root(module, taken));
        match further.filter(|further| steps > 0 && further[..] != path[..=length]) {
            Some(further) => self.find(&[&further[..], &path[length + 1..]].concat(), steps - 1),
            None => Some(module),
        }
    }
}

/// Everything that arrows lead to from here.
fn reach<'a>(
    arrows: &BTreeMap<&'a Module, BTreeSet<&'a Module>>,
    from: &'a Module,
) -> BTreeSet<&'a Module> {
    let mut reached = BTreeSet::new();
    let mut left = vec![from];
    while let Some(module) = left.pop() {
        left.extend(arrows[module].iter().copied().filter(|&to| reached.insert(to)));
    }
    reached
}
