//! Loads: traces, decoded and hashed on a separate thread; workloads; fio job files.

use ftlab::options::text::nearest;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use bytes::Bytes;
use ftlab_workload::fio::{JobFile, Surroundings};
use ftlab_workload::generate::{PRESETS, Workload, preset};
use ftlab_workload::replay::SourceError;
use ftlab_workload::trace::{
    self, BlkEvent, ColumnPlan, Digest, Facts, Format, Late, Location, OpWords, Record, SpaceUnit,
    TimeUnit, Trace, TraceError,
};

use crate::failure::Failure;
use crate::stop::Stop;
use crate::text_file::{self, with_bare_keys};

/// How many batches the decoder may be ahead.
const AHEAD: usize = 4;
/// How often a wait for a slow trace checks whether it was stopped.
const PATIENCE: Duration = Duration::from_millis(50);

/// Facts about a trace, known once it has been played.
#[derive(Debug)]
pub struct TraceFacts {
    /// Facts from the reader.
    pub facts: Facts,
    /// The hash of the requests that were read; none if reading was cut off.
    pub digest: Option<String>,
    /// The number of requests read.
    pub requests: u64,
}

/// A trace, batch by batch.
struct Batched {
    trace: Trace,
    /// Requests up to the limit.
    left: u64,
    digest: Digest,
    requests: u64,
}

impl Batched {
    /// Replaces the content of a batch with the next records. Returns false at the end.
    fn fill(&mut self, batch: &mut Vec<Record>) -> Result<bool, TraceError> {
        if self.left == 0 || !self.trace.next_batch(batch)? {
            return Ok(false);
        }
        batch.truncate(usize::try_from(self.left).unwrap_or(usize::MAX));
        self.left -= batch.len() as u64;
        self.requests += batch.len() as u64;
        self.digest.update(batch);
        Ok(true)
    }

    fn finish(self) -> TraceFacts {
        let Batched { trace, digest, requests, .. } = self;
        TraceFacts { facts: trace.facts(), digest: Some(digest.finish()), requests }
    }
}

/// A trace that is being decoded: ahead of the replay, or, where there are no threads, whenever it needs more.
pub struct Decoder {
    place: Decoding,
    first_facts: Facts,
    ended: bool,
}

enum Decoding {
    Thread {
        batches: Receiver<Result<Vec<Record>, TraceError>>,
        used: Sender<Vec<Record>>,
        thread: JoinHandle<TraceFacts>,
    },
    Here(Box<Batched>),
}

impl Decoder {
    /// Starts to decode at most `limit` requests.
    pub fn start(trace: Trace, limit: Option<u64>) -> Decoder {
        let first_facts = trace.facts();
        let left = limit.unwrap_or(u64::MAX);
        let batched = Batched { trace, left, digest: Digest::new(), requests: 0 };
        let place = match cfg!(target_family = "wasm") {
            true => Decoding::Here(Box::new(batched)),
            false => {
                let (to_replay, batches) = sync_channel(AHEAD);
                let (used, to_refill) = channel();
                let thread = std::thread::spawn(move || decode(batched, &to_replay, &to_refill));
                Decoding::Thread { batches, used, thread }
            }
        };
        Decoder { place, first_facts, ended: false }
    }

    /// Replaces the content of a batch with the next records. Returns false at the end, or once
    /// `stop` is set.
    pub fn fill(&mut self, batch: &mut Vec<Record>, stop: &Stop) -> Result<bool, SourceError> {
        let more = match &mut self.place {
            Decoding::Here(batched) => {
                let more = batched.fill(batch);
                more.map(Some).map_err(|error| SourceError(Box::new(error)))?
            }
            Decoding::Thread { batches, used, .. } => loop {
                match batches.recv_timeout(PATIENCE) {
                    Ok(Ok(records)) => {
                        // A send error is fine: an ended thread needs no buffers.
                        let _ = used.send(std::mem::replace(batch, records));
                        break Some(true);
                    }
                    Ok(Err(error)) => return Err(SourceError(Box::new(error))),
                    Err(RecvTimeoutError::Disconnected) => break Some(false),
                    Err(RecvTimeoutError::Timeout) if stop.is_set() => break None,
                    Err(RecvTimeoutError::Timeout) => {}
                }
            },
        };
        self.ended |= more == Some(false);
        Ok(more == Some(true))
    }

    /// Returns the facts about the trace. If the trace was not played to its end, the reader may
    /// still be waiting for input, so its thread is not joined.
    pub fn finish(self) -> TraceFacts {
        let Decoder { place, first_facts, ended } = self;
        match place {
            Decoding::Here(batched) if ended => return batched.finish(),
            Decoding::Thread { batches, thread, .. } => {
                drop(batches);
                if ended && let Ok(facts) = thread.join() {
                    return facts;
                }
            }
            Decoding::Here(_) => {}
        }
        TraceFacts { facts: first_facts, digest: None, requests: 0 }
    }
}

