//! Runs the built program in a temporary folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// A temporary working folder.
pub struct Place {
    folder: TempDir,
}

/// The outcome of a command.
pub struct Done {
    /// The exit code.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Place {
    /// Creates a folder with a small trace, `trace.csv`.
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

    /// Returns a command that runs the program here.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ftlab"));
        command.args(args).current_dir(self.folder.path());
        // Traces on the machine must not influence the tests.
        command.env_remove("FTLAB_TRACES");
        command
    }

    /// Runs the program on a line of arguments that contain no blanks.
    pub fn run(&self, line: &str) -> Done {
        let args: Vec<&str> = line.split_whitespace().collect();
        let output = self.command(&args).output().expect("the program can be started");
        Done::from(output)
    }

    /// Lists the folder's entries, including temporary files.
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

/// Returns an MSR trace: 4 KiB writes and reads of 2,000 pages in turn, one per millisecond.
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

/// Runs a command that must fail with a usage error and leave nothing behind.
#[track_caller]
pub fn fails(place: &Place, line: &str, expected: &[&str]) {
    let before = place.entries();
    let done = place.run(line);
    assert_eq!(done.code, 2, "{line}\n{}{}", done.out, done.err);
    assert!(done.out.is_empty(), "{line} printed {}", done.out);
    for text in expected {
        assert!(done.err.contains(text), "{line}: no `{text}` in\n{}", done.err);
    }
    assert!(!done.err.contains("panicked"), "{line}\n{}", done.err);
    assert_eq!(place.entries(), before, "{line} left something behind");
}

/// Interrupts a long-running command after a while.
#[cfg(unix)]
pub fn interrupted(place: &Place, line: &str, stdin: std::process::Stdio) -> Done {
    signalled(place, line, stdin, "kill -INT $0")
}

/// Runs a shell script on the process of a command after a while.
#[cfg(unix)]
pub fn signalled(place: &Place, line: &str, stdin: std::process::Stdio, script: &str) -> Done {
    use std::process::{Command, Stdio};
    let args: Vec<&str> = line.split_whitespace().collect();
    let mut command = place.command(&args);
    let child = command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1500));
    let kill = Command::new("sh").args(["-c", script, &child.id().to_string()]).status();
    assert!(kill.unwrap().success());
    Done::from(child.wait_with_output().unwrap())
}

/// A workload that never ends in practice.
#[cfg(unix)]
pub const ENDLESS: &[u8] = b"name = 'endless'\n[[phase]]\nwrites = '100%'\nsize = '4KiB'\n\
    arrivals = { kind = 'closed', queue_depth = 4 }\nrequests = 1000000000000\n";
