//! Division by a number that is fixed for the run, as a multiplication: page numbers are taken apart
//! for every flash command, and geometries need not be powers of two.

/// A divisor known at assembly.
#[derive(Clone, Copy, Debug)]
pub struct Divisor {
    divisor: u32,
    /// ceil(2^64 / divisor): exact for every 32-bit dividend, as the error stays below 2^-32.
    reciprocal: u64,
}

impl Divisor {
    /// Prepares division by `divisor`, which must be at least one.
    #[must_use]
    pub fn new(divisor: u32) -> Divisor {
        assert!(divisor > 0, "division by zero");
        // For one, the reciprocal 2^64 does not fit; `of` treats it apart.
        let reciprocal = (u64::MAX / u64::from(divisor)).wrapping_add(1);
        Divisor { divisor, reciprocal }
    }

    /// The divisor.
    #[inline]
    #[must_use]
    pub fn get(self) -> u32 {
        self.divisor
    }

    /// `dividend` divided by it.
    #[inline]
    #[must_use]
    pub fn of(self, dividend: u32) -> u32 {
        if self.divisor == 1 {
            return dividend;
        }
        ((u128::from(self.reciprocal) * u128::from(dividend)) >> 64) as u32
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
        fn it_is_division(divisor in 1u32.., dividend: u32) {
            let fast = Divisor::new(divisor).split(dividend);
            proptest::prop_assert_eq!(fast, (dividend / divisor, dividend % divisor));
        }
    }

    #[test]
    fn small_divisors_and_edges_are_exact() {
        for divisor in (1..=300).chain([u32::MAX, u32::MAX - 1, 1 << 31]) {
            for dividend in [0, 1, divisor - 1, divisor, u32::MAX, u32::MAX - 1, 1 << 31] {
                assert_eq!(Divisor::new(divisor).of(dividend), dividend / divisor);
            }
        }
    }
}
