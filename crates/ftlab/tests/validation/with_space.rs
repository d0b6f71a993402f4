//! Reads that go first only while their die has free blocks: by hand, on the flash of [`table`](crate::table) (all times in
//! microseconds), and on whole devices beside reads that always go first.

use ftlab::device::assemble;
use ftlab::engine::Stream;
use ftlab::host::{Completion, Host, Op, Request};
use ftlab::scheduler::{
    Command, Kind, Origin, Pausable, ReadFirstWithSpace, ReadFirstWithSpaceOptions, Scheduler,
    ServiceId,
};
use ftlab::units::{DieId, Nanos, SimTime};

use crate::common::{BLOCKS, Spec, fill, poisson, request, timed};
use crate::table::{Set, Table, at, plain, suspending};

fn scheduler() -> Scheduler {
    let options = ReadFirstWithSpaceOptions { short_at: 1, ample_at: 3 };
    Scheduler::ReadFirstWithSpace(ReadFirstWithSpace::new(&options, 1))
}

fn gc(kind: Kind, page: u32) -> Command {
    Command::new(kind, Origin::Gc, ServiceId::JOURNAL.owner(0), at(0, 1, page))
}

impl Table {
    fn free_blocks(&mut self, free_blocks: u32) -> &mut Table {
        self.flash.note_free_blocks(DieId::new(0), Some(free_blocks));
        self
    }
}

#[test]
fn a_read_goes_first_while_there_is_space() {
    // p: bus 0-10, cells until 610. Then r until 670, and q, whose bus is 670-680. Or q, until 1220, and then r.
    let first = [("p", 610), ("r", 670), ("q", 1280)];
    let in_turn = [("p", 610), ("q", 1220), ("r", 1280)];
    for (told, expected) in [
        (&[2][..], first),
        (&[1], in_turn),
        (&[0], in_turn),
        // Short until there is ample space.
        (&[1, 2], in_turn),
        (&[1, 3], first),
        (&[1, 3, 2], first),
    ] {
        let mut table = Table::new(Set { scheduler: scheduler(), ..plain() });
        table.put_as(0, "p", gc(Kind::Program, 0)).put_as(1, "q", gc(Kind::Program, 1));
        for &free_blocks in told {
            table.free_blocks(free_blocks);
        }
        assert_eq!(table.put(2, "r", Kind::Read, at(0, 0, 0)).done(), expected, "{told:?}");
    }
}

#[test]
fn reads_keep_their_order_when_there_is_space_again() {
    let mut table = Table::new(Set { scheduler: scheduler(), ..plain() });
    table.put_as(0, "p", gc(Kind::Program, 0)).put_as(1, "q", gc(Kind::Program, 1));
    table.free_blocks(1).put(2, "a", Kind::Read, at(0, 0, 0));
    table.free_blocks(3).put(3, "b", Kind::Read, at(0, 0, 1));
    // No read waits at 2001.
    table.put_as(2000, "s", gc(Kind::Program, 2)).put_as(2001, "t", gc(Kind::Program, 3));
    table.put(2002, "c", Kind::Read, at(0, 0, 0));
    let done = table.done();
    assert_eq!(done[..4], [("p", 610), ("q", 1220), ("a", 1280), ("b", 1340)]);
    assert_eq!(done[4..], [("s", 2610), ("c", 2670), ("t", 3280)]);
}

#[test]
fn nothing_is_suspended_while_space_is_short() {
    let done = |free_blocks| {
        let set = Set { scheduler: scheduler(), ..suspending(Pausable::Erase, 1) };
        let mut table = Table::new(set);
        table.put_as(0, "e", gc(Kind::Erase, 0)).free_blocks(free_blocks);
        table.put(1000, "r", Kind::Read, at(0, 0, 0)).done()
    };
    assert_eq!(done(2), [("r", 1160), ("e", 3165)]);
    assert_eq!(done(1), [("e", 3000), ("r", 3060)]);
}

/// Reads and writes in the order in which they end, and when, on a device that collects near saturation.
fn near_saturation(spec: Spec) -> Vec<(Op, u32, Nanos)> {
    let spec = spec.set("cache.policy", "none");
    let mut device = assemble(spec.setup());
    let pages = (device.capacity_sectors() / 8) as u32;
    fill(&mut device, 8, 0..pages, 8);
    let mut stream = Stream::new(7, "pages");
    let mut any = || {
        let op = if stream.below(100) < 95 { Op::Read } else { Op::Write };
        (op, stream.below(pages.into()) * 8)
    };
    let requests = (0..60_000).map(|tag| -> Request {
        let (op, lba) = any();
        request(op, lba, 8, tag)
    });
    let start = device.now();
    let arrivals = poisson(3, 120_000.0).map(|at| start + (at - SimTime::ZERO));
    let mut all = Vec::new();
    timed(&mut device, arrivals.zip(requests), |completion: &Completion| {
        all.push((completion.request.op, completion.request.tag, completion.latency()));
    });
    all
}

/// Mean latencies of reads and writes, in microseconds.
fn means(policy: &str) -> (f64, f64) {
    let all = near_saturation(Spec::small().set("scheduler.policy", policy));
    let mean = |op| {
        let of: Vec<f64> =
            all.iter().filter(|done| done.0 == op).map(|done| done.2.0 as f64 / 1e3).collect();
        of.iter().sum::<f64>() / of.len() as f64
    };
    let (reads, writes) = (mean(Op::Read), mean(Op::Write));
    println!("{policy}: reads {reads:.0} us, writes {writes:.0} us");
    (reads, writes)
}

#[test]
fn writes_gain_where_reads_give_way() {
    let (reads_first, writes_last) = means("read-first");
    let (reads, writes) = means("read-first-with-space");
    assert!(reads > reads_first && writes < writes_last);
}

/// A plane of a device that can fail sets a block aside. With one block more it has the same space as one that can't, and
/// reads give way at the same times.
#[test]
fn blocks_set_aside_for_failures_are_no_space() {
    let spec = Spec::small().set("scheduler.policy", "read-first-with-space").holding(96);
    let sound = near_saturation(spec.clone());
    let can_fail = spec.set("nand.faults.program_failures", 1).set(BLOCKS, 17);
    let can_fail = near_saturation(can_fail.holding(96));
    assert_eq!(sound.len(), can_fail.len());
    for (one, other) in sound.iter().zip(&can_fail) {
        assert_eq!(one, other);
    }
}
