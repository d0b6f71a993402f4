//! The chunks of an image as its file holds them: each compressed on its own, so that a run reads and unpacks only those
//! that it needs. They are read from the file by their positions; nothing is mapped into memory.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use ftlab::image::{ChunkSink, ChunkSource, Damage};
use ftlab::saved::Refusal;

use crate::failure::Failure;

/// The zstd level. What is worth compressing is as regular as the fill that wrote it.
const LEVEL: i32 = 1;
/// Bytes of a length in the index.
const LENGTH: usize = size_of::<u32>();

/// Where the chunks are.
enum Bytes {
    Memory(Vec<u8>),
    File(File),
}

/// Compressed chunks, one after the other.
pub struct PackedChunks {
    bytes: Bytes,
    /// Where each begins, and where the last ends.
    places: Vec<u64>,
}

impl fmt::Debug for PackedChunks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PackedChunks({})", self.places.len() - 1)
    }
}

impl Default for PackedChunks {
    fn default() -> PackedChunks {
        PackedChunks { bytes: Bytes::Memory(Vec::new()), places: vec![0] }
    }
}

impl ChunkSink for PackedChunks {
    fn put(&mut self, bytes: &[u8]) {
        let packed = zstd::bulk::compress(bytes, LEVEL).expect("memory can be written");
        if let Bytes::Memory(memory) = &mut self.bytes {
            memory.extend_from_slice(&packed);
            self.places.push(memory.len() as u64);
        }
    }
}

impl ChunkSource for PackedChunks {
    fn chunk(&self, position: usize, most: usize) -> Result<Vec<u8>, Damage> {
        let packed = self.packed(position)?;
        zstd::bulk::decompress(&packed, most)
            .map_err(|error| Damage(format!("chunk {position} can't be decompressed ({error})")))
    }

    fn packed(&self, position: usize) -> Result<Vec<u8>, Damage> {
        let unread =
            |error: &dyn fmt::Display| Damage(format!("chunk {position} can't be read ({error})"));
        let Some(&[begin, end]) = self.places.get(position..position + 2) else {
            return Err(unread(&"there is none"));
        };
        match &self.bytes {
            Bytes::Memory(memory) => Ok(memory[begin as usize..end as usize].to_vec()),
            Bytes::File(file) => {
                let mut packed = vec![0; (end - begin) as usize];
                read_at(file, &mut packed, begin).map_err(|error| unread(&error))?;
                Ok(packed)
            }
        }
    }
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

#[cfg(windows)]
fn read_at(file: &File, mut bytes: &mut [u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, bytes, at)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => (bytes, at) = (&mut bytes[read..], at + read as u64),
        }
    }
    Ok(())
}

/// Writes the index of these chunks, the length of each, and then the chunks.
pub fn write(to: &mut impl Write, source: &dyn ChunkSource, count: usize) -> io::Result<()> {
    let packed = |position| source.packed(position).map_err(io::Error::other);
    for position in 0..count {
        let length = u32::try_from(packed(position)?.len()).map_err(io::Error::other)?;
        to.write_all(&length.to_le_bytes())?;
    }
    (0..count).try_for_each(|position| to.write_all(&packed(position)?))
}

/// Reads the index of `count` chunks at the start of what is left of an image of `length` bytes, of which `read` come before it.
/// The chunks are read later from `file`, or now if there is none.
///
/// # Errors
/// The chunks do not end where the image ends; or it can't be read.
pub fn read(
    from: &mut impl Read,
    count: usize,
    read: u64,
    length: u64,
    file: Option<File>,
) -> io::Result<Result<PackedChunks, Damage>> {
    let mut index = Vec::new();
    let of_index = (count * LENGTH) as u64;
    from.take(of_index).read_to_end(&mut index)?;
    let (lengths, _) = index.as_chunks::<LENGTH>();
    let first = match file {
        Some(_) => read + of_index,
        None => 0,
    };
    let mut places = vec![first];
    places.extend(lengths.iter().scan(first, |at, length| {
        *at += u64::from(u32::from_le_bytes(*length));
        Some(*at)
    }));
    let end = read + of_index - first + places[places.len() - 1];
    if end != length || index.len() as u64 != of_index {
        return Ok(Err(Damage::new("its chunks do not end where it ends")));
    }
    let bytes = match file {
        Some(file) => Bytes::File(file),
        None => {
            let mut memory = Vec::new();
            from.read_to_end(&mut memory)?;
            Bytes::Memory(memory)
        }
    };
    Ok(Ok(PackedChunks { bytes, places }))
}

/// Does something with a device that may have been loaded from the image of this name. If it needs a chunk of the image
/// that is damaged, it fails.
///
/// # Errors
/// As `step`; or a chunk is damaged.
pub fn guarded<T>(
    image: Option<&str>,
    step: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let Some(name) = image else { return step() };
    catch_unwind(AssertUnwindSafe(step)).unwrap_or_else(|thrown| {
        match thrown.downcast::<Damage>() {
            Ok(damage) => Err(Failure::usage(format!("{name}: {}", Refusal::from(*damage)))),
            Err(other) => resume_unwind(other),
        }
    })
}
