//! What a page draws, as JSON: numbers of the moment, spans, time series, the map of blocks.

use ftlab::engine::Latencies;
use ftlab::ftl::BlockState;
use ftlab::host::Op;
use ftlab::stats::{AgeingOutlook, BlockGroup, DeviceCounters, HostStats, OpStats, Recorder};
use ftlab::units::Nanos;
use ftlab_lab::human;
use serde::Serialize;
use serde_json::{Value, json};

use crate::scene::{Done, Scene};

/// The most cells of a map of blocks.
const MOST_CELLS: usize = 1 << 14;
/// The valid pages of a cell are told in steps of this many.
const FULL: u64 = 255;

/// What the host saw in the current phase.
#[derive(Clone, Debug, Default, Serialize)]
pub struct HostSoFar {
    phase: String,
    measured: bool,
    /// As the result counts them: also trims and flushes.
    requests: u64,
    /// As the result has it for the phase.
    write_amplification_ratio: Option<f64>,
    /// Blocks that were chosen for collection in the phase, and merges of all kinds, likewise.
    collections: u64,
    merges: u64,
    /// From the first request to the last completion, as the result's rates have it.
    duration_ns: Nanos,
    read: OpSoFar,
    write: OpSoFar,
}

/// One operation.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct OpSoFar {
    requests: u64,
    bytes: u64,
    p50_ns: Option<Nanos>,
    p99_ns: Option<Nanos>,
    p999_ns: Option<Nanos>,
    max_ns: Option<Nanos>,
}

/// The requests of the current phase, and those of them that took `limit` or longer.
pub fn passed(recorder: &Recorder, limit: Option<Nanos>) -> (u64, u64) {
    let queues = recorder.current().map_or(&[][..], |phase| phase.queues);
    let slow_of = |latencies: &Latencies, limit: Nanos| {
        // Most phases have none, and then nothing is counted.
        match latencies.max() {
            Some(max) if max >= limit => latencies
                .counts()
                .filter(|(latency, _)| *latency >= limit)
                .map(|(_, count)| count)
                .sum(),
            _ => 0u64,
        }
    };
    let slow = |limit| {
        let ops = queues.iter().flat_map(|queue| [Op::Read, Op::Write].map(|op| queue.op(op)));
        ops.map(|op| slow_of(&op.latencies, limit)).sum()
    };
    (queues.iter().map(HostStats::requests).sum(), limit.map_or(0, slow))
}

impl OpSoFar {
    fn of(stats: &OpStats) -> OpSoFar {
        let quantile = |quantile| stats.latencies.quantile(quantile);
        OpSoFar {
            requests: stats.latencies.count(),
            bytes: stats.bytes(),
            p50_ns: quantile(0.5),
            p99_ns: quantile(0.99),
            p999_ns: quantile(0.999),
            max_ns: stats.latencies.max(),
        }
    }
}

impl HostSoFar {
    /// What was done in a phase: by the host, and by the device.
    fn counted(host: &HostStats, device: &DeviceCounters) -> HostSoFar {
        HostSoFar {
            requests: host.requests(),
            collections: device.ftl.gc_runs,
            merges: device.merges.merges(),
            duration_ns: host.duration(),
            read: OpSoFar::of(host.op(Op::Read)),
            write: OpSoFar::of(host.op(Op::Write)),
            ..HostSoFar::default()
        }
    }

    /// What the host saw so far in the current phase, or in the last one. `counters` are those of now.
    pub fn of(recorder: &Recorder, counters: &DeviceCounters, page_bytes: u64) -> HostSoFar {
        match (recorder.current(), recorder.phases().last()) {
            (Some(phase), _) => {
                let mut host = HostStats::default();
                phase.queues.iter().for_each(|queue| host.merge(queue));
                HostSoFar {
                    phase: phase.name.to_owned(),
                    measured: phase.measured,
                    write_amplification_ratio: phase.write_amplification(counters, page_bytes),
                    ..HostSoFar::counted(&host, &counters.since(phase.at_start))
                }
            }
            (None, Some(phase)) => HostSoFar {
                phase: phase.name.clone(),
                measured: phase.measured,
                write_amplification_ratio: phase.write_amplification(page_bytes),
                ..HostSoFar::counted(&phase.host, &phase.device)
            },
            (None, None) => HostSoFar::default(),
        }
    }
}

/// The run over time, column by column. All windows but the last are over.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Series {
    window_ns: u64,
    start_ns: Vec<u64>,
    read_bytes: Vec<u64>,
    write_bytes: Vec<u64>,
    reads: Vec<u64>,
    writes: Vec<u64>,
    read_p99_ns: Vec<Option<Nanos>>,
    write_p99_ns: Vec<Option<Nanos>>,
    host_pages: Vec<u64>,
    copied_pages: Vec<u64>,
    erases: Vec<u64>,
    free_blocks: Vec<Option<u32>>,
}

