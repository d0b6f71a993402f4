//! The times of all operations: of native blocks by the timing model, and of blocks with one bit per
//! cell.

use super::{Timing, TimingPolicy};
use crate::nand::{CellMode, CostClass, ReadEffort, Senses, WordLine};
use crate::shape::FlashGeometry;
use crate::units::{Nanos, Ppn};

/// Times of blocks with one bit per cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OneBit {
    /// Time to sense a flash page.
    pub read: Nanos,
    /// Time to program a flash page.
    pub program: Nanos,
    /// Time to erase a block.
    pub erase: Nanos,
}

/// A read whose time is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadOf {
    /// A page of the flash page.
    pub page: Ppn,
    /// The mode of the cells of its block.
    pub mode: CellMode,
    /// The effort, for native cells whose timing knows costs.
    pub effort: ReadEffort,
}

/// A program whose time is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramOf {
    /// A page of the flash page.
    pub page: Ppn,
    /// The mode of the cells of its block.
    pub mode: CellMode,
    /// The cost, for native cells whose timing knows costs.
    pub class: CostClass,
}

/// The times of operations of the cells.
#[derive(Clone, Debug)]
pub struct Prices {
    /// Native blocks.
    pub native: Timing,
    /// Blocks with one bit per cell.
    pub one_bit: OneBit,
    /// The pages of a flash page that is a word line. `None` if a flash page is one page.
    pub word_line: Option<WordLine>,
}

impl Prices {
    /// Time to sense pages of a word line, one after the other; all of them if none are named.
    #[must_use]
    pub fn read_of_word_line(
        &self,
        (word_line, senses): (&WordLine, Option<Senses>),
        geometry: &FlashGeometry,
        of: &ReadOf,
    ) -> Nanos {
        let page = |bit| match of.mode {
            CellMode::Native => self.native.read_bit(geometry, of.page, of.effort, bit),
            CellMode::Slc => self.one_bit.read,
        };
        senses.unwrap_or(word_line.all()).pages().map(page).fold(Nanos::ZERO, |all, one| all + one)
    }

    /// Time to program a word line or, with one bit per cell, as much data page by page.
    #[must_use]
    pub fn program_of_word_line(
        &self,
        word_line: &WordLine,
        geometry: &FlashGeometry,
        of: &ProgramOf,
    ) -> Nanos {
        match of.mode {
            CellMode::Native => self.native.program(geometry, of.page, of.class),
            CellMode::Slc => Nanos(self.one_bit.program.0 * u64::from(word_line.pages())),
        }
    }

    /// Time to sense a flash page.
    #[inline]
    #[must_use]
    pub fn read(&self, geometry: &FlashGeometry, of: &ReadOf) -> Nanos {
        match of.mode {
            CellMode::Native => self.native.read(geometry, of.page, of.effort),
            CellMode::Slc => self.one_bit.read,
        }
    }

    /// Time to program a flash page.
    #[inline]
    #[must_use]
    pub fn program(&self, geometry: &FlashGeometry, of: &ProgramOf) -> Nanos {
        match of.mode {
            CellMode::Native => self.native.program(geometry, of.page, of.class),
            CellMode::Slc => self.one_bit.program,
        }
    }

    /// Time to erase a block.
    #[inline]
    #[must_use]
    pub fn erase(&self, mode: CellMode) -> Nanos {
        match mode {
            CellMode::Native => self.native.erase(),
            CellMode::Slc => self.one_bit.erase,
        }
    }

    /// Upper bound of the time of any operation. A copyback is a read and a program.
    #[must_use]
    pub fn longest(&self) -> Nanos {
        let OneBit { read, program, erase } = self.one_bit;
        let longest = read.max(program).max(erase).max(self.native.longest());
        let pages = self.word_line.map_or(1, |word_line| word_line.pages());
        Nanos(2 * longest.0 * u64::from(pages))
    }
}
