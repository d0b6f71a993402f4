//! Priorities by source, as deadlines: a command is due some time after its arrival, depending on its
//! source, and a die takes the command that is due first.
//!
//! If the delays are far apart, sources have strict priorities as long as no command waits that long, and
//! no command waits forever. An erase is due just after the latest deadline of any read that arrives with
//! it, so it passes no earlier read.
//!
//! Source: earliest deadline first, Liu and Layland, "Scheduling Algorithms for Multiprogramming in a
//! Hard-Real-Time Environment", JACM 1973; with a deadline for each kind of I/O as in the deadline
//! scheduler of Linux.

use super::{Arrival, Kind, Origin, SchedulerFacts, SchedulerPolicy, View};
use crate::image::keeps_nothing;
use crate::options::declare::options;
use crate::policy::{Parts, Policy};
use crate::units::Nanos;

/// Delays by source.
#[derive(Clone, Debug)]
pub struct Deadline {
    host_read: Nanos,
    host_write: Nanos,
    gc: Nanos,
    last: Nanos,
}

options! {
    /// When commands are due.
    pub struct DeadlineOptions at "scheduler" {
        /// Time after its arrival at which a host read is due.
        host_read: Nanos = "0ns", in "0ns"..="100s", source "reads first: the host waits for them";
        /// Time after its arrival at which a program for the host, or the read of a partial write, is
        /// due.
        host_write: Nanos = "5ms", in "0ns"..="100s",
            source "assumed: several programs long, so that a write waits for reads, but not forever";
        /// Time after its arrival at which a command of the device's own is due, such as one of
        /// collection.
        gc: Nanos = "20ms", in "0ns"..="100s",
            source "assumed: behind the host, but not for long enough to run out of free blocks";
    }
}

impl Policy for Deadline {
    const NAME: &'static str = "deadline";
    const SUMMARY: &'static str =
        "priorities for host reads, host writes and collection, as deadlines";
    const SOURCE: &'static str = "Liu and Layland, JACM 1973; Linux's deadline scheduler";
    type Options = DeadlineOptions;

    fn build(options: &Self::Options, _parts: &Parts<'_>) -> Self {
        Deadline::new(options)
    }

    keeps_nothing!(Deadline { host_read, host_write, gc, last });
}

impl Deadline {
    /// Returns a policy with these delays.
    #[must_use]
    pub fn new(options: &DeadlineOptions) -> Deadline {
        let DeadlineOptions { host_read, host_write, gc } = *options;
        Deadline { host_read, host_write, gc, last: host_read.max(host_write).max(gc) }
    }
}

impl SchedulerFacts for Deadline {}

impl SchedulerPolicy for Deadline {
    fn has_deadlines(&self) -> bool {
        true
    }

    #[inline(always)]
    fn rank(&mut self, arrival: &Arrival, _view: &View<'_>) -> u64 {
        let due = match (arrival.kind, arrival.origin) {
            // Behind the reads of the same time, too.
            (Kind::Erase, _) => arrival.at + self.last + Nanos(1),
            (Kind::Read, Origin::Host) => arrival.at + self.host_read,
            (_, Origin::Host | Origin::ReadModifyWrite) => arrival.at + self.host_write,
            _ => arrival.at + self.gc,
        };
        due.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An erase must go behind every read that arrived before it, whichever of the delays is the longest.
    #[test]
    fn the_longest_delay_counts_for_erases() {
        for delays in [[1, 2, 3], [1, 3, 2], [2, 1, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1]] {
            let [host_read, host_write, gc] = delays.map(Nanos);
            let deadline = Deadline::new(&DeadlineOptions { host_read, host_write, gc });
            assert_eq!(deadline.last, Nanos(3), "{delays:?}");
        }
    }
}
