//! The erase of a superblock: one for each of its blocks, all at once. It is done when the last of them is.

use super::SuperblockState;
use crate::engine::skills;
use crate::ftl::{FlashContents, Kernel};
use crate::scheduler::{Command, CommandId, Kind, Probe, ServiceId};

impl<P: Probe, C: FlashContents> Kernel<P, C> {
    /// Submits the erases of the blocks of a superblock. Those of a die may share a multi-plane erase.
    #[inline(never)]
    pub(in crate::ftl) fn erase_superblock(&mut self, id: CommandId) {
        let &Command { origin, page, mode, .. } = self.flash.command(id);
        let Some(state) = &self.ftl.features.superblock else { return };
        let blocks = state.flash.blocks_of_superblock(self.ftl.geometry.block_of(page));
        let firsts: Vec<_> = blocks.map(|block| state.flash.page_at(block, 0)).collect();
        let owner = ServiceId::SUPERBLOCKS.owner(id.get());
        let parts: Vec<CommandId> = firsts
            .into_iter()
            .map(|first| {
                let mut part = Command::new(Kind::Erase, origin, owner, first);
                part.mode = mode;
                self.flash.prepare(part)
            })
            .collect();
        self.flash.command_mut(id).waits_for = parts.len() as u32;
        self.flash.submit_row::<{ skills::ALL }>(self.now, &parts);
    }

    /// A block of a superblock was erased. Returns the erase of the superblock if it was the last one.
    pub(crate) fn block_erased(&mut self, part: CommandId) -> Option<CommandId> {
        let &Command { owner, spent, .. } = self.flash.command(part);
        let id = CommandId::new(owner.token);
        let whole = self.flash.command_mut(id);
        whole.waits_for -= 1;
        let is_done = whole.waits_for == 0;
        if is_done {
            whole.spent.add(&spent);
        }
        let SuperblockState { erasing, .. } = self.ftl.features.superblock.as_deref_mut()?;
        match is_done {
            true => drop(erasing.remove(&id.get())),
            false => *erasing.entry(id.get()).or_default() += 1,
        }
        is_done.then_some(id)
    }
}
