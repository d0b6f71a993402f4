//! The log of commits: what changed of what a device keeps, in entries that count as a whole or not at all.
//!
//! A commit is a moment between two events of the device. A server that is killed leaves the last commit, which is the
//! same as cutting the power at its moment. The log is folded into the tables when it is full.
//!
//! An entry that is larger than the log lies outside of it, and the log has a reference to it.
//!
//! After each entry a mark elsewhere says how far the log goes. An entry that is damaged looks as if its server was killed
//! while writing it, and all behind it would silently be missing; but then the mark says that there was more. It takes one
//! more small write a commit, of 0.7 us.

use std::io;
use std::ops::Range;

use super::file::DriveFile;
use super::header::Facts;
use super::layout::{BLOCK_BYTES, FileLayout, LOG_BYTES};
use super::records::{BlockRecord, u32_at, u64_at};

/// Bytes before the content of an entry: epoch, length, checksum.
const PREAMBLE: usize = 16;

/// Bytes of the mark: epoch, end, and a checksum of them.
const MARK_BYTES: usize = 20;
/// What of the mark is checked.
const MARKED: Range<usize> = 0..16;

/// Bytes of a run of trims: the first version, and how many.
const TRIMS_BYTES: u32 = 12;

/// Bytes of a reference to an entry outside of the log: its length.
const OUTSIDE_BYTES: u32 = 8;

/// A commit that is being written.
#[derive(Debug, Default)]
pub struct LogEntry {
    bytes: Vec<u8>,
}

/// A change in an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogChange<'a> {
    /// The record of a block, and what is kept of its superblock.
    Block(u32, &'a [u8], &'a [u8]),
    /// The records of adjacent pages.
    Pages(u32, &'a [u8]),
    /// Trims of adjacent pages: the first, its version, and how many. The others have the versions that follow.
    Trims(u32, u64, u32),
    /// The facts.
    Facts(&'a [u8]),
    /// The data of a page, in its first or second place.
    Data(u32, bool, &'a [u8]),
    /// All changes of this commit lie outside of the log: how many bytes, and their checksum.
    Outside(u64, u32),
}

/// The kinds of changes, as they are written.
#[derive(Clone, Copy)]
#[repr(u8)]
enum ChangeKind {
    Block = 1,
    Pages = 2,
    Trims = 3,
    Facts = 4,
    Data = 5,
    SecondData = 6,
    Outside = 7,
}

impl LogEntry {
    /// Begins an entry, in the memory of the last one.
    pub fn begin(&mut self) {
        self.bytes.clear();
        self.bytes.resize(PREAMBLE, 0);
    }

    /// Adds the record of a block, and what is kept of its superblock.
    pub fn block(&mut self, block: u32, record: &BlockRecord, superblock: &[u8]) {
        self.head(ChangeKind::Block, block, (record.len() + superblock.len()) as u32);
        self.bytes.extend_from_slice(record);
        self.bytes.extend_from_slice(superblock);
    }

    /// Adds the records of `bytes` bytes of adjacent pages, which `put` appends.
    pub fn pages(&mut self, first: u32, bytes: u32, put: impl FnOnce(&mut Vec<u8>)) {
        self.head(ChangeKind::Pages, first, bytes);
        put(&mut self.bytes);
    }

    /// Adds trims of adjacent pages, with versions one after the other.
    pub fn trims(&mut self, first: u32, version: u64, count: u32) {
        self.head(ChangeKind::Trims, first, TRIMS_BYTES);
        self.bytes.extend_from_slice(&version.to_le_bytes());
        self.bytes.extend_from_slice(&count.to_le_bytes());
    }

    /// Adds the facts.
    ///
    /// # Errors
    /// They can't be written as text.
    pub fn facts(&mut self, facts: &Facts) -> io::Result<()> {
        let text = serde_json::to_vec(facts)?;
        self.head(ChangeKind::Facts, 0, text.len() as u32);
        self.bytes.extend_from_slice(&text);
        Ok(())
    }

    /// Adds the data of a page, in its first or second place.
    pub fn data(&mut self, page: u32, second: bool, bytes: &[u8]) {
        let kind = if second { ChangeKind::SecondData } else { ChangeKind::Data };
        self.head(kind, page, bytes.len() as u32);
        self.bytes.extend_from_slice(bytes);
    }

    /// Writes the content to a place outside of the log. What is left is a reference to it.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn move_out(&mut self, file: &DriveFile, at: u64) -> io::Result<()> {
        // Few entries are so large: their memory is given back.
        let bytes = std::mem::take(&mut self.bytes);
        let content = &bytes[PREAMBLE..];
        file.write_at(content, at)?;
        self.begin();
        self.head(ChangeKind::Outside, crc32fast::hash(content), OUTSIDE_BYTES);
        self.bytes.extend_from_slice(&(content.len() as u64).to_le_bytes());
        Ok(())
    }

    fn head(&mut self, kind: ChangeKind, number: u32, bytes: u32) {
        self.bytes.push(kind as u8);
        self.bytes.extend_from_slice(&number.to_le_bytes());
        self.bytes.extend_from_slice(&bytes.to_le_bytes());
    }

    /// Its length in the log.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.bytes.len() as u64
    }
}

