//! Suspending a program or an erase for host reads, and resuming it afterwards.
//!
//! An operation is suspended when a host read arrives for its die, if the rule allows it, if
//! suspending takes less time than the operation has left, and if it has not been suspended too often.
//! It resumes as soon as no host read waits for the die, or enough have been served. Reads that still
//! wait then wait for its end, unless another one arrives for which it may be suspended again.
//!
//! A die cannot be suspended while its register holds the next page to program, so with cache programs
//! this hardly ever happens.
//!
//! Source: Wu and He, "Reducing SSD Read Latency via NAND Flash Program and Erase Suspension", FAST
//! 2012. There an operation is suspended between two of its pulses or within one; here at any moment,
//! with fixed costs of suspending and resuming.

use super::command::CommandId;
use crate::nand::Cells;
use crate::options::declare::choices;
use crate::units::{Nanos, SimTime};

choices! {
    /// Which operations are suspended for a host read.
    pub enum Pausable {
        /// None.
        None = "none",
        /// Erases.
        Erase = "erase",
        /// Erases and programs.
        ProgramAndErase = "program-and-erase",
    }
}

/// Which operations are suspended for a host read, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseRule {
    /// The kinds of operations.
    pub which: Pausable,
    /// How often one operation is suspended at most.
    pub times: u32,
    /// How many host reads are served each time at most.
    pub reads: u32,
}

impl PauseRule {
    /// No operation is ever suspended.
    pub const NEVER: PauseRule = PauseRule { which: Pausable::None, times: 0, reads: 0 };

    /// Whether the current operation of the cells may be suspended.
    pub(super) fn allows(&self, cells: Cells) -> bool {
        match cells {
            Cells::Erasing => self.which != Pausable::None,
            Cells::Programming => self.which == Pausable::ProgramAndErase,
            _ => false,
        }
    }
}

/// A suspended operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paused {
    /// The first of its commands.
    pub first: CommandId,
    /// What the cells do.
    pub cells: Cells,
    /// The time that it has left.
    pub left: Nanos,
    /// When it was suspended.
    pub since: SimTime,
    /// Host reads that were served since.
    pub served: u32,
}

/// The state of suspension of a die.
#[derive(Clone, Debug, Default)]
pub(super) struct Suspension {
    /// The suspended operation.
    pub paused: Option<Paused>,
    /// How often the operation in the cells was suspended.
    pub times: u32,
    /// Whether the die checks for host reads that came while data moved in, when the cells begin.
    pub looks_again: bool,
}

impl Suspension {
    /// The first command of the suspended operation.
    pub fn first(&self) -> Option<CommandId> {
        self.paused.as_ref().map(|paused| paused.first)
    }

    /// Whether the operation stays suspended for another host read.
    pub fn serves_reads(&self, rule: &PauseRule) -> bool {
        self.paused.as_ref().is_some_and(|paused| paused.served < rule.reads)
    }
}
