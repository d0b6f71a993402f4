//! Start-time fair queueing: every command has a start tag in virtual time, and the smallest goes first.
//! A command's start tag is the finish tag of the previous command of its queue, or the virtual time if
//! it came to an empty queue and that is later. Its finish tag is the start tag plus its cost divided by
//! the queue's weight. Virtual time is the start tag of the command fetched last.
//!
//! One departure: in SFQ, virtual time rises to the largest finish tag when a busy period ends, so that
//! all queues start the next one equal. Here it does not: after an idle time a queue still waits for
//! queues that got less before, at most for the cost of its own last command divided by its weight.
//!
//! Sources: Goyal, Vin, Cheng, "Start-time Fair Queuing", SIGCOMM 1996; with several commands at once,
//! as here, SFQ(D) of Jin, Chase, Kaur, "Interposed Proportional Sharing for a Storage Service Utility",
//! SIGMETRICS 2004, where D is `host.outstanding`. FlashFQ (Shen and Park, ATC 2013) builds on it; its
//! throttling of tenants that run ahead and its anticipation of coming requests are not implemented.

use super::{ArbitrationFacts, ArbitrationPolicy, Backlog, QueueId, Request, one_each};
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::options::declare::{choices, options};
use crate::policy::{Parts, Policy};

/// Virtual time per unit of cost at weight one, fine enough to make rounding errors negligible.
const SCALE: u128 = 1 << 32;
/// The cost of a command without data, in sectors: as much as a 4 KiB page.
const EMPTY_COST: u32 = 8;

choices! {
    /// What is shared fairly.
    pub enum Cost {
        /// The data that commands move; a trim or a flush counts as 4 KiB.
        Bytes = "bytes",
        /// Commands, whatever their size.
        Commands = "commands",
    }
}

options! {
    /// What is shared, and in which proportion.
    pub struct FairOptions at "host.arbitration" {
        /// The weight of each queue: one number for all, or one for each.
        weights: Vec<u32> = "1", in "1"..="1024", source "default: all equal";
        /// What is shared in proportion to the weights.
        cost: Cost = "bytes", source "Goyal et al., SIGCOMM 1996: the length of a packet";
    }
}

/// Queues by start tag.
#[derive(Clone, Debug)]
pub struct StartTimeFair {
    cost: Cost,
    weights: Vec<u32>,
    virtual_time: u128,
    /// By queue: the start tag of its first command, if it has one.
    starts: Vec<u128>,
    /// By queue: the finish tag of the command fetched last.
    finishes: Vec<u128>,
}

impl Policy for StartTimeFair {
    const NAME: &'static str = "start-time-fair";
    const SUMMARY: &'static str = "the smallest start tag in virtual time, bytes by weight: SFQ(D)";
    const SOURCE: &'static str = "Goyal et al., SIGCOMM 1996; Jin et al., SIGMETRICS 2004";
    type Options = FairOptions;

    fn build(options: &Self::Options, parts: &Parts<'_>) -> Self {
        StartTimeFair::new(one_each(&options.weights, parts.queues), options.cost)
    }

    fn save(&self, out: &mut ImageWriter) {
        let StartTimeFair { cost: _, weights: _, virtual_time, starts: _, finishes } = self;
        // Only how far each queue is ahead matters. An empty queue has no start tag.
        for finish in finishes {
            let ahead = finish.saturating_sub(*virtual_time);
            out.number(u64::try_from(ahead).unwrap_or(u64::MAX));
        }
    }

    fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        self.virtual_time = 0;
        for finish in &mut self.finishes {
            *finish = u128::from(from.number()?);
        }
        Ok(())
    }
}

impl ArbitrationFacts for StartTimeFair {
    fn weights(options: &Self::Options) -> Option<&[u32]> {
        Some(&options.weights)
    }
}

impl StartTimeFair {
    /// Returns a policy for queues of these weights.
    #[must_use]
    pub fn new(weights: Vec<u32>, cost: Cost) -> StartTimeFair {
        let zeros = vec![0; weights.len()];
        StartTimeFair { cost, weights, virtual_time: 0, starts: zeros.clone(), finishes: zeros }
    }
}

impl ArbitrationPolicy for StartTimeFair {
    fn becomes_backlogged(&mut self, queue: QueueId) {
        self.starts[queue.at()] = self.virtual_time.max(self.finishes[queue.at()]);
    }

    fn choose(&mut self, backlog: &Backlog<'_>) -> QueueId {
        let first = backlog.waiting.iter().min_by_key(|queue| self.starts[queue.at()]);
        let queue = first.expect("a command waits");
        let Request { op, sectors, .. } = *backlog.first(queue);
        let cost = match (self.cost, op) {
            (Cost::Commands, _) => 1,
            (Cost::Bytes, op) if op.moves_data() => sectors,
            (Cost::Bytes, _) => EMPTY_COST,
        };
        let at = queue.at();
        self.virtual_time = self.starts[at];
        self.finishes[at] =
            self.starts[at] + u128::from(cost) * SCALE / u128::from(self.weights[at]);
        self.starts[at] = self.finishes[at];
        queue
    }
}
