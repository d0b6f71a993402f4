//! The host's log-structured store on a device: what greedy cleaning copies under uniform random writes lies between two closed
//! forms, and a mixture of commands breaks no rule of zones.

use ftlab::device::{Device, assemble};
use ftlab::engine::Stream;
use ftlab::host::translation::{CleaningOrder, LogRules, LogStore};
use ftlab::host::{Advanced, Completion, Host, Op, Outcome, Request};
use ftlab::units::{Nanos, SimTime};

use crate::common::{Spec, request};
use crate::write_amplification::mean_field;

/// Sectors of a block, which is a mapping unit of the device.
const BLOCK: u32 = 8;

/// Two channels of one die, with blocks of sixteen pages: zones of two dies have 32 pages.
fn device() -> Device {
    assemble(spec().setup().checking())
}

fn spec() -> Spec {
    Spec::small().with(
        "nand.channels = 2
         nand.chips_per_channel = 1
         nand.blocks_per_plane = 100
         nand.pages_per_block = 16
         host.zones.policy = zns
         ftl.over_provisioning = 40%
         ftl.streams.policy = zoned
         ftl.streams.zone_streams = 4
         ftl.placement.policy = zoned
         ftl.placement.zone_dies = 2
         host.zones.max_open = 2
         host.zones.max_active = 2",
    )
}

/// The rules of a store with this many zones beyond its capacity.
fn rules(device: &Device, spare: u32, is_shared: bool) -> LogRules {
    let zones = device.zones().expect("it has zones").rules();
    let zone_blocks = zones.shape.capacity_sectors() as u32 / BLOCK;
    LogRules {
        block_sectors: BLOCK,
        blocks: (zones.shape.count - spare) * zone_blocks,
        zones: zones.shape.count,
        zone_blocks,
        zone_size: zones.shape.size_sectors(),
        append_blocks: zones.append_limit as u32 / BLOCK,
        host_classes: 1,
        is_shared,
        cleaning: CleaningOrder::Greedy,
        clean_below: 2,
        copies: 4,
        most_active: zones.max_active,
        map_cost: Nanos(100),
    }
}

/// Keeps `depth` requests in the store until all have completed.
fn play(
    store: &mut LogStore<'_, Device>,
    depth: usize,
    requests: impl IntoIterator<Item = Request>,
) -> Vec<Completion> {
    let (mut done, mut submitted) = (Vec::new(), 0);
    for request in requests {
        while submitted - done.len() >= depth {
            let advanced = store.advance_until(SimTime::FOREVER, &mut done);
            assert_ne!(advanced, Advanced::Idle, "a standstill");
        }
        store.submit(store.now(), request);
        submitted += 1;
    }
    while store.advance_until(SimTime::FOREVER, &mut done) != Advanced::Idle {}
    assert_eq!(done.len(), submitted);
    done
}

#[test]
fn greedy_cleaning_copies_what_the_closed_form_says() {
    let mut device = device();
    let rules = rules(&device, 12, true);
    let blocks = u64::from(rules.blocks);
    let mut store = LogStore::new(&mut device, rules);
    let mut stream = Stream::new(7, "uniform");
    let write = |block: u64| request(Op::Write, block * u64::from(BLOCK), BLOCK, 0);
    play(&mut store, 1, (0..blocks).map(write));
    play(&mut store, 1, (0..4 * blocks).map(|_| write(stream.below(blocks))));
    store.measures(true);
    play(&mut store, 1, (0..8 * blocks).map(|_| write(stream.below(blocks))));
    let counts = store.counts();
    let measured = (counts.written + counts.copied) as f64 / counts.written as f64;
    // A victim is chosen among the zones that are neither open nor free, nor wait for their last append. The open zone holds
    // nothing, or as many blocks as a zone.
    let form = |others: u32, in_open: u32| {
        let candidates = (rules.zones - others) * rules.zone_blocks;
        let share = f64::from(rules.blocks - in_open) / f64::from(candidates);
        mean_field(rules.zone_blocks, share)
    };
    let (least, most) = (form(1, rules.zone_blocks), form(3, 0));
    println!("{least:.3} <= {measured:.3} <= {most:.3}");
    assert!(0.98 * least <= measured && measured <= 1.02 * most, "{least} {measured} {most}");
    store.audit().unwrap();
}

#[test]
fn a_mixture_breaks_no_rule() {
    for (is_shared, seed) in [(true, 1), (false, 2), (false, 3)] {
        let mut device = device();
        let rules = rules(&device, 6, is_shared);
        let mut store = LogStore::new(&mut device, rules);
        let sectors = store.capacity_sectors();
        let mut stream = Stream::new(seed, "mixture");
        let requests = (0..20_000).map(|tag| {
            let op = match stream.below(16) {
                0..4 => Op::Read,
                4 => Op::Trim,
                5 if stream.below(8) == 0 => Op::Flush,
                _ => Op::Write,
            };
            let lba = stream.below(sectors - 64);
            Request {
                fua: stream.below(32) == 0,
                ..request(op, lba, 1 + stream.below(64) as u32, tag)
            }
        });
        for done in play(&mut store, 16, requests) {
            assert_eq!(done.outcome, Outcome::Done, "{done:?}");
            assert_eq!(done.breakdown.total(), done.latency(), "{done:?}");
        }
        store.audit().unwrap();
        assert_eq!(device.zones().expect("zones").counts().errors, 0);
    }
}

/// Zones go out of service. The store goes on with fewer, until it has no room, and refuses writes. What was written is read.
#[test]
fn the_store_lives_as_long_as_its_zones_have_room() {
    let spec = spec().with(
        "nand.faults.program_failures = 1000000
         nand.faults.erase_failures = 30000000",
    );
    let mut device = assemble(spec.setup().checking());
    let rules = LogRules { clean_below: 4, ..rules(&device, 20, false) };
    let mut store = LogStore::new(&mut device, rules);
    let blocks = u64::from(rules.blocks);
    let of_block = |op, block: u64| request(op, block * u64::from(BLOCK), BLOCK, 0);
    let mut stream = Stream::new(5, "wear");
    for done in play(&mut store, 1, (0..blocks).map(|block| of_block(Op::Write, block))) {
        assert_eq!(done.outcome, Outcome::Done);
    }
    let mut outcome = Outcome::Done;
    while outcome == Outcome::Done {
        let write = of_block(Op::Write, stream.below(blocks));
        outcome = play(&mut store, 1, [write])[0].outcome;
    }
    assert_eq!(outcome, Outcome::ReadOnly);
    for done in play(&mut store, 4, (0..blocks).map(|block| of_block(Op::Read, block))) {
        assert_eq!(done.outcome, Outcome::Done, "{done:?}");
    }
    store.audit().unwrap();
    let zones = device.zones().expect("zones");
    let gone = zones.counts().retired;
    assert!(device.end_of_life().is_none());
    assert!((15..=20).contains(&gone), "{gone}");
}
