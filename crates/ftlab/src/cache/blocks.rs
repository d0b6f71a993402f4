//! The evictable pages by logical block, for policies that evict whole blocks.
//!
//! A logical block is a run of logical pages of fixed length. A bit for each page says whether it is
//! listed, so the next one in page order is found in a few words; everything else takes constant time.
//! Tables grow with the content of the buffer.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::block_options::BlockOptions;
use super::lookup::Lookup;
use super::marks::Marks;
use super::{BufferView, Eviction, Page, SlotId};
use crate::engine::{Handle, NumberHasher, Slab};
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::policy::Parts;
use crate::units::Lpn;

/// A block that has listed pages.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    number: u32,
    listed: u32,
}

/// A handle to a block that has listed pages.
pub type GroupId = Handle<Group>;

type Numbered<K, V> = HashMap<K, V, BuildHasherDefault<NumberHasher>>;

/// Bits in a word of a set.
const WORD: u32 = u64::BITS;

/// The first member at or after `from` of a set of small numbers.
fn next_member(set: &[u64], from: u32) -> Option<u32> {
    let first = (from / WORD) as usize;
    let ahead = set.get(first)? & (u64::MAX << (from % WORD));
    let words = std::iter::once(ahead).chain(set[first + 1..].iter().copied());
    let (at, word) = (first as u32..).zip(words).find(|&(_, word)| word != 0)?;
    Some(at * WORD + word.trailing_zeros())
}

/// A set of small numbers.
#[derive(Clone, Debug)]
pub struct SmallSet(Vec<u64>);

impl SmallSet {
    /// Returns the empty set of numbers below `limit`.
    pub fn below(limit: u32) -> SmallSet {
        SmallSet(vec![0; limit.div_ceil(WORD) as usize])
    }

    pub fn put(&mut self, number: u32, is_in: bool) {
        let word = &mut self.0[(number / WORD) as usize];
        let bit = 1 << (number % WORD);
        *word = if is_in { *word | bit } else { *word & !bit };
    }

    /// The first member at or after `from`.
    pub fn next(&self, from: u32) -> Option<u32> {
        next_member(&self.0, from)
    }
}

/// The position of a block's eviction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sweep {
    block: u32,
    /// The next page, counted within the block.
    next: u32,
    /// Whether pages that are on flash and not in the buffer are written, too.
    pads: bool,
}

/// All listed pages by block.
#[derive(Clone, Debug)]
pub struct PagesByBlock {
    /// Pages of a block. The last block may have fewer.
    size: u32,
    logical_pages: u32,
    groups: Slab<Group>,
    /// By group: the set of its listed pages, with a fixed number of words for each.
    members: Vec<u64>,
    index: Numbered<u32, GroupId>,
    slots: Lookup<Page>,
    pages: Marks<Option<Lpn>>,
}

impl PagesByBlock {
    pub fn new(size: u32, logical_pages: u32) -> PagesByBlock {
        PagesByBlock {
            size,
            logical_pages,
            groups: Slab::default(),
            members: Vec::new(),
            index: HashMap::default(),
            slots: Lookup::default(),
            pages: Marks::default(),
        }
    }

    /// Returns an empty table for the device that is being built.
    pub fn build(options: &BlockOptions, parts: &Parts<'_>) -> PagesByBlock {
        PagesByBlock::new(options.pages(parts), parts.logical_pages)
    }

    /// Pages of a block.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// Pages of this block. The last block may have fewer than others.
    pub fn size_of(&self, group: GroupId) -> u32 {
        self.size_of_block(self.groups[group].number)
    }

    fn size_of_block(&self, number: u32) -> u32 {
        self.size.min(self.logical_pages - number * self.size)
    }

    fn words(&self, group: GroupId) -> std::ops::Range<usize> {
        let words = self.size.div_ceil(WORD) as usize;
        group.at() * words..(group.at() + 1) * words
    }

    /// Number of listed pages of a block.
    pub fn listed(&self, group: GroupId) -> u32 {
        self.groups[group].listed
    }

    /// The place of a page in its block.
    pub fn place(&self, page: Lpn) -> u32 {
        page.get() % self.size
    }

    /// The block of a listed slot.
    pub fn group_of(&self, slot: SlotId) -> Option<GroupId> {
        self.index.get(&(self.pages.get(slot)?.get() / self.size)).copied()
    }

    fn put(&mut self, group: GroupId, place: u32, is_in: bool) {
        let words = self.words(group);
        let word = &mut self.members[words][(place / WORD) as usize];
        let bit = 1 << (place % WORD);
        *word = if is_in { *word | bit } else { *word & !bit };
    }

    /// Lists a page and returns its block, which is new if this is its only listed page.
    pub fn insert(&mut self, slot: SlotId, page: Lpn) -> GroupId {
        let (number, place) = (page.get() / self.size, self.place(page));
        let group = match self.index.get(&number) {
            Some(&group) => group,
            None => self.open(number),
        };
        self.put(group, place, true);
        self.groups[group].listed += 1;
        self.slots.insert(page, slot);
        self.pages.set(slot, Some(page));
        group
    }

    #[cold]
    fn open(&mut self, number: u32) -> GroupId {
        let group = self.groups.insert(Group { number, listed: 0 });
        let end = self.words(group).end;
        if end > self.members.len() {
            self.members.resize(end, 0);
        }
        self.index.insert(number, group);
        group
    }

