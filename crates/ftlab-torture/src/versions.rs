//! Versions in place of bytes: each sector carries the number of the write that wrote it, through the buffer,
//! the flash and the copies of garbage collection. Knows nothing of mapping or of what a read should return.

use std::cell::Cell;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use ftlab::cache::{CachePlace, SlotId};
use ftlab::device::{Contents, FlashRead, FlashWrite, PageProgram};
use ftlab::ftl::parity::Rest;
use ftlab::ftl::{FlashContents, Fragments};
use ftlab::host::{Completion, Request};
use ftlab::nand::{Stripe, Superblocks};
use ftlab::scheduler::CommandId;
use ftlab::units::{Lpn, Ppn, RequestId, SectorMask};

use crate::stripes::{Parity, Words};

/// Observes what is about to be sent to flash.
pub trait Onlooker: std::fmt::Debug {
    /// A flash command for a host read is about to be submitted, or gets another page.
    fn read_planned(&mut self, _at: Ppn, _command: CommandId) {}
    /// A page is about to be submitted for programming.
    fn issued(&mut self, _to: Ppn) {}
}

/// The number (tag) of the write that wrote a sector; zero for a sector never written.
pub type Version = u32;

/// The content of unreadable data; not the number of any write.
pub const GARBAGE: Version = Version::MAX;

/// The content left by a failed program; not the number of any write either.
const NOISE: Version = Version::MAX - 1;

/// A way of losing data, to test the checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Every n-th page that garbage collection copies arrives empty.
    LoseCopies(u32),
    /// Pages written in part lose their old copy from flash.
    LoseBase,
    /// A flash read senses the page before the right one.
    ReadNeighbour,
}

/// Sectors of a page with their versions.
type Sectors = Vec<(u32, Version)>;

#[derive(Clone, Debug, Default)]
struct Slot {
    page: Option<Lpn>,
    dirty: Sectors,
    writing_back: Sectors,
    /// Whether the page is being evicted, possibly as padding, of which the buffer holds nothing.
    leaves: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct Programmed {
    page: Lpn,
    sectors: Vec<Version>,
}

/// A read in progress.
#[derive(Clone, Debug)]
struct Planned {
    read: FlashRead,
    /// The content it senses, if that was declared lost since: this read still gets it, a later one would not.
    before: Option<Vec<Programmed>>,
}

/// The content that a read found: sectors with their versions; sectors not listed were never written.
pub type FoundVersions = Vec<(u64, Version)>;

/// Versions by place.
#[derive(Clone, Debug)]
pub struct Versions {
    per_page: u32,
    slots: Vec<Slot>,
    /// By physical page: what was programmed for each logical page that has a part there.
    flash: Vec<Vec<Programmed>>,
    /// The place of the buffer's last program.
    programmed_last: Option<Ppn>,
    planned: Vec<Vec<Planned>>,
    planned_writes: Vec<Option<FlashWrite>>,
    /// Whether there is no translation: every page contains what was last written to it, zeros at first.
    in_place: bool,
    /// By place of the read cache: the page and its cached content.
    cached: Vec<Option<(Lpn, Vec<Version>)>>,
    found: Vec<FoundVersions>,
    finished: Vec<(Completion, FoundVersions)>,
    /// By page: whether the host's last access to it on flash was a write.
    written_last: BTreeMap<Lpn, bool>,
    copies: u32,
    /// The parity, on devices that have it.
    parity: Option<Parity>,
    /// How it loses data, if it does.
    pub fault: Option<Fault>,
    onlooker: Option<Rc<RefCell<dyn Onlooker>>>,
}

fn entry<T: Default + Clone>(table: &mut Vec<T>, at: usize) -> &mut T {
    if at >= table.len() {
        table.resize(at + 1, T::default());
    }
    &mut table[at]
}

fn set(sectors: &mut Sectors, sector: u32, version: Version) {
    sectors.retain(|&(s, _)| s != sector);
    sectors.push((sector, version));
}

fn get(sectors: &Sectors, sector: u32) -> Option<Version> {
    sectors.iter().find(|&&(s, _)| s == sector).map(|&(_, version)| version)
}

impl Versions {
    /// Creates flash of `physical_pages` erased pages of `per_page` sectors.
    pub fn new(physical_pages: u32, per_page: u32) -> Versions {
        Versions {
            per_page,
            slots: Vec::new(),
            flash: vec![Vec::new(); physical_pages as usize],
            programmed_last: None,
            planned: Vec::new(),
            planned_writes: Vec::new(),
            in_place: false,
            cached: Vec::new(),
            found: Vec::new(),
            finished: Vec::new(),
            written_last: BTreeMap::new(),
            copies: 0,
            parity: None,
            fault: None,
            onlooker: None,
        }
    }

