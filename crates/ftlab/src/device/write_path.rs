//! A write on its way down: into the buffer, and from there, when the policy says so, merged with
//! what is on flash, placed, programmed and committed.

use super::Writes;
use super::base::Base;
use super::{Contents, PREFETCH_DISTANCE};
use crate::cache::{Beside, Eviction, Page, SlotId, Turn, Waiting};
use crate::engine::skills::{self, RARE, ROWS, Skills, UNITS, any};
use crate::ftl::streams::{StreamsPolicy, WriteStream};
use crate::ftl::{Fragment, Fragments, Kernel};
use crate::host::{Pages, Request};
use crate::scheduler::{Command, CommandId, Found, Kind, Origin, Probe, Spent, Task};
use crate::units::{Lpn, Nanos, PageSpan, Ppn, RequestId};
use crate::verify::{self as laws, Canary};

/// How many pages of the buffer are looked at to find one of the same stream.
const COMPANIONS: usize = 64;

impl Writes {
    pub(super) fn submit_write<const S: Skills>(
        &mut self,
        id: RequestId,
        request: &Request,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        if any(S, RARE) && on.buffer.gathers() {
            self.submit_whole(id, request, on);
            return self.write_back::<S>(on);
        }
        if request.sectors == on.sectors_per_page && self.pass_through::<S>(id, request, on) {
            return;
        }
        for span in Pages::new(request.lba, request.sectors, on.sectors_per_page) {
            if !on.write_page::<S>(id, span, Turn::New) {
                on.desk.intake.wait_for_one(id);
                let stall_mark = self.stalled.time_until(on.kernel.now);
                on.buffer.wait_for_room(Waiting { request: id, span, stall_mark }, 1);
            }
        }
        self.write_back::<S>(on);
    }

    /// Lets writes in that waited for room.
    pub(super) fn admit_waiting<const S: Skills>(
        &mut self,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        while let Some(waiting) = on.buffer.first_waiting() {
            let Waiting { request, span, .. } = waiting;
            if self.turned_away(&waiting, on) {
                continue;
            }
            let entered = match on.buffer.gathers() {
                true => on.let_in(request),
                false => on.write_page::<S>(request, span, Turn::Waited),
            };
            if !entered {
                return;
            }
            on.buffer.forget_waiting();
            if on.desk.intake.settle(request) {
                self.account_waiting(&waiting, on);
                on.finish_from_buffer(request);
            }
        }
    }

    pub(super) fn submit_trim(
        &mut self,
        request: &Request,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        let whole = on.kernel.ftl.full_page();
        for span in Pages::new(request.lba, request.sectors, on.sectors_per_page) {
            if span.sectors != whole {
                continue;
            }
            let Base { buffer, desk, kernel: Kernel { now, ftl, contents, .. }, .. } = on;
            let nothing = Spent::default();
            let mut next = buffer.find(span.page);
            while let Some(found) = next {
                next = buffer.older(found);
                contents.trim(found);
                // A write that was still on its way to flash is done: there is nothing to keep.
                buffer.trim(found, ftl, |waiter| {
                    desk.settle::<{ skills::ALL }>(waiter, &nothing, *now, contents);
                });
            }
            if laws::ON {
                on.ledger.trimmed(span.page);
            }
            self.admit_next_version::<{ skills::ALL }>(span.page, on);
            on.outdate_read::<{ skills::ALL }>(span.page);
            on.kernel.ftl.trim(span.page);
        }
        self.rewrite_what_is_due::<{ skills::ALL }>(on);
        on.relieve::<{ skills::ALL }>();
        self.admit_waiting::<{ skills::ALL }>(on);
        self.write_back::<{ skills::ALL }>(on);
    }

    /// Begins every write-back that is due.
    pub(super) fn write_back<const S: Skills>(&mut self, on: &mut Base<impl Probe, impl Contents>) {
        if any(S, RARE)
            && let Some(gate) = self.cycles.gate()
        {
            return self.write_back_by_planes(gate, on);
        }
        loop {
            while let Some(first) = on.buffer.due(&on.kernel.ftl) {
                match first {
                    Eviction::Page(slot) if any(S, RARE) && on.is_clean(slot) => {
                        on.drop_clean(slot);
                    }
                    // What room is left is for what is nowhere else.
                    Eviction::Pad(_) if any(S, RARE) && on.kernel.ftl.is_read_only() => {}
                    _ if any(S, ROWS) && on.buffer.row() > 1 => self.begin_row(first, on),
                    _ => self.begin_write_back::<S>(first, on),
                }
            }
            if !on.buffer.made_room() {
                return;
            }
            self.admit_waiting::<S>(on);
        }
    }

