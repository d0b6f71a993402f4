//! The data of the page's curves and maps, reduced to what its pixels can show.

use std::collections::BTreeMap;
use std::ops::Range;

use ftlab::nand::ProgramUnit;
use ftlab::options::value::Value;
use ftlab::shape::Cell;
use ftlab::units::Bytes;
use serde::Serialize;

use super::super::build::Series;
use super::super::finished::{Finished, Rows};
use super::super::metrics::OPS;
use super::moments;
use super::queues::{self, QueueTimes};
use crate::failure::Failure;
use crate::page::DrawnNumber;
use crate::timeline::Moment;

/// The number of points of a distribution's curve.
const CURVE_POINTS: usize = 400;
/// The most points of a time series: the number of windows of a measurement.
const TIME_POINTS: usize = 1024;
/// Fewer points of a time series would hide what it shows.
const LEAST_TIME_POINTS: usize = 170;
/// The most columns of a map.
const MAP_COLUMNS: u64 = 256;
/// The most rows of a map; with more dies, neighbouring dies share a row.
const MAP_ROWS: u64 = 64;

/// The data of the page.
#[derive(Debug, Serialize)]
pub struct Data {
    pub variants: Vec<String>,
    /// By operation that occurs in any variant.
    pub latencies: Vec<Curves>,
    /// By variant, from the first seed.
    pub time: Vec<Times>,
    /// By variant, from the first seed.
    pub maps: Vec<BlockMap>,
    /// Of the variants that have one.
    pub moments: Vec<Moment>,
    /// Of a single variant with several queues.
    pub queues: Option<QueueTimes>,
}

/// The distribution of the latencies of one operation, over all seeds.
#[derive(Debug, Serialize)]
pub struct Curves {
    pub op: &'static str,
    /// Latencies, evenly spaced on a logarithmic scale.
    pub ns: Vec<DrawnNumber>,
    /// By variant: the share of requests that took longer than each latency; empty without
    /// requests.
    pub beyond: Vec<Vec<DrawnNumber>>,
}

/// The time series of one variant, from the start of measuring.
#[derive(Debug, Default, Serialize)]
pub struct Times {
    /// The start of each window, in seconds.
    pub s: Vec<DrawnNumber>,
    /// The length of a window.
    pub length_s: f64,
    /// The end of the last window, in seconds.
    pub end_s: f64,
    /// The throughput of reads and writes together.
    pub throughput: Vec<Option<DrawnNumber>>,
    /// The 99th percentile of read latencies.
    pub read_p99: Vec<Option<DrawnNumber>>,
    /// The 99th percentile of write latencies.
    pub write_p99: Vec<Option<DrawnNumber>>,
    /// Bytes programmed per byte that the host wrote.
    pub wa: Vec<Option<DrawnNumber>>,
    /// The free blocks of the plane that has the fewest.
    pub free: Vec<Option<DrawnNumber>>,
}

/// The blocks of one variant as a map of cells, row by row. Values are means over the blocks of a
/// cell.
#[derive(Debug, Serialize)]
pub struct BlockMap {
    /// The number of rows: dies, or groups of neighbouring dies.
    pub rows: u64,
    /// The number of columns: neighbouring blocks of a die, plane after plane.
    pub columns: u64,
    /// The number of dies.
    pub dies: u64,
    /// The number of blocks of a die.
    pub blocks: u64,
    /// Erases since the device was new.
    pub erases: Vec<DrawnNumber>,
    /// Erases since measuring began.
    pub measured_erases: Vec<DrawnNumber>,
    /// How often garbage collection chose a block since measuring began.
    pub collections: Vec<DrawnNumber>,
    /// Valid pages at the end.
    pub valid: Vec<DrawnNumber>,
}

