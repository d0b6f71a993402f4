//! The block requests of a log-structured file system: F2FS (Lee et al., "F2FS: A New File System for Flash Storage", FAST 2015)
//! in its mode `lfs`, the one for zoned drives. Its files are those of [`super::file_system`], so the two can be compared.
//!
//! The region holds two checkpoint packs, tables of segments and of nodes in two copies each, and the main area: segments, which
//! six logs take one after the other (section 2.3: hot, warm and cold nodes, hot, warm and cold data). A new file is data in the
//! warm log. A checkpoint writes what else has changed: blocks of directories (hot data) with their nodes (hot nodes), nodes of
//! files (warm) and of large files' nodes (cold), the changed blocks of both tables in place, in turn in each copy, and a pack;
//! then it flushes. Segments that hold nothing any more are trimmed and written again after the next checkpoint. If too few are
//! free, the application waits for the cleaner, which moves the live blocks of the emptiest segments: data to the cold log, nodes
//! to their own.
//!
//! Departures: those of `file_system`. Cleaning is that of the foreground alone, so the victim is the emptiest segment; in the
//! background F2FS cleans while it is idle, by cost-benefit. Files are never cold by their names. Tables are not kept in the pack
//! while few blocks have changed, and the summary of a segment is not written. Only whole segments are trimmed.

mod logs;
mod main_area;

use std::collections::BTreeSet;

use ftlab::engine::Stream;
use ftlab::host::Op;
use ftlab::units::{Amount, Ratio};
use serde::Serialize;

use super::extents::Extents;
use super::files::{FileSizes, bytes, mean_size, share_problem, size_problem};
use super::queue::{Outbox, Transfer};
use crate::generate::address::{Extent, Misfit, RankedDraw};
use crate::generate::workload::Phase;
use logs::{ActiveLog, Files, LiveBlock};
use main_area::MainArea;

/// The stream of all that is written in place. Each log has the next ones.
const IN_PLACE_STREAM: u32 = 0;
/// The blocks of a checkpoint pack: two of the checkpoint, and six summaries of the open segments.
const PACK_BLOCKS: u64 = 8;
/// Packs and tables have two copies, which are written in turn.
const COPIES: u64 = 2;
/// How many segments and nodes one block of their table describes.
const SEGMENTS_PER_BLOCK: u32 = 55;
const NODES_PER_BLOCK: u32 = 455;
/// The fewest blocks of a segment.
const FEWEST_BLOCKS: u64 = 8;
/// What of the main area may be live, in per cent: cleaning segments that are fuller gains too little.
const MOST_LIVE: u64 = 90;

/// A log-structured file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LogFileSystemLoad {
    /// The space of lasting files; a share is of the region.
    pub data: Amount,
    /// The share of temporary files among new ones.
    pub temporary: Ratio,
    /// The space of temporary files.
    pub temporary_data: Amount,
    /// The size to which larger files are cut.
    pub largest_file: Amount,
    /// The space of directories and their nodes.
    pub metadata: Amount,
    /// The operations between two checkpoints.
    pub commit: u32,
    /// The size of a segment.
    pub segment: Amount,
}

impl LogFileSystemLoad {
    pub(super) fn streams(&self) -> u32 {
        IN_PLACE_STREAM + 1 + ActiveLog::COUNT
    }

    pub(super) fn problem(&self, phase: &Phase) -> Option<Misfit> {
        share_problem(self.temporary, phase)
    }
}

/// Where a file system lies. Addresses are in sectors, all else is in blocks.
#[derive(Clone, Copy, Debug)]
struct LogShape {
    start: u64,
    /// The sectors of a block.
    block: u64,
    /// The blocks of one copy of each table.
    segment_table: u64,
    node_table: u64,
    /// Where the main area begins, its segments, and their blocks.
    main: u64,
    segments: u32,
    segment: u32,
    directories: u32,
    largest: u64,
    /// The most blocks of temporary files, and of the others.
    most: [u64; 2],
    /// The free segments below which the cleaner runs.
    low: u32,
}

