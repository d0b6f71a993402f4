//! The tables of the data file: writes what a device keeps as records, one by one or from the log.

use std::collections::BTreeMap;
use std::io;

use ftlab::ftl::recovery::Kept;
use ftlab::shape::Geometry;
use ftlab::units::{BlockId, Lpn, Ppn};

use super::file::DriveFile;
use super::header::Facts;
use super::layout::{FileLayout, TRIM_BYTES};
use super::log::{Contents, LogChange};
use super::records::{self, BlockRecord, StoredBlock, StoredPage, StoredSuperblock};

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
    /// Appends the records of pages.
    pub fn put_pages(&self, first: Ppn, units: u32, layout: &FileLayout, out: &mut Vec<u8>) {
        for at in (first.get()..first.get() + units).map(Ppn::new) {
            let second = self.seconds.get(&at).copied();
            records::put_page(at, &StoredPage { kept: self.kept.page(at), second }, layout, out);
        }
    }

    /// The record of a block, and what is kept of its superblock.
    #[must_use]
    pub fn block_record(&self, block: BlockId, has_pages: bool) -> (BlockRecord, Vec<u8>) {
        let of_superblock = self.kept.superblock(block);
        let superblock = StoredSuperblock::of(block, &of_superblock);
        let stored = StoredBlock { kept: self.kept.block(block), has_pages, superblock };
        (records::block_record(block, &stored), of_superblock)
    }

    /// Trims of adjacent pages with versions one after the other, as the device makes them: the first page, its version,
    /// and how many there are.
    #[must_use]
    pub fn trim_runs(&self, pages: &[Lpn]) -> Vec<(u32, u64, u32)> {
        let mut runs: Vec<(u32, u64, u32)> = Vec::new();
        for &page in pages {
            let version = self.kept.trim(page);
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
}

/// The tables of a file.
#[derive(Clone, Copy)]
pub struct FileTables<'a> {
    /// The file.
    pub file: &'a DriveFile,
    /// Where everything lies in it.
    pub layout: &'a FileLayout,
}

