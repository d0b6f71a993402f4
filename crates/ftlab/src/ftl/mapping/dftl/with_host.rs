//! Entries in the host's memory: look-ups take them from there, and updates of translation pages read those that differ
//! from flash. The controller can't program what it doesn't hold.
//!
//! An entry that is evicted, or goes along with an evicted one, counts as clean at once. What its translation page *owes*
//! is how many of those lay with the host: the next update of that page reads them first.

use super::Dftl;
use super::cached::Cleaned;
use crate::units::{Lpn, Tpn};

impl Dftl {
    /// The same map with room for so many further entries in the host's memory.
    #[must_use]
    pub fn with_host_memory(mut self, entries: u32) -> Dftl {
        self.cached = self.cached.with_host_memory(entries, self.layout.host_pages);
        let pages = if self.cached.uses_host() { self.layout.count } else { 0 };
        self.owed = vec![0; pages as usize].into();
        self
    }

    /// Looks up an entry that lies in the host's memory, from where it moves to the controller's.
    pub(crate) fn take_from_host(&mut self, page: Lpn) {
        self.counts.from_host += 1;
        self.cached.used(page);
    }

    /// Makes all entries of a translation page clean, since they are written with it. Returns how many were dirty.
    pub(super) fn clean_all(&mut self, of: Tpn) -> u32 {
        let Cleaned { entries, with_host } = self.cached.clean_all(of);
        self.owes(of, with_host);
        entries
    }

    /// The next update of a translation page has to read so many more entries from the host's memory.
    pub(super) fn owes(&mut self, of: Tpn, entries: u32) {
        if entries > 0 {
            self.owed[of.at()] += entries;
        }
    }

    /// Takes the number of entries that an update of a translation page has to read from the host's memory.
    pub(super) fn take_owed(&mut self, of: Tpn) -> u32 {
        self.owed.get_mut(of.at()).map_or(0, std::mem::take)
    }
}
