//! Walks over data in Thrift's compact protocol, as far as Parquet files use it: fields are visited
//! or skipped, and nothing is built. Takes linear time and no memory.
//!
//! Source: Apache Thrift, compact protocol specification.

/// The deepest nesting of structures; Parquet has five levels.
const MOST_DEPTH: u32 = 16;

/// The bytes do not follow the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// The types that matter here.
pub const I32: u8 = 5;
pub const LIST: u8 = 9;
pub const STRUCT: u8 = 12;

/// The bytes still to walk over.
#[derive(Clone, Copy)]
pub struct ByteWalk<'a> {
    left: &'a [u8],
    depth: u32,
}

impl<'a> ByteWalk<'a> {
    /// Starts with a structure.
    pub fn new(bytes: &'a [u8]) -> ByteWalk<'a> {
        ByteWalk { left: bytes, depth: 0 }
    }

    fn byte(&mut self) -> Result<u8, Malformed> {
        let (&first, rest) = self.left.split_first().ok_or(Malformed)?;
        self.left = rest;
        Ok(first)
    }

    fn pass(&mut self, length: u64) -> Result<(), Malformed> {
        let length = usize::try_from(length).map_err(|_| Malformed)?;
        self.left = self.left.get(length..).ok_or(Malformed)?;
        Ok(())
    }

    fn number(&mut self) -> Result<u64, Malformed> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Malformed)
    }

    /// Reads an integer of any width.
    pub fn integer(&mut self) -> Result<i64, Malformed> {
        let value = self.number()?;
        Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    /// Reads the next field of a structure and returns its number and type, or `None` at the end.
    /// `last` is the number of the previous field.
    pub fn field(&mut self, last: i64) -> Result<Option<(i64, u8)>, Malformed> {
        let head = self.byte()?;
        if head == 0 {
            return Ok(None);
        }
        let number = match head >> 4 {
            0 => self.integer()?,
            delta => last.checked_add(i64::from(delta)).ok_or(Malformed)?,
        };
        Ok(Some((number, head & 0x0f)))
    }

    /// Reads the header of a list: the number of elements and their type.
    pub fn list(&mut self) -> Result<(u64, u8), Malformed> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => self.number()?,
            count => u64::from(count),
        };
        Ok((count, head & 0x0f))
    }

    /// Skips a value. Booleans in lists have a byte each.
    pub fn skip(&mut self, kind: u8, in_list: bool) -> Result<(), Malformed> {
        match kind {
            1 | 2 if !in_list => Ok(()),
            1..=3 => self.pass(1),
            4..=6 => self.number().map(drop),
            7 => self.pass(8),
            8 => {
                let length = self.number()?;
                self.pass(length)
            }
            LIST | 10 => {
                let (count, kind) = self.list()?;
                self.deeper(|walk| (0..count).try_for_each(|_| walk.skip(kind, true)))
            }
            STRUCT => self.deeper(|walk| {
                let mut last = 0;
                while let Some((number, kind)) = walk.field(last)? {
                    walk.skip(kind, false)?;
                    last = number;
                }
                Ok(())
            }),
            _ => Err(Malformed),
        }
    }

    fn deeper(
        &mut self,
        within: impl FnOnce(&mut Self) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            return Err(Malformed);
        }
        within(self)?;
        self.depth -= 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_skipped_and_numbers_read() {
        // 1: i32 -3, 3: list of two structs { 1: binary "ab" }, 4: true, 20: i64 300, end.
        let bytes = [
            0x15, 0x05, 0x29, 0x2c, 0x18, 2, b'a', b'b', 0, 0x18, 0, 0, 0x11, 0x06, 40, 0xd8, 4, 0,
            9,
        ];
        let mut walk = ByteWalk::new(&bytes);
        assert_eq!(walk.field(0), Ok(Some((1, I32))));
        assert_eq!(walk.integer(), Ok(-3));
        assert_eq!(walk.field(1), Ok(Some((3, LIST))));
        assert_eq!(walk.skip(LIST, false), Ok(()));
        assert_eq!(walk.field(3), Ok(Some((4, 1))));
        assert_eq!(walk.skip(1, false), Ok(()));
        assert_eq!(walk.field(4), Ok(Some((20, 6))));
        assert_eq!(walk.integer(), Ok(300));
        assert_eq!(walk.field(20), Ok(None));
        assert_eq!(walk.left, [9]);
    }

    #[test]
    fn what_is_malformed_ends_the_walk() {
        for cut in [&[0x18, 9, b'a'][..], &[0x15, 0x80], &[0xff; 12], &[0x1d]] {
            assert_eq!(ByteWalk::new(cut).skip(STRUCT, false), Err(Malformed), "{cut:?}");
        }
        // Lists nested far too deeply.
        let nested = [&[0x19][..], &[0x19; 99]].concat();
        assert_eq!(ByteWalk::new(&nested).skip(STRUCT, false), Err(Malformed));
    }
}
