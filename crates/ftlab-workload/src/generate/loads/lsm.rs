//! The block requests of an LSM tree with levelled compaction: a log of updates, memtables flushed
//! to level 0, and compactions from level to level (O'Neil et al., "The Log-Structured Merge-Tree",
//! Acta Informatica 33, 1996, sections 2 and 3; Dong et al., "Optimizing Space Amplification in
//! RocksDB", CIDR 2017, sections 2 and 3).
//!
//! As in RocksDB: level 0 is compacted as a whole once it has `l0_files` files, and each level is
//! `ratio` times as large as the one above, counted from the last level (dynamic level sizes). A
//! level's compactions walk through its keys in turn, as in LevelDB and in O'Neil's rolling merge.
//! A file without keys of the next level in its range moves there without being rewritten. One
//! background thread flushes and compacts; its requests alternate with those of the application,
//! which waits once two memtables are full.
//!
//! Departures: all entries have one size and are not compressed, and files have no index blocks.
//! The outputs of a compaction are equally large, where RocksDB fills each file in turn. The lowest
//! level that is too large is compacted first, where RocksDB takes the one that is fullest for its
//! size. Lookups do not search memtables, and filters answer exactly. File space is given first-fit,
//! and written again only when its deallocation has completed.

use ftlab::engine::Stream;
use ftlab::host::Op;
use ftlab::units::{Amount, Bytes, SECTOR_BYTES};
use serde::Serialize;

use super::extents::{Extents, Space};
use super::no_space;
use super::queue::{Outbox, Transfer};
use super::tree::{Compaction, Levels, TableFile};
use crate::generate::address::{Extent, Misfit, RankedDraw};
use crate::generate::workload::Phase;

/// The most files of the last level, and the most entries of a memtable.
const MOST_FILES: u64 = 1 << 20;
const MOST_ENTRIES: u64 = 1 << 24;
/// The fewest blocks of a file.
const FEWEST_BLOCKS: u64 = 4;
/// The stream of the log and of level 0; each further level has the next number.
const LOG_STREAM: u32 = 0;
const FLUSH_STREAM: u32 = 1;

/// An LSM tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LsmLoad {
    /// The keys and values, each once; a share is of the region.
    pub data: Amount,
    /// The size of a key with its value.
    pub entry: Bytes,
    /// The size at which a memtable is flushed.
    pub memtable: Amount,
    /// The size of a file.
    pub file: Amount,
    /// The number of levels below level 0.
    pub levels: u32,
    /// How many times larger each level is than the one above.
    pub ratio: u32,
    /// The files of level 0 that make a compaction.
    pub l0_files: u32,
    /// Whether updates are logged.
    pub wal: bool,
}

impl LsmLoad {
    /// The log, level 0 and each further level have a stream of their own.
    pub(super) fn streams(&self) -> u32 {
        self.levels + 2
    }

    pub(super) fn problem(&self, phase: &Phase) -> Option<Misfit> {
        let zero = [
            ("load.levels", self.levels == 0),
            ("load.ratio", self.ratio < 2),
            ("load.l0_files", self.l0_files == 0),
            ("load.entry", self.entry.0 == 0),
        ];
        if let Some((key, _)) = zero.into_iter().find(|(_, zero)| *zero) {
            let message = "a tree has entries, levels, and a ratio of at least 2".to_owned();
            return Some((key, message, "choose a larger number".to_owned()));
        }
        let message = "a tree without updates".to_owned();
        let remedy = "write a share of writes: each is an update".to_owned();
        (phase.mix.writes.ppm == 0).then_some(("writes", message, remedy))
    }
}

/// The sizes of a tree on a device, in sectors.
#[derive(Clone, Debug)]
struct TreeShape {
    block: u64,
    entry: u64,
    /// The number of different keys.
    keys: u32,
    file: u64,
    /// The entries of a file and of a memtable.
    per_file: u64,
    per_memtable: u64,
    targets: Vec<u64>,
}

