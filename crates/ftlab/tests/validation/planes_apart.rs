//! Planes that sense on their own, against timelines drawn by hand, to the nanosecond. The device is that of
//! [`table`](crate::table); all times are in microseconds.

use ftlab::nand::{Abilities, CacheOps, MultiPlane};
use ftlab::scheduler::{
    Command, Deadline, Kind, Origin, Pausable, PauseRule, ReadFirst, ReadFirstBounded, Scheduler,
    ServiceId,
};
use ftlab::units::{Nanos, SimTime};

use crate::table::{BOUNDS, DEADLINES, Set, Table, US, at, plain, suspending};

/// One die with two planes that sense on their own.
fn apart(set: Set) -> Set {
    let multi_plane = MultiPlane { independent_reads: true, ..set.abilities.multi_plane };
    Set { planes: 2, abilities: Abilities { multi_plane, ..set.abilities }, ..set }
}

#[test]
fn each_plane_senses_at_its_own_time() {
    let mut table = Table::new(apart(plain()));
    table.put(0, "a", Kind::Read, at(0, 0, 0)).put(5, "b", Kind::Read, at(1, 0, 7));
    table.put(6, "c", Kind::Read, at(0, 0, 1)).put(57, "d", Kind::Read, at(1, 0, 1));
    // a: cells 0-50, bus 50-60. b: cells 5-55, bus 60-70. c: cells 60-110, bus 110-120. d: cells 70-120, bus 120-130.
    assert_eq!(table.done(), [("a", 60), ("b", 70), ("c", 120), ("d", 130)]);
    // The die is busy while any plane is.
    let busy: Vec<Nanos> = table.flash.die_busy(SimTime(1_000 * US)).collect();
    assert_eq!(busy, [Nanos(130 * US)]);
}

/// What a read that came behind a program does, under each policy.
#[test]
fn everything_else_keeps_the_order_of_the_policy() {
    let done = |scheduler| {
        let mut table = Table::new(apart(Set { scheduler, ..plain() }));
        table.put(0, "a", Kind::Read, at(0, 0, 0)).put(1, "p", Kind::Program, at(1, 1, 0));
        table.put(2, "b", Kind::Read, at(1, 0, 0));
        table.done()
    };
    // a: cells 0-50, bus 50-60. p: bus 60-70, cells until 670. b: cells 670-720, bus 720-730.
    let in_order = [("a", 60), ("p", 670), ("b", 730)];
    assert_eq!(done(plain().scheduler), in_order);
    // b: cells 2-52, bus 60-70. p: bus 70-80, cells until 680.
    let reads_first = [("a", 60), ("b", 70), ("p", 680)];
    assert_eq!(done(Scheduler::ReadFirst(ReadFirst)), reads_first);
    assert_eq!(done(Scheduler::Deadline(Deadline::new(&DEADLINES))), reads_first);
    let bounded = ReadFirstBounded::new(&BOUNDS, 1);
    assert_eq!(done(Scheduler::ReadFirstBounded(bounded)), reads_first);
}

/// A program does not wait for ever for a moment at which all planes are free.
#[test]
fn reads_do_not_starve_what_came_before_them() {
    let mut table = Table::new(apart(plain()));
    table.put(0, "r", Kind::Read, at(0, 0, 0)).put(10, "p", Kind::Program, at(0, 1, 0));
    for turn in 1..10 {
        table.put(u64::from(turn) * 25, "r", Kind::Read, at(turn % 2, 0, turn));
    }
    let done = table.done();
    // The read of 0 is done at 60. The program takes the bus then.
    assert_eq!(done[..2], [("r", 60), ("p", 670)]);
}

