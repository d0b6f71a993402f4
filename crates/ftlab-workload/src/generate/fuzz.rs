//! The entry point for fuzzing workload files with arbitrary bytes. An input may fail, but must not
//! cause a panic, a hang or unbounded memory use.

use super::generator::Generator;
use super::workload::Workload;
use crate::replay::Next;

/// The number of requests drawn from a valid workload.
const REQUESTS: usize = 300;

/// Parses `bytes` as a workload; if it is valid, draws requests for a small device.
pub fn parse_any(bytes: &[u8]) {
    const CAPACITY: u64 = 1 << 21;
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let mut fetch = |name: &str| Ok(name.to_owned());
    let workload = match Workload::parse("fuzz", text, &mut fetch) {
        Ok(workload) => workload,
        Err(problems) => {
            // Messages cut the text at places that the text decides, so format them too.
            assert!(!problems.to_string().is_empty());
            return;
        }
    };
    let Ok(mut generator) = Generator::new(&workload, CAPACITY, 1) else { return };
    for _ in 0..REQUESTS {
        match generator.next_item() {
            Next::Request(request) => {
                let end = request.lba.0 + u64::from(request.sectors);
                assert!(end <= CAPACITY, "{request:?} lies outside the device");
            }
            Next::Phase(_) => {}
            Next::End => break,
        }
    }
}
