//! The report of the requests of one operation, and its computation.

use serde::Serialize;

use super::figures::{mb_per_second, per_second};
use super::host::{OpStats, PARTS};
use crate::engine::Latencies;
use crate::units::Nanos;

/// Requests of one operation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OpReport {
    /// How many were done.
    pub requests: u64,
    /// How many were refused, because the device takes no writes any more. Nothing else counts them.
    pub refused_requests: u64,
    /// How many of those that were done ended as unreadable, because data of them is lost.
    pub unreadable_requests: u64,
    /// Bytes.
    pub bytes: u64,
    /// Requests a second; null if one request is all that was measured.
    pub iops: Option<f64>,
    /// 10^6 bytes a second; null as the rate of requests is.
    pub throughput_mb_per_s: Option<f64>,
    /// From arrival to completion.
    pub latency_ns: LatencyReport,
    /// Where the time went.
    pub time_share_ratio: Option<TimeShares>,
}

/// A distribution of latencies in nanoseconds. Mean and maximum are exact; percentiles are at most
/// 0.1 % too large. A percentile is null if fewer than ten samples lie beyond it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LatencyReport {
    /// The mean.
    pub mean: Option<f64>,
    /// The median.
    pub p50: Option<Nanos>,
    /// 90 % take no longer.
    pub p90: Option<Nanos>,
    /// 99 % take no longer.
    pub p99: Option<Nanos>,
    /// 99.9 % take no longer.
    pub p99_9: Option<Nanos>,
    /// 99.99 % take no longer.
    pub p99_99: Option<Nanos>,
    /// The longest.
    pub max: Option<Nanos>,
}

/// Shares of the summed latencies of an operation; they sum to one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TimeShares {
    /// Waiting in the host for a place in the queue.
    pub host_queue: f64,
    /// Waiting in the submission queue until the controller fetched the command.
    pub submission: f64,
    /// In the controller's front end: taking up the command, posting its completion, waiting for the interrupt.
    pub front_end: f64,
    /// On the link between host and device, or waiting for it.
    pub link: f64,
    /// Moving data to or from DRAM.
    pub buffer: f64,
    /// Waiting for room in the write buffer, or for a program to begin.
    pub admission: f64,
    /// Waiting for entries of the map that were not in memory.
    pub translation: f64,
    /// Waiting for a die or a bus that served other host work.
    pub queue: f64,
    /// Waiting for garbage collection, or for what else the device does of its own: wear, folding, rewrites.
    pub gc: f64,
    /// On the bus.
    pub bus: f64,
    /// In the flash array.
    pub cell: f64,
}

impl TimeShares {
    /// The shares, in the order of [`PARTS`].
    #[must_use]
    pub fn all(&self) -> [f64; PARTS.len()] {
        let TimeShares {
            host_queue,
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
        } = *self;
        [
            host_queue,
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
        ]
    }
}

pub(super) fn op_report(op: &OpStats, rated: Option<Nanos>) -> OpReport {
    let (requests, refused_requests) = (op.latencies.count(), op.refused);
    let share = |part: u128| part as f64 / op.latencies.sum_ns() as f64;
    let [
        host_queue,
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
    ] = op.parts.sums_ns.map(share);
    let shares = TimeShares {
        host_queue,
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
    };
    OpReport {
        requests,
        refused_requests,
        unreadable_requests: op.unreadable,
        bytes: op.bytes(),
        iops: per_second(requests, rated),
        throughput_mb_per_s: mb_per_second(op.bytes(), rated),
        latency_ns: latency_report(&op.latencies),
        time_share_ratio: (op.latencies.sum_ns() > 0).then_some(shares),
    }
}

pub(super) fn latency_report(latencies: &Latencies) -> LatencyReport {
    LatencyReport {
        mean: latencies.mean_ns(),
        p50: latencies.quantile(0.5),
        p90: latencies.quantile(0.9),
        p99: latencies.quantile(0.99),
        p99_9: latencies.quantile(0.999),
        p99_99: latencies.quantile(0.9999),
        max: latencies.max(),
    }
}
