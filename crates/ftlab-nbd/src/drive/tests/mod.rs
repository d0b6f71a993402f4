//! A drive under random load, with a shadow copy of every sector: it is shut down, loses power, and has its server
//! killed, again and again.

mod bench;
mod damage;
mod deaths;
mod kills;
mod superblocks;

use std::collections::BTreeSet;

use ftlab::host::{Op, Request};
use ftlab::units::{Lba, Nanos};

use self::bench::{BUFFERED, Bench};
use super::STEP;

fn bears(device: &str, sets: &[&str]) -> Bench {
    let sets: Vec<&str> = ["ftl.recovery.policy=scan"].iter().chain(sets).copied().collect();
    let mut bench = Bench::new(device, &sets, 7);
    bench.work(12);
    bench
}

#[test]
fn nothing_is_lost_without_a_write_buffer() {
    let bench = bears("tiny", &[]);
    assert_eq!(bench.rolled_back, 0, "what was acknowledged was on flash");
}

#[test]
fn only_what_was_not_flushed_is_lost_with_one() {
    let bench = bears("tiny", &BUFFERED);
    assert!(bench.rolled_back > 0, "unflushed data is lost now and then");
}

#[test]
fn checkpoints_are_not_needed_after_a_kill() {
    let sets = [&BUFFERED[..], &["ftl.recovery.policy=checkpoint", "ftl.recovery.every=1MiB"]];
    bears("tiny", &sets.concat());
}

#[test]
fn a_map_on_flash_is_found_again() {
    bears("tiny", &[&BUFFERED[..], &["ftl.mapping.policy=dftl"]].concat());
}

#[test]
fn log_blocks_are_found_again() {
    bears("tiny", &["ftl.mapping.policy=fast", "ftl.over_provisioning=30%"]);
}

/// Two logical pages share a physical one.
#[test]
fn packed_pages_are_found_again() {
    let small = ["nand.blocks_per_plane=16", "ftl.over_provisioning=60%"];
    let sets = [&["cache.policy=prlru", "cache.capacity=256KiB"][..], &small[..]].concat();
    let bench = bears("prlru", &sets);
    assert!(bench.rolled_back > 0);
}

#[test]
fn failing_flash_loses_nothing() {
    let sets = ["nand.faults.program_failures=2000000", "nand.faults.erase_failures=500000"];
    bears("tiny", &[&BUFFERED[..], &sets[..]].concat());
}

/// The check above can fail: a drive that lies about flushes is found out.
#[test]
#[should_panic(expected = "and may hold")]
fn a_drive_that_ignores_flushes_is_found_out() {
    bears("tiny", &[&BUFFERED[..], &["host.flush=ignored"]].concat());
}

/// A device that recovers nothing keeps its data when it is shut down, and says what a kill has cost.
#[test]
fn without_recovery_a_kill_loses_everything() {
    let mut bench = Bench::new("tiny", &BUFFERED, 3);
    bench.steps(300).unwrap();
    bench.shut_down();
    bench.steps(300).unwrap();
    let left = bench.folder.path().join("left");
    std::fs::copy(&bench.spec.data, &left).unwrap();
    bench.spec.data = left;
    bench.spec.config = None;
    let told = bench.spec.start().err().expect("nothing is left").to_string();
    assert!(told.contains("its data is lost"), "{told}");
}

/// A die dies while the drive has parity across dies.
#[test]
fn parity_bears_the_death_of_a_die() {
    let sets = [
        "ftl.parity.policy=dies",
        "ftl.parity.width=2",
        "ftl.over_provisioning=100%",
        "cache.policy=lru",
        "cache.capacity=256KiB",
    ];
    let mut bench = Bench::new("tiny", &sets, 5);
    bench.steps(300).unwrap();
    bench.finish().unwrap();
    bench.drive().kill_die(1).unwrap();
    bench.steps(300).unwrap();
    bench.finish().unwrap();
    bench.durable = bench.current.iter().map(|&tag| BTreeSet::from([tag])).collect();
    bench.survey();
}

/// Who serves a drive may look at other things between two steps, however long the device works.
#[test]
fn a_step_is_bounded() {
    const LONG: Nanos = Nanos(3_600_000_000_000);
    let mut bench = Bench::new("tiny", &BUFFERED, 5);
    bench.steps(100).unwrap();
    bench.finish().unwrap();
    let drive = bench.drive();
    let (began, limit) = (drive.now(), drive.now() + LONG);
    let flush = Request { op: Op::Flush, lba: Lba(0), sectors: 0, stream: 0, tag: 0, fua: false };
    drive.submit(began, flush, None);
    let (mut answers, mut steps) = (Vec::new(), 0);
    while answers.is_empty() {
        let next = drive.next_moment().unwrap();
        drive.step(limit, &mut answers).unwrap();
        assert!(drive.now() <= next + STEP, "{:?} after {next:?}", drive.now());
        steps += 1;
    }
    assert!(steps > 1, "the flush took only {:?}", drive.now() - began);
}
