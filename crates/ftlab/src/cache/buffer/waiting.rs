//! What waits for the buffer. Writes wait for room or, where pages are only staged, for the version before. Requests
//! wait for pages to be on flash: unbuffered writes, writes with force unit access, and flushes.

use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasherDefault;
use std::ops::Range;

use super::pages::Space;
use super::{Buffer, Page, SlotId, Waiter, WaiterId};
use crate::engine::{NumberHasher, Slab};
use crate::units::{Lpn, Nanos, PageSpan, RequestId};

/// A page of a write that waits for room.
#[derive(Clone, Copy, Debug)]
pub struct WaitingPage {
    /// The write.
    pub request: RequestId,
    /// The page.
    pub span: PageSpan,
    /// Total time for which write-backs had been stalled when the wait began.
    pub stall_mark: Nanos,
}

/// Writes that wait to come in.
#[derive(Clone, Debug)]
pub struct EntryQueue {
    /// The unit of room.
    space: Space,
    /// Writes that wait for room, in order.
    waiting: VecDeque<WaitingPage>,
    /// Where pages are only staged: writes to a page whose older version is under way, by page and in order. Each
    /// version is programmed; nothing is absorbed.
    behind: HashMap<Lpn, VecDeque<WaitingPage>, BuildHasherDefault<NumberHasher>>,
    /// Upper bound of the room that the waiting writes need.
    wanted: u32,
    /// Whether data that was read found no room.
    turned_away: bool,
    /// Whether a clean page was dropped, a hole passed, or a page given up, which makes room for a write that waits.
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

    /// Upper bound of the room that the waiting writes need.
    #[inline]
    pub(super) fn wanted(&self) -> u32 {
        self.wanted
    }

    /// The write that has waited longest for room.
    #[inline]
    pub fn first(&self) -> Option<WaitingPage> {
        self.waiting.front().copied()
    }

    /// Queues a write that waits for room.
    fn push(&mut self, waiting: WaitingPage) {
        self.wanted += self.wants(&waiting);
        self.waiting.push_back(waiting);
    }

    /// Removes the write that has waited longest.
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

    /// Takes the write that waits for the previous version of a page, which has just left.
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

    /// Takes all writes to some pages, in the order in which they came.
    pub fn take_all(&mut self, pages: &Range<Lpn>) -> Vec<WaitingPage> {
        let is_one = |waiting: &WaitingPage| pages.contains(&waiting.span.page);
        let mut taken: Vec<WaitingPage> = self.waiting.iter().copied().filter(is_one).collect();
        self.wanted -= taken.iter().map(|waiting| self.wants(waiting)).sum::<u32>();
        self.waiting.retain(|waiting| !is_one(waiting));
        if self.any_behind() {
            let pages = (pages.start.get()..pages.end.get()).map(Lpn::new);
            taken.extend(pages.filter_map(|page| self.behind.remove(&page)).flatten());
        }
        taken
    }

    /// Notes that data that was read found no room, so the next eviction takes place.
    pub fn turn_away(&mut self) {
        self.turned_away = true;
    }

    /// Whether data that was read found no room.
    #[inline]
    pub(super) fn has_turned_away(&self) -> bool {
        self.turned_away
    }

    /// Resets [`Self::turn_away`].
    #[inline]
    pub(super) fn forget_turned_away(&mut self) {
        self.turned_away = false;
    }

    /// Whether clean pages were dropped, holes passed or pages given up since the last call, and a write waits for room.
    #[inline]
    pub fn made_room(&mut self) -> bool {
        std::mem::take(&mut self.made_room) && !self.waiting.is_empty()
    }

    /// The buffer must be empty.
    pub(super) fn rest(&mut self) {
        let EntryQueue { space: _, waiting, behind, wanted, turned_away, made_room } = self;
        let empty = waiting.is_empty() && behind.is_empty() && *wanted == 0;
        assert!(empty, "no write waits for a buffer at rest");
        (*turned_away, *made_room) = (false, false);
    }

    /// Checks the sum of the room that waiting writes need.
    pub(super) fn audit(&self) -> Result<(), String> {
        let wanted = self.waiting.iter().map(|waiting| self.wants(waiting)).sum::<u32>();
        match wanted == self.wanted {
            true => Ok(()),
            false => Err(format!(
                "waiting writes need room for {wanted}, but {} is counted",
                self.wanted
            )),
        }
    }
}

/// Requests that wait for pages to be on flash.
#[derive(Clone, Debug, Default)]
pub(super) struct Waiters {
    lists: Slab<Waiter>,
    /// Pages with dirty sectors that a request waits for.
    pub(super) awaited: u32,
    /// Those of them to write back next, whatever the policy says.
    forced: VecDeque<(SlotId, Lpn)>,
}

impl Waiters {
    /// A list of one request.
    #[inline(always)]
    pub(super) fn only(&mut self, request: RequestId) -> WaiterId {
        self.lists.insert(Waiter { request, next: None })
    }

    /// Makes `request` wait until everything that a page holds now is on flash.
    fn wait_for(&mut self, page: &mut Page, request: RequestId) {
        let list = if page.dirty.is_empty() {
            &mut page.write_back_waiters
        } else {
            self.awaited += u32::from(page.dirty_waiters.is_none());
            &mut page.dirty_waiters
        };
        *list = Some(self.lists.insert(Waiter { request, next: list.take() }));
    }

    /// Takes the list of requests that wait for the dirty sectors of a page.
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

    /// Queues a page to be written back whatever the policy says.
    pub(super) fn force(&mut self, slot: SlotId, page: Lpn) {
        self.forced.push_back((slot, page));
    }

    /// The next page of that queue. It may have left already.
    #[inline]
    pub(super) fn next_forced(&mut self) -> Option<(SlotId, Lpn)> {
        self.forced.pop_front()
    }

    /// Whether that queue is empty.
    #[inline]
    pub(super) fn forces_nothing(&self) -> bool {
        self.forced.is_empty()
    }

    /// The buffer must be empty.
    pub(super) fn rest(&mut self) {
        let Waiters { lists, awaited, forced } = self;
        assert!(*awaited == 0, "no request waits for a buffer at rest");
        *lists = Slab::default();
        forced.clear();
    }
}

impl Buffer {
    /// Queues a page of a write that has to wait, for room or for the version before. `pages` is the number to count.
    pub fn wait_for_room(&mut self, waiting: WaitingPage, pages: u32) {
        self.counts.waited += u64::from(pages);
        if self.acknowledges_early() {
            self.queue.push(waiting);
        } else {
            self.queue.behind.entry(waiting.span.page).or_default().push_back(waiting);
        }
    }

    /// Makes `request` wait until everything that the page holds now is on flash.
    pub fn wait_for_page(&mut self, slot: SlotId, request: RequestId) {
        self.waiters.wait_for(&mut self.pages[slot], request);
    }

    /// Makes `request` wait until the page is on flash, although the policy acknowledges writes from DRAM.
    pub fn force(&mut self, slot: SlotId, request: RequestId) {
        self.wait_for_page(slot, request);
        self.force_write_back(slot);
    }

    /// Starts a host flush: `request` waits for every page that is not on flash. Returns their number.
    pub fn wait_for_all(&mut self, request: RequestId) -> u32 {
        let mut slots = self.pages.slots();
        slots.retain(|&slot| self.pages[slot].is_new());
        for &slot in &slots {
            self.wait_for_page(slot, request);
            self.force_write_back(slot);
        }
        slots.len() as u32
    }

    /// Queues a dirty page that a request waits for to be written back, whatever the policy says. Where write-backs
    /// start per plane, they go in the policy's order instead, as long as any request waits.
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
