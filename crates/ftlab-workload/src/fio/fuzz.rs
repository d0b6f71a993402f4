//! The entry point for fuzzing job files with arbitrary bytes. An input may fail, but must not
//! cause a panic, a hang or unbounded memory use.

use ftlab::host::Op;
use ftlab::units::Nanos;

use super::text::Surroundings;
use super::{DriveFacts, JobFile};
use crate::replay::{Answered, Turn};

/// The number of turns of each job.
const TURNS: u32 = 300;
/// A small capacity, for small maps.
const CAPACITY: u64 = 1 << 21;

/// Surroundings in which every included file includes itself and every variable is a number.
struct Nothing;

impl Surroundings for Nothing {
    fn file(&mut self, name: &str) -> Result<String, String> {
        Ok(format!("[{name}]\nsize=1m\ninclude {name}\n"))
    }

    fn variable(&mut self, name: &str) -> Option<String> {
        Some(name.len().to_string())
    }
}

/// Parses `bytes` as a job file; if it is valid, runs its jobs without a device.
pub fn parse_any(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let drive = DriveFacts { capacity_sectors: CAPACITY, zones: None, handles: 8 };
    let plan = JobFile::parse("fuzz", text, &mut Nothing).and_then(|file| file.plan_on(&drive, 1));
    let plan = match plan {
        Ok(plan) => plan,
        Err(problems) => {
            // Messages cut the text at places that the text decides, so format them too.
            assert!(!problems.to_string().is_empty());
            return;
        }
    };
    for mut issuer in plan.groups.into_iter().flat_map(|group| group.issuers).take(64) {
        let mut now = Nanos::ZERO;
        let mut open: Vec<Answered> = Vec::new();
        for _ in 0..TURNS {
            match issuer.turn(now) {
                Turn::Submit(arrival) => {
                    let end = arrival.lba.0 + u64::from(arrival.sectors);
                    assert!(end <= CAPACITY, "{arrival:?} lies outside the device");
                    assert!(arrival.sectors > 0 || arrival.op == Op::Flush, "{arrival:?} is empty");
                    open.push(Answered { op: arrival.op, lba: arrival.lba, failed: false });
                }
                Turn::Until(at) => {
                    assert!(at > now, "waits for the past");
                    now = at;
                }
                Turn::Wait => {
                    let ended = open.pop().expect("who waits has something outstanding");
                    now = Nanos(now.0 + 1000);
                    issuer.completed(ended, now);
                }
                Turn::Done { .. } => {
                    assert!(open.is_empty(), "done with {} outstanding", open.len());
                    break;
                }
            }
        }
    }
}
