//! The life of a pack, step by step: where every part lies, what it holds, and what it cost.

use ftlab::ftl::gc::{Purpose, Wanted};
use ftlab::host::Op;
use ftlab::scheduler::{Kind, Origin};
use ftlab::units::Ppn;

use super::{Hand, sectors, spec};

/// Pages 0 to 3 are whole on flash; then the first half of page 0 and the second of page 1 are packed,
/// which the first write of page 2 triggers. Returns their place, and the two places before.
fn packed() -> (Hand, Ppn, [Ppn; 2]) {
    let mut hand = Hand::filled(&spec(), 4);
    let before = [0, 1].map(|page| hand.place(page));
    let (programs, packs) = (hand.programs(), hand.packs());
    assert_eq!(hand.write(0, 0, 4), 6);
    assert_eq!(hand.write(1, 4, 8), 7);
    assert_eq!((hand.programs(), hand.packs()), (programs, packs), "both are in the buffer");
    assert_eq!(hand.write(2, 0, 8), 8);
    assert_eq!((hand.programs(), hand.packs()), (programs + 1, packs + 1));
    assert_eq!(hand.done(Origin::ReadModifyWrite, Kind::Read), 0);
    let [(at, first), (older, rest)] = hand.parts(0)[..] else { panic!("{:?}", hand.parts(0)) };
    assert_eq!((first, older, rest), (sectors(0, 4), before[0], sectors(4, 8)));
    assert_eq!(hand.parts(1), [(at, sectors(4, 8)), (before[1], sectors(0, 4))]);
    assert!(hand.is_valid(at) && before.iter().all(|&before| hand.is_valid(before)));
    (hand, at, before)
}

#[test]
fn a_read_costs_one_flash_read_for_each_part_that_it_touches() {
    let (mut hand, ..) = packed();
    for (page, first, end, found, reads) in [
        (0, 0, 4, vec![6; 4], 1),
        (0, 5, 7, vec![1; 2], 1),
        (0, 3, 5, vec![6, 1], 2),
        (0, 0, 8, vec![6, 6, 6, 6, 1, 1, 1, 1], 2),
        (1, 0, 8, vec![2, 2, 2, 2, 7, 7, 7, 7], 2),
        (2, 0, 8, vec![8; 8], 0),
        (3, 0, 8, vec![4; 8], 1),
    ] {
        let before = hand.done(Origin::Host, Kind::Read);
        assert_eq!(hand.read(page, first, end), found, "page {page}, {first}..{end}");
        let after = hand.done(Origin::Host, Kind::Read);
        assert_eq!(after - before, reads, "page {page}, {first}..{end}");
    }
}

/// A third part is never made: a write that touches both parts programs all that they hold.
#[test]
fn a_write_that_would_make_a_third_part_gathers_the_page() {
    let (mut hand, at, before) = packed();
    hand.flush();
    let (programs, packs) = (hand.programs(), hand.packs());
    // It leaves some of both parts, so it can't be packed with the small write of page 3.
    assert_eq!(hand.write(0, 2, 6), 10);
    assert_eq!(hand.write(3, 0, 1), 11);
    assert_eq!(hand.write(2, 0, 8), 12);
    assert_eq!((hand.programs(), hand.packs()), (programs + 1, packs));
    assert_eq!(hand.done(Origin::ReadModifyWrite, Kind::Read), 2, "one for each part");
    let gathered = hand.place(0);
    assert!(gathered != at && gathered != before[0]);
    assert_eq!(hand.parts(1), [(at, sectors(4, 8)), (before[1], sectors(0, 4))]);
    // Page 1 still lies in the pack.
    assert_eq!([at, before[0], before[1]].map(|at| hand.is_valid(at)), [true, false, true]);
    assert_eq!(hand.read(0, 0, 8), [6, 6, 10, 10, 10, 10, 1, 1]);
    assert_eq!(hand.read(1, 0, 8), [2, 2, 2, 2, 7, 7, 7, 7]);
}

