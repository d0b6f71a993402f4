//! The report of a run: every key carries its unit, and what can't be known is null, not a guess.

use serde::Serialize;

use super::health::Health;
use super::host::{HostStats, OpStats, PARTS};
use super::notes;
use super::queues::{self, Fairness, QueueReport};
use super::slc::{SlcCache, slc_cache};
use super::steady::{Rounds, SteadyReport};
use super::{Circumstances, DeviceCounters, Latencies, PhaseStats};
use crate::device::{Contents, Device};
use crate::ftl::gc::{Purpose, PurposeCounts};
use crate::ftl::{Blocks, FtlCounts};
use crate::host::{Host, Op};
use crate::scheduler::{Kind, Origin, Overlaps, Probe, flash_pages_programmed};
use crate::units::{Nanos, SECTOR_BYTES};

/// The version of the report's layout. It changes when a key is renamed, removed or changes its
/// meaning; new keys do not change it.
pub const SCHEMA_VERSION: u32 = 1;

/// What was measured, over all measured phases. MB are 10^6 bytes; ratios are between 0 and 1
/// unless they amplify.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// See [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// What the host saw.
    pub host: HostReport,
    /// What a byte of the host cost on flash.
    pub write_amplification: WriteAmplification,
    /// Garbage collection.
    pub gc: Gc,
    /// Erases of each block since the device was new.
    pub wear: Wear,
    /// Bad blocks, failures, and the end of life; null if nothing can fail on the device.
    pub health: Option<Health>,
    /// Pages that were read although nothing had been written to them: answered at once, without
    /// flash.
    pub unwritten_read_pages: u64,
    /// Pages that were read, wherever they were found.
    pub read_pages: u64,
    /// The write buffer; null if the device has none.
    pub cache: Option<Cache>,
    /// The SLC cache; null if the device has none.
    pub slc_cache: Option<SlcCache>,
    /// How busy the device was.
    pub utilisation: Utilisation,
    /// Flash commands by origin.
    pub flash_commands: FlashCommands,
    /// How often the dies did more than one thing at a time.
    pub flash_overlaps: FlashOverlaps,
    /// Whether the device was steady at the end.
    pub steady_state: SteadyReport,
    /// All phases, those that are not measured included.
    pub phases: Vec<PhaseSummary>,
    /// What whoever reads the numbers has to know, in words.
    pub notes: Vec<String>,
}

/// What the host saw.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HostReport {
    /// Requests finished.
    pub requests: u64,
    /// From the first arrival to the last completion, the sum over the measured phases.
    pub duration_ns: u64,
    /// Requests a second.
    pub iops: Option<f64>,
    /// 10^6 bytes a second, read and written.
    pub throughput_mb_per_s: Option<f64>,
    /// Reads.
    pub read: OpReport,
    /// Writes.
    pub write: OpReport,
    /// Trims.
    pub trim: OpReport,
    /// Flushes.
    pub flush: OpReport,
    /// What each submission queue got; empty if there is one.
    pub queues: Vec<QueueReport>,
    /// How even that was; null if fewer than two queues were used.
    pub fairness: Option<Fairness>,
}

impl HostReport {
    /// Every operation with its name, in the order in which reports list them.
    #[must_use]
    pub fn ops(&self) -> [(&'static str, &OpReport); 4] {
        [("read", &self.read), ("write", &self.write), ("trim", &self.trim), ("flush", &self.flush)]
    }
}

/// Requests of one operation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OpReport {
    /// How many were done.
    pub requests: u64,
    /// How many were refused, because the device takes no writes any more. Nothing else counts them.
    pub refused_requests: u64,
    /// Bytes.
    pub bytes: u64,
    /// Requests a second.
    pub iops: Option<f64>,
    /// 10^6 bytes a second.
    pub throughput_mb_per_s: Option<f64>,
    /// From arrival to completion.
    pub latency_ns: LatencyReport,
    /// Where the time went.
    pub time_share_ratio: Option<TimeShares>,
}

