//! Power cuts by hand: how long a device takes to power up, against the sum of its commands; and what
//! survives. The crash tests (crate `ftlab-torture`) cut random devices.

use ftlab::config::{Config, Layer};
use ftlab::device::{Device, DeviceSetup, Recovered, assemble, power_up};
use ftlab::ftl::BlockState;
use ftlab::host::{Advanced, Completion, Host, Op, Request};
use ftlab::units::{BlockId, Lba, Lpn, Nanos, PlaneId, SimTime};

/// Sectors of a page.
const SECTORS: u64 = 8;
/// The times of the smallest preset, repeated here so that no change goes unnoticed.
const TIMES: [&str; 5] = [
    "nand.timing.read=40us",
    "nand.timing.program=400us",
    "nand.timing.erase=3ms",
    "nand.bus.command=0ns",
    "cache.policy=none",
];

fn config(sets: &[&str]) -> Config {
    let mut layers = vec![Layer::preset("tiny")];
    let sets = TIMES.iter().chain(sets).enumerate();
    layers.extend(sets.map(|(number, set)| Layer::set(number, set)));
    Config::load(&layers).unwrap_or_else(|error| panic!("{:?}", error.problems))
}

fn device(config: &Config) -> Device {
    assemble(DeviceSetup::new(config, 1))
}

fn request(op: Op, page: u64, pages: u64) -> Request {
    let sectors = (pages * SECTORS) as u32;
    Request { op, lba: Lba(page * SECTORS), sectors, stream: 0, tag: 0, fua: false }
}

fn carry_out(device: &mut Device, request: Request) -> Completion {
    device.submit(device.now(), request);
    let mut done = Vec::new();
    while device.requests_in_flight() > 0 {
        device.advance_until(SimTime::FOREVER, &mut done);
    }
    done.pop().expect("it ends")
}

fn cut(config: &Config, device: Device) -> (Device, Recovered) {
    power_up(DeviceSetup::new(config, 1), (), device.cut_power()).expect("its own remains")
}

/// The time one die takes to read `count` spare areas in a row: it senses the next when the last has left.
fn reads(config: &Config, count: u64) -> u64 {
    let setup = DeviceSetup::new(config, 1);
    let codeword = setup.flash.bus.transfer(1).0;
    count * (40_000 + codeword)
}

/// The time one die takes to read a page of the system area: the list of bad blocks of a small device.
fn list(config: &Config) -> u64 {
    let bus = DeviceSetup::new(config, 1).flash.bus;
    40_000 + bus.transfer(bus.page_codewords()).0
}

/// A device with one die, whose spare areas are read in turn.
const ONE_DIE: [&str; 6] = [
    "nand.channels=1",
    "nand.chips_per_channel=1",
    "nand.dies_per_chip=1",
    "nand.planes_per_die=1",
    "nand.blocks_per_plane=64",
    "ftl.mapping.unit=flash-page",
];

#[test]
fn a_scan_reads_what_was_programmed_and_one_more_of_each_block() {
    let sets = [&ONE_DIE[..], &["ftl.recovery.policy=scan"]].concat();
    let config = config(&sets);
    let pages_per_block = u64::from(config.shape().pages_per_block);
    let per_page = config.shape().page_size.sectors() / SECTORS;
    for written in [0, 1, pages_per_block - 1, pages_per_block, 3 * pages_per_block + 5] {
        let mut device = device(&config);
        for page in 0..written {
            carry_out(&mut device, request(Op::Write, page * per_page, per_page));
        }
        let (device, recovered) = cut(&config, device);
        // The first spare area of each block; of those in use, all up to the first erased one.
        let in_use = written.div_ceil(pages_per_block);
        let full = written / pages_per_block;
        let expected = (64 - in_use) + written + (in_use - full);
        assert_eq!(recovered.spare_reads, expected, "{written} pages written");
        let time = reads(&config, expected) + list(&config);
        assert_eq!(recovered.time.0, time, "{written} pages written");
        assert_eq!(recovered.system_reads, 1);
        assert_eq!(recovered.found.pages, written);
        // Power-up closes only a partly filled block.
        assert_eq!(recovered.found.closed_early, in_use - full, "{written} pages written");
        assert_eq!(recovered.erases, 0, "{written} pages written");
        let cut_at = device.now().0 - recovered.time.0;
        assert!(cut_at >= written * 400_000, "the clock continues");
    }
}

