//! Text in UTF-16, as PowerShell's `>` and other programs of Windows write it: read as if it were UTF-8.

use std::io::{self, Read};

/// How many bytes are converted at a time.
const PIECE: usize = 64 << 10;
/// How many bytes without a byte order mark are looked at.
const LOOKED_AT: usize = 64;

/// The order of the bytes of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnitOrder {
    LowFirst,
    HighFirst,
}

impl UnitOrder {
    /// The order of a text in UTF-16 that begins so: by its byte order mark, or by a zero in each unit of ASCII.
    pub fn of(start: &[u8]) -> Option<UnitOrder> {
        match start {
            // Four bytes for each character, which no program writes into files.
            [0xff, 0xfe, 0, 0, ..] => return None,
            [0xff, 0xfe, ..] => return Some(UnitOrder::LowFirst),
            [0xfe, 0xff, ..] => return Some(UnitOrder::HighFirst),
            _ => {}
        }
        let units = start.get(..LOOKED_AT)?.chunks_exact(2);
        let is_text = |byte: u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
        let all =
            |zero: usize| units.clone().all(|unit| unit[zero] == 0 && is_text(unit[1 - zero]));
        match (all(1), all(0)) {
            (true, _) => Some(UnitOrder::LowFirst),
            (_, true) => Some(UnitOrder::HighFirst),
            _ => None,
        }
    }
}

/// Reads UTF-16 as UTF-8. What is no character becomes the replacement character.
pub(crate) struct Utf16Reader<R> {
    inner: R,
    order: UnitOrder,
    /// What was read and not converted, because its second half is missing: a byte, or a unit.
    rest: Vec<u8>,
    text: String,
    at: usize,
    ended: bool,
}

impl<R: Read> Utf16Reader<R> {
    pub fn new(inner: R, order: UnitOrder) -> Utf16Reader<R> {
        Utf16Reader { inner, order, rest: Vec::new(), text: String::new(), at: 0, ended: false }
    }

    /// Converts the next piece.
    fn convert(&mut self) -> io::Result<()> {
        let mut bytes = std::mem::take(&mut self.rest);
        let before = bytes.len();
        (&mut self.inner).take(PIECE as u64).read_to_end(&mut bytes)?;
        self.ended = bytes.len() == before;
        let unit = |pair: &[u8]| match self.order {
            UnitOrder::LowFirst => u16::from_le_bytes([pair[0], pair[1]]),
            UnitOrder::HighFirst => u16::from_be_bytes([pair[0], pair[1]]),
        };
        let mut whole = bytes.len() / 2 * 2;
        let is_first_half = |unit: u16| (0xd800..0xdc00).contains(&unit);
        if !self.ended && whole > 0 && is_first_half(unit(&bytes[whole - 2..whole])) {
            whole -= 2;
        }
        let units = bytes[..whole].chunks_exact(2).map(unit);
        let text =
            char::decode_utf16(units).map(|mark| mark.unwrap_or(char::REPLACEMENT_CHARACTER));
        (self.text, self.at) = (text.collect(), 0);
        match self.ended && whole < bytes.len() {
            true => self.text.push(char::REPLACEMENT_CHARACTER),
            false => self.rest.extend_from_slice(&bytes[whole..]),
        }
        Ok(())
    }
}

impl<R: Read> Read for Utf16Reader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.text.len() {
            if self.ended {
                return Ok(0);
            }
            self.convert()?;
        }
        let count = (&self.text.as_bytes()[self.at..]).read(buffer)?;
        self.at += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives out a few bytes at a time.
    struct Dripping<'a>(&'a [u8], usize);

    impl Read for Dripping<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(buffer.len());
            self.0.read(&mut buffer[..count])
        }
    }

    #[test]
    fn both_orders_are_read_in_pieces_of_any_size() {
        // Longer than a piece, with characters of one and two units at its end.
        let text = format!("{}ä𝄞{}𝄞\n", "x".repeat(PIECE / 2 - 2), "y".repeat(100));
        let low: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let high: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for (bytes, order) in [(low, UnitOrder::LowFirst), (high, UnitOrder::HighFirst)] {
            assert_eq!(UnitOrder::of(&bytes), Some(order));
            for step in [1, 7, PIECE] {
                let mut read = String::new();
                let mut reader = Utf16Reader::new(Dripping(&bytes, step), order);
                reader.read_to_string(&mut read).expect("text");
                assert_eq!(read, text, "{order:?}, {step}");
            }
        }
    }

    #[test]
    fn what_is_cut_is_replaced_and_other_bytes_are_no_text() {
        let mut read = String::new();
        Utf16Reader::new(&b"a\0\x34\xd8b"[..], UnitOrder::LowFirst)
            .read_to_string(&mut read)
            .expect("text");
        assert_eq!(read, "a\u{fffd}\u{fffd}");
        assert_eq!(UnitOrder::of(b"1000,h,0,Read"), None);
        assert_eq!(UnitOrder::of(&[0; 512]), None);
        assert_eq!(UnitOrder::of(b"\xff\xfe1\0"), Some(UnitOrder::LowFirst));
    }
}
