//! What streams policies remember of each page besides its last write ([`Ages`](super::ages::Ages)):
//! one small number, and logarithms to compress large ones. A page that was never written has zero,
//! which takes no memory until then.

use crate::image::{Damage, ImageReader, ImageWriter};
use crate::units::Lpn;

/// Steps of [`log2`] for each doubling.
pub const STEPS: u32 = 8;

/// A small number for each logical page.
#[derive(Clone, Debug)]
pub struct PerPage<T> {
    numbers: Vec<T>,
}

impl<T: Copy + Default + Eq + Into<u64> + TryFrom<u64>> PerPage<T> {
    /// Creates zeros.
    pub fn new(logical_pages: u32) -> PerPage<T> {
        PerPage { numbers: vec![T::default(); logical_pages as usize] }
    }

    /// Returns the number of a page.
    #[inline]
    pub fn of(&self, page: Lpn) -> T {
        self.numbers[page.at()]
    }

    /// Changes the number of a page.
    #[inline]
    pub fn set(&mut self, page: Lpn, number: T) {
        self.numbers[page.at()] = number;
    }

    /// Writes all numbers, as runs of equal ones.
    pub fn save(&self, out: &mut ImageWriter) {
        for run in self.numbers.chunk_by(|a, b| a == b) {
            out.number(run.len() as u64);
            out.number(run[0]);
        }
    }

    /// Reads what [`save`](Self::save) wrote for as many pages. All numbers must be below `limit`.
    pub fn load(
        &mut self,
        from: &mut ImageReader<'_>,
        limit: u64,
        what: &str,
    ) -> Result<(), Damage> {
        let mut left = &mut self.numbers[..];
        while !left.is_empty() {
            let run = from.below(left.len() as u64 + 1, "a run of pages")? as usize;
            let number = from.below(limit, what)?;
            let number = T::try_from(number.into());
            let number = number.map_err(|_| Damage(format!("{what} is too large")))?;
            if run == 0 {
                return Err(Damage::new("a run of no pages"));
            }
            let (these, others) = left.split_at_mut(run);
            // Avoids touching memory that is still zero.
            if number != T::default() {
                these.fill(number);
            }
            left = others;
        }
        Ok(())
    }
}

/// Returns the logarithm of a number to base two in [`STEPS`], linear between powers of two. That of
/// zero is zero.
#[inline]
pub fn log2(number: u64) -> u32 {
    let number = number.max(1);
    let doublings = number.ilog2();
    let steps = (u128::from(number) * u128::from(STEPS)) >> doublings;
    doublings * STEPS + steps as u32 - STEPS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_rise_by_eight_steps_for_each_doubling() {
        assert_eq!([0, 1, 2, 3, 4, 1_024].map(log2), [0, 0, 8, 12, 16, 80]);
        for number in 1..5_000_u64 {
            let exact = f64::from(STEPS) * (number as f64).log2();
            let off = exact - f64::from(log2(number));
            assert!((0.0..1.7).contains(&off), "{number}: {off}");
            assert!(log2(number) <= log2(number + 1), "{number}");
        }
        assert_eq!(log2(u64::MAX), 64 * STEPS - 1);
    }

    #[test]
    fn an_image_keeps_the_numbers_and_damage_is_found() {
        let mut numbers = PerPage::<u8>::new(10);
        for (page, number) in [(2, 7), (3, 7), (9, 200)] {
            numbers.set(Lpn::new(page), number);
        }
        let mut out = ImageWriter::default();
        numbers.save(&mut out);
        let bytes = out.into_bytes();
        let load = |pages, limit| {
            let mut loaded = PerPage::<u8>::new(pages);
            let done = loaded.load(&mut ImageReader::new(&bytes, false), limit, "a number");
            done.map(|()| loaded.numbers)
        };
        assert_eq!(load(10, 201), Ok(numbers.numbers.clone()));
        assert!(load(10, 200).is_err(), "a number beyond the limit");
        assert!(load(8, 201).is_err() && load(11, 201).is_err(), "another number of pages");
    }
}
