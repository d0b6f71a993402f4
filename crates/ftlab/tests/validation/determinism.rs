//! The same run twice gives the same bytes, and each policy has its golden result: a change of any
//! number shows in a snapshot and must be deliberate. `INSTA_UPDATE=always` updates them.

use std::sync::Arc;

use ftlab::config::all_policies;
use ftlab::device::{Device, DeviceSetup, assemble};
use ftlab::engine::Stream;
use ftlab::host::{Advanced, Breakdown, Completion, Host, Op, Outcome, Request};
use ftlab::units::SimTime;

use ftlab_torture::zoned;

use crate::common::{Spec, assert_no_standstill, closed_loop, poisson, request, timed};

/// Two channels, four dies, eight planes; units of 4 KiB in flash pages of 16 KiB.
fn base() -> Spec {
    Spec::small().with(
        "nand.channels = 2
        nand.dies_per_chip = 2
        nand.planes_per_die = 2
        nand.page_size = 16KiB
        ftl.over_provisioning = 53.6%
        cache.policy = lru
        cache.capacity = 256KiB
        cache.programs_per_die = 2",
    )
}

/// A mixture of everything, large and small, aligned and unaligned.
fn requests(device: &Device, seed: u64, count: u32) -> impl Iterator<Item = Request> + use<> {
    let capacity = device.capacity_sectors();
    let mut stream = Stream::new(seed, "mixture");
    (0..count).map(move |tag| {
        let op = match stream.below(100) {
            0..60 => Op::Write,
            60..95 => Op::Read,
            95..99 => Op::Trim,
            _ => Op::Flush,
        };
        let reach = if stream.below(2) == 0 { capacity / 8 } else { capacity };
        let first = stream.below(reach);
        let count = if stream.below(4) == 0 { 1 + stream.below(100) } else { 8 };
        let stream = (first / capacity.div_ceil(4)) as u32;
        Request { stream, ..request(op, first, count.min(capacity - first) as u32, tag) }
    })
}

