//! A flash command: what is to be done to one die, for whom, and what waits for it.

use serde::Serialize;

use super::owner::Owner;
use crate::engine::Handle;
use crate::engine::skills::{RARE_ON_FLASH, Skills, any};
use crate::nand::{CellMode, CostClass, Kind, ProgramCost, ReadEffort};
use crate::units::{DieId, Nanos, Ppn, SimTime};
use crate::verify;

/// On whose account the work is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A host read, or the write-back of host data. With a map on flash also reads of translation pages for host reads,
    /// and all programs of translation pages.
    Host,
    /// The read of a read-modify-write. With a map on flash also reads of translation pages for write-backs and trims.
    Merge,
    /// Garbage collection. With a map on flash also the reads of translation pages that it changes.
    Gc,
    /// Moving data for the sake of the blocks: wear levelling, refreshing, and emptying blocks that go bad.
    Wear,
    /// Moving data from the SLC cache to blocks of full density.
    Fold,
    /// Programming pages again, at another cost.
    Rewrite,
    /// The system area: the journal of trims, checkpoints of the map, and erases of the blocks that hold them.
    System,
}

impl Origin {
    /// All origins, in the order in which counters list them.
    pub const ALL: [Origin; 7] = [
        Origin::Host,
        Origin::Merge,
        Origin::Gc,
        Origin::Wear,
        Origin::Fold,
        Origin::Rewrite,
        Origin::System,
    ];
}

/// Where a command's time went so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Waiting for entries of the map, before the command could begin.
    pub translation: Nanos,
    /// Waiting for the die or the bus, which served host work.
    pub queue: Nanos,
    /// Waiting for the die or the bus, which served collection, or another purpose of the device's own: wear,
    /// folding, rewrites.
    pub gc: Nanos,
    /// On the bus.
    pub bus: Nanos,
    /// In the cells.
    pub cell: Nanos,
}

impl Spent {
    /// Accounts for a wait, of which collection held the die or the bus for `for_gc`. The two can
    /// overlap (the die collects while the bus moves another die's collected page), so the share
    /// of collection is at most the wait itself.
    #[inline]
    pub(super) fn account_wait(&mut self, waited: Nanos, for_gc: Nanos) {
        let gc = for_gc.min(waited);
        self.gc += gc;
        self.queue += Nanos(waited.0 - gc.0);
    }

    /// What was spent after it comes to it.
    pub(crate) fn add(&mut self, more: &Spent) {
        let Spent { translation, queue, gc, bus, cell } = *more;
        self.translation += translation;
        self.queue += queue;
        self.gc += gc;
        self.bus += bus;
        self.cell += cell;
    }

    /// Nothing but a wait for entries of the map.
    pub(crate) fn on_translation(waited: Nanos) -> Spent {
        Spent { translation: waited, ..Spent::default() }
    }

    /// The sum of the parts: from the command's start to its end.
    #[must_use]
    pub fn total(&self) -> Nanos {
        self.translation + self.queue + self.gc + self.bus + self.cell
    }
}

/// A handle to a command in flight.
pub type CommandId = Handle<Command>;

/// What a policy sees of a command that arrives.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Which one.
    pub id: CommandId,
    /// What the die is to do.
    pub kind: Kind,
    /// On whose account.
    pub origin: Origin,
    /// For which die.
    pub die: DieId,
    /// When it arrives.
    pub at: SimTime,
    /// How many commands arrived before, over the whole device.
    pub sequence: u64,
}

/// One flash command.
#[derive(Clone, Debug)]
pub struct Command {
    /// What the die does.
    pub kind: Kind,
    /// On whose account.
    pub origin: Origin,
    /// Who is told.
    pub owner: Owner,
    /// How many pages (mapping units) of the flash page it carries.
    pub units: u32,
    /// How many codewords cross the bus.
    pub codewords: u32,
    /// Its page; of a flash page or a block the first one. A program has one only once it is placed.
    pub page: Ppn,
    /// The flash page that a copyback senses, or that a merge copies.
    pub source: Option<Ppn>,
    /// How the cells of its block are used.
    pub mode: CellMode,
    /// What it meets in the cells.
    pub found: Found,
    /// What it is to cost to program the page.
    pub(super) cost: ProgramCost,
    /// The command that waits for this one.
    pub then: Option<CommandId>,
    /// How many commands this one still waits for.
    pub waits_for: u32,
    /// Where its time went.
    pub spent: Spent,
    pub(super) ticket: Ticket,
}

