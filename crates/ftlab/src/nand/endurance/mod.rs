//! How often a block can be erased before it is worn out.

mod fixed;
mod unlimited;
mod weibull;

pub use fixed::{Fixed, FixedOptions};
pub use unlimited::Unlimited;
pub use weibull::{Weibull, WeibullOptions};

use crate::policy::{contract, seam};

seam! {
    /// How many program/erase cycles a block endures: the next erase fails.
    pub enum Endurance ("nand.endurance.policy" = "unlimited") as EnduranceChoice, with endurance_policy, or ExternalEndurance {
        Unlimited(Unlimited),
        Fixed(Fixed),
        Weibull(Weibull),
    }
}

contract! {
    /// The answers of a model of endurance.
    pub trait EndurancePolicy for Endurance, by endurance_policy, or ExternalEndurance {
        /// The mean over all blocks, or `None` if there is no limit.
        #[must_use]
        fn cycles(&self) -> Option<u32>;

        /// The cycles of a block, or `None` if there is no limit. `number` draws the block's own random number if
        /// needed.
        #[must_use]
        fn of_block(&self, _number: &dyn Fn() -> u64) -> Option<u32> {
            self.cycles()
        }
    }
}

contract! {
    /// What is known of a model of endurance before it is built.
    pub trait EnduranceFacts of EnduranceChoice, by endurance_policy {
        /// Whether blocks wear out.
        fn is_limited(_options: &Self::Options) -> bool {
            true
        }
    }
}

impl Endurance {
    /// Whether blocks never wear out.
    #[must_use]
    pub fn is_unlimited(&self) -> bool {
        self.cycles().is_none()
    }
}

impl From<Unlimited> for Endurance {
    fn from(unlimited: Unlimited) -> Endurance {
        Endurance::Unlimited(unlimited)
    }
}

impl From<Fixed> for Endurance {
    fn from(fixed: Fixed) -> Endurance {
        Endurance::Fixed(fixed)
    }
}

impl From<Weibull> for Endurance {
    fn from(weibull: Weibull) -> Endurance {
        Endurance::Weibull(weibull)
    }
}
