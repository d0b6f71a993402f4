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
//!
//! On a device whose dies may die, each page of the system area is programmed on two dies, and an
//! [`index`] names what was programmed elsewhere.

mod area;
mod index;

pub(crate) use index::Unindexed;

use self::area::Area;
use self::index::Index;
use super::gc::Collector;
use super::recovery::Upkeep;
use super::service::{Service, Signals};
use super::{FlashContents, Kernel};
use crate::ftl::recovery::snapshot;
use crate::nand::Kind;
use crate::scheduler::{CommandId, Flash, Origin, Probe, ServiceId};
use crate::shape::FlashGeometry;
use crate::units::{Ppn, RequestId};

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
    /// How often each page of the system area is programmed.
    copies: u32,
    area: Area,
    checkpoints: Option<Checkpoints>,
    /// None if no die can die.
    index: Option<Box<Index>>,
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

/// The purpose of a command of the system area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
enum SystemCommand {
    Trims,
    Checkpoint,
    Index,
    /// An erase, whose end nobody waits for.
    Nothing,
}

/// What the journal has to provide for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JournalSetup {
    pub upkeep: Upkeep,
    pub logical_pages: u32,
    /// Whether dies may die.
    pub dies_die: bool,
    /// How many logical pages may share a mapping unit.
    pub parts: u32,
}

/// Pages of the system area that recovery reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JournalPages {
    /// Of the journal of trims.
    pub trims: u32,
    /// Of the index; none if no die can die.
    pub index: u32,
}

impl Journal {
    /// The empty journal of a device of this shape.
    #[must_use]
    pub fn new(setup: JournalSetup, geometry: &FlashGeometry) -> Journal {
        let JournalSetup { upkeep, logical_pages, dies_die, parts } = setup;
        let shape = geometry.shape();
        let bits = u64::from(u8::BITS) * shape.page_size.0;
        let unit = shape.mapping_unit.0;
        let has_checkpoints = upkeep.checkpoint_every.is_some();
        let index = || Box::new(Index::new(geometry, (logical_pages, parts), has_checkpoints));
        Journal {
            waiting: Vec::new(),
            writing: Vec::new(),
            programs: 0,
            pages: 0,
            since: 0,
            compact: u64::from(logical_pages).div_ceil(bits) as u32,
            copies: if dies_die { geometry.dies().min(2) } else { 1 },
            area: Area::new(geometry.dies()),
            checkpoints: upkeep.checkpoint_every.map(|every| Checkpoints {
                every: every.0.div_ceil(unit),
                last: 0,
                left: 0,
                under_way: 0,
            }),
            index: dies_die.then(index),
        }
    }

    /// Pages that recovery reads.
    pub fn pages(&self) -> JournalPages {
        let index = self.index.as_ref().map_or(0, |index| index.pages());
        JournalPages { trims: self.pages, index }
    }

    /// After a power cut: these pages were found. The open blocks are not filled any further.
    pub fn take_up(&mut self, pages: JournalPages, pages_per_block: u32) {
        self.pages = pages.trims;
        self.index.iter_mut().for_each(|index| index.take_up(pages.index));
        self.area.close_blocks(pages_per_block);
    }

    /// After a load: recovery has a record of so many pages on flash.
    pub fn begin_with(&mut self, pages: u64) {
        self.index.iter_mut().for_each(|index| index.begin_with(pages));
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
        self.programs = pages * self.copies;
        (0..self.programs).for_each(|_| self.area.program(SystemCommand::Trims, on));
    }

    /// A command is done. If it programmed something that only counts when it is indexed, keeps it until then, and
    /// returns true.
    pub fn keeps_back<P: Probe, C>(&mut self, id: CommandId, on: &mut Kernel<P, C>) -> bool {
        let Some(index) = &mut self.index else { return false };
        let command = on.flash.command(id);
        let programs = matches!(command.kind, Kind::Program | Kind::Copyback);
        // Parity holds no page of its own.
        let is_data =
            command.origin != Origin::System && command.owner.service != ServiceId::STRIPES;
        if !programs || !is_data || command.found.failed {
            return false;
        }
        index.wait(Unindexed { id, since: on.now });
        self.write_index(on);
        true
    }

