//! CFLRU: clean pages first. Among the least recently used pages (the window, a share of all pages), the
//! least recently used clean page is evicted, because it costs no program. If no page in the window is
//! clean, the least recently used page is evicted.
//!
//! Source: Park, Jung, Kang, Kim, Lee, "CFLRU: a replacement algorithm for flash memory", CASES 2006.
//! The window is a fixed share of the evictable pages; the paper also tunes its size at run time. With
//! `cache.keep_reads` off no page is ever clean, and this is LRU.
//!
//! The LRU order is kept as two lists that meet at the edge of the window. The edge moves by at most one
//! page per step, so every operation takes constant time.

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
        /// Share of the pages, counted from the least recently used, among which clean ones are evicted
        /// first.
        window: Ratio = "33%", in "0%"..="100%",
            source "assumed; Park et al., CASES 2006, leave it open";
    }
}

impl OfBuffer for CflruOptions {
    fn dram(&self) -> Option<Dram<'_>> {
        self.buffer.dram()
    }
}

/// The lists of all pages: outside and inside the window.
const RECENT: usize = 0;
const WINDOW: usize = 1;
/// The only list of clean pages.
const CLEAN: usize = 0;
/// Eviction order, least recently used first.
const ORDER: [usize; 2] = [WINDOW, RECENT];

/// Pages by last use, and the clean ones among them.
#[derive(Clone, Debug)]
pub struct Cflru {
    share: Ratio,
    pages: Queues<Page>,
    /// Clean pages by last use. A page becomes clean only by coming in.
    clean: Queues<Page>,
}

impl Policy for Cflru {
    const NAME: &'static str = "cflru";
    const SUMMARY: &'static str = "LRU, but clean pages near the end are evicted before dirty ones";
    const SOURCE: &'static str = "Park et al., CFLRU, CASES 2006";
    type Options = CflruOptions;

    fn build(options: &Self::Options, _parts: &Parts<'_>) -> Self {
        Cflru::new(options.window)
    }

    keeps_nothing!(Cflru { share, pages, clean });
}

impl WriteBufferFacts for Cflru {}

impl Cflru {
    /// Returns an empty buffer whose window is this share of the pages.
    #[must_use]
    pub fn new(window: Ratio) -> Cflru {
        Cflru { share: window, pages: Queues::new(2), clean: Queues::new(1) }
    }

    /// Adjusts the window to its share by one page.
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
