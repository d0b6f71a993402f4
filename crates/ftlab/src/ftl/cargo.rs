//! The contents of programs in flight: for each page of a flash page, where its data comes from.
//!
//! This is kept outside the commands because a command may carry one page or thirty-two, depending
//! on the geometry.

use crate::scheduler::CommandId;

/// A row of 32-bit numbers for each command in flight.
#[derive(Clone, Debug)]
pub struct Cargo {
    rows: Vec<u32>,
    width: usize,
}

impl Cargo {
    /// Rows with one entry for each mapping unit of a flash page.
    #[must_use]
    pub fn new(units_per_page: u32) -> Cargo {
        Cargo { rows: Vec::new(), width: units_per_page as usize }
    }

    /// The row of a command, to be filled.
    #[inline]
    pub fn row_mut(&mut self, id: CommandId) -> &mut [u32] {
        let start = id.at() * self.width;
        if self.rows.len() < start + self.width {
            self.rows.resize(start + self.width, 0);
        }
        &mut self.rows[start..start + self.width]
    }

    /// Gives command `to` the same row as command `from`.
    pub fn copy_row(&mut self, from: CommandId, to: CommandId) {
        self.row_mut(to);
        let start = from.at() * self.width;
        self.rows.copy_within(start..start + self.width, to.at() * self.width);
    }

    /// Entry `unit` of a command's row.
    #[inline]
    #[must_use]
    pub fn get(&self, id: CommandId, unit: u32) -> u32 {
        self.rows[id.at() * self.width + unit as usize]
    }
}
