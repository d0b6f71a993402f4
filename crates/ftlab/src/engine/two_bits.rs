//! A table of two bits per entry, four to a byte. It starts as zeroed memory, which is allocated only where
//! it is touched.

use crate::image::{Damage, ImageReader, ImageWriter};

const BITS: u32 = 2;
const PER_BYTE: u32 = u8::BITS / BITS;
const MASK: u8 = (1 << BITS) - 1;

/// A table of numbers below four.
#[derive(Clone, Debug)]
pub struct TwoBits {
    bytes: Vec<u8>,
    entries: u32,
}

impl TwoBits {
    /// Returns a table of `entries` zeros.
    #[must_use]
    pub fn new(entries: u32) -> TwoBits {
        TwoBits { bytes: vec![0; entries.div_ceil(PER_BYTE) as usize], entries }
    }

    /// Number of entries.
    #[must_use]
    pub fn entries(&self) -> u32 {
        self.entries
    }

    /// An entry.
    #[inline]
    #[must_use]
    pub fn get(&self, at: u32) -> u8 {
        self.bytes[(at / PER_BYTE) as usize] >> (at % PER_BYTE * BITS) & MASK
    }

    /// Sets an entry.
    #[inline]
    pub fn set(&mut self, at: u32, value: u8) {
        debug_assert!(value <= MASK, "{value} has more than two bits");
        let shift = at % PER_BYTE * BITS;
        let byte = &mut self.bytes[(at / PER_BYTE) as usize];
        *byte = *byte & !(MASK << shift) | (value & MASK) << shift;
    }

    /// Sets all entries to zero, in untouched memory.
    pub fn clear(&mut self) {
        self.bytes = vec![0; self.bytes.len()];
    }

    /// Saves runs of equal bytes.
    pub(crate) fn save(&self, out: &mut ImageWriter) {
        let TwoBits { bytes, entries: _ } = self;
        let runs = bytes.chunk_by(|one, next| one == next);
        out.number(runs.clone().count() as u64);
        for run in runs {
            out.number(run.len() as u64);
            out.raw(&run[..1]);
        }
    }

    /// Loads what [`save`](Self::save) wrote.
    pub(crate) fn load(&mut self, from: &mut ImageReader<'_>, what: &str) -> Result<(), Damage> {
        let mut filled = 0;
        for _ in 0..from.below(self.bytes.len() as u64 + 1, what)? {
            let left = (self.bytes.len() - filled) as u64;
            let run = from.below(left + 1, what)? as usize;
            let byte = from.raw(1)?[0];
            if byte != 0 {
                self.bytes[filled..filled + run].fill(byte);
            }
            filled += run;
        }
        match filled == self.bytes.len() {
            true => Ok(()),
            false => Err(Damage(format!("{what} ends too early"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_keep_their_values() {
        let mut table = TwoBits::new(9);
        (0..9).for_each(|at| table.set(at, (at % 4) as u8));
        table.set(4, 3);
        let values: Vec<u8> = (0..9).map(|at| table.get(at)).collect();
        assert_eq!(values, [0, 1, 2, 3, 3, 1, 2, 3, 0]);
    }

    #[test]
    fn a_table_that_ends_too_early_is_damage() {
        let mut out = ImageWriter::default();
        TwoBits::new(8).save(&mut out);
        let bytes = out.into_bytes();
        let load = |entries| {
            let mut table = TwoBits::new(entries);
            table.load(&mut ImageReader::new(&bytes, false), "a table")
        };
        assert!(load(8).is_ok());
        assert!(load(40).is_err());
        assert!(load(4).is_err());
    }
}
