//! `timeline.parquet`: a row for each time window. `queues.parquet`: a row for each window and
//! submission queue.

use ftlab::host::Op;
use ftlab::stats::{QueueReport, Recorder};

use super::columns::{Column, ColumnTable};

const fn column(name: &'static str, unit: &'static str) -> Column {
    Column { name, bits: 64, unit }
}

const REQUESTS: &str = "requests that finished in the window";
const BYTES: &str = "bytes";
const NS: &str = "nanoseconds";
const P99: &str = "nanoseconds, at most 6.3 % too large; 0 without requests";
const PAGES: &str = "pages (mapping units)";

const COLUMNS: [Column; 31] = [
    column("start_ns", "nanoseconds since the device was switched on"),
    column("length_ns", NS),
    column("read_requests", REQUESTS),
    column("write_requests", REQUESTS),
    column("trim_requests", REQUESTS),
    column("flush_requests", REQUESTS),
    column("read_bytes", BYTES),
    column("write_bytes", BYTES),
    column("trim_bytes", BYTES),
    column("read_latency_sum_ns", NS),
    column("write_latency_sum_ns", NS),
    column("trim_latency_sum_ns", NS),
    column("flush_latency_sum_ns", NS),
    column("read_latency_max_ns", NS),
    column("write_latency_max_ns", NS),
    column("flush_latency_max_ns", NS),
    column("read_latency_p99_ns", P99),
    column("write_latency_p99_ns", P99),
    column("host_programmed_pages", PAGES),
    column("gc_copied_pages", PAGES),
    column("flash_reads", "flash pages sensed"),
    column("flash_programs", "flash pages programmed"),
    column("erased_blocks", "blocks"),
    column("die_busy_ns", "nanoseconds, the sum over the dies"),
    column("channel_busy_ns", "nanoseconds, the sum over the channels"),
    column("decoder_busy_ns", "nanoseconds, the sum over the engines; 0 if decoding takes no time"),
    column("dram_busy_ns", "nanoseconds; 0 if the DRAM takes no time"),
    column(
        "link_in_busy_ns",
        "nanoseconds; 0 if the link takes no time or its ways share the wire",
    ),
    column("link_out_busy_ns", "nanoseconds, as before"),
    column("link_both_busy_ns", "nanoseconds, either way of a shared wire"),
    column("processor_busy_ns", "nanoseconds, the sum over the cores"),
];

/// The fewest free blocks of a plane, as last observed.
const FREE: Column =
    Column { name: "free_blocks_min", bits: 32, unit: "free blocks of the plane with the fewest" };

/// Returns the windows of a run.
pub fn table(recorder: &Recorder) -> ColumnTable {
    let columns: [Column; COLUMNS.len() + 1] =
        std::array::from_fn(|at| COLUMNS.get(at).copied().unwrap_or(FREE));
    let about = "A row for each window of simulated time. What comes before the first measured phase has \
                 windows of one length, what comes from then on windows of another. What the device \
                 did is read at the first completion after a window's end.";
    let mut table = ColumnTable::new(about, &columns);
    let all = recorder.timelines().flat_map(|timeline| {
        let windows = timeline.windows().enumerate();
        windows.map(move |(at, (start, window))| (timeline, at, start, window))
    });
    // Before the first observation, use its value.
    let mut free = all.clone().find_map(|(.., window)| window.free_blocks_min).unwrap_or(0);
    for (timeline, at, start, window) in all {
        let p99 = |op| timeline.latency_p99(at, op).map_or(0, |latency| latency.0);
        let (read, write) = (window.op(Op::Read), window.op(Op::Write));
        let (trim, flush) = (window.op(Op::Trim), window.op(Op::Flush));
        free = window.free_blocks_min.unwrap_or(free);
        table.push([
            start.0,
            timeline.length_from(start).0,
            read.requests,
            write.requests,
            trim.requests,
            flush.requests,
            read.bytes,
            write.bytes,
            trim.bytes,
            read.latency_sum.0,
            write.latency_sum.0,
            trim.latency_sum.0,
            flush.latency_sum.0,
            read.latency_max.0,
            write.latency_max.0,
            flush.latency_max.0,
            p99(Op::Read),
            p99(Op::Write),
            window.work.host_pages,
            window.work.gc_pages,
            window.work.reads,
            window.work.programs,
            window.work.erases,
            window.work.die_busy.0,
            window.work.channel_busy.0,
            window.work.decoder_busy.0,
            window.work.front_end.dram.0,
            window.work.front_end.link_in.0,
            window.work.front_end.link_out.0,
            window.work.front_end.link_both.0,
            window.work.front_end.processor.0,
            u64::from(free),
        ]);
    }
    table
}

/// The unit of the column `queue`.
pub const QUEUE: &str =
    "the submission queue's number, from 0; queue.NUMBER in the metadata names its tenants";

const QUEUE_COLUMNS: [Column; 7] = [
    column("start_ns", "nanoseconds since the device was switched on"),
    column("length_ns", NS),
    Column { name: "queue", bits: 8, unit: QUEUE },
    column("requests", REQUESTS),
    column("bytes", "bytes read and written"),
    column("latency_sum_ns", NS),
    column("latency_max_ns", NS),
];

/// Returns the counts of each submission queue in each window.
pub fn of_queues(recorder: &Recorder, queues: &[QueueReport]) -> ColumnTable {
    let about = "A row for each window of simulated time and each submission queue. What comes before the \
                 first measured phase has windows of one length, what comes from then on windows of another.";
    let mut table = ColumnTable::new(about, &QUEUE_COLUMNS);
    table.name_queues(queues);
    let all = recorder.timelines().flat_map(|timeline| {
        timeline.queue_windows().map(move |(start, queues)| (timeline, start, queues))
    });
    for (timeline, start, queues) in all {
        for (queue, got) in (0u64..).zip(queues) {
            table.push([
                start.0,
                timeline.length_from(start).0,
                queue,
                got.requests,
                got.bytes,
                got.latency_sum.0,
                got.latency_max.0,
            ]);
        }
    }
    table
}
