//! The designs that are tested; each leaves everything else random.

use ftlab::engine::Stream;

use super::deaths;
use crate::draw::{self, Limit, Settings, Together};

/// A design of a translation layer.
#[derive(Debug)]
pub struct Design {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its description.
    pub about: &'static str,
    /// Its recovery policies; none if power is never cut.
    recovery: &'static [&'static str],
    /// The options that define it.
    options: Together,
}

/// The largest device; a cut must take only a few milliseconds.
const LIMIT: Limit = Limit { units: 1_600, sectors: 16_000 };

/// Both recovery policies, and the only one for maps that are more than a place for each page.
const ANY: &[&str] = &["scan", "checkpoint"];
const SCAN: &[&str] = &["scan"];
const NO: &[&str] = &[];

/// Options of every device.
const ALWAYS: Together = &[
    ("power.capacitors", &["off", "off", "off", "on"]),
    ("nand.blocks_per_plane", &["8", "10", "12", "16", "20"]),
    ("nand.pages_per_block", &["4", "5", "6", "8"]),
];

/// All designs, in the order of their turns.
pub const DESIGNS: [Design; 18] = [
    Design {
        name: "page",
        about: "page mapping with any buffer",
        recovery: ANY,
        options: &[("ftl.mapping.policy", &["page"])],
    },
    Design {
        name: "ordered",
        about: "page mapping, and writes that reach flash in their order",
        recovery: ANY,
        options: &[
            ("ftl.mapping.policy", &["page"]),
            ("cache.policy", &["gating"]),
            ("cache.in_order", &["on"]),
            ("cache.capacity", &["16KiB", "64KiB", "256KiB"]),
            // Cycles of writes over several planes, of which a cut finds some on flash.
            ("nand.channels", &["2", "3"]),
        ],
    },
    Design {
        name: "openssd",
        about: "page mapping with an append buffer and a read cache, as on the Cosmos OpenSSD",
        recovery: ANY,
        options: &[
            ("ftl.mapping.policy", &["page"]),
            ("ftl.placement.policy", &["dynamic"]),
            ("cache.policy", &["append"]),
            ("cache.capacity", &["32KiB", "64KiB"]),
            ("cache.append_together", &["1", "3", "16"]),
            ("cache.read.policy", &["lru"]),
        ],
    },
    Design {
        name: "slc-cache",
        about: "page mapping with an SLC cache",
        recovery: ANY,
        options: &[
            ("ftl.mapping.policy", &["page"]),
            ("nand.cell", &["mlc", "tlc", "qlc"]),
            ("ftl.slc_cache.policy", &["static", "dynamic", "hybrid"]),
            ("ftl.slc_cache.blocks", &["1", "2"]),
            ("ftl.slc_cache.keep_free", &["0", "1", "2"]),
            ("ftl.slc_cache.fold_after_idle", &["0ns", "100us", "1ms"]),
            ("ftl.over_provisioning", &["50%", "100%", "200%"]),
        ],
    },
    Design {
        name: "superblocks",
        about: "page mapping, its map in memory or on flash, with superblocks",
        recovery: ANY,
        options: draw::SUPERBLOCKS,
    },
    Design {
        name: "zones",
        about: "zones that are written in order and reset",
        recovery: ANY,
        options: &[
            ("host.zones.policy", &["zns"]),
            ("host.zones.conventional", &["0", "0", "1"]),
            ("host.zones.size", &["none", "1MiB"]),
            ("host.zones.max_open", &["1", "2", "4"]),
            ("host.zones.max_active", &["4", "none"]),
            ("host.zones.window", &["none", "none", "16KiB"]),
            ("ftl.mapping.policy", &["page", "page", "dftl"]),
            ("ftl.placement.policy", &["zoned", "zoned", "dynamic"]),
            ("ftl.placement.zone_dies", &["none", "1", "2"]),
            ("ftl.streams.policy", &["zoned", "zoned", "single"]),
            ("ftl.streams.zone_streams", &["1", "2", "4"]),
            ("ftl.over_provisioning", &["100%", "200%", "300%"]),
        ],
    },
    Design {
        name: "worn-zones",
        about: "zones that go out of service, because blocks fail",
        recovery: ANY,
        options: WORN_ZONES,
    },
    Design {
        name: "word-lines",
        about: "word lines that are programmed at once, and torn as a whole",
        recovery: ANY,
        options: &[
            ("nand.program_unit", &["word-line"]),
            ("nand.cell", &["tlc", "tlc", "mlc", "qlc"]),
            ("nand.pages_per_block", &["12", "16", "24"]),
            ("nand.page_size", &["2KiB", "4KiB", "6KiB"]),
            ("nand.codeword", &["1KiB", "2KiB"]),
            ("ftl.mapping.policy", &["page", "page", "dftl"]),
            ("ftl.mapping.unit", &["1KiB", "2KiB"]),
            ("ftl.mapping.cache", &["64B", "256B", "1KiB"]),
            ("ftl.slc_cache.policy", &["none", "none", "static", "hybrid"]),
            ("ftl.slc_cache.blocks", &["1", "2"]),
            ("ftl.over_provisioning", &["50%", "100%", "200%"]),
        ],
    },
    Design {
        name: "dftl",
        about: "a page map on flash",
        recovery: ANY,
        options: &[
            ("ftl.mapping.policy", &["dftl"]),
            ("ftl.mapping.unit", &["512B", "2KiB", "4KiB"]),
            ("ftl.mapping.cache", &["64B", "256B", "1KiB"]),
            ("ftl.slc_cache.policy", &["none", "none", "static", "dynamic", "hybrid"]),
            ("nand.page_size", &["2KiB", "4KiB"]),
            ("nand.codeword", &["512B"]),
            ("ftl.over_provisioning", &["30%", "100%"]),
        ],
    },
    Design {
        name: "packed",
        about: "pages that share flash pages, with RMAP",
        recovery: SCAN,
        options: &[
            ("ftl.mapping.policy", &["reconstruction"]),
            ("ftl.mapping.entries", &["15%", "100%"]),
            ("ftl.mapping.unit", &["4KiB", "flash-page"]),
            ("ftl.placement.policy", &["dynamic"]),
            ("ftl.over_provisioning", &["100%", "200%", "300%"]),
            ("nand.page_size", &["4KiB", "8KiB"]),
            ("cache.policy", &["prlru", "prlru-adaptive"]),
            ("cache.capacity", &["32KiB", "64KiB"]),
        ],
    },
    Design {
        name: "log-block",
        about: "data blocks with a log block each",
        recovery: SCAN,
        options: &[("ftl.mapping.policy", &["log-block"])],
    },
    Design {
        name: "bast",
        about: "data blocks with log blocks of their own",
        recovery: SCAN,
        options: &[("ftl.mapping.policy", &["bast"])],
    },
    Design {
        name: "fast",
        about: "data blocks with log blocks for all",
        recovery: SCAN,
        options: &[("ftl.mapping.policy", &["fast"])],
    },
    Design {
        name: "nftl",
        about: "data blocks with replacement blocks",
        recovery: SCAN,
        options: &[("ftl.mapping.policy", &["nftl"])],
    },
    Design {
        name: "deaths",
        about: "page mapping, power cuts, and dies that die",
        recovery: ANY,
        options: &[
            ("ftl.mapping.policy", &["page", "page", "page", "reconstruction"]),
            ("ftl.placement.policy", &["dynamic", "dynamic", "static", "partly-dynamic"]),
            ("ftl.over_provisioning", &["60%", "100%", "200%"]),
            ("ftl.slc_cache.policy", &["none", "none", "static", "dynamic", "hybrid"]),
            ("ftl.superblock.policy", &["none"]),
            ("ftl.parity.policy", &["none"]),
            ("nand.cell", &["mlc", "tlc"]),
            ("nand.channels", &["2", "2", "3"]),
            ("nand.chips_per_channel", &["1", "1", "2"]),
            ("nand.dies_per_chip", &["1", "1", "2"]),
            ("nand.planes_per_die", &["1", "1", "2"]),
            // Replaced once the device is known.
            ("nand.faults.schedule", &["1us: die 0 dies"]),
        ],
    },
    Design {
        name: "parity",
        about: "parity across dies, of which some die",
        recovery: NO,
        options: &[
            ("ftl.parity.policy", &["dies"]),
            ("ftl.parity.width", &["2", "3", "4"]),
            ("ftl.parity.rebuild", &["off", "on", "on"]),
            ("ftl.mapping.policy", &["page", "page", "reconstruction"]),
            ("ftl.placement.policy", &["dynamic"]),
            ("ftl.placement.rows", &["off"]),
            ("ftl.over_provisioning", &["60%", "100%", "200%"]),
            ("ftl.slc_cache.policy", &["none"]),
            ("ftl.gc.copyback", &["off"]),
            ("ftl.refresh.reads", &["none"]),
            ("nand.timing.policy", &["plain", "page-type"]),
            ("nand.chips_per_channel", &["1", "2", "2", "3"]),
            ("nand.dies_per_chip", &["1", "1", "2"]),
            ("nand.planes_per_die", &["1", "1", "2"]),
            ("nand.page_size", &["2KiB", "4KiB", "8KiB"]),
            // Replaced once the device is known.
            ("nand.faults.schedule", &["1us: die 0 dies"]),
            ("nand.faults.program_failures", &["0", "0", "1000000", "20000000"]),
            ("nand.faults.read_failures", &["0"]),
            ("nand.faults.disturb_limit", &["none"]),
        ],
    },
    Design {
        name: "stripes",
        about: "parity across dies, power cuts, and dies that die",
        recovery: ANY,
        options: STRIPES,
    },
    Design {
        name: "everything",
        about: "parity, superblocks, an SLC cache, failing and wearing blocks, power cuts, and dies that die",
        recovery: ANY,
        options: EVERYTHING,
    },
];

