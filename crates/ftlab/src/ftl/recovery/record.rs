//! The record on flash for recovery: the version of each page, the order in which blocks were
//! opened, trims, and the last checkpoint. A version is recorded when its page is placed. Until its
//! program completes and counts, it is *pending*.

use super::Recovery;
use super::kept::Touched;
use super::snapshot::Snapshot;
use crate::ftl::mapping::hybrid::DataBlock;
use crate::ftl::mapping::{Mapping, MappingPolicy};
use crate::ftl::recovery::RecoveryPolicy;
use crate::shape::Geometry;
use crate::units::{BlockId, DieId, Lpn, Ppn};

/// Set in a version that was placed and is not known to be on flash.
const PENDING: u64 = 1 << 63;
/// Set in a version that replaces its whole logical page, so that no older version counts.
const ALONE: u64 = 1 << 62;

/// No version is as high as this.
pub(super) const MOST_VERSIONS: u64 = ALONE;

/// The version in a word with marks.
pub(super) fn version_of(word: u64) -> u64 {
    word & !(PENDING | ALONE)
}

/// The purpose for which a block was opened, under a mapping that merges blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::ftl) enum Role {
    /// A log block that takes any page.
    #[default]
    Log,
    /// A block that holds a data block.
    Data(DataBlock),
    /// A log block of one data block alone.
    HomedLog(DataBlock),
}

/// The record. Versions take eight bytes for each physical page, or sixteen if two logical pages
/// may share one.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    /// The version of the next write.
    next: u64,
    /// By physical page: the version placed there since the last erase, or zero.
    versions: Vec<u64>,
    /// The same for the second logical page in each physical page. Empty unless pages are packed.
    seconds: Vec<u64>,
    /// By block: its position in the order in which blocks were opened, from one. Zero if it was
    /// never opened.
    opened: Vec<u64>,
    openings: u64,
    /// By block: the purpose for which it was opened. Empty unless blocks are merged.
    roles: Vec<Role>,
    /// By logical page: the version of its last trim.
    trimmed: Vec<u64>,
    /// How many logical pages have one.
    trimmed_pages: u64,
    /// Dies that did not answer at the last power-up.
    pub(super) dead: Vec<DieId>,
    /// What changed, for a front end that wants to know.
    pub(super) touched: Option<Box<Touched>>,
    /// The last checkpoint, and the changes since.
    pub(in crate::ftl) snapshot: Option<Box<Snapshot>>,
}

impl Record {
    /// Creates the record of an erased flash. Returns `None` if the policy keeps no record.
    pub(in crate::ftl) fn new(
        policy: &Recovery,
        geometry: &Geometry,
        logical_pages: u32,
        mapping: &Mapping,
    ) -> Option<Box<Record>> {
        let (packs, merges) = (mapping.packs(), mapping.has_log());
        let upkeep = policy.upkeep()?;
        let physical = geometry.physical_pages() as usize;
        let snapshot = |_| Box::new(Snapshot::new(geometry, logical_pages, mapping));
        Some(Box::new(Record {
            next: 1,
            versions: vec![0; physical],
            seconds: if packs { vec![0; physical] } else { Vec::new() },
            opened: vec![0; geometry.blocks() as usize],
            openings: 0,
            roles: if merges {
                vec![Role::default(); geometry.blocks() as usize]
            } else {
                Vec::new()
            },
            trimmed: vec![0; logical_pages as usize],
            trimmed_pages: 0,
            dead: Vec::new(),
            touched: None,
            snapshot: upkeep.checkpoint_every.map(snapshot),
        }))
    }

    fn take_version(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }

    /// Records that a page is placed with new data for the whole page.
    #[inline]
    pub(in crate::ftl) fn wrote(&mut self, at: Ppn) {
        self.touch(at, 1);
        self.versions[at.at()] = self.take_version() | PENDING | ALONE;
        if let Some(second) = self.seconds.get_mut(at.at()) {
            *second = 0;
        }
    }

