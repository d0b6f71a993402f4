//! Which blocks are bad from the factory, and which operations fail.
//!
//! A failure is a property of the flash: whether the n-th erase of a block fails, or a program in its n-th life,
//! depends only on the seed and these numbers, never on the order of events. So two policies that are compared under
//! one seed meet the same weak blocks, and no table is needed. A failed program leaves the other pages of its block
//! readable; a failed erase makes the block unusable.
//!
//! Source: Numonyx NAND08GxxxC2B data sheet, 9.2 "NAND flash memory failure modes" (what a failure does and does not
//! destroy); numbers are drawn with the finalizer of SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom
//! Number Generators", OOPSLA 2014).

use super::{Endurance, Scheduled};
use crate::engine::Stream;
use crate::nand::endurance::{EndurancePolicy, Unlimited};
use crate::options::declare::options;
use crate::units::{BlockId, Ratio};

options! {
    /// Blocks that are bad when the device is new, and operations that fail at random.
    pub struct FaultOptions at "nand.faults" {
        /// The probability that a block is bad from the factory. The first block of a plane never is.
        factory_bad: Ratio = "0%", in "0%"..="50%",
            source "parts are sold with up to 2% (Cypress KBA215722); the first block is guaranteed";
        /// Programs that fail, in a billion. The page is programmed elsewhere, and its block is retired once its
        /// other pages have been moved.
        program_failures: u32 = "0", in "0"..="1000000000", unit "in a billion",
            source "default: none; 7 lose 2% of the blocks in a life of 3,000 cycles with 1,000 pages";
        /// Erases that fail, in a billion. The block is retired.
        erase_failures: u32 = "0", in "0"..="1000000000", unit "in a billion",
            source "default: none; 6,700 lose 2% of the blocks in a life of 3,000 cycles";
        /// Reads of flash pages that are uncorrectable even after retries, in a billion. The data is lost: its reads
        /// end with an error until it is written again.
        read_failures: u32 = "0", in "0"..="1000000000", unit "in a billion",
            source "default: none; JEDEC JESD218 allows a client drive one sector in 10^15 bits, 0.03 of a billion 4 KiB";
        /// Reads of a block since its erase after which none of its pages can be read: a simple form of read disturb,
        /// with any timing. With timing "ispp", nand.timing.disturbed_errors is closer to what cells do.
        disturb_limit: Option<u32> = "none", in "1"..="4000000000", unit "reads",
            source "default: none; parts are specified for tens of thousands to millions, or not at all";
        /// Faults at given times, such as "2s: die 3 dies", "1s: next program of block 17 fails", "1s: next erase of
        /// plane 2 fails", "1s: page 1234 is unreadable" (a flash page, or a block). Times are those of the
        /// simulation; numbers count over the whole device.
        schedule: Vec<Scheduled> = "", source "default: no scheduled faults";
    }
}

impl FaultOptions {
    /// Whether any block can be bad, or any program or erase can fail.
    #[must_use]
    pub fn can_fail(&self) -> bool {
        self.factory_bad.ppm > 0
            || self.program_failures > 0
            || self.erase_failures > 0
            || self.costs_blocks()
    }

    /// Whether the schedule makes blocks unusable.
    #[must_use]
    pub fn costs_blocks(&self) -> bool {
        self.schedule.iter().any(|scheduled| scheduled.fault.costs_blocks())
    }
}

/// The unit of failure rates.
pub(super) const BILLION: u64 = 1_000_000_000;

/// What is drawn for a block. Each has its own sequence of numbers.
#[derive(Clone, Copy)]
enum Draw {
    Factory,
    Endurance,
    Erase,
    Program,
}

/// The weak spots of the flash.
#[derive(Clone, Debug)]
pub struct Faults {
    /// The key of all draws.
    key: u64,
    options: FaultOptions,
    endurance: Endurance,
}

