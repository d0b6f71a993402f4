//! `latencies.parquet`: the distribution of the latencies of each operation, at the resolution of
//! the percentiles.

use ftlab::engine::Latencies;
use ftlab::host::Op;
use ftlab::stats::Recorder;

use super::columns::{Column, ColumnTable};

const COLUMNS: [Column; 3] = [
    Column { name: "op", bits: 8, unit: "0 read, 1 write, 2 trim, 3 flush" },
    Column {
        name: "latency_ns",
        bits: 64,
        unit: "nanoseconds, at most 0.1 % above the exact latency",
    },
    Column {
        name: "requests",
        bits: 64,
        unit: "requests that took so long, and longer than the row before",
    },
];

/// Returns the latencies of the measured phases.
pub fn table(recorder: &Recorder) -> ColumnTable {
    let about = "A row for each latency that occurred in the measured phases, rising within each \
                 operation.";
    let mut table = ColumnTable::new(about, &COLUMNS);
    for op in [Op::Read, Op::Write, Op::Trim, Op::Flush] {
        let mut latencies = Latencies::default();
        let measured = recorder.phases().iter().filter(|phase| phase.measured);
        measured.for_each(|phase| latencies.merge(&phase.host.op(op).latencies));
        for (latency, requests) in latencies.counts() {
            table.push([op as u64, latency.0, requests]);
        }
    }
    table
}
