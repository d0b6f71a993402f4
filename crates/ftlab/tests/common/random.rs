//! Random devices that can work, as configurations, and random commands for them.
//!
//! Some devices that the simulator can run are never drawn, because configurations refuse them: blocks of two or three
//! flash pages, collection that starts at the reserve, a hard limit of 0, and buffers smaller than a flash page or
//! without a limit on programs. `sets_of_skills.rs` keeps a case with two of these.

use ftlab::host::Op;
use ftlab::units::Nanos;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::regulating;
use super::{BLOCKS, DRAM, OVER_PROVISIONING, Spec, ns, policies};
use ftlab_torture::draw;

/// A device, its queue depth, and its commands.
pub type Run = (Spec, usize, Vec<Step>);

/// Options as a text.
pub type Text = String;

fn on_or_off(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

/// Tiny shapes of every kind: pages of 2 to 64 KiB, mapped whole or in units of 4 KiB. Also the
/// sizes of a page and of a flash page.
fn shape() -> impl Strategy<Value = (Text, [u64; 2])> {
    let parts = (1u32..=3, 1u32..=2, 1u32..=2, 1u32..=2);
    let counts = (6u32..=11, 4u32..=6);
    (parts, counts, select(vec![2u64, 4, 8, 16, 32, 64]), any::<bool>()).prop_map(
        |((channels, chips, dies, planes), (blocks, pages), page, split)| {
            let unit = if split { page.min(4) } else { page };
            let text = format!(
                "nand.channels = {channels}
                nand.chips_per_channel = {chips}
                nand.dies_per_chip = {dies}
                nand.planes_per_die = {planes}
                {BLOCKS} = {blocks}
                nand.pages_per_block = {pages}
                nand.page_size = {page}KiB
                ftl.mapping.unit = {unit}KiB"
            );
            (text, [unit << 10, page << 10])
        },
    )
}

fn thresholds() -> impl Strategy<Value = Text> {
    let ahead = (select(policies("ftl.gc.pacing")), 1u32..=9);
    (1u32..=2, 1u32..=2, 0u32..=2, 1u32..=3, ahead).prop_map(
        |(reserve, early, more, copies, (pacing, lead))| {
            let start = reserve + early;
            format!(
                "ftl.gc.reserve = {reserve}
                ftl.gc.start = {start}
                ftl.gc.stop = {}
                ftl.gc.copies_in_flight = {copies}
                ftl.gc.pacing = {pacing}
                ftl.gc.host_lead = {lead}
                ftl.gc.bucket = {lead}",
                start + more
            )
        },
    )
}

/// Thresholds of GC triggers; off in half of the cases.
fn triggers() -> impl Strategy<Value = Text> {
    let scope = select(vec!["plane", "die", "channel", "device"]);
    let background = (select(vec!["0ns", "300us"]), 1u32..=9).prop_map(|(after, blocks)| {
        format!(
            "ftl.gc.background.collect = on
            ftl.gc.background.after = {after}
            ftl.gc.background.blocks = {blocks}"
        )
    });
    let copies = option::of(1u32..=3);
    let on = (scope, option::of(background), any::<bool>(), copies, 1u32..=4, any::<bool>())
        .prop_map(|(scope, background, preemptible, copies, hard_limit, copyback)| {
            format!(
                "ftl.gc.scope = {scope}
                {}
                ftl.gc.preemptible = {}
                ftl.gc.copies_per_write = {}
                ftl.gc.hard_limit = {hard_limit}
                ftl.gc.copyback = {}",
                background.unwrap_or_default(),
                on_or_off(preemptible),
                copies.unwrap_or(4_000_000),
                on_or_off(copyback)
            )
        });
    prop_oneof![Just(Text::new()), on]
}

/// A write buffer of at least one flash page, or none. Gating buffers have devices of their own.
fn buffer() -> impl Strategy<Value = Option<(u32, Text)>> {
    let programs = prop_oneof![1u32..=4, Just(12)];
    let latency = select(vec![Nanos::ZERO, DRAM]);
    let counted = (1u32..=24, 0u32..=100, select(vec!["pages", "sectors"]));
    let mut with_dram = policies("cache.policy");
    with_dram.retain(|policy| !["none", "gating"].contains(policy));
    let kept = (select(with_dram), any::<bool>(), option::weighted(0.3, 1u32..=4));
    let buffered = (counted, kept, programs, latency).prop_map(
        |((units, start, space), (policy, keeps, together), programs, latency)| {
            let text = format!(
                "cache.policy = {policy}
                cache.space = {space}
                cache.write_back_start = {start}%
                cache.append_start = {start}%
                cache.keep_reads = {}
                cache.programs_per_die = {programs}
                cache.write_back_together = {}
                cache.append_together = {}
                cache.latency = {}",
                on_or_off(keeps),
                together.unwrap_or(1),
                together.unwrap_or(2),
                ns(latency)
            );
            Some((units, text))
        },
    );
    prop_oneof![1 => Just(None), 2 => buffered]
}

/// Half of the devices have no front end; the others use every part of one.
fn host() -> impl Strategy<Value = Text> {
    let link = select(vec!["none", "300MB/s", "3500MB/s"]);
    let command_time = select(vec!["0ns", "700ns"]);
    let limits = (1u32..=5, 1u32..=3, prop_oneof![1u32..=8, Just(65_536u32)]);
    let arbitration = select(policies("host.arbitration.policy"));
    let front = (arbitration, limits, command_time, link).prop_map(
        |(arbitration, (queues, burst, outstanding), command_time, link)| {
            let each = |of: [&'static str; 4]| {
                let each: Vec<_> = of.into_iter().cycle().take(queues as usize).collect();
                each.join(", ")
            };
            format!(
                "host.queues = {queues}
                host.arbitration.policy = {arbitration}
                host.arbitration.weights = [{}]
                host.arbitration.classes = [{}]
                host.arbitration.burst = {burst}
                host.outstanding = {outstanding}
                host.command_time = {command_time}
                host.link.rate = {link}",
                each(["1", "2", "3", "4"]),
                each(["\"low\"", "\"medium\"", "\"high\"", "\"urgent\""])
            )
        },
    );
    let front = (front, prop_oneof![Just(Text::new()), processor()])
        .prop_map(|(host, processor)| format!("{host}\n{processor}"));
    prop_oneof![Just(Text::new()), front]
}

/// A processor slow enough to make others wait.
fn processor() -> impl Strategy<Value = Text> {
    let time = || select(vec!["0ns", "900ns", "40us"]);
    let copies = select(vec!["nothing", "writes", "page-buffer"]);
    let flush = select(vec!["goes-on", "waits"]);
    let pacing = select(vec!["none", "none", "50MB/s", "1GB/s"]);
    (time(), time(), time(), copies, flush, pacing).prop_map(
        |(unit, page, poll, copies, flush, pacing)| {
            format!(
                "firmware.unit = {unit}
            firmware.page = {page}
            firmware.poll = {poll}
            firmware.copies = {copies}
            firmware.write_back = {flush}
            firmware.pacing.program = {pacing}"
            )
        },
    )
}

/// A read cache with read-ahead.
fn reads() -> impl Strategy<Value = (u64, Text)> {
    let policies = select(policies("cache.read.policy"));
    (1u64..=6, 0u32..=3, policies).prop_map(|(pages, ahead, policy)| {
        (pages, format!("cache.read.policy = {policy}\n cache.read.ahead = {ahead}"))
    })
}

fn levelling() -> impl Strategy<Value = Text> {
    (select(policies("ftl.wear.policy")), 2u32..=6, 1u32..=4, 1u32..=4).prop_map(
        |(policy, limit, moves, blocks)| {
            format!(
                "ftl.wear.policy = {policy}
                ftl.wear.threshold = {limit}
                ftl.wear.unevenness = {limit}
                ftl.wear.moves = {moves}
                ftl.wear.set_blocks = {blocks}"
            )
        },
    )
}

/// Multi-plane programs, on half of the devices that have planes for them.
fn multi_plane() -> impl Strategy<Value = Text> {
    let rules = select(vec!["same-page", "same-block-and-page", "any"]);
    let rows = (rules, 0u64..=1_000).prop_map(|(address, gap)| {
        format!(
            "nand.multi_plane.program = on
            nand.multi_plane.address = {address}
            nand.multi_plane.gap = {gap}ns"
        )
    });
    prop_oneof![Just(Text::new()), rows]
}

/// The streams policies that a conventional device may have: these loads don't keep to the rules of zones.
fn streams() -> Vec<&'static str> {
    let mut all = policies("ftl.streams.policy");
    all.retain(|&policy| policy != "zoned");
    all
}

