//! Multi-plane commands, cache operations, copyback, suspension and command cycles against timelines
//! drawn by hand, to the nanosecond. The device is that of [`table`](crate::table); all times are in
//! microseconds.

use ftlab::nand::{Abilities, AddressRule, CacheOps, CellMode, MultiPlane};
use ftlab::scheduler::{
    Command, Deadline, Fifo, Kind, Origin, Pausable, PauseRule, ReadFirst, ReadFirstBounded,
    ReadFirstBoundedOptions, Scheduler, ServiceId, Spent,
};
use ftlab::units::{Nanos, Ppn};

use crate::table::{Answer, BOUNDS, DEADLINES, Set, Table, US, at, plain, suspending};

fn two_planes(multi_plane: MultiPlane) -> Set {
    Set { planes: 2, abilities: Abilities { multi_plane, ..Abilities::NONE }, ..plain() }
}

const ALL_KINDS: MultiPlane = MultiPlane {
    read: true,
    program: true,
    erase: true,
    independent_reads: false,
    address: AddressRule::SamePage,
    gap: Nanos(US),
    looks: MultiPlane::NONE.looks,
};

fn cached(read: bool, program: bool) -> Set {
    let cache = CacheOps { read, program, busy: Nanos(3 * US) };
    Set { abilities: Abilities { cache, ..Abilities::NONE }, ..plain() }
}

#[test]
fn a_cache_read_senses_while_the_page_before_is_sent() {
    let mut table = Table::new(cached(true, false));
    for (page, name) in ["a", "b", "c"].into_iter().enumerate() {
        table.put(0, name, Kind::Read, at(0, 0, page as u32));
    }
    // a: cells 0-50, bus 50-60. b: cells 53-103, bus 103-113. c: cells 106-156, bus 156-166.
    assert_eq!(table.done(), [("a", 60), ("b", 113), ("c", 166)]);
    assert_eq!(table.flash.overlaps().cached_reads, 2);
}

#[test]
fn a_cache_read_waits_for_the_register() {
    let mut table = Table::new(Set { page: Nanos(80 * US), ..cached(true, false) });
    for (page, name) in ["a", "b", "c"].into_iter().enumerate() {
        table.put(0, name, Kind::Read, at(0, 0, page as u32));
    }
    // a: cells 0-50, bus 50-130. b: cells 53-103, register from 130, bus 130-210. c: cells 133-183,
    // bus 210-290.
    assert_eq!(table.done(), [("a", 130), ("b", 210), ("c", 290)]);
}

#[test]
fn only_reads_overlap_with_what_a_read_sends() {
    let mut table = Table::new(cached(true, true));
    table.put(0, "a", Kind::Read, at(0, 0, 0)).put(0, "p", Kind::Program, at(0, 1, 0));
    table.put(0, "b", Kind::Read, at(0, 0, 1));
    // a: cells 0-50, bus 50-60. p: bus 60-70, cells 70-670. b: cells 670-720, bus 720-730.
    assert_eq!(table.done(), [("a", 60), ("p", 670), ("b", 730)]);
}

#[test]
fn a_cache_program_takes_data_in_while_the_page_before_is_programmed() {
    let mut table = Table::new(cached(false, true));
    for (page, name) in ["a", "b", "c"].into_iter().enumerate() {
        table.put(0, name, Kind::Program, at(0, 0, page as u32));
    }
    // a: bus 0-10, cells 10-610. b: bus 10-20, cells 613-1213. c: bus 610-620, cells 1216-1816.
    assert_eq!(table.done(), [("a", 610), ("b", 1213), ("c", 1816)]);
    assert_eq!(table.flash.overlaps().cached_programs, 2);
}

#[test]
fn a_cache_program_waits_for_its_data() {
    let mut table = Table::new(Set { page: Nanos(700 * US), ..cached(false, true) });
    for (page, name) in ["a", "b", "c"].into_iter().enumerate() {
        table.put(0, name, Kind::Program, at(0, 0, page as u32));
    }
    // a: bus 0-700, cells 700-1300. b: bus 700-1400, cells 1400-2000. c: bus 1400-2100, cells 2100-2700.
    assert_eq!(table.done(), [("a", 1300), ("b", 2000), ("c", 2700)]);
}

