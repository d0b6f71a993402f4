//! Checks a config as a whole, where options depend on each other. Errors are for what cannot work,
//! warnings for what is probably a mistake.

mod cache;
mod cost;
mod faults;
mod firmware;
mod gating;
mod handles;
mod hints;
mod ispp;
mod link;
mod log;
mod map_on_flash;
mod packing;
mod pages;
mod parity;
mod physical;
mod reclaim_groups;
mod recovery;
mod refresh;
mod scheduling;
mod slc;
mod superblock;
mod translation;
mod volume;
mod zones;

use super::options::{MOST_COPIES, Options};
use super::resolve::{ShapeCounts, shape, volume};
use super::usual::{times, usual_times};
use crate::nand::timing::TellsApart;
use crate::options::Problem;
use crate::options::reader::LayerReader;
use crate::options::text::quoted;
use crate::options::value::Value;
use crate::shape::Cell;
use crate::units::{Bytes, Nanos, Ratio};

/// The most mapping units of a device: 32-bit indices, with room for marks.
const MOST_UNITS: u64 = (1 << 31) - 1;
/// The same if pages may be packed: the spare area needs one more bit to mark them.
const MOST_UNITS_PACKED: u64 = (1 << 30) - 1;
/// Blocks of a plane that must be left over, so that collection frees something.
const SPARE_BLOCKS: u64 = 1;

/// Reports everything that cannot work. Returns what is suspicious or does nothing.
pub(super) fn check(options: &Options, reader: &mut LayerReader<'_>) -> Findings {
    let notes = reader.idle();
    let mut checker = Checker { options, reader, warnings: Vec::new(), notes };
    checker.queues();
    checker.link();
    checker.pages();
    checker.lists();
    checker.thresholds();
    checker.capacity();
    checker.physical();
    checker.log();
    checker.cache();
    checker.order_in_lock_step();
    checker.order_of_streams();
    checker.handles();
    checker.reclaim_groups();
    checker.hints();
    checker.gating();
    checker.firmware();
    checker.cost();
    checker.ispp();
    checker.refresh();
    checker.recovery();
    checker.parity();
    checker.superblock();
    checker.packing();
    checker.map_on_flash();
    checker.slc_cache();
    checker.faults();
    checker.cell_times();
    checker.bus();
    checker.suspension();
    checker.planes_apart();
    checker.space();
    checker.arbitration();
    checker.zones();
    checker.host_translation();
    Findings { warnings: checker.warnings, notes: checker.notes }
}

/// Findings that are not errors.
pub(super) struct Findings {
    /// Suspicious values.
    pub warnings: Vec<Problem>,
    /// Options that the user set although they do nothing.
    pub notes: Vec<Problem>,
}

struct Checker<'a, 'r> {
    options: &'a Options,
    reader: &'a mut LayerReader<'r>,
    warnings: Vec<Problem>,
    notes: Vec<Problem>,
}

/// The options that determine the number of pages.
const GEOMETRY: [&str; 9] = [
    "nand.blocks_per_plane",
    "nand.pages_per_block",
    "nand.channels",
    "nand.chips_per_channel",
    "nand.dies_per_chip",
    "nand.planes_per_die",
    "nand.page_size",
    "nand.program_unit",
    "ftl.mapping.unit",
];

impl Checker<'_, '_> {
    /// A problem about `paths`, reported under the first. None if the value of any of them is only
    /// a placeholder for a wrong one.
    fn problem(&self, paths: &[&str], message: String, remedy: String) -> Option<Problem> {
        self.reader.sound(paths).then(|| Problem {
            path: paths[0].to_owned(),
            message,
            remedy,
            place: self.reader.place(paths),
        })
    }

    fn fail(&mut self, paths: &[&str], message: String, remedy: String) {
        if let Some(problem) = self.problem(paths, message, remedy) {
            self.reader.note(problem);
        }
    }

    fn warn(&mut self, paths: &[&str], message: String, remedy: String) {
        self.warnings.extend(self.problem(paths, message, remedy));
    }

