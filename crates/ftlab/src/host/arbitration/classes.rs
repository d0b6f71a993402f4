//! Weighted round robin with urgent priority class, as defined by NVMe: each queue has a class. Urgent
//! queues go before all others; high, medium and low ones share the rest by the weights of their
//! classes; within a class it is round robin with bursts. NVM Express Base Specification 2.0, 3.4.4.2,
//! without its admin class, as there are no admin commands here. An urgent queue that is never empty
//! starves the others, as the specification warns.

use super::rounds::Rounds;
use super::{ArbitrationFacts, ArbitrationPolicy, Backlog, BurstOptions, QueueId, QueueSet};
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::options::declare::{choices, options};
use crate::options::value::{Item, ValueKind};
use crate::policy::{Parts, Policy};

choices! {
    /// The priority class of a queue.
    #[derive(PartialOrd, Ord)]
    pub enum PriorityClass {
        /// Before all others.
        Urgent = "urgent",
        /// Shares with medium and low, by weight.
        High = "high",
        /// Shares with high and low, by weight.
        Medium = "medium",
        /// Shares with high and medium, by weight.
        Low = "low",
    }
}

impl Item for PriorityClass {
    const LIST: ValueKind = ValueKind::Names;
}

options! {
    /// Classes of queues and their weights.
    pub struct ClassOptions at "host.arbitration" with { turns: BurstOptions } {
        /// The class of each queue: one for all, or one for each.
        classes: Vec<PriorityClass> = "medium",
            source "NVM Express Base Specification 2.0, 5.5: Create I/O Submission Queue, QPRIO";
        /// Commands in a round for the high class.
        high_weight: u32 = "8", in "1"..="256", unit "commands",
            source "range: NVM Express Base Specification 2.0, 5.27.1.1; default assumed";
        /// Commands in a round for the medium class.
        medium_weight: u32 = "4", in "1"..="256", unit "commands", source "as high_weight";
        /// Commands in a round for the low class.
        low_weight: u32 = "1", in "1"..="256", unit "commands", source "as high_weight";
    }
}

/// The classes that share by weight, in the order of their turns.
const SHARING: [PriorityClass; 3] =
    [PriorityClass::High, PriorityClass::Medium, PriorityClass::Low];

/// Queues by class.
#[derive(Clone, Debug)]
pub struct PriorityClasses {
    queues: u32,
    urgent: Class,
    /// In the order of [`SHARING`].
    sharing: [Class; SHARING.len()],
    weights: [u32; SHARING.len()],
    /// Turns of the sharing classes, each of which counts as a queue here.
    rounds: Rounds,
    burst: u32,
}

#[derive(Clone, Debug)]
struct Class {
    members: QueueSet,
    rounds: Rounds,
}

impl Policy for PriorityClasses {
    const NAME: &'static str = "priority-classes";
    const SUMMARY: &'static str = "urgent queues first, high, medium and low ones by weight (NVMe)";
    const SOURCE: &'static str = "NVM Express Base Specification 2.0, 3.4.4.2";
    type Options = ClassOptions;

    fn build(options: &Self::Options, parts: &Parts<'_>) -> Self {
        let queues = parts.queues as usize;
        let classes = match options.classes[..] {
            [one] => vec![one; queues],
            _ => options.classes.clone(),
        };
        let weights = [options.high_weight, options.medium_weight, options.low_weight];
        PriorityClasses::new(&classes, weights, options.turns.burst)
    }

    fn save(&self, out: &mut ImageWriter) {
        let PriorityClasses { queues: _, urgent, sharing, weights: _, rounds, burst: _ } = self;
        rounds.save(out);
        let classes = std::iter::once(urgent).chain(sharing);
        classes.for_each(|class| class.rounds.save(out));
    }

    fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        self.rounds.load(SHARING.len() as u32, |class| self.weights[class.at()], from)?;
        let mut classes = std::iter::once(&mut self.urgent).chain(&mut self.sharing);
        classes.try_for_each(|class| class.rounds.load(self.queues, |_| self.burst, from))
    }
}

impl ArbitrationFacts for PriorityClasses {
    fn classes(options: &Self::Options) -> Option<&[PriorityClass]> {
        Some(&options.classes)
    }
}

impl PriorityClasses {
    /// Returns a policy for queues of these classes; weights are those of high, medium and low.
    #[must_use]
    pub fn new(classes: &[PriorityClass], weights: [u32; 3], burst: u32) -> PriorityClasses {
        let class = |wanted: PriorityClass| {
            let queues = classes.iter().enumerate().filter(|(_, class)| **class == wanted);
            let members = queues.map(|(at, _)| QueueId::new(at as u32)).collect();
            Class { members, rounds: Rounds::new(classes.len() as u32) }
        };
        PriorityClasses {
            queues: classes.len() as u32,
            urgent: class(PriorityClass::Urgent),
            sharing: SHARING.map(class),
            weights,
            rounds: Rounds::new(SHARING.len() as u32),
            burst,
        }
    }
}

impl ArbitrationPolicy for PriorityClasses {
    fn becomes_backlogged(&mut self, _queue: QueueId) {}

    fn choose(&mut self, backlog: &Backlog<'_>) -> QueueId {
        let (burst, waiting) = (self.burst, backlog.waiting);
        let urgent = waiting.within(self.urgent.members);
        if !urgent.is_empty() {
            return self.urgent.rounds.choose(urgent, |_| burst);
        }
        let has_work = |at: &usize| !waiting.within(self.sharing[*at].members).is_empty();
        let classes = (0..SHARING.len()).filter(has_work).map(|at| QueueId::new(at as u32));
        let class = self.rounds.choose(classes.collect(), |class| self.weights[class.at()]);
        let class = &mut self.sharing[class.at()];
        class.rounds.choose(waiting.within(class.members), |_| burst)
    }
}
