//! What streams policies remember of each page besides its last write ([`Ages`](super::ages::Ages)):
//! one small number. A page that was never written has zero, which takes no memory until then.

use crate::image::{Damage, ImageReader, ImageWriter};
use crate::units::Lpn;

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
