//! Laws that hold for every reclaim.

use ftlab::device::{Device, assemble, assemble_with};
use ftlab::engine::Stream;
use ftlab::host::{Host, Op};
use ftlab::scheduler::{Activity, Kind};

use super::{ERASE, ONE, PAGE, PROGRAM, READ, Small};
use ftlab_torture::{AnyProbe, Listens};

use crate::common::{alone, closed_loop, request};

const SECTORS: u64 = PAGE / 512;

/// Writes pages, at random or in runs, one after another; `after` each it gets the channel.
fn write_pages(small: &Small, seed: u64, count: u32, mut after: impl FnMut(&Device, usize)) {
    let mut device = assemble(small.setup());
    let mut random = Stream::new(seed, "pages");
    let pages = device.capacity_sectors() / SECTORS;
    let mut page = 0;
    for _ in 0..count {
        // Runs stay in the same channel.
        let next = page + u64::from(small.channels);
        let runs = random.below(8) > 0 && next < pages;
        page = if runs { next } else { random.below(pages) };
        alone(&mut device, request(Op::Write, page * SECTORS, SECTORS as u32, 0));
        after(&device, (page % u64::from(small.channels)) as usize);
    }
    assert_eq!(device.audit(), Ok(()));
}

/// At most T merges, P - T moved pages and an erase bound every wait. In lock-step, whatever the planner.
#[test]
fn a_throttle_bounds_every_stall() {
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
    println!("the longest stall: {nearest:.3} of the bound");
    assert!(nearest > 0.9, "{nearest}");
}

/// Planes that merge along by stealing cycles finish with the one that began, whatever the mapping's merges cost.
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
                // If only one plane ran out of room, the device stalled just as long.
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

/// Notes whether a block was programmed out of order.
struct Order {
    /// By block: the next page.
    next: Vec<u32>,
    pages: u32,
}

impl Listens for Order {
    fn cell(&mut self, activity: &Activity) {
        let (block, page) = (activity.page.get() / self.pages, activity.page.get() % self.pages);
        let next = &mut self.next[block as usize];
        match activity.kind {
            Kind::Program | Kind::Copyback => {
                assert!(page >= *next, "{activity:?}, and {next} is next");
                *next = page + 1;
            }
            Kind::Erase => *next = 0,
            Kind::Read => {}
        }
    }
}

/// Sensing planes together changes the order in which copies are read, not that in which they are programmed.
#[test]
fn merges_program_the_pages_of_a_block_in_order() {
    let small = Small { planes: 4, pages: 12, data: 8, log: 3, bus: true, ..ONE };
    let mut shared = 0;
    for (mapping, rule) in [("log-block", "same-page"), ("fast", "any"), ("bast", "same-page")] {
        let small = Small { mapping, planner: "cycle-stealing", ..small };
        let setup = small.setup_with(&[
            "nand.multi_plane.read=on",
            &format!("nand.multi_plane.address={rule}"),
            "ftl.gc.copies_in_flight=6",
        ]);
        let blocks = setup.ftl.geometry.blocks() as usize;
        let order = Order { next: vec![0; blocks], pages: small.pages };
        let mut device = assemble_with(setup, AnyProbe::new(order), ());
        let mut random = Stream::new(1, "pages");
        let pages = device.capacity_sectors() / SECTORS;
        let write = |_| request(Op::Write, random.below(pages) * SECTORS, SECTORS as u32, 0);
        closed_loop(&mut device, 16, (0..3_000).map(write));
        assert_eq!(device.audit(), Ok(()));
        shared += device.flash().overlaps().multi_plane.iter().sum::<u64>();
    }
    assert!(shared > 100, "{shared} operations were shared");
}

/// Channels that work as one have larger pages, and map only whole ones.
#[test]
fn a_mapping_unit_below_the_page_of_a_gang_is_refused() {
    let alone = Small { channels: 2, ..ONE };
    let gang = Small { planner: "synchronised", ..alone };
    let large = ["nand.page_size=8KiB", "ftl.mapping.unit=8KiB"];
    assert_eq!(alone.load(&large).map(|_| ()), Ok(()));
    let told = gang.load(&large).expect_err("its pages have 16 KiB");
    assert!(told.contains("set ftl.mapping.unit to \"flash-page\""), "{told}");
    assert!(gang.load(&["nand.page_size=8KiB", "ftl.mapping.unit=flash-page"]).is_ok());
}