    /// Adds an onlooker, shared with its owner.
    #[must_use]
    pub fn watched_by(self, onlooker: Rc<RefCell<dyn Onlooker>>) -> Versions {
        Versions { onlooker: Some(onlooker), ..self }
    }

    fn issued(&self, to: Ppn) {
        if let Some(onlooker) = &self.onlooker {
            onlooker.borrow_mut().issued(to);
        }
    }

    fn read_planned(&self, at: Ppn, command: CommandId) {
        if let Some(onlooker) = &self.onlooker {
            onlooker.borrow_mut().read_planned(at, command);
        }
    }

    /// Prepares for a device that does not translate.
    pub fn in_place(self) -> Versions {
        let empty =
            |at| Programmed { page: Lpn::new(at), sectors: vec![0; self.per_page as usize] };
        let flash = (0..self.flash.len() as u32).map(|at| vec![empty(at)]).collect();
        Versions { in_place: true, flash, ..self }
    }

    /// Adds parity, for a device that has it; pages are then those of the volume.
    pub fn with_parity(self, superblocks: Option<&Superblocks>) -> Versions {
        Versions { parity: superblocks.map(|superblocks| Parity::new(superblocks.clone())), ..self }
    }

    /// Returns the parity, on devices that have it.
    pub fn parity(&self) -> Option<&Parity> {
        self.parity.as_ref()
    }

    /// Returns the content of the flash page that begins at `first`.
    pub fn words(&self, first: Ppn) -> Words {
        let geometry = self.parity.as_ref().expect("dies are used together").superblocks().volume();
        self.words_of(first, geometry.units_per_page())
    }

    fn words_of(&self, first: Ppn, units: u32) -> Words {
        let first = first.get() - first.get() % units;
        let pages = (first..first + units).map(|at| &self.flash[at as usize]);
        let mut words = Words::new();
        for parts in pages {
            for part in 0..PARTS {
                let part = parts.get(part);
                words.push(part.map_or(0, |part| u64::from(part.page.get()) + 1));
                let sectors = part.map_or(&[][..], |part| &part.sectors[..]).iter();
                let sectors = sectors.map(|&version| u64::from(version));
                let filled = sectors.chain(std::iter::repeat(0)).take(self.per_page as usize);
                words.extend(filled);
            }
        }
        words
    }

    /// Programs zeros to pages that exist from the start.
    pub fn hold(&mut self, pages: impl Iterator<Item = (Lpn, Ppn)>) {
        for (page, at) in pages {
            self.program_at(at, page, vec![0; self.per_page as usize]);
        }
    }

    /// Takes what the last completions found, in order.
    pub fn take_finished(&mut self) -> Vec<(Completion, FoundVersions)> {
        std::mem::take(&mut self.finished)
    }

    /// Returns the pages that the host has read from or written to flash, and whether the last
    /// access was a write.
    pub fn written_last(&self) -> &BTreeMap<Lpn, bool> {
        &self.written_last
    }

    /// Forgets all accesses.
    pub fn forget_accesses(&mut self) {
        self.written_last.clear();
    }

    /// Returns the versions at a physical page, and the logical page for which they were programmed.
    pub fn on_flash(&self, at: Ppn) -> Option<(Lpn, &[Version])> {
        self.flash[at.at()].first().map(|page| (page.page, &page.sectors[..]))
    }

    /// Returns the content of these parts of a page.
    pub fn read_parts(&self, page: Lpn, parts: Fragments) -> Vec<Version> {
        let mut sectors = Vec::new();
        self.read_parts_into(page, parts, &mut sectors);
        sectors
    }

