//! Where finished requests leave the device: what they waited for is settled, their time is accounted for, and the
//! host is told, after its front end if it has one.

use super::Contents;
use crate::engine::skills::{self, RARE, Skills, any};
use crate::host::{Breakdown, Completion, FrontEnd, Intake};
use crate::scheduler::Spent;
use crate::units::{Nanos, RequestId, SimTime};

/// Where finished requests leave the device.
pub(super) struct Outlet<'a, C> {
    pub now: SimTime,
    pub front: &'a mut Option<Box<FrontEnd>>,
    pub intake: &'a mut Intake,
    pub contents: &'a mut C,
    pub finished: &'a mut Vec<Completion>,
}

impl<C: Contents> Outlet<'_, C> {
    /// Something that a request waited for is done; `spent` is its account of time. If it was the
    /// last thing, the request is done.
    #[inline]
    pub fn settle<const S: Skills>(&mut self, id: RequestId, spent: &Spent) {
        if self.intake.settle(id) {
            let elapsed = self.now - self.intake.get(id).started();
            let breakdown = self.intake.breakdown_mut(id);
            // The time in which the device stood still is on the request's account already.
            let Breakdown { submission, front_end, link, admission, gc, .. } = *breakdown;
            let account = account(spent, elapsed);
            *breakdown = Breakdown {
                submission,
                front_end,
                link,
                admission: account.admission + admission,
                gc: account.gc + gc,
                ..account
            };
            self.finish::<S>(id);
        }
    }

    /// A request is done but for its way to the host.
    #[inline]
    pub fn finish<const S: Skills>(&mut self, id: RequestId) {
        if !any(S, RARE) {
            return self.complete::<S>(id);
        }
        if let Some(front) = self.front {
            let answer = self.intake.get(id);
            let from_flash = answer.breakdown().cell > Nanos::ZERO;
            if from_flash && front.answer(self.now, id, answer.request()) {
                return;
            }
        }
        self.deliver(id);
    }

    /// A request is answered: its data goes to the host.
    #[inline]
    pub fn deliver(&mut self, id: RequestId) {
        if let Some(front) = self.front
            && let Some(at) = front.deliver(self.now, id, self.intake.get(id).request())
        {
            self.intake.breakdown_mut(id).link += at - self.now;
            return;
        }
        self.complete::<{ skills::ALL }>(id);
    }

    /// The host is told.
    #[inline(always)]
    pub fn complete<const S: Skills>(&mut self, id: RequestId) {
        let completion = self.intake.finish(id, self.now);
        if any(S, RARE)
            && let Some(front) = self.front
        {
            front.completed(completion.queue);
        }
        self.contents.finish(id, completion);
        self.finished.push(*completion);
    }
}

/// Splits a request's time according to the flash command that ended it. What passed before that
/// command began was waiting to be admitted. A request that came while the command was under way
/// (a flush may) only waited.
fn account(spent: &Spent, elapsed: Nanos) -> Breakdown {
    let Some(before) = elapsed.0.checked_sub(spent.total().0) else {
        return Breakdown { queue: elapsed, ..Breakdown::default() };
    };
    let Spent { translation, queue, gc, bus, cell } = *spent;
    let admission = Nanos(before);
    Breakdown { admission, translation, queue, gc, bus, cell, ..Breakdown::default() }
}
