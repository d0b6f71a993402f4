//! How long ago each page was written, in a byte a page: coarse, and only as far back as matters.
//!
//! Time is counted in page writes of the host and cut into epochs. A page keeps the number of its
//! epoch, which repeats every 255. So that an old number is not taken for a new one, the table is
//! swept bit by bit, a few pages with every write, and numbers that are too old are struck out.

use crate::image::{Damage, Reader, Writer};
use crate::units::Lpn;

/// The logical capacity makes so many epochs.
const EPOCHS_PER_CAPACITY: u32 = 64;
/// Numbers of epochs; zero is "long ago, or never", which untouched memory says.
const NUMBERS: u8 = u8::MAX;
/// From this age on a page is just old. A sweep takes as long as the logical capacity takes to write,
/// so that a number is struck out before it comes round.
const OLD: u8 = NUMBERS - EPOCHS_PER_CAPACITY as u8 - 1;

/// The last write of each page.
#[derive(Clone, Debug)]
pub struct Ages {
    stamps: Vec<u8>,
    /// Writes in an epoch.
    length: u32,
    epoch: u8,
    writes: u32,
    sweep: usize,
    swept_at_once: usize,
}

impl Ages {
    /// Nothing was written yet.
    pub fn new(logical_pages: u32) -> Ages {
        let length = (logical_pages / EPOCHS_PER_CAPACITY).max(1);
        let writes_in_a_sweep = length * EPOCHS_PER_CAPACITY;
        Ages {
            stamps: vec![0; logical_pages as usize],
            length,
            epoch: 0,
            writes: 0,
            sweep: 0,
            swept_at_once: logical_pages.div_ceil(writes_in_a_sweep) as usize,
        }
    }

    /// Page writes since a page was written, to within an epoch; none if that is too long ago to tell.
    #[inline]
    pub fn of(&self, page: Lpn) -> Option<u64> {
        let epochs = self.epochs(self.stamps[page.at()])?;
        (epochs < OLD).then(|| u64::from(epochs) * u64::from(self.length))
    }

    /// Writes all stamps, each with the number of pages in a row that have it.
    pub fn save(&self, out: &mut Writer) {
        let Ages { stamps, length: _, epoch, writes, sweep, swept_at_once: _ } = self;
        out.number(*epoch);
        out.number(*writes);
        out.number(*sweep as u64);
        for run in stamps.chunk_by(|a, b| a == b) {
            out.number(run.len() as u64);
            out.number(run[0]);
        }
    }

    /// Reads what [`save`](Self::save) wrote, for as many pages.
    pub fn load(&mut self, from: &mut Reader<'_>) -> Result<(), Damage> {
        let Ages { stamps, length, epoch, writes, sweep, swept_at_once: _ } = self;
        let pages = stamps.len();
        *epoch = from.below(NUMBERS.into(), "the epoch")? as u8;
        *writes = from.below((*length).into(), "the writes in an epoch")?;
        *sweep = from.below(pages as u64, "the place of a sweep")? as usize;
        let mut first = 0;
        while first < pages {
            let run = from.below((pages - first) as u64 + 1, "a run of pages")? as usize;
            let stamp = from.below(u64::from(NUMBERS) + 1, "the epoch of a page")? as u8;
            if run == 0 {
                return Err(Damage::new("a run of no pages"));
            }
            // Memory that holds zeros is left untouched.
            if stamp > 0 {
                stamps[first..first + run].fill(stamp);
            }
            first += run;
        }
        Ok(())
    }

    #[inline]
    fn epochs(&self, stamp: u8) -> Option<u8> {
        let then = stamp.checked_sub(1)?;
        Some(if self.epoch >= then { self.epoch - then } else { self.epoch + (NUMBERS - then) })
    }

    /// A page is written.
    #[inline]
    pub fn wrote(&mut self, page: Lpn) {
        self.stamps[page.at()] = self.epoch + 1;
        for _ in 0..self.swept_at_once {
            let stamp = self.stamps[self.sweep];
            if self.epochs(stamp).is_some_and(|epochs| epochs >= OLD) {
                self.stamps[self.sweep] = 0;
            }
            self.sweep = if self.sweep + 1 == self.stamps.len() { 0 } else { self.sweep + 1 };
        }
        self.writes += 1;
        if self.writes == self.length {
            self.writes = 0;
            self.epoch = if self.epoch + 1 == NUMBERS { 0 } else { self.epoch + 1 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Stream;

    /// Against exact times: never off by more than an epoch, never young again once old.
    #[test]
    fn ages_are_right_to_within_an_epoch() {
        for pages in [3, 64, 1_000] {
            let mut ages = Ages::new(pages);
            let mut last = vec![None; pages as usize];
            let mut stream = Stream::new(5, "ages");
            for now in 0..u64::from(pages) * 40 {
                // Most writes go to the first half, so that the other half has pages of every age.
                let cold = stream.below(40) == 0;
                let page = stream.below(u64::from(pages) / 2)
                    + if cold { u64::from(pages) / 2 } else { 0 };
                ages.wrote(Lpn::new(page as u32));
                last[page as usize] = Some(now);
                let seen = stream.below(pages.into()) as usize;
                let exact = last[seen].map(|then: u64| now + 1 - then);
                let length = u64::from(ages.length);
                match (ages.of(Lpn::new(seen as u32)), exact) {
                    (Some(age), Some(exact)) => {
                        assert!(exact.abs_diff(age) <= length, "{age} is not {exact}");
                    }
                    (None, Some(exact)) => assert!(exact > u64::from(OLD - 2) * length, "{exact}"),
                    (None, None) => {}
                    (Some(age), None) => panic!("{seen} was never written, but {age} ago"),
                }
            }
        }
    }
}
