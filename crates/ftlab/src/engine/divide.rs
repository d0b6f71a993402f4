//! Division by a number that is fixed during the run, as a multiplication: page numbers are split
//! for every flash command, and the sizes in a geometry need not be powers of two.

/// Dividends, such as physical pages, are below two to this power.
const DIVIDEND_BITS: u32 = 31;

/// A divisor that is fixed when the device is built.
///
/// With k bits in the divisor, the product with ceil(2^(31+k) / divisor) is off by less than 2^-31
/// of a unit for dividends below 2^31, too little to reach the next integer (Granlund and
/// Montgomery, "Division by Invariant Integers using Multiplication", PLDI 1994).
#[derive(Clone, Copy, Debug)]
pub struct Divisor {
    divisor: u32,
    shift: u32,
    multiplier: u64,
}

impl Divisor {
    /// Prepares division by `divisor`, which must be at least one and at most 2^31.
    #[must_use]
    pub fn new(divisor: u32) -> Divisor {
        assert!(divisor > 0 && divisor <= 1 << DIVIDEND_BITS, "a divisor of {divisor}");
        let shift = DIVIDEND_BITS + u32::BITS - (divisor - 1).leading_zeros();
        Divisor { divisor, shift, multiplier: (1u64 << shift).div_ceil(u64::from(divisor)) }
    }

    /// The divisor.
    #[inline]
    #[must_use]
    pub fn get(self) -> u32 {
        self.divisor
    }

    /// The quotient of `dividend`, which must be below 2^31.
    #[inline]
    #[must_use]
    pub fn of(self, dividend: u32) -> u32 {
        debug_assert!(dividend < 1 << DIVIDEND_BITS, "a dividend of {dividend}");
        ((self.multiplier * u64::from(dividend)) >> self.shift) as u32
    }

    /// Quotient and remainder.
    #[inline]
    #[must_use]
    pub fn split(self, dividend: u32) -> (u32, u32) {
        let quotient = self.of(dividend);
        (quotient, dividend - quotient * self.divisor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn it_is_division(divisor in 1u32..=1 << 31, dividend in 0u32..1 << 31) {
            let fast = Divisor::new(divisor).split(dividend);
            proptest::prop_assert_eq!(fast, (dividend / divisor, dividend % divisor));
        }
    }

    #[test]
    fn small_divisors_and_edges_are_exact() {
        const TOP: u32 = (1 << 31) - 1;
        for divisor in (1..=300).chain([TOP, TOP - 1, 1 << 30, 1 << 31]) {
            for dividend in
                [0, 1, divisor - 1, divisor, TOP, TOP - 1, 1 << 30, TOP / divisor * divisor]
            {
                let dividend = dividend.min(TOP);
                assert_eq!(Divisor::new(divisor).of(dividend), dividend / divisor);
            }
        }
    }
}
