//! 2QW-Clock: 2Q whose second list is a clock with weights, larger ones for what is written, as programs
//! cost more than reads.
//!
//! Source: He, Wang, Feng, Liu, Wu, Hu, He, "2QW-Clock: an efficient SSD buffer management algorithm",
//! HiPC 2015. Only its abstract and the paragraph on it in the paper on PRLRU were at hand: two lists and a
//! ring; what is read comes with weight 0 and has 1 after a hit, what is written has 5; each time that
//! room is needed the weights of what was written go down by one in one of the lists. What follows is one
//! reading of that:
//!
//! - the two lists are A1in and A1out of 2Q (see `cache/two_q.rs`), with its shares, and the ring has the
//!   place of Am;
//! - weights go down in A1in, when A1in has to give a page up. Its oldest page goes if its weight is zero,
//!   else it joins the ring;
//! - in the ring the hand passes a page by and takes one off its weight, until it comes to one without any.
//!
//! Weights in A1in are not touched: the time of their setting is kept, and how often they went down since
//! then is taken off. Each step of the hand is paid for by the use that gave the weight, so every
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
    /// 2Q with a clock whose weights favour what is written.
    pub struct TwoQwClockOptions at "cache" with { queues: TwoQueueOptions } {
        /// The weight of a page that is written. One that is read has none, and 1 after a hit.
        write_weight: u32 = "5", in "0"..="255", unit "turns",
            source "He et al., HiPC 2015, after the paper on PRLRU";
    }
}

impl OfBuffer for TwoQwClockOptions {
    fn dram(&self) -> Option<Dram<'_>> {
        self.queues.dram()
    }
}

/// The weight of a page that was read again.
const HIT_WEIGHT: u32 = 1;

/// What a [`TwoQwClock`] goes by.
#[derive(Clone, Copy, Debug)]
pub struct ClockShape {
    /// The share that what came once is left.
    pub kin: Ratio,
    /// How many pages that left are remembered, as a share of those that fit.
    pub kout: Ratio,
    /// The weight of a page that is written.
    pub write_weight: u32,
}

/// What a page weighs.
#[derive(Clone, Copy, Debug, Default)]
struct Weight {
    value: u32,
    /// For pages of the first list that were written: how often weights had gone down when it was set.
    since: Option<u64>,
}

/// A list of what came once, a memory of what left it, and a ring.
#[derive(Clone, Debug)]
pub struct TwoQwClock {
    shape: ClockShape,
    /// The ring as a list, which begins at the hand.
    pages: Queues<Page>,
    ghosts: Ghosts,
    weights: Marks<Weight>,
    /// How often weights went down in the first list.
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

    /// Weights and rounds matter to listed pages alone, and only their differences do.
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
    /// Of such a shape, for so many logical pages.
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

    /// A page has the weight of one that is written, from now on.
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
            // Passed by in the ring, or taken from the first list into it.
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
