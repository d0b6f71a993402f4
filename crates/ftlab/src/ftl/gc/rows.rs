//! Rows of copies, for superblocks: copies whose pages are read wait for as many others as a multi-plane program of the
//! next die takes, so that they share it. None waits while nothing else is being read for its victim.

use super::collector::Collector;
use crate::engine::skills::ALL;
use crate::ftl::streams::WriteStream;
use crate::ftl::superblock::rows::left_in_row;
use crate::ftl::{FlashContents, Ftl, Kernel, room};
use crate::nand::Kind;
use crate::scheduler::{Command, CommandId, Probe};
use crate::units::{DieId, PlaneId};

/// The copies of a plane that are being read, or wait to be placed.
#[derive(Clone, Debug, Default)]
pub(super) struct CopyRow {
    /// Copies whose pages are being read.
    pub reading: u32,
    /// Copies that are read, in order, and their streams.
    read: Vec<(WriteStream, CommandId)>,
    /// Copies that are placed together.
    placed: Vec<CommandId>,
}

impl CopyRow {
    /// The stream whose copies are placed next, and how many its row takes: a stream with a whole row of copies, or any if
    /// nothing else is being read.
    fn next(&self, plane: PlaneId, ftl: &Ftl) -> Option<(WriteStream, usize)> {
        let ready = |&(stream, _): &(WriteStream, CommandId)| {
            let wanted = left_in_row(plane, stream, ftl) as usize;
            let have = self.read.iter().filter(|copy| copy.0 == stream).count();
            (have >= wanted || self.reading == 0).then_some((stream, wanted))
        };
        self.read.iter().find_map(ready)
    }
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
        let stream = room::stream_of_copy::<ALL>(self.source(copy, 0), &on.ftl);
        let row = &mut self.rows[plane.at()];
        row.reading -= 1;
        row.read.push((stream.expect("a copy has an owner"), copy));
        while let Some((stream, most)) = self.rows[plane.at()].next(plane, &on.ftl) {
            self.place_row(plane, stream, most, on);
        }
    }

    /// The pages of a copy could not be read, because their plane is dead. Forgets the copies that are read if nothing
    /// else is being read: their collection has ended.
    pub(super) fn lost_for_row(
        &mut self,
        plane: PlaneId,
        on: &mut Kernel<impl Probe, impl FlashContents>,
    ) {
        let Some(row) = self.rows.get_mut(plane.at()) else { return };
        row.reading -= 1;
        if row.reading == 0 {
            row.read.drain(..).for_each(|(_, copy)| on.flash.release(copy));
        }
    }

    /// Places the next copies of a stream, as many as its row takes, and submits them together.
    fn place_row(
        &mut self,
        plane: PlaneId,
        stream: WriteStream,
        most: usize,
        on: &mut Kernel<impl Probe, impl FlashContents>,
    ) {
        let mut left = most;
        let mut copies = std::mem::take(&mut self.rows[plane.at()].read);
        copies.retain(|&(of, copy)| {
            let goes = of == stream && left > 0;
            if goes {
                left -= 1;
                self.place_copy::<ALL>(plane, copy, on);
            }
            !goes
        });
        let row = &mut self.rows[plane.at()];
        row.read = copies;
        let mut placed = std::mem::take(&mut row.placed);
        match on.ftl.space.triggers.preemptible {
            true => placed.iter().for_each(|&copy| self.submit::<ALL>(plane, copy, on)),
            false => on.submit_row::<ALL>(&placed),
        }
        placed.clear();
        self.rows[plane.at()].placed = placed;
    }

    /// A copy of a superblock is placed. It is submitted with the others of its row.
    pub(super) fn put_in_row(&mut self, plane: PlaneId, copy: CommandId) {
        self.rows[plane.at()].placed.push(copy);
    }

    /// Submits a command that was held back. The other programs of its row go with it.
    #[cold]
    pub(super) fn let_row_go(
        &mut self,
        die: DieId,
        first: CommandId,
        on: &mut Kernel<impl Probe, impl FlashContents>,
    ) {
        let mut row = vec![first];
        let units = on.ftl.geometry.units_per_page();
        // A row is on one die: what follows on another may be behind the parity of this one.
        let die_of = |command: &Command| on.flash.geometry().die_of_page(command.page);
        let mut last = on.flash.command(first);
        while let Some(&(_, next)) = self.held[die.at()].front() {
            let command = on.flash.command(next);
            let beside = command.kind == Kind::Program
                && last.kind == Kind::Program
                && command.page.get() == last.page.get() + units
                && die_of(command) == die_of(last);
            if !beside {
                break;
            }
            self.held[die.at()].pop_front();
            row.push(next);
            last = command;
        }
        match row[..] {
            // The kernel makes one erase for each block of a superblock.
            [alone] => on.submit::<ALL>(alone),
            _ => on.submit_row::<ALL>(&row),
        }
    }
}