impl TreeShape {
    fn of(shape: &LsmLoad, block: u64, extent: Extent) -> Result<TreeShape, Misfit> {
        let blocks = |amount: Amount| amount.sectors(extent.sectors) / block * block;
        let (data, file, memtable) =
            (blocks(shape.data), blocks(shape.file), blocks(shape.memtable));
        let entry = shape.entry.0;
        let bytes = |sectors: u64| Bytes(sectors.saturating_mul(SECTOR_BYTES));
        if file < FEWEST_BLOCKS * block || file > data || entry > bytes(file).0 {
            let message = format!(
                "files of {} with entries of {} and {} of data",
                bytes(file),
                shape.entry,
                bytes(data)
            );
            let least = bytes(FEWEST_BLOCKS * block);
            let remedy = format!("choose files of at least {least} and an entry, and more data");
            return Err(("load.file", message, remedy));
        }
        if data / file > MOST_FILES {
            let message = format!("more than {MOST_FILES} files");
            return Err(("load.file", message, "choose larger files".to_owned()));
        }
        let per_memtable = bytes(memtable).0 / entry;
        if per_memtable == 0 || per_memtable > MOST_ENTRIES {
            let message =
                format!("a memtable of {} for entries of {}", bytes(memtable), shape.entry);
            let remedy = format!("choose a memtable of 1 to {MOST_ENTRIES} entries");
            return Err(("load.memtable", message, remedy));
        }
        let keys = u32::try_from(bytes(data).0 / entry).map_err(|_| {
            let message = format!("{} of data with entries of {}", bytes(data), shape.entry);
            ("load.entry", message, "choose larger entries: at most 2^32 are possible".to_owned())
        })?;
        let above = |level: u32| {
            u64::from(shape.ratio).checked_pow(shape.levels - level).map_or(0, |part| data / part)
        };
        let targets: Vec<u64> = (1..=shape.levels).map(above).collect();
        if targets[0] < file {
            let message = format!(
                "the first of {} levels has {}, less than a file of {}",
                shape.levels,
                bytes(targets[0]),
                bytes(file)
            );
            let remedy = "choose fewer levels, a smaller ratio, smaller files or more data";
            return Err(("load.levels", message, remedy.to_owned()));
        }
        let per_file = bytes(file).0 / entry;
        let layout = TreeShape { block, entry, keys, file, per_file, per_memtable, targets };
        let needed = layout.needed(shape);
        if needed > extent.sectors {
            let message = format!(
                "the tree needs up to {} for its levels, logs and compactions, but the region has {}",
                bytes(needed),
                bytes(extent.sectors)
            );
            let remedy = "choose less data, a smaller memtable or file, or a larger region";
            return Err(("load.data", message, remedy.to_owned()));
        }
        Ok(layout)
    }

    /// Returns the space that a tree with evenly used keys needs: full levels, a level 0 of twice
    /// its trigger, two logs, and the outputs of the largest compaction.
    fn needed(&self, shape: &LsmLoad) -> u64 {
        let memtable = self.size_of(self.per_memtable);
        let flushed = memtable.saturating_mul(2 * u64::from(shape.l0_files));
        let levels: u64 = self.targets.iter().sum();
        let deep = self.file.saturating_mul(u64::from(shape.ratio) + 3);
        let outputs = (flushed.saturating_add(self.targets[0])).max(deep);
        [flushed, 2 * memtable, outputs].into_iter().fold(levels, u64::saturating_add)
    }

    /// Returns the size of a file of `entries`.
    fn size_of(&self, entries: u64) -> u64 {
        (entries * self.entry).div_ceil(self.block * SECTOR_BYTES) * self.block
    }
}

/// What changes in the tree once the background thread has issued its reads and writes.
#[derive(Clone, Debug)]
enum TreeWork {
    Flush { file: TableFile },
    Compact { compaction: Compaction, outputs: Vec<TableFile> },
}

/// A tree at work.
#[derive(Clone, Debug)]
pub(in crate::generate) struct LsmRun {
    layout: TreeShape,
    wal: bool,
    l0_files: usize,
    space: Space,
    levels: Levels,
    /// The keys of the memtable that takes updates, as they came, and of a full one.
    memtable: Vec<u32>,
    full: Vec<u32>,
    /// The logs of both, and the bytes written to the first and issued from it.
    log: Extents,
    full_log: Extents,
    logged: u64,
    issued: u64,
    work: Option<TreeWork>,
    /// Deleted files whose trims are not all issued.
    deleted: Vec<Extents>,
    queue: Outbox,
    popularity: RankedDraw,
    /// The keys of a merge, kept for its space.
    merged: Vec<u32>,
    out_of_space: bool,
}

