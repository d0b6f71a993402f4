//! A permutation of the numbers below `n`, without a table. The fixed one spreads popular places over
//! the region: it depends on `n` alone, so phases over the same region share their popular places. A
//! drawn one depends on a random stream: who writes each place once takes that, or it would follow
//! the order of popularity.
//!
//! Multiplication by an odd number and a shift that is exclusive-ored permute the numbers of `b`
//! bits; results of `n` or more are fed back until one fits, which takes under two rounds on
//! average because `2^b < 2n`.

use ftlab::engine::Stream;

/// The permutation.
#[derive(Clone, Copy, Debug)]
pub struct Scatter {
    len: u64,
    mask: u64,
    shift: u32,
    factors: [u64; 3],
}

/// The fixed permutation's: odd numbers with well-mixed bits; which ones they are does not matter.
const FACTORS: [u64; 3] = [0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93, 0xc2b2_ae3d_27d4_eb4f];

impl Scatter {
    /// The fixed permutation of the numbers below `len`, which must not be zero.
    #[must_use]
    pub fn new(len: u64) -> Scatter {
        Scatter::by(FACTORS, len)
    }

    /// One of many permutations of the numbers below `len`, which must not be zero.
    #[must_use]
    pub fn drawn(len: u64, stream: &mut Stream) -> Scatter {
        Scatter::by(FACTORS.map(|_| stream.next_u64() | 1), len)
    }

    fn by(factors: [u64; 3], len: u64) -> Scatter {
        let bits = 64 - (len - 1).leading_zeros();
        let mask = if bits == 0 { 0 } else { u64::MAX >> (64 - bits) };
        Scatter { len, mask, shift: bits.div_ceil(2).max(1), factors }
    }

    /// Where `index` goes. `index` must be below the length.
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

    /// Where a number goes under one permutation says nothing of where it goes under another: of
    /// 1000 places 1 is the same by chance.
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

    /// Of 1000 consecutive numbers in a range of a million about one pair in 1000 lands side by
    /// side by chance; the halves and quarters of the range get their share within five sigma.
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
