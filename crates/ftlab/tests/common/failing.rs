//! Random devices with bad blocks, worn-out blocks and failing operations, frequent enough to matter.

use ftlab::nand::{Area, Fault, FaultSpot, Scheduled};
use ftlab::options::value::Value;
use ftlab::units::Nanos;
use proptest::prelude::*;
use proptest::sample::select;

use super::random::{self, Run, Text, legal, mended, wider};
use super::{Spec, on_demand, policies};

/// What fails by chance, and the seed.
fn life() -> impl Strategy<Value = (Text, u64)> {
    // Per billion: never, rarely, often, and so often that the device can't survive.
    let failures = || select(vec![0u32, 0, 3_000_000, 30_000_000, 300_000_000, 950_000_000]);
    let orders = select(vec!["oldest", "least-worn", "by-heat"]);
    let factory = select(vec!["0%", "0%", "2%", "10%"]);
    let endurance = (select(policies("nand.endurance.policy")), 1u32..=12);
    (orders, factory, failures(), failures(), endurance, any::<u64>()).prop_map(
        |(order, factory, programs, erases, (endurance, cycles), seed)| {
            let text = format!(
                "ftl.wear.free_block = {order}
                nand.faults.factory_bad = {factory}
                nand.faults.program_failures = {programs}
                nand.faults.erase_failures = {erases}
                nand.endurance.policy = {endurance}
                nand.endurance.cycles = {cycles}"
            );
            (text, seed)
        },
    )
}

/// A device that usually has room for losses, before it is mended.
pub fn drawn() -> impl Strategy<Value = Spec> {
    on(random::drawn())
}

fn on(base: impl Strategy<Value = Spec>) -> impl Strategy<Value = Spec> {
    let failing = (base, life(), 0u32..=24);
    failing.prop_map(|(spec, (life, seed), more)| wider(spec.with(&life), 2 + more).seeded(seed))
}

fn filled(drawn: impl Strategy<Value = Spec>) -> impl Strategy<Value = Spec> {
    (drawn, 5u32..=100).prop_map(|(spec, share)| legal(spec, share))
}

/// A device that usually has room for losses.
pub fn spec() -> impl Strategy<Value = Spec> {
    filled(drawn())
}

/// A run of such a device.
pub fn run(steps: usize) -> impl Strategy<Value = Run> {
    random::run_of(spec(), steps)
}

/// A run of such a device with its map on flash.
pub fn on_demand_run(steps: usize) -> impl Strategy<Value = Run> {
    random::run_of(filled(on(on_demand::drawn())), steps)
}

/// The device with scheduled faults.
pub fn scheduled(spec: Spec, schedule: &[Scheduled]) -> Spec {
    let schedule: Vec<_> = schedule.iter().map(|it| format!("\"{}\"", it.print())).collect();
    spec.set("nand.faults.schedule", format!("[{}]", schedule.join(", ")))
}

/// Each fault once, because a die can't die twice.
pub fn once(faults: impl Iterator<Item = Scheduled>) -> Vec<Scheduled> {
    let mut schedule: Vec<Scheduled> = Vec::new();
    for scheduled in faults {
        if !schedule.iter().any(|known| known.fault == scheduled.fault) {
            schedule.push(scheduled);
        }
    }
    schedule
}

/// A fault at some point of a run.
#[derive(Clone, Copy, Debug)]
struct Mishap {
    at: Nanos,
    kind: u32,
    number: u32,
}

impl Mishap {
    /// The fault placed on the device that `spec` describes.
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

/// A device with scheduled faults, random read errors, and sometimes every other random failure too.
fn mishaps(base: impl Strategy<Value = Spec>) -> impl Strategy<Value = Spec> {
    const LATEST: u64 = 300_000_000;
    let mishap = (0..LATEST, 0u32..9, any::<u32>());
    let mishap = mishap.prop_map(|(at, kind, number)| Mishap { at: Nanos(at), kind, number });
    let reads = select(vec![0u32, 0, 1_000_000, 20_000_000, 300_000_000]);
    let tames = prop_oneof![3 => Just(true), 1 => Just(false)];
    let base = (base, tames).prop_map(|(spec, tames)| if tames { tame(spec) } else { spec });
    let disturb = select(vec!["none", "none", "none", "40", "150"]);
    let refresh = select(vec!["none", "none", "12", "50"]);
    let mishaps = proptest::collection::vec(mishap, 0..6);
    (base, reads, (disturb, refresh), mishaps).prop_map(
        |(spec, reads, (disturb, refresh), mishaps)| {
            let spec = spec
                .set("nand.faults.read_failures", reads)
                .set("nand.faults.disturb_limit", disturb)
                .set("ftl.refresh.reads", refresh);
            let spec = mended(spec);
            let schedule = once(mishaps.iter().map(|mishap| mishap.on(&spec)));
            // What is held in reserve depends on whether anything can fail.
            mended(wider(scheduled(spec, &schedule), 2))
        },
    )
}

/// The device with no random failures.
fn tame(spec: Spec) -> Spec {
    let fails =
        |path: &str| path.starts_with("nand.faults.") || path.starts_with("nand.endurance.");
    spec.without(fails)
}

/// A run of a device with scheduled faults.
pub fn mishap_run(steps: usize) -> impl Strategy<Value = Run> {
    random::run_of(mishaps(spec()), steps)
}

/// The same with the map on flash.
pub fn on_demand_mishap_run(steps: usize) -> impl Strategy<Value = Run> {
    random::run_of(mishaps(filled(on(on_demand::drawn()))), steps)
}
