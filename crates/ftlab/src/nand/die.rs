//! A die: its cells do one thing at a time, and its register holds what was sensed until the bus has
//! taken it, or what the cells will program next.
//!
//! Without cache operations the two take turns: the cells rest while the register is in use. With
//! them, the cells may sense the next page while the register is being emptied, and the register may
//! take in the next page while the cells program.

use crate::units::{Nanos, SimTime};

/// What the cells are doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cells {
    /// Nothing.
    #[default]
    Idle,
    /// Sensing.
    Sensing,
    /// Sensed; what they sensed waits for the register.
    Sensed,
    /// Programming. Before that, data moved in, if there was a transfer.
    Programming,
    /// Erasing.
    Erasing,
    /// Sensing and programming without the bus.
    Copying,
    /// Leaving an operation that will be resumed.
    Pausing,
}

/// What the register is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Register {
    /// Nothing.
    #[default]
    Empty,
    /// Holding what was sensed until the bus takes it.
    Holding,
    /// Moving it out over the bus.
    Sending,
    /// Holding, or taking in, what the cells program next.
    Loaded,
}

/// What a die can take on besides what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepts {
    /// Any command.
    Anything,
    /// A read: it can be sensed while the register is emptied.
    Reads,
    /// A program: its data can be taken in while the cells program.
    Programs,
    /// A host read: an operation stands still for it.
    HostReads,
    /// Nothing.
    Nothing,
}

/// Operations of the cells and transfers that may overlap, which not every part offers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheOps {
    /// Sensing the next page while the one before it is sent.
    pub read: bool,
    /// Taking in the next page while the one before it is programmed.
    pub program: bool,
    /// What an operation of the cells takes longer if it follows through the register.
    pub busy: Nanos,
}

/// Whose work occupies the die.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Occupant {
    #[default]
    Nobody,
    Host,
    Collection,
}

/// A die and its account of time.
#[derive(Clone, Debug, Default)]
pub struct Die {
    cells: Cells,
    register: Register,
    /// An operation of the cells stands still.
    paused: bool,
    occupant: Occupant,
    since: SimTime,
    busy: Nanos,
    gc: Nanos,
}

/// States of cells and register, as a set.
#[derive(Clone, Copy, Debug)]
pub struct DieStates(u32);

impl DieStates {
    const fn bit(cells: Cells, register: Register) -> u32 {
        1 << (cells as u32 * 4 + register as u32)
    }

    /// The states in which a die can begin nothing before its next event, whatever waits for it.
    #[must_use]
    pub fn settled(cache: &CacheOps) -> DieStates {
        let always = [Cells::Sensing, Cells::Erasing, Cells::Copying, Cells::Pausing];
        let mut states =
            always.into_iter().fold(0, |set, cells| set | Self::bit(cells, Register::Empty));
        if !cache.program {
            states |= Self::bit(Cells::Programming, Register::Empty);
        }
        if !cache.read {
            states |= Self::bit(Cells::Idle, Register::Sending);
        }
        DieStates(states)
    }

    /// Whether a die is in one of them.
    #[inline]
    #[must_use]
    pub fn hold(self, die: &Die) -> bool {
        self.0 & Self::bit(die.cells, die.register) != 0
    }
}

impl Die {
    /// What its cells are doing.
    #[inline]
    #[must_use]
    pub fn cells(&self) -> Cells {
        self.cells
    }

    /// What its register is doing.
    #[inline]
    #[must_use]
    pub fn register(&self) -> Register {
        self.register
    }

    /// Whether an operation of its cells stands still.
    #[inline]
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// Whether it does nothing, and nothing stands still on it.
    #[inline]
    #[must_use]
    pub fn is_idle(&self) -> bool {
        (self.cells, self.register) == (Cells::Idle, Register::Empty) && !self.paused
    }

    /// What it can take on now.
    #[inline]
    #[must_use]
    pub fn accepts(&self, cache: &CacheOps) -> Accepts {
        match (self.cells, self.register) {
            (Cells::Idle, Register::Empty) if self.paused => Accepts::HostReads,
            (Cells::Idle, Register::Empty) => Accepts::Anything,
            (Cells::Idle, Register::Holding | Register::Sending) if cache.read && !self.paused => {
                Accepts::Reads
            }
            (Cells::Programming, Register::Empty) if cache.program => Accepts::Programs,
            _ => Accepts::Nothing,
        }
    }

