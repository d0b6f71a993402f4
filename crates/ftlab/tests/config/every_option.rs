//! No option is without effect: for each there is a device, a load and a value that change what
//! the device does. Likewise each policy of each seam, and each name of each choice, differs from
//! the default.
//!
//! A new option is tried alone, with values that follow from its declaration, on each device in
//! [`DEVICES`]. If it shows on none of them, the test fails; then add a device on which it shows,
//! or what its policy needs to act ([`NEEDED`]). `-- --nocapture` prints the value and the device
//! by which each option shows.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use ftlab::config::{Config, Layer, all_options};
use ftlab::device::{Device, DeviceSetup, Recovered, assemble, power_up};
use ftlab::engine::Stream;
use ftlab::host::translation::{LogCounts, LogRules, LogStore};
use ftlab::host::{Advanced, Completion, Host, Op, Request};
use ftlab::options::OptionInfo;
use ftlab::options::value::ValueKind;
use ftlab::units::{Lba, Nanos, SimTime};
use ftlab_torture::zoned;

/// Options that all devices share: small, and full enough to collect.
const BASE: &[&str] = &[
    "nand.page_size=16KiB",
    "nand.blocks_per_plane=20",
    "nand.pages_per_block=8",
    "ftl.over_provisioning=60%",
    "cache.policy=lru",
    "cache.capacity=256KiB",
];