    /// Takes `first` and the pages that may share a flash page with it out of the candidates, and
    /// starts their program, after the reads that partial pages need.
    pub(super) fn begin_write_back<const S: Skills>(
        &mut self,
        first: Eviction,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        let program = self.fill_program::<S>(first, None, on);
        if on.kernel.flash.command(program).waits_for == 0 {
            self.issue::<S>(program, on);
        }
    }

    /// Makes a program of `first` and the pages that may share a flash page with it, and reads what is
    /// missing of them. For those reads the `leader` of its row waits; without one, the program itself.
    #[inline(always)]
    pub(super) fn fill_program<const S: Skills>(
        &mut self,
        first: Eviction,
        leader: Option<CommandId>,
        on: &mut Base<impl Probe, impl Contents>,
    ) -> CommandId {
        let task = Task::WriteBack;
        let mut program = Command::new(Kind::Program, Origin::Host, task, Ppn::new(0));
        program.codewords = on.kernel.flash.bus().page_codewords();
        let program = on.kernel.flash.prepare(program);
        on.buffer.program_begun();
        self.take_together::<S>(first, on);
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
                on.merge_if_partial::<S>(slot, waits, Nanos::ZERO);
            }
        }
        program
    }

    /// Fills the batch with `first` and companions, and begins the write-back of each.
    pub(super) fn take_together<const S: Skills>(
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
                let slot = on.buffer.find_dirty(page);
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

    /// The stream of a program: that of its first page.
    pub(super) fn stream_of_program<const S: Skills>(
        &self,
        program: CommandId,
        on: &Base<impl Probe, impl Contents>,
    ) -> WriteStream {
        on.stream_of(SlotId::new(self.loads.get(program, 0)))
    }

    /// Begins what the policy wants evicted. Returns the slot that stands for it in its program.
    #[inline]
    fn take<const S: Skills>(
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
                on.kernel.contents.pad(page, slot);
                self.prepare_tables(page, on);
                slot
            }
        };
        self.batch.push(slot);
        slot
    }

    #[inline]
    fn take_page<const S: Skills>(
        &mut self,
        slot: SlotId,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        let page = on.buffer.begin_write_back(slot, &on.kernel.ftl);
        on.kernel.contents.begin_write_back(slot, on.buffer.page(slot).flushing);
        self.prepare_tables(page, on);
    }

    /// Two pages that are to share a physical page. Those of different streams go by themselves: the second
    /// stays.
    #[inline(never)]
    fn take_pack(
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
            let &Page { page, flushing, .. } = on.buffer.page(slot);
            on.kernel.contents.begin_write_back(slot, flushing);
            self.prepare_tables(page, on);
        }
        first
    }

    /// Brings what a write-back will touch closer to the processor.
    #[inline]
    pub(super) fn prepare_tables(&mut self, page: Lpn, on: &mut Base<impl Probe, impl Contents>) {
        on.kernel.ftl.prefetch(page);
        self.recent.push_back(page);
        if self.recent.len() > PREFETCH_DISTANCE
            && let Some(page) = self.recent.pop_front()
        {
            on.kernel.ftl.prefetch_overwrite(page);
        }
    }

    /// Places a program whose data is complete, and hands it to the flash, as soon as the processor has
    /// time for that.
    pub(super) fn issue<const S: Skills>(
        &mut self,
        program: CommandId,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        if !any(S, RARE) || !on.wait_for_processor(program, 1) {
            self.issue_now::<S>(program, on);
        }
    }

    /// Places a program whose data is complete, and hands it to the flash; it waits if nothing is free.
    pub(super) fn issue_now<const S: Skills>(
        &mut self,
        program: CommandId,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        let stream = self.stream_of_program::<S>(program, on);
        if self.place_or_stall::<S>(program, stream, on) {
            on.hand_over::<S>(program, on.kernel.flash.command(program).page);
        }
    }

    /// Places a program whose data is complete; it waits if nothing is free. A device that takes no
    /// more writes gives it up, unless it has been acknowledged. Says whether it is placed.
    #[inline]
    pub(super) fn place_or_stall<const S: Skills>(
        &mut self,
        program: CommandId,
        stream: WriteStream,
        on: &mut Base<impl Probe, impl Contents>,
    ) -> bool {
        if any(S, RARE)
            && !on.buffer.has_acknowledged()
            && (on.kernel.ftl.is_read_only()
                || on.kernel.ftl.is_homeless(self.first_page_of(program, on)))
        {
            self.give_up(program, on);
            return false;
        }
        // Behind those that wait already, if it would take what they wait for.
        if self.stalled.is_empty() && self.place::<S>(program, stream, on) {
            return true;
        }
        self.place_behind::<S>(program, stream, on)
    }

    /// The same behind those that wait already.
    pub(super) fn place_behind<const S: Skills>(
        &mut self,
        program: CommandId,
        stream: WriteStream,
        on: &mut Base<impl Probe, impl Contents>,
    ) -> bool {
        let pool = on.kernel.ftl.pool(self.first_page_of(program, on));
        if !self.stalled.has_waiting(pool, stream) && self.place::<S>(program, stream, on) {
            return true;
        }
        self.stalled.push(on.kernel.now, program, pool, stream);
        if any(S, RARE) && on.services.merger.is_some() {
            self.want_room(self.first_page_of(program, on), on);
        }
        false
    }

    /// The first page of a program.
    #[inline]
    pub(super) fn first_page_of(
        &self,
        program: CommandId,
        on: &Base<impl Probe, impl Contents>,
    ) -> Lpn {
        on.buffer.page(SlotId::new(self.loads.get(program, 0))).page
    }

    /// Places a program and hands it to the flash, if there is room. It has `waited` for that.
    pub(super) fn try_issue<const S: Skills>(
        &mut self,
        program: CommandId,
        stream: WriteStream,
        waited: Nanos,
        on: &mut Base<impl Probe, impl Contents>,
    ) -> bool {
        if !self.place::<S>(program, stream, on) {
            return false;
        }
        // Who waits for room waits for collection.
        let command = on.kernel.flash.command_mut(program);
        command.spent.gc += waited;
        let at = command.page;
        on.hand_over::<S>(program, at);
        true
    }

    /// Finds a place for a program, if there is room.
    #[inline(always)]
    fn place<const S: Skills>(
        &mut self,
        program: CommandId,
        stream: WriteStream,
        on: &mut Base<impl Probe, impl Contents>,
    ) -> bool {
        if any(S, RARE) && on.services.merger.is_some() {
            return self.place_in_log(program, on);
        }
        let page = self.first_page_of(program, on);
        let Some(first) = on.kernel.ftl.place::<S>(page, stream, on.kernel.flash.load()) else {
            return false;
        };
        self.fill_place::<S>(program, first, on);
        true
    }

    /// A read for a merge, or the program of a write-back, is done.
    pub(super) fn write_back_command_done<const S: Skills>(
        &mut self,
        id: CommandId,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        let command = on.kernel.flash.command(id);
        if command.kind == Kind::Program {
            return self.write_back_done::<S>(id, on);
        }
        let (spent, Some(program)) = (command.spent, command.then) else { return };
        self.input_came::<S>(program, spent, on);
        self.begin_after_given_up(on);
    }

    /// Something that a program, or its row, has waited for is there.
    pub(super) fn input_came<const S: Skills>(
        &mut self,
        program: CommandId,
        spent: Spent,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        let command = on.kernel.flash.command_mut(program);
        command.waits_for -= 1;
        if command.waits_for == 0 {
            // What came last is what the program waited for.
            command.spent = spent;
            match on.buffer.row() {
                _ if self.cycles.have_barrier() => self.cycle_is_complete(program, on),
                1 => self.issue::<S>(program, on),
                _ => self.row_is_complete(program, on),
            }
        }
    }

    /// The pages of a program are on flash: they become current, and whoever waited is told.
    fn write_back_done<const S: Skills>(
        &mut self,
        id: CommandId,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        let Command { page: first, units, spent, found: Found { failed, .. }, .. } =
            *on.kernel.flash.command(id);
        if any(S, RARE) && on.kernel.ftl.program_fails::<S>(first, failed, &mut on.kernel.contents)
        {
            self.program_again(id, on);
            on.empty_failed::<S>();
            // Only where planes are gated, and it was given up, there may be something to begin now.
            return self
                .cycles
                .gate()
                .into_iter()
                .for_each(|gate| self.write_back_by_planes(gate, on));
        }
        if any(S, RARE)
            && let Some(gate) = self.cycles.gate()
        {
            self.program_by_planes_done(id, gate, on);
        } else {
            for unit in 0..units {
                let slot = SlotId::new(self.loads.get(id, unit));
                self.make_current::<S>(slot, Ppn::new(first.get() + unit), &spent, on);
            }
            self.programmed_for_host::<S>(first, units, on);
            on.buffer.program_ended();
        }
        if any(S, RARE) {
            on.empty_failed::<S>();
            self.rewrite_what_is_due::<S>(on);
        }
        on.relieve::<S>();
        self.admit_waiting::<S>(on);
        self.write_back::<S>(on);
    }

    /// A page is on flash and becomes the current copy.
    #[inline]
    pub(super) fn make_current<const S: Skills>(
        &mut self,
        slot: SlotId,
        at: Ppn,
        spent: &Spent,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        let &Page { page, discard, packed_with, .. } = on.buffer.page(slot);
        if any(S, RARE)
            && let Some(second) = packed_with
        {
            return on.make_pack_current([slot, second], at, spent);
        }
        if !discard || on.plant.is(Canary::TrimForgotten) {
            on.kernel.ftl.commit::<S>(page, at);
        }
        on.end_write_back::<S>(slot, spent);
        self.admit_next_version::<S>(page, on);
    }

    /// A version of a page has left the staging area: the write that waited for that comes in.
    #[inline]
    pub(super) fn admit_next_version<const S: Skills>(
        &mut self,
        page: Lpn,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        if on.buffer.any_behind() {
            self.admit_what_is_behind::<S>(page, on);
        }
    }

    fn admit_what_is_behind<const S: Skills>(
        &mut self,
        page: Lpn,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        if on.buffer.find(page).is_some() {
            return;
        }
        while let Some(waiting) = on.buffer.next_version(page) {
            let refused = any(S, RARE)
                && (on.kernel.ftl.is_read_only() || on.kernel.ftl.is_homeless(waiting.span.page));
            if refused {
                self.refuse_waiting(waiting, on);
                continue;
            }
            let Waiting { request, span, .. } = waiting;
            let admitted = on.write_page::<S>(request, span, Turn::Waited);
            debug_assert!(admitted, "nothing else can have come in");
            let last = on.desk.intake.settle(request);
            debug_assert!(!last, "it waits for its program now");
            return;
        }
    }
}

