//! Lives of blocks that follow a Weibull distribution, as wear-out does: few blocks fail early, most
//! near the mean.
//!
//! The shape determines the spread: at 4 the standard deviation is 28 % of the mean, at 10 it is 12 %;
//! at 1 failures do not depend on wear at all.
//!
//! Source: Weibull, "A Statistical Distribution Function of Wide Applicability", Journal of Applied
//! Mechanics 1951; used for drives by Marquart, "Practical Approach to Determining SSD Reliability",
//! Flash Memory Summit 2015, whose figures show shape 4 for wear-out.

use super::{EnduranceFacts, EndurancePolicy, FixedOptions};
use crate::image::keeps_nothing;
use crate::options::declare::options;
use crate::policy::{Parts, Policy};

options! {
    /// The lives of the blocks.
    pub struct WeibullOptions at "nand.endurance" with { life: FixedOptions } {
        /// Shape of the distribution: the larger, the more alike blocks are.
        shape: u32 = "4", in "1"..="100", unit "as an exponent",
            source "Marquart, Flash Memory Summit 2015, shows 4 for wear-out";
    }
}

/// Weibull lives.
#[derive(Clone, Copy, Debug)]
pub struct Weibull {
    /// The mean, in program/erase cycles.
    pub cycles: u32,
    /// The shape.
    pub shape: u32,
}

impl Policy for Weibull {
    const NAME: &'static str = "weibull";
    const SUMMARY: &'static str = "cycles differ from block to block, around a mean";
    const SOURCE: &'static str = "Weibull, J. Appl. Mech. 1951; Marquart, Flash Memory Summit 2015";
    type Options = WeibullOptions;

    fn build(options: &Self::Options, _parts: &Parts<'_>) -> Self {
        Weibull { cycles: options.life.cycles, shape: options.shape }
    }

    keeps_nothing!(Weibull { cycles, shape });
}

impl EnduranceFacts for Weibull {}

impl EndurancePolicy for Weibull {
    fn cycles(&self) -> Option<u32> {
        Some(self.cycles)
    }

    fn of_block(&self, number: &dyn Fn() -> u64) -> Option<u32> {
        Some(self.life(number()))
    }
}

impl Weibull {
    /// The quantile of a random number, at least one cycle.
    fn life(&self, number: u64) -> u32 {
        // In (0, 1): the middle of one of 2^53 equal parts.
        let share = ((number >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
        let shape = f64::from(self.shape);
        let scale = f64::from(self.cycles) / libm::tgamma(1.0 + 1.0 / shape);
        let life = scale * libm::pow(-libm::log(share), 1.0 / shape);
        (life as u32).max(1)
    }
}
