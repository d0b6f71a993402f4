//! The spare area of the flash pages: which logical page each physical page holds, and which of its sectors were ever
//! written. A real device finds this on flash after a power cut, and collection needs it.

use super::fragments::OwnerPart;
use crate::engine::prefetch;
use crate::image::{ChunkedTable, Chunking, Damage, ImageReader, ImageWriter, PackedTable};
use crate::units::{BlockId, Lpn, Ppn, SectorMask};

/// Marks an owner whose page holds only some sectors. Their mask is in a separate table.
const PARTIAL: u32 = 1 << 31;

/// With [`PARTIAL`], marks a page that two logical pages share. The rest of the word is the number of its record. Only
/// used by mappings that pack pages, whose logical pages are numbered below this mark.
const SHARED: u32 = PARTIAL | 1 << 30;

/// How many owners ahead of collection are prefetched: one cache line, so that it is still cached
/// when collection reaches it, however many planes collect at the same time.
const PREFETCH_DISTANCE: usize = 16;

/// Owners and sector masks by physical page.
///
/// An owner takes four bytes per page. A mask takes one bit per sector, but only if the page is
/// partial: otherwise the table is zeroed memory that is never touched.
#[derive(Clone, Debug)]
pub struct Spare {
    owners: Vec<u32>,
    masks: Vec<u8>,
    mask_bytes: usize,
    full: SectorMask,
    /// Whether any page was ever partial.
    any_partial: bool,
    /// The contents of the pages that two logical pages share.
    shared: Vec<[OwnerPart; 2]>,
    /// The numbers of unused records.
    free: Vec<u32>,
    /// By block: owners that were loaded and are still packed. All their pages are whole, and none is written until
    /// the block is erased.
    packed: Option<Box<PackedTable>>,
}

impl Spare {
    /// The spare area of `physical_pages` erased pages with this many sectors each.
    #[must_use]
    pub fn new(physical_pages: u32, sectors: u32) -> Spare {
        let mask_bytes = sectors.div_ceil(u8::BITS) as usize;
        Spare {
            owners: vec![0; physical_pages as usize],
            masks: vec![0; physical_pages as usize * mask_bytes],
            mask_bytes,
            full: SectorMask::range(0, sectors),
            any_partial: false,
            shared: Vec::new(),
            free: Vec::new(),
            packed: None,
        }
    }

    /// The mask of a whole page.
    #[inline]
    #[must_use]
    pub fn full(&self) -> SectorMask {
        self.full
    }

    /// Records the contents of a page.
    #[inline]
    pub fn record(&mut self, at: Ppn, page: Lpn, sectors: SectorMask) {
        if sectors == self.full {
            self.owners[at.at()] = page.to_raw();
            return;
        }
        self.any_partial = true;
        self.owners[at.at()] = page.to_raw() | PARTIAL;
        let start = at.at() * self.mask_bytes;
        let bytes = sectors.0.to_le_bytes();
        self.masks[start..start + self.mask_bytes].copy_from_slice(&bytes[..self.mask_bytes]);
    }

    /// Records the contents of a page that two logical pages share.
    pub(super) fn record_pack(&mut self, at: Ppn, parts: [OwnerPart; 2]) {
        self.release(at);
        let number = match self.free.pop() {
            Some(number) => {
                self.shared[number as usize] = parts;
                number
            }
            None => {
                self.shared.push(parts);
                self.shared.len() as u32 - 1
            }
        };
        self.owners[at.at()] = number | SHARED;
    }

    /// Frees the record of a shared page before the page is recorded anew.
    pub(super) fn release(&mut self, at: Ppn) {
        self.free.extend(self.record_of(at));
    }

    /// The number of the record of a shared page.
    #[inline]
    fn record_of(&self, at: Ppn) -> Option<u32> {
        let word = self.owners[at.at()];
        (word & SHARED == SHARED).then_some(word & !SHARED)
    }