impl<P: Probe, C: Contents> Base<P, C> {
    /// Parts of two pages are on flash, on one physical page.
    #[inline(never)]
    fn make_pack_current(&mut self, slots: [SlotId; 2], at: Ppn, spent: &Spent) {
        let forgets = self.plant.is(Canary::PartnerNotMapped);
        for slot in slots {
            let &Page { page, discard, .. } = self.buffer.page(slot);
            let lost = forgets && slot == slots[1];
            if !discard && !lost {
                self.kernel.ftl.commit_fragment(page, at);
            }
            self.end_write_back::<{ skills::ALL }>(slot, spent);
        }
    }

    /// Puts a page of a write into the buffer, if there is room.
    pub(super) fn write_page<const S: Skills>(
        &mut self,
        id: RequestId,
        span: PageSpan,
        turn: Turn,
    ) -> bool {
        let tag = self.kernel.ftl.streams().tag_of(self.desk.intake.get(id).request().stream);
        let Some(slot) = self.let_page_in::<S>(span, tag, turn) else { return false };
        let request = self.desk.intake.get(id).request();
        self.kernel.contents.write(request, span.page, span.sectors, slot);
        self.outdate_read::<S>(span.page);
        if laws::ON {
            self.ledger.written(span.page);
        }
        self.wait_for_flash(id, slot);
        true
    }

