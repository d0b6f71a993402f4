//! Whose operations are suspended, for how long, and between which pulses, against timelines drawn by hand, to the
//! nanosecond. The device is that of [`table`](crate::table): programs are suspended in 20 us, erases in 100 us, and resumed
//! in 5 us. All times are in microseconds.

use ftlab::device::assemble;
use ftlab::host::Op;
use ftlab::nand::{Abilities, MultiPlane, PauseCost};
use ftlab::scheduler::{
    Command, Kind, Origin, Pausable, PauseRule, PausedFor, ReadFirst, Scheduler, ServiceId,
};
use ftlab::units::{Nanos, Ppn};

use crate::common::{Spec, closed_loop, fill, request};
use crate::table::{Set, Table, US, at, suspending};

fn with(change: impl FnOnce(&mut PauseRule)) -> Set {
    let mut set = suspending(Pausable::ProgramAndErase, 4);
    change(&mut set.pause);
    Set { scheduler: Scheduler::ReadFirst(ReadFirst), ..set }
}

fn gc(kind: Kind) -> Command {
    Command::new(kind, Origin::Gc, ServiceId::JOURNAL.owner(0), at(0, 1, 0))
}

/// A program of a page of the map.
fn of_map(page: Ppn) -> Command {
    let mut program = Command::new(Kind::Program, Origin::Host, ServiceId::MAP.owner(0), page);
    program.of_map = true;
    program
}

fn of_host(page: Ppn) -> Command {
    Command::new(Kind::Program, Origin::Host, ServiceId::WRITES.owner(0), page)
}

/// When a read at 100 is done, and a program at 0.
fn program_and_read(of: PausedFor, program: Command) -> (u64, u64) {
    let mut table = Table::new(with(|rule| rule.of = of));
    table.put_as(0, "p", program);
    let done = table.put(100, "r", Kind::Read, at(0, 0, 0)).done();
    let of = |name| done.iter().find(|(known, _)| *known == name).map(|&(_, at)| at).unwrap();
    (of("r"), of("p"))
}

#[test]
fn operations_are_suspended_by_whose_they_are() {
    // p: bus 0-10, cells from 10. Suspended 100-120, r until 180, resumed at 185, the other 510 until 695.
    let suspended = (180, 695);
    // Or not: p until 610, r until 670.
    let not = (670, 610);
    for (of, host, own) in [
        (PausedFor::Everybody, suspended, suspended),
        (PausedFor::Device, not, suspended),
        (PausedFor::Host, suspended, not),
    ] {
        assert_eq!(program_and_read(of, of_host(at(0, 1, 0))), host, "{of:?}");
        assert_eq!(program_and_read(of, gc(Kind::Program)), own, "{of:?}");
        assert_eq!(program_and_read(of, of_map(at(0, 1, 0))), own, "{of:?}");
    }
}

/// One operation programs a page on each plane. It is the device's own if both are.
#[test]
fn an_operation_that_serves_the_host_too_is_not_the_devices_own() {
    let when = |other: fn(Ppn) -> Command| {
        let set = with(|rule| rule.of = PausedFor::Device);
        let multi_plane = MultiPlane { program: true, ..MultiPlane::NONE };
        let abilities = Abilities { multi_plane, ..set.abilities };
        let mut table = Table::new(Set { planes: 2, abilities, ..set });
        table.put_as(0, "x", of_host(at(0, 2, 0)));
        table.put_as(1, "m", of_map(at(0, 1, 0))).put_as(1, "o", other(at(1, 1, 0)));
        table.put(730, "r", Kind::Read, at(0, 0, 0)).done()
    };
    // x until 610, then buses until 630 and cells. Suspended 730-750, r until 810, resumed at 815, the other 500 until 1315.
    assert_eq!(when(of_map), [("x", 610), ("r", 810), ("m", 1315), ("o", 1315)]);
    // Or not: m and o until 1230.
    assert_eq!(when(of_host), [("x", 610), ("m", 1230), ("o", 1230), ("r", 1290)]);
}

/// How often programs are suspended on a device that programs data and pages of its map, and collects nothing.
fn suspended(mapping: &str, of: &str) -> u64 {
    let spec = Spec::small().with(
        "nand.blocks_per_plane = 200
        scheduler.policy = read-first
        scheduler.suspend = program-and-erase
        scheduler.suspend_limit = 16",
    );
    let spec = spec.set("ftl.mapping.policy", mapping).set("scheduler.suspend_of", of).holding(800);
    let spec = if mapping == "dftl" { spec.set("ftl.mapping.cache", "64B") } else { spec };
    let mut device = assemble(spec.setup());
    fill(&mut device, 1, 0..100, 8);
    let requests = (0..300_u32).map(|tag| {
        let (op, page) = if tag % 3 == 0 { (Op::Write, tag / 3) } else { (Op::Read, 99 - tag / 3) };
        request(op, u64::from(page) * 8, 8, tag)
    });
    closed_loop(&mut device, 8, requests);
    assert_eq!(device.ftl_counts().gc_runs, 0);
    device.flash().overlaps().program_pauses
}

#[test]
fn programs_of_the_map_are_the_devices_own() {
    assert_eq!(suspended("page", "device"), 0, "all programs are the host's");
    assert!(suspended("page", "host") > 0);
    assert!(suspended("dftl", "device") > 0);
}