/// What is read at power-up crosses DRAM: a codeword of each spare area, and whole pages of the system area. With two reads
/// in flight for its only plane, a fast one delays only the end of each stage, and a slow one is never idle.
#[test]
fn what_is_read_at_power_up_crosses_dram() {
    let recovered = |sets: &[&str]| {
        let sets = [&ONE_DIE[..], &["ftl.recovery.policy=scan"], sets].concat();
        let config = config(&sets);
        let per_page = config.shape().page_size.sectors() / SECTORS;
        let mut device = device(&config);
        for page in 0..100 {
            carry_out(&mut device, request(Op::Write, page * per_page, per_page));
        }
        let recovered = cut(&config, device).1;
        (config, recovered)
    };
    let (config, without) = recovered(&[]);
    let count = without.spare_reads;
    assert_eq!(without.time.0, reads(&config, count) + list(&config));
    let (codeword, page) = (
        config.options.nand.codeword.0,
        config.shape().page_size.0.next_multiple_of(config.options.nand.codeword.0),
    );
    for (rate, ns_per_byte) in [("1GB/s", 1), ("1MB/s", 1000)] {
        let sets = [format!("controller.dram.bandwidth={rate}")];
        let (config, with) = recovered(&[&sets[0]]);
        assert_eq!(with.spare_reads, count);
        let (first, all) = (reads(&config, 1), reads(&config, count));
        let crossing = codeword * ns_per_byte;
        let spares = if crossing < first { all + crossing } else { first + count * crossing };
        let system = list(&config) + page * ns_per_byte;
        assert_eq!(with.time.0, spares + system, "{rate}");
    }
}

/// An SLC cache of two blocks, whose pages are sensed in 10 us.
const CACHED: [&str; 7] = [
    "ftl.slc_cache.policy=static",
    "ftl.slc_cache.blocks=2",
    "ftl.slc_cache.fold_when_idle=off",
    "nand.slc_mode.read=10us",
    "nand.slc_mode.program=100us",
    "nand.slc_mode.erase=1ms",
    "ftl.recovery.policy=scan",
];

#[test]
fn blocks_of_an_slc_cache_are_scanned_in_their_mode() {
    let config = config(&[&ONE_DIE[..], &CACHED].concat());
    let per_page = config.shape().page_size.sectors() / SECTORS;
    let pages_per_block = u64::from(config.shape().pages_per_block);
    // Its cells hold three bits.
    let cached = pages_per_block / 3;
    for written in [1, cached, cached + 3, 2 * cached, 2 * cached + 7] {
        let mut device = device(&config);
        for page in 0..written {
            carry_out(&mut device, request(Op::Write, page * per_page, per_page));
        }
        let (mut device, recovered) = cut(&config, device);
        let (slc, native) = (written.min(2 * cached), written.saturating_sub(2 * cached));
        // Of blocks in use, the first erased page is read, too, if there is one.
        let slc_reads = slc + u64::from(slc % cached > 0);
        let in_use = slc.div_ceil(cached) + native.div_ceil(pages_per_block);
        let native_reads = native + u64::from(native > 0) + (64 - in_use);
        assert_eq!(recovered.spare_reads, slc_reads + native_reads, "{written} pages written");
        let time = reads(&config, slc_reads + native_reads) - slc_reads * 30_000 + list(&config);
        assert_eq!(recovered.time.0, time, "{written} pages written");
        assert_eq!(recovered.found.pages, written);
        // Nothing more goes to a block that was open: its place in the cache is gone until it is folded.
        assert_eq!(device.ftl().slc_blocks(PlaneId::new(0)).0 as u64, slc.div_ceil(cached));
        for page in 0..written {
            let read = carry_out(&mut device, request(Op::Read, page * per_page, per_page));
            assert!(read.outcome == ftlab::host::Outcome::Done, "page {page} of {written}");
        }
    }
}