/// A part that owns nothing any more is dropped, so the page may be packed again.
#[test]
fn a_part_that_is_overwritten_is_dropped_and_the_page_is_packed_again() {
    let (mut hand, at, before) = packed();
    hand.flush();
    let packs = hand.packs();
    // Everything that the older part has left.
    assert_eq!(hand.write(0, 4, 8), 10);
    assert_eq!(hand.write(3, 0, 4), 11);
    hand.write(2, 0, 8);
    assert_eq!(hand.packs(), packs + 1);
    let [(newer, first), (older, second)] = hand.parts(0)[..] else { panic!("two parts") };
    assert_eq!((first, older, second), (sectors(4, 8), at, sectors(0, 4)));
    assert_eq!([newer, at, before[0]].map(|at| hand.is_valid(at)), [true, true, false]);
    assert_eq!(hand.read(0, 0, 8), [6, 6, 6, 6, 10, 10, 10, 10]);
    assert_eq!(hand.read(3, 0, 8), [11, 11, 11, 11, 4, 4, 4, 4]);
    // Half of the newer part: the page would then have three parts.
    hand.flush();
    hand.write(0, 4, 6);
    hand.write(1, 4, 8);
    hand.write(2, 0, 8);
    assert_eq!(hand.packs(), packs + 1);
    assert_eq!(hand.parts(0).len(), 1);
}

#[test]
fn a_trim_of_one_owner_leaves_the_other_and_one_of_both_frees_the_page() {
    let (mut hand, at, before) = packed();
    hand.trim(0);
    assert_eq!(hand.parts(0), []);
    assert_eq!([at, before[0], before[1]].map(|at| hand.is_valid(at)), [true, false, true]);
    assert_eq!(hand.read(0, 0, 8), [0; 8]);
    assert_eq!(hand.read(1, 0, 8), [2, 2, 2, 2, 7, 7, 7, 7]);
    hand.trim(1);
    assert_eq!([at, before[0], before[1]].map(|at| hand.is_valid(at)), [false; 3]);
    assert_eq!(hand.read(1, 0, 8), [0; 8]);
    // Another page with the same number does not see the old data.
    let newer = hand.write(0, 6, 8);
    hand.flush();
    assert_eq!(hand.read(0, 0, 8), [0, 0, 0, 0, 0, 0, newer, newer]);
}

/// Whole writes of both owners free the page, one after another.
#[test]
fn a_shared_page_is_free_when_its_last_owner_left_it() {
    let (mut hand, at, before) = packed();
    hand.write(0, 0, 8);
    hand.flush();
    assert_eq!([at, before[0], before[1]].map(|at| hand.is_valid(at)), [true, false, true]);
    hand.write(1, 0, 8);
    hand.flush();
    assert_eq!([at, before[0], before[1]].map(|at| hand.is_valid(at)), [false; 3]);
}

/// Collects the block of the pack. Returns how many pages were copied.
fn collect(hand: &mut Hand, at: Ppn) -> u64 {
    // The block must be full.
    let block = hand.device.flash().geometry().block_of(at);
    for page in 4..8 {
        hand.write(page, 0, 8);
    }
    hand.flush();
    let copied = hand.device.ftl_counts().gc_pages;
    assert!(hand.device.collect(Wanted { block, purpose: Purpose::WearLevel }));
    hand.settle();
    hand.device.ftl_counts().gc_pages - copied
}

#[test]
fn collection_moves_a_shared_page_as_one() {
    let (mut hand, at, before) = packed();
    let block = hand.device.flash().geometry().block_of(at);
    let copied = collect(&mut hand, at);
    let valid = (0..8).flat_map(|page| hand.parts(page)).filter(|&(at, _)| at != before[0]);
    assert!(valid.clone().all(|(at, _)| hand.device.flash().geometry().block_of(at) != block));
    let [(moved, first), (older, rest)] = hand.parts(0)[..] else { panic!("two parts") };
    assert_ne!(moved, at);
    assert_eq!((first, older, rest), (sectors(0, 4), before[0], sectors(4, 8)));
    assert_eq!(hand.parts(1), [(moved, sectors(4, 8)), (before[1], sectors(0, 4))]);
    // The pack, page 2 and pages 4 and 5 filled the block.
    assert_eq!(copied, 4);
    assert_eq!(hand.read(0, 0, 8), [6, 6, 6, 6, 1, 1, 1, 1]);
    assert_eq!(hand.read(1, 0, 8), [2, 2, 2, 2, 7, 7, 7, 7]);
}

