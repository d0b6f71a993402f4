//! Keys of pages and of chunks of them: mixed numbers, which tables need not hash again, and of which those below
//! a limit are a sample by address.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A table by mixed keys.
pub(super) type KeyTable<K, V> = HashMap<K, V, BuildHasherDefault<KeyHasher>>;

/// Takes a mixed key as it is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

/// Mixes all bits, and can be undone (the finaliser of SplitMix64).
#[inline]
pub(super) fn mixed(key: u64) -> u64 {
    let key = (key ^ key >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let key = (key ^ key >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    key ^ key >> 31
}

/// Whether a mixed key is in the sample once it was halved so often. Other bits of it choose its place in a table.
#[inline]
pub(super) fn is_followed(key: u64, halvings: u32) -> bool {
    key.rotate_left(24) <= u64::MAX >> halvings
}
