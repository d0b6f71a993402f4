//! Recovery from checkpoints. From time to time, the changes of the map are written to the system
//! area. Power-up reads the last complete checkpoint, the first spare area of every block, and all
//! spare areas of the blocks that were open at the checkpoint or opened since.
//!
//! Source: Birrell, Isard, Thacker and Wobber, "A Design for High-Performance Flash Disks", SIGOPS
//! OSR 2007 (the map is checkpointed, and later writes are scanned); Gal and Toledo, ACM Computing
//! Surveys 2005, section 2.3. Entries have eight bytes: a place, and the low half of a version.

use super::{RecoveryFacts, RecoveryPolicy, Upkeep};
use crate::image::keeps_nothing;
use crate::options::declare::options;
use crate::policy::{Parts, Policy};
use crate::units::Bytes;

options! {
    /// Checkpoints of the map.
    pub struct CheckpointOptions at "ftl.recovery" {
        /// Amount of data programmed for the host between two checkpoints of the map. A smaller
        /// value makes recovery faster and writes more.
        every: Bytes = "1GiB", in "64KiB"..="1000TiB",
            source "assumed: a trade-off between recovery time and the amount written for it";
    }
}

/// Writes the map from time to time.
#[derive(Clone, Copy, Debug)]
pub struct Checkpoint {
    every: Bytes,
}

impl Policy for Checkpoint {
    const NAME: &'static str = "checkpoint";
    const SUMMARY: &'static str =
        "the map is written from time to time, and recovery scans the pages programmed since";
    const SOURCE: &'static str = "Birrell et al., SIGOPS OSR 2007";
    type Options = CheckpointOptions;

    fn build(options: &Self::Options, _parts: &Parts<'_>) -> Self {
        Checkpoint::new(options.every)
    }

    keeps_nothing!(Checkpoint { every });
}

impl RecoveryFacts for Checkpoint {
    fn writes_checkpoints(_options: &Self::Options) -> bool {
        true
    }
}

impl Checkpoint {
    /// Creates the policy. The map is written to flash after every `every` bytes programmed for the
    /// host.
    #[must_use]
    pub fn new(every: Bytes) -> Checkpoint {
        Checkpoint { every }
    }
}

impl RecoveryPolicy for Checkpoint {
    fn upkeep(&self) -> Option<Upkeep> {
        Some(Upkeep { checkpoint_every: Some(self.every) })
    }
}
