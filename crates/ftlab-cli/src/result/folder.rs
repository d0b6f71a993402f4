//! A folder that appears when it is whole, and not before.
//!
//! Everything is written into a temporary folder beside the target, brought to disk, and renamed at
//! the end. A run that fails leaves nothing; one that is interrupted leaves a folder whose name ends
//! in `.partial`, which the next one of that name replaces.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::failure::Failure;

/// The file by which a folder is known to be a result.
pub const MARK: &str = "result.json";
/// The file by which a folder is known to be a comparison.
pub const COMPARISON: &str = "compare.json";
/// The file by which a folder is known to hold the finished runs of an interrupted comparison.
pub const VARIANTS: &str = "variants.json";
/// The file of what fio's jobs came to.
pub const FIO: &str = "fio.json";
/// The file of what differs from run to run.
pub const RUN: &str = "run.json";
/// What is added to the name of an interrupted run.
pub const PARTIAL: &str = ".partial";
/// What the name of an unfinished result begins with; then comes the number of its process.
const UNFINISHED: &str = ".ftlab-unfinished-";
/// Where the system shows its processes, if it does.
const PROCESSES: &str = "/proc";

/// Where the result is to go.
#[derive(Clone, Debug)]
pub enum ResultTarget {
    /// Into this folder.
    Named(PathBuf),
    /// Into the first of these that is free: `PARENT/STEM-1`, `PARENT/STEM-2`, ...
    Counted {
        /// The folder of the results.
        parent: PathBuf,
        /// What their names begin with.
        stem: String,
    },
}

/// A result being written.
#[derive(Debug)]
pub struct Folder {
    unfinished: TempDir,
    target: ResultTarget,
    // After the folder within them: fields are dropped in their order.
    made: MadeFolders,
}

/// Folders that were made for a result, outermost first. Those that are empty in the end go again.
#[derive(Debug)]
struct MadeFolders(Vec<PathBuf>);

impl MadeFolders {
    /// Makes a folder and those around it, as far as they are not there.
    fn make(folder: &Path) -> io::Result<MadeFolders> {
        let missing = folder.ancestors().take_while(|path| !path.exists());
        let missing: Vec<PathBuf> =
            missing.filter(|path| !path.as_os_str().is_empty()).map(Path::to_owned).collect();
        let made = MadeFolders(missing.into_iter().rev().collect());
        fs::create_dir_all(folder)?;
        Ok(made)
    }
}

impl Drop for MadeFolders {
    fn drop(&mut self) {
        // One that holds something, a result or what somebody else put there, stays.
        self.0.iter().rev().for_each(|folder| drop(fs::remove_dir(folder)));
    }
}

