//! The demand-paged page map: it is stored on flash in translation pages, and only the entries in
//! use are in memory.
//!
//! Source: Gupta, Kim, Urgaonkar, "DFTL: A Flash Translation Layer Employing Demand-based Selective
//! Caching of Page-level Address Mappings", ASPLOS 2009. A *translation page* is a flash page that
//! holds the entries, of 4 bytes each, of consecutive logical pages. The directory of translation
//! pages is always in memory. A look-up that misses evicts the least recently used entry and then
//! reads the translation page of its own entry. If the evicted entry differs from flash, its
//! translation page is updated first, with all its dirty entries (*batched updates*).
//! If the entry of a page that garbage collection moves is in memory, it changes only there (*lazy
//! copying*). The translation pages of the other moved pages are updated once each.
//!
//! Translation pages are hidden logical pages behind those of the host. The same table places them,
//! and the end of that table is the directory. So translation pages are placed, garbage-collected
//! and wear-levelled as other pages are, in blocks of their own.
//!
//! Further entries may lie in the memory of the host: those used less recently. A look-up takes an entry from there into
//! the controller's memory, and the least recently used one of the controller's goes to the host. Both are one list by use.
//!
//! Departures. The order is plain LRU; the paper's is segmented LRU. The translation pages that
//! garbage collection has to update do not delay the erase: their entries stay in memory until
//! they are written, because a collection that waits for room on another plane can wait for ever. A
//! look-up in a translation page that was never written costs nothing. The entries in memory
//! survive a saved image, as the page map does.

mod cached;
mod counts;
mod with_host;

#[cfg(test)]
mod tests;

pub use cached::{CachedTable, Cleaned, Evicted};
pub use counts::{Cause, DemandCounts};

use std::collections::VecDeque;

use super::{MappingFacts, MappingPolicy, PageMap};
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::options::declare::options;
use crate::policy::{Parts, Policy};
use crate::shape::Geometry;
use crate::units::{Bytes, Lpn, Nanos, PlaneId, Ppn, Tpn};
use crate::verify;

options! {
    /// The demand-paged map.
    pub struct DftlOptions at "ftl.mapping" {
        /// Memory for entries of the map. An entry takes 8 bytes, as in the paper: a logical and a
        /// physical page number. The whole map fits if there are 8 bytes for each page that the
        /// host sees.
        cache: Bytes = "64KiB", in "64B"..="1TiB",
            source "assumed: the SRAM of a controller without DRAM; the paper chooses its sizes by its traces";
        /// Memory of the host for further entries, those used less recently (NVM Express: host memory buffer), or "none".
        host_memory: Option<Bytes> = "none", in "64B"..="1TiB",
            source "default: none; drives without DRAM ask for tens of MiB (AnandTech on the Toshiba RC100, 2018)";
        /// The time until an entry in the host's memory has been read: a round trip on the link. With a `host.link` that
        /// has a rate it then takes its turn there.
        host_memory_latency: Nanos = "1us", in "0ns"..="1ms",
            source "assumed: Rota et al., TWEPP 2015, abstract: round trips to system memory in as little as 1 us",
            applies_with "ftl.mapping.host_memory" not "none";
    }
}

/// The size of an entry in memory, and on flash.
const CACHED_ENTRY: u64 = 8;
const STORED_ENTRY: u64 = 4;

impl DftlOptions {
    /// Returns the number of entries that fit into the controller's memory.
    #[must_use]
    pub fn entries(&self) -> u64 {
        self.cache.0 / CACHED_ENTRY
    }

    /// How long a read of the host's memory takes, if entries lie there.
    #[must_use]
    pub fn host_memory_latency(&self) -> Option<Nanos> {
        self.host_memory.map(|_| self.host_memory_latency)
    }

    /// Returns the number of entries that fit into the host's memory.
    fn entries_with_host(&self) -> u64 {
        self.host_memory.map_or(0, |memory| memory.0 / CACHED_ENTRY)
    }
}

/// The result of a look-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookUp {
    /// The entry is in memory, or has space reserved there.
    Hit,
    /// The entry was not in memory, and space is now reserved for it. If that evicted a dirty
    /// entry, the translation page of that entry has to be written first.
    Miss(Option<Tpn>),
}

/// The position of the translation pages among the logical pages.
#[derive(Clone, Copy, Debug)]
struct Layout {
    /// Number of pages of the host.
    host_pages: u32,
    /// The first page of the first translation page. Translation pages occupy whole flash pages.
    first: u32,
    /// Number of translation pages.
    count: u32,
    units_per_page: u32,
}

