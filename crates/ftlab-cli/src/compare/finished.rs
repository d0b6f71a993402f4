//! Finished results, read back from their folders.

use std::fs::File;
use std::path::{Path, PathBuf};

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use serde_json::Value;

use super::metrics::OPS;
use crate::failure::Failure;
use crate::result::MARK;

/// What helps against files that can't be used.
const OLD: &str = "run it again with this version of ftlab";

/// A result.
pub struct Finished {
    /// Where it lies.
    pub folder: PathBuf,
    /// `result.json`.
    pub document: Value,
}

/// A file of columns: its rows, with the columns in the order in which they were asked for.
pub type Rows<const N: usize> = Vec<[u64; N]>;

impl Finished {
    /// Reads one.
    pub fn read(folder: &Path) -> Result<Finished, Failure> {
        let path = folder.join(MARK);
        let text = std::fs::read_to_string(&path)
            .map_err(|error| Failure::file("can't read", &path, &error))?;
        let document: Value = serde_json::from_str(&text).map_err(|error| {
            let path = path.display();
            Failure::usage(format!("{path} is damaged: {error}\n  remedy: {OLD}"))
        })?;
        if crate::reproduce::is_reproduction(&document) {
            return Err(Failure::usage(format!(
                "{} holds what ftlab reproduce wrote: the numbers of many runs, and none of the runs\n  \
                 remedy: name results of ftlab run",
                folder.display()
            )));
        }
        let version = &document["schema_version"];
        if version.as_u64() != Some(u64::from(ftlab::stats::SCHEMA_VERSION)) {
            return Err(Failure::usage(format!(
                "{} has layout {version}, and this ftlab reads layout {}\n  remedy: {OLD}",
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

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.document["seed"].as_u64().unwrap_or_default()
    }

    /// When the device came to the end of its life, if it did.
    pub fn end_of_life_ns(&self) -> Option<u64> {
        self.document.pointer("/report/health/end_of_life/at_ns")?.as_u64()
    }

    /// Measured requests that the device refused.
    pub fn refused(&self) -> u64 {
        let host = &self.document["report"]["host"];
        OPS.iter().filter_map(|op| host[op]["refused_requests"].as_u64()).sum()
    }

    /// A text within the document; empty if it is not there.
    pub fn text(&self, pointer: &str) -> &str {
        self.document.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
    }

    /// The command that made it, as far as that is known.
    pub fn command(&self) -> Option<Vec<String>> {
        let text = std::fs::read_to_string(self.folder.join("run.json")).ok()?;
        let run: Value = serde_json::from_str(&text).ok()?;
        let words = run["command_line"].as_array()?.iter();
        words.map(|word| word.as_str().map(str::to_owned)).collect()
    }

    /// Reads columns of one of its files.
    pub fn columns<const N: usize>(
        &self,
        file: &str,
        names: [&str; N],
    ) -> Result<Rows<N>, Failure> {
        let path = self.folder.join(file);
        let damaged = |error: String| {
            let path = path.display();
            Failure::usage(format!("can't use {path}: {error}\n  remedy: {OLD}"))
        };
        let open = File::open(&path).map_err(|error| Failure::file("can't read", &path, &error))?;
        let reader = SerializedFileReader::new(open).map_err(|error| damaged(error.to_string()))?;
        let schema = reader.metadata().file_metadata().schema_descr();
        let at = names.map(|name| schema.columns().iter().position(|known| known.name() == name));
        if let Some(missing) = at.iter().position(Option::is_none) {
            return Err(damaged(format!("there is no column {}", names[missing])));
        }
        let rows = reader.get_row_iter(None).map_err(|error| damaged(error.to_string()))?;
        let mut all = Vec::new();
        for row in rows {
            let row = row.map_err(|error| damaged(error.to_string()))?;
            let fields: Vec<u64> = row.get_column_iter().map(|(_, field)| number(field)).collect();
            all.push(at.map(|at| at.and_then(|at| fields.get(at)).copied().unwrap_or_default()));
        }
        Ok(all)
    }
}

fn number(field: &Field) -> u64 {
    match field {
        Field::ULong(value) => *value,
        Field::UInt(value) => u64::from(*value),
        Field::UByte(value) => u64::from(*value),
        _ => 0,
    }
}
