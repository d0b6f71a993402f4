//! 2Q: a page counts as hot only if it is written again after it left. A new page enters a FIFO list (A1in), in
//! which further uses change nothing, because uses in close succession say little. The numbers of pages that
//! left it are remembered for a while (A1out). A page that comes in while it is remembered joins an LRU list
//! (Am). While A1in exceeds its share, its oldest page is evicted; otherwise the least recently used page of
//! Am.
//!
//! Source: Johnson and Shasha, "2Q: a low overhead high performance buffer management replacement algorithm",
//! VLDB 1994, the full version. The paper caches reads; here the policy sees what comes into the buffer. Kin is
//! a share of the evictable pages, Kout a share of the capacity. A deallocated page is not remembered.
//!
//! Every operation takes constant time.

use super::ghosts::Ghosts;
use super::queues::Queues;
use super::{
    BufferOptions, BufferView, Dram, Eviction, Leaves, OfBuffer, Page, SlotId, WriteBufferFacts,
    WriteBufferPolicy,
};
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::options::declare::options;
use crate::policy::{Parts, Policy};
use crate::units::Ratio;

options! {
    /// A FIFO list of new pages, a memory of those that left it, and an LRU list of pages that came back.
    pub struct TwoQueueOptions at "cache" with { buffer: BufferOptions } {
        /// Share of the pages that new ones may take: while they exceed it, one of them is evicted.
        kin: Ratio = "25%", in "0%"..="100%", source "Johnson and Shasha, VLDB 1994";
        /// How many pages that left are remembered, as a share of the capacity in pages.
        kout: Ratio = "50%", in "0%"..="1000%", source "Johnson and Shasha, VLDB 1994";
    }
}

impl OfBuffer for TwoQueueOptions {
    fn dram(&self) -> Option<Dram<'_>> {
        self.buffer.dram()
    }
}

/// The lists: pages that came once, and pages that came back.
pub(super) const IN: usize = 0;
pub(super) const MAIN: usize = 1;

/// The list that gives up the next page, followed by the other one.
pub(super) fn giving_order(pages: &Queues<Page>, kin: Ratio) -> [usize; 2] {
    let (once, again) = (pages.len(IN), pages.len(MAIN));
    let share = kin.of(u64::from(once + again));
    if u64::from(once) > share || again == 0 { [IN, MAIN] } else { [MAIN, IN] }
}

/// Two lists of pages, and the memory of those that left.
#[derive(Clone, Debug)]
pub struct TwoQ {
    kin: Ratio,
    kout: Ratio,
    pages: Queues<Page>,
    ghosts: Ghosts,
}

impl Policy for TwoQ {
    const NAME: &'static str = "2q";
    const SUMMARY: &'static str =
        "pages that are used again soon after their eviction are kept longer";
    const SOURCE: &'static str = "Johnson and Shasha, 2Q, VLDB 1994";
    type Options = TwoQueueOptions;

    fn build(options: &Self::Options, parts: &Parts<'_>) -> Self {
        TwoQ::new(options.kin, options.kout, parts.logical_pages)
    }

    fn save(&self, out: &mut ImageWriter) {
        let TwoQ { kin: _, kout: _, pages: _, ghosts } = self;
        ghosts.save(out);
    }

    fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        self.ghosts.load(from)
    }
}

impl WriteBufferFacts for TwoQ {}

impl TwoQ {
    /// Returns an empty buffer with these shares.
    #[must_use]
    pub fn new(kin: Ratio, kout: Ratio, logical_pages: u32) -> TwoQ {
        TwoQ { kin, kout, pages: Queues::new(2), ghosts: Ghosts::new(logical_pages) }
    }

    fn order(&self) -> [usize; 2] {
        giving_order(&self.pages, self.kin)
    }
}

impl WriteBufferPolicy for TwoQ {
    fn inserted(&mut self, slot: SlotId, view: &BufferView<'_>) {
        let again = self.ghosts.forget(view.page(slot).page);
        self.pages.push_newest(if again { MAIN } else { IN }, slot);
    }

    fn written(&mut self, slot: SlotId, _view: &BufferView<'_>) {
        if self.pages.queue_of(slot) == Some(MAIN) {
            self.pages.renew(MAIN, slot);
        }
    }

    fn read(&mut self, slot: SlotId, view: &BufferView<'_>) {
        self.written(slot, view);
    }

    fn removed(&mut self, slot: SlotId, view: &BufferView<'_>, why: Leaves) {
        let from = self.pages.remove(slot);
        if from == Some(IN) && why != Leaves::Deallocated {
            let most = self.kout.of(u64::from(view.capacity()));
            self.ghosts.remember(view.page(slot).page, most);
        }
    }

    fn choose(&mut self, _view: &BufferView<'_>) -> Option<Eviction> {
        self.first().map(Eviction::Page)
    }

    fn first(&self) -> Option<SlotId> {
        self.pages.first_of(&self.order())
    }

    fn after(&self, slot: SlotId) -> Option<SlotId> {
        self.pages.next_of(&self.order(), slot)
    }
}