impl Data {
    /// Reads the data from the results.
    pub fn of(series: &[Series]) -> Result<Data, Failure> {
        Ok(Data {
            variants: series.iter().map(|one| one.name.clone()).collect(),
            latencies: latencies(series)?,
            time: series
                .iter()
                .map(|one| times(one, time_points(series.len())))
                .collect::<Result<_, _>>()?,
            maps: series.iter().map(|one| map(&one.results[0].1)).collect::<Result<_, _>>()?,
            moments: moments::of(series)?,
            queues: match series {
                [one] => queues::of(&one.results[0].1)?,
                _ => None,
            },
        })
    }
}

/// By operation: the number of requests of each latency.
type LatencyCounts = [BTreeMap<u64, u64>; OPS.len()];

/// Reads the distributions of latencies.
pub fn latencies(series: &[Series]) -> Result<Vec<Curves>, Failure> {
    let mut all: Vec<LatencyCounts> = Vec::new();
    for one in series {
        let mut counts = LatencyCounts::default();
        for (_, result) in &one.results {
            let rows = result.columns("latencies.parquet", ["op", "latency_ns", "requests"])?;
            for [op, ns, requests] in rows {
                if let Some(counts) = counts.get_mut(op as usize) {
                    let count = counts.entry(ns).or_default();
                    *count = count.saturating_add(requests);
                }
            }
        }
        all.push(counts);
    }
    Ok((0..OPS.len()).filter_map(|op| curves(op, &all)).collect())
}

fn curves(op: usize, all: &[LatencyCounts]) -> Option<Curves> {
    let shortest = all.iter().filter_map(|counts| counts[op].keys().next()).min()?;
    let longest = all.iter().filter_map(|counts| counts[op].keys().next_back()).max()?;
    // A margin at both ends shows where a curve begins and that it has ended.
    let (from, to) = ((*shortest).max(1) as f64 / 1.1, (*longest).max(1) as f64 * 1.1);
    let step = (to / from).ln() / (CURVE_POINTS - 1) as f64;
    let ns: Vec<f64> = (0..CURVE_POINTS).map(|at| (from.ln() + step * at as f64).exp()).collect();
    let beyond = all.iter().map(|counts| {
        let requests = counts[op].values().fold(0u64, |sum, count| sum.saturating_add(*count));
        if requests == 0 {
            return Vec::new();
        }
        let mut left = counts[op].iter().peekable();
        let mut below = 0u64;
        let share = ns.iter().map(|&bound| {
            while let Some((_, count)) = left.next_if(|(ns, _)| **ns as f64 <= bound) {
                below = below.saturating_add(*count);
            }
            DrawnNumber((requests - below) as f64 / requests as f64)
        });
        share.collect()
    });
    let beyond = beyond.collect();
    Some(Curves { op: OPS[op], ns: ns.iter().map(|&ns| DrawnNumber(ns)).collect(), beyond })
}

const TIMELINE: [&str; 10] = [
    "start_ns",
    "length_ns",
    "read_requests",
    "write_requests",
    "read_bytes",
    "write_bytes",
    "read_latency_p99_ns",
    "write_latency_p99_ns",
    "flash_programs",
    "free_blocks_min",
];

/// Returns the most points of a time series among so many in one figure: the more, the smoother they have to be to be
/// told apart.
pub fn time_points(series: usize) -> usize {
    (TIME_POINTS / series.max(1)).max(LEAST_TIME_POINTS)
}

/// Windows of time that are put together, and when they end.
pub struct Together {
    /// Which windows.
    pub windows: Range<usize>,
    /// When the first of them begins.
    pub start_ns: u64,
    /// When the last of them ends.
    pub end_ns: u64,
}

impl Together {
    /// Returns how long they last, in seconds.
    pub fn seconds(&self) -> f64 {
        self.end_ns.saturating_sub(self.start_ns).max(1) as f64 / 1e9
    }
}

