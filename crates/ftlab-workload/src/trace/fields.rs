//! Parses a line: fields between commas or blanks, numbers, times, operations. Allocates only for
//! errors.

use std::ops::Range;

use ftlab::host::Op;
use ftlab::units::{Lba, SECTOR_BYTES, SimTime};

use super::error::Bad;
use super::record::Record;
use super::units::Units;

/// A separator that stands for any run of spaces and tabs.
pub(crate) const BLANKS: u8 = b' ';

/// The fields of a line from left to right, separated by the byte `SEP`.
pub(crate) struct Fields<'a, const SEP: u8> {
    line: &'a [u8],
    at: usize,
    /// The start of the last field taken.
    from: usize,
    /// Whether the last time taken had a decimal point.
    decimal: bool,
}

impl<'a, const SEP: u8> Fields<'a, SEP> {
    #[inline]
    pub fn new(line: &'a [u8]) -> Self {
        Fields { line, at: 0, from: 0, decimal: false }
    }

    /// Returns the range of the field with this index in a line.
    #[cold]
    pub fn nth(line: &'a [u8], index: usize) -> Range<usize> {
        let mut fields = Self::new(line);
        for _ in 0..=index {
            fields.text();
        }
        fields.last()
    }

    /// Whether the last time taken had a decimal point.
    pub fn was_decimal(&self) -> bool {
        self.decimal
    }

    /// Returns the range of the last field taken.
    pub fn last(&self) -> Range<usize> {
        self.from..self.field_end(self.from)
    }

    fn field_end(&self, from: usize) -> usize {
        let end = self.line[from..].iter().position(|&byte| Self::separates(byte));
        end.map_or(self.line.len(), |length| from + length)
    }

    #[inline]
    fn separates(byte: u8) -> bool {
        byte == SEP || (SEP == BLANKS && byte == b'\t')
    }

    #[inline]
    fn skip_blanks(&mut self) {
        while let Some(b' ' | b'\t') = self.line.get(self.at) {
            self.at += 1;
        }
    }

    /// Skips the separator behind a field. Returns false if the field does not end here.
    #[inline]
    fn end_field(&mut self) -> bool {
        match self.line.get(self.at) {
            None => true,
            Some(&byte) if Self::separates(byte) => {
                self.at += 1;
                true
            }
            Some(b' ' | b'\t') => {
                self.skip_blanks();
                match self.line.get(self.at) {
                    None => true,
                    Some(&byte) if byte == SEP => {
                        self.at += 1;
                        true
                    }
                    Some(_) => false,
                }
            }
            Some(_) => false,
        }
    }

    /// Whether only blanks are left.
    pub fn is_done(&mut self) -> bool {
        self.skip_blanks();
        self.at >= self.line.len()
    }

    /// Takes the next field as text; empty at the end of the line.
    #[inline]
    pub fn text(&mut self) -> &'a [u8] {
        self.skip_blanks();
        self.from = self.at.min(self.line.len());
        let end = self.field_end(self.from);
        self.at = (end + 1).min(self.line.len());
        self.line[self.from..end].trim_ascii_end()
    }

    /// Goes back to the start of the last field taken.
    pub fn back(&mut self) {
        self.at = self.from;
    }

    /// Takes the rest of the line.
    pub fn rest(&mut self) -> &'a [u8] {
        self.skip_blanks();
        self.from = self.at.min(self.line.len());
        self.at = self.line.len();
        self.line[self.from..].trim_ascii_end()
    }

    /// Takes the next field as a whole number; `what` describes it in errors.
    #[inline]
    pub fn number(&mut self, what: &'static str) -> Result<u64, Bad> {
        self.skip_blanks();
        self.from = self.at;
        match self.digits() {
            Some(value) if self.at > self.from && self.end_field() => Ok(value),
            _ => Err(self.bad(what, "a whole number")),
        }
    }

    /// Takes the next field as a number of 32 bits, for streams.
    #[inline]
    pub fn small(&mut self, what: &'static str) -> Result<u32, Bad> {
        let value = self.number(what)?;
        u32::try_from(value).map_err(|_| self.bad(what, "a whole number below 2^32"))
    }

    /// Takes the following digits; `None` if the number exceeds 64 bits.
    #[inline]
    fn digits(&mut self) -> Option<u64> {
        /// This many digits always fit in 64 bits.
        const SAFE: usize = 19;
        let digit = |byte: u8| byte.wrapping_sub(b'0');
        let mut rest = &self.line[self.at..];
        let (mut value, mut taken) = (0u64, 0);
        while let [byte, tail @ ..] = rest
            && digit(*byte) <= 9
        {
            if taken < SAFE {
                value = value * 10 + u64::from(digit(*byte));
            } else {
                value = value.checked_mul(10)?.checked_add(u64::from(digit(*byte)))?;
            }
            taken += 1;
            rest = tail;
        }
        self.at += taken;
        Some(value)
    }

    /// Takes the next field as a time in units of `unit_ns` nanoseconds, with or without decimals.
    /// Fractions of a nanosecond are cut off.
    #[inline]
    pub fn time(&mut self, unit_ns: u64) -> Result<SimTime, Bad> {
        const WHAT: &str = "a time";
        self.skip_blanks();
        self.from = self.at;
        let whole = self.digits().filter(|_| self.at > self.from);
        let whole = whole.and_then(|whole| whole.checked_mul(unit_ns));
        let Some(whole) = whole else {
            return Err(self.bad(WHAT, "a number within 584 years"));
        };
        let mut ns = whole;
        self.decimal = self.line.get(self.at) == Some(&b'.');
        if self.decimal {
            self.at += 1;
            let mut step = unit_ns;
            let mut fraction = 0;
            while let Some(digit @ b'0'..=b'9') = self.line.get(self.at) {
                // Units are powers of ten, so the division is exact down to 1 ns.
                step /= 10;
                fraction += u64::from(digit - b'0') * step;
                self.at += 1;
            }
            ns = ns.checked_add(fraction).ok_or_else(|| self.bad(WHAT, "within 584 years"))?;
        }
        if self.end_field() { Ok(SimTime(ns)) } else { Err(self.bad(WHAT, "a number")) }
    }

    /// Creates the error for the last field.
    #[cold]
    pub fn bad(&self, what: &str, expected: &str) -> Bad {
        let from = self.from.min(self.line.len());
        let field = from..self.field_end(from);
        let found = self.line[field.clone()].trim_ascii_end();
        if found.is_empty() {
            let problem = if from >= self.line.len() { "the line ends" } else { "empty field" };
            return Bad::field(field, format!("{problem}, expected {what}: {expected}"));
        }
        let found = String::from_utf8_lossy(&found[..found.len().min(40)]).into_owned();
        Bad::field(field, format!("expected {what}: {expected}, found `{found}`"))
    }

    /// Takes an address and a size, in that order.
    #[inline]
    pub fn extent(&mut self, units: &Units) -> Result<Extent, Bad> {
        let address = self.number("an address")?;
        let address_field = self.from;
        let size = self.number("a size")?;
        Extent::new(address, size, units).ok_or_else(|| {
            let field = address_field..self.field_end(self.from);
            Bad::field(field, "address and size exceed 2^64 bytes")
        })
    }
}