/// What a command meets in the cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// What it costs to sense the page; only where timing knows costs.
    pub effort: ReadEffort,
    /// Whether nothing reads the page that it senses: its data is lost.
    pub unreadable: bool,
    /// Whether it failed: nothing was programmed, or erased.
    pub failed: bool,
    /// Whether it reads data from before, or copies it as it was.
    pub(crate) from_before: bool,
}

/// What the flash keeps with a command: where it goes, and where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticket {
    /// Its die.
    pub die: DieId,
    /// What decides whether it may share an operation with others, where several planes work at once.
    pub seat: Seat,
    /// Its rank among what waits for the die, from the policy: smaller goes first.
    pub key: u64,
    /// How many commands arrived before it, over the whole device.
    pub arrival: u64,
    /// The next one of its row, then in its lane, then of those that share its operation.
    pub next: Option<CommandId>,
    /// Since when it has been waiting for its die, then for the bus.
    pub waiting_since: SimTime,
    /// The die's account of collection when it arrived. (The channel's is kept with the die.)
    pub gc_mark: Nanos,
}

impl Ticket {
    /// That of a command that was not submitted.
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

/// Where a command works in its die, as far as that decides which others its operation may serve too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seat {
    /// A bit for its plane.
    pub plane: u32,
    /// Its block, and its flash page in that, as far as they have to be the same for all.
    pub address: (u32, u32),
    /// Its block.
    pub block: u32,
}

impl Command {
    /// A command that has not been placed, queued or made to wait for anything.
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
            mode: CellMode::Native,
            found: Found::default(),
            cost: ProgramCost::Of(CostClass::default()),
            then: None,
            waits_for: 0,
            spent: Spent::default(),
            ticket: Ticket::BLANK,
        }
    }

    /// The same, carrying so many pages of its flash page, and so many codewords over the bus.
    #[inline(always)]
    #[must_use]
    pub fn carrying(mut self, units: u32, codewords: u32) -> Command {
        (self.units, self.codewords) = (units, codewords);
        self
    }

    /// The same, on a block whose cells are used so.
    #[inline(always)]
    #[must_use]
    pub fn in_mode(mut self, mode: CellMode) -> Command {
        self.mode = mode;
        self
    }

    /// The same, for which another one waits.
    #[inline(always)]
    #[must_use]
    pub fn then(mut self, waiting: CommandId) -> Command {
        self.then = Some(waiting);
        self
    }

    /// The same, which itself waits for so many.
    #[inline(always)]
    #[must_use]
    pub fn after(mut self, others: u32) -> Command {
        self.waits_for = others;
        self
    }

    /// What it has read is programmed next, elsewhere: so many codewords.
    #[inline]
    pub(crate) fn turn_into_program(&mut self, codewords: u32) {
        self.kind = Kind::Program;
        self.codewords = codewords;
        self.mode = CellMode::Native;
        self.found = Found::default();
    }

    /// Says what it is to cost.
    #[inline]
    pub fn set_cost(&mut self, cost: ProgramCost) {
        self.cost = cost;
    }

    /// What it was to cost.
    pub(crate) fn cost(&self) -> ProgramCost {
        self.cost
    }

    /// What it costs to program the page, as far as that is known. Where others decide that, it may be dear.
    #[inline]
    pub(super) fn class(&self) -> CostClass {
        match self.cost {
            ProgramCost::Of(class) => class,
            ProgramCost::ByCrowd(_) => CostClass::High,
        }
    }

    /// Its rank. Equals are served as they arrived, so that programs and copybacks of a block keep their
    /// order.
    #[inline]
    pub(super) fn rank(&self) -> (u64, u64) {
        (self.ticket.key, self.ticket.arrival)
    }

    /// How many commands arrived before it.
    pub(crate) fn arrival(&self) -> u64 {
        self.ticket.arrival
    }

    /// Whether its account of time is kept. Nobody asks for that of what only moves data, so only the set of all
    /// skills keeps it, for those who watch single commands; so do devices that check themselves.
    #[inline(always)]
    pub(super) fn keeps_account<const S: Skills>(&self) -> bool {
        let moves =
            matches!(self.origin, Origin::Gc | Origin::Wear | Origin::Fold | Origin::Rewrite);
        any(S, RARE_ON_FLASH) || verify::ON || !moves
    }

    /// Whether nobody but the device wants it, for whatever purpose: who waits behind it waits for
    /// collection.
    pub(super) fn is_gc(&self) -> bool {
        !matches!(self.origin, Origin::Host | Origin::Merge)
    }
}
