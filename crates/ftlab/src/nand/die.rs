//! A die: its cells do one thing at a time, and its register holds sensed data until the bus takes
//! it, or the data that the cells program next.
//!
//! Without cache operations the two take turns: the cells rest while the register is in use. With
//! them, the cells may sense the next page while the register is emptied, and the register may load
//! the next page while the cells program.

use crate::units::{Nanos, SimTime};

/// What the cells are doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cells {
    /// Nothing.
    #[default]
    Idle,
    /// Sensing.
    Sensing,
    /// Nothing; sensed data waits for the register.
    Sensed,
    /// Programming, including the preceding transfer of data.
    Programming,
    /// Erasing.
    Erasing,
    /// Sensing and programming without the bus.
    Copying,
    /// Suspending an operation.
    Pausing,
}

/// What the register is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Register {
    /// Nothing.
    #[default]
    Empty,
    /// Holding sensed data until the bus takes it.
    Holding,
    /// Sending it over the bus.
    Sending,
    /// Holding or loading the data that the cells program next.
    Loaded,
}

/// What a die can accept besides its current work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepts {
    /// Any command.
    Anything,
    /// A read, which can be sensed while the register is emptied.
    Reads,
    /// A program, whose data can be loaded while the cells program.
    Programs,
    /// A host read, for which an operation is suspended.
    HostReads,
    /// Nothing.
    Nothing,
}

/// Which operations of the cells and transfers may overlap. Not every part offers this.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheOps {
    /// Sensing the next page while the previous one is sent.
    pub read: bool,
    /// Loading the next page while the previous one is programmed.
    pub program: bool,
    /// Extra time of an operation that follows another one through the register.
    pub busy: Nanos,
}

/// On whose behalf the die is busy.
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
    /// Whether an operation of the cells is suspended.
    paused: bool,
    occupant: Occupant,
    since: SimTime,
    busy: Nanos,
    gc: Nanos,
}

/// A set of states of cells and register.
#[derive(Clone, Copy, Debug)]
pub struct DieStates(u32);

impl DieStates {
    const fn bit(cells: Cells, register: Register) -> u32 {
        1 << (cells as u32 * 4 + register as u32)
    }

    /// The states in which a die cannot begin anything before its next event, whatever waits for it.
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

    /// Whether a die is in one of these states.
    #[inline]
    #[must_use]
    pub fn hold(self, die: &Die) -> bool {
        self.0 & Self::bit(die.cells, die.register) != 0
    }
}

impl Die {
    /// What the cells are doing.
    #[inline]
    #[must_use]
    pub fn cells(&self) -> Cells {
        self.cells
    }

    /// What the register is doing.
    #[inline]
    #[must_use]
    pub fn register(&self) -> Register {
        self.register
    }

    /// Whether an operation of the cells is suspended.
    #[inline]
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// Whether the die does nothing and no operation is suspended.
    #[inline]
    #[must_use]
    pub fn is_idle(&self) -> bool {
        (self.cells, self.register) == (Cells::Idle, Register::Empty) && !self.paused
    }

    /// Whether it is busy for collection.
    #[must_use]
    pub fn is_for_collection(&self) -> bool {
        self.occupant == Occupant::Collection
    }

    /// What the die can accept now.
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

    /// Starts an operation of the cells.
    #[inline]
    pub fn begin(&mut self, now: SimTime, cells: Cells, for_gc: bool) {
        assert_eq!(self.cells, Cells::Idle, "two operations on one die at {now}: {self:?}");
        self.cells = cells;
        self.occupy(now, if for_gc { Occupant::Collection } else { Occupant::Host });
    }

    /// Lets the cells, which have sensed, wait for the register.
    #[inline]
    pub fn wait_for_register(&mut self) {
        debug_assert_eq!(self.cells, Cells::Sensing);
        self.cells = Cells::Sensed;
    }

    /// Moves sensed data to the register.
    #[inline]
    pub fn hold(&mut self, now: SimTime) {
        assert_eq!(self.register, Register::Empty, "two pages in one register at {now}: {self:?}");
        self.cells = Cells::Idle;
        self.register = Register::Holding;
    }

    /// Starts sending the data in the register.
    #[inline]
    pub fn send(&mut self) {
        debug_assert_eq!(self.register, Register::Holding);
        self.register = Register::Sending;
    }

    /// Ends sending a page. `more` says whether the register has another one from the same operation.
    #[inline]
    pub fn sent(&mut self, now: SimTime, more: bool) {
        debug_assert_eq!(self.register, Register::Sending);
        self.register = if more { Register::Holding } else { Register::Empty };
        self.rest(now);
    }

    /// Starts loading the register for the next program.
    #[inline]
    pub fn load(&mut self, now: SimTime) {
        assert_eq!(self.register, Register::Empty, "two pages in one register at {now}: {self:?}");
        self.register = Register::Loaded;
    }

    /// Passes the loaded data to the cells, which begin to program it.
    #[inline]
    pub fn unload(&mut self, now: SimTime, for_gc: bool) {
        debug_assert_eq!(self.register, Register::Loaded);
        self.register = Register::Empty;
        self.begin(now, Cells::Programming, for_gc);
    }

    /// Ends the operation of the cells.
    #[inline]
    pub fn finish(&mut self, now: SimTime) {
        self.cells = Cells::Idle;
        self.rest(now);
    }

    /// Starts to suspend the operation of the cells. Until it is suspended, the die counts as busy
    /// with that operation, because this is how long a read waits for it.
    pub fn pause(&mut self, now: SimTime) {
        assert!(!self.paused, "an operation was suspended during a suspension at {now}: {self:?}");
        self.cells = Cells::Pausing;
    }

    /// Completes the suspension. The die is now free for host reads.
    pub fn paused(&mut self, now: SimTime) {
        debug_assert_eq!(self.cells, Cells::Pausing);
        self.cells = Cells::Idle;
        self.paused = true;
        self.occupy(now, Occupant::Host);
    }

    /// Resumes the suspended operation.
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

    /// Marks the die as free if cells and register are.
    #[inline]
    fn rest(&mut self, now: SimTime) {
        if self.cells == Cells::Idle && self.register == Register::Empty && !self.paused {
            self.occupy(now, Occupant::Nobody);
        }
    }

    /// Adds time for the host, besides the operations above.
    pub fn was_busy(&mut self, time: Nanos) {
        self.busy += time;
    }

    /// Adds time for collection, besides the operations above.
    pub fn was_busy_for_collection(&mut self, time: Nanos) {
        self.busy += time;
        self.gc += time;
    }

    /// Busy time until `now`.
    #[must_use]
    pub fn busy_until(&self, now: SimTime) -> Nanos {
        match self.occupant {
            Occupant::Nobody => self.busy,
            _ => self.busy + (now - self.since),
        }
    }

    /// Busy time for collection until `now`.
    #[inline]
    #[must_use]
    pub fn gc_until(&self, now: SimTime) -> Nanos {
        match self.occupant {
            Occupant::Collection => self.gc + (now - self.since),
            _ => self.gc,
        }
    }
}
