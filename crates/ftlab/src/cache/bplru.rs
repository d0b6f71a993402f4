//! BPLRU: LRU over logical blocks. The block that was written longest ago is evicted first, as a whole.
//!
//! - *Page padding*: pages of the block that are on flash and not in the buffer are read and written with it, so that
//!   the whole block is written in page order. A block whose pages are all clean is dropped without padding.
//! - *LRU compensation*: a block that was written completely and in order is evicted next, as it is unlikely to be
//!   written again soon.
//!
//! Source: Kim and Ahn, "BPLRU: a buffer management scheme for improving random writes in flash storage", FAST 2008.
//! As there, reads do not move a block. The paper assumes FTLs that map blocks, where padding turns a full merge into
//! a switch merge; with a page map it only costs reads and programs. Here "in order" means that each page was written
//! whole before the next one. Pages that come in behind the position of their block's eviction stay for the next one.
//! Under padding a clean page is dropped and read again.
//!
//! Every operation takes constant time except for a search in a set of pages, with one word for 64 pages of a block,
//! and for padding, which looks at each page of a block once.

use super::block_options::BlockOptions;
use super::blocks::{Group, GroupId, PagesByBlock, Sweep};
use super::queues::Queues;
use super::{
    BufferView, Dram, Eviction, Leaves, OfBuffer, SlotId, WriteBufferFacts, WriteBufferPolicy,
};
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::options::Switch;
use crate::options::declare::options;
use crate::policy::{Parts, Policy};

options! {
    /// LRU over logical blocks, evicted as a whole.
    pub struct BplruOptions at "cache" with { blocks: BlockOptions } {
        /// Whether missing pages of a block are read from flash, so that the whole block is written.
        padding: Switch = "on", source "Kim and Ahn, FAST 2008, page padding";
        /// Whether a block that was written completely and in order is evicted next.
        compensation: Switch = "on", source "Kim and Ahn, FAST 2008, LRU compensation";
    }
}

impl OfBuffer for BplruOptions {
    fn dram(&self) -> Option<Dram<'_>> {
        self.blocks.dram()
    }
}

/// The only list.
const ALL: usize = 0;

/// Blocks by last write.
#[derive(Clone, Debug)]
pub struct Bplru {
    padding: bool,
    compensation: bool,
    blocks: PagesByBlock,
    order: Queues<Group>,
    /// By block: number of pages that were written whole and in order, from its first page on.
    runs: Vec<u32>,
    sweep: Option<Sweep>,
}

impl Policy for Bplru {
    const NAME: &'static str = "bplru";
    const SUMMARY: &'static str = "LRU over logical blocks, filled up from flash and written whole";
    const SOURCE: &'static str = "Kim and Ahn, BPLRU, FAST 2008";
    type Options = BplruOptions;

    fn build(options: &Self::Options, parts: &Parts<'_>) -> Self {
        let blocks = PagesByBlock::build(&options.blocks, parts);
        Bplru::of(blocks, options.padding.is_on(), options.compensation.is_on())
    }

    fn save(&self, out: &mut ImageWriter) {
        let Bplru { padding: _, compensation: _, blocks, order: _, runs: _, sweep } = self;
        blocks.save(*sweep, out);
    }

    fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        self.sweep = self.blocks.load(from)?;
        Ok(())
    }
}

impl WriteBufferFacts for Bplru {
    fn pads(options: &Self::Options) -> bool {
        options.padding.is_on()
    }
}

impl Bplru {
    /// Returns an empty buffer for logical blocks of `block` pages.
    #[must_use]
    pub fn new(block: u32, logical_pages: u32, padding: bool, compensation: bool) -> Bplru {
        Bplru::of(PagesByBlock::new(block, logical_pages), padding, compensation)
    }

    fn of(blocks: PagesByBlock, padding: bool, compensation: bool) -> Bplru {
        Bplru {
            padding,
            compensation,
            blocks,
            order: Queues::new(1),
            runs: Vec::new(),
            sweep: None,
        }
    }

    fn run(&mut self, group: GroupId) -> &mut u32 {
        let at = group.at();
        if at >= self.runs.len() {
            self.runs.resize(at + 1, 0);
        }
        &mut self.runs[at]
    }

    /// Moves a block that was written to the end or, with compensation, to the front if it is now complete and in
    /// order.
    fn renew(&mut self, group: GroupId, slot: SlotId, view: &BufferView<'_>) {
        let (place, whole) = (self.blocks.place(view.page(slot).page), view.is_whole(slot));
        let run = self.run(group);
        *run = if place == *run { place } else { 0 };
        *run += u32::from(whole && place == *run);
        let all = self.blocks.size_of(group);
        let complete = *self.run(group) == all && self.blocks.listed(group) == all;
        self.order.remove(group);
        if complete && self.compensation {
            self.order.push_oldest(ALL, group);
        } else {
            self.order.push_newest(ALL, group);
        }
    }

    /// The next block after `group` in eviction order. The block that is being evicted comes first.
    fn next_block(&self, group: GroupId) -> Option<GroupId> {
        let swept = self.blocks.swept(self.sweep);
        let oldest = || self.order.oldest(ALL);
        let next = if swept == Some(group) { oldest() } else { self.order.after(group) };
        if next.is_some() && next == swept { self.order.after(next?) } else { next }
    }
}

impl WriteBufferPolicy for Bplru {
    fn inserted(&mut self, slot: SlotId, view: &BufferView<'_>) {
        let group = self.blocks.insert(slot, view.page(slot).page);
        if self.blocks.listed(group) == 1 {
            *self.run(group) = 0;
            self.order.push_newest(ALL, group);
        }
        if !view.is_clean(slot) {
            self.renew(group, slot, view);
        }
    }

    fn written(&mut self, slot: SlotId, view: &BufferView<'_>) {
        if let Some(group) = self.blocks.group_of(slot) {
            self.renew(group, slot, view);
        }
    }

    fn read(&mut self, _slot: SlotId, _view: &BufferView<'_>) {}

    fn removed(&mut self, slot: SlotId, view: &BufferView<'_>, why: Leaves) {
        if let Some((group, 0)) = self.blocks.remove(slot) {
            self.order.remove(group);
        }
        if why != Leaves::Dropped {
            let page = view.page(slot).page;
            self.sweep = self.blocks.without(self.sweep, page, view);
        }
    }

    fn choose(&mut self, view: &BufferView<'_>) -> Option<Eviction> {
        let step = |sweep| self.blocks.step(sweep, view);
        let begin = || {
            let group = self.order.oldest(ALL)?;
            step(match self.padding {
                true => self.blocks.padding_sweep(group, view),
                false => self.blocks.sweep(group),
            })
        };
        let next = self.sweep.and_then(step).or_else(begin);
        self.sweep = next.and_then(|(_, sweep)| sweep);
        next.map(|(eviction, _)| eviction)
    }

    /// Whether a block is being evicted and pages of it are still to be written.
    fn unfinished(&self) -> bool {
        self.sweep.is_some()
    }

    fn first(&self) -> Option<SlotId> {
        let group = self.blocks.swept(self.sweep).or_else(|| self.order.oldest(ALL))?;
        self.blocks.first(group)
    }

    fn after(&self, slot: SlotId) -> Option<SlotId> {
        let next = || self.blocks.first(self.next_block(self.blocks.group_of(slot)?)?);
        self.blocks.after(slot).or_else(next)
    }

    #[inline]
    fn evicts_blocks(&self) -> bool {
        true
    }
}