/// Devices that show what others don't.
const DEVICES: &[&[&str]] = &[
    &[],
    &["cache.policy=none"],
    &[
        "nand.multi_plane.read=on",
        "nand.multi_plane.program=on",
        "nand.multi_plane.erase=on",
        "nand.cache_ops.read=on",
        "nand.cache_ops.program=on",
        "scheduler.suspend=program-and-erase",
    ],
    &["scheduler.policy=read-first", "scheduler.suspend=program-and-erase"],
    // Little space, which reads and suspensions yield to.
    &[
        "cache.policy=none",
        "ftl.gc.start=3",
        "ftl.gc.stop=5",
        "scheduler.suspend=program-and-erase",
    ],
    // Chips of several dies.
    &["cache.policy=none", "nand.dies_per_chip=2"],
    // A map on flash, with little of it in memory.
    &["ftl.mapping.policy=dftl", "ftl.over_provisioning=200%"],
    &["ftl.mapping.policy=dftl", "ftl.over_provisioning=200%", "ftl.mapping.host_memory=512B"],
    // Packed pages, with room for the stale data that packing keeps.
    &["ftl.mapping.policy=reconstruction", "ftl.over_provisioning=200%"],
    &["ftl.mapping.policy=reconstruction", "ftl.over_provisioning=200%", "cache.policy=prlru"],
    // Clean pages.
    &["cache.keep_reads=on"],
    // Writes wait for the bus.
    &["cache.policy=none", "nand.bus.rate=20MB/s"],
    // Pages wait to be decoded, some of them sensed again.
    &[
        "cache.policy=none",
        "controller.ecc.engines=1",
        "controller.ecc.codeword=20us",
        "nand.timing.policy=ispp",
    ],
    // Writes that are spread over time.
    &["firmware.pacing.program=20MB/s", "firmware.pacing.copy=20MB/s"],
    // The host runs ahead of collection, to the last block that it may take.
    &["cache.policy=none", "ftl.gc.start=3", "ftl.gc.stop=5", "ftl.gc.host_lead=4000000"],
    &["ftl.gc.start=4", "ftl.gc.stop=5", "ftl.gc.preemptible=on", "ftl.gc.copies_per_write=1"],
    &["ftl.gc.background.collect=on", "ftl.gc.background.after=1ms"],
    // Room for many streams.
    &["ftl.over_provisioning=200%"],
    &["nand.cell=qlc"],
    // What a gating buffer needs.
    &["ftl.placement.policy=static", "ftl.mapping.unit=flash-page"],
    &["ftl.over_provisioning=200%", "ftl.slc_cache.policy=hybrid", "ftl.slc_cache.blocks=2"],
    &["host.queues=3", "host.outstanding=2"],
    // A processor with little time to spare.
    &["host.outstanding=1", "firmware.copies=writes"],
    &["host.queues=4", "host.outstanding=2", "host.link.rate=100MB/s"],
    // Completions that wait for others.
    &["host.interrupt.coalesce=3", "host.interrupt.coalesce_time=50us"],
    // Many commands for few cores.
    &["host.queues=4", "host.outstanding=8", "host.command_time=20us"],
    // Power is cut at the end.
    &["ftl.recovery.policy=scan"],
    &["nand.faults.program_failures=300000", "nand.faults.erase_failures=20000000"],
    // Programs at several costs; with and without a buffer, which makes flash reads rare.
    &["nand.timing.policy=by-cost"],
    &["nand.timing.policy=by-cost", "cache.policy=none"],
    &["nand.timing.policy=by-cost", "cache.policy=none", "ftl.cost.policy=agcr"],
    &["ftl.mapping.policy=log-block"],
    &["ftl.mapping.policy=log-block", "ftl.merge.planner=cycle-stealing"],
    // Data ages, and is refreshed before it is too old.
    &["nand.timing.policy=ispp", "nand.cell=mlc", "nand.timing.age_at_least=0%"],
    &[
        "nand.timing.policy=ispp",
        "nand.cell=mlc",
        "nand.timing.age_at_least=0%",
        "ftl.refresh.when=before-loss",
    ],
    // A few reads of a block already cause many errors.
    &[
        "nand.timing.policy=ispp",
        "nand.cell=mlc",
        "nand.timing.disturbed_errors=2000",
        "nand.timing.disturbed_reads=20",
        "cache.policy=none",
    ],
    &["ftl.placement.policy=dynamic", "ftl.over_provisioning=100%"],
    // Stripes over all four dies.
    &["ftl.placement.policy=dynamic", "ftl.over_provisioning=200%", "ftl.parity.policy=dies"],
    // One of them dies.
    &[
        "ftl.placement.policy=dynamic",
        "ftl.over_provisioning=300%",
        "ftl.parity.policy=dies",
        "nand.faults.schedule=[\"100ms: die 0 dies\"]",
    ],
    // Superblocks of all four dies.
    &["ftl.superblock.policy=groups", "ftl.over_provisioning=200%"],
    // Zones; with room for their streams, and with little.
    &["ftl.over_provisioning=200%", "ftl.streams.policy=single"],
    &["host.zones.policy=zns", "ftl.over_provisioning=800%", "host.zones.conventional=1"],
    &[
        "host.zones.policy=zns",
        "ftl.over_provisioning=200%",
        "ftl.streams.policy=zoned",
        "ftl.streams.zone_streams=2",
    ],
    &[
        "host.zones.policy=zns",
        "ftl.over_provisioning=200%",
        "ftl.streams.policy=single",
        "ftl.placement.policy=zoned",
        "ftl.placement.zone_dies=1",
        "host.zones.window=32KiB",
    ],
    // Zones that share blocks, and are emptied apart.
    &[
        "host.zones.policy=zns",
        "ftl.over_provisioning=100%",
        "ftl.streams.policy=single",
        "host.zones.capacity=64KiB",
        "cache.policy=none",
    ],
    // Handles whose data is copied.
    &[
        "ftl.over_provisioning=100%",
        "ftl.streams.policy=fdp",
        "ftl.streams.handles=2",
        "cache.policy=none",
    ],
    // A drive that listens to hints.
    &["ftl.over_provisioning=200%", "ftl.streams.policy=by-host-stream", "cache.policy=none"],
    // So few pages that an epoch of MiDAS ends.
    &[
        "nand.channels=1",
        "nand.chips_per_channel=1",
        "nand.planes_per_die=1",
        "nand.blocks_per_plane=96",
        "nand.pages_per_block=4",
        "ftl.over_provisioning=100%",
        "ftl.streams.policy=midas",
        "ftl.streams.sample=1",
        "cache.policy=none",
    ],
    // The host's own translation on small zones; the first has it as an option that is still to be set.
    &[
        "host.zones.policy=zns",
        "ftl.over_provisioning=100%",
        "ftl.streams.policy=single",
        "host.zones.capacity=64KiB",
        "ftl.placement.policy=dynamic",
        "host.translation.spare=100%",
    ],
    &[
        "host.zones.policy=zns",
        "ftl.over_provisioning=100%",
        "ftl.streams.policy=single",
        "host.zones.capacity=64KiB",
        "ftl.placement.policy=dynamic",
        "host.translation.policy=log",
        "host.translation.spare=100%",
    ],
    &[
        "host.zones.policy=zns",
        "ftl.over_provisioning=100%",
        "ftl.streams.policy=single",
        "host.zones.capacity=64KiB",
        "ftl.placement.policy=dynamic",
        "host.translation.policy=log",
        "host.translation.spare=100%",
        "host.translation.placement=by-stream",
    ],
    &["nand.endurance.policy=fixed", "nand.endurance.cycles=4"],
    &["nand.endurance.policy=weibull", "nand.endurance.cycles=4"],
];

