//! One word for one thing: the words of the glossary that have a meaning of their own are not used for something
//! else, and a name stands for one or two types of the project, not for ten.
//!
//! A rule is a line in [`RULES`]. It sees identifiers, comments and texts alike: `merge_reads`, `MergeReads` and "merge
//! reads" are the words "merge" and "reads".

use std::collections::BTreeMap;

use crate::files::File;

/// A word where it means something else.
struct Rule {
    /// Its forms; a form of several words is a phrase.
    forms: &'static [&'static str],
    /// Files, or folders, in which it has no business: how their paths begin.
    within: &'static [&'static str],
    /// How the paths of those among them begin where it is right.
    except: &'static [&'static str],
    /// Lines that hold one of these are right.
    unless: &'static [&'static str],
    /// What it is kept for.
    means: &'static str,
    /// What to say instead.
    instead: &'static str,
}

const RULES: [Rule; 6] = [
    Rule {
        forms: &["merge", "merges", "merged", "merging"],
        within: &[
            "crates/ftlab/src/cache/",
            "crates/ftlab/src/device/read/",
            "crates/ftlab/src/device/untimed/",
            "crates/ftlab/src/device/write/back.rs",
            "crates/ftlab/src/device/write/fill.rs",
            "crates/ftlab/src/device/write/map.rs",
            "crates/ftlab/src/device/write/row.rs",
            "crates/ftlab/src/ftl/fragments/",
            "crates/ftlab/src/ftl/gc/",
            "crates/ftlab/src/ftl/map_cache/",
            "crates/ftlab/src/ftl/mapping/dftl/",
            "crates/ftlab/src/nand/",
        ],
        except: &["crates/ftlab/src/cache/bplru.rs"],
        unless: &[],
        means: "what happens to the blocks of a mapping with a log",
        instead: "read-modify-write, or reading the old copy",
    },
    Rule {
        forms: &["rewrite", "rewrites", "rewritten", "rewriting"],
        within: &[
            "crates/ftlab/src/device/write/map.rs",
            "crates/ftlab/src/ftl/map_cache/",
            "crates/ftlab/src/ftl/map_pages.rs",
            "crates/ftlab/src/ftl/mapping/dftl/",
            "docs/dftl.md",
        ],
        except: &[],
        unless: &[],
        means: "programming a page again at another cost",
        instead: "update, of a translation page",
    },
    Rule {
        forms: &["flush", "flushes", "flushed", "flushing"],
        within: &[
            "crates/ftlab/src/cache/append.rs",
            "crates/ftlab/src/cache/buffer/write_back.rs",
            "crates/ftlab/src/cache/gating.rs",
            "crates/ftlab/src/cache/mod.rs",
            "crates/ftlab/src/config/check/firmware.rs",
            "crates/ftlab/src/host/processor.rs",
            "docs/firmware.md",
        ],
        except: &[],
        unless: &["host flush", "host's flush", "flush of the host"],
        means: "a command of the host",
        instead: "write-back",
    },
    Rule {
        forms: &["drain", "drains", "drained", "draining"],
        within: &["crates/ftlab/src/cache/", "crates/ftlab/src/device/write/"],
        except: &[],
        unless: &[".drain("],
        means: "emptying the whole buffer, at rest or at the end of life",
        instead: "force, of a page that goes to flash whatever the policy says",
    },
    Rule {
        forms: &["flushing"],
        within: &["crates/ftlab/src/cache/", "crates/ftlab/src/device/"],
        except: &[],
        unless: &[],
        means: "what a host that sends a flush does",
        instead: "writing back",
    },
    Rule {
        forms: &[
            "so manieth",
            "though there be",
            "if there be",
            "whereof",
            "thereof",
            "hitherto",
            "albeit",
        ],
        within: &["crates/", "docs/", "xtask/src/reference/", "ARCHITECTURE.md", "README.md"],
        except: &["docs/reference/"],
        unless: &[],
        means: "something of another century",
        instead: "plain words: the n-th, even if there is, of which, of it, so far",
    },
];

/// More types than these may not have one name.
const MOST_OF_A_NAME: usize = 2;
/// Names that may be had by more, and why.
const COMMON: [(&str, &str); 3] = [
    ("Fifo", "policies of several seams, each named as users name it"),
    (
        "Options",
        "the options of a crate or a policy, always with the module's name or imported as one",
    ),
    ("Parser", "private to the files of three parsers"),
];

/// Every word that stands for something else, and every name of too many types.
pub fn check(files: &[File]) -> Vec<String> {
    let mut problems: Vec<String> = files.iter().flat_map(in_file).collect();
    let mut types: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in files.iter().filter(|file| has_types(&file.path)) {
        for (at, line) in file.text.lines().enumerate() {
            if let Some(name) = declared(line) {
                let place = format!("{}:{}", file.path, at + 1);
                types.entry(name.to_owned()).or_default().push(place);
            }
        }
    }
    for (name, places) in types {
        if places.len() > MOST_OF_A_NAME && !COMMON.iter().any(|(common, _)| *common == name) {
            problems.push(format!(
                "{}: {} types are named {name}: say in the name what each is",
                places.join(", "),
                places.len()
            ));
        }
    }
    problems
}

