//! Chips that do one thing at a time, and buses that send data out first, against timelines drawn
//! by hand. The device is that of [`table`](crate::table); all times are in microseconds.

use ftlab::nand::{Abilities, CacheOps, MultiPlane};
use ftlab::scheduler::{Kind, Pausable, ReadFirst, Scheduler};
use ftlab::units::Nanos;

use crate::table::{Set, Table, US, at, plain, suspending};

/// Two dies in one chip, only one of which works at a time.
fn in_turns(set: Set) -> Set {
    let abilities = Abilities { one_die_at_a_time: true, ..set.abilities };
    Set { dies: 2, abilities, ..set }
}

/// A program on one die, then a read of the other and one of the first.
fn a_program_and_two_reads(set: Set) -> Vec<(&'static str, u64)> {
    let mut table = Table::new(set);
    table.put(0, "p", Kind::Program, at(0, 0, 0));
    table.put(5, "other", Kind::Read, at(1, 0, 0)).put(6, "same", Kind::Read, at(0, 1, 0));
    table.done()
}

#[test]
fn a_die_waits_for_the_other_one_of_its_chip() {
    // p: bus 0-10, cells until 610. Then one read after the other, from cells to bus.
    let done = a_program_and_two_reads(in_turns(plain()));
    assert_eq!(done, [("p", 610), ("other", 670), ("same", 730)]);
    // On its own the other die senses 5-55, and sends until 65.
    let done = a_program_and_two_reads(Set { dies: 2, ..plain() });
    assert_eq!(done, [("other", 65), ("p", 610), ("same", 670)]);
}

#[test]
fn commands_wait_for_the_bus_with_the_dies_in_turn() {
    // As before, but each command takes the bus for 1 us.
    let done = a_program_and_two_reads(in_turns(Set { command: Some(Nanos(US)), ..plain() }));
    assert_eq!(done, [("p", 611), ("other", 672), ("same", 733)]);
}

/// The best of all that wait for the chip goes first, whichever its die.
#[test]
fn a_chip_serves_the_highest_rank() {
    for command in [None, Some(Nanos::ZERO)] {
        let scheduler = Scheduler::ReadFirst(ReadFirst);
        let mut table = Table::new(in_turns(Set { scheduler, command, ..plain() }));
        table.put(0, "p", Kind::Program, at(0, 0, 0)).put(1, "q", Kind::Program, at(0, 0, 1));
        table.put(2, "r", Kind::Read, at(1, 0, 0));
        // r goes before q, which came earlier.
        assert_eq!(table.done(), [("p", 610), ("r", 670), ("q", 1280)], "{command:?}");
    }
}

/// A later read of one die does not follow through its register, past an earlier read of the
/// other.
#[test]
fn cache_operations_pass_nothing_on_the_other_die() {
    let cache = CacheOps { read: true, program: false, busy: Nanos(3 * US) };
    let abilities = Abilities { cache, ..Abilities::NONE };
    let mut table = Table::new(in_turns(Set { abilities, ..plain() }));
    for (name, plane, page) in [("a", 0, 0), ("b", 0, 1), ("c", 1, 0), ("d", 0, 2)] {
        table.put(0, name, Kind::Read, at(plane, 0, page));
    }
    // a: cells 0-50, bus until 60. b: cells 53-103, bus until 113. c: 113-173. d: 173-233.
    assert_eq!(table.done(), [("a", 60), ("b", 113), ("c", 173), ("d", 233)]);
}

/// A suspended erase keeps the chip while a read of its die is served.
#[test]
fn a_suspended_operation_keeps_the_chip() {
    let mut table = Table::new(in_turns(suspending(Pausable::Erase, 1)));
    table.put(0, "e", Kind::Erase, at(0, 1, 0));
    table.put(1000, "other", Kind::Read, at(1, 0, 0)).put(1001, "same", Kind::Read, at(0, 0, 0));
    // Suspended 1001-1101, same until 1161, resumed at 1166, the other 1999 until 3165.
    assert_eq!(table.done(), [("same", 1161), ("e", 3165), ("other", 3225)]);
}

/// At 61 the bus becomes free; one die has a page to send, another could begin an earlier read.
#[test]
fn data_goes_out_before_anything_begins() {
    let reads = |data_out_first| {
        let command = Some(Nanos(US));
        let mut table = Table::new(Set { dies: 2, command, data_out_first, ..plain() });
        for (name, plane, page) in [("x", 0, 0), ("y", 0, 1), ("z", 1, 0)] {
            table.put(0, name, Kind::Read, at(plane, 0, page));
        }
        table.done()
    };
    // x: bus 0-1, cells 1-51, bus 51-61. z: bus 1-2, cells 2-52. y: bus 61-62, cells 62-112, bus 112-122.
    assert_eq!(reads(false), [("x", 61), ("z", 72), ("y", 122)]);
    // z: bus 61-71. y: bus 71-72, cells 72-122, bus 122-132.
    assert_eq!(reads(true), [("x", 61), ("z", 71), ("y", 132)]);
}

/// The ninth of the waiting reads fits the first; only eight are considered for the second plane.
#[test]
fn only_the_first_commands_are_considered_for_the_other_plane() {
    let with = |looks| {
        let multi_plane = MultiPlane { read: true, looks, ..MultiPlane::NONE };
        let abilities = Abilities { multi_plane, ..Abilities::NONE };
        let mut table = Table::new(Set { planes: 2, abilities, page: Nanos::ZERO, ..plain() });
        table.put(0, "now", Kind::Read, at(0, 0, 0)).put(1, "first", Kind::Read, at(0, 0, 1));
        for _ in 0..8 {
            table.put(2, "other", Kind::Read, at(0, 0, 2));
        }
        table.put(3, "fits", Kind::Read, at(1, 0, 1));
        let done = table.done();
        done.iter().find(|(name, _)| *name == "fits").map(|&(_, at)| at)
    };
    // Together with the first, or behind all others.
    assert_eq!(with(Some(4)), Some(550));
    assert_eq!(with(Some(5)), Some(100));
    assert_eq!(with(None), Some(100));
}
