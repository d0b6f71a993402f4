//! How images are compressed. Zstandard is written in C: a build without the feature `compressors` (for a browser)
//! says that it can't read or write images.

use std::io::{self, Read};

/// The level of chunks. What is worth compressing in them is as regular as the fill that wrote it.
#[cfg(feature = "compressors")]
const OF_CHUNKS: i32 = 1;
/// The level of sections: compresses well and hardly slows down writing.
#[cfg(feature = "compressors")]
pub const OF_SECTIONS: i32 = 3;

/// Compresses a chunk.
pub fn pack_chunk(bytes: &[u8]) -> io::Result<Vec<u8>> {
    #[cfg(feature = "compressors")]
    return zstd::bulk::compress(bytes, OF_CHUNKS);
    #[cfg(not(feature = "compressors"))]
    lacking(bytes)
}

/// Decompresses a chunk, of at most `most` bytes.
pub fn unpack_chunk(packed: &[u8], most: usize) -> io::Result<Vec<u8>> {
    #[cfg(feature = "compressors")]
    return zstd::bulk::decompress(packed, most);
    #[cfg(not(feature = "compressors"))]
    lacking((packed, most))
}

/// Compresses sections, with a checksum, to detect damage there too.
pub fn pack_sections(bytes: &[u8]) -> io::Result<Vec<u8>> {
    #[cfg(feature = "compressors")]
    {
        let mut encoder = zstd::Encoder::new(Vec::new(), OF_SECTIONS)?;
        encoder.include_checksum(true)?;
        io::Write::write_all(&mut encoder, bytes)?;
        encoder.finish()
    }
    #[cfg(not(feature = "compressors"))]
    lacking(bytes)
}

/// Decompresses sections as they are read.
pub fn sections<R: Read>(from: R) -> io::Result<impl Read> {
    #[cfg(feature = "compressors")]
    return zstd::Decoder::new(from);
    #[cfg(not(feature = "compressors"))]
    lacking::<R, R>(from)
}

#[cfg(not(feature = "compressors"))]
fn lacking<T, R>(_: T) -> io::Result<R> {
    let text = "this build of ftlab can't read or write images: it lacks Zstandard";
    Err(io::Error::new(io::ErrorKind::Unsupported, text))
}
