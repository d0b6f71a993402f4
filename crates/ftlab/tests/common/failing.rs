//! Random devices on which blocks are bad, wear out, and operations fail, often enough to be seen.

use std::ops::Range;

use ftlab::ftl::wear::FreeBlockOrder;
use ftlab::nand::{Area, Fault, FaultOptions, FaultSpot, Scheduled};
use ftlab::units::{Nanos, Ratio};
use proptest::prelude::*;
use proptest::sample::select;

use super::on_demand;
use super::random::{self, Step};
use super::{EnduranceKind, LifeSpec, NO_FAULTS, NO_LEVELLING, Spec};

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
            faults: FaultOptions {
                factory_bad: Ratio { ppm },
                program_failures,
                erase_failures,
                ..NO_FAULTS
            },
            refresh_reads: None,
            endurance,
            cycles,
            seed,
        },
    )
}

/// A device with room for losses, most of the time.
pub fn spec() -> impl Strategy<Value = Spec> {
    on(random::spec())
}

/// Such a device with its map on flash.
fn on_demand() -> impl Strategy<Value = Spec> {
    on(on_demand::spec())
}

fn on(base: impl Strategy<Value = Spec>) -> impl Strategy<Value = Spec> {
    (base, life(), 0u32..=24, 5u32..=100).prop_map(|(base, life, more, share)| {
        let life = LifeSpec { levelling: base.life.levelling, ..life };
        let mut spec = Spec { life, ..base };
        spec.shape.blocks_per_plane += spec.kept_back() + more;
        spec.logical_pages = (spec.most_logical_pages() * share / 100).max(1);
        spec
    })
}

/// A run: a device, how many commands it may hold at once, and the commands.
pub fn run(steps: usize) -> impl Strategy<Value = (Spec, usize, Vec<Step>)> {
    run_of(spec(), steps)
}

/// A run of a device with its map on flash.
pub fn on_demand_run(steps: usize) -> impl Strategy<Value = (Spec, usize, Vec<Step>)> {
    run_of(on_demand(), steps)
}

fn run_of(
    spec: impl Strategy<Value = Spec>,
    steps: usize,
) -> impl Strategy<Value = (Spec, usize, Vec<Step>)> {
    let depth = select(vec![1usize, 2, 4, 8, 16, 32, 64]);
    (spec, depth, proptest::collection::vec(random::step(), steps / 2..=steps))
}

/// Something that fails at a moment of a run.
#[derive(Clone, Copy, Debug)]
struct Mishap {
    at: Nanos,
    kind: u32,
    number: u32,
}

impl Mishap {
    /// On the device of a description.
    fn on(self, spec: &Spec) -> Scheduled {
        let geometry = spec.geometry();
        let pages = geometry.physical_pages() / geometry.units_per_page();
        let block = Area::Block(self.number % geometry.blocks());
        let fault = match self.kind {
            0 | 1 => Fault::DieDies(self.number % geometry.dies()),
            2 => Fault::ProgramFails(block),
            3 => Fault::ProgramFails(Area::Plane(self.number % geometry.planes())),
            4 => Fault::EraseFails(block),
            5 => Fault::EraseFails(Area::Plane(self.number % geometry.planes())),
            6 => Fault::Unreadable(FaultSpot::Block(self.number % geometry.blocks())),
            _ => Fault::Unreadable(FaultSpot::Page(self.number % pages)),
        };
        Scheduled { at: self.at, fault }
    }
}

/// Kinds of mishaps in which no die dies.
const DIES_LIVE: Range<u32> = 2..9;

/// A device on which things fail by schedule, reads by chance, and sometimes all else, too.
fn mishaps(base: impl Strategy<Value = Spec>, kinds: Range<u32>) -> impl Strategy<Value = Spec> {
    const LATEST: u64 = 300_000_000;
    let mishap = (0..LATEST, kinds, any::<u32>());
    let mishap = mishap.prop_map(|(at, kind, number)| Mishap { at: Nanos(at), kind, number });
    let reads = select(vec![0u32, 0, 1_000_000, 20_000_000, 300_000_000]);
    let tames = prop_oneof![3 => Just(true), 1 => Just(false)];
    let base = (base, tames).prop_map(|(spec, tames)| if tames { tame(spec) } else { spec });
    let disturb = (
        select(vec![None, None, None, Some(40), Some(150)]),
        select(vec![None, None, Some(12), Some(50)]),
    );
    let mishaps = proptest::collection::vec(mishap, 0..6);
    (base, reads, disturb, mishaps).prop_map(|(mut spec, reads, disturb, mishaps)| {
        spec.life.faults.read_failures = reads;
        (spec.life.faults.disturb_limit, spec.life.refresh_reads) = disturb;
        spec.life.faults.schedule = mishaps.into_iter().map(|mishap| mishap.on(&spec)).collect();
        // What is kept back depends on whether anything can fail.
        spec.shape.blocks_per_plane += spec.kept_back();
        spec.logical_pages = spec.logical_pages.min(spec.most_logical_pages()).max(1);
        spec
    })
}

/// A device on which nothing fails by chance.
fn tame(spec: Spec) -> Spec {
    let life = LifeSpec { faults: NO_FAULTS, endurance: EnduranceKind::Unlimited, ..spec.life };
    Spec { life, ..spec }
}

/// A run of a device on which things fail by schedule.
pub fn mishap_run(steps: usize) -> impl Strategy<Value = (Spec, usize, Vec<Step>)> {
    run_of(mishaps(spec(), 0..9), steps)
}

/// The same with the map on flash; no die dies.
pub fn on_demand_mishap_run(steps: usize) -> impl Strategy<Value = (Spec, usize, Vec<Step>)> {
    run_of(mishaps(on_demand(), DIES_LIVE), steps)
}
