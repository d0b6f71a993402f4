//! Describes a trace: what its load is like (`character`), mix, sizes, footprint, rate, order, and the assumptions made to read it.

use std::ops::ControlFlow;
use std::sync::mpsc::{channel, sync_channel};

use ftlab::host::Op;
use ftlab::units::{SECTOR_BYTES, SimTime};
use serde::Serialize;

use crate::accesses::{AccessReport, Accesses};
use crate::replay::Arrival;

use super::character::{Character, CharacterTally};
use super::digest::Digest;
use super::error::{ErrorKind, TraceError};
use super::input::Compression;
use super::pages::{PageSet, SECTORS_PER_PAGE};
use super::reader::{BATCH, Facts, Trace};
use super::record::Record;
use super::second::SlidingSecond;
use super::units::UnitNames;

/// The result of [`inspect`], with the names of its JSON keys.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Inspection {
    /// The file.
    pub file: String,
    /// The name of the format.
    pub format: &'static str,
    /// How the file is compressed.
    pub compression: Compression,
    /// The units of its numbers.
    pub units: UnitNames,
    /// BLAKE3 of the records; the same in any container.
    pub digest: String,
    /// All requests.
    pub requests: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Writes with FUA.
    pub fua_writes: u64,
    /// Trims.
    pub trims: u64,
    /// Flushes.
    pub flushes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Bytes trimmed.
    pub trim_bytes: u64,
    /// The distance from the lowest to the highest byte of a request, trims included, over all streams.
    pub span_bytes: u64,
    /// The lowest sector.
    pub min_lba: u64,
    /// One past the highest sector.
    pub max_lba_end: u64,
    /// Distinct pages of 4 KiB touched: read or written, not only trimmed. Separately for each stream; an estimate if they
    /// are in more than 65536 places of 16 MiB.
    pub touched_pages_4k: u64,
    /// The relative standard error of `touched_pages_4k`; zero if it is exact.
    pub touched_pages_error_ratio: f64,
    /// The time from the first request to the last; zero if the requests have no times.
    pub duration_ns: u64,
    /// Requests per second over the whole trace, without the first request; null if the duration is zero.
    pub mean_requests_per_s: Option<f64>,
    /// The most requests in any second that begins at a full millisecond; null if the requests have no times.
    pub max_requests_in_1s: Option<u64>,
    /// Distinct streams (devices, volumes, files); an estimate if their numbers are in more than
    /// 65536 ranges of 4096.
    pub streams: u64,
    /// The relative standard error of `streams`; zero if it is exact.
    pub streams_error_ratio: f64,
    /// The names of the first 1024 streams by their numbers, if the file has names and not numbers.
    pub stream_names: Vec<String>,
    /// Requests that come after a later one in the file.
    pub out_of_order: u64,
    /// Requests that do not start or do not end at a multiple of 4 KiB, without flushes.
    pub unaligned_4k: u64,
    /// The number of requests by size.
    pub sizes: Vec<SizeClass>,
    /// What the load is like.
    pub character: Character,
    /// How reads and writes share pages, separately for each stream; only with `--accesses`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accesses: Option<AccessReport>,
    /// Malformed lines that were skipped.
    pub skipped_lines: u64,
    /// Assumptions about what the file does not say.
    pub assumed: Vec<String>,
    /// Suspicious findings.
    pub warnings: Vec<String>,
}

/// Requests larger than half of `up_to_bytes`, up to `up_to_bytes`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SizeClass {
    /// The largest size of the class, a power of two.
    pub up_to_bytes: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
}

/// Reads a trace to its end and describes it.
///
/// # Errors
/// The first error in the file.
pub fn inspect(trace: &mut Trace) -> Result<Inspection, TraceError> {
    inspect_watched(trace, false, |_| ControlFlow::Continue(()))
}

/// The same, with how reads and writes share pages if `accesses`. Before each batch, `look` hears of the requests read so far;
/// if it breaks off, only those are described.
///
/// # Errors
/// The first error in the file.
pub fn inspect_watched(
    trace: &mut Trace,
    accesses: bool,
    mut look: impl FnMut(u64) -> ControlFlow<()>,
) -> Result<Inspection, TraceError> {
    let mut read = 0;
    let next = |batch: &mut Vec<Record>| {
        if look(read).is_break() {
            return Ok(false);
        }
        let more = trace.next_batch(batch)?;
        read += batch.len() as u64;
        Ok(more)
    };
    let (tally, digest) = count(accesses, next)?;
    Ok(tally.finish(&digest, trace.facts()))
}

