//! The view of the host: requests, bytes, latencies and their parts, for each operation.

use crate::engine::Latencies;
use crate::host::{Breakdown, Completion, Op, Outcome};
use crate::units::{Nanos, SECTOR_BYTES, SimTime};

/// The parts of a latency, in the order of a request's way through the device.
pub const PARTS: [&str; 11] = [
    "host_queue",
    "submission",
    "front_end",
    "link",
    "buffer",
    "admission",
    "translation",
    "queue",
    "gc",
    "bus",
    "cell",
];

/// Sums of the parts of latencies, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeParts {
    /// In the order of [`PARTS`].
    pub sums_ns: [u128; PARTS.len()],
}

impl TimeParts {
    #[inline]
    fn add(&mut self, waited: Nanos, parts: &Breakdown) {
        let Breakdown {
            submission,
            front_end,
            link,
            buffer,
            admission,
            translation,
            queue,
            gc,
            bus,
            cell,
        } = *parts;
        let device = [buffer, admission, translation, queue, gc, bus, cell];
        let parts = [waited, submission, front_end, link].into_iter().chain(device);
        for (sum, part) in self.sums_ns.iter_mut().zip(parts) {
            *sum += u128::from(part.0);
        }
    }

    fn merge(&mut self, other: &TimeParts) {
        self.sums_ns.iter_mut().zip(other.sums_ns).for_each(|(sum, part)| *sum += part);
    }
}

/// Requests of one operation.
#[derive(Clone, Debug, Default)]
pub struct OpStats {
    /// Their latencies, from arrival to completion.
    pub latencies: Latencies,
    /// Sectors moved.
    pub sectors: u64,
    /// Where the time went.
    pub parts: TimeParts,
    /// Requests that were refused: they count nowhere else.
    pub refused: u64,
    /// Requests whose data is lost.
    pub unreadable: u64,
}

impl OpStats {
    /// Bytes moved.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.sectors * SECTOR_BYTES
    }

    fn merge(&mut self, other: &OpStats) {
        self.latencies.merge(&other.latencies);
        self.sectors += other.sectors;
        self.parts.merge(&other.parts);
        self.refused += other.refused;
        self.unreadable += other.unreadable;
    }
}

/// Everything the host saw during one phase, or several.
#[derive(Clone, Debug, Default)]
pub struct HostStats {
    ops: [OpStats; Op::ROWS],
    first_arrival: Option<SimTime>,
    last_arrival: SimTime,
    last_completion: SimTime,
}

impl HostStats {
    /// Records a request that arrived at `arrived`. This is earlier than its submission if it had
    /// to wait for a place in the host's queue; the wait is part of its latency.
    #[inline]
    pub fn record(&mut self, completion: &Completion, arrived: SimTime) {
        let op = &mut self.ops[completion.request.op.row()];
        if completion.outcome.is_carried_out() {
            op.latencies.record(completion.finished - arrived);
            if !completion.request.op.manages_zones() {
                op.sectors += u64::from(completion.request.sectors);
            }
            op.parts.add(completion.submitted - arrived, &completion.breakdown);
            op.unreadable += u64::from(completion.outcome == Outcome::Unreadable);
        } else {
            op.refused += 1;
        }
        self.first_arrival = Some(self.first_arrival.map_or(arrived, |first| first.min(arrived)));
        self.last_arrival = self.last_arrival.max(arrived);
        self.last_completion = self.last_completion.max(completion.finished);
    }

    /// The requests of one operation.
    #[must_use]
    pub fn op(&self, op: Op) -> &OpStats {
        &self.ops[op.row()]
    }

    /// All requests.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.ops.iter().map(|op| op.latencies.count()).sum()
    }

    /// When the first request arrived and the last was done.
    #[must_use]
    pub fn span(&self) -> Option<(SimTime, SimTime)> {
        self.first_arrival.map(|first| (first, self.last_completion))
    }

    /// From the first arrival to the last completion.
    #[must_use]
    pub fn duration(&self) -> Nanos {
        self.span().map_or(Nanos::ZERO, |(first, last)| last - first)
    }

    /// From the last arrival to the last completion.
    #[must_use]
    pub fn backlog(&self) -> Nanos {
        self.last_completion.saturating_since(self.last_arrival)
    }

    /// Adds the requests of `other`; the span becomes that of both together.
    pub fn merge(&mut self, other: &HostStats) {
        self.ops.iter_mut().zip(&other.ops).for_each(|(op, others)| op.merge(others));
        let Some(first) = other.first_arrival else { return };
        self.first_arrival = Some(self.first_arrival.map_or(first, |mine| mine.min(first)));
        self.last_arrival = self.last_arrival.max(other.last_arrival);
        self.last_completion = self.last_completion.max(other.last_completion);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::{QueueId, Request};
    use crate::units::Lba;

    fn completion(op: Op, submitted: u64, breakdown: Breakdown) -> Completion {
        let finished = SimTime(submitted) + breakdown.total();
        let request = Request { op, lba: Lba(8), sectors: 8, stream: 0, tag: 0, fua: false };
        Completion {
            request,
            queue: QueueId::default(),
            submitted: SimTime(submitted),
            finished,
            breakdown,
            outcome: Outcome::Done,
        }
    }

    #[test]
    fn operations_are_kept_apart_and_waiting_in_the_host_counts() {
        let mut stats = HostStats::default();
        let read = Breakdown { cell: Nanos(50), bus: Nanos(10), ..Breakdown::default() };
        let write = Breakdown { buffer: Nanos(5), gc: Nanos(100), ..Breakdown::default() };
        stats.record(&completion(Op::Read, 1_000, read), SimTime(900));
        stats.record(&completion(Op::Write, 2_000, write), SimTime(2_000));
        stats.record(&completion(Op::Write, 3_000, write), SimTime(3_000));
        assert_eq!(stats.requests(), 3);
        assert_eq!(stats.op(Op::Read).latencies.sum_ns(), 160);
        assert_eq!(stats.op(Op::Read).parts.sums_ns, [100, 0, 0, 0, 0, 0, 0, 0, 0, 10, 50]);
        assert_eq!(stats.op(Op::Write).parts.sums_ns, [0, 0, 0, 0, 10, 0, 0, 0, 200, 0, 0]);
        assert_eq!(stats.op(Op::Write).bytes(), 8192);
        assert_eq!(stats.op(Op::Trim).latencies.count(), 0);
        assert_eq!(stats.span(), Some((SimTime(900), SimTime(3_105))));
        assert_eq!((stats.duration(), stats.backlog()), (Nanos(2_205), Nanos(105)));
    }

    #[test]
    fn the_parts_sum_to_the_latency() {
        let parts = Breakdown {
            buffer: Nanos(1),
            admission: Nanos(2),
            queue: Nanos(3),
            gc: Nanos(4),
            bus: Nanos(5),
            cell: Nanos(6),
            submission: Nanos(8),
            front_end: Nanos(9),
            link: Nanos(10),
            translation: Nanos(11),
        };
        let mut stats = HostStats::default();
        stats.record(&completion(Op::Read, 100, parts), SimTime(93));
        let op = stats.op(Op::Read);
        assert_eq!(op.parts.sums_ns.iter().sum::<u128>(), op.latencies.sum_ns());
        assert_eq!(op.parts.sums_ns, [7, 8, 9, 10, 1, 2, 11, 3, 4, 5, 6]);
    }
}
