//! Seeded random streams, one for each component.
//!
//! A component's stream depends only on the seed and the component's name, so adding a policy that
//! draws random numbers does not change the numbers of any other.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::image::{Damage, ImageReader, ImageWriter};

/// A component's source of random numbers. Integers only, so that every machine gives the same
/// results.
#[derive(Clone, Debug)]
pub struct Stream {
    generator: Xoshiro256PlusPlus,
}

impl Stream {
    /// Returns the stream of the component `name` under `seed`.
    #[must_use]
    pub fn new(seed: u64, name: &str) -> Stream {
        // FNV-1a is stable over versions and machines, unlike the standard hasher.
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Stream { generator: Xoshiro256PlusPlus::seed_from_u64(seed ^ hash.rotate_left(17)) }
    }

    /// Saves the state of the stream.
    pub fn save(&self, out: &mut ImageWriter) {
        let Stream { generator } = self;
        out.raw(&generator.state());
    }

    /// Resumes a saved stream, or leaves a new one as it is in a run with another seed.
    ///
    /// # Errors
    /// The data ends too early.
    pub fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        let mut state = <Xoshiro256PlusPlus as SeedableRng>::Seed::default();
        let bytes = from.raw(state.as_ref().len())?;
        state.as_mut().copy_from_slice(bytes);
        if from.resumes_random() {
            self.generator = Xoshiro256PlusPlus::from_seed(state);
        }
        Ok(())
    }

    /// Returns any 64-bit number.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.generator.next_u64()
    }

    /// Returns a number below `bound`, with negligible bias (less than `bound` / 2^64).
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        let wide = u128::from(self.next_u64()) * u128::from(bound);
        (wide >> 64) as u64
    }

    /// Returns a number in `[0, 1)` with 53 random bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_reproducible_and_apart() {
        let draw = |seed, name: &str| Stream::new(seed, name).next_u64();
        assert_eq!(draw(7, "gc"), draw(7, "gc"));
        assert_ne!(draw(7, "gc"), draw(7, "placement"));
        assert_ne!(draw(7, "gc"), draw(8, "gc"));
    }

    #[test]
    fn below_stays_below() {
        let mut stream = Stream::new(1, "test");
        assert!((0..10_000).all(|_| stream.below(7) < 7));
    }
}
