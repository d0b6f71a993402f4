//! An SLC cache, described for tests; random devices with one.

use ftlab::ftl::slc::{self, NoCache, SlcCache, SlcCachePolicy, SlcSetup, WhenFull};
use ftlab::units::Nanos;
use proptest::prelude::*;
use proptest::sample::select;

use super::random::{self, Step};
use super::{SlcKind, Spec};

/// An SLC cache, described.
#[derive(Clone, Copy, Debug)]
pub struct SlcSpec {
    pub policy: SlcKind,
    pub blocks: u32,
    pub keep_free: u32,
    pub most_borrowed: u32,
    pub when_full: WhenFull,
    pub fold_after_idle: Option<Nanos>,
    pub bits: u32,
}

/// No SLC cache.
pub const NO_CACHE: SlcSpec = SlcSpec {
    policy: SlcKind::None,
    blocks: 2,
    keep_free: 1,
    most_borrowed: 1_000_000,
    when_full: WhenFull::Bypass,
    fold_after_idle: None,
    bits: 3,
};

impl SlcSpec {
    pub fn own_blocks(&self) -> u32 {
        self.setup().policy.own_blocks()
    }

    /// Blocks that may be partly filled beside those of the streams: a borrowed one, and that of the
    /// stream which waits, as it may wait for the cache.
    pub(super) fn kept_open(&self) -> u32 {
        match self.policy {
            SlcKind::None => 0,
            SlcKind::Static => 1,
            SlcKind::Dynamic | SlcKind::Hybrid => 2,
        }
    }

    pub(super) fn setup(&self) -> SlcSetup {
        let &SlcSpec { keep_free, most_borrowed, .. } = self;
        let own = slc::Static::new(self.blocks);
        let borrowed = slc::Dynamic::new(&slc::DynamicPart { keep_free, most_borrowed });
        SlcSetup {
            policy: match self.policy {
                SlcKind::None => SlcCache::None(NoCache),
                SlcKind::Static => SlcCache::Static(own),
                SlcKind::Dynamic => SlcCache::Dynamic(borrowed),
                SlcKind::Hybrid => SlcCache::Hybrid(slc::Hybrid::new(own, borrowed)),
            },
            when_full: self.when_full,
            fold_after_idle: self.fold_after_idle,
            bits: self.bits,
        }
    }
}

fn slc() -> impl Strategy<Value = SlcSpec> {
    let policies = select(vec![SlcKind::Static, SlcKind::Dynamic, SlcKind::Hybrid]);
    let idle = select(vec![None, Some(0u64), Some(300_000), Some(50_000_000)]);
    let full = select(vec![WhenFull::Bypass, WhenFull::Fold]);
    let most = select(vec![1, 2, 1_000_000]);
    (policies, 1u32..=3, 0u32..=3, most, full, idle, 2u32..=4).prop_map(
        |(policy, blocks, keep_free, most_borrowed, when_full, idle, bits)| SlcSpec {
            policy,
            blocks,
            keep_free,
            most_borrowed,
            when_full,
            fold_after_idle: idle.map(Nanos),
            bits,
        },
    )
}

/// A device as full as the rule of legality allows, or less.
pub fn spec() -> impl Strategy<Value = Spec> {
    (random::spec(), slc(), 0u32..=4, 5u32..=100).prop_map(|(base, slc, more, share)| {
        let bits = slc.bits.min(base.shape.pages_per_block);
        let mut spec = Spec { slc: SlcSpec { bits, ..slc }, ..base };
        spec.shape.blocks_per_plane += spec.slc.own_blocks() + 2 + more;
        spec.logical_pages = (spec.most_logical_pages() * share / 100).max(1);
        spec
    })
}

/// A run: a device, how many commands it may hold at once, and the commands.
pub fn run(steps: usize) -> impl Strategy<Value = (Spec, usize, Vec<Step>)> {
    let depth = select(vec![1usize, 2, 4, 8, 16, 32, 64]);
    (spec(), depth, proptest::collection::vec(random::step(), steps / 2..=steps))
}

/// The small device with a static cache of two blocks of four pages.
pub fn small() -> Spec {
    Spec { slc: SlcSpec { policy: SlcKind::Static, ..NO_CACHE }, ..Spec::small() }
}
