//! What a record says of random devices, over all options: dies and buses do one thing at a time, their spans sum to the
//! busy times of the result, the story of each request has no gap and ends where its latency ends, and the panel of a page
//! has what the trace has.

use std::collections::BTreeMap;

use ftlab::config::Config;
use ftlab::engine::Stream;
use ftlab::ftl::merge::Clocks;
use ftlab::host::Op;
use ftlab::options::Switch;
use ftlab::scheduler::{Kind, Pausable};
use ftlab::shape::Geometry;
use ftlab::stats::Spread;
use ftlab::units::{Nanos, SimTime};
use ftlab_lab::Lab;
use ftlab_lab::experiment::{Experiment, LoadSource, RunOptions};
use ftlab_lab::result::to_json;
use ftlab_lab::timeline::{
    Again, DeviceRecord, FlashCommand, FlashPart, RequestChoice, StoryPiece, Traced, Windows,
    own_work, panel, perfetto,
};
use ftlab_torture::draw;

use super::check_order;

/// How many devices are tried.
const DEVICES: u64 = 150;

const LOAD: &str = r#"
name = "random"
[[phase]]
name = "random"
reads = "45%"
writes = "45%"
trims = "8%"
flushes = "2%"
size = [{ size = "4KiB", weight = 3 }, { size = "16KiB", weight = 1 }, { size = "64KiB", weight = 1 }]
address = { kind = "zipf", theta = 0.9 }
arrivals = { kind = "closed", queue_depth = 12 }
streams = 3
requests = 700
"#;

/// Performs the load on a device and records all of it; nothing if the device cannot do it.
fn whole(config: &Config, experiment: &Experiment, seed: u64) -> Option<Traced> {
    experiment.check(config, 1).ok()?;
    let lab = Lab::default();
    let again = Again { lab: &lab, experiment, config, seed };
    again.trace(&Windows::new([(SimTime::ZERO, SimTime::FOREVER)]), &mut ()).ok()
}

/// Returns the result of a run that nobody looks at.
fn alone(config: &Config, experiment: &Experiment, seed: u64) -> String {
    let lab = Lab::default();
    let again = Again { lab: &lab, experiment, config, seed };
    let result = again.choose_with_result(RequestChoice::Slowest(0), &mut ()).unwrap().0;
    to_json(&result).unwrap()
}

#[test]
fn the_records_of_random_devices_agree_with_their_results() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("random.toml");
    std::fs::write(&file, LOAD).unwrap();
    let load = LoadSource::workload(file.to_str().unwrap()).unwrap();
    let experiment = Experiment::new(load, &RunOptions::default()).unwrap();
    let mut seen = 0;
    for seed in 0..DEVICES {
        let settings = draw::device(&mut Stream::new(seed, "timeline"));
        let config = draw::load(&settings).expect("a drawn device is valid");
        let Some(traced) = whole(&config, &experiment, seed) else { continue };
        let device = format!("device {seed}:\n{}", draw::text(&settings));
        seen += 1;
        let alone = alone(&config, &experiment, seed);
        assert_eq!(alone, to_json(&*traced.document).unwrap(), "who looks changes {device}");
        check_order(&traced, &device);
        check_busy_times(&config, &traced, &device);
        check_stories(&traced, &device);
        check_panel(&config, &traced, &device);
        check_own_work(&config, &traced, &device);
    }
    assert!(seen * 4 > DEVICES * 3, "only {seen} of {DEVICES} devices can do it");
}

/// The account that a run keeps, without a record, splits the waits of reads as their stories do: to the nanosecond, unless
/// cells and register of a die work for different commands at once, or several dies wait for each other. Merges of planes
/// in lock-step have no commands to see, and some gaps no spans. Beside a suspended operation, a read that waits for the
/// bus waits for the operation by the account, and for nobody by the story. A read that is reconstructed has waited before,
/// when its page could not be read. Where planes sense on their own, a read may wait behind a command that waits for other
/// planes.
fn check_own_work(config: &Config, traced: &Traced, device: &str) {
    let nand = &config.options.nand;
    let overlap = nand.cache_ops.read == Switch::On || nand.cache_ops.program == Switch::On;
    let in_lock_step = config.options.ftl.merge.clocks == Clocks::LockStep;
    let suspends = config.options.scheduler.suspend != Pausable::None;
    let beside = suspends && nand.bus.command.is_some();
    let loses = nand.faults.read_failures > 0 || !nand.faults.schedule.is_empty();
    let reconstructs = config.options.ftl.parity.stripe().is_some() && loses;
    let apart = nand.multi_plane.independent_reads == Switch::On;
    let unseen = apart || in_lock_step || has_unseen_gaps(config) || beside || reconstructs;
    if overlap || nand.one_die_at_a_time == Switch::On || unseen {
        return;
    }
    let stories = traced.stories();
    for one in &traced.requests {
        let completion = &one.done.completion;
        // A wait for the map is a part of its own.
        if completion.request.op == Op::Read && completion.breakdown.translation == Nanos::ZERO {
            let waits: Vec<StoryPiece> =
                stories.of(one).into_iter().filter(|piece| piece.depth == 0).collect();
            let own = own_work(&waits, &traced.record);
            assert_eq!(own, completion.breakdown.gc, "{completion:?} of {device}");
        }
    }
}

