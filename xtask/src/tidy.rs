//! Rules that no other tool checks: module heads, file lengths, what the simulator must not use,
//! links, presets.

use std::collections::BTreeSet;

use ftlab_workload::generate::PRESETS;

use crate::files::File;

/// The most lines of a code file; a longer one should be split.
const LONGEST: usize = 650;
/// The crate whose code must give the same results on every machine and at any time.
const PURE: &str = "crates/ftlab/src/";
/// How many lines above a walk over a hash table the comment that justifies it may be.
const COMMENT_REACH: usize = 3;

/// What no file may contain. Written in two halves, so that this file does not contain it either.
const UNFINISHED: [&str; 5] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("dbg", "!("),
    concat!("todo", "!("),
    concat!("unimplemented", "!("),
];
/// Absolute paths, which belong to one machine.
const MACHINE: [&str; 4] =
    [concat!("/wo", "rk/"), concat!("/tm", "p/"), concat!("/ho", "me/"), concat!("/ro", "ot/")];
/// What the simulator may not use, and what it brings in.
const IMPURE: [(&str, &str); 11] = [
    ("std::time::", "a clock"),
    ("Instant::now", "a clock"),
    ("SystemTime", "a clock"),
    ("std::fs", "files"),
    ("std::env", "the environment"),
    ("std::thread", "threads"),
    ("thread_rng", "random numbers without a seed"),
    ("from_entropy", "random numbers without a seed"),
    (".powf(", "a function whose last digit differs between machines: use libm"),
    (".ln()", "a function whose last digit differs between machines: use libm"),
    (".exp()", "a function whose last digit differs between machines: use libm"),
];

/// Returns a message for everything untidy.
pub fn check(files: &[File]) -> Vec<String> {
    let mut problems = Vec::new();
    for file in files {
        machine(file, &mut problems);
        match file.extension() {
            "rs" => rust(file, &mut problems),
            "md" => links(file, files, &mut problems),
            _ => {}
        }
        if file.path.starts_with("presets/devices/") {
            sources(file, &mut problems);
        }
    }
    registered(files, &mut problems);
    problems
}

fn rust(file: &File, problems: &mut Vec<String>) {
    let path = &file.path;
    if !file.text.starts_with("//!") {
        problems.push(format!("{path}: begin with `//!`: what the file owns, and why"));
    }
    let lines = file.text.lines().count();
    if lines > LONGEST {
        problems.push(format!("{path}: {lines} lines, more than {LONGEST}: split it"));
    }
    let walks_hashes = file.text.contains("HashMap<") || file.text.contains("HashSet<");
    let lines: Vec<&str> = file.text.lines().collect();
    for (at, line) in lines.iter().enumerate() {
        let place = format!("{path}:{}", at + 1);
        for found in UNFINISHED.iter().filter(|word| line.contains(**word)) {
            problems.push(format!("{place}: {found}: finish it or open an issue"));
        }
        if line.contains(concat!("_v", "2")) && !path.contains("fio") && !line.contains("fio") {
            problems.push(format!("{place}: a name with a version: replace what was there"));
        }
        if !path.starts_with(PURE) {
            continue;
        }
        for (word, what) in IMPURE.iter().filter(|(word, _)| line.contains(word)) {
            problems.push(format!("{place}: {word} brings in {what}; the simulator must be pure"));
        }
        if walks_hashes && (line.contains(".keys()") || line.contains(".values()")) {
            let above = &lines[at.saturating_sub(COMMENT_REACH)..at];
            if !above.iter().any(|line| line.contains("//") && line.contains("hash")) {
                problems.push(format!(
                    "{place}: walks a hash table: sort, and say so in a comment above"
                ));
            }
        }
    }
}

fn machine(file: &File, problems: &mut Vec<String>) {
    for (at, line) in file.text.lines().enumerate() {
        for word in MACHINE {
            let begins_a_path = line.match_indices(word).any(|(start, _)| {
                let before = line[..start].chars().next_back();
                !before.is_some_and(|before| before.is_alphanumeric() || "._-~/".contains(before))
            });
            if begins_a_path {
                problems.push(format!(
                    "{}:{}: {word} is a path of one machine: make it relative",
                    file.path,
                    at + 1
                ));
            }
        }
    }
}

