//! Knowledge of the future: when the data that the host writes now dies, because it is written again or trimmed.
//!
//! Whoever plays a load twice has it: the first pass records what is written and trimmed, and the second is told.
//! Time is the number of pages that the host has written. Deaths are found by page and number of the write, so a
//! load whose concurrent requests come in another order the second time is still foreseen, apart from this order.

use std::num::NonZeroU32;
use std::sync::Arc;

use crate::units::Lpn;

/// What happens to the data of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageFate {
    /// The page is written.
    Written(Lpn),
    /// The page is trimmed.
    Trimmed(Lpn),
}

/// The deaths of all data: four bytes for each write, and eight for each page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeathTable {
    /// By page: where its deaths begin. Then where the last ones end.
    starts: Vec<u32>,
    /// For what a page held before, then for each of its writes: when that dies, if it does. The first page is
    /// written at time 1.
    deaths: Vec<Option<NonZeroU32>>,
}

impl DeathTable {
    /// Returns the table of what happens to these pages, or `None` if too much happens for its 32-bit times.
    #[must_use]
    pub fn of(fates: &[PageFate], logical_pages: u32) -> Option<DeathTable> {
        u32::try_from(fates.len()).ok()?.checked_add(logical_pages)?.checked_add(1)?;
        let mut starts = vec![0; logical_pages as usize + 1];
        for fate in fates {
            if let PageFate::Written(page) = fate {
                starts[page.at() + 1] += 1;
            }
        }
        let mut end = 0;
        for start in &mut starts[1..] {
            end += *start + 1;
            *start = end;
        }
        let mut deaths = vec![None; end as usize];
        let (mut at, mut now) = (starts.clone(), NonZeroU32::MIN);
        for fate in fates {
            let (PageFate::Written(page) | PageFate::Trimmed(page)) = *fate;
            deaths[at[page.at()] as usize].get_or_insert(now);
            if let PageFate::Written(_) = fate {
                at[page.at()] += 1;
                now = now.saturating_add(1);
            }
        }
        Some(DeathTable { starts, deaths })
    }
}

/// What a device knows of the future.
#[derive(Clone, Debug, Default)]
pub enum Foresight {
    /// Nothing: no data seems to die.
    #[default]
    Blind,
    /// Nothing, but it records what happens.
    Recording(Vec<PageFate>),
    /// Everything.
    Knowing {
        /// The deaths.
        table: Arc<DeathTable>,
        /// By page: the death of its present data.
        at: Vec<u32>,
        /// The time of the next write.
        now: u32,
    },
}

impl Foresight {
    /// Knows these deaths from now on.
    #[must_use]
    pub fn of(table: Arc<DeathTable>) -> Foresight {
        let at = table.starts[..table.starts.len() - 1].to_vec();
        Foresight::Knowing { table, at, now: NonZeroU32::MIN.get() }
    }

    /// Records what the host does to a page.
    pub fn happens(&mut self, fate: PageFate) {
        match (self, fate) {
            (Foresight::Recording(fates), _) => fates.push(fate),
            (Foresight::Knowing { table, at, now }, PageFate::Written(page)) => {
                *now = now.saturating_add(1);
                // A load may write a page more often than was foreseen.
                let last = table.starts[page.at() + 1] - 1;
                at[page.at()] = (at[page.at()] + 1).min(last);
            }
            _ => {}
        }
    }

    /// Returns how many pages the host writes before the present data of a page dies, or `None` if it does not die.
    #[must_use]
    pub fn left(&self, page: Lpn) -> Option<u32> {
        let Foresight::Knowing { table, at, now } = self else { return None };
        let death = table.deaths[at[page.at()] as usize]?;
        Some(death.get().saturating_sub(*now))
    }
}

/// Classes of pages by the time that their data has left: the first dies while a segment is written, the next while
/// the second one is, and so on. The last has the rest.
#[derive(Clone, Debug)]
pub struct DeathClasses {
    /// What is known.
    pub foresight: Foresight,
    /// Pages of a segment.
    segment: u32,
    classes: u8,
}