fn decode(
    mut batched: Batched,
    to_replay: &SyncSender<Result<Vec<Record>, TraceError>>,
    to_refill: &Receiver<Vec<Record>>,
) -> TraceFacts {
    loop {
        let mut batch = to_refill.try_recv().unwrap_or_default();
        match batched.fill(&mut batch) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => {
                // A send error is fine: nobody needs the result any more.
                let _ = to_replay.send(Err(error));
                break;
            }
        }
        if to_replay.send(Ok(batch)).is_err() {
            break;
        }
    }
    batched.finish()
}

/// Reads a workload, built-in or from a file. Files that it names are relative to it.
pub fn workload(name: &str) -> Result<Workload, Failure> {
    let path = Path::new(name);
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut fetch = |file: &str| {
        let path = folder.join(file);
        text_file::read(&path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let text = match preset(name) {
        Some(preset) => preset.text.to_owned(),
        None => text_file::read(path).map_err(|error| unreadable(name, path, &error))?,
    };
    Workload::parse(name, &text, &mut fetch)
        .map_err(|problems| text_file::refused("workload", path, with_bare_keys(problems)))
}

/// The surroundings of a job file: the file system, the variables of the caller, and the
/// environment.
struct World<'a> {
    variables: &'a [(String, String)],
}

impl Surroundings for World<'_> {
    fn file(&mut self, name: &str) -> Result<String, String> {
        text_file::read(Path::new(name)).map_err(|error| error.to_string())
    }

    fn variable(&mut self, name: &str) -> Option<String> {
        let given = self.variables.iter().rfind(|(known, _)| known == name);
        given.map(|(_, value)| value.clone()).or_else(|| std::env::var(name).ok())
    }
}

/// Reads a fio job file with these variables.
pub fn fio(name: &str, variables: &[(String, String)]) -> Result<JobFile, Failure> {
    let path = Path::new(name);
    let text =
        text_file::read(path).map_err(|error| text_file::unreadable("job file", path, &error))?;
    let jobs = JobFile::parse(name, &text, &mut World { variables }).map_err(Failure::usage)?;
    match variables.iter().find(|(given, _)| !jobs.variables.contains_key(given)) {
        Some((given, _)) => Err(Failure::usage(format!(
            "the job file {name} names no variable {given}\n  remedy: write ${{{given}}} where its value \
             goes, or leave the value out"
        ))),
        None => Ok(jobs),
    }
}

/// Parses the value of a variable of a job file, `NAME=VALUE`.
///
/// # Errors
/// There is no name.
pub fn parse_variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write NAME=VALUE, such as NUMJOBS=256".to_owned()),
    }
}

fn unreadable(name: &str, path: &Path, error: &std::io::Error) -> Failure {
    let failure = text_file::unreadable("workload", path, error);
    if path.exists() || path.components().count() > 1 || path.extension().is_some() {
        return failure;
    }
    let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
    let near = nearest(name, names.iter().copied())
        .map_or(String::new(), |near| format!("did you mean {near}? "));
    Failure::usage(format!(
        "there is no workload {name}, neither built-in nor a file\n  remedy: {near}built in: {}",
        names.join(", ")
    ))
}

/// Returns the path of a file in the folder, if `name` names or looks like one; otherwise `name`, for a built-in.
pub fn in_folder(folder: &Path, name: &str) -> String {
    let path = folder.join(name);
    let looks_like_one = Path::new(name).extension().is_some_and(|ending| ending == "toml");
    if looks_like_one || path.is_file() {
        path.to_string_lossy().into_owned()
    } else {
        name.to_owned()
    }
}

/// Replaces characters that are unsafe in folder names.
pub fn tidy(name: &str) -> String {
    let tidy = |c: char| if c.is_alphanumeric() || "-_+".contains(c) { c } else { '_' };
    name.chars().map(tidy).collect()
}

/// Returns the name of a load in results: the file name without folder and extensions.
pub fn short_name(name: &str) -> String {
    if name == "-" {
        return "stdin".to_owned();
    }
    let file = Path::new(name).file_name().map_or(name.into(), |file| file.to_string_lossy());
    let stem = file.trim_start_matches('.').split('.').next().unwrap_or_default();
    match tidy(stem) {
        empty if empty.is_empty() => "load".to_owned(),
        stem => stem,
    }
}