impl Faults {
    /// Returns the weak spots under a seed, or `None` if nothing can ever fail.
    #[must_use]
    pub fn new(options: &FaultOptions, endurance: Endurance, seed: u64) -> Option<Faults> {
        let nothing = !options.can_fail() && endurance.is_unlimited();
        let key = Stream::new(seed, "nand.faults").next_u64();
        (!nothing).then(|| Faults { key, options: options.clone(), endurance })
    }

    /// Flash without weak spots.
    #[must_use]
    pub(crate) fn none() -> Faults {
        let options = FaultOptions {
            factory_bad: Ratio { ppm: 0 },
            program_failures: 0,
            erase_failures: 0,
            read_failures: 0,
            disturb_limit: None,
            schedule: Vec::new(),
        };
        Faults { key: 0, options, endurance: Unlimited.into() }
    }

    /// Whether blocks may go bad in use.
    #[must_use]
    pub fn turns_blocks_bad(&self) -> bool {
        let FaultOptions { program_failures, erase_failures, schedule, .. } = &self.options;
        let fails = |one: &Scheduled| !one.fault.is_for_good() && one.fault.costs_blocks();
        *program_failures > 0
            || *erase_failures > 0
            || !self.endurance.is_unlimited()
            || schedule.iter().any(fails)
    }

    /// The key of all draws. An image keeps it, so that its weak blocks stay the same.
    #[must_use]
    pub fn key(&self) -> u64 {
        self.key
    }

    /// Takes over the key of an image.
    pub(crate) fn set_key(&mut self, key: u64) {
        self.key = key;
    }

    /// Draws the number of one event in the life of a block.
    fn draw(&self, what: Draw, block: BlockId, erases: u32, unit: u32) -> u64 {
        let number = u64::from(block.get()) << 32 | u64::from(erases);
        let event = u64::from(unit) << 2 | what as u64;
        mix(mix(self.key ^ mix(number)).wrapping_add(event))
    }

    /// Whether a block is bad from the factory; `first` says whether it is the first of its plane.
    #[must_use]
    pub fn is_factory_bad(&self, block: BlockId, first: bool) -> bool {
        let number = self.draw(Draw::Factory, block, 0, 0);
        !first && happens(number, self.options.factory_bad.ppm.into(), Ratio::ONE.ppm.into())
    }

    /// Whether any block can be bad from the factory.
    #[must_use]
    pub fn has_factory_bad(&self) -> bool {
        self.options.factory_bad.ppm > 0
    }

    /// Whether the erase of a block that was erased `erases` times before fails, by wear or by chance.
    #[must_use]
    pub fn erase_fails(&self, block: BlockId, erases: u32) -> bool {
        let number = self.draw(Draw::Erase, block, erases, 0);
        self.endurance_of(block).is_some_and(|cycles| erases >= cycles)
            || happens(number, self.options.erase_failures.into(), BILLION)
    }

    /// Whether programming the flash page that starts at place `unit` of a block fails.
    #[must_use]
    pub fn program_fails(&self, block: BlockId, erases: u32, unit: u32) -> bool {
        let failures = self.options.program_failures;
        failures > 0 && {
            let number = self.draw(Draw::Program, block, erases, unit);
            happens(number, failures.into(), BILLION)
        }
    }

    /// How often a block can be erased, or `None` for no limit.
    #[must_use]
    pub fn endurance_of(&self, block: BlockId) -> Option<u32> {
        self.endurance.of_block(&|| self.draw(Draw::Endurance, block, 0, 0))
    }

    /// How often a block can be erased on average, or `None` for no limit.
    #[must_use]
    pub fn mean_endurance(&self) -> Option<u32> {
        self.endurance.cycles()
    }
}

/// Whether an event with probability `among` / `of` occurs for the number drawn.
pub(super) fn happens(number: u64, among: u64, of: u64) -> bool {
    let scaled = (u128::from(number) * u128::from(of)) >> u64::BITS;
    (scaled as u64) < among
}

