//! Append buffer: writes are appended in the order in which they come, and go to flash in that order. A page that
//! is written again leaves a hole at its old place, so nothing is ever copied within the buffer.
//!
//! Source: Lu, Fan and Jiang, "Improved Flash Translation Layer Algorithm Based on OpenSSD", Computer Systems &
//! Applications 27(5), 2018, sections 4.1.1 (scheme two), 4.1.2 and figures 8 and 9. Pages are written back in
//! batches. A batch takes the oldest flash pages of the buffer, including holes: adjacent places share a flash
//! page, and holes become padding. A flash page of holes alone is skipped at no cost. The paper does not say so,
//! but otherwise its 256 jobs could not be faster than its flash.
//!
//! Departures: a write to part of a page takes over the other sectors from the older copy in the buffer. A page
//! that is written while it is on its way to flash is appended when its write-back ends. When a host flush waits,
//! batches continue in order, and a page that it waits for keeps its place when it is written again. Every
//! operation takes constant time, except skipping holes, which happens once for each hole.

use std::collections::VecDeque;

use super::{
    BufferView, Dram, DramOptions, Eviction, Leaves, OfBuffer, SlotId, Space, WriteBufferFacts,
    WriteBufferPolicy,
};
use crate::image::keeps_nothing;
use crate::options::declare::options;
use crate::policy::{Parts, Policy};
use crate::units::Ratio;

options! {
    /// A buffer to whose end writes are appended.
    pub struct AppendOptions at "cache" with { dram: DramOptions } {
        /// Share of the buffer, including holes, above which its oldest pages are written back. At 100% they are
        /// written back only when room is needed.
        append_start: Ratio = "50%", in "0%"..="100%", source "Lu et al. 2018, 4.1.2";
        /// Maximum number of flash pages in a batch of write-backs. The next batch starts when all of them are on
        /// flash.
        append_together: u32 = "16", in "1"..="4096", unit "flash pages",
            source "Lu et al. 2018, 4.1.2: 128 KiB, one for each of 16 ways";
    }
}

impl OfBuffer for AppendOptions {
    fn dram(&self) -> Option<Dram<'_>> {
        Some(Dram {
            options: &self.dram,
            space: Space::Slots,
            keeps_reads: false,
            write_back_start: self.append_start,
            programs_per_die: None,
            write_back_together: Some(self.append_together),
        })
    }
}

/// The state of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PlaceState {
    Taken(SlotId),
    /// Its page has been written again or deallocated.
    Hole,
    /// Its page is on its way to flash and is counted there, or the place was skipped because its flash page was
    /// being written back.
    Empty,
}

impl PlaceState {
    fn slot(self) -> Option<SlotId> {
        if let PlaceState::Taken(slot) = self { Some(slot) } else { None }
    }
}

/// Places from the oldest to the newest.
#[derive(Clone, Debug)]
pub struct Append {
    /// Number of places on a flash page.
    units_per_page: usize,
    /// Starts at the beginning of a flash page.
    places: VecDeque<PlaceState>,
    /// Number of places that came before these.
    before: u64,
    /// By slot: its place, counted from the first one ever.
    place_of: Vec<u64>,
    taken: usize,
    holes: usize,
    /// Flash pages that the current batch may still take.
    left: u32,
    /// Whether part of the oldest flash page has been taken.
    within: bool,
}

impl Policy for Append {
    const NAME: &'static str = "append";
    const SUMMARY: &'static str = "writes are appended and written back in order, without copying";
    const SOURCE: &'static str = "Lu, Fan, Jiang, Computer Systems & Applications 27(5), 2018, 4.1";
    type Options = AppendOptions;

    fn build(_options: &Self::Options, parts: &Parts<'_>) -> Self {
        Append::new(parts.geometry.units_per_page())
    }

    keeps_nothing!(Append { units_per_page, places, before, place_of, taken, holes, left, within });
}

impl WriteBufferFacts for Append {
    fn appends(_options: &Self::Options) -> bool {
        true
    }
}

