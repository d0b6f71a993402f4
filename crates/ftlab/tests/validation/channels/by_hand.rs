//! Timelines worked out by hand. Pages of two sectors, data blocks of four pages; a program takes
//! 10, a read 1, an erase 100, so a merge takes 4 * 11 + 100 = 144 and a move 11.

use super::machine::{Machine, Params, Placement, Planner, Times};

const CYCLE: u64 = 10;
const MERGE: u64 = 144;
const MOVE: u64 = 11;
const ERASE: u64 = 100;
const PAGE_BYTES: u64 = 1024;

fn tiny(channels: u32, planner: Planner) -> Params {
    Params {
        channels,
        sectors_per_page: 2,
        pages_per_block: 4,
        data_blocks: 8,
        log_blocks: 2,
        times: Times { read: 1, program: CYCLE, erase: ERASE },
        planner,
        throttle: None,
        buffer_bytes: 0,
        in_order: false,
    }
}

/// One request for each whole page.
fn write_pages(machine: &mut Machine, pages: &[u64]) {
    pages.iter().for_each(|page| machine.write(2 * page, 2));
}

/// The first block holds pages 0 4 8 12, the second 0 1 4 8: only 12 is left in the first. Page 5
/// finds no room: data block 3 is merged, the first block erased, and 5 opens another.
#[test]
fn a_reclaim() {
    let mut machine = Machine::new(tiny(1, Planner::None));
    write_pages(&mut machine, &[0, 4, 8, 12, 0, 1, 4, 8]);
    assert_eq!(machine.now(), 8 * CYCLE);
    assert_eq!(machine.placement(12), Placement::Log { block: 0, slot: 3 });
    write_pages(&mut machine, &[5]);
    assert_eq!(machine.now(), 8 * CYCLE + MERGE + ERASE + CYCLE);
    assert_eq!(machine.placement(12), Placement::Data);
    assert_eq!(machine.placement(0), Placement::Log { block: 0, slot: 0 });
    assert_eq!(machine.placement(5), Placement::Log { block: 1, slot: 0 });
    assert_eq!(machine.read(12), 4);
    let record = machine.finish();
    assert_eq!(record.reclaims[0].start, 8 * CYCLE);
    assert_eq!(record.erases(), [2]);
}

/// The first block holds 0 4 8 12, the second 1 2 3 5. At most two merges: data block 0 takes pages
/// 0 to 3, data block 1 takes 4 and 5; 8 and 12 move to the spare, and 9 and 10 follow them. The
/// second block is empty now: an erase makes room for page 0.
#[test]
fn a_throttled_reclaim() {
    let mut machine = Machine::new(Params { throttle: Some(2), ..tiny(1, Planner::None) });
    write_pages(&mut machine, &[0, 4, 8, 12, 1, 2, 3, 5, 9]);
    let first = 2 * MERGE + 2 * MOVE + ERASE;
    assert_eq!(machine.now(), 9 * CYCLE + first);
    assert_eq!(machine.placement(8), Placement::Log { block: 1, slot: 0 });
    assert_eq!(machine.placement(12), Placement::Log { block: 1, slot: 1 });
    assert_eq!(machine.placement(9), Placement::Log { block: 1, slot: 2 });
    assert!([0, 1, 2, 3, 4, 5].iter().all(|page| machine.placement(*page) == Placement::Data));
    write_pages(&mut machine, &[10, 0]);
    assert_eq!(machine.now(), 11 * CYCLE + first + ERASE);
    let record = machine.finish();
    let merges: Vec<u32> = record.reclaims.iter().map(|reclaim| reclaim.merges).collect();
    assert_eq!(merges, [2, 0]);
    assert_eq!(record.moved, [2]);
    assert_eq!(record.log_erases, [2]);
}