    /// Checks that lists have one number for all queues, or one for each.
    fn queues(&mut self) {
        let host = &self.options.host;
        let weights = ("host.arbitration.weights", host.arbitration.policy.weights());
        let lists = [
            ("host.queue_depth", Some(host.queue_depth.len())),
            (weights.0, weights.1.map(<[u32]>::len)),
            ("host.arbitration.classes", host.arbitration.policy.classes().map(<[_]>::len)),
        ];
        let queues = host.queues;
        for (path, length) in lists {
            let Some(length) = length else { continue };
            if length != 1 && length != queues as usize {
                let message = format!("has {length} entries for {queues} submission queues");
                let remedy = format!("give one for all queues, or {queues}: one for each");
                self.fail(&[path, "host.queues"], message, remedy);
            }
        }
    }

    fn lists(&mut self) {
        let timing = &self.options.nand.timing.policy;
        if timing.tells_apart() != TellsApart::PageTypes {
            return;
        }
        let cell = self.options.nand.cell;
        let [read, program] = timing.paths();
        let times = timing.times(cell);
        let (reads, programs) = (times.read.len(), times.program.len());
        let mut lists = vec![(read, reads), (program, programs)];
        if self.options.nand.pages_at_once() > 1 {
            lists.pop();
            self.time_of_word_line(program, programs);
        }
        for (path, length) in lists {
            if length != cell.bits() as usize {
                let entries =
                    if length == 1 { "1 entry".into() } else { format!("{length} entries") };
                let message = format!(
                    "has {entries}, but the cell is {}, which has {} types of page",
                    cell.print(),
                    cell.bits()
                );
                let types = match cell {
                    Cell::Slc => "LSB",
                    Cell::Mlc => "LSB, MSB",
                    Cell::Tlc => "LSB, CSB, MSB",
                    Cell::Qlc => "LSB, CSB, MSB, TSB",
                };
                let remedy = format!("give one time for each type: {types}");
                self.fail(&[path, "nand.cell"], message, remedy);
            }
        }
    }

    fn thresholds(&mut self) {
        let gc = &self.options.ftl.gc;
        if gc.stop < gc.start {
            let message = format!(
                "collection would stop at {} free blocks, before it starts at {}",
                gc.stop, gc.start
            );
            let remedy = format!("set ftl.gc.stop to {} or more", gc.start);
            self.fail(&["ftl.gc.stop", "ftl.gc.start"], message, remedy);
        }
        if gc.reserve >= gc.start {
            let message = format!(
                "with {} free blocks reserved the host stops writing before collection starts, at {}",
                gc.reserve, gc.start
            );
            let remedy = format!("set ftl.gc.reserve below {}", gc.start);
            self.fail(&["ftl.gc.reserve", "ftl.gc.start"], message, remedy);
        }
        self.triggers();
    }

    fn triggers(&mut self) {
        let gc = &self.options.ftl.gc;
        let bounded = gc.preemptible.is_on() || gc.copies_per_write < MOST_COPIES;
        if bounded && gc.hard_limit >= gc.start {
            let message = format!(
                "collection starts at {} free blocks, where the hard limit of {} is already reached: \
                 it never yields to the host or waits for its writes",
                gc.start, gc.hard_limit
            );
            let remedy = "raise ftl.gc.start and ftl.gc.stop, or lower ftl.gc.hard_limit";
            self.warn(&["ftl.gc.hard_limit", "ftl.gc.start"], message, remedy.to_owned());
        }
        let background = &gc.background;
        if background.collect.is_on() && background.blocks <= gc.stop {
            let message = format!(
                "background collection ends at {} free blocks, of which {} are free anyway",
                background.blocks, gc.stop
            );
            let remedy = format!("set ftl.gc.background.blocks above {}", gc.stop);
            self.warn(&["ftl.gc.background.blocks", "ftl.gc.stop"], message, remedy);
        }
    }

    fn capacity(&mut self) {
        let shape = shape(self.options);
        let Some(counts) = ShapeCounts::of(&shape) else {
            return; // Reported with the pages; there is nothing to count.
        };
        let packs = self.options.ftl.mapping.policy.packs();
        let most = if packs { MOST_UNITS_PACKED } else { MOST_UNITS };
        if counts.units > most {
            let message = format!(
                "the device has {} mapping units of {}; the most is {most}{}",
                counts.units,
                shape.mapping_unit.print(),
                if packs { " where pages are packed (ftl.mapping.policy)" } else { "" }
            );
            let remedy = match counts.units / counts.units_per_page <= most {
                true => {
                    "map whole flash pages (ftl.mapping.unit = \"flash-page\"), or use fewer \
                     blocks, chips or channels"
                }
                false => "use fewer blocks, pages, chips or channels",
            };
            self.fail(&GEOMETRY, message, remedy.to_owned());
        }
        let Some(counts) = ShapeCounts::of(&volume(self.options)) else { return };
        if !self.is_physical() && !self.has_log() {
            self.spare_blocks(&counts);
            self.host_capacity(&counts);
        }
    }

