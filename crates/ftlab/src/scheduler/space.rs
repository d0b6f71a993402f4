//! Which dies are short of free blocks, for policies that follow it. Only the layers above know; they tell it with each host
//! read, which is when it matters.

use crate::image::{Damage, ImageReader, ImageWriter};
use crate::units::DieId;

/// When a die is short of space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpaceLimits {
    /// From this many free blocks of any plane on.
    pub short_at: u32,
    /// Until all planes have this many.
    pub ample_at: u32,
}

/// The dies that are short of space.
#[derive(Clone, Debug)]
pub(super) struct Shortage {
    limits: SpaceLimits,
    is_short: Vec<bool>,
}

impl Shortage {
    /// Returns dies with ample space.
    pub fn new(limits: SpaceLimits, dies: u32) -> Shortage {
        Shortage { limits, is_short: vec![false; dies as usize] }
    }

    /// Notes the free blocks of the plane of a die that has the fewest; none if space is no concern.
    pub fn note(&mut self, die: DieId, free_blocks: Option<u32>) {
        let SpaceLimits { short_at, ample_at } = self.limits;
        let is_short = &mut self.is_short[die.at()];
        *is_short =
            free_blocks.is_some_and(|free| free <= short_at || *is_short && free < ample_at);
    }

    /// Saves which dies are short. Between the limits nothing else tells.
    pub fn save(&self, out: &mut ImageWriter) {
        let Shortage { limits: _, is_short } = self;
        is_short.iter().for_each(|&is_short| out.flag(is_short));
    }

    /// Loads which dies are short, with the same limits.
    pub fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        for is_short in &mut self.is_short {
            *is_short = from.flag("whether a die is short of space")?;
        }
        Ok(())
    }

    /// Whether a die is short of space.
    pub fn is_short(&self, die: DieId) -> bool {
        self.is_short[die.at()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_die_stays_short_until_there_is_ample_space() {
        let (one, other) = (DieId::new(0), DieId::new(1));
        let mut shortage = Shortage::new(SpaceLimits { short_at: 2, ample_at: 5 }, 2);
        for (free_blocks, is_short) in
            [(3, false), (2, true), (4, true), (5, false), (4, false), (0, true)]
        {
            shortage.note(one, Some(free_blocks));
            assert_eq!(shortage.is_short(one), is_short, "{free_blocks}");
            assert!(!shortage.is_short(other));
        }
    }
}
