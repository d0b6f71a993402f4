//! The service that each submission queue got, and its fairness.

use serde::Serialize;

use super::HostStats;
use super::figures::{mb_per_second, per_second, ratio};
use super::op_report::{OpReport, op_report};
use crate::host::{Op, QueueId, Queues};
use crate::units::Nanos;

/// What one submission queue got.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QueueReport {
    /// Its number, from 0.
    pub queue: u32,
    /// The senders of its commands, as the load calls them: tenants of a workload, or jobs of fio.
    /// Empty if the load names none.
    pub tenants: Vec<String>,
    /// Its weight; 1 if the arbitration knows no weights.
    pub weight: u32,
    /// Requests finished.
    pub requests: u64,
    /// Requests a second; null if one request is all that was measured.
    pub iops: Option<f64>,
    /// 10^6 bytes a second, read and written; null as the rate of requests is.
    pub throughput_mb_per_s: Option<f64>,
    /// Its share of the bytes that all queues read and wrote; null if they moved none.
    pub bytes_share_ratio: Option<f64>,
    /// Its share of the weights of all queues.
    pub weight_share_ratio: f64,
    /// Reads.
    pub read: OpReport,
    /// Writes.
    pub write: OpReport,
    /// Trims.
    pub trim: OpReport,
    /// Flushes.
    pub flush: OpReport,
}

impl QueueReport {
    /// Every operation with its name, in the order in which reports list them.
    #[must_use]
    pub fn ops(&self) -> [(&'static str, &OpReport); 4] {
        [("read", &self.read), ("write", &self.write), ("trim", &self.trim), ("flush", &self.flush)]
    }
}

/// The fairness of the service in proportion to the weights of the queues. Only queues with
/// requests count. Jain's index is that of Jain, Chiu and Hawe, DEC-TR-301, 1984. None of the
/// values says how a queue would fare alone: for its slowdown, run it alone and compare.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Fairness {
    /// Queues with requests.
    pub queues: u32,
    /// Jain's index of bytes per second over weight: 1 if all queues got the same for their weight,
    /// 1/n if one of n got everything. Null if nothing was moved.
    pub jain_bytes_ratio: Option<f64>,
    /// The same of requests a second over weight.
    pub jain_requests_ratio: Option<f64>,
    /// The least over the most of bytes a second over weight.
    pub min_over_max_bytes_ratio: Option<f64>,
}

fn bytes(stats: &HostStats) -> u64 {
    stats.op(Op::Read).bytes() + stats.op(Op::Write).bytes()
}

/// A row for each queue.
pub(super) fn reports(
    stats: &[HostStats],
    queues: &Queues,
    rated: Option<Nanos>,
) -> Vec<QueueReport> {
    let all_bytes: u64 = stats.iter().map(bytes).sum();
    let all_weights: u64 = queues.weights.iter().copied().map(u64::from).sum();
    let report = |(stats, queue): (&HostStats, QueueId)| {
        let weight = queues.weights[queue.at()];
        QueueReport {
            queue: queue.get(),
            tenants: Vec::new(),
            weight,
            requests: stats.requests(),
            iops: per_second(stats.requests(), rated),
            throughput_mb_per_s: mb_per_second(bytes(stats), rated),
            bytes_share_ratio: ratio(bytes(stats) as f64, all_bytes as f64),
            weight_share_ratio: f64::from(weight) / all_weights as f64,
            read: op_report(stats.op(Op::Read), rated),
            write: op_report(stats.op(Op::Write), rated),
            trim: op_report(stats.op(Op::Trim), rated),
            flush: op_report(stats.op(Op::Flush), rated),
        }
    };
    stats.iter().zip(queues.all()).map(report).collect()
}

/// The fairness among the queues that were used; none if fewer than two were.
pub(super) fn fairness(stats: &[HostStats], queues: &Queues) -> Option<Fairness> {
    let used = stats.iter().zip(&queues.weights).filter(|(stats, _)| stats.requests() > 0);
    let used: Vec<(&HostStats, f64)> = used.map(|(stats, &w)| (stats, f64::from(w))).collect();
    if used.len() < 2 {
        return None;
    }
    let by_bytes: Vec<f64> = used.iter().map(|(s, weight)| bytes(s) as f64 / weight).collect();
    let by_requests: Vec<f64> =
        used.iter().map(|(s, weight)| s.requests() as f64 / weight).collect();
    let least = by_bytes.iter().copied().fold(f64::INFINITY, f64::min);
    let most = by_bytes.iter().copied().fold(0.0, f64::max);
    Some(Fairness {
        queues: used.len() as u32,
        jain_bytes_ratio: jain(&by_bytes),
        jain_requests_ratio: jain(&by_requests),
        min_over_max_bytes_ratio: ratio(least, most),
    })
}

/// Jain's fairness index: the square of the sum over n times the sum of squares. Jain, Chiu, Hawe, "A Quantitative
/// Measure of Fairness and Discrimination for Resource Allocation in Shared Computer Systems", DEC-TR-301, 1984. It
/// does not depend on the unit, so counts can stand for rates.
fn jain(values: &[f64]) -> Option<f64> {
    let sum: f64 = values.iter().sum();
    let squares: f64 = values.iter().map(|value| value * value).sum();
    ratio(sum * sum, values.len() as f64 * squares)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_runs_from_one_over_n_to_one() {
        assert_eq!(jain(&[3.0, 3.0, 3.0, 3.0]), Some(1.0));
        assert_eq!(jain(&[5.0, 0.0, 0.0, 0.0]), Some(0.25));
        // (1 + 2 + 3)^2 / (3 * (1 + 4 + 9)).
        assert_eq!(jain(&[1.0, 2.0, 3.0]), Some(36.0 / 42.0));
        assert_eq!(jain(&[0.0, 0.0]), None);
    }
}
