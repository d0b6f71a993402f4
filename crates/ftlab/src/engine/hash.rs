//! A fast hash of 32-bit numbers, the same on every machine.

use std::hash::Hasher;

/// Hashes numbers of pages and the like; no hash order is ever walked, so this decides speed alone.
#[derive(Clone, Debug, Default)]
pub struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u32(u32::from(byte));
        }
    }
    fn write_u32(&mut self, number: u32) {
        // Fibonacci hashing, folded so that both ends of the hash carry the number.
        let mixed = (self.0 ^ u64::from(number)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = mixed ^ (mixed >> 32);
    }
}
