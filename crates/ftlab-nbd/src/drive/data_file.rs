//! The data file of a drive: creates and opens it, commits what changed, and gives back what was kept.

use std::collections::hash_map::RandomState;
use std::fs::OpenOptions;
use std::hash::BuildHasher;
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ftlab::ftl::recovery::Touched;
use ftlab::shape::Geometry;
use ftlab::units::{BlockId, Lpn, Ppn};
use rustix::fs::{Advice, FlockOperation, fadvise, flock};

use super::file::DriveFile;
use super::header::{FORMAT, Facts, Header, LifeCounts, State};
use super::layout::{CONFIG_BYTES, FileLayout};
use super::log::{Log, LogChange, LogEntry};
use super::records;
use super::stored::StoredDevice;
use super::tables::{DriveView, FileTables, Seconds};

/// Why a data file can't be used.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    /// It can't be read or written.
    #[error("{0}")]
    Io(io::Error),
    /// It is something else.
    #[error("it is not the data file of a drive")]
    Foreign,
    /// Another version wrote it.
    #[error("it has format {0}, and this program reads format {FORMAT}")]
    OtherFormat(u32),
    /// A server has it already.
    #[error("another server uses it")]
    InUse,
    /// It is damaged.
    #[error("it is damaged: {0}")]
    Damaged(String),
}

impl From<io::Error> for Unusable {
    fn from(error: io::Error) -> Unusable {
        match error.kind() {
            io::ErrorKind::InvalidData => Unusable::Damaged(error.to_string()),
            io::ErrorKind::UnexpectedEof => Unusable::Damaged("its end is missing".to_owned()),
            _ => Unusable::Io(error),
        }
    }
}

/// Only its user may read the data of a drive, as its socket.
const PRIVATE: u32 = 0o600;

/// An open data file, before its device is known.
#[derive(Debug)]
pub struct OpenedData {
    /// The file.
    pub file: DriveFile,
    /// Its header; none if it is new.
    pub header: Option<Header>,
    /// The text of its configuration.
    pub config: String,
}

/// Opens a data file, or creates an empty one.
///
/// # Errors
/// It can't be used.
pub fn open(path: &Path) -> Result<OpenedData, Unusable> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(PRIVATE)
        .open(path)?;
    // Pages lie where the device put them: reading ahead would only read holes.
    let _ = fadvise(&file, 0, None, Advice::Random);
    flock(&file, FlockOperation::NonBlockingLockExclusive).map_err(|error| match error {
        rustix::io::Errno::AGAIN => Unusable::InUse,
        error => Unusable::Io(error.into()),
    })?;
    if !file.metadata()?.is_file() {
        return Err(Unusable::Foreign);
    }
    let file = DriveFile::new(file);
    let header = Header::read(&file)?;
    let Some(known) = &header else {
        return match Header::is_missing(&file)? {
            true => Ok(OpenedData { file, header: None, config: String::new() }),
            false => Err(Unusable::Foreign),
        };
    };
    if known.format != FORMAT {
        return Err(Unusable::OtherFormat(known.format));
    }
    if known.state == State::New {
        return Ok(OpenedData { file, header, config: String::new() });
    }
    let damaged = |what: &str| Unusable::Damaged(what.to_owned());
    if u64::from(known.config_bytes) > CONFIG_BYTES {
        return Err(damaged("its configuration is too long"));
    }
    let mut text = vec![0; known.config_bytes as usize];
    file.read_exact_at(&mut text, FileLayout::config())?;
    if crc32fast::hash(&text) != known.config_checksum {
        return Err(damaged("its configuration has changed"));
    }
    let config = String::from_utf8(text).map_err(|_| damaged("its configuration is no text"))?;
    Ok(OpenedData { file, header, config })
}

/// A number that no client can know.
fn new_secret() -> u64 {
    RandomState::new().hash_one(0)
}

/// The data file of a running drive.
#[derive(Debug)]
pub struct DataFile {
    /// Its name.
    pub path: PathBuf,
    file: Rc<DriveFile>,
    layout: Rc<FileLayout>,
    header: Header,
    log: Log,
    entry: LogEntry,
    /// By block: whether its pages are in the table. They come there when the block is first used.
    has_pages: Vec<bool>,
}

