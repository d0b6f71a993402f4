//! Mappings with a log, and their merges, described.

use ftlab::cache::Gate;
use ftlab::ftl::gc::Triggers;
use ftlab::ftl::mapping::Mapping;
use ftlab::ftl::mapping::hybrid::{LogMap, LogTables, Stripe};
use ftlab::ftl::merge::{
    Alone, Clocks, CycleStealing, MergerSetup, Planner, SuperDataBlock, Synchronised,
};
use ftlab::ftl::placement::StaticStripe;
use ftlab::nand::Abilities;
use ftlab::shape::{Geometry, Level, Shares};

use proptest::prelude::*;
use proptest::sample::select;

use super::gating;
use super::random::{self, Step};
use super::{CAREFREE, MappingKind, PlacementKind, PlannerKind, Spec, StreamsKind};

/// The log of a device and its merges.
#[derive(Clone, Copy, Debug)]
pub struct LogSpec {
    pub shares: Shares,
    pub starts_full: bool,
    pub planner: PlannerKind,
    pub throttle: Option<u32>,
    pub clocks: Clocks,
}

/// Each plane for itself; for a mapping without a log, nothing.
pub const NO_LOG: LogSpec = LogSpec {
    shares: Shares { data: 0, log: 0 },
    starts_full: false,
    planner: PlannerKind::None,
    throttle: None,
    clocks: Clocks::Own,
};

impl LogSpec {
    pub fn mapping(&self, kind: MappingKind, geometry: &Geometry) -> Mapping {
        let stripe = Stripe::of(&StaticStripe::new(geometry, Level::ALL), geometry);
        let tables = LogTables::new(geometry, stripe, self.shares, self.starts_full);
        match kind {
            MappingKind::LogBlock => Mapping::LogBlock(LogMap::new(tables)),
            MappingKind::Bast => Mapping::Bast(LogMap::new(tables)),
            MappingKind::Fast => Mapping::Fast(LogMap::new(tables)),
            MappingKind::Nftl => Mapping::Nftl(LogMap::new(tables)),
            MappingKind::Page
            | MappingKind::Physical
            | MappingKind::Dftl
            | MappingKind::Reconstruction => {
                panic!("{kind:?} has no log")
            }
        }
    }

    pub fn merger(&self, spec: &Spec) -> Option<MergerSetup> {
        (self.shares.data > 0).then(|| MergerSetup {
            planner: match self.planner {
                PlannerKind::None => Planner::None(Alone),
                PlannerKind::Synchronised => Planner::Synchronised(Synchronised),
                PlannerKind::SuperDataBlock => Planner::SuperDataBlock(SuperDataBlock),
                PlannerKind::CycleStealing => Planner::CycleStealing(CycleStealing),
            },
            throttle: self.throttle,
            clocks: self.clocks,
            planes: spec.geometry().planes(),
            copies_in_flight: spec.thresholds.copies_in_flight,
            copyback: spec.triggers.copyback,
        })
    }
}

impl Spec {
    /// The same flash under a mapping with a log of so many blocks in each plane, and as much data as fits.
    pub fn with_log(self, mapping: MappingKind, log: u32) -> Spec {
        let mut spec = Spec { mapping, placement: PlacementKind::Static, ..self };
        spec.shape.mapping_unit = spec.shape.page_size;
        let data = spec.shape.blocks_per_plane - log - Shares::BESIDE;
        spec.log.shares = Shares { data, log };
        let geometry = spec.geometry();
        spec.logical_pages = geometry.planes() * data * geometry.units_per_block();
        spec
    }
}

/// Mappings with a log.
pub const LOGS: [MappingKind; 4] =
    [MappingKind::LogBlock, MappingKind::Bast, MappingKind::Fast, MappingKind::Nftl];

/// A device whose mapping has a log, with every planner and throttle.
pub fn spec(clocks: &'static [Clocks]) -> impl Strategy<Value = Spec> {
    let merges = (select(PlannerKind::ALL), select(vec![None, Some(1), Some(2)]));
    let log = (select(&LOGS[..]), 2u32..=3, any::<bool>(), select(clocks));
    let buffer = (any::<bool>(), gating::any_buffer());
    (random::spec(), log, merges, any::<bool>(), buffer).prop_map(
        |(base, (mapping, log, starts_full, clocks), (planner, throttle), copyback, gated)| {
            let (by_planes, buffer) = gated;
            let mut base = base;
            if by_planes || clocks == Clocks::LockStep {
                base.buffer = buffer;
            }
            if clocks == Clocks::LockStep {
                let prefix = base.buffer.gate.is_some_and(|gate| gate.prefix);
                base.buffer.gate = Some(Gate { barrier: true, prefix });
            }
            let plain = Spec {
                streams: StreamsKind::Single,
                triggers: Triggers { copyback, ..Triggers::NONE },
                life: CAREFREE,
                abilities: Abilities::NONE,
                ..base
            };
            let mut spec = plain.with_log(mapping, log);
            spec.log = LogSpec { planner, throttle, clocks, starts_full, ..spec.log };
            spec
        },
    )
}

/// A run of such a device.
pub fn run(
    clocks: &'static [Clocks],
    steps: usize,
) -> impl Strategy<Value = (Spec, usize, Vec<Step>)> {
    let depth = select(vec![1usize, 2, 4, 8, 16, 32, 64]);
    (spec(clocks), depth, proptest::collection::vec(random::step(), steps / 2..=steps))
}
