//! Suspending a program or an erase for host reads, and resuming it afterwards.
//!
//! An operation is suspended when a host read arrives for its die, if the rule allows it, if
//! suspending takes less time than the operation has left, and if it has not been suspended too often or for too long.
//! It resumes as soon as no host read waits for the die, or enough have been served. Reads that still
//! wait then wait for its end, unless another one arrives for which it may be suspended again.
//!
//! A die cannot be suspended while its register holds the next page to program, so with cache programs
//! this hardly ever happens.
//!
//! Source: Wu and He, "Reducing SSD Read Latency via NAND Flash Program and Erase Suspension", FAST
//! 2012. There an operation is suspended between two of its pulses or within one; here at any moment, or between two
//! pulses if the flash has any (`nand.suspend.program_pulse`), with fixed costs of suspending and resuming.

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

choices! {
    /// Whose operations are suspended for a host read.
    pub enum PausedFor {
        /// Those of everybody.
        Everybody = "everybody",
        /// The device's own: those of collection, wear levelling, folding, rewriting, the map and the system area, and all erases.
        Device = "device",
        /// Those of the host.
        Host = "host",
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
    /// Whose operations.
    pub of: PausedFor,
    /// For how long an operation may be held up, before no further read may hold it up. `None` for any time.
    pub longest: Option<Nanos>,
    /// The least time that an operation must have left.
    pub rest: Nanos,
}

impl PauseRule {
    /// No operation is ever suspended.
    pub const NEVER: PauseRule = PauseRule {
        which: Pausable::None,
        times: 0,
        reads: 0,
        of: PausedFor::Everybody,
        longest: None,
        rest: Nanos::ZERO,
    };

    /// Whether the current operation of the cells may be suspended.
    pub(super) fn allows(&self, cells: Cells) -> bool {
        match cells {
            Cells::Erasing => self.which != Pausable::None,
            Cells::Programming => self.which == Pausable::ProgramAndErase,
            _ => false,
        }
    }

    /// Whether operations may be suspended that serve only the device itself, or the host.
    pub(super) fn yields(&self, is_own: bool) -> bool {
        match self.of {
            PausedFor::Everybody => true,
            PausedFor::Device => is_own,
            PausedFor::Host => !is_own,
        }
    }

    /// Whether it is worth suspending an operation with so much time left. Suspending itself takes `cost`.
    pub(super) fn is_worth_it(&self, left: Nanos, cost: Nanos) -> bool {
        left > cost && left >= self.rest
    }

    /// Whether an operation that was held up for this long may be held up further.
    pub(super) fn has_time(&self, held: Nanos) -> bool {
        self.longest.is_none_or(|longest| held < longest)
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
    /// Whether it has been held up for so long that no further read may begin.
    pub is_over: bool,
}

/// The state of suspension of a die.
#[derive(Clone, Debug, Default)]
pub(super) struct Suspension {
    /// The suspended operation.
    pub paused: Option<Paused>,
    /// How often the operation in the cells was suspended.
    pub times: u32,
    /// For how long it was held up by suspensions that are over.
    pub held: Nanos,
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
        self.paused.as_ref().is_some_and(|paused| !paused.is_over && paused.served < rule.reads)
    }

    /// Notes a host read that used the suspension.
    pub fn serves(&mut self, now: SimTime, rule: &PauseRule) {
        if let Some(paused) = &mut self.paused {
            paused.served += 1;
        }
        self.looks_at_time(now, rule);
    }

    /// Ends the suspension for further reads if time is up. One read is served in any case.
    pub fn looks_at_time(&mut self, now: SimTime, rule: &PauseRule) {
        if let Some(paused) = &mut self.paused {
            let held = self.held + now.saturating_since(paused.since);
            paused.is_over |= paused.served > 0 && !rule.has_time(held);
        }
    }
}
