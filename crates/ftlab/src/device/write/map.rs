//! Reads and write-backs that wait for entries of a map on flash, and how they continue.

use crate::cache::SlotId;
use crate::device::base::Base;
use crate::device::read::Gathering;
use crate::device::services::Services;
use crate::device::write::{Writes, end_of_life};
use crate::device::{Contents, Movement, Place, read};
use crate::engine::skills;
use crate::engine::skills::Skills;
use crate::ftl::map_cache::{Ready, Seeker};
use crate::host::HostRead;
use crate::scheduler::{CommandId, Probe, Spent};
use crate::units::{Lpn, Nanos, PageSpan, PlaneId, RequestId, SectorMask};

impl Writes {
    /// Looks up the entry of a page that is written back. Returns false if `program` has to wait for it.
    pub(in crate::device) fn finds_entry_of_write(
        &mut self,
        page: Lpn,
        program: CommandId,
        slot: SlotId,
        on: &mut Base<impl Probe, impl Contents>,
    ) -> bool {
        let finds = on.finds_entry(page, Seeker::WriteBack(program, slot.get()));
        if !finds {
            on.kernel.flash.command_mut(program).waits_for += 1;
            self.go_on_with_entries(on);
        }
        finds
    }

    /// Entries of the map have come from the host's memory.
    pub(in crate::device) fn entries_came(
        &mut self,
        what: HostRead,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        let Base { kernel, services: Services { map, collector, .. }, .. } = on;
        let Some(map) = map else { return };
        match what {
            HostRead::Entries(first, entries) => map.came_from_host(first, entries),
            HostRead::Changed(of, _) => map.changed_entries_came(of, kernel, collector),
        }
        self.go_on_with_entries(on);
        end_of_life::begin_after_given_up(self, on);
    }

    /// Updates the translation pages that collection, trims and writes have made stale.
    #[inline]
    pub(in crate::device) fn update_due_map_pages<const S: Skills>(
        &mut self,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        if skills::any(S, skills::RARE) && on.services.map.is_some() {
            on.update_map();
            self.go_on_with_entries(on);
        }
    }

    /// A plane has free pages again: places translation pages that are waiting for one.
    pub(in crate::device) fn retry_map(
        &mut self,
        plane: PlaneId,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        if on.services.map.is_some() {
            on.retry_map(plane);
            self.go_on_with_entries(on);
        }
    }

    /// The device has reached its end: keeps translation pages that wait for a place in memory.
    pub(in crate::device) fn keep_stalled_map(&mut self, on: &mut Base<impl Probe, impl Contents>) {
        if let Some(map) = &mut on.services.map {
            map.keep_stalled(&mut on.kernel);
            self.go_on_with_entries(on);
        }
        self.update_due_map_pages::<{ skills::ALL }>(on);
    }

    /// Continues the reads and write-backs whose entries are in memory now.
    pub(in crate::device) fn go_on_with_entries(
        &mut self,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        let mut gathering = None;
        while let Some(ready) = on.next_with_entry() {
            match ready {
                Ready::Seeker { page, who: Seeker::Read(id, sectors), waited } => {
                    on.go_on_reading(id, PageSpan { page, sectors }, waited, &mut gathering);
                }
                Ready::Seeker { who: Seeker::WriteBack(program, slot), waited, .. } => {
                    on.end_gathering(&mut gathering);
                    let slot = SlotId::new(slot);
                    on.read_old_copy::<{ skills::ALL }>(slot, program, waited);
                    let spent = Spent::on_translation(waited);
                    self.input_came::<{ skills::ALL }>(program, spent, on);
                }
                Ready::EndOfPage => on.end_gathering(&mut gathering),
            }
        }
        on.end_gathering(&mut gathering);
    }
}

impl<P: Probe, C: Contents> Base<P, C> {
    /// Looks up the entry of a page that is read. Returns false if the request has to wait for it.
    pub(in crate::device) fn finds_entry_of_read(
        &mut self,
        id: RequestId,
        page: Lpn,
        sectors: SectorMask,
    ) -> bool {
        let finds = self.finds_entry(page, Seeker::Read(id, sectors));
        if !finds {
            self.desk.intake.wait_for_one(id);
        }
        finds
    }

    fn end_gathering(&mut self, open: &mut Option<(RequestId, Gathering)>) {
        if let Some((_, Gathering { command, .. })) = open.take() {
            self.kernel.submit::<{ skills::ALL }>(command);
        }
    }

    /// The entry of a page, for which a read has `waited`, is in memory. Pages of one request that
    /// lie on one flash page are read together, as without waiting.
    fn go_on_reading(
        &mut self,
        id: RequestId,
        wanted: PageSpan,
        waited: Nanos,
        open: &mut Option<(RequestId, Gathering)>,
    ) {
        let PageSpan { page, sectors } = wanted;
        let Some(at) = self.kernel.ftl.look_up_for_host::<{ skills::ALL }>(page) else {
            return self.settle::<{ skills::ALL }>(id, &Spent::on_translation(waited));
        };
        // Another read may have cached the page meanwhile.
        if self.reads.cache.is_on()
            && let Some(place) = self.reads.cache.read(page)
        {
            let (from, to) = (Place::ReadCache(place), Place::Read(id));
            self.kernel.contents.copy(&Movement { from, to, page, sectors });
            return self.settle::<{ skills::ALL }>(id, &Spent::on_translation(waited));
        }
        if self.kernel.ftl.regulation().is_some() {
            self.note_flash_read(page, sectors);
        }
        if open.as_ref().is_some_and(|(of, _)| *of != id) {
            self.end_gathering(open);
        }
        let mut gathering = open.take().map(|(_, gathering)| gathering);
        read::read_from::<{ skills::ALL }>(id, at, wanted, &mut gathering, self);
        if let Some(gathering) = gathering {
            self.kernel.flash.command_mut(gathering.command).spent.translation = waited;
            *open = Some((id, gathering));
        }
        let last = self.desk.intake.settle(id);
        debug_assert!(!last, "it waits for what it reads");
    }
}
