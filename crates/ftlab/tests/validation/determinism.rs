//! The same run twice gives the same bytes, and each policy its golden result: a change of any number
//! has to be meant, and is seen in the snapshot. `INSTA_UPDATE=always` writes them anew.

use ftlab::config::all_policies;
use ftlab::device::{Device, assemble};
use ftlab::engine::Stream;
use ftlab::ftl::recovery::{Checkpoint, Recovery, Scan, Unprotected};
use ftlab::ftl::slc::WhenFull;
use ftlab::host::{Advanced, Breakdown, Completion, Host, Op, Outcome, Request};
use ftlab::nand::{Fault, Scheduled};
use ftlab::units::{Bytes, BytesPerSec, Nanos, SimTime};

use crate::common::{
    ArbitrationKind, BufferSpec, CAREFREE, CostSpec, EnduranceKind, HostSpec, LevellingKind,
    LevellingSpec, LifeSpec, MappingKind, NO_BUFFER, NO_CACHE, NO_LEVELLING, PlacementKind,
    PlannerKind, ReadCacheKind, ReadSpec, RegulatorKind, SAME_COST, SchedulerKind, SlcKind,
    SlcSpec, Spec, StreamsKind, TimingKind, TransfersKind, VictimKind, WriteBufferKind,
    assert_no_standstill, closed_loop, gating, lru, poisson, request, timed,
};

/// Two channels, four dies, eight planes; units of 4 KiB in flash pages of 16 KiB.
fn base() -> Spec {
    let mut spec = Spec::small();
    spec.shape.page_size = Bytes::from_kib(16);
    spec.shape.channels = 2;
    spec.shape.dies_per_chip = 2;
    spec.shape.planes_per_die = 2;
    spec.logical_pages = spec.most_logical_pages() / 100 * 80;
    spec.buffer = lru(64);
    spec
}

/// Four queues of different weight and class, before a controller that works on four commands at once.
fn four_tenants() -> HostSpec {
    HostSpec {
        queues: 4,
        outstanding: 4,
        command_time: Nanos(500),
        link: Some(BytesPerSec(2_000_000_000)),
        ..HostSpec::default()
    }
}

/// A mixture of everything, large and small, aligned and not.
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

/// FNV-1a over everything that completions say, in their order.
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
        // What there is only with a front end, or a map on flash, counts only there.
        let front = [via.get().into(), submission.0, front_end.0, link.0, translation.0];
        let front = front.into_iter().filter(|&word: &u64| word != 0);
        let refused = (*outcome != Outcome::Done).then_some(u64::MAX);
        asked.into_iter().chain(times).chain(front).chain(refused)
    });
    words.flat_map(u64::to_le_bytes).fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The key numbers of a run, as a snapshot shows them.
