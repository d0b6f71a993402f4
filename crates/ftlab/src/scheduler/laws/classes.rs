//! The cost at which flash pages were programmed, as observed from the cells. The flash's own view must be the same
//! for programmed pages, and it must know nothing of erased ones.

use std::collections::BTreeMap;

use crate::nand::{CostClass, Programmed, ReadEffort};

/// The class of each flash page that was programmed since the device was new or loaded.
#[derive(Clone, Debug, Default)]
pub(crate) struct Classes {
    seen: BTreeMap<u32, CostClass>,
    /// Whether the class of a page alone determines the effort of its reads.
    pub(super) decide_reads: bool,
}

impl Classes {
    /// Records that the cells program a flash page.
    pub(super) fn programs(&mut self, flash_page: u32, class: CostClass) {
        self.seen.insert(flash_page, class);
    }

    /// Records that flash pages are erased.
    pub(super) fn erases(&mut self, flash_pages: impl Iterator<Item = u32>) {
        for flash_page in flash_pages {
            self.seen.remove(&flash_page);
        }
    }

    /// Checks the effort of a read.
    pub(super) fn reads(&self, flash_page: u32, effort: ReadEffort) {
        let class = self.seen.get(&flash_page).filter(|_| self.decide_reads);
        let right = class.is_none_or(|class| effort == class.effort());
        assert!(right, "flash page {flash_page} of {class:?} is read with {effort:?}");
    }

    /// Takes over the classes from an image.
    pub(super) fn take_up(&mut self, programmed: &Programmed, flash_pages: u32) {
        let known = (0..flash_pages).filter(|&flash_page| !programmed.is_prior(flash_page));
        self.seen = known.map(|known| (known, programmed.class_of(known))).collect();
    }

    /// Checks, at rest, that the flash knows the classes that were observed. Data from before the run is only known
    /// as such.
    pub(super) fn agree(&self, programmed: &Programmed, flash_pages: u32) {
        for flash_page in (0..flash_pages).filter(|&at| !programmed.is_prior(at)) {
            let (known, seen) = (programmed.class_of(flash_page), self.seen.get(&flash_page));
            assert_eq!(Some(&known), seen, "the class of flash page {flash_page}");
        }
        let prior = programmed.prior().class;
        for (&flash_page, &class) in &self.seen {
            let known = programmed.class_of(flash_page);
            let is_known = known == class && (!programmed.is_prior(flash_page) || known == prior);
            assert!(is_known, "flash page {flash_page} of {class:?} is taken for {known:?}");
        }
    }
}