    /// The cells begin an operation.
    #[inline]
    pub fn begin(&mut self, now: SimTime, cells: Cells, for_gc: bool) {
        assert_eq!(self.cells, Cells::Idle, "two operations on one die at {now}: {self:?}");
        self.cells = cells;
        self.occupy(now, if for_gc { Occupant::Collection } else { Occupant::Host });
    }

    /// The cells have sensed, and the register is not free to take it.
    #[inline]
    pub fn wait_for_register(&mut self) {
        debug_assert_eq!(self.cells, Cells::Sensing);
        self.cells = Cells::Sensed;
    }

    /// What was sensed moves to the register.
    #[inline]
    pub fn hold(&mut self, now: SimTime) {
        assert_eq!(self.register, Register::Empty, "two pages in one register at {now}: {self:?}");
        self.cells = Cells::Idle;
        self.register = Register::Holding;
    }

    /// The bus takes what the register holds.
    #[inline]
    pub fn send(&mut self) {
        debug_assert_eq!(self.register, Register::Holding);
        self.register = Register::Sending;
    }

    /// A page has left the register; `more` says that another one of the same sensing is there.
    #[inline]
    pub fn sent(&mut self, now: SimTime, more: bool) {
        debug_assert_eq!(self.register, Register::Sending);
        self.register = if more { Register::Holding } else { Register::Empty };
        self.rest(now);
    }

    /// The register takes in what the cells program next.
    #[inline]
    pub fn load(&mut self, now: SimTime) {
        assert_eq!(self.register, Register::Empty, "two pages in one register at {now}: {self:?}");
        self.register = Register::Loaded;
    }

    /// What the register took in goes to the cells, which begin to program it.
    #[inline]
    pub fn unload(&mut self, now: SimTime, for_gc: bool) {
        debug_assert_eq!(self.register, Register::Loaded);
        self.register = Register::Empty;
        self.begin(now, Cells::Programming, for_gc);
    }

    /// The cells are done.
    #[inline]
    pub fn finish(&mut self, now: SimTime) {
        self.cells = Cells::Idle;
        self.rest(now);
    }

    /// The cells begin to leave their operation for a while. Whose it was occupies the die until they
    /// have left it: so long a read waits for it.
    pub fn pause(&mut self, now: SimTime) {
        assert!(!self.paused, "an operation was paused within a pause at {now}: {self:?}");
        self.cells = Cells::Pausing;
    }

    /// The cells have left their operation, for the host.
    pub fn paused(&mut self, now: SimTime) {
        debug_assert_eq!(self.cells, Cells::Pausing);
        self.cells = Cells::Idle;
        self.paused = true;
        self.occupy(now, Occupant::Host);
    }

    /// The cells go on with the operation that they left.
    pub fn resume(&mut self, now: SimTime, cells: Cells, for_gc: bool) {
        debug_assert!(self.paused);
        self.paused = false;
        self.begin(now, cells, for_gc);
    }

    #[inline]
    fn occupy(&mut self, now: SimTime, occupant: Occupant) {
        let span = now - self.since;
        match self.occupant {
            Occupant::Nobody => {}
            Occupant::Host => self.busy += span,
            Occupant::Collection => {
                self.busy += span;
                self.gc += span;
            }
        }
        self.occupant = occupant;
        self.since = now;
    }

    /// Nobody occupies it any more, if neither cells nor register do.
    #[inline]
    fn rest(&mut self, now: SimTime) {
        if self.cells == Cells::Idle && self.register == Register::Empty && !self.paused {
            self.occupy(now, Occupant::Nobody);
        }
    }

    /// The host has occupied it for a while, besides what it was seen to do.
    pub fn was_busy(&mut self, time: Nanos) {
        self.busy += time;
    }

    /// Collection has occupied it for a while, besides what it was seen to do.
    pub fn was_busy_for_collection(&mut self, time: Nanos) {
        self.busy += time;
        self.gc += time;
    }

    /// Time occupied until `now`.
    #[must_use]
    pub fn busy_until(&self, now: SimTime) -> Nanos {
        match self.occupant {
            Occupant::Nobody => self.busy,
            _ => self.busy + (now - self.since),
        }
    }

    /// Time occupied by collection until `now`.
    #[inline]
    #[must_use]
    pub fn gc_until(&self, now: SimTime) -> Nanos {
        match self.occupant {
            Occupant::Collection => self.gc + (now - self.since),
            _ => self.gc,
        }
    }
}