/// The device without streams that are kept apart, for parts that mix them.
pub fn mixing(spec: Spec) -> Spec {
    match spec.get("ftl.streams.policy") {
        Some("fdp") => spec
            .without(|path| ["ftl.streams.handles", "ftl.streams.isolation"].contains(&path))
            .set("ftl.streams.policy", "single"),
        _ => spec,
    }
}

/// Flexible data placement.
fn handles() -> impl Strategy<Value = String> {
    (1u32..=4, select(vec!["initially", "persistently"])).prop_map(|(handles, isolation)| {
        format!("ftl.streams.handles = {handles}\nftl.streams.isolation = {isolation}")
    })
}

/// A device whose parts may not fit together ([`mended`]).
pub fn drawn() -> impl Strategy<Value = Spec> {
    let chosen = (
        select(policies("scheduler.policy")),
        select(policies("ftl.placement.policy")),
        select(policies("ftl.gc.victim")),
        (select(streams()), 0u32..=3, handles()),
        (select(policies("nand.timing.policy")), regulating::cost()),
    );
    let dram = (buffer(), option::of(reads()));
    let texts = (host(), thresholds(), triggers(), levelling(), multi_plane());
    let codeword = select(vec!["512B", "1KiB", "2KiB"]);
    let with_costs = regulating::timings();
    (shape(), dram, chosen, texts, codeword).prop_map(
        move |((shape, [unit, page]), (buffer, reads), chosen, texts, codeword)| {
            let (scheduler, placement, victim, (streams, copies, handles), (timing, cost)) = chosen;
            let (host, thresholds, triggers, levelling, multi_plane) = texts;
            let spec = [host, shape, thresholds, triggers, levelling, multi_plane]
                .iter()
                .fold(Spec::small(), |spec, text| spec.with(text))
                .set("nand.codeword", codeword)
                .set("nand.bus.rate", "200MB/s")
                .set("scheduler.policy", scheduler)
                .set("ftl.placement.policy", placement)
                .set("ftl.gc.victim", victim)
                .set("ftl.streams.policy", streams)
                .set("ftl.streams.copy_streams", copies)
                .set("nand.timing.policy", timing);
            let spec = if streams == "fdp" { spec.with(&handles) } else { spec };
            let spec = if with_costs.contains(&timing) { spec.with(&cost) } else { spec };
            let spec = match buffer {
                Some((units, text)) => {
                    let bytes = (u64::from(units) * unit).max(page);
                    spec.with(&text).set("cache.capacity", format!("{bytes}B"))
                }
                None => spec,
            };
            match reads {
                Some((pages, text)) => {
                    let bytes = (pages * page).max(4_096);
                    spec.with(&text).set("cache.read.capacity", format!("{bytes}B"))
                }
                None => spec,
            }
        },
    )
}

