//! Archives: tar with any compression, zip, 7z. Their files come one after another.
//!
//! The libraries lend out one file at a time, so a thread of its own reads them and sends their bytes on. It is at most a few blocks
//! ahead, and ends when nobody listens any more.

#[cfg(feature = "compressors")]
mod packed;

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use packed::{send_seven_zip, send_zip};

/// The bytes of a block on its way.
const BLOCK: usize = 256 << 10;
/// The bytes of a block of a tar.
const TAR_BLOCK: u64 = 512;
/// How many blocks the thread is ahead.
const AHEAD: usize = 4;

/// A kind of archive, by the first bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArchiveKind {
    Tar,
    Zip,
    SevenZip,
}

impl ArchiveKind {
    /// The kind of archive that begins so, decompressed.
    pub fn of(start: &[u8]) -> Option<ArchiveKind> {
        match start {
            _ if start.get(257..262) == Some(b"ustar") => Some(ArchiveKind::Tar),
            [b'P', b'K', 3, 4, ..] => Some(ArchiveKind::Zip),
            [b'7', b'z', 0xbc, 0xaf, 0x27, 0x1c, ..] => Some(ArchiveKind::SevenZip),
            _ => None,
        }
    }

    /// Its name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            ArchiveKind::Tar => "tar",
            ArchiveKind::Zip => "zip",
            ArchiveKind::SevenZip => "7z",
        }
    }
}

/// Where an archive is read from.
pub(crate) enum ArchiveBytes {
    /// One after another: enough for tar.
    Stream(Box<dyn Read + Send>),
    File(File),
    Memory(Bytes),
}

/// What the thread sends.
enum ArchivePiece {
    /// The next file begins.
    Begins(String),
    Content(Vec<u8>),
    /// All files came, and the archive has an odd end.
    Odd(OddEnd),
    Failed(io::Error),
}

/// What is odd about the end of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OddEnd {
    /// It lacks its end mark.
    Missing,
    /// Something follows that is no archive, and was not read.
    Followed,
}

/// The files of an archive.
pub(crate) struct Archive {
    pieces: Arc<Mutex<ArchivePieces>>,
}

struct ArchivePieces {
    from: Receiver<ArchivePiece>,
    /// The name of a file that has begun and was not handed out yet.
    next: Option<String>,
    failed: Option<io::Error>,
    odd_end: Option<OddEnd>,
}

impl ArchivePieces {
    fn new(from: Receiver<ArchivePiece>, failed: Option<io::Error>) -> Arc<Mutex<ArchivePieces>> {
        Arc::new(Mutex::new(ArchivePieces { from, next: None, failed, odd_end: None }))
    }
}

impl Archive {
    /// Begins to read an archive.
    pub fn open(kind: ArchiveKind, bytes: ArchiveBytes) -> Archive {
        let (to, from) = sync_channel(AHEAD);
        if cfg!(target_family = "wasm") {
            let text = "archives can't be read in a browser: unpack it first";
            let failed = Some(io::Error::new(io::ErrorKind::Unsupported, text));
            return Archive { pieces: ArchivePieces::new(from, failed) };
        }
        std::thread::spawn(move || {
            let done = match (kind, bytes) {
                (ArchiveKind::Tar, ArchiveBytes::Stream(stream)) => send_tar(stream, &to),
                (ArchiveKind::Tar, ArchiveBytes::File(file)) => send_tar(file, &to),
                (ArchiveKind::Tar, ArchiveBytes::Memory(bytes)) => {
                    send_tar(Cursor::new(bytes), &to)
                }
                (ArchiveKind::Zip, ArchiveBytes::File(file)) => send_zip(file, &to),
                (ArchiveKind::Zip, ArchiveBytes::Memory(bytes)) => {
                    send_zip(Cursor::new(bytes), &to)
                }
                (ArchiveKind::SevenZip, ArchiveBytes::File(file)) => send_seven_zip(file, &to),
                (ArchiveKind::SevenZip, ArchiveBytes::Memory(bytes)) => {
                    send_seven_zip(Cursor::new(bytes), &to)
                }
                (ArchiveKind::Zip | ArchiveKind::SevenZip, ArchiveBytes::Stream(_)) => Err(
                    io::Error::new(io::ErrorKind::Unsupported, "it can't be read from a stream"),
                ),
            };
            if let Err(error) = done {
                // If nobody listens, nobody misses the error.
                let _ = to.send(ArchivePiece::Failed(error));
            }
        });
        Archive { pieces: ArchivePieces::new(from, None) }
    }

