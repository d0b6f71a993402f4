//! Round robin: each queue in turn gives up to a burst of commands. NVM Express Base Specification 2.0,
//! 3.4.4.1. The burst is the arbitration burst of its Arbitration feature (5.27.1.1), which allows
//! powers of two up to 64 and no limit; here any number is allowed.

use super::rounds::Rounds;
use super::{ArbitrationFacts, ArbitrationPolicy, Backlog};
use crate::host::QueueId;
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::options::declare::options;
use crate::policy::{Parts, Policy};

/// Queues in turn.
#[derive(Clone, Debug)]
pub struct RoundRobin {
    queues: u32,
    burst: u32,
    rounds: Rounds,
}

options! {
    /// Turns of commands.
    pub struct BurstOptions at "host.arbitration" {
        /// Commands fetched from a queue at a time, like the arbitration burst of NVMe.
        burst: u32 = "1", in "1"..="65536", unit "commands",
            source "default: the finest turns; NVMe leaves it to the controller";
    }
}

impl Policy for RoundRobin {
    const NAME: &'static str = "round-robin";
    const SUMMARY: &'static str = "queues in turn, a burst of commands from each";
    const SOURCE: &'static str = "NVM Express Base Specification 2.0, 3.4.4.1";
    type Options = BurstOptions;

    fn build(options: &Self::Options, parts: &Parts<'_>) -> Self {
        RoundRobin::new(parts.queues, options.burst)
    }

    fn save(&self, out: &mut ImageWriter) {
        let RoundRobin { queues: _, burst: _, rounds } = self;
        rounds.save(out);
    }

    fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        self.rounds.load(self.queues, |_| self.burst, from)
    }
}

impl ArbitrationFacts for RoundRobin {}

impl RoundRobin {
    /// Returns a policy for `queues` queues.
    #[must_use]
    pub fn new(queues: u32, burst: u32) -> RoundRobin {
        RoundRobin { queues, burst, rounds: Rounds::new(queues) }
    }
}

impl ArbitrationPolicy for RoundRobin {
    fn becomes_backlogged(&mut self, _queue: QueueId) {}

    fn choose(&mut self, backlog: &Backlog<'_>) -> QueueId {
        self.rounds.choose(backlog.waiting, |_| self.burst)
    }
}