/// Checks that every relative link leads to a file or folder of the project.
fn links(file: &File, files: &[File], problems: &mut Vec<String>) {
    for (at, line) in file.text.lines().enumerate() {
        for rest in line.split("](").skip(1) {
            let target = rest.split([')', '#', ' ']).next().unwrap_or_default();
            if target.is_empty() || target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let goal = resolve(&file.path, target);
            let inside = format!("{goal}/");
            if !files.iter().any(|known| known.path == goal || known.path.starts_with(&inside)) {
                problems.push(format!("{}:{}: no file {goal}", file.path, at + 1));
            }
        }
    }
}

/// Returns the path, relative to the project's root, of a link in `from`.
fn resolve(from: &str, target: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    parts.join("/")
}

/// Checks that every number in the preset of a real device has a comment with its source, on its
/// line or the line above.
fn sources(file: &File, problems: &mut Vec<String>) {
    if file.text.contains("source = \"invented") {
        return;
    }
    let mut above = "";
    for (at, line) in file.text.lines().enumerate() {
        let number = line.split_once(" = ").is_some_and(|(_, value)| {
            value.trim_start_matches(['"', '[', ' ']).starts_with(|c: char| c.is_ascii_digit())
        });
        // One die per chip and the page size are choices explained by their defaults; a name may begin with a digit.
        let explained = line.contains('#') || above.starts_with('#');
        let exempt = ["dies_per_chip = 1", "unit = ", "name = "];
        let exempt = exempt.iter().any(|start| line.starts_with(start));
        if number && !explained && !exempt {
            problems.push(format!(
                "{}:{}: say in a comment which source gives the number, or that it is assumed",
                file.path,
                at + 1
            ));
        }
        above = line;
    }
}

/// Checks that every workload in the presets folder is built in.
fn registered(files: &[File], problems: &mut Vec<String>) {
    let known: BTreeSet<&str> = PRESETS.iter().map(|preset| preset.name).collect();
    for file in files {
        let name = file.path.strip_prefix("presets/workloads/");
        let Some(name) = name.and_then(|name| name.strip_suffix(".toml")) else { continue };
        if !known.contains(name) {
            problems.push(format!(
                "{}: not built in: add it to crates/ftlab-workload/src/generate/presets.rs",
                file.path
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        check(&[File { path: path.to_owned(), text: text.to_owned() }])
    }

    #[test]
    fn tidy_code_passes() {
        let text = "//! A file.\n// By number, not by hash.\nlet _: HashMap<u8, u8>; map.keys();\n";
        assert_eq!(found("crates/ftlab/src/a.rs", text), Vec::<String>::new());
    }

    #[test]
    fn each_rule_finds_what_it_is_for() {
        let pure = "crates/ftlab/src/a.rs";
        for (path, text) in [
            (pure, "fn a() {}\n".to_owned()),
            (pure, format!("//! A.\n{}", "\n".repeat(LONGEST))),
            (pure, "//! A.\nuse std::fs;\n".to_owned()),
            (pure, "//! A.\nlet x = y.powf(2.0);\n".to_owned()),
            (pure, "//! A.\nlet m: HashMap<u8, u8>;\n\n\nm.values();\n".to_owned()),
            (pure, format!("//! A.\n// {}\n", UNFINISHED[0])),
            (pure, concat!("//! A.\nfn a_v", "2() {}\n").to_owned()),
            ("a.toml", format!("path = \"{}x\"\n", MACHINE[1])),
            ("docs/a.md", "See [b](../b.md).\n".to_owned()),
            ("presets/devices/a.toml", "source = \"a sheet\"\nread = \"3us\"\n".to_owned()),
            ("presets/workloads/a.toml", "name = \"a\"\n".to_owned()),
        ] {
            assert_eq!(found(path, &text).len(), 1, "{path}: {text}");
        }
    }

    #[test]
    fn links_are_followed_from_where_they_stand() {
        assert_eq!(resolve("docs/reference/a.md", "../../presets/b.toml"), "presets/b.toml");
        assert_eq!(resolve("README.md", "docs/"), "docs");
    }
}