    /// Like [`Versions::read_parts`], into the place of what was read before.
    pub fn read_parts_into(&self, page: Lpn, parts: Fragments, sectors: &mut Vec<Version>) {
        sectors.clear();
        sectors.resize(self.per_page as usize, 0);
        for part in parts.iter().flatten() {
            let held = part_of(&self.flash[part.at.at()], page);
            let held = held.unwrap_or_else(|| panic!("{page:?} is not at {:?}", part.at));
            part.sectors.sectors().for_each(|s| sectors[s as usize] = held[s as usize]);
        }
    }

    fn lba(&self, page: Lpn, sector: u32) -> u64 {
        u64::from(page.get()) * u64::from(self.per_page) + u64::from(sector)
    }

    fn program_at(&mut self, to: Ppn, page: Lpn, sectors: Vec<Version>) {
        let place = &mut self.flash[to.at()];
        assert!(place.is_empty(), "{to:?} is programmed twice without an erase");
        place.push(Programmed { page, sectors });
    }
}

/// The number of logical pages that may share a physical page.
const PARTS: usize = 2;

/// Returns what a physical page was programmed with for a logical one.
fn part_of(parts: &[Programmed], page: Lpn) -> Option<&Vec<Version>> {
    parts.iter().find(|part| part.page == page).map(|part| &part.sectors)
}

impl FlashContents for Versions {
    fn plan_map_read(&mut self, command: CommandId, at: Ppn) {
        assert!(!self.flash[at.at()].is_empty(), "a page of the map is read, and not there");
        self.read_planned(at, command);
    }

    fn copy(&mut self, from: Ppn, to: Ppn) {
        let mut parts = self.flash[from.at()].clone();
        assert!(!parts.is_empty(), "collection copies what is on flash");
        self.copies += 1;
        if let Some(Fault::LoseCopies(each)) = self.fault
            && self.copies.is_multiple_of(each)
        {
            parts.iter_mut().for_each(|part| part.sectors.fill(0));
        }
        assert!(self.flash[to.at()].is_empty(), "{to:?} is programmed twice without an erase");
        self.flash[to.at()] = parts;
        self.issued(to);
    }

    fn lose(&mut self, first: Ppn, units: u32) {
        let pages = first.at()..first.at() + units as usize;
        for planned in self.planned.iter_mut().flatten() {
            let at = planned.read.at.at();
            if pages.contains(&at) && planned.before.is_none() {
                planned.before = Some(self.flash[at].clone());
            }
        }
        for place in &mut self.flash[pages] {
            place.iter_mut().for_each(|part| part.sectors.fill(GARBAGE));
        }
    }

    fn erase(&mut self, first: Ppn, units: u32) {
        self.flash[first.at()..first.at() + units as usize].fill(Vec::new());
        self.programmed_last = None;
        if let Some(parity) = &mut self.parity {
            let block = parity.superblocks().volume().block_of(first);
            parity.erase(block);
        }
    }

    fn tear(&mut self, first: Ppn, units: u32) {
        self.flash[first.at()..first.at() + units as usize].fill(Vec::new());
    }

    fn program_map(&mut self, page: Lpn, to: Ppn) {
        self.program_at(to, page, vec![0; self.per_page as usize]);
        self.issued(to);
    }

    fn cover(&mut self, stripe: Stripe, first: Ppn) {
        let words = self.words(first);
        self.parity.as_mut().expect("dies are used together").cover(stripe, first, &words);
    }

    fn uncover(&mut self, stripe: Stripe, first: Ppn) {
        let words = self.words(first);
        self.parity.as_mut().expect("dies are used together").uncover(stripe, first, &words);
    }

    fn program_failed(&mut self, first: Ppn, units: u32) {
        for place in &mut self.flash[first.at()..first.at() + units as usize] {
            place.iter_mut().for_each(|part| part.sectors.fill(NOISE));
        }
    }

    fn drop_parity(&mut self, at: Ppn) {
        self.parity.as_mut().expect("dies are used together").drop_program(at);
    }

    fn program_parity(&mut self, stripe: Stripe, at: Ppn) {
        self.parity.as_mut().expect("dies are used together").program(stripe, at);
    }

    fn forget_parity(&mut self, stripe: Stripe) {
        self.parity.as_mut().expect("dies are used together").forget(stripe);
    }

