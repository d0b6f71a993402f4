//! PRLRU: an LRU buffer that packs partial pages (page reconstruction, PR) and writes cold pages before warm
//! ones (data temperature identification, DTI).
//!
//! Source: Zeng and Deng, "PRLRU" (in Chinese), algorithms 1 and 2. To make room:
//!
//! 1. *PR*: if the page at the tail is partial, it is written with the first other partial page that fits
//!    beside it, searched from the tail towards the head, in one program. Neither page may end up with more
//!    than two parts on flash.
//! 2. *DTI*: otherwise a cold tail is evicted. A warm tail is replaced by the first cold page of the search
//!    region, a hot tail by the first cold page or else the first warm one. The tail takes the place of the
//!    page that is evicted instead. If there is none, the tail itself is evicted.
//!
//! A page is cold when it comes in. Each hit, by a read or a write, makes it one step warmer, up to two. It
//! never cools; [`prlru_adaptive`](super::prlru_adaptive) changes that.
//!
//! Read literally, the paper tries PR on the tail alone. Then whole hot pages accumulate there, which DTI
//! spares forever, and hardly anything is packed, unlike in the paper's figure 5. With
//! `cache.pack = "after-temperature"`, PR is also tried for the page that DTI chose.
//!
//! Departures: the paper scans for partners and cold pages in time proportional to the buffer; [`Line`] finds
//! the same pages in a few steps. If the mapping has no room for more parts, only pages that add none are
//! packed.

use super::line::{Among, COLD, Fragment, HOT, Line, Temperature, WARM};
use super::{
    BufferOptions, BufferView, Dram, Eviction, Leaves, OfBuffer, SlotId, WriteBufferFacts,
    WriteBufferPolicy,
};
use crate::image::keeps_nothing;
use crate::options::Switch;
use crate::options::declare::{choices, options};
use crate::policy::{Parts, Policy};
use crate::units::Ratio;

choices! {
    /// Which page is packed with a partner onto one physical page.
    pub enum Pack {
        /// None.
        Off = "off",
        /// Only the page at the tail: the paper, read literally.
        Tail = "tail",
        /// The page at the tail or, if it has no partner, the page that is evicted in its place.
        AfterTemperature = "after-temperature",
    }
}

options! {
    /// PRLRU.
    pub struct PrlruOptions at "cache" with { buffer: BufferOptions } {
        /// Which partial pages are packed, two onto one physical page. Needs
        /// `ftl.mapping.policy = "reconstruction"`.
        pack: Pack = "tail", source "PRLRU paper, algorithm 1; after-temperature: ftlab, see docs/write-buffers.md";
        /// Whether warm pages are spared as long as there are colder ones in the search region.
        temperature: Switch = "on", source "PRLRU paper, algorithm 2";
        /// Share of the buffer, counted from the tail, that is searched for a colder page.
        search_region: Ratio = "90%", in "0%"..="100%", source "PRLRU paper, figure 6";
    }
}

impl OfBuffer for PrlruOptions {
    fn dram(&self) -> Option<Dram<'_>> {
        self.buffer.dram()
    }

    fn packs(&self) -> bool {
        self.pack != Pack::Off
    }
}

/// Pages in line by last use, with temperatures.
#[derive(Clone, Debug)]
pub struct Prlru {
    line: Line,
    pack: Pack,
    temperature: bool,
    search_region: Ratio,
}

impl Policy for Prlru {
    const NAME: &'static str = "prlru";
    const SUMMARY: &'static str = "LRU that packs partial pages in pairs and spares warm pages";
    const SOURCE: &'static str = "Zeng and Deng, PRLRU (in Chinese), algorithms 1 and 2";
    type Options = PrlruOptions;

    fn build(options: &Self::Options, parts: &Parts<'_>) -> Self {
        let &PrlruOptions { pack, temperature, search_region, .. } = options;
        let sectors = parts.geometry.sectors_per_unit();
        Prlru::new(&Rules { pack, temperature: temperature.is_on(), search_region }, sectors)
    }

