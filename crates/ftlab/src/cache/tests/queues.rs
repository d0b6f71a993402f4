//! 2Q and 2QW-Clock as three plain lists.

use super::{CAPACITY, LOGICAL_PAGES, Naive, compare, steps};
use crate::cache::two_q::TwoQ;
use crate::cache::two_qw_clock::{ClockShape, TwoQwClock};
use crate::cache::{BufferView, Eviction, Leaves, SlotId, WriteBuffer};
use crate::units::{Lpn, Ratio};

/// A page and its weight.
#[derive(Clone, Copy, Debug)]
struct Known {
    slot: SlotId,
    weight: u32,
    /// Whether it has its weight from a write.
    written: bool,
}

/// Pages that came once, pages that came back, and pages that left.
struct Three {
    kin: Ratio,
    kout: Ratio,
    /// The weight of a written page, if pages have weights.
    weight: Option<u32>,
    once: Vec<Known>,
    again: Vec<Known>,
    left: Vec<Lpn>,
}

impl Three {
    fn new((kin, kout): (u32, u32), weight: Option<u32>) -> Three {
        let [kin, kout] = [kin, kout].map(Ratio::percent);
        Three { kin, kout, weight, once: Vec::new(), again: Vec::new(), left: Vec::new() }
    }

    fn gives_from_once(&self) -> bool {
        let all = self.once.len() + self.again.len();
        self.once.len() as u64 > self.kin.of(all as u64) || self.again.is_empty()
    }

    fn find(&mut self, slot: SlotId) -> &mut Known {
        let mut all = self.once.iter_mut().chain(&mut self.again);
        all.find(|known| known.slot == slot).expect("it is listed")
    }

    /// Without weights, pages that came back are kept by last use.
    fn used(&mut self, slot: SlotId) {
        if self.weight.is_none()
            && let Some(at) = self.again.iter().position(|known| known.slot == slot)
        {
            let known = self.again.remove(at);
            self.again.push(known);
        }
    }
}

impl Naive for Three {
    fn inserted(&mut self, slot: SlotId, view: &BufferView<'_>) {
        let page = view.page(slot).page;
        let written = !view.is_clean(slot);
        let weight = if written { self.weight.unwrap_or(0) } else { 0 };
        let again = self.left.contains(&page);
        self.left.retain(|&left| left != page);
        let list = if again { &mut self.again } else { &mut self.once };
        list.push(Known { slot, weight, written });
    }

    fn written(&mut self, slot: SlotId, _view: &BufferView<'_>) {
        let weight = self.weight.unwrap_or(0);
        *self.find(slot) = Known { slot, weight, written: true };
        self.used(slot);
    }

    fn read(&mut self, slot: SlotId, _view: &BufferView<'_>) {
        if self.weight.is_some() && self.find(slot).weight == 0 {
            *self.find(slot) = Known { slot, weight: 1, written: false };
        }
        self.used(slot);
    }

    fn removed(&mut self, slot: SlotId, view: &BufferView<'_>, why: Leaves) {
        let was_in = self.once.iter().any(|known| known.slot == slot);
        self.once.retain(|known| known.slot != slot);
        self.again.retain(|known| known.slot != slot);
        if was_in && why != Leaves::Deallocated {
            self.left.push(view.page(slot).page);
            let most = self.kout.of(u64::from(CAPACITY)) as usize;
            self.left.drain(..self.left.len().saturating_sub(most));
        }
    }

    fn choose(&mut self, _view: &BufferView<'_>) -> Option<Eviction> {
        if self.gives_from_once() {
            for known in self.once.iter_mut().filter(|known| known.written) {
                known.weight = known.weight.saturating_sub(1);
            }
        }
        loop {
            let from_once = self.gives_from_once();
            let list = if from_once { &mut self.once } else { &mut self.again };
            let known = *list.first()?;
            if known.weight == 0 {
                return Some(Eviction::Page(known.slot));
            }
            list.remove(0);
            let weight = if from_once { known.weight } else { known.weight - 1 };
            self.again.push(Known { weight, ..known });
        }
    }
}

proptest::proptest! {
    #[test]
    fn two_q_is_exact(steps in steps(), shares in (0u32..=100, 0u32..200)) {
        let (kin, kout) = shares;
        let policy = TwoQ::new(Ratio::percent(kin), Ratio::percent(kout), LOGICAL_PAGES);
        let naive = Three::new(shares, None);
        proptest::prop_assert_eq!(compare(WriteBuffer::TwoQ(policy), naive, &steps), Ok(()));
    }

    #[test]
    fn two_qw_clock_is_exact(
        steps in steps(),
        shares in (0u32..=100, 0u32..200),
        write_weight in 0u32..9,
    ) {
        let (kin, kout) = shares;
        let shape = ClockShape { kin: Ratio::percent(kin), kout: Ratio::percent(kout), write_weight };
        let policy = TwoQwClock::new(shape, LOGICAL_PAGES);
        let naive = Three::new(shares, Some(write_weight));
        proptest::prop_assert_eq!(compare(WriteBuffer::TwoQwClock(policy), naive, &steps), Ok(()));
    }
}
