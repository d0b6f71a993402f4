//! Recovery from checkpoints: now and then what has changed of the map is written to the system area. At power-up the last
//! complete checkpoint is read, the first spare area of every block, and all those of the blocks that were being
//! filled at the checkpoint or opened since.
//!
//! Source: Birrell, Isard, Thacker and Wobber, "A Design for High-Performance Flash Disks", SIGOPS OSR 2007 (the map is
//! checkpointed, and what was written after it is scanned); Gal and Toledo, ACM Computing Surveys 2005, section 2.3.
//! Entries have eight bytes: a place, and the low half of a version.

use super::{RecoveryFacts, RecoveryPolicy, Upkeep};
use crate::image::keeps_nothing;
use crate::options::declare::options;
use crate::policy::{Parts, Policy};
use crate::units::Bytes;

options! {
    /// Checkpoints of the map.
    pub struct CheckpointOptions at "ftl.recovery" {
        /// The map goes to flash when so much data was programmed for the host since the last time. Less makes
        /// recovery faster and writes more.
        every: Bytes = "1GiB", in "64KiB"..="1000TiB",
            source "assumed: recovery time and what is written for it trade against each other";
    }
}

/// The map, now and then.
#[derive(Clone, Copy, Debug)]
pub struct Checkpoint {
    every: Bytes,
}

impl Policy for Checkpoint {
    const NAME: &'static str = "checkpoint";
    const SUMMARY: &'static str =
        "the map is written now and then, and what was programmed after that is looked at";
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
    /// The map goes to flash when so much was programmed for the host since the last time.
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
