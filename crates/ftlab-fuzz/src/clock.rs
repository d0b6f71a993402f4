//! Processor time. Other programs on a busy machine do not lengthen it, as they lengthen time on the wall.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Returns the processor time that the calling thread has used.
#[must_use]
pub fn of_thread() -> Duration {
    read(ClockId::ThreadCPUTime)
}

/// Returns the processor time that all threads of this process have used.
#[must_use]
pub fn of_process() -> Duration {
    read(ClockId::ProcessCPUTime)
}

fn read(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    // These clocks begin at zero.
    Duration::from_secs(time.tv_sec as u64) + Duration::from_nanos(time.tv_nsec as u64)
}
