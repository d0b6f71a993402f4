//! Builds the report from the counters of the measured phases.

use super::amplification::WriteAmplification;
use super::cost::cost;
use super::energy::EnergyReport;
use super::figures::{mb_per_second, per_second, ratio};
use super::health::health;
use super::host::HostStats;
use super::merges::Merges;
use super::notes;
use super::op_report::op_report;
use super::parity::ParityReport;
use super::phase::Unmeasured;
use super::placement::PlacementReport;
use super::queues;
use super::read_cache::ReadCacheReport;
use super::reconstruction::page_reconstruction;
use super::report::{
    Cache, FlashOverlaps, Gc, HostReport, PhaseSummary, Report, SCHEMA_VERSION, Wear,
};
use super::slc::SlcCache;
use super::steady::SteadyRounds;
use super::translation::translation;
use super::utilisation::Utilisation;
use super::zones::ZonesReport;
use super::{Circumstances, DeviceCounters, PhaseStats};
use crate::counters::By;
use crate::device::{Contents, Device};
use crate::ftl::Blocks;
use crate::ftl::gc::Purpose;
use crate::host::zones::Zones;
use crate::host::{Host, Op};
use crate::scheduler::{Kind, Origin, Probe};
use crate::units::{Nanos, SECTOR_BYTES};

pub(super) fn build<P: Probe, C: Contents>(
    phases: &[PhaseStats],
    rounds: &SteadyRounds,
    device: &Device<P, C>,
    circumstances: &Circumstances,
) -> Report {
    let (mut host, mut counters) = (HostStats::default(), None::<DeviceCounters>);
    let mut by_queue: Vec<HostStats> = Vec::new();
    let (mut duration, mut unmeasured) = (Nanos::ZERO, Unmeasured::default());
    for phase in phases.iter().filter(|phase| phase.measured) {
        host.merge(&phase.host);
        by_queue.resize_with(phase.queues.len(), HostStats::default);
        by_queue.iter_mut().zip(&phase.queues).for_each(|(sum, queue)| sum.merge(queue));
        duration += phase.host.duration();
        unmeasured.read_bytes += phase.unmeasured.read_bytes;
        unmeasured.written_bytes += phase.unmeasured.written_bytes;
        counters = Some(counters.map_or(phase.device.clone(), |sum| sum.plus(&phase.device)));
    }
    let counters = counters.unwrap_or_default();
    // The device's counters cover whole phases.
    let written_bytes = host.op(Op::Write).bytes() + unmeasured.written_bytes;
    let host_bytes = host.op(Op::Read).bytes() + unmeasured.read_bytes + written_bytes;
    let shape = device.flash().geometry().shape();
    let page_bytes = shape.page_size.0;
    let mut report = Report {
        schema_version: SCHEMA_VERSION,
        host: HostReport {
            queues: queues::reports(&by_queue, device.queues(), rated_over(&host, duration)),
            fairness: queues::fairness(&by_queue, device.queues()),
            zone: device
                .zones()
                .map(|_| op_report(host.op(Op::ZoneReset), rated_over(&host, duration))),
            ..host_report(&host, duration)
        },
        write_amplification: WriteAmplification::new(written_bytes, &counters, device),
        gc: gc(&counters, device.ftl().blocks()),
        wear: wear(device),
        health: health(device),
        ftl: counters.ftl,
        read_pages: counters.buffer.read_hits + counters.buffer.read_misses,
        cache: device.buffer().acknowledges_early().then(|| cache(&counters, device)),
        read_cache: device.reads().is_on().then(|| ReadCacheReport::new(&counters.reads)),
        cost: cost(&counters, device),
        slc_cache: device.ftl().slc_counts().map(|_| SlcCache::new(&counters)),
        merges: device.merger().map(|merger| Merges::new(&counters.merges, merger)),
        translation: device
            .ftl()
            .map_on_flash()
            .map(|map| translation(&counters, device, map, written_bytes)),
        reconstruction: device.ftl().rmap().map(|map| page_reconstruction(&counters, device, map)),
        parity: ParityReport::new(&counters.parity, device),
        zones: ZonesReport::new(&counters.zones, device),
        placement: PlacementReport::new(&counters.placement, device),
        utilisation: Utilisation::new(&counters, device),
        energy: EnergyReport::new(&counters, &device.flash().energy_meter().draws, host_bytes),
        flash_overlaps: FlashOverlaps::new(&counters.overlaps),
        flash_commands: By::new(Origin::ALL, |&origin| {
            By::new(Kind::ALL, |&kind| counters.commands[origin as usize][kind as usize])
        }),
        steady_state: rounds.report(written_bytes, &counters),
        phases: phases.iter().map(|phase| phase_summary(phase, page_bytes)).collect(),
        notes: Vec::new(),
    };
    let sectors = device.zones().map_or(device.capacity_sectors(), Zones::data_sectors);
    let capacity_bytes = sectors * SECTOR_BYTES;
    report.notes = notes::collect(&report, (&host, &counters), capacity_bytes, circumstances);
    report
}

