//! The way of a completion to the host: the controller posts one after the other, and an interrupt makes the host look.
//! It then sees all completions of the queue, also those that were posted after the interrupt. With coalescing there is an
//! interrupt as soon as there are enough completions, or when the first has waited for a given time.
//!
//! Source: NVM Express, feature 08h (Interrupt Coalescing): a threshold, and a time in steps of 100 us. The host counts
//! from one here, where the feature's threshold counts from zero. Each queue has an interrupt of its own.

use std::collections::VecDeque;

use super::QueueId;
use super::passage::Passage;
use crate::units::{Nanos, RequestId, SimTime};

/// What completions cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompletionSetup {
    /// The time to post a completion.
    pub posting: Nanos,
    /// The time from an interrupt until the host sees what it tells of.
    pub interrupt: Nanos,
    /// When an interrupt is raised, or `None` if each completion raises one.
    pub coalescing: Option<Coalescing>,
}

/// When completions that were held back are told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coalescing {
    /// This many are enough.
    pub threshold: u32,
    /// The first waits no longer than this.
    pub time: Nanos,
}

impl CompletionSetup {
    /// Whether nothing takes time.
    #[must_use]
    pub fn is_free(&self) -> bool {
        self.posting == Nanos::ZERO && !self.interrupts()
    }

    /// Whether the host sees completions later than they are posted.
    fn interrupts(&self) -> bool {
        self.interrupt > Nanos::ZERO || self.coalescing.is_some()
    }
}

/// A completion that was posted, and when.
#[derive(Clone, Copy, Debug)]
struct Posted {
    id: RequestId,
    since: SimTime,
}

/// The completions on their way.
#[derive(Clone, Debug)]
pub(super) struct Completions {
    setup: CompletionSetup,
    posting: Passage<RequestId>,
    /// By queue: completions that the host has not seen.
    unseen: Vec<Vec<Posted>>,
    /// The queues that hold any back, with the times at which they may no longer.
    due: VecDeque<(SimTime, QueueId)>,
    /// Queues with an interrupt, with the times at which the host looks.
    raised: VecDeque<(SimTime, QueueId)>,
    /// What the host sees at a time.
    seen: VecDeque<(SimTime, Posted)>,
}

impl Completions {
    pub fn new(setup: CompletionSetup, queues: u32) -> Completions {
        Completions {
            setup,
            posting: Passage::default(),
            unseen: vec![Vec::new(); queues as usize],
            due: VecDeque::new(),
            raised: VecDeque::new(),
            seen: VecDeque::new(),
        }
    }

    /// Posts a completion. Returns when it is posted, or `None` if that takes no time.
    pub fn post(&mut self, now: SimTime, id: RequestId) -> Option<SimTime> {
        let takes = Some(self.setup.posting).filter(|&time| time > Nanos::ZERO)?;
        Some(self.posting.send(now, id, takes))
    }

    /// Lets the host know of a posted completion, now or later. Returns false if it knows at once.
    pub fn tell(&mut self, now: SimTime, queue: QueueId, id: RequestId) -> bool {
        if !self.setup.interrupts() {
            return false;
        }
        let unseen = &mut self.unseen[queue.at()];
        unseen.push(Posted { id, since: now });
        if self.raised.iter().any(|&(_, raised)| raised == queue) {
            // The host will look anyway.
            return true;
        }
        match self.setup.coalescing {
            Some(Coalescing { threshold, time }) if unseen.len() < threshold as usize => {
                if unseen.len() == 1 {
                    self.due.push_back((now + time, queue));
                }
            }
            _ => {
                self.due.retain(|&(_, due)| due != queue);
                self.raise(now, queue);
            }
        }
        true
    }

    /// Raises the interrupt of a queue.
    fn raise(&mut self, now: SimTime, queue: QueueId) {
        self.raised.push_back((now + self.setup.interrupt, queue));
    }

    /// When something happens next.
    pub fn next_time(&self) -> Option<SimTime> {
        let due = self.due.front().map(|&(at, _)| at);
        let raised = self.raised.front().map(|&(at, _)| at);
        let seen = self.seen.front().map(|&(at, _)| at);
        [self.posting.next_time(), due, raised, seen].into_iter().flatten().min()
    }

    /// Takes a completion that is posted now.
    pub fn posted(&mut self, now: SimTime) -> Option<RequestId> {
        self.posting.arrived(now)
    }

    /// Takes a completion that the host sees now, with the time since it was posted.
    pub fn seen(&mut self, now: SimTime) -> Option<(RequestId, Nanos)> {
        while let Some(&(at, queue)) = self.due.front()
            && at == now
        {
            self.due.pop_front();
            self.raise(now, queue);
        }
        while let Some(&(at, queue)) = self.raised.front()
            && at == now
        {
            self.raised.pop_front();
            self.seen.extend(self.unseen[queue.at()].drain(..).map(|posted| (now, posted)));
        }
        let (_, posted) = self.seen.pop_front()?;
        Some((posted.id, now - posted.since))
    }
}