    /// Checks that the host does not see more than there is.
    fn host_capacity(&mut self, counts: &ShapeCounts) {
        let unit = shape(self.options).mapping_unit;
        let logical = counts.logical(self.options.ftl.over_provisioning);
        let most = Bytes(logical.saturating_mul(unit.0));
        if let Some(wanted) = self.options.ftl.capacity.filter(|&wanted| wanted > most) {
            let message = format!(
                "{} is more than over-provisioning leaves of the flash: {} bytes",
                wanted.print(),
                most.0
            );
            let remedy = "lower it, write \"none\", or give the device more flash".to_owned();
            let mut paths = vec!["ftl.capacity", "ftl.over_provisioning"];
            paths.extend(GEOMETRY);
            self.fail(&paths, message, remedy);
        }
    }

    fn spare_blocks(&mut self, counts: &ShapeCounts) {
        let gc = &self.options.ftl.gc;
        let share = self.options.ftl.over_provisioning;
        let map_units = self.map_units(counts);
        let logical = counts.logical_blocks_per_plane(share, map_units);
        let blocks = self.good_blocks();
        let (open, kept_back) = (self.open_blocks(), self.kept_back(counts));
        let kept = u64::from(gc.start) + kept_back + open + SPARE_BLOCKS;
        let own = u64::from(self.options.ftl.slc_cache.policy.own_blocks());
        let mut paths = vec!["ftl.over_provisioning", "ftl.gc.start", "ftl.streams.policy"];
        paths.extend(GEOMETRY);
        paths.extend((own > 0).then_some("ftl.slc_cache.blocks"));
        if logical + kept > blocks {
            let message = format!(
                "the logical share of a plane fills {logical} of its {blocks} {}blocks, but {kept} \
                 must be left: {} at which collection starts, {open} open ones{} and \
                 {SPARE_BLOCKS} to spare{}{}",
                if self.options.nand.faults.factory_bad.ppm > 0 { "good " } else { "" },
                gc.start,
                if self.has_map_on_flash() { " (two for the map on flash)" } else { "" },
                match kept_back {
                    0 => String::new(),
                    kept_back => format!(", and {kept_back} because operations can fail"),
                },
                match own {
                    0 => String::new(),
                    own => format!("; {own} more belong to the SLC cache"),
                }
            );
            let remedy = self.remedy_for_spare(counts, kept);
            self.fail(&paths, message, remedy);
        } else if counts.logical_units_per_plane(share) + map_units >= self.sure_units(counts) {
            paths[1] = "ftl.gc.reserve";
            let message = format!(
                "a block is worth collecting only when it frees a flash page of {} units: with up \
                 to {} stale units left in each, the logical share of a plane may not fit",
                counts.units_per_page,
                counts.units_per_page - 1
            );
            let remedy = match self.least_share(counts, kept) {
                Some(share) => format!("set ftl.over_provisioning to {} or more", text(&share)),
                None => "map whole flash pages (ftl.mapping.unit = \"flash-page\")".to_owned(),
            };
            self.fail(&paths, message, remedy);
        } else if logical + u64::from(gc.stop) + kept_back + open > blocks {
            paths[1] = "ftl.gc.stop";
            paths.swap(0, 1);
            let message = format!(
                "a full device has only {} free blocks in a plane, so collection never stops",
                blocks - logical - open
            );
            let remedy = "lower ftl.gc.stop, or raise ftl.over_provisioning".to_owned();
            self.warn(&paths, message, remedy);
        }
    }

