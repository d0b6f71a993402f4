//! Rewrites that go where a superblock continues: sequences on one page as without superblocks, and a program that waits
//! until its die, another one, is idle.

use ftlab::host::Op;
use ftlab::nand::Kind;
use ftlab::scheduler::Origin;
use ftlab::units::Lpn;

use super::{Item, device, play, setting};

/// Two dies of one plane, no bus, the paper's table.
const SMALL: [&str; 9] = [
    "nand.channels=2",
    "nand.chips_per_channel=1",
    "nand.planes_per_die=1",
    "nand.blocks_per_plane=64",
    "nand.pages_per_block=16",
    "ftl.over_provisioning=300%",
    "cache.latency=0ns",
    "ftl.placement.policy=dynamic",
    "ftl.cost.policy=agcr",
];
const SUPERBLOCKS: &str = "ftl.superblock.policy=all";
const PARITY: [&str; 2] = ["ftl.parity.policy=dies", "ftl.parity.width=2"];
const US: u64 = 1_000;

fn item(at: u64, op: Op, page: u64) -> Item {
    Item { at: 1 + at * US, op, page }
}

/// The rewritten page is read at low cost, wherever it lies. With parity, a stripe of two dies has a page of parity for
/// each page of data, which a rewrite brings as a write does.
#[test]
fn one_page_costs_what_it_does_without_superblocks() {
    let both = [&[SUPERBLOCKS][..], &PARITY].concat();
    for sets in [&[SUPERBLOCKS][..], &PARITY, &both] {
        let mut device = device(&setting(&[&SMALL[..], sets].concat()));
        let items: Vec<Item> = (0..)
            .zip("WWRRRWRRRWWR".chars())
            .map(|(at, op)| item(at * 10_000, if op == 'W' { Op::Write } else { Op::Read }, 0))
            .collect();
        let expected = [800, 450, 310, 310, 70, 600, 170, 170, 170, 600, 450, 310];
        assert_eq!(play(&mut device, &items), expected.map(|took| took * US), "{sets:?}");
        assert_eq!(device.rewriter().map(|rewriter| rewriter.counts().done), Some(1));
        let programs = device.flash().done()[Origin::Rewrite as usize][Kind::Program as usize];
        assert_eq!(programs, if sets == [SUPERBLOCKS] { 1 } else { 2 }, "{sets:?}");
        assert_eq!(device.ftl().audit(), Ok(()));
    }
}

/// Page 0 lies on die 1 at low cost, and its second read there ends at 310 us. The rewrite reads it until 620 us. The
/// first superblock of rewrites begins on die 0, on which a write of page 1 takes 800 us from 400 us on. So the copy is
/// programmed from 1,200 to 2,000 us. A read of page 1 that comes at 1,300 us waits for it, and a read of page 0, which
/// still lies on die 1, does not. A copy that was overwritten while it waited is dropped.
#[test]
fn a_copy_waits_until_the_die_where_it_goes_is_idle() {
    let run = |overwritten: bool| {
        let mut device = device(&setting(&[&SMALL[..], &[SUPERBLOCKS]].concat()));
        let begin = 100_000;
        let mut items = vec![
            item(0, Op::Write, 0),
            item(10_000, Op::Write, 0),
            item(20_000, Op::Read, 0),
            item(begin, Op::Read, 0),
            item(begin + 400, Op::Write, 1),
        ];
        if overwritten {
            items.push(item(begin + 700, Op::Write, 0));
        }
        items.push(item(begin + 1_300, Op::Read, 1));
        items.push(item(begin + 1_400, Op::Read, 0));
        items.push(item(begin + 50_000, Op::Read, 0));
        let took = play(&mut device, &items).iter().map(|took| took / US).collect::<Vec<_>>();
        let counts = *device.rewriter().expect("AGCR rewrites").counts();
        let at = device.ftl().look_up(Lpn::new(0)).expect("the page was written");
        (took, counts, device.flash().geometry().die_of_page(at).get())
    };
    let (took, counts, die) = run(false);
    assert_eq!(took, [800, 450, 310, 310, 800, 700 + 70, 310, 70]);
    assert_eq!((counts.done, counts.pages, die), (1, 1, 0));
    // The new copy of page 0, at medium cost, is on die 1 from 700 to 1,300 us.
    let (took, counts, die) = run(true);
    assert_eq!(took, [800, 450, 310, 310, 800, 600, 70, 170, 170]);
    assert_eq!((counts.done, counts.written, die), (0, 1, 1));
}
