//! Hints: which placement identifier a write carries to a drive that takes them (streams, reclaim unit handles).
//!
//! The host decides when it submits a request, by what it knows of it. What the drive does with the identifier is the
//! affair of its streams policy.

mod by_lifetime;
mod by_size;
mod by_stream;
mod oracle;
mod writes;

pub use by_lifetime::{ByLifetime, ByLifetimeOptions};
pub use by_size::{BySize, BySizeOptions};
pub use by_stream::ByStream;
pub use oracle::{Oracle, OracleOptions};
pub use writes::HintedWrites;

use crate::engine::DeathClasses;
use crate::host::Request;
use crate::options::declare::options;
use crate::policy::{contract, seam};
use crate::units::Bytes;

seam! {
    /// Decides which placement identifier a write carries.
    pub enum Hints ("host.hints.policy" = "by-stream") as HintsChoice, with hints_policy, or ExternalHints {
        ByStream(ByStream),
        BySize(BySize),
        ByLifetime(ByLifetime),
        Oracle(Oracle),
    }
}

contract! {
    /// The facts about hints that are known before they are given.
    pub trait HintsFacts of HintsChoice, by hints_policy {
        /// How many identifiers it names, from zero on; none if it leaves them as they are.
        fn identifiers(_options: &Self::Options) -> Option<u32> {
            None
        }

        /// Whether it has to know the future.
        fn foresees(_options: &Self::Options) -> bool {
            false
        }

        /// The size below which requests are small, and from which on they are large, if it matters.
        fn sizes(_options: &Self::Options) -> Option<[Bytes; 2]> {
            None
        }

        /// The memory that the host takes for this many bytes of the device.
        fn memory(_options: &Self::Options, _capacity: Bytes) -> Bytes {
            Bytes(0)
        }
    }
}

contract! {
    /// The decisions about hints.
    pub trait HintsPolicy for Hints, by hints_policy, or ExternalHints {
        /// Returns the identifier for a write that the host submits now.
        fn identify(&mut self, write: &Request) -> u32;

        /// Its classes by time of death, if it knows the future.
        fn death_classes(&mut self) -> Option<&mut DeathClasses> {
            None
        }
    }
}

options! {
    /// Classes of data, each with an identifier of its own.
    pub struct HintClassOptions at "host.hints" {
        /// Classes by time until death: the first dies soonest.
        classes: u32 = "4", in "2"..="8", unit "identifiers",
            source "default: the streams of Kang et al. (HotStorage 2014); range: what drives here offer";
    }
}
