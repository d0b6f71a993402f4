//! The block requests of a file system that journals its metadata and writes everything else in place, as ext4 does in its mode
//! "ordered" with online discard (Mathur et al., "The New ext4 Filesystem", Ottawa Linux Symposium 2007; Prabhakaran et al.,
//! "Analysis and Evolution of Journaling File Systems", USENIX ATC 2005, section 3).
//!
//! The region holds metadata, the journal, and files, in this order. An operation that writes makes a file: its data is written
//! as a whole, and a few blocks of metadata change. A commit writes the changed blocks to the journal, a ring, behind the data
//! of their files, and flushes; then the files that were deleted are trimmed. Before the journal gets to its other half, the
//! blocks that are in it are written in place.
//!
//! Files die in two ways. Temporary ones, which most are, live in little space (Vogels, "File System Usage in Windows NT 4.0",
//! SOSP 1999: 80 % of new files are deleted within seconds); the others fill the disk up to `data`. A new file displaces files
//! of its kind, drawn at random, so that lifetimes are without memory, and as long as the space that a kind has.
//!
//! Departures: files are not appended to, overwritten or read in parts. A read is of a whole file, and all lasting files are
//! alike. Commits count operations, where ext4 counts seconds. Requests of a commit do not wait for one another. Temporary files
//! always get to the disk, where a page cache would keep some of them from it.

use std::collections::BTreeSet;

use ftlab::engine::Stream;
use ftlab::host::Op;
use ftlab::units::{Amount, Ratio};
use serde::Serialize;

use super::extents::{Extents, Space};
use super::files::{FileSizes, bytes, share_problem, size_problem};
use super::queue::{Outbox, Transfer};
use crate::generate::address::{Extent, Misfit, RankedDraw};
use crate::generate::workload::Phase;

/// The streams: one for each lifetime.
const JOURNAL_STREAM: u32 = 0;
const METADATA_STREAM: u32 = 1;
const TEMPORARY_STREAM: u32 = 2;
const LASTING_STREAM: u32 = 3;
/// The metadata that a new or deleted file changes: its inode, its directory, and a bitmap of blocks.
const BLOCKS_PER_CHANGE: u64 = 3;
/// What a commit adds to the blocks of metadata: a descriptor and the block that ends it.
const BLOCKS_PER_COMMIT: u64 = 2;
/// The fewest blocks of a journal. Changes that fill a quarter of it are committed, as in ext4.
const FEWEST_JOURNAL: u64 = 32;
const COMMITS_PER_JOURNAL: u64 = 4;
/// A file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FileSystemLoad {
    /// The space of lasting files; a share is of the region.
    pub data: Amount,
    /// The share of temporary files among new ones.
    pub temporary: Ratio,
    /// The space of temporary files.
    pub temporary_data: Amount,
    /// The size to which larger files are cut.
    pub largest_file: Amount,
    /// The space of metadata.
    pub metadata: Amount,
    /// The space of the journal.
    pub journal: Amount,
    /// The operations between two commits.
    pub commit: u32,
}

impl FileSystemLoad {
    pub(super) fn streams(&self) -> u32 {
        LASTING_STREAM + 1
    }

    pub(super) fn problem(&self, phase: &Phase) -> Option<Misfit> {
        share_problem(self.temporary, phase)
    }
}

/// Where a file system lies, in sectors.
#[derive(Clone, Copy, Debug)]
struct DiskShape {
    start: u64,
    block: u64,
    metadata: u64,
    journal: u64,
    largest: u64,
    /// The most space of temporary files, and of the others.
    most: [u64; 2],
}

impl DiskShape {
    fn of(shape: &FileSystemLoad, block: u64, extent: Extent) -> Result<DiskShape, Misfit> {
        let blocks = |amount: Amount| amount.sectors(extent.sectors) / block * block;
        let [metadata, journal, largest] =
            [shape.metadata, shape.journal, shape.largest_file].map(blocks);
        let most = [shape.temporary_data, shape.data].map(blocks);
        if metadata == 0 || journal < FEWEST_JOURNAL * block {
            let message =
                format!("{} of metadata and a journal of {}", bytes(metadata), bytes(journal));
            let least = bytes(FEWEST_JOURNAL * block);
            let remedy = format!(
                "choose a journal of at least {least}, and at least {} of metadata",
                bytes(block)
            );
            return Err(("load.journal", message, remedy));
        }
        if let Some(misfit) = size_problem(block, largest, most) {
            return Err(misfit);
        }
        let needed = [metadata, journal, most[0], most[1]].into_iter().fold(0, u64::saturating_add);
        if needed > extent.sectors {
            let message = format!(
                "metadata, journal and files need {}, but the region has {}",
                bytes(needed),
                bytes(extent.sectors)
            );
            return Err(("load.data", message, "choose less data or a larger region".to_owned()));
        }
        Ok(DiskShape { start: extent.start, block, metadata, journal, largest, most })
    }
}

