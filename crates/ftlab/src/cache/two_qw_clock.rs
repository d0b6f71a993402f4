//! 2QW-Clock: 2Q whose second list is a weighted clock. Written pages weigh more, because programs cost
//! more than reads.
//!
//! Source: He, Wang, Feng, Liu, Wu, Hu, He, "2QW-Clock: an efficient SSD buffer management algorithm", HiPC
//! 2015. Only the abstract and a paragraph in the PRLRU paper were available: there are two lists and a
//! ring; a read page has weight 0, or 1 after a hit, and a written page has weight 5; each time that room
//! is needed, the weights of written pages in one of the lists decrease by one. This is one reading of
//! that:
//!
//! - The two lists are A1in and A1out of 2Q (see `cache/two_q.rs`) with their shares, and the ring takes
//!   the place of Am.
//! - Weights in A1in decrease when A1in has to give up a page. Its oldest page is evicted if its weight is
//!   zero; otherwise it joins the ring.
//! - In the ring, the hand decreases the weight of each page that it passes, until it finds one of weight
//!   zero.
//!
//! Weights in A1in are not updated: the policy stores when a weight was set and subtracts the number of
//! decreases since then. Each step of the hand is paid for by the use that gave the weight, so every
//! operation takes amortised constant time.

use super::ghosts::Ghosts;
use super::marks::Marks;
use super::queues::Queues;
use super::two_q::{IN, MAIN, TwoQueueOptions, giving_order};
use super::{
    BufferView, Dram, Eviction, Leaves, OfBuffer, Page, SlotId, WriteBufferFacts, WriteBufferPolicy,
};
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::options::declare::options;
use crate::policy::{Parts, Policy};
use crate::units::Ratio;

options! {
    /// 2Q with a clock whose weights favour written pages.
    pub struct TwoQwClockOptions at "cache" with { queues: TwoQueueOptions } {
        /// Weight of a written page. A read page has weight 0, or 1 after a hit.
        write_weight: u32 = "5", in "0"..="255", unit "turns",
            source "He et al., HiPC 2015, as quoted in the PRLRU paper";
    }
}

impl OfBuffer for TwoQwClockOptions {
    fn dram(&self) -> Option<Dram<'_>> {
        self.queues.dram()
    }
}

/// The weight of a page that was read again.
const HIT_WEIGHT: u32 = 1;

/// The parameters of a [`TwoQwClock`].
#[derive(Clone, Copy, Debug)]
pub struct ClockShape {
    /// Share of the pages that new ones may take.
    pub kin: Ratio,
    /// How many pages that left are remembered, as a share of the capacity.
    pub kout: Ratio,
    /// The weight of a written page.
    pub write_weight: u32,
}

/// The weight of a page when it was last set.
#[derive(Clone, Copy, Debug, Default)]
struct Weight {
    value: u32,
    /// For a written page in the first list: the value of `rounds` when the weight was set.
    since: Option<u64>,
}

/// A list of new pages, a memory of those that left it, and a ring.
#[derive(Clone, Debug)]
pub struct TwoQwClock {
    shape: ClockShape,
    /// The ring is a list that starts at the hand.
    pages: Queues<Page>,
    ghosts: Ghosts,
    weights: Marks<Weight>,
    /// How often weights in the first list decreased.
    rounds: u64,
}

impl Policy for TwoQwClock {
    const NAME: &'static str = "2qw-clock";
    const SUMMARY: &'static str = "2Q with a clock in which written pages weigh more";
    const SOURCE: &'static str = "He et al., 2QW-Clock, HiPC 2015";
    type Options = TwoQwClockOptions;

    fn build(options: &Self::Options, parts: &Parts<'_>) -> Self {
        let TwoQwClockOptions { queues: TwoQueueOptions { kin, kout, .. }, write_weight } =
            *options;
        TwoQwClock::new(ClockShape { kin, kout, write_weight }, parts.logical_pages)
    }

    /// At rest no page is listed, so weights do not matter, and only differences of `rounds` would.
    fn save(&self, out: &mut ImageWriter) {
        let TwoQwClock { shape: _, pages: _, ghosts, weights: _, rounds: _ } = self;
        ghosts.save(out);
    }

    fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        self.ghosts.load(from)
    }
}

impl WriteBufferFacts for TwoQwClock {}

impl TwoQwClock {
    /// Returns an empty buffer.
    #[must_use]
    pub fn new(shape: ClockShape, logical_pages: u32) -> TwoQwClock {
        TwoQwClock {
            shape,
            pages: Queues::new(2),
            ghosts: Ghosts::new(logical_pages),
            weights: Marks::default(),
            rounds: 0,
        }
    }

    fn order(&self) -> [usize; 2] {
        giving_order(&self.pages, self.shape.kin)
    }

    fn weight(&self, slot: SlotId) -> u32 {
        let Weight { value, since } = self.weights.get(slot);
        let lost = since.map_or(0, |since| self.rounds - since);
        u64::from(value).saturating_sub(lost) as u32
    }

    /// Gives a page the weight of a written one.
    fn weigh_written(&mut self, slot: SlotId) {
        let fades = self.pages.queue_of(slot) == Some(IN);
        let weight = Weight { value: self.shape.write_weight, since: fades.then_some(self.rounds) };
        self.weights.set(slot, weight);
    }
}

impl WriteBufferPolicy for TwoQwClock {
    fn inserted(&mut self, slot: SlotId, view: &BufferView<'_>) {
        let again = self.ghosts.forget(view.page(slot).page);
        self.pages.push_newest(if again { MAIN } else { IN }, slot);
        if view.is_clean(slot) {
            self.weights.set(slot, Weight::default());
        } else {
            self.weigh_written(slot);
        }
    }

    fn written(&mut self, slot: SlotId, _view: &BufferView<'_>) {
        self.weigh_written(slot);
    }

    fn read(&mut self, slot: SlotId, _view: &BufferView<'_>) {
        if self.weight(slot) < HIT_WEIGHT {
            self.weights.set(slot, Weight { value: HIT_WEIGHT, since: None });
        }
    }

    fn removed(&mut self, slot: SlotId, view: &BufferView<'_>, why: Leaves) {
        let from = self.pages.remove(slot);
        if from == Some(IN) && why != Leaves::Deallocated {
            let most = self.shape.kout.of(u64::from(view.capacity()));
            self.ghosts.remember(view.page(slot).page, most);
        }
    }

    fn choose(&mut self, _view: &BufferView<'_>) -> Option<Eviction> {
        self.rounds += u64::from(self.order()[0] == IN);
        loop {
            let list = self.order()[0];
            let oldest = self.pages.oldest(list)?;
            let left = self.weight(oldest);
            if left == 0 {
                return Some(Eviction::Page(oldest));
            }
            // Passed in the ring, or moved into it from the first list.
            let passed = u32::from(list == MAIN);
            self.weights.set(oldest, Weight { value: left - passed, since: None });
            self.pages.renew(MAIN, oldest);
        }
    }

    fn first(&self) -> Option<SlotId> {
        self.pages.first_of(&self.order())
    }

    fn after(&self, slot: SlotId) -> Option<SlotId> {
        self.pages.next_of(&self.order(), slot)
    }
}