impl Series {
    /// The windows so far, of the preparation or of what is measured. Where nothing looked at the free blocks, there are as
    /// many as in the window before; before the first look, as many as it found.
    pub fn of(recorder: &Recorder) -> Series {
        let line = recorder.timeline();
        let mut free = line.windows().find_map(|(_, window)| window.free_blocks_min);
        let mut series = Series { window_ns: line.window_length().0, ..Series::default() };
        for (at, (start, window)) in line.windows().enumerate() {
            let (read, write) = (window.op(Op::Read), window.op(Op::Write));
            series.start_ns.push(start.0);
            series.read_bytes.push(read.bytes);
            series.write_bytes.push(write.bytes);
            series.reads.push(read.requests);
            series.writes.push(write.requests);
            series.read_p99_ns.push(line.latency_p99(at, Op::Read));
            series.write_p99_ns.push(line.latency_p99(at, Op::Write));
            series.host_pages.push(window.work.host_pages);
            series.copied_pages.push(window.work.gc_pages);
            series.erases.push(window.work.erases);
            free = window.free_blocks_min.or(free);
            series.free_blocks.push(free);
        }
        series
    }
}

/// The blocks, plane by plane, in cells of one or more.
#[derive(Clone, Debug, Default, Serialize)]
pub struct BlockMap {
    /// The cells of each plane.
    per_plane: usize,
    states: Vec<String>,
    /// By cell: the number of its most frequent state.
    state: Vec<u8>,
    /// By cell: valid pages, as a share of the cell that holds most of them, up to 255.
    valid: Vec<u8>,
    /// By cell: erases of its most worn block.
    erases: Vec<u32>,
}

impl BlockMap {
    /// The map of these groups.
    pub fn of(groups: &[BlockGroup]) -> BlockMap {
        let planes = groups.last().map_or(1, |group| group.plane.at() + 1);
        let groups_per_plane = (groups.len() / planes).max(1);
        let together = groups.len().div_ceil(MOST_CELLS).max(1);
        let most = groups.iter().map(|group| group.valid / u64::from(group.blocks.max(1)));
        let most = most.max().unwrap_or(0).max(1);
        let mut map = BlockMap {
            per_plane: groups_per_plane.div_ceil(together),
            states: BlockState::ALL.map(|state| format!("{state:?}").to_lowercase()).into(),
            ..BlockMap::default()
        };
        for cell in groups.chunks(groups_per_plane).flat_map(|plane| plane.chunks(together)) {
            let blocks: u64 = cell.iter().map(|group| u64::from(group.blocks)).sum();
            let valid: u64 = cell.iter().map(|group| group.valid).sum();
            let mut states = [0; BlockState::ALL.len()];
            for group in cell {
                states.iter_mut().zip(group.states).for_each(|(sum, count)| *sum += count);
            }
            let frequent = (0..states.len()).rev().max_by_key(|&state| states[state]);
            map.state.push(frequent.unwrap_or(0) as u8);
            map.valid.push((valid * FULL / (most * blocks.max(1))).min(FULL) as u8);
            map.erases.push(cell.iter().map(|group| group.erases_max).max().unwrap_or(0));
        }
        map
    }
}

/// An ageing in words.
pub fn ageing(outlook: &AgeingOutlook) -> String {
    let written = match outlook.write_amplification {
        Some(amplification) => format!(", write amplification {amplification:.2}"),
        None => String::new(),
    };
    let rounds = if outlook.rounds == 1 { "round" } else { "rounds" };
    format!("age: {} {rounds} of at most {}{written}", outlook.rounds, outlook.most_rounds)
}

/// What is done, and how much of it.
fn doing(scene: &Scene) -> String {
    let doing = &scene.doing;
    match scene.beside_clock {
        Some(Done { requests, total: Some(total) }) if total > 0 => {
            format!("{doing}: {} %", (u128::from(requests) * 100 / u128::from(total)).min(100))
        }
        Some(Done { requests, .. }) => format!("{doing}, {} requests", human::count(requests)),
        None => doing.clone(),
    }
}

/// What is told each time that the run waits. It takes the spans.
pub fn frame(scene: &mut Scene, ended: bool) -> Value {
    let spans: Vec<Value> = scene
        .spans
        .iter()
        .map(|span| {
            json!([
                u8::from(span.of_bus),
                span.place,
                span.kind as u8,
                span.origin as u8,
                span.from.0,
                span.until.0
            ])
        })
        .collect();
    scene.spans.clear();
    let cuts = std::mem::take(&mut scene.cuts);
    let left_out = std::mem::take(&mut scene.left_out);
    let (series, blocks, shares) = (scene.series.take(), scene.blocks.take(), scene.shares.take());
    let counters = &scene.counters;
    json!({
        "now_ns": counters.span.0,
        "ended": ended,
        "stopped": scene.stopped,
        "doing": doing(scene),
        "beside_clock": scene.beside_clock.is_some() && !ended,
        "host": scene.host,
        "levels": scene.levels.map(|levels| json!({ "free_blocks": levels.free_blocks, "buffered_pages": levels.buffered_pages })),
        "copied_pages": counters.ftl.gc_pages,
        "spans": spans,
        "cuts": cuts.iter().map(|cut| json!([cut.die, cut.from.0, cut.until.0])).collect::<Vec<Value>>(),
        "left_out": left_out,
        "series": series,
        "blocks": blocks,
        "shares": shares,
    })
}
