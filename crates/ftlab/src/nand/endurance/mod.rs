//! How often a block can be erased before it is worn out.

mod fixed;
mod unlimited;
mod weibull;

pub use fixed::{Fixed, FixedOptions};
pub use unlimited::Unlimited;
pub use weibull::{Weibull, WeibullOptions};

use crate::policy::seam;

seam! {
    /// How many program/erase cycles a block bears: the erase after them fails.
    pub enum Endurance ("nand.endurance.policy" = "unlimited") as EnduranceChoice, with endurance_policy {
        Unlimited(Unlimited),
        Fixed(Fixed),
        Weibull(Weibull),
    }
}

impl Endurance {
    /// The cycles of one block, from a random number of its own; none if there is no limit.
    #[must_use]
    pub fn of_block(&self, number: impl FnOnce() -> u64) -> Option<u32> {
        match self {
            Endurance::Unlimited(_) => None,
            Endurance::Fixed(fixed) => Some(fixed.cycles),
            Endurance::Weibull(weibull) => Some(weibull.of_block(number())),
        }
    }

    /// The mean of all blocks; none if there is no limit.
    #[must_use]
    pub fn cycles(&self) -> Option<u32> {
        endurance_policy!(self, policy => policy.cycles())
    }

    /// Whether blocks last for ever.
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
