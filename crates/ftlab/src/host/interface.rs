//! Interfaces on sale: what a transfer occupies on the wire, from the rate of the signals to the data.
//!
//! **PCI Express.** Generations 1 and 2 signal at 2.5 and 5 GT/s a lane and send 8 bits as 10. Generations 3 to 5 signal
//! at 8, 16 and 32 GT/s and send 128 bits as 130. Generation 6 signals at 64 GT/s and sends flits of 256 bytes, 236 of
//! them packets; the others are for acknowledgement (6), CRC (8) and error correction (6). Data travels in packets of at
//! most 256 bytes, the payload that most hosts set. Beside its data a packet has a header of four double words (the
//! addresses have 64 bits) and, except in flits, eight bytes: framing, sequence number and CRC. So
//!
//! ```text
//! data rate = signals x lanes / 8 x encoding x 256 / (256 + 24)       generations 1 to 5
//! data rate = signals x lanes / 8 x 236 / 256 x 256 / (256 + 16)      generation 6
//! ```
//!
//! Sources: Intel AN 708, "Understanding PCI Express Throughput" (encoding; 5 to 7 double words a packet, the seventh an
//! optional CRC that is left out here); the contents of a flit as G. Lockwood, "PCIe Gen6", quotes PCI-SIG. Completions
//! that carry data to the device have headers of three double words; they count as four here, 1.4 % too many.
//! Acknowledgements, flow control and read requests share the wire with data in reality, and are left out.
//!
//! **Serial ATA.** Generations 1 to 3 signal at 1.5, 3 and 6 Gb/s and send 8 bits as 10. A data frame has up to 8 KiB of
//! data and four double words beside them: start, type, CRC and end. Both ways share the wire, because the other pair of
//! lines only answers. The handshake around a frame is left out; `host.link.setup` can stand for it. A data frame has one
//! double word of type and at most 2,048 of data: the layout of Serial ATA 3, as samfreetime.blogspot.com reprints it
//! (September 2012).

use crate::host::{Entries, Frames, Wire};
use crate::options::declare::choices;
use crate::options::value::Value;
use crate::units::{Bytes, BytesPerSec};

choices! {
    /// The interface between host and device.
    pub enum Interface {
        /// None of these: `host.link.rate` is the rate of the link, if it has one.
        None = "none",
        /// PCI Express 1, one lane: 229 MB/s of data each way.
        Pcie1x1 = "pcie-1x1",
        /// PCI Express 1, two lanes: 457 MB/s of data each way.
        Pcie1x2 = "pcie-1x2",
        /// PCI Express 1, four lanes: 914 MB/s of data each way.
        Pcie1x4 = "pcie-1x4",
        /// PCI Express 1, eight lanes: 1,829 MB/s of data each way.
        Pcie1x8 = "pcie-1x8",
        /// PCI Express 1, sixteen lanes: 3,657 MB/s of data each way.
        Pcie1x16 = "pcie-1x16",
        /// PCI Express 2, one lane: 457 MB/s of data each way.
        Pcie2x1 = "pcie-2x1",
        /// PCI Express 2, two lanes: 914 MB/s of data each way.
        Pcie2x2 = "pcie-2x2",
        /// PCI Express 2, four lanes: 1,829 MB/s of data each way.
        Pcie2x4 = "pcie-2x4",
        /// PCI Express 2, eight lanes: 3,657 MB/s of data each way.
        Pcie2x8 = "pcie-2x8",
        /// PCI Express 2, sixteen lanes: 7,314 MB/s of data each way.
        Pcie2x16 = "pcie-2x16",
        /// PCI Express 3, one lane: 900 MB/s of data each way.
        Pcie3x1 = "pcie-3x1",
        /// PCI Express 3, two lanes: 1,800 MB/s of data each way.
        Pcie3x2 = "pcie-3x2",
        /// PCI Express 3, four lanes: 3,601 MB/s of data each way.
        Pcie3x4 = "pcie-3x4",
        /// PCI Express 3, eight lanes: 7,202 MB/s of data each way.
        Pcie3x8 = "pcie-3x8",
        /// PCI Express 3, sixteen lanes: 14,404 MB/s of data each way.
        Pcie3x16 = "pcie-3x16",
        /// PCI Express 4, one lane: 1,800 MB/s of data each way.
        Pcie4x1 = "pcie-4x1",
        /// PCI Express 4, two lanes: 3,601 MB/s of data each way.
        Pcie4x2 = "pcie-4x2",
        /// PCI Express 4, four lanes: 7,202 MB/s of data each way.
        Pcie4x4 = "pcie-4x4",
        /// PCI Express 4, eight lanes: 14,404 MB/s of data each way.
        Pcie4x8 = "pcie-4x8",
        /// PCI Express 4, sixteen lanes: 28,807 MB/s of data each way.
        Pcie4x16 = "pcie-4x16",
        /// PCI Express 5, one lane: 3,601 MB/s of data each way.
        Pcie5x1 = "pcie-5x1",
        /// PCI Express 5, two lanes: 7,202 MB/s of data each way.
        Pcie5x2 = "pcie-5x2",
        /// PCI Express 5, four lanes: 14,404 MB/s of data each way.
        Pcie5x4 = "pcie-5x4",
        /// PCI Express 5, eight lanes: 28,807 MB/s of data each way.
        Pcie5x8 = "pcie-5x8",
        /// PCI Express 5, sixteen lanes: 57,614 MB/s of data each way.
        Pcie5x16 = "pcie-5x16",
        /// PCI Express 6, one lane: 6,941 MB/s of data each way.
        Pcie6x1 = "pcie-6x1",
        /// PCI Express 6, two lanes: 13,882 MB/s of data each way.
        Pcie6x2 = "pcie-6x2",
        /// PCI Express 6, four lanes: 27,765 MB/s of data each way.
        Pcie6x4 = "pcie-6x4",
        /// PCI Express 6, eight lanes: 55,529 MB/s of data each way.
        Pcie6x8 = "pcie-6x8",
        /// PCI Express 6, sixteen lanes: 111,059 MB/s of data each way.
        Pcie6x16 = "pcie-6x16",
        /// Serial ATA 1: 150 MB/s of data, both ways together.
        Sata1 = "sata-1",
        /// Serial ATA 2: 299 MB/s of data, both ways together.
        Sata2 = "sata-2",
        /// Serial ATA 3: 599 MB/s of data, both ways together.
        Sata3 = "sata-3",
    }
}