/// A distribution of latencies in nanoseconds. Mean and maximum are exact, percentiles at most 0.1 %
/// too large; a percentile is null if fewer than ten samples lie beyond it.
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
    /// In the controller's front end.
    pub front_end: f64,
    /// On the link between host and device, or waiting for it.
    pub link: f64,
    /// Moving data to or from DRAM.
    pub buffer: f64,
    /// Waiting for room in the write buffer, or for a program to begin.
    pub admission: f64,
    /// Waiting for a die or a bus that served other host work.
    pub queue: f64,
    /// Waiting for garbage collection.
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
            queue,
            gc,
            bus,
            cell,
        } = *self;
        [host_queue, submission, front_end, link, buffer, admission, queue, gc, bus, cell]
    }
}

/// What the host's writes cost on flash.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WriteAmplification {
    /// Bytes programmed on flash, whole flash pages, for every byte that the host wrote. What the
    /// write buffer absorbs lowers it, below one too; null if the host wrote nothing.
    pub total_ratio: Option<f64>,
    /// Pages that the FTL programmed for every page that it was given to program: what garbage
    /// collection alone costs. Null if it was given none.
    pub ftl_ratio: Option<f64>,
    /// Bytes that the host wrote.
    pub host_bytes: u64,
    /// Bytes programmed on flash.
    pub flash_bytes: u64,
    /// Pages (mapping units) programmed for the host.
    pub host_pages: u64,
    /// Pages that collection copied.
    pub gc_pages: u64,
    /// Places in flash pages that were programmed with nothing.
    pub padding_pages: u64,
    /// The size of a page (mapping unit).
    pub page_bytes: u64,
}

/// Garbage collection, for whatever purpose a block was emptied.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gc {
    /// Blocks chosen.
    pub runs: u64,
    /// Pages copied.
    pub copied_pages: u64,
    /// Of these, pages that had been overwritten when the copy was done.
    pub stale_copied_pages: u64,
    /// Blocks erased.
    pub erased_blocks: u64,
    /// Valid pages that a block held when it was chosen, on average; null without a run.
    pub valid_pages_per_victim: Option<f64>,
    /// The same as a share of the block.
    pub valid_ratio_per_victim: Option<f64>,
    /// Why blocks were emptied.
    pub by_purpose: GcPurposes,
}

/// Collections by purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct GcPurposes {
    /// A plane was short of free blocks.
    pub space: GcPurpose,
    /// The device was idle.
    pub background: GcPurpose,
    /// Static wear levelling.
    pub wear_level: GcPurpose,
    /// The block was going bad.
    pub retire: GcPurpose,
    /// The block belonged to the SLC cache.
    pub fold: GcPurpose,
}

/// Collections for one purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct GcPurpose {
    /// Blocks emptied.
    pub runs: u64,
    /// Pages copied.
    pub copied_pages: u64,
}

/// Erases of each block since the device was new.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Wear {
    /// The least worn block.
    pub erases_per_block_min: u32,
    /// The mean.
    pub erases_per_block_mean: f64,
    /// The most worn block.
    pub erases_per_block_max: u32,
    /// The standard deviation.
    pub erases_per_block_stddev: f64,
}

/// The write buffer, in pages (mapping units).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cache {
    /// Written pages that were there already.
    pub write_hit_pages: u64,
    /// Written pages that were not.
    pub write_miss_pages: u64,
    /// The share of written pages that were there.
    pub write_hit_ratio: Option<f64>,
    /// Read pages that were there.
    pub read_hit_pages: u64,
    /// Read pages that were not, or not all of the wanted sectors.
    pub read_miss_pages: u64,
    /// The share of read pages that were there.
    pub read_hit_ratio: Option<f64>,
    /// Pages written back to flash.
    pub written_back_pages: u64,
    /// Written pages that had to wait for room.
    pub waited_pages: u64,
    /// Pages that were in the buffer at the end.
    pub left_pages: u64,
}

/// Shares of the measured time in which parts were occupied.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Utilisation {
    /// The buses.
    pub channels_ratio: Option<Spread>,
    /// The dies.
    pub dies_ratio: Option<Spread>,
}

/// A quantity over several parts of the device.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

/// Flash commands by origin.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlashCommands {
    /// Reads of the host, and programs of what it wrote.
    pub host: Commands,
    /// Reads for read-modify-write.
    pub merge: Commands,
    /// Garbage collection.
    pub gc: Commands,
    /// Static wear levelling, and emptying blocks that go bad.
    pub wear: Commands,
    /// Moving data out of the SLC cache.
    pub fold: Commands,
}