/// Describes requests in memory, in the order of their times, as [`inspect_watched`] describes a trace of them.
///
/// # Errors
/// A request is larger, or ends later, than a trace can say.
pub fn inspect_requests(
    name: &str,
    requests: &[Arrival],
    accesses: bool,
    mut look: impl FnMut(u64) -> ControlFlow<()>,
) -> Result<Inspection, TraceError> {
    if let Some(row) = requests.iter().position(|request| !can_be_told(request)) {
        return Err(TraceError::new(
            ErrorKind::Implausible,
            name,
            format!("the request in row {row} is larger than 1 TiB or ends beyond 16 EiB"),
            "check its place and its size",
        ));
    }
    let first = requests.first().map_or(SimTime::default(), |first| first.at);
    let mut rest = requests;
    let next = |batch: &mut Vec<Record>| {
        batch.clear();
        let (now, later) = rest.split_at(rest.len().min(BATCH));
        if now.is_empty() || look((requests.len() - rest.len()) as u64).is_break() {
            return Ok(false);
        }
        batch.extend(now.iter().map(|request| record_of(request, first)));
        rest = later;
        Ok(true)
    };
    let (tally, digest) = count(accesses, next)?;
    Ok(tally.finish(&digest, Facts::of_requests(name, requests.len() as u64)))
}

/// Whether a trace could hold the request.
fn can_be_told(request: &Arrival) -> bool {
    let end = request.lba.0.checked_add(request.sectors.into());
    request.sectors <= LARGEST_REQUEST && end.is_some_and(|end| end <= u64::MAX / SECTOR_BYTES)
}

fn record_of(request: &Arrival, first: SimTime) -> Record {
    let Arrival { at, op, lba, sectors, stream, fua } = *request;
    let at = SimTime(at.0.saturating_sub(first.0));
    if op == Op::Flush {
        return Record::flush(at, stream);
    }
    Record { at, op, lba, sectors, stream, fua }
}

/// Counts all batches.
fn count(
    accesses: bool,
    mut next: impl FnMut(&mut Vec<Record>) -> Result<bool, TraceError>,
) -> Result<(TraceTally, Digest), TraceError> {
    let (mut digest, mut batch) = (Digest::new(), Vec::new());
    let accesses = accesses.then(Accesses::default);
    let mut tally = TraceTally { accesses, ..TraceTally::default() };
    next(&mut batch)?;
    digest.update(&batch);
    tally.add(&batch);
    // A short trace is not worth a thread.
    if batch.len() == BATCH {
        tally = count_aside(tally, next, &mut digest)?;
    }
    Ok((tally, digest))
}

