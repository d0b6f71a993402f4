//! The device's counters at one moment. They only grow, so their difference tells what happened
//! between two moments.

use crate::cache::{BufferCounts, ReadCacheCounts};
use crate::device::{Contents, Device};
use crate::ftl::FtlCounts;
use crate::ftl::cost::RewriteCounts;
use crate::ftl::gc::PurposeCounts;
use crate::ftl::mapping::Reconstruction;
use crate::ftl::mapping::dftl::DemandCounts;
use crate::ftl::merge::MergeCounts;
use crate::ftl::parity::ParityCounts;
use crate::ftl::slc::SlcCounts;
use crate::host::Host;
use crate::scheduler::{CommandCounts, CostCounts, Overlaps, Probe};
use crate::units::{Nanos, SimTime};

/// What the device did until a moment, or between two.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceCounters {
    /// The moment, or the time between the two.
    pub span: Nanos,
    /// What the FTL did.
    pub ftl: FtlCounts,
    /// What the SLC cache did; nothing without one.
    pub slc: SlcCounts,
    /// What merges did; nothing without a log.
    pub merges: MergeCounts,
    /// What the map on flash cost; nothing where all of it is in memory.
    pub map: DemandCounts,
    /// Packs that became current; none where pages are not packed.
    pub packs: u64,
    /// What the write buffer did.
    pub buffer: BufferCounts,
    /// What the read cache did; nothing without one.
    pub reads: ReadCacheCounts,
    /// Flash commands done, by origin and kind.
    pub commands: CommandCounts,
    /// The same by cost; nothing if all programs cost the same.
    pub costs: CostCounts,
    /// What was programmed again at another cost; nothing if nothing ever is.
    pub rewrites: RewriteCounts,
    /// What parity across dies cost; nothing without it.
    pub parity: ParityCounts,
    /// How often the dies did more than one thing at a time.
    pub overlaps: Overlaps,
    /// Time that each die was occupied.
    pub die_busy: Vec<Nanos>,
    /// Time that each bus was occupied.
    pub channel_busy: Vec<Nanos>,
}

impl DeviceCounters {
    /// Reads the counters.
    #[must_use]
    pub fn of<P: Probe, C: Contents>(device: &Device<P, C>) -> DeviceCounters {
        let now = device.now();
        DeviceCounters {
            span: now.saturating_since(SimTime::ZERO),
            ftl: *device.ftl_counts(),
            slc: device.ftl().slc_counts().copied().unwrap_or_default(),
            merges: device.merger().map(|merger| *merger.counts()).unwrap_or_default(),
            map: device.ftl().map_on_flash().map(|map| *map.counts()).unwrap_or_default(),
            packs: device.ftl().rmap().map(Reconstruction::packs).unwrap_or_default(),
            buffer: *device.buffer_counts(),
            reads: *device.reads().counts(),
            commands: *device.flash().done(),
            costs: *device.flash().costs(),
            rewrites: device.rewriter().map(|rewriter| *rewriter.counts()).unwrap_or_default(),
            parity: device.ftl().stripes().map(|stripes| *stripes.counts()).unwrap_or_default(),
            overlaps: *device.flash().overlaps(),
            die_busy: device.flash().die_busy(now).collect(),
            channel_busy: device.flash().channel_busy(now).collect(),
        }
    }

    /// What was done since `earlier`, which must be of the same device.
    #[must_use]
    pub fn since(&self, earlier: &DeviceCounters) -> DeviceCounters {
        self.zip(earlier, |now, then| now - then)
    }

    /// Both together.
    #[must_use]
    pub fn plus(&self, other: &DeviceCounters) -> DeviceCounters {
        self.zip(other, |one, two| one + two)
    }