/// The map, its entries in memory, and which translation pages on flash are stale.
#[derive(Clone, Debug)]
pub struct Dftl {
    table: PageMap,
    layout: Layout,
    cached: CachedTable,
    /// By translation page: whether it waits to be updated, because it lacks a change that no
    /// entry in memory holds.
    stale: Box<[bool]>,
    /// By translation page: entries that its next update reads from the host's memory. Empty if there is none.
    owed: Box<[u32]>,
    /// By translation page: whether a new copy of it is on its way to flash.
    leaving: Box<[bool]>,
    /// By plane: translation pages that its garbage collection made stale.
    touched: Box<[Vec<Tpn>]>,
    /// Translation pages that are to be updated now.
    due: VecDeque<(Tpn, Cause)>,
    /// By translation page: whether it stays in memory as a whole because it can no longer be
    /// written. Empty as long as the device takes writes.
    kept: Box<[bool]>,
    /// Whether an image is being loaded. Committed entries are then already on flash.
    loading: bool,
    counts: DemandCounts,
    /// The entries as stored on flash. Only filled if devices check themselves.
    stored: Vec<u32>,
}

impl Policy for Dftl {
    const NAME: &'static str = "dftl";
    const SUMMARY: &'static str =
        "page mapping, the table on flash and the entries in use in a small memory (demand paging)";
    const SOURCE: &'static str = "Gupta, Kim, Urgaonkar, ASPLOS 2009";
    type Options = DftlOptions;

    fn build(options: &Self::Options, parts: &Parts<'_>) -> Self {
        let entries = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
        let map = Dftl::new(parts.logical_pages, entries(options.entries()), parts.geometry);
        map.with_host_memory(entries(options.entries_with_host()))
    }

    fn save(&self, out: &mut ImageWriter) {
        let Dftl {
            // Follows from the contents of flash.
            table: _,
            layout: _,
            cached,
            // Nothing is stale or in flight at rest.
            stale: _,
            owed: _,
            leaving: _,
            touched: _,
            due: _,
            // A device that keeps translation pages only in memory is not saved.
            kept: _,
            loading: _,
            // Measurements start again at the load.
            counts: _,
            stored: _,
        } = self;
        out.number(cached.held());
        for (page, dirty) in cached.by_use() {
            out.number(page.get());
            out.flag(dirty);
        }
    }

    fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        for _ in 0..from.below(u64::from(self.cached.capacity()) + 1, "the number of entries")? {
            let page = Lpn::new(from.below(self.layout.host_pages.into(), "an entry of the map")?);
            if self.cached.state(page).is_some() {
                return Err(Damage(format!("the entry of {page:?} is in memory twice")));
            }
            self.cached.insert(page);
            if from.flag("whether an entry differs from flash")? {
                self.cached.make_dirty(page);
            }
        }
        Ok(())
    }
}

impl MappingFacts for Dftl {
    fn on_flash(options: &Self::Options) -> Option<&DftlOptions> {
        Some(options)
    }

    fn fills_stripes(_options: &Self::Options) -> bool {
        true
    }

    fn fits_checkpoints(_options: &Self::Options) -> bool {
        true
    }
}

/// Returns the number of flash pages that hold the map of `logical_pages`.
#[must_use]
pub fn translation_pages(logical_pages: u64, page_size: Bytes) -> u64 {
    logical_pages.div_ceil(page_size.0 / STORED_ENTRY)
}

impl Dftl {
    /// Creates the map of `logical_pages`, none of them written. At most `entries` entries are in
    /// memory.
    #[must_use]
    pub fn new(logical_pages: u32, entries: u32, geometry: &Geometry) -> Dftl {
        let page_size = geometry.shape().page_size;
        let units_per_page = geometry.units_per_page();
        let count = translation_pages(logical_pages.into(), page_size) as u32;
        let first = logical_pages.next_multiple_of(units_per_page);
        let layout = Layout { host_pages: logical_pages, first, count, units_per_page };
        let per_page = (page_size.0 / STORED_ENTRY) as u32;
        let stored = if verify::ON { logical_pages as usize } else { 0 };
        Dftl {
            table: PageMap::new(layout.end()),
            cached: CachedTable::new(entries, logical_pages, per_page),
            stale: vec![false; count as usize].into(),
            owed: Box::default(),
            leaving: vec![false; count as usize].into(),
            touched: vec![Vec::new(); geometry.planes() as usize].into(),
            due: VecDeque::new(),
            kept: Box::default(),
            loading: false,
            counts: DemandCounts::default(),
            stored: vec![0; stored],
            layout,
        }
    }

