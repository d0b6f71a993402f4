//! The page of what goes together: all pairs of features that a configuration can name at once, and why some are
//! refused. The checks of the configuration decide, on a small device with much spare room.

use ftlab::config::{Config, Layer};

use super::{MarkdownTable, head};

const ABOUT: &str = "\
Every two of these features can be named by one configuration, unless they set the same option. On a small device with \
much spare room, all pairs work but those in the last table. What is refused is an error that says what to change.";

/// A device on which each feature works alone, with one of the placements.
const DEVICE: [&str; 4] = [
    "nand.blocks_per_plane=64",
    "nand.cell=tlc",
    "ftl.over_provisioning=200%",
    "ftl.mapping.unit=flash-page",
];
/// So small that its data fits on flash at the end of the device's life.
const BUFFER: &str = "cache.capacity=1MiB";
const PLACEMENTS: [&str; 2] = ["ftl.placement.policy=dynamic", "ftl.placement.policy=static"];

/// A feature, and the options that make a device have it.
struct Feature {
    name: &'static str,
    sets: &'static [&'static str],
}

impl Feature {
    fn works_with(&self, placement: &str) -> bool {
        refusal(placement, self.sets).is_none()
    }
}

const fn feature(name: &'static str, sets: &'static [&'static str]) -> Feature {
    Feature { name, sets }
}

const FEATURES: [Feature; 51] = [
    feature("queues of the host", &["host.queues=4", "host.arbitration.policy=start-time-fair"]),
    feature("a link with a rate", &["host.link.rate=3GB/s"]),
    feature("decoding that takes time", &["controller.ecc.engines=1"]),
    feature("DRAM with a bandwidth", &["controller.dram.bandwidth=6.4GB/s"]),
    feature("a Serial ATA link", &["host.link.interface=sata-3"]),
    feature(
        "coalesced interrupts",
        &["host.interrupt.coalesce=8", "host.interrupt.coalesce_time=100us"],
    ),
    feature("a firmware processor", &["firmware.page=5us"]),
    feature("a write buffer", &["cache.policy=lru"]),
    feature("a gating write buffer", &["cache.policy=gating", "ftl.placement.policy=static"]),
    feature("an appending write buffer", &["cache.policy=append"]),
    feature("clean pages kept", &["cache.policy=lru", "cache.keep_reads=on"]),
    feature("a read cache", &["cache.read.policy=lru"]),
    feature("packed pages", &["ftl.mapping.policy=reconstruction", "cache.policy=prlru"]),
    feature("a map on flash", &["ftl.mapping.policy=dftl"]),
    feature(
        "a map in memory of the host",
        &["ftl.mapping.policy=dftl", "ftl.mapping.host_memory=64MiB"],
    ),
    feature("log blocks", &["ftl.mapping.policy=fast"]),
    feature("no translation", &["ftl.mapping.policy=physical", "ftl.over_provisioning=0%"]),
    feature("placement by address", &["ftl.placement.policy=static"]),
    feature("streams", &["ftl.streams.policy=sepbit"]),
    feature(
        "flexible data placement",
        &["ftl.streams.policy=fdp", "ftl.streams.isolation=persistently"],
    ),
    feature(
        "reclaim groups",
        &["ftl.streams.policy=fdp", "ftl.streams.handles=1", "ftl.streams.reclaim_groups=2"],
    ),
    feature(
        "zones",
        &["host.zones.policy=zns", "host.zones.max_active=8", "ftl.streams.policy=zoned"],
    ),
    feature(
        "translation by the host",
        &["host.zones.policy=zns", "host.zones.capacity=64KiB", "host.translation.policy=log"],
    ),
    feature(
        "hints of the host",
        &["host.hints.policy=by-size", "ftl.streams.policy=by-host-stream"],
    ),
    feature("copies within a die", &["ftl.gc.copyback=on"]),
    feature("collection that yields", &["ftl.gc.preemptible=on"]),
    feature("collection while idle", &["ftl.gc.background.collect=on"]),
    feature("wear levelling", &["ftl.wear.policy=threshold"]),
    feature("an SLC cache", &["ftl.slc_cache.policy=hybrid"]),
    feature(
        "folding inside dies",
        &["ftl.slc_cache.policy=hybrid", "ftl.slc_cache.fold_inside=on"],
    ),
    feature("pacing by tokens", &["ftl.gc.pacing=token-bucket"]),
    feature("superblocks", &["ftl.superblock.policy=all"]),
    feature("parity across dies", &["ftl.parity.policy=dies"]),
    feature("a rebuild", &["ftl.parity.policy=dies", "ftl.parity.rebuild=on"]),
    feature("recovery by a scan", &["ftl.recovery.policy=scan"]),
    feature("recovery with checkpoints", &["ftl.recovery.policy=checkpoint"]),
    feature("capacitors", &["power.capacitors=on"]),
    feature("refresh of old data", &["nand.timing.policy=ispp", "ftl.refresh.when=before-loss"]),
    feature("refresh after reads", &["ftl.refresh.reads=100000"]),
    feature(
        "programs of several costs",
        &["nand.timing.policy=by-cost", "ftl.cost.policy=agcr", "ftl.cost.rewrite=off"],
    ),
    feature("rewrites for cheaper reads", &["nand.timing.policy=by-cost", "ftl.cost.policy=agcr"]),
    feature("operations that fail", &["nand.faults.program_failures=10"]),
    feature("blocks that wear out", &["nand.endurance.policy=fixed"]),
    feature("reads that fail", &["nand.faults.read_failures=10"]),
    feature("a die that dies", &["nand.faults.schedule=1s: die 1 dies"]),
    feature("suspension", &["scheduler.policy=read-first", "scheduler.suspend=program-and-erase"]),
    feature(
        "suspension with a budget",
        &[
            "scheduler.policy=read-first",
            "scheduler.suspend=program-and-erase",
            "scheduler.suspend_time=1ms",
        ],
    ),
    feature("reads first with space", &["scheduler.policy=read-first-with-space"]),
    feature(
        "planes that sense on their own",
        &[
            "nand.planes_per_die=2",
            "nand.multi_plane.read=off",
            "nand.multi_plane.independent_reads=on",
        ],
    ),
    feature(
        "word lines programmed at once",
        &["nand.program_unit=word-line", "nand.pages_per_block=48", "ftl.mapping.unit=4KiB"],
    ),
    feature(
        "multi-plane and cache operations",
        &["nand.multi_plane.program=on", "nand.cache_ops.program=on", "ftl.placement.rows=on"],
    ),
];

/// What becomes of two features together.
enum Meeting {
    /// Both set one option, to different values.
    Excluded,
    Works,
    Refused(String),
}

fn path(set: &str) -> &str {
    set.split_once('=').map_or(set, |(path, _)| path)
}

/// Why the checks refuse a device with these options and this placement, if they do.
fn refusal(placement: &str, sets: &[&str]) -> Option<String> {
    let named = |set: &&str| sets.iter().any(|other| path(other) == path(set));
    let buffered = sets.iter().any(|set| path(set) == "cache.policy");
    let device = DEVICE.into_iter().chain([placement]).chain(buffered.then_some(BUFFER));
    let device = device.filter(|set| !named(set));
    let sets = device.chain(sets.iter().copied()).enumerate();
    let layers: Vec<Layer> = std::iter::once(Layer::preset("tiny"))
        .chain(sets.map(|(number, set)| Layer::set(number + 1, set)))
        .collect();
    let error = Config::load(&layers).err()?;
    Some(error.problems.first().map_or_else(String::new, |problem| problem.message.clone()))
}

fn meet(one: &Feature, other: &Feature) -> Meeting {
    let clash = |set: &&str| other.sets.iter().any(|its| path(its) == path(set) && its != set);
    if one.sets.iter().any(clash) {
        return Meeting::Excluded;
    }
    let new = other.sets.iter().filter(|set| !one.sets.contains(set));
    let sets: Vec<&str> = one.sets.iter().chain(new).copied().collect();
    let whys = PLACEMENTS.map(|placement| refusal(placement, &sets));
    if whys.iter().any(Option::is_none) {
        return Meeting::Works;
    }
    // The reason is not the placement, if each of them works alone with it.
    let fits = |&at: &usize| [one, other].iter().all(|it| it.works_with(PLACEMENTS[at]));
    let at = (0..PLACEMENTS.len()).find(fits).unwrap_or(0);
    Meeting::Refused(whys.into_iter().flatten().nth(at).unwrap_or_default())
}

pub fn page() -> String {
    let mut features = MarkdownTable::new(&["Feature", "Options"]);
    for feature in &FEATURES {
        let alone = PLACEMENTS.iter().any(|placement| feature.works_with(placement));
        assert!(alone, "{} does not work alone", feature.name);
        let sets: Vec<String> = feature.sets.iter().map(|set| format!("`{set}`")).collect();
        features.row([feature.name.to_owned(), sets.join(" ")]);
    }
    let mut refused = MarkdownTable::new(&["Feature", "With", "Why not"]);
    let (mut pairs, mut count) = (0, 0);
    for (at, one) in FEATURES.iter().enumerate() {
        for other in &FEATURES[at + 1..] {
            match meet(one, other) {
                Meeting::Excluded => {}
                Meeting::Works => pairs += 1,
                Meeting::Refused(why) => {
                    pairs += 1;
                    count += 1;
                    refused.row([one.name.to_owned(), other.name.to_owned(), why]);
                }
            }
        }
    }
    let mut text = head("What goes together", ABOUT);
    text += &format!("\n## Features\n\n{}", features.text);
    text += &format!("\n## Refused\n\nOf {pairs} pairs, {count} are refused.\n\n{}", refused.text);
    text
}