/// The log.
#[derive(Debug)]
pub struct Log {
    epoch: u64,
    /// What checksums begin with.
    secret: u64,
    /// Where the next entry goes, from the beginning of the log.
    end: u64,
    /// Where an entry lies that is larger than the log.
    outside: u64,
}

impl Log {
    /// An empty log. An entry that is larger than it lies at `outside`.
    #[must_use]
    pub fn new(epoch: u64, secret: u64, outside: u64) -> Log {
        Log { epoch, secret, end: 0, outside }
    }

    /// The checksum of an entry. Behind the last one may be data of the host from earlier epochs, and a client must not be
    /// able to write an entry there.
    fn checksum(&self, content: &[u8]) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&self.secret.to_le_bytes());
        hasher.update(content);
        hasher.finalize()
    }

    /// Whether an entry of this length fits.
    #[must_use]
    pub fn has_room(&self, bytes: u64) -> bool {
        self.end + bytes <= LOG_BYTES
    }

    /// Writes an entry to an empty log if it is too large for it.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn append_large(&mut self, entry: &mut LogEntry, file: &DriveFile) -> io::Result<()> {
        entry.move_out(file, self.outside)?;
        self.append(entry, file)
    }

    /// Writes an entry. It counts once all of it is in the file.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn append(&mut self, entry: &mut LogEntry, file: &DriveFile) -> io::Result<()> {
        let content = (entry.bytes.len() - PREAMBLE) as u32;
        entry.bytes[0..8].copy_from_slice(&self.epoch.to_le_bytes());
        entry.bytes[8..12].copy_from_slice(&content.to_le_bytes());
        let checksum = self.checksum(&entry.bytes[PREAMBLE..]);
        entry.bytes[12..16].copy_from_slice(&checksum.to_le_bytes());
        file.write_at(&entry.bytes, FileLayout::log() + self.end)?;
        self.end += entry.length();
        self.mark(file)
    }

    /// Notes how far the log goes.
    fn mark(&self, file: &DriveFile) -> io::Result<()> {
        let mut mark = [0; MARK_BYTES];
        mark[0..8].copy_from_slice(&self.epoch.to_le_bytes());
        mark[8..16].copy_from_slice(&self.end.to_le_bytes());
        let checksum = crc32fast::hash(&mark[MARKED]);
        mark[MARKED.end..].copy_from_slice(&checksum.to_le_bytes());
        file.write_at(&mark, FileLayout::log_mark())
    }

    /// How far the log goes at least. A mark that was not written completely says nothing.
    fn marked(&self, file: &DriveFile) -> io::Result<u64> {
        let mut mark = [0; MARK_BYTES];
        file.read_sparse(&mut mark, FileLayout::log_mark())?;
        let whole = crc32fast::hash(&mark[MARKED]) == u32_at(&mark, MARKED.end);
        match u64_at(&mark, 0) {
            epoch if whole && epoch > self.epoch => {
                Err(damaged("its header is older than its log"))
            }
            epoch if whole && epoch == self.epoch => Ok(u64_at(&mark, 8)),
            _ => Ok(0),
        }
    }

    /// Reads the contents of all whole entries, in order, and continues behind them.
    ///
    /// # Errors
    /// The file can't be read, or a part of the log is damaged.
    pub fn read(&mut self, file: &DriveFile) -> io::Result<Contents> {
        self.end = 0;
        let (mut contents, mut entry) = (Contents::default(), Vec::new());
        while let Some(()) = self.read_entry(file, &mut entry)? {
            contents.last = contents.bytes.len();
            self.end += (PREAMBLE + entry.len()) as u64;
            match split(&entry) {
                Some((LogChange::Outside(length, checksum), _)) => {
                    contents.bytes.extend(self.read_outside(file, length, checksum)?);
                }
                _ => contents.bytes.extend_from_slice(&entry),
            }
        }
        if self.marked(file)? > self.end {
            return Err(damaged("a part of its log has changed"));
        }
        Ok(contents)
    }

    fn read_outside(&self, file: &DriveFile, length: u64, checksum: u32) -> io::Result<Vec<u8>> {
        let changed = || damaged("a large commit has changed");
        if length > file.length()?.saturating_sub(self.outside) {
            return Err(changed());
        }
        let mut bytes = vec![0; length as usize];
        file.read_exact_at(&mut bytes, self.outside)?;
        if crc32fast::hash(&bytes) == checksum { Ok(bytes) } else { Err(changed()) }
    }

    fn read_entry(&self, file: &DriveFile, bytes: &mut Vec<u8>) -> io::Result<Option<()>> {
        let mut head = [0; PREAMBLE];
        if !self.has_room(PREAMBLE as u64) {
            return Ok(None);
        }
        file.read_sparse(&mut head, FileLayout::log() + self.end)?;
        let (epoch, length, checksum) = (u64_at(&head, 0), u32_at(&head, 8), u32_at(&head, 12));
        let whole = PREAMBLE as u64 + u64::from(length);
        if epoch != self.epoch || length == 0 || !self.has_room(whole) {
            return Ok(None);
        }
        bytes.resize(length as usize, 0);
        file.read_sparse(bytes, FileLayout::log() + self.end + PREAMBLE as u64)?;
        Ok((self.checksum(bytes) == checksum).then_some(()))
    }
}

