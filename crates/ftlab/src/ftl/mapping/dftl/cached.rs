//! The cached mapping table: the entries of the map that are in memory, in LRU order, and which of
//! them are dirty, i.e. differ from flash.
//!
//! Each entry is in a list by use. A dirty entry is also in a list of its translation page, so that
//! all of them are found when that page is written. The index is a flat table by logical page.
//!
//! The entries used most recently, as many as fit, lie in the controller's memory, the others in the host's. So the list
//! by use has one place where the host's begin.

use crate::engine::{Divisor, prefetch};
use crate::units::{Lpn, Tpn};

/// An entry in memory.
#[derive(Clone, Debug)]
struct CachedEntry {
    page: Lpn,
    /// The next less and more recently used entry.
    older: Option<EntryHandle>,
    newer: Option<EntryHandle>,
    /// Its neighbours among the dirty entries of its translation page.
    next_dirty: Option<EntryHandle>,
    prev_dirty: Option<EntryHandle>,
    dirty: bool,
    /// Whether it lies in the host's memory.
    with_host: bool,
}

/// The position of an entry.
type EntryHandle = crate::engine::Handle<CachedEntry>;

/// An evicted entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evicted {
    /// The page that the entry belongs to.
    pub page: Lpn,
    /// Whether it differed from flash.
    pub dirty: bool,
    /// Whether it lay in the host's memory.
    pub with_host: bool,
}

/// Entries that became clean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// How many.
    pub entries: u32,
    /// How many of them lie in the host's memory.
    pub with_host: u32,
}

/// The entries of the map that are in memory.
#[derive(Clone, Debug)]
pub struct CachedTable {
    capacity: u32,
    /// How many of them fit into the controller's memory.
    own: u32,
    /// The least recently used entry in the controller's memory. Known only if there is memory of the host.
    last_own: Option<EntryHandle>,
    entries: Vec<CachedEntry>,
    /// By logical page: the position of its entry plus one, or zero.
    index: Vec<u32>,
    oldest: Option<EntryHandle>,
    newest: Option<EntryHandle>,
    /// By translation page: the first of its dirty entries.
    dirty: Vec<Option<EntryHandle>>,
    per_page: Divisor,
}

impl CachedTable {
    /// Creates an empty table with room for `capacity` of the `pages` entries. A translation page
    /// holds `per_page` entries.
    pub fn new(capacity: u32, pages: u32, per_page: u32) -> CachedTable {
        let capacity = capacity.clamp(1, pages.max(1));
        CachedTable {
            capacity,
            own: capacity,
            last_own: None,
            entries: Vec::new(),
            index: vec![0; pages as usize],
            oldest: None,
            newest: None,
            dirty: vec![None; pages.div_ceil(per_page) as usize],
            per_page: Divisor::new(per_page),
        }
    }

    /// The same empty table with room for `more` of the `pages` entries in the host's memory.
    pub fn with_host_memory(self, more: u32, pages: u32) -> CachedTable {
        let capacity = self.own.saturating_add(more).min(pages.max(1));
        CachedTable { capacity, ..self }
    }

    /// Whether some entries lie in the host's memory when all memory is full.
    #[inline]
    pub fn uses_host(&self) -> bool {
        self.own < self.capacity
    }

    /// Whether the entry of a page lies in the host's memory.
    #[inline]
    pub fn is_with_host(&self, page: Lpn) -> bool {
        self.uses_host() && self.find(page).is_some_and(|place| self.entries[place.at()].with_host)
    }

    /// Returns the number of entries that fit.
    pub fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Returns the number of entries held.
    pub fn held(&self) -> u32 {
        self.entries.len() as u32
    }

    /// Returns the translation page that holds the entry of a page.
    #[inline]
    pub fn page_of(&self, page: Lpn) -> Tpn {
        Tpn::new(self.per_page.of(page.get()))
    }

    /// Returns the number of entries in a translation page.
    pub fn per_page(&self) -> u32 {
        self.per_page.get()
    }

    /// Prefetches the memory that a look-up of a page will touch.
    #[inline]
    pub fn prefetch(&self, page: Lpn) {
        prefetch(&self.index, page.at());
    }

    #[inline]
    fn find(&self, page: Lpn) -> Option<EntryHandle> {
        self.index[page.at()].checked_sub(1).map(EntryHandle::new)
    }

    /// Returns whether the entry of a page is dirty, or `None` if it is not in memory.
    #[inline]
    pub fn state(&self, page: Lpn) -> Option<bool> {
        self.find(page).map(|place| self.entries[place.at()].dirty)
    }

