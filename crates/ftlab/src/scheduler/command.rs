//! A flash command: what one die is to do, for whom, and which command waits for it.

use serde::Serialize;

use super::owner::Owner;
use crate::engine::Handle;
use crate::engine::skills::{RARE_ON_FLASH, Skills, any};
use crate::nand::{CellMode, CostClass, Kind, ProgramCost, ReadEffort, Senses};
use crate::units::{DieId, Nanos, Ppn, SimTime};
use crate::verify;

/// The purpose of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A host read, or the write-back of host data. With a map on flash also reads of translation pages for host reads,
    /// and all programs of translation pages.
    Host,
    /// The read of a read-modify-write. With a map on flash also reads of translation pages for write-backs and trims.
    ReadModifyWrite,
    /// Garbage collection. With a map on flash also reads of translation pages that it updates, not their programs.
    Gc,
    /// Moving data to care for blocks: wear levelling, refreshing, and emptying blocks that go bad.
    Wear,
    /// Moving data from the SLC cache to blocks of full density.
    Fold,
    /// Programming pages again, at another cost.
    Rewrite,
    /// The system area, which keeps the data for recovery from power cuts: the journal of trims, checkpoints of the map,
    /// and erases of the blocks that hold them.
    System,
}

impl Origin {
    /// All origins, in the order of the counters.
    pub const ALL: [Origin; 7] = [
        Origin::Host,
        Origin::ReadModifyWrite,
        Origin::Gc,
        Origin::Wear,
        Origin::Fold,
        Origin::Rewrite,
        Origin::System,
    ];

    /// Its name, as results have it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Origin::Host => "host",
            Origin::ReadModifyWrite => "read_modify_write",
            Origin::Gc => "gc",
            Origin::Wear => "wear",
            Origin::Fold => "fold",
            Origin::Rewrite => "rewrite",
            Origin::System => "system",
        }
    }
}

/// How a command's time was spent so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Waiting for entries of the map before the command could begin.
    pub translation: Nanos,
    /// Waiting for the die or the bus while it served host work.
    pub queue: Nanos,
    /// Waiting for the die or the bus while it served collection or another task of the device: wear levelling,
    /// folding, rewrites.
    pub gc: Nanos,
    /// On the bus, and behind it: in the engines that decode what was read, and on the way into DRAM or out of it.
    pub bus: Nanos,
    /// In the cells.
    pub cell: Nanos,
}

impl Spent {
    /// Accounts for a wait, during which the device's own work held what the command waited for, for `for_gc`. Dies that
    /// wait for each other on a chip, or do two things at once, may be held more than once, so the share is capped.
    #[inline]
    pub(super) fn account_wait(&mut self, waited: Nanos, for_gc: Nanos) {
        let gc = for_gc.min(waited);
        self.gc += gc;
        self.queue += Nanos(waited.0 - gc.0);
    }

    /// Adds time spent later.
    pub(crate) fn add(&mut self, more: &Spent) {
        let Spent { translation, queue, gc, bus, cell } = *more;
        self.translation += translation;
        self.queue += queue;
        self.gc += gc;
        self.bus += bus;
        self.cell += cell;
    }

    /// Returns a wait for entries of the map and nothing else.
    pub(crate) fn on_translation(waited: Nanos) -> Spent {
        Spent { translation: waited, ..Spent::default() }
    }

    /// The sum of the parts: the time from the command's start to its end.
    #[must_use]
    pub fn total(&self) -> Nanos {
        self.translation + self.queue + self.gc + self.bus + self.cell
    }
}

/// A handle to a command in flight.
pub type CommandId = Handle<Command>;

/// An arriving command as a policy sees it.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Its handle.
    pub id: CommandId,
    /// What the die is to do.
    pub kind: Kind,
    /// Its purpose.
    pub origin: Origin,
    /// Its die.
    pub die: DieId,
    /// The time of arrival.
    pub at: SimTime,
    /// Number of commands that arrived before it on the whole device.
    pub sequence: u64,
}