impl LsmRun {
    pub fn new(
        shape: &LsmLoad,
        phase: &Phase,
        extent: Extent,
        stream: Stream,
    ) -> Result<LsmRun, Misfit> {
        let layout = TreeShape::of(shape, phase.align.sectors(), extent)?;
        let popularity = RankedDraw::new(phase, u64::from(layout.keys), stream)?;
        let l0_files = shape.l0_files as usize;
        let mut space = Space::new(extent.start, extent.sectors);
        let mut levels = Levels::new(l0_files, &layout.targets);
        // The data is there: the last level is full, and lies at the start in the order of keys.
        let per_file = u32::try_from(layout.per_file).unwrap_or(u32::MAX);
        let mut first = 0;
        while first < layout.keys {
            let count = per_file.min(layout.keys - first);
            let place = space.take(layout.size_of(u64::from(count)));
            let place = place.ok_or_else(no_space)?;
            levels.append_to_last(TableFile::of_range(first, count, place));
            first += count;
        }
        let mut run = LsmRun {
            wal: shape.wal,
            l0_files,
            space,
            levels,
            memtable: Vec::new(),
            full: Vec::new(),
            log: Extents::default(),
            full_log: Extents::default(),
            logged: 0,
            issued: 0,
            work: None,
            deleted: Vec::new(),
            queue: Outbox::new(phase.size.largest().sectors()),
            popularity,
            merged: Vec::new(),
            out_of_space: false,
            layout,
        };
        run.begin_log().ok_or_else(no_space)?;
        Ok(run)
    }

    /// Returns the next request; `None` once the region has no space for a file. `is_lookup` draws
    /// whether the application looks a key up or updates one.
    pub fn next(&mut self, is_lookup: impl FnMut() -> bool) -> Option<Transfer> {
        let next = self.find_next(is_lookup);
        self.out_of_space = next.is_none();
        next
    }

    /// As [`Outbox::awaits_trims`].
    pub fn awaits_trims(&self) -> bool {
        self.queue.awaits_trims()
    }

    /// Whether the region had no space for a file.
    pub fn has_failed(&self) -> bool {
        self.out_of_space
    }

    fn find_next(&mut self, mut is_lookup: impl FnMut() -> bool) -> Option<Transfer> {
        loop {
            let waits = self.is_full(&self.memtable) && !self.full.is_empty();
            if let Some(transfer) = self.queue.pop(waits) {
                return Some(transfer);
            }
            if self.queue.is_background_done() {
                for place in self.deleted.drain(..) {
                    self.queue.note_freed(&place);
                    self.space.give_back(&place);
                }
                self.finish_work();
                if self.deleted.is_empty() {
                    self.begin_work()?;
                }
            }
            if self.is_full(&self.memtable) {
                if self.full.is_empty() {
                    self.switch_memtables()?;
                }
                continue;
            }
            let key = u32::try_from(self.popularity.draw()).expect("a key");
            if is_lookup() { self.look_up(key) } else { self.update(key) }
        }
    }

    fn is_full(&self, memtable: &[u32]) -> bool {
        memtable.len() as u64 == self.layout.per_memtable
    }

    fn look_up(&mut self, key: u32) {
        let Some((level, file, position)) = self.levels.find(key) else { return };
        let entry = self.layout.entry;
        let block = self.layout.block * SECTOR_BYTES;
        let begin = position * entry / block;
        let blocks = ((position + 1) * entry).div_ceil(block) - begin;
        let stream = level_stream(level);
        let part = file.place.part(begin * self.layout.block, blocks * self.layout.block);
        for (start, sectors) in part {
            self.queue.push(Transfer { op: Op::Read, start, sectors, stream });
        }
    }

