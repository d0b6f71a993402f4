//! The entry for fuzzing: any bytes as a job file. Errors are fine; a panic, a hang or unbounded
//! memory is not.

use ftlab::host::Op;
use ftlab::units::Nanos;

use super::JobFile;
use super::text::Surroundings;
use crate::replay::Turn;

/// Turns of each job that parses.
const TURNS: u32 = 300;
/// A small device, so that maps are small.
const CAPACITY: u64 = 1 << 21;

/// A world in which every file is the fuzzed one, and every variable a number.
struct Nothing;

impl Surroundings for Nothing {
    fn file(&mut self, name: &str) -> Result<String, String> {
        Ok(format!("[{name}]\nsize=1m\ninclude {name}\n"))
    }

    fn variable(&mut self, name: &str) -> Option<String> {
        Some(name.len().to_string())
    }
}

/// Parses `bytes` as a job file and, if it is one, lets its jobs work without a device.
pub fn parse_any(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let plan = JobFile::parse("fuzz", text, &mut Nothing).and_then(|file| file.plan(CAPACITY, 1));
    let plan = match plan {
        Ok(plan) => plan,
        Err(problems) => {
            // Messages cut the text at places that the text decides.
            assert!(!problems.to_string().is_empty());
            return;
        }
    };
    for mut issuer in plan.groups.into_iter().flat_map(|group| group.issuers).take(64) {
        let mut now = Nanos::ZERO;
        let mut open: Vec<Op> = Vec::new();
        for _ in 0..TURNS {
            match issuer.turn(now) {
                Turn::Submit(arrival) => {
                    let end = arrival.lba.0 + u64::from(arrival.sectors);
                    assert!(end <= CAPACITY, "{arrival:?} lies outside the device");
                    assert!(arrival.sectors > 0 || arrival.op == Op::Flush, "{arrival:?} is empty");
                    open.push(arrival.op);
                }
                Turn::Until(at) => {
                    assert!(at > now, "waits for the past");
                    now = at;
                }
                Turn::Wait => {
                    let op = open.pop().expect("who waits has something outstanding");
                    now = Nanos(now.0 + 1000);
                    issuer.completed(op, now);
                }
                Turn::Done { .. } => {
                    assert!(open.is_empty(), "done with {} outstanding", open.len());
                    break;
                }
            }
        }
    }
}