/// A flash command.
#[derive(Clone, Debug)]
pub struct Command {
    /// What the die does.
    pub kind: Kind,
    /// Its purpose.
    pub origin: Origin,
    /// Who is told when it is done.
    pub owner: Owner,
    /// Number of pages (mapping units) of the flash page that it carries.
    pub units: u32,
    /// Number of codewords that cross the bus.
    pub codewords: u32,
    /// Its page: the first one of a flash page or block. A program has one only once it is placed.
    pub page: Ppn,
    /// The flash page that a copyback senses, or that a merge copies.
    pub source: Option<Ppn>,
    /// The pages of a word line that a read senses; all of them, or the flash page that is no word line, if none are
    /// named.
    pub senses: Option<Senses>,
    /// The mode of the cells of its block. A copyback senses in it, and programs at full density.
    pub mode: CellMode,
    /// What it meets in the cells.
    pub found: CellFindings,
    /// Whether it programs a page of the map, or parity of such pages. Its origin is the host's, for which it is done.
    pub of_map: bool,
    /// The cost at which it is to program the page.
    pub(super) cost: ProgramCost,
    /// The command that waits for this one.
    pub then: Option<CommandId>,
    /// Number of commands that this one still waits for.
    pub waits_for: u32,
    /// How its time was spent.
    pub spent: Spent,
    pub(super) ticket: Ticket,
}

/// What a command meets in the cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CellFindings {
    /// The effort of sensing the page; only if the timing knows costs.
    pub effort: ReadEffort,
    /// Whether the page that it senses cannot be read: its data is lost.
    pub unreadable: bool,
    /// Whether it failed, so nothing was programmed or erased.
    pub failed: bool,
    /// Whether it reads, or copies unchanged, data from before the run.
    pub(crate) from_before: bool,
    /// Whether what it read has left its die and is decoded, so that its place may be erased. What depends on the place is
    /// settled already.
    pub(crate) has_left: bool,
}

impl CellFindings {
    /// Whether something went wrong that the layers above have not been told.
    #[inline]
    #[must_use]
    pub(crate) fn is_news(&self) -> bool {
        self.is_bad() && !self.has_left
    }

    /// Whether something went wrong.
    #[inline]
    #[must_use]
    pub fn is_bad(&self) -> bool {
        self.unreadable || self.failed
    }
}

/// The scheduler's state of a command.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticket {
    /// Its die.
    pub die: DieId,
    /// Decides whether it may share an operation with others on several planes.
    pub seat: Seat,
    /// Its rank for the die, from the policy. The smallest goes first.
    pub key: u64,
    /// Number of commands that arrived before it on the whole device.
    pub arrival: u64,
    /// The next command: first of its row, then in its lane, then of those that share its operation.
    pub next: Option<CommandId>,
    /// When its wait for the die, and later for the bus, began.
    pub waiting_since: SimTime,
    /// The time for which the device's own work had held what it waits for when this wait began: the die, and the bus
    /// while the die was free; to send, the bus.
    pub gc_mark: Nanos,
}

impl Ticket {
    /// The ticket of a command that has not been submitted.
    const BLANK: Ticket = Ticket {
        die: DieId::new(0),
        seat: Seat { plane: 0, address: (0, 0), block: 0 },
        key: 0,
        arrival: 0,
        next: None,
        waiting_since: SimTime::ZERO,
        gc_mark: Nanos::ZERO,
    };
}

/// The position of a command in its die, as far as it decides which other commands its operation may serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seat {
    /// A bit for its plane.
    pub plane: u32,
    /// Its block and its flash page in the block, as far as they must be the same for all.
    pub address: (u32, u32),
    /// Its block.
    pub block: u32,
}

impl Command {
    /// Returns a command that has not been placed or queued and waits for nothing.
    #[inline]
    #[must_use]
    pub fn new(kind: Kind, origin: Origin, owner: Owner, page: Ppn) -> Command {
        Command {
            kind,
            origin,
            owner,
            units: 0,
            codewords: 0,
            page,
            source: None,
            senses: None,
            mode: CellMode::Native,
            found: CellFindings::default(),
            of_map: false,
            cost: ProgramCost::Of(CostClass::default()),
            then: None,
            waits_for: 0,
            spent: Spent::default(),
            ticket: Ticket::BLANK,
        }
    }