/// A die that waits for the bus behind another die starts at once if its own switch is on, whatever the
/// other switch is.
#[test]
fn a_die_that_waited_for_the_bus_overlaps_by_its_own_switch() {
    // Of three pages, one on another die and two on this one; the bus takes 80 us each.
    let cases = [
        // Cells 0-50, bus 50-130; cells 0-50, bus 130-210. Then cells 133-183, bus 210-290, or
        // cells 210-260, bus 260-340.
        (Kind::Read, [130, 210, 290], [130, 210, 340]),
        // Bus 0-80, cells 80-680; bus 80-160, cells 160-760. Then bus 160-240, cells 763-1363, or
        // bus 760-840, cells 840-1440.
        (Kind::Program, [680, 760, 1363], [680, 760, 1440]),
    ];
    for (kind, overlapping, apart) in cases {
        for (read, program) in [(false, false), (true, false), (false, true), (true, true)] {
            let set = Set { dies: 2, page: Nanos(80 * US), ..cached(read, program) };
            let mut table = Table::new(set);
            table.put(0, "other", kind, at(0, 0, 0));
            table.put(0, "a", kind, at(1, 0, 0)).put(0, "b", kind, at(1, 0, 1));
            let overlaps = if kind == Kind::Read { read } else { program };
            let [other, a, b] = if overlaps { overlapping } else { apart };
            assert_eq!(table.done(), [("other", other), ("a", a), ("b", b)], "{read} {program}");
            let found = table.flash.overlaps();
            assert_eq!(found.cached_reads + found.cached_programs, u64::from(overlaps));
        }
    }
}

/// A read keeps the die busy until 60 while two programs queue up.
fn two_programs(set: Set, one: Ppn, other: Ppn) -> Vec<(&'static str, u64)> {
    let mut table = Table::new(set);
    table.put(0, "r", Kind::Read, at(0, 0, 5));
    table.put(0, "a", Kind::Program, one).put(0, "b", Kind::Program, other).done()
}

#[test]
fn programs_of_two_planes_share_the_cells() {
    let together = [("r", 60), ("a", 681), ("b", 681)];
    let apart = [("r", 60), ("a", 670), ("b", 1280)];
    let set = |address| two_planes(MultiPlane { address, ..ALL_KINDS });
    let same_page = || set(AddressRule::SamePage);
    // Bus 60-70 and 71-81, cells 81-681; apart: bus 60-70, cells 70-670; bus 670-680, cells 680-1280.
    assert_eq!(two_programs(same_page(), at(0, 1, 2), at(1, 4, 2)), together);
    assert_eq!(two_programs(same_page(), at(0, 1, 2), at(1, 4, 3)), apart, "another page");
    assert_eq!(two_programs(same_page(), at(0, 1, 2), at(0, 4, 2)), apart, "the same plane");
    let strict = || set(AddressRule::SameBlockAndPage);
    assert_eq!(two_programs(strict(), at(0, 1, 2), at(1, 1, 2)), together);
    assert_eq!(two_programs(strict(), at(0, 1, 2), at(1, 4, 2)), apart, "another block");
    assert_eq!(two_programs(set(AddressRule::Any), at(0, 1, 2), at(1, 4, 3)), together);
    assert_eq!(two_programs(two_planes(MultiPlane::NONE), at(0, 1, 2), at(1, 4, 2)), apart);
}

#[test]
fn reads_of_two_planes_share_the_sensing_only() {
    let mut table = Table::new(two_planes(ALL_KINDS));
    table.put(0, "r", Kind::Read, at(0, 0, 5));
    table.put(0, "a", Kind::Read, at(0, 1, 2)).put(0, "b", Kind::Read, at(0, 1, 3));
    table.put(0, "c", Kind::Read, at(1, 4, 2));
    // r: 0-60. a and c: cells 60-110, bus 110-120 and 120-130. b: cells 130-180, bus 180-190.
    assert_eq!(table.done(), [("r", 60), ("a", 120), ("c", 130), ("b", 190)]);
    assert_eq!(table.flash.overlaps().multi_plane[Kind::Read as usize], 1);
}