    /// Records that parts of two pages are placed. `alone` is, for each, whether no older version
    /// of it counts.
    pub(in crate::ftl) fn wrote_pack(&mut self, at: Ppn, alone: [bool; 2]) {
        let [first, second] = alone.map(|alone| {
            let marks = if alone { PENDING | ALONE } else { PENDING };
            self.take_version() | marks
        });
        (self.versions[at.at()], self.seconds[at.at()]) = (first, second);
        self.touch(at, 1);
    }

    /// Records that a copy of the page at `from` is placed.
    #[inline]
    pub(in crate::ftl) fn copied(&mut self, from: Ppn, to: Ppn) {
        self.touch(to, 1);
        self.versions[to.at()] = self.versions[from.at()] | PENDING;
        if let Some(second) = self.seconds.get_mut(to.at()) {
            *second = 0;
        }
    }

    /// Records that a copy of parts of the page at `from` is placed. `parts` is, for each part,
    /// whether it was the second one there.
    pub(in crate::ftl) fn copied_parts(&mut self, from: Ppn, to: Ppn, parts: [Option<bool>; 2]) {
        let [first, second] = parts.map(|part| match part {
            None => 0,
            Some(false) => self.versions[from.at()] | PENDING,
            Some(true) => self.seconds[from.at()] | PENDING,
        });
        (self.versions[to.at()], self.seconds[to.at()]) = (first, second);
        self.touch(to, 1);
    }

    /// Records that `units` pages from `first` on are on flash and count.
    #[inline]
    pub(in crate::ftl) fn landed(&mut self, first: Ppn, units: u32) {
        self.touch(first, units);
        let pages = first.at()..first.at() + units as usize;
        self.versions[pages.clone()].iter_mut().for_each(|version| *version &= !PENDING);
        if !self.seconds.is_empty() {
            self.seconds[pages].iter_mut().for_each(|version| *version &= !PENDING);
        }
    }

    /// Records data that is the only version of its page: the initial data of the device, or the
    /// data of an image.
    pub(in crate::ftl) fn holds(&mut self, at: Ppn, second: bool) {
        self.touch(at, 1);
        let version = self.take_version();
        match second {
            false => self.versions[at.at()] = version,
            true => self.seconds[at.at()] = version,
        }
    }

    /// Records that `units` pages from `first` on hold no current data, and will hold none until an
    /// erase.
    pub(in crate::ftl) fn void(&mut self, first: Ppn, units: u32) {
        self.touch(first, units);
        let pages = first.at()..first.at() + units as usize;
        self.versions[pages.clone()].fill(0);
        if !self.seconds.is_empty() {
            self.seconds[pages].fill(0);
        }
    }

    /// Records that the first or second logical page placed at a physical page is already trimmed.
    pub(in crate::ftl) fn never_counts(&mut self, at: Ppn, second: bool) {
        self.touch(at, 1);
        match second {
            false => self.versions[at.at()] = PENDING,
            true => self.seconds[at.at()] = PENDING,
        }
    }

    /// Whether the data placed at a page is not known to be on flash.
    pub(in crate::ftl) fn is_pending(&self, at: Ppn) -> bool {
        let second = self.seconds.get(at.at()).copied().unwrap_or(0);
        (self.versions[at.at()] | second) & PENDING != 0
    }

    /// Whether no data that may count is placed at a page.
    pub(in crate::ftl) fn holds_nothing(&self, at: Ppn) -> bool {
        self.versions[at.at()] == 0 && self.seconds.get(at.at()).is_none_or(|&second| second == 0)
    }

    /// Returns the version on flash of the first or second logical page at a place, and whether no
    /// older version of that logical page counts.
    pub(in crate::ftl) fn version(&self, at: Ppn, second: bool) -> Option<(u64, bool)> {
        let table = if second { &self.seconds } else { &self.versions };
        let word = *table.get(at.at())?;
        let version = version_of(word);
        (version != 0 && word & PENDING == 0).then_some((version, word & ALONE != 0))
    }