/// A range of whole sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub lba: u64,
    pub sectors: u64,
    /// Whether the range did not start and end on a sector and was widened.
    pub widened: bool,
}

impl Extent {
    /// Returns the sectors that a range touches; `None` if it exceeds 2^64 bytes.
    #[inline]
    pub fn new(address: u64, size: u64, units: &Units) -> Option<Extent> {
        let start = address.checked_mul(units.address.bytes())?;
        let length = size.checked_mul(units.size.bytes())?;
        let end = start.checked_add(length)?;
        let lba = start / SECTOR_BYTES;
        let sectors = if length == 0 { 0 } else { end.div_ceil(SECTOR_BYTES) - lba };
        Some(Extent { lba, sectors, widened: (start | length) % SECTOR_BYTES != 0 })
    }

    /// Returns the record of a request for this range. A size beyond 32 bits of sectors (2 TiB) is
    /// clamped; the gate refuses it anyway.
    #[inline]
    pub fn record(self, at: SimTime, op: Op, stream: u32) -> Record {
        let sectors = u32::try_from(self.sectors).unwrap_or(u32::MAX);
        Record { at, op, lba: Lba(self.lba), sectors, stream, fua: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::units::{SpaceUnit, TimeUnit};

    #[test]
    fn numbers_up_to_64_bits_and_no_further() {
        let mut fields = Fields::<b','>::new(b"18446744073709551615, 7 ,18446744073709551616");
        assert_eq!(fields.number("n").unwrap(), u64::MAX);
        assert_eq!(fields.number("n").unwrap(), 7);
        let bad = fields.number("an offset").unwrap_err();
        assert_eq!(bad.field, 25..45);
        assert!(bad.problem.starts_with("expected an offset: a whole number, found `1844"));
    }

    #[test]
    fn times_keep_every_nanosecond() {
        let time =
            |text: &str, unit: TimeUnit| Fields::<BLANKS>::new(text.as_bytes()).time(unit.ns());
        assert_eq!(
            time("1456095145.133076001", TimeUnit::S).unwrap(),
            SimTime(1456095145133076001)
        );
        assert_eq!(time("26.214", TimeUnit::Ms).unwrap(), SimTime(26_214_000));
        assert_eq!(time("0.0000000019", TimeUnit::S).unwrap(), SimTime(1));
        assert_eq!(time("7", TimeUnit::Filetime).unwrap(), SimTime(700));
        assert!(time("-1", TimeUnit::S).is_err());
        assert!(time("1e3", TimeUnit::S).is_err());
        assert!(time("99999999999", TimeUnit::S).is_err());
        assert!(time("", TimeUnit::S).is_err());
    }

    #[test]
    fn blanks_of_any_number_separate() {
        let mut fields = Fields::<BLANKS>::new(b"  8,16\t 3  W ");
        assert_eq!(fields.text(), b"8,16");
        assert_eq!(fields.number("n").unwrap(), 3);
        assert_eq!(fields.text(), b"W");
        assert!(fields.is_done());
        assert!(fields.number("n").unwrap_err().problem.starts_with("the line ends"));
    }

    #[test]
    fn ranges_widen_to_whole_sectors() {
        let units = Units { time: TimeUnit::Ns, address: SpaceUnit::Byte, size: SpaceUnit::Byte };
        let extent = |address, size| Extent::new(address, size, &units);
        assert_eq!(extent(512, 1024), Some(Extent { lba: 1, sectors: 2, widened: false }));
        assert_eq!(extent(511, 2), Some(Extent { lba: 0, sectors: 2, widened: true }));
        assert_eq!(extent(4096, 0), Some(Extent { lba: 8, sectors: 0, widened: false }));
        assert_eq!(extent(u64::MAX, 2), None);
    }
}
