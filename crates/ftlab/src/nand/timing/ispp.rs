//! Timing by the step of the program, the model behind a table of costs. A program takes as many pulses as its step
//! needs to cover a range of voltages, so its time is proportional to 1 / step. A read senses with one reference
//! voltage after the other, and then moves, for each cell, the bits that say between which of them it lies.
//!
//! ```text
//! program(step) = program_volt / step
//! read(N)       = sense * N + bit * ceil(log2(N + 1))      N = thresholds of the cell * references for each
//! ```
//!
//! [`Reliability`](crate::nand::Reliability) decides how many references a read needs; this file only gives the time.
//! A retry is one more read on the last level.
//!
//! AGCR prints a table of costs but no constants; the defaults are derived from it. With the three thresholds of an
//! MLC cell and 1, 3 and 7 references for each, `sense` = 10 us and `bit` = 20 us give its 70, 170 and 310 us
//! exactly: three equations with two unknowns. Of all ladders of up to 63 references only one other fits (1, 5 and 13
//! for each threshold), with a third of 10 us as `sense`. `program_volt` and the steps are known up to a factor: 400,
//! 300 and 225 mV give 450, 600 and 800 us. If the bus takes time of its own, `bit` should be lowered, because the
//! table includes transfers.
//!
//! Source: AGCR (a Chinese rendering of a FAST 2016 paper), section 2.2, equations 1 and 2, after Li et al.

use super::{StatedTimes, TellsApart, TimingFacts, TimingPolicy};
use crate::image::keeps_nothing;
use crate::nand::{CostClass, ReadEffort, Reliability, ReliabilityOptions};
use crate::options::declare::options;
use crate::policy::{Parts, Policy};
use crate::shape::{Cell, FlashGeometry};
use crate::units::{Nanos, Ppn};

/// A time for each step of a program, and for each effort of a read.
#[derive(Clone, Debug)]
pub struct Ispp {
    /// By effort, the least first.
    read: Vec<Nanos>,
    /// By class, the cheapest first.
    program: Vec<Nanos>,
    /// Time to erase a block.
    pub erase: Nanos,
    /// The model of a page's errors and their correction.
    pub reliability: Box<Reliability>,
}

options! {
    /// Times by the step of the program and by reference voltages.
    pub struct IsppOptions at "nand.timing" with { reliability: ReliabilityOptions } {
        /// Time of a program with a step of one volt. The time is inversely proportional to the step.
        program_volt: Nanos = "180us", in "1us"..="1s",
            source "AGCR, table 1 and equation 1: 450, 600 and 800 us for 400, 300 and 225 mV";
        /// Time to sense with one reference voltage.
        sense: Nanos = "10us", in "100ns"..="10ms",
            source "AGCR, table 1 and equation 2, with 3, 9 and 21 reference voltages";
        /// Time to move one bit of each cell of a flash page to the controller.
        bit: Nanos = "20us", in "0ns"..="10ms",
            source "AGCR, table 1 and equation 2, with 3, 9 and 21 reference voltages";
    }
}

impl Policy for Ispp {
    const NAME: &'static str = "ispp";
    const SUMMARY: &'static str =
        "by the step of the program (ISPP), and by the effort to correct the errors that remain";
    const SOURCE: &'static str = "AGCR (FAST 2016, Chinese rendering), equations 1 and 2";
    type Options = IsppOptions;

    fn build(options: &Self::Options, parts: &Parts<'_>) -> Self {
        Ispp::new(options, parts.cell, parts.erase)
    }

    keeps_nothing!(Ispp { read, program, erase, reliability });
}

impl TimingFacts for Ispp {
    fn paths(_options: &Self::Options) -> [&'static str; 2] {
        ["nand.timing.sense", "nand.timing.program_volt"]
    }

    fn times(options: &Self::Options, cell: Cell) -> StatedTimes<'_> {
        let levels = options.reliability.references.iter();
        let steps = options.reliability.program_step.iter();
        StatedTimes {
            read: levels.map(|&count| options.read_time(cell, count)).collect(),
            program: steps.map(|&step| options.program_time(step)).collect(),
        }
    }

    fn tells_apart(_options: &Self::Options) -> TellsApart {
        TellsApart::Levels
    }

    fn knows_costs(_options: &Self::Options) -> bool {
        true
    }

    fn errors(options: &Self::Options) -> Option<&ReliabilityOptions> {
        Some(&options.reliability)
    }
}

impl IsppOptions {
    /// Time of a program with this step, in millivolts.
    #[must_use]
    pub fn program_time(&self, step: u32) -> Nanos {
        const VOLT: u64 = 1_000;
        Nanos(self.program_volt.0 * VOLT / u64::from(step.max(1)))
    }

    /// Time of a read that senses with this number of reference voltages for each threshold of the cell.
    #[must_use]
    pub fn read_time(&self, cell: Cell, references: u32) -> Nanos {
        let thresholds = (1_u64 << cell.bits()) - 1;
        let voltages = thresholds * u64::from(references);
        // Bits that distinguish the places between the voltages: ceil(log2(voltages + 1)).
        let bits = u64::from(u64::BITS - voltages.leading_zeros());
        Nanos(self.sense.0 * voltages + self.bit.0 * bits)
    }
}

impl Ispp {
    /// Returns the times for a kind of cell.
    #[must_use]
    pub fn new(options: &IsppOptions, cell: Cell, erase: Nanos) -> Ispp {
        let model = &options.reliability;
        let levels = model.references.iter().map(|&count| options.read_time(cell, count));
        let mut read: Vec<Nanos> = levels.collect();
        let last = read.last().copied().unwrap_or_default();
        let mut longest = last;
        for _ in 0..model.retries {
            longest += last;
            read.push(longest);
        }
        let program = model.program_step.iter().map(|&step| options.program_time(step)).collect();
        let reliability = Box::new(Reliability::new(model));
        Ispp { read, program, erase, reliability }
    }
}

impl TimingPolicy for Ispp {
    #[inline]
    fn read(&self, _geometry: &FlashGeometry, _page: Ppn, effort: ReadEffort) -> Nanos {
        self.read[effort.at()]
    }

    #[inline]
    fn program(&self, _geometry: &FlashGeometry, _page: Ppn, class: CostClass) -> Nanos {
        self.program[class as usize]
    }

    fn most_effort(&self) -> ReadEffort {
        // Levels and retries together are few (checks of the config).
        ReadEffort(u8::try_from(self.read.len().saturating_sub(1)).unwrap_or(u8::MAX))
    }

    fn longest(&self) -> Nanos {
        self.read.iter().chain(&self.program).copied().max().unwrap_or_default().max(self.erase)
    }

    #[inline]
    fn erase(&self) -> Nanos {
        self.erase
    }

    fn knows_costs(&self) -> bool {
        true
    }

    #[inline]
    fn reliability(&self) -> Option<&Reliability> {
        Some(&self.reliability)
    }
}
