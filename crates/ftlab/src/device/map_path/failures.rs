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

use super::{CommandId, Contents, Device, Kind, Probe, Queue, Tpn};
use crate::engine::skills;
use crate::scheduler::Command;

impl<P: Probe, C: Contents> Device<P, C> {
    /// The program of a translation page failed: it is done again elsewhere.
    #[cold]
    pub(super) fn program_map_again(&mut self, of: Tpn, failed: CommandId) {
        self.count(|counts| counts.failed += 1);
        let failed = self.base.kernel.flash.command(failed);
        let Command { origin, task, page, units, codewords, .. } = *failed;
        let mut program = Command::new(Kind::Program, origin, task, page);
        program.set_cost(failed.cost());
        (program.units, program.codewords) = (units, codewords);
        match self.base.kernel.ftl.is_read_only() {
            true => self.keep_map(of),
            false => {
                let program = self.base.kernel.flash.prepare(program);
                self.issue_map(of, program);
            }
        }
        self.empty_failed::<{ skills::ALL }>();
        self.rewrite_what_is_due::<{ skills::ALL }>();
        self.begin_after_given_up();
    }

    /// Whether programs of translation pages wait for a place.
    pub(in crate::device) fn map_waits(&self) -> bool {
        self.base.services.translator.as_ref().is_some_and(|translator| translator.waiting > 0)
    }

    /// The device has come to its end: translation pages that wait for a place are kept in memory.
    pub(in crate::device) fn keep_stalled_map(&mut self) {
        if self.base.services.translator.is_none() {
            return;
        }
        for pool in 0..self.translator().stalled.len() {
            while let Some((of, waiting)) = self.translator().stalled[pool].pop_front() {
                self.map_stalls(-1);
                self.base.kernel.flash.release(waiting.program);
                self.keep_map(of);
            }
        }
        self.rewrite_what_is_due::<{ skills::ALL }>();
    }

    /// A translation page that is in memory as a whole stays there: whoever waited for its rewrite goes on.
    #[cold]
    pub(super) fn keep_map(&mut self, of: Tpn) {
        if let Some(map) = self.base.kernel.ftl.map_on_flash_mut() {
            map.keep(of);
        }
        let Some(rewrite) = self.translator().rewrites.remove(&of) else { return };
        debug_assert_eq!(rewrite.reads, 0, "it is in memory as a whole");
        self.there_is_room(rewrite.room);
        self.there_is_room(rewrite.again.map_or_else(Queue::default, |(_, room)| room));
    }

    /// On a device at its end: whether a translation page, of which an entry had to go that differs from flash, is kept
    /// without anybody having to wait, as there is nothing of it on flash to be read.
    pub(super) fn kept_at_once(&mut self, of: Tpn) -> bool {
        if !self.base.kernel.ftl.is_read_only() || self.base.kernel.ftl.has_translation(of) {
            return false;
        }
        if self.translator().rewrites.contains_key(&of) {
            return false;
        }
        if let Some(map) = self.base.kernel.ftl.map_on_flash_mut() {
            map.keep(of);
        }
        true
    }
}
