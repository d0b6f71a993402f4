//! Numbers in records of bytes, in either byte order.

/// The order of the bytes of a number. Reads panic beyond the end of the bytes, so callers check the length of a record first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    fn word<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
        let mut word = [0; N];
        word.copy_from_slice(&bytes[at..at + N]);
        word
    }

    pub fn u16(self, bytes: &[u8], at: usize) -> u16 {
        let word = ByteOrder::word(bytes, at);
        if self == ByteOrder::Big { u16::from_be_bytes(word) } else { u16::from_le_bytes(word) }
    }

    pub fn u32(self, bytes: &[u8], at: usize) -> u32 {
        let word = ByteOrder::word(bytes, at);
        if self == ByteOrder::Big { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) }
    }

    pub fn u64(self, bytes: &[u8], at: usize) -> u64 {
        let word = ByteOrder::word(bytes, at);
        if self == ByteOrder::Big { u64::from_be_bytes(word) } else { u64::from_le_bytes(word) }
    }
}