/// Two dies on channels of their own, whose blocks form superblocks.
const TWO_DIES: [&str; 9] = [
    "nand.channels=2",
    "nand.chips_per_channel=1",
    "nand.dies_per_chip=1",
    "nand.planes_per_die=1",
    "nand.blocks_per_plane=64",
    "ftl.mapping.unit=flash-page",
    "ftl.placement.policy=dynamic",
    "ftl.superblock.policy=all",
    "ftl.recovery.policy=scan",
];

#[test]
fn all_dies_of_superblocks_are_scanned_at_once() {
    let config = config(&TWO_DIES);
    let rows = u64::from(config.shape().pages_per_block);
    let per_page = config.shape().page_size.sectors() / SECTORS;
    for written in [0, 1, 2, 7, 2 * rows - 1, 2 * rows, 6 * rows + 5] {
        let mut device = device(&config);
        for page in 0..written {
            carry_out(&mut device, request(Op::Write, page * per_page, per_page));
        }
        let (device, recovered) = cut(&config, device);
        // Pages go to both dies in turn. A superblock that was begun is read to its first erased row.
        let (full, left) = (written / (2 * rows), written % (2 * rows));
        let begun = u64::from(left > 0);
        let of_die =
            |written: u64| full * rows + begun * (written + 1).min(rows) + (64 - full - begun);
        let [first, second] = [of_die(left.div_ceil(2)), of_die(left / 2)];
        assert_eq!(recovered.spare_reads, first + second, "{written} pages written");
        let time = reads(&config, first) + list(&config);
        assert_eq!(recovered.time.0, time, "{written} pages written");
        assert_eq!(recovered.found.pages, written);
        assert_eq!(recovered.found.closed_early, begun, "{written} pages written");
        assert_eq!(device.ftl().audit(), Ok(()));
    }
}

/// Numbers of blocks: free but used before, open and empty, open with data.
fn blocks(device: &Device) -> [u64; 3] {
    let all = device.ftl().blocks();
    let count = |is: &dyn Fn(BlockId) -> bool| {
        (0..device.flash().geometry().blocks()).map(BlockId::new).filter(|&block| is(block)).count()
            as u64
    };
    let is_open = |block| all.state(block) == BlockState::Open;
    [
        count(&|block| all.state(block) == BlockState::Free && all.erases(block) > 0),
        count(&|block| is_open(block) && all.programmed(block) == 0),
        count(&|block| is_open(block) && all.programmed(block) > 0),
    ]
}

/// Blocks freed by collection stay free: they are neither erased again nor counted as closed.
#[test]
fn a_cut_erases_no_block_that_is_free_and_closes_those_that_were_open() {
    let config = config(&[&ONE_DIE[..], &["ftl.recovery.policy=scan"]].concat());
    let per_page = config.shape().page_size.sectors() / SECTORS;
    let mut device = device(&config);
    let pages = device.capacity_sectors() / SECTORS / per_page;
    let plane = PlaneId::new(0);
    let mut cuts = 0;
    for number in 0..3 * pages {
        let page = number * 7 % pages;
        carry_out(&mut device, request(Op::Write, page * per_page, per_page));
        let at_rest = device.ftl().collecting(plane).is_none();
        let [free, empty, begun] = blocks(&device);
        // Power-up itself erases if there are too few free blocks.
        let is_short = device.ftl().free_blocks(plane) <= config.options.ftl.gc.start;
        if !at_rest || free == 0 || is_short {
            continue;
        }
        cuts += 1;
        let before = device.ftl().free_blocks(plane);
        let (after, recovered) = cut(&config, device.clone());
        assert_eq!(recovered.found.closed_early, begun, "after {number} writes");
        assert_eq!(recovered.erases, empty, "after {number} writes");
        assert_eq!(u64::from(after.ftl().free_blocks(plane)), u64::from(before) + empty);
        let reading = reads(&config, recovered.spare_reads) + list(&config);
        assert_eq!(recovered.time.0, reading + empty * 3_000_000, "after {number} writes");
    }
    assert!(cuts > 20, "{cuts} cuts with free blocks that were in use before");
}

