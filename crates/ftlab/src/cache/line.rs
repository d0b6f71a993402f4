//! Pages in a line, from the least recently used (the tail) to the most recently used (the head). Each has
//! a temperature and, if it may share a physical page, the number of its sectors. The line finds in a few
//! steps what a scan from the tail would find: the first page of a temperature within a region, and the
//! first page that fits beside another.
//!
//! Each page has a place. Places increase towards the head, and a [`BitTree`] for each temperature and each
//! number of sectors has the places of such pages. When no place is left at the head, all pages are
//! renumbered: once in as many steps as there are places, so this costs amortised O(1) per step.

use super::SlotId;
use super::bit_tree::BitTree;

/// How warm a page is: its number of hits, up to [`HOT`].
pub(super) type Temperature = u8;

pub(super) const COLD: Temperature = 0;
pub(super) const WARM: Temperature = 1;
pub(super) const HOT: Temperature = 2;
const TEMPERATURES: usize = 3;

/// Initial number of places.
const FEWEST_PLACES: u32 = 64;

/// The state of a page in line.
#[derive(Clone, Copy, Debug, Default)]
struct Standing {
    place: u32,
    temperature: Temperature,
    /// The part of the page that may be packed.
    fragment: Option<Fragment>,
}

/// The part of a page that may be packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fragment {
    /// Number of its sectors.
    pub sectors: u8,
    /// Whether packing it adds a part to the page on flash.
    pub adds: bool,
}

/// Which pages are searched for one that fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Among {
    All,
    /// Those that get no further part on flash.
    NotAdding,
}

#[derive(Clone, Debug)]
pub(super) struct Line {
    /// By slot.
    standing: Vec<Standing>,
    /// By place.
    slots: Vec<Option<SlotId>>,
    all: BitTree,
    by_temperature: [BitTree; TEMPERATURES],
    /// By number of sectors, less one: all fragments, and those that add no part.
    fragments: [Vec<BitTree>; 2],
    /// The next place at the head.
    next: u32,
    pages: u32,
    /// The pages nearest to the tail that belong to the region, and the first place behind them.
    region: Region,
}

#[derive(Clone, Copy, Debug, Default)]
struct Region {
    end: u32,
    pages: u32,
}

impl Line {
    pub(super) fn new(sectors_per_page: u32) -> Line {
        Line {
            standing: Vec::new(),
            slots: vec![None; FEWEST_PLACES as usize],
            all: BitTree::new(FEWEST_PLACES),
            by_temperature: std::array::from_fn(|_| BitTree::new(FEWEST_PLACES)),
            fragments: std::array::from_fn(|_| {
                vec![BitTree::new(FEWEST_PLACES); sectors_per_page as usize - 1]
            }),
            next: 0,
            pages: 0,
            region: Region::default(),
        }
    }

    pub(super) fn pages(&self) -> u32 {
        self.pages
    }

    /// Adds a page at the head.
    pub(super) fn join(
        &mut self,
        slot: SlotId,
        temperature: Temperature,
        fragment: Option<Fragment>,
    ) {
        if self.next as usize == self.slots.len() {
            self.move_up();
        }
        if slot.at() >= self.standing.len() {
            self.standing.resize(slot.at() + 1, Standing::default());
        }
        self.put(slot, Standing { place: self.next, temperature, fragment });
        self.next += 1;
        self.pages += 1;
    }

    /// Removes a page.
    pub(super) fn leave(&mut self, slot: SlotId) {
        let place = self.take(slot).place;
        self.pages -= 1;
        self.region.pages -= u32::from(place < self.region.end);
    }

    /// Swaps the places of two pages.
    pub(super) fn swap(&mut self, one: SlotId, other: SlotId) {
        let (first, second) = (self.take(one), self.take(other));
        self.put(one, Standing { place: second.place, ..first });
        self.put(other, Standing { place: first.place, ..second });
    }

    pub(super) fn temperature(&self, slot: SlotId) -> Temperature {
        self.standing[slot.at()].temperature
    }

    pub(super) fn set_temperature(&mut self, slot: SlotId, temperature: Temperature) {
        let standing = &mut self.standing[slot.at()];
        let before = std::mem::replace(&mut standing.temperature, temperature);
        self.by_temperature[usize::from(before)].remove(standing.place);
        self.by_temperature[usize::from(temperature)].insert(standing.place);
    }

