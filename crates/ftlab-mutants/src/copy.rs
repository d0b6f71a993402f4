//! The copy of the project that gets the faults, and its build.
//!
//! The copy is in `target/mutants` and is built into the project's own `target`, so third-party
//! crates are not rebuilt. All faults are planted at once. If one does not compile, the compiler's
//! error gives the bytes, and the next fault drawn takes its place.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::draw::{DrawnFault, SourceFile};
use crate::places;

/// The crates that get faults; the others have tests of their own.
pub const CRATES: [&str; 2] = ["ftlab", "ftlab-workload"];
/// Code that only watches or tests other code: its faults say nothing about the simulator.
const LEFT_OUT: [&str; 5] =
    ["/src/verify/", "/src/device/verify.rs", "/audit.rs", "/fuzz.rs", "/presets.rs"];

/// Returns the project's files according to git, relative to its root.
///
/// # Errors
/// git can't be run, or `root` is not a checkout.
pub fn files(root: &Path) -> io::Result<Vec<String>> {
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()?;
    if !listed.status.success() {
        return Err(io::Error::other(String::from_utf8_lossy(&listed.stderr).into_owned()));
    }
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let there = |path: &&str| !path.is_empty() && root.join(path).is_file();
    Ok(listed.split('\0').filter(there).map(str::to_owned).collect())
}

/// Returns the sources that may get faults.
///
/// # Errors
/// A file can't be read or is not Rust.
pub fn sources(root: &Path, files: &[String]) -> io::Result<Vec<SourceFile>> {
    let folders = CRATES.map(|name| format!("crates/{name}/src/"));
    let mut sources = Vec::new();
    let mut left_out = Vec::new();
    for path in files.iter().filter(|path| folders.iter().any(|folder| path.starts_with(folder))) {
        if !path.ends_with(".rs") || LEFT_OUT.iter().any(|part| path.contains(part)) {
            continue;
        }
        let text = fs::read_to_string(root.join(path))?;
        let found = places::find(&text)
            .map_err(|error| io::Error::other(format!("{path} is not read: {error}")))?;
        left_out.extend(found.left_out.iter().map(|module| below(path, module)));
        sources.push(SourceFile { path: path.clone(), text, places: found.places });
    }
    let kept = |path: &str| {
        left_out.iter().all(|module| {
            path.strip_prefix(module.as_str())
                .is_none_or(|rest| rest != ".rs" && !rest.starts_with('/'))
        })
    };
    sources.retain(|source| kept(&source.path));
    Ok(sources)
}

/// Returns the path of a module's file or folder, without `.rs`.
fn below(path: &str, module: &str) -> String {
    let stem = path.trim_end_matches(".rs");
    let folder = ["/mod", "/lib"].iter().find_map(|name| stem.strip_suffix(name)).unwrap_or(stem);
    format!("{folder}/{module}")
}

/// A fault with its position in the draw.
pub type Numbered = (usize, DrawnFault);

/// A copy of the project.
pub struct Copy<'p> {
    root: &'p Path,
    work: PathBuf,
    files: &'p [String],
    sources: &'p [SourceFile],
}

#[derive(Clone, Debug)]
pub struct Binary {
    pub path: PathBuf,
    /// The crate's folder, in which the binary must run.
    pub folder: PathBuf,
}

/// The bytes of a fault in a mutated file.
struct Planted {
    path: String,
    bytes: Range<usize>,
    fault: usize,
}

