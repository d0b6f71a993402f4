//! Host reads first: a host is waiting for them, while a write has been acknowledged or can wait.
//! Everything else keeps its order of arrival. There is no bound: writes starve as long as reads
//! arrive.

use super::{Arrival, Kind, Origin, SchedulerFacts, SchedulerPolicy, View};
use crate::image::keeps_nothing;
use crate::policy::{NoOptions, Parts, Policy};

/// Added to the rank of everything but host reads; larger than any sequence number.
const BEHIND_ALL_READS: u64 = 1 << 63;

/// Non-preemptive priority of host reads.
#[derive(Clone, Debug, Default)]
pub struct ReadFirst;

impl Policy for ReadFirst {
    const NAME: &'static str = "read-first";
    const SUMMARY: &'static str = "host reads go before everything else that waits for the die";
    const SOURCE: &'static str = "textbook (non-preemptive priority)";
    type Options = NoOptions;

    fn build(_options: &Self::Options, _parts: &Parts<'_>) -> Self {
        ReadFirst
    }

    keeps_nothing!(ReadFirst {});
}

impl SchedulerFacts for ReadFirst {}

impl SchedulerPolicy for ReadFirst {
    #[inline(always)]
    fn rank(&mut self, arrival: &Arrival, _view: &View<'_>) -> u64 {
        match (arrival.kind, arrival.origin) {
            (Kind::Read, Origin::Host) => arrival.sequence,
            _ => arrival.sequence | BEHIND_ALL_READS,
        }
    }
}
