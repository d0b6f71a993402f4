//! The raw bit errors of a flash page, and the effort to read it in spite of them: from the step with which it was
//! programmed, the wear of its block, the age of its data and the reads of the block. Pure arithmetic; callers know
//! wear and age.
//!
//! ```text
//! errors = (step / rated step)^2 * (fresh + wear * (cycled + retained * age + disturbed * reads))
//! ```
//!
//! Wear is in rated cycles, age in rated ages, and the reads of the block since its erase in units set by an option.
//! That reads of a block add errors to all of its pages, in proportion to their number and more so in worn blocks,
//! follows Cai et al. ("Read Disturb Errors in MLC NAND Flash Memory", DSN 2015).
//!
//! This is a first-order model. Its shape agrees with measurements: errors grow with wear and with time, retention
//! errors dominate in the end, and worn cells lose their charge sooner (Cai, Haratsch, Mutlu and Mai, "Error Patterns
//! in MLC NAND Flash Memory", DATE 2012; Cai et al., "Flash Correct-and-Refresh", ICCD 2012). They find that errors
//! grow faster than linearly with wear; this is not modelled, nor is temperature. That a coarse step costs errors is
//! the basis of AGCR (section 2.1): cells end up within a step of their target, so wider steps overlap more. The
//! square is assumed.
//!
//! The code corrects as many errors as the number of reference voltages allows: there is a ladder of levels, each
//! with more of them (Zhao et al., "LDPC-in-SSD", FAST 2013, for hard and soft decisions). After the last level come
//! retries, which sense again with the most references, slightly shifted. All limits are assumed, and all constants
//! are options.
//!
//! Decisions use integers only: both sides of a comparison are multiplied by all divisors.

use super::{CostClass, ReadEffort};
use crate::options::declare::options;
use crate::units::{Nanos, Ratio};

options! {
    /// Raw bit errors, and the code that corrects them.
    pub struct ReliabilityOptions at "nand.timing" {
        /// How much the voltage of a program rises from pulse to pulse (ISPP), for low, medium and high cost.
        program_step: Vec<u32> = "400, 300, 225", in "10"..="2000", unit "mV",
            source "from AGCR, table 1, and program_volt; the ratios follow, the scale is assumed";
        /// The step of a page whose errors the options state.
        rated_step: u32 = "300", in "10"..="2000", unit "mV",
            source "assumed: the step of medium cost, for which parts are rated";
        /// Erases of a block for which the part is rated.
        rated_cycles: u32 = "3000", in "1"..="1000000", unit "erases",
            source "HP, Solid State Drive Technology (white paper), table 1: MLC endures 3,000";
        /// Retention time for which the part is rated.
        rated_age: Nanos = "1y", in "1h"..="100y",
            source "JEDEC JESD218: a client drive keeps its data for a year without power, at 30 degrees";
        /// Errors of a page just programmed into new cells, at the rated step.
        fresh_errors: u32 = "600", in "0"..="100000", unit "in a million bits",
            source "assumed: about a tenth of the errors at rated wear and age";
        /// Errors added by the rated cycles.
        cycled_errors: u32 = "2000", in "0"..="100000", unit "in a million bits",
            source "assumed: fewer than retention errors (Cai et al., DATE 2012)";
        /// Errors added by the rated age, after the rated cycles.
        retained_errors: u32 = "3000", in "0"..="100000", unit "in a million bits",
            source "assumed: more than all others (Cai et al., ICCD 2012: retention errors dominate)";
        /// Errors added by disturbed_reads reads of a block, after the rated cycles. All sensing in the block counts;
        /// the retries of a read do not count separately.
        disturbed_errors: u32 = "0", in "0"..="100000", unit "in a million bits",
            source "default: none; Cai et al., DSN 2015, measure values for parts";
        /// Reads of a block since its erase that cause these errors.
        disturbed_reads: u32 = "100000", in "1"..="4000000000", unit "reads",
            source "assumed: the order of magnitude of the reads in Cai et al., DSN 2015",
            applies_with "nand.timing.disturbed_errors" not "0";
        /// The wear of a block counts at least as this share of the rated cycles: what the controller plans for. With
        /// "0%" cost follows the actual wear.
        wear_at_least: Ratio = "100%", in "0%"..="1000%",
            source "default: costs are those of the rated part, as in AGCR's table";
        /// The age of data counts at least as this share of the rated age. With "0%" cost follows the actual age.
        age_at_least: Ratio = "100%", in "0%"..="1000%",
            source "default: costs are those of the rated part, as in AGCR's table";
        /// Reference voltages for each threshold between two states of a cell, on the three levels of sensing: one is
        /// a hard decision, more are soft ones.
        references: Vec<u32> = "1, 3, 7", in "1"..="63", unit "references",
            source "2^b - 1 distinguish 2^b places: b = 1, 2, 3; AGCR's table follows (docs/cost-regulation.md)";
        /// Raw errors that the code corrects on each level.
        corrects: Vec<u32> = "4000, 7000, 12000", in "1"..="500000", unit "in a million bits",
            source "assumed: the order of magnitude of LDPC codes of rate 8/9 or 9/10";
        /// How often a page is read again on the last level, with its references shifted.
        retries: u32 = "3", in "0"..="16", unit "retries", source "assumed; parts have tables with several";
        /// What each retry corrects beyond the last level, as a share of what that level corrects.
        retry_gain: Ratio = "30%", in "1%"..="100%", source "assumed",
            applies_with "nand.timing.retries" not "0";
    }
}