/// The names of the options that [`set_reading`] knows.
pub const READING_NAMES: [&str; 12] = [
    "format",
    "time_unit",
    "address_unit",
    "size_unit",
    "columns",
    "op",
    "invert_ops",
    "blkparse_event",
    "skip_malformed",
    "accept_implausible",
    "order_window",
    "late",
];

/// Sets an option of the trace reader by its name.
///
/// # Errors
/// There is no such option, or its text is wrong.
pub fn set_reading(options: &mut trace::Options, name: &str, text: &str) -> Result<(), String> {
    let switch = || text.parse().map_err(|_| format!("write true or false, not `{text}`"));
    match name {
        "format" => options.format = Some(parse_format(text)?),
        "time_unit" => options.time_unit = Some(parse_time_unit(text)?),
        "address_unit" => options.address_unit = Some(parse_space_unit(text)?),
        "size_unit" => options.size_unit = Some(parse_space_unit(text)?),
        "columns" => options.columns = parse_columns(text)?,
        "op" => options.op_words.add(text)?,
        "invert_ops" => options.invert_ops = switch()?,
        "blkparse_event" => options.blkparse_event = Some(parse_blkparse_event(text)?),
        "skip_malformed" => options.skip_malformed = switch()?,
        "accept_implausible" => options.accept_implausible = switch()?,
        "order_window" => {
            let window = text.parse().map_err(|_| format!("`{text}` is no number of records"));
            options.order_window = window?;
        }
        "late" => options.late = parse_late(text)?,
        _ => {
            let known = READING_NAMES.join(", ");
            return Err(format!("reading a trace has no option {name}; it has {known}"));
        }
    }
    Ok(())
}

/// Finds a trace format by its name.
///
/// # Errors
/// There is none.
pub fn parse_format(name: &str) -> Result<&'static Format, String> {
    trace::named(name).map_err(|error| format!("{}; {}", error.problem, error.remedy))
}

fn choice<T>(found: Option<T>, names: &[&str]) -> Result<T, String> {
    found.ok_or_else(|| format!("choose one of {}", names.join(", ")))
}

/// Parses a unit of times.
///
/// # Errors
/// There is none of this name.
pub fn parse_time_unit(name: &str) -> Result<TimeUnit, String> {
    choice(TimeUnit::named(name), &TimeUnit::ALL.map(|(name, _)| name))
}

/// Parses a unit of addresses and sizes.
///
/// # Errors
/// There is none of this name.
pub fn parse_space_unit(name: &str) -> Result<SpaceUnit, String> {
    choice(SpaceUnit::named(name), &SpaceUnit::ALL.map(|(name, _)| name))
}

/// Parses which column of a table is what.
///
/// # Errors
/// It names an unknown part or unit, or lacks a part.
pub fn parse_columns(text: &str) -> Result<ColumnPlan, String> {
    ColumnPlan::parse(text)
}

/// Parses what words of operations mean.
///
/// # Errors
/// It names an unknown operation.
pub fn parse_op_words(text: &str) -> Result<OpWords, String> {
    let mut words = OpWords::default();
    words.add(text).map(|()| words)
}

/// Parses which events of blkparse output are the requests.
///
/// # Errors
/// There is none of this name.
pub fn parse_blkparse_event(name: &str) -> Result<BlkEvent, String> {
    choice(BlkEvent::named(name), &BlkEvent::ALL.map(|(name, _)| name))
}

/// Parses what to do with a record that is too late.
///
/// # Errors
/// There is nothing of this name.
pub fn parse_late(name: &str) -> Result<Late, String> {
    let found = Late::ALL.iter().find(|(known, _)| *known == name).map(|(_, late)| *late);
    choice(found, &Late::ALL.map(|(name, _)| name))
}

/// Opens a trace file, or standard input for `-`.
pub fn open(file: &str, options: trace::Options) -> Result<Trace, Failure> {
    open_held(file, None, options)
}

/// As [`open`]; of a trace that is `held` in memory, `file` is only the name.
pub fn open_held(
    file: &str,
    held: Option<&Bytes>,
    options: trace::Options,
) -> Result<Trace, Failure> {
    let location = match held {
        Some(bytes) => Location::Memory(file.to_owned(), bytes.clone()),
        None => Location::from_argument(file),
    };
    trace::open(location, options).map_err(Failure::usage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_are_good_folder_names() {
        let names = ["-", "a/hm_0.csv.gz", "fill", "/x/.hidden", "w ird:name.csv", "..", "ä.csv"];
        let short = ["stdin", "hm_0", "fill", "hidden", "w_ird_name", "load", "ä"];
        assert_eq!(names.map(short_name), short.map(str::to_owned));
    }
}
