//! Programs without a clock: their contents, their places, and their ends.

use crate::cache::{Eviction, Page, SlotId};
use crate::device::Contents;
use crate::device::base::Base;
use crate::device::contents::end_of_write_back;
use crate::device::untimed::Untimed;
use crate::device::write::fill;
use crate::engine::skills::ALL;
use crate::ftl::placement::PlacementPolicy;
use crate::ftl::streams::{StreamsPolicy, WriteStream};
use crate::ftl::{Kernel, relocations, rows};
use crate::nand::{CellMode, Row};
use crate::scheduler::{CellJob, CommandId, Kind, Origin, Probe, Work};
use crate::units::{Lpn, PlaneId, Ppn, SimTime};

/// The programs in flight.
#[derive(Default)]
pub(super) struct Programs {
    all: Vec<Program>,
    free: Vec<u32>,
    /// The places of the programs that were just placed.
    placed: Vec<Ppn>,
    /// Reusable memory for the numbers of a row.
    whole_row: Vec<u32>,
}

/// A program of a flash page.
#[derive(Default)]
struct Program {
    slots: Vec<SlotId>,
    /// The first of the whole pages that fill it, if they bypass the buffer; none if slots hold its data.
    whole: Option<Lpn>,
    /// Its place.
    at: Option<Ppn>,
    /// For the first program of a row: all programs of the row, and the number of reads that it waits for.
    row: Vec<u32>,
    waits_for: u32,
}

impl Programs {
    /// Returns the number of a new program.
    #[inline]
    fn begin(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.all.push(Program::default());
            self.all.len() as u32 - 1
        })
    }
}

/// A row whose first page is placed.
struct Begun {
    row: Row,
    mode: CellMode,
    stream: WriteStream,
}