    keeps_nothing!(Prlru { line, pack, temperature, search_region });
}

impl WriteBufferFacts for Prlru {}

/// The parameters of a PRLRU buffer.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Which page is packed.
    pub pack: Pack,
    /// Whether warm pages are spared.
    pub temperature: bool,
    /// Share of the buffer that is searched for colder pages.
    pub search_region: Ratio,
}

impl Prlru {
    ///  Returns an empty buffer for pages of this many sectors.
    #[must_use]
    pub fn new(rules: &Rules, sectors_per_page: u32) -> Prlru {
        let &Rules { pack, temperature, search_region } = rules;
        Prlru { line: Line::new(sectors_per_page), pack, temperature, search_region }
    }

    /// The page to evict in place of the one at the tail.
    fn colder_than(&self, tail: SlotId) -> Option<SlotId> {
        if !self.temperature {
            return None;
        }
        let temperature = self.line.temperature(tail);
        (COLD..temperature).find_map(|colder| self.line.first_in_region(colder))
    }

    fn resize_region(&mut self) {
        let pages = self.search_region.of(u64::from(self.line.pages()));
        self.line.set_region(pages as u32);
    }
}

impl WriteBufferPolicy for Prlru {
    fn inserted(&mut self, slot: SlotId, view: &BufferView<'_>) {
        self.line.join(slot, COLD, fragment(slot, view));
        self.resize_region();
    }

    fn written(&mut self, slot: SlotId, view: &BufferView<'_>) {
        let temperature = warmer(self.line.temperature(slot));
        self.line.leave(slot);
        self.line.join(slot, temperature, fragment(slot, view));
        self.resize_region();
    }

    fn read(&mut self, slot: SlotId, view: &BufferView<'_>) {
        self.written(slot, view);
    }

    fn removed(&mut self, slot: SlotId, _view: &BufferView<'_>, _why: Leaves) {
        self.line.leave(slot);
        self.resize_region();
    }

    fn choose(&mut self, view: &BufferView<'_>) -> Option<Eviction> {
        let tail = self.line.tail()?;
        if self.pack != Pack::Off
            && let Some(pack) = pack(&self.line, tail, view)
        {
            return Some(pack);
        }
        let Some(colder) = self.colder_than(tail) else { return Some(Eviction::Page(tail)) };
        self.line.swap(tail, colder);
        let packed = match self.pack {
            Pack::AfterTemperature => pack(&self.line, colder, view),
            _ => None,
        };
        Some(packed.unwrap_or(Eviction::Page(colder)))
    }

    fn first(&self) -> Option<SlotId> {
        self.line.tail()
    }

    fn after(&self, slot: SlotId) -> Option<SlotId> {
        self.line.after(slot)
    }
}

/// Returns the next warmer temperature.
pub(super) fn warmer(temperature: Temperature) -> Temperature {
    const { assert!(COLD < WARM && WARM < HOT) };
    (temperature + 1).min(HOT)
}

/// The part of a page that may be packed.
pub(super) fn fragment(slot: SlotId, view: &BufferView<'_>) -> Option<Fragment> {
    let sectors = view.page(slot).dirty.count() as u8;
    view.may_pack(slot).then(|| Fragment { sectors, adds: view.adds_fragment(slot) })
}

/// Returns a page and the first page that fits beside it, if the page may be packed and there is one. If the
/// mapping has no room for more parts, only pages that add none are packed.
pub(super) fn pack(line: &Line, first: SlotId, view: &BufferView<'_>) -> Option<Eviction> {
    let Fragment { sectors, adds } = line.fragment(first)?;
    let among = match view.has_room_for_fragments() {
        true => Among::All,
        false if adds => return None,
        false => Among::NotAdding,
    };
    let room = view.sectors_per_page() - u32::from(sectors);
    let second = line.first_fragment(first, room, among)?;
    Some(Eviction::Pack { first, second })
}
