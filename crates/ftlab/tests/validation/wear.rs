//! Static wear levelling on a load that wears few blocks: how far erase counts drift apart with and
//! without it, what each policy promises, and how long devices with blocks of limited life last.

use ftlab::device::{Device, assemble};
use ftlab::engine::Stream;
use ftlab::ftl::BlockState;
use ftlab::ftl::gc::Purpose;
use ftlab::host::{Op, Request};
use ftlab::units::BlockId;

use crate::common::{self, Spec, closed_loop, fill, request};

const BLOCKS: u32 = 64;
const WRITES: u32 = 120_000;

/// Flash pages of a block.
const PAGES: u32 = 12;

/// One plane, 80 % of it full.
fn spec() -> Spec {
    Spec::small().set(common::BLOCKS, BLOCKS).holding(BLOCKS * PAGES / 10 * 8)
}

/// Idle data moves when erase counts are `limit` apart.
fn threshold(limit: u32) -> Spec {
    spec().set("ftl.wear.policy", "threshold").set("ftl.wear.threshold", limit)
}

fn bet(unevenness: u32) -> Spec {
    spec().set("ftl.wear.policy", "bet").set("ftl.wear.unevenness", unevenness)
}

/// Nine of ten writes go to the first tenth of the pages, the others to the second tenth; the rest
/// is never written.
fn hot_and_cold(pages: u32, count: u32) -> impl Iterator<Item = Request> {
    let mut stream = Stream::new(11, "hot and cold");
    let tenth = u64::from(pages / 10);
    (0..count).map(move |tag| {
        let first = if stream.below(10) < 9 { 0 } else { tenth };
        request(Op::Write, (first + stream.below(tenth)) * 8, 8, tag)
    })
}

/// The spread of the erase counts.
struct Wear {
    /// Of the least worn closed block.
    least: u32,
    most: u32,
    mean: f64,
}

impl Wear {
    fn of(device: &Device) -> Wear {
        let blocks = device.ftl().blocks();
        let all = (0..BLOCKS).map(BlockId::new);
        let closed = all.filter(|&block| blocks.state(block) == BlockState::Closed);
        Wear {
            least: closed.map(|block| blocks.erases(block)).min().unwrap(),
            most: blocks.all_erases().max().unwrap(),
            mean: f64::from(blocks.all_erases().sum::<u32>()) / f64::from(BLOCKS),
        }
    }

    fn spread(&self) -> u32 {
        self.most.saturating_sub(self.least)
    }
}

/// Fills the device and runs hot and cold writes; `look` inspects it every few writes.
fn run(spec: &Spec, mut look: impl FnMut(&Device)) -> Device {
    let mut device = assemble(spec.setup());
    fill(&mut device, 4, 0..spec.logical_pages(), 8);
    let mut load = hot_and_cold(spec.logical_pages(), WRITES);
    loop {
        let some: Vec<_> = load.by_ref().take(12).collect();
        if some.is_empty() {
            assert_eq!(device.ftl().audit(), Ok(()));
            return device;
        }
        closed_loop(&mut device, 4, some);
        look(&device);
    }
}

fn moves(device: &Device) -> u64 {
    device.ftl_counts().by_purpose[Purpose::WearLevel as usize].runs
}

/// With as many moves as there are blocks, no closed block is ever further behind than the threshold
/// plus the one cycle that triggers the moves.
#[test]
fn the_threshold_bounds_the_spread() {
    for (free_block, limit) in [("oldest", 10), ("least-worn", 3)] {
        let spec = threshold(limit).set("ftl.wear.free_block", free_block);
        let spec = spec.set("ftl.wear.moves", BLOCKS);
        let mut worst = 0;
        let device = run(&spec, |device| worst = worst.max(Wear::of(device).spread()));
        let moves = moves(&device);
        println!("{free_block}: threshold {limit}, spread up to {worst}, {moves} moves");
        assert!(worst > limit / 2 && worst <= limit + 1, "{worst}");
    }
}

/// One move for each collection, as by default: the spread may exceed the threshold, but recovers.
#[test]
fn one_move_at_a_time_keeps_up() {
    let without = Wear::of(&run(&spec(), |_| ()));
    let mut worst = 0;
    let device = run(&threshold(10), |device| worst = worst.max(Wear::of(device).spread()));
    let Wear { least, most, mean } = Wear::of(&device);
    println!("without: {} to {}, mean {:.1}", without.least, without.most, without.mean);
    println!(
        "with: {least} to {most}, mean {mean:.1}, spread up to {worst}, {} moves",
        moves(&device)
    );
    let others = device.ftl_counts().by_purpose[Purpose::Space as usize].runs;
    assert!(without.least == 0 && without.most > 200);
    assert!(moves(&device) > 0 && moves(&device) <= others);
    assert!(worst < without.spread() / 4, "{worst}");
}

