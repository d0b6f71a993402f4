//! The compressors that are written in C, Zstandard and xz: what `input` and `convert` need of them. A build without
//! the feature `compressors` (for a browser) says that it lacks them.

pub(crate) use chosen::{xz_reader, xz_writer, zstd_reader, zstd_writer};

use std::fs::File;
use std::io::{self, Write};

/// Compresses into a file.
pub(crate) trait Compressor: Write {
    /// Writes what is left, and returns the file.
    fn finish(self: Box<Self>) -> io::Result<File>;
}

#[cfg(feature = "compressors")]
mod chosen {
    use std::fs::File;
    use std::io::{self, Read};

    use super::Compressor;
    use crate::trace::input::DECODER_MEMORY;

    /// The default of the program xz.
    const XZ_LEVEL: u32 = 6;

    impl Compressor for zstd::stream::write::Encoder<'static, File> {
        fn finish(self: Box<Self>) -> io::Result<File> {
            (*self).finish()
        }
    }

    impl Compressor for liblzma::write::XzEncoder<File> {
        fn finish(self: Box<Self>) -> io::Result<File> {
            (*self).finish()
        }
    }

    pub(crate) fn zstd_reader(inner: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(zstd::stream::read::Decoder::new(inner)?))
    }

    pub(crate) fn xz_reader(inner: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
        let flags = liblzma::stream::CONCATENATED;
        let stream = liblzma::stream::Stream::new_stream_decoder(DECODER_MEMORY, flags)
            .map_err(io::Error::other)?;
        Ok(Box::new(liblzma::read::XzDecoder::new_stream(inner, stream)))
    }

    pub(crate) fn zstd_writer(file: File) -> io::Result<Box<dyn Compressor>> {
        let level = zstd::DEFAULT_COMPRESSION_LEVEL;
        Ok(Box::new(zstd::stream::write::Encoder::new(file, level)?))
    }

    pub(crate) fn xz_writer(file: File) -> io::Result<Box<dyn Compressor>> {
        Ok(Box::new(liblzma::write::XzEncoder::new(file, XZ_LEVEL)))
    }
}

#[cfg(not(feature = "compressors"))]
mod chosen {
    use std::fs::File;
    use std::io::{self, Read};

    use super::Compressor;

    fn lacking<T>() -> io::Result<T> {
        let text = "this build of ftlab can't read or write zstd and xz; gzip and bzip2 it can";
        Err(io::Error::new(io::ErrorKind::Unsupported, text))
    }

    pub(crate) fn zstd_reader(_: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
        lacking()
    }

    pub(crate) fn xz_reader(_: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
        lacking()
    }

    pub(crate) fn zstd_writer(_: File) -> io::Result<Box<dyn Compressor>> {
        lacking()
    }

    pub(crate) fn xz_writer(_: File) -> io::Result<Box<dyn Compressor>> {
        lacking()
    }
}
