//! The energy of timelines drawn by hand: power times the time that cells and buses work.

use ftlab::nand::{Abilities, Draws, Energy, MultiPlane};
use ftlab::scheduler::{Kind, Pausable};
use ftlab::units::{Microwatts, Nanos, SimTime};

use crate::table::{Set, Table, US, at, plain, suspending};

/// Powers in different decades, so that none can stand for another.
const DRAWS: Draws = Draws {
    read: Microwatts(1_000),
    program: Microwatts(10_000),
    erase: Microwatts(100_000),
    transfer: Microwatts(1_000_000),
};

fn drawing(set: Set) -> Set {
    Set { abilities: Abilities { draws: DRAWS, ..set.abilities }, ..set }
}

/// The energy of cells that worked for some microseconds by kind, and of a bus.
fn energy(read_us: u64, program_us: u64, erase_us: u64, transfer_us: u64) -> Energy {
    let of = |power: Microwatts, us: u64| power.joules_in(us * US);
    Energy {
        read: of(DRAWS.read, read_us),
        program: of(DRAWS.program, program_us),
        erase: of(DRAWS.erase, erase_us),
        transfer: of(DRAWS.transfer, transfer_us),
    }
}

/// The energy of a timeline that is over.
fn drawn(table: &Table) -> Energy {
    let meter = table.flash.energy_meter();
    let buses = table.flash.channel_busy(SimTime(9_000 * US)).map(|busy| busy.0).sum();
    meter.draws.energy_of(&meter.cells, Nanos(buses))
}

#[test]
fn each_operation_draws_for_as_long_as_it_takes() {
    let mut table = Table::new(drawing(plain()));
    table.put(0, "p", Kind::Program, at(0, 0, 0)).put(700, "r", Kind::Read, at(0, 0, 0));
    table.put(800, "s", Kind::Read, at(0, 0, 0)).put(900, "e", Kind::Erase, at(0, 1, 0));
    table.done();
    // Sensing takes 50 us, programming 600 us, erasing 3 ms, each transfer 10 us.
    assert_eq!(drawn(&table), energy(100, 600, 3_000, 30));
}

#[test]
fn planes_that_work_together_draw_as_one_die() {
    let multi_plane = MultiPlane { program: true, ..MultiPlane::NONE };
    let abilities = Abilities { multi_plane, ..Abilities::NONE };
    let mut table = Table::new(drawing(Set { planes: 2, abilities, ..plain() }));
    table.put(0, "before", Kind::Program, at(0, 1, 0));
    table.put(1, "p", Kind::Program, at(0, 0, 0)).put(1, "q", Kind::Program, at(1, 0, 0));
    table.done();
    // Two operations of 600 us, and the data of three pages.
    assert_eq!(drawn(&table), energy(0, 1_200, 0, 30));
}

#[test]
fn a_suspended_operation_draws_nothing() {
    let mut table = Table::new(drawing(suspending(Pausable::ProgramAndErase, 1)));
    table.put(0, "e", Kind::Erase, at(0, 1, 0)).put(500, "r", Kind::Read, at(0, 0, 0));
    let done = table.done();
    assert_eq!(done[0].0, "r", "the erase is suspended");
    assert_eq!(drawn(&table), energy(50, 0, 3_000, 10));
}
