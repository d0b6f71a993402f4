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
use super::units::SpaceUnit;

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

/// The formats with several events of one request.
const WITH_EVENTS: [&str; 3] = ["blkparse", "ftrace", "blktrace"];

/// Returns the options that accept as much of a damaged file as possible. An option that a format has no use for is refused, and nothing
/// is read then.
fn lenient(format: &'static Format) -> Options {
    let is_table = format.name == "csv";
    let columns = is_table.then(|| ColumnPlan::parse("time=1,op=2,offset=3:512,size=4,stream=5"));
    Options {
        format: Some(format),
        skip_malformed: true,
        accept_implausible: true,
        // Without it numbers of objects are no addresses.
        address_unit: (format.name == "oracle-general").then_some(SpaceUnit::Page4k),
        columns: columns.and_then(Result::ok).unwrap_or_default(),
        invert_ops: true,
        blkparse_event: WITH_EVENTS.contains(&format.name).then_some(BlkEvent::Queue),
        order_window: 2,
        late: Late::Clamp,
        ..Options::default()
    }
}

/// Reads a file. Returns whether it has requests, and no error.
fn read(data: &Bytes, options: Options) -> bool {
    let location = Location::Memory("input".to_owned(), data.clone());
    let opened = reader::open_start(location, options, MOST_TEXT);
    let done = opened.and_then(|mut trace| inspect(&mut trace));
    if let Err(error) = &done {
        check(error);
    }
    done.is_ok()
}

/// Checks that an error has a problem and a remedy.
fn check(error: &TraceError) {
    assert!(!error.problem.is_empty() && !error.remedy.is_empty());
    assert!(error.to_string().len() < 4096, "an error for people is short: {error}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_read_leniently() {
        let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/trace");
        let files = std::fs::read_dir(corpus).expect("a folder");
        let seeds: Vec<Bytes> = files
            .map(|file| std::fs::read(file.expect("a file").path()).expect("bytes").into())
            .collect();
        let is_unread =
            |format: &&&'static Format| !seeds.iter().any(|seed| read(seed, lenient(format)));
        let unread: Vec<&str> =
            FORMATS.iter().filter(is_unread).map(|format| format.name).collect();
        assert_eq!(unread, [""; 0]);
    }
}