/// The contents of all entries.
#[derive(Debug, Default)]
pub struct Contents {
    bytes: Vec<u8>,
    /// Where the last entry begins.
    last: usize,
}

impl Contents {
    /// All changes, in order.
    pub fn changes(&self) -> impl Iterator<Item = io::Result<LogChange<'_>>> {
        changes(&self.bytes)
    }

    /// The changes of the last commit. Only its data may not have come to its place.
    pub fn last_changes(&self) -> impl Iterator<Item = io::Result<LogChange<'_>>> {
        changes(&self.bytes[self.last..])
    }
}

fn changes(contents: &[u8]) -> impl Iterator<Item = io::Result<LogChange<'_>>> {
    let mut rest = contents;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let Some((change, left)) = split(rest) else {
            rest = &[];
            return Some(Err(damaged("an entry of the log makes no sense")));
        };
        rest = left;
        Some(Ok(change))
    })
}

fn damaged(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Splits the first change off.
fn split(bytes: &[u8]) -> Option<(LogChange<'_>, &[u8])> {
    const HEAD: usize = 9;
    let head = bytes.get(..HEAD)?;
    let (number, length) = (u32_at(head, 1), u32_at(head, 5) as usize);
    let content = bytes.get(HEAD..HEAD + length)?;
    let change = match head[0] {
        kind if kind == ChangeKind::Block as u8 && length >= BLOCK_BYTES as usize => {
            let (record, superblock) = content.split_at(BLOCK_BYTES as usize);
            LogChange::Block(number, record, superblock)
        }
        kind if kind == ChangeKind::Pages as u8 => LogChange::Pages(number, content),
        kind if kind == ChangeKind::Trims as u8 && length == TRIMS_BYTES as usize => {
            LogChange::Trims(number, u64_at(content, 0), u32_at(content, 8))
        }
        kind if kind == ChangeKind::Facts as u8 => LogChange::Facts(content),
        kind if kind == ChangeKind::Data as u8 => LogChange::Data(number, false, content),
        kind if kind == ChangeKind::SecondData as u8 => LogChange::Data(number, true, content),
        kind if kind == ChangeKind::Outside as u8 && length == OUTSIDE_BYTES as usize => {
            LogChange::Outside(u64_at(content, 0), number)
        }
        _ => return None,
    };
    Some((change, &bytes[HEAD + length..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A log in a file of its own, whose first entry is `content` with this checksum.
    fn with_entry(log: &mut Log, content: &[u8], checksum: u32) -> usize {
        let file = DriveFile::new(tempfile::tempfile().unwrap());
        let mut bytes = log.epoch.to_le_bytes().to_vec();
        bytes.extend_from_slice(&(content.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&checksum.to_le_bytes());
        bytes.extend_from_slice(content);
        file.write_at(&bytes, FileLayout::log()).unwrap();
        log.read(&file).unwrap().bytes.len()
    }

    /// What a client writes comes into the log, and stays there when the next epoch begins.
    #[test]
    fn who_does_not_know_the_secret_writes_no_entries() {
        let mut log = Log::new(3, 0x5eed, FileLayout::log() + LOG_BYTES);
        let content = [9; 40];
        assert_eq!(with_entry(&mut log, &content, crc32fast::hash(&content)), 0);
        let right = log.checksum(&content);
        assert_eq!(with_entry(&mut log, &content, right), content.len());
    }
}