impl LogShape {
    fn of(shape: &LogFileSystemLoad, block: u64, extent: Extent) -> Result<LogShape, Misfit> {
        let blocks = |amount: Amount| amount.sectors(extent.sectors) / block;
        let [segment, largest, metadata] =
            [shape.segment, shape.largest_file, shape.metadata].map(blocks);
        let most = [shape.temporary_data, shape.data].map(blocks);
        if let Some(misfit) = size_problem(block, largest * block, most.map(|most| most * block)) {
            return Err(misfit);
        }
        let directories = metadata / 2;
        if segment < FEWEST_BLOCKS || directories == 0 {
            let message = format!(
                "segments of {} and {} of directories",
                bytes(segment * block),
                bytes(metadata * block)
            );
            let remedy = format!(
                "choose segments of at least {}, and at least {} of `metadata`",
                bytes(FEWEST_BLOCKS * block),
                bytes(2 * block)
            );
            return Err(("load.segment", message, remedy));
        }
        let all = extent.sectors / block;
        let segment_table = (all / segment).div_ceil(SEGMENTS_PER_BLOCK.into());
        let node_table = (directories + most[0] + most[1]).div_ceil(NODES_PER_BLOCK.into());
        let apart = COPIES * (PACK_BLOCKS + segment_table + node_table);
        let main = apart.next_multiple_of(segment);
        let segments = all.saturating_sub(main) / segment;
        let low = u64::from(ActiveLog::COUNT) * 4 + largest / segment;
        let nodes = |data: u64| data * block / mean_size(largest * block) + 1;
        let live = most[0] + most[1] + nodes(most[0] + most[1]) + 2 * directories;
        let room = segments.saturating_sub(low) * segment / 100 * MOST_LIVE;
        let narrow = |count: u64| u32::try_from(count).ok();
        match [all, segments, segment, directories, low].map(narrow) {
            [Some(_), Some(segments), Some(segment), Some(directories), Some(low)]
                if live <= room =>
            {
                let main = extent.start + main * block;
                let start = extent.start;
                Ok(LogShape {
                    start,
                    block,
                    segment_table,
                    node_table,
                    main,
                    segments,
                    segment,
                    directories,
                    largest,
                    most,
                    low,
                })
            }
            _ => {
                let message = format!(
                    "about {} of files, nodes and directories, where cleaning leaves {} of {} segments of {}",
                    bytes(live * block),
                    bytes(room * block),
                    segments,
                    bytes(segment * block)
                );
                let remedy = "choose less data, smaller segments or a larger region".to_owned();
                Err(("load.data", message, remedy))
            }
        }
    }

    /// Returns the transfer of `blocks` blocks from `at` of what lies before the main area.
    fn in_place(&self, at: u64, blocks: u64) -> Transfer {
        let start = self.start + at * self.block;
        Transfer { op: Op::Write, start, sectors: blocks * self.block, stream: IN_PLACE_STREAM }
    }
}

/// A log-structured file system at work.
#[derive(Clone, Debug)]
pub(in crate::generate) struct LogFileSystemRun {
    disk: LogShape,
    temporary: Ratio,
    commit: u32,
    main: MainArea,
    files: Files,
    /// What the next checkpoint writes to the logs.
    changed: BTreeSet<LiveBlock>,
    /// The changed blocks of the tables of segments and nodes, and the copy of each that is next, as that of the pack.
    tables: [TwoCopies; 2],
    pack: u64,
    /// Segments whose trims are not all issued.
    trimmed: Vec<u32>,
    /// The operations since the last checkpoint.
    operations: u32,
    is_laid_out: bool,
    has_failed: bool,
    queue: Outbox,
    popularity: RankedDraw,
    sizes: FileSizes,
    stream: Stream,
}

/// A table in two copies.
#[derive(Clone, Debug)]
struct TwoCopies {
    changed: BTreeSet<u32>,
    second_is_next: Vec<bool>,
}

impl TwoCopies {
    fn new(blocks: u64) -> TwoCopies {
        let blocks = usize::try_from(blocks).expect("fewer than there are segments or files");
        TwoCopies { changed: BTreeSet::new(), second_is_next: vec![false; blocks] }
    }
}

impl LogFileSystemRun {
    pub fn new(
        shape: &LogFileSystemLoad,
        phase: &Phase,
        extent: Extent,
        stream: &dyn Fn(&str) -> Stream,
    ) -> Result<LogFileSystemRun, Misfit> {
        let disk = LogShape::of(shape, phase.align.sectors(), extent)?;
        Ok(LogFileSystemRun {
            popularity: RankedDraw::new(phase, disk.directories.into(), stream("load"))?,
            temporary: shape.temporary,
            commit: shape.commit,
            main: MainArea::new(disk.segments, disk.segment),
            files: Files::new(disk.directories),
            changed: BTreeSet::new(),
            tables: [disk.segment_table, disk.node_table].map(TwoCopies::new),
            pack: 0,
            trimmed: Vec::new(),
            operations: 0,
            is_laid_out: false,
            has_failed: false,
            queue: Outbox::new(phase.size.largest().sectors()),
            sizes: FileSizes::new(disk.block, disk.largest * disk.block),
            stream: stream("file"),
            disk,
        })
    }

