//! The age of each page since its last write, counted in host page writes. Ages are exact and take
//! four bytes a page.
//!
//! Each page stores the number of its last write. These numbers repeat after about four billion
//! writes. To avoid taking an old number for a new one, the table is swept continuously, one page
//! with every write, and numbers that are too old are cleared.

use crate::image::{Damage, ImageReader, ImageWriter};
use crate::units::Lpn;

/// Number of distinct write numbers. A stored zero means "long ago, or never", as in untouched
/// memory.
const NUMBERS: u32 = u32::MAX;

/// The last write of each page.
#[derive(Clone, Debug)]
pub struct Ages {
    stamps: Vec<u32>,
    /// The number of the next write.
    now: u32,
    sweep: usize,
    /// From this age on, a page is just old. A sweep takes as many writes as there are pages, so a
    /// number is cleared before it is used again.
    old: u32,
}

impl Ages {
    /// Creates the ages of pages that were never written.
    pub fn new(logical_pages: u32) -> Ages {
        Ages::numbered(logical_pages, 0)
    }

    /// Creates the ages of pages that were never written. The next write has number `now`.
    fn numbered(logical_pages: u32, now: u32) -> Ages {
        let old = NUMBERS.saturating_sub(logical_pages).saturating_sub(1);
        Ages { stamps: vec![0; logical_pages as usize], now, sweep: 0, old }
    }

    /// Returns the number of page writes since a page was written, or `None` if it was never
    /// written or too long ago to tell.
    #[inline]
    pub fn of(&self, page: Lpn) -> Option<u64> {
        let age = self.age(self.stamps[page.at()])?;
        (age < self.old).then_some(u64::from(age))
    }

    /// Writes all stamps as runs of pages that were never written, or that were written in page
    /// order.
    pub fn save(&self, out: &mut ImageWriter) {
        let Ages { stamps, now, sweep, old: _ } = self;
        out.number(*now);
        out.number(*sweep as u64);
        for run in stamps.chunk_by(|&a, &b| b == after(a)) {
            out.number(run.len() as u64);
            out.number(run[0]);
        }
    }

    /// Reads the state that [`save`](Self::save) wrote for the same number of pages.
    pub fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        let Ages { stamps, now, sweep, old: _ } = self;
        let pages = stamps.len();
        *now = from.below(NUMBERS.into(), "the number of a write")?;
        *sweep = from.below(pages as u64, "the place of a sweep")? as usize;
        let mut first = 0;
        while first < pages {
            let run = from.below((pages - first) as u64 + 1, "a run of pages")? as usize;
            let mut stamp = from.below(u64::from(NUMBERS) + 1, "the last write of a page")?;
            if run == 0 {
                return Err(Damage::new("a run of no pages"));
            }
            // Avoids touching memory that is still zero.
            if stamp > 0 {
                for page in &mut stamps[first..first + run] {
                    *page = stamp;
                    stamp = after(stamp);
                }
            }
            first += run;
        }
        Ok(())
    }

    #[inline]
    fn age(&self, stamp: u32) -> Option<u32> {
        let then = stamp.checked_sub(1)?;
        Some(if self.now >= then { self.now - then } else { self.now + (NUMBERS - then) })
    }

    /// Records a write of a page.
    #[inline]
    pub fn wrote(&mut self, page: Lpn) {
        self.stamps[page.at()] = self.now + 1;
        let stamp = self.stamps[self.sweep];
        if self.age(stamp).is_some_and(|age| age >= self.old) {
            self.stamps[self.sweep] = 0;
        }
        self.sweep = if self.sweep + 1 == self.stamps.len() { 0 } else { self.sweep + 1 };
        self.now = if self.now + 1 == NUMBERS { 0 } else { self.now + 1 };
    }
}

/// Returns the stamp that continues a run: that of the next write, or zero again.
fn after(stamp: u32) -> u32 {
    match stamp {
        0 => 0,
        NUMBERS => 1,
        _ => stamp + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Stream;

    /// Compares ages with plain counting, including the wrap-around of numbers.
    #[test]
    fn ages_are_exact() {
        for start in [0, NUMBERS - 1_000] {
            let mut ages = Ages::numbered(100, start);
            let mut last = [None; 100];
            let mut stream = Stream::new(5, "ages");
            for now in 0..5_000_u64 {
                // Most writes go to the first half, so that the other half has pages of every age.
                let cold = stream.below(40) == 0;
                let page = stream.below(50) + if cold { 50 } else { 0 };
                ages.wrote(Lpn::new(page as u32));
                last[page as usize] = Some(now);
                let seen = stream.below(100);
                let exact = last[seen as usize].map(|then: u64| now + 1 - then);
                assert_eq!(ages.of(Lpn::new(seen as u32)), exact, "{seen} at {now}");
            }
        }
    }

    /// Checks that numbers that are too old are cleared in time.
    #[test]
    fn old_pages_do_not_get_young_again() {
        let mut ages = Ages { old: 200, ..Ages::numbered(100, 0) };
        ages.wrote(Lpn::new(7));
        (0..199).for_each(|_| ages.wrote(Lpn::new(8)));
        assert_eq!(ages.of(Lpn::new(7)), None, "200 writes ago");
        (0..100).for_each(|_| ages.wrote(Lpn::new(8)));
        assert_eq!(ages.stamps[7], 0, "a sweep later");
    }
}
