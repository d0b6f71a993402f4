//! The state of programmed flash: the cost class of each flash page, when the data of a block was programmed, and how
//! often it was erased. The flash keeps it, as cells do; regulators read it.
//!
//! It takes two bits per flash page and eight bytes per block of zeroed memory, which is not touched before it is
//! used.

use super::CostClass;
use crate::engine::TwoBits;
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::shape::FlashGeometry;
use crate::units::{BlockId, Nanos, Ppn, SimTime};

/// Times of programming are kept in seconds.
const SECOND: u64 = 1_000_000_000;

/// The assumed state of data from before the measured part of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prior {
    /// Its class.
    pub class: CostClass,
    /// Whether pages keep the class at which they were programmed in preparation.
    pub as_written: bool,
}

/// The cost at which flash pages were programmed.
#[derive(Clone, Debug)]
pub struct Programmed {
    /// By flash page: zero if it is erased or from before the run, otherwise its class plus one.
    classes: TwoBits,
    /// By block: when its first page was programmed, in seconds plus one, or zero if none was. For data that the
    /// flash did not see programmed: when it was first known to exist.
    born: Vec<u32>,
    /// By block.
    erases: Vec<u32>,
    prior: Prior,
}

impl Programmed {
    /// Returns the state of an erased flash.
    #[must_use]
    pub fn new(geometry: &FlashGeometry, prior: Prior) -> Programmed {
        let flash_pages = geometry.physical_pages() / geometry.units_per_page();
        let blocks = geometry.blocks() as usize;
        Programmed {
            classes: TwoBits::new(flash_pages),
            born: vec![0; blocks],
            erases: vec![0; blocks],
            prior,
        }
    }

    /// The class of a programmed flash page.
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

    /// Whether a programmed flash page holds data from before the run.
    #[inline]
    #[must_use]
    pub fn is_prior(&self, flash_page: u32) -> bool {
        self.classes.get(flash_page) == 0
    }

    /// The assumed state of data from before the run.
    #[must_use]
    pub fn prior(&self) -> Prior {
        self.prior
    }

    /// The age of the first page of a block, in whole seconds. No page of it is older.
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

    /// Sets how often a block was erased before the device was loaded.
    pub(crate) fn set_erases(&mut self, block: BlockId, erases: u32) {
        self.erases[block.at()] = erases;
    }

    /// Forgets when blocks were programmed. An image may restore it.
    pub(crate) fn forget_ages(&mut self) {
        self.born.fill(0);
    }

    /// Notes that a block holds data. If the flash did not see it programmed, it ages from now on.
    pub(crate) fn holds(&mut self, block: BlockId, now: SimTime) {
        let born = &mut self.born[block.at()];
        if *born == 0 {
            *born = second_of(now);
        }
    }

    /// Records a program. Data from before the run that is copied unchanged stays marked as such.
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

    /// Records an erase.
    pub(crate) fn erase(&mut self, block: BlockId, flash_pages: impl Iterator<Item = u32>) {
        flash_pages.for_each(|flash_page| self.classes.set(flash_page, 0));
        self.born[block.at()] = 0;
        self.erases[block.at()] += 1;
    }

    /// Marks everything on flash as data from before the run.
    pub(crate) fn prepared(&mut self) {
        if !self.prior.as_written {
            self.classes.clear();
        }
    }

    /// Saves when blocks were programmed, and runs of equal classes.
    pub(crate) fn save(&self, out: &mut ImageWriter) {
        // The erases of blocks are saved with the blocks.
        let Programmed { classes, born, erases: _, prior: _ } = self;
        let holding = born.iter().enumerate().filter(|&(_, &born)| born > 0);
        out.number(holding.clone().count() as u64);
        for (block, &born) in holding {
            out.number(block as u64);
            out.number(born);
        }
        classes.save(out);
    }

    /// Loads what [`save`](Self::save) wrote.
    pub(crate) fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        let blocks = self.born.len() as u64;
        for _ in 0..from.below(blocks + 1, "the number of blocks that hold data")? {
            let block = from.below(blocks, "a block that holds data")?;
            self.born[block as usize] = from.below(u64::from(u32::MAX), "its age")?;
        }
        self.classes.load(from, "the list of classes")
    }
}

/// The stored form of a time: seconds plus one.
fn second_of(now: SimTime) -> u32 {
    u32::try_from(now.0 / SECOND + 1).unwrap_or(u32::MAX)
}

/// A flash page and its block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlashPlace {
    pub flash_page: u32,
    pub block: BlockId,
}

impl FlashPlace {
    #[inline]
    pub(crate) fn of(geometry: &FlashGeometry, page: Ppn) -> FlashPlace {
        FlashPlace { flash_page: geometry.flash_page_of(page), block: geometry.block_of(page) }
    }
}
