//! What benchmarks share: the time that they take, and the allocator of the program.

use std::time::Duration;

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