    fn zip(&self, other: &DeviceCounters, f: fn(u64, u64) -> u64) -> DeviceCounters {
        let (a, b) = (&self.ftl, &other.ftl);
        let mut by_purpose = a.by_purpose;
        for (one, other) in by_purpose.iter_mut().zip(&b.by_purpose) {
            let runs = f(one.runs, other.runs);
            *one = PurposeCounts { runs, pages: f(one.pages, other.pages) };
        }
        let ftl = FtlCounts {
            host_pages: f(a.host_pages, b.host_pages),
            gc_pages: f(a.gc_pages, b.gc_pages),
            gc_stale: f(a.gc_stale, b.gc_stale),
            padding: f(a.padding, b.padding),
            trimmed: f(a.trimmed, b.trimmed),
            gc_runs: f(a.gc_runs, b.gc_runs),
            gc_victim_valid: f(a.gc_victim_valid, b.gc_victim_valid),
            by_purpose,
            beyond_refresh: f(a.beyond_refresh, b.beyond_refresh),
            unwritten_reads: f(a.unwritten_reads, b.unwritten_reads),
        };
        let (a, b) = (&self.slc, &other.slc);
        let slc = SlcCounts {
            written: f(a.written, b.written),
            bypassed: f(a.bypassed, b.bypassed),
            read: f(a.read, b.read),
        };
        let (a, b) = (&self.merges, &other.merges);
        let merges = MergeCounts {
            switch: f(a.switch, b.switch),
            partial: f(a.partial, b.partial),
            full: f(a.full, b.full),
            along: f(a.along, b.along),
            copied: f(a.copied, b.copied),
            moved: f(a.moved, b.moved),
            reclaims: f(a.reclaims, b.reclaims),
            erased_along: f(a.erased_along, b.erased_along),
        };
        let (a, b) = (&self.buffer, &other.buffer);
        let buffer = BufferCounts {
            write_hits: f(a.write_hits, b.write_hits),
            write_misses: f(a.write_misses, b.write_misses),
            read_hits: f(a.read_hits, b.read_hits),
            read_misses: f(a.read_misses, b.read_misses),
            written_back: f(a.written_back, b.written_back),
            waited: f(a.waited, b.waited),
            cycles: f(a.cycles, b.cycles),
            packs: f(a.packs, b.packs),
            padded: f(a.padded, b.padded),
            dropped: f(a.dropped, b.dropped),
        };
        let (a, b) = (&self.reads, &other.reads);
        let reads = ReadCacheCounts {
            hits: f(a.hits, b.hits),
            misses: f(a.misses, b.misses),
            joined: f(a.joined, b.joined),
            brought: f(a.brought, b.brought),
            read_ahead: f(a.read_ahead, b.read_ahead),
            outdated: f(a.outdated, b.outdated),
            evicted: f(a.evicted, b.evicted),
        };
        let mut commands = self.commands;
        for (row, others) in commands.iter_mut().zip(&other.commands) {
            row.iter_mut().zip(others).for_each(|(count, other)| *count = f(*count, *other));
        }
        let (a, b) = (&self.overlaps, &other.overlaps);
        let mut multi_plane = a.multi_plane;
        multi_plane.iter_mut().zip(&b.multi_plane).for_each(|(one, other)| *one = f(*one, *other));
        let overlaps = Overlaps {
            multi_plane,
            cached_reads: f(a.cached_reads, b.cached_reads),
            cached_programs: f(a.cached_programs, b.cached_programs),
            program_pauses: f(a.program_pauses, b.program_pauses),
            erase_pauses: f(a.erase_pauses, b.erase_pauses),
        };
        let spans =
            |a: &[Nanos], b: &[Nanos]| a.iter().zip(b).map(|(a, b)| Nanos(f(a.0, b.0))).collect();
        DeviceCounters {
            span: Nanos(f(self.span.0, other.span.0)),
            ftl,
            slc,
            merges,
            map: self.map.zip(&other.map, f),
            packs: f(self.packs, other.packs),
            buffer,
            reads,
            commands,
            costs: self.costs.zip(&other.costs, f),
            rewrites: self.rewrites.zip(&other.rewrites, f),
            parity: self.parity.zip(&other.parity, f),
            overlaps,
            die_busy: spans(&self.die_busy, &other.die_busy),
            channel_busy: spans(&self.channel_busy, &other.channel_busy),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counters of which the n-th has the value `of(n)`.
    fn counters(of: fn(u64) -> u64) -> DeviceCounters {
        let mut number = 0;
        let mut n = || {
            number += 1;
            of(number)
        };
        let mut by_purpose = FtlCounts::default().by_purpose;
        by_purpose.iter_mut().for_each(|one| *one = PurposeCounts { runs: n(), pages: n() });
        let mut commands = CommandCounts::default();
        commands.iter_mut().flatten().for_each(|count| *count = n());
        let mut costs = CostCounts::default();
        costs.reads.iter_mut().flatten().for_each(|count| *count = n());
        costs.programs.iter_mut().flatten().for_each(|count| *count = n());
        let mut map = DemandCounts::default();
        map.reads.iter_mut().chain(&mut map.programs).for_each(|count| *count = n());
        let mut multi_plane = Overlaps::default().multi_plane;
        multi_plane.iter_mut().for_each(|count| *count = n());
        DeviceCounters {
            span: Nanos(n()),
            ftl: FtlCounts {
                host_pages: n(),
                gc_pages: n(),
                gc_stale: n(),
                padding: n(),
                trimmed: n(),
                gc_runs: n(),
                gc_victim_valid: n(),
                by_purpose,
                beyond_refresh: n(),
                unwritten_reads: n(),
            },
            slc: SlcCounts { written: n(), bypassed: n(), read: n() },
            merges: MergeCounts {
                switch: n(),
                partial: n(),
                full: n(),
                along: n(),
                copied: n(),
                moved: n(),
                reclaims: n(),
                erased_along: n(),
            },
            map: DemandCounts {
                read_hits: n(),
                read_misses: n(),
                write_hits: n(),
                write_misses: n(),
                shared: n(),
                unwritten: n(),
                evicted: n(),
                write_backs: n(),
                batched: n(),
                reinserted: n(),
                lazy: n(),
                reads: map.reads,
                programs: map.programs,
                failed: n(),
                blocks: n(),
                lost_blocks: n(),
                copies: n(),
            },
            packs: n(),
            buffer: BufferCounts {
                write_hits: n(),
                write_misses: n(),
                read_hits: n(),
                read_misses: n(),
                written_back: n(),
                waited: n(),
                cycles: n(),
                packs: n(),
                padded: n(),
                dropped: n(),
            },
            reads: ReadCacheCounts {
                hits: n(),
                misses: n(),
                joined: n(),
                brought: n(),
                read_ahead: n(),
                outdated: n(),
                evicted: n(),
            },
            commands,
            costs: CostCounts {
                reads: costs.reads,
                programs: costs.programs,
                prior_reads: n(),
                retries: n(),
                unreadable: n(),
            },
            rewrites: RewriteCounts {
                requested: n(),
                again: n(),
                done: n(),
                pages: n(),
                written: n(),
                high: n(),
                full: n(),
                given_up: n(),
            },
            parity: ParityCounts {
                programs: n(),
                reconstructed: n(),
                reads: n(),
                lost: n(),
                spared_erases: n(),
            },
            overlaps: Overlaps {
                multi_plane,
                cached_reads: n(),
                cached_programs: n(),
                program_pauses: n(),
                erase_pauses: n(),
            },
            die_busy: vec![Nanos(n()), Nanos(n())],
            channel_busy: vec![Nanos(n())],
        }
    }

    /// Every counter is its own difference and its own sum, whichever it is.
    #[test]
    fn counters_are_subtracted_and_added_each_for_itself() {
        let (earlier, later) = (counters(|n| n), counters(|n| n * n + 7 * n + 3));
        assert_eq!(later.since(&earlier), counters(|n| n * n + 6 * n + 3));
        assert_eq!(later.plus(&earlier), counters(|n| n * n + 8 * n + 3));
    }
}
