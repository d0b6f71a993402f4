//! Word lines that are programmed at once, to the nanosecond: programs and reads of each of their pages, rows over two
//! planes, blocks in SLC mode, collection, what a power cut tears, and the rates in closed form.
//!
//! Pages have 4 KiB, which the bus moves in 10 us. A word line has three of them, one for each bit.

use ftlab::config::{Config, Layer};
use ftlab::device::{Device, DeviceSetup, assemble, power_up};
use ftlab::host::{Host, Op, Request};
use ftlab::nand::{Draws, Kind};
use ftlab::scheduler::Origin;
use ftlab::units::{BlockId, Bytes, Lpn, Microwatts, Nanos, SimTime};

use crate::common::{BLOCKS, ONE_BIT, Spec, alone, closed_loop, request};

/// 4 KiB at 409.6 MB/s.
const PAGE: u64 = 10_000;
/// 1 KiB, a codeword.
const CODEWORD: u64 = 2_500;
/// The pages of a word line.
const READS: [u64; 3] = [40_000, 55_000, 85_000];
/// The word line.
const PROGRAM: u64 = 1_500_000;
const PAGES: u64 = 3;

fn word_lines() -> Spec {
    Spec::small().set(BLOCKS, 64).with(
        r#"nand.program_unit = word-line
        nand.timing.policy = page-type
        nand.timing.read_by_type = ["40us", "55us", "85us"]
        nand.timing.program_by_type = ["1500us"]"#,
    )
}

/// The same with pages of 16 KiB, four mapping units each.
fn large() -> Spec {
    word_lines().set("nand.page_size", "16KiB")
}

/// The latency of a request for `pages` pages of 4 KiB on an idle device.
fn takes(device: &mut Device, op: Op, first: u64, pages: u32) -> u64 {
    alone(device, request(op, first * 8, pages * 8, 0)).latency().0
}

#[test]
fn a_word_line_is_programmed_at_once_and_read_page_by_page() {
    let spec = word_lines();
    let shape = spec.shape();
    assert_eq!((shape.page_size, shape.pages_per_block), (Bytes::from_kib(12), 4));
    let mut device = assemble(spec.setup());
    assert_eq!(takes(&mut device, Op::Write, 0, 3), PAGES * PAGE + PROGRAM);
    for (page, sense) in (0..).zip(READS) {
        assert_eq!(takes(&mut device, Op::Read, page, 1), sense + PAGE, "page {page}");
        // Three sectors touch two codewords.
        let part = alone(&mut device, request(Op::Read, page * 8, 3, 0));
        assert_eq!(part.latency().0, sense + 2 * CODEWORD, "page {page}");
    }
    // The die senses the next page when the last one has left.
    let [lower, middle, upper] = READS;
    assert_eq!(takes(&mut device, Op::Read, 0, 2), lower + middle + 2 * PAGE);
    assert_eq!(takes(&mut device, Op::Read, 1, 2), middle + upper + 2 * PAGE);
    assert_eq!(takes(&mut device, Op::Read, 0, 3), lower + middle + upper + 3 * PAGE);
    // What is not there is programmed as padding.
    assert_eq!(takes(&mut device, Op::Write, 9, 1), PAGES * PAGE + PROGRAM);
    assert_eq!(device.ftl_counts().padding, 2);
}

/// Twelve mapping units in 48 KiB: no power of two.
#[test]
fn units_on_one_page_are_sensed_once() {
    let mut device = assemble(large().setup());
    assert_eq!(takes(&mut device, Op::Write, 0, 12), 12 * PAGE + PROGRAM);
    for unit in 0..12 {
        let sense = READS[unit as usize / 4];
        assert_eq!(takes(&mut device, Op::Read, unit, 1), sense + PAGE, "unit {unit}");
    }
    assert_eq!(takes(&mut device, Op::Read, 4, 4), READS[1] + 4 * PAGE);
    assert_eq!(takes(&mut device, Op::Read, 3, 6), READS.iter().sum::<u64>() + 6 * PAGE);
    assert_eq!(device.ftl().audit(), Ok(()));
}

