//! Patrols: from time to time the device inspects all blocks for data that must be refreshed before
//! it is lost ([`ftl::wear`](crate::ftl::wear)).
//!
//! Patrols occur at whole multiples of their period on the device's clock, so a device that was saved and loaded
//! patrols at the same times. A patrol is not pending work: a device that runs until nothing is left to do does not
//! wait for it. It patrols only while somebody lets time pass. If a request comes later than a patrol was due, the
//! patrol takes place at the moment of the request, as in a drive that was without power. A patrol that is due while
//! the device finishes its work and nobody waits is put off in the same way, because it would begin more work.

use crate::device::base::Base;
use crate::device::{Contents, Device, Part};
use crate::engine::skills;
use crate::scheduler::Probe;
use crate::units::{BlockId, Nanos, SimTime};

impl<P: Probe, C: Contents> Device<P, C> {
    /// Called when nothing else is left to do. If a patrol is due by a finite `limit`, runs it and returns true.
    pub(super) fn patrols_until(&mut self, limit: SimTime) -> bool {
        let due = self.base.idle.patrol().filter(|&at| at <= limit && limit != SimTime::FOREVER);
        if let Some(at) = due {
            self.base.kernel.now = at;
            self.do_chore(limit);
        }
        due.is_some()
    }
}

/// Schedules the next patrol, if the device patrols.
pub(super) fn plan_patrol(on: &mut Base<impl Probe, impl Contents>) {
    if let Some(rule) = on.kernel.ftl.refreshes() {
        let past = on.kernel.now.0 / rule.period.0;
        if let Some(at) = (past + 1).checked_mul(rule.period.0) {
            on.idle.patrol_at(SimTime(at));
        }
    }
}

/// Time has passed without the device: combines the patrols that it missed into one now.
#[inline]
pub(super) fn put_off_patrol(now: SimTime, on: &mut Base<impl Probe, impl Contents>) {
    if on.idle.patrol().is_some_and(|at| at < now) {
        on.idle.patrol_at(now);
    }
}

/// Whether an event occurs by itself. A patrol does not if nothing else will happen.
#[inline]
pub(super) fn is_sure(part: Part, on: &Base<impl Probe, impl Contents>) -> bool {
    part != Part::Idle || !on.idle.only_patrols() || is_at_work(on)
}

/// Whether a part other than the timer has an event.
fn is_at_work(on: &Base<impl Probe, impl Contents>) -> bool {
    let front = on.desk.front.as_ref().and_then(|front| front.next_time());
    on.kernel.flash.next_time().is_some() || !on.desk.from_buffer.is_empty() || front.is_some()
}

/// Whether time passes for no request and for nobody who waits, only to finish what is in flight. Here patrols would
/// find ever more work if refreshing everything takes longer than the data lasts.
pub(super) fn is_for_nobody(limit: SimTime, on: &Base<impl Probe, impl Contents>) -> bool {
    limit == SimTime::FOREVER && on.desk.intake.in_flight() == 0
}

/// Puts a patrol off until after the next event. It is put off again then, unless somebody waits.
pub(super) fn patrol_later(on: &mut Base<impl Probe, impl Contents>) {
    /// The shortest time: a patrol comes after the events of the same moment.
    const AFTER: Nanos = Nanos(1);
    let next = on.next_event().map_or(on.kernel.now, |(at, _)| at);
    on.idle.patrol_at(next + AFTER);
}

/// A block was read so often that its data must be refreshed.
#[cold]
pub(super) fn refresh_read_often(block: BlockId, on: &mut Base<impl Probe, impl Contents>) {
    let Base { kernel, services, .. } = on;
    // The FTL refreshes the superblock that it belongs to.
    let (block, _) = kernel.flash.geometry().superblock_of(block);
    services.collector.read_often::<{ skills::ALL }>(block, kernel);
}

/// Inspects all blocks, and starts copying the data that is due.
pub(super) fn patrol(on: &mut Base<impl Probe, impl Contents>) {
    plan_patrol(on);
    let Base { kernel, services, .. } = on;
    services.collector.patrol::<{ skills::ALL }>(kernel);
}
