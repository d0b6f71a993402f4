//! PRLRU with temperatures that decay and a search region that adapts its size, which the paper on
//! [`Prlru`](super::Prlru) leaves for later ("how to set the threshold of the region adaptively").
//!
//! **Decay.** In PRLRU nothing ever cools: when the hot set moves, pages of the old one are spared forever. Here a
//! page cools by one step when, since its last hit or cooling, `cache.cooling` times as many evictions have passed
//! as there are pages in the buffer. A hit warms it again. Cooling a page each time it is spared, as CLOCK would,
//! was tried and is too fast: a cold page is mostly found close to the tail, so the page that swaps places with it
//! is soon back at the tail, and the result is plain LRU.
//!
//! **Search region.** [`Shadows`] track the hits with no region (LRU) and with 30, 60 and 90 % of the buffer, and
//! the buffer uses the size with the most hits of late. Comparing single decisions (whether a spared page is used
//! before the one that was evicted) was tried and does worse: under cyclic loads a single decision says nothing,
//! but their sum does.
//!
//! **Packing** is tried for the page at the tail and for the one that is evicted in its place, as in PRLRU with
//! `cache.pack = "after-temperature"`.

use super::aged::AgedLine;
use super::line::Fragment;
use super::prlru::{fragment, pack};
use super::shadows::{REGIONS, Shadows};
use super::{
    BufferOptions, BufferView, Dram, Eviction, Leaves, OfBuffer, SlotId, WriteBufferFacts,
    WriteBufferPolicy,
};
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::options::Switch;
use crate::options::declare::options;
use crate::policy::{Parts, Policy};

options! {
    /// PRLRU with decay and an adaptive region.
    pub struct PrlruAdaptiveOptions at "cache" with { buffer: BufferOptions } {
        /// Whether partial pages are packed, two onto one physical page. Needs
        /// `ftl.mapping.policy = "reconstruction"`.
        packing: Switch = "on", source "PRLRU paper, algorithm 1";
        /// Evictions without a hit after which a page cools by one step, as a multiple of the pages in the buffer.
        cooling: u32 = "8", in "1"..="1000000", unit "times the buffer",
            source "assumed: several times the stay of a page that is never hit; see docs/write-buffers.md";
    }
}

impl OfBuffer for PrlruAdaptiveOptions {
    fn dram(&self) -> Option<Dram<'_>> {
        self.buffer.dram()
    }

    fn packs(&self) -> bool {
        self.packing.is_on()
    }

    fn pack_path(&self) -> &'static str {
        "cache.packing"
    }
}

/// Pages in line by last use, with temperatures, and the shadows of other regions.
#[derive(Clone, Debug)]
pub struct PrlruAdaptive {
    aged: AgedLine,
    shadows: Box<Shadows>,
    packing: bool,
}

impl Policy for PrlruAdaptive {
    const NAME: &'static str = "prlru-adaptive";
    const SUMMARY: &'static str = "PRLRU whose warm pages cool, and whose search region adapts";
    const SOURCE: &'static str =
        "ftlab, after PRLRU (Zeng and Deng) and Waldspurger et al., FAST 2015";
    type Options = PrlruAdaptiveOptions;

    fn build(options: &Self::Options, parts: &Parts<'_>) -> Self {
        let unit = parts.geometry.shape().mapping_unit;
        let capacity = options.buffer.dram.pages(unit, parts.logical_pages);
        let rules = AdaptiveRules { packing: options.packing.is_on(), cooling: options.cooling };
        PrlruAdaptive::new(&rules, capacity, parts.geometry.sectors_per_unit())
    }

    fn save(&self, out: &mut ImageWriter) {
        // At rest no page is left, and the shadows have forgotten theirs.
        let PrlruAdaptive { aged: _, shadows, packing: _ } = self;
        out.number(shadows.best() as u64);
    }

    fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        let best = from.below(REGIONS.len() as u64, "the number of a search region")?;
        self.shadows.set_best(best as usize);
        Ok(())
    }
}

impl WriteBufferFacts for PrlruAdaptive {}

/// The parameters of an adaptive buffer.
#[derive(Clone, Copy, Debug)]
pub struct AdaptiveRules {
    /// Whether partial pages are packed.
    pub packing: bool,
    /// Evictions after which a page cools, as a multiple of the pages in the buffer.
    pub cooling: u32,
}

impl PrlruAdaptive {
    /// Returns an empty buffer of `capacity` pages.
    #[must_use]
    pub fn new(rules: &AdaptiveRules, capacity: u32, sectors_per_page: u32) -> PrlruAdaptive {
        let &AdaptiveRules { packing, cooling } = rules;
        PrlruAdaptive {
            aged: AgedLine::new(cooling, sectors_per_page),
            shadows: Box::new(Shadows::new(capacity, cooling)),
            packing,
        }
    }

    fn follow(&mut self, slot: SlotId, written: bool, view: &BufferView<'_>) {
        self.shadows.used(view.page(slot).page, written, self.aged.line().pages());
    }

    fn pack(&self, first: SlotId, view: &BufferView<'_>) -> Option<Eviction> {
        self.packing.then(|| pack(self.aged.line(), first, view)).flatten()
    }

    fn fragment(&self, slot: SlotId, view: &BufferView<'_>) -> Option<Fragment> {
        self.packing.then(|| fragment(slot, view)).flatten()
    }
}

impl WriteBufferPolicy for PrlruAdaptive {
    /// Drops all state that is not saved.
    fn rest(&mut self) {
        self.shadows.rest();
    }

    fn inserted(&mut self, slot: SlotId, view: &BufferView<'_>) {
        self.aged.enter(slot, self.fragment(slot, view));
        self.follow(slot, !view.is_clean(slot), view);
    }

    fn written(&mut self, slot: SlotId, view: &BufferView<'_>) {
        self.aged.hit(slot, self.fragment(slot, view));
        self.follow(slot, true, view);
    }

    fn read(&mut self, slot: SlotId, view: &BufferView<'_>) {
        self.aged.hit(slot, self.fragment(slot, view));
        self.follow(slot, false, view);
    }

    fn removed(&mut self, slot: SlotId, view: &BufferView<'_>, why: Leaves) {
        self.aged.leave(slot);
        if why == Leaves::Deallocated {
            self.shadows.forget(view.page(slot).page);
        }
    }

    fn choose(&mut self, view: &BufferView<'_>) -> Option<Eviction> {
        let tail = self.aged.line().tail()?;
        self.aged.pass_time();
        if let Some(pack) = self.pack(tail, view) {
            return Some(pack);
        }
        let region = REGIONS[self.shadows.best()];
        let Some(colder) = self.aged.take_colder(region) else { return Some(Eviction::Page(tail)) };
        Some(self.pack(colder, view).unwrap_or(Eviction::Page(colder)))
    }

    fn first(&self) -> Option<SlotId> {
        self.aged.line().tail()
    }

    fn after(&self, slot: SlotId) -> Option<SlotId> {
        self.aged.line().after(slot)
    }
}
