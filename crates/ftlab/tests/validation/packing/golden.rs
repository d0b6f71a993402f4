//! One die and times that are easy to add: a flash page is read in 75 us, programmed in 815 us, and takes
//! 25 us on the bus; DRAM takes 1 us. Under PRLRU a write that evicts a partial page saves a flash read,
//! and a later read of a packed page pays for one.

use ftlab::device::{Device, assemble};
use ftlab::host::Op;
use ftlab::scheduler::{Kind, Origin};

use super::{SECTORS, spec};
use crate::common::{alone, request};

const US: u64 = 1_000;
const READ: u64 = 75 * US;
const PROGRAM: u64 = 815 * US;
const BUS: u64 = 25 * US;
const DRAM: u64 = US;

/// Two pages of DRAM, and pages 0 to 3 whole on flash.
fn device(policy: &str) -> Device {
    // One codeword a page: any part of it takes as long as the whole.
    let spec = spec().set("cache.policy", policy).with(
        "cache.latency = 1us
        nand.timing.read = 75us
        nand.timing.program = 815us
        nand.codeword = 4KiB
        nand.bus.policy = page-time
        nand.bus.page = 25us",
    );
    let mut device = assemble(spec.setup());
    for page in 0..4 {
        alone(&mut device, request(Op::Write, page * SECTORS, 8, 0));
    }
    alone(&mut device, request(Op::Flush, 0, 0, 0));
    device
}

/// The time of a command on the idle device.
fn time(device: &mut Device, op: Op, page: u64, first: u64, sectors: u32) -> u64 {
    alone(device, request(op, page * SECTORS + first, sectors, 0)).latency().0
}

/// Writes half a page into each page of DRAM, two more halves that need room, and reads what was evicted.
fn times(policy: &str) -> ([u64; 6], [u64; 3]) {
    let mut device = device(policy);
    let before = *device.flash().done();
    let times = [
        time(&mut device, Op::Write, 0, 0, 4),
        time(&mut device, Op::Write, 1, 4, 4),
        time(&mut device, Op::Write, 2, 0, 4),
        time(&mut device, Op::Write, 3, 0, 4),
        time(&mut device, Op::Read, 0, 0, 8),
        time(&mut device, Op::Read, 0, 0, 4),
    ];
    let done = |origin: Origin, kind: Kind| {
        device.flash().done()[origin as usize][kind as usize]
            - before[origin as usize][kind as usize]
    };
    let counts = [
        done(Origin::ReadModifyWrite, Kind::Read),
        done(Origin::Host, Kind::Program),
        done(Origin::Host, Kind::Read),
    ];
    (times, counts)
}

#[test]
fn an_evicting_write_saves_a_read_that_a_read_of_a_packed_page_pays_for() {
    let (lru, of_lru) = times("lru");
    // Each write that needs room waits for a read, which crosses the bus, and a program.
    let evicts = READ + BUS + BUS + PROGRAM + DRAM;
    assert_eq!(evicts, 941_000);
    assert_eq!(lru, [1_000, 1_000, 941_000, 941_000, 100_000, 100_000]);
    assert_eq!(of_lru, [2, 2, 2]);

    let (prlru, of_prlru) = times("prlru");
    // One program takes both pages, and makes room for both writes.
    assert_eq!(prlru, [1_000, 1_000, 841_000, 1_000, 200_000, 100_000]);
    assert_eq!(of_prlru, [0, 1, 3]);
    assert_eq!(lru[2] - prlru[2], READ + BUS);
}
