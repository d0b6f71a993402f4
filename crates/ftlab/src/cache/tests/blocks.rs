//! Policies that evict whole logical blocks, as plain lists of pages and blocks.

use super::{BLOCK, LOGICAL_PAGES, Naive, compare, steps};
use crate::cache::bplru::Bplru;
use crate::cache::fab::Fab;
use crate::cache::{BufferView, Eviction, Leaves, SlotId, WriteBuffer};
use crate::units::Lpn;

/// A block, and the number of its pages that were written whole and in order.
#[derive(Clone, Copy, Debug)]
struct Known {
    block: u32,
    run: u32,
}

/// What distinguishes block policies.
#[derive(Clone, Copy, Debug)]
enum Rule {
    /// Most pages first; ties go by last change.
    Fab,
    /// By last write.
    Bplru { padding: bool, compensation: bool },
}

/// Pages, and their blocks by last change or write.
struct Plain {
    rule: Rule,
    pages: Vec<(u32, SlotId)>,
    blocks: Vec<Known>,
    sweep: Option<Begun>,
}

/// A block that is being evicted: the place of its next page, and whether it is padded.
#[derive(Clone, Copy, Debug)]
struct Begun {
    block: u32,
    place: u32,
    pads: bool,
}

fn number(slot: SlotId, view: &BufferView<'_>) -> u32 {
    view.page(slot).page.get()
}

impl Plain {
    fn new(rule: Rule) -> Plain {
        Plain { rule, pages: Vec::new(), blocks: Vec::new(), sweep: None }
    }

    fn listed(&self, block: u32) -> usize {
        self.pages.iter().filter(|(page, _)| page / BLOCK == block).count()
    }

    /// Makes a block the most recent one.
    fn renew(&mut self, block: u32) {
        if let Some(at) = self.blocks.iter().position(|known| known.block == block) {
            let known = self.blocks.remove(at);
            self.blocks.push(known);
        }
    }

    fn used(&mut self, slot: SlotId, is_write: bool, view: &BufferView<'_>) {
        let page = number(slot, view);
        match self.rule {
            Rule::Fab => self.renew(page / BLOCK),
            Rule::Bplru { compensation, .. } if is_write => {
                self.renew(page / BLOCK);
                let length = BLOCK.min(LOGICAL_PAGES - page / BLOCK * BLOCK);
                let all = self.listed(page / BLOCK) == length as usize;
                let last = self.blocks.last_mut().expect("it was renewed");
                if page % BLOCK != last.run {
                    last.run = 0;
                }
                if page % BLOCK == last.run && view.is_whole(slot) {
                    last.run += 1;
                }
                if compensation && all && last.run == length {
                    self.blocks.rotate_right(1);
                }
            }
            Rule::Bplru { .. } => {}
        }
    }

    /// The eviction at a place of a block, if there is something to do.
    fn at(&self, begun: Begun, view: &BufferView<'_>) -> Option<Eviction> {
        let Begun { block, place, pads } = begun;
        let page = block * BLOCK + place;
        if place >= BLOCK || page >= LOGICAL_PAGES {
            return None;
        }
        let here = self.pages.iter().find(|listed| listed.0 == page);
        let page = Lpn::new(page);
        let pad = pads && view.find(page).is_none() && view.is_on_flash(page);
        here.map(|&(_, slot)| Eviction::Page(slot)).or(pad.then_some(Eviction::Pad(page)))
    }

    /// The first place from `place` on with something to do.
    fn ahead(&self, begun: Begun, view: &BufferView<'_>) -> Option<Begun> {
        let mut from = (begun.place..BLOCK).map(|place| Begun { place, ..begun });
        from.find(|&begun| self.at(begun, view).is_some())
    }

    /// Starts the eviction of a block. It is padded if any of its pages has to be written.
    fn begun(&self, block: u32, view: &BufferView<'_>) -> Begun {
        let mut listed = self.pages.iter().filter(|(page, _)| page / BLOCK == block);
        let pads = matches!(self.rule, Rule::Bplru { padding: true, .. })
            && !listed.all(|&(_, slot)| view.is_clean(slot));
        Begun { block, place: 0, pads }
    }

    fn victim(&self) -> Option<u32> {
        let mut blocks = self.blocks.iter().map(|known| known.block);
        match self.rule {
            Rule::Fab => blocks.rev().max_by_key(|&block| self.listed(block)),
            Rule::Bplru { .. } => blocks.next(),
        }
    }
}

impl Naive for Plain {
    fn inserted(&mut self, slot: SlotId, view: &BufferView<'_>) {
        let page = number(slot, view);
        self.pages.push((page, slot));
        if self.listed(page / BLOCK) == 1 {
            self.blocks.push(Known { block: page / BLOCK, run: 0 });
        }
        self.used(slot, !view.is_clean(slot), view);
    }

    fn written(&mut self, slot: SlotId, view: &BufferView<'_>) {
        self.used(slot, true, view);
    }

    fn read(&mut self, slot: SlotId, view: &BufferView<'_>) {
        self.used(slot, false, view);
    }

    fn removed(&mut self, slot: SlotId, view: &BufferView<'_>, why: Leaves) {
        let page = number(slot, view);
        self.pages.retain(|listed| listed.1 != slot);
        if self.listed(page / BLOCK) == 0 {
            self.blocks.retain(|known| known.block != page / BLOCK);
        } else if matches!(self.rule, Rule::Fab) {
            self.renew(page / BLOCK);
        }
        let goes = |begun: &Begun| (begun.block, begun.place) == (page / BLOCK, page % BLOCK);
        if let Some(begun) = self.sweep.filter(goes).filter(|_| why != Leaves::Dropped) {
            self.sweep = self.ahead(Begun { place: begun.place + 1, ..begun }, view);
        }
    }

    fn choose(&mut self, view: &BufferView<'_>) -> Option<Eviction> {
        let begun = self.sweep.take().and_then(|begun| self.ahead(begun, view));
        let anew = || self.ahead(self.begun(self.victim()?, view), view);
        let begun = begun.or_else(anew)?;
        let eviction = self.at(begun, view)?;
        let again = matches!(eviction, Eviction::Page(slot) if begun.pads && view.is_clean(slot));
        self.sweep = self.ahead(Begun { place: begun.place + u32::from(!again), ..begun }, view);
        Some(eviction)
    }

    fn unfinished(&self) -> bool {
        self.sweep.is_some()
    }
}

proptest::proptest! {
    #[test]
    fn fab_is_exact(steps in steps()) {
        let policy = WriteBuffer::Fab(Fab::new(BLOCK, LOGICAL_PAGES));
        proptest::prop_assert_eq!(compare(policy, Plain::new(Rule::Fab), &steps), Ok(()));
    }

    #[test]
    fn bplru_is_exact(
        steps in steps(),
        padding in proptest::bool::ANY,
        compensation in proptest::bool::ANY,
    ) {
        let naive = Plain::new(Rule::Bplru { padding, compensation });
        let policy = WriteBuffer::Bplru(Bplru::new(BLOCK, LOGICAL_PAGES, padding, compensation));
        proptest::prop_assert_eq!(compare(policy, naive, &steps), Ok(()));
    }
}
