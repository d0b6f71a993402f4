//! The blocks of the system area: where its next page goes. Blocks are filled in turn over the dies, without those
//! that are known to be dead.

use super::SystemCommand;
use crate::ftl::Kernel;
use crate::nand::Kind;
use crate::scheduler::{Command, Origin, Probe, ServiceId};
use crate::units::DieId;

/// The place of the next page: by die, how far its block is filled.
#[derive(Clone, Debug)]
pub(super) struct Area {
    filled: Vec<u32>,
    turn: u32,
}

impl Area {
    /// An empty area.
    pub(super) fn new(dies: u32) -> Area {
        Area { filled: vec![0; dies as usize], turn: 0 }
    }

    /// The open blocks are not filled any further.
    pub(super) fn close_blocks(&mut self, pages_per_block: u32) {
        self.filled.fill(pages_per_block);
    }

    /// Programs the next page of the system area. If all dies are dead, the program fails.
    pub(super) fn program<P: Probe, C>(&mut self, what: SystemCommand, on: &mut Kernel<P, C>) {
        let die = self.next_die(on);
        let flash = &mut on.flash;
        let geometry = flash.geometry();
        let filled = &mut self.filled[die.at()];
        let is_full = *filled == geometry.shape().pages_per_block;
        let number = if is_full { 0 } else { *filled };
        *filled = number + 1;
        let block = geometry.block_in(geometry.plane_in(die, 0), 0);
        let page = geometry.page_at(block, number * geometry.units_per_page());
        let owner = |what: SystemCommand| ServiceId::JOURNAL.owner(what as u32);
        if is_full {
            let erase =
                Command::new(Kind::Erase, Origin::System, owner(SystemCommand::Nothing), page);
            let erase = flash.prepare(erase);
            flash.submit(on.now, erase);
        }
        let mut program = Command::new(Kind::Program, Origin::System, owner(what), page);
        program.codewords = flash.bus().page_codewords();
        let program = flash.prepare(program);
        flash.submit(on.now, program);
    }

    /// A program failed because its die is dead: programs its page on another die. Returns false if none is left.
    pub(super) fn program_elsewhere<P: Probe, C>(
        &mut self,
        what: SystemCommand,
        on: &mut Kernel<P, C>,
    ) -> bool {
        let dies = on.flash.geometry().dies();
        let is_left = on.ftl.dead_dies_on_flash().len() < dies as usize;
        if is_left {
            self.program(what, on);
        }
        is_left
    }

    /// The die whose turn it is.
    fn next_die<P: Probe, C>(&mut self, on: &Kernel<P, C>) -> DieId {
        let geometry = on.flash.geometry();
        let turns = (0..geometry.dies()).map(|more| (self.turn + more) % geometry.dies());
        let alive = |turn: &u32| !on.ftl.is_known_dead(geometry.die_at_turn(*turn));
        let turn = turns.clone().find(alive).unwrap_or(self.turn);
        self.turn = (turn + 1) % geometry.dies();
        geometry.die_at_turn(turn)
    }
}
