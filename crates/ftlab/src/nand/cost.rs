//! The cost of a program, and its effect on reads of the page: programming in fine steps takes long and leaves few
//! raw errors, so a page can be sensed with few reference voltages; with coarse steps it is the other way round.
//!
//! Source: AGCR (a Chinese rendering of a FAST 2016 paper), sections 2.1 and 2.2, table 1.

/// How finely a flash page is programmed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum CostClass {
    /// In coarse steps: the program is short, reads are long.
    Low,
    /// In between, as in parts without this choice.
    #[default]
    Medium,
    /// In fine steps: the program is long, reads are short.
    High,
}

impl CostClass {
    /// All classes, the cheapest program first.
    pub const ALL: [CostClass; 3] = [CostClass::Low, CostClass::Medium, CostClass::High];

    /// The name in the configuration.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            CostClass::Low => "low",
            CostClass::Medium => "medium",
            CostClass::High => "high",
        }
    }

    /// The effort of reading a page of this class in the state for which the part is rated.
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

/// The effort of reading a flash page. 0 is the least; each further one senses with more reference voltages, or once
/// more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReadEffort(pub u8);

impl ReadEffort {
    /// Number of retries: efforts beyond those of the three classes.
    #[inline]
    #[must_use]
    pub const fn retries(self) -> u64 {
        self.0.saturating_sub(CostClass::Low.effort().0) as u64
    }

    /// The effort as an index.
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

/// What must be waiting for a program to be cheap, if that is decided when it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crowd {
    /// A command for the die that programs.
    Die,
    /// A command for any die.
    Device,
}

/// The cost at which a page is to be programmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramCost {
    /// A fixed cost class.
    Of(CostClass),
    /// Low if other commands wait when it begins, high otherwise.
    ByCrowd(Crowd),
}

impl ProgramCost {
    /// Returns the cost of a flash page with pages of both costs: the higher one.
    #[inline]
    #[must_use]
    pub fn and(self, other: ProgramCost) -> ProgramCost {
        match (self, other) {
            (ProgramCost::Of(one), ProgramCost::Of(two)) => ProgramCost::Of(one.max(two)),
            (by_crowd @ ProgramCost::ByCrowd(_), _) | (_, by_crowd) => by_crowd,
        }
    }
}
