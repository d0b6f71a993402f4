//! The chunks of an image as its file holds them: each compressed on its own, so that a run reads and unpacks only those
//! that it needs. They are read from the file by their positions; nothing is mapped into memory.

use std::fmt;
use std::fs::File;
use std::future::poll_fn;
use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::task::Poll;

use ftlab::image::{ChunkSink, ChunkSource, Damage, Resume};
use ftlab::saved::Refusal;

use crate::failure::Failure;
use crate::image::OpenedImage;
use crate::packing;
use crate::saved;

/// Bytes of a length in the index.
const LENGTH: usize = size_of::<u32>();

/// Where the chunks are.
enum Origin {
    Memory(Vec<u8>),
    File(File),
}

/// Compressed chunks, one after the other.
pub struct PackedChunks {
    bytes: Origin,
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
        PackedChunks { bytes: Origin::Memory(Vec::new()), places: vec![0] }
    }
}

impl PackedChunks {
    /// Where a chunk begins and ends.
    fn place(&self, position: usize) -> Result<(u64, u64), Damage> {
        match self.places.get(position..position + 2) {
            Some(&[begin, end]) => Ok((begin, end)),
            _ => Err(Damage(format!("there is no chunk {position}"))),
        }
    }
}

impl ChunkSink for PackedChunks {
    fn put(&mut self, bytes: &[u8]) {
        let packed = packing::pack_chunk(bytes).expect("memory can be written");
        if let Origin::Memory(memory) = &mut self.bytes {
            memory.extend_from_slice(&packed);
            self.places.push(memory.len() as u64);
        }
    }
}

impl ChunkSource for PackedChunks {
    fn chunk(&self, position: usize, most: usize) -> Result<Vec<u8>, Damage> {
        let packed = self.packed(position)?;
        packing::unpack_chunk(&packed, most)
            .map_err(|error| Damage(format!("chunk {position} can't be decompressed ({error})")))
    }

    fn packed_length(&self, position: usize) -> Result<u64, Damage> {
        self.place(position).map(|(begin, end)| end - begin)
    }

    fn packed(&self, position: usize) -> Result<Vec<u8>, Damage> {
        let unread =
            |error: &dyn fmt::Display| Damage(format!("chunk {position} can't be read ({error})"));
        let (begin, end) = self.place(position)?;
        match &self.bytes {
            Origin::Memory(memory) => Ok(memory[begin as usize..end as usize].to_vec()),
            Origin::File(file) => {
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

/// Elsewhere there are no files.
#[cfg(not(any(unix, windows)))]
fn read_at(_: &File, _: &mut [u8], _: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Writes the index of these chunks, the length of each, and then the chunks.
pub fn write(to: &mut impl Write, source: &dyn ChunkSource, count: usize) -> io::Result<()> {
    let length = |position| source.packed_length(position).map_err(io::Error::other);
    for position in 0..count {
        let length = u32::try_from(length(position)?).map_err(io::Error::other)?;
        to.write_all(&length.to_le_bytes())?;
    }
    for position in 0..count {
        let packed = source.packed(position).map_err(io::Error::other)?;
        // The source may be a file that changes.
        if packed.len() as u64 != length(position)? {
            return Err(io::Error::other("a chunk changed its length"));
        }
        to.write_all(&packed)?;
    }
    Ok(())
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
        Some(file) => Origin::File(file),
        None => {
            let mut memory = Vec::new();
            from.read_to_end(&mut memory)?;
            Origin::Memory(memory)
        }
    };
    Ok(Ok(PackedChunks { bytes, places }))
}

/// Does something with a device whose chunks may still be packed in this image. If it needs one that is damaged, or if it
/// panics since the chunks of a crafted file contradict each other, it fails.
///
/// # Errors
/// As `step`; or the image is damaged.
pub async fn guarded<T>(
    image: Option<&OpenedImage>,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let Some(image) = image.filter(|image| image.image.snapshot.chunks.is_some()) else {
        return work.await;
    };
    let mut work = pin!(work);
    let step =
        poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context))) {
            Ok(polled) => polled.map(Ok),
            Err(thrown) => Poll::Ready(Err(thrown)),
        });
    let thrown = match step.await {
        Ok(done) => return done,
        Err(thrown) => thrown,
    };
    match thrown.downcast::<Damage>() {
        Ok(damage) => Err(Failure::usage(format!("{}: {}", image.name, Refusal::Damaged(*damage)))),
        // A defect, unless the image has one.
        Err(thrown) => match saved::loaded(image, &image.config, Resume::ALL) {
            Ok(_) => resume_unwind(thrown),
            Err(failure) => Err(failure),
        },
    }
}