/// Options that a choice needs so that it can act on devices and loads this small. Only options of
/// the choice itself: others would show on their own.
const NEEDED: &[(&str, &[&str])] = &[
    ("ftl.mapping.policy=dftl", &["ftl.mapping.cache=64B"]),
    ("ftl.streams.policy=zoned", &["ftl.streams.zone_streams=2"]),
    ("ftl.streams.policy=multi-log", &["ftl.streams.logs=3"]),
    ("ftl.streams.policy=midas", &["ftl.streams.groups=4"]),
    ("ftl.streams.policy=future", &["ftl.streams.death_classes=3"]),
    (
        "nand.timing.policy=page-type",
        &[
            "nand.timing.read_by_type=[\"50us\", \"60us\", \"70us\"]",
            "nand.timing.program_by_type=[\"500us\", \"600us\", \"700us\"]",
        ],
    ),
    ("nand.bus.policy=interface", &["nand.bus.transfers=200MT/s"]),
    ("nand.bus.policy=page-time", &["nand.bus.page=50us"]),
    ("host.arbitration.policy=weighted-round-robin", &["host.arbitration.weights=[1, 2, 3]"]),
    (
        "host.arbitration.policy=priority-classes",
        &["host.arbitration.classes=[\"high\", \"medium\", \"low\"]"],
    ),
    ("ftl.gc.victim=windowed-greedy", &["ftl.gc.window=2"]),
    ("ftl.wear.policy=threshold", &["ftl.wear.threshold=1"]),
    // Room for other limits below it.
    ("scheduler.policy=read-first-with-space", &["scheduler.ample_at=5"]),
    ("ftl.wear.policy=bet", &["ftl.wear.unevenness=4"]),
];

/// Options that conflict with a choice, and the values to use instead.
const INSTEAD: &[(&str, &[&str])] = &[(
    "ftl.mapping.policy=physical",
    &["cache.policy=none", "ftl.over_provisioning=0%", "ftl.mapping.unit=flash-page"],
)];

/// The cell type only determines which times to expect, and how many: it shows in the warnings.
const TOLD: &str = "nand.cell";

/// Texts for people, which results repeat.
const LABELS: &[&str] = &["device.name", "device.description", "device.source"];

/// Options of parts that do not exist yet. One that shows must leave the list.
const WAITS_FOR: &[&str] = &[];

fn load(sets: &[String]) -> Option<Config> {
    let of_chosen = |list: &'static [(&str, &'static [&'static str])]| {
        let chosen = list.iter().filter(|(chosen, _)| sets.iter().any(|set| set == chosen));
        chosen.flat_map(|(_, sets)| sets.iter().copied()).collect::<Vec<_>>()
    };
    let (needed, instead) = (of_chosen(NEEDED), of_chosen(INSTEAD));
    let capacity = |set: &&String| instead.is_empty() || !set.starts_with("cache.capacity=");
    // The test's own options override what a choice needs.
    let sets = sets.iter().filter(capacity).map(String::as_str);
    let sets = needed.iter().copied().chain(sets).chain(instead.iter().copied());
    let sets = sets.enumerate().map(|(at, set)| Layer::set(at + 1, set));
    let layers: Vec<_> = std::iter::once(Layer::preset("tiny")).chain(sets).collect();
    Config::load(&layers).ok()
}

