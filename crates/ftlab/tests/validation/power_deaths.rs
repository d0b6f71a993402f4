//! Power cuts of devices whose dies die, by hand: what the index costs a write, what power-up reads without a die, and
//! that no older copy comes back, whether or not the death was noticed before.

use std::ops::Range;

use ftlab::config::{Config, Layer};
use ftlab::device::{Device, DeviceSetup, Recovered, assemble, power_up};
use ftlab::host::{Completion, Host, Op, Outcome, Request};
use ftlab::image::Resume;
use ftlab::units::{DieId, Lba, Lpn, Nanos, SimTime, Tpn};

/// Sectors of a page.
const SECTORS: u64 = 8;
/// When die 1 dies.
const DEATH: SimTime = SimTime(1_000_000_000);
const PROGRAM: u64 = 400_000;
const READ: u64 = 40_000;

/// Two dies on channels of their own, of which the second one dies. Even pages go to the first.
const SETS: [&str; 15] = [
    "nand.timing.read=40us",
    "nand.timing.program=400us",
    "nand.timing.erase=3ms",
    "nand.bus.command=0ns",
    "cache.policy=none",
    "nand.channels=2",
    "nand.chips_per_channel=1",
    "nand.dies_per_chip=1",
    "nand.planes_per_die=1",
    "nand.blocks_per_plane=64",
    "ftl.mapping.unit=flash-page",
    "ftl.over_provisioning=100%",
    "ftl.placement.policy=static",
    "ftl.recovery.policy=scan",
    "nand.faults.schedule=1s: die 1 dies",
];

struct Bench {
    config: Config,
    device: Device,
}

impl Bench {
    fn new(sets: &[&str]) -> Bench {
        let mut layers = vec![Layer::preset("tiny")];
        let sets = SETS.iter().chain(sets).enumerate();
        layers.extend(sets.map(|(number, set)| Layer::set(number, set)));
        let config = Config::load(&layers).unwrap_or_else(|error| panic!("{:?}", error.problems));
        let device = assemble(DeviceSetup::new(&config, 1).checking());
        Bench { config, device }
    }

    fn carry_out(&mut self, op: Op, page: u64) -> Completion {
        let lba = Lba(page * SECTORS);
        let request = Request { op, lba, sectors: SECTORS as u32, stream: 0, tag: 0, fua: false };
        self.device.submit(self.device.now(), request);
        let mut done = Vec::new();
        while self.device.requests_in_flight() > 0 {
            self.device.advance_until(SimTime::FOREVER, &mut done);
        }
        done.pop().expect("it ends")
    }

    fn write(&mut self, pages: Range<u64>) {
        for page in pages {
            assert_eq!(self.carry_out(Op::Write, page).outcome, Outcome::Done);
        }
    }

    fn until(&mut self, at: SimTime) {
        let mut done = Vec::new();
        self.device.advance_until(at, &mut done);
        assert_eq!(self.device.now(), at, "nothing is left to do");
    }

    fn cut(self) -> (Bench, Recovered) {
        let Bench { config, device } = self;
        let setup = DeviceSetup::new(&config, 1).checking();
        let (device, recovered) = power_up(setup, (), device.cut_power()).expect("its own remains");
        (Bench { config, device }, recovered)
    }

    fn outcomes(&mut self, pages: u64) -> Vec<Outcome> {
        (0..pages).map(|page| self.carry_out(Op::Read, page).outcome).collect()
    }

    /// The time of a whole page, or of one codeword, on a bus.
    fn transfers(&self) -> (u64, u64) {
        let bus = DeviceSetup::new(&self.config, 1).flash.bus;
        (bus.transfer(bus.page_codewords()).0, bus.transfer(1).0)
    }
}