impl<'p> Copy<'p> {
    pub fn new(root: &'p Path, files: &'p [String], sources: &'p [SourceFile]) -> Copy<'p> {
        Copy { root, work: root.join("target/mutants/work"), files, sources }
    }

    /// Plants the first `count` faults of the draw that compile, and builds all tests.
    ///
    /// # Errors
    /// The project does not compile, and no fault is to blame.
    pub fn build(
        &self,
        drawn: &[DrawnFault],
        count: usize,
    ) -> io::Result<(Vec<Numbered>, Vec<Binary>)> {
        self.bring_up_to_date()?;
        let mut refused = BTreeSet::new();
        loop {
            let kept = |(number, _): &Numbered| !refused.contains(number);
            let numbered = drawn.iter().copied().enumerate().filter(kept).take(count);
            let numbered: Vec<Numbered> = numbered.collect();
            let planted = self.plant(&numbered)?;
            let errors = match self.compile()? {
                Ok(binaries) => return Ok((numbered, binaries)),
                Err(errors) => errors,
            };
            let more: BTreeSet<usize> = planted
                .iter()
                .filter(|planted| errors.iter().any(|error| error.within(planted)))
                .map(|planted| planted.fault)
                .collect();
            if more.is_empty() {
                return Err(io::Error::other("the project does not compile, faults aside"));
            }
            eprintln!(
                "{} faults do not compile; the next ones drawn take their places",
                more.len()
            );
            refused.extend(more);
        }
    }

    /// Copies only changed files, so that cargo rebuilds only those.
    fn bring_up_to_date(&self) -> io::Result<()> {
        let sources: BTreeSet<&str> =
            self.sources.iter().map(|source| source.path.as_str()).collect();
        for path in self.files.iter().filter(|path| !sources.contains(path.as_str())) {
            write_changed(&self.work.join(path), &fs::read(self.root.join(path))?)?;
        }
        let known: BTreeSet<PathBuf> = self.files.iter().map(|path| self.work.join(path)).collect();
        remove_others(&self.work, &known)
    }

    fn plant(&self, faults: &[Numbered]) -> io::Result<Vec<Planted>> {
        let mut planted = Vec::new();
        for (at, source) in self.sources.iter().enumerate() {
            let mut here: Vec<&Numbered> =
                faults.iter().filter(|(_, drawn)| drawn.source == at).collect();
            here.sort_by_key(|(_, drawn)| source.places[drawn.place].bytes.start);
            let (mut text, mut copied) = (String::new(), 0);
            for &&(fault, drawn) in &here {
                let place = &source.places[drawn.place];
                text.push_str(&source.text[copied..place.bytes.start]);
                let start = text.len();
                text.push_str(&place.with_fault(&source.text, fault));
                copied = place.bytes.end;
                let bytes = start..text.len();
                planted.push(Planted { path: source.path.clone(), bytes, fault });
            }
            text.push_str(&source.text[copied..]);
            if CRATES.iter().any(|name| source.path == format!("crates/{name}/src/lib.rs")) {
                text.push_str("\npub mod planted;\n");
            }
            write_changed(&self.work.join(&source.path), text.as_bytes())?;
        }
        let count = faults.iter().map(|(fault, _)| fault + 1).max().unwrap_or_default();
        let switch = include_str!("planted.rs")
            .replace("const FAULTS: usize = 0;", &format!("const FAULTS: usize = {count};"));
        for name in CRATES {
            let path = self.work.join(format!("crates/{name}/src/planted.rs"));
            write_changed(&path, switch.as_bytes())?;
        }
        Ok(planted)
    }

    /// Builds the tests. Returns their binaries, or where the errors are.
    fn compile(&self) -> io::Result<Result<Vec<Binary>, Vec<Wrong>>> {
        let mut cargo = Command::new("cargo");
        cargo.args(["test", "--no-run", "--locked", "--message-format=json"]);
        for name in CRATES {
            cargo.args(["-p", name]);
        }
        cargo.arg("--target-dir").arg(self.root.join("target"));
        let output = cargo.current_dir(&self.work).stderr(Stdio::inherit()).output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let messages: Vec<Value> =
            text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        if output.status.success() {
            return Ok(Ok(messages.iter().filter_map(binary).collect()));
        }
        let errors: Vec<&Value> =
            messages.iter().filter(|message| message["message"]["level"] == "error").collect();
        let wrong: Vec<Wrong> = errors.iter().flat_map(|error| Wrong::all(error)).collect();
        if wrong.is_empty() {
            eprintln!("{text}");
        }
        Ok(Err(wrong))
    }
}

fn write_changed(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::read(path).is_ok_and(|there| there == bytes) {
        return Ok(());
    }
    fs::create_dir_all(path.parent().expect("a file stands in a folder"))?;
    fs::write(path, bytes)
}

/// Removes files that the project no longer has.
fn remove_others(folder: &Path, known: &BTreeSet<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            remove_others(&path, known)?;
        } else if !known.contains(&path)
            && path.file_name().is_some_and(|name| name != "planted.rs")
        {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// The swarm test takes long and says little about any one place.
const NOT_ASKED: &str = "swarm";

/// Returns the test binary named in one of cargo's messages.
fn binary(message: &Value) -> Option<Binary> {
    if message["reason"] != "compiler-artifact" || message["profile"]["test"] != true {
        return None;
    }
    if message["target"]["name"] == NOT_ASKED {
        return None;
    }
    let path = PathBuf::from(message["executable"].as_str()?);
    let manifest = Path::new(message["manifest_path"].as_str()?);
    Some(Binary { path, folder: manifest.parent()?.to_path_buf() })
}

/// The bytes that a compiler error points at.
struct Wrong {
    path: String,
    bytes: Range<usize>,
}

impl Wrong {
    fn all(message: &Value) -> Vec<Wrong> {
        let spans = message["message"]["spans"].as_array().cloned().unwrap_or_default();
        let number = |value: &Value| value.as_u64().map(|number| number as usize);
        let wrong = |span: &Value| {
            let path = span["file_name"].as_str()?.replace('\\', "/");
            let bytes = number(&span["byte_start"])?..number(&span["byte_end"])?;
            Some(Wrong { path, bytes })
        };
        spans.iter().filter_map(wrong).collect()
    }

    fn within(&self, planted: &Planted) -> bool {
        self.path == planted.path
            && self.bytes.start < planted.bytes.end
            && planted.bytes.start < self.bytes.end
    }
}
