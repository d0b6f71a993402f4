//! Rows of copies, for superblocks: copies whose pages are read wait for as many others as a multi-plane program of the
//! next die takes, so that they share it. None waits while nothing else is being read for its victim.

use super::collector::Collector;
use crate::engine::skills::ALL;
use crate::ftl::superblock::rows::left_in_row;
use crate::ftl::{FlashContents, Kernel, room};
use crate::scheduler::{CommandId, Probe};
use crate::units::PlaneId;

/// The copies of a plane that are being read, or wait to be placed.
#[derive(Clone, Debug, Default)]
pub(super) struct CopyRow {
    /// Copies whose pages are being read.
    pub reading: u32,
    /// Copies that are read, in order.
    read: Vec<CommandId>,
    /// Copies that are placed together.
    placed: Vec<CommandId>,
}

impl Collector {
    /// A copy of a superblock is read. Places what fills a row, or all if nothing else is being read.
    #[inline(never)]
    pub(super) fn join_row(
        &mut self,
        plane: PlaneId,
        copy: CommandId,
        on: &mut Kernel<impl Probe, impl FlashContents>,
    ) {
        let row = &mut self.rows[plane.at()];
        row.reading -= 1;
        row.read.push(copy);
        loop {
            let row = &self.rows[plane.at()];
            let Some(&first) = row.read.first() else { break };
            let stream = room::stream_of_copy::<ALL>(self.source(first, 0), &on.ftl);
            let Some(stream) = stream else { break };
            let wanted = left_in_row(plane, stream, &on.ftl) as usize;
            if row.read.len() < wanted && row.reading > 0 {
                break;
            }
            self.place_row(plane, wanted, on);
        }
    }

    /// Places the next copies of a plane, as many as its row takes, and submits them together.
    fn place_row(
        &mut self,
        plane: PlaneId,
        most: usize,
        on: &mut Kernel<impl Probe, impl FlashContents>,
    ) {
        let mut copies = std::mem::take(&mut self.rows[plane.at()].read);
        let count = copies.len().min(most);
        for copy in copies.drain(..count) {
            self.place_copy::<ALL>(plane, copy, on);
        }
        let row = &mut self.rows[plane.at()];
        row.read = copies;
        let mut placed = std::mem::take(&mut row.placed);
        on.flash.submit_row::<ALL>(on.now, &placed);
        placed.clear();
        self.rows[plane.at()].placed = placed;
    }

    /// A copy of a superblock is placed. It is submitted with the others of its row.
    pub(super) fn put_in_row(&mut self, plane: PlaneId, copy: CommandId) {
        self.rows[plane.at()].placed.push(copy);
    }
}