/// The device with the configuration's errors fixed: remedies are followed, missing blocks are
/// added, and anything else that is refused is left out.
pub fn mended(spec: Spec) -> Spec {
    let mut spec = spec;
    for _ in 0..40 {
        let Err(refused) = spec.check() else { return spec };
        for problem in &refused.problems {
            let blocks = problem.remedy.strip_prefix("give a plane at least ");
            let blocks = blocks.and_then(|rest| rest.split(' ').next()?.parse().ok());
            spec = match (draw::remedy(problem), blocks) {
                (Some((path, value)), _) => spec.set(path, value),
                (_, Some(least)) => {
                    let more = wider(spec, 1);
                    let blocks = blocks_of(&more).max(least);
                    more.set(BLOCKS, blocks)
                }
                _ => spec.without(|path| path == problem.path),
            };
        }
    }
    panic!("{spec:?}: {}", spec.check().expect_err("it was refused"))
}

/// The size of a flash page in KiB.
pub fn page_kib(spec: &Spec) -> u64 {
    let page = spec.get("nand.page_size").unwrap_or("4KiB");
    page.trim_end_matches("KiB").parse().expect("KiB")
}

/// With `more` blocks added to each plane.
pub fn wider(spec: Spec, more: u32) -> Spec {
    let blocks = blocks_of(&spec);
    spec.set(BLOCKS, blocks + more)
}

