//! Numbers as bytes: seven bits per byte, the lowest first; the top bit says that more follow
//! (LEB128). No byte order, no alignment, and compact for small numbers.

use std::fmt;

/// Bits of a number in a byte.
const BITS: u32 = 7;
/// The bit that says that more bytes follow.
const MORE: u8 = 1 << BITS;

/// What is wrong with saved state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage(pub String);

impl Damage {
    /// Returns damage described by `what`.
    pub fn new(what: impl Into<String>) -> Damage {
        Damage(what.into())
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Damage {}

/// Writes state.
#[derive(Clone, Debug, Default)]
pub struct ImageWriter {
    bytes: Vec<u8>,
}

impl ImageWriter {
    /// The bytes written.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Writes a number.
    #[inline]
    pub fn number(&mut self, number: impl Into<u64>) {
        let mut left: u64 = number.into();
        while left >= u64::from(MORE) {
            self.bytes.push(left as u8 | MORE);
            left >>= BITS;
        }
        self.bytes.push(left as u8);
    }

    /// Writes a difference. Small ones of either sign take few bytes.
    #[inline]
    pub fn difference(&mut self, from: u32, to: u32) {
        let difference = i64::from(to) - i64::from(from);
        self.number((difference << 1 ^ difference >> (i64::BITS - 1)) as u64);
    }

    /// Writes a flag.
    pub fn flag(&mut self, flag: bool) {
        self.number(u8::from(flag));
    }

    /// Writes a list of numbers with its length.
    pub fn list(&mut self, numbers: impl ExactSizeIterator<Item = u32>) {
        self.number(numbers.len() as u64);
        let mut before = 0;
        for number in numbers {
            self.difference(before, number);
            before = number;
        }
    }

    /// Writes raw bytes; the reader must know how many.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Writes what `write` writes, preceded by its length, so that a reader may skip it.
    pub fn nested(&mut self, write: impl FnOnce(&mut ImageWriter)) {
        let mut inner = ImageWriter::default();
        write(&mut inner);
        self.number(inner.bytes.len() as u64);
        self.raw(&inner.bytes);
    }
}

/// Reads state and validates everything.
#[derive(Clone, Debug)]
pub struct ImageReader<'a> {
    left: &'a [u8],
    resumes_random: bool,
}

impl<'a> ImageReader<'a> {
    /// Returns a reader of `bytes`. Random streams resume if `resumes_random`.
    #[must_use]
    pub fn new(bytes: &'a [u8], resumes_random: bool) -> ImageReader<'a> {
        ImageReader { left: bytes, resumes_random }
    }

    /// Whether random streams resume.
    #[must_use]
    pub fn resumes_random(&self) -> bool {
        self.resumes_random
    }

    /// Reads a number.
    ///
    /// # Errors
    /// The bytes end, or the number does not fit 64 bits.
    #[inline]
    pub fn number(&mut self) -> Result<u64, Damage> {
        let mut number = 0;
        for (at, &byte) in self.left.iter().enumerate() {
            let shift = at as u32 * BITS;
            let bits = u64::from(byte & !MORE);
            if shift >= u64::BITS || bits << shift >> shift != bits {
                return Err(Damage::new("a number is larger than 64 bits"));
            }
            number |= bits << shift;
            if byte & MORE == 0 {
                self.left = &self.left[at + 1..];
                return Ok(number);
            }
        }
        Err(Damage::new("the data ends too early"))
    }

    /// Reads a number below `limit`; `what` names it in the error.
    ///
    /// # Errors
    /// It is too large, or cannot be read.
    pub fn below(&mut self, limit: u64, what: &str) -> Result<u32, Damage> {
        let number = self.number()?;
        u32::try_from(number)
            .ok()
            .filter(|_| number < limit)
            .ok_or_else(|| Damage(format!("{what} is {number}, which must be below {limit}")))
    }

    /// Reads a number that was written as a difference from `from`; `what` names it in the error.
    ///
    /// # Errors
    /// It does not fit 32 bits, or cannot be read.
    #[inline]
    pub fn difference(&mut self, from: u32, what: &str) -> Result<u32, Damage> {
        let number = self.number()?;
        let difference = (number >> 1) as i64 ^ -((number & 1) as i64);
        i64::from(from)
            .checked_add(difference)
            .and_then(|sum| u32::try_from(sum).ok())
            .ok_or_else(|| Damage(format!("{what} does not fit 32 bits")))
    }

    /// Reads a flag.
    ///
    /// # Errors
    /// It is neither 0 nor 1, or cannot be read.
    pub fn flag(&mut self, what: &str) -> Result<bool, Damage> {
        Ok(self.below(2, what)? == 1)
    }

    /// Reads a list of at most `limit` numbers below `limit`.
    ///
    /// # Errors
    /// A number is too large, there are too many, or they cannot be read.
    pub fn list(&mut self, limit: u32, what: &str) -> Result<Vec<u32>, Damage> {
        let length = self.below(u64::from(limit) + 1, what)?;
        let mut before = 0;
        // Each takes at least a byte, so a length alone cannot allocate much memory.
        let mut list = Vec::with_capacity((length as usize).min(self.left.len()));
        for _ in 0..length {
            before = self.difference(before, what)?;
            if before >= limit {
                return Err(Damage(format!("{what} is {before}, which must be below {limit}")));
            }
            list.push(before);
        }
        Ok(list)
    }

    /// Reads `length` raw bytes.
    ///
    /// # Errors
    /// There are fewer left.
    pub fn raw(&mut self, length: usize) -> Result<&'a [u8], Damage> {
        let (bytes, left) = self
            .left
            .split_at_checked(length)
            .ok_or_else(|| Damage::new("the data ends too early"))?;
        self.left = left;
        Ok(bytes)
    }

