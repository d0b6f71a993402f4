//! Entry points for fuzzers: every parser with arbitrary bytes. Nothing may panic, and memory and
//! time must stay in proportion to the input.

use bytes::Bytes;

use super::columns::ColumnPlan;
use super::error::TraceError;
use super::format::{FORMATS, Format};
use super::gate::Late;
use super::input::Location;
use super::inspect::inspect;
use super::options::{BlkEvent, Options};
use super::reader;

/// How much decompressed text is read, because compressed bytes can expand without limit.
const MOST_TEXT: u64 = 256 << 10;

/// Reads `data` in the detected format, and then in each format, strictly and leniently.
pub fn read_any(data: &[u8]) {
    let data = Bytes::copy_from_slice(data);
    read(&data, Options::default());
    for format in FORMATS {
        read(&data, Options { format: Some(format), ..Options::default() });
        read(&data, lenient(format));
    }
}

/// Returns the options that accept as much of a damaged file as possible.
fn lenient(format: &'static Format) -> Options {
    Options {
        format: Some(format),
        skip_malformed: true,
        accept_implausible: true,
        columns: ColumnPlan::parse("time=1,op=2,offset=3:512,size=4,stream=2").unwrap_or_default(),
        invert_ops: true,
        blkparse_event: Some(BlkEvent::Queue),
        order_window: 2,
        late: Late::Clamp,
        ..Options::default()
    }
}

fn read(data: &Bytes, options: Options) {
    let location = Location::Memory("input".to_owned(), data.clone());
    let opened = reader::open_start(location, options, MOST_TEXT);
    if let Err(error) = opened.and_then(|mut trace| inspect(&mut trace)) {
        check(&error);
    }
}

/// Checks that an error has a problem and a remedy.
fn check(error: &TraceError) {
    assert!(!error.problem.is_empty() && !error.remedy.is_empty());
    assert!(error.to_string().len() < 4096, "an error for people is short: {error}");
}
