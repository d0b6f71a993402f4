//! Compares the append buffer with a plain list of places.

use std::collections::VecDeque;

use proptest::prelude::*;

use super::Flash;
use crate::cache::page::Index;
use crate::cache::view::BufferShape;
use crate::cache::{Append, BufferView, Eviction, Leaves, SlotId, WriteBufferPolicy};
use crate::engine::Slab;
use crate::units::SectorMask;

const UNITS: usize = 2;
const SLOTS: u32 = 12;

/// Places by flash page, the oldest first; only the last flash page may have places left.
#[derive(Default)]
struct Naive {
    pages: VecDeque<Vec<Option<u32>>>,
}

impl Naive {
    fn append(&mut self, slot: u32) {
        match self.pages.back_mut().filter(|page| page.len() < UNITS) {
            Some(page) => page.push(Some(slot)),
            None => self.pages.push_back(vec![Some(slot)]),
        }
    }

    fn forget(&mut self, slot: u32) {
        let place = self.pages.iter_mut().flatten().find(|place| **place == Some(slot));
        *place.expect("it is there") = None;
    }

    fn holds(&self, slot: u32) -> bool {
        self.pages.iter().flatten().any(|&place| place == Some(slot))
    }

    fn is_all_holes(&self) -> bool {
        self.pages.iter().flatten().all(Option::is_none)
    }

    fn holes(&self) -> usize {
        self.pages.iter().flatten().filter(|place| place.is_none()).count()
    }

    /// Returns what a batch of this many flash pages programs, page by page.
    fn write_back(&mut self, pages: usize) -> Vec<Vec<u32>> {
        let mut programs = Vec::new();
        for _ in 0..pages {
            if self.is_all_holes() {
                break;
            }
            let page = self.pages.pop_front().expect("something is left");
            programs.push(page.into_iter().flatten().collect::<Vec<_>>());
        }
        if self.is_all_holes() {
            self.pages.clear();
        }
        programs.retain(|page| !page.is_empty());
        programs
    }
}

/// Returns what a batch of the policy programs, page by page.
fn write_back(policy: &mut Append, pages: u32, view: &BufferView<'_>) -> Vec<Vec<u32>> {
    policy.begin_write_backs(pages);
    let mut programs: Vec<Vec<u32>> = Vec::new();
    while let Some(next) = policy.choose(view) {
        let Eviction::Page(slot) = next else { panic!("pages go by themselves: {next:?}") };
        match policy.begins_page() {
            true => programs.push(vec![slot.get()]),
            false => programs.last_mut().expect("a page was begun").push(slot.get()),
        }
        policy.removed(slot, view, Leaves::WrittenBack);
    }
    programs
}

proptest! {
    /// Under any sequence of writes and trims, a batch takes the oldest flash pages, adjacent places go
    /// together, and holes count until they are skipped.
    #[test]
    fn it_is_a_list_of_places(steps in proptest::collection::vec((0u32..16, 0..SLOTS), 1..300)) {
        let (pages, index, flash) = (Slab::default(), Index::default(), Flash::default());
        let whole_page = SectorMask::range(0, 8);
        let shape = BufferShape { whole_page, capacity: SLOTS, logical_pages: SLOTS };
        let view =
            &BufferView { pages: &pages, index: &index, shape, packs_under_way: 0, flash: &flash };
        let mut policy = Append::new(UNITS as u32);
        let mut naive = Naive::default();
        for (what, number) in steps {
            let slot = SlotId::new(number);
            match (what, naive.holds(number)) {
                (0..=10, false) => {
                    policy.inserted(slot, view);
                    naive.append(number);
                }
                (0..=10, true) => {
                    policy.written(slot, view);
                    naive.forget(number);
                    naive.append(number);
                }
                (11..=12, true) => {
                    policy.removed(slot, view, Leaves::Deallocated);
                    naive.forget(number);
                    if naive.is_all_holes() {
                        naive.pages.clear();
                    }
                }
                (13.., _) => {
                    let programs = write_back(&mut policy, number / 2 + 1, view);
                    prop_assert_eq!(programs, naive.write_back(number as usize / 2 + 1));
                }
                _ => {}
            }
            prop_assert_eq!(policy.holes() as usize, naive.holes());
            let listed = std::iter::successors(policy.first(), |&slot| policy.after(slot));
            let listed: Vec<u32> = listed.map(SlotId::get).collect();
            let plain: Vec<u32> = naive.pages.iter().flatten().flatten().copied().collect();
            prop_assert_eq!(listed, plain);
        }
    }
}
