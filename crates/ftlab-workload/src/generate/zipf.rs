//! Draws ranks by Zipf's law, for any number of ranks and without a table, by rejection-inversion
//! (W. Hörmann, G. Derflinger, "Rejection-inversion to generate variates from monotone discrete
//! distributions", ACM TOMACS 6(3), 1996).
//!
//! The histogram of `k^-theta` is below the curve `x^-theta` shifted by half a rank. A point below
//! the curve is drawn by inverting its integral, and is kept if it is within the histogram; a
//! precomputed bound decides that for most points without evaluating the curve again.
//! Transcendental functions come from `libm`, which gives the same bits on every machine.

use ftlab::engine::Stream;

/// The distribution over `ranks` ranks with exponent `theta`.
#[derive(Clone, Copy, Debug)]
pub struct Zipf {
    ranks: f64,
    /// `1 - theta`.
    power: f64,
    theta: f64,
    /// The integral at the start of the first rank and at the end of the last one.
    first: f64,
    last: f64,
    /// A point at most this far below its rank is certainly within the histogram.
    sure: f64,
}

impl Zipf {
    /// Creates the distribution of ranks 0 to `ranks - 1`; `ranks` from 1 to 2^52, `theta` from 0
    /// (uniform) to 10.
    #[must_use]
    pub fn new(ranks: u64, theta: f64) -> Zipf {
        let ranks = ranks as f64;
        let bare = Zipf { ranks, power: 1.0 - theta, theta, first: 0.0, last: 0.0, sure: 0.0 };
        Zipf {
            first: bare.integral(1.5) - 1.0,
            last: bare.integral(ranks + 0.5),
            sure: 2.0 - bare.inverse(bare.integral(2.5) - bare.height(2.0)),
            ..bare
        }
    }

    /// Draws a rank; 0 is the most popular.
    #[inline]
    pub fn draw(&self, stream: &mut Stream) -> u64 {
        loop {
            let area = self.last + stream.unit() * (self.first - self.last);
            let x = self.inverse(area);
            // Adding a half and truncating rounds, because everything here is positive.
            let rank = (x + 0.5).floor().clamp(1.0, self.ranks);
            if rank - x <= self.sure || area >= self.integral(rank + 0.5) - self.height(rank) {
                return rank as u64 - 1;
            }
        }
    }

    /// Returns `x^-theta`.
    fn height(&self, x: f64) -> f64 {
        libm::exp(-self.theta * libm::log(x))
    }

    /// Returns the integral of `x^-theta` from 1 to `x`.
    fn integral(&self, x: f64) -> f64 {
        let log = libm::log(x);
        if self.power == 0.0 { log } else { libm::expm1(self.power * log) / self.power }
    }

    /// Returns the `x` at which the integral is `area`.
    #[inline]
    fn inverse(&self, area: f64) -> f64 {
        if self.power == 0.0 {
            return libm::exp(area);
        }
        // Rounding may move the argument past -1, where the tail of the curve is infinite.
        libm::exp(libm::log1p((area * self.power).max(-1.0)) / self.power)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the frequencies of the first ranks and of the rest with `k^-theta / H`, by
    /// chi-square with ten degrees of freedom: 29.6 is exceeded once in a thousand times, and the
    /// seed is fixed.
    #[test]
    fn frequencies_follow_the_law() {
        const DRAWS: u64 = 400_000;
        for theta in [0.0, 0.5, 0.99, 1.0, 1.2, 3.0] {
            for ranks in [11u64, 1_000, 100_000] {
                let zipf = Zipf::new(ranks, theta);
                let mut stream = Stream::new(3, "zipf");
                let mut counts = [0u64; 11];
                for _ in 0..DRAWS {
                    let rank = zipf.draw(&mut stream);
                    assert!(rank < ranks);
                    counts[usize::try_from(rank.min(10)).unwrap()] += 1;
                }
                let mass = |k: u64| (k as f64).powf(-theta);
                let sum: f64 = (1..=ranks).map(mass).sum();
                let tail: f64 = (11..=ranks).map(mass).sum();
                let chi: f64 = (0..11)
                    .map(|i| {
                        let p = if i < 10 { mass(i as u64 + 1) } else { tail } / sum;
                        let expected = p * DRAWS as f64;
                        (counts[i] as f64 - expected).powi(2) / expected
                    })
                    .sum();
                assert!(chi < 29.6, "theta {theta}, {ranks} ranks: chi-square {chi}");
            }
        }
    }

    #[test]
    fn a_billion_ranks_and_the_same_draws_everywhere() {
        let zipf = Zipf::new(1_000_000_000, 0.99);
        let mut stream = Stream::new(1, "zipf");
        let draws: Vec<u64> = (0..6).map(|_| zipf.draw(&mut stream)).collect();
        insta::assert_debug_snapshot!(draws);
        assert!((0..100_000).all(|_| zipf.draw(&mut stream) < 1_000_000_000));
    }

    #[test]
    fn extremes_stay_in_range() {
        for (ranks, theta) in [(1, 0.0), (1, 10.0), (2, 10.0), (1 << 52, 10.0), (1 << 52, 1e-12)] {
            let zipf = Zipf::new(ranks, theta);
            let mut stream = Stream::new(9, "zipf");
            assert!((0..20_000).all(|_| zipf.draw(&mut stream) < ranks), "{ranks} {theta}");
        }
    }
}