/// Zones whose blocks fail so often that zones go out of service.
const WORN_ZONES: Together = &[
    ("host.zones.policy", &["zns"]),
    ("host.zones.conventional", &["0", "0", "0", "1"]),
    ("host.zones.size", &["none", "1MiB"]),
    ("host.zones.max_open", &["2", "4"]),
    ("host.zones.max_active", &["4", "none"]),
    ("host.zones.window", &["none", "none", "16KiB"]),
    ("ftl.mapping.policy", &["page", "page", "page", "dftl"]),
    ("ftl.placement.policy", &["zoned", "zoned", "zoned", "dynamic"]),
    ("ftl.placement.zone_dies", &["none", "1", "1", "2"]),
    ("ftl.streams.policy", &["zoned", "zoned", "single"]),
    ("ftl.streams.zone_streams", &["1", "2", "4"]),
    ("ftl.over_provisioning", &["60%", "100%", "200%"]),
    ("nand.blocks_per_plane", &["16", "20"]),
    ("nand.faults.program_failures", &["0", "1000000", "10000000"]),
    ("nand.faults.erase_failures", &["10000000", "50000000", "100000000"]),
    ("nand.faults.factory_bad", &["0%", "0%", "2%"]),
    // What is lost by chance hides what must not be lost.
    ("nand.faults.read_failures", &["0"]),
    ("nand.faults.disturb_limit", &["none"]),
    ("nand.faults.schedule", &[""]),
];

