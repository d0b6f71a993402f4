//! Chores that need the project's crates: generating the reference and checking that the project is
//! tidy.
//!
//! `cargo run -p xtask -- docs` writes the reference; `-- check` reports stale pages and whatever
//! is untidy, and exits with 1 if there is any.

mod files;
mod layers;
mod reference;
mod tidy;
mod words;

use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "usage: cargo run -p xtask -- docs | check";
const REMEDY: &str = "run: cargo run -p xtask -- docs";

fn main() -> ExitCode {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let problems = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["docs"] => write(root),
        ["check"] => check(root),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match problems {
        Ok(problems) if problems.is_empty() => ExitCode::SUCCESS,
        Ok(problems) => {
            problems.iter().for_each(|problem| eprintln!("{problem}"));
            eprintln!("{} found", count(problems.len()));
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn count(problems: usize) -> String {
    format!("{problems} problem{}", if problems == 1 { "" } else { "s" })
}

fn write(root: &Path) -> Result<Vec<String>, String> {
    for page in reference::pages(&files::all(root)?) {
        files::write(root, &page.path, &page.text)?;
        println!("wrote {}", page.path);
    }
    Ok(Vec::new())
}

fn check(root: &Path) -> Result<Vec<String>, String> {
    let files = files::all(root)?;
    let mut problems = tidy::check(&files);
    problems.extend(words::check(&files));
    problems.extend(layers::check(&files));
    for page in reference::pages(&files) {
        match files.iter().find(|file| file.path == page.path) {
            Some(file) if file.text == page.text => {}
            Some(_) => problems.push(format!("{}: stale; {REMEDY}", page.path)),
            None => problems.push(format!("{}: missing; {REMEDY}", page.path)),
        }
    }
    Ok(problems)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the check in the ordinary test suite.
    #[test]
    fn everything_is_tidy_and_the_reference_is_fresh() {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        assert_eq!(check(root), Ok(Vec::new()));
    }
}