/// A torn page holds nothing, is skipped, and closes its block.
#[test]
fn a_torn_page_is_reported_and_skipped() {
    let config = config(&[&ONE_DIE[..], &["ftl.recovery.policy=scan"]].concat());
    let per_page = config.shape().page_size.sectors() / SECTORS;
    for whole in [0, 1, 5] {
        let mut device = device(&config);
        for page in 0..whole {
            carry_out(&mut device, request(Op::Write, page * per_page, per_page));
        }
        device.submit(device.now(), request(Op::Write, whole * per_page, per_page));
        let mut done = Vec::new();
        // Half-way through the program, which takes 400 us.
        let advanced = device.advance_until(device.now() + Nanos(200_000), &mut done);
        assert!(done.is_empty(), "{advanced:?}");
        let (_, recovered) = cut(&config, device);
        let found = recovered.found;
        assert_eq!((found.pages, found.torn, found.closed_early), (whole, 1, 1), "{whole} whole");
        assert_eq!((found.half_erased, found.rolled_back, recovered.erases), (0, 0, 0));
        // The whole pages, the torn one, the erased one behind it, and the first of each other block.
        assert_eq!(recovered.spare_reads, whole + 2 + 63, "{whole} whole");
        assert_eq!(recovered.time.0, reads(&config, recovered.spare_reads) + list(&config));
    }
}

#[test]
fn a_checkpoint_bounds_what_is_read() {
    let scan = config(&[&ONE_DIE[..], &["ftl.recovery.policy=scan"]].concat());
    let often = ["ftl.recovery.policy=checkpoint", "ftl.recovery.every=256KiB"];
    let often = config(&[&ONE_DIE[..], &often].concat());
    let per_page = scan.shape().page_size.sectors() / SECTORS;
    let capacity = device(&scan).capacity_sectors() / SECTORS / per_page;
    let [scanned, checkpointed] = [&scan, &often].map(|config| {
        let mut device = device(config);
        for page in 0..capacity {
            carry_out(&mut device, request(Op::Write, page * per_page, per_page));
        }
        let (_, recovered) = cut(config, device);
        assert_eq!(recovered.found.pages, capacity);
        recovered
    });
    // At most 256 KiB since the last checkpoint, and the block that was open then; the first page of the others.
    let pages = config(&ONE_DIE).shape();
    let since = 256 * 1024 / pages.page_size.0 + 2 * u64::from(pages.pages_per_block);
    assert!(checkpointed.spare_reads <= 64 + since, "{checkpointed:?}");
    assert!(checkpointed.system_reads > 0, "{checkpointed:?}");
    assert!(checkpointed.time < scanned.time, "{checkpointed:?} {scanned:?}");
}

