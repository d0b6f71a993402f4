//! Reads the bytes of a trace from a file, standard input or memory, decompresses them if
//! necessary, and splits them into lines. Memory use is bounded by one block, whatever the input.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use serde::Serialize;

use super::archive::{Archive, ArchiveBytes, ArchiveKind};
use super::compressors;
use super::error::{ErrorKind, TraceError};
use super::mistaken;
use super::utf16::{UnitOrder, Utf16Reader};

/// The location of a trace.
#[derive(Clone, Debug)]
pub enum Location {
    /// A file.
    File(PathBuf),
    /// Standard input.
    Stdin,
    /// Bytes in memory, with a name for messages.
    Memory(String, Bytes),
    /// Several files, each with streams of its own.
    Several(Vec<Location>),
}

impl Location {
    /// Parses a command-line argument: `-` is standard input, everything else a path, or several with commas between them.
    #[must_use]
    pub fn from_argument(argument: &str) -> Location {
        let path = PathBuf::from(argument);
        match argument {
            "-" => Location::Stdin,
            _ if argument.contains(',') && !path.exists() => {
                let files =
                    argument.split(',').map(|file| Location::File(PathBuf::from(file.trim())));
                Location::Several(files.collect())
            }
            _ => Location::File(path),
        }
    }

    /// Returns the name for messages.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Location::File(path) => path.display().to_string(),
            Location::Stdin => "standard input".to_owned(),
            Location::Memory(name, _) => name.clone(),
            Location::Several(files) => {
                files.iter().map(Location::name).collect::<Vec<_>>().join(",")
            }
        }
    }
}

impl From<&Path> for Location {
    fn from(path: &Path) -> Location {
        Location::File(path.to_owned())
    }
}

/// How much of a file has been read, for progress bars; shared with the reader.
#[derive(Debug, Default)]
pub struct Meter {
    read: AtomicU64,
    total: AtomicU64,
}

impl Meter {
    /// Returns the share of the file that has been read; `None` if its length is unknown.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        let total = self.total.load(Ordering::Relaxed);
        (total > 0).then(|| self.read.load(Ordering::Relaxed) as f64 / total as f64)
    }
}

/// A file with a meter.
struct Metered {
    file: File,
    meter: Arc<Meter>,
}

impl Read for Metered {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.meter.read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// The compression of a file, by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Compression {
    /// Not compressed.
    None,
    /// gzip, with one or several members.
    Gzip,
    /// Zstandard, with one or several frames.
    Zstd,
    /// bzip2, with one or several streams.
    Bzip2,
    /// xz, with one or several streams.
    Xz,
}

/// The memory limit of a decoder, so that a file of few bytes cannot request all memory.
#[cfg(feature = "compressors")]
pub(crate) const DECODER_MEMORY: u64 = 512 << 20;

/// How many bytes identify a file: enough to reach the magic number of a tar archive.
pub(crate) const MAGIC_BYTES: usize = 512;

impl Compression {
    /// Returns the compression that the first bytes of a file indicate.
    #[must_use]
    pub fn of(magic: &[u8]) -> Compression {
        match magic {
            [0x1f, 0x8b, ..] => Compression::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Compression::Zstd,
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Compression::Bzip2,
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Compression::Xz,
            _ => Compression::None,
        }
    }

    /// Returns the compression that the extension of a file name indicates.
    #[must_use]
    pub fn of_name(path: &Path) -> Compression {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("gz") => Compression::Gzip,
            Some("zst" | "zstd") => Compression::Zstd,
            Some("bz2") => Compression::Bzip2,
            Some("xz") => Compression::Xz,
            _ => Compression::None,
        }
    }

    fn decoder(self, inner: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
        Ok(match self {
            Compression::None => inner,
            Compression::Gzip => Box::new(flate2::read::MultiGzDecoder::new(inner)),
            Compression::Zstd => compressors::zstd_reader(inner)?,
            Compression::Bzip2 => Box::new(bzip2::read::MultiBzDecoder::new(inner)),
            Compression::Xz => compressors::xz_reader(inner)?,
        })
    }
}

/// The bytes of a Parquet file, which is not read in order.
pub(crate) enum TableBytes {
    File(File),
    Memory(Bytes),
}

/// An opened location.
pub(crate) enum Opened {
    /// One file, decompressed.
    Bytes(Lines, Compression),
    /// A Parquet file.
    Parquet(TableBytes),
    /// The files of an archive.
    Archive(Archive, Compression),
    /// The files of a folder.
    Folder(PathBuf),
    /// Several files.
    Several(Vec<Location>),
}

