//! Counts of the flash: commands done, how often dies did more than one thing at a time, and the costs of
//! reads and programs.

use super::command::{CellFindings, Command, Origin};
use crate::counters::counters;
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

counters! {
    /// How often dies did more than one thing at a time.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Overlaps {
        /// Commands that were served by another command's operation, on another plane.
        multi_plane: [u64; Kind::ALL.len()], unit "commands";
        /// Pages sensed while the previous page was in the register.
        cached_reads: u64, unit "commands", at "flash_overlaps/cached_reads";
        /// Pages loaded while the previous page was being programmed.
        cached_programs: u64, unit "commands", at "flash_overlaps/cached_programs";
        /// Programs suspended for host reads.
        program_pauses: u64, unit "pauses", at "flash_overlaps/suspended_programs";
        /// Erases suspended for host reads.
        erase_pauses: u64, unit "pauses", at "flash_overlaps/suspended_erases";
    }
}

/// Number of efforts that are told apart: those of the three classes, and more.
pub const EFFORTS: usize = CostClass::ALL.len() + 1;

counters! {
    /// Flash commands by cost; all zero if the timing knows no costs.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct CostCounts {
        /// Flash pages read, by origin and effort, the least first.
        reads: [[u64; EFFORTS]; Origin::ALL.len()], unit "flash pages";
        /// Flash pages programmed, by origin and class, the cheapest first.
        programs: [[u64; CostClass::ALL.len()]; Origin::ALL.len()], unit "flash pages";
        /// Host reads of data from before the run.
        prior_reads: u64, unit "flash pages";
        /// Read retries, of the host, collection and others: readings after the first. Each senses once more on the last
        /// level of the code.
        retries: u64, unit "readings", at "cost/retries";
        /// Flash pages that could not be read at all: their data is lost.
        unreadable: u64, unit "flash pages", at "cost/unreadable";
    }
}

impl CostCounts {
    /// Counts a command that is done, except what it does to cells that hold one bit.
    pub(super) fn count(&mut self, command: &Command) {
        let Command { kind, origin, found, mode, .. } = *command;
        let is_native = mode == CellMode::Native;
        if !is_native && kind != Kind::Copyback {
            return;
        }
        let CellFindings { effort, unreadable, failed, from_before, .. } = found;
        if is_native && matches!(kind, Kind::Read | Kind::Copyback) {
            self.reads[origin as usize][effort.at().min(EFFORTS - 1)] += 1;
            self.retries += effort.retries();
            // A dead die answers nothing: that is no matter of errors.
            self.unreadable += u64::from(unreadable && !failed);
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
