//! What holds of every reclaim.

use ftlab::device::{Device, assemble};
use ftlab::engine::Stream;
use ftlab::host::{Host, Op};

use super::{ERASE, ONE, PAGE, PROGRAM, READ, Small};
use crate::common::{alone, request};

const SECTORS: u64 = PAGE / 512;

/// Writes of a page, anywhere or in runs, one after the other; `after` each it is told the channel.
fn write_pages(small: &Small, seed: u64, count: u32, mut after: impl FnMut(&Device, usize)) {
    let mut device = assemble(small.setup());
    let mut random = Stream::new(seed, "pages");
    let pages = device.capacity_sectors() / SECTORS;
    let mut page = 0;
    for _ in 0..count {
        // Runs go on in the same channel.
        let next = page + u64::from(small.channels);
        let runs = random.below(8) > 0 && next < pages;
        page = if runs { next } else { random.below(pages) };
        alone(&mut device, request(Op::Write, page * SECTORS, SECTORS as u32, 0));
        after(&device, (page % u64::from(small.channels)) as usize);
    }
    assert_eq!(device.audit(), Ok(()));
}

/// At most T merges, P - T pages that move, and an erase: nobody waits longer. In lock-step, whatever the planner.
#[test]
fn a_throttle_bounds_every_standstill() {
    let mut nearest = 0.0_f64;
    for planner in ["none", "synchronised", "super-data-block", "cycle-stealing"] {
        for (throttle, log) in [(1, 1), (2, 2), (3, 4)] {
            for (seed, buffer) in
                (0..).zip([None, Some(("gating", 4, false)), Some(("gating", 4, true))])
            {
                let small = Small {
                    planner,
                    throttle: Some(throttle),
                    buffer,
                    clocks: "lock-step",
                    start: "full",
                    channels: 4,
                    pages: 8,
                    data: 16,
                    log,
                    ..ONE
                };
                let (pages, merges) = (u64::from(small.pages), u64::from(throttle));
                let copy = READ + PROGRAM;
                let bound = merges * (pages * copy + ERASE) + (pages - merges) * copy + ERASE;
                let mut before = ftlab::ftl::merge::MergeCounts::default();
                write_pages(&small, seed, 600, |device, _| {
                    let merger = device.merger().expect("a log is merged");
                    let longest = merger.stalls().max().map_or(0, |time| time.0);
                    assert!(longest <= bound, "{longest} ns, not {bound}: {small:?}");
                    assert!(merger.reclaims().most_of_all() <= throttle);
                    nearest = nearest.max(longest as f64 / bound as f64);
                    let now = *merger.counts();
                    if now.reclaims == before.reclaims + 1 && now.moved > before.moved {
                        let own = now.merges() - now.along - (before.merges() - before.along);
                        assert_eq!(own, merges, "pages move only when no more may be merged");
                    }
                    before = now;
                });
                assert!(before.reclaims > 10, "{small:?}: {before:?}");
            }
        }
    }
    println!("the longest standstill: {nearest:.3} of the bound");
    assert!(nearest > 0.9, "{nearest}");
}

/// Whoever merges along by stealing cycles is done when the one that began is: with every mapping, whatever merges of it cost.
#[test]
fn thieves_never_outlast_the_trigger() {
    for mapping in ["log-block", "bast", "fast", "nftl"] {
        for (start, throttle) in [("full", None), ("empty", None), ("full", Some(1))] {
            let small = Small {
                mapping,
                throttle,
                start,
                planner: "cycle-stealing",
                clocks: "lock-step",
                channels: 3,
                pages: 6,
                data: 8,
                log: 3,
                ..ONE
            };
            let (mut before, mut thefts) = (vec![0; 3], 0);
            let (mut reclaims, mut along) = (0, 0);
            write_pages(&small, 1, 3_000, |device, trigger| {
                let busy: Vec<u64> =
                    device.flash().die_busy(device.now()).map(|time| time.0).collect();
                let mut spent: Vec<u64> = busy.iter().zip(&before).map(|(a, b)| a - b).collect();
                spent[trigger] -= PROGRAM;
                before = busy;
                let counts = device.merger().expect("a log is merged").counts();
                let longest = *spent.iter().max().expect("channels");
                assert_eq!(
                    spent[trigger], longest,
                    "{small:?}, channel {trigger}: {spent:?}, {counts:?}"
                );
                // Where only one plane ran out of room, the device stood still for as long.
                if counts.reclaims == reclaims + 1 && counts.along + counts.erased_along > along {
                    thefts += 1;
                }
                (reclaims, along) = (counts.reclaims, counts.along + counts.erased_along);
            });
            println!("{mapping}, {start}, {throttle:?}: {thefts} thefts of {reclaims} reclaims");
            assert!(thefts > 20, "{small:?}: {thefts} of {reclaims}");
        }
    }
}
