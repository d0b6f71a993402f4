//! The reads of superblocks without parity that the flash has, for erases that wait for them. A die serves the reads of a
//! block before its erase. A block that is not erased with its superblock gives its reads no such order: the erase waits.
//! Stripes count for themselves ([`parity`](crate::ftl::parity)), as they compute what is read.

use super::SuperblockState;
use crate::engine::skills;
use crate::ftl::{FlashContents, Kernel};
use crate::nand::Kind;
use crate::scheduler::{Command, CommandId, Origin, Probe};
use crate::shape::FlashGeometry;
use crate::units::BlockId;

#[derive(Clone, Debug)]
pub(super) struct ReadsUnderWay {
    /// By superblock.
    reads: Vec<u32>,
    /// Erases that wait.
    erases: Vec<(BlockId, CommandId)>,
}

impl ReadsUnderWay {
    pub(super) fn new(flash: &FlashGeometry) -> ReadsUnderWay {
        ReadsUnderWay { reads: vec![0; flash.volume().blocks() as usize], erases: Vec::new() }
    }
}

impl SuperblockState {
    /// Whether the erase of a superblock leaves some of its blocks out.
    fn spares_some(&self, block: BlockId) -> bool {
        let members = &self.members;
        members.any_lost() && members.live(block).count() < members.span().blocks() as usize
            || (0..members.span().blocks()).any(|member| members.is_failing(block, member))
    }
}

impl<P: Probe, C: FlashContents> Kernel<P, C> {
    /// Submits a command of a device with superblocks and without parity.
    #[inline(never)]
    pub(in crate::ftl) fn submit_to_superblock(&mut self, id: CommandId) {
        let &Command { kind, page, .. } = self.flash.command(id);
        let block = self.ftl.geometry.block_of(page);
        if let Some(state) = &mut self.ftl.features.superblock {
            match kind {
                Kind::Read => state.reads.reads[block.at()] += 1,
                Kind::Erase if state.reads.reads[block.at()] > 0 && state.spares_some(block) => {
                    return state.reads.erases.push((block, id));
                }
                Kind::Erase | Kind::Program | Kind::Copyback => {}
            }
        }
        match kind {
            Kind::Erase => self.erase_superblock(id),
            _ => self.flash.submit_with::<{ skills::ALL }>(self.now, id),
        }
    }

    /// A command is done on flash. If it was the last read of a superblock, the erase goes on that waited for it.
    pub(crate) fn read_of_superblock_ended(&mut self, id: CommandId) {
        let &Command { kind, page, origin, .. } = self.flash.command(id);
        let counts = kind == Kind::Read && origin != Origin::System;
        if !counts || self.ftl.features.stripes.is_some() {
            return;
        }
        let block = self.ftl.geometry.block_of(page);
        let Some(state) = &mut self.ftl.features.superblock else { return };
        state.reads.reads[block.at()] -= 1;
        if state.reads.reads[block.at()] > 0 {
            return;
        }
        let waiting = state.reads.erases.iter().position(|&(of, _)| of == block);
        if let Some(at) = waiting {
            let (_, erase) = state.reads.erases.swap_remove(at);
            self.erase_superblock(erase);
        }
    }
}