/// Requests that write everything once.
const PREPARATION: u32 = 64;

/// Writes everything once, then a mixture in bursts: small and large, hot and cold, of several
/// streams, with trims, flushes and pauses; late in it, half a year passes, and then seven and a half.
fn requests(capacity: u64) -> impl Iterator<Item = (u64, Request)> {
    const COUNT: u32 = 2_500;
    let size = capacity / u64::from(PREPARATION);
    let fill = (0..PREPARATION).map(move |tag| {
        let lba = Lba(u64::from(tag) * size);
        (0, Request { op: Op::Write, lba, sectors: size as u32, stream: tag, tag, fua: false })
    });
    let mut random = Stream::new(1, "load");
    let mixture = (PREPARATION..COUNT).map(move |tag| {
        let mut any = |below| random.below(below);
        let op = match any(20) {
            0 => Op::Trim,
            1 if any(4) == 0 => Op::Flush,
            2..=7 => Op::Read,
            _ => Op::Write,
        };
        let sectors = [1, 4, 8, 8, 16, 64][any(6) as usize];
        let reach = if any(3) > 0 { capacity / 16 } else { capacity };
        let first = any(reach - 64);
        let lba = Lba(if any(2) == 0 { first } else { first - first % 32 });
        const HALF_A_YEAR: u64 = 15_768_000_000_000_000;
        let pause = match tag {
            2_300 => HALF_A_YEAR,
            2_400 => 15 * HALF_A_YEAR,
            _ if tag % 200 == 0 => 30_000_000,
            _ => 0,
        };
        (pause, Request { op, lba, sectors, stream: any(8) as u32, tag, fua: false })
    });
    fill.chain(mixture)
}

/// Keeps 24 requests outstanding, as a host does, and lets all of them finish.
fn run(device: &mut Device) -> Vec<Completion> {
    let mut done = Vec::new();
    for (pause, request) in requests(device.capacity_sectors()) {
        // If the flash records when it was programmed, mark what is there as prepared.
        if request.tag == PREPARATION && device.flash().programmed().is_some() {
            while device.advance_until(SimTime::FOREVER, &mut done) != Advanced::Idle {}
            device.prepared();
        }
        let until = SimTime(device.now().0 + pause);
        while pause > 0 && device.advance_until(until, &mut done) == Advanced::Completed {}
        let queue = device.queue_of(request.stream);
        while device.requests_in_flight() >= 24 || !device.has_room(queue) {
            let advanced = device.advance_until(SimTime::FOREVER, &mut done);
            assert_ne!(advanced, Advanced::Idle, "the device is stuck");
        }
        let request = zoned::request(request, device);
        device.submit(device.now(), request);
    }
    while device.advance_until(SimTime::FOREVER, &mut done) != Advanced::Idle {}
    done
}

/// The same load on the store of a host that translates addresses.
fn run_on_store(device: &mut Device, rules: LogRules) -> (Vec<Completion>, LogCounts) {
    let mut store = LogStore::new(device, rules);
    store.measures(true);
    let (mut done, mut submitted) = (Vec::new(), 0);
    for (_, request) in requests(store.capacity_sectors()) {
        while submitted - done.len() >= 24 {
            let advanced = store.advance_until(SimTime::FOREVER, &mut done);
            assert_ne!(advanced, Advanced::Idle, "the store is stuck");
        }
        store.submit(store.now(), request);
        submitted += 1;
    }
    while store.advance_until(SimTime::FOREVER, &mut done) != Advanced::Idle {}
    store.audit().unwrap();
    (done, store.counts())
}