impl DataFile {
    /// Takes an open file for a device of this layout. A new file gets the configuration.
    ///
    /// # Errors
    /// It can't be written.
    pub fn take(
        path: &Path,
        opened: OpenedData,
        layout: FileLayout,
        config: &str,
        seed: u64,
    ) -> Result<DataFile, Unusable> {
        let OpenedData { file, header, .. } = opened;
        let mut header =
            header.unwrap_or_else(|| Header { format: FORMAT, seed, ..Header::default() });
        if header.state == State::New {
            // From now on it is known as a data file, even if nothing else comes.
            header.write(&file)?;
            if config.len() as u64 > CONFIG_BYTES {
                return Err(Unusable::Damaged(
                    "the configuration is too long to be kept".to_owned(),
                ));
            }
            file.write_at(config.as_bytes(), FileLayout::config())?;
            header.config_bytes = config.len() as u32;
            header.config_checksum = crc32fast::hash(config.as_bytes());
            header.seed = seed;
        }
        let log = Log::new(header.epoch, header.log_secret, layout.image());
        let path = path.to_owned();
        let (file, layout) = (Rc::new(file), Rc::new(layout));
        let (entry, has_pages) = (LogEntry::default(), Vec::new());
        Ok(DataFile { path, file, layout, header, log, entry, has_pages })
    }

    /// The file, for the bytes of the flash.
    #[must_use]
    pub fn file(&self) -> Rc<DriveFile> {
        self.file.clone()
    }

    /// Whether it has this name, too.
    #[must_use]
    pub fn is_at(&self, path: &Path) -> bool {
        let own = self.file.metadata().ok();
        let other = std::fs::metadata(path).ok();
        own.zip(other)
            .is_some_and(|(own, other)| (own.dev(), own.ino()) == (other.dev(), other.ino()))
    }

    /// The layout.
    #[must_use]
    pub fn layout(&self) -> Rc<FileLayout> {
        self.layout.clone()
    }

    /// What the drive has counted before.
    #[must_use]
    pub fn life(&self) -> LifeCounts {
        self.header.facts.life
    }

