//! The times of all operations: those of the part by its timing model, and those of blocks whose cells
//! hold one bit.

use super::{Timing, TimingPolicy};
use crate::nand::{CellMode, CostClass, ReadEffort};
use crate::shape::Geometry;
use crate::units::{Nanos, Ppn};

/// Times of blocks that are used with one bit a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OneBit {
    /// Sensing a flash page.
    pub read: Nanos,
    /// Programming a flash page.
    pub program: Nanos,
    /// Erasing a block.
    pub erase: Nanos,
}

/// What is sensed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadOf {
    /// A page of the flash page.
    pub page: Ppn,
    /// How the cells of its block are used.
    pub mode: CellMode,
    /// What it takes, in native cells whose timing knows costs.
    pub effort: ReadEffort,
}

/// What is programmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramOf {
    /// A page of the flash page.
    pub page: Ppn,
    /// How the cells of its block are used.
    pub mode: CellMode,
    /// At which cost, in native cells whose timing knows costs.
    pub class: CostClass,
}

/// What each operation of the cells costs in time.
#[derive(Clone, Debug)]
pub struct Prices {
    /// Blocks that are used as what they are.
    pub native: Timing,
    /// Blocks with one bit a cell.
    pub one_bit: OneBit,
}

impl Prices {
    /// How long sensing a flash page takes.
    #[inline]
    #[must_use]
    pub fn read(&self, geometry: &Geometry, of: &ReadOf) -> Nanos {
        match of.mode {
            CellMode::Native => self.native.read(geometry, of.page, of.effort),
            CellMode::Slc => self.one_bit.read,
        }
    }

    /// How long programming a flash page takes.
    #[inline]
    #[must_use]
    pub fn program(&self, geometry: &Geometry, of: &ProgramOf) -> Nanos {
        match of.mode {
            CellMode::Native => self.native.program(geometry, of.page, of.class),
            CellMode::Slc => self.one_bit.program,
        }
    }

    /// How long erasing a block takes.
    #[inline]
    #[must_use]
    pub fn erase(&self, mode: CellMode) -> Nanos {
        match mode {
            CellMode::Native => self.native.erase(),
            CellMode::Slc => self.one_bit.erase,
        }
    }

    /// The longest that any one operation takes; a copyback is a read and a program.
    #[must_use]
    pub fn longest(&self) -> Nanos {
        let OneBit { read, program, erase } = self.one_bit;
        let longest = read.max(program).max(erase).max(self.native.longest());
        longest + longest
    }
}