    /// What turned out to be odd about its end: files behind the last one may be missing.
    pub fn odd_end(&self) -> Option<OddEnd> {
        lock(&self.pieces).odd_end
    }

    /// Goes on to the next file: its name and its bytes. What is left of the one before is passed over.
    pub fn next(&mut self) -> io::Result<Option<(String, Box<dyn Read + Send>)>> {
        let mut pieces = lock(&self.pieces);
        let name = loop {
            if let Some(name) = pieces.next.take() {
                break name;
            }
            match pieces.receive()? {
                Some(_) => {}
                None if pieces.next.is_some() => {}
                None => return Ok(None),
            }
        };
        let bytes = ArchivedFile { pieces: Arc::clone(&self.pieces), block: Vec::new(), at: 0 };
        Ok(Some((name, Box::new(bytes))))
    }
}

fn lock(pieces: &Arc<Mutex<ArchivePieces>>) -> std::sync::MutexGuard<'_, ArchivePieces> {
    pieces.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ArchivePieces {
    /// The next block of the present file; none at its end.
    fn receive(&mut self) -> io::Result<Option<Vec<u8>>> {
        if self.next.is_some() {
            return Ok(None);
        }
        match self.from.recv() {
            Ok(ArchivePiece::Content(block)) => Ok(Some(block)),
            Ok(ArchivePiece::Begins(name)) => {
                self.next = Some(name);
                Ok(None)
            }
            Ok(ArchivePiece::Odd(end)) => {
                self.odd_end = Some(end);
                Ok(None)
            }
            Ok(ArchivePiece::Failed(error)) => {
                self.failed = Some(io::Error::new(error.kind(), error.to_string()));
                Err(error)
            }
            // The thread has ended.
            Err(_) => match self.failed.take() {
                Some(error) => Err(error),
                None => Ok(None),
            },
        }
    }
}

/// The bytes of one file.
struct ArchivedFile {
    pieces: Arc<Mutex<ArchivePieces>>,
    block: Vec<u8>,
    at: usize,
}

impl Read for ArchivedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.block.len() {
            let Some(block) = lock(&self.pieces).receive()? else { return Ok(0) };
            (self.block, self.at) = (block, 0);
        }
        let count = (&self.block[self.at..]).read(buffer)?;
        self.at += count;
        Ok(count)
    }
}

/// Whether a file of an archive or folder is none of its traces: hidden, of another system, or a text about them.
pub(crate) fn is_beside(name: &str) -> bool {
    let parts: Vec<&str> = name.split(['/', '\\']).collect();
    let file = parts.last().copied().unwrap_or_default().to_lowercase();
    let is_hidden = |part: &&str| part.starts_with('.') && *part != "." && *part != "..";
    let about = ["readme", "license", "licence", "copying", "changelog", "md5sum", "sha256sum"];
    let endings = [
        ".md", ".pdf", ".html", ".htm", ".doc", ".docx", ".png", ".jpg", ".py", ".sh", ".md5",
        ".sha256",
    ];
    parts.iter().any(|part| is_hidden(part) || *part == "__MACOSX")
        || about.iter().any(|name| file.starts_with(name))
        || endings.iter().any(|ending| file.ends_with(ending))
}

/// The error of a library whose kind does not say that the archive is damaged.
#[cold]
fn damaged(error: impl std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error.to_string())
}

/// Sends a file's bytes. Returns how many, or none if nobody listens.
fn send_file(
    name: String,
    from: &mut dyn Read,
    to: &SyncSender<ArchivePiece>,
) -> io::Result<Option<u64>> {
    if to.send(ArchivePiece::Begins(name)).is_err() {
        return Ok(None);
    }
    let mut sent = 0;
    loop {
        let mut block = Vec::new();
        from.take(BLOCK as u64).read_to_end(&mut block)?;
        if block.is_empty() {
            return Ok(Some(sent));
        }
        sent += block.len() as u64;
        if to.send(ArchivePiece::Content(block)).is_err() {
            return Ok(None);
        }
    }
}

