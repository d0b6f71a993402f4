//! What the flash counts: commands done, how often dies did more than one thing at a time, and what reads and
//! programs cost.

use super::command::{Command, Found, Origin};
use crate::counters::counters;
use crate::nand::{CellMode, CostClass, Kind};

/// Commands done, by origin and kind.
pub type CommandCounts = [[u64; Kind::ALL.len()]; Origin::ALL.len()];

/// Flash pages programmed, whoever asked for it.
#[must_use]
pub fn flash_pages_programmed(done: &CommandCounts) -> u64 {
    let of = |kinds: &[u64; Kind::ALL.len()]| -> u64 {
        Kind::ALL.iter().filter(|kind| kind.programs()).map(|&kind| kinds[kind as usize]).sum()
    };
    done.iter().map(of).sum()
}

counters! {
    /// How often the dies did more than one thing at a time, in flash commands.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Overlaps {
        /// Commands that were served by an operation of another command, on another plane.
        multi_plane: [u64; Kind::ALL.len()], unit "commands";
        /// Reads that were sensed while the page before was sent.
        cached_reads: u64, unit "commands", at "flash_overlaps/cached_reads";
        /// Programs whose data came while the page before was programmed.
        cached_programs: u64, unit "commands", at "flash_overlaps/cached_programs";
        /// Times that a program was left for a host read.
        program_pauses: u64, unit "pauses", at "flash_overlaps/suspended_programs";
        /// Times that an erase was left for a host read.
        erase_pauses: u64, unit "pauses", at "flash_overlaps/suspended_erases";
    }
}

/// Efforts that are told apart: those of the three classes, and more.
pub const EFFORTS: usize = CostClass::ALL.len() + 1;

counters! {
    /// Flash commands by cost; nothing where timing knows no costs.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct CostCounts {
        /// Flash pages read, by origin and effort, the least first.
        reads: [[u64; EFFORTS]; Origin::ALL.len()], unit "flash pages";
        /// Flash pages programmed, by origin and class, the cheapest first.
        programs: [[u64; CostClass::ALL.len()]; Origin::ALL.len()], unit "flash pages";
        /// Of the reads of the host, those of data from before.
        prior_reads: u64, unit "flash pages";
        /// Readings past the first, on the last level of the code, of all reads: of the host, of collection and others.
        retries: u64, unit "readings", at "cost/retries";
        /// Flash pages of which nothing read the data any more: it is lost.
        unreadable: u64, unit "flash pages", at "cost/unreadable";
    }
}

impl CostCounts {
    /// A command is done. Cells that hold one bit cost what they cost.
    pub(super) fn count(&mut self, command: &Command) {
        if command.mode != CellMode::Native {
            return;
        }
        let Command { kind, origin, found, .. } = *command;
        let Found { effort, unreadable, from_before, .. } = found;
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
