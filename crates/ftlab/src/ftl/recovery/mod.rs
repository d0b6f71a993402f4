//! Power cuts: the data that a device keeps on flash to recover its map, and the recovery.
//!
//! The spare area of each page holds its logical page, its sectors ([`Spare`](super::Spare)) and
//! the *version* of the data, a number that grows with every write ([`Record`]). A copy has the
//! version of its source. So the flash alone determines the current data of a logical page: it is
//! the highest version whose program completed, unless a trim is newer. If there are two copies of
//! one version, the one in the block that was opened first counts. So the pages that an unfinished
//! garbage collection had copied are garbage, and its victim is intact.
//!
//! Recovery must never bring back data that is older than the host was promised. Three rules ensure
//! this:
//!
//! - A trim is acknowledged, and removed from the map, only when it is recorded on flash (in the
//!   journal, a part of the system area). From then on, blocks that held the page may be erased in
//!   any order.
//! - Pages that were programmed but did not count before the cut (of an incomplete cycle, if order
//!   is kept) are marked void at power-up, before anything else happens.
//! - Where dies may die, a page counts only when the index names it (see the journal), because the
//!   spare areas of a dead die can't be read. What lay there is lost, and is known to be.
//!
//! Blocks that were open at the cut are not filled further, because the page after a torn one could
//! not be programmed reliably. Garbage collection empties them first. Under mappings that merge
//! blocks, those that hold no current data are erased at once.
//!
//! Source: sequence numbers and block headers in the spare area, and a scan of them at start:
//! Intel, "Understanding the Flash Translation Layer (FTL) Specification", 1998; Gal and Toledo,
//! "Algorithms and Data Structures for Flash Memories", ACM Computing Surveys 2005, section 2.3.
//! Checkpoints and a scan of later writes: ibid.; Birrell et al., "A Design for High-Performance
//! Flash Disks", SIGOPS OSR 2007.

mod checkpoint;
mod checks;
pub(crate) mod kept;
pub(crate) mod left;
pub(crate) mod log;
mod news;
pub(crate) mod packed;
pub(crate) mod plan;
pub(crate) mod rebuild;
mod record;
mod scan;
pub(crate) mod snapshot;
mod unprotected;

pub use crate::ftl::journal::JournalPages;
pub use checkpoint::{Checkpoint, CheckpointOptions};
pub use kept::{Kept, KeptBlock, KeptFacts, KeptPage, KeptPart, KeptSource, Touched};
pub use left::Left;
pub use news::Seen;
pub use plan::{Erasing, Reading, RecoveryPlan};
pub use rebuild::RecoveryFindings;
pub(in crate::ftl) use record::{Record, Role};
pub use scan::Scan;
pub use unprotected::Unprotected;

use crate::policy::{contract, seam};
use crate::units::Bytes;

seam! {
    /// How the device recovers its map after a power cut.
    pub enum Recovery ("ftl.recovery.policy" = "none") as RecoveryChoice, with recovery_policy, or ExternalRecovery {
        None(Unprotected),
        Scan(Scan),
        Checkpoint(Checkpoint),
    }
}

contract! {
    /// The upkeep that a recovery policy needs while the device runs.
    pub trait RecoveryPolicy for Recovery, by recovery_policy, or ExternalRecovery {
        /// Returns the upkeep, or `None` if the device does not survive a power cut.
        #[must_use]
        fn upkeep(&self) -> Option<Upkeep>;
    }
}

contract! {
    /// The facts about a recovery policy that are known before it is built.
    pub trait RecoveryFacts of RecoveryChoice, by recovery_policy {
        /// Whether the device survives a power cut.
        fn survives(_options: &Self::Options) -> bool {
            true
        }

        /// Whether the map is written to flash from time to time.
        fn writes_checkpoints(_options: &Self::Options) -> bool {
            false
        }
    }
}

/// What a device writes so that it can recover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Upkeep {
    /// The amount of host data after which the map is written to flash. With `None`, it is never
    /// written.
    pub checkpoint_every: Option<Bytes>,
}