    /// Whether programs wait for an index.
    pub fn has_index(&self) -> bool {
        self.index.is_some()
    }

    /// Begins the next pages of the index, if some are due and none are in flight.
    pub fn write_index<P: Probe, C>(&mut self, on: &mut Kernel<P, C>) {
        let programs = self.index.as_mut().map_or(0, |index| index.begin(self.copies));
        (0..programs).for_each(|_| self.area.program(SystemCommand::Index, on));
    }

    /// Takes the programs that are indexed now.
    pub fn take_indexed(&mut self) -> Vec<Unindexed> {
        self.index.as_mut().map(|index| index.take_indexed()).unwrap_or_default()
    }

    /// The next of these counts.
    pub fn next_counts(&mut self) {
        self.index.iter_mut().for_each(|index| index.next_counts());
    }

    /// The flash pages whose program is done, and that are not indexed.
    pub fn unindexed<'a, P: Probe>(
        &'a self,
        flash: &'a Flash<P>,
    ) -> impl Iterator<Item = Ppn> + use<'a, P> {
        let all = self.index.iter().flat_map(|index| index.unindexed());
        all.map(|program| flash.command(program.id).page)
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
        self.index.iter_mut().for_each(|index| index.checkpoint_begins());
        let programs = pages * self.copies;
        let at_once = programs.min(on.flash.geometry().dies());
        (run.left, run.under_way) = (programs - at_once, at_once);
        (0..at_once).for_each(|_| self.area.program(SystemCommand::Checkpoint, on));
    }

    /// A page of a checkpoint is on flash.
    fn checkpoint_page_done<P: Probe, C>(&mut self, on: &mut Kernel<P, C>) {
        let Some(run) = &mut self.checkpoints else { return };
        if run.left > 0 {
            run.left -= 1;
            return self.area.program(SystemCommand::Checkpoint, on);
        }
        run.under_way -= 1;
        if run.under_way == 0 {
            snapshot::end_checkpoint(&mut on.ftl);
            self.index.iter_mut().for_each(|index| index.checkpoint_ends());
        }
    }

    /// A page of trims is on flash.
    fn trims_done(&mut self) -> Signals {
        self.programs -= 1;
        if self.programs == 0 { Signals::TRIMS } else { Signals::NONE }
    }

    /// A page of the index is on flash.
    fn index_page_done(&mut self) -> Signals {
        let is_last = self.index.as_mut().is_some_and(|index| index.page_done());
        if is_last { Signals::INDEXED } else { Signals::NONE }
    }
}

impl SystemCommand {
    const ALL: [SystemCommand; 4] = [
        SystemCommand::Trims,
        SystemCommand::Checkpoint,
        SystemCommand::Index,
        SystemCommand::Nothing,
    ];
}

impl Service for Journal {
    const ID: ServiceId = ServiceId::JOURNAL;
    const NEEDS_TIME: &'static str = "it records metadata for recovery";

    fn done(
        &mut self,
        token: u32,
        id: CommandId,
        on: &mut Kernel<impl Probe, impl FlashContents>,
        _: &mut Collector,
    ) -> Signals {
        let what = SystemCommand::ALL[token as usize];
        let failed = on.flash.command(id).found.failed;
        if failed && what != SystemCommand::Nothing && self.area.program_elsewhere(what, on) {
            return Signals::NONE;
        }
        match what {
            SystemCommand::Trims => self.trims_done(),
            SystemCommand::Checkpoint => {
                self.checkpoint_page_done(on);
                Signals::NONE
            }
            SystemCommand::Index => self.index_page_done(),
            SystemCommand::Nothing => Signals::NONE,
        }
    }
}
