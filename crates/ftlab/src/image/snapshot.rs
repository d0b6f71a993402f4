//! A snapshot: the parts of a device's state, each a sequence of bytes with a name.

use super::{Chunks, Damage, ImageReader, ImageWriter};

/// A part of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ImagePart {
    /// State that belongs to no layer: the clock.
    Device,
    /// Blocks that were ever used: state, wear, valid pages, owners, sector masks.
    Blocks,
    /// Planes: free and open blocks, in their order.
    Planes,
    /// Closed blocks, in the order in which they closed and in that of the victim policy.
    Closed,
    /// The state of policies.
    Policies,
}

impl ImagePart {
    /// All parts, in the order in which they are written.
    pub const ALL: [ImagePart; 5] = [
        ImagePart::Device,
        ImagePart::Blocks,
        ImagePart::Planes,
        ImagePart::Closed,
        ImagePart::Policies,
    ];

    /// Its name in a file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ImagePart::Device => "device",
            ImagePart::Blocks => "blocks",
            ImagePart::Planes => "planes",
            ImagePart::Closed => "closed",
            ImagePart::Policies => "policies",
        }
    }
}

/// The state of a device at rest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    parts: [Vec<u8>; ImagePart::ALL.len()],
    /// The tables that are saved in chunks, if any.
    pub chunks: Option<Chunks>,
}

impl Snapshot {
    /// Writes a part.
    pub fn write(&mut self, part: ImagePart, write: impl FnOnce(&mut ImageWriter)) {
        let mut out = ImageWriter::default();
        write(&mut out);
        self.parts[part as usize] = out.into_bytes();
    }

    /// Reads a part to its end.
    ///
    /// # Errors
    /// The damage that `read` finds, or bytes that it leaves, with the name of the part.
    pub fn read<T>(
        &self,
        part: ImagePart,
        resumes_random: bool,
        read: impl FnOnce(&mut ImageReader<'_>) -> Result<T, Damage>,
    ) -> Result<T, Damage> {
        let mut from = ImageReader::new(self.part(part), resumes_random);
        let read = read(&mut from).and_then(|read| from.end().map(|()| read));
        read.map_err(|Damage(what)| Damage(format!("{}: {what}", part.name())))
    }

    /// The bytes of a part.
    #[must_use]
    pub fn part(&self, part: ImagePart) -> &[u8] {
        &self.parts[part as usize]
    }

    /// Sets the bytes of a part from a file.
    pub fn put(&mut self, part: ImagePart, bytes: Vec<u8>) {
        self.parts[part as usize] = bytes;
    }
}
