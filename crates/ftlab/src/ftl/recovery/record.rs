//! What stands on flash for the sake of recovery: the version of each page, the order in which blocks were opened,
//! deallocations, and the last checkpoint. Kept from the moment of placement; what was not programmed to its end, or
//! did not count, is *pending*.

use super::Recovery;
use super::snapshot::Snapshot;
use crate::ftl::mapping::hybrid::DataBlock;
use crate::ftl::mapping::{Mapping, MappingPolicy};
use crate::ftl::recovery::RecoveryPolicy;
use crate::shape::Geometry;
use crate::units::{BlockId, Lpn, Ppn};

/// Of a version: it was placed, and is not known to be on flash.
const PENDING: u64 = 1 << 63;
/// Of a version: it stands for all of its logical page, and nothing older counts.
const ALONE: u64 = 1 << 62;

/// What a block was opened for, where blocks are merged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::ftl) enum Role {
    /// A log block of any page.
    #[default]
    Log,
    /// To hold a data block.
    Data(DataBlock),
    /// A log block of one data block alone.
    HomedLog(DataBlock),
}

/// Versions by place. Eight bytes for each physical page, sixteen where two logical pages may share one.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    /// The version of the next write.
    next: u64,
    /// By physical page; zero where nothing was placed since the last erase.
    versions: Vec<u64>,
    /// The same of the second logical page in it. Empty unless pages are packed.
    seconds: Vec<u64>,
    /// By block: how many were opened before it was, and it; zero if it is as at the start.
    opened: Vec<u64>,
    openings: u64,
    /// By block: what it was opened for. Empty unless blocks are merged.
    roles: Vec<Role>,
    /// By logical page: the version of its last deallocation.
    trimmed: Vec<u64>,
    /// The last checkpoint, and what has changed since.
    pub(in crate::ftl) snapshot: Option<Box<Snapshot>>,
}