    /// What a page was last programmed with, by logical page. Only for mappings that pack pages.
    #[must_use]
    pub(super) fn parts(&self, at: Ppn) -> [Option<OwnerPart>; 2] {
        match self.record_of(at) {
            Some(number) => self.shared[number as usize].map(Some),
            None => [self.owner(at).map(|page| (page, self.sectors(at))), None],
        }
    }

    /// The sectors of one owner that a page was programmed with. Only for mappings that pack pages.
    #[must_use]
    pub(super) fn sectors_of(&self, at: Ppn, page: Lpn) -> SectorMask {
        let mut parts = self.parts(at).into_iter().flatten();
        let part = parts.find(|&(owner, _)| owner == page);
        part.map_or(SectorMask::EMPTY, |(_, sectors)| sectors)
    }

    /// Whether any page was ever programmed in part.
    #[inline]
    pub(super) fn any_partial(&self) -> bool {
        self.any_partial
    }

    /// Records whole pages at `count` adjacent places. Their logical pages are `stride` apart.
    #[inline]
    pub(super) fn record_row(&mut self, first: Ppn, count: u32, page: Lpn, stride: u32) {
        let row = &mut self.owners[first.at()..first.at() + count as usize];
        let mut raw = page.to_raw();
        for owner in row {
            *owner = raw;
            raw = raw.wrapping_add(stride);
        }
    }

    /// Records whole pages at `count` adjacent places. Each holds the logical page of the place
    /// `back` places before it, plus `shift`.
    pub(super) fn record_again(&mut self, first: Ppn, count: u32, back: u32, shift: u32) {
        let end = first.at() + count as usize;
        let row = &mut self.owners[first.at() - back as usize..end];
        for at in back as usize..row.len() {
            row[at] = row[at - back as usize] + shift;
        }
    }

    /// The logical page that was last programmed there. Not for shared pages.
    #[inline]
    #[must_use]
    pub fn owner(&self, at: Ppn) -> Option<Lpn> {
        match (self.owners[at.at()], &self.packed) {
            (0, Some(packed)) => Lpn::from_raw(packed.word(at.at())),
            (word, _) => Lpn::from_raw(word & !PARTIAL),
        }
    }

    /// The sectors that a programmed page holds. Not for shared pages.
    #[inline]
    #[must_use]
    pub fn sectors(&self, at: Ppn) -> SectorMask {
        if self.owners[at.at()] & PARTIAL == 0 {
            return self.full;
        }
        let start = at.at() * self.mask_bytes;
        let mut bytes = [0; size_of::<u128>()];
        bytes[..self.mask_bytes].copy_from_slice(&self.masks[start..start + self.mask_bytes]);
        SectorMask(u128::from_le_bytes(bytes))
    }

    /// Records that the page at `from` is copied to `to`. Returns its owner. Not for shared pages.
    #[inline]
    pub(super) fn copy(&mut self, from: Ppn, to: Ppn) -> Lpn {
        let page = self.owner(from).expect("a page that was valid has an owner");
        let sectors = self.sectors(from);
        self.record(to, page, sectors);
        page
    }

    /// Saves the contents of these pages.
    pub(super) fn save(&self, pages: impl Iterator<Item = Ppn> + Clone, out: &mut ImageWriter) {
        let Spare {
            owners,
            masks: _,
            mask_bytes,
            full: _,
            any_partial: _,
            shared: _,
            free: _,
            packed: _,
        } = self;
        let mut before = 0;
        for at in pages.clone() {
            // Adjacent pages mostly have adjacent owners.
            let owner = self.owner(at).map_or(0, Lpn::to_raw);
            out.difference(before + 1, owner);
            before = owner;
        }
        let partial = pages.enumerate().filter(|(_, at)| owners[at.at()] & PARTIAL != 0);
        out.number(partial.clone().count() as u64);
        let mut next = 0;
        for (number, at) in partial {
            out.difference(next, number as u32);
            next = number as u32 + 1;
            out.raw(&self.sectors(at).0.to_le_bytes()[..*mask_bytes]);
        }
    }

