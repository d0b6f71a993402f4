//! The bus of a channel: how long commands, addresses and data take on it.

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
    /// What a bus says of data.
    pub trait TransfersPolicy for Transfers, by transfers_policy, or ExternalTransfers {
        /// How long `size` takes, where a flash page holds `page`.
        #[must_use]
        fn time_for(&self, size: Bytes, page: Bytes) -> Nanos;
    }
}

contract! {
    /// What is known of a bus before it is built.
    pub trait TransfersFacts of TransfersChoice, by transfers_policy {
        /// The path of the option that says how fast it is.
        fn path(_options: &Self::Options) -> &'static str;

        /// How long a flash page takes.
        fn time_of_page(options: &Self::Options, page: Bytes) -> Nanos;

        /// Whether data crosses in no time at all, because the times of the cells hold that.
        fn takes_no_time(_options: &Self::Options) -> bool {
            false
        }
    }
}

/// The bus of a channel: how long a transfer of so many ECC codewords takes.
#[derive(Clone, Debug)]
pub struct Bus {
    /// Transfer time by number of codewords, from none to a whole flash page.
    by_codewords: Vec<Nanos>,
    /// Addresses and the command itself, for one plane; none if they need no bus.
    command: Option<Nanos>,
    sectors_per_codeword: Divisor,
    codewords_per_unit: u32,
}

impl Bus {
    /// The bus that serves the flash pages of a shape in units of `codeword`, which divides the mapping
    /// unit. Each command, on each plane, takes it for `command` besides; without that, commands
    /// need no bus.
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

    /// So many such buses as one, which moves a codeword on each at the same time.
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

    /// How long `codewords` take.
    #[inline]
    #[must_use]
    pub fn transfer(&self, codewords: u32) -> Nanos {
        self.by_codewords[codewords as usize]
    }

    /// How long a command and its addresses take, for one plane.
    #[inline]
    #[must_use]
    pub fn command(&self) -> Nanos {
        self.command.unwrap_or(Nanos::ZERO)
    }

    /// Whether a command without data needs the bus, if only for a moment.
    #[inline]
    #[must_use]
    pub fn carries_commands(&self) -> bool {
        self.command.is_some()
    }

    /// The longest that one operation on so many planes takes the bus.
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

    /// Codewords from the first to the last of these sectors of a page: what must cross the bus to
    /// read them. A gap between them is read along.
    #[inline]
    #[must_use]
    pub fn codewords_of(&self, sectors: SectorMask) -> u32 {
        let Some((first, last)) = sectors.ends() else { return 0 };
        self.sectors_per_codeword.of(last) - self.sectors_per_codeword.of(first) + 1
    }
}