const MILLION: u128 = 1_000_000;
/// Levels of sensing: one for each cost of a read.
pub const LEVELS: usize = 3;
/// Ages are counted in seconds, which keeps products within 128 bits.
const NANOS_IN_SECOND: u64 = 1_000_000_000;

/// A bound of a page's errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The last level of sensing reads it without retries.
    LastLevel,
    /// It can be read at all.
    LastRetry,
}

/// The history of a block's cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strain {
    /// Number of erases.
    pub erases: u32,
    /// Age of the data.
    pub age: Nanos,
    /// Reads of the block since its erase.
    pub reads: u32,
}

/// Raw errors by class, wear, age and reads, and the code that corrects them.
#[derive(Clone, Debug)]
pub struct Reliability {
    /// Errors in a million bits: fresh; added by the rated wear; added by the rated age after that.
    fresh: u128,
    cycled: u128,
    retained: u128,
    /// Added by `disturbed_reads` reads after the rated wear.
    disturbed: u128,
    disturbed_reads: u128,
    rated_cycles: u128,
    /// In seconds.
    rated_age: u128,
    least_erases: u128,
    /// In seconds.
    least_age: u64,
    /// By class: the square of its step, in units in which that of the rated step is `rated_square`.
    squares: [u128; CostClass::ALL.len()],
    rated_square: u128,
    /// By class and effort: the largest correctable result of [`weigh`](Reliability::weigh).
    limits: [Vec<u128>; CostClass::ALL.len()],
}

impl Reliability {
    /// Returns the model with these options. Missing entries of lists that are too short correct nothing (checks of
    /// the config refuse them).
    #[must_use]
    pub fn new(options: &ReliabilityOptions) -> Reliability {
        let square = |step: u32| u128::from(step) * u128::from(step);
        let step = |at: usize| options.program_step.get(at).copied().unwrap_or(options.rated_step);
        let squares = CostClass::ALL.map(|class| square(step(class as usize)));
        let rated_square = square(options.rated_step);
        let rated_cycles = u128::from(options.rated_cycles);
        let rated_age = u128::from(options.rated_age.0 / NANOS_IN_SECOND);
        let corrected = corrected(options);
        let limits = squares.map(|square| {
            let most = |&errors| errors * rated_square * rated_cycles * rated_age / square;
            corrected.iter().map(most).collect()
        });
        Reliability {
            fresh: u128::from(options.fresh_errors),
            cycled: u128::from(options.cycled_errors),
            retained: u128::from(options.retained_errors),
            disturbed: u128::from(options.disturbed_errors),
            disturbed_reads: u128::from(options.disturbed_reads.max(1)),
            rated_cycles,
            rated_age,
            least_erases: u128::from(options.wear_at_least.of(u64::from(options.rated_cycles))),
            least_age: options.age_at_least.of(options.rated_age.0 / NANOS_IN_SECOND),
            squares,
            rated_square,
            limits,
        }
    }

