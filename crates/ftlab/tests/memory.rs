//! A device of many terabytes starts at once and takes memory only where it is touched. It runs in
//! its own process, because it measures the process.

mod common;

use std::time::{Duration, Instant};

use ftlab::config::{Config, Layer};
use ftlab::device::{DeviceSetup, Tables, assemble};
use ftlab::engine::Stream;
use ftlab::host::{Host, Op};
use ftlab::image::{MAP_WORDS, Resume};

use common::chunks::saved_in_chunks;
use common::{Spec, closed_loop, request};

/// Resident memory in bytes, where the system reports it.
fn resident() -> Option<u64> {
    memory(1)
}

/// A column of the system's memory report for this process, in bytes.
fn memory(column: usize) -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split_whitespace().nth(column)?.parse().ok()?;
    // The page size of almost every Linux; on others this understates the memory.
    Some(pages * 4_096)
}

/// 4 TiB for the host and 7 % more, in units of 4 KiB: 8 channels x 8 dies x 4 planes.
fn four_tebibytes() -> Spec {
    let spec = Spec::small().with(
        "nand.channels = 8
        nand.chips_per_channel = 4
        nand.dies_per_chip = 2
        nand.planes_per_die = 4
        nand.blocks_per_plane = 1096
        nand.pages_per_block = 1024
        nand.page_size = 16KiB",
    );
    spec.holding(1 << 30)
}

/// A margin for the allocator and for the test's own list of completions.
const SLACK: u64 = 4 << 20;

fn preset(name: &str, sets: &[&str]) -> Config {
    let sets = sets.iter().enumerate().map(|(at, set)| Layer::set(at + 1, set));
    let layers: Vec<_> = std::iter::once(Layer::preset(name)).chain(sets).collect();
    Config::load(&layers).expect("a preset and what goes with it")
}

/// The history of pages takes two bits a logical page, and the class at which they were programmed
/// two bits a flash page; the age and use of blocks take eight bytes a block.
fn costs_take_two_bits_and_two_bits() {
    let plain = ["nand.timing.policy=plain", "nand.timing.read=170us", "nand.timing.program=600us"];
    let told = |sets: &[&str]| Tables::of(&preset("agcr", sets)).reserved.0;
    let more = told(&["ftl.cost.policy=agcr"]) - told(&plain);
    let setup = DeviceSetup::new(&preset("agcr", &["ftl.cost.policy=agcr"]), 1);
    let geometry = setup.ftl.geometry.clone();
    let bits = 2 * u64::from(setup.ftl.logical_pages) + 2 * u64::from(geometry.physical_pages());
    let tables = bits / 8 + 8 * u64::from(geometry.blocks());
    println!("{more} bytes more for {} pages", geometry.physical_pages());
    assert!(more <= tables, "{more} bytes more, {tables} are promised");
}

/// The address space grows by as much as the tables claim to reserve.
fn grows_as_told(config: &Config) {
    let told = Tables::of(config);
    let before = memory(0).unwrap_or_default();
    let device = assemble(DeviceSetup::new(config, 1));
    let grown = memory(0).unwrap_or_default() - before;
    drop(device);
    println!("{told:?}, {grown} bytes of addresses");
    let reserved = told.reserved.0;
    assert!((reserved..reserved + reserved / 20).contains(&(grown + SLACK)), "{told:?}, {grown}");
}

#[test]
fn a_large_device_costs_what_is_touched() {
    let spec = four_tebibytes();
    if resident().is_none() {
        println!("skipped: this system has no /proc/self/statm to read the resident memory from");
        return;
    }
    grows_as_told(&preset("qlc-2t", &[]));
    costs_take_two_bits_and_two_bits();
    let before = resident().unwrap_or_default();
    let started = Instant::now();
    let mut device = assemble(spec.setup());
    let took = started.elapsed();
    let after = resident().unwrap_or_default();
    println!("assembled in {took:?}, {} KiB", after.saturating_sub(before) >> 10);
    assert_eq!(device.capacity_sectors(), 8 << 30);
    assert!(took < Duration::from_millis(500), "{took:?}");
    assert!(after.saturating_sub(before) < SLACK, "{} bytes untouched", after - before);

    // Reads of unwritten pages touch nothing.
    let mut stream = Stream::new(1, "reads");
    let pages = u64::from(spec.logical_pages());
    let reads = (0..20_000).map(|tag| request(Op::Read, stream.below(pages) * 8, 8, tag));
    closed_loop(&mut device, 1, reads);
    let after = resident().unwrap_or_default();
    assert!(after.saturating_sub(before) < 2 * SLACK, "{} bytes by reading", after - before);

    // Whole rows of units in order, so that the tables are touched densely.
    const TOUCHED: u32 = 8 << 20;
    let writes = (0..TOUCHED / 32).map(|row| request(Op::Write, u64::from(row) * 256, 256, row));
    for write in writes {
        closed_loop(&mut device, 1, [write]);
    }
    let bytes = resident().unwrap_or_default() - after;
    let each = bytes as f64 / f64::from(TOUCHED);
    println!("{each:.2} bytes for each page touched");
    assert!(each >= 8.125, "{each} bytes for each page touched: Tables::written promises more");
    assert!(each <= 10.0, "{each} bytes for each page touched");
    assert_eq!(device.ftl_counts().host_pages, u64::from(TOUCHED));

    // Loading and reading takes what is read, not what the image holds.
    assert_eq!(device.rest(&mut Vec::new()), Ok(()));
    let snapshot = saved_in_chunks(&device, MAP_WORDS);
    let before = resident().unwrap_or_default();
    let started = Instant::now();
    // Placement by address checks where all pages lie.
    let spec = spec.with("ftl.placement.policy = dynamic");
    let mut loaded = assemble(spec.setup());
    let resume = Resume { placement: false, ..Resume::ALL };
    assert_eq!(loaded.load_packed(&snapshot, resume), Ok(()));
    let reads = (0..1_000).map(|tag| request(Op::Read, u64::from(tag) * 8, 8, tag));
    closed_loop(&mut loaded, 1, reads);
    let bytes = resident().unwrap_or_default().saturating_sub(before);
    println!(
        "{bytes} bytes and {:?} to load a device that holds {TOUCHED} pages",
        started.elapsed()
    );
    assert!(bytes < 3 * u64::from(TOUCHED), "{bytes} bytes by loading");
}