#[test]
fn a_part_of_a_page_is_completed_by_its_own_sense() {
    let mut device = assemble(word_lines().setup());
    takes(&mut device, Op::Write, 0, 3);
    for (page, sense) in (0..).zip(READS) {
        let write = alone(&mut device, request(Op::Write, page * 8 + 2, 1, 0));
        assert_eq!(write.latency().0, sense + PAGE + PAGES * PAGE + PROGRAM, "page {page}");
        // The new copy is the first of its word line; put things back as they were.
        takes(&mut device, Op::Write, 0, 3);
    }
}

/// Without page types, each page that is sensed takes the same time.
#[test]
fn a_plain_time_is_that_of_each_page() {
    let spec = word_lines().set("nand.timing.policy", "plain");
    let spec = spec.with("nand.timing.read = 50us\n nand.timing.program = 1500us");
    let mut device = assemble(spec.setup());
    assert_eq!(takes(&mut device, Op::Write, 0, 3), PAGES * PAGE + PROGRAM);
    assert_eq!(takes(&mut device, Op::Read, 0, 3), PAGES * (50_000 + PAGE));
}

/// A read cache keeps whole flash pages: it senses all of them, one after the other.
#[test]
fn a_read_cache_brings_the_word_line() {
    let spec = word_lines().with("cache.read.policy = lru\n cache.read.capacity = 64KiB");
    let mut device = assemble(spec.setup());
    takes(&mut device, Op::Write, 0, 3);
    assert_eq!(takes(&mut device, Op::Read, 1, 1), READS.iter().sum::<u64>() + PAGES * PAGE);
    assert_eq!(takes(&mut device, Op::Read, 0, 1), device_latency());
}

/// What a read takes that DRAM serves.
fn device_latency() -> u64 {
    crate::common::DRAM.0
}

fn two_planes() -> Spec {
    large().with(
        "nand.planes_per_die = 2
        nand.multi_plane.program = on
        nand.multi_plane.read = on
        nand.multi_plane.gap = 0ns",
    )
}

/// 96 KiB are programmed at once.
#[test]
fn two_planes_program_two_word_lines() {
    let mut device = assemble(two_planes().setup());
    assert_eq!(takes(&mut device, Op::Write, 0, 24), 24 * PAGE + PROGRAM);
    assert_eq!(device.flash().overlaps().multi_plane[Kind::Program as usize], 1);
}

/// Planes that sense together sense pages of one type.
#[test]
fn planes_share_a_sense_of_the_same_page() {
    let late = |unit| {
        let mut device = assemble(two_planes().setup());
        takes(&mut device, Op::Write, 0, 24);
        let start = device.now();
        let read = |unit: u64| request(Op::Read, unit * 8, 8, unit as u32);
        // While the first one is sensed, the others wait for the die.
        let done = closed_loop(&mut device, 3, [read(8), read(0), read(unit)]);
        done.iter().map(|done| (done.finished - start).0).collect::<Vec<_>>()
    };
    let [lower, middle, upper] = READS;
    let first = upper + PAGE;
    let both = first + lower + PAGE;
    assert_eq!(late(12), [first, both, both + PAGE]);
    assert_eq!(late(16), [first, both, both + middle + PAGE]);
}

/// Blocks with one bit per cell are filled with three pages at a time, one program after the other.
#[test]
fn blocks_in_slc_mode_are_programmed_page_by_page() {
    let spec = word_lines().set("ftl.slc_cache.policy", "static");
    let mut device = assemble(spec.setup());
    assert_eq!(takes(&mut device, Op::Write, 0, 3), PAGES * (PAGE + ONE_BIT.program.0));
    for page in 0..3 {
        assert_eq!(takes(&mut device, Op::Read, page, 1), ONE_BIT.read.0 + PAGE);
    }
}

