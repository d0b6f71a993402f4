//! Patrols: from time to time the device looks at all blocks, for data that is to be refreshed before it is lost
//! ([`ftl::wear`](crate::ftl::wear)).
//!
//! They are at whole multiples of their period on the device's clock, so that one that was saved and loaded patrols as
//! if it had not been. A patrol is no work that is left to do: a device that is to run until nothing is, and holds
//! nothing else, does not wait for it. It patrols while somebody lets time pass. If nobody did, and a request comes
//! later than a patrol was due, that is made up for at the moment of the request, as by a drive without power. So is
//! one that comes while a device finishes what it has begun, with nobody waiting: it would begin more.

use super::base::Base;
use super::{Contents, Device, Part};
use crate::engine::skills;
use crate::scheduler::Probe;
use crate::units::{BlockId, Nanos, SimTime};

impl<P: Probe, C: Contents> Device<P, C> {
    /// Nothing else is left to happen. If a patrol comes before a limit that is one, time passes until then.
    pub(super) fn patrols_until(&mut self, limit: SimTime) -> bool {
        let due = self.base.idle.patrol().filter(|&at| at <= limit && limit != SimTime::FOREVER);
        if let Some(at) = due {
            self.base.kernel.now = at;
            self.do_chore(limit);
        }
        due.is_some()
    }
}

impl<P: Probe, C: Contents> Base<P, C> {
    /// Says when the next patrol is, if there are any.
    pub(super) fn plan_patrol(&mut self) {
        if let Some(rule) = self.kernel.ftl.refreshes() {
            let past = self.kernel.now.0 / rule.period.0;
            if let Some(at) = (past + 1).checked_mul(rule.period.0) {
                self.idle.patrol_at(SimTime(at));
            }
        }
    }

    /// Time passed without the device: the patrols in it are one now.
    #[inline]
    pub(super) fn put_off_patrol(&mut self, now: SimTime) {
        if self.idle.patrol().is_some_and(|at| at < now) {
            self.idle.patrol_at(now);
        }
    }

    /// Whether an event comes by itself: a patrol does not, where nothing else will happen.
    #[inline]
    pub(super) fn is_sure(&self, part: Part) -> bool {
        part != Part::Idle || !self.idle.only_patrols() || self.is_at_work()
    }

    /// Whether something other than the timer has an event.
    fn is_at_work(&self) -> bool {
        let front = self.desk.front.as_ref().and_then(|front| front.next_time());
        self.kernel.flash.next_time().is_some()
            || !self.desk.from_buffer.is_empty()
            || front.is_some()
    }

    /// Whether time passes for no request and for nobody who waits: what is under way only comes to its end. Patrols
    /// would find more for it to do, for ever where refreshing everything takes longer than data lasts.
    pub(super) fn is_for_nobody(&self, limit: SimTime) -> bool {
        limit == SimTime::FOREVER && self.desk.intake.in_flight() == 0
    }

    /// A patrol waits until what happens next is over, and is put off again then unless somebody is there.
    pub(super) fn patrol_later(&mut self) {
        /// The least time there is: patrols come after what happens at the same moment.
        const AFTER: Nanos = Nanos(1);
        let next = self.next_event().map_or(self.kernel.now, |(at, _)| at);
        self.idle.patrol_at(next + AFTER);
    }

    /// A block was read so often that it is to be refreshed.
    #[cold]
    pub(super) fn refresh_read_often(&mut self, block: BlockId) {
        let Base { kernel, services, .. } = self;
        services.collector.read_often::<{ skills::ALL }>(block, kernel);
    }

    /// Looks at all blocks; what is due is copied from now on.
    pub(super) fn patrol(&mut self) {
        self.plan_patrol();
        let Base { kernel, services, .. } = self;
        services.collector.patrol::<{ skills::ALL }>(kernel);
    }
}
