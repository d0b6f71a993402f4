//! Lost data: pages that cannot be read any more, pages that only an unreadable translation page named, and what was
//! programmed from them. A drive marks such pages, so that nobody takes their contents for data. The marks move with
//! copies. They vanish when the block is erased or the host writes the page again.

use std::collections::BTreeMap;

use super::{Fragments, Ftl};
use crate::engine::skills::{self, Skills};
use crate::ftl::mapping::MappingPolicy;
use crate::ftl::{EmptiedBy, FlashChange, FlashContents};
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::units::{Lpn, Ppn, SectorMask};

/// The physical pages with lost data, and which of their sectors are lost.
#[derive(Clone, Debug, Default)]
pub struct Lost {
    places: BTreeMap<u32, SectorMask>,
}

impl Lost {
    /// The sectors of a physical page whose data is lost.
    #[inline]
    #[must_use]
    pub fn at(&self, at: Ppn) -> SectorMask {
        match self.places.is_empty() {
            true => SectorMask::EMPTY,
            false => self.places.get(&at.get()).copied().unwrap_or(SectorMask::EMPTY),
        }
    }

    /// Whether any sector of a physical page is lost.
    #[inline]
    #[must_use]
    pub fn is_at(&self, at: Ppn) -> bool {
        !self.at(at).is_empty()
    }

    /// Number of physical pages with lost data, including those of which newer copies exist.
    #[must_use]
    pub fn pages(&self) -> u64 {
        self.places.len() as u64
    }

    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Takes up what was kept of a page.
    pub(super) fn put(&mut self, at: Ppn, sectors: SectorMask) {
        self.add(at.get(), sectors);
    }

    /// Marks these sectors as lost.
    fn add(&mut self, at: u32, sectors: SectorMask) {
        if !sectors.is_empty() {
            let lost = self.places.entry(at).or_insert(SectorMask::EMPTY);
            *lost = lost.and_also(sectors);
        }
    }
}

impl Lost {
    pub(super) fn save(&self, out: &mut ImageWriter) {
        let Lost { places } = self;
        out.list(places.keys().copied());
        for sectors in places.values() {
            out.raw(&sectors.0.to_le_bytes());
        }
    }

    /// Loads what [`save`](Self::save) wrote; `whole` are the sectors of a page.
    pub(super) fn load(
        &mut self,
        from: &mut ImageReader<'_>,
        pages: u32,
        whole: SectorMask,
    ) -> Result<(), Damage> {
        for at in from.list(pages, "a page whose data is lost")? {
            let mut bytes = [0; size_of::<u128>()];
            bytes.copy_from_slice(from.raw(size_of::<u128>())?);
            let sectors = SectorMask(u128::from_le_bytes(bytes));
            if sectors.is_empty() || !whole.covers(sectors) {
                return Err(Damage(format!("page {at} has lost sectors that it does not have")));
            }
            self.places.insert(at, sectors);
        }
        Ok(())
    }
}

impl Ftl {
    /// The physical pages whose data is lost.
    #[inline]
    #[must_use]
    pub fn lost(&self) -> &Lost {
        &self.map.lost
    }
}

/// Marks the whole flash page of a page as lost. Returns its first page.
pub(crate) fn lose_flash_page(at: Ppn, ftl: &mut Ftl) -> Ppn {
    let units = ftl.geometry.units_per_page();
    let first = at.get() - at.get() % units;
    (first..first + units).for_each(|at| ftl.map.lost.add(at, ftl.map.spare.full()));
    if let Some(record) = &mut ftl.features.record {
        record.touch(Ppn::new(first), units);
    }
    Ppn::new(first)
}

/// The place of a host page is not known any more: marks the page as lost.
pub(crate) fn lose_page(page: Lpn, ftl: &mut Ftl) {
    if let Some(at) = ftl.map.mapping.look_up(page) {
        ftl.map.lost.add(at.get(), ftl.map.spare.full());
        if let Some(record) = &mut ftl.features.record {
            record.touch(at, 1);
        }
    }
}

/// Copies the data of a page together with its marks.
#[inline]
pub(crate) fn carry<const S: Skills>(
    from: Ppn,
    to: Ppn,
    contents: &mut impl FlashContents,
    ftl: &mut Ftl,
) {
    contents.change(FlashChange::Copied { from, to });
    if !skills::any(S, skills::RARE_ON_FLASH) {
        return;
    }
    ftl.map.lost.add(to.get(), ftl.lost().at(from));
}

/// New sectors of a page are programmed at `to`, together with the remaining sectors of older
/// parts. Marks those of the remaining sectors that are lost. New sectors can be read.
pub(crate) fn complete_from(base: Fragments, sectors: SectorMask, to: Ppn, ftl: &mut Ftl) {
    for part in base.into_iter().flatten() {
        let left = part.sectors.without(sectors);
        ftl.map.lost.add(to.get(), ftl.lost().at(part.at).within(left));
    }
}

/// A block of `units` pages from `first` on was erased.
pub(crate) fn clear(first: Ppn, units: u32, contents: &mut impl FlashContents, ftl: &mut Ftl) {
    contents.change(FlashChange::Emptied { first, units, by: EmptiedBy::Erase });
    forget_block(first, units, ftl);
}

/// Removes everything about these pages, both data and marks.
pub(in crate::ftl) fn forget_block(first: Ppn, units: u32, ftl: &mut Ftl) {
    if let Some(record) = &mut ftl.features.record {
        record.void(first, units);
    }
    let of_block = ftl.map.lost.places.range(first.get()..first.get() + units);
    for at in of_block.map(|(&at, _)| at).collect::<Vec<_>>() {
        ftl.map.lost.places.remove(&at);
    }
}
