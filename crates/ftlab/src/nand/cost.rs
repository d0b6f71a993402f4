//! What a program may cost, and what reading the page costs then: cells that are programmed in fine steps take
//! long and hold few raw errors, so a page is sensed with few reference voltages; coarse steps, the other way round.
//!
//! Source: AGCR (a Chinese rendering of a FAST 2016 paper), sections 2.1 and 2.2, table 1.

/// How finely a flash page is programmed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum CostClass {
    /// In coarse steps: the program is short, reads are dear.
    Low,
    /// In between, as parts do it that know no other way.
    #[default]
    Medium,
    /// In fine steps: the program is long, reads are cheap.
    High,
}

impl CostClass {
    /// All of them, the cheapest program first.
    pub const ALL: [CostClass; 3] = [CostClass::Low, CostClass::Medium, CostClass::High];

    /// As people write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            CostClass::Low => "low",
            CostClass::Medium => "medium",
            CostClass::High => "high",
        }
    }

    /// What a page of this class takes to be read while it is as its maker expects it.
    #[inline]
    #[must_use]
    pub const fn effort(self) -> ReadEffort {
        match self {
            CostClass::High => ReadEffort(0),
            CostClass::Medium => ReadEffort(1),
            CostClass::Low => ReadEffort(2),
        }
    }
}

/// How much it takes to read a flash page: 0 is the least, each further one senses with more reference voltages, or
/// once more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReadEffort(pub u8);

impl ReadEffort {
    /// Readings past the first: efforts beyond those of the three classes are retries.
    #[inline]
    #[must_use]
    pub const fn retries(self) -> u64 {
        self.0.saturating_sub(CostClass::Low.effort().0) as u64
    }

    /// The effort as a table position.
    #[inline]
    #[must_use]
    pub const fn at(self) -> usize {
        self.0 as usize
    }
}

impl Default for ReadEffort {
    fn default() -> ReadEffort {
        CostClass::default().effort()
    }
}

/// What has to wait for a program to be cheap, where that is decided when it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crowd {
    /// Something waits for the die that programs.
    Die,
    /// Something waits for any die.
    Device,
}

/// What a program is to cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramCost {
    /// This much.
    Of(CostClass),
    /// Little if others wait at the moment when it begins, much if not.
    ByCrowd(Crowd),
}

impl ProgramCost {
    /// What a flash page costs that holds pages of both costs: the higher one.
    #[inline]
    #[must_use]
    pub fn and(self, other: ProgramCost) -> ProgramCost {
        match (self, other) {
            (ProgramCost::Of(one), ProgramCost::Of(two)) => ProgramCost::Of(one.max(two)),
            (by_crowd @ ProgramCost::ByCrowd(_), _) | (_, by_crowd) => by_crowd,
        }
    }
}
