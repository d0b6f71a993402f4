//! Reads finished results back from their folders.

use std::fs::File;
use std::path::{Path, PathBuf};

use ftlab_workload::columns::{Columns, STEP, Unread};
use serde_json::Value;

use super::metrics::OPS;
use crate::failure::Failure;
use crate::result::{COMPARISON, MARK};
use crate::text_file;

/// The remedy for files that cannot be used.
const OLD: &str = "run it again with this version of ftlab";

/// The most rows that are read from a file. Latencies have the most, up to about 300,000.
const MOST_ROWS: usize = 1 << 20;

/// A finished result.
pub struct Finished {
    /// Its folder.
    pub folder: PathBuf,
    /// `result.json`.
    pub document: Value,
}

/// Rows of a column file, with the columns in the order requested.
pub type Rows<const N: usize> = Vec<[u64; N]>;

impl Finished {
    /// Reads the result in a folder.
    pub fn read(folder: &Path) -> Result<Finished, Failure> {
        refuse_what_holds_none(folder)?;
        let path = folder.join(MARK);
        let text =
            text_file::read(&path).map_err(|error| Failure::file("can't read", &path, &error))?;
        let document: Value = serde_json::from_str(&text).map_err(|error| {
            let path = path.display();
            Failure::usage(format!("{path} is damaged: {error}\n  remedy: {OLD}"))
        })?;
        if crate::reproduce::is_reproduction(&document) {
            return Err(Failure::usage(format!(
                "{} is a result of ftlab reproduce: it has the numbers of many runs, but not the runs\n  \
                 remedy: name results of ftlab run",
                folder.display()
            )));
        }
        let version = &document["schema_version"];
        if version.as_u64() != Some(u64::from(ftlab::stats::SCHEMA_VERSION)) {
            return Err(Failure::usage(format!(
                "{} has layout {version}, but this version of ftlab reads layout {}\n  remedy: {OLD}",
                path.display(),
                ftlab::stats::SCHEMA_VERSION,
            )));
        }
        if document["complete"] != true {
            return Err(Failure::usage(format!(
                "{} was interrupted: it can't be compared\n  remedy: run it to its end",
                folder.display()
            )));
        }
        Ok(Finished { folder: folder.to_owned(), document })
    }

    /// Returns the seed of the run.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.document["seed"].as_u64().unwrap_or_default()
    }

    /// Returns when the device reached the end of its life, if it did.
    pub fn end_of_life_ns(&self) -> Option<u64> {
        self.document.pointer("/report/health/end_of_life/at_ns")?.as_u64()
    }

    /// Returns how many measured requests the device refused.
    pub fn refused(&self) -> u64 {
        let host = &self.document["report"]["host"];
        OPS.iter().filter_map(|op| host[op]["refused_requests"].as_u64()).sum()
    }

    /// Returns a text within the document, or an empty text if it is missing.
    pub fn text(&self, pointer: &str) -> &str {
        self.document.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns when measuring began, since the device was switched on.
    pub fn measured_from_ns(&self) -> u64 {
        let phases = self.document["report"]["phases"].as_array();
        let measured = phases.into_iter().flatten().filter(|phase| phase["measured"] == true);
        measured.filter_map(|phase| phase["started_ns"].as_u64()).min().unwrap_or(0)
    }

    /// Returns when the run ended, since the device was switched on.
    pub fn finished_ns(&self) -> u64 {
        self.document["replay"]["finished_ns"].as_u64().unwrap_or(u64::MAX)
    }

    /// Returns the command that made the result, if it is known.
    pub fn command(&self) -> Option<Vec<String>> {
        let text = text_file::read(&self.folder.join("run.json")).ok()?;
        let run: Value = serde_json::from_str(&text).ok()?;
        let words = run["command_line"].as_array()?.iter();
        words.map(|word| word.as_str().map(str::to_owned)).collect()
    }

    /// Reads columns of one of the result's files.
    pub fn columns<const N: usize>(
        &self,
        file: &str,
        names: [&'static str; N],
    ) -> Result<Rows<N>, Failure> {
        let path = self.folder.join(file);
        let open = File::open(&path).map_err(|error| Failure::file("can't read", &path, &error))?;
        rows(open, names).map_err(|why| {
            let path = path.display();
            Failure::usage(format!("can't use {path}: {why}\n  remedy: {OLD}"))
        })
    }
}

/// Refuses a path that is not a result, and says what it is instead.
fn refuse_what_holds_none(path: &Path) -> Result<(), Failure> {
    let shown = path.display();
    let what = "name the folder that ftlab run, or compare, has written";
    if path.is_dir() {
        return match path.join(MARK).exists() {
            true => Ok(()),
            false => Err(Failure::usage(format!(
                "{shown} is a folder without a result: there is no {MARK} in it\n  remedy: {what}"
            ))),
        };
    }
    if !path.exists() {
        return Err(Failure::usage(format!(
            "there is no result {shown}\n  remedy: check the path; {what}"
        )));
    }
    if path.file_name().is_some_and(|name| [MARK, COMPARISON].iter().any(|mark| name == *mark)) {
        let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        return Err(Failure::usage(format!(
            "{shown} is a part of a result\n  remedy: name its folder, {}",
            folder.unwrap_or(Path::new(".")).display()
        )));
    }
    Err(text_file::taken_for_trace("result", path).unwrap_or_else(|| {
        Failure::usage(format!("{shown} is a file, and a result is a folder\n  remedy: {what}"))
    }))
}

/// Reads all rows of a column file. The error is a text.
fn rows<const N: usize>(file: File, names: [&'static str; N]) -> Result<Rows<N>, String> {
    let told = |unread: Unread| match unread {
        Unread::Damaged(error) => error.to_string(),
        Unread::Missing { column, .. } => format!("there is no column {column}"),
        Unread::NoIntegers(column) => format!("the column {column} holds no whole numbers"),
    };
    let mut columns = Columns::open(file, names.map(|name| (name, true))).map_err(told)?;
    let mut all = Vec::new();
    loop {
        let count = columns.fill(STEP).map_err(told)?;
        if count == 0 {
            return Ok(all);
        }
        if all.len() + count > MOST_ROWS {
            return Err("it has more rows than a result can have".to_owned());
        }
        let rows = columns.rows();
        all.extend((0..count).map(|at| std::array::from_fn(|column| rows[column][at])));
    }
}
