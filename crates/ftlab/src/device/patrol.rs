//! Patrols: from time to time the device looks at all blocks, for data that is to be refreshed before it is lost
//! ([`ftl::wear`](crate::ftl::wear)).
//!
//! They are at whole multiples of their period on the device's clock, so that one that was saved and loaded patrols as
//! if it had not been. A patrol is no work that is left to do: a device that is to run until nothing is, and holds
//! nothing else, does not wait for it. It patrols while somebody lets time pass. If nobody did, and a request comes
//! later than a patrol was due, that is made up for at the moment of the request, as by a drive without power. So is
//! one that comes while a device finishes what it has begun, with nobody waiting: it would begin more.

use crate::device::base::Base;
use crate::device::{Contents, Device, Part};
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

/// Says when the next patrol is, if there are any.
pub(super) fn plan_patrol(on: &mut Base<impl Probe, impl Contents>) {
    if let Some(rule) = on.kernel.ftl.refreshes() {
        let past = on.kernel.now.0 / rule.period.0;
        if let Some(at) = (past + 1).checked_mul(rule.period.0) {
            on.idle.patrol_at(SimTime(at));
        }
    }
}

/// Time passed without the device: the patrols in it are one now.
#[inline]
pub(super) fn put_off_patrol(now: SimTime, on: &mut Base<impl Probe, impl Contents>) {
    if on.idle.patrol().is_some_and(|at| at < now) {
        on.idle.patrol_at(now);
    }
}

/// Whether an event comes by itself: a patrol does not, where nothing else will happen.
#[inline]
pub(super) fn is_sure(part: Part, on: &Base<impl Probe, impl Contents>) -> bool {
    part != Part::Idle || !on.idle.only_patrols() || is_at_work(on)
}

/// Whether something other than the timer has an event.
fn is_at_work(on: &Base<impl Probe, impl Contents>) -> bool {
    let front = on.desk.front.as_ref().and_then(|front| front.next_time());
    on.kernel.flash.next_time().is_some() || !on.desk.from_buffer.is_empty() || front.is_some()
}

/// Whether time passes for no request and for nobody who waits: what is under way only comes to its end. Patrols
/// would find more for it to do, for ever where refreshing everything takes longer than data lasts.
pub(super) fn is_for_nobody(limit: SimTime, on: &Base<impl Probe, impl Contents>) -> bool {
    limit == SimTime::FOREVER && on.desk.intake.in_flight() == 0
}

/// A patrol waits until what happens next is over, and is put off again then unless somebody is there.
pub(super) fn patrol_later(on: &mut Base<impl Probe, impl Contents>) {
    /// The least time there is: patrols come after what happens at the same moment.
    const AFTER: Nanos = Nanos(1);
    let next = on.next_event().map_or(on.kernel.now, |(at, _)| at);
    on.idle.patrol_at(next + AFTER);
}

/// A block was read so often that it is to be refreshed.
#[cold]
pub(super) fn refresh_read_often(block: BlockId, on: &mut Base<impl Probe, impl Contents>) {
    let Base { kernel, services, .. } = on;
    services.collector.read_often::<{ skills::ALL }>(block, kernel);
}

/// Looks at all blocks; what is due is copied from now on.
pub(super) fn patrol(on: &mut Base<impl Probe, impl Contents>) {
    plan_patrol(on);
    let Base { kernel, services, .. } = on;
    services.collector.patrol::<{ skills::ALL }>(kernel);
}
