//! What is tortured: one design after the other, each with everything else drawn at random.

use ftlab::engine::Stream;

use super::deaths;
use crate::draw::{self, Limit, Settings, Together};

/// A design of a translation layer.
#[derive(Debug)]
pub struct Design {
    /// What it is called on the command line.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// How it may find its map again; not at all where power stays on.
    recovery: &'static [&'static str],
    /// What makes it this design.
    options: Together,
}

/// No device larger than that: a cut must take a few milliseconds.
const LIMIT: Limit = Limit { units: 1_600, sectors: 16_000 };

/// Both ways to find a map again, and the only one where it is more than a place for each page in memory.
const ANY: &[&str] = &["scan", "checkpoint"];
const SCAN: &[&str] = &["scan"];
const NO: &[&str] = &[];

/// What every device has.
const ALWAYS: Together = &[
    ("power.capacitors", &["off", "off", "off", "on"]),
    ("nand.blocks_per_plane", &["8", "10", "12", "16", "20"]),
    ("nand.pages_per_block", &["4", "5", "6", "8"]),
];

/// All of them, in the order in which they take turns.
pub const DESIGNS: [Design; 10] = [
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
        name: "dftl",
        about: "a page map on flash",
        recovery: SCAN,
        options: &[
            ("ftl.mapping.policy", &["dftl"]),
            ("ftl.mapping.unit", &["512B", "2KiB", "4KiB"]),
            ("ftl.mapping.cache", &["64B", "256B", "1KiB"]),
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
        name: "parity",
        about: "parity across dies, of which some die",
        recovery: NO,
        options: &[
            ("ftl.parity.policy", &["dies"]),
            ("ftl.parity.width", &["2", "3", "4"]),
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
            // What fails is drawn when it is known what there is.
            ("nand.faults.schedule", &["1us: die 0 dies"]),
            ("nand.faults.program_failures", &["0", "0", "1000000", "20000000"]),
            ("nand.faults.read_failures", &["0"]),
            ("nand.faults.disturb_limit", &["none"]),
        ],
    },
];

impl Design {
    /// The design of this name.
    pub fn named(name: &str) -> Option<&'static Design> {
        DESIGNS.iter().find(|design| design.name == name)
    }

    /// Whether power is cut on it.
    pub fn loses_power(&self) -> bool {
        !self.recovery.is_empty()
    }

    /// A random device of this design.
    pub(super) fn draw(&self, stream: &mut Stream) -> Settings {
        if !self.loses_power() {
            return deaths::draw(stream, &[ALWAYS, self.options], LIMIT);
        }
        let recovery = self.recovery[stream.below(self.recovery.len() as u64) as usize];
        draw::device_with(stream, &[ALWAYS, self.options], ("ftl.recovery.policy", recovery), LIMIT)
    }
}