fn summary(spec: &Spec) -> String {
    let mut device = assemble(spec.setup());
    let next = requests(&device, 1, 6_000);
    let done = closed_loop(&mut device, 16, next);
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
    // What there is only with cycles is shown only there.
    let buffer = format!("{:#?}", device.buffer_counts()).replace("    cycles: 0,\n", "");
    // So it is with rewrites and the system area, which are the last of the origins.
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

/// Looking does not change what is seen: advancing in small steps gives the same completions.
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

/// The base device with room for blocks that go out of use, and a life so short that they do.
fn worn_out(base: Spec, endurance: EnduranceKind) -> Spec {
    let life = LifeSpec { endurance, cycles: 12, ..CAREFREE };
    let mut spec = Spec { life, ..base };
    spec.logical_pages = spec.most_logical_pages() / 100 * 60;
    spec
}

/// The base device with wear levelling that has something to do in a short run.
fn levelled(base: Spec, policy: LevellingKind) -> Spec {
    let levelling = LevellingSpec { policy, limit: 2, ..NO_LEVELLING };
    Spec { life: LifeSpec { levelling, ..CAREFREE }, ..base }
}

/// The base device with its map on flash, in pages of 4 KiB, and a tenth of it in memory.
fn on_flash(base: Spec) -> Spec {
    let mut spec = Spec { mapping: MappingKind::Dftl, ..base };
    spec.shape.page_size = Bytes::from_kib(4);
    spec.logical_pages = spec.most_logical_pages() / 100 * 80;
    spec.map_cache = spec.logical_pages / 10;
    spec
}

/// Checkpoints come often enough for a short run.
fn recovery(name: &str) -> Option<Recovery> {
    match name {
        "none" => Some(Recovery::None(Unprotected)),
        "scan" => Some(Recovery::Scan(Scan)),
        "checkpoint" => Some(Recovery::Checkpoint(Checkpoint::new(Bytes::from_kib(1024)))),
        _ => None,
    }
}

/// The base device with one policy exchanged. None for a policy that nobody described yet.
fn with_policy(path: &str, name: &str) -> Option<Spec> {
    let base = base();
    Some(match path {
        "nand.timing.policy" => Spec { timing: TimingKind::named(name)?, ..base },
        "ftl.cost.policy" => {
            let cost = CostSpec { policy: RegulatorKind::named(name)?, ..SAME_COST };
            Spec { timing: TimingKind::ByCost, cost, ..base }
        }
        "nand.bus.policy" => Spec { transfers: TransfersKind::named(name)?, ..base },
        "scheduler.policy" => Spec { scheduler: SchedulerKind::named(name)?, ..base },
        "ftl.mapping.policy" => match MappingKind::named(name)? {
            MappingKind::Physical => Spec { buffer: NO_BUFFER, ..base }.physical(),
            MappingKind::Page => base,
            MappingKind::Dftl => on_flash(base),
            MappingKind::Reconstruction => Spec { mapping: MappingKind::Reconstruction, ..base },
            log => base.with_log(log, 4),
        },
        "ftl.merge.planner" => {
            let mut spec = base.with_log(MappingKind::LogBlock, 4);
            spec.log.planner = PlannerKind::named(name)?;
            spec
        }
        "ftl.placement.policy" => Spec { placement: PlacementKind::named(name)?, ..base },
        "ftl.streams.policy" => {
            let spec = Spec { streams: StreamsKind::named(name)?, ..base };
            Spec { logical_pages: spec.most_logical_pages() / 100 * 80, ..spec }
        }
        "ftl.gc.victim" => Spec { victim: VictimKind::named(name)?, ..base },
        "nand.endurance.policy" => worn_out(base, EnduranceKind::named(name)?),
        "host.arbitration.policy" => {
            let host = HostSpec { arbitration: ArbitrationKind::named(name)?, ..four_tenants() };
            Spec { host, ..base }
        }
        "ftl.recovery.policy" => Spec { recovery: recovery(name)?, ..base },
        "ftl.wear.policy" => levelled(base, LevellingKind::named(name)?),
        "cache.policy" => match WriteBufferKind::named(name)? {
            WriteBufferKind::None => Spec { buffer: NO_BUFFER, ..base },
            WriteBufferKind::Gating => gating::by_planes(base, gating::buffer(64, gating::OWN)),
            // Without clean pages it is LRU.
            policy @ WriteBufferKind::Cflru => {
                let buffer = BufferSpec { policy, keeps_reads: true, ..lru(64) };
                Spec { buffer, ..base }
            }
            policy => Spec { buffer: BufferSpec { policy, ..lru(64) }, ..base }.fit_for_packing(),
        },
        "cache.read.policy" => {
            let policy = ReadCacheKind::named(name)?;
            Spec { reads: ReadSpec { policy, pages: 16, ahead: 2 }, ..base }
        }
        "ftl.slc_cache.policy" => {
            let policy = SlcKind::named(name)?;
            let slc = SlcSpec { policy, when_full: WhenFull::Fold, ..NO_CACHE };
            let spec = Spec { slc, ..base };
            Spec { logical_pages: spec.most_logical_pages() / 100 * 80, ..spec }
        }
        _ => return None,
    })
}

/// The base device with parity over its four dies, one of which dies if that is asked for.
fn striped(death: Option<Nanos>) -> Spec {
    let mut spec = Spec { stripe: Some(4), placement: PlacementKind::Dynamic, ..base() };
    let dies = |at| Scheduled { at, fault: Fault::DieDies(1) };
    spec.life.faults.schedule = death.into_iter().map(dies).collect();
    spec.logical_pages = spec.most_logical_pages() / 100 * 50;
    spec
}

/// No policy without its golden result, nor without saying what it is and where it comes from.
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
                let spec = with_policy(seam.path, policy.name);
                let spec = spec.unwrap_or_else(|| panic!("{name} has no golden result"));
                insta::assert_snapshot!(name, summary(&spec));
            }
        }
        // Parity is no policy with a trait: what it does while all dies live, and when one has died.
        let died = Some(Nanos(500_000_000));
        for (name, death) in [("ftl.parity.policy-dies", None), ("ftl.parity-a-death", died)] {
            insta::assert_snapshot!(name, summary(&striped(death)));
        }
    });
}
