//! Small files that expand to large ones: they are decompressed in pieces, so memory does not grow.

use std::io::Write;

use ftlab_workload::trace::{self, Location, Options};

/// The uncompressed size.
const UNPACKED: usize = 64 << 20;
/// The same, of a trace that is read to its end.
const LINES: usize = UNPACKED / 4;
/// The most that reading may allocate, with the tables of what is counted.
const MOST_HELD: u64 = 12 << 20;

fn packed(content: &[u8]) -> [(&'static str, Vec<u8>); 4] {
    let level = flate2::Compression::fast();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), level);
    gzip.write_all(content).expect("into memory");
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    bzip2.write_all(content).expect("into memory");
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 0);
    xz.write_all(content).expect("into memory");
    [
        ("gz", gzip.finish().expect("into memory")),
        ("bz2", bzip2.finish().expect("into memory")),
        ("xz", xz.finish().expect("into memory")),
        ("zst", zstd::encode_all(content, 1).expect("into memory")),
    ]
}

/// Reads a trace to its end; returns its description, and the most bytes that were allocated.
fn read(bytes: Vec<u8>) -> (String, u64) {
    let mut told = String::new();
    let held = allocation_counter::measure(|| {
        let options = Options { accept_implausible: true, ..Options::default() };
        let location = Location::Memory("bomb".to_owned(), bytes.into());
        let opened = trace::open(location, options);
        let inspected = opened.and_then(|mut trace| trace::inspect(&mut trace));
        told = inspected.map_or_else(|error| error.to_string(), |all| all.requests.to_string());
    });
    (told, held.bytes_max)
}

#[test]
fn what_is_unpacked_is_never_held_as_a_whole() {
    let zeros = vec![0; UNPACKED];
    let line = b"128166372003061629,hm,0,Read,383496192,32768,411\n";
    let lines = line.repeat(LINES / line.len());
    let requests = (LINES / line.len()).to_string();
    for (content, expected) in
        [(zeros, "a line is longer than 64 KiB"), (b"\n".repeat(UNPACKED), ""), (lines, &requests)]
    {
        for (name, bytes) in packed(&content) {
            assert!(bytes.len() < content.len() / 50, "{name}: it is a bomb");
            let (told, held) = read(bytes);
            assert!(told.contains(expected), "{name}: {told}");
            assert!(held < MOST_HELD, "{name}: {held} bytes were held");
        }
    }
}