impl Record {
    /// The record of an erased flash; none if the policy keeps none.
    pub(in crate::ftl) fn new(
        policy: &Recovery,
        geometry: &Geometry,
        logical_pages: u32,
        mapping: &Mapping,
    ) -> Option<Box<Record>> {
        let (packs, merges) = (mapping.packs(), mapping.has_log());
        let upkeep = policy.upkeep()?;
        let physical = geometry.physical_pages() as usize;
        let snapshot = |_| Box::new(Snapshot::new(geometry, logical_pages));
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
            snapshot: upkeep.checkpoint_every.map(snapshot),
        }))
    }

    fn take_version(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }

    /// A page is placed with new data, which stands for all of it.
    #[inline]
    pub(in crate::ftl) fn wrote(&mut self, at: Ppn) {
        self.versions[at.at()] = self.take_version() | PENDING | ALONE;
        if let Some(second) = self.seconds.get_mut(at.at()) {
            *second = 0;
        }
    }

    /// Parts of two pages are placed; `alone` says of each whether nothing older of it counts.
    pub(in crate::ftl) fn wrote_pack(&mut self, at: Ppn, alone: [bool; 2]) {
        let [first, second] = alone.map(|alone| {
            let marks = if alone { PENDING | ALONE } else { PENDING };
            self.take_version() | marks
        });
        (self.versions[at.at()], self.seconds[at.at()]) = (first, second);
    }

    /// A copy is placed of what lies at `from`.
    #[inline]
    pub(in crate::ftl) fn copied(&mut self, from: Ppn, to: Ppn) {
        self.versions[to.at()] = self.versions[from.at()] | PENDING;
        if let Some(second) = self.seconds.get_mut(to.at()) {
            *second = 0;
        }
    }

    /// A copy is placed of parts of what lies at `from`: of each, whether it was the second there.
    pub(in crate::ftl) fn copied_parts(&mut self, from: Ppn, to: Ppn, parts: [Option<bool>; 2]) {
        let [first, second] = parts.map(|part| match part {
            None => 0,
            Some(false) => self.versions[from.at()] | PENDING,
            Some(true) => self.seconds[from.at()] | PENDING,
        });
        (self.versions[to.at()], self.seconds[to.at()]) = (first, second);
    }

    /// So many pages from `first` on are on flash, and count.
    #[inline]
    pub(in crate::ftl) fn landed(&mut self, first: Ppn, units: u32) {
        let pages = first.at()..first.at() + units as usize;
        self.versions[pages.clone()].iter_mut().for_each(|version| *version &= !PENDING);
        if !self.seconds.is_empty() {
            self.seconds[pages].iter_mut().for_each(|version| *version &= !PENDING);
        }
    }

    /// Pages of the device hold data of which nothing older is left: what it starts with, or what an image
    /// brought.
    pub(in crate::ftl) fn holds(&mut self, at: Ppn, second: bool) {
        let version = self.take_version();
        match second {
            false => self.versions[at.at()] = version,
            true => self.seconds[at.at()] = version,
        }
    }

    /// So many pages from `first` on hold nothing that counts, and never will before an erase.
    pub(in crate::ftl) fn void(&mut self, first: Ppn, units: u32) {
        let pages = first.at()..first.at() + units as usize;
        self.versions[pages.clone()].fill(0);
        if !self.seconds.is_empty() {
            self.seconds[pages].fill(0);
        }
    }

    /// What is placed at a page of its first or second logical page was deallocated already.
    pub(in crate::ftl) fn never_counts(&mut self, at: Ppn, second: bool) {
        match second {
            false => self.versions[at.at()] = PENDING,
            true => self.seconds[at.at()] = PENDING,
        }
    }

    /// Whether what was placed at a page is not known to be on flash.
    pub(in crate::ftl) fn is_pending(&self, at: Ppn) -> bool {
        let second = self.seconds.get(at.at()).copied().unwrap_or(0);
        (self.versions[at.at()] | second) & PENDING != 0
    }

    /// Whether nothing is placed at a page that may count.
    pub(in crate::ftl) fn holds_nothing(&self, at: Ppn) -> bool {
        self.versions[at.at()] == 0 && self.seconds.get(at.at()).is_none_or(|&second| second == 0)
    }

    /// The version of what is on flash there, of the first or second logical page in it; and whether nothing older
    /// of that page counts.
    pub(in crate::ftl) fn version(&self, at: Ppn, second: bool) -> Option<(u64, bool)> {
        let table = if second { &self.seconds } else { &self.versions };
        let word = *table.get(at.at())?;
        let version = word & !(PENDING | ALONE);
        (version != 0 && word & PENDING == 0).then_some((version, word & ALONE != 0))
    }

    /// A block is opened.
    pub(in crate::ftl) fn opened(&mut self, block: BlockId) {
        self.openings += 1;
        self.opened[block.at()] = self.openings;
    }

    /// What a block was opened for.
    pub(in crate::ftl) fn role(&self, block: BlockId) -> Role {
        self.roles.get(block.at()).copied().unwrap_or_default()
    }

    pub(in crate::ftl) fn set_role(&mut self, block: BlockId, role: Role) {
        if let Some(known) = self.roles.get_mut(block.at()) {
            *known = role;
        }
    }

    /// When a block was opened, among others.
    pub(in crate::ftl) fn opening(&self, block: BlockId) -> u64 {
        self.opened[block.at()]
    }

    /// How many blocks were opened so far.
    pub(in crate::ftl) fn openings(&self) -> u64 {
        self.openings
    }

    /// That a page was deallocated is on flash.
    pub(in crate::ftl) fn trimmed(&mut self, page: Lpn) {
        let version = self.take_version();
        if let Some(trimmed) = self.trimmed.get_mut(page.at()) {
            *trimmed = version;
        }
    }

    /// Whether what has this version of a page was deallocated since.
    pub(in crate::ftl) fn is_trimmed(&self, page: Lpn, version: u64) -> bool {
        self.trimmed.get(page.at()).is_some_and(|&trimmed| trimmed > version)
    }
}
