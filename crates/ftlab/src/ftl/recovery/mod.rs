//! Power cuts: what a device keeps on flash so that it finds its map again, and how it does.
//!
//! Beside each page stand its logical page, its sectors ([`Spare`](super::Spare)) and the *version* of the data, a
//! number that grows with every write ([`Record`]). A copy has the version of what it copies. So what is current
//! follows from the flash alone: of each logical page the highest version that was programmed to its end, unless a
//! deallocation is newer. Of two copies of one version the one in the block that was opened first counts; what a
//! collection had begun to copy is garbage then, and its victim is whole.
//!
//! What recovery must never do is bring back something older than what the host was promised. Two rules see to that:
//!
//! - a page that was deallocated is told to be so, and is forgotten by the map, only when that is on flash (in the
//!   journal, a part of the system area): from then on blocks that held it may be erased in any order;
//! - what was programmed and did not count before the cut (a cycle that was not complete, where order is kept) is
//!   marked void when the device comes up, before it does anything else.
//!
//! Blocks that were being filled are filled no further after a cut, as nobody knows how the next page of a torn one
//! would turn out; collection empties them first. Where blocks are merged, those that hold nothing are erased at
//! once.
//!
//! Source: sequence numbers and block headers in the spare area, and a scan of them at start: Intel, "Understanding
//! the Flash Translation Layer (FTL) Specification", 1998; Gal and Toledo, "Algorithms and Data Structures for Flash
//! Memories", ACM Computing Surveys 2005, section 2.3. Checkpoints and a scan of what was written after: ibid.; Birrell
//! et al., "A Design for High-Performance Flash Disks", SIGOPS OSR 2007.

mod checkpoint;
pub(crate) mod left;
pub(crate) mod log;
pub(crate) mod packed;
pub(crate) mod plan;
pub(crate) mod rebuild;
mod record;
mod scan;
pub(crate) mod snapshot;
mod unprotected;

pub use checkpoint::{Checkpoint, CheckpointOptions};
pub use left::Left;
pub use plan::{Plan, Reading};
pub use rebuild::Found;
pub(in crate::ftl) use record::{Record, Role};
pub use scan::Scan;
pub use unprotected::Unprotected;

use crate::policy::{contract, seam};
use crate::units::Bytes;

seam! {
    /// How the device finds its map again after a power cut.
    pub enum Recovery ("ftl.recovery.policy" = "none") as RecoveryChoice, with recovery_policy, or ExternalRecovery {
        None(Unprotected),
        Scan(Scan),
        Checkpoint(Checkpoint),
    }
}

contract! {
    /// What a policy of recovery has done while the device runs.
    pub trait RecoveryPolicy for Recovery, by recovery_policy, or ExternalRecovery {
        /// How it keeps what it needs; none if it does not survive a power cut.
        #[must_use]
        fn upkeep(&self) -> Option<Upkeep>;
    }
}

contract! {
    /// What is known of a policy of recovery before it is built.
    pub trait RecoveryFacts of RecoveryChoice, by recovery_policy {
        /// Whether the device survives a power cut.
        fn survives(_options: &Self::Options) -> bool {
            true
        }

        /// Whether the map is written to flash now and then.
        fn writes_checkpoints(_options: &Self::Options) -> bool {
            false
        }
    }
}

/// What a policy has the device write, so that it recovers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Upkeep {
    /// The map goes to flash when the host has written so much since; never if it is none.
    pub checkpoint_every: Option<Bytes>,
}
