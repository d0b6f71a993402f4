//! A write on its way down: into the buffer, and from there, when the policy says so, merged with
//! what is on flash, placed, programmed and committed.

use super::base::Base;
use super::{Contents, Device, PREFETCH_DISTANCE};
use crate::cache::{Beside, Eviction, Page, SlotId, Turn, Waiting};
use crate::engine::skills::{self, RARE, ROWS, Skills, UNITS, any};
use crate::ftl::streams::{StreamsPolicy, WriteStream};
use crate::ftl::{Fragment, Fragments, Kernel};
use crate::host::{Pages, Request};
use crate::scheduler::{Command, CommandId, Kind, Origin, Probe, Spent, Task};
use crate::units::{Lpn, Nanos, PageSpan, Ppn, RequestId};
use crate::verify::{self as laws, Canary};

/// How many pages of the buffer are looked at to find one of the same stream.
const COMPANIONS: usize = 64;

impl<P: Probe, C: Contents> Device<P, C> {
    pub(super) fn submit_write<const S: Skills>(&mut self, id: RequestId, request: &Request) {
        if any(S, RARE) && self.base.buffer.gathers() {
            self.submit_whole(id, request);
            return self.write_back::<S>();
        }
        if request.sectors == self.base.sectors_per_page && self.pass_through::<S>(id, request) {
            return;
        }
        for span in Pages::new(request.lba, request.sectors, self.base.sectors_per_page) {
            if !self.base.write_page::<S>(id, span, Turn::New) {
                self.base.desk.intake.wait_for_one(id);
                let stall_mark = self.writes.stalled.time_until(self.base.kernel.now);
                self.base.buffer.wait_for_room(Waiting { request: id, span, stall_mark }, 1);
            }
        }
        self.write_back::<S>();
    }

    /// Lets writes in that waited for room.
    pub(super) fn admit_waiting<const S: Skills>(&mut self) {
        while let Some(waiting) = self.base.buffer.queue.first() {
            let Waiting { request, span, .. } = waiting;
            if self.turned_away(&waiting) {
                continue;
            }
            let entered = match self.base.buffer.gathers() {
                true => self.base.let_in(request),
                false => self.base.write_page::<S>(request, span, Turn::Waited),
            };
            if !entered {
                return;
            }
            self.base.buffer.queue.pop();
            if self.base.desk.intake.settle(request) {
                self.account_waiting(&waiting);
                self.base.finish_from_buffer(request);
            }
        }
    }

    pub(super) fn submit_trim(&mut self, request: &Request) {
        let whole = self.base.kernel.ftl.full_page();
        for span in Pages::new(request.lba, request.sectors, self.base.sectors_per_page) {
            if span.sectors != whole {
                continue;
            }
            let Base { buffer, desk, kernel: Kernel { now, ftl, contents, .. }, .. } =
                &mut self.base;
            let nothing = Spent::default();
            let mut next = buffer.find(span.page);
            while let Some(found) = next {
                next = buffer.pages.older(found);
                contents.trim(found);
                // A write that was still on its way to flash is done: there is nothing to keep.
                buffer.trim(found, ftl, |waiter| {
                    desk.settle::<{ skills::ALL }>(waiter, &nothing, *now, contents);
                });
            }
            if laws::ON {
                self.base.ledger.trimmed(span.page);
            }
            self.admit_next_version::<{ skills::ALL }>(span.page);
            self.base.outdate_read::<{ skills::ALL }>(span.page);
            self.base.kernel.ftl.trim(span.page);
        }
        self.rewrite_what_is_due::<{ skills::ALL }>();
        self.base.relieve::<{ skills::ALL }>();
        self.admit_waiting::<{ skills::ALL }>();
        self.write_back::<{ skills::ALL }>();
    }

    /// Begins every write-back that is due.
    pub(super) fn write_back<const S: Skills>(&mut self) {
        if any(S, RARE)
            && let Some(gate) = self.writes.cycles.gate()
        {
            return self.write_back_by_planes(gate);
        }
        loop {
            while let Some(first) = self.base.buffer.due(&self.base.kernel.ftl) {
                match first {
                    Eviction::Page(slot) if any(S, RARE) && self.base.is_clean(slot) => {
                        self.base.drop_clean(slot);
                    }
                    // What room is left is for what is nowhere else.
                    Eviction::Pad(_) if any(S, RARE) && self.base.kernel.ftl.is_read_only() => {}
                    _ if any(S, ROWS) && self.base.buffer.rules.row > 1 => self.begin_row(first),
                    _ => self.begin_write_back::<S>(first),
                }
            }
            if !self.base.buffer.queue.made_room() {
                return;
            }
            self.admit_waiting::<S>();
        }
    }

