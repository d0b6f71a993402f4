//! A folder that appears only when it is complete.
//!
//! Everything is written into a temporary folder beside the target, synced to disk, and renamed at
//! the end. A failed run leaves nothing. An interrupted run leaves a folder whose name ends in
//! `.partial`, which the next run with that name replaces.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::failure::Failure;

/// The file that marks a folder as a result.
pub const MARK: &str = "result.json";
/// The file that marks a folder as a comparison.
pub const COMPARISON: &str = "compare.json";
/// The file that marks a folder as an interrupted comparison with finished runs.
pub const VARIANTS: &str = "variants.json";
/// The file that marks a folder as a sweep.
pub const SWEEP: &str = "sweep.json";
/// The table of a sweep as Parquet.
pub const SWEEP_PARQUET: &str = "sweep.parquet";
/// The table of a sweep as CSV.
pub const SWEEP_CSV: &str = "sweep.csv";
/// The HTML page of a comparison, a reproduction or a sweep.
pub const PAGE: &str = "report.html";
/// The file of the results of fio jobs.
pub const FIO: &str = "fio.json";
/// The file of everything that differs from run to run.
pub const RUN: &str = "run.json";
/// The file with a time line of some moments, for Perfetto.
pub const MOMENTS: &str = "timeline.pftrace";
/// The file of time series.
pub const TIMELINE: &str = "timeline.parquet";
/// The file of all requests.
pub const REQUESTS: &str = "requests.parquet";
/// The file of the distribution of latencies.
pub const LATENCIES: &str = "latencies.parquet";
/// The file of the counts of blocks.
pub const BLOCKS: &str = "blocks.parquet";
/// The file of the time series of queues.
pub const QUEUES: &str = "queues.parquet";
/// The suffix of an interrupted run's name.
pub const PARTIAL: &str = ".partial";
/// The prefix of an unfinished result's name, followed by the process id.
const UNFINISHED: &str = ".ftlab-unfinished-";
/// Where Linux shows its processes.
const PROCESSES: &str = "/proc";

/// Where the result goes.
#[derive(Clone, Debug)]
pub enum ResultTarget {
    /// Into this folder.
    Named(PathBuf),
    /// Into the first of these that is free: `PARENT/STEM-1`, `PARENT/STEM-2`, ...
    Counted {
        /// The folder of the results.
        parent: PathBuf,
        /// The prefix of their names.
        stem: String,
    },
}

/// A result being written.
#[derive(Debug)]
pub struct Folder {
    unfinished: TempDir,
    target: ResultTarget,
    // After `unfinished`, because fields are dropped in this order.
    made: MadeFolders,
}

/// Folders that were created for a result, outermost first. Empty ones are removed when this is dropped.
#[derive(Debug)]
struct MadeFolders(Vec<PathBuf>);

impl MadeFolders {
    /// Creates a folder and its missing parents.
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
        // A folder that is not empty stays.
        self.0.iter().rev().for_each(|folder| drop(fs::remove_dir(folder)));
    }
}

impl Folder {
    /// Checks that the result can be written, and creates the temporary folder.
    pub fn prepare(target: ResultTarget, force: bool) -> Result<Folder, Failure> {
        let parent = match &target {
            ResultTarget::Counted { parent, .. } => parent.clone(),
            ResultTarget::Named(path) => {
                if path.file_name().is_none() {
                    return Err(Failure::usage(format!(
                        "{} can't be replaced by a result\n  remedy: name a new \
                         folder",
                        path.display()
                    )));
                }
                refuse_to_overwrite(path, force)?;
                path.parent().unwrap_or(Path::new("")).to_owned()
            }
        };
        // An empty path means the current folder, but not to the operating system.
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

    /// Returns the temporary folder.
    pub fn path(&self) -> &Path {
        self.unfinished.path()
    }

    /// Returns unfinished results beside this one whose processes are gone, as far as the system
    /// can tell. They are not removed: in a folder shared between machines, they may belong to a
    /// running process elsewhere.
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

    /// Returns the folders where interrupted and killed commands with the same target may have left
    /// finished runs.
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

    /// Returns the named result that this one replaces, if there is one.
    pub fn replaced(&self) -> Option<&Path> {
        match &self.target {
            ResultTarget::Named(path) => Some(path.as_path()).filter(|path| path.is_dir()),
            ResultTarget::Counted { .. } => None,
        }
    }

    /// Removes a folder and its content.
    pub fn remove_folder(&self, name: &str) -> Result<(), Failure> {
        let path = self.unfinished.path().join(name);
        match fs::remove_dir_all(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(Failure::file("can't write", &path, &error))
            }
            _ => Ok(()),
        }
    }