/// A page counts when both copies of the index that name it are on flash, which are programmed at once.
#[test]
fn a_write_waits_for_the_index() {
    let mut bench = Bench::new(&[]);
    let (page, _) = bench.transfers();
    let write = bench.carry_out(Op::Write, 0);
    assert_eq!(write.latency(), Nanos(2 * (page + PROGRAM)));
    let parts = write.breakdown;
    assert_eq!(
        (parts.bus, parts.cell),
        (Nanos(2 * page), Nanos(2 * PROGRAM)),
        "nothing else waits"
    );
    let mut without = Bench::new(&["nand.faults.schedule=1s: page 0 is unreadable"]);
    assert_eq!(without.carry_out(Op::Write, 0).latency(), Nanos(page + PROGRAM));
}

/// Power-up reads the spare areas of the die that answers, and the index instead of the others.
#[test]
fn power_up_without_a_die_reads_the_index() {
    for written in [1, 2, 9] {
        let mut bench = Bench::new(&[]);
        let (page, codeword) = bench.transfers();
        bench.write(0..written);
        bench.until(DEATH);
        assert!(bench.device.ftl().dead_dies().is_empty(), "nothing has touched it yet");
        let (bench, recovered) = bench.cut();
        let on_first = written.div_ceil(2);
        let spares = 63 + on_first + 1;
        assert_eq!(recovered.spare_reads, spares + 1, "the other die is tried once");
        // Each write was alone, so each has a page of the index. One page lists the bad blocks.
        let system = 1 + written;
        assert_eq!(recovered.system_reads, system, "{written} pages written");
        let time = spares * (READ + codeword) + system * (READ + page);
        assert_eq!(recovered.time, Nanos(time), "{written} pages written");
        assert_eq!(recovered.found.pages, written);
        assert_eq!(bench.device.ftl().dead_dies(), [DieId::new(1)]);
        assert_eq!(bench.device.ftl().pages_on_dead_dies(), written / 2);
    }
}

/// Dynamic placement leaves older copies of a page on either die. What was newest on the dead one stays lost, after one
/// cut and after two, until it is written again.
#[test]
fn no_older_copy_comes_back() {
    const PAGES: u64 = 12;
    for (policy, noticed) in
        [("scan", false), ("scan", true), ("checkpoint", false), ("checkpoint", true)]
    {
        let policy = format!("ftl.recovery.policy={policy}");
        let sets = ["ftl.placement.policy=dynamic", "ftl.recovery.every=64KiB", &policy];
        let sets = if policy.ends_with("scan") { vec![sets[0], sets[2]] } else { sets.to_vec() };
        let mut bench = Bench::new(&sets);
        // An odd number in each round, so that a page's copies alternate.
        for round in 0..3 {
            bench.write(0..PAGES);
            bench.write(20..21 + round % 2);
        }
        bench.carry_out(Op::Trim, 3);
        bench.until(DEATH);
        if noticed {
            assert!(bench.outcomes(PAGES).contains(&Outcome::Unreadable));
        }
        let (mut bench, _) = bench.cut();
        let found = bench.outcomes(PAGES);
        let lost = found.iter().filter(|&&outcome| outcome == Outcome::Unreadable).count();
        assert!((4..=8).contains(&lost), "half of the pages were there: {lost}");
        assert_eq!(found[3], Outcome::Done, "a trimmed page reads as zeros");
        let (mut bench, _) = bench.cut();
        assert_eq!(bench.outcomes(PAGES), found, "as after the first cut");
        bench.write(0..PAGES);
        let (mut bench, _) = bench.cut();
        assert!(bench.outcomes(PAGES).iter().all(|&outcome| outcome == Outcome::Done));
    }
}

/// A page that was programmed, but not indexed, never counts: the older copy is there.
#[test]
fn what_is_not_indexed_does_not_count() {
    let mut bench = Bench::new(&[]);
    let (page, _) = bench.transfers();
    bench.carry_out(Op::Write, 0);
    let request = Request { op: Op::Write, lba: Lba(0), sectors: 8, stream: 0, tag: 0, fua: false };
    bench.device.submit(bench.device.now(), request);
    let programmed = bench.device.now() + Nanos(page + PROGRAM);
    let mut done = Vec::new();
    bench.device.advance_until(programmed + Nanos(1), &mut done);
    assert!(done.is_empty(), "it waits for the index");
    let before = bench.device.ftl().look_up(Lpn::new(0));
    let (bench, recovered) = bench.cut();
    assert_eq!(recovered.found.rolled_back, 1);
    assert_eq!(bench.device.ftl().look_up(Lpn::new(0)), before);
}