/// A checkpoint of a map on flash holds the places of its translation pages and the entries in memory that differ from them.
/// Recovery reads that, but no translation page, and scans only the blocks that are open.
#[test]
fn a_checkpoint_of_a_map_on_flash_holds_what_flash_does_not() {
    // Flash pages between checkpoints, and entries in memory.
    for (every, entries) in [(16, 8), (16, 12), (24, 1_000)] {
        let sets = [
            "ftl.mapping.policy=dftl".to_owned(),
            "ftl.over_provisioning=200%".to_owned(),
            format!("ftl.mapping.cache={}B", 8 * entries),
        ];
        let with = |policy: &str| {
            let policy = ["ftl.recovery.policy=".to_owned() + policy];
            let all = sets.iter().chain(&policy);
            let every = format!("ftl.recovery.every={}KiB", every * 4);
            let every = policy[0].ends_with("checkpoint").then_some(&every);
            let all: Vec<&str> =
                ONE_DIE.into_iter().chain(all.chain(every).map(|set| &set[..])).collect();
            config(&all)
        };
        let [scan, checkpoint] = ["scan", "checkpoint"].map(with);
        let shape = scan.shape();
        assert_eq!(shape.page_size.0, 4 * 1024);
        let per_page = shape.page_size.sectors() / SECTORS;
        for config in [&scan, &checkpoint] {
            let mut device = device(config);
            for page in 0..every {
                carry_out(&mut device, request(Op::Write, page * per_page, per_page));
            }
            while device.advance_until(SimTime::FOREVER, &mut Vec::new()) != Advanced::Idle {}
            let map = device.ftl().map_on_flash().expect("it lies on flash");
            let (all, programmed) = (u64::from(map.translation_pages()), map.counts().programmed());
            let dirty = map.cached().by_use().filter(|&(_, dirty)| dirty).count() as u64;
            assert!(dirty > 0 && dirty <= entries);
            let (_, recovered) = cut(config, device);
            let listed = 1 + ((all + dirty) * 8).div_ceil(shape.page_size.0);
            let of_map =
                if config.options.ftl.recovery.policy.writes_checkpoints() { listed } else { all };
            assert_eq!(recovered.system_reads, 1 + of_map);
            // What is written and the erased page behind it, of data and of the map; the first page of each other block.
            assert_eq!(recovered.spare_reads, every + programmed + 64);
            let time = reads(config, recovered.spare_reads) + recovered.system_reads * list(config);
            assert_eq!(recovered.time.0, time);
        }
    }
}

/// Writes pages 0 to 7 and returns how many of them are on flash after a cut 10 us later.
fn survivors(sets: &[&str], fua: bool) -> usize {
    let config = config(&[&["ftl.recovery.policy=scan"], sets].concat());
    let mut device = device(&config);
    for page in 0..8 {
        let write = request(Op::Write, page, 1);
        device.submit(device.now(), Request { fua, ..write });
    }
    let mut done = Vec::new();
    match fua {
        true => while device.advance_until(SimTime::FOREVER, &mut done) != Advanced::Idle {},
        false => {
            let soon = device.now() + Nanos(60_000);
            while device.advance_until(soon, &mut done) == Advanced::Completed {}
        }
    }
    assert_eq!(done.len(), 8, "all were acknowledged");
    let remains = device.cut_power();
    let lost = remains.lost_pages;
    let (device, recovered) =
        power_up(DeviceSetup::new(&config, 1), (), remains).expect("its own remains");
    assert_eq!(recovered.hold_up > Nanos::ZERO, config.options.power.capacitors.is_on());
    let there = (0..8).filter(|&page| device.ftl().look_up(Lpn::new(page)).is_some()).count();
    assert_eq!(lost, 8 - there as u64, "all were acknowledged");
    there
}

#[test]
fn unacknowledged_writes_do_not_count_as_lost() {
    let sets = ["cache.policy=lru", "cache.capacity=1MiB", "cache.latency=100us"];
    let config = config(&[&["ftl.recovery.policy=scan"], &sets[..]].concat());
    let mut device = device(&config);
    let mut done = Vec::new();
    for page in [0, 1, 2, 0] {
        device.submit(device.now(), request(Op::Write, page, 1));
        device.advance_until(device.now() + Nanos(30_000), &mut done);
    }
    // The first was acknowledged after 100 us, and its page is being written again.
    assert_eq!((done.len(), device.clone().cut_power().lost_pages), (1, 0));
    device.advance_until(device.now() + Nanos(30_000), &mut done);
    assert_eq!((done.len(), device.clone().cut_power().lost_pages), (2, 1));
    while device.requests_in_flight() > 0 {
        device.advance_until(SimTime::FOREVER, &mut done);
    }
    assert_eq!(device.clone().cut_power().lost_pages, 3, "each page once");
    carry_out(&mut device, Request { op: Op::Flush, ..request(Op::Write, 0, 0) });
    assert_eq!(device.cut_power().lost_pages, 0);
}

#[test]
fn data_in_dram_is_lost_unless_forced_or_saved_to_flash() {
    let dram = ["cache.policy=lru", "cache.capacity=1MiB", "cache.latency=1us"];
    assert_eq!(survivors(&dram, false), 0);
    assert_eq!(survivors(&dram, true), 8);
    assert_eq!(survivors(&[&dram[..], &["power.capacitors=on"]].concat(), false), 8);
}

