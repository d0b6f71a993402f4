//! The layers of the simulator: the order of its folders, and the check that none imports from above.

mod source;
mod tree;

use crate::files::File;
use tree::{Module, Tree};

/// The folders and top-level files of the simulator, from bottom to top. Each may import only from
/// those before it.
const ORDER: [&str; 17] = [
    "units",
    "counters",
    "image",
    "engine",
    "options",
    "shape",
    "policy",
    "verify",
    "nand",
    "scheduler",
    "ftl",
    "cache",
    "host",
    "config",
    "device",
    "saved",
    "stats",
];
const FOLDER: &str = "crates/ftlab/src/";

/// Reports every import from above, every import cycle across folders and every folder that has no
/// place in the order.
pub fn check(files: &[File]) -> Vec<String> {
    let tree = Tree::of(files, FOLDER);
    let mut problems = Vec::new();
    for (module, file) in tree.all() {
        // The root only declares the folders.
        let Some(folder) = module.first() else { continue };
        let Some(here) = place(folder) else {
            problems
                .push(format!("{file}: {folder} has no place among the layers: xtask/src/layers"));
            continue;
        };
        let mut told: Vec<Module> = Vec::new();
        for (path, stands, _) in tree.taken(module) {
            // Checks both the path as written and where it leads: a re-export does not reverse an import.
            let above = |path: &Module| path.first().and_then(|to| place(to)) > Some(here);
            if (above(&path) || above(stands)) && !told.contains(&path) {
                let path_text = path.join("::");
                problems.push(format!("{file}: {path_text} lies above {folder}: {REMEDY}"));
                told.push(path);
            }
        }
    }
    for circle in tree.circles() {
        let files: Vec<&str> = circle.into_iter().map(|module| tree.file(module)).collect();
        let folder = |file: &str| file.rsplit_once('/').map(|(folder, _)| folder.to_owned());
        if files.iter().any(|file| folder(file) != folder(files[0])) {
            problems.push(format!("{}: import each other in a circle", files.join(", ")));
        }
    }
    problems
}

const REMEDY: &str = "move what is needed down, or let what lies above fill it in";

fn place(folder: &str) -> Option<usize> {
    ORDER.iter().position(|known| *known == folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let file = |&(path, text): &(&str, &str)| File {
            path: format!("{FOLDER}{path}"),
            text: text.to_owned(),
        };
        check(&files.iter().map(file).collect::<Vec<_>>())
    }

    /// A valid tree, including an import that only tests may have.
    const SOUND: [(&str, &str); 5] = [
        ("lib.rs", "pub mod units; pub mod nand; pub mod ftl;"),
        ("units.rs", "pub struct Nanos;"),
        ("nand/mod.rs", "mod die;\npub use die::Die;\npub struct Shape;"),
        ("nand/die.rs", "use super::Shape;\nuse crate::units::Nanos;\npub struct Die;"),
        (
            "ftl/mod.rs",
            "use crate::nand::Die;\n#[cfg(test)]\nmod tests { use crate::device::Device; }",
        ),
    ];

    #[test]
    fn downward_arrows_pass() {
        assert_eq!(found(&SOUND), Vec::<String>::new());
    }

    #[test]
    fn each_way_to_import_upwards_is_found() {
        for planted in [
            "use crate::ftl::Ftl;",
            "use super::super::ftl::Ftl;",
            "use crate::{units::Nanos, ftl::{self, Ftl}};",
            "pub use crate::device::Device;",
            "fn f() { crate::stats::tell() }",
            "macro_rules! m { () => { $crate::config::Options } }",
        ] {
            let files = [&SOUND[..], &[("nand/planted.rs", planted)]].concat();
            assert!(found(&files)[0].contains("lies above nand"), "{planted}");
        }
    }

    #[test]
    fn what_is_handed_on_from_above_counts_for_who_takes_it() {
        let files = [("units.rs", "pub use crate::ftl::Ftl;"), ("ftl/mod.rs", "pub struct Ftl;")];
        let taker = ("nand/mod.rs", "use crate::units::Ftl;");
        assert_eq!(found(&[&files[..], &[taker]].concat()).len(), 2);
    }

    #[test]
    fn a_circle_of_files_is_found() {
        let files = [
            ("ftl/mod.rs", "pub mod gc;\npub mod merge;"),
            ("ftl/gc/mod.rs", "mod copy;\npub use copy::Copy;"),
            ("ftl/gc/copy.rs", "use crate::ftl::merge::Job;\npub struct Copy;"),
            ("ftl/merge/mod.rs", "use crate::ftl::gc::Copy;\npub struct Job;"),
        ];
        let problems = found(&files);
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].contains("gc/copy.rs, crates/ftlab/src/ftl/merge/mod.rs"));
    }

    #[test]
    fn a_folder_without_a_place_is_found() {
        assert!(found(&[("attic/mod.rs", "")])[0].contains("has no place"));
    }
}
