//! How many raw bit errors a flash page holds, and what it takes to read it for all that: from the step in which it
//! was programmed, the wear of its block and the age of its data. Pure arithmetic: who knows wear and age is the FTL.
//!
//! ```text
//! errors = (step / rated step)^2 * (fresh + wear * (cycled + retained * age + disturbed * reads))
//! ```
//!
//! with the wear in rated cycles, the age in rated ages, and the reads of the block since its erase in so many of them as the
//! options say. That reads of a block add errors to all of its pages in proportion to their number, the more the
//! block is worn, is what Cai et al. find ("Read Disturb Errors in MLC NAND Flash Memory", DSN 2015). This is a model of first order. Its shape is that of
//! what was measured: errors grow with wear and with time, those of retention dominate in the end, and cells that
//! are worn lose their charge sooner (Cai, Haratsch, Mutlu and Mai, "Error Patterns in MLC NAND Flash Memory", DATE
//! 2012; Cai et al., "Flash Correct-and-Refresh", ICCD 2012). They find a growth with wear that is steeper than
//! linear; that is not modelled, nor is temperature. That a coarse step costs errors is what AGCR rests on (section
//! 2.1): cells come to lie within a step of where they should, so wider steps overlap more. The square is assumed.
//!
//! The code corrects what the reference voltages let it see: a ladder of levels, each with more of them (Zhao et al.,
//! "LDPC-in-SSD", FAST 2013, for hard and soft decisions). Past its last level come retries, which sense with the most
//! references again, a little beside where they were. All limits are assumed, and all constants are options.
//!
//! Decisions are integers: both sides of a comparison are multiplied by all that would divide them.

use super::{CostClass, ReadEffort};
use crate::options::declare::options;
use crate::units::{Nanos, Ratio};

options! {
    /// Raw bit errors, and what corrects them.
    pub struct ReliabilityOptions at "nand.timing" {
        /// By how much the voltage of a program rises from pulse to pulse (ISPP): a step for each cost of a
        /// program: low, medium, high.
        program_step: Vec<u32> = "400, 300, 225", in "10"..="2000", unit "mV",
            source "from AGCR, table 1, and program_volt; the sum is what is assumed";
        /// The step of a page whose errors the options state.
        rated_step: u32 = "300", in "10"..="2000", unit "mV",
            source "assumed: that of medium cost, at which parts are rated";
        /// Erases of a block for which the part is rated.
        rated_cycles: u32 = "3000", in "1"..="1000000", unit "erases",
            source "HP, Solid State Drive Technology (white paper), table 1: MLC bears 3,000";
        /// How long data is to be kept for which the part is rated.
        rated_age: Nanos = "1y", in "1h"..="100y",
            source "JEDEC JESD218: a client drive keeps its data for a year without power, at 30 degrees";
        /// Errors of a page just programmed into cells that are new, at the rated step.
        fresh_errors: u32 = "600", in "0"..="100000", unit "in a million bits",
            source "assumed: a tenth of what there is at rated wear and age";
        /// Errors that come with the rated cycles.
        cycled_errors: u32 = "2000", in "0"..="100000", unit "in a million bits",
            source "assumed: fewer than those of retention (Cai et al., DATE 2012)";
        /// Errors that come with the rated age, after the rated cycles.
        retained_errors: u32 = "3000", in "0"..="100000", unit "in a million bits",
            source "assumed: more than all others (Cai et al., ICCD 2012: retention errors dominate)";
        /// Errors that come with the reads of a block that disturbed_reads says, after the rated cycles. Whatever is
        /// sensed in the block counts, retries as one with their read.
        disturbed_errors: u32 = "0", in "0"..="100000", unit "in a million bits",
            source "default: none; Cai et al., DSN 2015, measure what to put here for a part";
        /// Reads of a block since its erase that cause these errors.
        disturbed_reads: u32 = "100000", in "1"..="4000000000", unit "reads",
            source "assumed: the order of magnitude of what Cai et al. measure at, DSN 2015",
            applies_with "nand.timing.disturbed_errors" not "0";
        /// The wear of a block counts at least as this share of the rated cycles: what the controller
        /// plans for. With "0%" cost follows the wear that there is.
        wear_at_least: Ratio = "100%", in "0%"..="1000%",
            source "default: costs are those of the rated part, as AGCR's table has them";
        /// The age of data counts at least as this share of the rated age. With "0%" cost follows the age
        /// that there is.
        age_at_least: Ratio = "100%", in "0%"..="1000%",
            source "default: costs are those of the rated part, as AGCR's table has them";
        /// Reference voltages for each threshold between two states of a cell, on the three levels of
        /// sensing: one is a hard decision, more are soft ones.
        references: Vec<u32> = "1, 3, 7", in "1"..="63", unit "references",
            source "2^b - 1 tell 2^b places apart: b = 1, 2, 3; AGCR's table follows (docs/cost-regulation.md)";
        /// Raw errors that the code corrects with so many references.
        corrects: Vec<u32> = "4000, 7000, 12000", in "1"..="500000", unit "in a million bits",
            source "assumed: the order of magnitude of LDPC codes of rate 8/9 or 9/10";
        /// How often a page is read again, on the last level, with its references shifted.
        retries: u32 = "3", in "0"..="16", unit "retries", source "assumed; parts have tables of several";
        /// What each retry corrects beyond the last level, as a share of that.
        retry_gain: Ratio = "30%", in "1%"..="100%", source "assumed",
            applies_with "nand.timing.retries" not "0";
    }
}