/// FNV-1a over everything in the completions, in order.
fn digest<'a>(completions: impl IntoIterator<Item = &'a Completion>) -> u64 {
    let words = completions.into_iter().flat_map(|completion| {
        let Completion { request, queue: via, submitted, finished, breakdown, outcome } =
            completion;
        let Breakdown {
            submission,
            front_end,
            link,
            buffer,
            admission,
            translation,
            queue,
            gc,
            bus,
            cell,
        } = breakdown;
        let asked = [request.op as u64, request.lba.0, request.sectors.into(), request.tag.into()];
        let times = [submitted.0, finished.0, buffer.0, admission.0, queue.0, gc.0, bus.0, cell.0];
        // Fields of a front end, or of a map on flash, count only if there is one.
        let front = [via.get().into(), submission.0, front_end.0, link.0, translation.0];
        let front = front.into_iter().filter(|&word: &u64| word != 0);
        let refused = (*outcome != Outcome::Done).then_some(u64::MAX);
        asked.into_iter().chain(times).chain(front).chain(refused)
    });
    words.flat_map(u64::to_le_bytes).fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// As many requests that keep to the rules of zones, one after the other.
fn in_zones(device: &mut Device, requests: impl Iterator<Item = Request>) -> Vec<Completion> {
    let mut done = Vec::new();
    for request in requests {
        let request = zoned::request(request, device);
        done.extend(closed_loop(device, 1, [request]));
    }
    done
}

/// The key numbers of a run, as a snapshot shows them.
fn summary(setup: DeviceSetup) -> String {
    let mut device = assemble(setup);
    let next = requests(&device, 1, 6_000);
    let mut first = device.clone();
    if first.record_future() {
        closed_loop(&mut first, 16, requests(&device, 1, 6_000));
        device.foresee(Arc::new(first.recorded_future().unwrap()));
    }
    let done = match device.zones() {
        None => closed_loop(&mut device, 16, next),
        Some(_) => in_zones(&mut device, next),
    };
    assert_eq!(device.ftl().audit(), Ok(()));
    let mean = |op| {
        let of_kind = done.iter().filter(|c| c.request.op == op);
        let (sum, count) = of_kind.fold((0, 0), |(s, n), c| (s + c.latency().0, n + 1));
        sum / count
    };
    let now = device.now();
    let busy: u64 = device.flash().die_busy(now).map(|span| span.0).sum();
    let bus: u64 = device.flash().channel_busy(now).map(|span| span.0).sum();
    let cached = device.ftl().slc_counts();
    let mut cached = cached.map_or(String::new(), |counts| format!("{counts:#?}\n"));
    if let Some(map) = device.ftl().map_on_flash() {
        cached = format!("{:#?}\n", map.counts());
    }
    if let Some(stripes) = device.ftl().stripes() {
        cached = format!("{:#?}\n", stripes.counts());
    }
    if let Some(merger) = device.merger() {
        cached = format!("{:#?}\n", merger.counts());
    }
    // Counters of cycles are shown only if there are cycles.
    let buffer = format!("{:#?}", device.buffer_counts()).replace("    cycles: 0,\n", "");
    // Likewise rewrites and the system area, which are the last of the origins.
    let [commands @ .., rewrites, system] = device.flash().done();
    let system = match system.iter().sum() {
        0u64 => String::new(),
        _ => format!("system {system:?}\n"),
    };
    let rewrites = match rewrites.iter().sum() {
        0u64 => String::new(),
        _ => format!("rewrites {rewrites:?}\n"),
    };
    format!(
        "requests {}\nend {} ns\nread mean {} ns\nwrite mean {} ns\ndies busy {busy} ns\nbuses busy {bus} ns\n{:#?}\n{cached}{buffer}\ncommands {commands:?}\n{rewrites}{system}completions {:016x}\n",
        done.len(),
        now.0,
        mean(Op::Read),
        mean(Op::Write),
        device.ftl_counts(),
        digest(&done)
    )
}

#[test]
fn the_same_run_gives_the_same_bytes() {
    let run = || {
        let mut device = assemble(base().setup());
        let next = requests(&device, 7, 4_000);
        let arrivals = poisson(7, 50_000.0);
        let mut done = Vec::new();
        timed(&mut device, arrivals.zip(next), |completion| done.push(*completion));
        (digest(&done), device.now())
    };
    assert_eq!(run(), run());
}

#[test]
fn another_seed_gives_another_run() {
    let run = |seed| {
        let mut device = assemble(base().setup());
        let next = requests(&device, seed, 1_000);
        digest(&closed_loop(&mut device, 8, next))
    };
    assert_ne!(run(1), run(2));
}

/// Observing changes nothing: advancing in small steps gives the same completions.
#[test]
fn small_steps_change_nothing() {
    let run = |step: u64| {
        let mut device = assemble(base().setup());
        let mut done = Vec::new();
        for next in requests(&device, 3, 200) {
            device.submit(device.now(), next);
        }
        let mut limit = 0u64;
        while device.requests_in_flight() > 0 {
            limit = step.saturating_add(limit);
            if device.advance_until(SimTime(limit), &mut done) == Advanced::Idle {
                assert_no_standstill(&device);
            }
        }
        digest(&done)
    };
    assert_eq!(run(777), run(u64::MAX / 2));
}

/// Options that the base device needs for a seam's policies, or one of them, to have an effect.
const SHOWN: &[(&str, &str)] = &[
    (
        "host.arbitration.policy",
        r#"host.queues = 4
        host.outstanding = 4
        host.command_time = 500ns
        host.link.rate = 2GB/s
        host.arbitration.weights = [1, 2, 3, 4]
        host.arbitration.classes = ["low", "medium", "high", "urgent"]"#,
    ),
    ("nand.timing.policy-ispp", "nand.cell = mlc"),
    // Room for blocks that go out of use.
    ("nand.endurance.policy", "ftl.over_provisioning = 143.8095%"),
    ("nand.endurance.policy-unlimited", "ftl.over_provisioning = 104.8%"),
    (
        "ftl.mapping.policy-physical",
        "ftl.mapping.unit = flash-page
        ftl.over_provisioning = 0%
        cache.policy = none",
    ),
    // A tenth of the map is in memory.
    (
        "ftl.mapping.policy-dftl",
        "nand.page_size = 4KiB
        ftl.mapping.cache = 680B
        ftl.over_provisioning = 80%",
    ),
    ("ftl.mapping.policy-reconstruction", "ftl.mapping.entries = 100%"),
    ("ftl.mapping.policy-log-block", LOG),
    ("ftl.mapping.policy-bast", LOG),
    ("ftl.mapping.policy-fast", LOG),
    ("ftl.mapping.policy-nftl", LOG),
    ("ftl.merge.planner", LOG),
    (
        "ftl.placement.policy-partly-dynamic",
        "ftl.placement.order = channel-plane-chip-die
        ftl.placement.fixed_levels = 2",
    ),
    // Room for blocks that streams keep open.
    ("ftl.streams.policy", "ftl.over_provisioning = 130%"),
    (
        "ftl.streams.policy-zoned",
        "host.zones.policy = zns
        ftl.streams.zone_streams = 4
        ftl.over_provisioning = 200%",
    ),
    (
        "ftl.streams.policy-fdp",
        "ftl.streams.handles = 2
        ftl.streams.isolation = persistently",
    ),
    ("ftl.placement.policy-zoned", "ftl.placement.zone_dies = 2"),
    ("ftl.streams.policy-dac", "ftl.streams.regions = 3"),
    ("ftl.streams.policy-future", "ftl.streams.death_classes = 3"),
    // A drive that listens.
    (
        "host.hints.policy",
        "ftl.streams.policy = by-host-stream
        ftl.over_provisioning = 130%",
    ),
    ("ftl.streams.policy-multi-log", "ftl.streams.logs = 3"),
    ("ftl.streams.policy-sfs", "ftl.streams.hotness_groups = 3"),
    (
        "ftl.streams.policy-midas",
        "ftl.streams.groups = 4
        ftl.streams.sample = 1
        ftl.over_provisioning = 220%",
    ),
    ("ftl.streams.policy-single", "ftl.over_provisioning = 53.6%"),
    ("ftl.streams.policy-multi-hash", "ftl.over_provisioning = 66.9565%"),
    ("ftl.streams.policy-multi-bloom", "ftl.over_provisioning = 66.9565%"),
    (
        "ftl.slc_cache.policy",
        "ftl.slc_cache.when_full = fold
        ftl.over_provisioning = 119.4285%",
    ),
    ("ftl.slc_cache.policy-none", "ftl.over_provisioning = 53.6%"),
    ("ftl.slc_cache.policy-static", "ftl.over_provisioning = 96.923%"),
    ("ftl.slc_cache.policy-dynamic", "ftl.over_provisioning = 82.8571%"),
    ("ftl.cost.policy", "nand.timing.policy = by-cost"),
    // It keeps a block open for rewrites.
    ("ftl.cost.policy-agcr", "ftl.over_provisioning = 60%"),
    // Without clean pages it is LRU.
    ("cache.policy-cflru", "cache.keep_reads = on"),
    (
        "cache.policy-gating",
        "cache.capacity = 1MiB
        ftl.mapping.unit = flash-page",
    ),
    ("cache.policy-prlru", PIECES),
    ("cache.policy-prlru-adaptive", PIECES),
    (
        "cache.read.policy",
        "cache.read.capacity = 256KiB
        cache.read.ahead = 2",
    ),
];

/// Ten data blocks and four log blocks in a plane.
const LOG: &str = "ftl.mapping.unit = flash-page
    ftl.over_provisioning = 40%
    cache.capacity = 1MiB";

/// Pages may lie in pieces.
const PIECES: &str = "ftl.mapping.policy = reconstruction
    ftl.mapping.entries = 100%
    ftl.placement.policy = dynamic";

/// The base device with one policy exchanged.
fn with_policy(path: &str, policy: &str) -> Spec {
    let base = match path {
        "ftl.merge.planner" => base().set("ftl.mapping.policy", "log-block"),
        _ => base(),
    };
    let shown = |wanted: &str| SHOWN.iter().find(|(of, _)| *of == wanted).map_or("", |of| of.1);
    let spec = base.with(shown(path)).set(path, policy);
    spec.with(shown(&format!("{path}-{policy}")))
}

/// The base device with parity over its four dies, one of which dies if `death`, and is rebuilt if `rebuild`.
fn striped(death: bool, rebuild: bool) -> Spec {
    let spec = base().with(
        "ftl.parity.policy = dies
        ftl.parity.width = 4
        ftl.placement.policy = dynamic
        ftl.over_provisioning = 136.3076%",
    );
    let spec = if rebuild { spec.set("ftl.parity.rebuild", "on") } else { spec };
    match death {
        false => spec,
        true => spec.with(
            r#"nand.faults.schedule = ["500ms: die 1 dies"]
            ftl.over_provisioning = 179.2727%"#,
        ),
    }
}

/// The base device with word lines that are programmed at once, two of them together.
fn one_shot() -> Spec {
    base().with(
        r#"nand.program_unit = word-line
        nand.multi_plane.read = on
        nand.multi_plane.program = on
        nand.timing.policy = page-type
        nand.timing.program_by_type = ["1500us"]
        nand.blocks_per_plane = 24
        ftl.over_provisioning = 100%"#,
    )
}

/// Each policy has a golden result, a summary and a source.
#[test]
fn every_policy_has_its_golden_result() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for seam in all_policies() {
            for policy in seam.policies {
                let name = format!("{}-{}", seam.path, policy.name);
                assert!(policy.summary.len() > 10, "{name} does not say what it does");
                assert!(policy.source.len() > 5, "{name} does not say where it comes from");
                insta::assert_snapshot!(name, summary(with_policy(seam.path, policy.name).setup()));
            }
        }
        // Parity is no policy with a trait: its results while all dies live, after one has died, and with a rebuild.
        for (name, death, rebuild) in [
            ("ftl.parity.policy-dies", false, false),
            ("ftl.parity-a-death", true, false),
            ("ftl.parity-a-rebuild", true, true),
        ] {
            insta::assert_snapshot!(name, summary(striped(death, rebuild).setup()));
        }
        // Nor is the program unit.
        insta::assert_snapshot!("nand.program_unit-word-line", summary(one_shot().setup()));
    });
}