/// Flash commands of one origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Commands {
    /// Flash pages sensed.
    pub reads: u64,
    /// Flash pages programmed.
    pub programs: u64,
    /// Blocks erased.
    pub erases: u64,
    /// Flash pages moved within their plane without the bus.
    pub copybacks: u64,
}

/// How often the dies did more than one thing at a time, in flash commands.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FlashOverlaps {
    /// Reads that another plane's read sensed along.
    pub multi_plane_reads: u64,
    /// Programs that ran together with another plane's.
    pub multi_plane_programs: u64,
    /// Erases that ran together with another plane's.
    pub multi_plane_erases: u64,
    /// Reads that were sensed while the page before was sent.
    pub cached_reads: u64,
    /// Programs whose data came while the page before was programmed.
    pub cached_programs: u64,
    /// Times that a program was left for a host read.
    pub suspended_programs: u64,
    /// Times that an erase was left for a host read.
    pub suspended_erases: u64,
}

impl FlashOverlaps {
    fn new(overlaps: &Overlaps) -> FlashOverlaps {
        let together = |kind: Kind| overlaps.multi_plane[kind as usize];
        FlashOverlaps {
            multi_plane_reads: together(Kind::Read),
            multi_plane_programs: together(Kind::Program),
            multi_plane_erases: together(Kind::Erase),
            cached_reads: overlaps.cached_reads,
            cached_programs: overlaps.cached_programs,
            suspended_programs: overlaps.program_pauses,
            suspended_erases: overlaps.erase_pauses,
        }
    }
}

/// One phase in short.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PhaseSummary {
    /// Its name.
    pub name: String,
    /// Whether the report counts it.
    pub measured: bool,
    /// Requests finished.
    pub requests: u64,
    /// When the first request arrived, counted from when the device was switched on; null without
    /// requests.
    pub started_ns: Option<u64>,
    /// From the first arrival to the last completion.
    pub duration_ns: u64,
    /// Requests a second.
    pub iops: Option<f64>,
    /// 10^6 bytes a second, read and written.
    pub throughput_mb_per_s: Option<f64>,
    /// As in [`WriteAmplification`].
    pub write_amplification_total_ratio: Option<f64>,
    /// Blocks that garbage collection chose.
    pub gc_runs: u64,
}

/// The quotient, unless there is nothing to divide by.
pub(super) fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

pub(super) fn build<P: Probe, C: Contents>(
    phases: &[PhaseStats],
    rounds: &Rounds,
    device: &Device<P, C>,
    circumstances: &Circumstances,
) -> Report {
    let (mut host, mut counters) = (HostStats::default(), None::<DeviceCounters>);
    let mut by_queue: Vec<HostStats> = Vec::new();
    let mut duration = Nanos::ZERO;
    for phase in phases.iter().filter(|phase| phase.measured) {
        host.merge(&phase.host);
        by_queue.resize_with(phase.queues.len(), HostStats::default);
        by_queue.iter_mut().zip(&phase.queues).for_each(|(sum, queue)| sum.merge(queue));
        duration += phase.host.duration();
        counters = Some(counters.map_or(phase.device.clone(), |sum| sum.plus(&phase.device)));
    }
    let counters = counters.unwrap_or_default();
    let shape = device.flash().geometry().shape();
    let page_bytes = shape.page_size.0;
    let mut report = Report {
        schema_version: SCHEMA_VERSION,
        host: HostReport {
            queues: queues::reports(&by_queue, device.queues(), duration),
            fairness: queues::fairness(&by_queue, device.queues()),
            ..host_report(&host, duration)
        },
        write_amplification: write_amplification(&host, &counters, device),
        gc: gc(&counters, device.ftl().blocks()),
        wear: wear(device),
        health: super::health::health(device),
        unwritten_read_pages: counters.ftl.unwritten_reads,
        read_pages: counters.buffer.read_hits + counters.buffer.read_misses,
        cache: device.buffer().acknowledges_early().then(|| cache(&counters, device)),
        slc_cache: device.ftl().slc_counts().map(|_| slc_cache(&counters)),
        utilisation: Utilisation {
            channels_ratio: spread(&counters.channel_busy, counters.span),
            dies_ratio: spread(&counters.die_busy, counters.span),
        },
        flash_overlaps: FlashOverlaps::new(&counters.overlaps),
        flash_commands: FlashCommands {
            host: commands(&counters, Origin::Host),
            merge: commands(&counters, Origin::Merge),
            gc: commands(&counters, Origin::Gc),
            wear: commands(&counters, Origin::Wear),
            fold: commands(&counters, Origin::Fold),
        },
        steady_state: rounds.report(host.op(Op::Write).bytes(), &counters),
        phases: phases.iter().map(|phase| phase_summary(phase, page_bytes)).collect(),
        notes: Vec::new(),
    };
    let capacity_bytes = device.capacity_sectors() * SECTOR_BYTES;
    report.notes = notes::collect(&report, &host, capacity_bytes, circumstances);
    report
}