    fn reconstruct(&mut self, page: Ppn, rest: &Rest) {
        let mut parity = self.parity.take().expect("dies are used together");
        let units = parity.superblocks().volume().units_per_page();
        let is_lost = |words: &Words| words.contains(&u64::from(GARBAGE));
        let some_lost = Cell::new(false);
        let words = parity.compute(rest, |first| {
            let words = self.words_of(first, units);
            some_lost.set(some_lost.get() || is_lost(&words));
            words
        });
        self.parity = Some(parity);
        // The lost content is still known here, unless it was lost before, with another die.
        let lay = self.words(page);
        let ends_unreadable = some_lost.get() || is_lost(&lay);
        let right = ends_unreadable || words == lay;
        assert!(right, "the page at {page:?} is computed wrong, from {rest:?}");
    }
}

impl Contents for Versions {
    fn write(&mut self, request: &Request, page: Lpn, sectors: SectorMask, slot: SlotId) {
        let slot = entry(&mut self.slots, slot.at());
        assert!(slot.page.is_none_or(|known| known == page), "{page:?} in the slot of another");
        slot.page = Some(page);
        sectors.sectors().for_each(|sector| set(&mut slot.dirty, sector, request.tag));
    }

    fn read_buffer(&mut self, request: RequestId, page: Lpn, sectors: SectorMask, slot: SlotId) {
        let slot = &self.slots[slot.at()];
        assert_eq!(slot.page, Some(page), "a read looks into the wrong slot");
        for sector in sectors.sectors() {
            let version = get(&slot.dirty, sector).or_else(|| get(&slot.writing_back, sector));
            let version = version.expect("a read takes from the buffer what the buffer holds");
            let lba = self.lba(page, sector);
            entry(&mut self.found, request.at()).push((lba, version));
        }
    }

    fn keep(&mut self, read: &FlashRead, slot: SlotId) {
        let found = part_of(&self.flash[read.at.at()], read.page)
            .expect("what was read holds the page")
            .clone();
        let slot = entry(&mut self.slots, slot.at());
        assert!(slot.page.is_none_or(|known| known == read.page), "a read in the slot of another");
        slot.page = Some(read.page);
        read.sectors.sectors().for_each(|s| set(&mut slot.dirty, s, found[s as usize]));
    }

    fn plan_read_ahead(&mut self, command: CommandId, at: Ppn) {
        self.read_planned(at, command);
    }

    fn cache(&mut self, page: Lpn, from: Ppn, place: CachePlace) {
        let read = part_of(&self.flash[from.at()], page).expect("what was read holds the page");
        let read = read.clone();
        let before = entry(&mut self.cached, place.at()).replace((page, read));
        assert!(before.is_none(), "{page:?} takes the place of {before:?}");
    }

    fn read_cached(&mut self, id: RequestId, page: Lpn, sectors: SectorMask, place: CachePlace) {
        let (of, held) = self.cached[place.at()].as_ref().expect("something stands there");
        assert_eq!(*of, page, "a read looks into the wrong place");
        for sector in sectors.sectors() {
            let (version, lba) = (held[sector as usize], self.lba(page, sector));
            entry(&mut self.found, id.at()).push((lba, version));
        }
    }

    fn uncache(&mut self, place: CachePlace) {
        assert!(self.cached[place.at()].take().is_some(), "nothing stood there");
    }

    fn begin_write_back(&mut self, slot: SlotId, sectors: SectorMask) {
        let slot = &mut self.slots[slot.at()];
        let page = slot.page.expect("a slot that is written back holds a page");
        self.written_last.insert(page, true);
        assert!(slot.writing_back.is_empty(), "a page has one write-back at a time");
        slot.leaves = true;
        slot.writing_back = std::mem::take(&mut slot.dirty);
        slot.writing_back.retain(|&(sector, _)| sectors.0 >> sector & 1 != 0);
    }

    fn pad(&mut self, page: Lpn, slot: SlotId) {
        let slot = entry(&mut self.slots, slot.at());
        assert!(slot.page.is_none(), "{page:?} in the slot of another");
        (slot.page, slot.leaves) = (Some(page), true);
    }