    /// Notes that a server has the drive from now on.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn run(&mut self, recovers: bool, facts: Facts) -> io::Result<()> {
        // A file that is shorter later has lost something.
        if self.file.length()? < self.layout.image() {
            self.file.set_length(self.layout.image())?;
        }
        self.header.state = State::Running;
        self.header.recovers = recovers;
        self.restart_log(facts)
    }

    /// The log begins anew, with these facts.
    fn restart_log(&mut self, facts: Facts) -> io::Result<()> {
        self.header.facts = facts;
        self.header.epoch += 1;
        self.header.log_secret = new_secret();
        self.header.write(&self.file)?;
        self.log = Log::new(self.header.epoch, self.header.log_secret, self.layout.image());
        // What is behind the data was a large commit, or the image of a drive that runs now.
        let behind = self.file.length()? > self.layout.image();
        match self.header.state {
            State::Running if behind => self.file.set_length(self.layout.image()),
            _ => Ok(()),
        }
    }

    /// Writes everything that a device keeps into the tables. Nothing of what they had before counts.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn write_tables(&mut self, view: DriveView<'_>) -> io::Result<()> {
        let blocks = (0..self.layout.block_count).map(BlockId::new);
        self.has_pages = blocks.map(|block| view.kept.knows(block)).collect();
        self.tables().write(view, &self.has_pages)
    }

    fn tables(&self) -> FileTables<'_> {
        FileTables { file: &self.file, layout: &self.layout }
    }

    /// Commits what changed, with the data that is not in its place yet: from now on a killed server leaves this state.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn commit<'a>(
        &mut self,
        touched: &Touched,
        data: impl Iterator<Item = (Ppn, bool, &'a [u8])>,
        view: DriveView<'_>,
        facts: &Facts,
    ) -> io::Result<()> {
        self.entry.begin();
        let mut blocks: Vec<BlockId> = touched.blocks.clone();
        blocks.extend(touched.pages.iter().map(|&(first, _)| view.geometry.block_of(first)));
        blocks.sort_unstable();
        blocks.dedup();
        for &block in &blocks {
            if !std::mem::replace(&mut self.has_pages[block.at()], true) {
                // They count from this commit on, as nobody looks for them before.
                self.tables().write_pages_of(block, view)?;
            }
            let (record, superblock) = view.block_record(block, true);
            self.entry.block(block.get(), &record, &superblock);
        }
        for &(first, units) in &touched.pages {
            let bytes = units * self.layout.record_bytes as u32;
            self.entry.pages(first.get(), bytes, |out| {
                view.put_pages(first, units, &self.layout, out);
            });
        }
        for (first, version, count) in view.trim_runs(&touched.trimmed) {
            self.entry.trims(first, version, count);
        }
        data.for_each(|(at, second, bytes)| self.entry.data(at.get(), second, bytes));
        self.entry.facts(facts)?;
        if !self.log.has_room(self.entry.length()) {
            self.fold()?;
        }
        match self.log.has_room(self.entry.length()) {
            true => self.log.append(&mut self.entry, &self.file),
            false => self.log.append_large(&mut self.entry, &self.file),
        }
    }

    /// The log is full: what it holds goes to the tables, and it begins anew. A killed server leaves either.
    ///
    /// # Errors
    /// The file can't be read or written.
    pub(super) fn fold(&mut self) -> io::Result<()> {
        let contents = self.log.read(&self.file)?;
        let facts = self.tables().take_in(&contents)?;
        self.restart_log(facts.unwrap_or_else(|| self.header.facts.clone()))
    }

    /// Marks the drive as shut down, with its image and the second places of its pages.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn save(&mut self, image: &[u8], seconds: &Seconds, facts: Facts) -> io::Result<()> {
        let mut saved = (seconds.len() as u64).to_le_bytes().to_vec();
        for (at, page) in seconds {
            saved.extend_from_slice(&at.get().to_le_bytes());
            saved.extend_from_slice(&page.get().to_le_bytes());
        }
        saved.extend_from_slice(image);
        // The image takes the place of a large commit.
        self.fold()?;
        let at = self.layout.image();
        self.file.write_at(&saved, at)?;
        self.file.sync()?;
        self.header.image_bytes = saved.len() as u64;
        self.header.image_checksum = crc32fast::hash(&saved);
        self.header.state = State::Saved;
        self.restart_log(facts)?;
        self.file.sync()
    }

    /// Reads the image of a drive that was shut down, and the second places of its pages.
    ///
    /// # Errors
    /// The file can't be read, or the image is damaged.
    pub fn saved(&self) -> Result<(Vec<u8>, Seconds), Unusable> {
        const COUNT: usize = 8;
        const SECOND: usize = 8;
        let damaged = |what: &str| Unusable::Damaged(what.to_owned());
        let available = self.file.length()?.saturating_sub(self.layout.image());
        if self.header.image_bytes > available || self.header.image_bytes < COUNT as u64 {
            return Err(Unusable::Damaged(format!(
                "its end is missing: it has {} bytes, and had {}",
                self.file.length()?,
                self.layout.image().saturating_add(self.header.image_bytes)
            )));
        }
        let mut saved = vec![0; self.header.image_bytes as usize];
        self.file.read_exact_at(&mut saved, self.layout.image())?;
        if crc32fast::hash(&saved) != self.header.image_checksum {
            return Err(damaged("its image has changed"));
        }
        let count = records::u64_at(&saved, 0);
        let end = count.checked_mul(SECOND as u64).and_then(|all| all.checked_add(COUNT as u64));
        let end = end.filter(|&end| end <= saved.len() as u64);
        let end = end.ok_or_else(|| damaged("its image is cut short"))? as usize;
        let pairs = saved[COUNT..end].chunks(SECOND);
        let seconds = pairs
            .map(|pair| (Ppn::new(records::u32_at(pair, 0)), Lpn::new(records::u32_at(pair, 4))));
        Ok((saved[end..].to_vec(), seconds.collect()))
    }

    /// The number of the log, which begins anew when it is full.
    #[cfg(test)]
    pub(super) fn epoch(&self) -> u64 {
        self.header.epoch
    }

    /// The seed of its device.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.header.seed
    }

    /// Reads what a killed server left.
    ///
    /// # Errors
    /// The file can't be read, or is damaged.
    pub fn stored(&mut self, geometry: &Geometry) -> Result<StoredDevice, Unusable> {
        let (length, least) = (self.file.length()?, self.layout.image());
        if length < least {
            return Err(Unusable::Damaged(format!(
                "its end is missing: it has {length} bytes, and had {least} or more"
            )));
        }
        let contents = self.log.read(&self.file)?;
        let facts = self.tables().take_in(&contents)?;
        for change in contents.last_changes() {
            if let LogChange::Data(page, second, bytes) = change? {
                self.file.write_at(bytes, self.layout.data(Ppn::new(page), second))?;
            }
        }
        let facts = facts.unwrap_or_else(|| self.header.facts.clone());
        let stored = StoredDevice::read(self.file.clone(), self.layout.clone(), geometry, facts)?;
        self.has_pages = stored.has_pages();
        Ok(stored)
    }
}
