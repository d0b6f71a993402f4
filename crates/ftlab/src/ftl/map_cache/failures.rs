//! Translation pages when programs fail, and at the end of the device's life.
//!
//! A translation page whose program fails is programmed elsewhere, as any page. Until then the
//! whole page stays in memory.
//!
//! At the end of its life, a device programs no more translation pages: the room that its planes
//! kept in reserve is for data whose writes were acknowledged to the host. A translation page that
//! would be updated from then on, or that waited for a place, is read and *kept*: the whole page
//! stays in memory ([`Dftl::keep`](crate::ftl::mapping::Dftl::keep)) and changes only there.
//! Look-ups that waited for the update continue. So the entries of all acknowledged data are
//! found, on flash or in memory, and nothing waits for ever. A program under way is completed. Such
//! a device is not saved, because its map is not on flash. After a power cut, the spare areas show
//! the places of all pages.

use crate::ftl::gc::Collector;
use crate::ftl::map_cache::waiting::Queue;
use crate::ftl::map_cache::{MapCache, count};
use crate::ftl::{FlashContents, Ftl, Kernel, map_pages};
use crate::scheduler::{Command, CommandId, Kind, Probe};
use crate::units::Tpn;

impl MapCache {
    /// Programs a translation page elsewhere after its program failed.
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
        program.of_map = true;
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

    /// Keeps the translation pages that wait for a place in memory, because the device is at the
    /// end of its life.
    pub fn keep_stalled(&mut self, on: &mut Kernel<impl Probe, impl FlashContents>) {
        for pool in 0..self.stalled.by_pool.len() {
            while let Some((of, program)) = self.stalled.by_pool[pool].pop_front() {
                self.stalls(-1, &mut on.ftl);
                on.flash.release(program);
                self.keep_map(of, &mut on.ftl);
            }
        }
    }

    /// Keeps a translation page in memory whose contents are all there. The look-ups that waited
    /// for its update continue.
    #[cold]
    pub(super) fn keep_map(&mut self, of: Tpn, ftl: &mut Ftl) {
        if let Some(map) = map_pages::map_on_flash_mut(ftl) {
            map.keep(of);
            map.update_ended(of);
        }
        let Some(update) = self.updates.remove(&of) else { return };
        debug_assert_eq!(update.reads, 0, "the whole translation page is in memory");
        self.there_is_room(update.room);
        self.there_is_room(update.again.map_or_else(Queue::default, |(_, room)| room));
    }

    /// At the end of the device's life, keeps a translation page whose dirty entry was evicted, if
    /// no part of it is on flash and no update is under way. Then nothing has to be read, and no
    /// look-up has to wait. Returns whether the page is kept.
    pub(super) fn kept_at_once(&self, of: Tpn, ftl: &mut Ftl) -> bool {
        if !ftl.is_read_only()
            || map_pages::has_translation(of, ftl)
            || self.updates.contains_key(&of)
        {
            return false;
        }
        if let Some(map) = map_pages::map_on_flash_mut(ftl) {
            map.keep(of);
        }
        true
    }
}