    /// Makes the directories and files that are there at the beginning. This comes with the first request, since phases are
    /// laid out to be checked, too.
    fn lay_out(&mut self) {
        self.is_laid_out = true;
        for directory in 0..self.disk.directories {
            self.append(LiveBlock::Entries { directory });
            self.append(LiveBlock::DirectoryNode { directory });
        }
        loop {
            let blocks = self.draw_size();
            if self.files.blocks(true) + blocks > self.disk.most[1] {
                break;
            }
            let file = self.files.create(true, blocks);
            self.files.all_of(file).for_each(|held| _ = self.append(held));
        }
        self.tables.iter_mut().for_each(|table| table.changed.clear());
    }

    /// As [`Outbox::awaits_trims`].
    pub fn awaits_trims(&self) -> bool {
        self.queue.awaits_trims()
    }

    /// Whether the cleaner found no space.
    pub fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// Returns the next request, or `None` after a failure. `is_read` draws whether the application reads a file or makes one.
    pub fn next(&mut self, mut is_read: impl FnMut() -> bool) -> Option<Transfer> {
        if !self.is_laid_out {
            self.lay_out();
        }
        loop {
            if let Some(transfer) = self.queue.pop(false) {
                return Some(transfer);
            }
            for segment in std::mem::take(&mut self.trimmed) {
                self.queue.note_freed(&Extents(vec![self.stretch(segment)]));
                self.main.free(segment);
            }
            if self.has_failed {
                return None;
            }
            match self.main.free_segments() < self.disk.low {
                _ if self.is_due() => self.check_point(),
                true => self.clean(),
                false if is_read() => self.read(),
                false => self.make_file(),
            }
        }
    }

    /// Whether a checkpoint is due: after some operations, when what it writes fills a segment, or when segments that it frees
    /// are needed.
    fn is_due(&self) -> bool {
        let (free, emptied) = (self.main.free_segments(), self.main.emptied_segments());
        let low = self.disk.low;
        self.operations >= self.commit
            || self.changed.len() >= self.disk.segment as usize
            || (free < low && emptied > 0 && (free + emptied >= low || free < low / 2))
    }

    /// Whether there are segments for so many blocks, whichever logs take them. Otherwise the load has failed.
    fn has_room(&mut self, blocks: usize) -> bool {
        let needed = blocks / self.disk.segment as usize + ActiveLog::COUNT as usize;
        self.has_failed = (self.main.free_segments() as usize) < needed;
        !self.has_failed
    }

    fn check_point(&mut self) {
        if !self.has_room(self.changed.len()) {
            return;
        }
        let changed: Vec<_> = std::mem::take(&mut self.changed).into_iter().collect();
        self.write_all(&changed);
        let LogShape { segment_table, node_table, .. } = self.disk;
        let at = COPIES * PACK_BLOCKS;
        let tables = [(at, segment_table), (at + COPIES * segment_table, node_table)];
        for (table, (start, blocks)) in self.tables.iter_mut().zip(tables) {
            for block in std::mem::take(&mut table.changed) {
                let second = &mut table.second_is_next[block as usize];
                let at = start + u64::from(block) + if *second { blocks } else { 0 };
                self.queue.push(self.disk.in_place(at, 1));
                *second = !*second;
            }
        }
        self.queue.push(self.disk.in_place(self.pack * PACK_BLOCKS, PACK_BLOCKS));
        self.pack = (self.pack + 1) % COPIES;
        let flush = Transfer { op: Op::Flush, start: 0, sectors: 0, stream: IN_PLACE_STREAM };
        self.queue.push(flush);
        self.trimmed = self.main.take_emptied();
        for &segment in &self.trimmed {
            let (start, sectors) = self.stretch(segment);
            let stream = IN_PLACE_STREAM;
            self.queue.push(Transfer { op: Op::Trim, start, sectors, stream });
        }
        self.operations = 0;
    }

    /// Moves the live blocks of the emptiest segment. Who points to a block that moved has changed.
    fn clean(&mut self) {
        let Some(victim) = self.main.victim() else {
            self.has_failed = true;
            return;
        };
        let live = self.main.live(victim);
        if !self.has_room(live.len()) {
            return;
        }
        let from: Vec<u32> = live.iter().map(|&(block, _)| block).collect();
        self.push(Op::Read, ActiveLog::ColdData, &from);
        for log in ActiveLog::ALL {
            let moved = live.iter().map(|&(_, held)| held);
            let moved: Vec<_> = moved.filter(|held| held.log_when_cleaned() == log).collect();
            let to: Vec<u32> = moved.iter().map(|&held| self.append_to(log, held)).collect();
            self.push(Op::Write, log, &to);
            self.changed.extend(moved.iter().filter_map(|held| held.parent()));
        }
    }

