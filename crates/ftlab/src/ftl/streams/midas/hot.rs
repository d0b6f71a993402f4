//! The hot filter: counts of two bits that rise when a page is overwritten young, and fall when it is
//! overwritten old or copied. A page whose count is full is hot.

use super::super::ages::Ages;
use super::super::per_page::PerPage;
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::units::Lpn;

/// The count of hot pages, and its bits.
const FULL: u8 = 3;
/// Where the newest copy of a page lies: behind group 1, or nowhere; in HOT; in group 1.
const BEHIND: u8 = 0;
const IN_HOT: u8 = 1 << 2;
const IN_FIRST: u8 = 2 << 2;

/// HOT is worth modelling if it takes at least this share of writes, and its victims hold at most this share of their pages.
const GOOD_PART: f64 = 0.15;
const NEARLY_EMPTY: f64 = 0.1;

/// The filter.
#[derive(Clone, Debug)]
pub struct HotFilter {
    /// By page: its count, and where it lies.
    pages: PerPage<u8>,
    /// A page that is overwritten within this number of page writes is young: about the age of HOT blocks when
    /// they are collected.
    young: u64,
    /// Overwritten pages until `young` is adjusted.
    left: u64,
    /// The HOT blocks that were collected since, and the sum of their ages.
    collected: u64,
    ages: u64,
    /// In this epoch: the pages that were written to HOT, and HOT blocks that were collected with their valid pages.
    written: u64,
    victims: u64,
    valid: u64,
}

impl HotFilter {
    /// A filter that knows no hot pages.
    pub fn new(logical_pages: u32) -> HotFilter {
        let young = u64::from(logical_pages);
        let pages = PerPage::new(logical_pages);
        HotFilter {
            pages,
            young,
            left: young,
            collected: 0,
            ages: 0,
            written: 0,
            victims: 0,
            valid: 0,
        }
    }

    /// The count of a page once it is overwritten.
    #[inline]
    fn after_write(&self, page: Lpn, ages: &Ages) -> u8 {
        let known = self.pages.of(page);
        let count = known & FULL;
        match known & !FULL {
            IN_HOT => (count + 1).min(FULL),
            IN_FIRST if ages.of(page).is_some_and(|age| age <= self.young) => (count + 1).min(FULL),
            IN_FIRST => count.saturating_sub(1),
            _ => count,
        }
    }

    /// Whether a page is hot if the host writes it now.
    #[inline]
    pub fn is_hot(&self, page: Lpn, ages: &Ages) -> bool {
        self.after_write(page, ages) == FULL
    }

    /// Records a write of a page.
    #[inline]
    pub fn wrote(&mut self, page: Lpn, ages: &Ages) {
        let count = self.after_write(page, ages);
        let place = if count == FULL { IN_HOT } else { IN_FIRST };
        self.written += u64::from(count == FULL);
        self.pages.set(page, count | place);
        self.left = self.left.saturating_sub(u64::from(ages.of(page).is_some()));
        if self.left == 0 && self.collected > 0 {
            self.adjust();
        }
    }

    /// Moves `young` towards the age at which HOT blocks were collected.
    fn adjust(&mut self) {
        let age = self.ages / self.collected;
        let most = self.young + self.young / 2;
        self.young = if age >= 2 * self.young { most } else { age.midpoint(self.young) }.max(1);
        (self.left, self.ages, self.collected) = (self.young, 0, 0);
    }

    /// Records that collection copied a page: it was valid for longer than expected.
    #[inline]
    pub fn copied(&mut self, page: Lpn) {
        let known = self.pages.of(page);
        let count = known & FULL;
        let now = match known & !FULL {
            IN_HOT => count.saturating_sub(2) | IN_FIRST,
            IN_FIRST => count.saturating_sub(1) | BEHIND,
            _ => return,
        };
        self.pages.set(page, now);
    }

