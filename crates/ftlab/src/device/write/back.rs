//! Write-back: pages that may share a flash page become one program, after the reads that their missing sectors need.

use super::{Writes, cycle};
use crate::cache::{Beside, Eviction, Page, SlotId};
use crate::device::base::Base;
use crate::device::{Contents, Movement, Place};
use crate::engine::skills::{self, RARE, ROWS, Skills, UNITS, any};
use crate::ftl::streams::{StreamsPolicy, WriteStream};
use crate::ftl::{Fragment, Fragments};
use crate::scheduler::{Command, CommandId, Kind, Origin, Probe, ServiceId};
use crate::units::{Lpn, Nanos, Ppn, SectorMask};

/// How many pages of the buffer are searched for one of the same stream.
const COMPANIONS: usize = 64;

/// How many write-backs lie between the two prefetch steps of a page.
const PREFETCH_DISTANCE: usize = 16;

impl Writes {
    /// Begins every write-back that is due.
    pub(in crate::device) fn write_back<const S: Skills>(
        &mut self,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        loop {
            if any(S, RARE)
                && let Some(gate) = self.cycles.gate()
            {
                cycle::write_back_by_planes(gate, self, on);
            } else {
                self.write_back_pages::<S>(on);
            }
            if !on.buffer.queue.made_room() {
                return;
            }
            self.admit_waiting::<S>(on);
        }
    }

    /// Begins every write-back that is due, in the order of the policy.
    #[inline(always)]
    fn write_back_pages<const S: Skills>(&mut self, on: &mut Base<impl Probe, impl Contents>) {
        while let Some(first) = on.buffer.due(&on.kernel.ftl) {
            match first {
                Eviction::Page(slot) if any(S, RARE) && on.is_clean(slot) => on.drop_clean(slot),
                // The remaining room is for data that exists nowhere else.
                Eviction::Pad(_) if any(S, RARE) && on.kernel.ftl.is_read_only() => {}
                _ if any(S, ROWS) && on.buffer.rules.row > 1 => self.begin_row::<S>(first, on),
                _ => self.begin_write_back::<S>(first, on),
            }
        }
    }

    /// Writes back `first` and pages that may share its flash page. The program starts after the
    /// reads that partial pages need.
    pub(in crate::device) fn begin_write_back<const S: Skills>(
        &mut self,
        first: Eviction,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        let program = self.fill_program::<S>(first, None, on);
        if on.kernel.flash.command(program).waits_for == 0 {
            self.issue::<S>(program, on);
        }
    }

    /// Prepares the program of `first` and pages that may share its flash page, and reads their missing sectors. The
    /// `leader` of the row waits for these reads, or the program itself if there is no leader.
    #[inline(always)]
    pub(in crate::device) fn fill_program<const S: Skills>(
        &mut self,
        first: Eviction,
        leader: Option<CommandId>,
        on: &mut Base<impl Probe, impl Contents>,
    ) -> CommandId {
        let owner = ServiceId::WRITES.owner(0);
        let codewords = on.kernel.flash.bus().page_codewords();
        let program = on.kernel.flash.prepare_with(|| {
            Command::new(Kind::Program, Origin::Host, owner, Ppn::new(0)).carrying(0, codewords)
        });
        on.buffer.under_way.program_begun();
        self.add_companions::<S>(first, on);
        let units = self.batch.len() as u32;
        on.kernel.flash.command_mut(program).units = units;
        for (unit, slot) in self.batch.iter().enumerate() {
            self.loads.row_mut(program)[unit] = slot.get();
        }
        if any(S, RARE) && on.kernel.ftl.regulation().is_some() {
            self.regulate(program, on);
        }
        for unit in 0..units {
            let slot = self.batch[unit as usize];
            let waits = leader.unwrap_or(program);
            let page = on.buffer.page(slot).page;
            if !any(S, RARE)
                || on.services.map.is_none()
                || self.finds_entry_of_write(page, waits, slot, on)
            {
                on.read_old_copy::<S>(slot, waits, Nanos::ZERO);
            }
        }
        program
    }

    /// Fills the batch with `first` and its companions, and begins the write-back of each.
    pub(in crate::device) fn add_companions<const S: Skills>(
        &mut self,
        first: Eviction,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        self.batch.clear();
        if !any(S, UNITS) || on.units_per_page == 1 {
            self.take::<S>(first, on);
            return;
        }
        let slot = self.take::<S>(first, on);
        let (page, stream) = (on.buffer.page(slot).page, on.stream_of(slot));
        if let Some(group) = on.kernel.ftl.group(page) {
            for page in (group.get()..group.get() + on.units_per_page).map(Lpn::new) {
                let slot = on.buffer.pages.find_dirty(page);
                if let Some(slot) = slot.filter(|&slot| on.stream_of(slot) == stream) {
                    self.take::<S>(Eviction::Page(slot), on);
                }
            }
            return;
        }
        while (self.batch.len() as u32) < on.units_per_page {
            let Some(next) = on.companion(stream, Beside::OnFlashPage) else { break };
            self.take::<S>(next, on);
        }
    }

    /// Begins the write-back of an eviction. Returns the slot that represents it in its program.
    #[inline]
    pub(in crate::device) fn take<const S: Skills>(
        &mut self,
        out: Eviction,
        on: &mut Base<impl Probe, impl Contents>,
    ) -> SlotId {
        let slot = match out {
            Eviction::Page(slot) => {
                self.take_page::<S>(slot, on);
                slot
            }
            Eviction::Pack { first, second } => self.take_pack(first, second, on),
            Eviction::Pad(page) => {
                let slot = on.buffer.pad(page);
                on.move_to_write_back(slot, page, SectorMask::EMPTY);
                self.prepare_tables(page, on);
                slot
            }
        };
        self.batch.push(slot);
        slot
    }