/// Puts neighbouring windows together until there are at most so many. The run may end within the last window: if less than half of its
/// length is left, what happened in it is no rate, and goes to the windows before. `windows` are the start and the length
/// of each, in order.
pub fn together(windows: &[(u64, u64)], most: usize, finished_ns: u64) -> Vec<Together> {
    let group = windows.len().div_ceil(most).max(1);
    let end = |(start, length): (u64, u64)| start.saturating_add(length);
    let mut all: Vec<Together> = Vec::new();
    for (at, some) in windows.chunks(group).enumerate() {
        let whole_end_ns = end(some[some.len() - 1]);
        let one = Together {
            windows: at * group..at * group + some.len(),
            start_ns: some[0].0,
            end_ns: whole_end_ns.min(finished_ns).max(some[0].0),
        };
        let usual = (group as u64).saturating_mul(some[0].1);
        match all.last_mut() {
            Some(before) if one.end_ns - one.start_ns < usual / 2 => {
                before.windows.end = one.windows.end;
                before.end_ns = one.end_ns;
            }
            _ => all.push(one),
        }
    }
    all
}

/// Reads the time series of a variant, from the result of its first seed, with at most so many windows.
pub fn times(series: &Series, most: usize) -> Result<Times, Failure> {
    times_of(&series.results[0].1, most)
}

/// The bytes that a program writes: a page, or a word line that is programmed at once.
fn programmed_at_once(result: &Finished) -> u64 {
    let nand = |option: &str| result.text(&format!("/device/config/nand/{option}"));
    let page = Bytes::parse(nand("page_size")).map_or(0, |bytes| bytes.0);
    let bits = Cell::parse(nand("cell")).map_or(1, Cell::bits);
    let unit = ProgramUnit::parse(nand("program_unit")).unwrap_or(ProgramUnit::Page);
    match unit {
        ProgramUnit::Page => page,
        ProgramUnit::WordLine => page * u64::from(bits),
    }
}

fn times_of(result: &Finished, most: usize) -> Result<Times, Failure> {
    let rows = result.columns("timeline.parquet", TIMELINE)?;
    let started = result.measured_from_ns();
    let rows: Rows<10> =
        rows.into_iter().filter(|row| row[0].saturating_add(row[1]) > started).collect();
    let page_bytes = programmed_at_once(result);
    let mut times = Times::default();
    let windows: Vec<(u64, u64)> = rows.iter().map(|row| (row[0], row[1])).collect();
    for one in together(&windows, most, result.finished_ns()) {
        let rows = &rows[one.windows.clone()];
        let sum = |column: usize| rows.iter().map(|row| row[column] as f64).sum::<f64>();
        let most = |column: usize, requests: usize| {
            let windows = rows.iter().filter(|row| row[requests] > 0);
            windows
                .map(|row| DrawnNumber(row[column] as f64))
                .reduce(|a, b| DrawnNumber(a.0.max(b.0)))
        };
        let seconds = one.seconds();
        times.end_s = one.end_ns.saturating_sub(started) as f64 / 1e9;
        times.length_s = times.length_s.max(seconds);
        times.s.push(DrawnNumber(one.start_ns.saturating_sub(started) as f64 / 1e9));
        times.throughput.push(Some(DrawnNumber((sum(4) + sum(5)) / 1e6 / seconds)));
        times.read_p99.push(most(6, 2));
        times.write_p99.push(most(7, 3));
        let written = sum(5);
        times.wa.push((written > 0.0).then(|| DrawnNumber(sum(8) * page_bytes as f64 / written)));
        times.free.push(rows.iter().map(|row| row[9]).min().map(|free| DrawnNumber(free as f64)));
    }
    Ok(times)
}

const BLOCKS: [&str; 8] = [
    "die",
    "plane",
    "first_block",
    "blocks",
    "erases",
    "measured_erases",
    "measured_collections",
    "valid_pages",
];

