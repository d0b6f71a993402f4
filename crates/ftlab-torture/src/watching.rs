//! A probe and contents that forward to any listener, so that tests with different ones share one compiled device type.

use ftlab::device::{Contents, Movement, Place};
use ftlab::ftl::{FlashChange, FlashContents, ReadFor};
use ftlab::host::Completion;
use ftlab::scheduler::{Activity, Arrival, Command, CommandId, Note, Probe};
use ftlab::units::{Ppn, RequestId, SimTime};

/// The events of a [`Probe`], as a trait object.
pub trait Listens {
    /// A command arrives and waits for its die.
    fn arrives(&mut self, _arrival: &Arrival) {}
    /// The cells of a die are busy.
    fn cell(&mut self, _activity: &Activity) {}
    /// The bus of a channel is busy.
    fn bus(&mut self, _activity: &Activity) {}
    /// The cells stop what they were reported to do.
    fn pause(&mut self, _activity: &Activity, _at: SimTime) {}
    /// The device tells of something rare.
    fn note(&mut self, _at: SimTime, _note: Note) {}
}

/// A probe that forwards its events.
pub struct AnyProbe(Box<dyn Listens>);

impl AnyProbe {
    /// Creates a probe that forwards to `listener`.
    #[must_use]
    pub fn new(listener: impl Listens + 'static) -> AnyProbe {
        AnyProbe(Box::new(listener))
    }
}

impl Probe for AnyProbe {
    fn arrives(&mut self, arrival: &Arrival, _: &Command) {
        self.0.arrives(arrival);
    }

    fn cell(&mut self, activity: &Activity) {
        self.0.cell(activity);
    }

    fn bus(&mut self, activity: &Activity) {
        self.0.bus(activity);
    }

    fn pause(&mut self, activity: &Activity, at: SimTime) {
        self.0.pause(activity, at);
    }

    fn note(&mut self, at: SimTime, note: Note) {
        self.0.note(at, note);
    }
}

/// What [`Contents`] are told of data that moves, as a trait object.
pub trait SeesMoves {
    /// Data is copied.
    fn copies(&mut self, movement: &Movement);
    /// Something happens to data on flash.
    fn change(&mut self, _change: FlashChange<'_>) {}
    /// A flash command will read a page.
    fn foresee(&mut self, _at: Ppn, _what: ReadFor) {}
}

/// Contents that keep nothing, and forward what they are told.
pub struct AnyContents(Box<dyn SeesMoves>);

impl AnyContents {
    /// Creates contents that forward to `listener`.
    #[must_use]
    pub fn new(listener: impl SeesMoves + 'static) -> AnyContents {
        AnyContents(Box::new(listener))
    }
}

impl FlashContents for AnyContents {
    const MOVES: bool = true;

    fn change(&mut self, change: FlashChange<'_>) {
        self.0.change(change);
    }

    fn foresee(&mut self, _: CommandId, at: Ppn, what: ReadFor) {
        self.0.foresee(at, what);
    }
}

impl Contents for AnyContents {
    fn copy(&mut self, movement: &Movement) {
        self.0.copies(movement);
    }

    fn forget(&mut self, _: Place) {}
    fn deliver(&mut self, _: RequestId, _: &Completion) {}
    fn lose_power(&mut self) {}
}
