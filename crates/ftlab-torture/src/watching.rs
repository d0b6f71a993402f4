//! A probe that forwards to any listener, so that tests with different probes share one compiled device type.

use ftlab::scheduler::{Activity, Arrival, Command, Probe};
use ftlab::units::SimTime;

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
}