    fn program(&mut self, program: &PageProgram) {
        let slot = &self.slots[program.slot.at()];
        let page = slot.page.expect("a slot that is written back holds a page");
        assert_eq!(page, program.page, "a page is programmed under another number");
        let held = slot.writing_back.iter().fold(0, |mask, &(sector, _)| mask | 1u128 << sector);
        assert_eq!(program.sectors.0, held, "what is programmed is what is on its way");
        let mut sectors = vec![0; self.per_page as usize];
        let parts = program.base.iter().rev().flatten();
        for part in parts.filter(|_| self.fault != Some(Fault::LoseBase)) {
            let older = part_of(&self.flash[part.at.at()], page)
                .expect("the older copy is of the same page");
            part.sectors.sectors().for_each(|s| sectors[s as usize] = older[s as usize]);
        }
        for &(sector, version) in &slot.writing_back {
            sectors[sector as usize] = version;
        }
        if self.programmed_last.replace(program.to) == Some(program.to) {
            // The other half of a pack.
            let parts = &mut self.flash[program.to.at()];
            assert!(parts.len() == 1 && parts[0].page != page, "{parts:?} and {page:?}");
            return parts.push(Programmed { page, sectors });
        }
        self.program_at(program.to, page, sectors);
        self.issued(program.to);
    }

    fn end_write_back(&mut self, slot: SlotId, left: bool) {
        let slot = &mut self.slots[slot.at()];
        slot.writing_back.clear();
        slot.leaves = false;
        assert_eq!(left, slot.dirty.is_empty(), "a page stays while it is dirty");
        if left {
            slot.page = None;
        }
    }

    fn trim(&mut self, slot: SlotId) {
        let slot = &mut self.slots[slot.at()];
        slot.dirty.clear();
        if !slot.leaves {
            slot.page = None;
        }
    }

    fn lose_power(&mut self) {
        self.slots.clear();
        self.programmed_last = None;
        self.planned.clear();
        self.planned_writes.clear();
        self.cached.clear();
        self.found.clear();
        self.finished.clear();
        self.written_last.clear();
    }

    fn plan_read(&mut self, command: CommandId, read: FlashRead) {
        self.read_planned(read.at, command);
        self.written_last.insert(read.page, false);
        entry(&mut self.planned, command.at()).push(Planned { read, before: None });
    }

    fn join_read(&mut self, command: CommandId, read: FlashRead) {
        self.written_last.insert(read.page, false);
        entry(&mut self.planned, command.at()).push(Planned { read, before: None });
    }

    fn read_flash(&mut self, command: CommandId) {
        for Planned { read, before } in std::mem::take(entry(&mut self.planned, command.at())) {
            let mut at = read.at.at();
            if self.fault == Some(Fault::ReadNeighbour) && at > 0 {
                at -= 1;
            }
            let wrong = self.flash[at].first().filter(|_| self.fault.is_some());
            let wrong = wrong.map(|page| &page.sectors);
            let there = before.as_ref().unwrap_or(&self.flash[at]);
            let Some(held) = part_of(there, read.page).or(wrong) else {
                assert!(self.fault.is_some(), "{:?} is read, and not there", read);
                continue;
            };
            for sector in read.sectors.sectors() {
                let version = held[sector as usize];
                let lba = self.lba(read.page, sector);
                entry(&mut self.found, read.request.at()).push((lba, version));
            }
        }
    }

    fn plan_write(&mut self, command: CommandId, write: &FlashWrite) {
        assert!(self.in_place, "{:?} is to be programmed in place", write.at);
        self.issued(write.at);
        let place = entry(&mut self.planned_writes, command.at());
        assert!(place.replace(*write).is_none(), "a program has one page");
    }

    fn write_flash(&mut self, command: CommandId) {
        let FlashWrite { request, at, sectors, .. } =
            self.planned_writes[command.at()].take().expect("what is programmed was planned");
        let page = self.flash[at.at()].first_mut().expect("every page is there");
        sectors.sectors().for_each(|sector| page.sectors[sector as usize] = request.tag);
    }

    fn finish(&mut self, request: RequestId, completion: &Completion) {
        let found = std::mem::take(entry(&mut self.found, request.at()));
        self.finished.push((*completion, found));
    }
}
