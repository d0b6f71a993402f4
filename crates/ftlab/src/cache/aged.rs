//! A [`Line`] whose pages cool: by one step when as many evictions have passed since the last hit, or since the
//! page last cooled, as a multiple of the pages in line. Each step takes O(1), amortised over hits and
//! evictions.

use super::SlotId;
use super::line::{COLD, Fragment, Line};
use super::order::Order;
use super::prlru::warmer;
use crate::units::Ratio;

/// The line.
#[derive(Clone, Debug)]
pub(super) struct AgedLine {
    line: Line,
    /// Warm pages, the one that cools first at the old end.
    warm: Order,
    /// By slot: at which eviction a page became as warm as it is.
    warmed: Vec<u64>,
    /// Evictions so far.
    clock: u64,
    cooling: u32,
}

impl AgedLine {
    /// An empty line of pages of so many sectors, which cool after `cooling` times the pages in line.
    pub(super) fn new(cooling: u32, sectors_per_page: u32) -> AgedLine {
        AgedLine {
            line: Line::new(sectors_per_page),
            warm: Order::default(),
            warmed: Vec::new(),
            clock: 0,
            cooling,
        }
    }

    /// What knows the order.
    pub(super) fn line(&self) -> &Line {
        &self.line
    }

    /// A page joins at the head, cold.
    pub(super) fn enter(&mut self, slot: SlotId, fragment: Option<Fragment>) {
        if slot.at() >= self.warmed.len() {
            self.warmed.resize(slot.at() + 1, 0);
        }
        self.line.join(slot, COLD, fragment);
    }

    /// A page is hit: it becomes warmer and goes to the head.
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

    /// A page leaves.
    pub(super) fn leave(&mut self, slot: SlotId) {
        if self.line.temperature(slot) > COLD {
            self.warm.remove(slot);
        }
        self.line.leave(slot);
    }

    /// Something has to go: time passes, and pages that have not been hit for long cool.
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

    /// What goes in the place of the page at the tail, if a colder one in the region does: then the two have
    /// changed places. The region is a share of the line.
    pub(super) fn take_colder(&mut self, region: Ratio) -> Option<SlotId> {
        let tail = self.line.tail()?;
        self.line.set_region(region.of(u64::from(self.line.pages())) as u32);
        let temperature = self.line.temperature(tail);
        let colder = (COLD..temperature).find_map(|colder| self.line.first_in_region(colder))?;
        self.line.swap(tail, colder);
        Some(colder)
    }
}