    /// The least over-provisioning, to a tenth of a per cent, that leaves `kept` good blocks of a plane, and with which
    /// something is always worth collecting. None if the most that the option takes is too little.
    fn least_share(&self, counts: &ShapeCounts, kept: u64) -> Option<Ratio> {
        const STEP: u32 = 1_000;
        const MOST: u32 = 9_000_000;
        let share = |steps: u32| Ratio { ppm: steps * STEP };
        let suffices = |steps: u32| {
            let map_units = self.map_units_at(share(steps), counts);
            let blocks = counts.logical_blocks_per_plane(share(steps), map_units);
            let units = counts.logical_units_per_plane(share(steps)) + map_units;
            blocks + kept <= self.good_blocks() && units < self.sure_units(counts)
        };
        // It suffices from some share on.
        let (mut too_little, mut enough) = (0, MOST / STEP);
        if !suffices(enough) {
            return None;
        }
        while enough - too_little > 1 {
            let middle = too_little.midpoint(enough);
            *(if suffices(middle) { &mut enough } else { &mut too_little }) = middle;
        }
        Some(share(enough))
    }

    /// The remedy if fewer than `kept` good blocks of a plane are left over.
    fn remedy_for_spare(&self, counts: &ShapeCounts, kept: u64) -> String {
        let own = u64::from(self.options.ftl.slc_cache.policy.own_blocks());
        let all = u64::from(self.options.nand.blocks_per_plane).saturating_sub(own);
        let good = self.good_blocks();
        let mut others = String::new();
        if good < all {
            others.push_str(" or nand.faults.factory_bad");
        }
        if own > 0 {
            others.push_str(" or ftl.slc_cache.blocks");
        }
        let streams = &self.options.ftl.streams.policy;
        if let Some(option) = streams.host_streams_option().filter(|_| streams.counts().host > 1) {
            others.push_str(&format!(" or {option}"));
        }
        match self.least_share(counts, kept) {
            Some(share) => format!(
                "set ftl.over_provisioning to {} or more, or lower ftl.gc.start{others}",
                text(&share)
            ),
            None => {
                let wanted = kept + kept.div_ceil(9);
                let blocks = (wanted * all).div_ceil(good.max(1)).max(wanted) + own;
                format!("give a plane at least {blocks} blocks, or lower ftl.gc.start{others}")
            }
        }
    }

    /// Blocks of a plane that may be partly filled: one for each stream, one that the SLC cache
    /// borrows, those of a map on flash, and one of rewritten pages.
    fn open_blocks(&self) -> u64 {
        let ftl = &self.options.ftl;
        let borrowed = u64::from(ftl.slc_cache.policy.borrows());
        // Translation pages and copies of them have separate blocks.
        let of_map = if self.has_map_on_flash() { 2 } else { 0 };
        let of_rewrites = u64::from(self.rewrites());
        u64::from(ftl.streams.policy.counts().open_blocks()) + borrowed + of_map + of_rewrites
    }

    /// With fewer logical units on a plane than this, something is always worth collecting. When
    /// the host waits for a plane, all its blocks are closed except the reserve and the open blocks
    /// of other streams than the waiting one (or of all, if it waits for the SLC cache). Each
    /// closed block is worth collecting unless it has fewer stale units than a flash page holds.
    fn sure_units(&self, counts: &ShapeCounts) -> u64 {
        let kept = u64::from(self.options.ftl.gc.reserve) + self.kept_back(counts);
        let full = u64::from(self.options.ftl.slc_cache.policy.rules().is_none());
        let open = self.open_blocks() - full;
        let closed = self.good_blocks().saturating_sub(kept + open);
        closed * (counts.units_per_block - counts.units_per_page + 1)
    }

    /// The average number of good blocks of a plane in a new device, without the SLC cache's own.
    fn good_blocks(&self) -> u64 {
        let blocks = u64::from(self.options.nand.blocks_per_plane);
        let bad = u128::from(blocks) * u128::from(self.options.nand.faults.factory_bad.ppm);
        let bad = bad.div_ceil(u128::from(Ratio::ONE.ppm));
        let own = u64::from(self.options.ftl.slc_cache.policy.own_blocks());
        blocks.saturating_sub(own + u64::try_from(bad).unwrap_or(blocks))
    }

    fn dies(&self, counts: &ShapeCounts) -> u64 {
        counts.planes / u64::from(self.options.nand.planes_per_die).max(1)
    }

