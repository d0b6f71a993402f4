//! The latency of each operation on an idle device, to the nanosecond: sums of array and bus times,
//! without tolerance, and a full breakdown of each latency.
//!
//! The bus moves 409.6 MB/s, so a codeword of 1 KiB takes 2.5 us, 4 KiB take 10 us, 16 KiB take 40 us.

use ftlab::device::{Device, assemble};
use ftlab::host::{Breakdown, Host, Op};
use ftlab::units::Nanos;

use crate::common::{DRAM, PAGE_TIMES, PROGRAM, READ, Spec, alone, closed_loop, fill, request};

const CODEWORD: Nanos = Nanos(2_500);
const UNIT: Nanos = Nanos(10_000);

fn times(span: Nanos, count: u64) -> Nanos {
    Nanos(span.0 * count)
}

/// A device whose first 48 pages are written and on flash.
fn filled(spec: &Spec) -> Device {
    let mut device = assemble(spec.setup());
    fill(&mut device, 1, 0..48, spec.sectors_per_page());
    alone(&mut device, request(Op::Flush, 0, 0, 0));
    device
}

/// The time of one command on the idle device; asserts that the breakdown adds up to it.
fn time_of(device: &mut Device, op: Op, lba: u64, sectors: u32) -> Breakdown {
    let completion = alone(device, request(op, lba, sectors, 0));
    assert_eq!(completion.breakdown.total(), completion.latency(), "{completion:?}");
    completion.breakdown
}

fn flash(cell: Nanos, bus: Nanos) -> Breakdown {
    Breakdown { cell, bus, ..Breakdown::default() }
}

const IN_DRAM: Breakdown = Breakdown {
    submission: Nanos::ZERO,
    front_end: Nanos::ZERO,
    link: Nanos::ZERO,
    buffer: DRAM,
    admission: Nanos::ZERO,
    translation: Nanos::ZERO,
    queue: Nanos::ZERO,
    gc: Nanos::ZERO,
    bus: Nanos::ZERO,
    cell: Nanos::ZERO,
};

#[test]
fn a_read_senses_once_and_moves_whole_codewords() {
    let mut device = filled(&Spec::small());
    let mut read = |lba, sectors| time_of(&mut device, Op::Read, lba, sectors);
    assert_eq!(read(0, 8), flash(READ, UNIT), "a page");
    assert_eq!(read(16, 1), flash(READ, CODEWORD), "a sector");
    assert_eq!(read(16, 2), flash(READ, CODEWORD), "two sectors of one codeword");
    assert_eq!(read(17, 2), flash(READ, times(CODEWORD, 2)), "two sectors of two codewords");
    assert_eq!(read(19, 4), flash(READ, times(CODEWORD, 3)), "sectors 3 to 6: codewords 1 to 3");
}

#[test]
fn what_was_never_written_is_known_without_flash() {
    let mut device = filled(&Spec::small());
    assert_eq!(time_of(&mut device, Op::Read, 60 * 8, 8), IN_DRAM);
}

#[test]
fn pages_on_one_die_follow_each_other() {
    let mut device = filled(&Spec::small());
    let completion = alone(&mut device, request(Op::Read, 0, 16, 0));
    assert_eq!(completion.latency(), Nanos(2 * (READ.0 + UNIT.0)));
    let queue = READ + UNIT;
    assert_eq!(completion.breakdown, Breakdown { queue, ..flash(READ, UNIT) });
}

#[test]
fn pages_on_dies_of_one_channel_share_the_bus_only() {
    let spec = Spec::small().set("nand.dies_per_chip", 3);
    let mut device = filled(&spec);
    let read = time_of(&mut device, Op::Read, 0, 24);
    assert_eq!(read, Breakdown { queue: times(UNIT, 2), ..flash(READ, UNIT) });
    let write = time_of(&mut device, Op::Write, 0, 24);
    assert_eq!(write, Breakdown { queue: times(UNIT, 2), ..flash(PROGRAM, UNIT) });
}

