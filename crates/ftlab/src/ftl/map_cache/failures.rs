//! Translation pages on flash that fails, and at the end of the device's life.
//!
//! A translation page whose program fails is programmed elsewhere, as any page; until then it is in memory as a whole.
//!
//! A device at its end programs no translation page any more: the room that planes kept back is for what the host
//! was told is written. What is to be rewritten from then on, and what waited for a place, is read and *kept*: it
//! stays in memory as a whole ([`Dftl::keep`](crate::ftl::mapping::Dftl::keep)), and everything that changes in it
//! changes there. Whoever waited for the rewrite goes on, so the entries of everything that was acknowledged are found,
//! on flash or in memory, and nothing stands still. A program that was under way is brought to an end. Such a device is
//! not saved, as its map is not on flash; after a power cut, the spare areas say what lies where.

use crate::ftl::gc::Collector;
use crate::ftl::map_cache::waiting::Queue;
use crate::ftl::map_cache::{MapCache, count};
use crate::ftl::{FlashContents, Ftl, Kernel, map_pages};
use crate::scheduler::{Command, CommandId, Kind, Probe};
use crate::units::Tpn;

impl MapCache {
    /// The program of a translation page failed: it is done again elsewhere.
    #[cold]
    pub(super) fn program_again(
        &mut self,
        of: Tpn,
        failed: CommandId,
        on: &mut Kernel<impl Probe, impl FlashContents>,
        gc: &mut Collector,
    ) {
        count(&mut on.ftl, |counts| counts.failed += 1);
        let failed = on.flash.command(failed);
        let Command { origin, owner, page, units, codewords, .. } = *failed;
        let mut program = Command::new(Kind::Program, origin, owner, page);
        program.set_cost(failed.cost());
        (program.units, program.codewords) = (units, codewords);
        match on.ftl.is_read_only() {
            true => self.keep_map(of, &mut on.ftl),
            false => {
                let program = on.flash.prepare(program);
                self.issue(of, program, on, gc);
            }
        }
    }

    /// The device has come to its end: translation pages that wait for a place are kept in memory.
    pub fn keep_stalled(&mut self, on: &mut Kernel<impl Probe, impl FlashContents>) {
        for pool in 0..self.stalled.by_pool.len() {
            while let Some((of, program)) = self.stalled.by_pool[pool].pop_front() {
                self.stalls(-1, &mut on.ftl);
                on.flash.release(program);
                self.keep_map(of, &mut on.ftl);
            }
        }
    }

    /// A translation page that is in memory as a whole stays there: whoever waited for its rewrite goes on.
    #[cold]
    pub(super) fn keep_map(&mut self, of: Tpn, ftl: &mut Ftl) {
        if let Some(map) = map_pages::map_on_flash_mut(ftl) {
            map.keep(of);
        }
        let Some(rewrite) = self.rewrites.remove(&of) else { return };
        debug_assert_eq!(rewrite.reads, 0, "it is in memory as a whole");
        self.there_is_room(rewrite.room);
        self.there_is_room(rewrite.again.map_or_else(Queue::default, |(_, room)| room));
    }

    /// On a device at its end: whether a translation page, of which an entry had to go that differs from flash, is kept
    /// without anybody having to wait, as there is nothing of it on flash to be read.
    pub(super) fn kept_at_once(&self, of: Tpn, ftl: &mut Ftl) -> bool {
        if !ftl.is_read_only()
            || map_pages::has_translation(of, ftl)
            || self.rewrites.contains_key(&of)
        {
            return false;
        }
        if let Some(map) = map_pages::map_on_flash_mut(ftl) {
            map.keep(of);
        }
        true
    }
}