fn map(result: &Finished) -> Result<BlockMap, Failure> {
    let rows = result.columns("blocks.parquet", BLOCKS)?;
    // By die: its planes, each with its index.
    let mut planes: BTreeMap<u64, BTreeMap<u64, u64>> = BTreeMap::new();
    let mut blocks_of: BTreeMap<u64, u64> = BTreeMap::new();
    for [die, plane, _, blocks, ..] in &rows {
        let known = planes.entry(*die).or_default();
        let before = known.len() as u64;
        known.entry(*plane).or_insert(before);
        let sum = blocks_of.entry(*die).or_default();
        *sum = sum.saturating_add(*blocks);
    }
    let dies = planes.len().max(1) as u64;
    let blocks = blocks_of.values().copied().max().unwrap_or(1).max(1);
    let map_rows = dies.min(MAP_ROWS);
    let columns = (rows.len() as u64 / dies).clamp(1, MAP_COLUMNS);
    let cells = (map_rows * columns) as usize;
    let mut sums = vec![[0u64; 5]; cells];
    for [die, plane, first, count, erases, measured, collections, valid] in rows {
        let in_die = &planes[&die];
        // Wide enough for the numbers of a damaged file.
        let blocks = u128::from(blocks);
        let place = u128::from(in_die[&plane]) * blocks / in_die.len() as u128 + u128::from(first);
        let place = (place * u128::from(columns) / blocks).min(u128::from(columns) - 1) as u64;
        let row = die.min(dies - 1) * map_rows / dies;
        let cell = &mut sums[(row * columns + place) as usize];
        let more = [count, erases, measured, collections, valid];
        cell.iter_mut().zip(more).for_each(|(sum, more)| *sum = sum.saturating_add(more));
    }
    let mean = |of: usize| -> Vec<DrawnNumber> {
        sums.iter().map(|cell| DrawnNumber(cell[of] as f64 / cell[0].max(1) as f64)).collect()
    };
    Ok(BlockMap {
        rows: map_rows,
        columns,
        dies,
        blocks,
        erases: mean(1),
        measured_erases: mean(2),
        collections: mean(3),
        valid: mean(4),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_end_of_a_run_goes_to_the_window_before() {
        let windows: Vec<(u64, u64)> = (0..4).map(|at| (at * 100, 100)).collect();
        let found = |finished_ns| {
            let all = together(&windows, TIME_POINTS, finished_ns);
            all.iter().map(|one| (one.windows.clone(), one.end_ns)).collect::<Vec<_>>()
        };
        assert_eq!(found(400), [(0..1, 100), (1..2, 200), (2..3, 300), (3..4, 400)]);
        assert_eq!(found(360), [(0..1, 100), (1..2, 200), (2..3, 300), (3..4, 360)]);
        assert_eq!(found(349), [(0..1, 100), (1..2, 200), (2..4, 349)]);
        assert_eq!(together(&windows[..1], TIME_POINTS, 3).len(), 1);
        let many: Vec<(u64, u64)> = (0..2_049).map(|at| (at * 100, 100)).collect();
        let found = together(&many, TIME_POINTS, 204_900);
        assert_eq!(found.iter().map(|one| one.windows.len()).sum::<usize>(), many.len());
        assert!(
            found.len() <= TIME_POINTS
                && found.windows(2).all(|two| two[0].end_ns == two[1].start_ns)
        );
    }

    #[test]
    fn a_curve_says_what_share_took_longer() {
        let mut counts = LatencyCounts::default();
        counts[1].extend([(1_000, 90), (50_000, 9), (1_000_000, 1)]);
        let curves = curves(1, &[counts, LatencyCounts::default()]).unwrap();
        assert_eq!((curves.op, curves.ns.len()), ("write", CURVE_POINTS));
        let at = |ns: f64| curves.ns.iter().rposition(|point| point.0 <= ns).unwrap();
        let share = |ns| curves.beyond[0][at(ns)].0;
        assert_eq!([share(999.0), share(1_100.0), share(60_000.0)], [1.0, 0.1, 0.01]);
        assert_eq!(curves.beyond[0].last(), Some(&DrawnNumber(0.0)));
        assert!(curves.beyond[1].is_empty());
    }
}
