//! The way of a completion to the host: the controller posts one after the other, and an interrupt tells the host. With
//! coalescing it tells of several completions of a queue at once: as soon as there are enough, or when the first has
//! waited for a given time.
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
    /// By queue: completions that are held back.
    held: Vec<Vec<Posted>>,
    /// The queues that hold any back, with the times at which they may no longer.
    due: VecDeque<(SimTime, QueueId)>,
    /// Completions of which interrupts tell the host, with the times at which it sees them.
    told: VecDeque<(SimTime, Posted)>,
}

impl Completions {
    pub fn new(setup: CompletionSetup, queues: u32) -> Completions {
        Completions {
            setup,
            posting: Passage::default(),
            held: vec![Vec::new(); queues as usize],
            due: VecDeque::new(),
            told: VecDeque::new(),
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
        let held = &mut self.held[queue.at()];
        held.push(Posted { id, since: now });
        match self.setup.coalescing {
            Some(Coalescing { threshold, time }) if held.len() < threshold as usize => {
                if held.len() == 1 {
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
        let seen = now + self.setup.interrupt;
        self.told.extend(self.held[queue.at()].drain(..).map(|posted| (seen, posted)));
    }

    /// When something happens next.
    pub fn next_time(&self) -> Option<SimTime> {
        let due = self.due.front().map(|&(at, _)| at);
        let told = self.told.front().map(|&(at, _)| at);
        [self.posting.next_time(), due, told].into_iter().flatten().min()
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
        let &(_, posted) = self.told.front().filter(|&&(at, _)| at == now)?;
        self.told.pop_front();
        Some((posted.id, now - posted.since))
    }
}
