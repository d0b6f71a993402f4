//! Policies that order pages by first or last use.

use super::{Naive, compare, steps};
use crate::cache::ad_lru::AdLru;
use crate::cache::cflru::Cflru;
use crate::cache::ex_lru::ExLru;
use crate::cache::fifo::Fifo;
use crate::cache::lru::Lru;
use crate::cache::lru_wsr::LruWsr;
use crate::cache::{BufferView, Eviction, Leaves, SlotId, WriteBuffer};
use crate::units::Ratio;

/// A page as the naive versions know it.
#[derive(Clone, Copy, Debug)]
struct Known {
    slot: SlotId,
    /// Uses since it came in, including that.
    uses: u64,
    /// Number of the request that last used it.
    last: u64,
    /// Whether it had its second chance since then.
    spared: bool,
}

/// Chooses the next page to evict.
type Choice = fn(&mut Plain, &BufferView<'_>) -> Option<SlotId>;

/// Pages by first use, or by last use or second chance.
struct Plain {
    pages: Vec<Known>,
    uses_move: bool,
    requests: u64,
    share: Ratio,
    choice: Choice,
}

impl Plain {
    fn new(uses_move: bool, share: Ratio, choice: Choice) -> Plain {
        Plain { pages: Vec::new(), uses_move, requests: 0, share, choice }
    }

    fn used(&mut self, slot: SlotId) {
        self.requests += 1;
        let at = self.pages.iter().position(|known| known.slot == slot).expect("it is listed");
        let Known { uses, .. } = self.pages[at];
        self.pages[at] = Known { slot, uses: uses + 1, last: self.requests, spared: false };
        if self.uses_move {
            let known = self.pages.remove(at);
            self.pages.push(known);
        }
    }
}

impl Naive for Plain {
    fn inserted(&mut self, slot: SlotId, _view: &BufferView<'_>) {
        self.requests += 1;
        self.pages.push(Known { slot, uses: 1, last: self.requests, spared: false });
    }

    fn written(&mut self, slot: SlotId, _view: &BufferView<'_>) {
        self.used(slot);
    }

    fn read(&mut self, slot: SlotId, _view: &BufferView<'_>) {
        self.used(slot);
    }

    fn removed(&mut self, slot: SlotId, _view: &BufferView<'_>, _why: Leaves) {
        self.pages.retain(|known| known.slot != slot);
    }

    fn choose(&mut self, view: &BufferView<'_>) -> Option<Eviction> {
        (self.choice)(self, view).map(Eviction::Page)
    }
}

fn oldest(plain: &mut Plain, _: &BufferView<'_>) -> Option<SlotId> {
    plain.pages.first().map(|known| known.slot)
}

fn clean_first(plain: &mut Plain, view: &BufferView<'_>) -> Option<SlotId> {
    let window = plain.share.of(plain.pages.len() as u64) as usize;
    let clean = plain.pages[..window].iter().find(|known| view.is_clean(known.slot));
    clean.or(plain.pages.first()).map(|known| known.slot)
}

/// Moves pages that were used again to the end, once per use.
fn second_chance(plain: &mut Plain, view: &BufferView<'_>) -> Option<SlotId> {
    loop {
        let known = *plain.pages.first()?;
        if known.uses == 1 || known.spared || view.is_clean(known.slot) {
            return Some(known.slot);
        }
        plain.pages.remove(0);
        plain.pages.push(Known { spared: true, ..known });
    }
}

/// Cold pages are those used once.
fn cold_first(plain: &mut Plain, view: &BufferView<'_>) -> Option<SlotId> {
    let pages = &mut plain.pages;
    let cold = pages.iter().filter(|known| known.uses == 1).count();
    let from_cold = cold as u64 > plain.share.of(pages.len() as u64) || cold == pages.len();
    let theirs = |known: &Known| (known.uses == 1) == from_cold;
    if let Some(clean) = pages.iter().find(|known| theirs(known) && view.is_clean(known.slot)) {
        return Some(clean.slot);
    }
    loop {
        let at = pages.iter().position(theirs)?;
        if pages[at].spared {
            return Some(pages[at].slot);
        }
        let known = pages.remove(at);
        pages.push(Known { spared: true, ..known });
    }
}

/// Divides: small whole numbers are divided exactly enough to be compared.
fn least_expected(plain: &mut Plain, _: &BufferView<'_>) -> Option<SlotId> {
    let uses = |known: &Known| known.uses.min(16);
    let worth = |known: &Known| uses(known) as f64 / (plain.requests - known.last) as f64;
    let key = |known: &Known| (worth(known), uses(known));
    let order = |a: &&Known, b: &&Known| key(a).partial_cmp(&key(b)).expect("all are numbers");
    plain.pages.iter().min_by(order).map(|known| known.slot)
}

proptest::proptest! {
    #[test]
    fn fifo_is_exact(steps in steps()) {
        let naive = Plain::new(false, Ratio::ONE, oldest);
        proptest::prop_assert_eq!(compare(WriteBuffer::Fifo(Fifo::default()), naive, &steps), Ok(()));
    }

    #[test]
    fn lru_is_exact(steps in steps()) {
        let naive = Plain::new(true, Ratio::ONE, oldest);
        proptest::prop_assert_eq!(compare(WriteBuffer::Lru(Lru::default()), naive, &steps), Ok(()));
    }

    #[test]
    fn cflru_is_exact(steps in steps(), window in 0u32..=100) {
        let window = Ratio::percent(window);
        let naive = Plain::new(true, window, clean_first);
        let policy = WriteBuffer::Cflru(Cflru::new(window));
        proptest::prop_assert_eq!(compare(policy, naive, &steps), Ok(()));
    }

    #[test]
    fn lru_wsr_is_exact(steps in steps()) {
        let naive = Plain::new(true, Ratio::ONE, second_chance);
        let policy = WriteBuffer::LruWsr(LruWsr::default());
        proptest::prop_assert_eq!(compare(policy, naive, &steps), Ok(()));
    }

    #[test]
    fn ad_lru_is_exact(steps in steps(), least in 0u32..=100) {
        let least = Ratio::percent(least);
        let naive = Plain::new(true, least, cold_first);
        let policy = WriteBuffer::AdLru(AdLru::new(least));
        proptest::prop_assert_eq!(compare(policy, naive, &steps), Ok(()));
    }

    #[test]
    fn ex_lru_is_exact(steps in steps()) {
        let naive = Plain::new(true, Ratio::ONE, least_expected);
        let policy = WriteBuffer::ExLru(ExLru::default());
        proptest::prop_assert_eq!(compare(policy, naive, &steps), Ok(()));
    }
}