/// The live files of one kind.
#[derive(Clone, Debug, Default)]
struct LiveFiles {
    places: Vec<Extents>,
    sectors: u64,
}

/// A file that waits for space.
#[derive(Clone, Copy, Debug)]
struct NewFile {
    is_lasting: bool,
    sectors: u64,
}

impl NewFile {
    fn stream(self) -> u32 {
        if self.is_lasting { LASTING_STREAM } else { TEMPORARY_STREAM }
    }
}

/// A file system at work.
#[derive(Clone, Debug)]
pub(in crate::generate) struct FileSystemRun {
    disk: DiskShape,
    temporary: Ratio,
    commit: u32,
    space: Space,
    is_laid_out: bool,
    /// The temporary files, and the others.
    files: [LiveFiles; 2],
    new_file: Option<NewFile>,
    /// Deleted files: those whose deletion is not committed, and those whose trims are not all issued.
    deleted: Vec<(u32, Extents)>,
    trimmed: Vec<Extents>,
    /// The blocks of metadata that changed since the last commit, and those that are in the journal alone.
    changed: BTreeSet<u64>,
    journalled: BTreeSet<u64>,
    /// The operations since the last commit.
    operations: u32,
    /// Where the journal goes on, and what it has taken since blocks were last written in place.
    journal_at: u64,
    journal_used: u64,
    queue: Outbox,
    popularity: RankedDraw,
    sizes: FileSizes,
    stream: Stream,
}

impl FileSystemRun {
    pub fn new(
        shape: &FileSystemLoad,
        phase: &Phase,
        extent: Extent,
        stream: &dyn Fn(&str) -> Stream,
    ) -> Result<FileSystemRun, Misfit> {
        let disk = DiskShape::of(shape, phase.align.sectors(), extent)?;
        let apart = disk.metadata + disk.journal;
        Ok(FileSystemRun {
            popularity: RankedDraw::new(phase, disk.metadata / disk.block, stream("load"))?,
            sizes: FileSizes::new(disk.block, disk.largest),
            disk,
            temporary: shape.temporary,
            commit: shape.commit,
            space: Space::new(extent.start + apart, extent.sectors - apart),
            is_laid_out: false,
            files: Default::default(),
            new_file: None,
            deleted: Vec::new(),
            trimmed: Vec::new(),
            changed: BTreeSet::new(),
            journalled: BTreeSet::new(),
            operations: 0,
            journal_at: 0,
            journal_used: 0,
            queue: Outbox::new(phase.size.largest().sectors()),
            stream: stream("file"),
        })
    }

    /// Makes the files that are there at the beginning: lasting ones fill their space, one behind the other. This comes with
    /// the first request, since phases are laid out to be checked, too.
    fn lay_out(&mut self) {
        self.is_laid_out = true;
        loop {
            let sectors = self.sizes.draw(&mut self.stream);
            if self.files[1].sectors + sectors > self.disk.most[1] {
                return;
            }
            let place = self.space.take(sectors).expect("the region holds all files");
            self.keep(NewFile { is_lasting: true, sectors }, place);
        }
    }

    /// As [`Outbox::awaits_trims`].
    pub fn awaits_trims(&self) -> bool {
        self.queue.awaits_trims()
    }

    /// Returns the next request. `is_read` draws whether the application reads a file or makes one.
    pub fn next(&mut self, mut is_read: impl FnMut() -> bool) -> Transfer {
        if !self.is_laid_out {
            self.lay_out();
        }
        loop {
            let commits = self.commits();
            let waits = self.new_file.is_some() || (commits && self.is_half_full());
            if let Some(transfer) = self.queue.pop(waits) {
                return transfer;
            }
            for place in self.trimmed.drain(..) {
                self.queue.note_freed(&place);
                self.space.give_back(&place);
            }
            match self.new_file {
                _ if commits => self.write_journal(),
                Some(file) => self.write(file),
                None if is_read() => self.read(),
                None => self.make_file(),
            }
        }
    }