    /// Creates a folder within this one.
    pub fn create_folder(&self, name: &str) -> Result<(), Failure> {
        let path = self.unfinished.path().join(name);
        fs::create_dir_all(&path).map_err(|error| Failure::file("can't write", &path, &error))
    }

    /// Creates a file.
    pub fn create(&self, name: &str) -> Result<File, Failure> {
        let path = self.unfinished.path().join(name);
        File::create(&path).map_err(|error| Failure::file("can't write", &path, &error))
    }

    /// Writes a whole file and syncs it.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<(), Failure> {
        let mut file = self.create(name)?;
        let written = file.write_all(content).and_then(|()| file.sync_all());
        written.map_err(|error| {
            Failure::file("can't write", &self.unfinished.path().join(name), &error)
        })
    }

    /// Renames the folder to its final name.
    ///
    /// # Errors
    /// It cannot be renamed.
    pub fn publish(self, complete: bool) -> Result<Published, Failure> {
        let ending = if complete { "" } else { PARTIAL };
        let Folder { unfinished, target, made } = self;
        let failed = |path: &Path, error: &io::Error| Failure::file("can't write", path, error);
        sync(unfinished.path()).map_err(|error| failed(unfinished.path(), &error))?;
        let mut kept_aside = None;
        let path = match target {
            ResultTarget::Named(path) => {
                let path = with_ending(&path, ending);
                kept_aside =
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
                        // Another run took this name.
                        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
                        Err(error) => return Err(failed(&path, &error)),
                    }
                }
            }
        };
        // The folder is renamed, so nothing is left to clean up.
        let _ = unfinished.keep();
        drop(made);
        if let Some(parent) = path.parent() {
            // The result exists; an error while syncing its name to disk can be ignored.
            let _ = sync(if parent.as_os_str().is_empty() { Path::new(".") } else { parent });
        }
        Ok(Published { path, kept_aside })
    }
}

/// A result that has its final name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// Where it is.
    pub path: PathBuf,
    /// Where the replaced folder is now, because it contains files that ftlab did not write.
    pub kept_aside: Option<PathBuf>,
}

/// A kind of file that ftlab writes.
pub struct FileKind {
    /// The name of the kind, such as "page of ftlab".
    pub name: &'static str,
    /// The option that names another file.
    pub option: &'static str,
    /// Whether a file with this beginning is of this kind.
    pub is_one: fn(&[u8]) -> bool,
}

/// How many bytes are read to recognise the kind of a file.
const MOST_LOOKED_AT: u64 = 1 << 20;

/// Refuses a file in a folder that does not exist.
pub fn refuse_without_folder(path: &Path) -> Result<(), Failure> {
    let folder = folder_of(path);
    let missing = fs::metadata(folder).is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
    if !missing {
        return Ok(());
    }
    let (shown, folder) = (path.display(), folder.display());
    Err(Failure::File(format!(
        "can't write {shown}: there is no folder {folder}\n  remedy: make it (mkdir -p {folder}), or name a file in another \
         folder"
    )))
}