impl Append {
    /// Returns an empty buffer with this number of places on a flash page.
    #[must_use]
    pub fn new(units_per_page: u32) -> Append {
        Append {
            units_per_page: units_per_page as usize,
            places: VecDeque::new(),
            before: 0,
            place_of: Vec::new(),
            taken: 0,
            holes: 0,
            left: 0,
            within: false,
        }
    }

    fn append(&mut self, slot: SlotId) {
        if slot.at() >= self.place_of.len() {
            self.place_of.resize(slot.at() + 1, 0);
        }
        self.place_of[slot.at()] = self.before + self.places.len() as u64;
        self.places.push_back(PlaceState::Taken(slot));
        self.taken += 1;
    }

    /// The index of a slot's place in `places`.
    fn index_of(&self, slot: SlotId) -> usize {
        (self.place_of[slot.at()] - self.before) as usize
    }

    /// Takes a page from its place.
    fn leave(&mut self, slot: SlotId, behind: PlaceState) -> usize {
        let place = self.index_of(slot);
        self.places[place] = behind;
        self.taken -= 1;
        self.holes += usize::from(behind == PlaceState::Hole);
        place
    }

    /// The first page on the oldest flash page.
    fn first_of_page(&self) -> Option<SlotId> {
        self.places.iter().take(self.units_per_page).find_map(|place| place.slot())
    }

    /// Removes the places of the oldest flash page.
    fn pass(&mut self) {
        let places = self.units_per_page.min(self.places.len());
        self.holes -=
            self.places.drain(..places).filter(|&place| place == PlaceState::Hole).count();
        self.before += places as u64;
        self.left = self.left.saturating_sub(1);
        self.within = false;
    }

    /// Removes all places, which are holes.
    fn clear(&mut self) {
        self.before += self.places.len() as u64;
        self.places.clear();
        (self.holes, self.left, self.within) = (0, 0, false);
    }
}

impl WriteBufferPolicy for Append {
    /// Places that hold no page and are not free yet.
    #[inline]
    fn holes(&self) -> u32 {
        self.holes as u32
    }

    fn begin_write_backs(&mut self, pages: u32) {
        self.left = pages;
    }

    fn begins_page(&self) -> bool {
        !self.within
    }

    fn inserted(&mut self, slot: SlotId, _view: &BufferView<'_>) {
        self.append(slot);
    }

    fn written(&mut self, slot: SlotId, _view: &BufferView<'_>) {
        self.leave(slot, PlaceState::Hole);
        self.append(slot);
        if self.within && self.first_of_page().is_none() {
            self.pass();
        }
    }

    fn read(&mut self, _slot: SlotId, _view: &BufferView<'_>) {}

    fn removed(&mut self, slot: SlotId, _view: &BufferView<'_>, why: Leaves) {
        let written_back = why == Leaves::WrittenBack;
        let place =
            self.leave(slot, if written_back { PlaceState::Empty } else { PlaceState::Hole });
        if self.taken == 0 {
            self.clear();
        } else if place < self.units_per_page && (written_back || self.within) {
            // Later pages go onto another flash page.
            let whole = self.units_per_page.max(self.places.len());
            self.places.resize(whole, PlaceState::Empty);
            self.within = self.first_of_page().is_some();
            if !self.within {
                self.pass();
            }
        }
    }

    fn choose(&mut self, _view: &BufferView<'_>) -> Option<Eviction> {
        while self.left > 0 && self.taken > 0 {
            if let Some(slot) = self.first_of_page() {
                return Some(Eviction::Page(slot));
            }
            self.pass();
        }
        None
    }

    fn first(&self) -> Option<SlotId> {
        self.places.iter().find_map(|place| place.slot())
    }

    fn after(&self, slot: SlotId) -> Option<SlotId> {
        self.places.range(self.index_of(slot) + 1..).find_map(|place| place.slot())
    }

    #[inline]
    fn appends(&self) -> bool {
        true
    }
}
