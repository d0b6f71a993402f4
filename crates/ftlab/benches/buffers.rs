//! The cost of write buffers' decisions: each policy with a buffer of 1 MiB and one of 1 GiB, under writes of
//! 512 B to 4 KiB, most of which miss. The ratio of the two shows how a larger buffer makes each request costlier;
//! it includes misses of the processor's caches.
//!
//! `cargo bench -p ftlab --bench buffers [-- POLICY]` prints CPU time a request once the buffer is full, and the hit
//! ratio then, for each.

mod common;

use ftlab::cache::WriteBufferChoice;
use ftlab::config::Layer;
use ftlab::device::{Device, assemble};
use ftlab::engine::Stream;
use ftlab::host::{Advanced, Host, Op, Request};
use ftlab::units::{Lba, SimTime};

use common::{cpu_time, setup};

/// Sectors of a page.
const PAGE: u64 = 8;

/// Writes, one at a time, of one to eight sectors; half of them go to a tenth of the pages.
fn play(device: &mut Device, load: &mut Stream, requests: u64) {
    let pages = device.capacity_sectors() / PAGE;
    let mut done = Vec::new();
    for _ in 0..requests {
        let range = if load.below(2) == 0 { pages / 10 } else { pages };
        let page = load.below(range);
        let first = load.below(PAGE);
        let sectors = 1 + load.below(PAGE - first) as u32;
        let lba = Lba(page * PAGE + first);
        let write = Request { op: Op::Write, lba, sectors, stream: 0, tag: 0, fua: false };
        device.submit(device.now(), write);
        while done.is_empty() {
            let advanced = device.advance_until(SimTime::FOREVER, &mut done);
            assert_ne!(advanced, Advanced::Idle, "the device is stuck");
        }
        done.clear();
    }
}

/// CPU time per request in nanoseconds, and the share of pages that the buffer held.
fn measure(policy: &str, capacity: &str, requests: u64) -> (f64, f64) {
    let sets = [
        format!("cache.policy={policy}"),
        format!("cache.capacity={capacity}"),
        "cache.write_back_start=100%".to_owned(),
    ];
    let mut device = assemble(setup(Layer::preset("prlru"), &sets));
    let mut load = Stream::new(1, "bench");
    let capacity = device.buffer().capacity_pages();
    // Until it is full, and has been for a while.
    play(&mut device, &mut load, 3 * u64::from(capacity) + requests / 4);
    let before = *device.buffer_counts();
    let started = cpu_time();
    play(&mut device, &mut load, requests);
    let cpu = (cpu_time() - started).as_secs_f64() * 1e9 / requests as f64;
    let counts = device.buffer_counts();
    let hits = counts.write_hits - before.write_hits;
    let misses = counts.write_misses - before.write_misses;
    (cpu, hits as f64 / (hits + misses) as f64)
}

/// Runs the policies named on the command line, or all. `cargo test` also runs benches, with `--test`: then
/// small ones, to show that they work.
fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let small = cfg!(debug_assertions) || arguments.iter().any(|argument| argument == "--test");
    let named: Vec<&String> = arguments.iter().filter(|a| !a.starts_with("--")).collect();
    let (requests, large) = if small { (500, "2MiB") } else { (400_000, "1GiB") };
    for policy in WriteBufferChoice::SEAM.policies.iter().map(|policy| policy.name) {
        let absorbs = !["none", "gating"].contains(&policy);
        if !absorbs || !(named.is_empty() || named.iter().any(|wanted| *wanted == policy)) {
            continue;
        }
        let (of_small, few) = measure(policy, "1MiB", requests);
        let (of_large, many) = measure(policy, large, requests);
        println!(
            "{policy:<16} {of_small:>6.0} ns a request with 1 MiB ({:>4.1} % hits), {of_large:>6.0} ns with {large} \
             ({:>4.1} % hits): {:.2} times",
            few * 100.0,
            many * 100.0,
            of_large / of_small,
        );
    }
}