    fn make_file(&mut self) {
        self.operations += 1;
        let is_temporary =
            self.stream.below(u64::from(Ratio::ONE.ppm)) < u64::from(self.temporary.ppm);
        let blocks = self.draw_size();
        while self.files.blocks(!is_temporary) + blocks > self.disk.most[usize::from(!is_temporary)]
        {
            self.delete(!is_temporary);
        }
        let file = self.files.create(!is_temporary, blocks);
        let (data, nodes) =
            self.files.all_of(file).partition(|held| matches!(held, LiveBlock::Data { .. }));
        let (data, nodes): (Vec<_>, Vec<_>) = (data, nodes);
        self.write_all(&data);
        self.changed.extend(nodes);
        self.change_directory();
    }

    /// Deletes a file of a kind, drawn at random.
    fn delete(&mut self, is_lasting: bool) {
        let drawn = self.stream.below(self.files.count(is_lasting));
        let file = self.files.nth(is_lasting, drawn);
        for held in self.files.all_of(file).collect::<Vec<_>>() {
            self.changed.remove(&held);
            if let Some(block) = self.files.place(held) {
                self.drop_block(block);
            }
            self.note_node(held);
        }
        self.files.remove(is_lasting, drawn);
        self.change_directory();
    }

    fn read(&mut self) {
        let drawn = self.stream.below(self.files.count(true));
        let file = self.files.nth(true, drawn);
        let data = self.files.all_of(file).filter(|held| matches!(held, LiveBlock::Data { .. }));
        let blocks: Vec<u32> = data.filter_map(|held| self.files.place(held)).collect();
        self.push(Op::Read, ActiveLog::WarmData, &blocks);
    }

    /// A directory with a new or deleted file changes.
    fn change_directory(&mut self) {
        let directory = u32::try_from(self.popularity.draw()).expect("one of the directories");
        self.changed.insert(LiveBlock::Entries { directory });
        self.changed.insert(LiveBlock::DirectoryNode { directory });
    }

    /// Writes blocks to their logs, each log's in one piece where its segments allow it.
    fn write_all(&mut self, all: &[LiveBlock]) {
        for log in ActiveLog::ALL {
            let own = all.iter().filter(|held| held.log() == log);
            let to: Vec<u32> = own.map(|&held| self.append_to(log, held)).collect();
            self.push(Op::Write, log, &to);
        }
    }

    fn append(&mut self, held: LiveBlock) -> u32 {
        self.append_to(held.log(), held)
    }

    /// Gives a block its next place, at the end of a log.
    fn append_to(&mut self, log: ActiveLog, held: LiveBlock) -> u32 {
        if let Some(before) = self.files.place(held) {
            self.drop_block(before);
        }
        let block = self.main.append(log, held);
        self.files.set_place(held, block);
        self.note_segment(block);
        self.note_node(held);
        block
    }

    fn drop_block(&mut self, block: u32) {
        self.main.drop_block(block);
        self.note_segment(block);
    }

    fn note_segment(&mut self, block: u32) {
        self.tables[0].changed.insert(block / self.disk.segment / SEGMENTS_PER_BLOCK);
    }

    /// The place of a node is in the table of nodes. All nodes of a file count as its first one.
    fn note_node(&mut self, held: LiveBlock) {
        let node = match held {
            LiveBlock::Data { .. } | LiveBlock::Entries { .. } => return,
            LiveBlock::DirectoryNode { directory } => directory,
            LiveBlock::Node { file, .. } => self.disk.directories + file,
        };
        self.tables[1].changed.insert(node / NODES_PER_BLOCK);
    }

    /// Adds the transfers of blocks, one for each run of consecutive ones.
    fn push(&mut self, op: Op, log: ActiveLog, blocks: &[u32]) {
        let LogShape { main, block, .. } = self.disk;
        for run in blocks.chunk_by(|one, next| one + 1 == *next) {
            let start = main + u64::from(run[0]) * block;
            let (sectors, stream) = (run.len() as u64 * block, IN_PLACE_STREAM + 1 + log as u32);
            self.queue.push(Transfer { op, start, sectors, stream });
        }
    }

    fn stretch(&self, segment: u32) -> (u64, u64) {
        let sectors = u64::from(self.disk.segment) * self.disk.block;
        (self.disk.main + u64::from(segment) * sectors, sectors)
    }

    /// Returns the blocks of the next file.
    fn draw_size(&mut self) -> u64 {
        self.sizes.draw(&mut self.stream) / self.disk.block
    }
}

#[cfg(test)]
mod tests;
