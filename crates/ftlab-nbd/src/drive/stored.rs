//! What a killed server left: reads the tables of the data file, row by row, for the device that recovers from them.

use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::rc::Rc;

use ftlab::ftl::recovery::{KeptBlock, KeptFacts, KeptPage, KeptSource};
use ftlab::shape::Geometry;
use ftlab::units::{BlockId, Lpn, Ppn};
use rustix::fs::{SeekFrom, seek};

use super::data_file::{Seconds, Unusable};
use super::header::Facts;
use super::layout::{BLOCK_BYTES, FileLayout, TRIM_BYTES};
use super::records::{self, StoredPage};

/// What a killed server left.
#[derive(Debug)]
pub struct StoredDevice {
    file: Rc<File>,
    layout: Rc<FileLayout>,
    blocks: Vec<KeptBlock>,
    trims: Vec<(Lpn, u64)>,
    facts: Facts,
    kept: KeptFacts,
    /// The pages that were read last, and their first.
    row: RefCell<(u32, Vec<StoredPage>)>,
    seconds: RefCell<Seconds>,
    /// A read that failed.
    failed: RefCell<Option<io::Error>>,
}

/// How many pages are read from the table together.
const ROW: u32 = 4096;

impl StoredDevice {
    pub(super) fn read(
        file: Rc<File>,
        layout: Rc<FileLayout>,
        geometry: &Geometry,
        facts: Facts,
    ) -> Result<StoredDevice, Unusable> {
        let mut table = vec![0; (u64::from(geometry.blocks()) * BLOCK_BYTES) as usize];
        read_sparse(&file, &mut table, layout.block(BlockId::new(0)))?;
        let blocks = table.chunks(BLOCK_BYTES as usize).map(records::block_of);
        let blocks: Option<Vec<KeptBlock>> = blocks.collect();
        let damaged = || Unusable::Damaged("a block has a state that there is not".to_owned());
        let blocks = blocks.ok_or_else(damaged)?;
        let trims = read_trims(&file, &layout)?;
        let kept = facts.kept();
        let (row, seconds) = (RefCell::new((0, Vec::new())), RefCell::default());
        let failed = RefCell::default();
        Ok(StoredDevice { file, layout, blocks, trims, facts, kept, row, seconds, failed })
    }

    /// The facts.
    #[must_use]
    pub fn all_facts(&self) -> &Facts {
        &self.facts
    }

    /// The second places of the pages that were read so far.
    #[must_use]
    pub fn take_seconds(&self) -> Seconds {
        self.seconds.take()
    }

    /// Whether all could be read.
    ///
    /// # Errors
    /// The first read that failed.
    pub fn check(&self) -> io::Result<()> {
        self.failed.take().map_or(Ok(()), Err)
    }

    fn read_row(&self, first: u32) -> io::Result<Vec<StoredPage>> {
        let record = self.layout.record_bytes as usize;
        let mut bytes = vec![0; ROW as usize * record];
        read_sparse(&self.file, &mut bytes, self.layout.page(Ppn::new(first)))?;
        Ok(bytes.chunks(record).map(|one| records::page_of(one, &self.layout)).collect())
    }
}

impl KeptSource for StoredDevice {
    fn block(&self, block: BlockId) -> KeptBlock {
        self.blocks[block.at()]
    }

    fn page(&self, at: Ppn) -> KeptPage {
        let first = at.get() - at.get() % ROW;
        let mut row = self.row.borrow_mut();
        if row.1.is_empty() || row.0 != first {
            match self.read_row(first) {
                Ok(pages) => *row = (first, pages),
                Err(error) => {
                    self.failed.borrow_mut().get_or_insert(error);
                    return KeptPage::default();
                }
            }
        }
        let StoredPage { kept, second } = row.1[(at.get() - first) as usize];
        if let Some(page) = second {
            self.seconds.borrow_mut().insert(at, page);
        }
        kept
    }

    fn trims(&self) -> impl Iterator<Item = (Lpn, u64)> {
        self.trims.iter().copied()
    }

    fn facts(&self) -> &KeptFacts {
        &self.kept
    }
}

/// Reads bytes; those behind the end of the file are zero.
fn read_sparse(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    let mut done = 0;
    while done < bytes.len() {
        match file.read_at(&mut bytes[done..], at + done as u64) {
            Ok(0) => break,
            Ok(count) => done += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes[done..].fill(0);
    Ok(())
}

/// Reads the trims, without the parts of the table that were never written.
fn read_trims(file: &File, layout: &FileLayout) -> io::Result<Vec<(Lpn, u64)>> {
    let std::ops::Range { start, end } = layout.trims();
    let mut trims = Vec::new();
    let mut at = start;
    let mut bytes = vec![0; ROW as usize * TRIM_BYTES as usize];
    while at < end {
        let data = match seek(file, SeekFrom::Data(at)) {
            Ok(data) => data,
            // Nothing but a hole, or the end of the file.
            Err(rustix::io::Errno::NXIO) => break,
            Err(error) => return Err(error.into()),
        };
        at = data.max(at) - (data.max(at) - start) % TRIM_BYTES;
        if at >= end {
            break;
        }
        let length = bytes.len().min((end - at) as usize);
        read_sparse(file, &mut bytes[..length], at)?;
        let first = ((at - start) / TRIM_BYTES) as u32;
        for (page, version) in (first..).zip(bytes[..length].chunks(TRIM_BYTES as usize)) {
            let version = records::u64_at(version, 0);
            if version > 0 {
                trims.push((Lpn::new(page), version));
            }
        }
        at += length as u64;
    }
    Ok(trims)
}