/// Opens a location and looks at its first bytes. A file that is read in order ends after `most` bytes.
pub(crate) fn open(
    location: &Location,
    most: u64,
    meter: &Arc<Meter>,
) -> Result<Opened, TraceError> {
    let name = location.name();
    let failed = |error: io::Error| TraceError::io(&name, "can't read it", &error);
    let mut reader: Box<dyn Read + Send> = match location {
        Location::Several(files) => return Ok(Opened::Several(files.clone())),
        Location::File(path) if path.is_dir() => return Ok(Opened::Folder(path.clone())),
        Location::File(path) => {
            let file = File::open(path).map_err(failed)?;
            let length = file.metadata().map_or(0, |metadata| metadata.len());
            meter.total.store(length, Ordering::Relaxed);
            Box::new(Metered { file, meter: Arc::clone(meter) })
        }
        Location::Stdin => Box::new(io::stdin()),
        Location::Memory(_, bytes) => Box::new(Cursor::new(bytes.clone())),
    };
    let magic = peek(&mut reader).map_err(failed)?;
    if let Some(refusal) = mistaken::refusal(&name, &magic) {
        return Err(refusal);
    }
    let kind = ArchiveKind::of(&magic).filter(|kind| *kind != ArchiveKind::Tar);
    if !magic.starts_with(b"PAR1") && kind.is_none() {
        return unpack(&name, Box::new(Cursor::new(magic).chain(reader)), most);
    }
    // It is not read from its beginning to its end.
    meter.total.store(0, Ordering::Relaxed);
    let bytes = match location {
        Location::File(path) => ArchiveBytes::File(File::open(path).map_err(failed)?),
        Location::Memory(_, bytes) => ArchiveBytes::Memory(bytes.clone()),
        _ => return Err(needs_file(&name, kind)),
    };
    Ok(match (kind, bytes) {
        (Some(kind), bytes) => Opened::Archive(Archive::open(kind, bytes), Compression::None),
        (None, ArchiveBytes::File(file)) => Opened::Parquet(TableBytes::File(file)),
        (None, ArchiveBytes::Memory(bytes)) => Opened::Parquet(TableBytes::Memory(bytes)),
        (None, ArchiveBytes::Stream(_)) => return Err(needs_file(&name, None)),
    })
}

/// Decompresses bytes and looks at what they are.
fn unpack(name: &str, whole: Box<dyn Read + Send>, most: u64) -> Result<Opened, TraceError> {
    let failed = |error: io::Error| TraceError::io(name, "can't read it", &error);
    let unpacked = |error: io::Error| TraceError::io(name, "can't decompress it", &error);
    let mut whole = whole;
    let magic = peek(&mut whole).map_err(failed)?;
    let compression = Compression::of(&magic);
    let whole: Box<dyn Read + Send> = Box::new(Cursor::new(magic).chain(whole));
    let mut bytes = compression.decoder(whole).map_err(failed)?;
    let start = peek(&mut bytes).map_err(unpacked)?;
    if let Some(refusal) = mistaken::refusal(name, &start) {
        return Err(refusal);
    }
    let kind = ArchiveKind::of(&start);
    let is_table = start.starts_with(b"PAR1");
    let order = UnitOrder::of(&start);
    let bytes: Box<dyn Read + Send> = Box::new(Cursor::new(start).chain(bytes).take(most));
    match kind {
        Some(ArchiveKind::Tar) => {
            let archive = Archive::open(ArchiveKind::Tar, ArchiveBytes::Stream(bytes));
            Ok(Opened::Archive(archive, compression))
        }
        Some(kind) => Err(needs_file(name, Some(kind))),
        None if is_table => Err(needs_file(name, None)),
        None => {
            let mut lines = match order {
                Some(order) => {
                    Lines::new(Box::new(Utf16Reader::new(bytes, order)), name.to_owned())
                }
                None => Lines::new(bytes, name.to_owned()),
            };
            lines.notes.extend(order.map(|_| "the text is in UTF-16"));
            Ok(Opened::Bytes(lines, compression))
        }
    }
}

/// Opens a file of an archive.
pub(crate) fn unpacked(
    name: &str,
    bytes: Box<dyn Read + Send>,
) -> Result<(Lines, Compression), TraceError> {
    match unpack(name, bytes, u64::MAX)? {
        Opened::Bytes(lines, compression) => Ok((lines, compression)),
        _ => Err(TraceError::new(
            ErrorKind::Unsupported,
            name,
            "this is an archive in an archive",
            "unpack the outer one, and name the folder",
        )),
    }
}

fn peek(reader: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    reader.take(MAGIC_BYTES as u64).read_to_end(&mut start)?;
    Ok(start)
}

fn needs_file(name: &str, kind: Option<ArchiveKind>) -> TraceError {
    let what = kind.map_or("Parquet", ArchiveKind::name);
    TraceError::new(
        ErrorKind::Unsupported,
        name,
        format!("{what} can only be read from a regular file, because its index is at the end"),
        "save it to a file, uncompressed, and name that (it is compressed internally)",
    )
}

