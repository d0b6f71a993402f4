//! The data file of a drive: creates and opens it, commits what changed, and gives back what was kept.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ftlab::ftl::recovery::{Kept, Touched};
use ftlab::shape::Geometry;
use ftlab::units::{BlockId, Lpn, Ppn};
use rustix::fs::{Advice, FallocateFlags, FlockOperation, fadvise, fallocate, flock};

use super::header::{FORMAT, Facts, Header, LifeCounts, State};
use super::layout::{CONFIG_BYTES, FileLayout};
use super::log::{self, Log, LogChange, LogEntry};
use super::records::{self, StoredPage};
use super::stored::StoredDevice;

/// Why a data file can't be used.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    /// It can't be read or written.
    #[error("{0}")]
    Io(#[from] io::Error),
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

/// Only its user may read the data of a drive, as its socket.
const PRIVATE: u32 = 0o600;

/// An open data file, before its device is known.
#[derive(Debug)]
pub struct OpenedData {
    /// The file.
    pub file: File,
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
    if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
        return Err(Unusable::InUse);
    }
    if !file.metadata()?.is_file() {
        return Err(Unusable::Foreign);
    }
    let header = Header::read(&file)?;
    let Some(known) = &header else {
        return match file.metadata()?.len() {
            0 => Ok(OpenedData { file, header: None, config: String::new() }),
            _ => Err(Unusable::Foreign),
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

/// The data file of a running drive.
#[derive(Debug)]
pub struct DataFile {
    /// Its name.
    pub path: PathBuf,
    file: Rc<File>,
    layout: Rc<FileLayout>,
    header: Header,
    log: Log,
    entry: LogEntry,
}

/// The logical pages whose data is in the second place of a physical page.
pub type Seconds = BTreeMap<Ppn, Lpn>;

/// What a device keeps, and where its bytes lie.
#[derive(Clone, Copy)]
pub struct DriveView<'a> {
    /// What it keeps.
    pub kept: Kept<'a>,
    /// Second places.
    pub seconds: &'a Seconds,
    /// Its shape.
    pub geometry: &'a Geometry,
}

impl DriveView<'_> {
    fn page(&self, at: Ppn) -> StoredPage {
        StoredPage { kept: self.kept.page(at), second: self.seconds.get(&at).copied() }
    }
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
            file.write_all_at(config.as_bytes(), FileLayout::config())?;
            header.config_bytes = config.len() as u32;
            header.config_checksum = crc32fast::hash(config.as_bytes());
            header.seed = seed;
        }
        let log = Log::new(header.epoch);
        let path = path.to_owned();
        let (file, layout) = (Rc::new(file), Rc::new(layout));
        Ok(DataFile { path, file, layout, header, log, entry: LogEntry::default() })
    }

    /// The file, for the bytes of the flash.
    #[must_use]
    pub fn file(&self) -> Rc<File> {
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
        self.header.state = State::Running;
        self.header.recovers = recovers;
        self.restart_log(facts)
    }

    /// The log begins anew, with these facts.
    fn restart_log(&mut self, facts: Facts) -> io::Result<()> {
        self.header.facts = facts;
        self.header.epoch += 1;
        self.header.write(&self.file)?;
        self.log = Log::new(self.header.epoch);
        Ok(())
    }

    /// Writes everything that a device keeps into the tables. Nothing of what they had before counts.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn write_tables(&mut self, view: DriveView<'_>, logical_pages: u32) -> io::Result<()> {
        let geometry = view.geometry;
        let known = (0..geometry.blocks()).map(BlockId::new).filter(|&it| view.kept.knows(it));
        let table = self.layout.block(BlockId::new(0));
        let trims = self.layout.trims();
        punch(&self.file, table, trims.end - table)?;
        let units = geometry.units_per_block();
        for block in known {
            self.file.write_all_at(
                &records::block_record(&view.kept.block(block)),
                self.layout.block(block),
            )?;
            self.write_pages(geometry.page_at(block, 0).get(), units, view)?;
        }
        let trimmed = (0..logical_pages).map(Lpn::new).filter(|&page| view.kept.trim(page) > 0);
        for (first, version, count) in trim_runs(&trimmed.collect::<Vec<_>>(), view) {
            let versions = version..version + u64::from(count);
            let bytes: Vec<u8> = versions.flat_map(u64::to_le_bytes).collect();
            self.file.write_all_at(&bytes, self.layout.trim(Lpn::new(first)))?;
        }
        Ok(())
    }

    fn write_pages(&self, first: u32, units: u32, view: DriveView<'_>) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(units as usize * self.layout.record_bytes as usize);
        for at in (first..first + units).map(Ppn::new) {
            records::put_page(&view.page(at), &self.layout, &mut bytes);
        }
        self.file.write_all_at(&bytes, self.layout.page(Ppn::new(first)))
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
            self.entry.block(block.get(), &records::block_record(&view.kept.block(block)));
        }
        let layout = &self.layout;
        for &(first, units) in &touched.pages {
            let bytes = units * layout.record_bytes as u32;
            self.entry.pages(first.get(), bytes, |out| {
                for at in (first.get()..first.get() + units).map(Ppn::new) {
                    records::put_page(&view.page(at), layout, out);
                }
            });
        }
        for (first, version, count) in trim_runs(&touched.trimmed, view) {
            self.entry.trims(first, version, count);
        }
        data.for_each(|(at, second, bytes)| self.entry.data(at.get(), second, bytes));
        self.entry.facts(facts)?;
        if !self.log.has_room(self.entry.length()) {
            self.fold()?;
        }
        if !self.log.has_room(self.entry.length()) {
            return Err(io::Error::other("a commit is larger than the log of the data file"));
        }
        self.log.append(&mut self.entry, &self.file)
    }

    /// The log is full: what it holds goes to the tables, and it begins anew. A killed server leaves either.
    fn fold(&mut self) -> io::Result<()> {
        let contents = self.log.read(&self.file)?;
        let facts = write_to_tables(&contents, &self.file, &self.layout)?;
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
        let at = self.layout.image();
        self.file.set_len(at)?;
        self.file.write_all_at(&saved, at)?;
        self.file.sync_all()?;
        self.header.image_bytes = saved.len() as u64;
        self.header.image_checksum = crc32fast::hash(&saved);
        self.header.state = State::Saved;
        self.restart_log(facts)?;
        self.file.sync_all()
    }

    /// Reads the image of a drive that was shut down, and the second places of its pages.
    ///
    /// # Errors
    /// The file can't be read, or the image is damaged.
    pub fn saved(&self) -> Result<(Vec<u8>, Seconds), Unusable> {
        const COUNT: usize = 8;
        const SECOND: usize = 8;
        let damaged = |what: &str| Unusable::Damaged(what.to_owned());
        let available = self.file.metadata()?.len().saturating_sub(self.layout.image());
        if self.header.image_bytes > available || self.header.image_bytes < COUNT as u64 {
            return Err(damaged("a part of its image is missing"));
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
        let layout = self.layout.clone();
        let contents = self.log.read(&self.file)?;
        let facts = write_to_tables(&contents, &self.file, &layout)?;
        for change in contents.last_changes() {
            if let LogChange::Data(page, second, bytes) = change? {
                self.file.write_all_at(bytes, layout.data(Ppn::new(page), second))?;
            }
        }
        let facts = facts.unwrap_or_else(|| self.header.facts.clone());
        StoredDevice::read(self.file.clone(), layout, geometry, facts)
    }
}