fn in_file(file: &File) -> Vec<String> {
    let begins = |paths: &[&str]| paths.iter().any(|path| file.path.starts_with(path));
    let rules: Vec<&Rule> =
        RULES.iter().filter(|rule| begins(rule.within) && !begins(rule.except)).collect();
    let mut problems = Vec::new();
    if rules.is_empty() {
        return problems;
    }
    for (at, line) in file.text.lines().enumerate() {
        let words = words(line);
        for rule in &rules {
            let right = rule.unless.iter().any(|right| line.contains(right));
            let found = rule.forms.iter().find(|form| words.contains(&format!(" {form} ")));
            if let Some(form) = found.filter(|_| !right) {
                let Rule { means, instead, .. } = rule;
                let place = format!("{}:{}", file.path, at + 1);
                problems.push(format!("{place}: \"{form}\" is {means}: say {instead}"));
            }
        }
    }
    problems
}

/// The words of a line in small letters, each between blanks. Identifiers are taken apart.
fn words(line: &str) -> String {
    let mut words = " ".to_owned();
    let mut before = ' ';
    for c in line.chars() {
        let ends = !c.is_alphanumeric() || c.is_uppercase() && before.is_lowercase();
        if ends && !words.ends_with(' ') {
            words.push(' ');
        }
        if c.is_alphanumeric() {
            words.extend(c.to_lowercase());
        }
        before = c;
    }
    if !words.ends_with(' ') {
        words.push(' ');
    }
    words
}

/// Code of the project, its tests left out: they have small types of their own.
fn has_types(path: &str) -> bool {
    let is_code =
        path.starts_with("crates/") && path.contains("/src/") || path.starts_with("xtask/");
    is_code && path.ends_with(".rs") && !path.contains("/tests")
}

/// The type that a line declares, if it is one of a module: not within a function, a test, or a trait.
fn declared(line: &str) -> Option<&str> {
    let line = match line.strip_prefix("pub") {
        Some(public) if public.starts_with('(') => public.split_once(") ")?.1,
        Some(public) => public.strip_prefix(' ')?,
        None => line,
    };
    let kinds = ["struct ", "enum ", "trait ", "type ", "union "];
    let rest = kinds.iter().find_map(|kind| line.strip_prefix(kind))?;
    rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let file = |&(path, text): &(&str, &str)| File { path: path.into(), text: text.into() };
        check(&files.iter().map(file).collect::<Vec<_>>())
    }

    #[test]
    fn words_are_seen_in_identifiers_and_texts() {
        assert_eq!(
            words("fn merge_reads(OfMerge2, \"a so-manieth\")"),
            " fn merge reads of merge2 a so manieth "
        );
        assert_eq!(words("//! Merged."), " merged ");
    }

    #[test]
    fn each_rule_finds_its_word_and_names_another() {
        for (path, text, instead) in [
            ("crates/ftlab/src/cache/a.rs", "fn merge_if_partial() {}", "read-modify-write"),
            ("crates/ftlab/src/ftl/map_cache/a.rs", "struct RewriteDue;", "update"),
            ("crates/ftlab/src/host/processor.rs", "// A flush keeps it busy.", "write-back"),
            ("crates/ftlab/src/cache/a.rs", "fn next_drained() {}", "force"),
            ("crates/ftlab/src/device/a.rs", "page.flushing", "writing back"),
            ("docs/a.md", "The so-manieth of them.", "the n-th"),
        ] {
            let problems = found(&[(path, text)]);
            assert_eq!(problems.len(), 1, "{path}: {text}: {problems:?}");
            assert!(problems[0].contains(instead), "{}", problems[0]);
        }
    }

    #[test]
    fn words_that_are_right_pass() {
        for (path, text) in [
            ("crates/ftlab/src/ftl/merge/a.rs", "fn merge() {}"),
            ("crates/ftlab/src/cache/bplru.rs", "// a full merge"),
            ("crates/ftlab/src/ftl/cost/a.rs", "struct Rewriter;"),
            ("crates/ftlab/src/cache/append.rs", "// what a host flush waits for"),
            ("crates/ftlab/src/cache/a.rs", "let all = list.drain(..);"),
            ("crates/ftlab/src/cache/a.rs", "struct Emergency;"),
        ] {
            assert_eq!(found(&[(path, text)]), Vec::<String>::new(), "{path}: {text}");
        }
    }

    #[test]
    fn a_name_is_for_two_types_at_the_most() {
        let texts = ["struct Place;", "pub(crate) enum Place<T> {", "pub type Place = u8;"];
        let paths = ["crates/a/src/a.rs", "crates/b/src/b.rs", "xtask/src/c.rs"];
        let of = |texts: [&'static str; 3]| found(&[0, 1, 2].map(|at| (paths[at], texts[at])));
        let problems = of(texts);
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(
            problems[0]
                .starts_with("crates/a/src/a.rs:1, crates/b/src/b.rs:1, xtask/src/c.rs:1: 3")
        );
        assert_eq!(of(["struct Place;", "struct Place;", "    struct Place;"]), [""; 0]);
        assert_eq!(of(["pub struct Fifo;"; 3]), [""; 0]);
    }
}
