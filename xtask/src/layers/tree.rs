//! The modules of the simulator, and the file in which the item behind a path is defined, across re-exports.

use std::collections::{BTreeMap, BTreeSet};

use super::source::{self, ImportPath, SourceFile};
use crate::files::File;

/// A module's path from the crate's root.
pub type Module = Vec<String>;

/// More re-exports than any name goes through; ends cycles of them.
const MOST_STEPS: usize = 16;

#[derive(Debug)]
pub struct Tree {
    modules: BTreeMap<Module, (String, SourceFile)>,
}

impl Tree {
    /// Returns the modules of a folder, except test modules.
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

    /// Returns all modules with their files.
    pub fn all(&self) -> impl Iterator<Item = (&Module, &str)> {
        self.modules.iter().map(|(module, (file, _))| (module, file.as_str()))
    }

    /// Returns what a module takes: the path from the root as written, the module that defines it,
    /// and whether it is only re-exported.
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

    pub fn file(&self, module: &Module) -> &str {
        &self.modules[module].0
    }

    /// Returns the sets of modules that import each other in a cycle, each once. A module and its
    /// submodules count as one: imports between them are no cycle.
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

    /// Returns the modules that `module` imports from, except its ancestors and descendants.
    fn arrows<'a>(&'a self, module: &'a Module) -> BTreeSet<&'a Module> {
        let apart = |to: &Module| !to.starts_with(module) && !module.starts_with(to);
        let taken = self.taken(module).filter(|(_, to, handed_on)| !handed_on && apart(to));
        taken.map(|(_, to, _)| to).collect()
    }

    /// Returns the path from the root of a taken path; `None` for another crate's.
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

    /// Returns the module whose file defines the last name of a path.
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

/// Returns everything reachable from `from`.
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