/// Returns the folder of a file.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Refuses to overwrite a file: without `force`, and always if it is of another kind.
pub fn refuse_file(path: &Path, kind: &FileKind, force: bool) -> Result<(), Failure> {
    refuse_without_folder(path)?;
    let shown = path.display();
    let there = fs::metadata(path);
    if there.as_ref().is_ok_and(|there| !there.is_file()) {
        return Err(Failure::usage(format!(
            "{shown} is not a regular file and is not replaced by one\n  remedy: name another file"
        )));
    }
    // Renaming would replace the link, and leave what it points to.
    if path.is_symlink() {
        return Err(Failure::usage(format!(
            "{shown} is a link, which is neither followed nor replaced\n  remedy: name the file itself"
        )));
    }
    if there.is_err() {
        return Ok(());
    }
    let mut begin = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MOST_LOOKED_AT).read_to_end(&mut begin));
    read.map_err(|error| Failure::file("can't read", path, &error))?;
    if !begin.is_empty() && !(kind.is_one)(&begin) {
        return Err(Failure::usage(format!(
            "{shown} exists and is no {}: it is not replaced\n  remedy: choose another file with `{}`",
            kind.name, kind.option
        )));
    }
    match force {
        true => Ok(()),
        false => Err(Failure::usage(format!(
            "{shown} already exists\n  remedy: `force` replaces it, or choose another file with `{}`",
            kind.option
        ))),
    }
}

/// Writes a single file, which appears only when it is complete. An existing file is replaced only
/// with `force`, and only if it is of the same kind.
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

/// Checks that a file can be written, before the work whose result it is to hold.
pub fn check_file(path: &Path, kind: &FileKind, force: bool) -> Result<(), Failure> {
    refuse_file(path, kind, force)?;
    unfinished_file(path).map(drop)
}

/// Creates a temporary file beside the target; it is renamed when it is complete.
fn unfinished_file(path: &Path) -> Result<tempfile::NamedTempFile, Failure> {
    // Only the kind of the error is reported, because its text names the temporary file.
    let failed =
        |error: io::Error| Failure::file("can't write", path, &io::Error::from(error.kind()));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".ftlab-unfinished-file-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder_of(path)).map_err(failed)
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

/// Refuses to overwrite a result without `force`, and anything else always.
fn refuse_to_overwrite(path: &Path, force: bool) -> Result<(), Failure> {
    let shown = path.display();
    if path.is_symlink() {
        return Err(Failure::usage(format!(
            "{shown} is a link, which is neither followed nor replaced\n  remedy: name the folder itself (`output`)"
        )));
    }
    if !path.exists() || is_empty(path) {
        return Ok(());
    }
    if ![MARK, COMPARISON, SWEEP].iter().any(|mark| path.join(mark).is_file()) {
        return Err(Failure::usage(format!(
            "{shown} exists and is not a result\n  remedy: choose another folder (`output`)"
        )));
    }
    if let Some(foreign) = foreign(path) {
        return Err(Failure::usage(format!(
            "{shown} contains a result, but also {}, which ftlab did not write: it is not replaced\n  remedy: \
             choose another folder (`output`), or move that away first",
            foreign.display()
        )));
    }
    if force {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "{shown} already contains a result\n  remedy: `force` replaces it, or choose another folder (`output`)"
    )))
}

/// All files of results, comparisons and sweeps.
pub const OWN_FILES: [&str; 16] = [
    MARK,
    COMPARISON,
    VARIANTS,
    FIO,
    "config.toml",
    RUN,
    PAGE,
    SWEEP,
    SWEEP_PARQUET,
    SWEEP_CSV,
    TIMELINE,
    MOMENTS,
    REQUESTS,
    LATENCIES,
    BLOCKS,
    QUEUES,
];

/// Returns something within the folder of a result or a comparison that ftlab did not write.
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

/// Renames `from` to `to`. An existing `to` is moved aside first and removed afterwards; if it contains files that
/// ftlab did not write, returns where it is now.
fn replace(from: &Path, to: &Path) -> io::Result<Option<PathBuf>> {
    if !to.exists() || is_empty(to) {
        return fs::rename(from, to).map(|()| None);
    }
    let parent = from.parent().unwrap_or(Path::new("."));
    let aside = tempfile::Builder::new().prefix(".ftlab-replaced-").tempdir_in(parent)?;
    let old = aside.path().join("old");
    fs::rename(to, &old)?;
    fs::rename(from, to).or_else(|error| {
        fs::rename(&old, to)?;
        Err(error)
    })?;
    // Files that were added while the result was made, or to a partial result, are kept.
    Ok(foreign(&old).is_some().then(|| aside.keep().join("old")))
}