    /// Whether changes are to be committed: after some operations, when they fill their part of the journal, or because a file
    /// needs the space of deleted ones.
    fn commits(&self) -> bool {
        let most = self.disk.journal / self.disk.block / COMMITS_PER_JOURNAL;
        let is_due = self.operations >= self.commit
            || self.changed.len() as u64 + BLOCKS_PER_COMMIT >= most
            || (self.new_file.is_some() && !self.deleted.is_empty());
        is_due && !self.changed.is_empty()
    }

    /// Returns the changed blocks that the next commit takes: no more than half of the journal holds.
    fn next_commit(&self) -> u64 {
        let half = self.disk.journal / self.disk.block / 2;
        (self.changed.len() as u64).min(half - BLOCKS_PER_COMMIT)
    }

    /// Whether the next commit does not fit into this half of the journal.
    fn is_half_full(&self) -> bool {
        let next = (self.next_commit() + BLOCKS_PER_COMMIT) * self.disk.block;
        self.journal_used + next > self.disk.journal / 2
    }

    fn write_journal(&mut self) {
        let DiskShape { start, block, metadata, journal, .. } = self.disk;
        let blocks = self.next_commit();
        if self.is_half_full() {
            // Everything in place was issued before: the other half may be overwritten.
            for at in std::mem::take(&mut self.journalled) {
                let (start, stream) = (start + at * block, METADATA_STREAM);
                self.queue.push_behind(Transfer { op: Op::Write, start, sectors: block, stream });
            }
            self.journal_used = 0;
        }
        let mut left = (blocks + BLOCKS_PER_COMMIT) * block;
        self.journal_used += left;
        let stream = JOURNAL_STREAM;
        while left > 0 {
            let sectors = left.min(journal - self.journal_at);
            let start = start + metadata + self.journal_at;
            self.queue.push(Transfer { op: Op::Write, start, sectors, stream });
            self.journal_at = (self.journal_at + sectors) % journal;
            left -= sectors;
        }
        self.queue.push(Transfer { op: Op::Flush, start: 0, sectors: 0, stream });
        for _ in 0..blocks {
            self.journalled.extend(self.changed.pop_first());
        }
        // Deletions last once all that changed with them is in the journal.
        if !self.changed.is_empty() {
            return;
        }
        for (stream, place) in self.deleted.drain(..) {
            for &(start, sectors) in &place.0 {
                self.queue.push(Transfer { op: Op::Trim, start, sectors, stream });
            }
            self.trimmed.push(place);
        }
        self.operations = 0;
    }

    fn make_file(&mut self) {
        self.operations += 1;
        let is_temporary =
            self.stream.below(u64::from(Ratio::ONE.ppm)) < u64::from(self.temporary.ppm);
        let file =
            NewFile { is_lasting: !is_temporary, sectors: self.sizes.draw(&mut self.stream) };
        let kind = usize::from(file.is_lasting);
        while self.files[kind].sectors + file.sectors > self.disk.most[kind] {
            let LiveFiles { places, sectors } = &mut self.files[kind];
            let drawn = self.stream.below(places.len() as u64) as usize;
            let place = places.swap_remove(drawn);
            *sectors -= place.sectors();
            self.deleted.push((file.stream(), place));
            self.change();
        }
        self.change();
        self.write(file);
    }

    /// Writes a file, or lets it wait for the space of deleted ones.
    fn write(&mut self, file: NewFile) {
        let place = self.space.take(file.sectors);
        self.new_file = if place.is_some() { None } else { Some(file) };
        if let Some(place) = place {
            for &(start, sectors) in &place.0 {
                let stream = file.stream();
                self.queue.push(Transfer { op: Op::Write, start, sectors, stream });
            }
            self.keep(file, place);
        }
    }

    fn keep(&mut self, file: NewFile, place: Extents) {
        let LiveFiles { places, sectors } = &mut self.files[usize::from(file.is_lasting)];
        places.push(place);
        *sectors += file.sectors;
    }

    fn read(&mut self) {
        let places = &self.files[1].places;
        let drawn = self.stream.below(places.len() as u64) as usize;
        for &(start, sectors) in &places[drawn].0 {
            let stream = LASTING_STREAM;
            self.queue.push(Transfer { op: Op::Read, start, sectors, stream });
        }
    }

    /// The metadata of a new or deleted file changes.
    fn change(&mut self) {
        for _ in 0..BLOCKS_PER_CHANGE {
            self.changed.insert(self.popularity.draw());
        }
    }
}

#[cfg(test)]
mod tests;
