//! Whether an image fits a configuration, and which of its state resumes.

use std::fmt;

use crate::config::{Config, FtlOptions, Options};
use crate::image::Resume;
use crate::options::value::Value;
use crate::shape::{SuperblockSpan, ZoneShape};

/// An option on which the image and the loading device disagree but must agree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The path of the option.
    pub path: &'static str,
    /// Its value in the image.
    pub image: String,
    /// Its value in the loading device.
    pub device: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference { path, image, device } = self;
        write!(f, "{path} is {image} in the image and {device} in the device")
    }
}

/// A part of the policy state, and whether it resumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Its name.
    pub what: &'static str,
    /// Whether its state resumes; otherwise it starts anew.
    pub resumes: bool,
}

/// Returns the options that define the meaning of addresses and differ between the image and the
/// device that loads it.
#[must_use]
pub fn differences(image: &Config, device: &Config) -> Vec<Difference> {
    let (a, b) = (image.shape(), device.shape());
    let counts = [
        ("nand.channels", a.channels, b.channels),
        ("nand.chips_per_channel", a.chips_per_channel, b.chips_per_channel),
        ("nand.dies_per_chip", a.dies_per_chip, b.dies_per_chip),
        ("nand.planes_per_die", a.planes_per_die, b.planes_per_die),
        ("nand.blocks_per_plane", a.blocks_per_plane, b.blocks_per_plane),
        ("nand.pages_per_block", a.pages_per_block, b.pages_per_block),
    ];
    let counts = counts.map(|(path, a, b)| (path, a.to_string(), b.to_string()));
    let policy = |config: &Config| config.options.ftl.mapping.policy.name().to_owned();
    let slc_cache = |config: &Config| {
        let cache = &config.options.ftl.slc_cache.policy;
        match cache.own_blocks() {
            0 => cache.name().to_owned(),
            own => format!("{} with {own} blocks", cache.name()),
        }
    };
    let parity = |config: &Config| match config.options.ftl.parity.stripe() {
        Some(width) => format!("dies with stripes of {width}"),
        None => "none".to_owned(),
    };
    let superblock = |config: &Config| match config.flash().superblocks() {
        Some(SuperblockSpan { dies, planes, .. }) => {
            format!("superblocks of {dies} dies and {planes} planes of each")
        }
        None => "none".to_owned(),
    };
    // In SLC mode, a block holds its pages divided by the bits of a cell.
    let is_cached = |config: &Config| config.options.ftl.slc_cache.policy.rules().is_some();
    let both_cached = is_cached(image) && is_cached(device);
    let cell = |config: &Config| match both_cached {
        true => format!("{}, behind an SLC cache,", config.options.nand.cell.print()),
        false => String::new(),
    };
    let pages = |config: &Config| {
        let pages = format!("{} pages for the host", config.logical_pages());
        match config.shares() {
            Some(shares) => format!("{pages} and {} log blocks per plane", shares.log),
            None => pages,
        }
    };
    let zones = |config: &Config| match config.zones() {
        Some(ZoneShape { count, size, pages, conventional, .. }) => {
            let options = &config.options.host.zones;
            let limit = |most: Option<u32>| most.map_or("any".to_owned(), |most| most.to_string());
            let (open, active) = (limit(options.max_open), limit(options.max_active));
            let window = options.window.map_or("no".to_owned(), |window| window.to_string());
            format!(
                "{count} zones of {pages} pages, {size} bytes apart, {conventional} of them conventional, {open} open and {active} active, with {window} random write area"
            )
        }
        None => "none".to_owned(),
    };
    let unit = |config: &Config| config.options.nand.program_unit.print();
    // The shape counts in units of a program.
    let same_unit = unit(image) == unit(device);
    let of_unit = |path: &str| matches!(path, "nand.pages_per_block" | "nand.page_size");
    let others = [
        ("nand.program_unit", unit(image), unit(device)),
        ("nand.page_size", a.page_size.to_string(), b.page_size.to_string()),
        ("ftl.mapping.unit", a.mapping_unit.to_string(), b.mapping_unit.to_string()),
        ("ftl.mapping.policy", policy(image), policy(device)),
        ("ftl.over_provisioning", pages(image), pages(device)),
        ("ftl.slc_cache.policy", slc_cache(image), slc_cache(device)),
        ("ftl.parity.policy", parity(image), parity(device)),
        ("ftl.superblock.policy", superblock(image), superblock(device)),
        ("nand.cell", cell(image), cell(device)),
        ("host.zones.policy", zones(image), zones(device)),
    ];
    let all = counts.into_iter().chain(others);
    let unequal =
        all.filter(|(path, image, device)| image != device && (same_unit || !of_unit(path)));
    unequal.map(|(path, image, device)| Difference { path, image, device }).collect()
}