impl<P: Probe, C: Contents> Untimed<'_, P, C> {
    /// Begins every write-back that is due.
    pub(super) fn write_back(&mut self) {
        loop {
            while let Some(first) = self.device.base.buffer.due(&self.device.base.kernel.ftl) {
                match first {
                    Eviction::Page(slot) if self.device.base.buffer.page(slot).dirty.is_empty() => {
                        self.device.base.drop_clean(slot);
                    }
                    _ => {
                        self.begin_row(first);
                        self.look_ahead();
                    }
                }
            }
            if !self.device.base.buffer.queue.made_room() {
                return;
            }
            self.admit_waiting();
        }
    }

    /// Prefetches the map entries of the next candidates, all at once, so that their cache misses overlap.
    #[inline]
    fn look_ahead(&self) {
        let Base { buffer, kernel: Kernel { ftl, .. }, .. } = &self.device.base;
        let pages = buffer.rules.row * self.device.base.units_per_page;
        let next = buffer.candidates().take(pages as usize);
        next.for_each(|slot| ftl.prefetch(buffer.page(slot).page));
    }

    /// Begins the write-back of `first` and of as many further flash pages as fit into its row.
    /// They all wait for the reads that partial pages need.
    fn begin_row(&mut self, first: Eviction) {
        let leader = self.put_together(first);
        let mut row = std::mem::take(&mut self.programs.all[leader as usize].row);
        row.push(leader);
        if self.device.base.buffer.rules.row > 1 {
            let (home, stream) = (self.first_page_of(leader), self.stream_of(leader));
            for number in 1..self.device.base.buffer.rules.row {
                if let Some(next) = self.device.base.next_of_row(home, stream, number) {
                    row.push(self.put_together(next));
                }
            }
        }
        let reads = row.iter().map(|&member| self.read_old_copies(leader, member)).sum();
        let program = &mut self.programs.all[leader as usize];
        (program.row, program.waits_for) = (row, reads);
        if reads == 0 {
            self.place_row(leader);
        }
    }

    /// A read that a row has waited for is done.
    pub(super) fn old_copy_read(&mut self, leader: u32) {
        let left = &mut self.programs.all[leader as usize].waits_for;
        *left -= 1;
        if *left == 0 {
            self.place_row(leader);
        }
    }

    fn place_row(&mut self, leader: u32) {
        let mut row = std::mem::take(&mut self.programs.all[leader as usize].row);
        let mut begun = None;
        for &number in &row {
            self.place_in_row(number, &mut begun);
        }
        row.clear();
        self.programs.all[leader as usize].row = row;
        self.consider_collecting();
    }

    /// Pages were taken: their dies start, and their planes may have to collect.
    fn consider_collecting(&mut self) {
        let mut placed = std::mem::take(&mut self.programs.placed);
        let flash = self.device.base.kernel.flash.geometry();
        placed.iter().for_each(|&at| self.turns.start(flash.die_of_page(at)));
        placed.drain(..).for_each(|at| {
            let plane = self.device.base.kernel.ftl.geometry().plane_of_page(at);
            self.bench().start(plane);
        });
        self.programs.placed = placed;
    }

    /// Prepares the program of `first` and pages that may share its flash page.
    fn put_together(&mut self, first: Eviction) -> u32 {
        let number = self.programs.begin();
        self.device.base.buffer.under_way.program_begun();
        self.device.writes.add_companions::<{ ALL }>(first, &mut self.device.base);
        self.programs.all[number as usize].slots.extend_from_slice(&self.device.writes.batch);
        number
    }

    /// Reads the missing sectors of a program's pages, for the row of `leader`. Returns the number of reads.
    fn read_old_copies(&mut self, leader: u32, number: u32) -> u32 {
        let Base { buffer, kernel: Kernel { ftl, flash, .. }, .. } = &mut self.device.base;
        let slots = &self.programs.all[number as usize].slots;
        let mut reads = 0;
        for &slot in slots {
            let &Page { page, writing_back, padding, .. } = buffer.page(slot);
            if writing_back == ftl.full_page() && !padding {
                continue;
            }
            relocations::settle_page(page, &mut self.later, ftl);
            for part in ftl.fragments(page).into_iter().flatten() {
                if !writing_back.covers(part.sectors) || padding {
                    let (page, mode) = (part.at, ftl.mode_at::<{ ALL }>(part.at));
                    let (kind, origin) = (Kind::Read, Origin::ReadModifyWrite);
                    let senses = flash.senses_of_units::<ALL>([page]);
                    let takes = flash.sheet().price_of_read(page, mode, senses);
                    let moves = flash.sheet().price_of_data(kind, 1);
                    let job = CellJob { kind, origin, page, mode, takes, moves };
                    self.turns.push(Work::OldCopy(leader), job);
                    flash.count_untimed(origin, kind, 1);
                    reads += 1;
                }
            }
        }
        reads
    }

    fn first_page_of(&self, number: u32) -> Lpn {
        let program = &self.programs.all[number as usize];
        program.whole.unwrap_or_else(|| self.device.base.buffer.page(program.slots[0]).page)
    }

    fn stream_of(&self, number: u32) -> WriteStream {
        let program = &self.programs.all[number as usize];
        match program.whole {
            Some(first) => self.device.base.kernel.ftl.streams().host_stream(first, 0),
            None => self.device.base.stream_on_way(program.slots[0]),
        }
    }

    /// Places a program beside the earlier ones of its row if possible, otherwise alone.
    fn place_in_row(&mut self, number: u32, begun: &mut Option<Begun>) {
        let (page, stream) = (self.first_page_of(number), self.stream_of(number));
        if let Some(begun) = begun.as_mut().filter(|begun| begun.stream == stream)
            && self.stalled.is_empty()
            && let Some(at) = self
                .device
                .base
                .kernel
                .ftl
                .place_beside::<ALL>(page, stream, &begun.row, begun.mode)
        {
            self.give_to_die(number, at);
            let flash = self.device.base.kernel.flash.geometry();
            return begun.row.take(flash, flash.plane_of_page(at));
        }
        let pool = self.device.base.kernel.ftl.pool(page);
        if !self.stalled.is_empty() && self.stalled.has_waiting(pool, stream)
            || !self.place(number, page, stream)
        {
            self.waits += 1;
            return self.stalled.push(SimTime(self.waits), CommandId::new(number), pool, stream);
        }
        if self.device.base.buffer.rules.row > 1
            && let Some(at) = self.programs.all[number as usize].at
        {
            let address = self.device.base.kernel.flash.sheet().multi_plane().address;
            let row = Row::new(self.device.base.kernel.flash.geometry(), address, at);
            *begun = Some(Begun {
                row,
                mode: self.device.base.kernel.ftl.mode_at::<{ ALL }>(at),
                stream,
            });
        }
    }

    /// Places a program alone, if there is room.
    fn place(&mut self, number: u32, page: Lpn, stream: WriteStream) -> bool {
        let Some(at) =
            self.device.base.kernel.ftl.place::<{ ALL }>(page, stream, self.turns.load())
        else {
            return false;
        };
        self.give_to_die(number, at);
        true
    }

    /// Records what a program writes at its place, and gives it to its die.
    fn give_to_die(&mut self, number: u32, at: Ppn) {
        let program = &mut self.programs.all[number as usize];
        program.at = Some(at);
        if let Some(first) = program.whole {
            rows::record(at, first, &mut self.device.base.kernel.ftl);
        }
        for (unit, &slot) in (0..).zip(&program.slots) {
            let &Page { page, writing_back, padding, .. } = self.device.base.buffer.page(slot);
            if writing_back != self.device.base.kernel.ftl.full_page() || padding {
                relocations::settle_page(page, &mut self.later, &mut self.device.base.kernel.ftl);
            }
            fill::fill_page::<{ ALL }>(slot, Ppn::new(at.get() + unit), &mut self.device.base);
        }
        let Kernel { ftl, flash, .. } = &self.device.base.kernel;
        let (kind, mode) = (Kind::Program, ftl.mode_at::<{ ALL }>(at));
        let takes = flash.sheet().price_of(kind, at, mode);
        let moves = flash.sheet().price_of_data(kind, ftl.geometry().units_per_page());
        let job = CellJob { kind, origin: Origin::Host, page: at, mode, takes, moves };
        self.turns.put(Work::Program(number), job);
        self.programs.placed.push(at);
    }

    /// The host may write to a plane again: places stalled programs there, oldest first.
    pub(super) fn retry_stalled(&mut self, plane: PlaneId) {
        let pool = self.device.base.kernel.ftl.placement().pool_of(plane);
        loop {
            let may = |stream| self.device.base.kernel.ftl.may_place(plane, stream);
            let Some((waiting, stream)) = self.stalled.oldest(pool, may) else { return };
            let number = waiting.program.get();
            let page = self.first_page_of(number);
            if !self.place(number, page, stream) {
                return;
            }
            self.stalled.forget_oldest(SimTime(self.waits), pool, stream);
            self.consider_collecting();
        }
    }

    /// The pages of a program are on flash and become current.
    pub(super) fn commit(&mut self, number: u32) {
        let program = &mut self.programs.all[number as usize];
        let Some(first) = program.at.take() else { return };
        if let Some(page) = program.whole.take() {
            self.programs.free.push(number);
            return self.commit_whole(page, first);
        }
        let mut slots = std::mem::take(&mut program.slots);
        for (unit, &slot) in (0..).zip(&slots) {
            let &Page { page, discard, .. } = self.device.base.buffer.page(slot);
            if !discard {
                relocations::settle_page(page, &mut self.later, &mut self.device.base.kernel.ftl);
                self.device.base.kernel.ftl.commit::<{ ALL }>(page, Ppn::new(first.get() + unit));
            }
            let Base { buffer, kernel: Kernel { ftl, contents, .. }, .. } = &mut self.device.base;
            end_of_write_back(slot, buffer.page(slot).dirty.is_empty(), contents);
            let (requests, free) = (&mut self.requests, &mut self.free);
            buffer.end_write_back(slot, ftl, |id| Self::settle(requests, free, id));
            self.admit_next_version(page);
        }
        self.device.base.kernel.ftl.programmed_for_host::<{ ALL }>(first, slots.len() as u32);
        self.device.base.buffer.under_way.program_ended();
        slots.clear();
        self.programs.all[number as usize].slots = slots;
        self.programs.free.push(number);
    }

    /// Begins a row of flash pages whose whole pages bypass the buffer. `firsts` are the first pages of each.
    pub(super) fn begin_whole_row(&mut self, firsts: &[Lpn]) {
        let mut row = std::mem::take(&mut self.programs.whole_row);
        for &first in firsts {
            let number = self.programs.begin();
            self.device.base.buffer.under_way.program_begun();
            self.programs.all[number as usize].whole = Some(first);
            row.push(number);
        }
        let leader = row[0];
        std::mem::swap(&mut self.programs.all[leader as usize].row, &mut row);
        self.programs.whole_row = row;
        self.place_row(leader);
    }

    /// The place and the first page of a program that bypasses the buffer.
    #[inline]
    pub(super) fn whole_at(&self, number: u32) -> Option<(Ppn, Lpn)> {
        let program = &self.programs.all[number as usize];
        program.at.zip(program.whole)
    }

    /// Moves a program in flight forward by this many places and logical pages.
    pub(super) fn move_whole(&mut self, number: u32, places: u32, pages: u32) {
        let program = &mut self.programs.all[number as usize];
        program.at = program.at.map(|at| Ppn::new(at.get() + places));
        program.whole = program.whole.map(|page| Lpn::new(page.get() + pages));
    }

    /// Commits a program whose pages bypassed the buffer.
    fn commit_whole(&mut self, page: Lpn, first: Ppn) {
        let Base { buffer, kernel: Kernel { ftl, .. }, .. } = &mut self.device.base;
        let count = ftl.geometry().units_per_page();
        for page in (page.get()..page.get() + count).map(Lpn::new) {
            relocations::settle_page(page, &mut self.later, ftl);
        }
        rows::commit(page, first, ftl);
        ftl.programmed_for_host::<{ ALL }>(first, count);
        buffer.under_way.program_ended();
        buffer.count_passing(count.into());
    }
}