/// The commands that a Serial ATA device can have outstanding: it has as many tags.
pub const SATA_TAGS: u32 = 32;

impl Interface {
    /// Whether it is Serial ATA: one queue, and data goes one way at a time.
    #[must_use]
    pub fn is_sata(self) -> bool {
        matches!(self, Interface::Sata1 | Interface::Sata2 | Interface::Sata3)
    }

    /// What commands and completions move: the entries of NVM Express queues, or what the frames of Serial ATA
    /// (a register frame and one that sets device bits) have beside their type.
    #[must_use]
    pub fn entries(self) -> Entries {
        match self.is_sata() {
            true => Entries { command: Bytes(16), completion: Bytes(4) },
            false => Entries { command: Bytes(64), completion: Bytes(16) },
        }
    }

    /// How it moves data, which its name says; nothing without an interface.
    #[must_use]
    pub fn wire(self) -> Option<Wire> {
        let name = self.print();
        if let Some(generation) = name.strip_prefix("sata-") {
            return sata(generation.parse().ok()?);
        }
        let (generation, lanes) = name.strip_prefix("pcie-")?.split_once('x')?;
        pcie(generation.parse().ok()?, lanes.parse().ok()?)
    }
}

/// Bytes that get through in a second, of so many bits a second, if `of` of `sent` bits are left after encoding.
fn decoded(bits: u64, (of, sent): (u64, u64)) -> BytesPerSec {
    const BITS: u64 = 8;
    BytesPerSec(bits / BITS * of / sent)
}

const EIGHT_OF_TEN: (u64, u64) = (8, 10);

fn pcie(generation: u32, lanes: u64) -> Option<Wire> {
    const HEADER: u64 = 16;
    const FRAMING: u64 = 8;
    let (megabits, encoding) = match generation {
        1 => (2_500, EIGHT_OF_TEN),
        2 => (5_000, EIGHT_OF_TEN),
        3 => (8_000, (128, 130)),
        4 => (16_000, (128, 130)),
        5 => (32_000, (128, 130)),
        6 => (64_000, (236, 256)),
        _ => return None,
    };
    let framing = if generation < 6 { FRAMING } else { 0 };
    Some(Wire {
        rate: decoded(megabits * 1_000_000 * lanes, encoding),
        frames: Some(Frames { payload: Bytes(256), beside: Bytes(HEADER + framing) }),
        half_duplex: false,
    })
}

fn sata(generation: u32) -> Option<Wire> {
    let megabits = match generation {
        1 => 1_500,
        2 => 3_000,
        3 => 6_000,
        _ => return None,
    };
    Some(Wire {
        rate: decoded(megabits * 1_000_000, EIGHT_OF_TEN),
        frames: Some(Frames { payload: Bytes::from_kib(8), beside: Bytes(16) }),
        half_duplex: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Nanos;

    /// What the reference says of each interface.
    #[test]
    fn names_carry_as_much_as_they_say() {
        for interface in Interface::ALL {
            let choice =
                Interface::choices().iter().find(|choice| choice.name == interface.print());
            let doc = choice.expect("its own name").doc;
            let Some(wire) = interface.wire() else {
                assert_eq!(*interface, Interface::None);
                continue;
            };
            // A gigabyte, so that rounding is nothing.
            let Nanos(ns) = wire.time_for(Bytes(1 << 30));
            let rate = (1u128 << 30) * 1_000 / u128::from(ns);
            let said: String = doc.split(": ").nth(1).unwrap_or("").split(' ').take(1).collect();
            let said: u128 = said.replace(',', "").parse().expect("a rate");
            assert!(rate.abs_diff(said) <= 1, "{doc} It is {rate} MB/s");
            assert_eq!(interface.is_sata(), wire.half_duplex);
        }
    }

    /// Four lanes of PCIe 3 move 3,938,461,538 bytes a second, of which 4 KiB are 16 x 280. SATA 3 moves 600 MB/s;
    /// 4 KiB are one frame, 12 KiB are two.
    #[test]
    fn data_is_packed_into_frames() {
        let pcie = Interface::Pcie3x4.wire().expect("an interface");
        assert_eq!(pcie.rate, BytesPerSec(3_938_461_538));
        assert_eq!(pcie.time_for(Bytes::from_kib(4)), Nanos(1_138));
        let sata = Interface::Sata3.wire().expect("an interface");
        assert_eq!(sata.time_for(Bytes::from_kib(4)), Nanos(6_854));
        assert_eq!(sata.time_for(Bytes::from_kib(12)), Nanos(20_534));
    }
}
