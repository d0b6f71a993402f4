//! The scenarios.

use super::{Begin, Hot, Scenario};

/// The defaults of most scenarios: filled, overwritten once, and under a mixed load.
const USUAL: Scenario = Scenario {
    name: "",
    begin: Begin::Preset(""),
    sets: &[],
    cut: &[],
    small: &[],
    fill: true,
    overwrite: 100,
    reads: 70,
    hot: None,
};

const PAGE_MAP: Begin = Begin::File(include_str!("page-map-16g.toml"));

/// The same device with 128 MiB of flash.
const SMALL_PAGE_MAP: &[&str] = &["nand.blocks_per_plane=64", "nand.pages_per_block=8"];

/// TLC of 16 planes, 288 MiB of flash.
const SMALL_TLC: &[&str] = &[
    "nand.blocks_per_plane=96",
    "nand.pages_per_block=12",
    "ftl.over_provisioning=12%",
    "cache.capacity=1MiB",
];

const SMALL_LOG: &[&str] =
    &["nand.blocks_per_plane=160", "nand.pages_per_block=32", "ftl.capacity=128MiB"];

pub const SCENARIOS: [Scenario; 12] = [
    Scenario {
        name: "tlc-512g",
        begin: Begin::Preset("tlc-512g"),
        cut: &["nand.pages_per_block=36"],
        small: SMALL_TLC,
        ..USUAL
    },
    Scenario {
        name: "tlc-1t",
        begin: Begin::Preset("tlc-1t"),
        cut: &["nand.pages_per_block=24"],
        small: &[
            "nand.blocks_per_plane=48",
            "nand.pages_per_block=6",
            "ftl.slc_cache.blocks=2",
            "ftl.slc_cache.most_borrowed=16",
            "ftl.over_provisioning=32%",
            "cache.capacity=1MiB",
        ],
        ..USUAL
    },
    Scenario {
        name: "qlc-1t",
        begin: Begin::Preset("qlc-1t"),
        cut: &["nand.pages_per_block=24"],
        small: &[
            "nand.blocks_per_plane=64",
            "nand.pages_per_block=8",
            "ftl.slc_cache.blocks=3",
            "ftl.slc_cache.most_borrowed=30",
            "ftl.slc_cache.keep_free=17",
            "ftl.over_provisioning=25%",
            "cache.capacity=1MiB",
        ],
        ..USUAL
    },
    Scenario {
        name: "mqsim",
        begin: Begin::Preset("mqsim"),
        cut: &["nand.pages_per_block=16"],
        small: &[
            "nand.blocks_per_plane=40",
            "nand.pages_per_block=8",
            "ftl.gc.start=3",
            "ftl.gc.stop=4",
            "ftl.over_provisioning=22%",
            "cache.capacity=1MiB",
        ],
        ..USUAL
    },
    Scenario {
        name: "lock-step",
        begin: Begin::Preset("channel-management"),
        small: SMALL_LOG,
        fill: false,
        overwrite: 10,
        ..USUAL
    },
    Scenario {
        name: "merges",
        begin: Begin::Preset("channel-management"),
        sets: &["ftl.merge.clocks=own"],
        small: SMALL_LOG,
        fill: false,
        overwrite: 10,
        ..USUAL
    },
    Scenario {
        name: "dftl",
        begin: Begin::Preset("tlc-512g"),
        sets: &["ftl.mapping.policy=dftl"],
        cut: &["nand.pages_per_block=36", "ftl.mapping.cache=4MiB"],
        small: &[
            "nand.blocks_per_plane=96",
            "nand.pages_per_block=12",
            "cache.capacity=1MiB",
            "ftl.over_provisioning=12%",
            "ftl.mapping.cache=64KiB",
        ],
        overwrite: 25,
        ..USUAL
    },
    // The die dies while the device is filled; its data is then rebuilt from parity.
    Scenario {
        name: "dying-dies",
        begin: Begin::Preset("tlc-512g"),
        sets: &[
            "ftl.parity.policy=dies",
            "ftl.placement.rows=off",
            "ftl.over_provisioning=60%",
            "nand.faults.schedule=200ms: die 3 dies",
        ],
        cut: &["nand.pages_per_block=36"],
        small: &["nand.blocks_per_plane=96", "nand.pages_per_block=12", "cache.capacity=1MiB"],
        ..USUAL
    },
    // Half of the requests go to what the buffer can hold.
    Scenario {
        name: "lru-buffer",
        begin: Begin::Preset("tlc-512g"),
        sets: &["cache.policy=lru"],
        cut: &["nand.pages_per_block=36", "cache.capacity=512MiB"],
        small: &[
            "nand.blocks_per_plane=96",
            "nand.pages_per_block=12",
            "ftl.over_provisioning=12%",
            "cache.capacity=6MiB",
        ],
        hot: Some(Hot { part: 32, share: 50 }),
        ..USUAL
    },
    Scenario { name: "random-writes", begin: PAGE_MAP, small: SMALL_PAGE_MAP, reads: 0, ..USUAL },
    Scenario {
        name: "random-reads",
        begin: PAGE_MAP,
        small: SMALL_PAGE_MAP,
        overwrite: 10,
        reads: 100,
        ..USUAL
    },
    // Every page is in the buffer once the device is filled: nothing reaches flash.
    Scenario {
        name: "in-buffer",
        begin: PAGE_MAP,
        sets: &["cache.policy=lru", "cache.write_back_start=100%", "ftl.capacity=1GiB"],
        cut: &["cache.capacity=1GiB"],
        small: &["nand.pages_per_block=16", "ftl.capacity=64MiB", "cache.capacity=64MiB"],
        overwrite: 10,
        ..USUAL
    },
];
