//! What an operation costs: times of the flash array and of the bus. Prices only; nothing waits here.

mod page_type;
mod plain;
mod prices;

pub use page_type::{PageTimes, PageType, PageTypeOptions};
pub use plain::{Plain, PlainOptions};
pub use prices::{OneBit, Prices};

use crate::engine::Divisor;
use crate::host::SectorMask;
use crate::nand::{Geometry, Shape};
use crate::policy::seam;
use crate::units::{Bytes, BytesPerSec, Nanos, Ppn};

seam! {
    /// The time that the cells of a die are busy with an operation.
    pub enum Timing ("nand.timing.policy" = "plain") as TimingChoice, with timing_policy {
        Plain(Plain),
        PageType(PageType),
    }
}

impl Timing {
    /// How long sensing the flash page of `page` takes.
    #[inline]
    #[must_use]
    pub fn read(&self, geometry: &Geometry, page: Ppn) -> Nanos {
        timing_policy!(self, model => model.read(geometry, page))
    }

    /// How long programming the flash page of `page` takes.
    #[inline]
    #[must_use]
    pub fn program(&self, geometry: &Geometry, page: Ppn) -> Nanos {
        timing_policy!(self, model => model.program(geometry, page))
    }

    /// The longest that any operation takes.
    #[must_use]
    pub fn longest(&self) -> Nanos {
        timing_policy!(self, model => model.longest())
    }

    /// How long erasing a block takes.
    #[inline]
    #[must_use]
    pub fn erase(&self) -> Nanos {
        timing_policy!(self, model => model.erase)
    }
}

/// The bus of a channel: how long a transfer of so many ECC codewords takes.
#[derive(Clone, Debug)]
pub struct Bus {
    /// Transfer time by number of codewords, from none to a whole flash page.
    by_codewords: Vec<Nanos>,
    sectors_per_codeword: Divisor,
    codewords_per_unit: u32,
}

impl Bus {
    /// The bus that moves `rate` and serves the flash pages of a shape in units of `codeword`, which
    /// divides the mapping unit.
    #[must_use]
    pub fn new(rate: BytesPerSec, codeword: Bytes, shape: &Shape) -> Bus {
        let in_page = shape.page_size.0 / codeword.0;
        Bus {
            by_codewords: (0..=in_page).map(|n| rate.time_for(Bytes(n * codeword.0))).collect(),
            sectors_per_codeword: Divisor::new(codeword.sectors() as u32),
            codewords_per_unit: (shape.mapping_unit.0 / codeword.0) as u32,
        }
    }

    /// How long `codewords` take.
    #[inline]
    #[must_use]
    pub fn transfer(&self, codewords: u32) -> Nanos {
        self.by_codewords[codewords as usize]
    }

    /// Codewords in a whole flash page.
    #[inline]
    #[must_use]
    pub fn page_codewords(&self) -> u32 {
        self.by_codewords.len() as u32 - 1
    }

    /// Codewords in a page (mapping unit).
    #[inline]
    #[must_use]
    pub fn codewords_per_unit(&self) -> u32 {
        self.codewords_per_unit
    }

    /// Codewords from the first to the last of these sectors of a page: what must cross the bus to
    /// read them. A gap between them is read along.
    #[inline]
    #[must_use]
    pub fn codewords_of(&self, sectors: SectorMask) -> u32 {
        let Some((first, last)) = sectors.ends() else { return 0 };
        self.sectors_per_codeword.of(last) - self.sectors_per_codeword.of(first) + 1
    }
}
