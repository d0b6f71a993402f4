//! The desk: the requests in the device, and their way out. It settles what they wait for, accounts
//! for their time, and completes them to the host, through the front end if there is one.

use std::collections::VecDeque;

use crate::device::Contents;
use crate::engine::skills::{self, RARE, Skills, any};
use crate::host::{Breakdown, Completion, FrontEnd, Intake, Queues};
use crate::scheduler::Spent;
use crate::units::{Nanos, RequestId, SimTime};

/// The requests in the device.
#[derive(Clone, Debug)]
pub(super) struct Desk {
    pub queues: Queues,
    /// The front end, where commands wait before the device takes them up; none if nothing delays them.
    pub front: Option<Box<FrontEnd>>,
    pub intake: Intake,
    /// Requests that complete after the buffer's latency.
    pub from_buffer: VecDeque<(SimTime, RequestId)>,
    /// Completions that the host has not fetched.
    pub finished: Vec<Completion>,
}

impl Desk {
    /// Something that a request waited for is done; `spent` is the time that it took. If it was the
    /// last thing, the request is done.
    #[inline]
    pub fn settle<const S: Skills>(
        &mut self,
        id: RequestId,
        spent: &Spent,
        now: SimTime,
        contents: &mut impl Contents,
    ) {
        if self.intake.settle(id) {
            let active = self.intake.get(id);
            let account = account(spent, now - active.started());
            // The request's breakdown already contains its time in standstills.
            let Breakdown { submission, front_end, link, buffer, admission, gc, .. } =
                *active.breakdown();
            let breakdown = Breakdown {
                submission,
                front_end,
                link,
                buffer: if any(S, RARE) { buffer } else { Nanos::ZERO },
                admission: account.admission + admission,
                gc: account.gc + gc,
                ..account
            };
            if !any(S, RARE) {
                return self.leave::<S>(id, breakdown, now, contents);
            }
            *self.intake.breakdown_mut(id) = breakdown;
            self.finish::<S>(id, now, contents);
        }
    }

    /// A request is done, except for its way to the host.
    #[inline]
    pub fn finish<const S: Skills>(
        &mut self,
        id: RequestId,
        now: SimTime,
        contents: &mut impl Contents,
    ) {
        if !any(S, RARE) {
            let breakdown = *self.intake.get(id).breakdown();
            return self.leave::<S>(id, breakdown, now, contents);
        }
        let Some(front) = &mut self.front else {
            return self.complete(id, now, contents);
        };
        let answer = self.intake.get(id);
        let from_flash = answer.breakdown().cell > Nanos::ZERO;
        if !from_flash || !front.answer(now, id, answer.request()) {
            self.deliver(id, now, contents);
        }
    }

    /// A request is processed: its data leaves DRAM.
    #[inline]
    pub fn deliver(&mut self, id: RequestId, now: SimTime, contents: &mut impl Contents) {
        if let Some(front) = &mut self.front
            && let Some(at) = front.leave_dram(now, id, self.intake.get(id).request())
        {
            self.intake.breakdown_mut(id).buffer += at - now;
            return;
        }
        self.send(id, now, contents);
    }

    /// The data of a request goes to the host.
    #[inline]
    pub fn send(&mut self, id: RequestId, now: SimTime, contents: &mut impl Contents) {
        if let Some(front) = &mut self.front
            && let Some(at) = front.deliver(now, id, self.intake.get(id).request())
        {
            self.intake.breakdown_mut(id).link += at - now;
            return;
        }
        self.post(id, now, contents);
    }

    /// The host has a request's data: its completion is posted.
    pub fn post(&mut self, id: RequestId, now: SimTime, contents: &mut impl Contents) {
        if let Some(front) = &mut self.front
            && let Some(at) = front.post(now, id)
        {
            self.intake.breakdown_mut(id).front_end += at - now;
            return;
        }
        self.announce(id, now, contents);
    }

    /// A completion is posted: it crosses the link.
    pub fn announce(&mut self, id: RequestId, now: SimTime, contents: &mut impl Contents) {
        if let Some(front) = &mut self.front
            && let Some(at) = front.announce(now, id)
        {
            self.intake.breakdown_mut(id).link += at - now;
            return;
        }
        self.tell(id, now, contents);
    }

    /// A completion is with the host, which may not know yet.
    pub fn tell(&mut self, id: RequestId, now: SimTime, contents: &mut impl Contents) {
        if let Some(front) = &mut self.front
            && front.tell(now, self.intake.get(id).queue(), id)
        {
            return;
        }
        self.complete(id, now, contents);
    }

    /// Completes a request to the host.
    pub fn complete(&mut self, id: RequestId, now: SimTime, contents: &mut impl Contents) {
        let breakdown = *self.intake.get(id).breakdown();
        self.leave::<{ skills::ALL }>(id, breakdown, now, contents);
    }

    /// A request leaves the device; `breakdown` tells how its time was spent.
    #[inline(always)]
    fn leave<const S: Skills>(
        &mut self,
        id: RequestId,
        breakdown: Breakdown,
        now: SimTime,
        contents: &mut impl Contents,
    ) {
        let completion = self.intake.finish(id, now, breakdown);
        if any(S, RARE)
            && let Some(front) = &mut self.front
        {
            front.completed(completion.queue);
        }
        contents.deliver(id, &completion);
        self.finished.push(completion);
    }

    /// Something that a request waited for will never be done: the request fails.
    pub fn refuse(
        &mut self,
        id: RequestId,
        spent: &Spent,
        now: SimTime,
        contents: &mut impl Contents,
    ) {
        self.intake.refuse(id);
        self.settle::<{ skills::ALL }>(id, spent, now, contents);
    }
}

/// Splits a request's time according to the flash command that ended it. The time before this command began was spent
/// waiting for admission. A request that came while the command was in flight (a flush may) only waited.
fn account(spent: &Spent, elapsed: Nanos) -> Breakdown {
    let Some(before) = elapsed.0.checked_sub(spent.total().0) else {
        return Breakdown { queue: elapsed, ..Breakdown::default() };
    };
    let Spent { translation, queue, gc, bus, cell } = *spent;
    let admission = Nanos(before);
    Breakdown { admission, translation, queue, gc, bus, cell, ..Breakdown::default() }
}
