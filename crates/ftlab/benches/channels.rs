//! The speed of log-block FTLs with merges: the headline run of the channel management thesis, for each planner, in
//! lock-step and with a clock for each channel.
//!
//! `cargo bench -p ftlab --bench channels [-- SCENARIO]` prints simulated requests a second, and simulated requests a
//! second of CPU, for each. "By commands" is the same run with a probe, which turns each copy of a merge and each
//! page of a cycle into a flash command of its own.

mod common;

use std::time::Duration;

use ftlab::config::Layer;
use ftlab::device::{Device, assemble_with};
use ftlab::engine::Stream;
use ftlab::host::{Advanced, Host, Op, Request};
use ftlab::scheduler::Probe;
use ftlab::units::{Lba, SimTime};

use common::{cpu_time, setup};

/// Sectors of a request: 4 KiB, from any sector.
const REQUEST: u32 = 8;

/// A probe that sees every command.
struct Onlooker;

impl Probe for Onlooker {}

/// Back-to-back writes, one at a time; returns their CPU time.
fn play<P: Probe>(device: &mut Device<P>, requests: u64) -> Duration {
    let mut sectors = Stream::new(1, "bench");
    let bound = device.capacity_sectors() - u64::from(REQUEST);
    let mut done = Vec::new();
    let started = cpu_time();
    for _ in 0..requests {
        let lba = Lba(sectors.below(bound));
        let write = Request { op: Op::Write, lba, sectors: REQUEST, stream: 0, tag: 0, fua: false };
        device.submit(device.now(), write);
        while done.is_empty() {
            let advanced = device.advance_until(SimTime::FOREVER, &mut done);
            assert_ne!(advanced, Advanced::Idle, "the device is stuck");
        }
        done.clear();
    }
    cpu_time() - started
}

fn measure<P: Probe>(name: &str, sets: &[&str], requests: u64, probe: P) {
    let setup = setup(Layer::preset("channel-management"), sets);
    let started = cpu_time();
    let mut device = assemble_with(setup, probe, ());
    let assembly = cpu_time() - started;
    let cpu = play(&mut device, requests).as_secs_f64();
    println!(
        "{name:<34} {:>7.1} IOPS  {:>6.3} M requests/s of CPU  {cpu:>6.2} s, and {:.0} ms to assemble",
        requests as f64 / device.now().saturating_since(SimTime::ZERO).as_secs_f64(),
        requests as f64 / cpu / 1e6,
        assembly.as_secs_f64() * 1e3,
    );
}

const PLANNERS: [&str; 4] = ["synchronised", "none", "super-data-block", "cycle-stealing"];

fn lock_step(requests: u64) {
    for planner in PLANNERS {
        let set = format!("ftl.merge.planner={planner}");
        measure(&format!("lock-step, {planner}"), &[&set], requests, ());
    }
}

fn by_commands(requests: u64) {
    measure("lock-step, cycle-stealing, by commands", &[], requests / 20, Onlooker);
}

fn own_clocks(requests: u64) {
    for planner in PLANNERS {
        let set = format!("ftl.merge.planner={planner}");
        let name = format!("own clocks, {planner}");
        measure(&name, &[&set, "ftl.merge.clocks=own"], requests / 20, ());
    }
}

/// A scenario: its name, and a run of a given number of requests.
type Scenario = (&'static str, fn(u64));

/// Runs the scenarios named on the command line, or all. `cargo test` also runs benches, with
/// `--test`: then small ones, to show that they work.
fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let small = cfg!(debug_assertions) || arguments.iter().any(|argument| argument == "--test");
    let named: Vec<&String> = arguments.iter().filter(|a| !a.starts_with("--")).collect();
    let requests = if small { 20_000 } else { 2_000_000 };
    let scenarios: [Scenario; 3] =
        [("lock-step", lock_step), ("by-commands", by_commands), ("own-clocks", own_clocks)];
    for (name, run) in scenarios {
        if named.is_empty() || named.iter().any(|wanted| *wanted == name) {
            run(requests);
        }
    }
}