    /// Returns the raw bit error rate of a page of this class, in a block with this number of erases and data of this
    /// age; both count at least as what is planned for.
    #[must_use]
    pub fn raw_errors(&self, class: CostClass, erases: u32, age: Nanos) -> f64 {
        let weighed = self.weigh(erases, age.0 / NANOS_IN_SECOND) * self.squares[class as usize];
        let whole = self.rated_square * self.rated_cycles * self.rated_age * MILLION;
        weighed as f64 / whole as f64
    }

    /// Whether reads of a block add errors to its pages.
    #[must_use]
    pub fn is_disturbed(&self) -> bool {
        self.disturbed > 0
    }

    /// The least effort that reads such a page in a block without reads, or `None` if it cannot be read and its data
    /// is lost.
    #[must_use]
    pub fn effort(&self, class: CostClass, erases: u32, age: Nanos) -> Option<ReadEffort> {
        self.effort_after(class, &Strain { erases, age, reads: 0 })
    }

    /// The least effort that reads a page of this class whose cells have this history.
    #[must_use]
    pub fn effort_after(&self, class: CostClass, strain: &Strain) -> Option<ReadEffort> {
        let errors = self.weigh_strain(strain);
        let at = self.limits[class as usize].iter().position(|&most| errors <= most)?;
        u8::try_from(at).ok().map(ReadEffort)
    }

    /// Whether the errors of such a page, in a block without reads, are within a limit.
    #[must_use]
    pub fn is_within(&self, limit: Limit, class: CostClass, erases: u32, age: Nanos) -> bool {
        self.holds(limit, class, &Strain { erases, age, reads: 0 })
    }

    /// The same for a page whose cells have this history.
    #[must_use]
    pub fn holds(&self, limit: Limit, class: CostClass, strain: &Strain) -> bool {
        self.weigh_strain(strain) <= self.limit(limit, class)
    }

    /// The age in whole seconds at which the errors of such a page exceed a limit; zero if they always do, `None` if
    /// they never do or only after an age beyond the range of a clock.
    #[must_use]
    pub fn lasts(&self, class: CostClass, erases: u32, up_to: Limit) -> Option<Nanos> {
        let most = self.limit(up_to, class);
        if self.weigh(erases, 0) > most {
            return Some(Nanos::ZERO);
        }
        let left = most - self.weigh_at(erases, 0);
        let a_second = self.erases(erases) * self.retained;
        let seconds = u64::try_from(left.checked_div(a_second)?).ok()?.checked_add(1)?;
        seconds.checked_mul(NANOS_IN_SECOND).map(Nanos)
    }

    fn limit(&self, limit: Limit, class: CostClass) -> u128 {
        let limits = &self.limits[class as usize];
        let most = match limit {
            Limit::LastLevel => limits.get(LEVELS - 1),
            Limit::LastRetry => limits.last(),
        };
        most.copied().unwrap_or(0)
    }

    /// Errors at the rated step, multiplied by rated cycles and rated age.
    fn weigh_strain(&self, strain: &Strain) -> u128 {
        let Strain { erases, age, reads } = *strain;
        let by_reads = self.disturbed * u128::from(reads) * self.rated_age * self.erases(erases);
        self.weigh(erases, age.0 / NANOS_IN_SECOND) + by_reads / self.disturbed_reads
    }

    /// The same for a block without reads.
    fn weigh(&self, erases: u32, seconds: u64) -> u128 {
        self.weigh_at(erases, seconds.max(self.least_age))
    }

    /// The same, without the minimum of the age.
    fn weigh_at(&self, erases: u32, seconds: u64) -> u128 {
        let worn = self.cycled * self.rated_age + self.retained * u128::from(seconds);
        self.fresh * self.rated_cycles * self.rated_age + self.erases(erases) * worn
    }

    fn erases(&self, erases: u32) -> u128 {
        u128::from(erases).max(self.least_erases)
    }
}

/// Errors in a million bits that each effort corrects, the least effort first.
fn corrected(options: &ReliabilityOptions) -> Vec<u128> {
    let last = options.corrects.last().copied().unwrap_or(0);
    let gain = options.retry_gain.of(u64::from(last));
    let retried = (1..=u64::from(options.retries)).map(|retry| u64::from(last) + retry * gain);
    options.corrects.iter().copied().map(u64::from).chain(retried).map(u128::from).collect()
}