/// Reads the rest while another thread counts what was read.
fn count_aside(
    mut tally: TraceTally,
    mut next: impl FnMut(&mut Vec<Record>) -> Result<bool, TraceError>,
    digest: &mut Digest,
) -> Result<TraceTally, TraceError> {
    let (to, from) = sync_channel::<Vec<Record>>(AHEAD);
    let (give_back, counted) = channel();
    std::thread::scope(|scope| {
        let counting = scope.spawn(move || {
            for batch in from {
                tally.add(&batch);
                // After an error of the reader nobody wants it back.
                let _ = give_back.send(batch);
            }
            tally
        });
        loop {
            let mut batch = counted.try_recv().unwrap_or_default();
            if !next(&mut batch)? {
                break;
            }
            digest.update(&batch);
            if to.send(batch).is_err() {
                // The thread has panicked, which is what `join` returns.
                break;
            }
        }
        drop(to);
        Ok(counting.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

/// How many batches the reader is ahead of the counting.
const AHEAD: usize = 4;
/// A class for every power of two up to 1 TiB, the largest possible request.
const CLASSES: usize = 32;
/// The sectors of that request.
const LARGEST_REQUEST: u32 = 1 << (CLASSES - 1);

/// Counts of one operation.
#[derive(Default)]
struct OpTally {
    requests: u64,
    sectors: u64,
}

#[derive(Default)]
struct TraceTally {
    pages: PageSet,
    character: CharacterTally,
    accesses: Option<Accesses>,
    reads: OpTally,
    writes: OpTally,
    trims: OpTally,
    flushes: OpTally,
    /// Writes with FUA.
    forced: u64,
    extent: Option<(u64, u64)>,
    last_ns: u64,
    second: SlidingSecond,
    /// The numbers of streams, as pages of one stream.
    streams: PageSet,
    last_stream: Option<u32>,
    unaligned: u64,
    sizes: [(u64, u64); CLASSES],
}

impl TraceTally {
    fn add(&mut self, records: &[Record]) {
        records.iter().for_each(|record| self.add_one(record));
    }

    fn add_one(&mut self, record: &Record) {
        self.character.add(record);
        self.last_ns = record.at.0;
        self.second.add(record.at.0);
        if self.last_stream != Some(record.stream) {
            let number = u64::from(record.stream) * SECTORS_PER_PAGE;
            self.streams.touch(0, number, number + 1);
            self.last_stream = Some(record.stream);
        }
        let class = record.sectors.max(1).next_power_of_two().trailing_zeros() as usize;
        self.forced += u64::from(record.fua);
        let of_op = match record.op {
            Op::Read => {
                self.sizes[class].0 += 1;
                &mut self.reads
            }
            Op::Write | Op::Append => {
                self.sizes[class].1 += 1;
                &mut self.writes
            }
            Op::Trim => &mut self.trims,
            Op::Flush => &mut self.flushes,
            // They move no data.
            _ => return,
        };
        of_op.requests += 1;
        of_op.sectors += u64::from(record.sectors);
        if record.op == Op::Flush {
            return;
        }
        let (lba, end) = (record.lba.0, record.end());
        let (low, high) = self.extent.unwrap_or((lba, end));
        self.extent = Some((low.min(lba), high.max(end)));
        self.unaligned += u64::from(lba % 8 != 0 || end % 8 != 0);
        if record.op != Op::Trim {
            self.pages.touch(record.stream, lba, end);
        }
        if let Some(accesses) = &mut self.accesses {
            accesses.add(record.op, record.stream, lba, end);
        }
    }

    fn finish(mut self, digest: &Digest, facts: Facts) -> Inspection {
        let bytes = |of_op: &OpTally| of_op.sectors.saturating_mul(SECTOR_BYTES);
        let (min_lba, max_lba_end) = self.extent.unwrap_or_default();
        let requests = facts.requests;
        let seconds = self.last_ns as f64 / 1e9;
        let (touched_pages_4k, touched_pages_error_ratio) = self.pages.estimate();
        let (streams, streams_error_ratio) = self.streams.estimate();
        let character = self.character.report();
        let most = self.second.most();
        Inspection {
            format: facts.format,
            compression: facts.compression,
            units: facts.units,
            digest: digest.finish(),
            requests,
            reads: self.reads.requests,
            writes: self.writes.requests,
            fua_writes: self.forced,
            trims: self.trims.requests,
            flushes: self.flushes.requests,
            read_bytes: bytes(&self.reads),
            write_bytes: bytes(&self.writes),
            trim_bytes: bytes(&self.trims),
            span_bytes: (max_lba_end - min_lba) * SECTOR_BYTES,
            min_lba,
            max_lba_end,
            touched_pages_4k,
            touched_pages_error_ratio,
            duration_ns: self.last_ns,
            mean_requests_per_s: (self.last_ns > 0).then(|| (requests - 1) as f64 / seconds),
            max_requests_in_1s: (!character.timeless).then_some(most),
            streams,
            streams_error_ratio,
            stream_names: facts.stream_names,
            out_of_order: facts.out_of_order,
            unaligned_4k: self.unaligned,
            sizes: size_classes(&self.sizes),
            character,
            accesses: self.accesses.as_ref().map(Accesses::report),
            skipped_lines: facts.skipped_lines,
            file: facts.file,
            assumed: facts.assumed,
            warnings: facts.warnings,
        }
    }
}

/// Returns the classes that occur.
fn size_classes(counts: &[(u64, u64); CLASSES]) -> Vec<SizeClass> {
    let sizes = (0..).map(|power| SECTOR_BYTES << power);
    sizes
        .zip(counts)
        .filter(|(_, counts)| **counts != (0, 0))
        .map(|(up_to_bytes, &(reads, writes))| SizeClass { up_to_bytes, reads, writes })
        .collect()
}
