//! The writer of the system area: programs deallocations and checkpoints for [recovery](crate::ftl::recovery).
//!
//! A trim completes and takes effect when its page of the journal is on flash. Trims that arrive
//! while one page is being programmed share the next one. A checkpoint is written in the
//! background, a few pages at a time, and counts when its last page is on flash.
//!
//! The system area has blocks of its own, as those for firmware and the list of bad blocks have:
//! some on each die, of which one is filled at a time, in turn over the dies. When a block is full,
//! the previous one is erased. When the journal has filled a block's worth of pages, it is written
//! anew as a bit for each logical page. Its wear is not modelled, but its commands are.

use super::gc::Collector;
use super::recovery::Upkeep;
use super::service::{Service, Signals};
use super::{FlashContents, Kernel};
use crate::ftl::recovery::snapshot;
use crate::scheduler::{Command, CommandId, Flash, Kind, Origin, Probe, ServiceId};
use crate::shape::FlashGeometry;
use crate::units::{RequestId, SimTime};

/// Programs of the system area in flight, and the trims that wait for them.
#[derive(Clone, Debug)]
pub(crate) struct Journal {
    /// Trims that no program carries yet.
    waiting: Vec<RequestId>,
    /// Trims whose page is being programmed.
    writing: Vec<RequestId>,
    /// Programs of the journal in flight.
    programs: u32,
    /// Pages of the journal that recovery reads.
    pages: u32,
    /// Of these, pages since the journal was written anew.
    since: u32,
    /// Pages of the journal as a bit for each logical page.
    compact: u32,
    area: Area,
    checkpoints: Option<Checkpoints>,
}

/// When checkpoints are written, and the progress of the current one.
#[derive(Clone, Copy, Debug)]
struct Checkpoints {
    /// Mapping units that the host writes between two checkpoints.
    every: u64,
    /// Mapping units written at the last checkpoint.
    last: u64,
    /// Pages that are not submitted yet.
    left: u32,
    under_way: u32,
}

/// The place of the next page: by die, how far its block is filled.
#[derive(Clone, Debug)]
struct Area {
    filled: Vec<u32>,
    turn: u32,
}

/// The purpose of a command of the system area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
enum SystemCommand {
    Trims,
    Checkpoint,
    /// An erase, whose end nobody waits for.
    Nothing,
}

impl Journal {
    /// The empty journal of a device of this shape.
    pub fn new(upkeep: Upkeep, geometry: &FlashGeometry, logical_pages: u32) -> Journal {
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
    pub fn pages(&self) -> u32 {
        self.pages
    }

    /// After a power cut: this many pages of the journal were found. The open blocks are not filled any further.
    pub fn take_up(&mut self, pages: u32, pages_per_block: u32) {
        self.pages = pages;
        self.area.filled.fill(pages_per_block);
    }

    /// Records a trim.
    pub fn note<P: Probe, C>(&mut self, trim: RequestId, on: &mut Kernel<P, C>) {
        self.waiting.push(trim);
        self.write(on);
    }

    /// Takes the trims whose page is on flash.
    pub fn take_noted(&mut self) -> Vec<RequestId> {
        std::mem::take(&mut self.writing)
    }

    /// Begins the next page of the journal, if one is due and none is in flight.
    pub fn write<P: Probe, C>(&mut self, on: &mut Kernel<P, C>) {
        if self.programs > 0 || self.waiting.is_empty() {
            return;
        }
        std::mem::swap(&mut self.waiting, &mut self.writing);
        (self.pages, self.since) = (self.pages + 1, self.since + 1);
        let whole = on.flash.geometry().shape().pages_per_block;
        let mut pages = 1;
        if self.since >= whole {
            (self.pages, self.since) = (self.compact, 0);
            pages += self.compact;
        }
        self.programs = pages;
        (0..pages).for_each(|_| self.area.program(SystemCommand::Trims, on.now, &mut on.flash));
    }

    /// The host has written a flash page: begins a checkpoint if one is due.
    pub fn consider_checkpoint<P: Probe, C>(&mut self, on: &mut Kernel<P, C>) {
        let written = on.ftl.counts().host_pages;
        let Some(run) = &mut self.checkpoints else { return };
        if written - run.last < run.every || run.left + run.under_way > 0 {
            return;
        }
        run.last = written;
        let Some(pages) = snapshot::begin_checkpoint(&mut on.ftl) else { return };
        let at_once = pages.min(on.flash.geometry().dies());
        (run.left, run.under_way) = (pages - at_once, at_once);
        (0..at_once)
            .for_each(|_| self.area.program(SystemCommand::Checkpoint, on.now, &mut on.flash));
    }

    /// A page of a checkpoint is on flash.
    fn checkpoint_page_done<P: Probe, C>(&mut self, on: &mut Kernel<P, C>) {
        let Some(run) = &mut self.checkpoints else { return };
        if run.left > 0 {
            run.left -= 1;
            return self.area.program(SystemCommand::Checkpoint, on.now, &mut on.flash);
        }
        run.under_way -= 1;
        if run.under_way == 0 {
            snapshot::end_checkpoint(&mut on.ftl);
        }
    }
}

impl Area {
    /// Programs the next page of the system area.
    fn program<P: Probe>(&mut self, what: SystemCommand, now: SimTime, flash: &mut Flash<P>) {
        let geometry = flash.geometry();
        let die = geometry.die_at_turn(self.turn);
        self.turn = (self.turn + 1) % geometry.dies();
        let filled = &mut self.filled[die.at()];
        let is_full = *filled == geometry.shape().pages_per_block;
        let number = if is_full { 0 } else { *filled };
        *filled = number + 1;
        let block = geometry.block_in(geometry.plane_in(die, 0), 0);
        let page = geometry.page_at(block, number * geometry.units_per_page());
        let owner = |what: SystemCommand| ServiceId::JOURNAL.owner(what as u32);
        if is_full {
            let erase =
                Command::new(Kind::Erase, Origin::System, owner(SystemCommand::Nothing), page);
            let erase = flash.prepare(erase);
            flash.submit(now, erase);
        }
        let mut program = Command::new(Kind::Program, Origin::System, owner(what), page);
        program.codewords = flash.bus().page_codewords();
        let program = flash.prepare(program);
        flash.submit(now, program);
    }
}

impl Service for Journal {
    const ID: ServiceId = ServiceId::JOURNAL;
    const NEEDS_TIME: &'static str = "it records metadata for recovery";

    fn done(
        &mut self,
        token: u32,
        _: CommandId,
        on: &mut Kernel<impl Probe, impl FlashContents>,
        _: &mut Collector,
    ) -> Signals {
        if token == SystemCommand::Trims as u32 {
            self.programs -= 1;
            return if self.programs == 0 { Signals::TRIMS } else { Signals::NONE };
        }
        if token == SystemCommand::Checkpoint as u32 {
            self.checkpoint_page_done(on);
        }
        Signals::NONE
    }
}
