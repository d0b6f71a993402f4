//! Which submission queue the controller fetches from next.
//!
//! The core asks only when it can take a command and one waits, and it always takes the chosen one.
//! So a policy can neither leave the controller idle nor reorder a queue.

mod classes;
mod fair;
mod round_robin;
mod rounds;
mod weighted;

pub use classes::{ClassOptions, PriorityClass, PriorityClasses};
pub use fair::{Cost, FairOptions, StartTimeFair};
pub use round_robin::{BurstOptions, RoundRobin};
pub use weighted::{WeightedOptions, WeightedRoundRobin};

use std::collections::VecDeque;

use super::{Intake, QueueId, QueueSet, Request};
use crate::policy::{contract, seam};
use crate::units::RequestId;

seam! {
    /// Decides from which submission queue the controller fetches next.
    pub enum Arbitration ("host.arbitration.policy" = "round-robin") as ArbitrationChoice, with arbitration_policy, or ExternalArbitration {
        RoundRobin(RoundRobin),
        Weighted(WeightedRoundRobin),
        Classes(PriorityClasses),
        Fair(StartTimeFair),
    }
}

contract! {
    /// What is known of an arbitration policy before it is built.
    pub trait ArbitrationFacts of ArbitrationChoice, by arbitration_policy {
        /// The weights of the queues, if the policy has any: one for all, or one for each.
        fn weights(_options: &Self::Options) -> Option<&[u32]> {
            None
        }

        /// The classes of the queues, if the policy has any: one for all, or one for each.
        fn classes(_options: &Self::Options) -> Option<&[PriorityClass]> {
            None
        }
    }
}

/// The view of a policy: the queues that hold commands, and the first command of each.
#[derive(Clone, Copy, Debug)]
pub struct Backlog<'a> {
    /// The queues that hold commands; at least one.
    pub waiting: QueueSet,
    lines: &'a [VecDeque<RequestId>],
    intake: &'a Intake,
}

impl<'a> Backlog<'a> {
    pub(super) fn new(
        waiting: QueueSet,
        lines: &'a [VecDeque<RequestId>],
        intake: &'a Intake,
    ) -> Backlog<'a> {
        Backlog { waiting, lines, intake }
    }

    /// The next command of a queue that holds any.
    #[must_use]
    pub fn first(&self, queue: QueueId) -> &'a Request {
        let first = self.lines[queue.at()].front().expect("the queue holds a command");
        self.intake.get(*first).request()
    }
}

contract! {
    /// The decisions of an arbitration policy.
    pub trait ArbitrationPolicy for Arbitration, by arbitration_policy, or ExternalArbitration {
        /// Called when a command comes to an empty queue.
        fn becomes_backlogged(&mut self, queue: QueueId);

        /// Chooses a queue that holds commands, to fetch from.
        #[must_use]
        fn choose(&mut self, backlog: &Backlog<'_>) -> QueueId;
    }
}

/// Returns a number for each of `count` queues, from a list with one number for all or one for
/// each.
#[must_use]
pub fn one_each(list: &[u32], count: u32) -> Vec<u32> {
    match *list {
        [one] => vec![one; count as usize],
        _ => list.to_vec(),
    }
}
