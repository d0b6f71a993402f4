//! At which cost flash pages were programmed, as the cells were seen to do it: what the flash believes of them has to be
//! that, and nothing of pages that are erased.

use std::collections::BTreeMap;

use crate::nand::{CostClass, Programmed, ReadEffort};

/// The class of each flash page that was programmed since the device was new, or loaded.
#[derive(Clone, Debug, Default)]
pub(crate) struct Classes {
    seen: BTreeMap<u32, CostClass>,
    /// Whether a read takes what the class says, whatever else there is.
    pub(super) decide_reads: bool,
}

impl Classes {
    /// The cells program a flash page.
    pub(super) fn programs(&mut self, flash_page: u32, class: CostClass) {
        self.seen.insert(flash_page, class);
    }

    /// So many flash pages are erased.
    pub(super) fn erases(&mut self, first: u32, flash_pages: u32) {
        for flash_page in first..first + flash_pages {
            self.seen.remove(&flash_page);
        }
    }

    /// A flash page is read.
    pub(super) fn reads(&self, flash_page: u32, effort: ReadEffort) {
        let class = self.seen.get(&flash_page).filter(|_| self.decide_reads);
        let right = class.is_none_or(|class| effort == class.effort());
        assert!(right, "flash page {flash_page} of {class:?} is read with {effort:?}");
    }

    /// What an image says is so.
    pub(super) fn take_up(&mut self, programmed: &Programmed, flash_pages: u32) {
        let known = (0..flash_pages).filter(|&flash_page| !programmed.is_prior(flash_page));
        self.seen = known.map(|known| (known, programmed.class_of(known))).collect();
    }

    /// Nothing is under way: the flash knows what was seen. Of data from before it knows that alone.
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
