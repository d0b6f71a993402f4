//! Whether there is memory for what is asked: told before anything is done, in place of an abort of the
//! allocator or of the whole system.

use std::fs;

use ftlab::config::Config;
use ftlab::device::{Device, DeviceSetup, Tables, assemble};
use ftlab::units::{Bytes, Ratio};

use crate::failure::Failure;
use crate::human::bytes;

/// Where Linux tells how much memory is left.
const MEMORY: &str = "/proc/meminfo";
/// What of that can still be given away, in kiB.
const LEFT: [&str; 2] = ["MemAvailable:", "SwapFree:"];
/// What helps, whatever is short.
const SMALLER: &str =
    "take a smaller device (fewer nand.blocks_per_plane) or a larger ftl.mapping.unit";

/// What everything else takes: the program, its threads, what is recorded, policies.
const BESIDES: u64 = 128 << 20;

/// Room that is asked for before the tables are made: a refusal of any of them later is no message but an
/// abort. A part of the tables is added, as each is a piece of memory of its own.
fn room_for(reserved: u64) -> u64 {
    reserved.saturating_add(reserved / 16).saturating_add(BESIDES)
}

/// A new device of this configuration, if the system can give it the room for its tables.
pub fn device(config: &Config, seed: u64) -> Result<Device, Failure> {
    let Tables { reserved: Bytes(reserved), .. } = Tables::of(config);
    let length = usize::try_from(room_for(reserved)).unwrap_or(usize::MAX);
    let mut room: Vec<u8> = Vec::new();
    room.try_reserve_exact(length).map_err(|_| {
        Failure::usage(format!(
            "there is no memory for the tables of {}: they take {}, besides what else is \
             needed, and the system refuses that much\n  remedy: {SMALLER}",
            config.options.device.name,
            bytes(reserved)
        ))
    })?;
    drop(room);
    Ok(assemble(DeviceSetup::new(config, seed)))
}

/// Refuses to fill more than there is memory for: `at_once` devices at the same time, each this share of
/// it. What a trace or a workload will touch is not known beforehand, and not counted.
pub fn refuse_too_much(config: &Config, share: Ratio, at_once: usize) -> Result<(), Failure> {
    let of_one = share.of(Tables::of(config).written.0);
    let left = fs::read_to_string(MEMORY).ok().as_deref().and_then(left_in);
    refusal(&config.options.device.name, of_one, at_once as u64, left).map_or(Ok(()), Err)
}

fn refusal(name: &str, of_one: u64, at_once: u64, left: Option<u64>) -> Option<Failure> {
    let left = left.filter(|left| of_one.saturating_mul(at_once) > *left)?;
    let (many, fewer) = match at_once {
        0 | 1 => (String::new(), String::new()),
        more => (format!(", {more} at once,"), ", or fewer at once with -j".to_owned()),
    };
    Some(Failure::usage(format!(
        "there is not enough memory to fill {name}: its tables{many} take {} then, and {} are left\n  \
         remedy: fill less of it (--precondition fill:10%){fewer}; or {SMALLER}",
        bytes(of_one.saturating_mul(at_once)),
        bytes(left)
    )))
}

/// What is left, by the text of the system: memory that is free or easily freed, and swap.
fn left_in(text: &str) -> Option<u64> {
    let value = |name: &str| -> Option<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix("kB")?.trim().parse().ok()
    };
    let all: Option<Vec<u64>> = LEFT.iter().map(|name| value(name)).collect();
    Some(all?.iter().sum::<u64>().saturating_mul(1024))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_told_with_both_figures() {
        let told = |at_once, left| match refusal("big", 1_000_000_000, at_once, left) {
            Some(Failure::Usage(text)) => text,
            _ => String::new(),
        };
        assert_eq!(told(1, Some(1_000_000_000)), "");
        assert_eq!(told(1, None), "");
        let one = told(1, Some(999_000_000));
        assert!(one.contains("1.00 GB then, and 999 MB are left") && !one.contains("-j"), "{one}");
        let four = told(4, Some(3_000_000_000));
        assert!(four.contains("4 at once, take 4.00 GB") && four.contains("-j"), "{four}");
    }

    #[test]
    fn what_is_left_is_memory_and_swap() {
        let text = "MemTotal:  100 kB\nMemFree: 1 kB\nMemAvailable:    20 kB\nSwapFree:  5 kB\n";
        assert_eq!(left_in(text), Some(25 * 1024));
        assert_eq!(left_in("MemTotal: 100 kB\n"), None);
    }
}
