//! Devices that are saved in chunks, which are kept in memory.

use std::sync::Arc;

use ftlab::device::{Contents, Device};
use ftlab::image::{ChunkSink, ChunkSource, Damage, Snapshot};
use ftlab::scheduler::Probe;

#[derive(Debug)]
struct Kept {
    chunks: Vec<Vec<u8>>,
    map_words: u32,
}

impl ChunkSink for Kept {
    fn put(&mut self, bytes: &[u8]) {
        self.chunks.push(bytes.to_vec());
    }

    fn map_words(&self) -> u32 {
        self.map_words
    }
}

impl ChunkSource for Kept {
    fn chunk(&self, position: usize, most: usize) -> Result<Vec<u8>, Damage> {
        self.packed(position).inspect(|chunk| assert!(chunk.len() <= most, "it is too long"))
    }

    fn packed(&self, position: usize) -> Result<Vec<u8>, Damage> {
        self.chunks.get(position).cloned().ok_or_else(|| Damage::new("there is no such chunk"))
    }
}

/// Entries of the map in a chunk: few, so that small devices have several.
pub const FEW: u32 = 5;

/// Saves a device, with its largest tables in chunks if it can, and so many entries of the map in each.
pub fn saved_in_chunks<P: Probe, C: Contents>(device: &Device<P, C>, map_words: u32) -> Snapshot {
    let mut kept = Kept { chunks: Vec::new(), map_words };
    let mut snapshot = device.save_in_chunks(&mut kept);
    let kept = Arc::new(kept);
    snapshot.chunks.iter_mut().for_each(|chunks| chunks.come_from(kept.clone()));
    snapshot
}