/// Whether a device has the parts of a front end that no option of the host or the firmware declares: DRAM with a bandwidth,
/// and memory of the host.
fn of_front_end(options: &Options) -> (bool, bool) {
    let map = options.ftl.mapping.policy.on_flash();
    let lent = map.is_some_and(|map| map.host_memory_latency().is_some());
    (options.controller.dram.bandwidth.is_some(), lent)
}

impl Resume {
    /// Returns what two configurations have in common. Random streams resume if the seeds are the
    /// same, too.
    #[must_use]
    pub fn between(saved: &Options, loading: &Options, same_seed: bool) -> Resume {
        let (a, b) = (saved, loading);
        let same_pages =
            a.ftl.mapping == b.ftl.mapping && a.ftl.over_provisioning == b.ftl.over_provisioning;
        Resume {
            // All of these decide whether there is a front end at all.
            host: a.host == b.host
                && a.firmware == b.firmware
                && of_front_end(a) == of_front_end(b)
                // What the host remembers has an entry for each part of the device.
                && (b.host.hints.policy.identifiers().is_none() || same_pages),
            mapping: a.ftl.mapping == b.ftl.mapping,
            // Each reclaim group has a placement of its own.
            placement: a.ftl.placement == b.ftl.placement
                && a.ftl.streams.policy.counts().groups == b.ftl.streams.policy.counts().groups,
            // Their state has an entry for each page of the device.
            streams: a.ftl.streams == b.ftl.streams && same_pages,
            victim: a.ftl.gc.victim == b.ftl.gc.victim,
            wear: a.ftl.wear.policy == b.ftl.wear.policy,
            cache: a.cache == b.cache,
            scheduler: a.scheduler == b.scheduler,
            timing: a.nand.timing == b.nand.timing,
            cost: a.ftl.cost.policy == b.ftl.cost.policy
                && a.ftl.over_provisioning == b.ftl.over_provisioning
                && a.nand.timing.policy.knows_costs()
                && b.nand.timing.policy.knows_costs(),
            // The cost of programs does not affect collection.
            collection: FtlOptions { cost: b.ftl.cost.clone(), ..a.ftl.clone() } == b.ftl,
            random: same_seed,
        }
    }

    /// The same as a list for reports.
    #[must_use]
    pub fn told(&self) -> Vec<Taken> {
        let Resume {
            host,
            mapping,
            placement,
            streams,
            victim,
            wear,
            cache,
            scheduler,
            timing,
            cost,
            collection,
            random,
        } = *self;
        let all = [
            ("arbitration", host),
            ("mapping", mapping),
            ("placement", placement),
            ("streams", streams),
            ("victim policy", victim),
            ("static wear levelling", wear),
            ("thresholds of collection", collection),
            ("write buffer", cache),
            ("scheduler", scheduler),
            ("timing", timing),
            ("cost of programs", cost),
            ("random streams", random),
        ];
        all.map(|(what, resumes)| Taken { what, resumes }).to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Layer;

    fn told(image: &[&str], device: &[&str]) -> Vec<String> {
        let config = |sets: &[&str]| {
            let sets = (1..).zip(sets).map(|(number, set)| Layer::set(number, set));
            let layers: Vec<Layer> =
                std::iter::once(Layer::preset("plain-32g")).chain(sets).collect();
            Config::load(&layers).expect("it is sound")
        };
        let all = differences(&config(image), &config(device));
        all.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_difference_is_told_once_and_as_it_was_set() {
        let cached = ["ftl.slc_cache.policy=static", "ftl.over_provisioning=20%"];
        let without = ["ftl.over_provisioning=20%"];
        let [one] = &told(&cached, &without)[..] else { panic!("one difference") };
        assert!(one.starts_with("ftl.slc_cache.policy is "), "{one}");
        let word_lines = ["nand.program_unit=word-line", "nand.timing.program_by_type=1725us"];
        let [one] = &told(&word_lines, &[])[..] else { panic!("one difference") };
        assert_eq!(one, "nand.program_unit is word-line in the image and page in the device");
    }
}