/// Every block is erased in each interval, and an interval has about as many erases as the unevenness
/// allows.
#[test]
fn the_table_bounds_the_share_of_the_least_worn() {
    const UNEVENNESS: u32 = 8;
    let mut checked = 0;
    let device = run(&bet(UNEVENNESS), |device| {
        let Wear { least, mean, .. } = Wear::of(device);
        // A set that can't be emptied at the moment adds a little to an interval.
        let intervals = mean / f64::from(UNEVENNESS + 1);
        checked += u32::from(intervals > 2.0);
        assert!(f64::from(least) >= intervals.floor() - 1.0, "{least} erases, mean {mean}");
    });
    let Wear { least, most, mean } = Wear::of(&device);
    println!("{least} to {most}, mean {mean:.1}, {} moves", moves(&device));
    assert!(checked > 1_000 && moves(&device) > 100);
}

/// Sets of several blocks are emptied together.
#[test]
fn a_set_is_emptied_together() {
    let device = run(&bet(8).set("ftl.wear.set_blocks", 4), |_| ());
    let least = device.ftl().blocks().all_erases().min().unwrap();
    println!("least worn {least}, {} moves", moves(&device));
    assert!(least > 0);
}

/// Each block bears `cycles` erases.
fn lasting(spec: Spec, cycles: u32) -> Spec {
    spec.set("nand.endurance.policy", "fixed").set("nand.endurance.cycles", cycles)
}

/// The budget of a device: each block is filled once more than it can be erased. No load gets more out of
/// it, and one that wears all blocks alike gets nearly all of it, divided by its write amplification.
#[test]
fn an_even_load_uses_up_the_endurance() {
    const CYCLES: u32 = 100;
    let spec = lasting(spec(), CYCLES);
    let mut device = assemble(spec.setup());
    let mut stream = Stream::new(3, "even");
    fill(&mut device, 4, 0..spec.logical_pages(), 8);
    while !device.ftl().is_read_only() {
        let page = stream.below(u64::from(spec.logical_pages()));
        closed_loop(&mut device, 1, [request(Op::Write, page * 8, 8, 0)]);
    }
    let counts = device.ftl_counts();
    let programmed = counts.host_pages + counts.gc_pages;
    let budget = u64::from((CYCLES + 1) * BLOCKS * PAGES);
    let used = programmed as f64 / budget as f64;
    let amplification = programmed as f64 / counts.host_pages as f64;
    println!("{:.2} % of the budget, write amplification {amplification:.3}", 100.0 * used);
    assert!(used <= 1.0, "blocks were filled more often than they can be: {used}");
    assert!(used > 0.9, "an even load wears blocks unevenly: {used}");
}

/// Pages written until the device takes no more.
fn lifetime(spec: Spec) -> u64 {
    let spec = lasting(spec, 100);
    let mut device = assemble(spec.setup());
    fill(&mut device, 4, 0..spec.logical_pages(), 8);
    let mut load = hot_and_cold(spec.logical_pages(), u32::MAX);
    while !device.ftl().is_read_only() {
        closed_loop(&mut device, 1, load.by_ref().take(1));
    }
    assert_eq!(device.ftl().audit(), Ok(()));
    device.ftl_counts().host_pages
}

#[test]
fn devices_live_longer() {
    let [none, threshold, bet] = [spec(), threshold(10), bet(8)].map(|spec| {
        println!("{spec:?}");
        let pages = lifetime(spec);
        println!("{pages} pages, {} MiB", pages * 4 / 1024);
        pages
    });
    assert!(threshold > none && bet > none, "{threshold} and {bet} against {none}");
}

/// With the least worn block first, no block is taken while a free one of its plane was erased less often;
/// if all data is overwritten in turn, erase counts stay as close as that allows.
#[test]
fn the_least_worn_free_block_is_taken() {
    let spec = spec().set("ftl.wear.free_block", "least-worn");
    let mut device = assemble(spec.setup());
    let pages = u64::from(spec.logical_pages());
    let mut stream = Stream::new(5, "addresses");
    let known = |device: &Device| -> Vec<(BlockState, u32)> {
        let blocks = device.ftl().blocks();
        (0..BLOCKS)
            .map(BlockId::new)
            .map(|block| (blocks.state(block), blocks.erases(block)))
            .collect()
    };
    let (mut before, mut taken) = (known(&device), 0);
    for tag in 0..20_000 {
        closed_loop(&mut device, 1, [request(Op::Write, stream.below(pages) * 8, 8, tag)]);
        let now = known(&device);
        let free = |&(then, now): &(&(BlockState, u32), &(BlockState, u32))| {
            then.0 == BlockState::Free && now.0 == BlockState::Free
        };
        let least = before.iter().zip(&now).filter(free).map(|(then, _)| then.1).min();
        for (then, now) in before.iter().zip(&now) {
            if then.0 == BlockState::Free && now.0 != BlockState::Free {
                taken += 1;
                assert!(least.is_none_or(|least| then.1 <= least), "{} and {least:?}", then.1);
            }
        }
        before = now;
    }
    assert!(taken > 1_000, "{taken} blocks were taken");
    let in_turn = (0..WRITES).map(|tag| request(Op::Write, u64::from(tag) % pages * 8, 8, tag));
    let mut device = assemble(spec.setup());
    closed_loop(&mut device, 1, in_turn);
    let erases = || device.ftl().blocks().all_erases().take(BLOCKS as usize);
    let (least, most) = (erases().min().unwrap(), erases().max().unwrap());
    assert!(least > 100 && most - least <= 2, "{least} and {most}");
}
