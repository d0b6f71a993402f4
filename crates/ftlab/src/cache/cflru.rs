//! CFLRU: clean pages first. Pages are kept by last use; of the least recently used share of them, the
//! window, the clean page that was used longest ago goes first, because it costs no program. If none
//! there is clean, the least recently used page goes.
//!
//! Source: Park, Jung, Kang, Kim, Lee, "CFLRU: a replacement algorithm for flash memory", CASES 2006.
//! The window is a fixed share of the pages that are listed; the paper also tunes its size while it
//! runs. With `cache.keep_reads` off no page is ever clean, and this is LRU.
//!
//! The order by last use is kept as two lists that meet at the edge of the window, which moves by a
//! page at most with each step, so every operation takes constant time.

use super::queues::Queues;
use super::{
    BufferOptions, BufferView, Dram, Eviction, Leaves, OfBuffer, Page, SlotId, WriteBufferFacts,
    WriteBufferPolicy,
};
use crate::image::keeps_nothing;
use crate::options::declare::options;
use crate::policy::{Parts, Policy};
use crate::units::Ratio;

options! {
    /// Clean pages first, within a window.
    pub struct CflruOptions at "cache" with { buffer: BufferOptions } {
        /// The share of the pages, from the least recently used one on, among which clean ones go first.
        window: Ratio = "33%", in "0%"..="100%",
            source "Park et al., CASES 2006 leave it open; assumed";
    }
}

impl OfBuffer for CflruOptions {
    fn dram(&self) -> Option<Dram<'_>> {
        self.buffer.dram()
    }
}

/// The lists of all pages, the newer one first.
const RECENT: usize = 0;
const WINDOW: usize = 1;
/// The only list of clean pages.
const CLEAN: usize = 0;
/// From the least recently used page on.
const ORDER: [usize; 2] = [WINDOW, RECENT];

/// Pages by last use, with the clean ones known.
#[derive(Clone, Debug)]
pub struct Cflru {
    share: Ratio,
    pages: Queues<Page>,
    /// Clean pages by last use: a page only becomes clean by coming in.
    clean: Queues<Page>,
}

impl Policy for Cflru {
    const NAME: &'static str = "cflru";
    const SUMMARY: &'static str = "LRU, but clean pages near its end go before dirty ones";
    const SOURCE: &'static str = "Park et al., CFLRU, CASES 2006";
    type Options = CflruOptions;

    fn build(options: &Self::Options, _parts: &Parts<'_>) -> Self {
        Cflru::new(options.window)
    }

    keeps_nothing!(Cflru { share, pages, clean });
}

impl WriteBufferFacts for Cflru {}

impl Cflru {
    /// With a window of such a share of the pages.
    #[must_use]
    pub fn new(window: Ratio) -> Cflru {
        Cflru { share: window, pages: Queues::new(2), clean: Queues::new(1) }
    }

    /// Lets the window have its share again.
    fn level(&mut self) {
        let (recent, window) = (self.pages.len(RECENT), self.pages.len(WINDOW));
        let wanted = self.share.of(u64::from(recent + window)) as u32;
        if window < wanted {
            if let Some(oldest) = self.pages.oldest(RECENT) {
                self.pages.renew(WINDOW, oldest);
            }
        } else if window > wanted
            && let Some(newest) = self.pages.newest(WINDOW)
        {
            self.pages.remove(newest);
            self.pages.push_oldest(RECENT, newest);
        }
    }
}

impl WriteBufferPolicy for Cflru {
    fn inserted(&mut self, slot: SlotId, view: &BufferView<'_>) {
        self.pages.push_newest(RECENT, slot);
        if view.is_clean(slot) {
            self.clean.push_newest(CLEAN, slot);
        }
        self.level();
    }

    fn written(&mut self, slot: SlotId, _view: &BufferView<'_>) {
        self.pages.renew(RECENT, slot);
        self.clean.remove(slot);
        self.level();
    }

    fn read(&mut self, slot: SlotId, _view: &BufferView<'_>) {
        self.pages.renew(RECENT, slot);
        if self.clean.queue_of(slot).is_some() {
            self.clean.renew(CLEAN, slot);
        }
        self.level();
    }

    fn removed(&mut self, slot: SlotId, _view: &BufferView<'_>, _why: Leaves) {
        self.pages.remove(slot);
        self.clean.remove(slot);
        self.level();
    }

    fn choose(&mut self, _view: &BufferView<'_>) -> Option<Eviction> {
        let clean = self.clean.oldest(CLEAN);
        let near = clean.filter(|&slot| self.pages.queue_of(slot) == Some(WINDOW));
        near.or_else(|| self.first()).map(Eviction::Page)
    }

    fn first(&self) -> Option<SlotId> {
        self.pages.first_of(&ORDER)
    }

    fn after(&self, slot: SlotId) -> Option<SlotId> {
        self.pages.next_of(&ORDER, slot)
    }
}