impl Folder {
    /// Checks that the result can be written, and makes room for it.
    pub fn prepare(target: ResultTarget, force: bool) -> Result<Folder, Failure> {
        let parent = match &target {
            ResultTarget::Counted { parent, .. } => parent.clone(),
            ResultTarget::Named(path) => {
                if path.file_name().is_none() {
                    return Err(Failure::usage(format!(
                        "{} can't be replaced by a result\n  remedy: name a folder that is yet \
                         to be made",
                        path.display()
                    )));
                }
                refuse_to_overwrite(path, force)?;
                path.parent().unwrap_or(Path::new("")).to_owned()
            }
        };
        // An empty path is the present folder, but not to the operating system.
        let parent = if parent.as_os_str().is_empty() { PathBuf::from(".") } else { parent };
        let failed = |error| Failure::file("can't write into", &parent, &error);
        let made = MadeFolders::make(&parent).map_err(failed)?;
        let mut builder = tempfile::Builder::new();
        let prefix = format!("{UNFINISHED}{}-", std::process::id());
        builder.prefix(&prefix);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777));
        Ok(Folder { unfinished: builder.tempdir_in(&parent).map_err(failed)?, target, made })
    }

    /// Where it is being written.
    pub fn path(&self) -> &Path {
        self.unfinished.path()
    }

    /// Unfinished results beside this one whose processes are gone, as far as the system tells. They
    /// are not removed: in a folder that several machines share, they may be alive on another.
    pub fn abandoned(&self) -> Vec<PathBuf> {
        let processes = Path::new(PROCESSES);
        let Some(parent) = self.path().parent().filter(|_| processes.join("self").exists()) else {
            return Vec::new();
        };
        let is_abandoned = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str());
            let process = name.and_then(|name| name.strip_prefix(UNFINISHED)?.split_once('-'));
            let process = process.and_then(|(process, _)| process.parse::<u32>().ok());
            process.is_some_and(|process| !processes.join(process.to_string()).exists())
        };
        let entries = fs::read_dir(parent).into_iter().flatten().flatten();
        let mut found: Vec<_> = entries.map(|entry| entry.path()).filter(is_abandoned).collect();
        found.sort();
        found
    }

    /// Where interrupted and killed commands of the same target may have left finished runs.
    pub fn left_over(&self) -> Vec<PathBuf> {
        let mut found = self.abandoned();
        match &self.target {
            ResultTarget::Named(path) => found.push(with_ending(path, PARTIAL)),
            ResultTarget::Counted { parent, stem } => {
                let is_partial = |path: &PathBuf| {
                    let name = path.file_name().and_then(|name| name.to_str());
                    let middle = name.and_then(|name| {
                        name.strip_prefix(stem.as_str())?.strip_prefix('-')?.strip_suffix(PARTIAL)
                    });
                    middle.is_some_and(|number| number.parse::<u64>().is_ok())
                };
                let entries = fs::read_dir(parent).into_iter().flatten().flatten();
                found.extend(entries.map(|entry| entry.path()).filter(is_partial));
            }
        }
        found.sort();
        found
    }

    /// Removes a folder in it, and all that it holds.
    pub fn remove_folder(&self, name: &str) -> Result<(), Failure> {
        let path = self.unfinished.path().join(name);
        match fs::remove_dir_all(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(Failure::file("can't write", &path, &error))
            }
            _ => Ok(()),
        }
    }

    /// Creates a folder in it.
    pub fn create_folder(&self, name: &str) -> Result<(), Failure> {
        let path = self.unfinished.path().join(name);
        fs::create_dir_all(&path).map_err(|error| Failure::file("can't write", &path, &error))
    }

    /// Creates a file in it.
    pub fn create(&self, name: &str) -> Result<File, Failure> {
        let path = self.unfinished.path().join(name);
        File::create(&path).map_err(|error| Failure::file("can't write", &path, &error))
    }

    /// Writes a whole file into it.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<(), Failure> {
        let mut file = self.create(name)?;
        let written = file.write_all(content).and_then(|()| file.sync_all());
        written.map_err(|error| {
            Failure::file("can't write", &self.unfinished.path().join(name), &error)
        })
    }

    /// Gives the folder its name, and returns it.
    pub fn publish(self, complete: bool) -> Result<PathBuf, Failure> {
        let ending = if complete { "" } else { PARTIAL };
        let Folder { unfinished, target, made } = self;
        let failed = |path: &Path, error: &io::Error| Failure::file("can't write", path, error);
        sync(unfinished.path()).map_err(|error| failed(unfinished.path(), &error))?;
        let path = match target {
            ResultTarget::Named(path) => {
                let path = with_ending(&path, ending);
                replace(unfinished.path(), &path).map_err(|error| failed(&path, &error))?;
                path
            }
            ResultTarget::Counted { parent, stem } => {
                let mut names = (1u64..).map(|n| parent.join(format!("{stem}-{n}{ending}")));
                loop {
                    let path = names.next().expect("there is always a larger number");
                    if path.exists() {
                        continue;
                    }
                    match fs::rename(unfinished.path(), &path) {
                        Ok(()) => break path,
                        // Another run was faster.
                        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
                        Err(error) => return Err(failed(&path, &error)),
                    }
                }
            }
        };
        // It has its name: nothing is left to be cleaned up.
        let _ = unfinished.keep();
        drop(made);
        if let Some(parent) = path.parent() {
            // The result stands; that its name is on disk too is as much as can be asked for.
            let _ = sync(if parent.as_os_str().is_empty() { Path::new(".") } else { parent });
        }
        Ok(path)
    }
}

/// A kind of file that ftlab writes.
pub struct FileKind {
    /// In words, such as "page of ftlab".
    pub name: &'static str,
    /// What names another place on the command line.
    pub flag: &'static str,
    /// Whether a file that begins so is one.
    pub is_one: fn(&[u8]) -> bool,
}

/// How much of a file is looked at to tell what it is.
const MOST_LOOKED_AT: u64 = 1 << 20;

/// Refuses to write over a file: unless the user says so, and over what is of another kind in any case.
pub fn refuse_file(path: &Path, kind: &FileKind, force: bool) -> Result<(), Failure> {
    let Ok(there) = fs::metadata(path) else { return Ok(()) };
    let shown = path.display();
    if !there.is_file() {
        return Err(Failure::usage(format!(
            "{shown} is not a regular file and is not replaced by one\n  remedy: name another file"
        )));
    }
    let mut begin = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MOST_LOOKED_AT).read_to_end(&mut begin));
    read.map_err(|error| Failure::file("can't read", path, &error))?;
    if !begin.is_empty() && !(kind.is_one)(&begin) {
        return Err(Failure::usage(format!(
            "{shown} exists and is no {}: it is not replaced\n  remedy: choose another file with {}",
            kind.name, kind.flag
        )));
    }
    match force {
        true => Ok(()),
        false => Err(Failure::usage(format!(
            "{shown} exists already\n  remedy: --force replaces it, or choose another file with {}",
            kind.flag
        ))),
    }
}