    /// The part of a page that may be packed.
    pub(super) fn fragment(&self, slot: SlotId) -> Option<Fragment> {
        self.standing[slot.at()].fragment
    }

    /// The page at the tail.
    pub(super) fn tail(&self) -> Option<SlotId> {
        self.at(self.all.first())
    }

    /// The next page towards the head.
    pub(super) fn after(&self, slot: SlotId) -> Option<SlotId> {
        self.at(self.all.from(self.standing[slot.at()].place + 1))
    }

    /// Resizes the region to the `pages` nearest to the tail. The number of steps is the difference in size
    /// plus the number of pages that have left.
    pub(super) fn set_region(&mut self, pages: u32) {
        let wanted = pages.min(self.pages);
        while self.region.pages < wanted {
            let Some(next) = self.all.from(self.region.end) else { break };
            self.region.end = next + 1;
            self.region.pages += 1;
        }
        while self.region.pages > wanted {
            let Some(last) = self.all.below(self.region.end) else { break };
            self.region.end = last;
            self.region.pages -= 1;
        }
    }

    /// The page of a temperature in the region that is nearest to the tail.
    pub(super) fn first_in_region(&self, temperature: Temperature) -> Option<SlotId> {
        let place = self.by_temperature[usize::from(temperature)].first();
        self.at(place.filter(|&place| place < self.region.end))
    }

    /// The page nearest to the tail, other than `slot`, that may be packed and has at most `room` sectors.
    pub(super) fn first_fragment(&self, slot: SlotId, room: u32, among: Among) -> Option<SlotId> {
        let own = self.standing[slot.at()].place;
        let first = |places: &BitTree| match places.first() {
            Some(place) if place == own => places.from(own + 1),
            first => first,
        };
        let places = self.fragments[among as usize][..room as usize].iter().filter_map(first);
        self.at(places.min())
    }

    fn at(&self, place: Option<u32>) -> Option<SlotId> {
        place.and_then(|place| self.slots[place as usize])
    }

    fn put(&mut self, slot: SlotId, standing: Standing) {
        let Standing { place, temperature, fragment } = standing;
        self.standing[slot.at()] = standing;
        self.slots[place as usize] = Some(slot);
        self.all.insert(place);
        self.by_temperature[usize::from(temperature)].insert(place);
        self.fragment_trees(fragment).for_each(|tree| tree.insert(place));
    }

    fn take(&mut self, slot: SlotId) -> Standing {
        let standing = self.standing[slot.at()];
        let Standing { place, temperature, fragment } = standing;
        self.slots[place as usize] = None;
        self.all.remove(place);
        self.by_temperature[usize::from(temperature)].remove(place);
        self.fragment_trees(fragment).for_each(|tree| tree.remove(place));
        standing
    }

    /// The sets that contain a page with such a fragment.
    fn fragment_trees(&mut self, fragment: Option<Fragment>) -> impl Iterator<Item = &mut BitTree> {
        let sets = match fragment {
            None => 0,
            Some(Fragment { adds: true, .. }) => 1,
            Some(Fragment { adds: false, .. }) => 2,
        };
        let at = fragment.map_or(0, |fragment| usize::from(fragment.sectors) - 1);
        self.fragments[..sets].iter_mut().map(move |trees| &mut trees[at])
    }

    /// Renumbers all pages from zero because no place is left at the head. The number of places doubles if
    /// more than half are taken.
    #[cold]
    fn move_up(&mut self) {
        let places = self.slots.len() as u32;
        let places = if self.pages > places / 2 { places * 2 } else { places };
        let waiting: Vec<SlotId> = self.slots.iter().flatten().copied().collect();
        self.slots.clear();
        self.slots.resize(places as usize, None);
        let empty = BitTree::new(places);
        self.all = empty.clone();
        self.by_temperature.fill(empty.clone());
        self.fragments.iter_mut().for_each(|trees| trees.fill(empty.clone()));
        for (place, slot) in (0..).zip(waiting) {
            self.put(slot, Standing { place, ..self.standing[slot.at()] });
        }
        self.next = self.pages;
        self.region.end = self.region.pages;
    }
}
