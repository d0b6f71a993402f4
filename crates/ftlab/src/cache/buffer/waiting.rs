//! Who waits: writes, for room or, where pages are only staged, for the version before; and requests, for pages to be
//! on flash: writes that are not acknowledged from DRAM, those that are told only then (force unit access), and flushes.

use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasherDefault;

use super::pages::Space;
use super::{Buffer, Page, SlotId, Waiter, WaiterId};
use crate::engine::{NumberHasher, Slab};
use crate::units::{Lpn, Nanos, PageSpan, RequestId};

/// A page of a write that waits for room.
#[derive(Clone, Copy, Debug)]
pub struct WaitingPage {
    /// The write.
    pub request: RequestId,
    /// Its page.
    pub span: PageSpan,
    /// For how long write-backs had been stalled, over the whole run, when it began to wait.
    pub stall_mark: Nanos,
}

/// Who waits to come in.
#[derive(Clone, Debug)]
pub struct EntryQueue {
    /// What room is counted in.
    space: Space,
    /// Writes that wait for room, in order.
    waiting: VecDeque<WaitingPage>,
    /// Where pages are only staged: writes to a page whose older version is still on its way, by
    /// page, in order. Each version is programmed; nothing is absorbed.
    behind: HashMap<Lpn, VecDeque<WaitingPage>, BuildHasherDefault<NumberHasher>>,
    /// What the writes that wait for room need, at the most.
    wanted: u32,
    /// Something that was read found no room.
    turned_away: bool,
    /// A clean page was dropped, or a hole passed, for a write that waits.
    pub(super) made_room: bool,
}

impl EntryQueue {
    pub(super) fn new(space: Space) -> EntryQueue {
        EntryQueue {
            space,
            waiting: VecDeque::new(),
            behind: HashMap::default(),
            wanted: 0,
            turned_away: false,
            made_room: false,
        }
    }

    /// Whether no write waits for room.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// What the writes that wait for room need, at the most.
    #[inline]
    pub(super) fn wanted(&self) -> u32 {
        self.wanted
    }

    /// The write that has waited longest for room.
    #[inline]
    pub fn first(&self) -> Option<WaitingPage> {
        self.waiting.front().copied()
    }

    /// A write waits for room.
    fn push(&mut self, waiting: WaitingPage) {
        self.wanted += self.wants(&waiting);
        self.waiting.push_back(waiting);
    }

    /// The write that has waited longest waits no more.
    pub fn pop(&mut self) {
        if let Some(waiting) = self.waiting.pop_front() {
            self.wanted -= self.wants(&waiting);
        }
    }

    fn wants(&self, waiting: &WaitingPage) -> u32 {
        self.space.of(waiting.span.sectors)
    }

    /// Whether any write waits for the version before.
    #[inline]
    pub fn any_behind(&self) -> bool {
        !self.behind.is_empty()
    }

    /// The write that waited for the version of a page which has just left, if one did.
    #[inline]
    pub fn next_version(&mut self, page: Lpn) -> Option<WaitingPage> {
        if self.behind.is_empty() {
            return None;
        }
        let queue = self.behind.get_mut(&page)?;
        let next = queue.pop_front();
        if queue.is_empty() {
            self.behind.remove(&page);
        }
        next
    }

    /// Something that was read found no room: what is the next to go does so.
    pub fn turn_away(&mut self) {
        self.turned_away = true;
    }

    /// Whether something that was read found no room.
    #[inline]
    pub(super) fn has_turned_away(&self) -> bool {
        self.turned_away
    }

    /// What was read and found no room has been answered.
    #[inline]
    pub(super) fn forget_turned_away(&mut self) {
        self.turned_away = false;
    }

    /// Whether clean pages were dropped, or holes passed, since this was last asked, and somebody waits for room.
    #[inline]
    pub fn made_room(&mut self) -> bool {
        std::mem::take(&mut self.made_room) && !self.waiting.is_empty()
    }

    /// For a buffer that holds nothing.
    pub(super) fn rest(&mut self) {
        let EntryQueue { space: _, waiting, behind, wanted, turned_away, made_room } = self;
        let empty = waiting.is_empty() && behind.is_empty() && *wanted == 0;
        assert!(empty, "for a buffer at rest nobody waits");
        (*turned_away, *made_room) = (false, false);
    }

    /// What the writes that wait need adds up.
    pub(super) fn audit(&self) -> Result<(), String> {
        let wanted = self.waiting.iter().map(|waiting| self.wants(waiting)).sum::<u32>();
        match wanted == self.wanted {
            true => Ok(()),
            false => Err(format!("writes wait for room for {wanted}, counted is {}", self.wanted)),
        }
    }
}

