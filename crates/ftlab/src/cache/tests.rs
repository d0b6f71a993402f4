//! Compares each policy with a naive version that searches a plain list. Under any sequence of steps,
//! both must choose the same, and the policy's order must contain exactly the evictable pages.

mod append;
mod blocks;
mod by_hand;
mod lists;
mod prlru;
mod queues;

use std::collections::{BTreeSet, VecDeque};

use super::page::Index;
use super::view::{BufferShape, OnFlash};
use super::{BufferView, Eviction, Leaves, Page, SlotId, WriteBuffer, WriteBufferPolicy};
use crate::engine::Slab;
use crate::units::Lpn;
use crate::units::SectorMask;

/// Logical pages. The last logical block is a short one.
pub const LOGICAL_PAGES: u32 = 30;
/// Pages of a logical block.
pub const BLOCK: u32 = 4;
/// Capacity in pages.
pub const CAPACITY: u32 = 12;
/// Sectors of a page.
pub const SECTORS: u32 = 4;

/// A naive version of a policy.
pub trait Naive {
    /// See [`WriteBuffer::inserted`].
    fn inserted(&mut self, slot: SlotId, view: &BufferView<'_>);
    /// See [`WriteBuffer::written`].
    fn written(&mut self, slot: SlotId, view: &BufferView<'_>);
    /// See [`WriteBuffer::read`].
    fn read(&mut self, slot: SlotId, view: &BufferView<'_>);
    /// See [`WriteBuffer::removed`].
    fn removed(&mut self, slot: SlotId, view: &BufferView<'_>, why: Leaves);
    /// See [`WriteBuffer::choose`].
    fn choose(&mut self, view: &BufferView<'_>) -> Option<Eviction>;
    /// See [`WriteBuffer::unfinished`].
    fn unfinished(&self) -> bool {
        false
    }
}

/// Flash as a policy sees it.
#[derive(Debug, Default)]
pub struct Flash(BTreeSet<u32>);

impl OnFlash for Flash {
    fn holds(&self, page: Lpn) -> bool {
        self.0.contains(&page.get())
    }

    fn may_pack(&self, page: Lpn, sectors: SectorMask) -> bool {
        !sectors.is_empty() && !page.get().is_multiple_of(5)
    }

    fn adds_fragment(&self, page: Lpn, _sectors: SectorMask) -> bool {
        self.holds(page)
    }

    fn fragment_room(&self) -> u32 {
        // Sometimes there is none.
        if self.0.len().is_multiple_of(3) { 0 } else { 2 }
    }
}

/// A step: the action, a page or an index, and sectors or a number of pages.
pub type Step = (u32, u32, u32);

pub fn steps() -> impl proptest::strategy::Strategy<Value = Vec<Step>> {
    let page = proptest::prop_oneof![0..LOGICAL_PAGES, 0..LOGICAL_PAGES / 3];
    proptest::collection::vec((0u32..20, page, 0u32..8), 1..400)
}

/// A buffer with a policy and its naive version.
struct Bench<N> {
    pages: Slab<Page>,
    index: Index,
    flash: Flash,
    policy: WriteBuffer,
    naive: N,
    /// Evictable slots.
    listed: Vec<SlotId>,
    /// Slots on their way to flash.
    writing_back: VecDeque<SlotId>,
}

/// The view of a bench. A macro, because a method would borrow the policies, too.
macro_rules! view {
    ($bench:ident) => {
        &BufferView {
            pages: &$bench.pages,
            index: &$bench.index,
            shape: BufferShape {
                whole_page: SectorMask::range(0, SECTORS),
                capacity: CAPACITY,
                logical_pages: LOGICAL_PAGES,
            },
            packs_under_way: 0,
            flash: &$bench.flash,
        }
    };
}

/// Does the same steps with a policy and its naive version.
///
/// # Errors
/// The first difference, in words.
pub fn compare(policy: WriteBuffer, naive: impl Naive, steps: &[Step]) -> Result<(), String> {
    let mut bench = Bench {
        pages: Slab::default(),
        index: Index::default(),
        flash: Flash::default(),
        policy,
        naive,
        listed: Vec::new(),
        writing_back: VecDeque::new(),
    };
    steps.iter().try_for_each(|&step| bench.take(step))
}

impl<N: Naive> Bench<N> {
    fn take(&mut self, (what, number, sectors): Step) -> Result<(), String> {
        let page = Lpn::new(number);
        match what {
            0..8 => self.write(page, sectors)?,
            8..12 => self.read(page)?,
            12..15 => self.evict()?,
            15 => self.trim(page),
            16 => self.flush(number),
            17 => {
                let run = (number..LOGICAL_PAGES).take(sectors as usize);
                run.map(Lpn::new).try_for_each(|page| self.write(page, SECTORS))?;
            }
            _ => self.arrive(),
        }
        self.check()
    }

    /// Writes a whole page, or one sector of it.
    fn write(&mut self, page: Lpn, sectors: u32) -> Result<(), String> {
        let mask = match sectors {
            0..SECTORS => SectorMask::range(sectors, 1),
            _ => SectorMask::range(0, SECTORS),
        };
        if self.index.get(page).is_none() {
            self.make_room()?;
            let mut new = Page::of(page);
            new.dirty = mask;
            self.come(new);
            return Ok(());
        }
        let slot = self.index.get(page).expect("the page is in the buffer");
        let here = &mut self.pages[slot];
        here.dirty = here.dirty.and_also(mask);
        here.clean = here.clean.without(mask);
        if self.listed.contains(&slot) {
            self.policy.written(slot, view!(self));
            self.naive.written(slot, view!(self));
        }
        Ok(())
    }

    /// Reads a page, which stays if it comes from flash.
    fn read(&mut self, page: Lpn) -> Result<(), String> {
        match self.index.get(page) {
            Some(slot) if self.listed.contains(&slot) => {
                self.policy.read(slot, view!(self));
                self.naive.read(slot, view!(self));
            }
            None if self.flash.holds(page) => {
                self.make_room()?;
                let mut kept = Page::of(page);
                kept.clean = SectorMask::range(0, SECTORS);
                self.come(kept);
            }
            _ => {}
        }
        Ok(())
    }

    fn make_room(&mut self) -> Result<(), String> {
        while self.pages.in_use() >= CAPACITY as usize {
            if self.listed.is_empty() {
                self.arrive();
            } else {
                self.evict()?;
                self.check()?;
                self.arrive();
            }
        }
        Ok(())
    }

    fn come(&mut self, page: Page) {
        let number = page.page;
        let slot = self.pages.insert(page);
        self.index.insert(number, slot);
        self.list(slot);
    }

    fn list(&mut self, slot: SlotId) {
        self.listed.push(slot);
        self.policy.inserted(slot, view!(self));
        self.naive.inserted(slot, view!(self));
    }

    fn take_off(&mut self, slot: SlotId, why: Leaves) {
        self.listed.retain(|&listed| listed != slot);
        self.policy.removed(slot, view!(self), why);
        self.naive.removed(slot, view!(self), why);
    }

    fn evict(&mut self) -> Result<(), String> {
        let expected = self.naive.choose(view!(self));
        let chosen = self.policy.choose(view!(self));
        if chosen != expected {
            return Err(format!("{chosen:?} instead of {expected:?}"));
        }
        match chosen {
            None if self.listed.is_empty() => {}
            None => return Err("nothing, although pages are listed".to_owned()),
            Some(Eviction::Page(slot)) => self.send(slot)?,
            Some(Eviction::Pack { first, second }) => {
                self.send(first)?;
                self.send(second)?;
            }
            Some(Eviction::Pad(page)) => {
                if self.index.get(page).is_some() || !self.flash.holds(page) {
                    return Err(format!("{page} can't be padding"));
                }
            }
        }
        Ok(())
    }

    /// Sends a page away: drops it if it is clean, writes it otherwise.
    fn send(&mut self, slot: SlotId) -> Result<(), String> {
        if !self.listed.contains(&slot) {
            return Err(format!("{slot:?} is not listed"));
        }
        if self.pages[slot].dirty.is_empty() {
            self.take_off(slot, Leaves::Dropped);
            self.leave(slot);
        } else {
            self.write_back(slot);
        }
        Ok(())
    }

    fn write_back(&mut self, slot: SlotId) {
        self.take_off(slot, Leaves::WrittenBack);
        let page = &mut self.pages[slot];
        page.writing_back = std::mem::take(&mut page.dirty);
        self.writing_back.push_back(slot);
    }

    fn leave(&mut self, slot: SlotId) {
        self.index.remove(self.pages[slot].page);
        self.pages.release(slot);
    }

    /// Ends the oldest write-back under way.
    fn arrive(&mut self) {
        let Some(slot) = self.writing_back.pop_front() else { return };
        let page = &mut self.pages[slot];
        page.writing_back = SectorMask::EMPTY;
        self.flash.0.insert(page.page.get());
        if page.dirty.is_empty() {
            self.leave(slot);
        } else {
            self.list(slot);
        }
    }

    /// Deallocates a page.
    fn trim(&mut self, page: Lpn) {
        match self.index.get(page) {
            Some(slot) if self.listed.contains(&slot) => {
                self.flash.0.remove(&page.get());
                self.take_off(slot, Leaves::Deallocated);
                self.leave(slot);
            }
            None => {
                self.flash.0.remove(&page.get());
            }
            Some(_) => {}
        }
    }

    /// Writes a dirty page out of turn, as a host flush does.
    fn flush(&mut self, number: u32) {
        let mut dirty = self.listed.clone();
        dirty.retain(|&slot| !self.pages[slot].dirty.is_empty());
        if !dirty.is_empty() {
            self.write_back(dirty[number as usize % dirty.len()]);
        }
    }

    /// Checks what must hold after each step.
    fn check(&self) -> Result<(), String> {
        let walk = std::iter::successors(self.policy.first(), |&slot| self.policy.after(slot));
        let mut walked: Vec<u32> = walk.take(self.listed.len() + 1).map(SlotId::get).collect();
        let mut listed: Vec<u32> = self.listed.iter().map(|slot| slot.get()).collect();
        walked.sort_unstable();
        listed.sort_unstable();
        if walked != listed {
            return Err(format!("{walked:?} are in order, {listed:?} are listed"));
        }
        let expected = self.naive.unfinished();
        if self.policy.unfinished() != expected {
            return Err(format!("unfinished should be {expected}"));
        }
        Ok(())
    }
}
