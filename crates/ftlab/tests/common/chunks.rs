//! Devices that are saved in chunks, which are kept in memory.

use std::sync::Arc;

use ftlab::device::{Contents, Device};
use ftlab::image::{ChunkSink, ChunkSource, Damage, Snapshot};
use ftlab::scheduler::Probe;

#[derive(Debug, Default)]
struct Kept(Vec<Vec<u8>>);

impl ChunkSink for Kept {
    fn put(&mut self, bytes: &[u8]) {
        self.0.push(bytes.to_vec());
    }

    /// Few, so that small devices have several chunks.
    fn map_words(&self) -> u32 {
        5
    }
}

impl ChunkSource for Kept {
    fn chunk(&self, position: usize, most: usize) -> Result<Vec<u8>, Damage> {
        self.packed(position).inspect(|chunk| assert!(chunk.len() <= most, "it is too long"))
    }

    fn packed(&self, position: usize) -> Result<Vec<u8>, Damage> {
        self.0.get(position).cloned().ok_or_else(|| Damage::new("there is no such chunk"))
    }
}

/// Saves a device, with its largest tables in chunks if it can.
pub fn saved_in_chunks<P: Probe, C: Contents>(device: &Device<P, C>) -> Snapshot {
    let mut kept = Kept::default();
    let mut snapshot = device.save_in_chunks(&mut kept);
    let kept = Arc::new(kept);
    snapshot.chunks.iter_mut().for_each(|chunks| chunks.come_from(kept.clone()));
    snapshot
}
