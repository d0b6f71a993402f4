//! The entry for fuzzing: any bytes as a workload file. Errors are fine; a panic, a hang or
//! unbounded memory is not.

use super::generator::Generator;
use super::workload::Workload;
use crate::replay::Next;

/// Requests drawn from a workload that parses.
const REQUESTS: usize = 300;

/// Parses `bytes` as a workload and, if it is one, draws requests on a small device.
pub fn parse_any(bytes: &[u8]) {
    const CAPACITY: u64 = 1 << 21;
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let mut fetch = |name: &str| Ok(name.to_owned());
    let workload = match Workload::parse("fuzz", text, &mut fetch) {
        Ok(workload) => workload,
        Err(problems) => {
            // Messages cut the text at places that the text decides.
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