fn host_report(host: &HostStats, duration: Nanos) -> HostReport {
    let bytes = host.op(Op::Read).bytes() + host.op(Op::Write).bytes();
    HostReport {
        requests: host.requests(),
        duration_ns: duration.0,
        iops: per_second(host.requests(), duration),
        throughput_mb_per_s: mb_per_second(bytes, duration),
        read: op_report(host.op(Op::Read), duration),
        write: op_report(host.op(Op::Write), duration),
        trim: op_report(host.op(Op::Trim), duration),
        flush: op_report(host.op(Op::Flush), duration),
        queues: Vec::new(),
        fairness: None,
    }
}

pub(super) fn per_second(count: u64, duration: Nanos) -> Option<f64> {
    ratio(count as f64, duration.as_secs_f64())
}

pub(super) fn mb_per_second(bytes: u64, duration: Nanos) -> Option<f64> {
    ratio(bytes as f64 / 1e6, duration.as_secs_f64())
}

pub(super) fn op_report(op: &OpStats, duration: Nanos) -> OpReport {
    let (requests, refused_requests) = (op.latencies.count(), op.refused);
    let share = |part: u128| part as f64 / op.latencies.sum_ns() as f64;
    let [host_queue, submission, front_end, link, buffer, admission, queue, gc, bus, cell] =
        op.parts.sums_ns.map(share);
    let shares = TimeShares {
        host_queue,
        submission,
        front_end,
        link,
        buffer,
        admission,
        queue,
        gc,
        bus,
        cell,
    };
    OpReport {
        requests,
        refused_requests,
        bytes: op.bytes(),
        iops: per_second(requests, duration),
        throughput_mb_per_s: mb_per_second(op.bytes(), duration),
        latency_ns: latency_report(&op.latencies),
        time_share_ratio: (op.latencies.sum_ns() > 0).then_some(shares),
    }
}