    fn update(&mut self, key: u32) {
        self.memtable.push(key);
        self.logged += self.layout.entry;
        let block = self.layout.block * SECTOR_BYTES;
        // The last block of a log is written even if it is not full.
        let whole = self.logged / block;
        let blocks = if self.is_full(&self.memtable) { self.logged.div_ceil(block) } else { whole };
        if self.wal && blocks > self.issued {
            let (from, count) = (self.issued * self.layout.block, blocks - self.issued);
            for (start, sectors) in self.log.part(from, count * self.layout.block) {
                let stream = LOG_STREAM;
                self.queue.push(Transfer { op: Op::Write, start, sectors, stream });
            }
            self.issued = blocks;
        }
    }

    /// Gives the memtable a log.
    fn begin_log(&mut self) -> Option<()> {
        (self.logged, self.issued) = (0, 0);
        if self.wal {
            self.log = self.space.take(self.layout.size_of(self.layout.per_memtable))?;
        }
        Some(())
    }

    fn switch_memtables(&mut self) -> Option<()> {
        std::mem::swap(&mut self.memtable, &mut self.full);
        self.full_log = std::mem::take(&mut self.log);
        self.begin_log()
    }

    /// Takes the finished work into the tree, and trims the files it replaced. Their space is free
    /// once the trims are issued.
    fn finish_work(&mut self) {
        match self.work.take() {
            Some(TreeWork::Flush { file }) => {
                self.levels.flush(file);
                self.full.clear();
                let log = std::mem::take(&mut self.full_log);
                self.delete(LOG_STREAM, log);
            }
            Some(TreeWork::Compact { compaction, outputs }) => {
                for (level, file) in self.levels.install(compaction, outputs) {
                    self.delete(level_stream(level), file.place);
                }
            }
            None => {}
        }
    }

    fn delete(&mut self, stream: u32, place: Extents) {
        push_all(&mut self.queue, Op::Trim, stream, &place);
        self.deleted.push(place);
    }

    /// Begins to flush a full memtable, unless level 0 has twice the files that make a compaction,
    /// or else to compact.
    fn begin_work(&mut self) -> Option<()> {
        let crowded = self.levels.flushed().len() >= 2 * self.l0_files;
        if !self.full.is_empty() && !crowded {
            return self.begin_flush();
        }
        while let Some(compaction) = self.levels.choose() {
            if !Levels::only_moves(&compaction) {
                return self.begin_compaction(compaction);
            }
            self.levels.install(compaction, Vec::new());
        }
        Some(())
    }

    fn begin_flush(&mut self) -> Option<()> {
        self.full.sort_unstable();
        self.full.dedup();
        let place = self.space.take(self.layout.size_of(self.full.len() as u64))?;
        let file = TableFile::of_keys(&self.full, place);
        push_all(&mut self.queue, Op::Write, FLUSH_STREAM, &file.place);
        self.work = Some(TreeWork::Flush { file });
        Some(())
    }

    fn begin_compaction(&mut self, compaction: Compaction) -> Option<()> {
        for (level, file) in self.levels.inputs(&compaction) {
            push_all(&mut self.queue, Op::Read, level_stream(level), &file.place);
        }
        self.levels.merge(&compaction, &mut self.merged);
        let count = (self.merged.len() as u64).div_ceil(self.layout.per_file);
        let count = usize::try_from(count).expect("fewer than the keys");
        let mut outputs = Vec::with_capacity(count);
        for output in 0..count {
            let bound = |output: usize| output * self.merged.len() / count;
            let keys = &self.merged[bound(output)..bound(output + 1)];
            let place = self.space.take(self.layout.size_of(keys.len() as u64))?;
            push_all(&mut self.queue, Op::Write, level_stream(compaction.from + 1), &place);
            outputs.push(TableFile::of_keys(keys, place));
        }
        self.work = Some(TreeWork::Compact { compaction, outputs });
        Some(())
    }
}

fn push_all(queue: &mut Outbox, op: Op, stream: u32, place: &Extents) {
    for &(start, sectors) in &place.0 {
        queue.push_behind(Transfer { op, start, sectors, stream });
    }
}

fn level_stream(level: usize) -> u32 {
    FLUSH_STREAM + u32::try_from(level).expect("a tree has few levels")
}

#[cfg(test)]
mod tests;