/// Writes a single file, which appears when it is whole. One that is there is replaced only where the
/// user says so, and only if it is of the same kind.
pub fn write_file(
    path: &Path,
    content: &[u8],
    kind: &FileKind,
    force: bool,
) -> Result<(), Failure> {
    refuse_file(path, kind, force)?;
    let failed = |error: io::Error| Failure::file("can't write", path, &error);
    let mut file = unfinished_file(path)?;
    file.write_all(content).and_then(|()| file.as_file().sync_all()).map_err(failed)?;
    file.persist(path).map(drop).map_err(|error| failed(error.error))
}

/// Refuses a file for which there is no place, or which is not to be replaced, before the work is done that
/// is to be written there.
pub fn check_file(path: &Path, kind: &FileKind, force: bool) -> Result<(), Failure> {
    refuse_file(path, kind, force)?;
    unfinished_file(path).map(drop)
}

/// A file beside the one to be written, which takes its name when it is whole.
fn unfinished_file(path: &Path) -> Result<tempfile::NamedTempFile, Failure> {
    // Of the error only its kind is told: its text has the name of the unfinished file.
    let failed =
        |error: io::Error| Failure::file("can't write", path, &io::Error::from(error.kind()));
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".ftlab-unfinished-file-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(parent).map_err(failed)
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}

/// A finished result is replaced only where the user says so, and anything else never.
fn refuse_to_overwrite(path: &Path, force: bool) -> Result<(), Failure> {
    let shown = path.display();
    if path.is_symlink() {
        return Err(Failure::usage(format!(
            "{shown} is a link, which is neither followed nor replaced\n  remedy: name the folder itself with -o"
        )));
    }
    if !path.exists() || is_empty(path) {
        return Ok(());
    }
    if ![MARK, COMPARISON].iter().any(|mark| path.join(mark).is_file()) {
        return Err(Failure::usage(format!(
            "{shown} exists and is not a result\n  remedy: choose another folder with -o"
        )));
    }
    if let Some(foreign) = foreign(path) {
        return Err(Failure::usage(format!(
            "{shown} holds a result, and also {}, which ftlab did not write: it is not replaced\n  remedy: \
             choose another folder with -o, or move that away first",
            foreign.display()
        )));
    }
    if force {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "there is a result in {shown} already\n  remedy: --force replaces it, or choose another \
         folder with -o"
    )))
}

/// All files that results and comparisons consist of.
pub const OWN_FILES: [&str; 12] = [
    MARK,
    COMPARISON,
    VARIANTS,
    FIO,
    "config.toml",
    RUN,
    "report.html",
    "timeline.parquet",
    "requests.parquet",
    "latencies.parquet",
    "blocks.parquet",
    "queues.parquet",
];

/// Something within the folder of a result or a comparison that is not of ftlab.
fn foreign(folder: &Path) -> Option<PathBuf> {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).collect();
    entries.sort();
    entries.into_iter().find_map(|path| {
        let is_own = |name: &std::ffi::OsStr| OWN_FILES.iter().any(|own| name == *own);
        match fs::symlink_metadata(&path) {
            // The runs of a comparison, by variant and seed.
            Ok(there) if there.is_dir() => foreign(&path),
            Ok(there) if there.is_file() && path.file_name().is_some_and(is_own) => None,
            _ => Some(path),
        }
    })
}

/// Renames `from` to `to`; what is there is moved aside first and removed afterwards.
fn replace(from: &Path, to: &Path) -> io::Result<()> {
    if !to.exists() || is_empty(to) {
        return fs::rename(from, to);
    }
    let parent = from.parent().unwrap_or(Path::new("."));
    let aside = tempfile::Builder::new().prefix(".ftlab-replaced-").tempdir_in(parent)?;
    let old = aside.path().join("old");
    fs::rename(to, &old)?;
    fs::rename(from, to).or_else(|error| {
        fs::rename(&old, to)?;
        Err(error)
    })?;
    if foreign(&old).is_some() {
        // Put there while the result was made, or into a partial one: it is kept.
        let kept = aside.keep().join("old");
        say!(
            "note: what was replaced holds files that are not of ftlab; it is in {}",
            kept.display()
        );
    }
    Ok(())
}