/// Collection senses the pages that hold something, and programs whole word lines.
#[test]
fn collection_senses_what_is_valid() {
    let mut device = assemble(word_lines().set(BLOCKS, 16).setup());
    let pages = device.capacity_sectors() / 8;
    let word_lines = pages / 3;
    let write = |first: u64, pages: u32| request(Op::Write, first * 8, 8 * pages, 0);
    closed_loop(&mut device, 1, (0..word_lines).map(|line| write(3 * line, 3)));
    // All but the last page of each word line are overwritten, which leaves what the slowest read brings.
    closed_loop(&mut device, 1, (0..word_lines).map(|line| write(3 * line, 2)));
    let reads = device.flash().done()[Origin::Gc as usize][Kind::Read as usize];
    assert!(reads > 20, "{reads} copies");
    // At one watt, energy is time.
    let watt = Draws { read: Microwatts(1_000_000), ..Draws::NONE };
    let sensed = watt.energy_of(&device.flash().energy_meter().cells, Nanos::ZERO).read;
    assert_eq!(sensed, watt.read.joules_in(reads * READS[2]));
    assert_eq!(device.ftl().audit(), Ok(()));
}

const COUNT: u32 = 40;

/// Planes x bits x page / tPROG, if the bus works beside the cells.
#[test]
fn the_write_ceiling_is_that_of_word_lines() {
    let spec = two_planes().set("nand.cache_ops.program", "on").set("nand.cache_ops.busy", "0ns");
    let mut device = assemble(spec.setup());
    let rows = (0..COUNT).map(|row| request(Op::Write, u64::from(row) * 192, 192, row));
    closed_loop(&mut device, 8, rows);
    let row = 24 * PAGE;
    assert_eq!(device.now().0, row + u64::from(COUNT) * PROGRAM);
    // Without cache programs the die waits for the data.
    let mut device = assemble(two_planes().setup());
    let rows = (0..COUNT).map(|row| request(Op::Write, u64::from(row) * 192, 192, row));
    closed_loop(&mut device, 8, rows);
    assert_eq!(device.now().0, u64::from(COUNT) * (row + PROGRAM));
}

/// Reads in order: the mean time of a sense and the bus, or the bus alone if enough dies share it.
#[test]
fn the_read_ceiling_is_that_of_pages_or_of_the_bus() {
    let time = |dies: u64| {
        let mut device = assemble(large().set("nand.dies_per_chip", dies).setup());
        let of = |op| {
            let line = move |line: u32| request(op, u64::from(line) * 96, 96, line);
            (0..COUNT).map(line)
        };
        closed_loop(&mut device, 64, of(Op::Write));
        let start = device.now();
        closed_loop(&mut device, 64, of(Op::Read));
        (device.now() - start).0
    };
    let line = READS.iter().sum::<u64>() + 12 * PAGE;
    assert_eq!(time(1), u64::from(COUNT) * line);
    // Four dies sense in 40 to 85 us while the bus moves three other pages of 16 KiB in 120 us. It serves the word line
    // that came first, so the last one is alone in the end, and the bus waits for its last page.
    assert_eq!(time(4), READS[0] + u64::from(COUNT) * 12 * PAGE + READS[2]);
}

/// A torn program takes all pages of its word line with it: the host finds what was there before.
#[test]
fn a_torn_word_line_loses_all_its_pages() {
    let sets = [
        "nand.cell=tlc",
        "nand.pages_per_block=12",
        "nand.program_unit=word-line",
        "nand.timing.program=1500us",
        "ftl.recovery.policy=scan",
        "ftl.over_provisioning=60%",
        "cache.policy=none",
    ];
    let sets = sets.iter().enumerate().map(|(number, set)| Layer::set(number, set));
    let layers: Vec<_> = std::iter::once(Layer::preset("tiny")).chain(sets).collect();
    let config = Config::load(&layers).unwrap_or_else(|error| panic!("{:?}", error.problems));
    let mut device = assemble(DeviceSetup::new(&config, 1));
    let units = device.flash().geometry().units_per_page();
    assert_eq!(units % 3, 0);
    let write = request(Op::Write, 0, 8 * units, 0);
    alone(&mut device, write);
    let old = device.ftl().look_up(Lpn::new(0));
    device.submit(device.now(), write);
    let until = SimTime(device.now().0 + 1_400_000);
    device.advance_until(until, &mut Vec::new());
    let (device, found) =
        power_up(DeviceSetup::new(&config, 1), (), device.cut_power()).expect("its own remains");
    assert_eq!(found.found.torn, 1);
    assert_eq!(device.ftl().look_up(Lpn::new(0)), old);
    let valid: u32 = (0..device.flash().geometry().blocks())
        .map(|block| device.ftl().blocks().valid(BlockId::new(block)))
        .sum();
    assert_eq!(valid, units, "no page of the torn word line counts");
}