    /// Removes a listed page. Returns its block and the number of pages left in it; if none are left, the
    /// handle is no longer valid.
    pub fn remove(&mut self, slot: SlotId) -> Option<(GroupId, u32)> {
        let group = self.group_of(slot)?;
        let page = self.pages.get(slot)?;
        self.put(group, self.place(page), false);
        self.slots.remove(page);
        self.pages.set(slot, None);
        let Group { number, listed } = &mut self.groups[group];
        *listed -= 1;
        let left = *listed;
        if left == 0 {
            let number = *number;
            self.index.remove(&number);
            self.groups.release(group);
        }
        Some((group, left))
    }

    /// The first listed page of a block at or after a place.
    fn next(&self, group: GroupId, from: u32) -> Option<(u32, SlotId)> {
        let place = next_member(&self.members[self.words(group)], from)?;
        let page = Lpn::new(self.groups[group].number * self.size + place);
        Some((place, self.slots.get(page)?))
    }

    /// The first listed page of a block.
    pub fn first(&self, group: GroupId) -> Option<SlotId> {
        self.next(group, 0).map(|(_, slot)| slot)
    }

    /// The next listed page of the same block.
    pub fn after(&self, slot: SlotId) -> Option<SlotId> {
        let place = self.place(self.pages.get(slot)?);
        self.next(self.group_of(slot)?, place + 1).map(|(_, slot)| slot)
    }

    /// Starts the eviction of a whole block, from its first page.
    pub fn sweep(&self, group: GroupId) -> Sweep {
        Sweep { block: self.groups[group].number, next: 0, pads: false }
    }

    /// The same, but the block is filled up from flash if any of its pages has to be written.
    pub fn padding_sweep(&self, group: GroupId, view: &BufferView<'_>) -> Sweep {
        let mut listed = std::iter::successors(self.first(group), |&slot| self.after(slot));
        let pads = listed.any(|slot| !view.is_clean(slot));
        Sweep { pads, ..self.sweep(group) }
    }

    /// The block that is being evicted, if it has listed pages.
    pub fn swept(&self, sweep: Option<Sweep>) -> Option<GroupId> {
        self.index.get(&sweep?.block).copied()
    }

    /// Returns the next eviction of a block in page order, and the new position, or `None` as position if
    /// nothing is left. Under padding, a clean page is dropped first and read again.
    pub fn step(&self, sweep: Sweep, view: &BufferView<'_>) -> Option<(Eviction, Option<Sweep>)> {
        let (place, eviction) = self.from(sweep, view)?;
        let again = match eviction {
            Eviction::Page(slot) => sweep.pads && view.is_clean(slot),
            Eviction::Pack { .. } | Eviction::Pad(_) => false,
        };
        let next = if again { place } else { place + 1 };
        Some((eviction, self.ahead(Sweep { next, ..sweep }, view)))
    }

    /// Moves an eviction to the next place with something to do.
    fn ahead(&self, sweep: Sweep, view: &BufferView<'_>) -> Option<Sweep> {
        self.from(sweep, view).map(|(next, _)| Sweep { next, ..sweep })
    }

    /// Returns the position of an eviction after a page left in another way.
    pub fn without(&self, sweep: Option<Sweep>, page: Lpn, view: &BufferView<'_>) -> Option<Sweep> {
        let Sweep { block, next, pads } = sweep?;
        if page.get() != block * self.size + next {
            return sweep;
        }
        self.ahead(Sweep { block, next: next + 1, pads }, view)
    }

    /// The first place at or after the position with something to do, and the eviction there.
    fn from(&self, sweep: Sweep, view: &BufferView<'_>) -> Option<(u32, Eviction)> {
        let Sweep { block, next, pads } = sweep;
        let group = self.index.get(&block);
        let listed = group.and_then(|&group| self.next(group, next));
        let end = listed.map_or(self.size_of_block(block), |(place, _)| place);
        let to_pad = |&place: &u32| {
            let page = Lpn::new(block * self.size + place);
            view.find(page).is_none() && view.is_on_flash(page)
        };
        if pads && let Some(place) = (next..end).find(to_pad) {
            return Some((place, Eviction::Pad(Lpn::new(block * self.size + place))));
        }
        listed.map(|(place, slot)| (place, Eviction::Page(slot)))
    }

    /// Saves the position of the block that was being evicted when its last listed page left.
    pub fn save(&self, sweep: Option<Sweep>, out: &mut ImageWriter) {
        out.flag(sweep.is_some());
        if let Some(Sweep { block, next, pads }) = sweep {
            out.number(block);
            out.number(next);
            out.flag(pads);
        }
    }

    /// Loads what [`save`](Self::save) wrote.
    pub fn load(&self, from: &mut ImageReader<'_>) -> Result<Option<Sweep>, Damage> {
        if !from.flag("whether a block is being evicted")? {
            return Ok(None);
        }
        let blocks = self.logical_pages.div_ceil(self.size);
        let block = from.below(u64::from(blocks), "a logical block")?;
        let next = from.below(u64::from(self.size_of_block(block)), "a page of a block")?;
        let pads = from.flag("whether the block is filled up")?;
        Ok(Some(Sweep { block, next, pads }))
    }
}
