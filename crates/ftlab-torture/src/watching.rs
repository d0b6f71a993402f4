//! A probe that is anything that listens: tests with probes of their own run on one device, which is compiled once.

use ftlab::scheduler::{Activity, Arrival, Probe};
use ftlab::units::SimTime;

/// What a [`Probe`] is told, for one that is known by its functions alone.
pub trait Listens {
    /// A command arrives, and waits for its die.
    fn arrives(&mut self, _arrival: &Arrival) {}
    /// The cells of a die are busy.
    fn cell(&mut self, _activity: &Activity) {}
    /// The bus of a channel is busy.
    fn bus(&mut self, _activity: &Activity) {}
    /// The cells leave what they were said to be busy with.
    fn pause(&mut self, _activity: &Activity, _at: SimTime) {}
}

/// A probe that hands on what it is told.
pub struct AnyProbe(Box<dyn Listens>);

impl AnyProbe {
    /// Hands it on to `listener`.
    #[must_use]
    pub fn new(listener: impl Listens + 'static) -> AnyProbe {
        AnyProbe(Box::new(listener))
    }
}

impl Probe for AnyProbe {
    fn arrives(&mut self, arrival: &Arrival) {
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
}