    /// Sets the number of pages and of codewords that it carries.
    #[inline(always)]
    #[must_use]
    pub fn carrying(mut self, units: u32, codewords: u32) -> Command {
        (self.units, self.codewords) = (units, codewords);
        self
    }

    /// Sets the mode of the cells of its block.
    #[inline(always)]
    #[must_use]
    pub fn in_mode(mut self, mode: CellMode) -> Command {
        self.mode = mode;
        self
    }

    /// Sets the pages of a word line that it senses.
    #[inline(always)]
    #[must_use]
    pub fn sensing(mut self, senses: Option<Senses>) -> Command {
        self.senses = senses;
        self
    }

    /// Sets the command that waits for this one.
    #[inline(always)]
    #[must_use]
    pub fn then(mut self, waiting: CommandId) -> Command {
        self.then = Some(waiting);
        self
    }

    /// Sets the number of commands that this one waits for.
    #[inline(always)]
    #[must_use]
    pub fn after(mut self, others: u32) -> Command {
        self.waits_for = others;
        self
    }

    /// Turns a read into the program of its data elsewhere.
    #[inline]
    pub(crate) fn turn_into_program(&mut self, codewords: u32) {
        self.kind = Kind::Program;
        self.codewords = codewords;
        self.mode = CellMode::Native;
        self.found = CellFindings::default();
    }

    /// Sets the cost at which it is to program.
    #[inline]
    pub fn set_cost(&mut self, cost: ProgramCost) {
        self.cost = cost;
    }

    /// The cost at which it was to program.
    pub(crate) fn cost(&self) -> ProgramCost {
        self.cost
    }

    /// The cost class of the program, as far as it is known. If it depends on other commands, the highest one.
    #[inline]
    pub(super) fn class(&self) -> CostClass {
        match self.cost {
            ProgramCost::Of(class) => class,
            ProgramCost::ByCrowd(_) => CostClass::High,
        }
    }

    /// Its rank. The order of arrival breaks ties, so programs and copybacks of a block keep their order.
    #[inline]
    pub(super) fn rank(&self) -> (u64, u64) {
        (self.ticket.key, self.ticket.arrival)
    }

    /// Whether it brings data from flash.
    #[inline]
    pub(super) fn is_read_with_data(&self) -> bool {
        self.kind == Kind::Read && self.codewords > 0
    }

    /// Number of commands that arrived before it.
    pub(crate) fn arrival(&self) -> u64 {
        self.ticket.arrival
    }

    /// Whether the times in [`Spent`] are kept. Nobody asks for those of commands that only move data, so these
    /// have them only with the set of all skills, for observers of single commands, and in devices that check
    /// themselves.
    #[inline(always)]
    pub(super) fn keeps_account<const S: Skills>(&self) -> bool {
        any(S, RARE_ON_FLASH) || verify::ON || !self.is_copy()
    }

    /// Whether it serves only to move data from one place on flash to another.
    #[inline(always)]
    pub(crate) fn is_copy(&self) -> bool {
        matches!(self.origin, Origin::Gc | Origin::Wear | Origin::Fold | Origin::Rewrite)
    }

    /// How many commands arrived before it; known once it has arrived.
    #[inline]
    #[must_use]
    pub fn sequence(&self) -> u64 {
        self.ticket.arrival
    }

    /// Whether it is the device's own: it serves only the device itself, or programs the map.
    pub(super) fn is_own(&self) -> bool {
        self.is_gc() || self.of_map
    }

    /// Whether it serves only the device itself, for any purpose. A command that waits behind it waits for
    /// collection.
    pub(super) fn is_gc(&self) -> bool {
        !matches!(self.origin, Origin::Host | Origin::ReadModifyWrite)
    }
}