    /// Returns the counts so far.
    #[must_use]
    pub fn counts(&self) -> &DemandCounts {
        &self.counts
    }

    /// Returns the counts, for the caller to add the flash operations.
    pub(crate) fn counts_mut(&mut self) -> &mut DemandCounts {
        &mut self.counts
    }

    /// Returns the entries in memory.
    #[must_use]
    pub fn cached(&self) -> &CachedTable {
        &self.cached
    }

    /// Returns the number of logical pages, including those of the map.
    #[must_use]
    pub fn all_pages(&self) -> u32 {
        self.layout.end()
    }

    /// Returns the number of translation pages.
    #[must_use]
    pub fn translation_pages(&self) -> u32 {
        self.layout.count
    }

    /// Whether a page belongs to the map.
    #[inline]
    #[must_use]
    pub fn is_of_map(&self, page: Lpn) -> bool {
        page.get() >= self.layout.host_pages
    }

    /// Returns the logical pages of a translation page.
    #[inline]
    pub fn pages_of(&self, of: Tpn) -> impl Iterator<Item = Lpn> + Clone + use<> {
        let Layout { first, units_per_page, .. } = self.layout;
        let first = first + of.get() * units_per_page;
        (first..first + units_per_page).map(Lpn::new)
    }

    /// Returns the translation page that holds the entry of a page.
    #[inline]
    #[must_use]
    pub fn page_of(&self, page: Lpn) -> Tpn {
        self.cached.page_of(page)
    }

    /// Looks an entry up for a host read or a write-back, and reserves space in memory if it has
    /// none. An entry that is being `fetched` for others already has space, but the look-up has to
    /// wait, so it does not count as a hit.
    #[inline]
    pub(crate) fn find(&mut self, page: Lpn, cause: Cause, fetched: bool) -> LookUp {
        let hit = self.cached.used(page) || self.keeps_entry(page);
        let counts = &mut self.counts;
        match (cause, hit && !fetched) {
            (Cause::HostRead, true) => counts.read_hits += 1,
            (Cause::HostRead, false) => counts.read_misses += 1,
            (_, true) => counts.write_hits += 1,
            (_, false) => counts.write_misses += 1,
        }
        if hit { LookUp::Hit } else { LookUp::Miss(self.take_in(page)) }
    }

    /// Inserts an entry. Returns the translation page that has to be written for the evicted entry.
    fn take_in(&mut self, page: Lpn) -> Option<Tpn> {
        let Evicted { page: left, dirty, with_host } = self.cached.insert(page)?;
        self.counts.evicted += 1;
        if !dirty || self.keeps_entry(left) {
            return None;
        }
        let of = self.page_of(left);
        self.counts.write_backs += 1;
        self.owes(of, u32::from(with_host));
        self.counts.batched += u64::from(self.clean_all(of));
        self.stale[of.at()] = true;
        Some(of)
    }

    /// Records in memory that a page of the host has moved.
    #[inline]
    pub(in crate::ftl) fn changed(&mut self, page: Lpn) {
        if self.cached.make_dirty(page) || self.keeps_entry(page) {
            return;
        }
        self.counts.reinserted += 1;
        if let Some(of) = self.take_in(page) {
            self.due.push_back((of, Cause::RoomForWrite));
        }
        self.cached.make_dirty(page);
    }

    /// Records that garbage collection on `plane` copied a page. `current` is whether the copy is
    /// the current one.
    pub(in crate::ftl) fn copied(&mut self, plane: PlaneId, page: Lpn, current: bool) {
        if self.is_of_map(page) {
            self.counts.copies += 1;
        } else if current {
            if self.cached.make_dirty(page) {
                self.counts.lazy += 1;
            } else if let Some(of) = self.make_stale(page) {
                self.touched[plane.at()].push(of);
            }
        }
    }

    /// Records that the entry of a page on flash is out of date, with no entry in memory. Returns
    /// its translation page if that was not stale before.
    fn make_stale(&mut self, page: Lpn) -> Option<Tpn> {
        let of = self.page_of(page);
        if self.keeps(of) {
            return None;
        }
        (!std::mem::replace(&mut self.stale[of.at()], true)).then_some(of)
    }