#[test]
fn pages_on_channels_of_their_own_share_nothing() {
    let spec = Spec::small().set("nand.channels", 4);
    let mut device = filled(&spec);
    assert_eq!(time_of(&mut device, Op::Read, 0, 32), flash(READ, UNIT));
    assert_eq!(time_of(&mut device, Op::Write, 0, 32), flash(PROGRAM, UNIT));
    // A fifth page goes to the first channel again.
    let latency = |completion: Breakdown| completion.total();
    assert_eq!(latency(time_of(&mut device, Op::Read, 0, 40)), Nanos(2 * (READ.0 + UNIT.0)));
}

#[test]
fn a_write_without_buffer_takes_the_bus_and_the_cells() {
    let mut device = filled(&Spec::small());
    assert_eq!(time_of(&mut device, Op::Write, 0, 8), flash(PROGRAM, UNIT), "over old data");
    assert_eq!(time_of(&mut device, Op::Write, 50 * 8, 8), flash(PROGRAM, UNIT), "new");
    // Nothing to read on flash, but a whole flash page is programmed all the same.
    assert_eq!(time_of(&mut device, Op::Write, 52 * 8, 1), flash(PROGRAM, UNIT), "a new sector");
    // Covers everything on flash, so nothing is read.
    assert_eq!(time_of(&mut device, Op::Write, 52 * 8, 2), flash(PROGRAM, UNIT), "covered");
}

#[test]
fn a_partial_write_reads_the_page_first() {
    let mut device = filled(&Spec::small());
    let latency = READ.0 + UNIT.0 + UNIT.0 + PROGRAM.0;
    let completion = alone(&mut device, request(Op::Write, 3, 1, 0));
    assert_eq!(completion.latency(), Nanos(latency));
    let merged = Breakdown { cell: READ + PROGRAM, bus: times(UNIT, 2), ..Breakdown::default() };
    assert_eq!(completion.breakdown, merged);
}

#[test]
fn small_mapping_units_share_a_flash_page() {
    let spec = Spec::small().set("nand.page_size", "16KiB");
    let whole = times(UNIT, 4);
    let mut device = assemble(spec.setup());
    assert_eq!(time_of(&mut device, Op::Write, 0, 32), flash(PROGRAM, whole), "four units");
    assert_eq!(time_of(&mut device, Op::Read, 0, 32), flash(READ, whole), "sensed once");
    assert_eq!(time_of(&mut device, Op::Read, 8, 16), flash(READ, times(UNIT, 2)), "two of them");
    assert_eq!(time_of(&mut device, Op::Read, 15, 2), flash(READ, times(CODEWORD, 2)), "an edge");
    // One unit is written: no read-modify-write; the rest of the flash page is padding.
    assert_eq!(time_of(&mut device, Op::Write, 0, 8), flash(PROGRAM, whole), "one unit");
    assert_eq!(device.ftl_counts().padding, 3);
    // The units now lie on two flash pages of one die, which are read one after the other.
    let latency = time_of(&mut device, Op::Read, 0, 32).total();
    assert_eq!(latency, Nanos(2 * READ.0 + whole.0));
}

#[test]
fn dram_answers_at_once_with_a_write_buffer() {
    let spec = Spec::small().buffered("lru", 64);
    let mut device = assemble(spec.setup());
    assert_eq!(time_of(&mut device, Op::Write, 0, 16), IN_DRAM, "a write");
    assert_eq!(time_of(&mut device, Op::Read, 3, 9), IN_DRAM, "a read of it");
    // The flush starts the write-back of both pages of the die at once.
    let flush = time_of(&mut device, Op::Flush, 0, 0);
    assert_eq!(flush, Breakdown { queue: PROGRAM + UNIT, ..flash(PROGRAM, UNIT) });
    assert_eq!(time_of(&mut device, Op::Flush, 0, 0), IN_DRAM, "nothing to flush");
    assert_eq!(time_of(&mut device, Op::Read, 0, 8), flash(READ, UNIT), "on flash now");
    assert_eq!(time_of(&mut device, Op::Trim, 0, 16), IN_DRAM, "a trim");
    assert_eq!(time_of(&mut device, Op::Read, 0, 16), IN_DRAM, "nothing is left");
}