/// Who waits for pages to be on flash.
#[derive(Clone, Debug, Default)]
pub(super) struct Waiters {
    lists: Slab<Waiter>,
    /// Pages with dirty sectors that somebody waits for.
    pub(super) awaited: u32,
    /// Those of them that go to flash whatever the policy says.
    forced: VecDeque<(SlotId, Lpn)>,
}

impl Waiters {
    /// A list of one request.
    #[inline(always)]
    pub(super) fn only(&mut self, request: RequestId) -> WaiterId {
        self.lists.insert(Waiter { request, next: None })
    }

    /// `request` waits until everything that a page holds now is on flash.
    fn wait_for(&mut self, page: &mut Page, request: RequestId) {
        let list = if page.dirty.is_empty() {
            &mut page.write_back_waiters
        } else {
            self.awaited += u32::from(page.dirty_waiters.is_none());
            &mut page.dirty_waiters
        };
        *list = Some(self.lists.insert(Waiter { request, next: list.take() }));
    }

    /// Who waited for what is dirty in a page does so no more.
    #[inline]
    pub(super) fn take_dirty(&mut self, page: &mut Page) -> Option<WaiterId> {
        self.awaited -= u32::from(page.dirty_waiters.is_some());
        page.dirty_waiters.take()
    }

    /// Hands every request of a list to `wake`.
    pub(super) fn wake_all(&mut self, first: Option<WaiterId>, mut wake: impl FnMut(RequestId)) {
        let mut next = first;
        while let Some(waiter) = next {
            let Waiter { request, next: after } = self.lists[waiter];
            self.lists.release(waiter);
            wake(request);
            next = after;
        }
    }

    /// A page is to go to flash whatever the policy says.
    pub(super) fn force(&mut self, slot: SlotId, page: Lpn) {
        self.forced.push_back((slot, page));
    }

    /// The next of the pages that were to go. It may have gone already.
    #[inline]
    pub(super) fn next_forced(&mut self) -> Option<(SlotId, Lpn)> {
        self.forced.pop_front()
    }

    /// Whether no page is to go whatever the policy says.
    #[inline]
    pub(super) fn forces_nothing(&self) -> bool {
        self.forced.is_empty()
    }

    /// For a buffer that holds nothing.
    pub(super) fn rest(&mut self) {
        let Waiters { lists, awaited, forced } = self;
        assert!(*awaited == 0, "nobody waits for a buffer at rest");
        *lists = Slab::default();
        forced.clear();
    }
}

impl Buffer {
    /// So many pages of a write have to wait: for room, or for the version before.
    pub fn wait_for_room(&mut self, waiting: WaitingPage, pages: u32) {
        self.counts.waited += u64::from(pages);
        if self.acknowledges_early() {
            self.queue.push(waiting);
        } else {
            self.queue.behind.entry(waiting.span.page).or_default().push_back(waiting);
        }
    }

    /// `request` waits until everything that the page holds now is on flash.
    pub fn wait_for_page(&mut self, slot: SlotId, request: RequestId) {
        self.waiters.wait_for(&mut self.pages[slot], request);
    }

    /// A write that was acknowledged from DRAM is not told before its page is on flash: `request` waits for it.
    pub fn force(&mut self, slot: SlotId, request: RequestId) {
        self.wait_for_page(slot, request);
        self.force_write_back(slot);
    }

    /// A host flush: `request` waits for every page that is not on flash. Returns for how many.
    pub fn wait_for_all(&mut self, request: RequestId) -> u32 {
        let mut slots = self.pages.slots();
        slots.retain(|&slot| self.pages[slot].is_new());
        for &slot in &slots {
            self.wait_for_page(slot, request);
            self.force_write_back(slot);
        }
        slots.len() as u32
    }

    /// Somebody waits for a dirty page: it goes to flash whatever the policy says. Where write-backs begin
    /// by planes they go in the policy's order for as long as anybody waits.
    pub(super) fn force_write_back(&mut self, slot: SlotId) {
        if !self.listed.keeps_order() {
            self.waiters.force(slot, self.pages[slot].page);
        }
    }

    /// Hands every request that waits for a page to `wake`, by slot number.
    pub fn wake_everyone(&mut self, mut wake: impl FnMut(RequestId)) {
        for slot in self.pages.slots() {
            let page = &mut self.pages[slot];
            for first in [self.waiters.take_dirty(page), page.write_back_waiters.take()] {
                self.waiters.wake_all(first, &mut wake);
            }
        }
    }
}