/// Channel 1 holds its pages 0 4 1 5 in a closed block and 8 in an open one; channel 0 holds
/// 0 4 8 9 and 0 1 12 13, so 4 8 9 are left in its oldest block, of data blocks 1 and 2. Its page 5
/// makes it reclaim.
fn before_the_theft(planner: Planner) -> Machine {
    let mut machine = Machine::new(tiny(2, planner));
    write_pages(&mut machine, &[0, 4, 1, 5, 8].map(|local| 2 * local + 1));
    write_pages(&mut machine, &[0, 4, 8, 9, 0, 1, 12, 13, 5].map(|local| 2 * local));
    assert_eq!(machine.now(), 14 * CYCLE + 2 * MERGE + ERASE);
    machine
}

/// Channel 1 merges two as well, those of its oldest pages: 0 and 1. Its closed block is empty then.
#[test]
fn a_theft() {
    let machine = before_the_theft(Planner::CycleStealing);
    assert_eq!(machine.placement(2 * 8 + 1), Placement::Log { block: 0, slot: 0 });
    assert!([0, 1, 4, 5].iter().all(|local| machine.placement(2 * local + 1) == Placement::Data));
    let record = machine.finish();
    assert_eq!((record.merges, record.log_erases), (vec![2, 2], vec![1, 1]));
    assert_eq!(record.reclaims[0].others_merges, 2);
}

/// Data blocks 1 and 2 of channel 1 hold 4, 5 and 8; 0 and 1 stay in its log, so the block
/// stays too.
#[test]
fn a_super_data_block() {
    let machine = before_the_theft(Planner::SuperDataBlock);
    assert!([4, 5, 8].iter().all(|local| machine.placement(2 * local + 1) == Placement::Data));
    for (local, slot) in [(0, 0), (1, 2)] {
        assert_eq!(machine.placement(2 * local + 1), Placement::Log { block: 0, slot });
    }
    let record = machine.finish();
    assert_eq!((record.merges, record.log_erases), (vec![2, 2], vec![1, 0]));
}

#[test]
fn nobody_helps() {
    let machine = before_the_theft(Planner::None);
    assert_eq!(machine.placement(2 * 8 + 1), Placement::Log { block: 1, slot: 0 });
    let record = machine.finish();
    assert_eq!((record.merges, record.log_erases), (vec![2, 0], vec![1, 0]));
}

/// Channel 1, with three log blocks, has written `stolen`; channel 0 then reclaims a block with only
/// page 12 left: one merge.
fn one_stolen_merge(stolen: &[u64]) -> Machine {
    let mut machine = Machine::new(Params { log_blocks: 3, ..tiny(2, Planner::CycleStealing) });
    stolen.iter().for_each(|local| write_pages(&mut machine, &[2 * local + 1]));
    let trigger = [0, 4, 8, 12, 0, 4, 8, 1, 0, 0, 0, 0, 13];
    trigger.iter().for_each(|local| write_pages(&mut machine, &[2 * local]));
    assert_eq!(machine.record().reclaims.len(), 1);
    assert_eq!(machine.record().merges, [1, 1]);
    assert_eq!(machine.record().log_erases, [1, 1]);
    machine
}

/// A full block is closed even before the next one is opened.
#[test]
fn a_thief_erases_its_only_block() {
    let mut machine = one_stolen_merge(&[0, 1, 2, 3]);
    write_pages(&mut machine, &[2 * 5 + 1]);
    assert_eq!(machine.placement(2 * 5 + 1), Placement::Log { block: 0, slot: 0 });
}

/// Merging 3, the oldest page, leaves the first and the third block empty; 8 is in the second.
#[test]
fn a_thief_erases_the_oldest_of_its_empty_blocks() {
    let machine = one_stolen_merge(&[0, 1, 2, 3, 8, 0, 1, 2, 0, 1, 2, 0]);
    assert_eq!(machine.placement(2 * 8 + 1), Placement::Log { block: 0, slot: 0 });
}