#[test]
fn erases_of_two_planes_share_the_cells_but_pass_no_read() {
    let mut table = Table::new(two_planes(ALL_KINDS));
    table.put(0, "r", Kind::Read, at(0, 0, 5));
    table.put(0, "a", Kind::Erase, at(0, 1, 0)).put(0, "b", Kind::Erase, at(1, 4, 0));
    assert_eq!(table.done(), [("r", 60), ("a", 3060), ("b", 3060)]);

    let mut table = Table::new(two_planes(ALL_KINDS));
    table.put(0, "r", Kind::Read, at(0, 0, 5)).put(0, "a", Kind::Erase, at(0, 1, 0));
    table.put(0, "s", Kind::Read, at(1, 4, 0)).put(0, "b", Kind::Erase, at(1, 4, 0));
    // s reads what b erases.
    assert_eq!(table.done(), [("r", 60), ("a", 3060), ("s", 3120), ("b", 6120)]);
}

/// A part that shares only one kind of command between planes serves the others one after another.
#[test]
fn each_kind_of_command_is_shared_by_its_own_switch() {
    let alone = |kind: Kind| MultiPlane {
        read: kind == Kind::Read,
        program: kind == Kind::Program,
        erase: kind == Kind::Erase,
        ..ALL_KINDS
    };
    // When the first and the second complete; together they end as the tests above draw them.
    let cases = [
        // Apart: cells 60-110, bus 110-120; cells 120-170, bus 170-180.
        (Kind::Read, [120, 130], [120, 180]),
        // Apart: bus 60-70, cells 70-670; bus 670-680, cells 680-1280.
        (Kind::Program, [681, 681], [670, 1280]),
        // Apart: cells 60-3060 and 3060-6060.
        (Kind::Erase, [3060, 3060], [3060, 6060]),
    ];
    for (shared, ..) in cases {
        for (kind, together, apart) in cases {
            let mut table = Table::new(two_planes(alone(shared)));
            let page = if kind == Kind::Erase { 0 } else { 2 };
            table.put(0, "r", Kind::Read, at(0, 0, 5));
            table.put(0, "a", kind, at(0, 1, page)).put(0, "b", kind, at(1, 4, page));
            let [a, b] = if kind == shared { together } else { apart };
            assert_eq!(
                table.done(),
                [("r", 60), ("a", a), ("b", b)],
                "{kind:?}, {shared:?} shared"
            );
        }
    }
}

#[test]
fn pages_of_one_bit_are_not_programmed_with_others() {
    let mut table = Table::new(two_planes(ALL_KINDS));
    let mut program =
        Command::new(Kind::Program, Origin::Host, ServiceId::WRITES.owner(0), at(1, 4, 2));
    table.put(0, "r", Kind::Read, at(0, 0, 5)).put(0, "a", Kind::Program, at(0, 1, 2));
    program.mode = CellMode::Slc;
    table.put_as(0, "b", program);
    // b: bus 670-680, cells 680-830 with one bit a cell.
    assert_eq!(table.done(), [("r", 60), ("a", 670), ("b", 830)]);
}

#[test]
fn a_copyback_needs_no_bus() {
    let mut table = Table::new(Set { dies: 2, ..plain() });
    table.put(0, "c", Kind::Copyback, at(0, 1, 2)).put(0, "p", Kind::Program, at(1, 0, 0));
    assert_eq!(table.done(), [("p", 610), ("c", 650)]);
}

#[test]
fn a_program_is_suspended_for_host_reads() {
    let program = |set: Set, reads: &[u64]| {
        let mut table = Table::new(set);
        table.put(0, "p", Kind::Program, at(0, 1, 0));
        for (page, &moment) in reads.iter().enumerate() {
            table.put(moment, ["r", "s"][page], Kind::Read, at(0, 0, page as u32));
        }
        table.done()
    };
    let set = || suspending(Pausable::ProgramAndErase, 4);
    // Suspended 100-120, read 120-180, resumed 180-185, the other 510 until 695.
    assert_eq!(program(set(), &[100]), [("r", 180), ("p", 695)]);
    assert_eq!(program(set(), &[100, 130]), [("r", 180), ("s", 240), ("p", 755)]);
    // Suspended, resumed at 185, suspended again at 300 with 395 to go: 320-380, 385-780.
    assert_eq!(program(set(), &[100, 300]), [("r", 180), ("s", 380), ("p", 780)]);
    // Data moves in until 10; nothing can be suspended before that. 10-30, 30-90, 95-695.
    assert_eq!(program(set(), &[5]), [("r", 90), ("p", 695)]);
    // Only 15 are left, and suspending takes 20.
    assert_eq!(program(set(), &[595]), [("p", 610), ("r", 670)]);
    // Once only.
    let once = suspending(Pausable::ProgramAndErase, 1);
    assert_eq!(program(once, &[100, 300]), [("r", 180), ("p", 695), ("s", 755)]);
    let erases = suspending(Pausable::Erase, 4);
    assert_eq!(program(erases, &[100]), [("p", 610), ("r", 670)]);
}

