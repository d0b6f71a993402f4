//! Random devices on which blocks are bad, wear out, and operations fail, often enough to be seen.

use ftlab::ftl::wear::FreeBlockOrder;
use ftlab::nand::FaultOptions;
use ftlab::units::Ratio;
use proptest::prelude::*;
use proptest::sample::select;

use super::random::{self, Step};
use super::{EnduranceKind, LifeSpec, NO_LEVELLING, Spec};

fn life() -> impl Strategy<Value = LifeSpec> {
    // In a billion: never, rarely, often, and so often that the device can't live.
    let failures = || select(vec![0u32, 0, 3_000_000, 30_000_000, 300_000_000, 950_000_000]);
    let orders = vec![FreeBlockOrder::Oldest, FreeBlockOrder::LeastWorn, FreeBlockOrder::ByHeat];
    let factory = select(vec![0u32, 0, 20_000, 100_000]);
    let endurance = (select(EnduranceKind::ALL), 1u32..=12);
    (select(orders), factory, failures(), failures(), endurance, any::<u64>()).prop_map(
        |(free_block, ppm, program_failures, erase_failures, (endurance, cycles), seed)| LifeSpec {
            free_block,
            levelling: NO_LEVELLING,
            faults: FaultOptions { factory_bad: Ratio { ppm }, program_failures, erase_failures },
            endurance,
            cycles,
            seed,
        },
    )
}

/// A device with room for losses, most of the time.
pub fn spec() -> impl Strategy<Value = Spec> {
    (random::spec(), life(), 0u32..=24, 5u32..=100).prop_map(|(base, life, more, share)| {
        let life = LifeSpec { levelling: base.life.levelling, ..life };
        let mut spec = Spec { life, ..base };
        spec.shape.blocks_per_plane += spec.kept_back() + more;
        spec.logical_pages = (spec.most_logical_pages() * share / 100).max(1);
        spec
    })
}

/// A run: a device, how many commands it may hold at once, and the commands.
pub fn run(steps: usize) -> impl Strategy<Value = (Spec, usize, Vec<Step>)> {
    let depth = select(vec![1usize, 2, 4, 8, 16, 32, 64]);
    (spec(), depth, proptest::collection::vec(random::step(), steps / 2..=steps))
}
