//! What the flash counts: commands done, how often dies did more than one thing at a time, and what reads and
//! programs cost.

use super::command::{CellFindings, Command, Origin};
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

/// How often the dies did more than one thing at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overlaps {
    /// Commands that were served by an operation of another command, on another plane.
    pub multi_plane: [u64; Kind::ALL.len()],
    /// Pages sensed while the page before was in the register.
    pub cached_reads: u64,
    /// Pages taken in while the page before was programmed.
    pub cached_programs: u64,
    /// Programs left for host reads.
    pub program_pauses: u64,
    /// Erases left for host reads.
    pub erase_pauses: u64,
}

/// Efforts that are told apart: those of the three classes, and more.
pub const EFFORTS: usize = CostClass::ALL.len() + 1;

/// Flash commands by cost; nothing where timing knows no costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CostCounts {
    /// Flash pages read, by origin and effort, the least first.
    pub reads: [[u64; EFFORTS]; Origin::ALL.len()],
    /// Flash pages programmed, by origin and class, the cheapest first.
    pub programs: [[u64; CostClass::ALL.len()]; Origin::ALL.len()],
    /// Of the reads of the host, those of data from before.
    pub prior_reads: u64,
    /// Readings past the first that it took: each senses once more on the last level of the code.
    pub retries: u64,
    /// Flash pages that nothing read any more.
    pub unreadable: u64,
}

impl CostCounts {
    /// Both, number by number.
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

    /// A command is done. Cells that hold one bit cost what they cost.
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