    /// Puts a page of a write into the buffer. Clean pages make room, where it is for them to go.
    #[inline]
    pub(super) fn let_page_in<const S: Skills>(
        &mut self,
        span: PageSpan,
        tag: u8,
        turn: Turn,
    ) -> Option<SlotId> {
        loop {
            let entered = self.buffer.write(span, tag, turn, &self.kernel.ftl);
            if entered.is_some() || !self.buffer.keeps_reads() {
                return entered;
            }
            let clean = self.buffer.next_clean(turn, &self.kernel.ftl)?;
            self.drop_clean(clean);
        }
    }

    fn is_clean(&self, slot: SlotId) -> bool {
        self.buffer.page(slot).dirty.is_empty()
    }

    /// What else may share a flash page, or a row, with pages of `stream`: the policy's next, looked for among the
    /// first few if there are several streams. Nothing that begins another block, or drops a clean page.
    pub(super) fn companion(&mut self, stream: WriteStream, beside: Beside) -> Option<Eviction> {
        if self.kernel.ftl.streams().host_streams() > 1 {
            let mut near = self.buffer.candidates().take(COMPANIONS);
            return near.find(|&slot| self.stream_of(slot) == stream).map(Eviction::Page);
        }
        let next = self.buffer.choose_companion(&self.kernel.ftl, beside)?;
        let pads = matches!(next, Eviction::Pad(_));
        (!pads || !self.kernel.ftl.is_read_only()).then_some(next)
    }