const MILLION: u128 = 1_000_000;
/// Levels of sensing: one for each cost of a read.
pub const LEVELS: usize = 3;
/// Ages are counted in seconds, which keeps products within 128 bits.
const NANOS_IN_SECOND: u64 = 1_000_000_000;

/// Up to where the errors of a page may grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// As long as the last level of sensing reads it at once.
    LastLevel,
    /// As long as it can be read at all.
    LastRetry,
}

/// What the cells of a block have been through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strain {
    /// How often they were erased.
    pub erases: u32,
    /// How old their data is.
    pub age: Nanos,
    /// How often the block was read since its erase.
    pub reads: u32,
}

/// Raw errors by class, wear, age and reads, and what corrects them.
#[derive(Clone, Debug)]
pub struct Reliability {
    /// Errors in a million bits: fresh; those of the rated wear; those of the rated age then.
    fresh: u128,
    cycled: u128,
    retained: u128,
    /// Those of the rated wear and so many reads.
    disturbed: u128,
    disturbed_reads: u128,
    rated_cycles: u128,
    /// In seconds.
    rated_age: u128,
    least_erases: u128,
    /// In seconds.
    least_age: u64,
    /// By class: the square of its step, where the rated step has one of `rated_square`.
    squares: [u128; CostClass::ALL.len()],
    rated_square: u128,
    /// By class and effort: the most that [`weigh`](Reliability::weigh) may give.
    limits: [Vec<u128>; CostClass::ALL.len()],
}

impl Reliability {
    /// The model with these options; lists that are too short count as if what is missing corrected nothing
    /// (checks of the config refuse them).
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

    /// Raw bit errors for each bit of a page that was programmed in this class, of a block with so many
    /// erases, where its data is so old; wear and age count as at least what is planned for.
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

    /// The least effort that reads such a page of a block that was not read; none if nothing does, and its data is
    /// lost.
    #[must_use]
    pub fn effort(&self, class: CostClass, erases: u32, age: Nanos) -> Option<ReadEffort> {
        self.effort_after(class, &Strain { erases, age, reads: 0 })
    }

    /// The least effort that reads a page of this class whose cells have been through so much.
    #[must_use]
    pub fn effort_after(&self, class: CostClass, strain: &Strain) -> Option<ReadEffort> {
        let errors = self.weigh_strain(strain);
        let at = self.limits[class as usize].iter().position(|&most| errors <= most)?;
        u8::try_from(at).ok().map(ReadEffort)
    }

    /// Whether the errors of such a page, of a block that was not read, are within a limit.
    #[must_use]
    pub fn is_within(&self, limit: Limit, class: CostClass, erases: u32, age: Nanos) -> bool {
        self.holds(limit, class, &Strain { erases, age, reads: 0 })
    }

    /// The same for a page whose cells have been through so much.
    #[must_use]
    pub fn holds(&self, limit: Limit, class: CostClass, strain: &Strain) -> bool {
        self.weigh_strain(strain) <= self.limit(limit, class)
    }

    /// The age at which the errors of such a page pass a limit, to the second; nothing if they have from
    /// the beginning. None if they do at no age that a clock shows.
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

    /// The same for a block that was not read.
    fn weigh(&self, erases: u32, seconds: u64) -> u128 {
        self.weigh_at(erases, seconds.max(self.least_age))
    }

    /// The same, at an age that is younger than planned for.
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