/// Whether dies and buses are held for a while by gaps that are in no span, between commands that take no time on the bus.
fn has_unseen_gaps(config: &Config) -> bool {
    let nand = &config.options.nand;
    nand.multi_plane.gap > Nanos::ZERO && nand.bus.command == Some(Nanos::ZERO)
}

/// The part of spans within the measured time.
fn within(spans: &[(SimTime, SimTime)], end: SimTime) -> u64 {
    spans.iter().map(|span| span.1.min(end).0.saturating_sub(span.0.0)).sum()
}

/// The spans of buses, with the gaps between the planes of an operation, in which the bus is kept for it.
fn with_gaps(traced: &Traced, gap: Nanos) -> BTreeMap<u32, Vec<(SimTime, SimTime)>> {
    let mut all: BTreeMap<u32, Vec<(SimTime, SimTime, &FlashCommand)>> = BTreeMap::new();
    for command in traced.record.commands.values() {
        let of = command.spans.iter().filter(|span| span.part == FlashPart::Bus);
        let of = of.map(|span| (span.from, span.until, command));
        all.entry(command.channel.get()).or_default().extend(of);
    }
    let with_gaps = |mut spans: Vec<(SimTime, SimTime, &FlashCommand)>| {
        spans.sort_unstable_by_key(|span| (span.0, span.1));
        for at in 1..spans.len() {
            let (before, now) = (spans[at - 1], spans[at]);
            let cells = |command: &FlashCommand| {
                let spans = command.spans.iter().filter(|span| span.part == FlashPart::Cells);
                spans.map(|span| span.from).min().filter(|from| *from >= now.1)
            };
            // Both move in, and then work together.
            let alone = traced.apart.is_some() && now.2.kind == Kind::Read;
            let together = !alone && cells(now.2).is_some() && cells(now.2) == cells(before.2);
            if together && before.2.die == now.2.die {
                spans[at].0 = SimTime(now.0.0 - gap.0);
            }
        }
        spans.into_iter().map(|span| (span.0, span.1)).collect()
    };
    all.into_iter().map(|(channel, spans)| (channel, with_gaps(spans))).collect()
}

/// When a die was held: for each command from its first span to its last. While an operation is suspended, its die serves
/// other commands, or keeps free for one that waits for the bus.
fn holds(record: &DeviceRecord) -> BTreeMap<u32, Vec<(SimTime, SimTime)>> {
    let mut all: BTreeMap<u32, Vec<(SimTime, SimTime)>> = BTreeMap::new();
    for command in record.commands.values() {
        let is_on_die = |part| matches!(part, FlashPart::Cells | FlashPart::Bus);
        let on_die = || command.spans.iter().filter(|span| is_on_die(span.part));
        let Some((first, last)) = on_die().next().zip(on_die().next_back()) else { continue };
        // What still waits for the bus at the end holds its die, and so does what is suspended. What is behind the
        // bus does not.
        let has_left = command.spans.iter().any(|span| !is_on_die(span.part));
        let is_there = command.done.is_none() && !has_left;
        let until = if is_there { SimTime::FOREVER } else { last.until };
        all.entry(command.die.get()).or_default().push((first.from, until));
    }
    all.into_iter().map(|(die, spans)| (die, joined(spans))).collect()
}

/// Joins spans that touch.
fn joined(mut spans: Vec<(SimTime, SimTime)>) -> Vec<(SimTime, SimTime)> {
    spans.sort_unstable();
    let mut joined: Vec<(SimTime, SimTime)> = Vec::new();
    for span in spans {
        match joined.last_mut() {
            Some(last) if span.0 <= last.1 => last.1 = last.1.max(span.1),
            _ => joined.push(span),
        }
    }
    joined
}

