//! Leaving a program or an erase for host reads, and going on with it afterwards (suspend and resume).
//!
//! An operation is left when a host read arrives for its die, if the rule allows it, if leaving it
//! takes less than what is left of it, and if it has not been left too often. It goes on as soon as no
//! host read waits for the die, or so many were served. Reads that wait then wait for its end, unless
//! another one arrives for which it may be left again.
//!
//! A die can't be left while its register holds the next page to program: with cache programs, hardly
//! ever.
//!
//! Source: Wu and He, "Reducing SSD Read Latency via NAND Flash Program and Erase Suspension", FAST
//! 2012. There the operation is left between two of its pulses or within one; here at any moment, at a
//! fixed cost for leaving and for going on.

use super::command::CommandId;
use crate::nand::Cells;
use crate::options::declare::choices;
use crate::units::{Nanos, SimTime};

choices! {
    /// Which operations are left for a host read.
    pub enum Pausable {
        /// None.
        None = "none",
        /// Erases.
        Erase = "erase",
        /// Erases and programs.
        ProgramAndErase = "program-and-erase",
    }
}

/// Which operations are left for a host read, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseRule {
    /// Which.
    pub which: Pausable,
    /// How often one operation is left, at the most.
    pub times: u32,
    /// How many host reads are served each time, at the most.
    pub reads: u32,
}

impl PauseRule {
    /// No operation is left before its end.
    pub const NEVER: PauseRule = PauseRule { which: Pausable::None, times: 0, reads: 0 };

    /// Whether what the cells do may be left.
    pub(super) fn allows(&self, cells: Cells) -> bool {
        match cells {
            Cells::Erasing => self.which != Pausable::None,
            Cells::Programming => self.which == Pausable::ProgramAndErase,
            _ => false,
        }
    }
}

/// An operation that stands still.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paused {
    /// The first of its commands.
    pub first: CommandId,
    /// What the cells do.
    pub cells: Cells,
    /// What is left of it.
    pub left: Nanos,
    /// Since when.
    pub since: SimTime,
    /// Host reads that were served since.
    pub served: u32,
}

/// What a die left, and may leave, for host reads.
#[derive(Clone, Debug, Default)]
pub(super) struct Suspension {
    /// What stands still.
    pub paused: Option<Paused>,
    /// How often the operation in the cells was left.
    pub times: u32,
    /// Whether the die will look, when the cells begin, for host reads that came while data moved in.
    pub looks_again: bool,
}

impl Suspension {
    /// The first command of what stands still.
    pub fn first(&self) -> Option<CommandId> {
        self.paused.as_ref().map(|paused| paused.first)
    }

    /// Whether what was left stays left for another host read.
    pub fn serves_reads(&self, rule: &PauseRule) -> bool {
        self.paused.as_ref().is_some_and(|paused| paused.served < rule.reads)
    }
}