#[test]
fn an_acknowledged_trim_survives() {
    let config = config(&["ftl.recovery.policy=scan"]);
    let mut device = device(&config);
    carry_out(&mut device, request(Op::Write, 0, 8));
    let trim = carry_out(&mut device, request(Op::Trim, 2, 2));
    // The trim is acknowledged when its page of the journal is on flash.
    assert!(trim.latency() >= Nanos(400_000), "{trim:?}");
    let (mut device, _) = cut(&config, device);
    for twice in 0..2 {
        let there = |page| device.ftl().look_up(Lpn::new(page)).is_some();
        let expected = [true, true, false, false, true, true, true, true];
        let found: Vec<bool> = (0..8).map(there).collect();
        assert_eq!(found, expected, "cut {twice}");
        (device, _) = cut(&config, device);
    }
}

#[test]
fn a_cut_during_recovery_changes_nothing() {
    let config = config(&[&ONE_DIE[..], &["ftl.recovery.policy=scan"]].concat());
    let mut device = device(&config);
    let pages = device.capacity_sectors() / SECTORS;
    let lies = |device: &Device| -> Vec<_> {
        (0..pages).map(|page| device.ftl().look_up(Lpn::new(page as u32))).collect()
    };
    let setup = || DeviceSetup::new(&config, 1);
    // Collection is at work, and at some time it leaves something to erase.
    let mut remains = (0..8 * pages).filter_map(|number| {
        carry_out(&mut device, request(Op::Write, number * 7 % pages, 1));
        let remains = device.clone().cut_power();
        let (whole, recovered) = power_up(setup(), (), remains.clone()).expect("its own remains");
        (recovered.erases > 0).then_some((remains, whole, recovered))
    });
    let (remains, whole, recovered) = remains.next().expect("something is to be erased");
    let eighths = |part: u64| Nanos(recovered.time.0 * part / 8);
    for part in 0..=9 {
        let again = remains.clone().interrupted(setup(), eighths(part)).expect("its own remains");
        assert_eq!(again.at, remains.at + eighths(part.min(8)), "{part} eighths of a recovery");
        let (device, after) = power_up(setup(), (), again.clone()).expect("its own remains");
        assert_eq!(lies(&device), lies(&whole), "{part} eighths of a recovery");
        assert_eq!(after.found.pages, recovered.found.pages);
        // Erases come last.
        let half_erased = after.found.half_erased;
        match part {
            0 => assert_eq!(half_erased, recovered.found.half_erased),
            1..8 => assert!(half_erased >= recovered.found.half_erased, "{after:?}"),
            _ => {
                assert!(half_erased >= recovered.erases, "{after:?} {recovered:?}");
                // Another cut: the same blocks are half erased, and none counts twice.
                let twice = again.interrupted(setup(), after.time).expect("its own remains");
                let (_, after) = power_up(setup(), (), twice).expect("its own remains");
                assert_eq!(after.found.half_erased, half_erased);
            }
        }
    }
}

/// With capacitors DRAM is as safe as flash: nobody waits for programs, and a cut loses nothing.
#[test]
fn with_capacitors_flushes_and_forced_writes_wait_for_no_program() {
    let dram = ["cache.policy=lru", "cache.capacity=1MiB", "cache.latency=1us"];
    let times = |capacitors: &str| {
        let config = config(&[&["ftl.recovery.policy=scan", capacitors], &dram[..]].concat());
        let mut device = device(&config);
        carry_out(&mut device, request(Op::Write, 0, 1));
        let flush = carry_out(&mut device, request(Op::Flush, 0, 0)).latency();
        let forced = Request { fua: true, ..request(Op::Write, 1, 1) };
        let forced = carry_out(&mut device, forced).latency();
        let (device, _) = cut(&config, device);
        let there = |page| device.ftl().look_up(Lpn::new(page)).is_some();
        assert!(there(0) && there(1), "{capacitors}");
        [flush, forced]
    };
    let program = Nanos(400_000);
    assert!(times("power.capacitors=off").iter().all(|&time| time >= program));
    assert!(times("power.capacitors=on").iter().all(|&time| time <= Nanos(2_000)));
}

