//! Counts of the flash: commands done, how often dies did more than one thing at a time, and the costs of
//! reads and programs.

use super::command::{CellFindings, Command, Origin};
use crate::nand::{CellMode, CostClass, Kind};

/// Commands done, by origin and kind.
pub type CommandCounts = [[u64; Kind::ALL.len()]; Origin::ALL.len()];

/// Number of flash pages programmed, for any purpose.
#[must_use]
pub fn flash_pages_programmed(done: &CommandCounts) -> u64 {
    let of = |kinds: &[u64; Kind::ALL.len()]| -> u64 {
        Kind::ALL.iter().filter(|kind| kind.programs()).map(|&kind| kinds[kind as usize]).sum()
    };
    done.iter().map(of).sum()
}

/// How often dies did more than one thing at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overlaps {
    /// Commands that were served by another command's operation, on another plane.
    pub multi_plane: [u64; Kind::ALL.len()],
    /// Pages sensed while the previous page was in the register.
    pub cached_reads: u64,
    /// Pages loaded while the previous page was being programmed.
    pub cached_programs: u64,
    /// Programs suspended for host reads.
    pub program_pauses: u64,
    /// Erases suspended for host reads.
    pub erase_pauses: u64,
}

/// Number of efforts that are told apart: those of the three classes, and more.
pub const EFFORTS: usize = CostClass::ALL.len() + 1;

/// Flash commands by cost; all zero if the timing knows no costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CostCounts {
    /// Flash pages read, by origin and effort, the least first.
    pub reads: [[u64; EFFORTS]; Origin::ALL.len()],
    /// Flash pages programmed, by origin and class, the cheapest first.
    pub programs: [[u64; CostClass::ALL.len()]; Origin::ALL.len()],
    /// Host reads of data from before the run.
    pub prior_reads: u64,
    /// Read retries: readings after the first. Each senses once more on the last level of the code.
    pub retries: u64,
    /// Flash pages that could not be read at all.
    pub unreadable: u64,
}

impl CostCounts {
    /// Combines two counts number by number.
    #[must_use]
    pub fn zip(&self, other: &CostCounts, f: fn(u64, u64) -> u64) -> CostCounts {
        let mut both = *self;
        let rows = both.reads.iter_mut().flatten().zip(other.reads.iter().flatten());
        rows.for_each(|(one, other)| *one = f(*one, *other));
        let rows = both.programs.iter_mut().flatten().zip(other.programs.iter().flatten());
        rows.for_each(|(one, other)| *one = f(*one, *other));
        CostCounts {
            prior_reads: f(self.prior_reads, other.prior_reads),
            retries: f(self.retries, other.retries),
            unreadable: f(self.unreadable, other.unreadable),
            ..both
        }
    }

    /// Counts a command that is done, unless its cells hold one bit.
    pub(super) fn count(&mut self, command: &Command) {
        if command.mode != CellMode::Native {
            return;
        }
        let Command { kind, origin, found, .. } = *command;
        let CellFindings { effort, unreadable, from_before, .. } = found;
        if matches!(kind, Kind::Read | Kind::Copyback) {
            self.reads[origin as usize][effort.at().min(EFFORTS - 1)] += 1;
            self.retries += effort.retries();
            self.unreadable += u64::from(unreadable);
        }
        match kind {
            Kind::Read => self.prior_reads += u64::from(origin == Origin::Host && from_before),
            Kind::Program | Kind::Copyback => {
                self.programs[origin as usize][command.class() as usize] += 1;
            }
            Kind::Erase => {}
        }
    }
}
