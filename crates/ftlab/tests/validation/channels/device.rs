//! The device as the thesis's machine: in lock-step, with an empty log over full data blocks, it
//! matches the naive machine to the nanosecond. It is configured as a user would, so that the shares
//! of blocks, and channels that work as one, are checked too.

use ftlab::config::{Config, Layer};
use ftlab::device::{Device, DeviceSetup, assemble, assemble_with};
use ftlab::engine::Stream;
use ftlab::host::{Advanced, Completion, Host, Op};
use ftlab::scheduler::{Activity, Probe};
use ftlab::units::SimTime;
use ftlab_torture::{AnyProbe, Listens};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngSeed;

use super::MLC;
use super::machine::{Machine, Params, Planner, Record};
use crate::common::request;

/// The configuration of a machine.
pub fn config(params: &Params) -> Config {
    let Params { channels, pages_per_block, data_blocks, log_blocks, times, throttle, .. } =
        *params;
    let planner = match params.planner {
        Planner::None => "none",
        Planner::Synchronised => "synchronised",
        Planner::SuperDataBlock => "super-data-block",
        Planner::CycleStealing => "cycle-stealing",
    };
    let page_bytes = u64::from(params.sectors_per_page) * 512;
    let share = (u64::from(log_blocks) * 1_000_000).div_ceil(u64::from(data_blocks));
    let mut sets = vec![
        format!("nand.channels={channels}"),
        "nand.chips_per_channel=1".to_owned(),
        "nand.dies_per_chip=1".to_owned(),
        "nand.planes_per_die=1".to_owned(),
        format!("nand.blocks_per_plane={}", data_blocks + log_blocks + 2),
        format!("nand.pages_per_block={pages_per_block}"),
        format!("nand.page_size={page_bytes}B"),
        "nand.cell=mlc".to_owned(),
        "nand.timing.policy=plain".to_owned(),
        format!("nand.timing.read={}ns", times.read),
        format!("nand.timing.program={}ns", times.program),
        format!("nand.timing.erase={}ns", times.erase),
        "nand.bus.policy=page-time".to_owned(),
        "nand.bus.page=0ns".to_owned(),
        "cache.latency=0ns".to_owned(),
        "ftl.mapping.policy=log-block".to_owned(),
        "ftl.mapping.start=full".to_owned(),
        format!("ftl.over_provisioning={}.{:04}%", share / 10_000, share % 10_000),
        format!("ftl.merge.planner={planner}"),
        "ftl.merge.clocks=lock-step".to_owned(),
    ];
    if let Some(most) = throttle {
        sets.push(format!("ftl.merge.throttle={most}"));
    }
    let whole = match params.planner {
        Planner::Synchronised => page_bytes * u64::from(channels),
        _ => page_bytes,
    };
    if params.buffer_bytes >= whole {
        sets.push("cache.policy=gating".to_owned());
        sets.push(format!("cache.capacity={}B", params.buffer_bytes));
        sets.push(format!("cache.in_order={}", if params.in_order { "on" } else { "off" }));
    }
    let layers: Vec<Layer> = (1..).zip(&sets).map(|(at, set)| Layer::set(at, set)).collect();
    Config::load(&layers).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs one request after another; returns when each completed.
fn drive<P: Probe>(device: &mut Device<P>, requests: &[(u64, u32)]) -> Vec<SimTime> {
    let mut done: Vec<Completion> = Vec::new();
    let mut write = |device: &mut Device<P>, op, first, sectors| {
        device.submit(device.now(), request(op, first, sectors, 0));
        while device.requests_in_flight() > 0 {
            let advanced = device.advance_until(SimTime::FOREVER, &mut done);
            assert_ne!(advanced, Advanced::Idle, "the device is stuck");
        }
    };
    for &(first, sectors) in requests {
        write(device, Op::Write, first, sectors);
    }
    write(device, Op::Flush, 0, 0);
    done.iter().map(|done| done.finished).collect()
}

/// Checks the device's counters against the machine's record.
fn check<P: Probe>(device: &Device<P>, record: &Record) {
    let merger = device.merger().expect("a log is merged");
    let (counts, reclaims) = (merger.counts(), merger.reclaims());
    assert_eq!(device.now().0, record.time, "time");
    assert_eq!(device.buffer_counts().cycles, record.write_cycles, "write cycles");
    assert_eq!(device.ftl_counts().host_pages, record.written_pages, "pages written");
    assert_eq!(counts.reclaims, record.reclaims.len() as u64, "reclaims");
    if reclaims.bucket() == 1 {
        let each: Vec<u32> = record.reclaims.iter().map(|reclaim| reclaim.merges).collect();
        assert_eq!(reclaims.most(), each, "merges of each reclaim");
    }
    assert_eq!(counts.full, record.merges.iter().sum::<u64>(), "merges");
    assert_eq!(counts.switch + counts.partial, 0);
    assert_eq!(counts.moved, record.moved.iter().sum::<u64>(), "pages moved");
    let longest = record.reclaims.iter().map(|reclaim| reclaim.time).max();
    assert_eq!(merger.stalls().max().map(|time| time.0), longest, "the longest stall");
    let blocks = device.ftl().blocks();
    let per_plane = device.flash().geometry().shape().blocks_per_plane as usize;
    let erases: Vec<u32> = blocks.all_erases().collect();
    let erases: Vec<u64> =
        erases.chunks(per_plane).map(|plane| plane.iter().map(|&e| u64::from(e)).sum()).collect();
    assert_eq!(erases, record.erases(), "erases of each channel");
    assert_eq!(device.audit(), Ok(()));
}

/// A probe: if there is one, merges are carried out copy by copy.
struct Onlooker;

impl Listens for Onlooker {
    fn cell(&mut self, _activity: &Activity) {}
}

fn compare(params: &Params, requests: &[(u64, u32)]) {
    let mut machine = Machine::new(*params);
    let moments: Vec<u64> = requests
        .iter()
        .map(|&(first, sectors)| {
            machine.write(first, sectors.into());
            machine.now()
        })
        .collect();
    let record = machine.finish();
    let setup = DeviceSetup::new(&config(params), 1);
    let mut at_once = assemble(setup.clone());
    let mut by_copies = assemble_with(setup, AnyProbe::new(Onlooker), ());
    let done = drive(&mut at_once, requests);
    let acknowledged = done.iter().take(requests.len()).map(|done| done.0);
    assert!(acknowledged.eq(moments.iter().copied()), "requests are acknowledged at other times");
    check(&at_once, &record);
    assert_eq!(drive(&mut by_copies, requests), done, "copy by copy");
    check(&by_copies, &record);
    // Afterwards the two ways can't be told apart.
    assert_eq!(at_once.flash().done(), by_copies.flash().done());
    assert_eq!(at_once.ftl_counts(), by_copies.ftl_counts());
    let now = at_once.now();
    assert!(at_once.flash().die_busy(now).eq(by_copies.flash().die_busy(now)), "dies' time");
}

fn params() -> impl Strategy<Value = Params> {
    let planners =
        vec![Planner::None, Planner::Synchronised, Planner::SuperDataBlock, Planner::CycleStealing];
    let throttle = select(vec![None, Some(1), Some(2), Some(3)]);
    let shape = (1u32..=4, 4u32..=9, 2u32..=9, 1u32..=4);
    (shape, select(planners), throttle, 0u64..=9, any::<bool>()).prop_map(
        |(
            (channels, pages_per_block, data_blocks, log_blocks),
            planner,
            throttle,
            pages,
            in_order,
        )| {
            // Page sizes are powers of two, also those of channels that work as one.
            let channels = match planner {
                Planner::Synchronised => channels.next_power_of_two(),
                _ => channels,
            };
            Params {
                channels,
                sectors_per_page: 8,
                pages_per_block,
                data_blocks,
                log_blocks,
                times: MLC,
                planner,
                throttle,
                buffer_bytes: pages * 4096,
                in_order,
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        rng_seed: RngSeed::Fixed(3),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Requests from one sector to more than the buffer holds, anywhere or in a few places.
    #[test]
    fn the_device_in_lock_step_is_the_machine(params in params(), seed in any::<u64>(), narrow in any::<bool>()) {
        let mut random = Stream::new(seed, "requests");
        let all = params.sectors();
        let reach = if narrow { (all / 4).max(64) } else { all };
        let requests: Vec<(u64, u32)> = (0..400)
            .map(|_| {
                let most = if random.below(8) == 0 { 100 } else { 16 };
                let sectors = 1 + random.below(most);
                let sectors = sectors.min(reach);
                (random.below(reach - sectors + 1), sectors as u32)
            })
            .collect();
        compare(&params, &requests);
    }
}
