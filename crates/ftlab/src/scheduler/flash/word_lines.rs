//! Which pages of a word line a read senses. Flash without such word lines names none, and pays nothing for it.

use super::Flash;
use crate::engine::skills::{RARE_ON_FLASH, Skills, any};
use crate::nand::{Senses, WordLine};
use crate::units::{Ppn, SectorMask};

impl<P> Flash<P> {
    /// The pages of a word line, where it is programmed at once.
    #[inline(always)]
    fn word_line<const S: Skills>(&self) -> Option<&WordLine> {
        match any(S, RARE_ON_FLASH) {
            true => self.sheet().timing.word_line.as_ref(),
            false => None,
        }
    }

    /// The place of a mapping unit in its flash page.
    fn place_in_page(&self, at: Ppn) -> u32 {
        at.get() % self.sheet().geometry.units_per_page()
    }

    /// The pages of a word line that hold these sectors of the mapping unit at `at`.
    #[inline(always)]
    pub fn senses<const S: Skills>(&self, at: Ppn, sectors: SectorMask) -> Option<Senses> {
        Some(self.word_line::<S>()?.holding(self.place_in_page(at), sectors))
    }

    /// The pages of a word line that hold these mapping units, all of one word line.
    #[inline(always)]
    pub fn senses_of_units<const S: Skills>(
        &self,
        units: impl IntoIterator<Item = Ppn>,
    ) -> Option<Senses> {
        let word_line = self.word_line::<S>()?;
        let pages = units.into_iter().map(|at| word_line.holding_unit(self.place_in_page(at)));
        pages.reduce(Senses::and_also)
    }

    /// The codewords of what a read senses.
    #[inline(always)]
    pub fn codewords_sensed<const S: Skills>(&self, senses: Option<Senses>) -> u32 {
        let whole = self.sheet().bus.page_codewords();
        match (self.word_line::<S>(), senses) {
            (Some(word_line), Some(senses)) => whole / word_line.pages() * senses.count(),
            _ => whole,
        }
    }
}