    /// Returns a reader for what [`ImageWriter::nested`] wrote.
    ///
    /// # Errors
    /// It is longer than what is left.
    pub fn nested(&mut self) -> Result<ImageReader<'a>, Damage> {
        let length = usize::try_from(self.number()?).unwrap_or(usize::MAX);
        Ok(ImageReader { left: self.raw(length)?, ..*self })
    }

    /// Checks that nothing is left.
    ///
    /// # Errors
    /// Bytes are left.
    pub fn end(&self) -> Result<(), Damage> {
        match self.left.len() {
            0 => Ok(()),
            more => Err(Damage(format!("{more} bytes follow where nothing should"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_and_nonsense_does_not() {
        let numbers = [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX];
        let mut out = ImageWriter::default();
        numbers.iter().for_each(|&number| out.number(number));
        out.difference(7, 3);
        out.difference(0, u32::MAX);
        out.list([5, 1, 9].into_iter());
        out.nested(|out| out.flag(true));
        let bytes = out.into_bytes();
        let mut from = ImageReader::new(&bytes, true);
        assert!(numbers.iter().all(|&number| from.number() == Ok(number)));
        assert_eq!(from.difference(7, "it"), Ok(3));
        assert_eq!(from.difference(0, "it"), Ok(u32::MAX));
        assert_eq!(from.list(10, "it"), Ok(vec![5, 1, 9]));
        let mut inner = from.nested().unwrap();
        assert_eq!((inner.flag("it"), inner.end(), from.end()), (Ok(true), Ok(()), Ok(())));
        assert!(ImageReader::new(&[0xff; 10], true).number().is_err());
        assert!(ImageReader::new(&[0x80], true).number().is_err());
        assert!(ImageReader::new(&[3], true).flag("it").is_err());
        // A length of four billion with two bytes of data.
        assert!(
            ImageReader::new(&[0xff, 0xff, 0xff, 0xff, 0x0e, 1, 1], true)
                .list(u32::MAX, "")
                .is_err()
        );
        assert!(ImageReader::new(&[4, 0], true).nested().is_err());
    }
}