    /// Whether garbage collection on `plane` made translation pages stale that are not yet due to
    /// be updated.
    pub(in crate::ftl) fn has_touched(&self, plane: PlaneId) -> bool {
        !self.touched[plane.at()].is_empty()
    }

    /// Ends the copying of a collection on `plane`: the translation pages that it made stale are
    /// now due to be updated.
    pub(in crate::ftl) fn collected(&mut self, plane: PlaneId) {
        let touched = self.touched[plane.at()].drain(..);
        self.due.extend(touched.map(|of| (of, Cause::Collection)));
    }

    /// Returns the next translation page to be updated, and the cause.
    pub(crate) fn next_due(&mut self) -> Option<(Tpn, Cause)> {
        while let Some((of, cause)) = self.due.pop_front() {
            // It may have been updated for another cause.
            if self.stale[of.at()] {
                return Some((of, cause));
            }
        }
        None
    }

    /// Begins the update of a translation page. It will hold the present entries of the map. Returns how many of them are
    /// first read from the host's memory.
    pub(crate) fn update(&mut self, of: Tpn) -> u32 {
        self.counts.batched += u64::from(self.clean_all(of));
        let owed = self.take_owed(of);
        self.counts.updates_from_host += u64::from(owed);
        self.stale[of.at()] = false;
        self.leaving[of.at()] = true;
        if verify::ON {
            self.note_stored(of);
        }
        owed
    }

    /// The new copy of a translation page is on flash, or is given up.
    pub(crate) fn update_ended(&mut self, of: Tpn) {
        self.leaving[of.at()] = false;
    }

    /// How many entries in memory differ from flash.
    pub(in crate::ftl) fn dirty_entries(&self) -> u64 {
        self.cached.by_use().filter(|&(_, dirty)| dirty).count() as u64
    }

    /// How many translation pages have further entries in memory that differ from flash: the whole page is there, or
    /// entries that it lacks.
    pub(in crate::ftl) fn pages_in_memory(&self) -> u64 {
        let differs = |(&stale, &leaving): (&bool, &bool)| stale || leaving;
        self.stale.iter().zip(&self.leaving).filter(|&marks| differs(marks)).count() as u64
    }

    /// Keeps a translation page in memory as a whole from now on. A device at the end of its life
    /// no longer writes it.
    #[cold]
    pub(crate) fn keep(&mut self, of: Tpn) {
        if self.kept.is_empty() {
            self.kept = vec![false; self.layout.count as usize].into();
        }
        self.kept[of.at()] = true;
        self.stale[of.at()] = false;
        self.clean_all(of);
        self.take_owed(of);
    }

    /// Whether a translation page is kept in memory as a whole, for good.
    #[inline]
    #[must_use]
    pub fn keeps(&self, of: Tpn) -> bool {
        !self.kept.is_empty() && self.kept[of.at()]
    }

    /// Whether the entry of a page is kept in memory with its whole translation page.
    #[inline]
    pub(crate) fn keeps_entry(&self, page: Lpn) -> bool {
        !self.kept.is_empty() && self.kept[self.page_of(page).at()]
    }

    /// Returns the number of translation pages kept in memory as a whole, for good.
    #[must_use]
    pub fn pages_kept(&self) -> usize {
        self.kept.iter().filter(|&&kept| kept).count()
    }

    /// Returns the logical pages whose entries a translation page holds.
    pub(crate) fn entries_of(&self, of: Tpn) -> std::ops::Range<u32> {
        let per_page = self.cached.per_page();
        let first = of.get() * per_page;
        first..(first + per_page).min(self.layout.host_pages)
    }

    fn note_stored(&mut self, of: Tpn) {
        for page in self.entries_of(of).map(Lpn::new) {
            self.stored[page.at()] = self.table.look_up(page).map_or(0, Ppn::to_raw);
        }
    }

    /// Begins the loading of an image.
    pub(in crate::ftl) fn begin_load(&mut self) {
        self.loading = true;
    }

    /// Ends the loading of an image. The checks then assume that flash holds the present map: the
    /// drive wrote every entry that differed, or has it in memory.
    pub(in crate::ftl) fn end_load(&mut self) {
        self.loading = false;
        if verify::ON {
            (0..self.layout.count).map(Tpn::new).for_each(|of| self.note_stored(of));
        }
    }