/// Spreads the bits of a number over all bits of the result.
pub(super) fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nand::endurance::{Fixed, Unlimited, Weibull};

    const BLOCKS: u32 = 200_000;

    fn faults(options: &FaultOptions, endurance: Endurance) -> Faults {
        Faults::new(options, endurance, 7).expect("something can fail")
    }

    fn rates(factory_ppm: u32, program: u32, erase: u32) -> FaultOptions {
        FaultOptions {
            factory_bad: Ratio { ppm: factory_ppm },
            program_failures: program,
            erase_failures: erase,
            read_failures: 0,
            disturb_limit: None,
            schedule: Vec::new(),
        }
    }

    /// Within five standard deviations of a binomial count: fails for one in two million seeds.
    fn assert_binomial(count: usize, trials: u32, probability: f64) {
        let (trials, count) = (f64::from(trials), count as f64);
        let mean = trials * probability;
        let deviation = (mean * (1.0 - probability)).sqrt();
        assert!((count - mean).abs() <= 5.0 * deviation, "{count} of {trials}, expected {mean}");
    }

    #[test]
    fn failures_come_as_often_as_they_should() {
        let faults = faults(&rates(20_000, 5_000_000, 1_000_000), Unlimited.into());
        let blocks = || (0..BLOCKS).map(BlockId::new);
        assert_binomial(
            blocks().filter(|&b| faults.is_factory_bad(b, false)).count(),
            BLOCKS,
            0.02,
        );
        assert_binomial(blocks().filter(|&b| faults.program_fails(b, 3, 8)).count(), BLOCKS, 0.005);
        assert_binomial(blocks().filter(|&b| faults.erase_fails(b, 3)).count(), BLOCKS, 0.001);
        // Over the pages and the lives of one block, too.
        let block = BlockId::new(5);
        let pages = (0..BLOCKS).filter(|n| faults.program_fails(block, n / 400, n % 400));
        assert_binomial(pages.count(), BLOCKS, 0.005);
        let lives = (0..BLOCKS).filter(|&erases| faults.erase_fails(block, erases));
        assert_binomial(lives.count(), BLOCKS, 0.001);
        assert!(blocks().all(|block| !faults.is_factory_bad(block, true)));
    }

    #[test]
    fn certain_failures_are_certain_and_none_is_nothing() {
        let always = faults(&rates(0, 1_000_000_000, 1_000_000_000), Unlimited.into());
        assert!((0..1_000).all(|n| always.program_fails(BlockId::new(n), n, n)));
        assert!((0..1_000).all(|n| always.erase_fails(BlockId::new(n), n)));
        assert!(Faults::new(&rates(0, 0, 0), Unlimited.into(), 7).is_none());
    }

    #[test]
    fn a_block_bears_exactly_its_endurance() {
        let faults = faults(&rates(0, 0, 0), Fixed { cycles: 10 }.into());
        let fails = |erases| faults.erase_fails(BlockId::new(3), erases);
        assert!((0..10).all(|erases| !fails(erases)) && fails(10) && fails(11));
    }

    #[test]
    fn weibull_lives_have_the_mean_and_the_spread_of_the_distribution() {
        let lives: Vec<f64> = {
            let weibull = Weibull { cycles: 3_000, shape: 4 };
            let faults = faults(&rates(0, 0, 0), weibull.into());
            let lives = (0..BLOCKS).map(|b| faults.endurance_of(BlockId::new(b)).expect("limited"));
            lives.map(f64::from).collect()
        };
        let mean = lives.iter().sum::<f64>() / lives.len() as f64;
        // For shape 4, the standard deviation is 0.2805 of the mean.
        let error = 3_000.0 * 0.2805 / f64::from(BLOCKS).sqrt();
        assert!((mean - 3_000.0).abs() < 5.0 * error + 1.0, "mean {mean}");
        // Probability of a life below a third of the mean: 1 - exp(-(gamma(1.25) / 3)^4).
        let early = lives.iter().filter(|&&life| life < 1_000.0).count();
        let share = 1.0 - libm::exp(-libm::pow(libm::tgamma(1.25) / 3.0, 4.0));
        assert_binomial(early, BLOCKS, share);
    }
}