#[test]
fn a_suspension_serves_both_planes() {
    let set = suspending(Pausable::Erase, 1);
    let done = |reads| {
        let pause = PauseRule { reads, ..set.pause };
        let mut table = Table::new(apart(Set { pause, ..set.clone() }));
        table.put(0, "e", Kind::Erase, at(0, 1, 0));
        table.put(1000, "a", Kind::Read, at(0, 0, 0)).put(1000, "b", Kind::Read, at(1, 0, 0));
        table.done()
    };
    // Suspended 1000-1100. a: cells 1100-1150, bus 1150-1160. b: bus 1160-1170. Resumed at 1175, the other 2000 until
    // 3175.
    assert_eq!(done(16), [("a", 1160), ("b", 1170), ("e", 3175)]);
    // Only one read: resumed at 1165. b waits for the end.
    assert_eq!(done(1), [("a", 1160), ("e", 3165), ("b", 3225)]);
}

/// A read that comes while another one uses the suspension of its die may use it, too, while there is time.
#[test]
fn a_suspension_may_be_joined_while_there_is_time() {
    let done = |longest| {
        let set = suspending(Pausable::Erase, 1);
        let pause = PauseRule { longest: Some(Nanos(longest)), ..set.pause };
        let mut table = Table::new(apart(Set { pause, ..set }));
        table.put(0, "e", Kind::Erase, at(0, 1, 0));
        table.put(1000, "a", Kind::Read, at(0, 0, 0)).put(1120, "b", Kind::Read, at(1, 0, 0));
        table.done()
    };
    // Suspended 1000-1100. a: cells 1100-1150, bus 1150-1160. b: cells 1120-1170, bus 1170-1180. Resumed at 1185.
    assert_eq!(done(120 * US + 1), [("a", 1160), ("b", 1180), ("e", 3185)]);
    // b comes too late. Resumed at 1165.
    assert_eq!(done(120 * US), [("a", 1160), ("e", 3165), ("b", 3225)]);
}

#[test]
fn each_plane_has_a_register() {
    let cache = CacheOps { read: true, program: false, busy: Nanos(3 * US) };
    let abilities = Abilities { cache, ..Abilities::NONE };
    let mut table = Table::new(apart(Set { abilities, ..plain() }));
    table.put(0, "a", Kind::Read, at(0, 0, 0)).put(0, "b", Kind::Read, at(0, 0, 1));
    table.put(0, "c", Kind::Read, at(1, 0, 0));
    // a: cells 0-50, bus 50-60. c: cells 0-50, bus 60-70. b: cells 53-103, bus 103-113.
    assert_eq!(table.done(), [("a", 60), ("c", 70), ("b", 113)]);
}

#[test]
fn commands_share_the_bus() {
    let mut table = Table::new(apart(Set { command: Some(Nanos(US)), ..plain() }));
    table.put(0, "a", Kind::Read, at(0, 0, 0)).put(0, "b", Kind::Read, at(1, 0, 0));
    table.put(3, "p", Kind::Program, at(0, 1, 0));
    // a: bus 0-1, cells 1-51, bus 51-61. b: bus 1-2, cells 2-52, bus 61-71. p: bus 71-82, cells until 682.
    assert_eq!(table.done(), [("a", 61), ("b", 71), ("p", 682)]);
}

/// A read waits for collection only if that has its plane, or the whole die.
#[test]
fn waits_are_charged_to_the_plane() {
    let gc = |kind, page| Command::new(kind, Origin::Gc, ServiceId::JOURNAL.owner(0), page);
    let waits = |plane| {
        let mut table = Table::new(apart(plain()));
        table.put_as(0, "gc", gc(Kind::Read, at(0, 0, 0)).carrying(1, 1));
        table.put(0, "a", Kind::Read, at(1, 0, 0)).put(1, "b", Kind::Read, at(plane, 0, 1));
        table.done();
        let (_, spent) = *table.spent.iter().find(|(name, _)| *name == "b").expect("it is done");
        (spent.queue, spent.gc)
    };
    // Collection: cells 0-50, bus 50-60. b on its plane begins at 60, and waits for the bus from 110 to 120 at most.
    assert_eq!(waits(0), (Nanos::ZERO, Nanos(59 * US)));
    // a: cells 0-50, bus 60-70. b waits for it, and not for collection.
    assert_eq!(waits(1), (Nanos(69 * US), Nanos::ZERO));
}
