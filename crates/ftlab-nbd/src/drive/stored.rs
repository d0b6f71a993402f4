//! What a killed server left: reads the tables of the data file, row by row, for the device that recovers from them.

use std::cell::RefCell;
use std::rc::Rc;

use ftlab::ftl::recovery::{KeptBlock, KeptFacts, KeptPage, KeptSource};
use ftlab::shape::Geometry;
use ftlab::units::{BlockId, Lpn, Ppn};

use super::data_file::Unusable;
use super::file::DriveFile;
use super::header::Facts;
use super::layout::{BLOCK_BYTES, FileLayout, TRIM_BYTES};
use super::records::{self, StoredBlock, StoredPage};
use super::tables::Seconds;

/// What a killed server left.
#[derive(Debug)]
pub struct StoredDevice {
    file: Rc<DriveFile>,
    layout: Rc<FileLayout>,
    blocks: Vec<StoredBlock>,
    trims: Vec<(Lpn, u64)>,
    facts: Facts,
    kept: KeptFacts,
    row: RefCell<PageRow>,
    seconds: RefCell<Seconds>,
    /// A page or superblock that can't be read, or is damaged.
    failed: RefCell<Option<Unusable>>,
}

/// Records of pages that were read last.
#[derive(Debug, Default)]
struct PageRow {
    first: u32,
    bytes: Vec<u8>,
}

/// How many records are read from a table together.
const ROW: u32 = 4096;

fn damaged(what: impl std::fmt::Display) -> Unusable {
    Unusable::Damaged(format!("the record of {what} has changed"))
}

impl StoredDevice {
    pub(super) fn read(
        file: Rc<DriveFile>,
        layout: Rc<FileLayout>,
        geometry: &Geometry,
        facts: Facts,
    ) -> Result<StoredDevice, Unusable> {
        let mut table = vec![0; (u64::from(geometry.blocks()) * BLOCK_BYTES) as usize];
        file.read_sparse(&mut table, layout.block(BlockId::new(0)))?;
        let (records, _) = table.as_chunks();
        let blocks = (0..).map(BlockId::new).zip(records).map(|(block, record)| {
            let known = records::block_of(block, record);
            let right =
                known.filter(|it| u64::from(it.superblock.bytes) <= layout.superblock_bytes);
            right.ok_or_else(|| damaged(format_args!("block {}", block.get())))
        });
        let blocks = blocks.collect::<Result<Vec<StoredBlock>, Unusable>>()?;
        let trims = read_trims(&file, &layout)?;
        let senseless = || Unusable::Damaged("its facts make no sense".to_owned());
        let kept = facts.kept().ok_or_else(senseless)?;
        let (row, seconds, failed) = Default::default();
        Ok(StoredDevice { file, layout, blocks, trims, facts, kept, row, seconds, failed })
    }

    /// The facts.
    #[must_use]
    pub fn all_facts(&self) -> &Facts {
        &self.facts
    }

    /// By block: whether its pages are in the table.
    #[must_use]
    pub fn has_pages(&self) -> Vec<bool> {
        self.blocks.iter().map(|block| block.has_pages).collect()
    }

    /// The second places of the pages that were read so far.
    #[must_use]
    pub fn take_seconds(&self) -> Seconds {
        self.seconds.take()
    }

    /// Whether all pages could be read.
    ///
    /// # Errors
    /// The first that could not.
    pub fn check(&self) -> Result<(), Unusable> {
        self.failed.take().map_or(Ok(()), Err)
    }

    fn read_superblock(&self, block: BlockId) -> Result<Vec<u8>, Unusable> {
        let stored = self.blocks[block.at()].superblock;
        let mut kept = vec![0; stored.bytes as usize];
        if !kept.is_empty() {
            self.file.read_exact_at(&mut kept, self.layout.superblock(block))?;
        }
        match records::StoredSuperblock::of(block, &kept) == stored {
            true => Ok(kept),
            false => Err(damaged(format_args!("superblock {}", block.get()))),
        }
    }

    fn read_page(&self, at: Ppn) -> Result<StoredPage, Unusable> {
        let record = self.layout.record_bytes as usize;
        let first = at.get() - at.get() % ROW;
        let mut row = self.row.borrow_mut();
        if row.bytes.is_empty() || row.first != first {
            row.first = first;
            row.bytes.resize(ROW as usize * record, 0);
            self.file.read_sparse(&mut row.bytes, self.layout.page(Ppn::new(first)))?;
        }
        let from = (at.get() - first) as usize * record;
        let page = records::page_of(at, &row.bytes[from..from + record], &self.layout);
        page.ok_or_else(|| damaged(format_args!("physical page {}", at.get())))
    }
}

impl KeptSource for StoredDevice {
    fn block(&self, block: BlockId) -> KeptBlock {
        self.blocks[block.at()].kept
    }

    fn superblock(&self, block: BlockId) -> Vec<u8> {
        self.read_superblock(block).unwrap_or_else(|error| {
            self.failed.borrow_mut().get_or_insert(error);
            Vec::new()
        })
    }

    fn page(&self, at: Ppn) -> KeptPage {
        match self.read_page(at) {
            Ok(StoredPage { kept, second }) => {
                if let Some(page) = second {
                    self.seconds.borrow_mut().insert(at, page);
                }
                kept
            }
            Err(error) => {
                self.failed.borrow_mut().get_or_insert(error);
                KeptPage::default()
            }
        }
    }

    fn trims(&self) -> impl Iterator<Item = (Lpn, u64)> {
        self.trims.iter().copied()
    }

    fn facts(&self) -> &KeptFacts {
        &self.kept
    }
}

/// Reads the trims, without the parts of the table that were never written.
fn read_trims(file: &DriveFile, layout: &FileLayout) -> Result<Vec<(Lpn, u64)>, Unusable> {
    let std::ops::Range { start, end } = layout.trims();
    let mut trims = Vec::new();
    let mut at = start;
    let mut bytes = vec![0; ROW as usize * TRIM_BYTES as usize];
    while let Some(data) = file.next_data(at)? {
        at = data - (data - start) % TRIM_BYTES;
        if at >= end {
            break;
        }
        let length = bytes.len().min((end - at) as usize);
        file.read_sparse(&mut bytes[..length], at)?;
        let first = ((at - start) / TRIM_BYTES) as u32;
        let records = bytes[..length].chunks(TRIM_BYTES as usize);
        for (page, record) in (first..).map(Lpn::new).zip(records) {
            let version = records::trim_of(page, record);
            let what = || damaged(format_args!("the trim of logical page {}", page.get()));
            let version = version.ok_or_else(what)?;
            if version > 0 {
                trims.push((page, version));
            }
        }
        at += length as u64;
    }
    Ok(trims)
}
