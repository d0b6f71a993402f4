//! Runs the built program in a folder of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// A folder to work in.
pub struct Place {
    folder: TempDir,
}

/// What a command came to.
pub struct Done {
    /// The exit code.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Place {
    /// An empty folder with a small trace in it, `trace.csv`.
    pub fn new() -> Place {
        let place = Place { folder: tempfile::tempdir().expect("a temporary folder") };
        place.write("trace.csv", trace(2_000).as_bytes());
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, content: &[u8]) {
        fs::write(self.path(name), content).expect("a file can be written");
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn json(&self, name: &str) -> Value {
        serde_json::from_slice(&self.read(name)).expect("JSON")
    }

    /// The program, to be run here.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ftlab"));
        command.args(args).current_dir(self.folder.path());
        command
    }

    /// Runs the program on a line of arguments without blanks in them.
    pub fn run(&self, line: &str) -> Done {
        let args: Vec<&str> = line.split_whitespace().collect();
        let output = self.command(&args).output().expect("the program can be started");
        Done::from(output)
    }

    /// What is in the folder, temporary files included.
    pub fn entries(&self) -> Vec<String> {
        entries(self.folder.path())
    }
}

pub fn entries(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

impl From<Output> for Done {
    fn from(output: Output) -> Done {
        Done {
            code: output.status.code().expect("it was not killed"),
            out: String::from_utf8(output.stdout).expect("UTF-8"),
            err: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }
}

/// An MSR trace: writes and reads of 4 KiB to 2,000 pages in turn, a millisecond apart.
pub fn trace(requests: u64) -> String {
    (0..requests)
        .map(|at| {
            let time = 129_000_000_000_000_000 + at * 10_000;
            let op = if at % 3 == 0 { "Read" } else { "Write" };
            let offset = at * 7919 % 2000 * 4096;
            format!("{time},test,0,{op},{offset},4096,0\n")
        })
        .collect()
}
