//! The device's counters at one moment. They only grow, so their difference tells what happened
//! between two moments.

use crate::cache::{BufferCounts, ReadCacheCounts};
use crate::counters::{Counters, Family, counters};
use crate::device::{Contents, Device};
use crate::ftl::FtlCounts;
use crate::ftl::cost::RewriteCounts;
use crate::ftl::mapping::Reconstruction;
use crate::ftl::mapping::dftl::DemandCounts;
use crate::ftl::merge::MergeCounts;
use crate::ftl::parity::ParityCounts;
use crate::ftl::slc::SlcCounts;
use crate::ftl::streams::fdp::PlacementCounts;
use crate::ftl::wear::Losses;
use crate::host::zones::ZoneCounts;
use crate::host::{FrontEndBusy, Host};
use crate::nand::{CellTime, HazardCounts};
use crate::scheduler::{CommandCounts, CostCounts, Overlaps, Probe};
use crate::units::{Nanos, SimTime};

counters! {
    /// What the device did until a moment, or between two.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct DeviceCounters {
        /// The moment, or the time between the two.
        span: Nanos;
        /// What the FTL did.
        ftl: FtlCounts;
        /// What the SLC cache did; nothing without one.
        slc: SlcCounts;
        /// What merges did; nothing without a log.
        merges: MergeCounts;
        /// What the map on flash cost; nothing where all of it is in memory.
        map: DemandCounts;
        /// Packs that became current; none where pages are not packed.
        packs: u64, unit "programs";
        /// What the write buffer did.
        buffer: BufferCounts;
        /// What the read cache did; nothing without one.
        reads: ReadCacheCounts;
        /// Flash commands done, by origin and kind.
        commands: CommandCounts, unit "commands";
        /// The same by cost; nothing if all programs cost the same.
        costs: CostCounts;
        /// What was programmed again at another cost; nothing if nothing ever is.
        rewrites: RewriteCounts;
        /// What parity across dies cost; nothing without it.
        parity: ParityCounts;
        /// What was done with zones; nothing on a conventional device.
        zones: ZoneCounts;
        /// What happened to reclaim units; nothing without flexible data placement.
        placement: PlacementCounts;
        /// Commands that failed; nothing on flash that can't fail.
        hazards: HazardCounts;
        /// How often the dies did more than one thing at a time.
        overlaps: Overlaps;
        /// For how long cells worked.
        cell_time: CellTime;
        /// Time that each die was occupied.
        die_busy: Vec<Nanos>;
        /// Time that each bus was occupied.
        channel_busy: Vec<Nanos>;
        /// Time that the engines of each pool decoded, together; nothing where decoding takes no time.
        decoder_busy: Vec<Nanos>;
        /// Time that the parts of the front end were in use; nothing without one.
        front_end: FrontEndBusy;
    }
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
            parity: device
                .ftl()
                .stripes()
                .map(|stripes| stripes.counts_until(now))
                .unwrap_or_default(),
            zones: device.zones().map(|zones| *zones.counts()).unwrap_or_default(),
            placement: device.fdp().map(|fdp| *fdp.placement_counts()).unwrap_or_default(),
            hazards: device.flash().hazards().map(|it| *it.counts()).unwrap_or_default(),
            overlaps: *device.flash().overlaps(),
            cell_time: device.flash().energy_meter().cells,
            die_busy: device.flash().die_busy(now).collect(),
            channel_busy: device.flash().channel_busy(now).collect(),
            decoder_busy: device.flash().decoders_busy(now).collect(),
            front_end: device.front_busy(),
        }
    }
}

/// Every family of counters: those of [`DeviceCounters`], and those that are only given since the device was new.
#[must_use]
pub fn families() -> Vec<&'static Family> {
    let mut families = Vec::new();
    DeviceCounters::families(&mut families);
    Losses::families(&mut families);
    families
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counters of which the n-th has the value `of(n)`.
    fn counters(of: fn(u64) -> u64) -> DeviceCounters {
        let (die_busy, channel_busy) = (vec![Nanos::ZERO; 2], vec![Nanos::ZERO]);
        let decoder_busy = vec![Nanos::ZERO; 3];
        let blank =
            DeviceCounters { die_busy, channel_busy, decoder_busy, ..DeviceCounters::default() };
        let mut number = 0;
        blank.zip(&blank, &mut |_, _| {
            number += 1;
            of(number)
        })
    }

    /// A counter that `zip` loses is 0 here, and one that it takes for another has the number of that one.
    #[test]
    fn every_counter_is_combined_once() {
        let shown = format!("{:?}", counters(|n| n));
        let words = shown.split(|letter: char| !letter.is_ascii_digit());
        let numbers: Vec<u64> = words.filter_map(|word| word.parse().ok()).collect();
        assert!(numbers.iter().copied().eq(1..=numbers.len() as u64), "{shown}");
    }

    #[test]
    fn counters_are_subtracted_and_added_each_for_itself() {
        let (earlier, later) = (counters(|n| n), counters(|n| n * n + 7 * n + 3));
        assert_eq!(later.since(&earlier), counters(|n| n * n + 6 * n + 3));
        assert_eq!(later.plus(&earlier), counters(|n| n * n + 8 * n + 3));
    }

    /// Two counters of one place would hide each other in the result.
    #[test]
    fn every_place_in_the_report_has_one_counter() {
        let counters = families().into_iter().flat_map(|family| family.counters);
        let places: Vec<&str> = counters.flat_map(|counter| counter.places).copied().collect();
        let distinct: std::collections::BTreeSet<&str> = places.iter().copied().collect();
        assert!(places.len() == distinct.len() && places.len() > 50, "{places:?}");
    }
}