    #[inline]
    pub(in crate::device) fn take_page<const S: Skills>(
        &mut self,
        slot: SlotId,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        let page = on.buffer.begin_write_back(slot, &on.kernel.ftl);
        on.move_to_write_back(slot, page, on.buffer.page(slot).writing_back);
        self.prepare_tables(page, on);
    }

    /// Begins the write-back of two pages that share a physical page. If their streams differ, the
    /// second page stays in the buffer.
    #[inline(never)]
    pub(in crate::device) fn take_pack(
        &mut self,
        first: SlotId,
        second: SlotId,
        on: &mut Base<impl Probe, impl Contents>,
    ) -> SlotId {
        if on.stream_of(first) != on.stream_of(second) {
            self.take_page::<{ skills::ALL }>(first, on);
            return first;
        }
        on.buffer.begin_pack(first, second, &on.kernel.ftl);
        for slot in [first, second] {
            let &Page { page, writing_back, .. } = on.buffer.page(slot);
            on.move_to_write_back(slot, page, writing_back);
            self.prepare_tables(page, on);
        }
        first
    }

    /// Prefetches the table entries that a write-back uses.
    #[inline]
    pub(in crate::device) fn prepare_tables(
        &mut self,
        page: Lpn,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        on.kernel.ftl.prefetch(page);
        self.recent.push_back(page);
        if self.recent.len() > PREFETCH_DISTANCE
            && let Some(page) = self.recent.pop_front()
        {
            on.kernel.ftl.prefetch_overwrite(page);
        }
    }
}

impl<P: Probe, C: Contents> Base<P, C> {
    pub(in crate::device) fn is_clean(&self, slot: SlotId) -> bool {
        self.buffer.page(slot).dirty.is_empty()
    }

    /// The next eviction that may share a flash page or a row with pages of `stream`: the policy's next one, or with
    /// several streams one of the first few candidates. Never one that starts another block or drops a clean page.
    pub(in crate::device) fn companion(
        &mut self,
        stream: WriteStream,
        beside: Beside,
    ) -> Option<Eviction> {
        if self.kernel.ftl.streams().host_streams() > 1 {
            let mut near = self.buffer.candidates().take(COMPANIONS);
            return near.find(|&slot| self.stream_of(slot) == stream).map(Eviction::Page);
        }
        let next = self.buffer.choose_companion(&self.kernel.ftl, beside)?;
        let pads = matches!(next, Eviction::Pad(_));
        (!pads || !self.kernel.ftl.is_read_only()).then_some(next)
    }

    /// The stream of data on its way to flash.
    #[inline]
    pub(in crate::device) fn stream_on_way(&self, slot: SlotId) -> WriteStream {
        let page = self.buffer.page(slot);
        self.kernel.ftl.streams().host_stream(page.page, page.tag_on_way)
    }

    /// The stream of a buffered page, as of now.
    #[inline]
    pub(in crate::device) fn stream_of(&self, slot: SlotId) -> WriteStream {
        let page = self.buffer.page(slot);
        self.kernel.ftl.streams().host_stream(page.page, page.tag)
    }

    /// The write-back of these sectors of a buffered page begins; its other sectors are dropped.
    #[inline]
    pub(in crate::device) fn move_to_write_back(
        &mut self,
        slot: SlotId,
        page: Lpn,
        sectors: SectorMask,
    ) {
        let (from, to) = (Place::Buffer(slot), Place::WriteBack(slot));
        self.kernel.contents.copy(&Movement { from, to, page, sectors });
        self.kernel.contents.forget(from);
    }

    /// Drops a clean page from the buffer.
    pub(in crate::device) fn drop_clean(&mut self, slot: SlotId) {
        self.kernel.contents.forget(Place::Buffer(slot));
        self.buffer.drop_clean(slot, &self.kernel.ftl);
    }

    /// The parts of a page on flash that must be read before it is programmed: those with sectors
    /// that the write-back lacks.
    #[inline]
    pub(in crate::device) fn old_parts_of(&self, slot: SlotId) -> Fragments {
        let page = self.buffer.page(slot);
        let whole = page.writing_back == self.kernel.ftl.full_page() && !page.padding;
        if whole || page.packed_with.is_some() {
            return [None, None];
        }
        let missing = |part: Option<Fragment>| {
            part.filter(|part| page.padding || !page.writing_back.covers(part.sectors))
        };
        self.kernel.ftl.fragments(page.page).map(missing)
    }

    /// Starts the reads of a read-modify-write, if the page has sectors on flash that the
    /// write-back lacks. The program has `waited` for its entry of the map.
    pub(in crate::device) fn read_old_copy<const S: Skills>(
        &mut self,
        slot: SlotId,
        program: CommandId,
        waited: Nanos,
    ) {
        for part in self.old_parts_of(slot).into_iter().flatten() {
            let mut read = Command::new(
                Kind::Read,
                Origin::ReadModifyWrite,
                ServiceId::WRITES.owner(0),
                part.at,
            );
            read.units = 1;
            read.codewords = self.kernel.flash.bus().codewords_per_unit();
            read.mode = self.kernel.ftl.mode_at::<S>(part.at);
            read.senses = self.kernel.flash.senses_of_units::<S>([part.at]);
            read.then = Some(program);
            read.spent.translation = waited;
            self.kernel.flash.command_mut(program).waits_for += 1;
            let read = self.kernel.flash.prepare(read);
            self.kernel.submit::<S>(read);
        }
    }
}