/// What can't be done is refused, with a remedy.
#[test]
fn what_has_no_meaning_is_refused() {
    let refused = |spec: Spec| {
        let error = spec.load().expect_err("it is refused");
        let problems: Vec<_> = error.problems.iter().map(|problem| problem.path.clone()).collect();
        problems.join(", ")
    };
    assert_eq!(refused(word_lines().set("nand.pages_per_block", 13)), "nand.pages_per_block");
    assert_eq!(refused(word_lines().set("nand.pages_per_block", 9)), "nand.pages_per_block");
    let three = r#"["300us", "700us", "1900us"]"#;
    let spec = word_lines().set("nand.timing.program_by_type", three);
    assert_eq!(refused(spec), "nand.timing.program_by_type");
    assert_eq!(refused(word_lines().set("ftl.mapping.unit", "flash-page")), "ftl.mapping.unit");
    // Cells with one bit have word lines of one page.
    let slc = word_lines().set("nand.cell", "slc").set("nand.timing.policy", "plain");
    assert_eq!(slc.shape().page_size, Bytes::from_kib(4));
}

/// A word line of two bits is a power of two: it can be mapped as a whole, and is sensed as far as it is wanted.
#[test]
fn a_word_line_may_be_the_mapping_unit() {
    let spec = word_lines().with(
        r#"nand.cell = mlc
        ftl.mapping.unit = flash-page
        nand.timing.read_by_type = ["40us", "55us"]"#,
    );
    let mut device = assemble(spec.setup());
    assert_eq!(takes(&mut device, Op::Write, 0, 2), 2 * PAGE + PROGRAM);
    assert_eq!(takes(&mut device, Op::Read, 0, 1), READS[0] + PAGE);
    assert_eq!(takes(&mut device, Op::Read, 1, 1), READS[1] + PAGE);
    assert_eq!(takes(&mut device, Op::Read, 0, 2), READS[0] + READS[1] + 2 * PAGE);
}

/// Pages that are no power of two, programmed as pages.
#[test]
fn pages_may_have_any_whole_number_of_units() {
    let spec = Spec::small().set(BLOCKS, 64).set("nand.page_size", "12KiB");
    let mut device = assemble(spec.setup());
    assert_eq!(takes(&mut device, Op::Write, 0, 3), 3 * PAGE + 600_000);
    assert_eq!(takes(&mut device, Op::Read, 0, 3), 50_000 + 3 * PAGE);
    assert_eq!(takes(&mut device, Op::Read, 2, 1), 50_000 + PAGE);
    let requests = (0..2_000u64).map(|turn| {
        let first = turn * 7_919 % (device.capacity_sectors() / 8 - 5);
        let op = if turn % 3 == 0 { Op::Read } else { Op::Write };
        request(op, first * 8, 8 * (1 + turn as u32 % 5), turn as u32)
    });
    let requests: Vec<Request> = requests.collect();
    closed_loop(&mut device, 4, requests);
    assert_eq!(device.ftl().audit(), Ok(()));
    assert!(device.ftl_counts().gc_pages > 0);
    assert!(device.flash().done()[Origin::Gc as usize][Kind::Program as usize] > 0);
}

/// Time on the bus: page by page, even where that rounds up.
#[test]
fn pages_of_a_word_line_cross_the_bus_one_after_the_other() {
    let spec = word_lines().with("nand.bus.policy = page-time\n nand.bus.page = 40001ns");
    let bus = spec.setup().flash.bus;
    assert_eq!(bus.page_codewords(), 12);
    let times = [1, 4, 5, 8, 12].map(|codewords| bus.transfer(codewords));
    assert_eq!(times.map(|time: Nanos| time.0), [10_001, 40_001, 50_002, 80_002, 120_003]);
}