/// An owner that has left is not copied, and data that comes there later is not found under its number.
#[test]
fn collection_moves_a_shared_page_for_the_owner_that_is_left() {
    let (mut hand, at, before) = packed();
    hand.trim(0);
    assert_eq!(collect(&mut hand, at), 4);
    assert_eq!(hand.parts(0), []);
    let [(moved, second), (older, rest)] = hand.parts(1)[..] else { panic!("two parts") };
    assert_ne!(moved, at);
    assert_eq!((second, older, rest), (sectors(4, 8), before[1], sectors(0, 4)));
    assert_eq!(hand.read(1, 0, 8), [2, 2, 2, 2, 7, 7, 7, 7]);
    hand.write(1, 0, 8);
    hand.flush();
    assert!(!hand.is_valid(moved), "no owner is left there");
}

/// Both parts of a page move, each on its own.
#[test]
fn collection_moves_the_older_part_alone() {
    let (mut hand, at, before) = packed();
    assert_eq!(collect(&mut hand, before[0]), 3, "what is left of pages 0 and 1, and page 3");
    let [(newer, _), (moved, rest)] = hand.parts(0)[..] else { panic!("two parts") };
    assert_eq!((newer, rest), (at, sectors(4, 8)));
    assert_ne!(moved, before[0]);
    assert_eq!(hand.read(0, 0, 8), [6, 6, 6, 6, 1, 1, 1, 1]);
}

/// An owner trimmed while its pack is programmed stays trimmed; the other one arrives.
#[test]
fn a_trim_of_one_owner_while_the_pack_is_programmed() {
    let mut hand = Hand::filled(&spec(), 4);
    hand.write(0, 0, 4);
    let newer = hand.write(1, 4, 8);
    hand.submit(Op::Write, 2, 0, 8);
    assert_eq!(hand.packs(), 1, "it is being programmed");
    hand.trim(0);
    assert_eq!((hand.parts(0), hand.parts(1).len()), (vec![], 2));
    assert_eq!(hand.read(0, 0, 8), [0; 8]);
    assert_eq!(hand.read(1, 2, 6), [2, 2, newer, newer]);
}

/// A read takes so long that its data is written again meanwhile, packed and programmed, on another die.
/// The rest of its page still lies where it was read; but the data read is no longer current, and is not kept.
#[test]
fn a_read_that_was_overtaken_by_a_newer_part_is_not_kept() {
    let spec = spec().set("nand.dies_per_chip", 2).set("cache.keep_reads", "on").holding(24);
    let spec = spec.set("cache.programs_per_die", 4);
    let mut hand = Hand::filled(&spec, 8);
    let die = |hand: &Hand, page| {
        let geometry = hand.device.flash().geometry();
        geometry.die_of(geometry.plane_of(geometry.block_of(hand.place(page))))
    };
    let beside = (4..8).find(|&page| die(&hand, page) == die(&hand, 0));
    let beside = beside.expect("pages lie on both dies");
    for _ in 0..60 {
        hand.submit(Op::Read, beside, 0, 8);
    }
    let slow = hand.submit(Op::Read, 0, 4, 8);
    let newer = hand.submit(Op::Write, 0, 4, 8);
    hand.submit(Op::Write, 1, 0, 4);
    hand.submit(Op::Write, 2, 0, 8);
    let done = hand.settle();
    let at = |tag| done.iter().find(|one| one.request.tag == tag).expect("done").finished;
    assert_eq!(hand.packs(), 1);
    assert!(at(slow) > at(newer + 2), "the pack was on flash before the read was done");
    assert_eq!(hand.found(slow, 0, 4, 8), [1; 4], "it was in flight when the write came");
    assert_eq!(hand.parts(0)[0].1, sectors(4, 8));
    assert_eq!(hand.read(0, 0, 8), [1, 1, 1, 1, newer, newer, newer, newer]);
}