/// The last flush passes the front end like a host's flush, even if no other command may enter beside it.
#[test]
fn capacitors_save_what_was_acknowledged_behind_a_front_end() {
    let dram = ["cache.policy=lru", "cache.capacity=1MiB", "power.capacitors=on"];
    let fronts = [
        "host.outstanding=1",
        "host.outstanding=2",
        "host.link.rate=1GB/s",
        "host.completion_time=5us",
        "host.interrupt.delay=100us",
    ];
    for front in fronts {
        let config = config(&[&["ftl.recovery.policy=scan", front], &dram[..]].concat());
        let mut device = device(&config);
        let told = carry_out(&mut device, request(Op::Write, 0, 4)).latency();
        assert!(told < Nanos(400_000), "{front}: in DRAM alone, {told:?}");
        // These still wait when the power fails.
        for page in 4..8 {
            device.submit(device.now(), request(Op::Write, page, 1));
        }
        let remains = device.cut_power();
        assert_eq!(remains.lost_pages, 0, "{front}");
        let (device, _) =
            power_up(DeviceSetup::new(&config, 1), (), remains).expect("its own remains");
        let found = (0..4).filter(|&page| device.ftl().look_up(Lpn::new(page)).is_some());
        assert_eq!(found.count(), 4, "{front}");
    }
}

/// Nobody waits for the end of the last flush: the device is kept up for its programs, and not until an interrupt.
#[test]
fn the_last_flush_needs_no_interrupt() {
    let hold_up = |front: &[&str]| {
        let dram = ["cache.policy=lru", "cache.capacity=1MiB", "power.capacitors=on"];
        let config = config(&[&["ftl.recovery.policy=scan"], &dram[..], front].concat());
        let mut device = device(&config);
        carry_out(&mut device, request(Op::Write, 0, 4));
        device.cut_power().hold_up
    };
    let interrupts = [
        "host.completion_time=1ms",
        "host.interrupt.coalesce=9",
        "host.interrupt.coalesce_time=10ms",
    ];
    assert!(hold_up(&[]) > Nanos::ZERO);
    assert_eq!(hold_up(&interrupts), hold_up(&[]));
}

/// Log maps and maps of shared pages are recovered: each page is where it was, and the device continues.
#[test]
fn logs_and_shared_pages_are_recovered_in_place() {
    /// A prime that divides no number of pages here, so that every page is reached.
    const STRIDE: u64 = 7919;
    let logs = ["ftl.mapping.policy=log-block"];
    let shared = [
        "ftl.mapping.policy=reconstruction",
        "ftl.over_provisioning=200%",
        "cache.policy=lru",
        "cache.capacity=64KiB",
    ];
    for sets in [&logs[..], &shared] {
        let config = config(&[&["ftl.recovery.policy=scan"], sets].concat());
        let mut device = device(&config);
        let pages = device.capacity_sectors() / SECTORS;
        let write = |device: &mut Device, number: u64| {
            // Partial pages, so that they are packed if the policy packs.
            let part = Request { sectors: 2, ..request(Op::Write, number * STRIDE % pages, 1) };
            carry_out(device, part);
        };
        (0..pages / 2).for_each(|number| write(&mut device, number));
        carry_out(&mut device, request(Op::Flush, 0, 0));
        let lie = |device: &Device| -> Vec<_> {
            (0..pages).map(|page| device.ftl().look_up(Lpn::new(page as u32))).collect()
        };
        let before = lie(&device);
        assert!(before.iter().flatten().count() as u64 >= pages / 2, "{sets:?}");
        let (mut device, _) = cut(&config, device);
        assert!(before == lie(&device), "{sets:?}");
        (0..pages).for_each(|number| write(&mut device, number));
        carry_out(&mut device, request(Op::Flush, 0, 0));
        assert_eq!(lie(&device).iter().flatten().count() as u64, pages, "{sets:?}");
    }
}
