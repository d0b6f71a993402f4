//! Permutations of the numbers below `n`, without a table. The fixed permutation spreads popular
//! places over the region; it depends only on `n`, so phases over the same region share their
//! popular places. A drawn permutation depends on a random stream; use it to write each place once,
//! because the fixed one would follow the order of popularity.
//!
//! Multiplication by an odd number and an xor-shift permute the numbers of `b` bits; results of `n`
//! or more are fed back until one fits, which takes less than two rounds on average because `2^b <
//! 2n`.

use ftlab::engine::Stream;

/// A permutation.
#[derive(Clone, Copy, Debug)]
pub struct Scatter {
    len: u64,
    mask: u64,
    shift: u32,
    factors: [u64; 3],
}

/// The factors of the fixed permutation: arbitrary odd numbers with well-mixed bits.
const FACTORS: [u64; 3] = [0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93, 0xc2b2_ae3d_27d4_eb4f];

impl Scatter {
    /// Returns the fixed permutation of the numbers below `len`, which must not be zero.
    #[must_use]
    pub fn new(len: u64) -> Scatter {
        Scatter::by(FACTORS, len)
    }

    /// Draws one of many permutations of the numbers below `len`, which must not be zero.
    #[must_use]
    pub fn drawn(len: u64, stream: &mut Stream) -> Scatter {
        Scatter::by(FACTORS.map(|_| stream.next_u64() | 1), len)
    }

    fn by(factors: [u64; 3], len: u64) -> Scatter {
        let bits = 64 - (len - 1).leading_zeros();
        let mask = if bits == 0 { 0 } else { u64::MAX >> (64 - bits) };
        Scatter { len, mask, shift: bits.div_ceil(2).max(1), factors }
    }

    /// Returns the image of `index`, which must be below the length.
    #[inline]
    #[must_use]
    pub fn place(&self, index: u64) -> u64 {
        debug_assert!(index < self.len);
        let mut x = index;
        loop {
            for factor in self.factors {
                // The addition moves 0, which multiplication alone would leave in place.
                x = x.wrapping_add(factor >> 7).wrapping_mul(factor) & self.mask;
                x ^= x >> self.shift;
            }
            if x < self.len {
                return x;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_hit_once() {
        for len in (1..200).chain([1023, 1024, 1025, 65_537]) {
            for scatter in [Scatter::new(len), Scatter::drawn(len, &mut Stream::new(len, "test"))] {
                let mut seen = vec![false; usize::try_from(len).unwrap()];
                for index in 0..len {
                    let place = usize::try_from(scatter.place(index)).unwrap();
                    assert!(!std::mem::replace(&mut seen[place], true), "{len}: {place} twice");
                }
            }
        }
    }

    /// Different permutations are unrelated: of 1000 places about 1 is equal by chance.
    #[test]
    fn drawn_permutations_have_nothing_in_common() {
        let drawn = |seed| Scatter::drawn(1000, &mut Stream::new(seed, "test"));
        let scatters: Vec<Scatter> =
            std::iter::once(Scatter::new(1000)).chain((0..20).map(drawn)).collect();
        for (at, one) in scatters.iter().enumerate() {
            for other in &scatters[at + 1..] {
                let same = (0..1000).filter(|&x| one.place(x) == other.place(x)).count();
                assert!(same < 12, "{same} places are the same");
            }
        }
    }

    /// Of 1000 consecutive numbers in a range of a million about one pair in 1000 stays adjacent by
    /// chance; the halves and quarters of the range get their share within five sigma.
    #[test]
    fn neighbours_part_and_spread_evenly() {
        check_spread(Scatter::new(1_000_000));
        (0..20).for_each(|seed| {
            check_spread(Scatter::drawn(1_000_000, &mut Stream::new(seed, "test")));
        });
    }

    fn check_spread(scatter: Scatter) {
        let places: Vec<u64> = (0..1000).map(|index| scatter.place(index)).collect();
        let close = places.windows(2).filter(|pair| pair[0].abs_diff(pair[1]) < 64).count();
        assert!(close < 5, "{close} neighbours stay close");
        for quarter in 0..4u64 {
            let inside = places.iter().filter(|&&place| place / 250_000 == quarter).count();
            assert!((182..=318).contains(&inside), "quarter {quarter}: {inside}");
        }
        for lane in 0..8u64 {
            let inside = places.iter().filter(|&&place| place % 8 == lane).count();
            assert!((73..=177).contains(&inside), "lane {lane}: {inside}");
        }
    }
}