#[test]
fn an_erase_is_suspended_only_for_host_reads() {
    let mut table = Table::new(suspending(Pausable::Erase, 4));
    table.put(0, "e", Kind::Erase, at(0, 1, 0)).put(1000, "r", Kind::Read, at(0, 0, 0));
    // Suspended 1000-1100, read 1100-1160, resumed 1160-1165, the other 2000 until 3165.
    assert_eq!(table.done(), [("r", 1160), ("e", 3165)]);
    assert_eq!(table.flash.overlaps().erase_pauses, 1);

    let mut table = Table::new(suspending(Pausable::Erase, 4));
    let read = Command::new(Kind::Read, Origin::Gc, ServiceId::WRITES.owner(0), at(0, 0, 0));
    table.put(0, "e", Kind::Erase, at(0, 1, 0)).put_as(1000, "r", read);
    assert_eq!(table.done(), [("e", 3000), ("r", 3060)]);
}

/// A read's wait for collection counts as collection, including the time of suspending it.
#[test]
fn suspending_collection_counts_as_waiting_for_it() {
    let mut table = Table::new(suspending(Pausable::Erase, 4));
    let erase = Command::new(Kind::Erase, Origin::Gc, ServiceId::WRITES.owner(0), at(0, 1, 0));
    table.put_as(0, "e", erase).put(1000, "r", Kind::Read, at(0, 0, 0));
    table.put(1110, "s", Kind::Read, at(0, 0, 1));
    // r: suspended 1000-1100, cells 1100-1150, bus 1150-1160. s: cells 1160-1210, bus 1210-1220.
    assert_eq!(table.done(), [("r", 1160), ("s", 1220), ("e", 3225)]);
    let spent = |queue, gc, bus, cell| {
        let [queue, gc, bus, cell] = [queue, gc, bus, cell].map(|micros| Nanos(micros * US));
        Spent { queue, gc, bus, cell, ..Spent::default() }
    };
    assert_eq!(table.spent[0], ("r", spent(0, 100, 10, 50)));
    assert_eq!(table.spent[1], ("s", spent(50, 0, 10, 50)));
    // The erase waited for both reads, and for suspending and resuming.
    assert_eq!(table.spent[2], ("e", spent(225, 0, 0, 3000)));
}

/// Commands of equal rank are served in order of arrival, on the bus too.
#[test]
fn equals_take_the_bus_as_they_arrived() {
    let schedulers = [Scheduler::Fifo(Fifo), Scheduler::Deadline(Deadline::new(&DEADLINES))];
    for scheduler in schedulers {
        let mut table = Table::new(Set { dies: 4, scheduler, ..plain() });
        for (die, name) in ["a", "b", "c", "d"].into_iter().enumerate() {
            table.put(0, name, Kind::Read, at(die as u32, 0, 0));
        }
        // All sense until 50.
        assert_eq!(table.done(), [("a", 60), ("b", 70), ("c", 80), ("d", 90)]);
    }
}

#[test]
fn commands_that_wait_during_a_suspension_go_after_it() {
    let mut table = Table::new(suspending(Pausable::ProgramAndErase, 4));
    table.put(0, "p", Kind::Program, at(0, 1, 0)).put(50, "q", Kind::Program, at(0, 1, 1));
    table.put(100, "r", Kind::Read, at(0, 0, 0));
    // p until 695 as above; q: bus 695-705, cells 705-1305.
    assert_eq!(table.done(), [("r", 180), ("p", 695), ("q", 1305)]);
}

#[test]
fn commands_take_the_bus_too() {
    let set = || Set { command: Some(Nanos(US)), dies: 2, ..plain() };
    let mut table = Table::new(set());
    table.put(0, "a", Kind::Read, at(0, 0, 0)).put(0, "b", Kind::Read, at(1, 0, 0));
    // a: bus 0-1, cells 1-51, bus 51-61. b: bus 1-2, cells 2-52, bus 61-71.
    assert_eq!(table.done(), [("a", 61), ("b", 71)]);
    let mut table = Table::new(set());
    table.put(0, "e", Kind::Erase, at(0, 0, 0)).put(0, "p", Kind::Program, at(1, 0, 0));
    // e: bus 0-1, cells 1-3001. p: bus 1-12, cells 12-612.
    assert_eq!(table.done(), [("p", 612), ("e", 3001)]);
    let planes = Set { command: Some(Nanos(US)), ..two_planes(ALL_KINDS) };
    // r: bus 0-1, cells 1-51, bus 51-61. Then bus 61-72 and 73-84, cells 84-684.
    let expected = [("r", 61), ("a", 684), ("b", 684)];
    assert_eq!(two_programs(planes, at(0, 1, 2), at(1, 4, 2)), expected);
}