/// What to do when the test fails.
const REMEDY: &str = "If there is a device on which it acts, add it to DEVICES, or what its policy \
                      needs to NEEDED, in tests/config/every_option.rs; if there is none, it is a bug";

/// What a device does: a digest of every completion and every counter.
fn behaviour(config: &Config) -> u64 {
    let mut device = assemble(DeviceSetup::new(config, 1));
    let mut hasher = DefaultHasher::new();
    let mut first = device.clone();
    if first.record_future() {
        run(&mut first);
        device.foresee(Arc::new(first.recorded_future().unwrap()));
    }
    match config.host_translation() {
        None => run(&mut device).hash(&mut hasher),
        Some(rules) => {
            let (done, counts) = run_on_store(&mut device, rules);
            (done, format!("{counts:?}")).hash(&mut hasher);
        }
    }
    let flash = device.flash();
    let erases: Vec<u32> = device.ftl().blocks().all_erases().collect();
    let meter = flash.energy_meter();
    let buses = flash.channel_busy(device.now()).map(|busy| busy.0).sum();
    let energy = meter.draws.energy_of(&meter.cells, Nanos(buses));
    let counts =
        (device.ftl_counts(), device.buffer_counts(), flash.done(), flash.overlaps(), energy);
    format!("{counts:?} {erases:?}").hash(&mut hasher);
    if config.options.ftl.recovery.policy.survives() {
        format!("{:?}", recovered(config, device)).hash(&mut hasher);
    }
    hasher.finish()
}

/// How it recovers from a power cut with data in DRAM.
fn recovered(config: &Config, mut device: Device) -> Recovered {
    let write = |tag: u32| Request {
        op: Op::Write,
        lba: Lba(u64::from(tag) * 64),
        sectors: 8,
        stream: 0,
        tag,
        fua: false,
    };
    (0..8).for_each(|tag| device.submit(device.now(), write(tag)));
    let until = device.now() + Nanos(30_000);
    while device.advance_until(until, &mut Vec::new()) == Advanced::Completed {}
    let remains = device.cut_power();
    power_up(DeviceSetup::new(config, 1), (), remains).expect("its own remains").1
}

/// Behaviours computed so far, by configuration.
#[derive(Default)]
struct Known(BTreeMap<String, u64>);

impl Known {
    fn behaviour(&mut self, config: &Config) -> u64 {
        *self.0.entry(config.canonical()).or_insert_with(|| behaviour(config))
    }

    /// Whether setting `option` to `value` changes the behaviour of any device on which the option
    /// applies.
    fn shows(&mut self, option: &OptionInfo, value: &str) -> bool {
        let seen = self.seen_on(option, value);
        if let Some(device) = &seen {
            println!("{}={value} on {device:?}", option.path);
        }
        seen.is_some()
    }

    fn seen_on(&mut self, option: &OptionInfo, value: &str) -> Option<Vec<String>> {
        let policies = match &option.applies_to {
            Some(applies) => applies
                .policies
                .iter()
                .map(|policy| vec![format!("{}={policy}", applies.seam)])
                .collect(),
            None => vec![vec![]],
        };
        let set = format!("{}={value}", option.path);
        let devices = DEVICES.iter().flat_map(|device| policies.iter().map(move |p| (device, p)));
        for (device, policies) in devices {
            let own = BASE.iter().chain(*device).map(|set| (*set).to_owned());
            let all: Vec<String> = own.chain(policies.clone()).collect();
            let here = all[BASE.len()..].to_vec();
            let changed = load(&[all.clone(), vec![set.clone()]].concat());
            let (Some(plain), Some(changed)) =
                (load(&all).or_else(|| load_needed(&all, option)), changed)
            else {
                continue;
            };
            if plain.canonical() == changed.canonical() {
                continue;
            }
            let shows = match option.path {
                TOLD => plain.warnings != changed.warnings,
                _ => self.behaviour(&plain) != self.behaviour(&changed),
            };
            if shows {
                return Some(here);
            }
        }
        None
    }
}

