//! FAB: the logical block with the most pages in the buffer is evicted first, as a whole and in page
//! order, because pages that are written together fill flash blocks that become invalid together.
//!
//! Source: Jo, Kang, Park, Kim, Lee, "FAB: flash-aware buffer management policy for portable media
//! players", IEEE Transactions on Consumer Electronics 52(2), 2006. There a tie goes to the least recently
//! used block; here to the block that was used, or lost a page, longest ago. This differs only after
//! single pages left (deallocated, or written for a host flush). Pages that come in behind the position of
//! their block's eviction stay for the next one.
//!
//! Blocks are kept in a list for each number of pages, and a bit set says which lists are not empty. Every
//! operation takes constant time except for a search in that set, which has a word for 64 pages of a
//! block.

use super::block_options::BlockOptions;
use super::blocks::{Group, GroupId, PagesByBlock, SmallSet, Sweep};
use super::queues::Queues;
use super::{BufferView, Eviction, Leaves, SlotId, WriteBufferFacts, WriteBufferPolicy};
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::policy::{Parts, Policy};

/// Blocks by number of evictable pages.
#[derive(Clone, Debug)]
pub struct Fab {
    blocks: PagesByBlock,
    /// A list for each number of missing pages, by last change.
    by_missing: Queues<Group>,
    /// The lists that are not empty.
    filled: SmallSet,
    sweep: Option<Sweep>,
}

impl Policy for Fab {
    const NAME: &'static str = "fab";
    const SUMMARY: &'static str =
        "the logical block with the most pages is evicted first, as a whole";
    const SOURCE: &'static str = "Jo et al., FAB, IEEE Trans. Consumer Electronics 2006";
    type Options = BlockOptions;

    fn build(options: &Self::Options, parts: &Parts<'_>) -> Self {
        Fab::of(PagesByBlock::build(options, parts))
    }

    fn save(&self, out: &mut ImageWriter) {
        let Fab { blocks, by_missing: _, filled: _, sweep } = self;
        blocks.save(*sweep, out);
    }

    fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        self.sweep = self.blocks.load(from)?;
        Ok(())
    }
}

impl WriteBufferFacts for Fab {}

impl Fab {
    /// Returns an empty buffer for logical blocks of this many pages.
    #[must_use]
    pub fn new(block: u32, logical_pages: u32) -> Fab {
        Fab::of(PagesByBlock::new(block, logical_pages))
    }

    fn of(blocks: PagesByBlock) -> Fab {
        let lists = blocks.size();
        Fab {
            blocks,
            by_missing: Queues::new(lists as usize),
            filled: SmallSet::below(lists),
            sweep: None,
        }
    }

    /// Moves a block behind all others with the same number of pages.
    fn renew(&mut self, group: GroupId) {
        self.take_off(group);
        let missing = self.blocks.size() - self.blocks.listed(group);
        self.by_missing.push_newest(missing as usize, group);
        self.filled.put(missing, true);
    }

    fn take_off(&mut self, group: GroupId) {
        if let Some(list) = self.by_missing.remove(group) {
            self.filled.put(list as u32, self.by_missing.len(list) > 0);
        }
    }

    fn used(&mut self, slot: SlotId) {
        if let Some(group) = self.blocks.group_of(slot) {
            self.renew(group);
        }
    }

    /// The first block to evict among those with at least `missing` missing pages.
    fn fullest(&self, missing: u32) -> Option<GroupId> {
        self.by_missing.oldest(self.filled.next(missing)? as usize)
    }

    /// The next block after `group` in eviction order. The block that is being evicted comes first.
    fn next_block(&self, group: GroupId) -> Option<GroupId> {
        let swept = self.blocks.swept(self.sweep);
        let follows = |group| {
            let list = self.by_missing.queue_of(group)? as u32;
            self.by_missing.after(group).or_else(|| self.fullest(list + 1))
        };
        let next = if swept == Some(group) { self.fullest(0) } else { follows(group) };
        if next.is_some() && next == swept { next.and_then(follows) } else { next }
    }
}

impl WriteBufferPolicy for Fab {
    fn inserted(&mut self, slot: SlotId, view: &BufferView<'_>) {
        let group = self.blocks.insert(slot, view.page(slot).page);
        self.renew(group);
    }

    fn written(&mut self, slot: SlotId, _view: &BufferView<'_>) {
        self.used(slot);
    }

    fn read(&mut self, slot: SlotId, _view: &BufferView<'_>) {
        self.used(slot);
    }

    fn removed(&mut self, slot: SlotId, view: &BufferView<'_>, why: Leaves) {
        match self.blocks.remove(slot) {
            Some((group, 0)) => self.take_off(group),
            Some((group, _)) => self.renew(group),
            None => {}
        }
        if why != Leaves::Dropped {
            self.sweep = self.blocks.without(self.sweep, view.page(slot).page, view);
        }
    }

    fn choose(&mut self, view: &BufferView<'_>) -> Option<Eviction> {
        let step = |sweep| self.blocks.step(sweep, view);
        let begin = || step(self.blocks.sweep(self.fullest(0)?));
        let next = self.sweep.and_then(step).or_else(begin);
        self.sweep = next.and_then(|(_, sweep)| sweep);
        next.map(|(eviction, _)| eviction)
    }

    /// Whether a block is being evicted and some of its pages are still in the buffer.
    fn unfinished(&self) -> bool {
        self.sweep.is_some()
    }

    fn first(&self) -> Option<SlotId> {
        let group = self.blocks.swept(self.sweep).or_else(|| self.fullest(0))?;
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