impl FileTables<'_> {
    /// Writes everything that a device keeps. Nothing of what the tables had before counts. `has_pages` tells which
    /// blocks have their pages in the table.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn write(&self, view: DriveView<'_>, has_pages: &[bool]) -> io::Result<()> {
        let start = self.layout.block(BlockId::new(0));
        self.file.punch(start, self.layout.trims().end - start)?;
        let blocks = || (0..).map(BlockId::new).zip(has_pages);
        let mut records: Vec<u8> = Vec::new();
        for (block, &has) in blocks() {
            let (record, superblock) = view.block_record(block, has);
            records.extend_from_slice(&record);
            self.write_superblock(block, &superblock)?;
        }
        self.file.write_at(&records, start)?;
        for (block, _) in blocks().filter(|&(_, &has)| has) {
            self.write_pages_of(block, view)?;
        }
        let trimmed = (0..self.layout.logical_pages).map(Lpn::new);
        let trimmed: Vec<Lpn> = trimmed.filter(|&page| view.kept.trim(page) > 0).collect();
        let runs = view.trim_runs(&trimmed);
        runs.into_iter()
            .try_for_each(|(first, version, count)| self.write_trims(first, version, count))
    }

    /// Writes the pages of a block.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn write_pages_of(&self, block: BlockId, view: DriveView<'_>) -> io::Result<()> {
        let (first, units) = (view.geometry.page_at(block, 0), view.geometry.units_per_block());
        let mut bytes = Vec::with_capacity(units as usize * self.layout.record_bytes as usize);
        view.put_pages(first, units, self.layout, &mut bytes);
        self.file.write_at(&bytes, self.layout.page(first))
    }

    fn write_superblock(&self, block: BlockId, kept: &[u8]) -> io::Result<()> {
        match kept.is_empty() {
            true => Ok(()),
            false => self.file.write_at(kept, self.layout.superblock(block)),
        }
    }

    fn write_trims(&self, first: u32, version: u64, count: u32) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(count as usize * TRIM_BYTES as usize);
        for (page, version) in (first..first + count).zip(version..) {
            records::put_trim(Lpn::new(page), version, &mut bytes);
        }
        self.file.write_at(&bytes, self.layout.trim(Lpn::new(first)))
    }

    /// Writes the changes of a log, the last of each record. Returns the last facts.
    ///
    /// # Errors
    /// The file can't be written, or the log is of another device.
    pub fn take_in(&self, contents: &Contents) -> io::Result<Option<Facts>> {
        let record = self.layout.record_bytes as usize;
        let (mut blocks, mut trims) = (BTreeMap::new(), BTreeMap::new());
        let mut pages: Vec<(u32, usize, &[u8])> = Vec::new();
        let mut facts = None;
        for change in contents.changes() {
            let change = change?;
            self.check(&change)?;
            match change {
                LogChange::Block(block, record, superblock) => {
                    blocks.insert(block, (record, superblock));
                }
                LogChange::Pages(first, all) => {
                    let before = pages.len();
                    let rows = (first..).zip(all.chunks(record));
                    pages.extend(rows.map(|(number, record)| (number, before, record)));
                }
                LogChange::Trims(first, version, count) => {
                    trims.insert((first, version), count);
                }
                LogChange::Facts(text) => facts = Some(serde_json::from_slice(text)?),
                LogChange::Data(..) | LogChange::Outside(..) => {}
            }
        }
        for (block, (record, superblock)) in blocks {
            self.file.write_at(record, self.layout.block(BlockId::new(block)))?;
            self.write_superblock(BlockId::new(block), superblock)?;
        }
        pages.sort_unstable_by_key(|&(number, order, _)| (number, order));
        self.write_last(&pages)?;
        // A later trim has a higher version, and replaces what an earlier one said of a page.
        let mut by_version: Vec<((u32, u64), u32)> = trims.into_iter().collect();
        by_version.sort_unstable_by_key(|&((_, version), _)| version);
        for ((first, version), count) in by_version {
            self.write_trims(first, version, count)?;
        }
        Ok(facts)
    }

    /// Checks that a change is one of this device.
    ///
    /// # Errors
    /// It is not.
    pub fn check(&self, change: &LogChange<'_>) -> io::Result<()> {
        let layout = self.layout;
        let fits = |first: u32, count: u64, all: u32| u64::from(first) + count <= u64::from(all);
        let right = match *change {
            LogChange::Block(block, _, superblock) => {
                block < layout.block_count && superblock.len() as u64 <= layout.superblock_bytes
            }
            LogChange::Pages(first, records) => {
                let (bytes, record) = (records.len() as u64, layout.record_bytes);
                bytes.is_multiple_of(record) && fits(first, bytes / record, layout.physical_pages)
            }
            LogChange::Trims(first, version, count) => {
                fits(first, count.into(), layout.logical_pages)
                    && version.checked_add(count.into()).is_some()
            }
            LogChange::Facts(_) => true,
            // The log has put in what is there.
            LogChange::Outside(..) => false,
            LogChange::Data(page, second, bytes) => {
                fits(page, 1, layout.physical_pages)
                    && (!second || layout.parts > 1)
                    && bytes.len() as u64 == layout.page_bytes
            }
        };
        let what = "its log is of another device";
        if right { Ok(()) } else { Err(io::Error::new(io::ErrorKind::InvalidData, what)) }
    }

    /// Writes the last record of each page, adjacent ones together. They are in order of pages and time.
    fn write_last(&self, pages: &[(u32, usize, &[u8])]) -> io::Result<()> {
        let mut run: Vec<u8> = Vec::new();
        let mut first = 0;
        for same in pages.chunk_by(|one, other| one.0 == other.0) {
            let &(number, _, record) = &same[same.len() - 1];
            let next = first + (run.len() / self.layout.record_bytes as usize) as u32;
            if next != number {
                self.file.write_at(&run, self.layout.page(Ppn::new(first)))?;
                run.clear();
                first = number;
            }
            run.extend_from_slice(record);
        }
        self.file.write_at(&run, self.layout.page(Ppn::new(first)))
    }
}
