//! Traces in memory, as texts or bytes: their requests, or their errors.

use ftlab::host::Op;
use ftlab::units::{Lba, SimTime};
use ftlab_workload::trace::{self, ColumnPlan, Facts, Location, Options, Record, TraceError};

/// The requests of a text, and the facts about it.
pub fn open(text: &str, options: Options) -> Result<(Vec<Record>, Facts), TraceError> {
    open_bytes(text.as_bytes(), options)
}

fn open_bytes(content: &[u8], options: Options) -> Result<(Vec<Record>, Facts), TraceError> {
    let location = Location::Memory("test".to_owned(), content.to_vec().into());
    let mut trace = trace::open(location, options)?;
    let (mut all, mut batch) = (Vec::new(), Vec::new());
    while trace.next_batch(&mut batch)? {
        all.extend_from_slice(&batch);
    }
    Ok((all, trace.facts()))
}

/// Of one that can be read.
pub fn read(text: &str, options: Options) -> (Vec<Record>, Facts) {
    open(text, options).unwrap_or_else(|error| panic!("{error}"))
}

/// The error of one that can not.
pub fn failure(text: &str, options: Options) -> TraceError {
    open(text, options).map(|(records, _)| records).expect_err("it is refused")
}

/// The requests of bytes that can be read, and the facts about them.
pub fn read_bytes(content: &[u8], options: Options) -> (Vec<Record>, Facts) {
    open_bytes(content, options).unwrap_or_else(|error| panic!("{error}"))
}

/// The requests of bytes, read without options; this format must be detected.
pub fn read_as(content: &[u8], format: &str) -> Vec<Record> {
    let (records, facts) = read_bytes(content, Options::default());
    assert_eq!(facts.format, format);
    records
}

/// The error of bytes that can not be read.
pub fn failure_of(content: &[u8], options: Options) -> TraceError {
    open_bytes(content, options).map(|(records, _)| records).expect_err("it is refused")
}

/// The `columns` and the `op` that an error suggests.
pub fn suggested(error: &TraceError) -> Options {
    let behind = |option: &str| {
        let rest = error.remedy.split(&format!("`{option}` ")).nth(1)?;
        rest.split([' ', ';', ')']).next().map(|text| text.trim_end_matches(',').to_owned())
    };
    let mut options = by(&behind("columns").unwrap_or_else(|| panic!("{error}")));
    if let Some(words) = behind("op") {
        options.op_words.add(&words).unwrap_or_else(|problem| panic!("{problem}: {error}"));
    }
    options
}

/// Options with these columns.
pub fn by(columns: &str) -> Options {
    let columns = ColumnPlan::parse(columns).unwrap_or_else(|problem| panic!("{problem}"));
    Options { columns, ..Options::default() }
}

/// Options with a format.
pub fn format(name: &str) -> Options {
    Options::default().with_format(name).expect("a format")
}

/// A request without FUA.
pub fn record(ns: u64, op: Op, lba: u64, sectors: u32, stream: u32) -> Record {
    Record { at: SimTime(ns), op, lba: Lba(lba), sectors, stream, fua: false }
}

/// Numbers of a binary trace in either order.
pub struct Bytes {
    pub is_big: bool,
    pub all: Vec<u8>,
}

impl Bytes {
    pub fn put<const N: usize>(&mut self, little: [u8; N]) {
        let mut word = little;
        if self.is_big {
            word.reverse();
        }
        self.all.extend_from_slice(&word);
    }
}