/// Spans sum to the busy times of the result.
fn check_busy_times(config: &Config, traced: &Traced, device: &str) {
    let report = &traced.document.report;
    let phase = report.phases.iter().find(|phase| phase.measured).unwrap();
    let end = SimTime(phase.duration_ns.unwrap_or(0));
    let geometry = Geometry::new(config.shape());
    let sums = |spans: BTreeMap<u32, Vec<(SimTime, SimTime)>>, of: u32| -> Vec<u64> {
        (0..of).map(|at| spans.get(&at).map_or(0, |spans| within(spans, end))).collect()
    };
    // With cached operations a die is also held between commands, which is no command's time.
    let cache_ops = &config.options.nand.cache_ops;
    let is_cached = [cache_ops.read, cache_ops.program].contains(&Switch::On);
    let gap = config.options.nand.multi_plane.gap;
    let unseen = if has_unseen_gaps(config) { 1.0 } else { 0.0 };
    let between: f64 = if is_cached { 1.0 } else { 0.0 };
    let near = |spread: Option<&Spread>, sums: &[u64], beside: f64, what: &str| {
        let Some(spread) = spread else { return };
        let ratios: Vec<f64> = sums.iter().map(|&sum| sum as f64 / end.0.max(1) as f64).collect();
        let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
        let most = ratios.iter().copied().fold(0.0, f64::max);
        let fits = |told: f64, seen: f64| (-1e-9..beside + 1e-9).contains(&(told - seen));
        assert!(
            fits(spread.mean, mean) && fits(spread.max, most),
            "{what}: {ratios:?}, but {spread:?} on {device}"
        );
    };
    let buses = sums(with_gaps(traced, gap), geometry.channels());
    near(report.utilisation.channels_ratio.as_ref(), &buses, unseen, "buses");
    let dies = sums(holds(&traced.record), geometry.dies());
    near(report.utilisation.dies_ratio.as_ref(), &dies, between.max(unseen), "dies");
}

/// The story of a request has no gap and ends where its latency ends.
fn check_stories(traced: &Traced, device: &str) {
    let stories = traced.stories();
    for told in &traced.requests {
        let completion = &told.done.completion;
        let pieces = stories.of(told);
        let sum: u64 = pieces.iter().map(|piece| piece.length().0).sum();
        let joined = pieces.windows(2).all(|pair| pair[0].until == pair[1].from);
        assert!(joined, "{told:?} on {device}");
        let Some((settled, last)) = told.settled else { continue };
        assert!(settled <= completion.finished, "{told:?} on {device}");
        if pieces.is_empty() {
            assert_eq!(told.in_flash(), Nanos::ZERO, "{told:?} on {device}");
            continue;
        }
        assert_eq!(sum, told.in_flash().0, "{told:?} on {device}");
        assert_eq!(pieces.last().unwrap().until, settled, "{told:?} on {device}");
        if let Some(command) = last.and_then(|last| traced.record.commands.get(&last)) {
            assert_eq!(command.done, Some(settled), "{command:?} {told:?} on {device}");
        }
    }
}

/// The panel of a page has what the trace has.
fn check_panel(config: &Config, traced: &Traced, device: &str) {
    let trace = perfetto(traced, &config.flash());
    let drawn = panel(&trace, 0).unwrap_or_else(|why| panic!("{why} on {device}"));
    let named = |category: &str| {
        let is_one =
            |slice: &&ftlab_lab::timeline::PanelSlice| drawn.texts[slice.category] == category;
        drawn.slices.iter().filter(is_one).count()
    };
    if drawn.left_out == 0 {
        assert_eq!(named("request"), traced.requests.len(), "{device}");
        assert_eq!(named("collection"), traced.record.collections.len(), "{device}");
        assert_eq!(named("merge"), traced.record.merges.len(), "{device}");
    }
    // Slices of a track follow each other.
    let mut ends: BTreeMap<usize, u64> = BTreeMap::new();
    for slice in drawn.slices.iter().filter(|slice| slice.length.is_some()) {
        let end = ends.entry(slice.track).or_default();
        assert!(*end <= slice.from, "{slice:?} on {device}");
        *end = slice.from + slice.length.unwrap_or(0);
        assert!(*end <= drawn.length_ns, "{slice:?} on {device}");
    }
}
