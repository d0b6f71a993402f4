//! What fuzzers call: every parser on any bytes. Nothing may panic, and neither memory nor time may
//! grow beyond what the input pays for.

use bytes::Bytes;

use super::error::TraceError;
use super::format::{FORMATS, Format};
use super::gate::Late;
use super::input::Location;
use super::inspect::inspect;
use super::options::{BlkEvent, Options};
use super::reader;

/// How much of the decompressed text is read: compressed bytes can stand for any number of others.
const MOST_TEXT: u64 = 256 << 10;

/// Reads `data` as whatever it looks like, and then as each format, strictly and leniently.
pub fn read_any(data: &[u8]) {
    let data = Bytes::copy_from_slice(data);
    read(&data, Options::default());
    for format in FORMATS {
        read(&data, Options { format: Some(format), ..Options::default() });
        read(&data, lenient(format));
    }
}

/// Everything that lets more of a damaged file in.
fn lenient(format: &'static Format) -> Options {
    Options {
        format: Some(format),
        skip_malformed: true,
        accept_implausible: true,
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

/// An error says what is wrong and what to do.
fn check(error: &TraceError) {
    assert!(!error.problem.is_empty() && !error.remedy.is_empty());
    assert!(error.to_string().len() < 4096, "an error for people is short: {error}");
}