    /// Records that a block is opened.
    pub(in crate::ftl) fn opened(&mut self, block: BlockId) {
        self.openings += 1;
        self.opened[block.at()] = self.openings;
        self.touch_block(block);
    }

    /// Returns the purpose for which a block was opened.
    pub(in crate::ftl) fn role(&self, block: BlockId) -> Role {
        self.roles.get(block.at()).copied().unwrap_or_default()
    }

    pub(in crate::ftl) fn set_role(&mut self, block: BlockId, role: Role) {
        if let Some(known) = self.roles.get_mut(block.at()) {
            *known = role;
            self.touch_block(block);
        }
    }

    /// Returns the position of a block in the order in which blocks were opened.
    pub(in crate::ftl) fn opening(&self, block: BlockId) -> u64 {
        self.opened[block.at()]
    }

    /// Returns how many blocks were opened so far.
    pub(in crate::ftl) fn openings(&self) -> u64 {
        self.openings
    }

    /// Records that the trim of a page is on flash.
    pub(in crate::ftl) fn trimmed(&mut self, page: Lpn) {
        let version = self.take_version();
        if let Some(trimmed) = self.trimmed.get_mut(page.at()) {
            self.trimmed_pages += u64::from(*trimmed == 0);
            *trimmed = version;
            if let Some(touched) = &mut self.touched {
                touched.trimmed.push(page);
            }
        }
    }

    /// Whether a page was trimmed after this version of it.
    pub(in crate::ftl) fn is_trimmed(&self, page: Lpn, version: u64) -> bool {
        self.trimmed.get(page.at()).is_some_and(|&trimmed| trimmed > version)
    }

    /// Notes that something about these pages changes, for who wants to know.
    #[inline]
    pub(in crate::ftl) fn touch(&mut self, first: Ppn, units: u32) {
        if let Some(touched) = &mut self.touched {
            touched.page(first, units);
        }
    }

    /// The same for a block.
    pub(in crate::ftl) fn touch_block(&mut self, block: BlockId) {
        if let Some(touched) = &mut self.touched {
            touched.blocks.push(block);
        }
    }

    /// The version of the next write.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// The version of the first or second logical page at a place, with its marks.
    pub(super) fn word(&self, at: Ppn, second: bool) -> u64 {
        let table = if second { &self.seconds } else { &self.versions };
        table.get(at.at()).copied().unwrap_or(0)
    }

    /// How many logical pages have a trim.
    pub(super) fn trimmed_pages(&self) -> u64 {
        self.trimmed_pages
    }

    /// The version of the last trim of a page, or zero.
    pub(super) fn trim_of(&self, page: Lpn) -> u64 {
        self.trimmed.get(page.at()).copied().unwrap_or(0)
    }

    /// Empties a new record, before what was kept is put into it.
    pub(super) fn restart(&mut self, next: u64, openings: u64) {
        (self.next, self.openings) = (next, openings);
        // New memory is zero, and not touched yet.
        self.versions = vec![0; self.versions.len()];
        self.seconds = vec![0; self.seconds.len()];
        self.opened = vec![0; self.opened.len()];
    }

    /// Puts in the versions at a place, with their marks.
    pub(super) fn put(&mut self, at: Ppn, [first, second]: [u64; 2]) {
        self.versions[at.at()] = first;
        if let Some(known) = self.seconds.get_mut(at.at()) {
            *known = second;
        }
    }

    /// Puts in when and for what a block was opened.
    pub(super) fn put_block(&mut self, block: BlockId, opening: u64, role: Role) {
        self.opened[block.at()] = opening;
        self.set_role(block, role);
    }

    /// Puts in the version of the last trim of a page, which has none yet.
    pub(super) fn put_trim(&mut self, page: Lpn, version: u64) {
        self.trimmed_pages += 1;
        self.trimmed[page.at()] = version;
    }
}
