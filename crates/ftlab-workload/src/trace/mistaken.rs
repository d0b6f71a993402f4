//! Files that are given for a trace by mistake: what they are, and how to make a trace of them.

use super::error::{ErrorKind, TraceError};

/// What a file begins with, what it is, and the remedy.
const KNOWN: [(&[u8], &str, &str); 4] = [
    (
        b"\x17\x08\x44tracing",
        "this is a recording of trace-cmd (trace.dat), which is not text",
        "make text of it: trace-cmd report -i FILE > trace.txt; then name that",
    ),
    (
        b"PERFILE2",
        "this is a recording of perf (perf.data), which is not text",
        "make text of it: perf script -i FILE > trace.txt; then name that. It needs the event block:block_rq_issue",
    ),
    (
        b"2ELIFREP",
        "this is a recording of perf (perf.data), which is not text",
        "make text of it: perf script -i FILE > trace.txt; then name that. It needs the event block:block_rq_issue",
    ),
    (
        b"SQLite format 3\0",
        "this is a database of SQLite",
        "export the table as CSV, and say its columns with `columns`",
    ),
];

/// The first file of Office's documents, which are zip archives.
const OFFICE: &[u8] = b"[Content_Types].xml";
/// Where its name is in a zip archive.
const ZIP_NAME: usize = 30;

/// The refusal of a file that begins so and is no trace.
pub(crate) fn refusal(name: &str, start: &[u8]) -> Option<TraceError> {
    let known = KNOWN.iter().find(|(magic, ..)| start.starts_with(magic));
    let is_zip = start.starts_with(b"PK\x03\x04");
    let is_office = is_zip && start.get(ZIP_NAME..).is_some_and(|name| name.starts_with(OFFICE));
    let (what, remedy) = match known {
        Some((_, what, remedy)) => (*what, *remedy),
        None if is_office => (
            "this is a document of Office, such as a workbook of Excel",
            "save its table as CSV, and name that",
        ),
        None if is_etl(name, start) => (
            "this is a recording of Windows (.etl), which is not text",
            "make text of it: xperf -i FILE -o trace.txt; then name that",
        ),
        None => return None,
    };
    Some(TraceError::new(ErrorKind::Unsupported, name, what, remedy))
}

/// Whether a file is called a recording of Windows, and holds zeros as no text does.
fn is_etl(name: &str, start: &[u8]) -> bool {
    name.to_lowercase().ends_with(".etl") && start.contains(&0)
}
