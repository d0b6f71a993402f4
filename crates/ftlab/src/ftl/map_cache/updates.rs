//! Updates of translation pages.

use crate::engine::{Handle, skills};
use crate::ftl::gc::Collector;
use crate::ftl::map_cache::waiting::{Fetch, Queue, Update};
use crate::ftl::map_cache::{MapCache, MapCommand, count};
use crate::ftl::mapping::dftl::Cause;
use crate::ftl::wear::failing;
use crate::ftl::{FlashContents, Kernel, map_pages};
use crate::scheduler::{CellFindings, Command, CommandId, Kind, Probe};
use crate::units::Tpn;

/// The effect of a finished command of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// The update waits for more commands.
    Waits,
    /// The old copy is in memory.
    Read,
    /// The new copy is on flash.
    Written,
    /// Programming the new copy failed; it is programmed elsewhere.
    Failed,
}

impl MapCache {
    /// Requests the update of a translation page. `room_for` is the fetch whose entry replaces an
    /// entry of that page, if there is one.
    pub(super) fn update(
        &mut self,
        of: Tpn,
        cause: Cause,
        room_for: Option<Handle<Fetch>>,
        on: &mut Kernel<impl Probe, impl FlashContents>,
        gc: &mut Collector,
    ) {
        let MapCache { fetches, updates, .. } = self;
        if let Some(update) = updates.get_mut(&of) {
            let (_, room) = update.again.get_or_insert_with(|| (cause, Queue::default()));
            if let Some(fetch) = room_for {
                MapCache::push(fetches, room, fetch);
            }
            return;
        }
        let mut room = Queue::default();
        if let Some(fetch) = room_for {
            MapCache::push(fetches, &mut room, fetch);
        }
        self.begin_update(of, cause, room, on, gc);
    }

    fn begin_update(
        &mut self,
        of: Tpn,
        cause: Cause,
        room: Queue<Fetch>,
        on: &mut Kernel<impl Probe, impl FlashContents>,
        gc: &mut Collector,
    ) {
        let map = map_pages::map_on_flash_mut(&mut on.ftl);
        let with_host = map.map_or(0, |map| map.update(of));
        let mut reads = self.read_map(of, cause, MapCommand::Update(of).owner(), on);
        if with_host > 0 {
            self.host_reads.push_back((of, with_host));
            reads += 1;
        }
        let content = Queue::default();
        self.updates.insert(of, Update { cause, reads, content, room, again: None });
        if reads == 0 {
            self.program_map(of, on, gc);
        }
    }

    /// Handles a finished read or program of an update.
    pub(super) fn command_done(
        &mut self,
        of: Tpn,
        id: CommandId,
        on: &mut Kernel<impl Probe, impl FlashContents>,
        gc: &mut Collector,
    ) -> Progress {
        let Command { kind, page: first, found: CellFindings { failed, .. }, .. } =
            *on.flash.command(id);
        if kind != Kind::Program {
            return match self.input_came(of, on, gc) {
                true => Progress::Read,
                false => Progress::Waits,
            };
        }
        if failing::program_fails::<{ skills::ALL }>(first, failed, &mut on.contents, &mut on.ftl) {
            self.program_again(of, id, on, gc);
            return Progress::Failed;
        }
        let Some(update) = self.updates.remove(&of) else { return Progress::Waits };
        map_pages::commit_translation(of, first, &mut on.ftl);
        count(&mut on.ftl, |counts| counts.programs[update.cause as usize] += 1);
        if let Some((cause, room)) = update.again {
            self.begin_update(of, cause, room, on, gc);
        }
        self.there_is_room(update.room);
        Progress::Written
    }

    /// The entries of a translation page that an update reads from the host's memory have come.
    pub fn changed_entries_came(
        &mut self,
        of: Tpn,
        on: &mut Kernel<impl Probe, impl FlashContents>,
        gc: &mut Collector,
    ) {
        self.input_came(of, on, gc);
    }

    /// A read of an update is done. After the last one the whole translation page is in memory, and is programmed. Returns
    /// whether that was it.
    fn input_came(
        &mut self,
        of: Tpn,
        on: &mut Kernel<impl Probe, impl FlashContents>,
        gc: &mut Collector,
    ) -> bool {
        let Some(update) = self.updates.get_mut(&of) else { return false };
        update.reads -= 1;
        if update.reads > 0 {
            return false;
        }
        let content = std::mem::take(&mut update.content);
        self.program_map(of, on, gc);
        self.all_fetched(content);
        true
    }

    /// Updates the translation pages that garbage collection, trims and writes made stale.
    pub fn update_due(
        &mut self,
        on: &mut Kernel<impl Probe, impl FlashContents>,
        gc: &mut Collector,
    ) {
        while let Some((of, cause)) =
            map_pages::map_on_flash_mut(&mut on.ftl).and_then(|map| map.next_due())
        {
            self.update(of, cause, None, on, gc);
        }
    }
}