    /// The stream to which a page of the buffer belongs as things stand.
    #[inline]
    pub(super) fn stream_of(&self, slot: SlotId) -> WriteStream {
        let page = self.buffer.page(slot);
        self.kernel.ftl.streams().host_stream(page.page, page.tag)
    }

    /// A clean page leaves the buffer.
    pub(super) fn drop_clean(&mut self, slot: SlotId) {
        self.kernel.contents.trim(slot);
        self.buffer.drop_clean(slot, &self.kernel.ftl);
    }

    /// Hands a program that is placed to the flash.
    #[inline(always)]
    pub(super) fn hand_over<const S: Skills>(&mut self, program: CommandId, at: Ppn) {
        self.submit_command::<S>(program);
        self.consider_collecting_at::<S>(at);
    }

    /// A page was taken: its plane may have to collect.
    #[inline]
    pub(super) fn consider_collecting_at<const S: Skills>(&mut self, page: Ppn) {
        let geometry = self.kernel.ftl.geometry();
        self.consider_collecting::<S>(geometry.plane_of(geometry.block_of(page)));
    }

    fn end_write_back<const S: Skills>(&mut self, slot: SlotId, spent: &Spent) {
        let Base { buffer, desk, kernel: Kernel { now, ftl, contents, .. }, .. } = self;
        let left = buffer.page(slot).dirty.is_empty();
        contents.end_write_back(slot, left);
        buffer.end_write_back(slot, ftl, |waiter| desk.settle::<S>(waiter, spent, *now, contents));
    }

    /// What of a page lies on flash and has to be read before it is programmed: the parts that hold
    /// sectors which are not on their way.
    #[inline]
    pub(super) fn older_parts_of(&self, slot: SlotId) -> Fragments {
        let page = self.buffer.page(slot);
        let whole = page.flushing == self.kernel.ftl.full_page() && !page.padding;
        if whole || page.packed_with.is_some() {
            return [None, None];
        }
        let missing = |part: Option<Fragment>| {
            part.filter(|part| page.padding || !page.flushing.covers(part.sectors))
        };
        self.kernel.ftl.fragments(page.page).map(missing)
    }

    /// A page that holds sectors on flash which it does not hold in the buffer is read first. Its program has
    /// `waited` for its entry of the map.
    pub(super) fn merge_if_partial<const S: Skills>(
        &mut self,
        slot: SlotId,
        program: CommandId,
        waited: Nanos,
    ) {
        for part in self.older_parts_of(slot).into_iter().flatten() {
            let mut read = Command::new(Kind::Read, Origin::Merge, Task::WriteBack, part.at);
            read.units = 1;
            read.codewords = self.kernel.flash.bus().codewords_per_unit();
            read.mode = self.kernel.ftl.mode_at::<S>(part.at);
            read.then = Some(program);
            read.spent.translation = waited;
            self.kernel.flash.command_mut(program).waits_for += 1;
            let read = self.kernel.flash.prepare(read);
            self.submit_command::<S>(read);
        }
    }

    /// Blocks that failed are emptied and given up.
    #[inline]
    pub(super) fn empty_failed<const S: Skills>(&mut self) {
        if self.kernel.ftl.has_failed() {
            let Base { kernel, services, .. } = self;
            services.collector.empty_failed::<S>(kernel);
        }
    }

    /// Planes that were short of free blocks with nothing worth collecting may have something now.
    pub(super) fn relieve<const S: Skills>(&mut self) {
        if any(S, RARE) && self.services.merger.is_some() {
            return;
        }
        let Base { kernel, services, .. } = self;
        services.collector.feed_hungry::<S>(kernel);
    }
}
