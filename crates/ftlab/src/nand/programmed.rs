//! What lies on flash at which cost: the class that each flash page was programmed at, since when a block holds data,
//! and how often it was erased. The flash keeps it, as cells do; regulators look at it.
//!
//! Two bits a flash page, eight bytes a block, zeroed memory that nobody touches before it is programmed.

use super::CostClass;
use crate::engine::TwoBits;
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::shape::Geometry;
use crate::units::{BlockId, Nanos, Ppn, SimTime};

/// Births are kept in seconds.
const SECOND: u64 = 1_000_000_000;

/// The data from before the part of a run that is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prior {
    /// The class that it has.
    pub class: CostClass,
    /// Whether pages keep the class at which they were programmed in preparation.
    pub as_written: bool,
}

/// At which cost flash pages were programmed.
#[derive(Clone, Debug)]
pub struct Programmed {
    /// By flash page: nothing for one that is erased or from before, else its class and one.
    classes: TwoBits,
    /// By block: when the first page was programmed, in seconds and one; nothing if none was. Of data that the flash
    /// did not see programmed: when it was first known to be there.
    born: Vec<u32>,
    /// By block.
    erases: Vec<u32>,
    prior: Prior,
}

impl Programmed {
    /// Nothing is programmed yet.
    #[must_use]
    pub fn new(geometry: &Geometry, prior: Prior) -> Programmed {
        let flash_pages = geometry.physical_pages() / geometry.units_per_page();
        let blocks = geometry.blocks() as usize;
        Programmed {
            classes: TwoBits::new(flash_pages),
            born: vec![0; blocks],
            erases: vec![0; blocks],
            prior,
        }
    }

    /// The class of a flash page that is programmed.
    #[inline]
    #[must_use]
    pub fn class_of(&self, flash_page: u32) -> CostClass {
        match self.classes.get(flash_page) {
            0 => self.prior.class,
            1 => CostClass::Low,
            2 => CostClass::Medium,
            _ => CostClass::High,
        }
    }

    /// Whether a flash page that is programmed holds data from before.
    #[inline]
    #[must_use]
    pub fn is_prior(&self, flash_page: u32) -> bool {
        self.classes.get(flash_page) == 0
    }

    /// What data from before is taken for.
    #[must_use]
    pub fn prior(&self) -> Prior {
        self.prior
    }

    /// How long ago the first page of a block was programmed: no page of it is older. To the second.
    #[inline]
    #[must_use]
    pub fn age(&self, block: BlockId, now: SimTime) -> Nanos {
        match self.born[block.at()] {
            0 => Nanos::ZERO,
            born => Nanos(now.0.saturating_sub(u64::from(born - 1) * SECOND)),
        }
    }

    /// How often a block was erased.
    #[inline]
    #[must_use]
    pub fn erases(&self, block: BlockId) -> u32 {
        self.erases[block.at()]
    }

    /// A block was erased so often before the device was loaded.
    pub(crate) fn set_erases(&mut self, block: BlockId, erases: u32) {
        self.erases[block.at()] = erases;
    }

    /// Since when blocks hold data is known of none: an image says it, or nobody does.
    pub(crate) fn forget_ages(&mut self) {
        self.born.fill(0);
    }

    /// A block holds data. If the flash did not see it programmed, it ages from now on.
    pub(crate) fn holds(&mut self, block: BlockId, now: SimTime) {
        let born = &mut self.born[block.at()];
        if *born == 0 {
            *born = second_of(now);
        }
    }

    /// A flash page was programmed. Data from before that is copied as it was stays from before.
    pub(crate) fn program(
        &mut self,
        at: &FlashPlace,
        class: CostClass,
        from_before: bool,
        now: SimTime,
    ) {
        self.classes.set(at.flash_page, if from_before { 0 } else { class as u8 + 1 });
        self.holds(at.block, now);
    }

    /// A block was erased.
    pub(crate) fn erase(&mut self, at: &FlashPlace, flash_pages: u32) {
        for flash_page in at.flash_page..at.flash_page + flash_pages {
            self.classes.set(flash_page, 0);
        }
        self.born[at.block.at()] = 0;
        self.erases[at.block.at()] += 1;
    }

    /// All that lies on flash is data from before.
    pub(crate) fn prepared(&mut self) {
        if !self.prior.as_written {
            self.classes.clear();
        }
    }

    /// Writes since when blocks hold data, and runs of equal classes.
    pub(crate) fn save(&self, out: &mut ImageWriter) {
        // How often blocks were erased stands with the blocks.
        let Programmed { classes, born, erases: _, prior: _ } = self;
        let holding = born.iter().enumerate().filter(|&(_, &born)| born > 0);
        out.number(holding.clone().count() as u64);
        for (block, &born) in holding {
            out.number(block as u64);
            out.number(born);
        }
        classes.save(out);
    }

    /// Takes up what [`save`](Self::save) wrote.
    pub(crate) fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        let blocks = self.born.len() as u64;
        for _ in 0..from.below(blocks + 1, "the number of blocks that hold data")? {
            let block = from.below(blocks, "a block that holds data")?;
            self.born[block as usize] = from.below(u64::from(u32::MAX), "its age")?;
        }
        self.classes.load(from, "the list of classes")
    }
}

/// How a moment is kept: in seconds and one.
fn second_of(now: SimTime) -> u32 {
    u32::try_from(now.0 / SECOND + 1).unwrap_or(u32::MAX)
}

/// Where something is programmed, or erased.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlashPlace {
    pub flash_page: u32,
    pub block: BlockId,
}

impl FlashPlace {
    #[inline]
    pub(crate) fn of(geometry: &Geometry, page: Ppn) -> FlashPlace {
        FlashPlace { flash_page: geometry.flash_page_of(page), block: geometry.block_of(page) }
    }
}
