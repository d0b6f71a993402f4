//! The data of the host's requests while they are in the device: what writes bring, and what reads have found.

use std::rc::Rc;

use ftlab::host::Completion;
use ftlab::units::SECTOR_BYTES;

use crate::protocol::Payload;

/// What a read has found so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    /// Runs of sectors: the first, and how many bytes.
    pub runs: Vec<(u64, usize)>,
    /// The bytes of all runs.
    pub bytes: Vec<u8>,
    /// Whether some of them have changed in the data file.
    pub is_damaged: bool,
}

/// A request that the drive has answered.
#[derive(Clone, Debug)]
pub struct Answer {
    /// How it ended.
    pub completion: Completion,
    /// The data of a read: runs of sectors with their bytes. Other sectors are zero.
    pub(super) found: Found,
}

impl Answer {
    /// Puts the data of a read in its place; `to` begins at sector `first`.
    pub fn put(&self, first: u64, to: &mut [u8]) {
        let known: usize = self.found.runs.iter().map(|&(_, bytes)| bytes).sum();
        if known < to.len() {
            to.fill(0);
        }
        let mut from = 0;
        for &(sector, bytes) in &self.found.runs {
            let at = ((sector - first) * SECTOR_BYTES) as usize;
            to[at..at + bytes].copy_from_slice(&self.found.bytes[from..from + bytes]);
            from += bytes;
        }
    }
}

/// The data of writes in the device, by tag.
#[derive(Clone, Debug, Default)]
pub struct Payloads {
    by_tag: Vec<Option<Sent>>,
}

/// The data of a write.
#[derive(Clone, Debug)]
struct Sent {
    first: u64,
    bytes: Rc<Payload>,
    /// Where its data begins in `bytes`.
    offset: usize,
}

impl Payloads {
    /// Adds the data of a write that begins at sector `first`; it lies in `bytes` from `offset` on.
    pub fn put(&mut self, tag: u32, first: u64, bytes: Rc<Payload>, offset: usize) {
        let at = tag as usize;
        if at >= self.by_tag.len() {
            self.by_tag.resize(at + 1, None);
        }
        self.by_tag[at] = Some(Sent { first, bytes, offset });
    }

    /// Drops the data of a write that is done.
    pub fn take(&mut self, tag: u32) {
        if let Some(payload) = self.by_tag.get_mut(tag as usize) {
            *payload = None;
        }
    }

    pub(super) fn sectors(&self, tag: u32, first: u64, bytes: usize) -> &[u8] {
        let payload = self.by_tag[tag as usize].as_ref().expect("a write has its data");
        let at = payload.offset + ((first - payload.first) * SECTOR_BYTES) as usize;
        &payload.bytes[at..at + bytes]
    }
}
