//! exLRU: the page whose next use is expected last is evicted first. The estimate depends on how often the
//! page was used and how many other uses came since.
//!
//! Source: Shi, Li, Xue, Yang, Zhou, "ExLRU: a unified write buffer cache management for flash memory",
//! EMSOFT 2011. Only the abstract and a sentence in the PRLRU paper were available (a page has a count of
//! hits and one of requests, and a weight made of both decides), so this is an approximation:
//!
//! - The value of a page is its number of uses divided by the requests since the last one. The page with
//!   the lowest value is evicted; if several have it, the one with the fewest uses.
//! - A request is a page that comes in, is written again, or is read in the buffer.
//! - Uses count up to [`MOST_USES`], as with a few bits in firmware.
//! - The paper's cost model of writes, with split blocks, is left out.
//!
//! Pages with the same number of uses form a list by last use. Only the oldest of each list can have the
//! lowest value, so every operation takes constant time.

use super::marks::Marks;
use super::queues::Queues;
use super::{
    BufferOptions, BufferView, Eviction, Leaves, Page, SlotId, WriteBufferFacts, WriteBufferPolicy,
};
use crate::image::keeps_nothing;
use crate::policy::{Parts, Policy};

/// Uses beyond this are not counted.
const MOST_USES: usize = 16;

/// Pages by uses and last use. List `n` has the pages used `n + 1` times.
#[derive(Clone, Debug)]
pub struct ExLru {
    pages: Queues<Page>,
    /// Number of the request that last used a page.
    last: Marks<u64>,
    requests: u64,
}

impl Policy for ExLru {
    const NAME: &'static str = "exlru";
    const SUMMARY: &'static str =
        "the page with the fewest uses per request since its last use is evicted first";
    const SOURCE: &'static str = "Shi et al., ExLRU, EMSOFT 2011; approximated";
    type Options = BufferOptions;

    fn build(_options: &Self::Options, _parts: &Parts<'_>) -> Self {
        ExLru::default()
    }

    keeps_nothing!(ExLru { pages, last, requests });
}

impl WriteBufferFacts for ExLru {}

impl Default for ExLru {
    fn default() -> ExLru {
        ExLru { pages: Queues::new(MOST_USES), last: Marks::default(), requests: 0 }
    }
}

impl ExLru {
    fn used(&mut self, slot: SlotId, list: usize) {
        self.requests += 1;
        self.last.set(slot, self.requests);
        self.pages.renew(list, slot);
    }

    /// Lists from few uses to many.
    const ORDER: [usize; MOST_USES] = {
        let mut order = [0; MOST_USES];
        let mut at = 0;
        while at < MOST_USES {
            order[at] = at;
            at += 1;
        }
        order
    };
}

impl WriteBufferPolicy for ExLru {
    fn inserted(&mut self, slot: SlotId, _view: &BufferView<'_>) {
        self.used(slot, 0);
    }

    fn written(&mut self, slot: SlotId, _view: &BufferView<'_>) {
        let list = self.pages.queue_of(slot).map_or(0, |list| list + 1);
        self.used(slot, list.min(MOST_USES - 1));
    }

    fn read(&mut self, slot: SlotId, view: &BufferView<'_>) {
        self.written(slot, view);
    }

    fn removed(&mut self, slot: SlotId, _view: &BufferView<'_>, _why: Leaves) {
        self.pages.remove(slot);
    }

    fn choose(&mut self, _view: &BufferView<'_>) -> Option<Eviction> {
        let mut least: Option<(u64, u64, SlotId)> = None;
        for (list, uses) in (1..=MOST_USES as u64).enumerate() {
            let Some(slot) = self.pages.oldest(list) else { continue };
            let since = self.requests - self.last.get(slot);
            // Compares uses per request without division.
            if least.is_none_or(|(best_uses, best_since, _)| uses * best_since < best_uses * since)
            {
                least = Some((uses, since, slot));
            }
        }
        least.map(|(_, _, slot)| Eviction::Page(slot))
    }

    fn first(&self) -> Option<SlotId> {
        self.pages.first_of(&Self::ORDER)
    }

    fn after(&self, slot: SlotId) -> Option<SlotId> {
        self.pages.next_of(&Self::ORDER, slot)
    }
}