/// A page of the index that grows beyond two entries for each logical page is written anew, so it stays that long.
#[test]
fn the_index_stays_short() {
    let mut bench = Bench::new(&[]);
    let logical = u64::from(bench.device.ftl().logical_pages());
    let whole = (logical * 16).div_ceil(bench.config.shape().page_size.0);
    let most = 2 * whole;
    for write in 0..most + 5 {
        bench.carry_out(Op::Write, write % 2);
    }
    let (_, recovered) = bench.cut();
    assert_eq!(recovered.system_reads, 1 + most);
}

/// A map on flash whose second translation page lies on the dead die, with few entries in memory: recovery knows all places
/// by the spare areas and the index, and only data is lost. The translation page is written again, to the other die.
#[test]
fn no_entry_is_lost_with_a_translation_page() {
    for policy in ["scan", "checkpoint"] {
        let policy = format!("ftl.recovery.policy={policy}");
        let on_flash = [
            "ftl.mapping.policy=dftl",
            "ftl.mapping.cache=64B",
            "nand.faults.schedule=60s: die 1 dies",
        ];
        let dynamic = ["ftl.placement.policy=dynamic", "ftl.recovery.every=64KiB"];
        let sets =
            [&on_flash[..], &[&policy], if policy.ends_with("scan") { &[] } else { &dynamic }]
                .concat();
        let mut bench = Bench::new(&sets);
        let pages = u64::from(bench.device.ftl().logical_pages());
        let entries = bench.config.shape().page_size.0 / 4;
        assert!(entries < pages, "there is more than one translation page");
        bench.write(0..pages);
        let on_dead_die = |bench: &Bench, page: u32| {
            let ftl = bench.device.ftl();
            let at = ftl.look_up(Lpn::new(page)).expect("it was written");
            bench.device.flash().geometry().die_of_page(at) == DieId::new(1)
        };
        let dead: Vec<bool> = (0..pages as u32).map(|page| on_dead_die(&bench, page)).collect();
        let map = bench.device.ftl().map_on_flash().expect("the map is on flash");
        let parts = (0..map.translation_pages()).map(Tpn::new).flat_map(|of| map.pages_of(of));
        let parts: Vec<Lpn> =
            parts.filter(|&part| bench.device.ftl().look_up(part).is_some()).collect();
        assert!(parts.iter().any(|part| on_dead_die(&bench, part.get())), "{policy}");
        bench.until(SimTime(60_000_000_000));
        let (mut bench, _) = bench.cut();
        let found = bench.outcomes(pages);
        let lost: Vec<bool> = found.iter().map(|&it| it == Outcome::Unreadable).collect();
        assert_eq!(lost, dead, "{policy}");
        assert!(!parts.iter().any(|part| on_dead_die(&bench, part.get())), "{policy}");
    }
}

/// A device that was saved and is loaded has an index with an entry for each page that it holds, or a checkpoint.
#[test]
fn a_loaded_device_has_an_index() {
    const WRITTEN: u64 = 300;
    // 256 entries fit into a page. A checkpoint has a page for each 512 of the 2,048 logical pages, and one more.
    for (policy, pages) in [("scan", 2), ("checkpoint", 5)] {
        let mut bench = Bench::new(&[&format!("ftl.recovery.policy={policy}")]);
        bench.write(0..WRITTEN);
        bench.device.rest(&mut Vec::new()).unwrap();
        let mut loaded = assemble(DeviceSetup::new(&bench.config, 1).checking());
        loaded.load(&bench.device.save(), Resume::ALL).unwrap();
        let (bench, recovered) = Bench { config: bench.config, device: loaded }.cut();
        assert_eq!(recovered.found.pages, WRITTEN);
        // One page lists the bad blocks.
        assert_eq!(recovered.system_reads, 1 + pages, "{policy}");
        assert_eq!(bench.cut().1.system_reads, 1 + pages, "{policy}, after another cut");
    }
}