    fn cell_times(&mut self) {
        let cell = self.options.nand.cell;
        let times = times(self.options);
        let [read, program] = self.options.nand.timing.policy.paths();
        let mean = |list: &[Nanos]| {
            let sum: u128 = list.iter().map(|time| u128::from(time.0)).sum();
            Nanos(u64::try_from(sum / list.len().max(1) as u128).unwrap_or(u64::MAX))
        };
        let usual = usual_times(cell);
        for (path, list, usual) in
            [(read, &times.read, usual.read), (program, &times.program, usual.program)]
        {
            let mean = mean(list);
            // Times by cost include the transfer, and some buses take no time of their own.
            let by_cost = self.options.nand.timing.policy.knows_costs();
            let whole = by_cost || self.options.nand.bus.policy.takes_no_time();
            if !whole && !list.is_empty() && !(usual.0..=usual.1).contains(&mean) {
                let message = format!(
                    "{} is unusual for {}: parts take {} to {}",
                    mean.print(),
                    cell.print(),
                    usual.0.print(),
                    usual.1.print()
                );
                let remedy = "check the unit, and that nand.cell and the times belong together";
                self.warn(&[path, "nand.cell"], message, remedy.to_owned());
            }
        }
        let erase = self.options.nand.timing.erase;
        if erase < mean(&times.program) {
            let message = format!("erasing ({}) is faster than programming", erase.print());
            let remedy = "check the unit; erasing a block takes milliseconds".to_owned();
            self.warn(&["nand.timing.erase", program], message, remedy);
        }
    }

    /// Notes options of arbitration if no command ever waits in its queue.
    fn arbitration(&mut self) {
        const OPTIONS: [&str; 8] = [
            "host.arbitration.policy",
            "host.arbitration.weights",
            "host.arbitration.cost",
            "host.arbitration.classes",
            "host.arbitration.high_weight",
            "host.arbitration.medium_weight",
            "host.arbitration.low_weight",
            "host.arbitration.burst",
        ];
        let host = &self.options.host;
        let depth = |queue: usize| match host.queue_depth.as_slice() {
            [all] => *all,
            each => each.get(queue).copied().unwrap_or(1),
        };
        let submitted: u64 = (0..host.queues as usize).map(|queue| u64::from(depth(queue))).sum();
        let waits = host.command_time > Nanos::ZERO || u64::from(host.outstanding) < submitted;
        // Nobody has 65,536 commands outstanding, so the default limit is none.
        let limited = self.reader.is_set("host.outstanding") || host.command_time > Nanos::ZERO;
        let first = OPTIONS.into_iter().find(|path| self.reader.user_changed(path));
        let Some(first) = first.filter(|_| host.queues == 1 || !waits || !limited) else { return };
        let (message, remedy) = match host.queues {
            1 => ("is set, but there is one submission queue", "set host.queues to 2 or more"),
            _ => (
                "is set, but the controller takes every command at once: none waits in its queue, and \
                 there is nothing to choose",
                "set host.outstanding to fewer commands than the host keeps in its queues, such as 32, or \
                 host.command_time",
            ),
        };
        self.notes.extend(self.problem(&[first], message.to_owned(), remedy.to_owned()));
    }

    fn bus(&mut self) {
        let nand = &self.options.nand;
        let times = times(self.options);
        let (Some(read), Some(program)) = (times.read.iter().max(), times.program.iter().min())
        else {
            return;
        };
        let transfers = &nand.bus.policy;
        let paths = [transfers.path(), "nand.page_size", "nand.timing.policy"];
        if !self.reader.sound(&paths) {
            return;
        }
        let page = transfers.time_of_page(nand.page_size);
        let transfer = Nanos(page.0.saturating_mul(nand.pages_at_once().into()));
        let dies = u64::from(nand.chips_per_channel) * u64::from(nand.dies_per_chip);
        if transfer.0.saturating_mul(dies) > program.0 {
            let message = format!(
                "the bus is slower than the cells: moving a page takes {}, and {dies} dies program \
                 one every {}",
                transfer.print(),
                Nanos(program.0 / dies).print()
            );
            let remedy = "let the bus move more, or put fewer dies on a channel".to_owned();
            self.warn(&paths, message, remedy);
        } else if page.0 > read.0.saturating_mul(8) {
            let message = format!(
                "the bus is slow: moving a page takes {}, sensing it {}",
                page.print(),
                read.print()
            );
            let remedy = "let the bus move more, if the part's interface does".to_owned();
            self.warn(&paths, message, remedy);
        }
    }
}

fn text<T: Value>(value: &T) -> String {
    quoted(&value.print())
}
