//! Shared by the benchmarks: devices, CPU time, and the allocator of the program.
#![allow(dead_code, reason = "each benchmark uses its own part of this")]

use std::time::Duration;

use ftlab::config::{Config, Layer};
use ftlab::device::DeviceSetup;

#[global_allocator]
static MEMORY: ftlab_memory::TableAllocator = ftlab_memory::TableAllocator::new();

/// CPU time of this process, from the kernel's scheduler, or wall time where there is none.
pub fn cpu_time() -> Duration {
    let started = std::sync::LazyLock::force(&STARTED).elapsed();
    std::fs::read_to_string("/proc/self/schedstat")
        .ok()
        .and_then(|text| text.split(' ').next()?.parse().ok())
        .map_or(started, Duration::from_nanos)
}

static STARTED: std::sync::LazyLock<std::time::Instant> =
    std::sync::LazyLock::new(std::time::Instant::now);

/// 16 GiB of flash under a page map without a buffer.
pub fn page_map() -> Layer {
    Layer::file("page-map-16g", include_str!("../scenarios/page-map-16g.toml"))
}

/// A device with options set; a later one wins.
pub fn setup(begin: Layer, sets: &[impl AsRef<str>]) -> DeviceSetup {
    let sets = (1..).zip(sets).map(|(number, set)| Layer::set(number, set.as_ref()));
    let layers: Vec<Layer> = std::iter::once(begin).chain(sets).collect();
    let config = Config::load(&layers).unwrap_or_else(|error| panic!("{error}"));
    DeviceSetup::new(&config, 1)
}