    /// Returns the translation pages that differ from the map, except those that are being
    /// updated.
    pub(in crate::ftl) fn not_on_flash(&self) -> Vec<Tpn> {
        let dirty =
            self.cached.by_use().filter(|&(_, dirty)| dirty).map(|(page, _)| self.page_of(page));
        let marks = (0..).map(Tpn::new).zip(&self.stale).chain((0..).map(Tpn::new).zip(&self.kept));
        let marked = marks.filter(|&(_, &mark)| mark).map(|(of, _)| of);
        let mut all: Vec<Tpn> = dirty.chain(marked).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// After a power cut, once the map is known, schedules the update of out-of-date translation
    /// pages: those that are `wrong` on flash, and those with an entry that differs from
    /// `lay`, the map before the cut. Until then their entries are in memory.
    pub(in crate::ftl) fn recovered(&mut self, wrong: &[Tpn], lay: &[Option<Ppn>]) {
        let moved =
            (0..).map(Lpn::new).zip(lay).filter(|&(page, &lay)| self.table.look_up(page) != lay);
        let mut all: Vec<Tpn> = moved.map(|(page, _)| self.page_of(page)).collect();
        all.extend(wrong);
        all.sort_unstable();
        all.dedup();
        for of in all {
            self.stale[of.at()] = true;
            self.due.push_back((of, Cause::Recovery));
        }
    }

    /// Whether nothing waits to be updated, except for unfinished garbage collections.
    pub(crate) fn is_settled(&self) -> bool {
        let waits = |of: u32| self.touched.iter().flatten().any(|touched| touched.get() == of);
        let mut stale = (0..).zip(&self.stale).filter(|&(_, &stale)| stale);
        self.due.is_empty() && stale.all(|(of, _)| waits(of))
    }

    /// Whether nothing waits to be updated.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.due.is_empty() && !self.stale.contains(&true)
    }

    /// Checks that the entries in memory fit, and that every other entry, or clean entry, is on
    /// flash as it is in the map. Exceptions are entries whose translation page waits to be
    /// updated or is kept in memory as a whole.
    pub(in crate::ftl) fn audit(&self) -> Result<(), String> {
        let (held, listed) = (self.cached.held(), self.cached.by_use().count());
        if held > self.cached.capacity() || held as usize != listed {
            let capacity = self.cached.capacity();
            return Err(format!("{held} entries of {capacity} are in memory, {listed} are listed"));
        }
        for page in (0..self.stored.len() as u32).map(Lpn::new) {
            let (map, flash) = (self.table.look_up(page), Ppn::from_raw(self.stored[page.at()]));
            let known =
                self.stale[self.page_of(page).at()] || self.cached.state(page) == Some(true);
            if map != flash && !known && !self.keeps_entry(page) {
                return Err(format!(
                    "{page:?} lies at {map:?}, but its translation page says {flash:?}, \
                     and nothing in memory records the change"
                ));
            }
        }
        Ok(())
    }
}

impl MappingPolicy for Dftl {
    #[inline]
    fn look_up(&self, page: Lpn) -> Option<Ppn> {
        self.table.look_up(page)
    }

    #[inline]
    fn commit(&mut self, page: Lpn, at: Ppn) -> Option<Ppn> {
        let old = self.table.commit(page, at);
        if !self.is_of_map(page) && !self.loading {
            self.changed(page);
        }
        old
    }

    /// [`copied`](Self::copied) records the change of the entry.
    #[inline]
    fn relocate(&mut self, page: Lpn, from: Ppn, to: Ppn) -> bool {
        self.table.relocate(page, from, to)
    }

    fn trim(&mut self, page: Lpn) -> Option<Ppn> {
        let found = self.table.trim(page)?;
        if !self.cached.make_dirty(page)
            && let Some(of) = self.make_stale(page)
        {
            self.due.push_back((of, Cause::Trim));
        }
        Some(found)
    }

    #[inline]
    fn prefetch(&self, page: Lpn) {
        self.table.prefetch(page);
        self.cached.prefetch(page);
    }

    #[inline]
    fn dftl(&self) -> Option<&Dftl> {
        Some(self)
    }

    #[inline]
    fn dftl_mut(&mut self) -> Option<&mut Dftl> {
        Some(self)
    }
}

impl Layout {
    fn end(self) -> u32 {
        self.first + self.count * self.units_per_page
    }
}
