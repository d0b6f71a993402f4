//! The requests in the device: how many pages each still waits for, and how its time is spent.

use super::{Breakdown, Completion, Outcome, QueueId, Request};
use crate::engine::{Handle, Slab};
use crate::units::{Bytes, Lba, RequestId, SECTOR_BYTES, SimTime};

/// A request in the device.
#[derive(Clone, Debug)]
pub struct Active {
    /// The answer as far as it is known, with the times of the page that finished last. It is handed
    /// out in this form. Until then `finished` holds the time at which the device took up the
    /// request, so that this fits two cache lines.
    answer: Completion,
}

impl Active {
    /// The request as submitted.
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

    /// When the device took it up. Later than its submission if it had to wait for the front end.
    #[inline]
    #[must_use]
    pub fn started(&self) -> SimTime {
        self.answer.finished
    }

    /// How its time was spent, as far as that is known.
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

/// The handle of a request in the table.
#[inline]
const fn place(id: RequestId) -> Handle<Active> {
    Handle::new(id.get())
}

/// All requests in the device.
#[derive(Clone, Debug, Default)]
pub struct Intake {
    active: Slab<Active>,
    /// By request: number of pages or other things that it still waits for.
    waits_for: Vec<u32>,
    /// Sectors of completed writes.
    written_sectors: u64,
}

impl Intake {
    /// Adds a request. It waits for one thing: [`settle`](Self::settle), called when all of its pages
    /// have been started, so that it cannot finish while it is still being split.
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

    /// Sets the time at which the front end passed the request on.
    pub fn start(&mut self, id: RequestId, now: SimTime) {
        self.active[place(id)].answer.finished = now;
    }

    /// Makes the request wait for one more thing.
    #[inline]
    pub fn wait_for_one(&mut self, id: RequestId) {
        self.waits_for[id.at()] += 1;
    }

    /// Notes that a thing that the request waited for is done. Returns whether it was the last.
    #[inline]
    #[must_use]
    pub fn settle(&mut self, id: RequestId) -> bool {
        let waits_for = &mut self.waits_for[id.at()];
        *waits_for -= 1;
        *waits_for == 0
    }

    /// A request in the device.
    #[inline]
    pub fn get(&self, id: RequestId) -> &Active {
        &self.active[place(id)]
    }

    /// The request's account of time.
    #[inline]
    pub fn breakdown_mut(&mut self, id: RequestId) -> &mut Breakdown {
        &mut self.active[place(id)].answer.breakdown
    }

    /// Marks the request as refused, because the device accepts no writes any more.
    pub fn refuse(&mut self, id: RequestId) {
        self.active[place(id)].answer.outcome = Outcome::ReadOnly;
    }

    /// The request goes to another address than the host's.
    pub fn readdress(&mut self, id: RequestId, lba: Lba) {
        self.active[place(id)].answer.request.lba = lba;
    }

    /// Marks the request as failed.
    pub fn fail(&mut self, id: RequestId, outcome: Outcome) {
        self.active[place(id)].answer.outcome = outcome;
    }

    /// Marks the request as unreadable, because some of its data is lost.
    pub fn cannot_read(&mut self, id: RequestId) {
        self.active[place(id)].answer.outcome = Outcome::Unreadable;
    }

    /// Removes a finished request, whose time was spent as `breakdown` says.
    // Taken as a parameter, because reading back what was just written at another width would stall
    // the processor.
    #[inline(always)]
    pub fn finish(&mut self, id: RequestId, finished: SimTime, breakdown: Breakdown) -> Completion {
        self.active.release(place(id));
        let answer = &self.active[place(id)].answer;
        if answer.request.op.writes() && answer.outcome == Outcome::Done {
            self.written_sectors += u64::from(answer.request.sectors);
        }
        Completion { finished, breakdown, ..*answer }
    }

    /// Bytes of completed writes.
    #[must_use]
    pub fn written(&self) -> Bytes {
        Bytes(self.written_sectors * SECTOR_BYTES)
    }

    /// The requests in the device, in no particular order.
    pub fn all(&self) -> impl Iterator<Item = &Active> {
        self.active.all()
    }

    /// Number of requests in the device.
    pub fn in_flight(&self) -> usize {
        self.active.in_use()
    }
}