/// Loads with a value for an option that must be set where it applies.
fn load_needed(sets: &[String], option: &OptionInfo) -> Option<Config> {
    let value = option.default.is_none().then_some(option.range).flatten()?.0;
    load(&[sets.to_vec(), vec![format!("{}={value}", option.path)]].concat())
}

/// Values to try, from the option's declaration.
fn values(option: &OptionInfo) -> Vec<String> {
    let texts: &[&str] = match option.kind {
        ValueKind::Choice => {
            return option.choices.iter().map(|choice| choice.name.to_owned()).collect();
        }
        // For three queues: each name beside each other one.
        ValueKind::Names => {
            let names = || option.choices.iter().map(|choice| choice.name);
            let pairs = names().flat_map(|one| names().map(move |other| (one, other)));
            let list = |(one, other)| format!("[\"{one}\", \"{other}\", \"{other}\"]");
            return pairs.map(list).collect();
        }
        ValueKind::Count => {
            &["1", "2", "3", "4", "5", "8", "12", "16", "40", "100", "1000", "50000000"]
        }
        ValueKind::Time => &["0ns", "3us", "25us", "100us", "1ms", "7ms", "90d"],
        ValueKind::Times => {
            &["[\"40us\", \"60us\", \"90us\"]", "[\"400us\", \"600us\", \"900us\"]"]
        }
        ValueKind::Counts => {
            &["[1, 2, 3]", "[4, 2, 1, 1]", "2", "[400, 200, 100]", "[1000, 7000, 50000]"]
        }
        ValueKind::Size => &["512B", "2KiB", "8KiB", "32KiB", "64KiB", "1MiB"],
        ValueKind::Rate => &["50MB/s", "200MB/s"],
        ValueKind::TransferRate => &["50MT/s", "200MT/s"],
        ValueKind::RequestRate => &["1000/s", "100000/s"],
        ValueKind::Power => &["1mW", "1W"],
        ValueKind::Share => &["1%", "5%", "20%", "50%", "90%", "150%"],
        ValueKind::Amount => &["64KiB", "1MiB", "10%", "50%"],
        ValueKind::Text => &["changed"],
        ValueKind::Faults => &["[\"5ms: die 0 dies\"]", "[\"0ns: block 0 is unreadable\"]"],
        ValueKind::Order => &["plane-die-chip-channel", "chip-channel-plane-die"],
    };
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// The options of one half that change nothing on any device. The halves run side by side.
fn silent_options(half: usize) -> Vec<&'static str> {
    let mut known = Known::default();
    let of_half = all_options().iter().skip(half).step_by(2);
    // A seam with a single policy has no alternative.
    let told = |option: &OptionInfo| {
        let fixed = option.seam.is_some_and(|seam| seam.policies.len() == 1);
        fixed || LABELS.contains(&option.path)
    };
    let mut shows =
        |option: &OptionInfo| values(option).iter().any(|value| known.shows(option, value));
    of_half.filter(|option| !told(option) && !shows(option)).map(|option| option.path).collect()
}

#[test]
fn every_other_option_shows() {
    assert_eq!(silent_options(0), WAITS_FOR, "options that change nothing. {REMEDY}");
}

#[test]
fn the_options_between_them_show() {
    assert_eq!(silent_options(1), WAITS_FOR, "options that change nothing. {REMEDY}");
}

/// Each name that can be chosen differs from the default.
#[test]
fn every_choice_shows() {
    let mut known = Known::default();
    let mut silent = Vec::new();
    for option in all_options() {
        for choice in option.choices.iter().filter(|choice| Some(choice.name) != option.default) {
            let named = |value: &String| match option.kind {
                ValueKind::Names => value.contains(&format!("\"{}\"", choice.name)),
                _ => value == choice.name,
            };
            if !values(option).iter().filter(|v| named(v)).any(|v| known.shows(option, v)) {
                silent.push(format!("{}={}", option.path, choice.name));
            }
        }
    }
    assert!(silent.is_empty(), "{silent:?} change nothing on any device. {REMEDY}");
}
