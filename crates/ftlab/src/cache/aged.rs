//! A [`Line`] whose pages cool by one step when they have not been hit for some time. Time is counted in
//! evictions; the period is a multiple of the pages in line and restarts with each step. Each operation takes
//! O(1), amortised over hits and evictions.

use super::SlotId;
use super::line::{COLD, Fragment, Line};
use super::order::Order;
use super::prlru::warmer;
use crate::units::Ratio;

#[derive(Clone, Debug)]
pub(super) struct AgedLine {
    line: Line,
    /// Warm pages; the one that cools first is the oldest.
    warm: Order,
    /// By slot: the value of `clock` when the page's temperature last changed.
    warmed: Vec<u64>,
    /// Number of evictions.
    clock: u64,
    cooling: u32,
}

impl AgedLine {
    /// Returns an empty line whose pages cool after `cooling` times as many evictions as there are pages in
    /// line.
    pub(super) fn new(cooling: u32, sectors_per_page: u32) -> AgedLine {
        AgedLine {
            line: Line::new(sectors_per_page),
            warm: Order::default(),
            warmed: Vec::new(),
            clock: 0,
            cooling,
        }
    }

    pub(super) fn line(&self) -> &Line {
        &self.line
    }

    /// Adds a cold page at the head.
    pub(super) fn enter(&mut self, slot: SlotId, fragment: Option<Fragment>) {
        if slot.at() >= self.warmed.len() {
            self.warmed.resize(slot.at() + 1, 0);
        }
        self.line.join(slot, COLD, fragment);
    }

    /// Makes a page that was hit warmer, and moves it to the head.
    pub(super) fn hit(&mut self, slot: SlotId, fragment: Option<Fragment>) {
        let before = self.line.temperature(slot);
        if before > COLD {
            self.warm.remove(slot);
        }
        self.warm.push_newest(slot);
        self.warmed[slot.at()] = self.clock;
        self.line.leave(slot);
        self.line.join(slot, warmer(before), fragment);
    }

    /// Removes a page.
    pub(super) fn leave(&mut self, slot: SlotId) {
        if self.line.temperature(slot) > COLD {
            self.warm.remove(slot);
        }
        self.line.leave(slot);
    }

    /// Counts an eviction, and cools pages that have not been hit for long.
    pub(super) fn pass_time(&mut self) {
        self.clock += 1;
        let life = u64::from(self.cooling) * u64::from(self.line.pages());
        while let Some(slot) = self.warm.oldest() {
            let warmed = &mut self.warmed[slot.at()];
            if *warmed + life > self.clock {
                return;
            }
            *warmed = self.clock;
            let cooler = self.line.temperature(slot) - 1;
            self.line.set_temperature(slot, cooler);
            self.warm.remove(slot);
            if cooler > COLD {
                self.warm.push_newest(slot);
            }
        }
    }

    /// Returns the first colder page in the region, after swapping its place with that of the page at the tail,
    /// or `None` if there is none. The region is a share of the line.
    pub(super) fn take_colder(&mut self, region: Ratio) -> Option<SlotId> {
        let tail = self.line.tail()?;
        self.line.set_region(region.of(u64::from(self.line.pages())) as u32);
        let temperature = self.line.temperature(tail);
        let colder = (COLD..temperature).find_map(|colder| self.line.first_in_region(colder))?;
        self.line.swap(tail, colder);
        Some(colder)
    }
}