/// Both channels of a request are full: channel 1, whose page comes first, collects, and what channel
/// 0 steals meanwhile frees a block there too, so no second reclaim is needed. A super data block's
/// blocks are merged, but not erased: the second reclaim merges nothing.
#[test]
fn a_theft_makes_room_for_the_same_cycle() {
    let fill = |planner| {
        let mut machine = Machine::new(tiny(2, planner));
        [0, 4, 8, 12, 1, 5, 9, 13].iter().for_each(|local| machine.write(4 * local, 4));
        assert_eq!(machine.now(), 8 * CYCLE);
        machine.write(2 * 33 + 1, 2);
        let record = machine.finish();
        let channels = record.reclaims.iter().map(|reclaim| reclaim.channel);
        (record.time, channels.collect::<Vec<_>>())
    };
    // Its two pages are partial, so the cycle reads first.
    let cycles = 9 * CYCLE + 1;
    assert_eq!(fill(Planner::CycleStealing), (cycles + 4 * MERGE + ERASE, vec![1]));
    assert_eq!(fill(Planner::SuperDataBlock), (cycles + 4 * MERGE + 2 * ERASE, vec![1, 0]));
    assert_eq!(fill(Planner::None), (cycles + 8 * MERGE + 2 * ERASE, vec![1, 0]));
}

/// Four channels, room for four pages: requests for pages 1 2, 4 5, 7 8, half of 3, and 0. The third
/// finds the buffer full; a write-back takes 1, 2 and 4, while 5 (also channel 1) waits. The fifth
/// finds 5 7 8 3: 3 waits for 7, and goes with 0 at the end, after a read.
#[test]
fn gating_writes_back() {
    let mut machine =
        Machine::new(Params { buffer_bytes: 4 * PAGE_BYTES, ..tiny(4, Planner::None) });
    let requests = [(1, 4, 0), (4, 4, 0), (7, 4, CYCLE), (3, 1, CYCLE), (0, 2, 2 * CYCLE)];
    for (page, sectors, acknowledged) in requests {
        machine.write(2 * page, sectors);
        assert_eq!(machine.now(), acknowledged, "page {page}");
    }
    assert_eq!(machine.placement(3), Placement::Buffer);
    assert_eq!(machine.placement(8), Placement::Log { block: 0, slot: 1 });
    let record = machine.finish();
    assert_eq!((record.time, record.write_cycles, record.written_pages), (3 * CYCLE + 1, 3, 8));
}

/// Pages 1, 5, 2, 6 and 0 with room for four. In any order: 1 and 2 go together, then 5, 6 and 0.
/// In write order: 1 goes alone, since 5 is on the same channel; then 5 with 2, then 6 with 0.
#[test]
fn integrity() {
    for (in_order, cycles) in [(false, 2), (true, 3)] {
        let gating = Params { buffer_bytes: 4 * PAGE_BYTES, in_order, ..tiny(4, Planner::None) };
        let mut machine = Machine::new(gating);
        write_pages(&mut machine, &[1, 5, 2, 6]);
        assert_eq!(machine.now(), 0);
        write_pages(&mut machine, &[0]);
        assert_eq!(machine.now(), CYCLE);
        assert_eq!(machine.placement(2) == Placement::Buffer, in_order);
        let record = machine.finish();
        assert_eq!((record.time, record.write_cycles), (cycles * CYCLE, cycles));
    }
}

/// Five pages never fit into four: the buffer's content goes first, then they go on their own.
/// A page written twice is in the buffer twice.
#[test]
fn too_large_for_the_buffer() {
    let mut machine =
        Machine::new(Params { buffer_bytes: 4 * PAGE_BYTES, ..tiny(4, Planner::None) });
    write_pages(&mut machine, &[1, 1]);
    machine.write(2 * 8, 10);
    assert_eq!(machine.now(), 4 * CYCLE);
    let record = machine.finish();
    assert_eq!((record.write_cycles, record.written_pages), (4, 7));
}

/// Super pages of 4 KiB and a buffer of 3 KiB: there is no room for one. In 4 KiB there is; the
/// second request finds it taken.
#[test]
fn a_super_page_in_the_buffer() {
    for (buffer_bytes, acknowledged) in [(3 * PAGE_BYTES, 2 * CYCLE), (4 * PAGE_BYTES, CYCLE)] {
        let mut machine = Machine::new(Params { buffer_bytes, ..tiny(4, Planner::Synchronised) });
        machine.write(0, 8);
        machine.write(8, 8);
        assert_eq!(machine.now(), acknowledged);
    }
}
