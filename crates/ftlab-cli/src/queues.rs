//! What each submission queue received, as tables.

use std::io::{self, Write};

use ftlab::stats::Report;

use crate::human::{count, percent, rate};
use crate::table::{latency_cells, line, or_none, precise, show, table};
use ftlab_lab::tenants::queue_labels;

/// Prints the share and latencies of each submission queue, if there are several.
pub fn print(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    if report.host.queues.is_empty() {
        return Ok(());
    }
    let labels = queue_labels(report.host.queues.iter().map(|queue| &*queue.tenants));
    let mut rows = table(&["Queue", "tenant", "weight", "requests", "IOPS", "MB/s", "of bytes"]);
    let mut latencies = table(&["Latency", "mean", "p50", "p90", "p99", "p99.9", "max"]);
    for (queue, label) in report.host.queues.iter().zip(&labels) {
        let tenant = if queue.tenants.is_empty() { "-" } else { label };
        rows.add_row([
            queue.queue.to_string(),
            tenant.to_owned(),
            queue.weight.to_string(),
            count(queue.requests),
            or_none(queue.iops, rate),
            or_none(queue.throughput_mb_per_s, rate),
            or_none(queue.bytes_share_ratio, percent),
        ]);
        for (name, op) in queue.ops().into_iter().filter(|(_, op)| op.requests > 0) {
            let [mean, p50, p90, p99, p99_9, _, max] = latency_cells(&op.latency_ns);
            latencies.add_row([format!("{label}, {name}"), mean, p50, p90, p99, p99_9, max]);
        }
    }
    show(rows, out)?;
    show(latencies, out)?;
    let Some(fairness) = &report.host.fairness else { return Ok(()) };
    writeln!(out)?;
    let text = format!(
        "{} of bytes, {} of requests (Jain's index, by weight); {} smallest over largest share of bytes by weight",
        or_none(fairness.jain_bytes_ratio, precise),
        or_none(fairness.jain_requests_ratio, precise),
        or_none(fairness.min_over_max_bytes_ratio, precise),
    );
    line(out, "Fairness", &text)
}
