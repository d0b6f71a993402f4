//! The bus of a channel: times of commands, addresses and data.

use super::{Interface, PageTime, Rate};
use crate::engine::Divisor;
use crate::policy::{contract, seam};
use crate::shape::Shape;
use crate::units::{Bytes, Nanos, SectorMask};

seam! {
    /// How fast data crosses the bus of a channel.
    pub enum Transfers ("nand.bus.policy" = "rate") as TransfersChoice, with transfers_policy, or ExternalTransfers {
        Rate(Rate),
        Interface(Interface),
        PageTime(PageTime),
    }
}

contract! {
    /// The answers of a model of transfers.
    pub trait TransfersPolicy for Transfers, by transfers_policy, or ExternalTransfers {
        /// Time to move `size`, where a flash page holds `page`.
        #[must_use]
        fn time_for(&self, size: Bytes, page: Bytes) -> Nanos;
    }
}

contract! {
    /// What is known of a bus before it is built.
    pub trait TransfersFacts of TransfersChoice, by transfers_policy {
        /// The path of the option that sets its speed.
        fn path(_options: &Self::Options) -> &'static str;

        /// Time to move a flash page.
        fn time_of_page(options: &Self::Options, page: Bytes) -> Nanos;

        /// Whether transfers take no time because the times of the cells include them.
        fn takes_no_time(_options: &Self::Options) -> bool {
            false
        }
    }
}

/// The bus of a channel, with its times in ECC codewords.
#[derive(Clone, Debug)]
pub struct Bus {
    /// Transfer time by number of codewords, from none to a whole flash page.
    by_codewords: Vec<Nanos>,
    /// Time of a command with its addresses, for one plane, or `None` if commands need no bus.
    command: Option<Nanos>,
    sectors_per_codeword: Divisor,
    codewords_per_unit: u32,
}

impl Bus {
    /// Returns the bus for the flash pages of a shape. It moves units of `codeword`, which divides the
    /// mapping unit. Each command, on each plane, takes `command` in addition, or needs no bus if that
    /// is `None`.
    #[must_use]
    pub fn new(
        transfers: &Transfers,
        command: Option<Nanos>,
        codeword: Bytes,
        shape: &Shape,
    ) -> Bus {
        let in_page = shape.page_size.0 / codeword.0;
        let time = |codewords| transfers.time_for(Bytes(codewords * codeword.0), shape.page_size);
        Bus {
            by_codewords: (0..=in_page).map(time).collect(),
            command,
            sectors_per_codeword: Divisor::new(codeword.sectors() as u32),
            codewords_per_unit: (shape.mapping_unit.0 / codeword.0) as u32,
        }
    }

    /// Returns the bus for word lines of so many such flash pages, which cross it one after the other.
    #[must_use]
    pub fn for_word_lines(self, pages: u32) -> Bus {
        let in_page = self.page_codewords();
        let time = |codewords: u32| {
            let (whole, rest) = (codewords / in_page, codewords % in_page);
            Nanos(self.transfer(in_page).0 * u64::from(whole)) + self.transfer(rest)
        };
        Bus { by_codewords: (0..=in_page * pages).map(time).collect(), ..self }
    }

    /// Returns several such buses used as one, each of which moves a codeword at the same time.
    #[must_use]
    pub fn ganged(self, buses: u32) -> Bus {
        let in_page = self.page_codewords() * buses;
        let time = |codewords: u32| self.transfer(codewords.div_ceil(buses));
        Bus {
            by_codewords: (0..=in_page).map(time).collect(),
            codewords_per_unit: self.codewords_per_unit * buses,
            ..self
        }
    }

    /// Time to move `codewords`.
    #[inline]
    #[must_use]
    pub fn transfer(&self, codewords: u32) -> Nanos {
        self.by_codewords[codewords as usize]
    }

    /// Time of a command and its addresses, for one plane.
    #[inline]
    #[must_use]
    pub fn command(&self) -> Nanos {
        self.command.unwrap_or(Nanos::ZERO)
    }

    /// Whether a command without data needs the bus, even for no time.
    #[inline]
    #[must_use]
    pub fn carries_commands(&self) -> bool {
        self.command.is_some()
    }

    /// The longest time of one operation on this number of planes.
    #[must_use]
    pub fn longest(&self, planes: u32, gap: Nanos) -> Nanos {
        let plane = self.command() + self.transfer(self.page_codewords()) + gap;
        Nanos(plane.0 * u64::from(planes))
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

    /// Codewords from the first to the last of these sectors of a page: what must cross the bus to read
    /// them, including any gap.
    #[inline]
    #[must_use]
    pub fn codewords_of(&self, sectors: SectorMask) -> u32 {
        let Some((first, last)) = sectors.ends() else { return 0 };
        self.sectors_per_codeword.of(last) - self.sectors_per_codeword.of(first) + 1
    }
}