fn host_report(host: &HostStats, duration: Nanos) -> HostReport {
    let rated = rated_over(host, duration);
    let bytes = host.op(Op::Read).bytes() + host.op(Op::Write).bytes();
    HostReport {
        requests: host.requests(),
        duration_ns: duration.0,
        iops: per_second(host.requests(), rated),
        throughput_mb_per_s: mb_per_second(bytes, rated),
        read: op_report(host.op(Op::Read), rated),
        write: op_report(host.op(Op::Write), rated),
        trim: op_report(host.op(Op::Trim), rated),
        flush: op_report(host.op(Op::Flush), rated),
        zone: None,
        queues: Vec::new(),
        fairness: None,
    }
}

/// The time over which rates are computed. None for a single request, whose rate would only reflect its own latency.
fn rated_over(host: &HostStats, duration: Nanos) -> Option<Nanos> {
    (host.requests() != 1).then_some(duration)
}

fn gc(counters: &DeviceCounters, blocks: &Blocks) -> Gc {
    let ftl = &counters.ftl;
    let mean = |sum: u64| ratio(sum as f64, ftl.gc_runs as f64);
    let (valid, units) = (mean(ftl.gc_victim_valid), mean(ftl.victims_room(blocks)));
    let erases = |origin| counters.commands[origin as usize][Kind::Erase as usize];
    Gc {
        counts: *ftl,
        erased_blocks: Origin::ALL
            .into_iter()
            .filter(|&origin| origin != Origin::System)
            .map(erases)
            .sum(),
        valid_pages_per_victim: valid,
        valid_ratio_per_victim: valid.zip(units).map(|(valid, units)| valid / units),
        by_purpose: By::new(Purpose::ALL, |&purpose| ftl.by_purpose[purpose as usize]),
    }
}

fn wear<P: Probe, C: Contents>(device: &Device<P, C>) -> Wear {
    let erases = || device.ftl().blocks().all_erases();
    let blocks = f64::from(device.ftl().geometry().blocks());
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
        counts: *counts,
        write_hit_ratio: hits(counts.write_hits, counts.write_misses),
        read_hit_ratio: hits(counts.read_hits, counts.read_misses),
        write_cycles: device.buffer().rules.gate.filter(|gate| gate.barrier).map(|_| counts.cycles),
        left_pages: device.buffer().pages_left() as u64,
    }
}

fn phase_summary(phase: &PhaseStats, page_bytes: u64) -> PhaseSummary {
    let (host, duration) = (&phase.host, phase.host.duration());
    let rated = rated_over(host, duration);
    let (read, written) = (host.op(Op::Read).bytes(), host.op(Op::Write).bytes());
    let (requests, unmeasured_requests) = match phase.has_clock {
        true => (host.requests(), phase.unmeasured.requests),
        false => (phase.unmeasured.requests, 0),
    };
    PhaseSummary {
        name: phase.name.clone(),
        measured: phase.measured,
        requests,
        unmeasured_requests,
        started_ns: host.span().map(|(first, _)| first.0),
        duration_ns: phase.has_clock.then_some(duration.0),
        iops: per_second(host.requests(), rated),
        throughput_mb_per_s: mb_per_second(read + written, rated),
        write_amplification_total_ratio: phase.write_amplification(page_bytes),
        gc_runs: phase.device.ftl.gc_runs,
    }
}
