//! How the submission queues of one result fared over time, by the names of their tenants.

use serde::Serialize;

use super::super::finished::Finished;
use super::super::metrics::tenants;
use super::data::{time_points, together};
use crate::failure::Failure;
use crate::page::DrawnNumber;
use crate::result::QUEUES;
use crate::tenants::queue_labels;

/// More lines are not told apart.
const MOST_QUEUES: usize = 16;

/// The time series of each queue, from the start of measuring.
#[derive(Debug, Serialize)]
pub struct QueueTimes {
    /// The tenants of each queue.
    pub names: Vec<String>,
    /// The start of each window, in seconds.
    pub s: Vec<DrawnNumber>,
    /// The length of a window.
    pub length_s: f64,
    /// By queue: the throughput of reads and writes together.
    pub throughput: Vec<Vec<Option<DrawnNumber>>>,
    /// By queue: the mean latency.
    pub latency: Vec<Vec<Option<DrawnNumber>>>,
}

const COLUMNS: [&str; 6] =
    ["start_ns", "length_ns", "queue", "requests", "bytes", "latency_sum_ns"];

/// Reads the series of a result with several queues.
pub fn of(result: &Finished) -> Result<Option<QueueTimes>, Failure> {
    let tenants = tenants(&result.document);
    let names = queue_labels(tenants.iter().map(Vec::as_slice));
    if !(2..=MOST_QUEUES).contains(&names.len()) || !result.folder.join(QUEUES).is_file() {
        return Ok(None);
    }
    let started = result.measured_from_ns();
    let mut rows = result.columns(QUEUES, COLUMNS)?;
    rows.retain(|row| row[0].saturating_add(row[1]) > started && row[2] < names.len() as u64);
    rows.sort_by_key(|row| (row[0], row[2]));
    let windows: Vec<_> = rows.chunk_by(|one, next| one[0] == next[0]).collect();
    let spans: Vec<(u64, u64)> = windows.iter().map(|rows| (rows[0][0], rows[0][1])).collect();
    let most = time_points(names.len());
    let mut times = QueueTimes {
        s: Vec::new(),
        length_s: 0.0,
        throughput: vec![Vec::new(); names.len()],
        latency: vec![Vec::new(); names.len()],
        names,
    };
    for one in together(&spans, most, result.finished_ns()) {
        let windows = &windows[one.windows.clone()];
        let seconds = one.seconds();
        times.length_s = times.length_s.max(seconds);
        times.s.push(DrawnNumber(one.start_ns.saturating_sub(started) as f64 / 1e9));
        for queue in 0..times.names.len() {
            let own =
                || windows.iter().flat_map(|rows| rows.iter()).filter(|row| row[2] == queue as u64);
            let sum = |column: usize| own().map(|row| row[column] as f64).sum::<f64>();
            let requests = sum(3);
            times.throughput[queue].push(Some(DrawnNumber(sum(4) / 1e6 / seconds)));
            times.latency[queue].push((requests > 0.0).then(|| DrawnNumber(sum(5) / requests)));
        }
    }
    Ok(Some(times))
}