/// An erase, and reads that come one by one.
fn erase_and_reads(set: Set, reads: &[u64]) -> Vec<(&'static str, u64)> {
    let mut table = Table::new(set);
    table.put_as(0, "e", gc(Kind::Erase));
    for &at_time in reads {
        table.put(at_time, "r", Kind::Read, at(0, 0, 0));
    }
    table.done()
}

#[test]
fn an_operation_is_held_up_no_longer_than_it_may_be() {
    // Each suspension: 1000-1100, r until 1160, resumed at 1165, and likewise from 2000 and 2500: 165 each.
    let free = erase_and_reads(with(|_| {}), &[1000, 2000, 2500]);
    assert_eq!(free, [("r", 1160), ("r", 2160), ("r", 2660), ("e", 3495)]);
    // After two of them it has been held up for 330.
    let held = |longest| {
        let set = with(|rule| rule.longest = Some(Nanos(longest)));
        erase_and_reads(set, &[1000, 2000, 2500])
    };
    assert_eq!(held(330 * US + 1), free);
    let twice = [("r", 1160), ("r", 2160), ("e", 3330), ("r", 3390)];
    assert_eq!(held(330 * US), twice);
    assert_eq!(held(165 * US + 1), twice);
    assert_eq!(held(165 * US), [("r", 1160), ("e", 3165), ("r", 3225), ("r", 3285)]);
    assert_eq!(held(0), [("e", 3000), ("r", 3060), ("r", 3120), ("r", 3180)]);
}

/// The reads that a suspension serves begin while there is time.
#[test]
fn a_suspension_ends_when_time_is_up() {
    let held = |longest| {
        let set = with(|rule| rule.longest = Some(Nanos(longest)));
        erase_and_reads(set, &[1000, 1000, 1000])
    };
    // Suspended 1000-1100, reads until 1160, 1220 and 1280. The second of them begins when the first has left, at 160.
    assert_eq!(held(220 * US + 1), [("r", 1160), ("r", 1220), ("r", 1280), ("e", 3285)]);
    assert_eq!(held(220 * US), [("r", 1160), ("r", 1220), ("e", 3225), ("r", 3285)]);
    assert_eq!(held(160 * US), [("r", 1160), ("e", 3165), ("r", 3225), ("r", 3285)]);
}

fn pulses(program: u64, erase: u64) -> Set {
    let set = with(|_| {});
    let (program_pulse, erase_pulse) = (Nanos(program * US), Nanos(erase * US));
    let pause = PauseCost { program_pulse, erase_pulse, ..set.abilities.pause };
    Set { abilities: Abilities { pause, ..set.abilities }, ..set }
}

#[test]
fn an_operation_finishes_its_pulse() {
    // Cells from 0, pulses of 300: the one of 900 ends at 1200. Suspended until 1300, r until 1360, resumed at 1365. The
    // next pulses end at 1665 and 1965: r at 1700 waits until 1965, suspended until 2065, r until 2125, resumed at 2130.
    // Left: 3000 - 1200 - 600 = 1200.
    let done = erase_and_reads(pulses(0, 300), &[1000, 1700]);
    assert_eq!(done, [("r", 1360), ("r", 2125), ("e", 3330)]);
    // At the end of a pulse nothing is left of it.
    let done = erase_and_reads(pulses(0, 300), &[1200]);
    assert_eq!(done, [("r", 1360), ("e", 3165)]);
    // Pulses of programs are none of an erase's business.
    assert_eq!(erase_and_reads(pulses(300, 0), &[1000]), [("r", 1160), ("e", 3165)]);
}

/// The erase of [`erase_and_reads`] with a read at 1000, if an operation needs so much time left.
#[test]
fn an_operation_that_is_nearly_done_is_waited_for() {
    let when = |pulse, rest| {
        let mut set = pulses(0, pulse);
        set.pause.rest = Nanos(rest);
        erase_and_reads(set, &[1000])
    };
    // 2000 are left at 1000.
    let suspended = [("r", 1160), ("e", 3165)];
    let waits = [("e", 3000), ("r", 3060)];
    assert_eq!(when(0, 2000 * US), suspended);
    assert_eq!(when(0, 2000 * US + 1), waits);
    // With pulses of 300, 1800 at the end of the one of 900.
    assert_eq!(when(300, 1800 * US), [("r", 1360), ("e", 3165)]);
    assert_eq!(when(300, 1800 * US + 1), waits);
}

#[test]
fn a_pulse_near_the_end_is_the_last() {
    // The pulse of 2700 ends with the erase.
    assert_eq!(erase_and_reads(pulses(0, 300), &[2701]), [("e", 3000), ("r", 3060)]);
    // Pulses of 290 end at 2900: 100 are left, no more than suspending takes.
    assert_eq!(erase_and_reads(pulses(0, 290), &[2800]), [("e", 3000), ("r", 3060)]);
    // Of 289, at 2890: 110 are left.
    assert_eq!(erase_and_reads(pulses(0, 289), &[2800]), [("r", 3050), ("e", 3165)]);
}

#[test]
fn a_program_counts_its_pulses_from_its_data_on() {
    // Bus 0-10, cells from 10, pulses of 40: r at 100 waits until 130, suspended until 150, r until 210, resumed at 215,
    // the other 480 until 695.
    let mut table = Table::new(pulses(40, 0));
    table.put(0, "p", Kind::Program, at(0, 1, 0)).put(100, "r", Kind::Read, at(0, 0, 0));
    assert_eq!(table.done(), [("r", 210), ("p", 695)]);
}
