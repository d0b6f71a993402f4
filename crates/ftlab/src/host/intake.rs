//! The requests that are in the device: how many pages each still waits for, and where its time goes.

use super::{Breakdown, Completion, Op, Outcome, QueueId, Request};
use crate::engine::{Handle, Slab};
use crate::units::{Bytes, RequestId, SECTOR_BYTES, SimTime};

/// A request in the device.
#[derive(Clone, Debug)]
pub struct Active {
    /// The answer, as far as it is known: of its time, up to the page that finished last. It leaves
    /// as it stands here. Until then `finished` holds when the device took the request up: so this
    /// fits two cache lines.
    answer: Completion,
}

impl Active {
    /// What was asked.
    #[inline]
    #[must_use]
    pub fn request(&self) -> &Request {
        &self.answer.request
    }

    /// The submission queue through which it came.
    #[must_use]
    pub fn queue(&self) -> QueueId {
        self.answer.queue
    }

    /// When the device took it up: later than it was submitted, if it had to wait for the front end.
    #[inline]
    #[must_use]
    pub fn started(&self) -> SimTime {
        self.answer.finished
    }

    /// Where its time went, as far as that is known.
    #[must_use]
    pub fn breakdown(&self) -> &Breakdown {
        &self.answer.breakdown
    }

    /// When it was submitted.
    #[must_use]
    pub fn submitted(&self) -> SimTime {
        self.answer.submitted
    }
}

/// Where a request stands in the table.
#[inline]
const fn place(id: RequestId) -> Handle<Active> {
    Handle::new(id.get())
}

/// All requests in the device.
#[derive(Clone, Debug, Default)]
pub struct Intake {
    active: Slab<Active>,
    /// By request: pages, or other things, that it still waits for.
    waits_for: Vec<u32>,
    /// Sectors of the writes that are done.
    written_sectors: u64,
}

impl Intake {
    /// Takes a request in. It waits for one thing: [`settle`](Self::settle), called when all of its
    /// pages have been started, so that it can't finish half-way through the splitting.
    #[inline]
    pub fn admit(&mut self, submitted: SimTime, queue: QueueId, request: Request) -> RequestId {
        let (breakdown, outcome) = (Breakdown::default(), Outcome::Done);
        let finished = submitted;
        const { assert!(size_of::<Active>() <= 128, "two cache lines") };
        let answer = Completion { request, queue, submitted, finished, breakdown, outcome };
        let id = RequestId::new(self.active.insert_with(|| Active { answer }).get());
        match self.waits_for.get_mut(id.at()) {
            Some(waits_for) => *waits_for = 1,
            None => self.waits_for.push(1),
        }
        id
    }

    /// The front end has passed the request on.
    pub fn start(&mut self, id: RequestId, now: SimTime) {
        self.active[place(id)].answer.finished = now;
    }

    /// The request waits for one thing more.
    #[inline]
    pub fn wait_for_one(&mut self, id: RequestId) {
        self.waits_for[id.at()] += 1;
    }

    /// One thing that the request waited for is done; true if it was the last.
    #[inline]
    #[must_use]
    pub fn settle(&mut self, id: RequestId) -> bool {
        let waits_for = &mut self.waits_for[id.at()];
        *waits_for -= 1;
        *waits_for == 0
    }

    /// The request.
    #[inline]
    pub fn get(&self, id: RequestId) -> &Active {
        &self.active[place(id)]
    }

    /// The request's account of time.
    #[inline]
    pub fn breakdown_mut(&mut self, id: RequestId) -> &mut Breakdown {
        &mut self.active[place(id)].answer.breakdown
    }

    /// The request can't be done: the device takes no writes any more.
    pub fn refuse(&mut self, id: RequestId) {
        self.active[place(id)].answer.outcome = Outcome::ReadOnly;
    }

    /// Some of what the request reads is lost.
    pub fn cannot_read(&mut self, id: RequestId) {
        self.active[place(id)].answer.outcome = Outcome::Unreadable;
    }

    /// Takes a finished request out, whose time went as `breakdown` says.
    // What was just written is not read back at another width: processors stall on that.
    #[inline(always)]
    pub fn finish(&mut self, id: RequestId, finished: SimTime, breakdown: Breakdown) -> Completion {
        self.active.release(place(id));
        let answer = &self.active[place(id)].answer;
        if answer.request.op == Op::Write && answer.outcome == Outcome::Done {
            self.written_sectors += u64::from(answer.request.sectors);
        }
        Completion { finished, breakdown, ..*answer }
    }

    /// What the writes that are done have written.
    #[must_use]
    pub fn written(&self) -> Bytes {
        Bytes(self.written_sectors * SECTOR_BYTES)
    }

    /// The requests in the device, in no order that means anything.
    pub fn all(&self) -> impl Iterator<Item = &Active> {
        self.active.all()
    }

    /// How many requests are in the device.
    pub fn in_flight(&self) -> usize {
        self.active.in_use()
    }
}
