//! Weighted round robin: each queue in turn gives up to a burst of commands per unit of its weight, so
//! queues that always hold commands share them in proportion to their weights. A queue that runs empty
//! loses the rest of its turn.
//!
//! Source: Katevenis, Sidiropoulos, Courcoubetis, "Weighted round-robin cell multiplexing in a
//! general-purpose ATM switch chip", IEEE JSAC 9(8), 1991; here a queue's cells are not spread over the
//! round. It counts commands, not bytes; `start-time-fair` can count bytes.

use super::{ArbitrationFacts, ArbitrationPolicy, Backlog, BurstOptions, one_each, rounds::Rounds};
use crate::host::QueueId;
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::options::declare::options;
use crate::policy::{Parts, Policy};

/// Queues in turn, by weight.
#[derive(Clone, Debug)]
pub struct WeightedRoundRobin {
    /// By queue: commands in a turn.
    turns: Vec<u32>,
    rounds: Rounds,
}

options! {
    /// Turns of commands, longer for queues of more weight.
    pub struct WeightedOptions at "host.arbitration" with { turns: BurstOptions } {
        /// The weight of each queue: one number for all, or one for each.
        weights: Vec<u32> = "1", in "1"..="1024", source "default: all equal";
    }
}

impl Policy for WeightedRoundRobin {
    const NAME: &'static str = "weighted-round-robin";
    const SUMMARY: &'static str = "queues in turn, commands in proportion to the weights";
    const SOURCE: &'static str = "Katevenis et al., IEEE JSAC 9(8), 1991";
    type Options = WeightedOptions;

    fn build(options: &Self::Options, parts: &Parts<'_>) -> Self {
        let weights = one_each(&options.weights, parts.queues);
        WeightedRoundRobin::new(&weights, options.turns.burst)
    }

    fn save(&self, out: &mut ImageWriter) {
        let WeightedRoundRobin { turns: _, rounds } = self;
        rounds.save(out);
    }

    fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        self.rounds.load(self.turns.len() as u32, |queue| self.turns[queue.at()], from)
    }
}

impl ArbitrationFacts for WeightedRoundRobin {
    fn weights(options: &Self::Options) -> Option<&[u32]> {
        Some(&options.weights)
    }
}

impl WeightedRoundRobin {
    /// Returns a policy for queues of these weights.
    #[must_use]
    pub fn new(weights: &[u32], burst: u32) -> WeightedRoundRobin {
        WeightedRoundRobin {
            turns: weights.iter().map(|&weight| weight.saturating_mul(burst)).collect(),
            rounds: Rounds::new(weights.len() as u32),
        }
    }
}

impl ArbitrationPolicy for WeightedRoundRobin {
    fn becomes_backlogged(&mut self, _queue: QueueId) {}

    fn choose(&mut self, backlog: &Backlog<'_>) -> QueueId {
        self.rounds.choose(backlog.waiting, |queue| self.turns[queue.at()])
    }
}