#[test]
fn deadlines_order_by_source_and_starve_nobody() {
    let scheduler = Scheduler::Deadline(Deadline::new(&DEADLINES));
    let mut table = Table::new(Set { scheduler, ..plain() });
    let gc = |page| Command::new(Kind::Read, Origin::Gc, ServiceId::WRITES.owner(0), page);
    table.put(0, "x", Kind::Program, at(0, 1, 0)).put_as(1, "g", gc(at(0, 0, 1)));
    table.put(2, "w", Kind::Program, at(0, 1, 1)).put(3, "r", Kind::Read, at(0, 0, 2));
    // Due: r at 3, w at 2002, g at 8001.
    assert_eq!(table.done(), [("x", 610), ("r", 670), ("w", 1280), ("g", 1340)]);

    let scheduler = Scheduler::Deadline(Deadline::new(&DEADLINES));
    let mut table = Table::new(Set { scheduler, ..plain() });
    table.put_as(0, "g", gc(at(0, 0, 1))).put_as(0, "h", gc(at(0, 0, 2)));
    for moment in 0..160 {
        table.put(moment * 60, "r", Kind::Read, at(0, 0, 3));
    }
    // h is due at 8000 and goes before the reads that arrive after that.
    let h = table.done().iter().find(|(name, _)| *name == "h").unwrap().1;
    assert!((8_000..8_200).contains(&h), "{h}");
}

#[test]
fn reads_first_and_suspension_go_together() {
    let scheduler = Scheduler::ReadFirst(ReadFirst);
    let set = Set { scheduler, ..suspending(Pausable::ProgramAndErase, 4) };
    let mut table = Table::new(set);
    table.put(0, "p", Kind::Program, at(0, 1, 0)).put(0, "q", Kind::Program, at(0, 1, 1));
    table.put(100, "r", Kind::Read, at(0, 0, 0));
    assert_eq!(table.done(), [("r", 180), ("p", 695), ("q", 1305)]);
}

/// A better command takes the place of the one for which a die waited for the bus.
#[test]
fn a_read_that_outranks_a_cached_program_leaves_the_line() {
    let set = Set { scheduler: Scheduler::ReadFirst(ReadFirst), ..cached(false, true) };
    let mut table = Table::new(set);
    table.put(0, "p", Kind::Program, at(0, 1, 0)).put(0, "q", Kind::Program, at(0, 1, 1));
    table.put(5, "r", Kind::Read, at(0, 0, 0));
    // p: bus 0-10, cells 10-610. r: cells 610-660, bus 660-670. q: bus 670-680, cells 680-1280.
    assert_eq!(table.done(), [("p", 610), ("r", 670), ("q", 1280)]);
}

#[test]
fn programs_of_a_block_keep_their_order_between_planes() {
    let mut table = Table::new(two_planes(ALL_KINDS));
    table.put(0, "r", Kind::Read, at(0, 0, 5)).put(0, "a", Kind::Program, at(0, 1, 5));
    table.put(0, "b", Kind::Program, at(1, 1, 4)).put(0, "c", Kind::Program, at(1, 1, 5));
    // c would fit a, but b is on the same block before it. a: 60-670, b: 670-1280, c: 1280-1890.
    assert_eq!(table.done(), [("r", 60), ("a", 670), ("b", 1280), ("c", 1890)]);
}