/// Stripes, and what they need of others.
const STRIPES: Together = &[
    ("ftl.parity.policy", &["dies"]),
    ("ftl.parity.width", &["2", "3", "4"]),
    ("ftl.superblock.policy", &["none", "groups"]),
    ("ftl.superblock.dies", &["2", "3", "4"]),
    ("ftl.mapping.policy", &["page", "page", "dftl"]),
    ("ftl.mapping.cache", &["256B", "1KiB"]),
    ("ftl.placement.policy", &["dynamic"]),
    ("ftl.over_provisioning", &["60%", "100%", "200%"]),
    ("ftl.gc.copyback", &["off"]),
    ("ftl.cost.rewrite", &["off"]),
    ("nand.chips_per_channel", &["2", "3"]),
    ("nand.planes_per_die", &["1", "1", "2"]),
    ("nand.page_size", &["2KiB", "4KiB", "8KiB"]),
    ("nand.faults.read_failures", &["0", "0", "0", "0", "0", "0", "0", "1000000"]),
    ("nand.faults.disturb_limit", &["none", "none", "none", "none", "none", "none", "none", "300"]),
    ("nand.timing.disturbed_errors", &["0", "0", "0", "500"]),
    // Deaths are replaced once the device is known.
    ("nand.faults.schedule", &["", "1us: die 0 dies", "1us: die 0 dies", "1us: die 0 dies"]),
];

