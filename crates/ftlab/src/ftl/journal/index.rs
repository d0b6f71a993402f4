//! The index: what was programmed, noted in the system area of a device whose dies may die.
//!
//! After a power cut the spare areas of a dead die can't be read. Nobody would know what lay there, and older copies on
//! other dies would pass for the current ones. So the index names each page (its logical page, its version, its place),
//! and a program counts only when a page of the index that names it is on flash: only then is the new copy in the map,
//! the host told, and the older copy left to collection. Programs that end while a page of the index is being written
//! share the next one. What the index does not name never counts, so a page that was on a dead die is known to be lost,
//! even if nobody noticed the death before the cut.
//!
//! A checkpoint holds what was indexed before. Without checkpoints the index is written anew as it grows: once it is
//! twice as long as one entry for each logical page, with each of its pages one more is written, and one given up.

use crate::scheduler::CommandId;
use crate::shape::FlashGeometry;
use crate::units::SimTime;

/// The size of an entry: a logical page and a place (four bytes each), and a version.
const ENTRY: u64 = 16;

/// A program that is done, but does not count yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unindexed {
    pub id: CommandId,
    /// When it was done.
    pub since: SimTime,
}

/// The index, and the programs that wait for it.
#[derive(Clone, Debug)]
pub(super) struct Index {
    /// Programs that no page of the index names yet.
    waiting: Vec<Unindexed>,
    /// Programs that the pages in flight name.
    writing: Vec<Unindexed>,
    /// Programs that the last pages name, and how many of them, the last ones, do not count yet.
    indexed: u32,
    uncounted: u32,
    /// Programs of the index in flight.
    programs: u32,
    /// Flash pages whose entries fit into one of the index.
    together: u32,
    /// Entries of a page.
    per_page: u64,
    /// Pages of the index that recovery reads.
    pages: u32,
    /// Pages of an index with one entry for each logical page.
    whole: u32,
    /// Whether checkpoints shorten it.
    has_checkpoints: bool,
    /// Pages that the current checkpoint replaces.
    before_checkpoint: u32,
}

impl Index {
    /// The index of a new device. `parts` is how many logical pages may share a mapping unit.
    pub(super) fn new(
        geometry: &FlashGeometry,
        (logical_pages, parts): (u32, u32),
        has_checkpoints: bool,
    ) -> Index {
        let per_page = geometry.shape().page_size.0 / ENTRY;
        let of_flash_page = u64::from(geometry.units_per_page() * parts);
        Index {
            waiting: Vec::new(),
            writing: Vec::new(),
            indexed: 0,
            uncounted: 0,
            programs: 0,
            together: (per_page / of_flash_page).max(1) as u32,
            per_page,
            pages: 0,
            whole: (u64::from(logical_pages) * u64::from(parts)).div_ceil(per_page) as u32,
            has_checkpoints,
            before_checkpoint: 0,
        }
    }

    /// Pages of the index that recovery reads.
    pub(super) fn pages(&self) -> u32 {
        self.pages
    }

    /// Programs that are done and don't count yet.
    pub(super) fn unindexed(&self) -> impl Iterator<Item = &Unindexed> {
        self.writing.iter().chain(&self.waiting)
    }

    /// A program is done, and waits.
    pub(super) fn wait(&mut self, program: Unindexed) {
        self.waiting.push(program);
    }

    /// Begins the next pages, if programs wait and none is in flight. Returns how many programs of the system area they
    /// take, with this many copies of each.
    pub(super) fn begin(&mut self, copies: u32) -> u32 {
        if self.programs > 0 || self.waiting.is_empty() {
            return 0;
        }
        std::mem::swap(&mut self.waiting, &mut self.writing);
        let new = (self.writing.len() as u32).div_ceil(self.together);
        self.pages += new;
        let is_long = !self.has_checkpoints && self.pages > 2 * self.whole;
        let again = if is_long { new } else { 0 };
        self.pages -= again;
        self.programs = (new + again) * copies;
        self.programs
    }

    /// A program of the index is done. Returns whether it was the last one.
    pub(super) fn page_done(&mut self) -> bool {
        self.programs -= 1;
        self.programs == 0
    }

    /// Takes the programs that are indexed now. They count one after the other.
    pub(super) fn take_indexed(&mut self) -> Vec<Unindexed> {
        self.indexed = self.writing.len() as u32;
        self.uncounted = self.indexed;
        std::mem::take(&mut self.writing)
    }

    /// The next of the programs that were taken counts.
    pub(super) fn next_counts(&mut self) {
        self.uncounted -= 1;
    }

    /// A checkpoint begins because a program counts. It holds what counts by now, and does not replace pages that name
    /// something else.
    pub(super) fn checkpoint_begins(&mut self) {
        debug_assert!(self.programs == 0, "no page is in flight while programs begin to count");
        let last = self.indexed.div_ceil(self.together);
        let replaced = match self.uncounted {
            0 => last,
            left => (self.indexed - left) / self.together,
        };
        self.before_checkpoint = self.pages - (last - replaced);
    }

    /// A checkpoint is complete.
    pub(super) fn checkpoint_ends(&mut self) {
        self.pages -= std::mem::take(&mut self.before_checkpoint);
    }

    /// After a power cut: this many pages were found.
    pub(super) fn take_up(&mut self, pages: u32) {
        (self.pages, self.before_checkpoint) = (pages, 0);
    }

    /// After a load: so many pages are on flash. A checkpoint holds them, or the index, which was written anew.
    pub(super) fn begin_with(&mut self, entries: u64) {
        let pages = if self.has_checkpoints { 0 } else { entries.div_ceil(self.per_page) };
        self.take_up(pages as u32);
    }
}