/// A copyback and a program of one block, submitted in this order.
#[test]
fn programs_and_copybacks_of_a_block_keep_their_order() {
    let gc = |kind, page| Command::new(kind, Origin::Gc, ServiceId::WRITES.owner(0), page);
    let (c, p) = (gc(Kind::Copyback, at(0, 1, 0)), gc(Kind::Program, at(0, 1, 1)));
    let schedulers = [
        Scheduler::Fifo(Fifo),
        Scheduler::ReadFirst(ReadFirst),
        Scheduler::Deadline(Deadline::new(&DEADLINES)),
    ];
    for scheduler in schedulers {
        let mut table = Table::new(Set { scheduler, ..plain() });
        table.put(0, "r", Kind::Read, at(0, 0, 5));
        table.put_as(1, "c", c.clone()).put_as(1, "p", p.clone());
        // c: cells 60-710. p: bus 710-720, cells 720-1320.
        assert_eq!(table.done(), [("r", 60), ("c", 710), ("p", 1320)]);
    }

    let mut table = Table::new(two_planes(ALL_KINDS));
    table.put(0, "r", Kind::Read, at(0, 0, 5));
    table.put_as(0, "a", gc(Kind::Program, at(0, 1, 5)));
    table.put_as(0, "c", gc(Kind::Copyback, at(1, 1, 4)));
    table.put_as(0, "b", gc(Kind::Program, at(1, 1, 5)));
    // b would fit a, but c is on the same block before it. a: 60-670, c: 670-1320, b: 1320-1930.
    assert_eq!(table.done(), [("r", 60), ("a", 670), ("c", 1320), ("b", 1930)]);
}

#[test]
fn a_suspended_operation_resumes_after_a_number_of_reads() {
    let rule = PauseRule { which: Pausable::Erase, times: 1, reads: 2, ..PauseRule::NEVER };
    let mut table = Table::new(Set { pause: rule, ..suspending(Pausable::Erase, 1) });
    table.put(0, "e", Kind::Erase, at(0, 1, 0));
    for name in ["a", "b", "c"] {
        table.put(1000, name, Kind::Read, at(0, 0, 0));
    }
    // Suspended 1000-1100, a until 1160, b until 1220, resumed at 1225, the other 2000 until 3225.
    assert_eq!(table.done(), [("a", 1160), ("b", 1220), ("e", 3225), ("c", 3285)]);
}

/// A die that waits for the bus gets a read just as the bus becomes free, in answer to what ends then,
/// and another die joins the queue before it has looked.
#[test]
fn a_die_that_leaves_the_line_leaves_nobody_behind() {
    for scheduler in
        [Scheduler::ReadFirst(ReadFirst), Scheduler::Deadline(Deadline::new(&DEADLINES))]
    {
        let mut table = Table::new(Set { dies: 4, scheduler, ..plain() });
        table.answers = [("y", Kind::Program, at(3, 0, 0)), ("r", Kind::Read, at(1, 1, 0))]
            .map(|(name, kind, page)| Answer { to: "z", name, kind, page })
            .into();
        table.put(0, "q", Kind::Program, at(1, 0, 0)).put(20, "x", Kind::Program, at(1, 0, 1));
        table.put(550, "z", Kind::Read, at(2, 0, 0));
        // q: until 610. z: bus 600-610. r goes before x: cells 610-660. y: bus 610-620. r: bus 660-670.
        // x: bus 670-680.
        assert_eq!(table.done(), [("q", 610), ("z", 610), ("r", 670), ("y", 1220), ("x", 1280)]);
    }
}

/// Later writes are programmed together with the first, past one that waits on its plane: reads pass
/// that one only as far as it still completes in time.
#[test]
fn a_passed_write_keeps_its_bound() {
    let bounds = ReadFirstBoundedOptions { write_bound: Some(Nanos(3_060 * US)), ..BOUNDS };
    let multi_plane = MultiPlane { program: true, ..MultiPlane::NONE };
    let set = Set {
        scheduler: Scheduler::ReadFirstBounded(ReadFirstBounded::new(&bounds, 1)),
        page: Nanos::ZERO,
        ..two_planes(multi_plane)
    };
    let mut table = Table::new(set);
    for block in 0..4 {
        table.put(1, "before", Kind::Program, at(0, block, 0));
    }
    // Nothing joins it: it is on another page of its block.
    table.put(1, "write", Kind::Program, at(0, 9, 5));
    for block in 0..3 {
        table.put(1, "past", Kind::Program, at(1, block, 0));
    }
    for read in 0..20 {
        table.put(2_000 + read, "read", Kind::Read, at(1, 10, read as u32 % 12));
    }
    let done = table.done();
    let write = done.iter().find(|(name, _)| *name == "write").expect("it is done");
    // Alone it completes at 3001; one read of 50 us fits in before it, and a second one does not.
    assert_eq!(write.1, 3_051, "{done:?}");
}