    /// Saves the owners of a block as a chunk, if all these pages of it are whole. `units` are all places of the block.
    /// Returns whether it did.
    pub(super) fn save_chunk(
        &self,
        block: BlockId,
        units: u32,
        pages: impl Iterator<Item = Ppn>,
        out: &mut Chunking<'_>,
    ) -> bool {
        let first = block.at() * units as usize;
        let mut words = vec![0; units as usize];
        for at in pages {
            if self.sectors(at) != self.full {
                return false;
            }
            words[at.at() - first] = self.owner(at).map_or(0, Lpn::to_raw);
        }
        out.put(ChunkedTable::Owners, block.get(), words.into_iter());
        true
    }

    /// Takes over the owners of an image. Nothing is recorded so far.
    pub(super) fn take_packed(&mut self, packed: PackedTable) {
        self.packed = Some(Box::new(packed));
    }

    /// Whether the owners of a block are packed.
    pub(super) fn is_packed(&self, block: BlockId) -> bool {
        self.packed.as_ref().is_some_and(|packed| packed.holds(block.get()))
    }

    /// Unpacks all owners.
    pub(super) fn unpack_all(&mut self) -> Result<(), Damage> {
        self.packed.take().map_or(Ok(()), |packed| packed.unpack_all(&mut self.owners))
    }

    /// A block was erased.
    #[inline]
    pub(super) fn erased(&mut self, block: BlockId) {
        if let Some(packed) = &mut self.packed {
            packed.forget(block.get());
        }
    }

    /// Loads what [`save`](Self::save) wrote. Owners must be below `logical_pages`.
    pub(super) fn load(
        &mut self,
        pages: impl Iterator<Item = Ppn> + Clone,
        logical_pages: u32,
        from: &mut ImageReader<'_>,
    ) -> Result<(), Damage> {
        let mut before = 0;
        for at in pages.clone() {
            let owner = from.difference(before + 1, "the owner of a page")?;
            if owner == 0 || owner > logical_pages {
                return Err(Damage(format!("{at:?} belongs to no page of the device")));
            }
            self.owners[at.at()] = owner;
            before = owner;
        }
        let mut left = pages.enumerate();
        let mut next = 0;
        for _ in 0..from.number()? {
            let number = from.difference(next, "a partial page")?;
            let ahead = number.checked_sub(next).and_then(|ahead| left.nth(ahead as usize));
            let Some((_, at)) = ahead else {
                return Err(Damage(format!("partial page {number} is out of order")));
            };
            next = number + 1;
            self.load_mask(at, from)?;
        }
        Ok(())
    }

    fn load_mask(&mut self, at: Ppn, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        let mut bytes = [0; size_of::<u128>()];
        bytes[..self.mask_bytes].copy_from_slice(from.raw(self.mask_bytes)?);
        let mask = SectorMask(u128::from_le_bytes(bytes));
        let Some(owner) = self.owner(at) else {
            return Err(Damage(format!("{at:?} holds sectors but has no owner")));
        };
        if mask == self.full || !self.full.covers(mask) {
            return Err(Damage(format!("the sectors of {at:?} are not a part of a page")));
        }
        self.record(at, owner, mask);
        Ok(())
    }

    /// Prefetches the owners of `count` adjacent pages.
    #[inline]
    pub(super) fn prefetch_row(&self, first: Ppn, count: u32) {
        const PER_LINE: usize = 64 / size_of::<u32>();
        let end = first.at() + count as usize;
        (first.at()..end).step_by(PER_LINE).for_each(|at| prefetch(&self.owners, at));
    }

    /// Prefetches the owners that collection reaches soon after this page.
    #[inline]
    pub fn prefetch_after(&self, at: Ppn) {
        prefetch(&self.owners, at.at() + PREFETCH_DISTANCE);
    }
}
