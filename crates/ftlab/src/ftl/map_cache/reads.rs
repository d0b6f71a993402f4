//! Reads of translation pages, for entries and for updates.

use crate::engine::skills;
use crate::ftl::map_cache::waiting::Update;
use crate::ftl::map_cache::{MapCache, count};
use crate::ftl::mapping::dftl::Cause;
use crate::ftl::{FlashContents, Ftl, Kernel, ReadFor, lost};
use crate::scheduler::{Command, Kind, Origin, Owner, Probe};
use crate::units::{Lpn, Ppn, Tpn};

impl MapCache {
    /// Begins to read a translation page. Returns the number of reads: one, unless garbage
    /// collection has split it over several flash pages.
    pub(super) fn read_map(
        &self,
        of: Tpn,
        cause: Cause,
        owner: Owner,
        on: &mut Kernel<impl Probe, impl FlashContents>,
    ) -> u32 {
        let Some(pages) = on.ftl.map_on_flash().map(|map| map.pages_of(of)) else { return 0 };
        let (mut reads, mut open) = (0, None);
        for page in pages {
            let Some(at) = on.ftl.look_up(page) else { continue };
            if on.ftl.lost().is_at(at) && cause != Cause::Recovery {
                // Copied from a page that was unreadable.
                self.lose_entries(of, &mut on.ftl);
            }
            let flash_page = on.flash.geometry().flash_page_of(at);
            open = match open {
                Some((first, of_page, units)) if of_page == flash_page => {
                    Some((first, of_page, units + 1))
                }
                other => {
                    reads += u32::from(submit_read(other, cause, owner, on));
                    Some((at, flash_page, 1))
                }
            };
        }
        reads += u32::from(submit_read(open, cause, owner, on));
        count(&mut on.ftl, |counts| counts.reads[cause as usize] += u64::from(reads));
        reads
    }

    /// Handles a translation page that is wholly or partly unreadable. Its entries that are not in
    /// memory are lost with it: reads of those pages end as unreadable until the host writes the
    /// pages again. (A drive could find these pages by their spare areas.)
    #[cold]
    pub(super) fn lose_entries(&self, of: Tpn, ftl: &mut Ftl) {
        // Recovery knows all of them.
        let is_known = |update: &Update| update.cause == Cause::Recovery;
        if self.updates.get(&of).is_some_and(is_known) {
            return;
        }
        let entries = ftl.map_on_flash().map(|map| map.entries_of(of));
        for page in entries.into_iter().flatten().map(Lpn::new) {
            if !self.knows(page, ftl) && !self.comes_from_host(page) {
                lost::lose_page(page, ftl);
            }
        }
    }

    /// Counts a finished read of a translation page. Returns true if it was the last one.
    pub(super) fn map_read_done(&mut self, of: Tpn) -> bool {
        let Some(load) = self.map_reads.get_mut(&of) else { return false };
        load.reads -= 1;
        if load.reads > 0 {
            return false;
        }
        let fetches = std::mem::take(&mut load.fetches);
        self.map_reads.remove(&of);
        self.all_fetched(fetches);
        true
    }
}

/// Reads `units` units of a flash page, if `what` is given.
fn submit_read(
    what: Option<(Ppn, u32, u32)>,
    cause: Cause,
    owner: Owner,
    on: &mut Kernel<impl Probe, impl FlashContents>,
) -> bool {
    let Some((at, _, units)) = what else { return false };
    let origin = match cause {
        Cause::HostRead | Cause::RoomForRead => Origin::Host,
        Cause::WriteBack | Cause::RoomForWrite | Cause::Trim => Origin::ReadModifyWrite,
        Cause::Collection => Origin::Gc,
        Cause::Recovery => Origin::ReadModifyWrite,
    };
    let mut read = Command::new(Kind::Read, origin, owner, at);
    read.units = units;
    read.codewords = units * on.flash.bus().codewords_per_unit();
    let read = on.flash.prepare(read);
    if origin == Origin::Host {
        on.contents.foresee(read, at, ReadFor::Map);
    }
    on.submit::<{ skills::ALL }>(read);
    true
}
