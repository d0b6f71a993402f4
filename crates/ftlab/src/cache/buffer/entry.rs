//! Writes that wait to come in: for room, or where pages are only staged, for the version before.

use super::{Buffer, Waiting};
use crate::units::Lpn;

impl Buffer {
    /// Whether a request of so many pages comes in as a whole now. One that is larger than the buffer comes
    /// in when nothing else is there.
    pub fn let_in(&mut self, pages: u32) -> bool {
        let Some(capacity) = self.setup.capacity else { return true };
        let held = self.pages_held();
        let fits = held + pages as usize <= capacity as usize;
        let alone = held == 0 && pages > capacity;
        self.passing |= alone;
        alone || (fits && !self.passing)
    }

    /// So many pages of a write have to wait: for room, or for the version before.
    pub fn wait_for_room(&mut self, waiting: Waiting, pages: u32) {
        self.counts.waited += u64::from(pages);
        if self.acknowledges_early() {
            self.waiting.push_back(waiting);
        } else {
            self.behind.entry(waiting.span.page).or_default().push_back(waiting);
        }
    }

    /// The write that waited for the version of a page which has just left, if one did.
    #[inline]
    pub fn next_version(&mut self, page: Lpn) -> Option<Waiting> {
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

    /// The write that has waited longest for room.
    #[inline]
    #[must_use]
    pub fn first_waiting(&self) -> Option<Waiting> {
        self.waiting.front().copied()
    }

    /// The write that has waited longest waits no more.
    pub fn forget_waiting(&mut self) {
        self.waiting.pop_front();
    }
}