    /// Takes `first` and the pages that may share a flash page with it out of the candidates, and
    /// starts their program, after the reads that partial pages need.
    pub(super) fn begin_write_back<const S: Skills>(&mut self, first: Eviction) {
        let program = self.fill_program::<S>(first, None);
        if self.base.kernel.flash.command(program).waits_for == 0 {
            self.issue::<S>(program);
        }
    }

    /// Makes a program of `first` and the pages that may share a flash page with it, and reads what is
    /// missing of them. For those reads the `leader` of its row waits; without one, the program itself.
    #[inline(always)]
    pub(super) fn fill_program<const S: Skills>(
        &mut self,
        first: Eviction,
        leader: Option<CommandId>,
    ) -> CommandId {
        let task = Task::WriteBack;
        let mut program = Command::new(Kind::Program, Origin::Host, task, Ppn::new(0));
        program.codewords = self.base.kernel.flash.bus().page_codewords();
        let program = self.base.kernel.flash.prepare(program);
        self.base.buffer.under_way.program_begun();
        self.take_together::<S>(first);
        let units = self.writes.batch.len() as u32;
        self.base.kernel.flash.command_mut(program).units = units;
        for (unit, slot) in self.writes.batch.iter().enumerate() {
            self.writes.loads.row_mut(program)[unit] = slot.get();
        }
        if any(S, RARE) && self.base.kernel.ftl.regulation().is_some() {
            self.regulate(program);
        }
        for unit in 0..units {
            let slot = self.writes.batch[unit as usize];
            let waits = leader.unwrap_or(program);
            let page = self.base.buffer.page(slot).page;
            if !any(S, RARE)
                || self.base.services.map.is_none()
                || self.finds_entry_of_write(page, waits, slot)
            {
                self.base.merge_if_partial::<S>(slot, waits, Nanos::ZERO);
            }
        }
        program
    }

    /// Fills the batch with `first` and companions, and begins the write-back of each.
    pub(super) fn take_together<const S: Skills>(&mut self, first: Eviction) {
        self.writes.batch.clear();
        if !any(S, UNITS) || self.base.units_per_page == 1 {
            self.take::<S>(first);
            return;
        }
        let slot = self.take::<S>(first);
        let (page, stream) = (self.base.buffer.page(slot).page, self.base.stream_of(slot));
        if let Some(group) = self.base.kernel.ftl.group(page) {
            for page in (group.get()..group.get() + self.base.units_per_page).map(Lpn::new) {
                let slot = self.base.buffer.pages.find_dirty(page);
                if let Some(slot) = slot.filter(|&slot| self.base.stream_of(slot) == stream) {
                    self.take::<S>(Eviction::Page(slot));
                }
            }
            return;
        }
        while (self.writes.batch.len() as u32) < self.base.units_per_page {
            let Some(next) = self.base.companion(stream, Beside::OnFlashPage) else { break };
            self.take::<S>(next);
        }
    }

    /// The stream of a program: that of its first page.
    pub(super) fn stream_of_program<const S: Skills>(&self, program: CommandId) -> WriteStream {
        self.base.stream_of(SlotId::new(self.writes.loads.get(program, 0)))
    }

    /// Begins what the policy wants evicted. Returns the slot that stands for it in its program.
    #[inline]
    fn take<const S: Skills>(&mut self, out: Eviction) -> SlotId {
        let slot = match out {
            Eviction::Page(slot) => {
                self.take_page::<S>(slot);
                slot
            }
            Eviction::Pack { first, second } => self.take_pack(first, second),
            Eviction::Pad(page) => {
                let slot = self.base.buffer.pad(page);
                self.base.kernel.contents.pad(page, slot);
                self.prepare_tables(page);
                slot
            }
        };
        self.writes.batch.push(slot);
        slot
    }

    #[inline]
    fn take_page<const S: Skills>(&mut self, slot: SlotId) {
        let page = self.base.buffer.begin_write_back(slot, &self.base.kernel.ftl);
        self.base.kernel.contents.begin_write_back(slot, self.base.buffer.page(slot).flushing);
        self.prepare_tables(page);
    }

