//! The reads and erases at power-up.
//!
//! In addition to spare areas and a checkpoint, power-up reads the lists of the device from the
//! system area: bad blocks, pages whose data is lost, and pages on flash that never count.

use crate::ftl::recovery::rebuild;
use std::collections::BTreeSet;

use super::super::{BlockState, Blocks, Ftl};
use super::Record;
use crate::nand::CellMode;
use crate::shape::Geometry;
use crate::units::{BlockId, DieId, Ppn};

/// The size of a page in a list: its number.
const LISTED: u64 = size_of::<u32>() as u64;

/// Flash pages of a block whose spare areas are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The first page.
    pub first: Ppn,
    /// The number of flash pages.
    pub pages: u32,
    /// From one to the next: mapping units, which are more than a flash page's where superblocks number the pages.
    pub stride: u32,
    /// The mode of their cells.
    pub mode: CellMode,
}

/// A block that is erased.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Erasing {
    /// The block.
    pub block: BlockId,
    /// The mode of its cells before.
    pub mode: CellMode,
}

/// The reads and erases at power-up.
#[derive(Clone, Debug, Default)]
pub struct RecoveryPlan {
    /// Spare areas to read.
    pub spares: Vec<Reading>,
    /// Number of flash pages to read: those of the lists, of the checkpoint, and of a map that is
    /// stored on flash.
    pub map_pages: u32,
    /// Blocks that are erased before the device is ready.
    pub erases: Vec<Erasing>,
    /// Whether a page of the journal is written to list the pages that never count.
    pub marks_void: bool,
    /// Dies that do not answer. Each is tried once, and nothing else is done there.
    pub dead: Vec<DieId>,
}

/// Plans the reads. Of each block of flash, the first spare area is read. Of a scanned block, the others are
/// read too, up to the first that is erased.
pub(in crate::ftl) fn plan(
    blocks: &Blocks,
    half_erased: &[BlockId],
    begun: &BTreeSet<Ppn>,
    ftl: &Ftl,
) -> RecoveryPlan {
    let half_erased = rebuild::marks(half_erased.iter().copied(), ftl);
    let record = ftl.features.record.as_deref().expect("a device that recovers has a record");
    let units = ftl.geometry.units_per_page();
    let mut plan = RecoveryPlan::default();
    for block in (0..ftl.geometry.blocks()).map(BlockId::new) {
        let is_dead = rebuild::is_on_dead_die(block, ftl);
        if is_dead && is_first_of_die(block, ftl) {
            // That it does not answer shows when it is read.
            let (first, mode) = (ftl.geometry.page_at(block, 0), CellMode::Native);
            plan.spares.push(Reading { first, pages: 1, stride: units, mode });
        }
        if is_dead || blocks.state(block) == BlockState::Bad {
            continue;
        }
        let written = last_written(&ftl.geometry, begun, block, blocks.programmed(block)) / units;
        let whole = blocks.units_of(block) / units;
        let scanned = is_scanned(record, block) && !half_erased[block.at()];
        let (width, mode) = (ftl.features.blocks_of_superblock(), blocks.mode(block));
        for member in 0..width {
            // A superblock is filled round its blocks.
            let of_member = |pages: u32| pages.saturating_sub(member).div_ceil(width);
            let looked_at = (of_member(written) + 1).min(of_member(whole));
            let first = ftl.geometry.page_at(block, member * units);
            let pages = if scanned { looked_at } else { 1 };
            plan.spares.push(Reading { first, pages, stride: width * units, mode });
        }
    }
    plan.map_pages = record.snapshot.as_ref().map_or(0, |snapshot| snapshot.pages());
    plan.map_pages += list_pages(blocks, ftl);
    plan
}

fn is_first_of_die(block: BlockId, ftl: &Ftl) -> bool {
    let die = ftl.geometry.die_of(ftl.geometry.plane_of(block));
    block == ftl.geometry.block_in(ftl.geometry.plane_in(die, 0), 0)
}

/// Returns the number of flash pages of the system area that hold the lists.
fn list_pages(blocks: &Blocks, ftl: &Ftl) -> u32 {
    let record = ftl.features.record.as_deref().expect("a device that recovers has a record");
    let used = (0..ftl.geometry.blocks()).map(BlockId::new);
    let used = used.filter(|&block| blocks.programmed(block) > 0);
    let never_counts = |at: &Ppn| record.holds_nothing(*at) && ftl.map.spare.owner(*at).is_some();
    let void =
        used.flat_map(|block| rebuild::pages_of(block, ftl)).filter(never_counts).count() as u64;
    let mask = u64::from(ftl.geometry.sectors_per_unit().div_ceil(u8::BITS));
    let bad = u64::from(ftl.geometry.blocks().div_ceil(u8::BITS));
    let bytes = bad + void * LISTED + ftl.lost().pages() * (LISTED + mask);
    bytes.div_ceil(ftl.geometry.shape().page_size.0) as u32
}

/// Returns how far a block is written or torn, counting programs that were only begun.
fn last_written(
    geometry: &Geometry,
    begun: &BTreeSet<Ppn>,
    block: BlockId,
    programmed: u32,
) -> u32 {
    let pages = geometry.page_at(block, 0)..geometry.page_at(block, geometry.units_per_block());
    let last = begun.range(pages).next_back().map(|&at| geometry.place_of(at).1);
    last.map_or(programmed, |last| programmed.max(last + geometry.units_per_page()))
}

/// Whether all written pages of a block are scanned.
pub(super) fn is_scanned(record: &Record, block: BlockId) -> bool {
    let opening = record.opening(block);
    record.snapshot.as_ref().is_none_or(|snapshot| snapshot.is_older_than(block, opening))
}