#[test]
fn a_full_buffer_lets_a_write_in_when_a_page_has_left() {
    let spec = Spec::small().buffered("lru", 1);
    let mut device = assemble(spec.setup());
    let writes = (0..2).map(|page| request(Op::Write, u64::from(page) * 8, 8, page));
    let done = closed_loop(&mut device, 2, writes);
    let waited = UNIT + PROGRAM;
    let expected = Breakdown { admission: waited, ..IN_DRAM };
    assert_eq!((done[0].breakdown, done[1].breakdown), (IN_DRAM, expected));
}

/// 4 KiB at 4.096 MB/s are a write in 1 ms. A burst of one is ahead, and what is no write is not held back.
#[test]
fn paced_writes_come_in_at_their_rate() {
    let spec = Spec::small()
        .buffered("lru", 8)
        .set("firmware.pacing.program", "4096kB/s")
        .set("firmware.pacing.burst", "4KiB");
    let mut device = assemble(spec.setup());
    let ops = [Op::Write, Op::Write, Op::Write, Op::Trim, Op::Write];
    let requests = (0..).zip(ops).map(|(page, op)| request(op, u64::from(page) * 8, 8, page));
    let mut done = closed_loop(&mut device, 5, requests);
    done.sort_by_key(|completion| completion.request.tag);
    const EACH: Nanos = Nanos(1_000_000);
    let waited: Vec<_> = done.iter().map(|completion| completion.breakdown.admission).collect();
    assert_eq!(waited, [0, 0, 1, 0, 2].map(|count| times(EACH, count)));
    let all =
        |completion: &ftlab::host::Completion| (completion.breakdown.total(), completion.latency());
    assert!(done.iter().map(all).all(|(total, latency)| total == latency), "{done:?}");
}

#[test]
fn page_types_have_times_of_their_own() {
    let spec = Spec::small().set("nand.timing.policy", "page-type");
    let mut device = assemble(spec.setup());
    for page in 0..24 {
        let times = PAGE_TIMES[page as usize % 3];
        let write = time_of(&mut device, Op::Write, page * 8, 8);
        assert_eq!(write, flash(times.program, UNIT), "program of page {page}");
        let read = time_of(&mut device, Op::Read, page * 8, 8);
        assert_eq!(read, flash(times.read, UNIT), "read of page {page}");
    }
}

#[test]
fn time_stands_still_for_whoever_waits() {
    let mut device = filled(&Spec::small());
    let before = device.now();
    device.submit(before, request(Op::Read, 0, 8, 1));
    let mut done = Vec::new();
    device.advance_until(before + Nanos(READ.0 + UNIT.0 - 1), &mut done);
    assert!(done.is_empty());
    device.advance_until(before + READ + UNIT, &mut done);
    assert_eq!(done.len(), 1, "an event at the limit is run");
}

/// Without a buffer nothing absorbs a write: each version of a page is programmed, one after another.
#[test]
fn without_a_buffer_each_version_of_a_page_is_programmed() {
    const WRITES: u64 = 64;
    let mut device = assemble(Spec::small().setup());
    let writes = (0..WRITES).map(|tag| request(Op::Write, 0, 8, tag as u32));
    let done = closed_loop(&mut device, WRITES as usize, writes);
    assert_eq!(device.ftl_counts().host_pages, WRITES);
    let tags: Vec<u32> = done.iter().map(|completion| completion.request.tag).collect();
    assert_eq!(tags, (0..WRITES as u32).collect::<Vec<_>>(), "versions finish in their order");
}