    /// Two pages that are to share a physical page. Those of different streams go by themselves: the second
    /// stays.
    #[inline(never)]
    fn take_pack(&mut self, first: SlotId, second: SlotId) -> SlotId {
        if self.base.stream_of(first) != self.base.stream_of(second) {
            self.take_page::<{ skills::ALL }>(first);
            return first;
        }
        self.base.buffer.begin_pack(first, second, &self.base.kernel.ftl);
        for slot in [first, second] {
            let &Page { page, flushing, .. } = self.base.buffer.page(slot);
            self.base.kernel.contents.begin_write_back(slot, flushing);
            self.prepare_tables(page);
        }
        first
    }

    /// Brings what a write-back will touch closer to the processor.
    #[inline]
    pub(super) fn prepare_tables(&mut self, page: Lpn) {
        self.base.kernel.ftl.prefetch(page);
        self.writes.recent.push_back(page);
        if self.writes.recent.len() > PREFETCH_DISTANCE
            && let Some(page) = self.writes.recent.pop_front()
        {
            self.base.kernel.ftl.prefetch_overwrite(page);
        }
    }

    /// Places a program whose data is complete, and hands it to the flash, as soon as the processor has
    /// time for that.
    pub(super) fn issue<const S: Skills>(&mut self, program: CommandId) {
        if !any(S, RARE) || !self.base.wait_for_processor(program, 1) {
            self.issue_now::<S>(program);
        }
    }

    /// Places a program whose data is complete, and hands it to the flash; it waits if nothing is free.
    pub(super) fn issue_now<const S: Skills>(&mut self, program: CommandId) {
        let stream = self.stream_of_program::<S>(program);
        if self.place_or_stall::<S>(program, stream) {
            self.base.hand_over::<S>(program, self.base.kernel.flash.command(program).page);
        }
    }

    /// Places a program whose data is complete; it waits if nothing is free. A device that takes no
    /// more writes gives it up, unless it has been acknowledged. Says whether it is placed.
    #[inline]
    pub(super) fn place_or_stall<const S: Skills>(
        &mut self,
        program: CommandId,
        stream: WriteStream,
    ) -> bool {
        if any(S, RARE)
            && !self.base.buffer.has_acknowledged()
            && (self.base.kernel.ftl.is_read_only()
                || self.base.kernel.ftl.is_homeless(self.first_page_of(program)))
        {
            self.give_up(program);
            return false;
        }
        // Behind those that wait already, if it would take what they wait for.
        if self.writes.stalled.is_empty() && self.place::<S>(program, stream) {
            return true;
        }
        self.place_behind::<S>(program, stream)
    }

    /// The same behind those that wait already.
    pub(super) fn place_behind<const S: Skills>(
        &mut self,
        program: CommandId,
        stream: WriteStream,
    ) -> bool {
        let pool = self.base.kernel.ftl.pool(self.first_page_of(program));
        if !self.writes.stalled.has_waiting(pool, stream) && self.place::<S>(program, stream) {
            return true;
        }
        self.writes.stalled.push(self.base.kernel.now, program, pool, stream);
        if any(S, RARE) && self.base.services.merger.is_some() {
            self.want_room(self.first_page_of(program));
        }
        false
    }

    /// The first page of a program.
    #[inline]
    pub(super) fn first_page_of(&self, program: CommandId) -> Lpn {
        self.base.buffer.page(SlotId::new(self.writes.loads.get(program, 0))).page
    }

    /// Places a program and hands it to the flash, if there is room. It has `waited` for that.
    pub(super) fn try_issue<const S: Skills>(
        &mut self,
        program: CommandId,
        stream: WriteStream,
        waited: Nanos,
    ) -> bool {
        if !self.place::<S>(program, stream) {
            return false;
        }
        // Who waits for room waits for collection.
        let command = self.base.kernel.flash.command_mut(program);
        command.spent.gc += waited;
        let at = command.page;
        self.base.hand_over::<S>(program, at);
        true
    }

    /// Finds a place for a program, if there is room.
    #[inline(always)]
    fn place<const S: Skills>(&mut self, program: CommandId, stream: WriteStream) -> bool {
        if any(S, RARE) && self.base.services.merger.is_some() {
            return self.place_in_log(program);
        }
        let page = self.first_page_of(program);
        let Some(first) =
            self.base.kernel.ftl.place::<S>(page, stream, self.base.kernel.flash.load())
        else {
            return false;
        };
        self.fill_place::<S>(program, first);
        true
    }