impl DeathClasses {
    /// Returns this many classes that know nothing.
    #[must_use]
    pub fn new(segment: u32, classes: u8) -> DeathClasses {
        DeathClasses { foresight: Foresight::Blind, segment, classes }
    }

    /// Returns the class of the present data of a page.
    #[must_use]
    pub fn of(&self, page: Lpn) -> u8 {
        let last = self.classes - 1;
        let left = self.foresight.left(page).map(|left| left / self.segment);
        left.and_then(|segments| u8::try_from(segments).ok()).map_or(last, |class| class.min(last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Stream;

    const PAGES: u32 = 12;

    /// Random writes and trims, with pages that are never touched.
    fn fates(seed: u64, count: u32) -> Vec<PageFate> {
        let mut stream = Stream::new(seed, "fates");
        let mut fate = || {
            let page = Lpn::new(stream.below(u64::from(PAGES) - 2) as u32);
            if stream.below(4) == 0 { PageFate::Trimmed(page) } else { PageFate::Written(page) }
        };
        (0..count).map(|_| fate()).collect()
    }

    /// Looks through what is still to come: how many pages are written before one is written or trimmed.
    fn naive(coming: &[PageFate], page: Lpn) -> Option<u32> {
        let ends = |fate: &PageFate| matches!(*fate, PageFate::Written(p) | PageFate::Trimmed(p) if p == page);
        let end = coming.iter().position(ends)?;
        Some(coming[..end].iter().filter(|fate| matches!(fate, PageFate::Written(_))).count() as u32)
    }

    #[test]
    fn deaths_are_those_that_a_naive_look_ahead_finds() {
        for seed in 0..40 {
            let fates = fates(seed, seed as u32 * 7);
            let mut known = Foresight::of(Arc::new(DeathTable::of(&fates, PAGES).unwrap()));
            let mut holds = [true; PAGES as usize];
            for (number, &fate) in fates.iter().enumerate() {
                for page in (0..PAGES).map(Lpn::new).filter(|page| holds[page.at()]) {
                    let expected = naive(&fates[number..], page);
                    assert_eq!(known.left(page), expected, "{page:?} before {number} of {seed}");
                }
                known.happens(fate);
                match fate {
                    PageFate::Written(page) => holds[page.at()] = true,
                    PageFate::Trimmed(page) => holds[page.at()] = false,
                }
            }
        }
    }

    #[test]
    fn another_order_of_writes_finds_the_deaths_of_each_page() {
        let written = |pages: &[u32]| -> Vec<_> {
            pages.iter().map(|&page| PageFate::Written(Lpn::new(page))).collect()
        };
        let fates = written(&[0, 1, 0, 1, 0, 1]);
        let mut known = Foresight::of(Arc::new(DeathTable::of(&fates, PAGES).unwrap()));
        written(&[1, 0]).into_iter().for_each(|fate| known.happens(fate));
        assert_eq!([0, 1].map(|page| known.left(Lpn::new(page))), [Some(0), Some(1)]);
        // More than was foreseen.
        written(&[0, 0, 0, 0]).into_iter().for_each(|fate| known.happens(fate));
        assert_eq!(known.left(Lpn::new(0)), None);
    }

    #[test]
    fn classes_are_segments_until_death() {
        let mut classes = DeathClasses::new(2, 3);
        let fates: Vec<_> = (0..8).map(|page| PageFate::Written(Lpn::new(page))).collect();
        assert_eq!(classes.of(Lpn::new(0)), 2, "nothing is known");
        classes.foresight = Foresight::of(Arc::new(DeathTable::of(&fates, PAGES).unwrap()));
        let of = (0..10).map(|page| classes.of(Lpn::new(page))).collect::<Vec<_>>();
        assert_eq!(of, [0, 0, 1, 1, 2, 2, 2, 2, 2, 2]);
    }
}
