//! The system area at work: deallocations and checkpoints on their way to flash, for the sake of
//! [recovery](crate::ftl::recovery).
//!
//! A trim is told, and takes effect, when the page of the journal that says so is on flash; those that come while
//! one is being programmed share the next one. A checkpoint is written beside everything else, a few pages at a time,
//! and counts when the last of them is on flash.
//!
//! The system area lies in blocks beside those that the FTL has, as those do that hold the firmware and the list of bad
//! blocks: on each die some, of which one is filled at a time, the dies in turn. When a block is full the one before is
//! erased. When the journal has filled a block's worth of pages, it is written anew as a bit for each logical page. Its
//! wear is not modelled; its commands are.

use super::Contents;
use super::Writes;
use super::base::Base;
use crate::engine::skills;
use crate::ftl::recovery::Upkeep;
use crate::host::Request;
use crate::scheduler::{Command, CommandId, Kind, Origin, Probe, Task};
use crate::shape::Geometry;
use crate::units::RequestId;

/// What is on its way to the system area, and what waits for it.
#[derive(Clone, Debug)]
pub(super) struct Journal {
    /// Trims that no program carries yet.
    waiting: Vec<(RequestId, Request)>,
    /// Trims whose page is being programmed.
    writing: Vec<(RequestId, Request)>,
    /// Programs of the journal that are not done.
    programs: u32,
    /// Pages of it that recovery reads.
    pages: u32,
    /// Of these, the ones since it was written anew.
    since: u32,
    /// How many it takes as a bit for each logical page.
    compact: u32,
    area: Area,
    checkpoints: Option<Checkpoints>,
}

/// When the map goes to flash, and what of it is on its way.
#[derive(Clone, Copy, Debug)]
struct Checkpoints {
    /// Mapping units of the host between two of them.
    every: u64,
    /// How many there had been at the last one.
    last: u64,
    /// Pages that have not begun.
    left: u32,
    under_way: u32,
}

/// Where the next page goes: by die, how far its block is filled.
#[derive(Clone, Debug)]
struct Area {
    filled: Vec<u32>,
    turn: u32,
}

impl Journal {
    /// Of a device of this shape.
    pub(super) fn new(upkeep: Upkeep, geometry: &Geometry, logical_pages: u32) -> Journal {
        let shape = geometry.shape();
        let bits = u64::from(u8::BITS) * shape.page_size.0;
        let unit = shape.mapping_unit.0;
        Journal {
            waiting: Vec::new(),
            writing: Vec::new(),
            programs: 0,
            pages: 0,
            since: 0,
            compact: u64::from(logical_pages).div_ceil(bits) as u32,
            area: Area { filled: vec![0; geometry.dies() as usize], turn: 0 },
            checkpoints: upkeep.checkpoint_every.map(|every| Checkpoints {
                every: every.0.div_ceil(unit),
                last: 0,
                left: 0,
                under_way: 0,
            }),
        }
    }

    /// Pages of the journal that recovery reads.
    pub(super) fn pages(&self) -> u32 {
        self.pages
    }

    /// After a power cut: so many pages of it were found.
    /// The blocks that were being filled are filled no further.
    pub(super) fn take_up(&mut self, pages: u32, pages_per_block: u32) {
        self.pages = pages;
        self.area.filled.fill(pages_per_block);
    }
}

impl Writes {
    /// A trim: at once, or when the journal has it.
    pub(super) fn trim_in_turn(
        &mut self,
        id: RequestId,
        request: &Request,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        let Some(journal) = on.services.journal.as_deref_mut() else {
            return self.submit_trim(request, on);
        };
        on.desk.intake.wait_for_one(id);
        journal.waiting.push((id, *request));
        on.write_journal();
    }

    /// A page of the journal is on flash.
    pub(super) fn journal_done(&mut self, id: CommandId, on: &mut Base<impl Probe, impl Contents>) {
        let spent = on.kernel.flash.command(id).spent;
        let Some(journal) = on.services.journal.as_deref_mut() else { return };
        journal.programs -= 1;
        if journal.programs > 0 {
            return;
        }
        for (trim, request) in std::mem::take(&mut journal.writing) {
            self.submit_trim(&request, on);
            on.settle::<{ skills::ALL }>(trim, &spent);
        }
        on.write_journal();
    }
}

impl<P: Probe, C: Contents> Base<P, C> {
    /// Begins the next page of the journal, if one is due and none is under way.
    fn write_journal(&mut self) {
        let Some(journal) = self.services.journal.as_deref_mut() else { return };
        if journal.programs > 0 || journal.waiting.is_empty() {
            return;
        }
        std::mem::swap(&mut journal.waiting, &mut journal.writing);
        (journal.pages, journal.since) = (journal.pages + 1, journal.since + 1);
        let whole = self.kernel.flash.geometry().shape().pages_per_block;
        let mut pages = 1;
        if journal.since >= whole {
            (journal.pages, journal.since) = (journal.compact, 0);
            pages += journal.compact;
        }
        journal.programs = pages;
        (0..pages).for_each(|_| self.program_system_page(Task::Journal));
    }

    /// The host has written a flash page: the map may be due.
    #[inline]
    pub(super) fn consider_checkpoint(&mut self) {
        if self.services.journal.is_some() {
            self.begin_checkpoint_if_due();
        }
    }

    fn begin_checkpoint_if_due(&mut self) {
        let written = self.kernel.ftl.counts().host_pages;
        let Some(journal) = self.services.journal.as_deref_mut() else { return };
        let Some(run) = &mut journal.checkpoints else { return };
        if written - run.last < run.every || run.left + run.under_way > 0 {
            return;
        }
        run.last = written;
        let Some(pages) = self.kernel.ftl.begin_checkpoint() else { return };
        let dies = self.kernel.flash.geometry().dies();
        let at_once = pages.min(dies);
        (run.left, run.under_way) = (pages - at_once, at_once);
        (0..at_once).for_each(|_| self.program_system_page(Task::Checkpoint));
    }

    /// A page of a checkpoint is on flash.
    pub(super) fn checkpoint_page_done(&mut self) {
        let Some(journal) = self.services.journal.as_deref_mut() else { return };
        let Some(run) = &mut journal.checkpoints else { return };
        if run.left > 0 {
            run.left -= 1;
            return self.program_system_page(Task::Checkpoint);
        }
        run.under_way -= 1;
        if run.under_way == 0 {
            self.kernel.ftl.end_checkpoint();
        }
    }

    /// Programs the next page of the system area.
    fn program_system_page(&mut self, task: Task) {
        let Some(journal) = self.services.journal.as_deref_mut() else { return };
        let geometry = self.kernel.flash.geometry();
        let die = geometry.die_at_turn(journal.area.turn);
        journal.area.turn = (journal.area.turn + 1) % geometry.dies();
        let filled = &mut journal.area.filled[die.at()];
        let is_full = *filled == geometry.shape().pages_per_block;
        let number = if is_full { 0 } else { *filled };
        *filled = number + 1;
        let block = geometry.block_in(geometry.plane_in(die, 0), 0);
        let page = geometry.page_at(block, number * geometry.units_per_page());
        if is_full {
            let erase = Command::new(Kind::Erase, Origin::System, Task::EraseSystem, page);
            let erase = self.kernel.flash.prepare(erase);
            self.kernel.flash.submit(self.kernel.now, erase);
        }
        let mut program = Command::new(Kind::Program, Origin::System, task, page);
        program.codewords = self.kernel.flash.bus().page_codewords();
        let program = self.kernel.flash.prepare(program);
        self.kernel.flash.submit(self.kernel.now, program);
    }
}