/// Trims of adjacent pages with versions one after the other, as the device makes them: the first page, its version, and
/// how many there are.
fn trim_runs(pages: &[Lpn], view: DriveView<'_>) -> Vec<(u32, u64, u32)> {
    let mut runs: Vec<(u32, u64, u32)> = Vec::new();
    for &page in pages {
        let version = view.kept.trim(page);
        match runs.last_mut() {
            Some((first, begun, count))
                if *first + *count == page.get() && *begun + u64::from(*count) == version =>
            {
                *count += 1;
            }
            _ => runs.push((page.get(), version, 1)),
        }
    }
    runs
}

/// Writes the changes of a log into the tables, the last of each record. Returns the last facts.
fn write_to_tables(
    contents: &log::Contents,
    file: &File,
    layout: &FileLayout,
) -> io::Result<Option<Facts>> {
    let record = layout.record_bytes as usize;
    let (mut blocks, mut trims) = (BTreeMap::new(), BTreeMap::new());
    let mut pages: Vec<(u32, usize, &[u8])> = Vec::new();
    let mut facts = None;
    for change in contents.changes() {
        match change? {
            LogChange::Block(block, record) => drop(blocks.insert(block, record)),
            LogChange::Pages(first, all) => {
                let before = pages.len();
                let rows = (first..).zip(all.chunks(record));
                pages.extend(rows.map(|(number, record)| (number, before, record)));
            }
            LogChange::Trims(first, version, count) => drop(trims.insert((first, version), count)),
            LogChange::Facts(text) => facts = Some(serde_json::from_slice(text)?),
            LogChange::Data(..) => {}
        }
    }
    for (block, record) in blocks {
        file.write_all_at(record, layout.block(BlockId::new(block)))?;
    }
    pages.sort_unstable_by_key(|&(number, order, _)| (number, order));
    write_pages(&pages, file, layout)?;
    // A later trim has a higher version, and replaces what an earlier one said of a page.
    let mut by_version: Vec<((u32, u64), u32)> = trims.into_iter().collect();
    by_version.sort_unstable_by_key(|&((_, version), _)| version);
    for ((first, version), count) in by_version {
        let versions = version..version + u64::from(count);
        let bytes: Vec<u8> = versions.flat_map(u64::to_le_bytes).collect();
        file.write_all_at(&bytes, layout.trim(Lpn::new(first)))?;
    }
    Ok(facts)
}

/// Writes the last record of each page, adjacent ones together. They are in order of pages and time.
fn write_pages(pages: &[(u32, usize, &[u8])], file: &File, layout: &FileLayout) -> io::Result<()> {
    let mut run: Vec<u8> = Vec::new();
    let mut first = 0;
    for same in pages.chunk_by(|one, other| one.0 == other.0) {
        let &(number, _, record) = &same[same.len() - 1];
        let next = first + (run.len() / layout.record_bytes as usize) as u32;
        if next != number {
            file.write_all_at(&run, layout.page(Ppn::new(first)))?;
            run.clear();
            first = number;
        }
        run.extend_from_slice(record);
    }
    file.write_all_at(&run, layout.page(Ppn::new(first)))
}

/// Punches a hole: the bytes read as zeros, and their space is given back. Where a file system can't do that, zeros are
/// written over what is there.
pub fn punch(file: &File, from: u64, bytes: u64) -> io::Result<()> {
    let length = file.metadata()?.len();
    let bytes = bytes.min(length.saturating_sub(from));
    if bytes == 0 {
        return Ok(());
    }
    let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    match rustix::io::retry_on_intr(|| fallocate(file, flags, from, bytes)) {
        Ok(()) => Ok(()),
        Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => {
            let zeros = vec![0; (1 << 20).min(bytes as usize)];
            let mut at = from;
            while at < from + bytes {
                let count = zeros.len().min((from + bytes - at) as usize);
                file.write_all_at(&zeros[..count], at)?;
                at += count as u64;
            }
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}
