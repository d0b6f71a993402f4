//! Versions in place of bytes: each sector carries the number of the write that wrote it, through the buffer,
//! the flash and the copies of garbage collection. Knows nothing of mapping or of what a read should return.

use std::cell::Cell;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use ftlab::device::{Contents, Movement, Place};
use ftlab::ftl::parity::Rest;
use ftlab::ftl::{
    EmptiedBy, FlashChange, FlashContents, Fragments, ParityChange, ReadFor, SpoiledBy,
};
use ftlab::host::Completion;
use ftlab::nand::StripeLayout;
use ftlab::scheduler::CommandId;
use ftlab::units::{Lpn, Ppn, RequestId};

use crate::stripes::{Left, Loss, Parity, Words};

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
    /// Flash pages that became unreadable.
    losses: Vec<Loss>,
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
            in_place: false,
            cached: Vec::new(),
            found: Vec::new(),
            finished: Vec::new(),
            written_last: BTreeMap::new(),
            copies: 0,
            parity: None,
            losses: Vec::new(),
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
    pub fn with_parity(self, layout: Option<&StripeLayout>) -> Versions {
        Versions { parity: layout.map(|layout| Parity::new(layout.clone())), ..self }
    }

    /// Returns the parity, on devices that have it.
    pub fn parity(&self) -> Option<&Parity> {
        self.parity.as_ref()
    }

    /// Returns the content of the flash page that begins at `first`.
    pub fn words(&self, first: Ppn) -> Words {
        let geometry = self.parity.as_ref().expect("dies are used together").layout().volume();
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

    /// Takes the flash pages that became unreadable since the last call.
    pub fn take_losses(&mut self) -> Vec<Loss> {
        std::mem::take(&mut self.losses)
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
    const MOVES: bool = true;

    fn change(&mut self, change: FlashChange<'_>) {
        match change {
            FlashChange::Copied { from, to } => self.copy_page(from, to),
            FlashChange::MapProgrammed { page, to } => {
                self.program_at(to, page, vec![0; self.per_page as usize]);
                self.issued(to);
            }
            FlashChange::Emptied { first, units, by } => self.empty(first, units, by),
            FlashChange::Spoiled { first, units, by } => self.spoil(first, units, by),
            FlashChange::Parity(change) => self.change_parity(change),
        }
    }

    fn foresee(&mut self, command: CommandId, at: Ppn, what: ReadFor) {
        if let ReadFor::Host(page) | ReadFor::Joined(page) = what {
            self.written_last.insert(page, false);
        }
        if matches!(what, ReadFor::Joined(_)) {
            return;
        }
        if !self.in_place {
            assert!(!self.flash[at.at()].is_empty(), "{at:?} is read, and nothing is there");
        }
        self.read_planned(at, command);
    }
}

impl Versions {
    fn copy_page(&mut self, from: Ppn, to: Ppn) {
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

    fn spoil(&mut self, first: Ppn, units: u32, by: SpoiledBy) {
        let garbage = match by {
            SpoiledBy::Unreadable | SpoiledBy::UnreadableSource => GARBAGE,
            SpoiledBy::FailedProgram => NOISE,
        };
        let places = self.flash[first.at()..first.at() + units as usize].iter_mut();
        let (mut is_news, mut failed) = (false, false);
        for part in places.flatten() {
            is_news |= part.sectors.iter().any(|&version| version != GARBAGE);
            failed |= part.sectors.contains(&NOISE);
            part.sectors.fill(garbage);
        }
        if by == SpoiledBy::Unreadable && is_news {
            let left = match failed {
                true => Some(Left::ProgramFailed),
                false => self.parity.as_ref().map(|parity| parity.left_without(first)),
            };
            self.losses.push(Loss { first, left });
        }
    }

    fn empty(&mut self, first: Ppn, units: u32, by: EmptiedBy) {
        self.flash[first.at()..first.at() + units as usize].fill(Vec::new());
        // Why it was lost can't be seen any more.
        let emptied = first.get()..first.get() + units;
        self.losses.retain(|loss| !emptied.contains(&loss.first.get()));
        let is_block = |parity: &Parity| units == parity.layout().volume().units_per_block();
        if by == EmptiedBy::Cut && !self.parity.as_ref().is_some_and(is_block) {
            return;
        }
        self.programmed_last = None;
        if let Some(parity) = &mut self.parity {
            let block = parity.layout().volume().block_of(first);
            parity.erase(block);
        }
    }

    fn change_parity(&mut self, change: ParityChange<'_>) {
        if let ParityChange::Computes(page, rest) = change {
            return self.compute(page, rest);
        }
        let words = match change {
            ParityChange::Covers(_, first) | ParityChange::Uncovers(_, first) => self.words(first),
            _ => Words::new(),
        };
        let parity = self.parity.as_mut().expect("dies are used together");
        match change {
            ParityChange::Covers(stripe, first) => parity.cover(stripe, first, &words),
            ParityChange::Uncovers(stripe, first) => parity.uncover(stripe, first, &words),
            ParityChange::Programmed(stripe, at) => parity.program(stripe, at),
            ParityChange::Dropped(at) => parity.drop_program(at),
            ParityChange::Forgotten(stripe) => parity.forget(stripe),
            ParityChange::Computes(..) => {}
        }
    }

    fn compute(&mut self, page: Ppn, rest: &Rest) {
        let mut parity = self.parity.take().expect("dies are used together");
        let units = parity.layout().volume().units_per_page();
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

    /// The content of sectors of a page at a place, as far as it is known there.
    fn held(&self, movement: &Movement) -> Sectors {
        let Movement { from, page, sectors, .. } = *movement;
        let all = sectors.sectors();
        match from {
            Place::Write { tag } => all.map(|sector| (sector, tag)).collect(),
            // A page is padding: nothing of it is in the buffer.
            Place::Buffer(_) if sectors.is_empty() => Sectors::new(),
            Place::Buffer(slot) => {
                let slot = &self.slots[slot.at()];
                assert_eq!(slot.page, Some(page), "{page:?} is in the wrong slot");
                all.map(|sector| {
                    let version = get(&slot.dirty, sector).or(get(&slot.writing_back, sector));
                    (sector, version.expect("what is taken from the buffer is in it"))
                })
                .collect()
            }
            Place::WriteBack(slot) => {
                let slot = &self.slots[slot.at()];
                assert_eq!(slot.page, Some(page), "a page is programmed under another number");
                let held = slot.writing_back.iter().fold(0, |mask, &(s, _)| mask | 1u128 << s);
                assert_eq!(sectors.0, held, "what is programmed is what is on its way");
                slot.writing_back.clone()
            }
            Place::ReadCache(place) => {
                let (of, held) = self.cached[place.at()].as_ref().expect("something stands there");
                assert_eq!(*of, page, "a read looks into the wrong place");
                all.map(|sector| (sector, held[sector as usize])).collect()
            }
            Place::Flash(at) => self.sensed(at, movement),
            Place::Read(_) => unreachable!("nothing comes from a read of the host"),
        }
    }

    /// What a page on flash holds of a logical page. A faulty device senses another page for the host.
    fn sensed(&self, at: Ppn, movement: &Movement) -> Sectors {
        let for_host = matches!(movement.to, Place::Read(_));
        let faulty = self.fault == Some(Fault::ReadNeighbour) && for_host;
        let at = if faulty && at.at() > 0 { at.at() - 1 } else { at.at() };
        let wrong = self.flash[at].first().filter(|_| faulty).map(|part| &part.sectors);
        let Some(held) = part_of(&self.flash[at], movement.page).or(wrong) else {
            assert!(faulty, "{movement:?}, and the page is not there");
            return Sectors::new();
        };
        movement.sectors.sectors().map(|sector| (sector, held[sector as usize])).collect()
    }

    /// Sectors of a page come to a place on flash.
    fn put_on_flash(&mut self, to: Ppn, movement: &Movement, found: &Sectors) {
        let page = movement.page;
        let ends = matches!(movement.from, Place::WriteBack(_));
        let begun = self.programmed_last == Some(to);
        if !begun {
            self.program_at(to, page, vec![0; self.per_page as usize]);
            self.issued(to);
        } else if part_of(&self.flash[to.at()], page).is_none() {
            // The other half of a pack.
            let parts = &mut self.flash[to.at()];
            assert!(parts.len() == 1, "{parts:?} and {page:?}");
            parts.push(Programmed { page, sectors: vec![0; self.per_page as usize] });
        }
        self.programmed_last = Some(to);
        let lost = self.fault == Some(Fault::LoseBase) && !ends;
        let parts = &mut self.flash[to.at()];
        let part = parts.iter_mut().find(|part| part.page == page).expect("it was put there");
        for &(sector, version) in found.iter().filter(|_| !lost) {
            part.sectors[sector as usize] = version;
        }
    }
}

impl Contents for Versions {
    fn copy(&mut self, movement: &Movement) {
        let found = self.held(movement);
        let page = movement.page;
        match movement.to {
            Place::Write { .. } => unreachable!("the host sends this data"),
            Place::Read(request) => {
                let found = found.into_iter().map(|(sector, version)| {
                    let lba = u64::from(page.get()) * u64::from(self.per_page) + u64::from(sector);
                    (lba, version)
                });
                entry(&mut self.found, request.at()).extend(found);
            }
            Place::Buffer(slot) => {
                let slot = entry(&mut self.slots, slot.at());
                let known = slot.page.replace(page);
                assert!(known.is_none_or(|known| known == page), "{page:?} in {known:?}'s slot");
                found.into_iter().for_each(|(sector, version)| {
                    set(&mut slot.dirty, sector, version);
                });
            }
            Place::WriteBack(slot) => {
                let slot = entry(&mut self.slots, slot.at());
                if !found.is_empty() {
                    self.written_last.insert(page, true);
                }
                assert!(slot.writing_back.is_empty(), "a page has one write-back at a time");
                (slot.page, slot.leaves, slot.writing_back) = (Some(page), true, found);
            }
            Place::ReadCache(place) => {
                let mut held = vec![0; self.per_page as usize];
                found.iter().for_each(|&(sector, version)| held[sector as usize] = version);
                let before = entry(&mut self.cached, place.at()).replace((page, held));
                assert!(before.is_none(), "{page:?} takes the place of {before:?}");
            }
            Place::Flash(at) if self.in_place => {
                let part = self.flash[at.at()].first_mut().expect("every page is there");
                for (sector, version) in found {
                    part.sectors[sector as usize] = version;
                }
            }
            Place::Flash(at) => self.put_on_flash(at, movement, &found),
        }
    }

    fn forget(&mut self, place: Place) {
        match place {
            Place::Buffer(slot) => {
                let slot = entry(&mut self.slots, slot.at());
                slot.dirty.clear();
                if !slot.leaves {
                    slot.page = None;
                }
            }
            Place::WriteBack(slot) => {
                let slot = &mut self.slots[slot.at()];
                slot.writing_back.clear();
                slot.leaves = false;
                if slot.dirty.is_empty() {
                    slot.page = None;
                }
            }
            Place::ReadCache(place) => {
                assert!(self.cached[place.at()].take().is_some(), "nothing stood there");
            }
            Place::Write { .. } | Place::Read(_) | Place::Flash(_) => {
                unreachable!("{place:?} is never forgotten")
            }
        }
    }

    fn deliver(&mut self, request: RequestId, completion: &Completion) {
        let found = std::mem::take(entry(&mut self.found, request.at()));
        self.finished.push((*completion, found));
    }

    fn lose_power(&mut self) {
        self.slots.clear();
        self.programmed_last = None;
        self.cached.clear();
        self.found.clear();
        self.finished.clear();
        self.written_last.clear();
        if let Some(parity) = &mut self.parity {
            parity.lose_power();
        }
    }
}