    /// Records a use of an entry. Returns false if it is not in memory.
    #[inline]
    pub fn used(&mut self, page: Lpn) -> bool {
        let Some(place) = self.find(page) else { return false };
        if self.newest != Some(place) {
            if self.last_own == Some(place) {
                self.last_own = self.entries[place.at()].newer;
            }
            self.unlink(place);
            self.link(place);
            if std::mem::take(&mut self.entries[place.at()].with_host) {
                self.demote();
            }
        }
        true
    }

    /// Inserts an entry as the most recently used one. The entry must not be in memory. Returns the
    /// evicted entry.
    pub fn insert(&mut self, page: Lpn) -> Option<Evicted> {
        debug_assert!(self.find(page).is_none(), "{page:?} is there already");
        let fresh = CachedEntry {
            page,
            older: None,
            newer: None,
            next_dirty: None,
            prev_dirty: None,
            dirty: false,
            with_host: false,
        };
        let own_is_full = self.held() >= self.own;
        let (place, evicted) = match self.oldest {
            Some(oldest) if self.held() == self.capacity => {
                let &CachedEntry { page: left, dirty, with_host, .. } = &self.entries[oldest.at()];
                self.clean(oldest);
                self.unlink(oldest);
                self.index[left.at()] = 0;
                self.entries[oldest.at()] = fresh;
                (oldest, Some(Evicted { page: left, dirty, with_host }))
            }
            _ => {
                self.entries.push(fresh);
                (EntryHandle::new(self.held() - 1), None)
            }
        };
        self.index[page.at()] = place.get() + 1;
        self.link(place);
        if self.uses_host() {
            match own_is_full {
                true => self.demote(),
                false => self.last_own = self.last_own.or(Some(place)),
            }
        }
        evicted
    }

    /// Moves the least recently used entry of the controller's memory to the host's.
    fn demote(&mut self) {
        let Some(last) = self.last_own else { return };
        let entry = &mut self.entries[last.at()];
        entry.with_host = true;
        self.last_own = entry.newer;
    }

    /// Makes an entry dirty. Returns false if it is not in memory.
    #[inline]
    pub fn make_dirty(&mut self, page: Lpn) -> bool {
        let Some(place) = self.find(page) else { return false };
        if !self.entries[place.at()].dirty {
            let first = &mut self.dirty[self.per_page.of(page.get()) as usize];
            let next = first.replace(place);
            if let Some(next) = next {
                self.entries[next.at()].prev_dirty = Some(place);
            }
            let entry = &mut self.entries[place.at()];
            (entry.dirty, entry.next_dirty) = (true, next);
        }
        true
    }

    /// Makes all entries of a translation page clean, since they are written with it.
    pub fn clean_all(&mut self, of: Tpn) -> Cleaned {
        let mut cleaned = Cleaned::default();
        while let Some(place) = self.dirty[of.at()] {
            self.clean(place);
            cleaned.entries += 1;
            cleaned.with_host += u32::from(self.entries[place.at()].with_host);
        }
        cleaned
    }

    fn clean(&mut self, place: EntryHandle) {
        let &CachedEntry { page, next_dirty, prev_dirty, dirty, .. } = &self.entries[place.at()];
        if !dirty {
            return;
        }
        match prev_dirty {
            Some(before) => self.entries[before.at()].next_dirty = next_dirty,
            None => self.dirty[self.per_page.of(page.get()) as usize] = next_dirty,
        }
        if let Some(next) = next_dirty {
            self.entries[next.at()].prev_dirty = prev_dirty;
        }
        let entry = &mut self.entries[place.at()];
        (entry.dirty, entry.next_dirty, entry.prev_dirty) = (false, None, None);
    }

    /// Removes an entry from the list by use.
    fn unlink(&mut self, place: EntryHandle) {
        let &CachedEntry { older, newer, .. } = &self.entries[place.at()];
        match older {
            Some(older) => self.entries[older.at()].newer = newer,
            None => self.oldest = newer,
        }
        match newer {
            Some(newer) => self.entries[newer.at()].older = older,
            None => self.newest = older,
        }
    }

    /// Adds an entry to the list by use, as the most recently used one.
    fn link(&mut self, place: EntryHandle) {
        let before = self.newest.replace(place);
        match before {
            Some(before) => self.entries[before.at()].newer = Some(place),
            None => self.oldest = Some(place),
        }
        let entry = &mut self.entries[place.at()];
        (entry.older, entry.newer) = (before, None);
    }

    /// Returns the entries, the least recently used first, and whether each is dirty.
    pub fn by_use(&self) -> impl Iterator<Item = (Lpn, bool)> {
        let next = |place: &EntryHandle| self.entries[place.at()].newer;
        std::iter::successors(self.oldest, next).map(|place| {
            let entry = &self.entries[place.at()];
            (entry.page, entry.dirty)
        })
    }
}
