//! Checks whether there is enough memory before a command starts, instead of letting the allocator
//! or the system abort it.

use std::fs;

use ftlab::config::Config;
use ftlab::device::{Contents, Device, DeviceSetup, Tables, assemble_with};
use ftlab::scheduler::Probe;
use ftlab::units::Ratio;

use crate::failure::Failure;
use crate::human::bytes;

/// Where Linux reports available memory.
const MEMORY: &str = "/proc/meminfo";
/// The lines of that file that count as available, in kiB.
const LEFT: [&str; 2] = ["MemAvailable:", "SwapFree:"];
/// The remedy for every shortage.
const SMALLER: &str =
    "take a smaller device (fewer nand.blocks_per_plane) or a larger ftl.mapping.unit";

/// The memory of everything besides the tables: the program, its threads, recordings, policies.
const BESIDES: u64 = 128 << 20;

/// Returns how much memory to request as a trial before the tables are created: a failed allocation
/// later would abort. The extra sixteenth covers the overhead of separate allocations.
fn room_for(reserved: u64) -> u64 {
    reserved.saturating_add(reserved / 16).saturating_add(BESIDES)
}

/// The memory that has to be there before a device of this configuration is created.
#[must_use]
pub fn needed(config: &Config) -> u64 {
    room_for(reserved(config))
}

fn reserved(config: &Config) -> u64 {
    Tables::of(config).reserved.0.saturating_add(of_store(config))
}

/// Requests so much memory as a trial. One request may ask for at most `isize::MAX` bytes, which are 2 GiB in a page of a
/// browser.
fn is_there(memory: u64) -> bool {
    let mut rooms: Vec<Vec<u8>> = Vec::new();
    let mut left = memory;
    while left > 0 {
        let length = left.min(isize::MAX as u64);
        let mut room = Vec::new();
        if room.try_reserve_exact(length as usize).is_err() {
            return false;
        }
        rooms.push(room);
        left -= length;
    }
    true
}

/// What a device has besides its configuration: a probe that observes its flash, and the bytes that it carries.
#[derive(Clone, Copy, Debug, Default)]
pub struct Instruments<P = (), C = ()> {
    /// The probe.
    pub probe: P,
    /// The bytes.
    pub contents: C,
}

/// Creates a new device, if the system can provide memory for its tables.
///
/// # Errors
/// There is not enough memory.
pub fn device<P: Probe, C: Contents>(
    config: &Config,
    seed: u64,
    instruments: Instruments<P, C>,
) -> Result<Device<P, C>, Failure> {
    device_of(|| Ok(DeviceSetup::new(config, seed)), config, instruments)
}

/// As [`device`], from a setup that is made from the configuration and then altered. It is made once there is room for
/// its tables.
///
/// # Errors
/// There is not enough memory; or the setup cannot be made.
pub fn device_of<P: Probe, C: Contents>(
    setup: impl FnOnce() -> Result<DeviceSetup, Failure>,
    config: &Config,
    instruments: Instruments<P, C>,
) -> Result<Device<P, C>, Failure> {
    let reserved = reserved(config);
    if !is_there(room_for(reserved)) {
        return Err(Failure::usage(format!(
            "there is not enough memory for the tables of {}: they take {}, plus what else is \
             needed, and the system refuses that much\n  remedy: {SMALLER}",
            config.options.device.name,
            bytes(reserved)
        )));
    }
    let Instruments { probe, contents } = instruments;
    Ok(assemble_with(setup()?, probe, contents))
}

/// Refuses to fill more than fits in memory, if `at_once` devices each fill this share. Pages that
/// a trace or a workload will touch are not known beforehand and not counted.
pub fn refuse_too_much(config: &Config, share: Ratio, at_once: usize) -> Result<(), Failure> {
    let of_one = share.of(Tables::of(config).written.0.saturating_add(of_store(config)));
    let left = fs::read_to_string(MEMORY).ok().as_deref().and_then(left_in);
    refusal(&config.options.device.name, of_one, at_once as u64, left).map_or(Ok(()), Err)
}

/// The memory of the tables with which the host translates addresses, if it does.
fn of_store(config: &Config) -> u64 {
    config.host_translation().map_or(0, |rules| rules.table_bytes())
}

fn refusal(name: &str, of_one: u64, at_once: u64, left: Option<u64>) -> Option<Failure> {
    let left = left.filter(|left| of_one.saturating_mul(at_once) > *left)?;
    let (many, fewer) = match at_once {
        0 | 1 => (String::new(), String::new()),
        more => (format!(", {more} at once,"), ", or fewer at once (`threads`)".to_owned()),
    };
    Some(Failure::usage(format!(
        "there is not enough memory to fill {name}: its tables{many} take {} then, and {} are left\n  \
         remedy: fill less of it (`precondition` fill:10%){fewer}; or {SMALLER}",
        bytes(of_one.saturating_mul(at_once)),
        bytes(left)
    )))
}

/// Parses what is left from the system's text: memory that is free or easily freed, plus swap.
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
    use crate::device::{load, settings};

    #[test]
    fn what_does_not_fit_is_told_with_both_figures() {
        let told = |at_once, left| match refusal("big", 1_000_000_000, at_once, left) {
            Some(Failure::Usage(text)) => text,
            _ => String::new(),
        };
        assert_eq!(told(1, Some(1_000_000_000)), "");
        assert_eq!(told(1, None), "");
        let one = told(1, Some(999_000_000));
        assert!(
            one.contains("1.00 GB then, and 999 MB are left") && !one.contains("fewer at once"),
            "{one}"
        );
        let four = told(4, Some(3_000_000_000));
        assert!(
            four.contains("4 at once, take 4.00 GB") && four.contains("fewer at once"),
            "{four}"
        );
    }

    #[test]
    fn a_trial_tells_what_is_there() {
        assert!(is_there(0) && is_there(1 << 20));
        assert!(!is_there(u64::MAX));
    }

    #[test]
    fn a_store_of_the_host_needs_memory_too() {
        let zones = [
            "host.zones.policy=zns",
            "host.zones.capacity=64KiB",
            "ftl.over_provisioning=100%",
            "ftl.streams.policy=single",
            "ftl.placement.policy=dynamic",
        ];
        let of = |more: &[&str]| {
            let sets = settings(&[&zones[..], more].concat());
            of_store(&load("tiny", &sets).unwrap())
        };
        assert_eq!(of(&[]), 0);
        // Sixteen mebibytes of zones, of which half are spare: four bytes for each of their blocks, and for those of the host.
        let store = ["host.translation.policy=log", "host.translation.spare=100%"];
        assert_eq!(of(&store), 4 * (4096 + 2048));
    }

    #[test]
    fn what_is_left_is_memory_and_swap() {
        let text = "MemTotal:  100 kB\nMemFree: 1 kB\nMemAvailable:    20 kB\nSwapFree:  5 kB\n";
        assert_eq!(left_in(text), Some(25 * 1024));
        assert_eq!(left_in("MemTotal: 100 kB\n"), None);
    }
}