/// A checkpoint is taken when the first of three programs counts that share a page of the index. It does not hold the
/// others, so that page stays.
#[test]
fn a_checkpoint_leaves_the_index_what_it_does_not_hold() {
    let sets = ["ftl.recovery.policy=checkpoint", "ftl.recovery.every=64KiB"];
    let mut bench = Bench::new(&sets);
    let (page, _) = bench.transfers();
    bench.write(0..14);
    // Two programs on each die. The index names the first that ends, behind them all, and then the other three.
    let begin = bench.device.now();
    for page in 0..4 {
        let (lba, sectors) = (Lba(page * SECTORS), SECTORS as u32);
        let write = Request { op: Op::Write, lba, sectors, stream: 0, tag: 0, fua: false };
        bench.device.submit(begin, write);
    }
    let mut done = Vec::new();
    while bench.device.requests_in_flight() > 0 {
        bench.device.advance_until(SimTime::FOREVER, &mut done);
    }
    let ended: Vec<Nanos> = done.iter().map(|done| done.latency()).collect();
    let first = Nanos(2 * (page + PROGRAM) + page + PROGRAM);
    assert!(ended[0] <= first && ended[1] > first, "{ended:?}");
    assert!(ended[1] == ended[2] && ended[2] == ended[3], "three share a page: {ended:?}");
    // The second of the four was the sixteenth page since the start.
    bench.device.rest(&mut Vec::new()).unwrap();
    let (_, recovered) = bench.cut();
    assert_eq!(recovered.found.pages, 14);
    // The list of bad blocks, a checkpoint of two pages, and the last page of the index.
    assert_eq!(recovered.system_reads, 1 + 2 + 1);
    // It holds all of the index if the sixteenth was alone.
    let mut bench = Bench::new(&sets);
    bench.write(0..16);
    bench.device.rest(&mut Vec::new()).unwrap();
    assert_eq!(bench.cut().1.system_reads, 1 + 2);
}

/// With parity, what lay on a die that is found dead at power-up is computed, also after another cut: all but pages of
/// stripes that were not full, whose parity was in DRAM.
#[test]
fn parity_outlives_power_cuts_and_a_death() {
    const OPEN: usize = 4;
    for policy in ["scan", "checkpoint"] {
        let policy = format!("ftl.recovery.policy={policy}");
        let checkpoints = ["ftl.recovery.every=64KiB"];
        let parity = [
            "nand.chips_per_channel=2",
            "ftl.parity.policy=dies",
            "ftl.parity.width=4",
            "ftl.placement.policy=dynamic",
            "nand.faults.schedule=60s: die 1 dies",
        ];
        let more = if policy.ends_with("scan") { &[][..] } else { &checkpoints };
        let mut bench = Bench::new(&[&parity[..], &[&policy], more].concat());
        let pages = u64::from(bench.device.ftl().logical_pages());
        bench.write(0..pages);
        // Parts of it again, so that stripes hold stale pages, too.
        (0..pages).step_by(7).for_each(|page| bench.write(page..page + 1));
        let on_die = |page: u32| {
            let at = bench.device.ftl().look_up(Lpn::new(page)).expect("it was written");
            bench.device.flash().geometry().die_of_page(at) == DieId::new(1)
        };
        let on_die: Vec<bool> = (0..pages as u32).map(on_die).collect();
        let there = on_die.iter().filter(|&&is_there| is_there).count();
        assert!(
            there as u64 > pages / 6,
            "a quarter of the pages, more or less: {there} of {pages}"
        );
        bench.until(SimTime(60_000_000_000));
        let (mut bench, _) = bench.cut();
        let found = bench.outcomes(pages);
        let lost: Vec<usize> =
            (0..found.len()).filter(|&page| found[page] == Outcome::Unreadable).collect();
        assert!(lost.iter().all(|&page| on_die[page]), "{policy}: {lost:?}");
        assert!(lost.len() <= OPEN, "{policy}: {lost:?}");
        let (mut bench, _) = bench.cut();
        assert_eq!(bench.outcomes(pages), found, "{policy}, after another cut");
    }
}
