//! Which part of the device has the next event.

use crate::device::Contents;
use crate::device::base::Base;
use crate::scheduler::Probe;
use crate::units::SimTime;

/// A part of the device that has an event. Simultaneous events run in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::device) enum Part {
    Front,
    Buffer,
    Flash,
    /// Chores that wait until the host is idle.
    Idle,
}

impl<P: Probe, C: Contents> Base<P, C> {
    /// The time of the next event, and its part of the device.
    #[inline(always)]
    pub(in crate::device) fn next_event(&self) -> Option<(SimTime, Part)> {
        let flash = self.kernel.flash.next_time();
        let next = match self.desk.from_buffer.front() {
            Some(&(at, _)) if flash.is_none_or(|flash| at <= flash) => Some((at, Part::Buffer)),
            _ => flash.map(|at| (at, Part::Flash)),
        };
        match self.desk.front.is_none() && self.idle.next().is_none() {
            true => next,
            false => self.earlier_event(next),
        }
    }

    fn earlier_event(&self, next: Option<(SimTime, Part)>) -> Option<(SimTime, Part)> {
        let front = self.desk.front.as_ref().and_then(|front| front.next_time());
        let others =
            [front.map(|at| (at, Part::Front)), self.idle.next().map(|at| (at, Part::Idle))];
        others.into_iter().flatten().chain(next).min()
    }
}
