//! The hash of a trace's records, not of its file, so that the same requests have the same hash in
//! any container.

use super::record::{Record, op_code};

/// The hashed bytes of a record: time, address, sectors, stream, operation.
const BYTES: usize = 8 + 8 + 4 + 4 + 1;

/// Hashes batches of records. The boundaries of batches do not matter.
#[derive(Clone, Debug, Default)]
pub struct Digest {
    hasher: blake3::Hasher,
    buffer: Vec<u8>,
}

impl Digest {
    /// Starts without records.
    #[must_use]
    pub fn new() -> Digest {
        Digest::default()
    }

    /// Adds records.
    pub fn update(&mut self, records: &[Record]) {
        self.buffer.clear();
        self.buffer.reserve(records.len() * BYTES);
        for record in records {
            let mut bytes = [0; BYTES];
            bytes[..8].copy_from_slice(&record.at.0.to_le_bytes());
            bytes[8..16].copy_from_slice(&record.lba.0.to_le_bytes());
            bytes[16..20].copy_from_slice(&record.sectors.to_le_bytes());
            bytes[20..24].copy_from_slice(&record.stream.to_le_bytes());
            bytes[24] = op_code(record);
            self.buffer.extend_from_slice(&bytes);
        }
        self.hasher.update(&self.buffer);
    }

    /// Returns the hash: BLAKE3, in hexadecimal.
    #[must_use]
    pub fn finish(&self) -> String {
        self.hasher.finalize().to_hex().to_string()
    }
}
