//! The erase of a superblock: one for each of its blocks, all at once. It is done when the last of them is. Blocks that
//! are bad, or become so, and those of dead dies are spared.

use super::{Erasing, SuperblockState};
use crate::engine::skills;
use crate::ftl::{FlashContents, Kernel};
use crate::scheduler::{Command, CommandId, Probe, ServiceId};
use crate::units::{BlockId, Ppn};

impl SuperblockState {
    /// The first pages of the blocks that are erased with a superblock. If all its dies are dead, all are tried, so that
    /// the erase fails. If all are spared, one is tried, so that the erase ends like any other. Bad blocks never are: what
    /// they hold is older.
    fn to_erase(&self, block: BlockId) -> Vec<Ppn> {
        let members = &self.members;
        let is_spared =
            |member: u32| members.is_lost(block, member) || members.is_failing(block, member);
        let is_gone = members.is_gone(block);
        let first = members.flash().member(block, 0);
        let all = || {
            let all = members.flash().first_pages(block).zip(0..);
            all.filter(|(_, member)| !members.bad_of(block).contains(member))
        };
        let erased = all().filter(|&(_, member)| is_gone || !is_spared(member));
        let erased: Vec<Ppn> = erased.map(|(first, _)| first).collect();
        match (erased.is_empty(), all().next()) {
            (false, _) => erased,
            (true, Some((tried, _))) => vec![tried],
            (true, None) => vec![members.flash().page_at(first, 0)],
        }
    }
}

impl<P: Probe, C: FlashContents> Kernel<P, C> {
    /// Submits the erases of the blocks of a superblock. Those of a die may share a multi-plane erase.
    #[inline(never)]
    pub(in crate::ftl) fn erase_superblock(&mut self, id: CommandId) {
        let &Command { kind, origin, page, mode, .. } = self.flash.command(id);
        let block = self.ftl.geometry.block_of(page);
        let Some(state) = &self.ftl.features.superblock else { return };
        let firsts = state.to_erase(block);
        let owner = ServiceId::SUPERBLOCKS.owner(id.get());
        let parts: Vec<CommandId> = firsts
            .into_iter()
            .map(|first| {
                let mut part = Command::new(kind, origin, owner, first);
                part.mode = mode;
                self.flash.prepare(part)
            })
            .collect();
        let all = parts.len() as u32;
        self.flash.command_mut(id).waits_for = all;
        if let Some(state) = &mut self.ftl.features.superblock {
            state.erasing.insert(id.get(), Erasing { all, done: 0 });
        }
        self.flash.submit_row::<{ skills::ALL }>(self.now, &parts);
    }

    /// A block of a superblock was erased. Returns the erase of the superblock if it was the last one.
    pub(crate) fn block_erased(&mut self, part: CommandId) -> Option<CommandId> {
        let &Command { owner, page, spent, found, .. } = self.flash.command(part);
        let id = CommandId::new(owner.token);
        let die = self.flash.die_of(part);
        let state = self.ftl.features.superblock.as_deref_mut()?;
        let (block, member) =
            state.members.flash().superblock_of(state.members.flash().block_of(page));
        // A dead die costs the superblock nothing more than it has lost with it, unless all its dies are dead.
        let whole = self.flash.command_mut(id);
        match (found.failed, state.members.is_dead(die)) {
            (true, true) => whole.found.failed |= state.members.is_gone(block),
            (true, false) => state.members.fails(block, member),
            (false, _) => {}
        }
        whole.waits_for -= 1;
        let erasing = state.erasing.entry(id.get()).or_default();
        erasing.done += 1;
        if whole.waits_for > 0 {
            return None;
        }
        whole.spent.add(&spent);
        let width = u64::from(state.members.span().blocks());
        state.untold.spared += width - u64::from(erasing.done);
        state.erasing.remove(&id.get());
        // Not before: if power is cut while the erase waits for its dies, all that the superblock holds is still there.
        // Pages that are mapped to dead dies stay so.
        if let (false, Some(stripes)) = (whole.found.failed, &mut self.ftl.features.stripes) {
            stripes.forget(block);
            self.ftl.features.record.iter_mut().for_each(|record| record.touch_block(block));
        }
        Some(id)
    }
}