/// Blocks of a plane.
pub fn blocks_of(spec: &Spec) -> u32 {
    spec.get(BLOCKS).map_or(16, |blocks| blocks.parse().expect("a number"))
}

/// With a buffer that packs no pages.
pub fn unpacked(spec: Spec) -> Spec {
    match spec.get("cache.policy") {
        Some("prlru") => spec.set("cache.pack", "off"),
        Some("prlru-adaptive") => spec.set("cache.packing", "off"),
        _ => spec,
    }
}

/// A mended device, as full as the checks allow, or `percent` of that.
pub fn legal(spec: Spec, percent: u32) -> Spec {
    let spec = mended(spec.set("ftl.capacity", "none").set(OVER_PROVISIONING, "0%"));
    let pages = u64::from(spec.logical_pages()) * u64::from(percent) / 100;
    if percent == 100 { spec } else { spec.over_provisioned(pages as u32) }
}

/// A device as full as the checks allow, or less full.
pub fn spec() -> impl Strategy<Value = Spec> {
    (drawn(), share()).prop_map(|(spec, share)| legal(spec, share))
}

/// How full a device is, in per cent of what the checks allow.
pub fn share() -> impl Strategy<Value = u32> {
    prop_oneof![Just(100u32), 40u32..=100]
}

/// Runs of devices, with at most `steps` commands.
pub fn run_of(specs: impl Strategy<Value = Spec>, steps: usize) -> impl Strategy<Value = Run> {
    let depth = select(vec![1usize, 2, 4, 8, 16, 32, 64]);
    (specs, depth, proptest::collection::vec(step(), steps / 2..=steps))
}

/// Runs of any device.
pub fn run(steps: usize) -> impl Strategy<Value = Run> {
    run_of(spec(), steps)
}

/// One command, in terms that fit any device.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub op: Op,
    /// Where it starts, as a share of the device in 1/65536.
    pub place: u32,
    /// In the first eighth of the device only, so that commands overlap.
    pub hot: bool,
    /// From the beginning of a page.
    pub aligned: bool,
    /// Its length in eighths of a page.
    pub eighths: u32,
    /// Time since the last submission; often zero.
    pub pause: Nanos,
}

impl Step {
    /// The range of sectors, at least one, on a device of `capacity` sectors.
    pub fn range(&self, capacity: u64, per_page: u32) -> std::ops::Range<u64> {
        let reach = if self.hot { capacity.div_ceil(8) } else { capacity };
        let mut first = u64::from(self.place) * reach / 65_536;
        let mut count = (u64::from(self.eighths) * u64::from(per_page) / 8).max(1);
        if self.aligned {
            first -= first % u64::from(per_page);
            count = count.next_multiple_of(u64::from(per_page));
        }
        first..(first + count).min(capacity)
    }
}

/// Mostly writes, so that even tiny devices collect.
pub fn step() -> impl Strategy<Value = Step> {
    let op = prop_oneof![
        12 => Just(Op::Write),
        6 => Just(Op::Read),
        2 => Just(Op::Trim),
        1 => Just(Op::Flush),
    ];
    let eighths = prop_oneof![1u32..=8, 1u32..=40];
    let pause = prop_oneof![3 => Just(0u64), 1 => 0u64..2_000_000];
    (op, 0u32..65_536, any::<bool>(), any::<bool>(), eighths, pause).prop_map(
        |(op, place, hot, aligned, eighths, pause)| Step {
            op,
            place,
            hot,
            aligned,
            eighths,
            pause: Nanos(pause),
        },
    )
}