/// All that drives on sale have at once.
const EVERYTHING: Together = &[
    ("ftl.parity.policy", &["dies"]),
    ("ftl.parity.width", &["2", "3"]),
    ("ftl.superblock.policy", &["groups"]),
    ("ftl.superblock.dies", &["2", "3"]),
    ("ftl.slc_cache.policy", &["static", "dynamic", "hybrid"]),
    ("ftl.slc_cache.blocks", &["1", "2"]),
    ("ftl.streams.policy", &["single", "sepbit", "multi-hash", "by-host-stream", "dac", "midas"]),
    ("ftl.mapping.policy", &["page", "page", "dftl"]),
    ("ftl.mapping.cache", &["256B", "1KiB"]),
    ("ftl.placement.policy", &["dynamic"]),
    ("ftl.over_provisioning", &["100%", "200%"]),
    ("ftl.gc.copyback", &["off"]),
    ("ftl.cost.rewrite", &["off"]),
    ("ftl.refresh.when", &["before-retries", "before-loss"]),
    ("ftl.refresh.reads", &["none", "50"]),
    ("nand.cell", &["mlc", "tlc"]),
    ("nand.timing.policy", &["ispp"]),
    ("nand.blocks_per_plane", &["16", "20"]),
    ("nand.chips_per_channel", &["2", "3"]),
    ("nand.planes_per_die", &["1", "2"]),
    ("nand.page_size", &["2KiB", "4KiB"]),
    ("nand.endurance.policy", &["unlimited", "fixed", "weibull"]),
    ("nand.faults.program_failures", &["0", "1000000", "10000000"]),
    ("nand.faults.erase_failures", &["0", "10000000"]),
    ("nand.faults.factory_bad", &["0%", "2%"]),
    // What is lost by chance, or by age within the time of a test, hides what must not be lost.
    ("nand.faults.read_failures", &["0", "0", "0", "0", "0", "0", "0", "1000000"]),
    ("nand.faults.disturb_limit", &["none", "none", "none", "none", "none", "none", "none", "300"]),
    ("nand.timing.disturbed_errors", &["0", "0", "0", "500"]),
    // Replaced once the device is known.
    ("nand.faults.schedule", &["1us: die 0 dies"]),
];

impl Design {
    /// Returns the design of this name.
    pub fn named(name: &str) -> Option<&'static Design> {
        DESIGNS.iter().find(|design| design.name == name)
    }

    /// Whether its power is cut.
    pub fn loses_power(&self) -> bool {
        !self.recovery.is_empty()
    }

    /// Its schedules of faults.
    fn schedules(&self) -> &'static [&'static str] {
        let schedules = self.options.iter().find(|&&(path, _)| path == deaths::SCHEDULE);
        schedules.map_or(&[], |&(_, schedules)| schedules)
    }

    /// Whether dies die on some of its devices.
    fn kills(&self) -> bool {
        self.schedules().iter().any(|faults| faults.contains("dies"))
    }

    /// Draws whether dies die.
    fn draws_deaths(&self, stream: &mut Stream) -> bool {
        let all = self.schedules();
        self.kills() && all[stream.below(all.len() as u64) as usize].contains("dies")
    }

    /// Draws a device of this design.
    pub(super) fn draw(&self, stream: &mut Stream) -> Settings {
        let given = [ALWAYS, self.options];
        if !self.loses_power() {
            return deaths::draw(stream, &given, LIMIT);
        }
        let recovery = self.recovery[stream.below(self.recovery.len() as u64) as usize];
        if self.draws_deaths(stream) {
            return deaths::draw_with_cuts(stream, &given, recovery, LIMIT);
        }
        let kills = |settings: &Settings| {
            self.kills() && settings.get(deaths::SCHEDULE).is_some_and(|any| any.contains("dies"))
        };
        loop {
            let policy = ("ftl.recovery.policy", recovery);
            let settings = draw::device_with(stream, &given, policy, LIMIT);
            if !kills(&settings) {
                return settings;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A draw that does not load is drawn again, so an unknown name would never be missed.
    #[test]
    fn designs_name_what_there_is() {
        for design in &DESIGNS {
            for (path, values) in design.options {
                let catalog = ftlab::config::catalog();
                let option = catalog.option(path).unwrap_or_else(|| panic!("{path}"));
                let known = |value: &&str| option.choices.iter().any(|it| it.name == *value);
                let is_choice = !option.choices.is_empty();
                assert!(
                    !is_choice || values.iter().all(known),
                    "{}: {path} {values:?}",
                    design.name
                );
            }
        }
    }
}
