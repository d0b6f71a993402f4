//! Finds experiments: built into the program, or in a folder that the user names.

use std::path::{Path, PathBuf};

use ftlab::options::text::nearest;
use include_dir::{Dir, include_dir};
use tempfile::TempDir;

use super::declaration::Declaration;
use super::parse::parse;
use crate::failure::Failure;
use crate::text_file;

/// The folders of `experiments/`, one for each paper.
static BUILT_IN: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/experiments");
/// The file that marks a folder as an experiment.
pub const DECLARATION: &str = "experiment.toml";
/// The file that describes it.
const README: &str = "README.md";

/// An experiment and its files.
pub struct FoundExperiment {
    /// The folder of its files.
    pub folder: PathBuf,
    /// The temporary folder of a built-in experiment, while its files are needed.
    pub unpacked: Option<TempDir>,
    /// Its declaration.
    pub declaration: Declaration,
    /// The name of its declaration in messages.
    pub label: String,
    /// The text of the declaration.
    pub text: String,
    /// The text of its README; empty if it has none.
    pub readme: String,
}

/// Returns the names of the built-in experiments.
pub fn names() -> Vec<String> {
    let folders = BUILT_IN.dirs().filter(|folder| folder.get_file(in_folder(folder)).is_some());
    let name = |folder: &Dir<'_>| folder.path().to_string_lossy().into_owned();
    let mut names: Vec<String> = folders.map(name).collect();
    names.sort();
    names
}

fn in_folder(folder: &Dir<'_>) -> PathBuf {
    folder.path().join(DECLARATION)
}

/// Finds the experiment of a command-line argument. Built-in names take precedence over folders.
///
/// # Errors
/// There is no such experiment, or its declaration is wrong.
pub fn find(argument: &str) -> Result<FoundExperiment, Failure> {
    // A name with a slash is a folder, even if a built-in experiment has that name.
    let is_it = |folder: &&Dir<'_>| folder.path().as_os_str() == argument;
    let built_in = BUILT_IN.get_dir(argument).filter(is_it);
    match built_in.filter(|folder| folder.get_file(in_folder(folder)).is_some()) {
        Some(folder) => {
            let unpacked = unpack(folder)?;
            let label = format!("experiments/{argument}/{DECLARATION}");
            let path = unpacked.path().to_owned();
            read(path, label, Some(unpacked))
        }
        None => {
            let path = Path::new(argument);
            // The path of the declaration stands for its folder.
            let path = match path.file_name().is_some_and(|name| name == DECLARATION) {
                true => path.parent().unwrap_or(Path::new("")),
                false => path,
            };
            if !path.join(DECLARATION).is_file() {
                return Err(nothing(argument));
            }
            let label = path.join(DECLARATION).display().to_string();
            read(path.to_owned(), label, None)
        }
    }
}

fn read(
    folder: PathBuf,
    label: String,
    unpacked: Option<TempDir>,
) -> Result<FoundExperiment, Failure> {
    let path = folder.join(DECLARATION);
    let text = text_file::read(&path)
        .map_err(|error| Failure::file("can't read the experiment", &path, &error))?;
    let declaration = parse(&label, &text).map_err(|problems| {
        Failure::Config(text_file::told(text_file::with_bare_keys(problems)))
    })?;
    let readme = folder.join(README);
    let readme = match readme.exists() {
        true => text_file::read(&readme)
            .map_err(|error| Failure::file("can't read", &readme, &error))?,
        false => String::new(),
    };
    Ok(FoundExperiment { folder, unpacked, declaration, label, text, readme })
}

/// Writes the files of a built-in experiment to a temporary folder, so that loads and devices can be read.
fn unpack(folder: &Dir<'_>) -> Result<TempDir, Failure> {
    let place = tempfile::tempdir().map_err(|error| {
        Failure::file("can't unpack the experiment into", &std::env::temp_dir(), &error)
    })?;
    for file in all_files(folder) {
        let within = file.path().strip_prefix(folder.path()).unwrap_or(file.path());
        let to = place.path().join(within);
        let parent = to.parent().map_or(Ok(()), std::fs::create_dir_all);
        parent
            .and_then(|()| std::fs::write(&to, file.contents()))
            .map_err(|error| Failure::file("can't unpack the experiment into", &to, &error))?;
    }
    Ok(place)
}

fn all_files<'a>(folder: &'a Dir<'a>) -> Vec<&'a include_dir::File<'a>> {
    folder.files().chain(folder.dirs().flat_map(all_files)).collect()
}

fn nothing(argument: &str) -> Failure {
    let path = Path::new(argument);
    if path.is_dir() {
        return Failure::usage(format!(
            "there is no {DECLARATION} in {argument}\n  remedy: name the folder of an experiment, or create \
             one (see docs/reproduce.md)"
        ));
    }
    if path.is_file() {
        return Failure::usage(format!(
            "{argument} is a file\n  remedy: name the folder in which it is {DECLARATION}"
        ));
    }
    let names = names();
    let near = nearest(argument, names.iter().map(String::as_str))
        .map_or(String::new(), |near| format!("did you mean {near}? "));
    Failure::usage(format!(
        "there is no experiment {argument}, neither built-in nor a folder\n  remedy: {near}built in: {}",
        names.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::cases::{needed, ready};

    #[test]
    fn built_in_experiments_are_named_like_their_folders_and_can_be_read() {
        let names = names();
        assert!(names.contains(&"rw-scheduler".to_owned()), "{names:?}");
        for name in names {
            let found = find(&name).unwrap_or_else(|failure| panic!("{name}: {failure:?}"));
            assert_eq!(found.declaration.name, name);
            assert!(!found.readme.is_empty(), "{name} has a README");
            // The devices, loads and options of all cases are valid, including those that only figures need.
            let places = needed(&found.declaration, true);
            ready(&found, places, None).unwrap_or_else(|failure| panic!("{name}: {failure:?}"));
        }
    }
}