    /// A read for a merge, or the program of a write-back, is done.
    pub(super) fn write_back_command_done<const S: Skills>(&mut self, id: CommandId) {
        let command = self.base.kernel.flash.command(id);
        if command.kind == Kind::Program {
            return self.write_back_done::<S>(id);
        }
        let (spent, Some(program)) = (command.spent, command.then) else { return };
        self.input_came::<S>(program, spent);
        self.begin_after_given_up();
    }

    /// Something that a program, or its row, has waited for is there.
    pub(super) fn input_came<const S: Skills>(&mut self, program: CommandId, spent: Spent) {
        let command = self.base.kernel.flash.command_mut(program);
        command.waits_for -= 1;
        if command.waits_for == 0 {
            // What came last is what the program waited for.
            command.spent = spent;
            match self.base.buffer.rules.row {
                _ if self.writes.cycles.have_barrier() => self.cycle_is_complete(program),
                1 => self.issue::<S>(program),
                _ => self.row_is_complete(program),
            }
        }
    }

    /// The pages of a program are on flash: they become current, and whoever waited is told.
    fn write_back_done<const S: Skills>(&mut self, id: CommandId) {
        let Command { page: first, units, spent, failed, .. } = *self.base.kernel.flash.command(id);
        if any(S, RARE)
            && self.base.kernel.ftl.program_fails::<S>(
                first,
                failed,
                &mut self.base.kernel.contents,
            )
        {
            self.program_again(id);
            self.base.empty_failed::<S>();
            // Only where planes are gated, and it was given up, there may be something to begin now.
            return self
                .writes
                .cycles
                .gate()
                .into_iter()
                .for_each(|gate| self.write_back_by_planes(gate));
        }
        if any(S, RARE)
            && let Some(gate) = self.writes.cycles.gate()
        {
            self.program_by_planes_done(id, gate);
        } else {
            for unit in 0..units {
                let slot = SlotId::new(self.writes.loads.get(id, unit));
                self.make_current::<S>(slot, Ppn::new(first.get() + unit), &spent);
            }
            self.programmed_for_host::<S>(first, units);
            self.base.buffer.under_way.program_ended();
        }
        if any(S, RARE) {
            self.base.empty_failed::<S>();
            self.rewrite_what_is_due::<S>();
        }
        self.base.relieve::<S>();
        self.admit_waiting::<S>();
        self.write_back::<S>();
    }

    /// A page is on flash and becomes the current copy.
    #[inline]
    pub(super) fn make_current<const S: Skills>(&mut self, slot: SlotId, at: Ppn, spent: &Spent) {
        let &Page { page, discard, packed_with, .. } = self.base.buffer.page(slot);
        if any(S, RARE)
            && let Some(second) = packed_with
        {
            return self.base.make_pack_current([slot, second], at, spent);
        }
        if !discard || self.base.plant.is(Canary::TrimForgotten) {
            self.base.kernel.ftl.commit::<S>(page, at);
        }
        self.base.end_write_back::<S>(slot, spent);
        self.admit_next_version::<S>(page);
    }

    /// A version of a page has left the staging area: the write that waited for that comes in.
    #[inline]
    pub(super) fn admit_next_version<const S: Skills>(&mut self, page: Lpn) {
        if self.base.buffer.queue.any_behind() {
            self.admit_what_is_behind::<S>(page);
        }
    }

    fn admit_what_is_behind<const S: Skills>(&mut self, page: Lpn) {
        if self.base.buffer.find(page).is_some() {
            return;
        }
        while let Some(waiting) = self.base.buffer.queue.next_version(page) {
            let refused = any(S, RARE)
                && (self.base.kernel.ftl.is_read_only()
                    || self.base.kernel.ftl.is_homeless(waiting.span.page));
            if refused {
                self.refuse_waiting(waiting);
                continue;
            }
            let Waiting { request, span, .. } = waiting;
            let admitted = self.base.write_page::<S>(request, span, Turn::Waited);
            debug_assert!(admitted, "nothing else can have come in");
            let last = self.base.desk.intake.settle(request);
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
            if entered.is_some() || !self.buffer.rules.keeps_reads {
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
