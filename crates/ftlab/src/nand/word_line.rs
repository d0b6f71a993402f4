//! Word lines that are programmed at once: the unit that the FTL fills and a die programs, and which of its pages a
//! read senses.
//!
//! Such a word line takes the place of the flash page everywhere: it is placed, programmed, torn, and lost as a whole.
//! Only sensing knows of the pages in it, because a die senses one of them at a time.

use crate::options::declare::choices;
use crate::shape::Shape;
use crate::units::SectorMask;

choices! {
    /// What a die programs at once.
    pub enum ProgramUnit {
        /// A page of a word line.
        Page = "page",
        /// All pages of a word line, one for each bit of its cells.
        WordLine = "word-line",
    }
}

/// Pages of a word line that a read senses: a bit for each, the first page lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Senses(u8);

impl Senses {
    /// The pages from `first` to `last`.
    fn range(first: u32, last: u32) -> Senses {
        let below = |end: u32| (1_u8 << end) - 1;
        Senses(below(last + 1) & !below(first))
    }

    /// The pages of both sets.
    #[must_use]
    pub fn and_also(self, other: Senses) -> Senses {
        Senses(self.0 | other.0)
    }

    /// Number of pages.
    #[must_use]
    pub fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// The set as a number, different for each set.
    #[must_use]
    pub fn bits(self) -> u32 {
        self.0.into()
    }

    /// The pages, by number in the word line.
    pub fn pages(self) -> impl Iterator<Item = u32> {
        (0..u8::BITS).filter(move |page| self.0 & (1 << page) != 0)
    }
}

/// The pages of a word line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordLine {
    pages: u32,
    sectors_per_page: u32,
    sectors_per_unit: u32,
}

impl WordLine {
    /// Returns the division of the flash pages of a shape, which are word lines, into so many pages.
    #[must_use]
    pub fn of(shape: &Shape, pages: u32) -> WordLine {
        WordLine {
            pages,
            sectors_per_page: shape.page_size.sectors() as u32 / pages,
            sectors_per_unit: shape.mapping_unit.sectors() as u32,
        }
    }

    /// Number of pages.
    #[must_use]
    pub fn pages(&self) -> u32 {
        self.pages
    }

    /// All pages.
    #[must_use]
    pub fn all(&self) -> Senses {
        Senses::range(0, self.pages - 1)
    }

    /// The first page.
    #[must_use]
    pub fn first(&self) -> Senses {
        Senses::range(0, 0)
    }

    /// The pages that hold these sectors of the mapping unit at place `unit` of the word line, and what lies between
    /// them. All pages, if there are no sectors.
    #[must_use]
    pub fn holding(&self, unit: u32, sectors: SectorMask) -> Senses {
        let Some((first, last)) = sectors.ends() else { return self.all() };
        let page = |sector: u32| (unit * self.sectors_per_unit + sector) / self.sectors_per_page;
        Senses::range(page(first), page(last))
    }

    /// The pages that hold the mapping unit at place `unit` of the word line.
    #[must_use]
    pub fn holding_unit(&self, unit: u32) -> Senses {
        self.holding(unit, SectorMask::range(0, self.sectors_per_unit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;

    fn tlc(unit: u64) -> WordLine {
        let shape = Shape {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: 4,
            pages_per_block: 4,
            page_size: Bytes::from_kib(48),
            mapping_unit: Bytes::from_kib(unit),
        };
        WordLine::of(&shape, 3)
    }

    #[test]
    fn four_units_lie_on_each_page() {
        let word_line = tlc(4);
        let pages = |unit| word_line.holding_unit(unit).pages().collect::<Vec<_>>();
        assert_eq!([0, 3, 4, 7, 8, 11].map(pages), [[0], [0], [1], [1], [2], [2]]);
        let both = word_line.holding_unit(2).and_also(word_line.holding_unit(9));
        assert_eq!((both.bits(), both.count()), (0b101, 2));
        assert_eq!((word_line.all().bits(), word_line.first().bits()), (0b111, 0b001));
    }

    /// Of a unit that lies on several pages, only those are sensed that hold what is wanted.
    #[test]
    fn sectors_decide_in_large_units() {
        let word_line = tlc(48);
        let pages = |first, count| word_line.holding(0, SectorMask::range(first, count)).bits();
        assert_eq!([pages(0, 32), pages(31, 2), pages(64, 1)], [0b001, 0b011, 0b100]);
        let ends = SectorMask::range(0, 1).and_also(SectorMask::range(95, 1));
        assert_eq!(word_line.holding(0, ends).bits(), 0b111);
        assert_eq!(word_line.holding(0, SectorMask::EMPTY).bits(), 0b111);
        assert_eq!(word_line.holding_unit(0).bits(), 0b111);
    }
}