fn latency_report(latencies: &Latencies) -> LatencyReport {
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

fn flash_bytes(counters: &DeviceCounters, page_bytes: u64) -> u64 {
    flash_pages_programmed(&counters.commands) * page_bytes
}

fn write_amplification<P: Probe, C: Contents>(
    host: &HostStats,
    counters: &DeviceCounters,
    device: &Device<P, C>,
) -> WriteAmplification {
    let shape = device.flash().geometry().shape();
    let (host_bytes, ftl) = (host.op(Op::Write).bytes(), &counters.ftl);
    let flash_bytes = flash_bytes(counters, shape.page_size.0);
    let programmed = ftl.host_pages + ftl.gc_pages;
    WriteAmplification {
        total_ratio: ratio(flash_bytes as f64, host_bytes as f64),
        ftl_ratio: ratio(programmed as f64, ftl.host_pages as f64),
        host_bytes,
        flash_bytes,
        host_pages: ftl.host_pages,
        gc_pages: ftl.gc_pages,
        padding_pages: ftl.padding,
        page_bytes: shape.mapping_unit.0,
    }
}

fn gc(counters: &DeviceCounters, blocks: &Blocks) -> Gc {
    let ftl = &counters.ftl;
    let mean = |sum: u64| ratio(sum as f64, ftl.gc_runs as f64);
    let folds = ftl.by_purpose[Purpose::Fold as usize].runs;
    let room = (ftl.gc_runs - folds) * u64::from(blocks.units_per_block())
        + folds * u64::from(blocks.slc_units());
    let (valid, units) = (mean(ftl.gc_victim_valid), mean(room));
    Gc {
        runs: ftl.gc_runs,
        copied_pages: ftl.gc_pages,
        stale_copied_pages: ftl.gc_stale,
        erased_blocks: counters.commands.iter().map(|row| row[Kind::Erase as usize]).sum(),
        valid_pages_per_victim: valid,
        valid_ratio_per_victim: valid.zip(units).map(|(valid, units)| valid / units),
        by_purpose: GcPurposes {
            space: purpose(ftl, Purpose::Space),
            background: purpose(ftl, Purpose::Background),
            wear_level: purpose(ftl, Purpose::WearLevel),
            retire: purpose(ftl, Purpose::Retire),
            fold: purpose(ftl, Purpose::Fold),
        },
    }
}

fn purpose(ftl: &FtlCounts, purpose: Purpose) -> GcPurpose {
    let PurposeCounts { runs, pages } = ftl.by_purpose[purpose as usize];
    GcPurpose { runs, copied_pages: pages }
}

fn wear<P: Probe, C: Contents>(device: &Device<P, C>) -> Wear {
    let erases = || device.ftl().blocks().all_erases();
    let blocks = f64::from(device.flash().geometry().blocks());
    let mean = erases().map(f64::from).sum::<f64>() / blocks;
    let variance = erases().map(|count| (f64::from(count) - mean).powi(2)).sum::<f64>() / blocks;
    Wear {
        erases_per_block_min: erases().min().unwrap_or_default(),
        erases_per_block_mean: mean,
        erases_per_block_max: erases().max().unwrap_or_default(),
        erases_per_block_stddev: variance.sqrt(),
    }
}

fn cache<P: Probe, C: Contents>(counters: &DeviceCounters, device: &Device<P, C>) -> Cache {
    let counts = &counters.buffer;
    let hits = |hits: u64, misses: u64| ratio(hits as f64, (hits + misses) as f64);
    Cache {
        write_hit_pages: counts.write_hits,
        write_miss_pages: counts.write_misses,
        write_hit_ratio: hits(counts.write_hits, counts.write_misses),
        read_hit_pages: counts.read_hits,
        read_miss_pages: counts.read_misses,
        read_hit_ratio: hits(counts.read_hits, counts.read_misses),
        written_back_pages: counts.written_back,
        waited_pages: counts.waited,
        left_pages: device.buffer().pages_held() as u64,
    }
}

fn spread(busy: &[Nanos], span: Nanos) -> Option<Spread> {
    if busy.is_empty() || span == Nanos::ZERO {
        return None;
    }
    let shares = || busy.iter().map(|busy| busy.0 as f64 / span.0 as f64);
    Some(Spread {
        mean: shares().sum::<f64>() / busy.len() as f64,
        min: shares().fold(f64::MAX, f64::min),
        max: shares().fold(0.0, f64::max),
    })
}

fn commands(counters: &DeviceCounters, origin: Origin) -> Commands {
    let of = |kind: Kind| counters.commands[origin as usize][kind as usize];
    Commands {
        reads: of(Kind::Read),
        programs: of(Kind::Program),
        erases: of(Kind::Erase),
        copybacks: of(Kind::Copyback),
    }
}

fn phase_summary(phase: &PhaseStats, page_bytes: u64) -> PhaseSummary {
    let (host, duration) = (&phase.host, phase.host.duration());
    let (read, written) = (host.op(Op::Read).bytes(), host.op(Op::Write).bytes());
    PhaseSummary {
        name: phase.name.clone(),
        measured: phase.measured,
        requests: host.requests(),
        started_ns: host.span().map(|(first, _)| first.0),
        duration_ns: duration.0,
        iops: per_second(host.requests(), duration),
        throughput_mb_per_s: mb_per_second(read + written, duration),
        write_amplification_total_ratio: ratio(
            flash_bytes(&phase.device, page_bytes) as f64,
            written as f64,
        ),
        gc_runs: phase.device.ftl.gc_runs,
    }
}