    /// Records that a HOT block is collected.
    pub fn collects(&mut self, age: u64, valid: u32) {
        self.collected += 1;
        self.ages += age;
        self.victims += 1;
        self.valid += u64::from(valid);
    }

    /// Whether HOT took a good part of an epoch's writes, and its blocks were nearly empty. Begins a new epoch.
    pub fn ends_epoch(&mut self, writes: u64, block: u32) -> bool {
        let of_writes = self.written as f64 / writes as f64;
        let of_pages = self.valid as f64 / (self.victims.max(1) * u64::from(block)) as f64;
        let works = self.victims > 0 && of_writes >= GOOD_PART && of_pages <= NEARLY_EMPTY;
        (self.written, self.victims, self.valid) = (0, 0, 0);
        works
    }

    pub fn save(&self, out: &mut ImageWriter) {
        let HotFilter { pages, young, left, collected, ages, written, victims, valid } = self;
        pages.save(out);
        for &number in [young, left, collected, ages, written, victims, valid] {
            out.number(number);
        }
    }

    pub fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        let HotFilter { pages, young, left, collected, ages, written, victims, valid } = self;
        pages.load(from, u64::from(IN_FIRST | FULL) + 1, "the heat of a page")?;
        for number in [&mut *young, left, collected, ages, written, victims, valid] {
            *number = super::count(from, "a count of the hot filter")?;
        }
        match *young {
            0 => Err(Damage::new("no page is young")),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: Lpn = Lpn::new(3);

    /// A page write of the host.
    fn write(page: Lpn, filter: &mut HotFilter, ages: &mut Ages) -> bool {
        let hot = filter.is_hot(page, ages);
        filter.wrote(page, ages);
        ages.wrote(page);
        hot
    }

    #[test]
    fn pages_heat_up_when_overwritten_young_and_cool_down_when_copied() {
        let (mut filter, mut ages) = (HotFilter::new(100), Ages::new(100));
        let hot: Vec<bool> = (0..5).map(|_| write(PAGE, &mut filter, &mut ages)).collect();
        assert_eq!(hot, [false, false, false, true, true], "three times young");
        filter.copied(PAGE);
        assert!(!filter.is_hot(PAGE, &ages), "one and one is two");
        assert!(!write(PAGE, &mut filter, &mut ages) && write(PAGE, &mut filter, &mut ages));
        // What leaves group 1 keeps its count.
        (0..3).for_each(|_| filter.copied(PAGE));
        assert_eq!(filter.pages.of(PAGE), BEHIND);
    }

    #[test]
    fn what_is_overwritten_old_cools_down() {
        let (mut filter, mut ages) = (HotFilter::new(100), Ages::new(100));
        (0..3).for_each(|_| _ = write(PAGE, &mut filter, &mut ages));
        assert_eq!(filter.pages.of(PAGE), IN_FIRST | 2);
        (0..101).for_each(|other| ages.wrote(Lpn::new(50 + other % 50)));
        assert!(!write(PAGE, &mut filter, &mut ages));
        assert_eq!(filter.pages.of(PAGE), IN_FIRST | 1);
    }

    #[test]
    fn the_limit_follows_the_age_of_hot_blocks() {
        let (mut filter, mut ages) = (HotFilter::new(100), Ages::new(100));
        filter.collects(40, 5);
        (0..=100).for_each(|_| {
            assert!(
                filter.young == 100 && !write(PAGE, &mut filter, &mut ages)
                    || ages.of(PAGE).is_some()
            )
        });
        assert_eq!((filter.young, filter.left), (70, 70));
        filter.collects(1_000, 5);
        (0..70).for_each(|_| _ = write(PAGE, &mut filter, &mut ages));
        assert_eq!(filter.young, 105, "at most half more at once");
        assert!(filter.ends_epoch(172, 64), "nearly all writes, and ten pages of two blocks");
        assert!(!filter.ends_epoch(100, 64), "nothing in this one");
    }
}