/// Sends the files of a tar, and those of others joined to it (`cat a.tar b.tar`).
fn send_tar(from: impl Read, to: &SyncSender<ArchivePiece>) -> io::Result<()> {
    let mut watched = EndWatch { ahead: Vec::new(), from, has_ended: false };
    loop {
        if !send_one_tar(&mut watched, to)? {
            return Ok(());
        }
        // POSIX wants blocks of zeros at the end, and nearly all programs write them. Without them it was probably cut off between
        // two files; but it may be whole, so it is said and not refused.
        let lacks_end = watched.has_ended;
        if !lacks_end && !watched.skip_zeros()? {
            return Ok(());
        }
        let odd_end = match ArchiveKind::of(&watched.ahead) {
            _ if lacks_end => OddEnd::Missing,
            Some(ArchiveKind::Tar) => continue,
            _ => OddEnd::Followed,
        };
        // If nobody listens, nobody misses it.
        let _ = to.send(ArchivePiece::Odd(odd_end));
        return Ok(());
    }
}

/// Sends the files of one tar. Returns false if nobody listens.
fn send_one_tar(
    watched: &mut EndWatch<impl Read>,
    to: &SyncSender<ArchivePiece>,
) -> io::Result<bool> {
    let early = |error: io::Error| match error.kind() {
        io::ErrorKind::Other => damaged(error),
        _ => error,
    };
    for entry in tar::Archive::new(watched).entries().map_err(early)? {
        let mut entry = entry.map_err(early)?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let name = entry.path()?.to_string_lossy().into_owned();
        let size = entry.size();
        match send_file(name, &mut entry, to)? {
            None => return Ok(false),
            Some(sent) if sent < size => {
                let text = format!("the archive ends after {sent} of the file's {size} bytes");
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, text));
            }
            Some(_) => {}
        }
    }
    Ok(true)
}

/// Passes bytes on, and notes whether they were read to their end. A tar is not, because its reader stops at zeros.
struct EndWatch<R> {
    /// What was read ahead.
    ahead: Vec<u8>,
    from: R,
    has_ended: bool,
}

impl<R: Read> EndWatch<R> {
    /// Passes over blocks of zeros. Returns whether another block comes, which is read ahead then.
    fn skip_zeros(&mut self) -> io::Result<bool> {
        loop {
            self.ahead.clear();
            self.from.by_ref().take(TAR_BLOCK).read_to_end(&mut self.ahead)?;
            if self.ahead.iter().any(|byte| *byte != 0) {
                return Ok(true);
            }
            if self.ahead.is_empty() {
                return Ok(false);
            }
        }
    }
}

impl<R: Read> Read for EndWatch<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.ahead.is_empty() {
            let count = self.ahead.len().min(buffer.len());
            buffer[..count].copy_from_slice(&self.ahead[..count]);
            self.ahead.drain(..count);
            return Ok(count);
        }
        let count = self.from.read(buffer)?;
        self.has_ended |= count == 0 && !buffer.is_empty();
        Ok(count)
    }
}

#[cfg(not(feature = "compressors"))]
fn lacking() -> io::Result<()> {
    let text = "this build of ftlab can't read zip and 7z; tar it can";
    Err(io::Error::new(io::ErrorKind::Unsupported, text))
}

/// A build without the feature `compressors` reads neither zip nor 7z.
#[cfg(not(feature = "compressors"))]
mod packed {
    use std::io;
    use std::sync::mpsc::SyncSender;

    use super::ArchivePiece;

    pub fn send_zip<T>(_: T, _: &SyncSender<ArchivePiece>) -> io::Result<()> {
        super::lacking()
    }

    pub fn send_seven_zip<T>(_: T, _: &SyncSender<ArchivePiece>) -> io::Result<()> {
        super::lacking()
    }
}