/// The size of a block.
const BLOCK: usize = 256 << 10;
/// The longest line. Longer ones are not part of a trace, and a file without line ends must not
/// fill memory.
const LONGEST_LINE: usize = 64 << 10;

/// Gives lines that end in CR the usual end.
#[cold]
fn end_lines(text: &mut [u8]) {
    text.iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
}

/// Splits a stream of bytes into lines, or hands the bytes out. The buffer holds one block and the rest of the previous line.
pub(crate) struct Lines {
    reader: Box<dyn Read + Send>,
    name: String,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    ended: bool,
    /// How many bytes were read.
    read: u64,
    /// Whether lines end in CR alone.
    has_bare_cr: bool,
    /// The last line, if it has no line end and was taken.
    open: Range<usize>,
    /// What is unusual about the text.
    notes: Vec<&'static str>,
}

impl Lines {
    fn new(reader: Box<dyn Read + Send>, name: String) -> Lines {
        let buffer = vec![0; BLOCK + LONGEST_LINE];
        Lines {
            reader,
            name,
            buffer,
            start: 0,
            end: 0,
            ended: false,
            read: 0,
            has_bare_cr: false,
            open: 0..0,
            notes: Vec::new(),
        }
    }

    /// Returns the name for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the beginning of the text, up to a line end, without taking it. Skips a byte order
    /// mark.
    pub fn sample(&mut self) -> Result<&[u8], TraceError> {
        while !self.ended && self.end - self.start < BLOCK {
            self.refill()?;
        }
        if self.buffer[self.start..self.end].starts_with(b"\xef\xbb\xbf") {
            self.start += 3;
        }
        let ahead = &mut self.buffer[self.start..self.end];
        if memchr::memchr(b'\n', ahead).is_none() && memchr::memchr(b'\r', ahead).is_some() {
            end_lines(ahead);
            self.has_bare_cr = true;
            self.notes.push("lines end in CR alone");
        }
        let all = &self.buffer[self.start..self.end];
        match memchr::memrchr(b'\n', all) {
            _ if self.ended => Ok(all),
            Some(at) => Ok(&all[..=at]),
            None => Err(self.too_long()),
        }
    }

    /// Returns the bytes ahead without taking them: at least `least` unless the file ends.
    pub fn ahead(&mut self, least: usize) -> Result<&[u8], TraceError> {
        while !self.ended && self.end - self.start < least {
            self.refill()?;
        }
        Ok(&self.buffer[self.start..self.end])
    }

    /// Takes so many of the bytes ahead.
    #[inline]
    pub fn take(&mut self, count: usize) {
        debug_assert!(count <= self.end - self.start);
        self.start += count;
    }

    /// Takes the next line, without its line ending.
    #[inline]
    pub fn next(&mut self) -> Result<Option<&[u8]>, TraceError> {
        let (from, length) = loop {
            let ready = &self.buffer[self.start..self.end];
            if let Some(length) = memchr::memchr(b'\n', ready) {
                let from = self.start;
                self.start += length + 1;
                break (from, length);
            }
            if self.ended {
                if ready.is_empty() {
                    return Ok(None);
                }
                let (from, length) = (self.start, ready.len());
                self.start = self.end;
                self.open = from..self.end;
                break (from, length);
            }
            self.refill()?;
        };
        let line = &self.buffer[from..from + length];
        Ok(Some(line.strip_suffix(b"\r").unwrap_or(line)))
    }

    /// The last line, if it was taken and has no line end.
    pub fn open_line(&self) -> Option<&[u8]> {
        Some(&self.buffer[self.open.clone()]).filter(|line| !line.is_empty())
    }

    /// What is unusual about the text.
    pub fn notes(&self) -> &[&'static str] {
        &self.notes
    }

    /// Moves the unfinished line to the front and reads more.
    #[cold]
    fn refill(&mut self) -> Result<(), TraceError> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.end == self.buffer.len() {
            return Err(self.too_long());
        }
        loop {
            match self.reader.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.ended = true,
                Ok(count) => {
                    if self.has_bare_cr {
                        end_lines(&mut self.buffer[self.end..self.end + count]);
                    }
                    self.end += count;
                    self.read += count as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    let doing = format!("reading stopped after {} bytes of text", self.read);
                    return Err(TraceError::io(&self.name, &doing, &error));
                }
            }
            return Ok(());
        }
    }

    #[cold]
    fn too_long(&self) -> TraceError {
        TraceError::new(
            ErrorKind::Malformed,
            &self.name,
            format!("a line is longer than {} KiB", LONGEST_LINE >> 10),
            "this is not a text trace; if it is a known format, check how it was made",
        )
    }
}
